//! All that a fleet knows of one server, for another process that goes on from there (SPEC §15).

use serde::{Deserialize, Serialize};

use super::entry::Entry;
use super::tasks::TasksCheckpoint;
use super::view::{ServerView, TerminalTransition};
use crate::ids::TerminalKey;
use crate::time::Timestamp;

/// All that a fleet knows of one server. A fleet that starts from it reacts to the same inputs as the original does.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The time of the last input: what has come due since comes due in the other fleet, too.
    pub(super) at: Timestamp,
    /// `None` if the server has not been polled.
    pub(super) server: Option<ServerView>,
    pub(super) entries: Vec<Entry>,
    pub(super) tasks: TasksCheckpoint,
    pub(super) recent: Vec<TerminalTransition>,
}

impl Checkpoint {
    /// Whether the server has answered or failed to.
    pub fn has_polled(&self) -> bool {
        self.server.as_ref().is_some_and(|server| !server.is_waiting())
    }

    /// The terminals that it is about.
    pub fn terminals(&self) -> impl Iterator<Item = &TerminalKey> {
        self.entries.iter().map(|entry| &entry.terminal().key)
    }
}
