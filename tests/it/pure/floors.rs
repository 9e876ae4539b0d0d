//! The house rules, read off the sources: imports go down only, the core knows no clock and no I/O, files stay short.
//!
//! What each module is stands in `src/lib.rs`.

mod budgets;
mod circles;
mod kit;
mod times;
mod walks;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// The modules from the ground up, with their floors. A module imports only from modules above it in this list.
const MODULES: &[(&str, u8)] = &[
    ("time", 0),
    ("ids", 0),
    ("pattern", 0),
    ("address", 0),
    ("hash", 0),
    ("screen", 0),
    ("repository", 0),
    ("state", 0),
    ("agent_record", 0),
    ("status", 0),
    ("dialog", 0),
    ("profile", 0),
    ("tracker", 0),
    ("task", 0),
    ("fleet", 0),
    ("notify", 0),
    ("follow_up", 0),
    ("operation", 0),
    ("record", 0),
    ("present", 0),
    ("ui", 1),
    ("clock", 1),
    ("private", 1),
    ("tmux", 1),
    ("process", 1),
    ("recording", 1),
    ("history", 1),
    ("token", 1),
    ("git", 1),
    ("config", 1),
    ("sender", 2),
    ("poll", 2),
    ("owner", 2),
    ("launch", 2),
    ("delivery", 2),
    ("engine", 2),
    ("serve", 3),
    ("demo", 3),
    ("app", 3),
    ("cli", 3),
];

/// What the modules of floor 0 may not name: clocks, threads, files, processes, the network, tmux and terminals.
const CORE_MAY_NOT_NAME: &[&str] = &[
    "tokio",
    "std::time",
    "Instant::now",
    "SystemTime",
    "Timestamp::now",
    "std::fs",
    "std::process",
    "std::net",
    "std::thread",
    "std::env::",
    "std::io::std",
    "tmux_interface",
    "crossterm",
    "ratatui",
    "rusqlite",
];

/// What the drawing may not name beside: it is a function of the view and of a time that it is given.
const UI_MAY_NOT_NAME: &[&str] = &[
    "tokio",
    "Instant::now",
    "SystemTime",
    "Timestamp::now",
    "Zoned::now",
    "std::process",
    "std::net",
    "tmux_interface",
    "rusqlite",
];

/// The longest file, in lines before its tests. Short enough to read in one sitting, and long enough for an `impl` to stay
/// with its type: spread over many files, an object only hides its size.
const LONGEST: usize = 600;

#[test]
fn the_sources_keep_the_house_rules() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut faults = Vec::new();
    let mut modules = BTreeSet::new();
    let mut files = Vec::new();
    collect(&root, &mut files);
    for path in &files {
        let relative = path.strip_prefix(&root).unwrap();
        let source = Source::new(relative, &fs::read_to_string(path).unwrap());
        modules.extend(source.module().map(str::to_owned));
        faults.extend(source.faults());
    }
    assert!(files.len() > 20 && modules.contains("fleet"), "the sources were not found under {}", root.display());
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// A floor that holds for what a module imports, too: a drawing that imports what imports SQLite needs SQLite.
#[test]
fn what_is_forbidden_is_reached_through_no_other_module() {
    assert_eq!(reached(&sources("src")), BTreeSet::new());
}

/// For each module with forbidden names the modules that it reaches through imports and that name some of them.
fn reached(sources: &[Source]) -> BTreeSet<(&'static str, &'static str, Vec<&'static str>)> {
    let mut imports: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for source in sources {
        imports.entry(source.module().unwrap_or_default()).or_default().extend(source.imports());
    }
    let mut found = BTreeSet::new();
    for (order, (who, _)) in MODULES.iter().enumerate() {
        let forbidden = forbidden_to(order);
        let mut seen = BTreeSet::from([(*who).to_owned()]);
        let mut open = vec![(*who).to_owned()];
        while let Some(module) = open.pop() {
            let next = imports.get(module.as_str()).into_iter().flatten();
            open.extend(next.filter(|next| seen.insert((*next).clone())).cloned());
        }
        for (through, _) in MODULES.iter().filter(|(module, _)| module != who && seen.contains(*module)) {
            let names = |word: &&&str| {
                sources.iter().any(|source| source.module() == Some(through) && source.code.contains(**word))
            };
            let what: Vec<&str> = forbidden.iter().filter(names).copied().collect();
            if !what.is_empty() {
                found.insert((*who, *through, what));
            }
        }
    }
    found
}

