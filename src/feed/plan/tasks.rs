//! Which windows are tasks, and what a look shows of them.
//!
//! Their panes are captured by the same rules as those of agents: one in which nothing happens costs a row of the listing.

use std::collections::{BTreeMap, BTreeSet};

use super::Memory;
use super::pane::Pane;
use crate::config::PaneAddress;
use crate::fleet::Capture;
use crate::moment::Moment;
use crate::place::{PaneId, SessionId, TerminalKey, WindowId};
use crate::screen::PaneFacts;
use crate::task::{self, PaneState, Registration, SessionSnapshot, TaskSnapshot};
use crate::tmux::ListedPane;

/// A declared task session as the last look showed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::feed) struct TaskSession {
    pub id: SessionId,
    /// The processes that want its bells counted.
    pub watchers: Vec<String>,
    /// Windows that would be gone with the end of their programs.
    pub fleeting: Vec<WindowId>,
}

impl Memory {
    /// Whether a pane stands for a window that is a task by configuration or by a mark on it.
    pub(super) fn is_task(&self, listed: &ListedPane) -> bool {
        if self.primaries.get(&listed.window_id) != Some(&listed.id) {
            return false;
        }
        let address = self.address(listed);
        (listed.marks.task_session || listed.marks.run_at.is_some() || self.rules.is_task(address))
            && !self.rules.is_ignored(address)
    }

    /// Chooses the pane that stands for each window: its first one, for as long as that is there.
    pub(super) fn choose_primaries(&mut self, rows: &[ListedPane]) {
        let mut first: BTreeMap<u32, PaneId> = BTreeMap::new();
        for row in rows {
            let kept = self.primaries.get(&row.window_id) == Some(&row.id);
            if kept || !first.contains_key(&row.window_id) {
                first.insert(row.window_id, row.id);
            }
        }
        self.primaries = first;
    }

    /// The declared task sessions of a listing.
    pub(super) fn task_sessions(&self, rows: &[ListedPane]) -> Vec<TaskSession> {
        let mut sessions: BTreeMap<u32, TaskSession> = BTreeMap::new();
        for row in rows {
            let address = self.address(row);
            let is_declared = row.marks.task_session || self.rules.is_task_session(address);
            if !is_declared || self.rules.is_ignored(address) {
                continue;
            }
            let session = sessions.entry(row.session_id).or_insert_with(|| TaskSession {
                id: SessionId(row.session_id),
                watchers: row.marks.watchers.clone(),
                fleeting: Vec::new(),
            });
            let window = WindowId(row.window_id);
            if !row.marks.remains && !session.fleeting.contains(&window) {
                session.fleeting.push(window);
            }
        }
        sessions.into_values().collect()
    }

    fn address<'a>(&'a self, listed: &'a ListedPane) -> PaneAddress<'a> {
        PaneAddress { server: &self.server, place: &listed.place, pane: listed.id }
    }
}

/// Where a window is, and what its session is called.
pub(super) type Row = (SessionId, WindowId, String);

/// Where the window of a listed pane is.
pub(super) fn row(listed: &ListedPane) -> Row {
    (SessionId(listed.session_id), WindowId(listed.window_id), listed.place.session.clone())
}

/// The tasks of one look, put together pane by pane.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    sessions: BTreeMap<SessionId, SessionSnapshot>,
    windows: BTreeSet<WindowId>,
}

impl Gathering {
    pub(super) fn add(
        &mut self,
        key: TerminalKey,
        listed: &ListedPane,
        pane: &mut Pane,
        facts: &PaneFacts,
        capture: &Capture,
    ) {
        let known = !matches!(capture, Capture::Failed(_));
        let window = WindowId(listed.window_id);
        let marks = &listed.marks;
        let counter = (!marks.watchers.is_empty()).then(|| marks.bells.unwrap_or(0));
        let Some((bell, bells)) = pane.take_bells(facts.bell, counter) else { return };
        self.windows.insert(window);
        let state = pane.preview().filter(|_| known).map(|preview| PaneState {
            command: facts.command.clone(),
            start_command: listed.start_command.clone(),
            cwd: listed.cwd.clone(),
            dead: facts.dead,
            exit_code: facts.exit_status,
            alternate: facts.alternate,
            preview,
        });
        let registration = match marks.run_at.map(Moment::from_millis) {
            None => Registration::None,
            Some(at) if marks.told => Registration::Told(at),
            Some(at) => Registration::Started(at),
        };
        let snapshot = TaskSnapshot {
            window,
            name: listed.place.window_name.clone(),
            index: listed.place.window_index,
            key,
            pane: state,
            bell,
            bells,
            registration,
        };
        let id = SessionId(listed.session_id);
        let session = self.sessions.entry(id).or_insert_with(|| SessionSnapshot {
            id,
            name: listed.place.session.clone(),
            windows: Vec::new(),
        });
        session.windows.push(snapshot);
    }

    /// The look as a whole: sessions without a window of interest are there too, so that their next window is new.
    pub(super) fn finish(mut self, sessions: &[TaskSession], rows: &[Row]) -> task::Look {
        for session in sessions {
            let name = rows.iter().find(|(id, ..)| *id == session.id).map(|(.., name)| name.clone());
            self.sessions.entry(session.id).or_insert_with(|| SessionSnapshot {
                id: session.id,
                name: name.unwrap_or_default(),
                windows: Vec::new(),
            });
        }
        let elsewhere = rows.iter().map(|(_, window, _)| *window).filter(|window| !self.windows.contains(window));
        task::Look { elsewhere: elsewhere.collect(), sessions: self.sessions.into_values().collect() }
    }
}
