//! Inside a room (a module directly below the crate), files do not import each other in circles.
//!
//! An arrow goes from a file to the one that defines what it names, whichever module hands that on. Who declares a child or
//! hands its items on imports nothing by that; who uses them does.
//!
//! Methods are not seen: an `impl` in another file than its type is an arrow to the type, and its callers need none to it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

#[test]
fn files_of_a_room_do_not_import_each_other_in_circles() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    super::collect(&root, &mut paths);
    let files = paths.iter().map(|path| (path.strip_prefix(&root).unwrap(), fs::read_to_string(path).unwrap()));
    let arrows = House::new(files.filter(|(path, _)| !super::Source::new(path, "").is_test())).arrows();
    assert!(arrows.len() > 100, "{arrows:?}");

    let mut faults = String::new();
    for circle in circles(&arrows) {
        let _ = writeln!(faults, "these files import each other in a circle: {circle:?}");
        let inside = |file: &String| circle.contains(&file.as_str());
        for ((from, to), names) in arrows.iter().filter(|((from, to), _)| inside(from) && inside(to)) {
            let _ = writeln!(faults, "    {from} -> {to}: {names:?}");
        }
    }
    assert!(faults.is_empty(), "\n{faults}");
}

#[test]
fn a_circle_is_found_however_an_item_is_named() {
    let found = |files: &[(&str, &str)]| {
        let arrows = House::new(files.iter().map(|(path, text)| (Path::new(*path), (*text).to_owned()))).arrows();
        circles(&arrows).iter().map(|circle| circle.join(" ")).collect::<Vec<_>>()
    };
    let none: [&str; 0] = [];

    let face =
        "mod cell; mod row; pub use cell::Cell; pub(crate) use row::*; pub struct Screen; use crate::time::Span;";
    let with_row =
        |row: &str| found(&[("screen.rs", face), ("screen/cell.rs", "pub struct Cell;"), ("screen/row.rs", row)]);
    assert_eq!(with_row("use super::{Cell, Span}; /* super::Screen */ pub struct Row; // super::Screen"), none);
    assert_eq!(with_row("use crate::screen::Screen; pub struct Row;"), none, "who hands on uses nothing");
    assert_eq!(
        with_row("const TEXT: &'static str = r#\"\"{\"#; #[cfg(test)]\nmod tests { use super::super::Screen; }"),
        none
    );

    let pair = |face: &str, row: &str| found(&[("screen.rs", face), ("screen/row.rs", row)]);
    let both = ["screen.rs screen/row.rs"];
    assert_eq!(pair("mod row; struct Screen; use row::Row;", "struct Row; use super::Screen;"), both);
    assert_eq!(pair("mod row; struct Screen; fn f() { row::g() }", "fn g(screen: &super::Screen) {}"), both);
    assert_eq!(
        pair("mod row; struct Screen; use self::row::{A, B as C};", "struct B; use crate::screen::Screen;"),
        both
    );
    assert_eq!(
        pair("mod row; pub use row::Row; struct Screen(Row);", "struct Row; use crate::{screen::Screen};"),
        both
    );
    assert_eq!(pair("mod row; use row::*; fn f() { g(); Row }", "fn g() {} use super::*; fn h() { f() }"), both);
    assert_eq!(
        pair("mod row; pub use row::g; fn f() { self.g() }", "fn g() {} fn h() { super::f() }"),
        none,
        "a method"
    );

    let siblings = [
        ("screen.rs", "mod cell; mod row; pub use cell::Cell; pub use row::Row;"),
        ("screen/cell.rs", "use super::Row; words! { pub enum Cell { A } }"),
        ("screen/row.rs", "use crate::screen; fn row() -> screen::Cell {} pub struct Row;"),
    ];
    assert_eq!(found(&siblings), ["screen/cell.rs screen/row.rs"]);
    let rooms =
        [("screen.rs", "pub struct Screen; use crate::state::State;"), ("state.rs", "use crate::screen::Screen;")];
    assert_eq!(found(&rooms), none, "rooms have floors");
}

/// From a file to another of its room, with the names that it imports.
type Arrows = BTreeMap<(String, String), BTreeSet<String>>;

/// The groups of files in which each reaches each other.
fn circles(arrows: &Arrows) -> Vec<Vec<&str>> {
    let mut reached: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (start, _) in arrows.keys() {
        let mut open = vec![start.as_str()];
        let known = reached.entry(start).or_default();
        while let Some(file) = open.pop() {
            let next = arrows.keys().filter(|(from, _)| from == file).map(|(_, to)| to.as_str());
            open.extend(next.filter(|next| known.insert(next)));
        }
    }
    let reaches = |from: &str, to: &str| reached.get(from).is_some_and(|files| files.contains(to));
    let circle = |file: &&str| reached.keys().copied().filter(|to| reaches(file, to) && reaches(to, file)).collect();
    let all: BTreeSet<Vec<&str>> = reached.keys().map(circle).collect();
    all.into_iter().filter(|circle| !circle.is_empty()).collect()
}

/// All files by their modules: `["fleet", "view"]`.
struct House(BTreeMap<Vec<String>, File>);

/// What one file defines and names.
#[derive(Default)]
struct File {
    /// `fleet/view.rs`.
    name: String,
    /// What is defined outside all braces.
    items: BTreeSet<String>,
    /// What `use` calls each path.
    bound: BTreeMap<String, Vec<String>>,
    /// Paths that end in `*`.
    globs: Vec<Vec<String>>,
    /// All paths, those of `pub use` apart.
    paths: BTreeSet<Vec<String>>,
}

