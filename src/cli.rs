//! The command line.

pub mod replay;
pub mod score;

use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;

use crate::profile::Library;

#[derive(Parser)]
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Replay(replay::Args),
    Score(score::Args),
}

/// Runs the program and says how it ended.
pub fn run() -> ExitCode {
    let library = Arc::new(Library::builtin());
    let done = match Cli::parse().command {
        Command::Replay(args) => replay::run(&args, library),
        Command::Score(args) => score::run(&args, library),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::from(2)
    })
}
