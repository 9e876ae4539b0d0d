//! What the dashboard is drawn with knows nothing of the dashboard, and nothing else writes text into a frame.

use std::fs;
use std::path::Path;

use super::Source;

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
    for (path, source) in sources("src/ui/kit") {
        for name in source.code.split("crate::ui::").skip(1) {
            let name = name.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            assert!(GIVEN.contains(&name), "{path} names ui::{name}");
        }
    }
}

#[test]
fn text_gets_into_a_frame_through_the_kits_lines_alone() {
    for (path, source) in sources("src/ui").into_iter().filter(|(path, _)| !path.ends_with("kit/line.rs")) {
        let found = AROUND.iter().find(|name| source.code.contains(**name));
        assert_eq!(found, None, "{path}");
    }
}

fn sources(under: &str) -> Vec<(String, Source)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    super::collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join(under), &mut paths);
    let source = |path: &std::path::PathBuf| {
        let relative = path.strip_prefix(&root).unwrap();
        (relative.display().to_string(), Source::new(relative, &fs::read_to_string(path).unwrap()))
    };
    paths.iter().map(source).filter(|(_, source)| !source.is_test()).collect()
}