impl House {
    fn new<'p>(files: impl Iterator<Item = (&'p Path, String)>) -> Self {
        let module = |path: &Path| path.with_extension("").iter().map(|part| part.to_string_lossy().into()).collect();
        Self(files.map(|(path, text)| (module(path), File::new(path, &text))).collect())
    }

    fn arrows(&self) -> Arrows {
        let mut arrows = Arrows::new();
        for (module, file) in &self.0 {
            for path in &file.paths {
                let Some((target, name)) = self.find(module, path, 16) else { continue };
                if target[0] == module[0] && target != module {
                    let to = self.0[target].name.clone();
                    arrows.entry((file.name.clone(), to)).or_default().insert(name);
                }
            }
        }
        arrows
    }

    /// The module that defines what a path means in a module, and the name there. A path to a module defines nothing.
    fn find(&self, module: &[String], path: &[String], steps: u8) -> Option<(&Vec<String>, String)> {
        let (first, rest) = path.split_first()?;
        let steps = steps.checked_sub(1)?;
        let child = [module, std::slice::from_ref(first)].concat();
        match first.as_str() {
            "crate" => return self.find(&[], rest, steps),
            "self" => return self.find(module, rest, steps),
            "super" => return self.find(&module[..module.len().checked_sub(1)?], rest, steps),
            _ if !rest.is_empty() && self.0.contains_key(&child) => return self.find(&child, rest, steps),
            _ => {}
        }
        let (module, file) = self.0.get_key_value(module)?;
        if file.items.contains(first) {
            return Some((module, first.clone()));
        }
        match file.bound.get(first) {
            Some(meant) => self.find(module, &[meant, rest].concat(), steps),
            None => file.globs.iter().find_map(|glob| self.find(module, &[glob, path].concat(), steps)),
        }
    }
}

impl File {
    fn new(path: &Path, text: &str) -> Self {
        let mut file = Self { name: path.display().to_string(), ..Self::default() };
        let tokens = tokens(text.split("#[cfg(test)]\nmod ").next().unwrap_or(text));
        let token = |at: usize| tokens.get(at).map_or("", String::as_str);
        let before = |at: usize| at.checked_sub(1).map_or("", token);
        // For each open brace whether it closes off what is inside. The braces of a macro's input do not.
        let mut braces = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            match token(at) {
                "{" => braces.push(before(at) != "!"),
                "}" => drop(braces.pop()),
                "use" => {
                    let hands_on = ["pub", ")"].contains(&before(at));
                    at = file.read_use(&tokens, at + 1, &[], hands_on);
                    continue;
                }
                "mod" if token(at + 2) == ";" => at += 1,
                "struct" | "enum" => drop(file.items.insert(token(at + 1).to_owned())),
                "fn" | "const" | "static" | "type" | "trait" | "mod" if !braces.contains(&true) => {
                    file.items.insert(token(at + 1).to_owned());
                }
                name if is_name(name) && token(at + 1) == "{" && braces == [false] => {
                    file.items.insert(name.to_owned());
                }
                name if is_name(name) => {
                    let is_member = before(at) == "." && before(at - 1) != ".";
                    let mut path = vec![name.to_owned()];
                    while token(at + 1) == "::" && is_name(token(at + 2)) {
                        path.push(token(at + 2).to_owned());
                        at += 2;
                    }
                    // A small name alone is as often a variable or a field.
                    let is_clear = path.len() > 1 || name.starts_with(char::is_uppercase) || token(at + 1) == "(";
                    if is_clear && !is_member {
                        file.paths.insert(path);
                    }
                }
                _ => {}
            }
            at += 1;
        }
        file
    }

    /// Reads one path or group of `use`, and returns where its end is.
    fn read_use(&mut self, tokens: &[String], mut at: usize, before: &[String], hands_on: bool) -> usize {
        let mut path = before.to_vec();
        let mut name = None;
        while let Some(token) = tokens.get(at).filter(|token| ![",", ";", "}"].contains(&token.as_str())) {
            match token.as_str() {
                "{" => {
                    while tokens.get(at).is_some_and(|token| token != "}") {
                        at = self.read_use(tokens, at + 1, &path, hands_on);
                    }
                    return at + 1;
                }
                "*" => {
                    self.globs.push(path);
                    return at + 1;
                }
                "as" => {
                    at += 1;
                    name = tokens.get(at).cloned();
                }
                "self" if !path.is_empty() => {}
                word if is_name(word) => path.push(word.to_owned()),
                _ => {}
            }
            at += 1;
        }
        if !hands_on {
            self.paths.insert(path.clone());
        }
        if let Some(name) = name.or_else(|| path.last().cloned()) {
            self.bound.insert(name, path);
        }
        at
    }
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Words, `::` and single signs, without comments, texts, characters and lifetimes.
fn tokens(text: &str) -> Vec<String> {
    static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
        let skipped =
            r##"//.*|/\*(?s:.*?)\*/|b?r#"(?s:.*?)"#|b?r"[^"]*"|"(?:[^"\\]|\\(?s:.))*"|'(?:[^'\\]|\\[^']+|\\')'|'\w+"##;
        Regex::new(&format!(r"{skipped}|\s+|(?<token>\w+|::|.)")).unwrap()
    });
    TOKEN.captures_iter(text).filter_map(|found| Some(found.name("token")?.as_str().to_owned())).collect()
}
