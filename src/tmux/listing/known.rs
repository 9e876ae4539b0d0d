//! What a poll lists of a server's panes, what is known of them from earlier polls, and what the next one must list to complete it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::marks::Marks;
use crate::ids::{PaneId, PaneLocation, ServerInstance};
use crate::screen::{PaneFacts, Screen};

/// What a server answered to one poll.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    /// tmux's version, as it writes it: `3.3a`.
    pub version: String,
    /// The process id of the server; another one is another server on the same socket.
    pub server_pid: u32,
    /// Which server it is, on which machine.
    pub instance: ServerInstance,
    /// The server's clock at the beginning of the poll, in whole seconds since the Unix epoch: the clock that
    /// [`ListedPane::activity`] is of.
    pub clock: i64,
    /// Every pane, in tmux's order. One that is linked into several sessions is there once for each.
    pub panes: Vec<Arc<ListedPane>>,
    /// The panes that were captured, with their facts at that time.
    pub captures: Vec<CapturedPane>,
    /// Whether there are panes of which too little is known.
    pub is_incomplete: bool,
    /// The sessions by their numbers, where panes were listed.
    pub sessions: BTreeMap<u32, ListedSession>,
}

/// One session of a listing: what would cost more to ask of each of its panes, or may change without them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedSession {
    pub name: String,
    pub windows: u32,
    /// The group that it shares its windows with; empty where there is none.
    pub group: String,
}

/// One pane of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedPane {
    pub id: PaneId,
    /// The process that tmux started in the pane.
    pub pid: u32,
    /// tmux's number of the session, without its `$`.
    pub session_id: u32,
    /// tmux's number of the window, without its `@`.
    pub window_id: u32,
    pub place: Arc<PaneLocation>,
    /// When something was last printed in the pane's window, in seconds of the server's clock.
    pub activity: i64,
    pub columns: u16,
    pub rows: u16,
    pub cwd: Option<String>,
    pub facts: PaneFacts,
    /// When the program of a dead pane ended, in seconds of the server's clock; `None` if this tmux does not report it.
    pub died: Option<i64>,
    /// Whether keys that are sent to this pane go to all panes of its window.
    pub synchronized: bool,
    /// Whether the pane takes no keys (`select-pane -d`).
    pub input_off: bool,
    pub marks: Marks,
    /// The beginning of the command that the pane was started with; `None` when it is the user's shell.
    pub start_command: Option<String>,
    /// Whether the window was linked into this session before all others, as tmux has it now.
    pub is_linked_first: bool,
    /// Whether the window is at home in this session, among all rows of the pane.
    pub at_home: bool,
}

impl ListedSession {
    /// Whether its panes have other names than when it was listed as `before`.
    pub(super) fn is_otherwise_called(&self, before: &Self) -> bool {
        (&self.name, &self.group) != (&before.name, &before.group)
    }
}

/// A captured screen.
#[derive(Clone, Debug, PartialEq)]
pub struct CapturedPane {
    pub pane: Arc<ListedPane>,
    /// `None` when tmux listed the pane but printed no screen.
    pub screen: Option<Screen>,
}

/// Which panes a poll lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tmux) enum Extent {
    /// All panes with all facts.
    Whole,
    /// All panes, with all facts of those that have printed something since then, by the server's clock, or whose programs have
    /// ended; of the others what may change without that.
    All(i64),
    /// Only those of them with something to report.
    Telling(i64),
}

/// Seconds of the server's clock after which all facts of all panes are listed again: a window may have another name. Sessions
/// are listed in each poll.
pub(super) const WHOLE_AGAIN: i64 = 10;

/// The same after which all panes are listed again: one may have another size or place, or be gone from beside another one.
pub(super) const ALL_AGAIN: i64 = 2;

/// Seconds for which a pane counts as printing after the last time: what follows its output, such as the program that a
/// shell has echoed, takes a moment.
pub(super) const FOLLOWS: i64 = 2;

