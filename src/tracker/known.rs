//! What was known of a terminal before this tracker began, and how it goes on from there (SPEC §10).

use std::sync::Arc;

use super::Tracker;
use super::ages::Ages;
use super::publish::Published;
use crate::profile::{Classification, Temporal};
use crate::screen::Screen;
use crate::state::{Attention, State};
use crate::time::Timestamp;

/// What the history says of a terminal.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct TerminalHistory {
    /// The public state after the last transition.
    pub state: State,
    /// What was shown then.
    pub screen: Option<Arc<Screen>>,
    /// Until when somebody watched, and nothing changed any more.
    pub watched_until: Timestamp,
    /// Whether the operator has seen how the last turn ended.
    pub seen: bool,
}

impl Tracker {
    /// Goes on from what was known before the first look. `reading` is what was read then from the screen that was shown
    /// then. What the next look finds changed is a transition; what happened in between is not made up.
    pub fn remember(&mut self, known: &TerminalHistory, reading: Option<&Classification>, temporal: Temporal) {
        let state = &known.state;
        self.published = Published::known(state);
        self.signature = self.published.signature();
        self.ages = Ages::known(&self.published, state);
        self.stable_since = state.stability.stable_since;
        self.observed_at = known.watched_until;
        self.temporal = temporal;
        self.last_reading = reading.map(|reading| (reading.clone(), state.observed_at));
        self.is_remembered = true;
        self.unseen =
            !known.seen && matches!(state.attention, Attention::Failed | Attention::Interrupted | Attention::Finished);
        self.turn.remember(state, reading, known.watched_until);
        // The records were read already: what is news of them follows from what was known.
        self.turn.recorded(&self.record);
        self.lifecycle.remember(state);
    }
}
