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
    assert_eq!(error.what, "\"mauve-ish\" is not a colour");
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

#[test]
fn what_agents_write_is_read_on_the_ground_that_a_theme_gives_their_screens() {
    let light = Theme::shipped("light").expect("a shipped theme").parts.screen;
    let ground = [light.fg, light.bg].map(|color| color.and_then(rgb_of).expect("colours of its own"));
    assert!(contrast(ground[0], ground[1]) >= 7.0);
    let indexed = (0..=255).map(Color::Indexed);
    // What the agents' own dark themes use: the chosen option of Claude Code, dim text, the ground of a prompt, a diff.
    let own = [[177, 185, 249], [153, 153, 153], [55, 55, 55], [34, 92, 43], [215, 119, 87], [0, 0, 0]];
    let colors: Vec<Color> = indexed.chain(own.map(|[r, g, b]| Color::Rgb(r, g, b))).collect();
    let mut kept = 0;
    for fg in &colors {
        for bg in [Color::Reset].iter().chain(&colors) {
            let asked = Style { fg: Some(*fg), bg: Some(*bg), ..Style::default() };
            let shown = on_ground(asked, light);
            let rgb = [shown.fg, shown.bg].map(|color| color.and_then(rgb_of).expect("a colour"));
            assert!(contrast(rgb[0], rgb[1]) >= LEGIBLE, "{fg:?} on {bg:?}: {shown:?}");
            kept += usize::from(shown.fg == asked.fg);
        }
    }
    assert!(kept > colors.len() * colors.len() / 4, "what can be read stays as it is: {kept}");
    let pale = Style { fg: Some(Color::Rgb(177, 185, 249)), bg: Some(Color::Reset), ..Style::default() };
    assert_eq!(on_ground(pale, light).fg, pale.fg);
    assert_eq!(on_ground(pale, Style::default()), pale, "a dark theme leaves all as it is");
    assert_eq!(Theme::shipped("light").expect("one").suited_to(Depth::None).parts.screen, Style::default());
}

/// The kinds of colour blindness, as the colours that are seen of linear red, green and blue (Machado, Oliveira and
/// Fernandes 2009, full severity).
const BLIND: [(&str, [[f64; 3]; 3]); 4] = [
    ("nobody", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    ("protanopia", [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    (
        "deuteranopia",
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    ),
    ("tritanopia", [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]),
];

/// A colour in CIE L*a*b* (D65) as somebody sees it.
fn seen(rgb: [u8; 3], by: &[[f64; 3]; 3]) -> [f64; 3] {
    let times = |m: &[[f64; 3]; 3], v: [f64; 3]| m.map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum::<f64>());
    let linear = times(by, rgb.map(linear)).map(|part| part.clamp(0.0, 1.0));
    let xyz = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]];
    let [x, y, z] = times(&xyz, linear);
    let f = |t: f64| if t > 0.008856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 };
    let [x, y, z] = [f(x / 0.95047), f(y), f(z / 1.08883)];
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// The distance of two colours as somebody sees them (CIE 1976).
fn apart(a: [u8; 3], b: [u8; 3], by: &[[f64; 3]; 3]) -> f64 {
    seen(a, by).iter().zip(seen(b, by)).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn the_colours_of_the_colour_blind_theme_are_told_apart_by_everybody() {
    assert!((apart([255; 3], [0; 3], &BLIND[0].1) - 100.0).abs() < 0.1);
    let red_and_green = |by| apart([205, 60, 60], [80, 130, 40], by);
    assert!(red_and_green(&BLIND[2].1) < red_and_green(&BLIND[0].1) / 2.0, "the simulation takes red from green");
    let theme = Theme::shipped("colour-blind").expect("a shipped theme");
    // The statuses that share a colour mean the same kind of thing, and their glyphs differ.
    let reported = [Status::Approval, Status::Failed, Status::Finished, Status::Working, Status::Gone];
    let color = |status| theme.style(status).fg.and_then(rgb_of).expect("a colour of its own");
    for (name, by) in &BLIND {
        for (nth, &a) in reported.iter().enumerate() {
            for &b in &reported[nth + 1..] {
                let distance = apart(color(a), color(b), by);
                assert!(distance >= 20.0, "{name}: {a:?} and {b:?} are {distance:.1} apart");
            }
        }
    }
    // What is idle has no colour.
    for status in Status::GROUPS.into_iter().filter(|status| *status != Status::Ready) {
        let contrast = contrast(color(status), [0x1e; 3]);
        assert!(contrast >= 4.5, "{status:?} is read on a dark ground: {contrast:.2}");
    }
}