/// What a module must not name.
fn forbidden_to(order: usize) -> &'static [&'static str] {
    match MODULES[order] {
        (_, 0) => CORE_MAY_NOT_NAME,
        ("ui", _) => UI_MAY_NOT_NAME,
        _ => &[],
    }
}

/// `cargo test` compiles what `tests/it/main.rs` leads to, and is silent about any other file.
#[test]
fn every_file_of_tests_is_a_module() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let mut files = Vec::new();
    collect(&root, &mut files);
    assert!(files.len() > 20, "{files:?}");
    for path in files.iter().filter(|path| !path.ends_with("main.rs") && !path.ends_with("mod.rs")) {
        let folder = path.parent().unwrap();
        let parents = [folder.with_extension("rs"), folder.join("mod.rs"), root.join("main.rs")];
        let declaration = format!("mod {};", path.file_stem().unwrap().to_string_lossy());
        let declared = parents.iter().find(|parent| parent.exists()).is_some_and(|parent| {
            let text = fs::read_to_string(parent).unwrap();
            text.lines().any(|line| line.trim_start().trim_start_matches("pub ") == declaration)
        });
        assert!(declared, "{} is never compiled: add `{declaration}` to its parent", path.display());
    }
}

#[test]
fn unsafe_code_is_forbidden_for_the_whole_package() {
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    assert!(manifest.contains("unsafe_code = \"forbid\""));
}

#[test]
fn a_breach_of_each_rule_is_found() {
    let faults = |path: &str, text: &str| Source::new(Path::new(path), text).faults();
    let none: Vec<String> = Vec::new();
    assert_eq!(faults("fleet.rs", "use crate::screen::Screen; // crate::ui\n/// tokio, crate::cli\n"), none);
    assert_eq!(faults("profile/reading.rs", "use super::Library;\nuse super::super::screen::Screen;\n"), none);
    assert_eq!(faults("cli.rs", "use crate::{config, poll::{Poller, poll_once}, ui};"), none);
    assert_eq!(faults("fleet/tests.rs", "use crate::cli; use tokio::time;"), none);
    assert_eq!(faults("fleet.rs", "#[cfg(test)]\nmod tests { use std::fs; use crate::cli; }"), none);

    assert_eq!(
        faults("screen.rs", "use crate::state::State;"),
        ["screen.rs: screen imports state, which is not below it"]
    );
    assert_eq!(
        faults("screen/row.rs", "use super::super::ui;"),
        ["screen/row.rs: screen imports ui, which is not below it"]
    );
    assert_eq!(faults("fleet.rs", "use super::cli;"), ["fleet.rs: fleet imports cli, which is not below it"]);
    assert_eq!(
        faults("ui.rs", "use crate::{fleet, history::{Reader, key}};"),
        ["ui.rs: ui imports history, which is not below it"]
    );
    assert_eq!(faults("fleet/view.rs", "let now = std::time::Instant::now();").len(), 2);
    assert_eq!(faults("ui/table.rs", "use tokio::time;"), ["ui/table.rs: ui names tokio"]);
    assert_eq!(faults("ui/mod.rs", ""), ["ui/mod.rs: write ui.rs and ui/ instead of ui/mod.rs"]);
    assert_eq!(faults("cellar.rs", ""), ["cellar.rs: cellar has no floor; give it one in tests/it/pure/floors.rs"]);
    assert_eq!(faults("fleet.rs", &"\n".repeat(601)), ["fleet.rs: 601 lines before its tests, more than 600"]);
    assert_eq!(faults("poll.rs", "Command::new(\"sh\")"), ["poll.rs: poll starts a shell"]);
    assert_eq!(faults("poll.rs", "use tmux_interface::Tmux;"), ["poll.rs: only tmux may name tmux_interface"]);

    assert_eq!(faults("cli/serve.rs", "use crate::serve::Serving;"), none);
    assert_eq!(faults("app.rs", "use crate::serve::Serving;"), ["app.rs: only cli/serve.rs may name serve"]);

    let files = [
        ("ui/table.rs", "use crate::config::Rules;"),
        ("config.rs", "use crate::tmux::Key;"),
        ("tmux.rs", "use tokio::time;"),
    ];
    let sources = files.map(|(path, text)| Source::new(Path::new(path), text));
    assert_eq!(reached(&sources), BTreeSet::from([("ui", "tmux", vec!["tokio"])]));
}

