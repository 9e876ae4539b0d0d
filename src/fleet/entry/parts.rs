//! What is known of a terminal's agent, and how long the row of one stays whose pane is gone.

use serde::{Deserialize, Serialize};

use crate::agent_record::RecordedTurn;
use crate::fleet::view::Terminal;
use crate::profile::{Selected, Selection};
use crate::state::{Anomaly, State, TurnResult};
use crate::time::{Span, Timestamp};
use crate::tracker::Timer;

/// How long one is shown after its pane is gone of which the operator may not know yet how its work ended.
pub(in crate::fleet) const KEEP_UNSEEN: Span = Span::from_secs(600);
/// How soon after a turn was stopped its agent ends because of that: whoever stopped it wants to see so.
const AFTER_STOP: Span = Span::MINUTE;

/// The end of a pane.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::fleet) struct Departure {
    pub at: Timestamp,
    /// Whether the operator had not seen then how its last turn ended.
    pub unseen: bool,
    /// Whether its whole server ended, and none has taken its place: all that was watched there is kept to be seen.
    #[serde(default)]
    pub with_server: bool,
}

impl Departure {
    /// When the row leaves: not sooner because it is looked at, and not before its server has come back.
    pub fn leaves_at(&self, state: &State, keep_gone: Span) -> Option<Timestamp> {
        if self.with_server {
            return None;
        }
        let asked = state.stale.as_ref().is_some_and(|stale| stale.asked.is_some());
        let last = &state.last_turn;
        let is_stopped =
            last.result == TurnResult::Interrupted && last.at.is_some_and(|at| self.at.since(at) < AFTER_STOP);
        let is_kept = self.unseen || asked || last.is_cut_off() || is_stopped;
        Some(self.at + if is_kept { KEEP_UNSEEN } else { keep_gone })
    }
}

/// The agent that runs in the terminal, or that ran there last.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::fleet) struct Agent {
    pub tool: String,
    /// The version from the configuration or from the executable's package.
    pub given_version: Option<String>,
    /// The version in the banner on its screen: an agent that was updated while it ran still is the old one.
    pub banner: Option<String>,
    #[serde(skip)]
    pub selected: Option<Selected>,
}

impl Agent {
    /// Its profile, if that does not only stand in for one.
    pub fn own_profile(&self) -> Option<Selected> {
        self.selected.clone().filter(|selected| selected.profile.tool() == self.tool)
    }

    /// What the choice of the profile has to say beside the reading's own anomalies.
    pub fn anomalies(&self, has_version: bool) -> impl Iterator<Item = Anomaly> {
        let selected = self.selected.as_ref();
        let is_configured = selected.is_some_and(|selected| selected.selection == Selection::Configured);
        let is_unrecorded = has_version && selected.is_some_and(|selected| !selected.recorded);
        let configured = is_configured.then_some(Anomaly::PresetOverrideUsed);
        configured.into_iter().chain(is_unrecorded.then_some(Anomaly::UnknownVersionFloorUsed))
    }
}

/// What is told of a terminal.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::fleet) struct ToldTerminal {
    /// Its screen is left out if it was told before, and so are transitions.
    pub terminal: Terminal,
    pub agent: Option<Agent>,
    pub gone: Option<Departure>,
    pub is_unread: bool,
    pub beside: Beside,
}

/// What else is shown of a terminal that has its tracker in another process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::fleet) struct Beside {
    pub record: Option<RecordedTurn>,
    pub timers: Vec<Timer>,
}

/// What of a terminal has not been told yet, beside its state.
#[derive(Debug, Default)]
pub(in crate::fleet) struct UntoldTerminal {
    /// How many of the last transitions.
    pub transitions: usize,
    pub has_new_screen: bool,
}
