//! What the fleet gets from the history: earlier knowledge of terminals and tasks (SPEC §10), and which missing tasks the
//! operator killed, so that they do not count as lost (SPEC §9).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::reader::{Reader, RecordFilter};
use super::record::{Body, Kind, OperatorAction, PublicState, Record, Sent, Stored, StoredInput, StoredTransition};
use super::{Trouble, now};
use crate::fleet::{Input, PollResult, ServerReport, TaskReport, TerminalHistory};
use crate::ids::{PaneId, ServerId, TerminalKey, WindowId};
use crate::screen::KeptScreen;
use crate::task::{self, TaskFields, TaskSnapshot};
use crate::time::{Span, Timestamp};
use crate::tracker::HANDOVER;

/// How long a first poll waits for the history; without it, everything counts as newly found.
const LONGEST: Duration = Duration::from_secs(2);

/// How long after a kill the window may still be there.
const KILL_TAKES: Span = Span::from_secs(60);

impl Record {
    /// The operator kills a task; `reason` says so to people. It is to be written before the task is killed.
    pub fn kill(key: TerminalKey, name: String, at: Timestamp, reason: &str) -> Self {
        Record::Action { key: Some(key), name, at, action: OperatorAction::Kill { reason: reason.to_owned() } }
    }

    /// The operator has seen how a turn ended, which may be kept nowhere else.
    pub fn seen(key: TerminalKey, name: String, at: Timestamp) -> Self {
        Record::Action { key: Some(key), name, at, action: OperatorAction::Seen }
    }
}

/// Tracks the terminals and living tasks of one server, and looks up new and missing ones in the history.
#[derive(Debug)]
pub struct Recall {
    path: Option<PathBuf>,
    /// The terminals of the last poll; `None` before the first one.
    there: Option<BTreeSet<TerminalKey>>,
    /// The tasks of the last poll that had not ended.
    alive: BTreeMap<WindowId, TerminalKey>,
}

impl Recall {
    /// A recall from a history, except for terminals that are already known; without a history it finds nothing.
    pub fn new(history: Option<PathBuf>, there: BTreeSet<TerminalKey>) -> Self {
        Self { path: history, there: (!there.is_empty()).then_some(there), alive: BTreeMap::new() }
    }

    /// The inputs before a report: before the first one for all terminals of the server, later only for those that come back.
    /// A separate thread reads the history.
    pub async fn before(&mut self, report: &ServerReport) -> Vec<Input> {
        let panes = match &report.outcome {
            PollResult::Listed(panes) => panes.as_slice(),
            PollResult::NoServer(_) => &[],
            PollResult::Read { .. } | PollResult::Failed(_) => return Vec::new(),
        };
        let there: BTreeSet<TerminalKey> = panes.iter().map(|pane| pane.key.clone()).collect();
        let before = self.there.replace(there.clone());
        let is_first = before.is_none();
        let new: Vec<TerminalKey> = there.difference(&before.unwrap_or_default()).cloned().collect();
        let (Some(path), true) = (self.path.clone(), is_first || !new.is_empty()) else { return Vec::new() };
        let server = is_first.then(|| report.server.clone());
        let reading = tokio::task::spawn_blocking(move || known(&path, server.as_ref(), new));
        match tokio::time::timeout(LONGEST, reading).await {
            Ok(Ok(known)) => known,
            Ok(Err(_)) | Err(_) => Vec::new(),
        }
    }

    /// The inputs before a report that keep tasks killed elsewhere from counting as lost. A separate thread reads the
    /// history, and only when a task is gone.
    pub async fn before_tasks(&mut self, report: &TaskReport) -> Vec<Input> {
        let windows = || report.poll.sessions.iter().flat_map(|session| &session.windows);
        let there: BTreeSet<WindowId> =
            windows().map(|window| window.window).chain(report.poll.elsewhere.iter().copied()).collect();
        // Of one whose state could not be had it is not known that it has ended.
        let lives = |window: &&TaskSnapshot| window.pane.as_ref().is_none_or(|pane| !pane.dead);
        let alive = windows().filter(lives).map(|window| (window.window, window.key.clone())).collect();
        let mut missing = std::mem::replace(&mut self.alive, alive);
        missing.retain(|window, _| !there.contains(window));
        let (Some(path), false) = (self.path.clone(), missing.is_empty()) else { return Vec::new() };
        let (keys, since) = (missing.values().cloned().collect(), report.at - KILL_TAKES);
        let kills =
            move || Reader::open(&path).and_then(|mut reader| reader.task_kills(keys, since)).unwrap_or_default();
        let killed = tokio::task::spawn_blocking(kills).await.unwrap_or_default();
        let input = |(window, key): (WindowId, TerminalKey)| {
            let (_, reason) = killed.iter().find(|(killed, _)| killed.may_be(&key))?;
            Some(Input::TaskKilled { server: key.server, window, reason: reason.clone() })
        };
        missing.into_iter().filter_map(input).collect()
    }
}

