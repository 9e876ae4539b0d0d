//! What a poller tells the fleet of one look at one tmux server.

use std::sync::Arc;

use crate::agent_record::AgentRecordReading;
use crate::ids::{PaneLocation, ServerId, TerminalKey};
use crate::profile::Program;
use crate::screen::{PaneFacts, Screen};
use crate::state::Problem;
use crate::time::Timestamp;

/// One look at one server.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct ServerReport {
    pub server: ServerId,
    /// When tmux answered.
    pub at: Timestamp,
    pub outcome: PollResult,
}

/// What came of a look at a server.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub enum PollResult {
    /// Every watched pane of the server. A terminal that was there before and is not in the list is gone.
    Listed(Vec<PaneReport>),
    /// There is no such server (no socket, or nobody answers on it): all its panes are gone.
    NoServer(Problem),
    /// The server could not be asked; nothing is known of its panes.
    Failed(Problem),
}

/// One pane in a listing.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PaneReport {
    pub key: TerminalKey,
    pub place: PaneLocation,
    pub cwd: Option<String>,
    pub facts: PaneFacts,
    /// What runs in the pane.
    pub program: Program,
    pub capture: Capture,
    /// What the configuration says of this pane, if it names it.
    pub declared: Option<Declared>,
    /// What the agent's own records say of it; `None` when that is what they said at the last look.
    #[serde(default)]
    pub record: Option<Box<AgentRecordReading>>,
}

/// The part of the configuration that is about one pane.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Declared {
    pub name: Option<String>,
    pub tool: Option<String>,
    pub version: Option<String>,
    /// What it is grouped by in the dashboard.
    pub label: Option<String>,
    /// Whether it stands at the top of the dashboard, and whether it never counts as needing the operator.
    pub pinned: bool,
    pub muted: bool,
}

/// The screen of a pane in a listing.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Capture {
    /// Nothing was printed since the last capture, which still holds.
    Unchanged,
    Fresh(Arc<Screen>),
    /// The pane is listed but its screen could not be had.
    Failed(Problem),
}
