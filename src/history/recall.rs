//! What the fleet gets from the history: earlier knowledge of terminals and tasks (SPEC §10), and which missing tasks the
//! operator killed, so that they do not count as lost (SPEC §9).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use tokio::task::JoinHandle;

use super::file::PATIENCE;
use super::reader::Reader;
use crate::clock::now;
use crate::fleet::{Input, PollResult, ServerReport, TaskReport, TerminalHistory};
use crate::ids::{PaneId, ServerId, TerminalKey, WindowId};
use crate::record::{
    Body, HistoryError, OperatorAction, PublicState, Record, Sent, Stored, StoredInput, StoredTransition,
};
use crate::screen::KeptScreen;
use crate::task::{self, TaskFields, TaskSnapshot};
use crate::time::{Span, Timestamp};
use crate::tracker::HANDOVER;

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
    server: ServerId,
    /// What is known of the server's terminals, read while tmux lists them for the first time.
    left_behind: Option<JoinHandle<Option<LeftBehind>>>,
    /// The terminals of the last poll; `None` before the first one.
    there: Option<BTreeSet<TerminalKey>>,
    /// The tasks of the last poll that had not ended.
    alive: BTreeMap<WindowId, TerminalKey>,
}

/// Known terminals that have not left a server.
#[derive(Debug, Default)]
struct LeftBehind {
    agents: Vec<(TerminalKey, KnownAgent)>,
    tasks: Vec<task::TaskHistory>,
}

/// A known agent, and the prompt that it just took, whose turn nobody saw begin.
#[derive(Debug)]
struct KnownAgent {
    known: Box<TerminalHistory>,
    sent: Option<(Timestamp, String)>,
}

impl KnownAgent {
    fn inputs(self, key: TerminalKey) -> impl Iterator<Item = Input> {
        let sent = self.sent.map(|(at, text)| Input::Submitted { key: key.clone(), at, text });
        std::iter::once(Input::Known { key, known: self.known }).chain(sent)
    }
}

impl Recall {
    /// A recall of a server from a history, except for terminals that are already known; without a history it finds nothing.
    /// Begins to read; must be called within the runtime.
    pub fn begin(history: Option<PathBuf>, server: &ServerId, there: BTreeSet<TerminalKey>) -> Self {
        let there = (!there.is_empty()).then_some(there);
        let (server, alive) = (server.clone(), BTreeMap::new());
        let mut recall = Self { path: history, server, left_behind: None, there, alive };
        recall.left_behind = recall.read_left_behind();
        recall
    }

    /// Begins to read what is known from before the first report; `None` after it.
    fn read_left_behind(&self) -> Option<JoinHandle<Option<LeftBehind>>> {
        let (path, server) = (self.path.clone().filter(|_| self.there.is_none())?, self.server.clone());
        Some(tokio::task::spawn_blocking(move || left_behind(&path, &server)))
    }

