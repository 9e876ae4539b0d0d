//! `fleetwatch wait`: waits until terminals are in a given state.

mod condition;

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::time::Duration;

use clap::builder::EnumValueParser;
use serde::Serialize;
use serde_json::json;

pub use condition::WaitCondition;

use super::failure::seconds;
use super::history::on_servers;
use super::options::Trimmed;
use super::output::end_asked_for;
use super::survey::{Watched, first_polls, turn};
use super::{Done, Failure, GlobalOptions, output};
use crate::clock;
use crate::engine::{Engine, PATIENCE};
use crate::fleet::{Fleet, ServerId, Terminal, TerminalKey, WindowId};
use crate::history::{Reader, RecordFilter};
use crate::operation::Outcome;
use crate::present::document::json_line;
use crate::present::item::Item;
use crate::present::target::{self, Purpose};
use crate::present::text::quoted;
use crate::record::{Body, Kind, Sent, Stored, StoredInput};
use crate::state::{Phase, Problem, State, TaskStatus, Turn};
use crate::status::Status;
use crate::task::Task;
use crate::time::{Span, Timestamp};

/// Wait until one or several terminals or tasks are in a given state.
///
/// Each is printed when it gets there. If one no longer can, the command ends with exit code 1.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch wait docs --for ready,needs-you --timeout 600")]
pub struct WaitArgs {
    #[arg(help = target::HELP, required = true, value_name = "TARGET")]
    pub targets: Vec<String>,
    /// Wait only for the first of several targets. If one is there already, an unknown name is only a warning.
    #[arg(long)]
    pub any: bool,
    /// What to wait for; with several, the first to come.
    #[arg(long = "for", value_name = "STATE", required = true, value_delimiter = ',', ignore_case = true)]
    #[arg(value_parser = Trimmed(EnumValueParser::<WaitCondition>::new()))]
    pub condition: Vec<WaitCondition>,
    /// Give up after this many seconds (or 10m), with exit code 1.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true)]
    pub timeout: Option<Duration>,
    /// Print the terminal's public state as JSON once it gets there; `reached` is the state of `--for` that came. If
    /// none did: `{"id", "reached": null, "reason": "timeout", "not_found", "unreachable", "gone", "impossible",
    /// "interrupted" or "given_up", "word"}`.
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
///
/// # Errors
/// No such terminal or task, it is gone, the timeout is over, or the operator ends the command.
pub async fn run(args: &WaitArgs, options: &GlobalOptions) -> Done {
    let watched = Watched::new(options)?;
    let mut engine = watched.engine()?;
    let limit = Limit::new(args.timeout);
    let answers = tokio::time::timeout_at(limit.to_look(), first_polls(&mut engine)).await.is_ok();
    let (mut left, mut has_met): (Vec<Awaited>, bool) = (Vec::new(), false);
    let (mut unreached, mut failures): (Vec<Unreached>, Vec<Failure>) = (Vec::new(), Vec::new());
    for target in &args.targets {
        let found = match answers {
            true => find_soon(&mut engine, &watched, target).await,
            // What is on a server that has answered is known.
            false => find(engine.fleet(), &watched, target, Purpose::Reading).await.map_err(|_| unanswered(limit)),
        };
        match found {
            // One that is named twice is waited for once.
            Ok(found) if left.iter().any(|one| one.target == found) => {}
            Ok(found) => left.push(Awaited::new(target, found, &watched)),
            Err(_)
                if answers && args.condition.contains(&WaitCondition::Gone) && was_known(&watched, target, options) =>
            {
                // A gone terminal says nothing more.
                let gone = Status::Gone.word();
                match args.json {
                    true => output::print_line(&json!({ "reached": gone, "id": target, "word": gone }))?,
                    false => output::print(&format!("{target}: {gone}\n"))?,
                };
                has_met = true;
            }
            Err(unknown) => {
                let (reason, why) = match () {
                    () if !answers || troubled(engine.fleet()).is_some() => (Reason::Unreachable, unknown),
                    () if was_known(&watched, target, options) => (Reason::Gone, gone(target)),
                    () => (Reason::NotFound, unknown),
                };
                let word = matches!(reason, Reason::Gone).then(|| Status::Gone.word());
                unreached.push(Unreached { id: target.clone(), reached: None, reason, word });
                failures.push(why);
            }
        }
    }
    let mut look = |fleet: &Fleet| {
        let (mut now, mut nth) = (Ok(Vec::new()), 0);
        while nth < left.len() && !(args.any && has_met) {
            match (left[nth].look(fleet, args), &mut now) {
                (Ok(ControlFlow::Break(line)), _) => {
                    output::conclude(output::write_as(args.json, &line))?;
                    left.remove(nth);
                    has_met = true;
                    continue;
                }
                (Ok(ControlFlow::Continue(is)), Ok(now)) => now.push(is),
                // Those behind it may be as was waited for.
                (Err(why), Ok(_)) => now = Err(why),
                (_, Err(_)) => {}
            }
            nth += 1;
        }
        let is_over = left.is_empty() || args.any && has_met;
        if is_over { Ok(ControlFlow::Break(())) } else { now.map(ControlFlow::Continue) }
    };
    // Where the command ends at once, what is already so is told nevertheless.
    let found =
        if failures.is_empty() { watch_for(&mut engine, limit, look).await } else { look(engine.fleet()).map(|_| ()) };
    failures.extend(found.err());
    if args.any && has_met {
        failures.iter().for_each(Failure::warn);
        return Ok(ExitCode::SUCCESS);
    }
    let Some(last) = failures.pop() else { return Ok(ExitCode::SUCCESS) };
    if args.json {
        let is_for_all = unreached.is_empty() && left.iter().all(|one| one.over.is_none());
        let ended = if last.is_interrupted() { Reason::Interrupted } else { Reason::Timeout };
        let others = if is_for_all { ended } else { Reason::GivenUp };
        unreached.extend(left.iter().map(|one| one.unreached(engine.fleet(), others)));
        for one in &unreached {
            output::print_line(one)?;
        }
    }
    failures.iter().for_each(Failure::tell);
    Err(last)
}

/// Why a terminal or task is not as was waited for.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Reason {
    Timeout,
    NotFound,
    /// A server does not answer, so it is not known.
    Unreachable,
    Gone,
    /// It can never be so, or no longer.
    Impossible,
    Interrupted,
    /// Another one ended the command.
    GivenUp,
}

