//! Where fleetwatch itself runs.

use std::collections::BTreeSet;

use crate::fleet::{PaneId, ServerId};
use crate::tmux::ListedPane;

/// The pane that fleetwatch itself runs in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Own {
    /// The server's process id and the pane, from `TMUX` and `TMUX_PANE`.
    pane: Option<(u32, PaneId)>,
    /// The process ids of this process and of those above it.
    processes: BTreeSet<u32>,
}

/// What tmux calls the foreground program of a pane in which a dashboard runs.
const PROGRAM: &str = env!("CARGO_PKG_NAME");

impl Own {
    /// From the environment variables and the ancestors of this process.
    pub fn new(tmux: Option<String>, tmux_pane: Option<String>, processes: BTreeSet<u32>) -> Self {
        // TMUX is `socket path,server pid,session`; the path may hold commas.
        let server = tmux.as_deref().and_then(|text| text.rsplit(',').nth(1)).and_then(|pid| pid.parse().ok());
        let pane = tmux_pane.as_deref().and_then(|id| id.strip_prefix('%')).and_then(|id| id.parse().ok());
        Self { pane: server.zip(pane.map(PaneId)), processes }
    }

    pub(super) fn is(&self, server: &ServerId, server_pid: u32, pane: &ListedPane) -> bool {
        // The same numbers on a host are other panes and processes.
        let is_a_dashboard = pane.facts.command == PROGRAM;
        let is_here = server.host.is_none()
            && (self.pane == Some((server_pid, pane.id)) || (!pane.facts.dead && self.processes.contains(&pane.pid)));
        is_a_dashboard || is_here
    }
}