/// The knowledge of some terminals, and of all that have not left a server; none if the history cannot be read. Records are
/// read one by one, so that never all of them are in memory.
fn known(path: &Path, server: Option<&ServerId>, there: Vec<TerminalKey>) -> Vec<Input> {
    let Ok(mut reader) = Reader::open(path) else { return Vec::new() };
    let mut known: Vec<Input> = Vec::new();
    let mut tasks = Vec::new();
    let left_behind = server.map(|server| reader.left_behind(server)).transpose();
    let there: BTreeMap<(PaneId, u32), TerminalKey> = there.into_iter().map(|key| ((key.pane, key.pid), key)).collect();
    let mut found: BTreeSet<&TerminalKey> = BTreeSet::new();
    for last in left_behind.ok().flatten().unwrap_or_default() {
        let Some(last) = reader.select("WHERE r.id = ?1", [last.0]).ok().and_then(|mut last| last.pop()) else {
            continue;
        };
        // A server may have been spelt otherwise then.
        let Some((server, key)) = server.zip(last.key.clone()) else { continue };
        let key = TerminalKey { server: server.clone(), ..key };
        if let Some(fields) = last.body.task() {
            tasks.extend(task(&mut reader, key, fields, last.at).ok());
            continue;
        }
        // What is stored does not say which instance of the server it was.
        let same = there.get(&(key.pane, key.pid)).filter(|there| there.may_be(&key));
        found.extend(same);
        known.extend(agent(&mut reader, same.cloned().unwrap_or(key), last).unwrap_or_default());
    }
    known.extend(server.map(|server| Input::KnownTasks { server: server.clone(), tasks }));
    for key in there.values().filter(|key| !found.contains(key)) {
        let last = reader.transitions(key, 1).ok().and_then(|mut last| last.pop());
        known.extend(last.and_then(|last| agent(&mut reader, key.clone(), last).ok()).unwrap_or_default());
    }
    known
}

/// The knowledge of an agent from its last transition, and the prompt that was sent since.
fn agent(reader: &mut Reader, key: TerminalKey, last: Stored) -> Result<Vec<Input>, Trouble> {
    // A task has no public state of an agent, and one that an older fleetwatch wrote may lack something.
    let Body::Transition(StoredTransition { state: Some(PublicState::Agent(state)), screen, .. }) = last.body else {
        return Ok(Vec::new());
    };
    let screen = screen.map(|id| reader.packed_screen(id)).transpose()?.flatten();
    let screen = screen.map(KeptScreen::packed);
    let watched = reader.watched(&key, last.at, now())?;
    let watched_until = watched.iter().map(|(_, end)| *end).max().unwrap_or(last.at).max(last.at);
    let joins = |until: Timestamp, (begin, end): &(Timestamp, Timestamp)| {
        if begin.since(until) <= HANDOVER { until.max(*end) } else { until }
    };
    let unbroken_until = watched.iter().fold(last.at, joins);
    let (terminals, kinds) = (Some(vec![key.clone()]), vec![Kind::Action, Kind::Input]);
    let since = state.last_turn.at.or(Some(last.at));
    let done = reader.records(&RecordFilter { terminals, since, kinds, ..RecordFilter::default() })?;
    // Whoever sends something has seen what stands there.
    let sees = |record: &Stored| matches!(record.body, Body::Input(_) | Body::Action(OperatorAction::Seen));
    let seen = state.last_turn.at.is_some() && done.iter().any(sees);
    // A prompt that the agent took just now, and whose turn nobody has seen begin.
    let just_taken = |record: &Stored| match &record.body {
        Body::Input(StoredInput { sent: Sent::Prompt { text }, outcome, .. })
            if matches!(outcome.as_deref(), None | Some("accepted" | "unverified"))
                && record.at > last.at
                && now().since(record.at) < HANDOVER =>
        {
            Some(Input::Submitted { key: key.clone(), at: record.at, text: text.clone() })
        }
        _ => None,
    };
    let sent = done.iter().rev().find_map(just_taken);
    let known = Box::new(TerminalHistory { state: *state, screen, watched_until, unbroken_until, seen });
    Ok([Some(Input::Known { key, known }), sent].into_iter().flatten().collect())
}

/// The same of a task that had these fields at a time.
fn task(
    reader: &mut Reader,
    key: TerminalKey,
    fields: &TaskFields,
    at: Timestamp,
) -> Result<task::TaskHistory, Trouble> {
    let killed = reader.task_kills(vec![key.clone()], at)?.pop().map(|(_, reason)| reason);
    Ok(task::TaskHistory { key, fields: fields.clone(), killed })
}