/// A terminal that was not as awaited, in JSON.
#[derive(Serialize)]
struct Unreached {
    id: String,
    reached: Option<&'static str>,
    reason: Reason,
    /// What it is now, if that is known.
    word: Option<Cow<'static, str>>,
}

/// A prompt that a terminal took: when it was sent, and when it was known to be taken.
#[derive(Clone, Copy)]
struct TakenPrompt {
    sent: Timestamp,
    at: Timestamp,
}

/// A terminal or task that is waited for.
struct Awaited<'a> {
    /// What the command calls it.
    name: &'a str,
    target: WaitTarget,
    /// The prompt that the terminal took last, and how long that may show nothing.
    taken: Option<TakenPrompt>,
    reacts: Span,
    /// The task as it was last seen.
    last: Option<Task>,
    /// Why it ends the command.
    over: Option<Reason>,
}

impl<'a> Awaited<'a> {
    fn new(name: &'a str, target: WaitTarget, watched: &Watched) -> Self {
        let reacts = watched.loaded.config.tracker.no_reaction;
        let taken = match &target {
            WaitTarget::Terminal(key) => last_taken(watched, key, clock::now() - reacts),
            WaitTarget::Task(..) => None,
        };
        Self { name, target, taken, reacts, last: None, over: None }
    }

