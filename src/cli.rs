//! The command line: `fleetwatch` and its subcommands (SPEC §12).
//!
//! Every command is a function from its arguments to a [`Done`]. [`failure`] prints all errors, as `error: what` and
//! `hint: what to do`.

mod close;
mod commands;
mod config;
mod console;
mod dashboard;
mod demo;
mod doctor;
mod explain;
mod failure;
mod history;
mod list;
mod name;
mod new;
mod options;
mod output;
mod profiles;
mod queue;
mod read_output;
pub mod record;
mod replay;
mod run;
mod send;
mod serve;
mod shell;
mod status;
mod survey;
mod tasks;
mod token;
mod unwatched;
mod usage;
mod wait;
mod watch;

use std::process::ExitCode;
use std::sync::Arc;

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::present::explanation::program;
pub use failure::{Done, Failure};
pub use options::GlobalOptions;
use output::{wait_for, wait_in_one_thread};
pub use replay::SharedReplayArgs;

/// A terminal dashboard that shows the true state of every coding agent in tmux.
#[derive(Debug, Parser)]
#[command(name = "fleetwatch", version = env!("FLEETWATCH_VERSION"), about, max_term_width = 100)]
#[command(after_help = shell::exit_codes())]
struct Cli {
    #[command(flatten)]
    options: GlobalOptions,
    /// Without one, the dashboard.
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    List(list::ListArgs),
    Watch(watch::WatchArgs),
    Status(status::StatusArgs),
    Send(send::SendArgs),
    Keys(send::KeysArgs),
    Answer(send::AnswerArgs),
    Wait(wait::WaitArgs),
    Serve(serve::ServeArgs),
    Token(token::TokenArgs),
    History(history::HistoryArgs),
    Name(name::NameArgs),
    New(new::NewArgs),
    Close(close::CloseArgs),
    Run(run::RunArgs),
    Tasks(tasks::TasksArgs),
    Queue(queue::QueueArgs),
    Explain(explain::ExplainArgs),
    Output(read_output::OutputArgs),
    Record(record::RecordArgs),
    Replay(replay::ReplayArgs),
    Profiles(profiles::ProfilesArgs),
    Config(config::ConfigArgs),
    Demo(demo::DemoArgs),
    Doctor(doctor::DoctorArgs),
    Completions(shell::CompletionArgs),
    Man(shell::ManArgs),
    #[command(name = "__play", hide = true)]
    Play(crate::demo::Play),
    #[command(name = "__sweep", hide = true)]
    Sweep(crate::demo::Sweep),
}

/// Runs the program with the arguments of the process; returns its exit code.
pub fn run() -> ExitCode {
    shell::complete(Cli::command);
    let mut command = shell::with_help(Cli::command());
    let read = |matches: ArgMatches| Cli::from_arg_matches(&matches);
    let cli = match command.try_get_matches_from_mut(std::env::args_os()).and_then(read) {
        Ok(read) => read,
        Err(error) => return usage::from_clap(&error, &command),
    };
    commands::complete_hints(&cli.options.place());
    let server = crate::tmux::local(cli.options.socket_name.clone(), None);
    let ended = cli.options.check().and_then(|()| dispatch(cli));
    crate::demo::leave(&server);
    ended.unwrap_or_else(|failure| failure.end())
}

fn dispatch(Cli { options, command }: Cli) -> Done {
    options.log.as_deref().map_or(Ok(()), output::start)?;
    let Some(command) = command else { return wait_for(dashboard::run(&options)) };
    match command {
        Command::List(args) => wait_for(list::run(&args, &options)),
        Command::Watch(args) => wait_in_one_thread(watch::run(&args, &options)),
        Command::Status(args) => status::run(&args, &options),
        Command::Wait(args) => wait_for(wait::run(&args, &options)),
        Command::Serve(args) => wait_for(serve::run(&args, &options)),
        Command::Token(args) => token::token(&args),
        Command::History(args) => history::run(&args, &options),
        Command::Name(args) => wait_for(name::run(&args, &options)),
        Command::New(args) => wait_for(new::run(&args, &options)),
        Command::Close(args) => wait_for(close::run(&args, &options)),
        Command::Run(args) => wait_for(run::run(&args, &options)),
        Command::Tasks(args) => wait_for(tasks::run(&args, &options)),
        Command::Queue(args) => queue::run(&args, &options),
        Command::Send(args) => wait_for(send::send(&args, &options)),
        Command::Keys(args) => wait_for(send::keys(&args, &options)),
        Command::Answer(args) => wait_for(send::answer(&args, &options)),
        Command::Explain(args) => wait_for(explain::run(&args, &options)),
        Command::Output(args) => wait_for(read_output::run(&args, &options)),
        Command::Record(args) => wait_for(record_target(&args, &options)),
        Command::Replay(args) => replay::run(&args, Arc::new(options.profiles()?)),
        Command::Profiles(args) => profiles::run(&args, &options),
        Command::Config(args) => config::run(&args, &options),
        Command::Demo(args) => {
            // An error must come before the demo has made a directory.
            doctor::tmux_version()?;
            demo::run(&args, |config, server| wait_for(dashboard::run_on(server, config, &options)))
        }
        Command::Doctor(args) => wait_for(doctor::run(&args, &options)),
        Command::Completions(args) => shell::completions(&args),
        Command::Man(args) => shell::man(&args, Cli::command()),
        Command::Play(args) => Ok(crate::demo::play(&args)?),
        Command::Sweep(args) => {
            crate::demo::sweep(&args);
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Finds the terminal to record, and records it.
async fn record_target(args: &record::RecordArgs, options: &GlobalOptions) -> Done {
    let watched = survey::Watched::new(options)?;
    let survey = watched.survey().await?;
    let terminal = watched.terminal(&survey, &args.target).await?;
    let server = watched.server(&terminal.key.server)?;
    let facts = &terminal.state.terminal;
    let may_read = watched.settings.poll.records.allow(&facts.tool, facts.cwd.as_deref());
    let profiles = may_read.then(|| Arc::clone(&watched.settings.profiles));
    record::run(args, &server, &terminal.key, &program(terminal), profiles).await
}

#[cfg(test)]
mod tests;
