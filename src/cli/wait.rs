//! `fleetwatch wait`: until a terminal is as somebody wants it.

use std::process::ExitCode;
use std::time::Duration;

use clap::ValueEnum;

use super::live::{Live, end_asked_for};
use super::survey::Watched;
use super::{Done, Failure, GlobalOptions, output, table, target};
use crate::fleet::{Fleet, TerminalKey};
use crate::moment::Moment;
use crate::state::{Attention, Availability, BusinessState, Phase, State, TurnResult};

/// Wait until a terminal is in a state.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    #[arg(help = target::HELP)]
    pub target: String,
    /// What to wait for; of several, the first that comes.
    #[arg(long = "for", value_name = "STATE", required = true, value_delimiter = ',')]
    pub condition: Vec<Condition>,
    /// Give up after this many seconds, with exit code 1.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,
    /// Print the terminal's public state as JSON when it is there.
    #[arg(long)]
    pub json: bool,
}

/// What can be waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Condition {
    /// A prompt may be sent.
    Ready,
    /// A turn is in flight.
    Active,
    /// The agent neither works nor waits for anybody.
    Idle,
    /// A dialog waits for the operator.
    Blocked,
    /// No turn is in flight, and the last one ended well.
    Success,
    /// No turn is in flight, and the last one failed.
    Failed,
    /// No turn is in flight, and the last one was interrupted.
    Interrupted,
    /// It stands still where it should not.
    Stalled,
    /// The agent or its pane is no longer there.
    Gone,
}

impl Condition {
    /// Whether a state is what is waited for.
    pub fn holds(self, state: &State) -> bool {
        let available = state.diagnostics.availability == Availability::Available;
        let ended = |result| available && state.turn.phase == Phase::Ready && state.last_turn.result == result;
        match self {
            Condition::Ready => available && state.turn.phase == Phase::Ready,
            Condition::Active => available && state.turn.phase == Phase::Active,
            Condition::Idle => available && state.assessment.business_state == BusinessState::Idle,
            Condition::Blocked => available && state.assessment.business_state == BusinessState::AwaitingOperator,
            Condition::Success => ended(TurnResult::Success),
            Condition::Failed => ended(TurnResult::KnownFailure),
            Condition::Interrupted => ended(TurnResult::Interrupted),
            Condition::Stalled => state.attention == Attention::Stalled,
            Condition::Gone => is_gone(state),
        }
    }
}

/// A number of seconds on the command line.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if seconds <= 31_536_000.0 => Ok(duration),
        _ => Err("out of range: 0 to 31536000 seconds, which is a year".to_owned()),
    }
}

/// Runs the command.
///
/// # Errors
/// No such terminal, it is gone, or the time is over.
pub async fn run(args: &Args, options: &GlobalOptions) -> Done {
    let watched = Watched::new(options)?;
    let mut live = Live::start(&watched)?;
    let wanted = |state: &State| args.condition.iter().any(|condition| condition.holds(state));
    let found = until(&mut live, &watched, &args.target, args.timeout, wanted).await?;
    let state = match found {
        Found::Holds(state) => state,
        Found::Interrupted => return Ok(ExitCode::from(130)),
    };
    if args.json {
        return output::print(&output::json_line(&state)?);
    }
    output::print(&format!("{}: {}\n", state.terminal.id, table::word(&state)))
}

/// How waiting for a state ended.
pub(super) enum Found {
    /// The state is the wanted one.
    Holds(Box<State>),
    /// The operator did not want to wait any longer.
    Interrupted,
}

/// Watches until a terminal's state is the wanted one.
///
/// # Errors
/// No such terminal, it is gone and that is not wanted, or the time is over.
pub(super) async fn until(
    live: &mut Live,
    watched: &Watched,
    target: &str,
    timeout: Option<Duration>,
    wanted: impl Fn(&State) -> bool,
) -> Result<Found, Failure> {
    let deadline = timeout.and_then(|timeout| tokio::time::Instant::now().checked_add(timeout));
    let end = end_asked_for();
    tokio::pin!(end);
    live.first_look().await;
    let key = find(&live.fleet, watched, target).await?;
    loop {
        let state = live.fleet.terminal(&key).map(|terminal| terminal.state.clone());
        let id = match state {
            Some(state) if wanted(&state) => return Ok(Found::Holds(Box::new(state))),
            Some(state) if is_gone(&state) => return Err(Failure::refused(format!("{} is gone", state.terminal.id))),
            Some(state) => state.terminal.id,
            None => return Err(Failure::refused(format!("{target} is gone"))),
        };
        tokio::select! {
            _ = live.next() => {}
            () = &mut end => return Ok(Found::Interrupted),
            () = past(deadline) => return Err(timed_out(&live.fleet, &key, &id, timeout)),
        }
    }
}

fn is_gone(state: &State) -> bool {
    matches!(state.diagnostics.availability, Availability::TuiDown | Availability::Unavailable)
}

/// The terminal that a target means now.
async fn find(fleet: &Fleet, watched: &Watched, target: &str) -> Result<TerminalKey, Failure> {
    let view = fleet.view(Moment::default());
    match target::resolve(target, &view.terminals) {
        Ok(terminal) => Ok(terminal.key.clone()),
        Err(missing) => {
            // A server that does not answer is the better reason for a terminal that is not found.
            let trouble =
                view.servers.iter().find_map(|server| Some((&server.id, super::survey::problem(&server.health)?)));
            match trouble {
                Some((server, problem)) => Err(watched.explain(server, problem).await),
                None => Err(missing),
            }
        }
    }
}

fn timed_out(fleet: &Fleet, key: &TerminalKey, id: &str, timeout: Option<Duration>) -> Failure {
    let seconds = timeout.unwrap_or_default().as_secs_f64();
    let now = fleet.terminal(key).map_or("gone", |terminal| table::word(&terminal.state));
    Failure::refused(format!("{id} is {now} after {seconds} s")).hint("wait longer with `--timeout`, or look at it")
}

async fn past(deadline: Option<tokio::time::Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
