//! The command line.

pub mod demo;
pub mod record;
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
    Demo(demo::Args),
    #[command(name = "__play", hide = true)]
    Play(crate::demo::Play),
    #[command(name = "__sweep", hide = true)]
    Sweep(crate::demo::Sweep),
    Replay(replay::Args),
    Score(score::Args),
}

/// Runs the program and says how it ended.
pub fn run() -> ExitCode {
    let library = Arc::new(Library::builtin());
    let done = match Cli::parse().command {
        Command::Demo(args) => demo::run(&args, |_, _| color_eyre::eyre::bail!("there is no dashboard yet")),
        Command::Play(args) => crate::demo::play(&args),
        Command::Sweep(args) => {
            crate::demo::sweep(&args);
            Ok(ExitCode::SUCCESS)
        }
        Command::Replay(args) => replay::run(&args, library),
        Command::Score(args) => score::run(&args, library),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::from(2)
    })
}
