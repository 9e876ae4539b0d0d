//! Decides what to look at: which panes are watched, which are captured, and when to look again. No clock but the
//! server's, no I/O.
//!
//! A pane is captured when something may have been printed since its last capture: `window_activity` or a fact of the
//! listing has changed, or the last capture was in the very second of the last activity, which has whole seconds
//! only. So an idle pane costs a row of the listing and nothing else.

mod own;
mod pace;
mod pane;
mod tasks;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

pub use own::Own;
pub use pace::Ticks;
pub(super) use pane::Suspect;
pub(super) use tasks::{OtherSession, TaskSession};

use crate::config::{Match, PaneAddress, Rules};
use crate::fleet::{Declared, DeclaredBy, PaneId, PaneReport, ServerId, SessionView, TerminalKey};
use crate::hash::fnv;
use crate::ids::ServerInstance;
use crate::profile::Program;
use crate::task;
use crate::tmux::{CapturedPane, Error, ListedPane, Listing};
use pace::Pace;
use pane::{CaptureNeed, Pane};
use tasks::Gathering;

/// What is remembered of one server.
#[derive(Debug)]
pub(super) struct ServerMemory {
    server: ServerId,
    pace: Pace,
    rules: Arc<Rules>,
    own: Own,
    server_pid: u32,
    instance: ServerInstance,
    panes: BTreeMap<(PaneId, u32), Pane>,
    /// The sessions that the operator chose to be tasks.
    adopted: BTreeSet<String>,
    /// The pane that stands for each window, by the window's number.
    primaries: BTreeMap<u32, PaneId>,
    /// The sessions of the last listing by their numbers, and who says that they are tasks.
    sessions: BTreeMap<u32, Option<DeclaredBy>>,
}

/// What the fleet is told of one look.
#[derive(Debug, Default)]
pub(super) struct PollReport {
    pub panes: Vec<PaneReport>,
    pub tasks: task::TaskPoll,
    /// The declared task sessions, for whoever counts their bells.
    pub sessions: Vec<TaskSession>,
    /// Every session, whatever runs in it.
    pub known: Vec<SessionView>,
    /// Other sessions in which something was set.
    pub others: Vec<OtherSession>,
    /// The server's process, when a task has ended and tmux does not say how.
    pub owes_exit_status: Option<u32>,
}

impl ServerMemory {
    pub(super) fn new(server: ServerId, ticks: Ticks, rules: Arc<Rules>, own: Own) -> Self {
        let host = server.host.is_some().then(|| fnv(server.word().as_bytes()));
        Self {
            server,
            pace: Pace::new(ticks, host),
            rules,
            own,
            server_pid: 0,
            instance: ServerInstance::default(),
            panes: BTreeMap::new(),
            adopted: BTreeSet::new(),
            primaries: BTreeMap::new(),
            sessions: BTreeMap::new(),
        }
    }

    /// These sessions are tasks by the operator's choice from now on, and no others.
    pub(super) fn adopt(&mut self, sessions: BTreeSet<String>) {
        self.adopted = sessions;
    }

    /// Panes that will most likely be captured in the next look: those that changed in the last one, and those whose
    /// last capture may have missed something.
    pub(super) fn likely(&self) -> Vec<PaneId> {
        let likely = self.panes.iter().filter(|(_, pane)| pane.is_watched() && pane.will_change());
        likely.map(|((id, _), _)| *id).collect()
    }

    /// Takes in a listing; returns the panes whose processes must be looked at to know what to do with them.
    pub(super) fn listed(&mut self, look: &Listing) -> Vec<Suspect> {
        if look.server_pid != self.server_pid || look.instance != self.instance {
            // Another server: its pane ids and even its process ids may be those of the last one.
            self.panes.clear();
            (self.server_pid, self.instance) = (look.server_pid, look.instance.clone());
        }
        let is_first = self.primaries.is_empty();
        self.choose_primaries(&look.panes);
        self.choose_sessions(&look.panes);
        let mut there = BTreeSet::new();
        let mut suspects = Vec::new();
        for listed in self.choose_rows(&look.panes) {
            let key = (listed.id, listed.pid);
            there.insert(key);
            let is_task = self.is_task(listed);
            let decided = self
                .panes
                .get(&key)
                .is_some_and(|pane| pane.place.as_ref() == Some(&listed.place) && pane.is_marked_task == is_task);
            let wanted = (!decided).then(|| self.wanted(listed));
            let pane = self.panes.entry(key).or_default();
            if let Some(wanted) = wanted {
                (pane.wanted, pane.place) = (wanted, Some(listed.place.clone()));
                pane.is_marked_task = is_task;
                let is_untold = listed.marks.run_at.is_some() && !listed.marks.told;
                pane.is_old |= is_first && !is_untold;
            }
            pane.own = self.own.is(&self.server, look.server_pid, listed);
            if pane.wanted != CaptureNeed::Never && pane.needs_identification(listed, look.clock) {
                suspects.push(pane.suspect(listed, look.clock));
            }
        }
        self.panes.retain(|key, _| there.contains(key));
        suspects
    }