    /// The inputs before a report: before the first one for all terminals of the server, later only for those that come back.
    /// Separate threads read the history.
    pub async fn before(&mut self, report: &ServerReport) -> Vec<Input> {
        let panes = match &report.outcome {
            PollResult::Listed(panes) => panes.as_slice(),
            PollResult::NoServer(_) => &[],
            PollResult::Read { .. } => return Vec::new(),
            PollResult::Failed(_) => {
                // Others may write before it answers.
                self.left_behind = None;
                return Vec::new();
            }
        };
        let left_behind = self.left_behind.take().or_else(|| self.read_left_behind());
        let there: BTreeSet<TerminalKey> = panes.iter().map(|pane| pane.key.clone()).collect();
        let before = self.there.replace(there.clone());
        let new: Vec<TerminalKey> = there.difference(&before.unwrap_or_default()).cloned().collect();
        let (Some(path), true) = (self.path.clone(), left_behind.is_some() || !new.is_empty()) else {
            return Vec::new();
        };
        let server = self.server.clone();
        let reading = async move {
            let left_behind = match left_behind {
                Some(reading) => reading.await.unwrap_or_default(),
                None => None,
            };
            tokio::task::spawn_blocking(move || known(&path, &server, left_behind, new)).await.unwrap_or_default()
        };
        tokio::time::timeout(PATIENCE, reading).await.unwrap_or_default()
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
        let (keys, since) = (missing.values().cloned().collect(), report.at - Span::MINUTE);
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

/// Reads the known state of every terminal still on a server; `None` if the history cannot be read. Records are read one by one,
/// so that never all of them are in memory.
fn left_behind(path: &Path, server: &ServerId) -> Option<LeftBehind> {
    let mut reader = Reader::open(path).ok()?;
    let mut found = LeftBehind::default();
    for last in reader.left_behind(server).unwrap_or_default() {
        let last = reader.select("WHERE r.id = ?1", [last.0]).ok().and_then(|mut last| last.pop());
        let Some((last, key)) = last.and_then(|last| last.key.clone().map(|key| (last, key))) else { continue };
        // A server may have been spelt otherwise then.
        let key = TerminalKey { server: server.clone(), ..key };
        match last.body.task() {
            Some(fields) => found.tasks.extend(task(&mut reader, key, fields, last.at).ok()),
            None => {
                let agent = agent(&mut reader, &key, last).ok().flatten();
                found.agents.extend(agent.map(|agent| (key, agent)));
            }
        }
    }
    Some(found)
}

/// The knowledge of some terminals, and of those that were left behind.
fn known(path: &Path, server: &ServerId, left_behind: Option<LeftBehind>, there: Vec<TerminalKey>) -> Vec<Input> {
    let there: BTreeMap<(PaneId, u32), TerminalKey> = there.into_iter().map(|key| ((key.pane, key.pid), key)).collect();
    let mut known: Vec<Input> = Vec::new();
    let mut found: BTreeSet<&TerminalKey> = BTreeSet::new();
    if let Some(LeftBehind { agents, tasks }) = left_behind {
        for (key, agent) in agents {
            // What is stored does not say which instance of the server it was.
            let same = there.get(&(key.pane, key.pid)).filter(|there| there.may_be(&key));
            found.extend(same);
            known.extend(agent.inputs(same.cloned().unwrap_or(key)));
        }
        known.push(Input::KnownTasks { server: server.clone(), tasks });
    }
    let mut others = there.values().filter(|key| !found.contains(key)).peekable();
    if others.peek().is_none() {
        return known;
    }
    let Ok(mut reader) = Reader::open(path) else { return known };
    for key in others {
        let last = reader.transitions(key, 1).ok().and_then(|mut last| last.pop());
        match last.and_then(|last| agent(&mut reader, key, last).ok().flatten()) {
            Some(agent) => known.extend(agent.inputs(key.clone())),
            // Nobody watched it yet, but something may have been sent.
            None => {
                let sent = reader.done_since(key, now() - HANDOVER).ok().and_then(|done| just_taken(&done));
                known.extend(sent.map(|(at, text)| Input::Submitted { key: key.clone(), at, text }));
            }
        }
    }
    known
}

/// The knowledge of an agent from its last transition, and the prompt that was sent since.
fn agent(reader: &mut Reader, key: &TerminalKey, last: Stored) -> Result<Option<KnownAgent>, HistoryError> {
    // A task has no public state of an agent, and one that an older fleetwatch wrote may lack something.
    let Body::Transition(StoredTransition { state: Some(PublicState::Agent(state)), screen, .. }) = last.body else {
        return Ok(None);
    };
    let screen = screen.map(|id| reader.packed_screen(id)).transpose()?.flatten();
    let screen = screen.map(KeptScreen::packed);
    let watched = reader.watched(key, last.at, now())?;
    let watched_until = watched.iter().map(|(_, end)| *end).max().unwrap_or(last.at).max(last.at);
    let joins = |until: Timestamp, (begin, end): &(Timestamp, Timestamp)| {
        if begin.since(until) <= HANDOVER { until.max(*end) } else { until }
    };
    let unbroken_until = watched.iter().fold(last.at, joins);
    let done = reader.done_since(key, state.last_turn.at.unwrap_or(last.at))?;
    // Whoever sends something has seen what stands there.
    let sees = |record: &Stored| matches!(record.body, Body::Input(_) | Body::Action(OperatorAction::Seen));
    let seen = state.last_turn.at.is_some() && done.iter().any(sees);
    let sent = just_taken(&done).filter(|(at, _)| *at > last.at);
    let prompted = done.iter().any(|record| record.at > watched_until && prompt_taken(record).is_some());
    let known = Box::new(TerminalHistory { state: *state, screen, watched_until, unbroken_until, prompted, seen });
    Ok(Some(KnownAgent { known, sent }))
}

/// The prompt that an agent took last, if that was just now.
fn just_taken(done: &[Stored]) -> Option<(Timestamp, String)> {
    let is_recent = |record: &&Stored| now().since(record.at) < HANDOVER;
    let taken = |record: &Stored| Some((record.at, prompt_taken(record)?.to_owned()));
    done.iter().rev().filter(is_recent).find_map(taken)
}

/// The prompt that a record says was sent, unless the agent is known not to have taken it.
fn prompt_taken(record: &Stored) -> Option<&str> {
    match &record.body {
        Body::Input(StoredInput { sent: Sent::Prompt { text }, outcome, .. }) => {
            matches!(outcome.as_deref(), None | Some("accepted" | "unverified")).then_some(text)
        }
        _ => None,
    }
}

/// Recalls a task that had these fields at a time.
fn task(
    reader: &mut Reader,
    key: TerminalKey,
    fields: &TaskFields,
    at: Timestamp,
) -> Result<task::TaskHistory, HistoryError> {
    let killed = reader.task_kills(vec![key.clone()], at)?.pop().map(|(_, reason)| reason);
    Ok(task::TaskHistory { key, fields: fields.clone(), at, killed })
}
