//! `fleetwatch wait`: until a terminal is as somebody wants it.

mod tasks;

use std::time::Duration;

use clap::ValueEnum;

use super::failure::BadValue;
use super::live::{Live, end_asked_for};
use super::survey::Watched;
use super::target::Meant;
use super::{Done, Failure, GlobalOptions, output, table, target};
use crate::fleet::{Fleet, ServerId, TerminalKey, WindowId};
use crate::moment::Moment;
use crate::state::{Attention, Availability, BusinessState, Phase, State, TurnResult};
use crate::task::Task;

/// Wait until a terminal or a task is in a state.
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
    #[value(alias = "working")]
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
    /// The agent, its pane or the task's window is no longer there.
    Gone,
    /// The task's program has ended; of an agent, that it is gone.
    Exited,
    /// The task asks for something; of an agent, that it is blocked.
    Input,
    /// The task has rung its bell.
    Notify,
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
            Condition::Gone | Condition::Exited => is_gone(state),
            Condition::Input => Condition::Blocked.holds(state),
            // A bell says nothing of an agent that its screen does not say better.
            Condition::Notify => false,
        }
    }
}

/// A number of seconds on the command line.
pub(super) fn seconds(text: &str) -> Result<Duration, BadValue> {
    let hint = "write seconds, such as 5 or 0.5, from 0 to 31536000, which is a year";
    let seconds: f64 = text.parse().map_err(|_| BadValue { what: "not a number of seconds", hint })?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if seconds <= 31_536_000.0 => Ok(duration),
        _ => Err(BadValue { what: "out of range", hint }),
    }
}

/// Runs the command.
///
/// # Errors
/// No such terminal or task, it is gone, or the time is over.
pub async fn run(args: &Args, options: &GlobalOptions) -> Done {
    let watched = Watched::new(options)?;
    let mut live = Live::start(&watched)?;
    live.first_look().await;
    let (json, text) = match find_soon(&mut live, &watched, &args.target).await? {
        Key::Terminal(key) => {
            let wanted = |state: &State| args.condition.iter().any(|condition| condition.holds(state));
            match until_terminal(&mut live, &key, &args.target, args.timeout, wanted).await? {
                Found::Holds(state) => {
                    (output::json_line(&state)?, format!("{}: {}\n", state.terminal.id, table::word(&state)))
                }
                Found::Interrupted => return Err(interrupted(&args.target).into()),
            }
        }
        Key::Task(server, window) => match until_task(&mut live, args, &server, window).await? {
            Some(task) => (output::json_line(&task.fields())?, format!("{}: {}\n", task.id, task.word())),
            None => return Err(interrupted(&args.target).into()),
        },
    };
    output::print(&if args.json { json } else { text })
}

/// What is said when the operator does not want to wait any longer.
fn interrupted(target: &str) -> Failure {
    Failure::refused(format!("interrupted, before {target} was so"))
}

/// Watches until a task is as it is wanted; `None` when the operator did not want to wait any longer.
async fn until_task(
    live: &mut Live,
    args: &Args,
    server: &ServerId,
    window: WindowId,
) -> Result<Option<Box<Task>>, Failure> {
    let deadline = args.timeout.and_then(|timeout| tokio::time::Instant::now().checked_add(timeout));
    let end = end_asked_for();
    tokio::pin!(end);
    let mut last = None;
    loop {
        match (live.fleet.task(server, window).cloned().map(Box::new), last) {
            (Some(task), _) if args.condition.iter().any(|condition| condition.holds_for_task(&task)) => {
                return Ok(Some(task));
            }
            (Some(task), _) => last = Some(task),
            (None, Some(task)) if args.condition.iter().any(|condition| condition.is_end_of_task()) => {
                return Ok(Some(task));
            }
            (None, _) => return Err(Failure::refused(format!("{} is gone", args.target))),
        }
        tokio::select! {
            _ = live.next() => {}
            () = &mut end => return Ok(None),
            () = past(deadline) => {
                let (id, word) = last.map(|task| (task.id.clone(), task.word())).unwrap_or_default();
                let seconds = args.timeout.unwrap_or_default().as_secs_f64();
                let hint = "wait longer with `--timeout`, or look at it";
                return Err(Failure::refused(format!("{id} is {word} after {seconds} s")).hint(hint));
            }
        }
    }
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
    live.first_look().await;
    match find(&live.fleet, watched, target).await? {
        Key::Terminal(key) => until_terminal(live, &key, target, timeout, wanted).await,
        Key::Task(server, window) => {
            Err(target::is_a_task(live.fleet.task(&server, window).map_or(target, |task| task.id.as_str())))
        }
    }
}

async fn until_terminal(
    live: &mut Live,
    key: &TerminalKey,
    target: &str,
    timeout: Option<Duration>,
    wanted: impl Fn(&State) -> bool,
) -> Result<Found, Failure> {
    let deadline = timeout.and_then(|timeout| tokio::time::Instant::now().checked_add(timeout));
    let end = end_asked_for();
    tokio::pin!(end);
    loop {
        let state = live.fleet.terminal(key).map(|terminal| terminal.state.clone());
        let id = match state {
            Some(state) if wanted(&state) => return Ok(Found::Holds(Box::new(state))),
            Some(state) if is_gone(&state) => return Err(Failure::refused(format!("{} is gone", state.terminal.id))),
            Some(state) => state.terminal.id,
            None => return Err(Failure::refused(format!("{target} is gone"))),
        };
        tokio::select! {
            _ = live.next() => {}
            () = &mut end => return Ok(Found::Interrupted),
            () = past(deadline) => return Err(timed_out(&live.fleet, key, &id, timeout)),
        }
    }
}

fn is_gone(state: &State) -> bool {
    matches!(state.diagnostics.availability, Availability::TuiDown | Availability::Unavailable)
}

/// What is waited for.
enum Key {
    Terminal(TerminalKey),
    Task(ServerId, WindowId),
}

/// What a target means now or in a moment: of a task that has just ended, tmux may owe the exit status, and until then
/// nothing is told of it.
async fn find_soon(live: &mut Live, watched: &Watched, target: &str) -> Result<Key, Failure> {
    const SOON: Duration = Duration::from_millis(1500);
    let deadline = tokio::time::Instant::now() + SOON;
    loop {
        let found = find(&live.fleet, watched, target).await;
        let in_trouble = |fleet: &Fleet| {
            let view = fleet.view(Moment::default());
            view.servers.iter().any(|server| super::survey::problem(&server.health).is_some())
        };
        if found.is_ok() || in_trouble(&live.fleet) || tokio::time::Instant::now() >= deadline {
            return found;
        }
        tokio::select! {
            _ = live.next() => {}
            () = tokio::time::sleep_until(deadline) => {}
        }
    }
}

/// What a target means now.
async fn find(fleet: &Fleet, watched: &Watched, target: &str) -> Result<Key, Failure> {
    let view = fleet.view(Moment::default());
    match target::resolve_any(target, &view.terminals, &view.tasks) {
        Ok(Meant::Terminal(terminal)) => Ok(Key::Terminal(terminal.key.clone())),
        Ok(Meant::Task(task)) => Ok(Key::Task(task.key.server.clone(), task.window)),
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