    /// Takes in what runs in a suspect.
    pub(super) fn identified(&mut self, suspect: &Suspect, program: Program) {
        if let Some(pane) = self.panes.get_mut(&(suspect.pane, suspect.pid)) {
            pane.identified(suspect, program);
        }
    }

    /// Watched panes that may show something new and that this look has not captured.
    pub(super) fn due(&self, look: &Listing) -> Vec<PaneId> {
        let captured: BTreeSet<PaneId> = look.captures.iter().map(|capture| capture.pane.id).collect();
        let is_due = |listed: &&ListedPane| {
            self.panes.get(&(listed.id, listed.pid)).is_some_and(|pane| pane.is_watched() && pane.is_outdated(listed))
        };
        let due: BTreeSet<PaneId> = look.panes.iter().filter(is_due).map(|listed| listed.id).collect();
        due.difference(&captured).copied().collect()
    }

    /// Puts together what the fleet is told, from the look and from the captures that were fetched after it.
    pub(super) fn report(&mut self, look: Listing, more: Listing) -> PollReport {
        let (sessions, others) = (self.task_sessions(&look.panes), self.other_sessions(&look.panes));
        let known = self.known_sessions(&look.panes);
        let rows: Vec<_> = look.panes.iter().map(tasks::row).collect();
        let chosen: Vec<ListedPane> = self.choose_rows(&look.panes).into_iter().cloned().collect();
        let mut captures: BTreeMap<(PaneId, u32), (i64, CapturedPane)> = BTreeMap::new();
        // What another server showed in the second call is not of these panes.
        let more_captures = if more.instance == look.instance { more.captures } else { Vec::new() };
        for (clock, captured) in [(look.clock, look.captures), (more.clock, more_captures)] {
            captures
                .extend(captured.into_iter().map(|capture| ((capture.pane.id, capture.pane.pid), (clock, capture))));
        }
        let (mut panes, mut gathering) = (Vec::new(), Gathering::default());
        let mut changed = false;
        for listed in chosen {
            let key = (listed.id, listed.pid);
            let Some(pane) = self.panes.get_mut(&key).filter(|pane| pane.is_watched()) else { continue };
            let first = pane.is_new();
            let (facts, capture) = pane.take_capture(&listed, captures.remove(&key));
            changed |= pane.changing || first;
            let key = TerminalKey {
                server: self.server.clone(),
                pane: listed.id,
                pid: listed.pid,
                instance: self.instance.clone(),
            };
            if pane.is_task() {
                gathering.add(key, listed, pane, facts, &capture);
                continue;
            }
            panes.push(PaneReport {
                key,
                place: listed.place,
                cwd: listed.cwd,
                program: pane.program().unwrap_or_else(|| Program::Other { command: facts.command.clone() }),
                facts,
                capture,
                declared: pane.declared().cloned(),
                record: None,
            });
        }
        self.pace.looked(changed);
        let owes = self.panes.values().any(Pane::awaits_exit_status);
        let owes_exit_status = owes.then_some(self.server_pid);
        PollReport { panes, tasks: gathering.finish(&sessions, &rows), sessions, known, others, owes_exit_status }
    }

    /// Takes in that the server could not be looked at.
    pub(super) fn failed(&mut self, error: &Error) {
        self.pace.failed(error.is_no_server());
        // What was captured along with a failed look is lost.
        self.panes.values_mut().for_each(|pane| pane.changing = false);
    }

    /// Something will change soon.
    pub(super) fn hurry(&mut self) {
        self.pace.hurry();
    }

    /// How long to wait until the next look, when the last one took so long.
    pub(super) fn pause(&self, took: Duration) -> Duration {
        self.pace.pause(took)
    }

    /// One row for each pane: a pane that is linked into several sessions is taken where a rule names it or makes it a
    /// task, else at the first place.
    fn choose_rows<'a>(&self, rows: &'a [ListedPane]) -> Vec<&'a ListedPane> {
        let mut chosen: Vec<&ListedPane> = Vec::new();
        let mut index: BTreeMap<PaneId, usize> = BTreeMap::new();
        for row in rows {
            match index.get(&row.id) {
                None => {
                    index.insert(row.id, chosen.len());
                    chosen.push(row);
                }
                Some(&at) => {
                    if !self.is_named(chosen[at]) && self.is_named(row) {
                        chosen[at] = row;
                    }
                }
            }
        }
        chosen
    }

    fn is_named(&self, listed: &ListedPane) -> bool {
        matches!(self.rule(listed), Match::Named(_)) || self.is_task(listed)
    }

    fn rule(&self, listed: &ListedPane) -> Match {
        self.rules.of_pane(PaneAddress { server: &self.server, place: &listed.place, pane: listed.id })
    }

    fn wanted(&self, listed: &ListedPane) -> CaptureNeed {
        match self.rule(listed) {
            Match::Named(declared) => CaptureNeed::Always(declared),
            Match::Discovered(declared) if self.is_task(listed) => CaptureNeed::Task(declared),
            Match::Ignored if self.is_task(listed) => CaptureNeed::Task(Declared::default()),
            Match::Ignored => CaptureNeed::Never,
            Match::Discovered(declared) => CaptureNeed::WithAgent(declared),
        }
    }
}

#[cfg(test)]
mod tests;
