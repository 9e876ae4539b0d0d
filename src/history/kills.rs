//! Tasks that the operator killed, which other processes tell from tasks that were lost (SPEC §9).

use std::path::Path;

use serde_json::json;

use super::filter::Filter;
use super::identity::same_terminal;
use super::reader::Reader;
use super::record::{Kind, Record};
use crate::fleet::{Fleet, Input, TaskReport};
use crate::moment::{Moment, Span};
use crate::place::TerminalKey;

/// How long after a kill the window may still be there.
const TAKES: Span = Span::from_secs(60);

impl Record {
    /// The operator kills a task; `reason` says so to people. It is to be written before the task is killed.
    pub fn kill(key: TerminalKey, name: String, at: Moment, reason: &str) -> Self {
        Record::Action { key: Some(key), name, at, action: "kill".to_owned(), detail: json!({ "reason": reason }) }
    }
}

/// What the fleet is to be told before a report, so that tasks that were killed elsewhere do not count as lost.
pub fn kills_before(path: Option<&Path>, report: &TaskReport, fleet: &Fleet, now: Moment) -> Vec<Input> {
    let missing = fleet.tasks_missing_from(report);
    let (Some(path), false) = (path, missing.is_empty()) else { return Vec::new() };
    let killed = kills(path, missing.iter().map(|task| task.key.clone()).collect(), now);
    let input = |task: &&crate::task::Task| {
        let (_, reason) = killed.iter().find(|(key, _)| same_terminal(key, &task.key))?;
        Some(Input::TaskKilled { server: task.key.server.clone(), window: task.window, reason: reason.clone() })
    };
    missing.iter().filter_map(input).collect()
}

/// The tasks among `keys` that somebody has just killed through fleetwatch, with what is said of it. A history that
/// cannot be read tells of none.
fn kills(path: &Path, keys: Vec<TerminalKey>, now: Moment) -> Vec<(TerminalKey, String)> {
    let filter =
        Filter { terminals: Some(keys), since: Some(now - TAKES), kinds: vec![Kind::Action], ..Filter::default() };
    let records = Reader::open(path).and_then(|mut reader| reader.records(&filter)).unwrap_or_default();
    let kills = records.into_iter().filter(|record| record.document["action"] == "kill");
    kills
        .filter_map(|record| {
            let reason = record.document["detail"]["reason"].as_str().unwrap_or("killed");
            Some((record.key?, reason.to_owned()))
        })
        .collect()
}
