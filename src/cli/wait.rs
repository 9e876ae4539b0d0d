//! `fleetwatch wait`: waits until a terminal is in a given state.

use std::time::Duration;

use clap::ValueEnum;
use jiff::SignedDuration;

use super::failure::BadValue;
use super::history::on_servers;
use super::output::end_asked_for;
use super::survey::{Watched, first_polls, turn};
use super::target::Purpose;
use super::{Done, Failure, GlobalOptions, output, target};
use crate::engine::Engine;
use crate::fleet::{Fleet, ServerId, Terminal, TerminalKey, WindowId};
use crate::history::{Body, Kind, Reader, RecordFilter, Sent, Stored, StoredInput};
use crate::operation::Outcome;
use crate::poll;
use crate::state::{Availability, BusinessState, Phase, State, TaskStatus, Turn, TurnResult};
use crate::status::Status;
use crate::task::Task;
use crate::time::Timestamp;
use crate::ui::Item;

/// Wait until a terminal or task is in a given state.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch wait docs --for ready,needs-you --timeout 600")]
pub struct WaitArgs {
    #[arg(help = target::HELP)]
    pub target: String,
    /// What to wait for; with several, the first to come.
    #[arg(long = "for", value_name = "STATE", required = true, value_delimiter = ',', ignore_case = true)]
    pub condition: Vec<WaitCondition>,
    /// Give up after this many seconds (or 10m), with exit code 1.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true)]
    pub timeout: Option<Duration>,
    /// Print the terminal's public state as JSON once it is reached.
    #[arg(long)]
    pub json: bool,
}

/// What can be waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WaitCondition {
    /// A prompt may be sent: the agent is ready, has no draft, and is not in copy mode.
    Ready,
    /// A turn is in flight (also: active, processing, running).
    #[value(aliases = ["active", "processing", "running"])]
    Working,
    /// The agent is neither working nor waiting for anybody.
    Idle,
    /// A dialog waits for the operator (also: blocked, waiting, awaiting_operator, waiting_user_answer).
    #[value(aliases = ["blocked", "waiting", "awaiting_operator", "waiting_user_answer"])]
    NeedsYou,
    /// An approval waits for the operator.
    Approval,
    /// A question waits for the operator.
    Question,
    /// The agent asks whether it may work in its directory.
    Trust,
    /// The agent wants to be set up.
    Setup,
    /// The last turn ended well, and the operator has not seen it yet.
    Finished,
    /// No turn is in flight, and the last one ended well (also: completed, done).
    #[value(aliases = ["completed", "done"])]
    Success,
    /// No turn is in flight, and the last one failed (also: known_failure).
    #[value(alias = "known_failure")]
    Failed,
    /// No turn is in flight, and the last one was interrupted.
    Interrupted,
    /// It should be moving but is not.
    Stalled,
    /// It cannot be read.
    Error,
    /// Nothing says what it does.
    Unknown,
    /// The agent, its pane or the task's window is no longer there (also: unavailable, tui_down, disconnected).
    #[value(aliases = ["unavailable", "tui_down", "disconnected"])]
    Gone,
    /// The task's program has ended; an agent: it is gone.
    Exited,
    /// The task asks for something; an agent: a dialog waits (also: input, waiting_input).
    #[value(aliases = ["input", "waiting_input"])]
    Asks,
    /// The task has rung its bell.
    Notify,
}

impl WaitCondition {
    /// Whether a terminal satisfies the condition.
    pub fn holds(self, terminal: &Terminal) -> bool {
        let state = &terminal.state;
        let available = state.diagnostics.availability == Availability::Available;
        let is = |status| Status::of(state) == status;
        let ended = |result| available && state.turn.phase == Phase::Ready && state.last_turn.result == result;
        match self {
            // A turn whose end is still to be confirmed has not ended.
            WaitCondition::Ready => terminal.takes_a_prompt() && Status::doing(state) != Status::Working,
            WaitCondition::Working => available && state.turn.phase == Phase::Active,
            WaitCondition::Idle => available && state.assessment.business_state == BusinessState::Idle,
            WaitCondition::NeedsYou => available && state.assessment.awaits_operator(),
            WaitCondition::Success => ended(TurnResult::Success),
            WaitCondition::Failed => ended(TurnResult::KnownFailure),
            WaitCondition::Interrupted => ended(TurnResult::Interrupted),
            // By the status of the row: if the screen can no longer be read, the last result does not count.
            WaitCondition::Approval => is(Status::Approval),
            WaitCondition::Question => is(Status::Question),
            WaitCondition::Trust => is(Status::Trust),
            WaitCondition::Setup => is(Status::Setup),
            WaitCondition::Finished => is(Status::Finished),
            WaitCondition::Stalled => is(Status::Stalled),
            WaitCondition::Error => is(Status::Error),
            WaitCondition::Unknown => is(Status::Unknown),
            WaitCondition::Gone | WaitCondition::Exited => state.has_ended(),
            WaitCondition::Asks => WaitCondition::NeedsYou.holds(terminal),
            // The screen of an agent says more than its bell.
            WaitCondition::Notify => false,
        }
    }

