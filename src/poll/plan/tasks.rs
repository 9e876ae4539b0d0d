//! Which windows are tasks.
//!
//! Their panes are captured by the same rules as those of agents: one in which nothing happens costs a row of the listing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::ServerMemory;
use super::pane::{OtherSession, TaskSession};
use crate::config::PaneAddress;
use crate::fleet::{DeclaredBy, SessionView};
use crate::ids::{PaneId, SessionId, WindowId};
use crate::tmux::ListedPane;

impl ServerMemory {
    /// Whether a pane represents a window that is a task by configuration or by a mark.
    pub(super) fn is_task(&self, listed: &ListedPane) -> bool {
        if self.primaries.get(&listed.window_id) != Some(&listed.id) {
            return false;
        }
        let address = self.address(listed);
        let marked = listed.marks.run_at.is_some() || self.declared_by(listed).is_some();
        (marked || self.rules.is_task(address)) && !self.rules.is_ignored(address)
    }

    /// Chooses the pane that represents each window: its first one, as long as that exists.
    pub(super) fn choose_primaries(&mut self, rows: &[Arc<ListedPane>]) {
        let mut first: BTreeMap<u32, PaneId> = BTreeMap::new();
        for row in rows {
            let kept = self.primaries.get(&row.window_id) == Some(&row.id);
            if kept || !first.contains_key(&row.window_id) {
                first.insert(row.window_id, row.id);
            }
        }
        self.primaries = first;
    }

    /// Finds out which sessions of a listing are tasks: once for each, as the patterns of the configuration are dear.
    pub(super) fn choose_sessions(&mut self, rows: &[Arc<ListedPane>]) {
        let mut declared = BTreeMap::new();
        for row in rows {
            declared.entry(row.session_id).or_insert_with(|| self.declares(row));
        }
        self.sessions = declared;
    }

    /// The declared task sessions of a listing.
    pub(super) fn task_sessions(&self, rows: &[Arc<ListedPane>]) -> Vec<TaskSession> {
        let mut sessions: BTreeMap<u32, TaskSession> = BTreeMap::new();
        // A dashboard is no task, and its window goes with it.
        let is_own = |row: &ListedPane| self.panes.get(&(row.id, row.pid)).is_some_and(|pane| pane.own);
        for row in rows.iter().filter(|row| self.is_in_task_session(row)) {
            let session = sessions.entry(row.session_id).or_insert_with(|| TaskSession {
                id: SessionId(row.session_id),
                watchers: row.marks.watchers.clone(),
                fleeting: Vec::new(),
            });
            let window = WindowId(row.window_id);
            if !row.marks.remains && !is_own(row) && !session.fleeting.contains(&window) {
                session.fleeting.push(window);
            }
        }
        sessions.into_values().collect()
    }

    /// The other sessions of a listing in which fleetwatch has set something.
    pub(super) fn other_sessions(&self, rows: &[Arc<ListedPane>]) -> Vec<OtherSession> {
        let is_set = |row: &&Arc<ListedPane>| {
            !row.marks.watchers.is_empty() || row.marks.made_to_remain || row.marks.bells.is_some()
        };
        // Nothing is set in most sessions, and their names need not be matched.
        if rows.iter().all(|row| !is_set(&row)) {
            return Vec::new();
        }
        let declared: BTreeSet<u32> =
            rows.iter().filter(|row| self.is_in_task_session(row)).map(|row| row.window_id).collect();
        let mut sessions: BTreeMap<u32, OtherSession> = BTreeMap::new();
        // A window that is linked into a task session as well is one of that.
        for row in rows.iter().filter(is_set).filter(|row| !declared.contains(&row.window_id)) {
            let (id, watchers) = (SessionId(row.session_id), row.marks.watchers.clone());
            sessions.insert(row.session_id, OtherSession { id, watchers });
        }
        sessions.into_values().collect()
    }

    fn is_in_task_session(&self, row: &ListedPane) -> bool {
        self.declared_by(row).is_some() && !self.rules.is_ignored(self.address(row))
    }

    /// Why the windows of a pane's session are tasks, by the last listing.
    fn declared_by(&self, row: &ListedPane) -> Option<DeclaredBy> {
        self.sessions.get(&row.session_id).copied().flatten()
    }

    fn declares(&self, row: &ListedPane) -> Option<DeclaredBy> {
        if self.rules.is_task_session(self.address(row)) {
            Some(DeclaredBy::Configuration)
        } else if self.adopted.contains(&row.place.session) {
            Some(DeclaredBy::Operator)
        } else {
            row.marks.task_session.then_some(DeclaredBy::Run)
        }
    }

    /// Every session of a listing, in tmux's order.
    pub(super) fn known_sessions(&self, rows: &[Arc<ListedPane>]) -> Vec<SessionView> {
        let mut sessions: Vec<SessionView> = Vec::new();
        for row in rows {
            // The panes of a session stand together.
            if sessions.last().is_none_or(|last| last.name != row.place.session) {
                sessions.push(SessionView {
                    server: self.server.clone(),
                    name: row.place.session.clone(),
                    windows: row.place.session_windows,
                    declared_by: self.declared_by(row),
                });
            }
        }
        sessions
    }

    fn address<'a>(&'a self, listed: &'a ListedPane) -> PaneAddress<'a> {
        PaneAddress { server: &self.server, place: &listed.place, pane: listed.id }
    }
}
