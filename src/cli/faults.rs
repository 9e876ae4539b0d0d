//! The faults of the operator's files, with their places and what to do about each.

use std::collections::BTreeSet;
use std::iter;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Failure;
use crate::config::{Config, ConfigError, Position, SearchPath};
use crate::profile::ProfileSet;
use crate::ui::{Keymap, Theme};

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    Configuration,
    Keymap,
    Theme,
    Profiles,
}

/// The first fault of a configuration that cannot be used, from its beginning, with how to see the others.
pub(super) fn first_fault(error: ConfigError, search: &SearchPath) -> Failure {
    let is_own = |path: &PathBuf| *path == error.path;
    let path = search.find().ok().flatten().filter(is_own);
    let faults = path.map(|path| of_file(FileKind::Configuration, &path)).unwrap_or_default();
    match &faults[..] {
        [first, _, ..] => {
            let all = format!("`fleetwatch config check {}` shows all {}", error.path.display(), faults.len());
            let then = |remedy: &str| {
                if remedy.ends_with('?') { format!("{remedy} {all}") } else { format!("{remedy}; {all}") }
            };
            let hint = first.remedy().map_or_else(|| all.clone(), then);
            first.clone().hint(hint)
        }
        [only] => only.clone(),
        [] => error.into(),
    }
}

/// The faults of a file.
pub(super) fn of_file(kind: FileKind, path: &Path) -> Vec<Failure> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => return vec![ConfigError::unreadable(path, &error).into()],
    };
    let (mut faults, keys) = all_faults(&text, |text| first(kind, path, text));
    // A faulty row was taken out, and every rule that names it misses it.
    faults.retain(|fault| {
        let missed = fault.what.strip_prefix("no row is called `").and_then(|rest| rest.strip_suffix('`'));
        missed.is_none_or(|name| !keys.contains(name))
    });
    let as_text = |Fault { at, what, hint }: Fault| {
        let place =
            at.map(|at| Position::of_byte(&text, at)).map(|Position { line, column }| format!("{line}:{column}:"));
        Failure::usage(format!("{}:{} {what}", path.display(), place.unwrap_or_default())).hint_if(hint)
    };
    faults.into_iter().map(as_text).collect()
}

/// The fault at which a reader stops.
fn first(kind: FileKind, path: &Path, text: &str) -> Option<Fault> {
    let byte = |position: Position| position.byte_in(text);
    match kind {
        FileKind::Configuration => Config::parse(text, path).err().map(|error| Fault {
            at: error.position.and_then(byte),
            what: error.what,
            hint: Some(error.hint),
        }),
        FileKind::Keymap => Keymap::parse(text).err().map(|error| Fault {
            at: Some(error.at.start),
            what: error.what,
            hint: Some(error.hint),
        }),
        FileKind::Theme => Theme::parse(text).err().map(|error| Fault {
            at: Some(error.at.start),
            what: error.what,
            hint: error.hint.or_else(|| Some("`fleetwatch config theme dark` prints one to start from".to_owned())),
        }),
        FileKind::Profiles => ProfileSet::check(&path.display().to_string(), text).err().map(|error| Fault {
            at: byte(Position { line: error.line, column: error.column }),
            what: error.message,
            hint: Some("`fleetwatch profiles show claude` prints one to start from".to_owned()),
        }),
    }
}

// Finds all faults of a TOML text with a reader that stops at the first one: the faulty part is taken out, and the rest
// is read again.

/// The most faults that are reported of one text.
const MOST: usize = 100;

/// A fault, as a reader reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fault {
    /// The byte of the text where it begins; `None` if the text as a whole is at fault.
    pub at: Option<usize>,
    pub what: String,
    pub hint: Option<String>,
}

/// Every fault of a text, by its place, and the keys that were taken out with them.
///
/// A fault that only follows from a missing key is not reported.
fn all_faults(text: &str, read: impl Fn(&str) -> Option<Fault>) -> (Vec<Fault>, BTreeSet<String>) {
    let mut text = text.to_owned();
    let (mut faults, mut keys) = (Vec::new(), BTreeSet::new());
    // The beginnings of the tables and lists from which something was taken out.
    let mut incomplete = BTreeSet::new();
    while let Some(fault) = read(&text) {
        let part = fault.at.and_then(|at| TomlPart::at(&text, at));
        let is_new = fault.at.is_none_or(|at| !incomplete.contains(&at)) && !faults.contains(&fault);
        if is_new {
            faults.push(fault);
        }
        let Some(part) = part.filter(|_| faults.len() < MOST) else { break };
        incomplete.extend(part.around);
        keys.extend(part.key);
        let Some(rest) = blanked(&text, &part.pieces) else { break };
        text = rest;
    }
    faults.sort_by_key(|fault| fault.at);
    (faults, keys)
}

