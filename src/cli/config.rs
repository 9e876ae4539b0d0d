//! `fleetwatch config`: prints the default configuration, checks one, and says where it may be.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::iter;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Subcommand;
use clap::builder::PossibleValuesParser;
use serde_json::{Map, Value, json};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::options::{toml_files, user_profiles};
use super::{Done, Failure, GlobalOptions, dashboard, output};
use crate::config::{self, Config, ConfigError, DEFAULT_TEXT, Loaded, Position, SCHEMA, SearchPath};
use crate::profile::ProfileSet;
use crate::ui::{Keymap, Theme};

/// Print the default configuration; show, check or find yours.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch config check")]
pub struct ConfigArgs {
    #[command(subcommand)]
    command: Option<ConfigCommand>,
}

#[derive(Clone, Debug, Subcommand)]
enum ConfigCommand {
    /// Print the commented default configuration, to start your own from.
    #[command(before_help = "Example: fleetwatch config default > config.toml")]
    Default,
    /// Check a configuration and report all errors, with line and column and what to do.
    #[command(before_help = "Example: fleetwatch config check config.toml")]
    Check {
        /// The file; default: the one in use, with the keymap, themes and profiles beside it.
        file: Option<PathBuf>,
    },
    /// Print the configuration that holds, with where each value comes from.
    #[command(before_help = "Example: fleetwatch config show")]
    Show {
        /// Print `{"path", "names_server", "tables": {TABLE: {KEY: {"value", "from"}}}}`; a list of tables, such as `server`, is an array.
        #[arg(long)]
        json: bool,
    },
    /// Print where fleetwatch looks for a configuration, and which one it uses.
    #[command(before_help = "Example: fleetwatch config paths")]
    Paths,
    /// Print the JSON schema of the configuration, for editors.
    #[command(before_help = "Example: fleetwatch config schema > fleetwatch.schema.json")]
    Schema,
    /// Print the default keymap, to start your own keymap.toml from.
    #[command(before_help = "Example: fleetwatch config keymap > keymap.toml")]
    Keymap,
    /// Print a built-in theme, to start your own from.
    #[command(before_help = "Example: fleetwatch config theme light > mine.toml")]
    Theme {
        /// Its name.
        #[arg(value_parser = PossibleValuesParser::new(Theme::names()))]
        name: String,
    },
}

/// Runs the command.
pub fn run(args: &ConfigArgs, options: &GlobalOptions) -> Done {
    match args.command.as_ref().unwrap_or(&ConfigCommand::Default) {
        ConfigCommand::Default => output::print(DEFAULT_TEXT),
        ConfigCommand::Check { file } => check(file.as_deref(), options),
        ConfigCommand::Show { json } => show(options, *json),
        ConfigCommand::Paths => paths(options),
        ConfigCommand::Keymap => output::print(Keymap::SHIPPED),
        ConfigCommand::Theme { name } => output::print(Theme::shipped_text(name).unwrap_or_default()),
        ConfigCommand::Schema => output::print(SCHEMA),
    }
}

/// The configuration that holds, as TOML, with where each value comes from.
fn show(options: &GlobalOptions, json: bool) -> Done {
    let mut shown = ShownConfig::default();
    shown.add(DEFAULT_TEXT, |_| "default".to_owned());
    let path = options.load()?.path;
    if let Some(path) = &path {
        let own =
            std::fs::read_to_string(path).map_err(|error| Failure::from(ConfigError::unreadable(path, &error)))?;
        let name = path.file_name().unwrap_or_default().display();
        shown.add(&own, |line| format!("{name}:{line}"));
    }
    if json {
        let names_server = options.names_a_server();
        return output::print_json(&json!({ "path": path, "names_server": names_server, "tables": shown.json()? }));
    }
    let mut text = path.map_or("# no configuration file found; the defaults apply\n".to_owned(), |path| {
        format!("# {}\n", path.display())
    });
    if options.names_a_server() {
        text.push_str("# the command line names the server, in place of any [[server]]\n");
    }
    for ShownTable { name, is_of_a_list, values } in shown.0 {
        let _ = if is_of_a_list { writeln!(text, "\n[[{name}]]") } else { writeln!(text, "\n[{name}]") };
        for ShownValue { key, written, origin } in values {
            let _ = writeln!(text, "{:<48} # {origin}", format!("{key} = {written}"));
        }
    }
    output::print(&text)
}

/// Tables in the order of the text.
#[derive(Default)]
struct ShownConfig(Vec<ShownTable>);

struct ShownTable {
    name: String,
    is_of_a_list: bool,
    values: Vec<ShownValue>,
}

/// A value as it is written, and where that is.
struct ShownValue {
    key: String,
    written: String,
    origin: String,
}

impl ShownConfig {
    /// Adds a text, whose values take the place of those before. Lists of tables have no defaults.
    fn add(&mut self, text: &str, origin: impl Fn(usize) -> String) {
        let (document, _) = DeTable::parse_recoverable(text);
        for (name, value) in document.get_ref() {
            let name = name.get_ref();
            let tables = match value.get_ref() {
                DeValue::Table(table) => vec![(false, table)],
                DeValue::Array(items) => {
                    items.iter().filter_map(|item| Some((true, item.get_ref().as_table()?))).collect()
                }
                _ => Vec::new(),
            };
            for (is_of_a_list, table) in tables {
                let known = self.0.iter().position(|known| known.name == *name && !is_of_a_list);
                let at = known.unwrap_or(self.0.len());
                if known.is_none() {
                    self.0.push(ShownTable { name: name.to_string(), is_of_a_list, values: Vec::new() });
                }
                for (key, value) in table {
                    let written = text.get(value.span()).unwrap_or_default().to_owned();
                    let line = Position::of_byte(text, key.span().start).line;
                    let new = ShownValue { key: key.get_ref().to_string(), written, origin: origin(line) };
                    let values = &mut self.0[at].values;
                    match values.iter_mut().find(|known| known.key == new.key) {
                        Some(known) => *known = new,
                        None => values.push(new),
                    }
                }
            }
        }
    }

