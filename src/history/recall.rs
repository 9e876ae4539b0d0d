//! What was known of terminals and tasks before this process, for their first look (SPEC §10).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::filter::RecordFilter;
use super::reader::Reader;
use super::record::{Kind, OperatorAction, PublicState, Record};
use super::stored::{Body, Stored, StoredTransition};
use super::{Trouble, now};
use crate::fleet::{Input, PollResult, ServerReport, TerminalHistory};
use crate::ids::{ServerId, TerminalKey};
use crate::task::{self, TaskFields};
use crate::time::Timestamp;

/// How long a first look waits for the history; without it everything is as if it had just been found.
const LONGEST: Duration = Duration::from_secs(2);

impl Record {
    /// The operator has seen how a turn ended, which nothing else that is kept may tell.
    pub fn seen(key: TerminalKey, name: String, at: Timestamp) -> Self {
        Record::Action { key: Some(key), name, at, action: OperatorAction::Seen }
    }
}

/// Knows the terminals of one server, and finds out what was known of those that are new.
#[derive(Debug)]
pub struct Recall {
    path: Option<PathBuf>,
    /// The terminals of the last look; `None` before the first one.
    there: Option<BTreeSet<TerminalKey>>,
}

impl Recall {
    /// What a history has beside the terminals that are known already; without one nothing is known.
    pub fn new(history: Option<PathBuf>, there: BTreeSet<TerminalKey>) -> Self {
        Self { path: history, there: (!there.is_empty()).then_some(there) }
    }

    /// What the fleet is to be told before a report: before the first one all that was on the server, later only what
    /// comes back. The history is read by a thread of its own.
    pub async fn before(&mut self, report: &ServerReport) -> Vec<Input> {
        let panes = match &report.outcome {
            PollResult::Listed(panes) => panes.as_slice(),
            PollResult::NoServer(_) => &[],
            PollResult::Failed(_) => return Vec::new(),
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
}

/// What is known of some terminals, and of all that have not left a server. A history that cannot be read knows of none.
fn known(path: &Path, server: Option<&ServerId>, there: Vec<TerminalKey>) -> Vec<Input> {
    let Ok(mut reader) = Reader::open(path) else { return Vec::new() };
    let mut known: Vec<Input> = Vec::new();
    let mut tasks = Vec::new();
    let left_behind = server.map(|server| reader.left_behind(server)).transpose();
    for last in left_behind.ok().flatten().unwrap_or_default() {
        // A server may have been spelt otherwise then.
        let Some((server, key)) = server.zip(last.key.clone()) else { continue };
        let key = TerminalKey { server: server.clone(), ..key };
        if let Some(fields) = last.body.task() {
            tasks.extend(task(&mut reader, key, fields, last.at).ok());
        } else if !there.iter().any(|there| there.may_be(&key)) {
            known.extend(agent(&mut reader, key, last).ok().flatten());
        }
    }
    known.extend(server.map(|server| Input::KnownTasks { server: server.clone(), tasks }));
    for key in there {
        let last = reader.transitions(&key, None, 1).ok().and_then(|mut last| last.pop());
        known.extend(last.and_then(|last| agent(&mut reader, key, last).ok().flatten()));
    }
    known
}

/// What is known of an agent whose last transition this is.
///
/// # Errors
/// The file cannot be read.
fn agent(reader: &mut Reader, key: TerminalKey, last: Stored) -> Result<Option<Input>, Trouble> {
    // A task has no public state of an agent, and one that an older fleetwatch wrote may lack something.
    let Body::Transition(StoredTransition { state: Some(PublicState::Agent(state)), screen, .. }) = last.body else {
        return Ok(None);
    };
    let screen = screen.map(|id| reader.screen(id)).transpose()?.flatten();
    let watched = reader.watched(&key, last.at, now())?;
    let watched_until = watched.into_iter().map(|(_, end)| end).max().unwrap_or(last.at).max(last.at);
    let kinds = vec![Kind::Action, Kind::Input];
    let done = RecordFilter {
        terminals: Some(vec![key.clone()]),
        since: state.last_turn.at,
        kinds,
        ..RecordFilter::default()
    };
    // Whoever sends something has seen what stands there.
    let sees = |record: &Stored| matches!(record.body, Body::Input(_) | Body::Action(OperatorAction::Seen));
    let seen = state.last_turn.at.is_some() && reader.records(&done)?.iter().any(sees);
    let known = Box::new(TerminalHistory { state: *state, screen: screen.map(Into::into), watched_until, seen });
    Ok(Some(Input::Known { key, known }))
}

/// The same of a task that had these fields at a time.
///
/// # Errors
/// The file cannot be read.
fn task(
    reader: &mut Reader,
    key: TerminalKey,
    fields: &TaskFields,
    at: Timestamp,
) -> Result<task::TaskHistory, Trouble> {
    let terminals = Some(vec![key.clone()]);
    let since = RecordFilter { terminals, since: Some(at), kinds: vec![Kind::Action], ..RecordFilter::default() };
    let kill = reader.records(&since)?.into_iter().rev().find_map(|record| match record.body {
        Body::Action(OperatorAction::Kill { reason }) => Some(reason),
        _ => None,
    });
    Ok(task::TaskHistory { key, fields: fields.clone(), killed: kill })
}