    /// The line that says that it is in the state that is waited for, or how it is now.
    ///
    /// # Errors
    /// It is gone, or has ended otherwise, and that is not waited for; or it is never in such a state.
    fn look(&mut self, fleet: &Fleet, args: &WaitArgs) -> Result<ControlFlow<String, Still>, Failure> {
        self.see(fleet, args).map_err(|(reason, why)| {
            self.over = Some(reason);
            why
        })
    }

    /// What is said of it where the command ends first, or because of it.
    fn unreached(&self, fleet: &Fleet, other: Reason) -> Unreached {
        let (id, status) = match &self.target {
            WaitTarget::Terminal(key) => {
                fleet.terminal(key).map(|it| (it.state.terminal.id.clone(), Status::of(&it.state))).unzip()
            }
            WaitTarget::Task(server, window) => {
                fleet.task(server, *window).map(|it| (it.id.clone(), it.as_status())).unzip()
            }
        };
        let (id, status) = (id.unwrap_or_else(|| self.name.to_owned()), status.unwrap_or(Status::Gone));
        Unreached { id, reached: None, reason: self.over.unwrap_or(other), word: Some(status.word()) }
    }

    fn see(&mut self, fleet: &Fleet, args: &WaitArgs) -> Result<ControlFlow<String, Still>, (Reason, Failure)> {
        let impossible = |why: Failure| (Reason::Impossible, why);
        let (asked, wanted) = (&args.condition, || asked_for(&args.condition));
        let (id, (reached, word), fields) = match &self.target {
            WaitTarget::Terminal(_) if asked.iter().all(|it| *it == WaitCondition::Notify) => {
                let why = Failure::refused(format!("{} is an agent, whose bell is not waited for", self.name));
                return Err(impossible(why.hint("wait for `needs-you`, `finished` or `failed`")));
            }
            WaitTarget::Terminal(key) => {
                let is_so = |terminal: &Terminal| {
                    let reacts = self.reacts;
                    let begins = |taken: TakenPrompt| {
                        clock::now().since(taken.at) < reacts && shows_time_before(&terminal.state, taken)
                    };
                    !self.taken.is_some_and(begins) && asked.iter().any(|condition| condition.holds(terminal))
                };
                let seen = seen(fleet, key, self.name, is_so).map_err(|why| (Reason::Gone, why))?;
                let terminal = match seen {
                    ControlFlow::Break(terminal) => terminal,
                    ControlFlow::Continue(now) => return Ok(ControlFlow::Continue(now)),
                };
                let state = &terminal.state;
                let word = met(asked, |it| it.holds(terminal), &Status::of(state));
                (state.terminal.id.clone(), word, serde_json::to_value(state))
            }
            WaitTarget::Task(server, window) => match (fleet.task(server, *window), self.last.take()) {
                (Some(task), _) if asked.iter().any(|it| it.holds_for_task(task) == Some(true)) => {
                    let word = met(asked, |it| it.holds_for_task(task) == Some(true), &task.as_status());
                    (task.id.clone(), word, serde_json::to_value(task.fields()))
                }
                (Some(task), _) if asked.iter().all(|it| it.holds_for_task(task).is_none()) => {
                    let why = Failure::refused(format!("{} is a task, which is never {}", task.id, wanted()));
                    let hint = "a task may be working, idle, success, failed, exited or gone, and asks or notify";
                    return Err(impossible(why.hint(hint)));
                }
                // Whoever runs it again waits again.
                (Some(task), _) if task.is_dead() && !asked.contains(&WaitCondition::Gone) => {
                    let (id, word) = (&task.id, task.as_status().word());
                    let why = Failure::refused(format!("{id} has ended ({word}), so it will not be {}", wanted()));
                    return Err(impossible(why.hint(format!("`fleetwatch tasks rerun {}` runs it again", quoted(id)))));
                }
                (Some(task), _) => {
                    self.last = Some(task.clone());
                    let (id, is) = (task.id.clone(), task.as_status().word().into());
                    // It is answered with keys, which nothing shows before.
                    return Ok(ControlFlow::Continue(Still { id, is, asks: false }));
                }
                (None, Some(mut task)) if asked.contains(&WaitCondition::Gone) => {
                    (task.status, task.known) = (TaskStatus::Unknown, false);
                    (task.id.clone(), (None, Status::Gone.word()), serde_json::to_value(task.fields()))
                }
                (None, _) => return Err((Reason::Gone, gone(self.name))),
            },
        };
        if !args.json {
            let said = reached.map_or_else(|| word.to_string(), |reached| format!("{reached} ({word})"));
            return Ok(ControlFlow::Break(format!("{id}: {said}\n")));
        }
        let mut fields = fields.map_err(|error| impossible(Failure::refused(error)))?;
        // What a task ended with tells that it has.
        fields["reached"] = reached.as_deref().or(word.split(' ').next()).into();
        fields["id"] = id.into();
        fields["word"] = word.into();
        json_line(&fields).map(ControlFlow::Break).map_err(|error| impossible(Failure::refused(error)))
    }
}