    /// Whether a task satisfies the condition. Bells count from when the task was first seen, or from its start if a hook
    /// counts them, so that nobody waits for one that has already rung.
    fn holds_for_task(self, task: &Task) -> bool {
        match self {
            WaitCondition::Exited => task.status == TaskStatus::Exited,
            WaitCondition::Asks | WaitCondition::NeedsYou => task.prompt().is_some(),
            WaitCondition::Notify => task.bells > 0,
            WaitCondition::Working => task.status == TaskStatus::Running,
            WaitCondition::Idle | WaitCondition::Ready => task.status == TaskStatus::Idle,
            WaitCondition::Success | WaitCondition::Finished => task.exit_code() == Some(0),
            WaitCondition::Failed => task.status == TaskStatus::Exited && task.exit_code() != Some(0),
            WaitCondition::Error => task.as_status() == Status::Error,
            WaitCondition::Unknown => task.as_status() == Status::Unknown,
            // A task that is gone has no state.
            WaitCondition::Approval
            | WaitCondition::Question
            | WaitCondition::Trust
            | WaitCondition::Setup
            | WaitCondition::Interrupted
            | WaitCondition::Stalled
            | WaitCondition::Gone => false,
        }
    }
}

/// A time on the command line: seconds, or units of time.
pub(super) fn seconds(text: &str) -> Result<Duration, BadValue> {
    let hint = "write seconds (5, 0.5) or a time (10m, 1h30m), a year at most";
    let seconds = text.parse().ok().or_else(|| Some(text.parse::<SignedDuration>().ok()?.as_secs_f64()));
    let seconds: f64 = seconds.ok_or(BadValue { what: "not a time", hint })?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if seconds <= 31_536_000.0 => Ok(duration),
        _ => Err(BadValue { what: "out of range", hint }),
    }
}

/// Runs the command.
///
/// # Errors
/// No such terminal or task, it is gone, the timeout is over, or the operator ends the command.
pub async fn run(args: &WaitArgs, options: &GlobalOptions) -> Done {
    let watched = Watched::open(options).await?;
    let mut engine = watched.engine()?;
    first_polls(&mut engine).await;
    let limit = Limit::new(args.timeout);
    let found = match find_soon(&mut engine, &watched, &args.target).await {
        Err(_) if args.condition.contains(&WaitCondition::Gone) && was_known(&watched, args, options) => {
            return output::print(&format!("{}: {}\n", args.target, Status::Gone.word()));
        }
        found => found?,
    };
    let (json, text) = match found {
        WaitTarget::Terminal(key) => {
            let reacts = watched.loaded.config.tracker.no_reaction;
            let sent = prompted_at(&watched, &key, poll::now() - reacts);
            let wanted = |terminal: &Terminal| {
                let begins = |sent| poll::now().since(sent) < reacts && shows_time_before(&terminal.state, sent);
                !sent.is_some_and(begins) && args.condition.iter().any(|condition| condition.holds(terminal))
            };
            let terminal = until_terminal(&mut engine, &key, &args.target, limit, wanted).await?;
            let state = &terminal.state;
            (
                output::json_line(state)?,
                format!(
                    "{}: {}\n",
                    state.terminal.id,
                    met(&args.condition, |it| it.holds(&terminal), &Status::of(state))
                ),
            )
        }
        WaitTarget::Task(server, window) => {
            let task = until_task(&mut engine, args, limit, &server, window).await?;
            let is_there = engine.fleet().task(&server, window).is_some();
            let status = if is_there { task.as_status() } else { Status::Gone };
            let word = met(&args.condition, |it| is_there && it.holds_for_task(&task), &status);
            (output::json_line(&task.fields())?, format!("{}: {word}\n", task.id))
        }
    };
    output::print(&if args.json { json } else { text })
}

/// Whether the history knows something by the target's whole name or pane id that no server has any more.
fn was_known(watched: &Watched, args: &WaitArgs, options: &GlobalOptions) -> bool {
    let path = watched.loaded.config.history.kept_at();
    let reader = path.and_then(|path| Reader::open(&path).ok());
    let known = reader.and_then(|reader| Some((reader.named(&args.target).ok()?, reader.terminals().ok()?)));
    let is_meant =
        |key: &TerminalKey, named: &[TerminalKey]| named.contains(key) || key.pane.to_string() == args.target;
    known.is_some_and(|(named, known)| on_servers(known, options).iter().any(|one| is_meant(&one.key, &named)))
}

