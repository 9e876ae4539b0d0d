//! What the owner of a server tells of it to other processes (SPEC §15).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::entry::{ToldTerminal, UntoldTerminal};
use super::tasks::ToldTasks;
use super::view::{ServerView, TerminalTransition};
use crate::ids::TerminalKey;
use crate::task::TaskEvent;
use crate::time::Timestamp;

/// What is told of a server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Told {
    /// The time of the owner's last input.
    pub at: Timestamp,
    /// Counts the inputs of the owner.
    #[serde(skip)]
    pub(super) version: u64,
    /// Whether it is all that is known, and not only what has changed since the last time.
    pub(super) is_whole: bool,
    /// `None` if the server has not been polled.
    pub(super) server: Option<ServerView>,
    pub(super) terminals: Vec<ToldTerminal>,
    /// The last transitions of terminals that have left.
    pub(super) left: Vec<TerminalTransition>,
    /// `None` if they are as they were.
    pub(super) tasks: Option<ToldTasks>,
    /// What happened to tasks: with all that is known the last of it, else what is new.
    pub(super) task_events: Vec<TaskEvent>,
    /// The last transitions over all terminals, with all that is known.
    pub(super) recent: Vec<TerminalTransition>,
}

impl Told {
    /// The number of the owner's last input: all of the earlier ones is known then.
    pub fn version(&self) -> u64 {
        self.version
    }
}

/// What the other processes have not been told of a server yet.
#[derive(Debug, Default)]
pub(super) struct Untold {
    /// Whether anything happened to it.
    pub(super) has_changed: bool,
    pub(super) terminals: BTreeMap<TerminalKey, UntoldTerminal>,
    pub(super) left: Vec<TerminalTransition>,
    /// The tasks as they were told last.
    pub(super) tasks: Option<ToldTasks>,
    pub(super) task_events: Vec<TaskEvent>,
}

impl Untold {
    /// A terminal has left.
    pub(super) fn has_left(&mut self, left: TerminalTransition) {
        self.terminals.remove(&left.key);
        self.left.push(left);
    }

    /// This has happened to tasks.
    pub(super) fn have_happened(&mut self, events: &[TaskEvent]) {
        self.task_events.extend_from_slice(events);
    }
}