/// Whether the history knows something by the target's whole name or pane id that no server has any more.
fn was_known(watched: &Watched, target: &str, options: &GlobalOptions) -> bool {
    let path = watched.loaded.config.history.kept_at();
    let reader = path.and_then(|path| Reader::open(&path).ok());
    let known = reader.and_then(|reader| Some((reader.named(target).ok()?, reader.terminals().ok()?)));
    let is_meant = |key: &TerminalKey, named: &[TerminalKey]| named.contains(key) || key.pane.to_string() == target;
    known.is_some_and(|(named, known)| on_servers(known, options).iter().any(|one| is_meant(&one.key, &named)))
}

/// The prompt that a terminal took last since a time, by the history.
fn last_taken(watched: &Watched, key: &TerminalKey, since: Timestamp) -> Option<TakenPrompt> {
    let mut reader = Reader::open(&watched.loaded.config.history.kept_at()?).ok()?;
    let (terminals, kinds) = (Some(vec![key.clone()]), vec![Kind::Input]);
    let filter = RecordFilter { terminals, since: Some(since), kinds, ..RecordFilter::default() };
    let accepted = |record: Stored| match record.body {
        Body::Input(StoredInput { sent: Sent::Prompt { .. }, outcome, ended_at, .. }) => {
            let at = ended_at.filter(|_| outcome.as_deref() == Some(Outcome::Accepted(None).word()))?;
            Some(TakenPrompt { sent: record.at, at })
        }
        _ => None,
    };
    reader.records(&filter).ok()?.into_iter().filter_map(accepted).max_by_key(|taken| taken.at)
}

/// Whether what a terminal shows may be of the time before a prompt: the turn that this begins does not show at once. One that
/// was over between two looks was never seen at work.
fn shows_time_before(state: &State, prompt: TakenPrompt) -> bool {
    let Turn { phase, since, since_exact, .. } = state.turn;
    let is_over = state.last_turn.began.is_some_and(|began| began >= prompt.sent);
    phase == Phase::Ready && !is_over && !(since_exact && since > prompt.at)
}

/// The first condition that holds, if the status word of the table does not say it, and that word.
fn met(
    asked: &[WaitCondition],
    holds: impl Fn(WaitCondition) -> bool,
    status: &Status,
) -> (Option<String>, Cow<'static, str>) {
    let (met, word) = (asked.iter().find(|condition| holds(**condition)).map(|met| met.word()), status.word());
    (met.filter(|met| word.split(' ').next() != Some(met)), word)
}

/// The conditions in words.
fn asked_for(asked: &[WaitCondition]) -> String {
    asked.iter().map(|condition| condition.word()).collect::<Vec<_>>().join(" or ")
}

