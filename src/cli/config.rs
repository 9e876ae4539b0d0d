//! `fleetwatch config`: the default configuration, a check of one, and where it is looked for.

mod check;
mod faults;

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Subcommand;
use clap::builder::PossibleValuesParser;

use super::{Done, Failure, GlobalOptions, output};
use crate::config::{DEFAULT_TEXT, Loaded, SCHEMA};
use crate::ui::{Keymap, Theme};

/// Print the default configuration, check one, or show where it is looked for.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Clone, Debug, Subcommand)]
enum Command {
    /// Print the commented default configuration, to start your own from.
    Default,
    /// Check a configuration and report all errors, with their places and what to do.
    Check {
        /// The file; default: the one in use, with the keymap, themes and profiles beside it.
        file: Option<PathBuf>,
    },
    /// Print where a configuration is looked for and which one is used.
    Paths,
    /// Print the JSON schema of the configuration, for editors.
    Schema,
    /// Print the default keymap, to start your own keymap.toml from.
    Keymap,
    /// Print a built-in theme, to start your own from.
    Theme {
        /// Its name.
        #[arg(value_parser = PossibleValuesParser::new(Theme::names()))]
        name: String,
    },
}

/// Runs the command.
///
/// # Errors
/// The configuration is wrong.
pub fn run(args: &Args, options: &GlobalOptions) -> Done {
    match args.command.as_ref().unwrap_or(&Command::Default) {
        Command::Default => output::print(DEFAULT_TEXT),
        Command::Check { file } => check::run(file.as_deref(), options),
        Command::Paths => paths(options),
        Command::Keymap => output::print(Keymap::SHIPPED),
        Command::Theme { name } => output::print(Theme::shipped_text(name).unwrap_or_default()),
        Command::Schema => output::print(SCHEMA),
    }
}

fn paths(options: &GlobalOptions) -> Done {
    let search = options.search_path();
    let used = Loaded::find(&search);
    let mut text = String::new();
    for candidate in search.candidates() {
        // What cannot be told to be there is not the same as what is not.
        let state = match (&used, candidate.path.try_exists().unwrap_or(true)) {
            (_, false) => "not there",
            (Ok(loaded), true) if loaded.path.as_ref() == Some(&candidate.path) => "used",
            (Err(error), true) if error.path == candidate.path => "wrong",
            (_, true) => "not used",
        };
        let _ = writeln!(text, "{:<18} {:<9} {}", candidate.origin.describe(), state, candidate.path.display());
    }
    if let Ok(Loaded { path: None, .. }) = used {
        text.push_str("no file is found; the defaults of `fleetwatch config` hold\n");
    }
    let code = output::print(&text)?;
    // What is printed above helps to mend what is wrong, so it comes first.
    used.map_err(Failure::from)?;
    Ok(code)
}
