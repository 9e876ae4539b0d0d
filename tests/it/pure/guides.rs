//! The README and the guides: short enough, linked, and true to the code.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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

/// The pages for users, and how many words each may have.
const GUIDES: [(&str, usize); 9] = [
    ("README.md", 900),
    ("docs/tour.md", 1000),
    ("docs/dashboard.md", 1910),
    ("docs/configuration.md", 1820),
    ("docs/scripting.md", 1410),
    ("docs/serving.md", 1430),
    ("docs/tasks.md", 440),
    ("docs/troubleshooting.md", 1000),
    ("docs/agents.md", 1040),
];

/// The same of the pages for contributors.
const FOR_CONTRIBUTORS: [(&str, usize); 6] = [
    ("CHANGELOG.md", 600),
    ("docs/contract.md", 5680),
    ("docs/architecture.md", 1351),
    ("docs/performance.md", 1010),
    ("docs/testing.md", 570),
    ("docs/glossary.md", 580),
];

/// The most words of the README and all of `docs` together.
const ALL: usize = 20_000;

#[test]
fn all_guides_together_are_short() {
    let words = |text: &str| text.split_whitespace().count();
    let docs = pages().into_iter().filter(|(path, _)| path.parent().is_some_and(|it| it.ends_with("docs")));
    let all: usize = docs.map(|(_, text)| words(&text)).sum::<usize>() + words(&guide("README.md"));
    assert!(all <= ALL, "{all} words");
}

fn guide(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

/// The code of a guide in one language.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let mut rest = text;
    let mut found = Vec::new();
    while let Some((_, from)) = rest.split_once("\n```") {
        let Some((head, from)) = from.split_once('\n') else { break };
        let (code, after) = from.split_once("```").expect("a block that ends");
        found.extend((head == language).then_some(code));
        rest = after;
    }
    found
}

#[test]
fn each_guide_is_short_and_begins_with_what_it_is_for() {
    for (name, most) in GUIDES.into_iter().chain(FOR_CONTRIBUTORS) {
        let text = guide(name);
        let words = text.split_whitespace().count();
        assert!(words <= most, "{name} has {words} words");
        let mut lines = text.lines();
        assert!(lines.next().is_some_and(|title| title.starts_with("# ")), "{name}");
        let first = lines.find(|line| !line.is_empty()).unwrap();
        assert!(first.starts_with(char::is_alphabetic) || first.starts_with('`'), "{name} begins with {first:?}");
        // A row of a table cannot be broken.
        for line in lines.filter(|line| !line.starts_with('|')) {
            assert!(line.chars().count() <= 100 || line.contains("http"), "{name} has a long line: {line}");
        }
    }
}

/// The paragraphs and items of a guide, without code, tables and headings.
fn paragraphs(text: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut in_code = false;
    for line in text.lines() {
        let is_fence = line.starts_with("```");
        in_code ^= is_fence;
        if is_fence || in_code || line.is_empty() || line.starts_with(['|', '#', '!']) {
            found.push(String::new());
            continue;
        }
        if line.trim_start().starts_with("- ") {
            found.push(String::new());
        }
        if let Some(paragraph) = found.last_mut() {
            paragraph.extend([line, " "]);
        }
    }
    found
}

#[test]
fn no_sentence_of_a_guide_is_long() {
    let mut sentences = 0;
    for (name, _) in GUIDES.into_iter().chain(FOR_CONTRIBUTORS) {
        for paragraph in paragraphs(&guide(name)) {
            for sentence in paragraph.split_inclusive(". ").flat_map(|it| it.split_inclusive([':', ';', '?'])) {
                sentences += 1;
                let words = sentence.split_whitespace().count();
                assert!(words <= 30, "{name} has a sentence of {words} words: {sentence}");
            }
        }
    }
    assert!(sentences > 1000, "{sentences}");
}

#[test]
fn every_setting_is_in_the_configuration_guide() {
    let guide = guide("docs/configuration.md");
    let defaults = fs::read_to_string(root().join("config/fleetwatch.toml")).unwrap();
    let defaults = settings(&defaults);
    assert!(defaults.len() > 50, "{defaults:?}");
    for key in defaults {
        assert!(guide.contains(&format!("`{key}`")), "docs/configuration.md does not tell of {key}");
    }
}

/// The keys of the default configuration, those in its examples as well.
fn settings(configuration: &str) -> Vec<&str> {
    let keys = configuration.lines().filter_map(|line| line.trim_start_matches("# ").split_once(" = "));
    keys.map(|(key, _)| key).filter(|key| key.chars().all(|c| c.is_ascii_lowercase() || c == '_')).collect()
}

#[test]
fn a_shell_reads_every_example() {
    let mut examples = 0;
    for (name, _) in GUIDES {
        for code in blocks(&guide(name), "sh") {
            examples += 1;
            let mut shell = Command::new("sh").arg("-n").stdin(Stdio::piped()).spawn().unwrap();
            shell.stdin.take().unwrap().write_all(code.as_bytes()).unwrap();
            assert!(shell.wait().unwrap().success(), "{name}: {code}");
        }
    }
    assert!(examples > 15, "{examples}");
}

#[test]
fn what_is_for_contributors_is_linked_where_they_begin() {
    let contributing = guide("CONTRIBUTING.md");
    for page in ["contract", "architecture", "performance", "glossary", "testing"] {
        assert!(contributing.contains(&format!("(docs/{page}.md)")), "CONTRIBUTING.md does not link {page}");
    }
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
    assert!(errors.len() > 15, "{errors:?}");
    for error in errors {
        // `…` stands for a value.
        for part in error.split('…').map(str::trim).filter(|part| part.len() > 3) {
            assert!(sources.contains(part), "no error says {part:?} any more: {error}");
        }
    }
}