/// When a terminal last took a prompt since a time, by the history.
fn prompted_at(watched: &Watched, key: &TerminalKey, since: Timestamp) -> Option<Timestamp> {
    let mut reader = Reader::open(&watched.loaded.config.history.kept_at()?).ok()?;
    let (terminals, kinds) = (Some(vec![key.clone()]), vec![Kind::Input]);
    let filter = RecordFilter { terminals, since: Some(since), kinds, ..RecordFilter::default() };
    let accepted = |record: Stored| match record.body {
        Body::Input(StoredInput { sent: Sent::Prompt { .. }, outcome, ended_at, .. }) => {
            ended_at.filter(|_| outcome.as_deref() == Some(Outcome::Accepted(None).word()))
        }
        _ => None,
    };
    reader.records(&filter).ok()?.into_iter().filter_map(accepted).max()
}

/// Whether what a terminal shows may be of the time before a prompt: the turn that this begins does not show at once.
fn shows_time_before(state: &State, sent: Timestamp) -> bool {
    let Turn { phase, since, since_exact, .. } = state.turn;
    phase == Phase::Ready && !(since_exact && since > sent)
}

/// The first condition that holds, and the status word of the table if that differs.
fn met(asked: &[WaitCondition], holds: impl Fn(WaitCondition) -> bool, status: &Status) -> String {
    let asked = asked.iter().find(|condition| holds(**condition)).and_then(ValueEnum::to_possible_value);
    let (word, asked) = (status.word(), asked.map(|value| value.get_name().to_owned()));
    match asked {
        // What a task ended with tells that it has.
        Some(asked) if word.split(' ').next() != Some(&asked) => format!("{asked} ({word})"),
        _ => word.into_owned(),
    }
}

/// Watches until something is found in the fleet.
///
/// # Errors
/// It can no longer be found, the timeout is over (`late`), or the operator ends the command.
async fn watch_for<T>(
    engine: &mut Engine,
    limit: Limit,
    mut find: impl FnMut(&Fleet) -> Result<Option<T>, Failure>,
    late: impl FnOnce(&Fleet) -> Failure,
) -> Result<T, Failure> {
    let end = end_asked_for();
    tokio::pin!(end);
    loop {
        if let Some(found) = find(engine.fleet())? {
            return Ok(found);
        }
        tokio::select! {
            () = turn(engine) => {}
            signal = &mut end => return Err(Failure::interrupted(signal, "interrupted while it waited")),
            () = past(limit.deadline) => return Err(late(engine.fleet())),
        }
    }
}

/// Watches until a task satisfies a condition.
async fn until_task(
    engine: &mut Engine,
    args: &WaitArgs,
    limit: Limit,
    server: &ServerId,
    window: WindowId,
) -> Result<Task, Failure> {
    let mut last: Option<Task> = None;
    let find = |fleet: &Fleet| match (fleet.task(server, window), last.take()) {
        (Some(task), _) if args.condition.iter().any(|it| it.holds_for_task(task)) => Ok(Some(task.clone())),
        (Some(task), _) => {
            last = Some(task.clone());
            Ok(None)
        }
        (None, Some(mut task)) if args.condition.contains(&WaitCondition::Gone) => {
            (task.status, task.known) = (TaskStatus::Unknown, false);
            Ok(Some(task))
        }
        (None, _) => Err(gone(&args.target)),
    };
    let late = |fleet: &Fleet| match fleet.task(server, window) {
        Some(task) => timed_out(&task.id, &task.as_status().word(), limit),
        None => gone(&args.target),
    };
    watch_for(engine, limit, find, late).await
}

/// The failure where nothing is left to wait for.
fn gone(name: &str) -> Failure {
    Failure::refused(format!("{name} is gone"))
        .hint(format!("`wait --for gone` waits for that; `fleetwatch history {name}` says how it ended"))
}

/// How long to wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    timeout: Option<Duration>,
    /// When that ends; `None` without a limit.
    deadline: Option<tokio::time::Instant>,
}

impl Limit {
    /// Begins now.
    pub(super) fn new(timeout: Option<Duration>) -> Self {
        Self { timeout, deadline: timeout.and_then(|timeout| tokio::time::Instant::now().checked_add(timeout)) }
    }

    /// Whether there is no time left.
    pub(super) fn is_over(self) -> bool {
        self.deadline.is_some_and(|deadline| tokio::time::Instant::now() >= deadline)
    }
}

/// A number of seconds, as people write it.
fn in_seconds(time: Duration) -> String {
    let text = format!("{:.1}", time.as_secs_f64());
    format!("{} s", text.trim_end_matches(".0"))
}

