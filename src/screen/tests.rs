use std::borrow::Cow;
use std::num::NonZeroU16;

use super::*;

#[test]
fn style_is_carried_from_row_to_row() {
    let screen = Screen::from_capture(b"\x1b[31mred\nstill\x1b[0m plain\n", 20, 3);
    let red = Style { foreground: Color::Indexed(1), ..Style::default() };
    assert_eq!(screen.row(0).map(|r| r.style_at(0)), Some(red));
    assert_eq!(screen.row(1).map(|r| r.style_at(0)), Some(red));
    assert_eq!(screen.row(1).map(|r| r.style_at(6)), Some(Style::default()));
    assert_eq!(screen.rows().len(), 3);
}

#[test]
fn a_hostile_capture_leaves_only_text() {
    let hostile =
        b"a\x1b]52;c;aGk=\x07b\x00c\x1b[2Jd\xff\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\ \xe2\x80\xaeabc\x1bPq\x1b\\";
    let screen = Screen::from_capture(hostile, 80, 2);
    assert_eq!(screen.row(0).map(Row::text), Some("abcd\u{fffd}link abc"));
}

#[test]
fn rows_wider_than_the_pane_are_cut() {
    let screen = Screen::from_capture("wide 漢字漢字".as_bytes(), 8, 1);
    assert_eq!(screen.row(0).map(Row::text), Some("wide 漢"));
}

#[test]
fn both_spellings_of_a_colour_are_read() {
    let screen = Screen::from_capture(b"\x1b[38;5;246mx\x1b[38:2::1:2:3my\x1b[38;2;4;5;6mz", 10, 1);
    let colors: Vec<Color> = (0..3).map(|i| screen.rows()[0].style_at(i).foreground).collect();
    assert_eq!(colors, [Color::Indexed(246), Color::Rgb(1, 2, 3), Color::Rgb(4, 5, 6)]);
}

#[test]
fn the_emulator_and_the_capture_agree() {
    let text = "\x1b[1;2m›\x1b[0m \x1b[1mbold\x1b[0m \x1b[2mdim\x1b[0m \x1b[48;5;238mband   \x1b[0m";
    let size = |n| NonZeroU16::new(n).expect("sizes here are not zero");
    let mut parser = vt100::Parser::new(size(2), size(20), 0);
    parser.process(text.as_bytes());
    assert_eq!(Screen::from_vt100(parser.screen()), Screen::from_capture(text.as_bytes(), 20, 2));
}

#[test]
fn trailing_blanks_with_a_background_are_drawn_but_not_matched() {
    let screen = Screen::from_capture(b"\x1b[48;5;238mband   \x1b[0m", 20, 1);
    assert_eq!(screen.rows()[0].text(), "band");
    assert_eq!(screen.rows()[0].runs().map(|(t, _)| t).collect::<String>(), "band   ");
}

#[test]
fn names_keep_nothing_that_nobody_sees() {
    let names =
        ["api\u{200B}", "a\u{200D}pi", "\u{2060}api", "ap\u{00AD}i", "api\u{3164}", "\u{200D}api", "api\u{200C}"];
    for name in names {
        assert_eq!(harmless(name), "api", "{name:?}");
    }
    for shaped in ["🚀rocket-👩\u{200D}💻", "می\u{200C}خواهم", "क\u{094D}\u{200D}ष", "e\u{301}"] {
        assert_eq!(harmless(shaped), shaped);
    }
}

#[test]
fn what_decides_is_spelled_out() {
    let row = |text: &str| Screen::from_capture(text.as_bytes(), 80, 1).rows()[0].clone();
    let reported = |text: &str| row(text).spelled().text().to_owned();
    assert_eq!(row("rm a\u{202E}txt.b\u{200B}").text(), "rm atxt.b\u{200B}");
    assert_eq!(reported("rm a\u{202E}txt.b\u{200B}  "), "rm a<U+202E>txt.b<U+200B>");
    assert_eq!(reported("a\u{FE0F}b a\u{200D}b \u{E0061}."), "a<U+FE0F>b a<U+200D>b <U+E0061>.");
    for (shown, told) in [
        ("\u{441}url x", "<U+0441>url x"),
        ("p\u{430}yp\u{430}l", "p<U+0430>yp<U+0430>l"),
        ("\u{3c5}name \u{13a1}un \u{ff43}at", "<U+03C5>name <U+13A1>un <U+FF43>at"),
        ("rm\u{a0}-rf a\u{2003}b", "rm<U+00A0>-rf a<U+2003>b"),
    ] {
        assert_eq!((reported(shown).as_str(), &*spelled(shown)), (told, told));
    }
    for shaped in ["Да, всё", "ναι", "Gitを使う", "Voulez-vous\u{a0}?", "❯\u{a0}1. Yes", "⎿ \u{a0}Done", "5 µs"]
    {
        assert_eq!(reported(shaped), shaped);
    }
    for shaped in ["⚠\u{FE0F} 1\u{FE0F}\u{20E3} 👩\u{200D}💻", "می\u{200C}خواهم", "│ e\u{301} ❯ 1. Yes │"]
    {
        assert_eq!(reported(shaped), shaped);
        assert!(matches!(spelled(shaped), Cow::Borrowed(_)));
    }
    assert_eq!(spelled("a\x1b[2J\nb\u{85}\t\x7f"), "a^[[2J\\nb<U+0085>^I^?");
    let red = row("\x1b[31ma\u{202E}\x1b[0m b");
    let styles = |row: &Row| row.runs().map(|(text, style)| (text.to_owned(), style.foreground)).collect::<Vec<_>>();
    let wanted = [("a<U+202E>".to_owned(), Color::Indexed(1)), (" b".to_owned(), Color::Default)];
    assert_eq!(styles(&red.spelled()), wanted);
    let again = Screen::from_capture(Screen::new(20, vec![red.clone()]).to_capture().as_bytes(), 20, 1);
    assert_eq!(again.rows(), [red]);
}