    /// The tables by their names, with values as JSON has them.
    fn json(self) -> Result<Map<String, Value>, Failure> {
        let mut tables = Map::new();
        for ShownTable { name, is_of_a_list, values } in self.0 {
            let mut table = Map::new();
            for ShownValue { key, written, origin } in values {
                let read: toml::Table = toml::from_str(&format!("value = {written}")).map_err(Failure::refused)?;
                table.insert(key, json!({ "value": read.get("value"), "from": origin }));
            }
            match tables.entry(name).or_insert_with(|| if is_of_a_list { json!([]) } else { json!({}) }) {
                Value::Array(list) => list.push(table.into()),
                only => *only = table.into(),
            }
        }
        Ok(tables)
    }
}

/// A line for each file that nothing reads because of its name.
fn misnamed(search: &SearchPath) -> String {
    search.misnamed().iter().map(|path| format!("{}\n", config::not_read(path))).collect()
}

fn paths(options: &GlobalOptions) -> Done {
    let search = options.search_path();
    let used = Loaded::find(&search);
    let mut text = String::new();
    for candidate in search.candidates() {
        // Whether a file exists may be unknown.
        let state = match (&used, candidate.path.try_exists().unwrap_or(true)) {
            (_, false) => "not there",
            (Ok(loaded), true) if loaded.path.as_ref() == Some(&candidate.path) => "used",
            (Err(error), true) if error.path == candidate.path => "invalid",
            (_, true) => "not used",
        };
        let _ = writeln!(text, "{:<18} {:<9} {}", candidate.origin.describe(), state, candidate.path.display());
    }
    if let Ok(Loaded { path: None, .. }) = used {
        text.push_str("no file found; the defaults of `fleetwatch config` apply\n");
    }
    text.push_str(&misnamed(&search));
    let code = output::print(&text)?;
    // The lines above help to fix the error, so they come first.
    used.map_err(Failure::from)?;
    Ok(code)
}

// `fleetwatch config check`: every fault of the operator's files.

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileKind {
    Configuration,
    Keymap,
    Theme,
    Profiles,
}

/// What a check of the operator's files found.
pub(super) struct Checked {
    /// The files without a fault.
    pub good: Vec<PathBuf>,
    pub faults: Vec<Failure>,
    /// What is no setting any more.
    pub warnings: Vec<Failure>,
    /// Whether there is no configuration file, so that the defaults apply.
    pub is_default: bool,
}

/// Checks one configuration, or else the one in use with the keymap, themes and profiles beside it.
pub(super) fn checked(file: Option<&Path>, options: &GlobalOptions) -> Checked {
    let mut faults = Vec::new();
    let files = match file {
        Some(file) => vec![(FileKind::Configuration, file.to_owned())],
        None => theirs(options, &mut faults),
    };
    let mut good = Vec::new();
    for (kind, path) in &files {
        match of_file(*kind, path) {
            found if found.is_empty() => good.push(path.clone()),
            found => faults.extend(found),
        }
    }
    let is_default = faults.is_empty() && !files.iter().any(|(kind, _)| *kind == FileKind::Configuration);
    let configurations = good.iter().filter(|path| files.contains(&(FileKind::Configuration, (*path).clone())));
    let left = configurations.filter_map(|path| Config::load(path).ok()).flat_map(|config| config.left);
    Checked { warnings: left.map(Failure::from).collect(), good, faults, is_default }
}

fn check(file: Option<&Path>, options: &GlobalOptions) -> Done {
    let Checked { good, faults, warnings, is_default } = checked(file, options);
    let mut lines: String = good.iter().map(|path| format!("{}: ok\n", path.display())).collect();
    if is_default {
        lines.push_str(
            "no configuration file found; the defaults apply. `fleetwatch config paths` says where one is read\n",
        );
        lines.push_str(&misnamed(&options.search_path()));
    }
    let code = output::print(&lines)?;
    warnings.iter().for_each(Failure::warn);
    faults.iter().for_each(Failure::tell);
    Ok(if faults.is_empty() { code } else { ExitCode::from(2) })
}

/// The files that the dashboard would read, and those beside them that it could read.
fn theirs(options: &GlobalOptions, failures: &mut Vec<Failure>) -> Vec<(FileKind, PathBuf)> {
    let search = options.search_path();
    let mut files = Vec::new();
    match search.find() {
        Ok(path) => files.extend(path.map(|path| (FileKind::Configuration, path))),
        Err(error) => {
            // Then nothing beside it is read, either.
            failures.push(error.into());
            return files;
        }
    }
    let candidates = dashboard::candidates(options);
    let directories = || candidates.iter().filter_map(|path| path.parent());
    let keymap = directories().map(|directory| directory.join("keymap.toml")).find(|path| path.exists());
    files.extend(keymap.map(|path| (FileKind::Keymap, path)));
    let mut take = |kind: FileKind, found: Result<Vec<PathBuf>, Failure>| match found {
        Ok(paths) => files.extend(paths.into_iter().map(|path| (kind, path))),
        Err(failure) => failures.push(failure),
    };
    for directory in directories() {
        take(FileKind::Theme, toml_files(&directory.join("themes")));
    }
    take(FileKind::Profiles, user_profiles(&search));
    files
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
fn of_file(kind: FileKind, path: &Path) -> Vec<Failure> {
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
mod faults_tests {
    use std::path::Path;

    use super::*;
    use crate::config::Config;

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
