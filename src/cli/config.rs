//! `fleetwatch config`: prints the default configuration, checks one, and says where it may be.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Subcommand;
use clap::builder::PossibleValuesParser;
use serde_json::{Map, Value, json};
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
    /// Check a configuration and report what is wrong, with line, column and what to do.
    #[command(before_help = "Example: fleetwatch config check config.toml")]
    Check {
        /// The file; default: the one in use, with the keymap, themes and profiles beside it.
        file: Option<PathBuf>,
    },
    /// Print the configuration in effect, and where each value comes from.
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

// `fleetwatch config check`: what is wrong in the operator's files.

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileKind {
    Configuration,
    Keymap,
    Theme,
    Profiles,
}

/// The fault at which the reader of a file stops.
fn first_fault(kind: FileKind, path: &Path) -> Option<Failure> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => return Some(ConfigError::unreadable(path, &error).into()),
    };
    let placed = |fault| Failure::from(ConfigError::of(path, &text, fault));
    match kind {
        FileKind::Configuration => Config::parse(&text, path).err().map(Failure::from),
        FileKind::Keymap => Keymap::parse(&text).err().map(placed),
        FileKind::Theme => Theme::parse(&text).err().map(placed),
        FileKind::Profiles => ProfileSet::check(&path.display().to_string(), &text)
            .err()
            .map(|error| Failure::usage(error).hint("`fleetwatch profiles show claude` prints one to start from")),
    }
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
        match first_fault(*kind, path) {
            None => good.push(path.clone()),
            Some(fault) => faults.push(fault),
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