/// The terminal that a target means, to act on it.
///
/// # Errors
/// There is none, or it is a task.
pub(super) async fn agent(engine: &mut Engine, watched: &Watched, target: &str) -> Result<TerminalKey, Failure> {
    first_polls(engine).await;
    let found = find(engine.fleet(), watched, target, Purpose::Acting).await;
    match watched.explained(found, engine.fleet(), target).await? {
        WaitTarget::Terminal(key) => Ok(key),
        WaitTarget::Task(server, window) => {
            Err(target::is_a_task(engine.fleet().task(&server, window).map_or(target, |task| task.id.as_str())))
        }
    }
}

/// Watches until a terminal satisfies a condition.
///
/// # Errors
/// It is gone and the condition is another one, the timeout is over, or the operator ends the command.
pub(super) async fn until_terminal(
    engine: &mut Engine,
    key: &TerminalKey,
    target: &str,
    limit: Limit,
    wanted: impl Fn(&Terminal) -> bool,
) -> Result<Terminal, Failure> {
    let find = |fleet: &Fleet| match fleet.terminal(key) {
        Some(terminal) if wanted(terminal) => Ok(Some(terminal.clone())),
        Some(terminal) if !terminal.state.has_ended() => Ok(None),
        ended => Err(gone(ended.map_or(target, |terminal| &terminal.state.terminal.id))),
    };
    let late = |fleet: &Fleet| {
        let terminal = fleet.terminal(key);
        let id = terminal.map_or(target, |terminal| &terminal.state.terminal.id);
        let now = terminal.map_or(Status::Gone, |terminal| Status::of(&terminal.state)).word();
        // Of a terminal that is ready otherwise.
        let hindrance = terminal.filter(|terminal| terminal.state.turn.phase == Phase::Ready);
        let held = hindrance.and_then(Terminal::prompt_hindrance).map(|why| format!(", but {why}")).unwrap_or_default();
        timed_out(id, &format!("{now}{held}"), limit)
    };
    watch_for(engine, limit, find, late).await
}

/// What is waited for.
enum WaitTarget {
    Terminal(TerminalKey),
    Task(ServerId, WindowId),
}

/// What a target means now or in a moment: a task that has just ended is reported only once tmux has its exit status.
async fn find_soon(engine: &mut Engine, watched: &Watched, target: &str) -> Result<WaitTarget, Failure> {
    const SOON: Duration = Duration::from_millis(1500);
    let deadline = tokio::time::Instant::now() + SOON;
    loop {
        let found = find(engine.fleet(), watched, target, Purpose::Reading).await;
        let in_trouble = |fleet: &Fleet| {
            let view = fleet.view(Timestamp::default());
            view.servers.iter().any(|server| server.health.problem().is_some())
        };
        if found.is_ok() || in_trouble(engine.fleet()) || tokio::time::Instant::now() >= deadline {
            return watched.explained(found, engine.fleet(), target).await;
        }
        tokio::select! {
            () = turn(engine) => {}
            () = tokio::time::sleep_until(deadline) => {}
        }
    }
}

/// What a target means now.
async fn find(fleet: &Fleet, watched: &Watched, target: &str, purpose: Purpose) -> Result<WaitTarget, Failure> {
    let view = fleet.view(Timestamp::default());
    match target::resolve(target, &Item::all(&view), purpose) {
        Ok(Item::Terminal(terminal)) => Ok(WaitTarget::Terminal(terminal.key.clone())),
        Ok(Item::Task(task)) => Ok(WaitTarget::Task(task.key.server.clone(), task.window)),
        Err(missing) => {
            // A server that does not answer explains better why a terminal is not found.
            let trouble = view.servers.iter().find_map(|server| Some((&server.id, server.health.problem()?)));
            match trouble {
                Some((server, problem)) => Err(watched.explain(server, problem).await),
                None => Err(missing),
            }
        }
    }
}

fn timed_out(id: &str, now: &str, limit: Limit) -> Failure {
    let waited = in_seconds(limit.timeout.unwrap_or_default());
    Failure::refused(format!("timed out after {waited}: {id} is {now}"))
        .hint("wait longer with `--timeout`, or look at it")
}

async fn past(deadline: Option<tokio::time::Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::TerminalFacts;
    use crate::tracker::{Settings, Tracker};

    #[test]
    fn what_is_ready_since_before_a_prompt_is_not_ready_again() {
        let sent = Timestamp::from_millis(10_000);
        let mut state = Tracker::new(Settings::default(), sent).state(TerminalFacts::default(), sent);
        let mut shows = |phase, since: i64, since_exact| {
            (state.turn.phase, state.turn.since_exact) = (phase, since_exact);
            state.turn.since = Timestamp::from_millis(since);
            shows_time_before(&state, sent)
        };
        assert!(shows(Phase::Ready, 9_000, true));
        assert!(shows(Phase::Ready, 10_500, false), "a first poll cannot tell since when");
        assert!(!shows(Phase::Ready, 10_500, true));
        assert!(!shows(Phase::Active, 9_000, true));
    }
}