/// A text with spaces in place of the pieces, so that nothing else moves; `None` if that changes nothing.
fn blanked(text: &str, pieces: &[Range<usize>]) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    for piece in pieces {
        for byte in bytes.get_mut(piece.clone())? {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
    String::from_utf8(bytes).ok().filter(|rest| rest != text)
}

/// A part that can be taken out of a text so that the rest is still TOML: a key with its value, an item of a list, or a
/// table.
#[derive(Debug, Default)]
struct TomlPart {
    pieces: Vec<Range<usize>>,
    /// Its key, if it has one.
    key: Option<String>,
    /// The beginnings of the tables and lists around it.
    around: Vec<usize>,
}

impl TomlPart {
    /// The smallest part around a byte, or else its line.
    fn at(text: &str, at: usize) -> Option<Self> {
        let (document, _) = DeTable::parse_recoverable(text);
        in_table(text, document.get_ref(), &[], at).or_else(|| {
            let start = text.get(..at)?.rfind('\n').map_or(0, |newline| newline + 1);
            let end = text.get(at..)?.find('\n').map_or(text.len(), |length| at + length);
            Some(Self { pieces: iter::once(start..end).collect(), ..Self::default() })
        })
    }
}

fn in_table(text: &str, table: &DeTable<'_>, around: &[usize], at: usize) -> Option<TomlPart> {
    table.iter().find_map(|(key, value)| {
        in_value(text, value, around, at).or_else(|| {
            let own = key.span().start.min(value.span().start)..=value.span().end.max(key.span().end);
            let pieces = || pieces_of(text, key.span().start, value);
            let key = key.get_ref().to_string();
            own.contains(&at).then(|| TomlPart { pieces: pieces(), key: Some(key), around: around.to_vec() })
        })
    })
}

fn in_value(text: &str, value: &Spanned<DeValue<'_>>, around: &[usize], at: usize) -> Option<TomlPart> {
    let around = [around, &[value.span().start]].concat();
    match value.get_ref() {
        DeValue::Table(table) => in_table(text, table, &around, at),
        DeValue::Array(items) => {
            // A list of tables begins with its first table, which may be complete when another one is not.
            let outside = around.len() - usize::from(is_list_of_tables(text, value));
            items.iter().find_map(|item| {
                in_value(text, item, &around[..outside], at).or_else(|| {
                    let pieces = || pieces_of(text, item.span().start, item);
                    item.span().contains(&at).then(|| TomlPart { pieces: pieces(), key: None, around: around.clone() })
                })
            })
        }
        _ => None,
    }
}

/// Whether a list is written as tables with headers.
fn is_list_of_tables(text: &str, value: &Spanned<DeValue<'_>>) -> bool {
    text.get(value.span()).is_some_and(|written| written.starts_with("[["))
        && matches!(value.get_ref(), DeValue::Array(items) if items.iter().any(|item| item.span().start == value.span().start))
}

/// The bytes of a key and its value, or of an item. A table with a header is in several pieces.
fn pieces_of(text: &str, from: usize, value: &Spanned<DeValue<'_>>) -> Vec<Range<usize>> {
    let span = value.span();
    let is_inline = || text.get(span.clone()).is_some_and(|written| written.starts_with('{'));
    let inner = |value: &Spanned<DeValue<'_>>| pieces_of(text, value.span().start, value);
    match value.get_ref() {
        DeValue::Table(table) if !is_inline() => {
            let entries = table.iter().flat_map(|(key, value)| pieces_of(text, key.span().start, value));
            // A table that occurs only in the names of others has no header; its span is that name.
            let header = text.get(span.clone()).filter(|written| written.starts_with('[')).map(|_| span.clone());
            entries.chain(header).collect()
        }
        DeValue::Array(items) if is_list_of_tables(text, value) => items.iter().flat_map(inner).collect(),
        _ => {
            // The first words of a dotted key come before it, the comma of a list after it.
            let line = text[..from].rfind(['\n', ',', '{', '[']).map_or(0, |before| before + 1);
            let behind = text[span.end..].trim_start();
            let comma = if behind.starts_with(',') { text.len() - behind.len() + 1 } else { span.end };
            iter::once(line..comma).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The faults of a configuration: line and column, and what is wrong.
    fn faults(text: &str) -> Vec<String> {
        let read = |text: &str| {
            let error = Config::parse(text, Path::new("t")).err()?;
            let at = error.position.and_then(|position| position.byte_in(text));
            Some(Fault { at, what: error.to_string(), hint: None })
        };
        all_faults(text, read).0.into_iter().map(|fault| fault.what).collect()
    }

    #[test]
    fn every_fault_is_found_at_its_own_place() {
        let text = "[watch]\ndiscvoer = true\ntick_ms = 1\nignore = [\"a[\", \"b\", \"\"]\n\n[[terminal]]\nsession = \"[\"\n\
                    name = \"%1\"\n\n[[notify]]\non = [\"exited\", \"bogus\"]\nby = [\"bell\"]\n[ui]\ntheme = 3\n";
        insta::assert_snapshot!(faults(text).join("\n"), @r"
        t:2:1: unknown key `discvoer` in [watch]
        t:3:11: `tick_ms` is out of range: 1
        t:4:11: bad pattern `a[`: unclosed character class; missing ']'
        t:4:22: an empty pattern matches nothing
        t:7:11: bad pattern `[`: unclosed character class; missing ']'
        t:8:8: `%1` cannot be a terminal's name
        t:11:17: `on` does not know `bogus`
        t:14:9: wrong type for `ui.theme`: integer `3`, where a string is expected
        ");
    }

    #[test]
    fn what_follows_from_a_fault_is_none() {
        let text = "[[terminal]]\nsession = \"[\"\n[[follow_up]]\non = [\"bogus\"]\nfrom = \"x\"\nto = \"y\"\n";
        insta::assert_snapshot!(faults(text).join("\n"), @r"
        t:2:11: bad pattern `[`: unclosed character class; missing ']'
        t:4:7: `on` does not know `bogus`
        ");
    }

    #[test]
    fn a_text_that_is_no_toml_is_read_on_behind_the_faults() {
        let text = "a = 1\nwatch.tick_ms = 1\n[history]\nkeep_days = yes\nkeep_days = 3\nmax_mib =\n[ui\n[x]\nz = 1\n";
        insta::assert_snapshot!(faults(text).join("\n"), @r"
        t:1:1: unknown key `a` at the top level
        t:2:17: `tick_ms` is out of range: 1
        t:4:13: this is not TOML: string values must be quoted, expected literal string
        t:6:10: this is not TOML: string values must be quoted, expected literal string
        t:7:4: this is not TOML: unclosed table, expected `]`
        ");
    }
}