/// The files of a folder that are not tests.
fn sources(folder: &str) -> Vec<Source> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    collect(&package.join(folder), &mut files);
    let name = |path: &Path| path.strip_prefix(package.join("src")).unwrap().to_owned();
    let source = |path: &PathBuf| Source::new(&name(path), &fs::read_to_string(path).unwrap());
    files.iter().map(source).filter(|source| !source.is_test()).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// One file below `src`.
struct Source {
    /// `fleet/view.rs`.
    name: String,
    /// `["fleet", "view"]`.
    modules: Vec<String>,
    /// The text without comments and tests.
    code: String,
    /// Lines before the tests.
    lines: usize,
}

impl Source {
    fn new(path: &Path, text: &str) -> Self {
        let modules = path.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
        let before_tests = text.split("#[cfg(test)]\nmod ").next().unwrap_or(text);
        let mut code = String::new();
        for line in before_tests.lines() {
            let _ = writeln!(code, "{}", line.split("//").next().unwrap_or(line));
        }
        Self { name: path.display().to_string(), modules, code, lines: before_tests.lines().count() }
    }

    /// The module directly below the crate; `None` for `lib.rs` and `main.rs`, which import everything.
    fn module(&self) -> Option<&str> {
        let first = self.modules.first()?.as_str();
        (!["lib", "main"].contains(&first)).then_some(first)
    }

    fn is_test(&self) -> bool {
        self.modules.iter().any(|part| part == "tests" || part.ends_with("_tests"))
    }

    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.modules.last().is_some_and(|last| last == "mod") {
            let parent = &self.modules[..self.modules.len() - 1].join("/");
            faults.push(format!("write {parent}.rs and {parent}/ instead of {parent}/mod.rs"));
        }
        if let (Some(module), false) = (self.module(), self.is_test()) {
            match MODULES.iter().position(|(name, _)| *name == module) {
                Some(order) => self.check_names(module, order, &mut faults),
                None => faults.push(format!("{module} has no floor; give it one in tests/it/pure/floors.rs")),
            }
            if self.lines > LONGEST {
                faults.push(format!("{} lines before its tests, more than {LONGEST}", self.lines));
            }
        }
        faults.into_iter().map(|fault| format!("{}: {fault}", self.name)).collect()
    }

    fn check_names(&self, module: &str, order: usize, faults: &mut Vec<String>) {
        for imported in self.imports() {
            let allowed = imported == module || MODULES[..order].iter().any(|(name, _)| *name == imported);
            if !allowed {
                faults.push(format!("{module} imports {imported}, which is not below it"));
            }
            // What the faces share is below them, and the command line only starts this one.
            if imported == "serve" && module != "serve" && self.name != "cli/serve.rs" {
                faults.push("only cli/serve.rs may name serve".to_owned());
            }
        }
        let forbidden = forbidden_to(order);
        faults.extend(
            forbidden.iter().filter(|word| self.code.contains(*word)).map(|word| format!("{module} names {word}")),
        );
        if module != "tmux" && forbidden.is_empty() && self.code.contains("tmux_interface") {
            faults.push("only tmux may name tmux_interface".to_owned());
        }
        if ["sh", "bash", "/bin/sh"].iter().any(|shell| self.code.contains(&format!("Command::new(\"{shell}\")"))) {
            faults.push(format!("{module} starts a shell"));
        }
    }

    /// The top modules that the code names through `crate::` or through enough `super::`.
    fn imports(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        // From the file of module a::b::c, three times `super` is the crate.
        let root_by_super = "super::".repeat(self.modules.len());
        for prefix in ["crate::", root_by_super.as_str()] {
            for (at, _) in self.code.match_indices(prefix) {
                let goes_on_before = self.code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
                if !goes_on_before {
                    found.extend(first_names(&self.code[at + prefix.len()..]));
                }
            }
        }
        // A macro or a bare re-export is no module.
        found.retain(|name| MODULES.iter().any(|(module, _)| module == name));
        found
    }
}

/// The first name of a path, or of each path in a group in braces.
fn first_names(path: &str) -> Vec<String> {
    let name = |text: &str| text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let Some(group) = path.strip_prefix('{') else { return vec![name(path)] };
    let mut depth = 0;
    let mut names = vec![name(group)];
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => names.push(name(&group[at + 1..])),
            _ => {}
        }
    }
    names
}
