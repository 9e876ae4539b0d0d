//! `fleetwatch profiles`: the rules by which screens are read.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Subcommand;

use super::{Done, Failure, GlobalOptions, output};
use crate::profile::Library;

/// List the profiles of agents, or check one.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Debug, Subcommand)]
enum Command {
    /// List every profile, the user's own included.
    List,
    /// Check files of profiles, and say what is wrong and where.
    Check {
        /// The files.
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}

/// Runs the command.
///
/// # Errors
/// A profile is wrong.
pub fn run(args: &Args, options: &GlobalOptions) -> Done {
    match &args.command {
        Command::List => {
            let library = options.library()?;
            let mut text = String::new();
            for profile in library.profiles() {
                let _ = writeln!(text, "{}", profile.id());
            }
            output::print(&text)
        }
        Command::Check { files } => {
            let mut text = String::new();
            for file in files {
                let content = std::fs::read_to_string(file)
                    .map_err(|error| Failure::usage(format!("{}: cannot be read: {error}", file.display())))?;
                let profiles = Library::check(&file.display().to_string(), &content).map_err(Failure::usage)?;
                let _ = writeln!(text, "{}: right: {}", file.display(), profiles.join(", "));
            }
            output::print(&text)
        }
    }
}
