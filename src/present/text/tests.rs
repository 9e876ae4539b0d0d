use proptest::prelude::*;

use super::*;

fn symbols(text: &str) -> Vec<&str> {
    pieces(text).map(|piece| piece.symbol).collect()
}

#[test]
fn wide_and_combining_characters_keep_their_cells() {
    assert_eq!(symbols("aé漢e\u{301}x"), ["a", "é", "漢", "e\u{301}", "x"]);
    assert_eq!(width("漢字 ok"), 7);
    assert_eq!(symbols("ﾀﾞﾊﾟ"), ["ﾀ", "\"", "ﾊ", "°"]);
    assert_eq!(width("한글"), 4);
}

#[test]
fn what_terminals_disagree_about_is_made_plain() {
    assert_eq!(symbols("🇩🇪"), ["D", "E"]);
    assert_eq!(symbols("⚠\u{FE0F} 1\u{FE0F}\u{20E3}"), ["⚠", " ", "1"]);
    assert_eq!(symbols("a\u{200B}\u{AD}b"), ["a", "b"]);
}

#[test]
fn joined_emoji_stay_whole_and_joiners_that_join_nothing_go() {
    for whole in ["👨\u{200D}👩\u{200D}👧", "👍🏽", "👩🏽\u{200D}💻", "🏳\u{FE0F}\u{200D}🌈", "🧑\u{200D}🚀"]
    {
        let named = format!("a{whole}!");
        assert_eq!(symbols(&named), ["a", whole, "!"]);
        assert_eq!(width(&named), 4);
        assert_eq!(cut(&format!("{whole}{whole}"), 3), format!("{whole}…"));
    }
    assert_eq!(symbols("a\u{200D}b👩\u{200D}b"), ["a", "b", "👩", "b"]);
    assert_eq!(symbols("\u{200D}👩\u{200D}"), ["👩"]);
    assert!(symbols(&format!("👩{}", "\u{200D}👩".repeat(400))).iter().all(|symbol| symbol.len() < 80));
}

#[test]
fn nothing_that_acts_on_a_terminal_is_left() {
    assert_eq!(symbols("a\x1b[2J\u{9b}\u{202E}\u{7}b\0\tc"), ["a", "[", "2", "J", "b", "c"]);
}

#[test]
fn a_stack_of_marks_is_cut_down() {
    let stack = format!("a{}b", "\u{301}".repeat(500));
    assert_eq!(symbols(&stack), ["a\u{301}\u{301}\u{301}\u{301}", "b"]);
}

#[test]
fn the_last_word_begins_behind_any_blank() {
    for (text, parts) in [
        ("", ("", "")),
        ("is:wo", ("", "is:wo")),
        ("a is:wo", ("a ", "is:wo")),
        ("a ", ("a ", "")),
        ("a\u{3000}b", ("a\u{3000}", "b")),
        ("漢\u{2003}", ("漢\u{2003}", "")),
        ("a\u{a0}b\u{85}字", ("a\u{a0}b\u{85}", "字")),
    ] {
        assert_eq!(at_last_word(text), parts, "{text:?}");
    }
}

#[test]
fn what_is_cut_is_cut_at_the_end() {
    assert_eq!(cut("shop-api", 8), "shop-api");
    assert_eq!(cut("shop-api", 6), "shop-…");
    assert_eq!(cut("漢字漢字", 6), "漢字…");
    assert_eq!(cut("two words", 5), "two…");
    assert_eq!(cut("abc", 1), "…");
    assert_eq!(cut("abc", 0), "");
}

proptest! {
    #[test]
    fn a_cut_text_fits_and_begins_as_the_text_does(text in any::<String>(), cells in 0_usize..40) {
        let short = cut(&text, cells);
        prop_assert!(width(&short) <= cells);
        if width(&text) > cells && cells > 0 {
            prop_assert!(short.ends_with(ELLIPSIS));
        }
    }

}

#[test]
fn long_texts_are_wrapped_at_blanks_and_paths_anywhere() {
    let lines = |text, cells, most| wrapped(text, cells, most).join("|");
    assert_eq!(lines("short", 10, 3), "short");
    assert_eq!(lines("the key x is bound twice", 10, 3), "the key x|is bound|twice");
    assert_eq!(lines("the key x is bound twice", 10, 2), "the key x|is bound…");
    assert_eq!(lines("at /a/very/long/path.toml:3:5: wrong", 12, 4), "at /a/very/l|ong/path.tom|l:3:5: wrong");
    assert_eq!(lines("漢字漢字漢字", 5, 9), "漢字|漢字|漢字");
    assert_eq!(lines("漢", 1, 3), "…");
    assert_eq!((lines("   ", 5, 3), lines("a", 0, 3), lines("a", 5, 0)), (String::new(), String::new(), String::new()));
}