/// What is waited for and not so yet, and what it is.
struct Still {
    id: String,
    is: String,
    /// Whether it asks the operator something.
    asks: bool,
}

/// Watches until something is found in the fleet, of which `find` else says how it is now.
///
/// # Errors
/// It can no longer be found, the timeout is over, or the operator ends the command.
async fn watch_for<T>(
    engine: &mut Engine,
    limit: Limit,
    mut find: impl FnMut(&Fleet) -> Result<ControlFlow<T, Vec<Still>>, Failure>,
) -> Result<T, Failure> {
    let end = end_asked_for();
    tokio::pin!(end);
    loop {
        let now = match find(engine.fleet())? {
            ControlFlow::Break(found) => return Ok(found),
            ControlFlow::Continue(now) => now,
        };
        tokio::select! {
            () = turn(engine) => {}
            signal = &mut end => return Err(Failure::interrupted(signal, "interrupted while it waited")),
            () = tokio::time::sleep_until(limit.deadline) => return Err(timed_out(&now, limit)),
        }
    }
}

/// The failure where nothing is left to wait for.
fn gone(name: &str) -> Failure {
    Failure::refused(format!("{name} is gone")).hint(format!(
        "`wait --for gone` waits for that; `fleetwatch history {}` says what is known of it",
        quoted(name)
    ))
}

/// How long to wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    timeout: Duration,
    /// When that ends.
    deadline: tokio::time::Instant,
}

/// What stands for no limit: more than a century.
const EVER: Duration = Duration::from_secs(u32::MAX as u64);

impl Limit {
    /// Begins now.
    pub(super) fn new(timeout: Option<Duration>) -> Self {
        let timeout = timeout.unwrap_or(EVER);
        Self { timeout, deadline: tokio::time::Instant::now() + timeout }
    }

    /// When nothing may be known yet: whoever does not wait at all still wants to know.
    fn to_look(self) -> tokio::time::Instant {
        self.deadline.max(tokio::time::Instant::now() + PATIENCE)
    }

    /// Whether there is no time left.
    pub(super) fn is_over(self) -> bool {
        tokio::time::Instant::now() >= self.deadline
    }
}

/// A number of seconds, as people write it.
fn in_seconds(time: Duration) -> String {
    let text = format!("{:.1}", time.as_secs_f64());
    format!("{} s", text.trim_end_matches(".0"))
}

/// Watches until a terminal satisfies a condition, to send something then.
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
    let found = watch_for(engine, limit, |fleet| {
        Ok(seen(fleet, key, target, &wanted)?.map_break(Terminal::clone).map_continue(|still| vec![still]))
    });
    found.await.map_err(|why| if why.is_interrupted() { why.hint("nothing was sent") } else { why })
}

/// A terminal that satisfies a condition, or how it is now.
///
/// # Errors
/// It is gone.
fn seen<'a>(
    fleet: &'a Fleet,
    key: &TerminalKey,
    name: &str,
    wanted: impl Fn(&Terminal) -> bool,
) -> Result<ControlFlow<&'a Terminal, Still>, Failure> {
    match fleet.terminal(key) {
        Some(terminal) if wanted(terminal) => Ok(ControlFlow::Break(terminal)),
        Some(terminal) if !terminal.state.has_ended() => {
            let (id, status) = (terminal.state.terminal.id.clone(), Status::of(&terminal.state).word());
            // Of a terminal that is ready otherwise.
            let hindrance = Some(terminal).filter(|terminal| terminal.state.turn.phase == Phase::Ready);
            let why = hindrance.and_then(Terminal::prompt_hindrance).map(|why| format!(", but {why}"));
            let asks = terminal.state.assessment.awaits_operator();
            Ok(ControlFlow::Continue(Still { id, is: status.into_owned() + &why.unwrap_or_default(), asks }))
        }
        ended => Err(gone(ended.map_or(name, |terminal| &terminal.state.terminal.id))),
    }
}

