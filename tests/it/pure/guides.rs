//! The README and the guides: short enough, linked, and true to the code.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every Markdown file that readers meet, with its text.
fn pages() -> Vec<(PathBuf, String)> {
    let folders = [root(), root().join("docs"), root().join("recordings"), root().join("tests/stories")];
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap()).map(|entry| entry.unwrap().path());
    let pages = files.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

/// The name that a heading has in a link.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase().replace(' ', "-");
    kept.chars().filter(|c| c.is_alphanumeric() || *c == '-' || *c == '_').collect()
}

fn has_anchor(path: &Path, wanted: &str) -> bool {
    let text = fs::read_to_string(path).unwrap();
    text.lines().filter(|line| line.starts_with('#')).any(|line| anchor(line.trim_start_matches(['#', ' '])) == wanted)
}

#[test]
fn the_readme_is_read_in_a_few_minutes() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.split_whitespace().count() <= 1500);
}

#[test]
fn every_link_leads_somewhere() {
    let pages = pages();
    assert!(pages.len() > 8, "{pages:?}");
    let mut links = 0;
    for (path, text) in &pages {
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if target.starts_with("http") {
                continue;
            }
            links += 1;
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() { path.clone() } else { path.with_file_name(file) };
            assert!(file.exists(), "{}: there is no {target}", path.display());
            assert!(heading.is_empty() || has_anchor(&file, heading), "{}: no heading {target}", path.display());
        }
    }
    assert!(links > 30);
}

#[test]
fn the_errors_that_are_explained_are_those_of_the_code() {
    let mut sources = String::new();
    let mut folders = vec![root().join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                sources += &fs::read_to_string(path).unwrap();
            }
        }
    }
    let text = fs::read_to_string(root().join("docs/troubleshooting.md")).unwrap();
    let errors: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    assert!(errors.len() > 25, "{errors:?}");
    for error in errors {
        // `…` stands for a value.
        for part in error.split('…').map(str::trim).filter(|part| part.len() > 3) {
            assert!(sources.contains(part), "no error says {part:?} any more: {error}");
        }
    }
}
