//! What the dashboard is drawn with knows nothing of the dashboard, and nothing else writes text into a frame.

use super::sources;

/// What the kit gets of the dashboard: the actions and keys that its hints name, and the looks.
const GIVEN: &[&str] = &["action", "keymap", "theme"];
/// What would write a text that nobody has made harmless.
const AROUND: &[&str] = &[
    "Span::raw",
    "Span::styled",
    "Line::raw",
    "Line::styled",
    "Line::from(\"",
    "Line::from(format!",
    " Text::",
    "set_string",
    "set_line(",
    "set_span",
];

#[test]
fn the_kit_imports_actions_keys_and_looks_alone() {
    for source in sources("src/ui/kit") {
        for name in source.code.split("crate::ui::").skip(1) {
            let name = name.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            assert!(GIVEN.contains(&name), "{} names ui::{name}", source.name);
        }
    }
}

#[test]
fn text_gets_into_a_frame_through_the_kits_lines_alone() {
    for source in sources("src/ui").iter().filter(|source| !source.name.ends_with("kit/line.rs")) {
        let found = AROUND.iter().find(|name| source.code.contains(**name));
        assert_eq!(found, None, "{}", source.name);
    }
}