/// The rows of the last poll of a server.
#[derive(Clone, Debug, Default)]
pub struct KnownRows {
    pub(super) instance: ServerInstance,
    /// The server's clock at the last poll, at the last one that listed all panes, and at the last one with all facts of them.
    pub(super) clock: i64,
    pub(super) all_at: Option<i64>,
    pub(super) whole_at: Option<i64>,
    pub(super) rows: Vec<Arc<ListedPane>>,
    pub(super) places: HashMap<RowId, usize>,
    pub(super) sessions: BTreeMap<u32, ListedSession>,
}

/// Which row it is: a pane, its process, and where it is linked, by the session's number and the window's place in it.
pub(super) type RowId = (PaneId, u32, u32, u32);

impl KnownRows {
    /// Which panes are to be listed now.
    pub(in crate::tmux) fn extent(&self) -> Extent {
        let is_recent =
            |at: Option<i64>, seconds| at.is_some_and(|at| (0..seconds).contains(&(self.clock.saturating_sub(at))));
        let since = self.clock.saturating_sub(FOLLOWS);
        match (is_recent(self.whole_at, WHOLE_AGAIN), is_recent(self.all_at, ALL_AGAIN)) {
            (false, _) => Extent::Whole,
            (true, false) => Extent::All(since),
            (true, true) => Extent::Telling(since),
        }
    }

    /// All facts of all panes are to be listed the next time, such as the names of windows.
    pub fn doubt(&mut self) {
        self.whole_at = None;
    }

    pub(in crate::tmux) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether they are of this server.
    pub(in crate::tmux) fn is_of(&self, instance: &ServerInstance) -> bool {
        self.instance == *instance
    }

    pub(super) fn get(&self, id: &RowId) -> Option<&Arc<ListedPane>> {
        self.places.get(id).map(|place| &self.rows[*place])
    }

    /// Takes in a poll.
    pub(in crate::tmux) fn learn(&mut self, listing: &Listing, extent: Extent) {
        (self.instance, self.clock) = (listing.instance.clone(), listing.clock);
        self.rows.clone_from(&listing.panes);
        if !matches!(extent, Extent::Telling(_)) {
            self.all_at = Some(listing.clock);
            self.places = listing.panes.iter().enumerate().map(|(place, row)| (row_id(row), place)).collect();
            self.sessions.clone_from(&listing.sessions);
        }
        if extent == Extent::Whole {
            self.whole_at = Some(listing.clock);
        }
        self.learn_captures(listing);
    }

    /// Takes in what was captured. A capture comes after the listing.
    pub(in crate::tmux) fn learn_captures(&mut self, listing: &Listing) {
        if listing.instance != self.instance || listing.captures.is_empty() {
            return;
        }
        let captured: HashMap<(PaneId, u32), &ListedPane> =
            listing.captures.iter().map(|capture| ((capture.pane.id, capture.pane.pid), &*capture.pane)).collect();
        for row in &mut self.rows {
            if let Some(captured) = captured.get(&(row.id, row.pid)).filter(|captured| !captured.is_screen_of(row)) {
                Arc::make_mut(row).take_screen_facts(captured);
            }
        }
    }
}

pub(super) fn row_id(pane: &ListedPane) -> RowId {
    (pane.id, pane.pid, pane.session_id, pane.place.window_index)
}

impl ListedPane {
    /// Whether the facts that belong to a screen are the same.
    fn is_screen_of(&self, row: &Self) -> bool {
        (self.activity, self.columns, self.rows) == (row.activity, row.columns, row.rows) && self.facts == row.facts
    }

    /// Takes over the facts that belong to a screen.
    fn take_screen_facts(&mut self, of: &Self) {
        (self.activity, self.columns, self.rows) = (of.activity, of.columns, of.rows);
        let command = std::mem::take(&mut self.facts.command);
        self.facts = PaneFacts { command, ..of.facts.clone() };
    }
}
