//! How tasks stand from when on, as the history keeps it beside their events: that a question was answered, or that a
//! program was there from the start, is no event (SPEC §9), and without it nobody could tell how long it ran and waited.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use crate::ids::{ServerId, TerminalKey};
use crate::state::{Change, LEFT, Summary, TaskStatus, Transition};
use crate::task::{Happening, Task, TaskEvent, TaskFields};
use crate::time::{Span, Timestamp};

/// How long a task stands otherwise before that is told. A full-screen program that repaints itself now and then seems to
/// run for a moment each time.
const SETTLED: Span = Span::from_secs(4);

/// A change of how a task stands that is no event.
#[derive(Clone, Debug)]
pub struct TaskTransition {
    pub key: TerminalKey,
    /// The task's name in the fleet.
    pub id: String,
    pub transition: Transition,
    /// Its public fields then; `None` when it is gone.
    pub state: Option<Box<TaskFields>>,
}

/// How each task stands by what was told of it: by its events, and by transitions for what is none.
#[derive(Debug, Default)]
pub(super) struct Standings(BTreeMap<TerminalKey, (String, TaskStatus)>);

/// What is told after a look.
#[derive(Debug, Default)]
pub(in crate::fleet) struct TaskChanges {
    pub changed: Vec<TaskTransition>,
    pub left: Vec<TaskTransition>,
}

impl Standings {
    /// It was told before how a task stands.
    pub(super) fn remember(&mut self, task: &Task, status: TaskStatus) {
        self.0.insert(task.key.clone(), (task.id.clone(), status));
    }

    /// Takes in the tasks of a server after a look, and the events that this look made.
    pub(super) fn take<'a>(
        &mut self,
        server: &ServerId,
        tasks: impl Iterator<Item = &'a Task>,
        events: &[TaskEvent],
        now: Timestamp,
    ) -> TaskChanges {
        let mut told = TaskChanges::default();
        let mut here = BTreeSet::new();
        for task in tasks {
            here.insert(&task.key);
            let known = self.0.get(&task.key).map(|(_, status)| *status);
            let is_told =
                |event: &&TaskEvent| event.key == task.key && !matches!(event.happening, Happening::Notify { .. });
            let by_event = events.iter().rev().find(is_told).map(|event| event.state.status);
            let status = match (by_event, known) {
                (Some(status), _) => status,
                (None, Some(status)) if status == task.status || now.since(task.since) < SETTLED => status,
                (None, known) => {
                    let at = if known.is_some() { task.since } else { now };
                    told.changed.push(changed(task, known.unwrap_or(TaskStatus::Unknown), at));
                    task.status
                }
            };
            match self.0.get_mut(&task.key) {
                Some((id, stands)) if *id == task.id => *stands = status,
                _ => drop(self.0.insert(task.key.clone(), (task.id.clone(), status))),
            }
        }
        let is_gone = |key: &&TerminalKey| key.server == *server && !here.contains(key);
        let gone: Vec<TerminalKey> = self.0.keys().filter(is_gone).cloned().collect();
        for key in gone {
            told.left.extend(self.0.remove(&key).map(|(id, _)| left(key, id, now)));
        }
        told
    }

    /// Takes the tasks of a server for told as they are.
    pub(super) fn restore<'a>(&mut self, server: &ServerId, tasks: impl Iterator<Item = &'a Task>) {
        self.0.retain(|key, _| key.server != *server);
        self.0.extend(tasks.map(|task| (task.key.clone(), (task.id.clone(), task.status))));
    }

    /// A server is watched no longer.
    pub(super) fn forget(&mut self, server: &ServerId, now: Timestamp) -> Vec<TaskTransition> {
        self.take(server, std::iter::empty(), &[], now).left
    }
}

fn changed(task: &Task, from: TaskStatus, at: Timestamp) -> TaskTransition {
    let changed = vec![Change { field: "status".into(), from: json!(from), to: json!(task.status) }];
    let summary = task.status.summary(task.exit_code());
    let transition = Transition { at, changed, summary, note: None, evidence: Vec::new() };
    TaskTransition { key: task.key.clone(), id: task.id.clone(), transition, state: Some(Box::new(task.fields())) }
}

fn left(key: TerminalKey, id: String, at: Timestamp) -> TaskTransition {
    let summary: Summary = TaskStatus::Exited.summary(None);
    let transition = Transition::last(summary, LEFT, at);
    TaskTransition { key, id, transition, state: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{PaneId, SessionId, WindowId};
    use crate::screen::{Cursor, Screen};
    use crate::task::{
        PaneState, Preview, Registration, SessionSnapshot, TaskDisplay, TaskPoll, TaskSnapshot, TaskTracker,
    };

    /// What is told of a task whose screen, by seconds, is this; `None` is a window that is gone.
    fn told(looks: &[(i64, Option<&str>)]) -> Vec<String> {
        let (mut watch, mut standings) = (TaskTracker::default(), Standings::default());
        let mut told = Vec::new();
        for &(at, screen) in looks {
            let now = Timestamp::from_millis(at * 1000);
            let windows = screen.map(window).into_iter().collect();
            let session = SessionSnapshot { id: SessionId(1), name: "builds".to_owned(), windows };
            let events = watch.take(TaskPoll { sessions: vec![session], ..TaskPoll::default() }, now);
            let TaskChanges { changed, left } = standings.take(&ServerId::default(), watch.tasks(), &events, now);
            told.extend(changed.iter().map(|task| {
                let Change { from, to, .. } = &task.transition.changed[0];
                format!("{} {from} {to}", task.transition.at.as_millis() / 1000).replace('"', "")
            }));
            told.extend(left.iter().map(|task| format!("{} left", task.transition.at.as_millis() / 1000)));
        }
        told
    }

    fn window(screen: &str) -> TaskSnapshot {
        let column = u16::try_from(screen.len()).unwrap();
        let cursor = Cursor { column, row: 0, visible: true };
        let dead = screen == "dead";
        let preview = Preview::of(&Screen::from_text(&format!("{screen}\n\n\n"), 80), cursor, dead);
        let command = "make".to_owned();
        let (exit_code, alternate) = (dead.then_some(2), false);
        let pane = PaneState { command, start_command: None, cwd: None, dead, exit_code, alternate, preview };
        TaskSnapshot {
            window: WindowId(1),
            name: "build".to_owned(),
            index: 1,
            key: TerminalKey { server: ServerId::default(), pane: PaneId(1), pid: 7, instance: Default::default() },
            pane: Some(pane),
            bell: false,
            bells: None,
            registration: Registration::None,
            shown: TaskDisplay::default(),
        }
    }

    #[test]
    fn what_no_event_tells_is_told_from_when_on_it_was_so() {
        // It was there from the start, asks, which is an event, and is answered, which is none.
        let asks = Some("Proceed? [y/N] ");
        let looks = [(1, Some("one")), (2, asks), (3, asks), (20, Some("two")), (21, Some("two")), (25, Some("two"))];
        assert_eq!(told(&looks), ["1 unknown running", "20 waiting_input running"]);
        let ends = [(1, Some("one")), (9, Some("dead")), (30, Some("dead")), (31, None), (32, None)];
        assert_eq!(told(&ends), ["1 unknown running", "31 left"]);
    }

    #[test]
    fn what_lasts_no_longer_than_a_moment_is_not_told() {
        let asks = Some("Proceed? [y/N] ");
        let looks = [(1, Some("one")), (2, asks), (3, asks), (10, Some("two")), (12, asks), (13, asks), (30, asks)];
        assert_eq!(told(&looks), ["1 unknown running"]);
    }
}