/// What is waited for.
#[derive(PartialEq, Eq)]
enum WaitTarget {
    Terminal(TerminalKey),
    Task(ServerId, WindowId),
}

/// What a target means now or in a moment: a task that has just ended is reported only once tmux has its exit status.
async fn find_soon(engine: &mut Engine, watched: &Watched, target: &str) -> Result<WaitTarget, Failure> {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    loop {
        let found = find(engine.fleet(), watched, target, Purpose::Reading).await;
        if found.is_ok() || troubled(engine.fleet()).is_some() || tokio::time::Instant::now() >= deadline {
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
        // A server that does not answer explains better why a terminal is not found.
        Err(missing) => match troubled(fleet) {
            Some((server, problem)) => Err(watched.explain(server, problem).await),
            None => Err(missing.into()),
        },
    }
}

/// A server that does not answer, and its problem.
fn troubled(fleet: &Fleet) -> Option<(&ServerId, &Problem)> {
    fleet.servers().find_map(|server| Some((&server.id, server.health.problem()?)))
}

/// The failure where no server has answered in time.
fn unanswered(limit: Limit) -> Failure {
    Failure::refused(format!("timed out after {}: tmux has not answered yet", in_seconds(limit.timeout)))
        .hint("`fleetwatch doctor` asks it again and says how long it takes")
}

fn timed_out(left: &[Still], limit: Limit) -> Failure {
    let now: Vec<String> = left
        .iter()
        .map(
            |Still { id, is, asks }| if *asks { format!("{id} waits for you ({is})") } else { format!("{id} is {is}") },
        )
        .collect();
    let what = format!("timed out after {}: {}", in_seconds(limit.timeout), now.join("; "));
    Failure::refused(what).hint(match left.iter().find(|one| one.asks) {
        // Only an answer brings it on.
        Some(asking) => format!("`fleetwatch answer {}` shows what it asks", quoted(&asking.id)),
        None => {
            let first = left.first().map_or("NAME".into(), |one| quoted(&one.id));
            format!("wait longer with `--timeout`; `fleetwatch explain {first}` says why it is so")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::TerminalFacts;
    use crate::tracker::{Settings, Tracker};

    #[test]
    fn what_is_ready_since_before_a_prompt_is_not_ready_again() {
        let prompt = TakenPrompt { sent: Timestamp::from_millis(9_500), at: Timestamp::from_millis(10_000) };
        let mut state = Tracker::new(Settings::default(), prompt.at).state(TerminalFacts::default(), prompt.at);
        let mut shows = |phase, since: i64, since_exact| {
            (state.turn.phase, state.turn.since_exact) = (phase, since_exact);
            state.turn.since = Timestamp::from_millis(since);
            shows_time_before(&state, prompt)
        };
        assert!(shows(Phase::Ready, 9_000, true));
        assert!(shows(Phase::Ready, 10_500, false), "a first poll cannot tell since when");
        assert!(!shows(Phase::Ready, 10_500, true));
        assert!(!shows(Phase::Active, 9_000, true));
    }

    #[test]
    fn a_turn_that_was_over_between_two_looks_is_not_waited_for() {
        let prompt = TakenPrompt { sent: Timestamp::from_millis(9_500), at: Timestamp::from_millis(10_000) };
        let mut state = Tracker::new(Settings::default(), prompt.at).state(TerminalFacts::default(), prompt.at);
        (state.turn.phase, state.turn.since) = (Phase::Ready, Timestamp::from_millis(1_000));
        let mut shows = |began| {
            (state.last_turn.began, state.last_turn.at) = (Some(began), Some(Timestamp::from_millis(10_600)));
            shows_time_before(&state, prompt)
        };
        assert!(shows(Timestamp::from_millis(9_000)), "the end of the turn before may be told late");
        assert!(!shows(Timestamp::from_millis(9_800)));
    }
}
