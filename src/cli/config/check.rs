//! `fleetwatch config check`: every fault of the operator's files.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::super::options::{toml_files, user_profiles};
use super::super::{Done, Failure, GlobalOptions, dashboard, output};
use super::faults::{self, Fault};
use crate::config::{Config, ConfigError, Position};
use crate::profile::ProfileSet;
use crate::ui::{Keymap, Theme};

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Configuration,
    Keymap,
    Theme,
    Profiles,
}

/// Checks one configuration, or else the operator's, with keymap, themes and profiles beside it.
///
/// # Errors
/// Standard output cannot be written.
pub(super) fn run(file: Option<&Path>, options: &GlobalOptions) -> Done {
    let mut failures = Vec::new();
    let files = match file {
        Some(file) => vec![(Kind::Configuration, file.to_owned())],
        None => theirs(options, &mut failures),
    };
    let mut right = String::new();
    for (kind, path) in &files {
        match of_file(*kind, path) {
            found if found.is_empty() => right.push_str(&format!("{}: right\n", path.display())),
            found => failures.extend(found),
        }
    }
    if failures.is_empty() && !files.iter().any(|(kind, _)| *kind == Kind::Configuration) {
        right.push_str("no configuration file is found; the defaults hold\n");
    }
    let code = output::print(&right)?;
    failures.iter().for_each(Failure::tell);
    Ok(if failures.is_empty() { code } else { ExitCode::from(2) })
}

/// The files that the dashboard would read, and those beside them that it could.
fn theirs(options: &GlobalOptions, failures: &mut Vec<Failure>) -> Vec<(Kind, PathBuf)> {
    let search = options.search_path();
    let mut files = Vec::new();
    match search.find() {
        Ok(path) => files.extend(path.map(|path| (Kind::Configuration, path))),
        Err(error) => {
            // Nothing is read from beside it, either.
            failures.push(error.into());
            return files;
        }
    }
    let candidates = dashboard::candidates(options);
    let directories = || candidates.iter().filter_map(|path| path.parent());
    let keymap = directories().map(|directory| directory.join("keymap.toml")).find(|path| path.exists());
    files.extend(keymap.map(|path| (Kind::Keymap, path)));
    let mut take = |kind: Kind, found: Result<Vec<PathBuf>, Failure>| match found {
        Ok(paths) => files.extend(paths.into_iter().map(|path| (kind, path))),
        Err(failure) => failures.push(failure),
    };
    for directory in directories() {
        take(Kind::Theme, toml_files(&directory.join("themes")));
    }
    take(Kind::Profiles, user_profiles(&search));
    files
}

/// What is wrong with a file.
fn of_file(kind: Kind, path: &Path) -> Vec<Failure> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => return vec![ConfigError::unreadable(path, &error).into()],
    };
    let (mut faults, keys) = faults::all(&text, |text| first(kind, path, text));
    // A row that was taken out because it is wrong is missed by every rule that names it.
    faults.retain(|fault| {
        let missed = fault.what.strip_prefix("no row is called `").and_then(|rest| rest.strip_suffix('`'));
        missed.is_none_or(|name| !keys.contains(name))
    });
    let told = |Fault { at, what, hint }: Fault| {
        let place =
            at.map(|at| Position::of_byte(&text, at)).map(|Position { line, column }| format!("{line}:{column}:"));
        let failure = Failure::usage(format!("{}:{} {what}", path.display(), place.unwrap_or_default()));
        match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    };
    faults.into_iter().map(told).collect()
}

/// The fault at which the reader of such a file stops.
fn first(kind: Kind, path: &Path, text: &str) -> Option<Fault> {
    let byte = |position: Position| position.byte_in(text);
    match kind {
        Kind::Configuration => Config::parse(text, path).err().map(|error| Fault {
            at: error.position.and_then(byte),
            what: error.what,
            hint: Some(error.hint),
        }),
        Kind::Keymap => Keymap::parse(text).err().map(|error| Fault {
            at: Some(error.at.start),
            what: error.what,
            hint: Some(error.hint),
        }),
        Kind::Theme => Theme::parse(text).err().map(|error| Fault {
            at: Some(error.at.start),
            what: error.what,
            hint: error.hint.or_else(|| Some("`fleetwatch config theme dark` prints one to copy from".to_owned())),
        }),
        Kind::Profiles => ProfileSet::check(&path.display().to_string(), text).err().map(|error| Fault {
            at: byte(Position { line: error.line, column: error.column }),
            what: error.message,
            hint: Some("`fleetwatch profiles show claude` prints one to copy from".to_owned()),
        }),
    }
}
