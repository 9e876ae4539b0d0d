//! Tasks that the operator killed, which other processes tell from tasks that were lost (SPEC §9).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::filter::RecordFilter;
use super::identity::same_terminal;
use super::reader::Reader;
use super::record::{Kind, OperatorAction, Record};
use super::stored::{Body, Stored};
use crate::fleet::{Input, TaskReport};
use crate::ids::{TerminalKey, WindowId};
use crate::task::TaskSnapshot;
use crate::time::{Span, Timestamp};

/// How long after a kill the window may still be there.
const TAKES: Span = Span::from_secs(60);

impl Record {
    /// The operator kills a task; `reason` says so to people. It is to be written before the task is killed.
    pub fn kill(key: TerminalKey, name: String, at: Timestamp, reason: &str) -> Self {
        Record::Action { key: Some(key), name, at, action: OperatorAction::Kill { reason: reason.to_owned() } }
    }
}

/// Knows which tasks of one server live, and finds out which of those that are gone somebody killed.
#[derive(Debug)]
pub struct Kills {
    path: Option<PathBuf>,
    alive: BTreeMap<WindowId, TerminalKey>,
}

impl Kills {
    /// Kills as a history has them; without one nobody knows of any.
    pub fn new(history: Option<PathBuf>) -> Self {
        Self { path: history, alive: BTreeMap::new() }
    }

    /// What the fleet is to be told before a report, so that tasks that were killed elsewhere do not count as lost. The
    /// history is read by a thread of its own, and only when a task is gone.
    pub async fn before(&mut self, report: &TaskReport) -> Vec<Input> {
        let windows = || report.look.sessions.iter().flat_map(|session| &session.windows);
        let there: BTreeSet<WindowId> =
            windows().map(|window| window.window).chain(report.look.elsewhere.iter().copied()).collect();
        // Of one whose state could not be had it is not known that it has ended.
        let lives = |window: &&TaskSnapshot| window.pane.as_ref().is_none_or(|pane| !pane.dead);
        let alive = windows().filter(lives).map(|window| (window.window, window.key.clone())).collect();
        let mut missing = std::mem::replace(&mut self.alive, alive);
        missing.retain(|window, _| !there.contains(window));
        let (Some(path), false) = (self.path.clone(), missing.is_empty()) else { return Vec::new() };
        let (keys, at) = (missing.values().cloned().collect(), report.at);
        let killed = tokio::task::spawn_blocking(move || kills(&path, keys, at)).await.unwrap_or_default();
        let input = |(window, key): (WindowId, TerminalKey)| {
            let (_, reason) = killed.iter().find(|(killed, _)| same_terminal(killed, &key))?;
            Some(Input::TaskKilled { server: key.server, window, reason: reason.clone() })
        };
        missing.into_iter().filter_map(input).collect()
    }
}

/// The tasks among `keys` that somebody has just killed through fleetwatch, with what is said of it. A history that
/// cannot be read tells of none.
fn kills(path: &Path, keys: Vec<TerminalKey>, now: Timestamp) -> Vec<(TerminalKey, String)> {
    let filter = RecordFilter {
        terminals: Some(keys),
        since: Some(now - TAKES),
        kinds: vec![Kind::Action],
        ..RecordFilter::default()
    };
    let records = Reader::open(path).and_then(|mut reader| reader.records(&filter)).unwrap_or_default();
    let kill = |record: Stored| match record.body {
        Body::Action(OperatorAction::Kill { reason }) => Some((record.key?, reason)),
        _ => None,
    };
    records.into_iter().filter_map(kill).collect()
}
