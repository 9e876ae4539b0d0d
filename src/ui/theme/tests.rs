use super::*;

#[test]
fn every_shipped_theme_is_right() {
    for (name, text) in SHIPPED {
        if let Err(error) = Theme::parse(text) {
            panic!("{name}: {error} at {:?}: {:?}", error.at, text.get(error.at.clone()));
        }
    }
}

#[test]
fn the_theme_without_colours_has_none() {
    let theme = Theme::shipped("no-colour").expect("a shipped theme");
    let parts = theme.parts;
    let styles = [parts.text, parts.quiet, parts.title, parts.rule, parts.selected, parts.key, parts.cursor];
    for style in styles.into_iter().chain(Status::GROUPS.map(|status| theme.style(status))) {
        assert_eq!((style.fg, style.bg), (None, None));
    }
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let text = SHIPPED[0].1;
    let broken = text.replacen("\"magenta\"", "\"mauve-ish\"", 1);
    let error = Theme::parse(&broken).expect_err("no such colour");
    assert_eq!(error.what, "\"mauve-ish\" is no colour");
    assert_eq!(&broken[error.at], "\"mauve-ish\"");
    let error = Theme::parse(&text.replacen("glyph = \"✗\"", "glyph = \"漢\"", 1)).expect_err("too wide");
    assert_eq!(error.what, "the glyph \"漢\" takes 2 cells");
    assert!(Theme::parse(&text.replacen("[parts]", "[parts]\nshadow = {}", 1)).is_err());
}

#[test]
fn colours_come_down_to_what_a_terminal_has() {
    let orange = Color::Rgb(215, 119, 87);
    assert_eq!(at_depth(orange, Depth::True), orange);
    assert_eq!(at_depth(orange, Depth::Indexed), Color::Indexed(173));
    assert_eq!(at_depth(Color::Rgb(250, 10, 5), Depth::Sixteen), Color::LightRed);
    assert_eq!(at_depth(Color::Indexed(246), Depth::Sixteen), Color::DarkGray);
    assert_eq!(at_depth(Color::Red, Depth::Sixteen), Color::Red);
    assert_eq!(at_depth(orange, Depth::None), Color::Reset);
}

#[test]
fn the_spinner_turns_with_time_and_only_for_work() {
    let theme = Theme::shipped("dark").expect("a shipped theme");
    let at = |ms| Some(Timestamp::from_millis(ms));
    assert_ne!(theme.glyph(Status::Working, false, at(0)), theme.glyph(Status::Working, false, at(200)));
    assert_eq!(theme.glyph(Status::Working, false, None), "⠿");
    assert_eq!(theme.glyph(Status::Failed, false, at(0)), "✗");
    assert_eq!(theme.glyph(Status::Failed, true, at(0)), "x");
}

/// How well one colour is read on another, from 1 to 21, as WCAG 2 defines it.
fn contrast(a: [u8; 3], b: [u8; 3]) -> f64 {
    let part = |value: u8| {
        let value = f64::from(value) / 255.0;
        if value <= 0.03928 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    let light = |[r, g, b]: [u8; 3]| 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
    let (a, b) = (light(a) + 0.05, light(b) + 0.05);
    a.max(b) / a.min(b)
}

/// What is seen of a colour, where that is not up to the terminal's own palette.
fn rgb(color: Option<Color>) -> Option<[u8; 3]> {
    match color? {
        Color::Rgb(r, g, b) => Some([r, g, b]),
        Color::Indexed(index @ 16..) => Some(indexed_rgb(index)),
        _ => None,
    }
}

#[test]
fn what_is_written_is_read_on_the_ground_that_its_theme_is_for() {
    assert!((contrast([0; 3], [255; 3]) - 21.0).abs() < 0.01);
    for (name, ground) in [("dark", [0x1e; 3]), ("light", [0xff; 3])] {
        let theme = Theme::shipped(name).expect("a shipped theme");
        let selected = rgb(theme.parts.selected.bg).expect("a ground of its own for the selected row");
        assert!(contrast(ground, selected) > 1.2, "{name}: the selected row stands out");
        let written = [theme.parts.text, theme.parts.quiet, theme.parts.title, theme.parts.key];
        let mut judged = 0;
        for style in written.into_iter().chain(Status::GROUPS.map(|status| theme.style(status))) {
            for ground in [ground, selected] {
                if let Some(color) = rgb(style.fg) {
                    let contrast = contrast(color, ground);
                    assert!(contrast >= 4.5, "{name}: {color:02x?} on {ground:02x?}: {contrast:.2}");
                    judged += 1;
                }
            }
        }
        assert!(judged >= 6, "{name}: most colours are the palette's");
    }
}

#[test]
fn sixteen_colours_turn_the_selected_row_around() {
    let dark = || Theme::shipped("dark").expect("a shipped theme");
    let sixteen = dark().suited_to(Depth::Sixteen).parts.selected;
    assert_eq!((sixteen.bg, sixteen.add_modifier), (None, Modifier::REVERSED));
    assert_eq!(dark().suited_to(Depth::True).parts.selected, dark().parts.selected);
}
