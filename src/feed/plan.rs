//! Decides what to look at: which panes are watched, which are captured, and when to look again. No clock but the
//! server's, no I/O.
//!
//! A pane is captured when something may have been printed since its last capture: `window_activity` or a fact of the
//! listing has changed, or the last capture was in the very second of the last activity, which has whole seconds
//! only. So an idle pane costs a row of the listing and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crate::config::{Match, PaneAddress, Rules};
use crate::fleet::{Capture, Declared, PaneId, PaneReport, Place, ServerId, TerminalKey};
use crate::profile::Program;
use crate::screen::{PaneFacts, Screen};
use crate::state::Problem;
use crate::tmux::{CapturedPane, Error, ListedPane, Look};

/// The lengths of time between two looks at a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticks {
    pub usual: Duration,
    /// While something changes.
    pub shortest: Duration,
    /// While nothing changes, or no server is there.
    pub longest: Duration,
}

impl Default for Ticks {
    fn default() -> Self {
        Self {
            usual: Duration::from_millis(500),
            shortest: Duration::from_millis(250),
            longest: Duration::from_millis(1000),
        }
    }
}

/// The pane that fleetwatch itself runs in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Own {
    /// The server's process id and the pane, from `TMUX` and `TMUX_PANE`.
    pane: Option<(u32, PaneId)>,
    /// The process ids of this process and of those above it.
    processes: BTreeSet<u32>,
}

impl Own {
    /// From the environment variables and the ancestors of this process.
    pub fn new(tmux: Option<String>, tmux_pane: Option<String>, processes: BTreeSet<u32>) -> Self {
        // TMUX is `socket path,server pid,session`; the path may hold commas.
        let server = tmux.as_deref().and_then(|text| text.rsplit(',').nth(1)).and_then(|pid| pid.parse().ok());
        let pane = tmux_pane.as_deref().and_then(|id| id.strip_prefix('%')).and_then(|id| id.parse().ok());
        Self { pane: server.zip(pane.map(PaneId)), processes }
    }

    fn is(&self, server: &ServerId, server_pid: u32, pane: &ListedPane) -> bool {
        // The same numbers on a host are other panes and processes.
        server.host.is_none()
            && (self.pane == Some((server_pid, pane.id)) || (!pane.facts.dead && self.processes.contains(&pane.pid)))
    }
}

/// A pane whose processes are to be looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Suspect {
    pane: PaneId,
    pub(super) pid: u32,
    /// `pane_current_command`.
    pub(super) command: String,
    /// The tool that the configuration gives.
    pub(super) tool: Option<String>,
    /// The server's clock and the pane's activity at the listing.
    at: i64,
    activity: i64,
}

/// Seconds of the server's clock after which the processes of a pane are looked at again when something was printed
/// in it: a program that starts behind an unchanged command shows itself.
const IDENTIFY_ACTIVE: i64 = 2;
/// The same for a pane in which nothing was printed since the last time.
const IDENTIFY_IDLE: i64 = 60;

/// Looks without a change until the tick grows from the shortest to the usual, and from there to the longest.
const QUIET_LOOKS: (u32, u32) = (8, 12);

/// The longest pause after failures, in ticks of the longest kind: a host costs a connection each time.
const BACK_OFF_HERE: u32 = 2;
const BACK_OFF_HOST: u32 = 8;

/// What is remembered of one server.
#[derive(Debug)]
pub(super) struct Memory {
    server: ServerId,
    ticks: Ticks,
    rules: Arc<Rules>,
    own: Own,
    server_pid: u32,
    panes: BTreeMap<(PaneId, u32), Pane>,
    /// Looks since something changed.
    quiet: u32,
    /// Failures in a row.
    failures: u32,
    /// Whether the last failure says that there is no server.
    no_server: bool,
}

/// What is remembered of one pane.
#[derive(Debug, Default)]
struct Pane {
    wanted: Wanted,
    /// Where it stood when that was decided.
    place: Option<Place>,
    /// Whether fleetwatch itself runs in it.
    own: bool,
    program: Option<Identified>,
    /// Whether a known agent has ever been seen in it: it stays watched when the agent is gone.
    had_agent: bool,
    captured: Option<Captured>,
    /// Whether the last capture showed something new.
    changing: bool,
    life: Life,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Wanted {
    #[default]
    Never,
    WithAgent,
    Always(Declared),
}

/// tmux calls a pane dead a moment before it knows how the process ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Life {
    #[default]
    Unseen,
    Alive,
    /// Dead in the last look, and its exit status was awaited.
    Ending,
}

#[derive(Debug)]
struct Identified {
    program: Program,
    /// `pane_current_command` at that time.
    command: String,
    /// The server's clock and the pane's activity at that time.
    at: i64,
    activity: i64,
}

#[derive(Debug)]
struct Captured {
    /// The server's clock when it was captured.
    at: i64,
    activity: i64,
    facts: PaneFacts,
    size: (u16, u16),
    screen: Arc<Screen>,
}

impl Memory {
    pub(super) fn new(server: ServerId, ticks: Ticks, rules: Arc<Rules>, own: Own) -> Self {
        let panes = BTreeMap::new();
        Self { server, ticks, rules, own, server_pid: 0, panes, quiet: 0, failures: 0, no_server: false }
    }

    /// Panes that will most likely be captured in the next look: those that changed in the last one, and those whose
    /// last capture may have missed something.
    pub(super) fn likely(&self) -> Vec<PaneId> {
        let is_likely = |pane: &Pane| pane.changing || pane.captured.as_ref().is_some_and(Captured::may_have_missed);
        self.panes.iter().filter(|(_, pane)| pane.is_watched() && is_likely(pane)).map(|((id, _), _)| *id).collect()
    }

    /// Takes in a listing; returns the panes whose processes must be looked at to know what to do with them.
    pub(super) fn listed(&mut self, look: &Look) -> Vec<Suspect> {
        if look.server_pid != self.server_pid {
            // Another server: its pane ids and even its process ids may be those of the last one.
            self.panes.clear();
            self.server_pid = look.server_pid;
        }
        let mut there = BTreeSet::new();
        let mut suspects = Vec::new();
        for listed in self.choose_rows(&look.panes) {
            let key = (listed.id, listed.pid);
            there.insert(key);
            let decided = self.panes.get(&key).is_some_and(|pane| pane.place.as_ref() == Some(&listed.place));
            let wanted = (!decided).then(|| self.wanted(listed));
            let pane = self.panes.entry(key).or_default();
            if let Some(wanted) = wanted {
                (pane.wanted, pane.place) = (wanted, Some(listed.place.clone()));
            }
            pane.own = self.own.is(&self.server, look.server_pid, listed);
            if pane.wanted != Wanted::Never && pane.needs_identification(listed, look.clock) {
                suspects.push(pane.suspect(listed, look.clock));
            }
        }
        self.panes.retain(|key, _| there.contains(key));
        suspects
    }

    /// Takes in what runs in a suspect.
    pub(super) fn identified(&mut self, suspect: &Suspect, program: Program) {
        let Some(pane) = self.panes.get_mut(&(suspect.pane, suspect.pid)) else { return };
        pane.had_agent |= matches!(program, Program::Agent { .. });
        let Suspect { at, activity, .. } = *suspect;
        pane.program = Some(Identified { program, command: suspect.command.clone(), at, activity });
    }

    /// Watched panes that may show something new and that this look has not captured.
    pub(super) fn due(&self, look: &Look) -> Vec<PaneId> {
        let captured: BTreeSet<PaneId> = look.captures.iter().map(|capture| capture.pane.id).collect();
        let is_due = |listed: &&ListedPane| {
            self.panes.get(&(listed.id, listed.pid)).is_some_and(|pane| pane.is_watched() && pane.is_outdated(listed))
        };
        let due: BTreeSet<PaneId> = look.panes.iter().filter(is_due).map(|listed| listed.id).collect();
        due.difference(&captured).copied().collect()
    }

    /// Puts together what the fleet is told, from the look and from the captures that were fetched after it.
    pub(super) fn report(&mut self, look: Look, more: Look) -> Vec<PaneReport> {
        (self.failures, self.no_server) = (0, false);
        let chosen: Vec<ListedPane> = self.choose_rows(&look.panes).into_iter().cloned().collect();
        let mut captures: BTreeMap<(PaneId, u32), (i64, CapturedPane)> = BTreeMap::new();
        for (clock, captured) in [(look.clock, look.captures), (more.clock, more.captures)] {
            captures
                .extend(captured.into_iter().map(|capture| ((capture.pane.id, capture.pane.pid), (clock, capture))));
        }
        let mut reports = Vec::new();
        let mut changed = false;
        for listed in chosen {
            let key = (listed.id, listed.pid);
            let Some(pane) = self.panes.get_mut(&key).filter(|pane| pane.is_watched()) else { continue };
            let first = pane.captured.is_none();
            let (mut facts, capture) = pane.take_capture(&listed, captures.remove(&key));
            pane.await_exit_status(&mut facts);
            changed |= pane.changing || first;
            let program = pane.program.as_ref().map(|identified| identified.program.clone());
            reports.push(PaneReport {
                key: TerminalKey { server: self.server.clone(), pane: listed.id, pid: listed.pid },
                place: listed.place,
                cwd: listed.cwd,
                program: program.unwrap_or_else(|| Program::Other { command: facts.command.clone() }),
                facts,
                capture,
                declared: match &pane.wanted {
                    Wanted::Always(declared) => Some(declared.clone()),
                    Wanted::Never | Wanted::WithAgent => None,
                },
            });
        }
        self.quiet = if changed { 0 } else { self.quiet.saturating_add(1) };
        reports
    }

    /// Takes in that the server could not be looked at.
    pub(super) fn failed(&mut self, error: &Error) {
        self.failures = self.failures.saturating_add(1);
        self.no_server = error.is_no_server();
        // What was captured along with a failed look is lost.
        self.panes.values_mut().for_each(|pane| pane.changing = false);
    }

    /// Something will change soon.
    pub(super) fn hurry(&mut self) {
        (self.quiet, self.failures) = (0, 0);
    }

    /// How long to wait until the next look.
    pub(super) fn pause(&self) -> Duration {
        if self.no_server {
            return self.ticks.longest;
        }
        if self.failures > 0 {
            let most = if self.server.host.is_none() { BACK_OFF_HERE } else { BACK_OFF_HOST };
            return self.ticks.longest * (1 << (self.failures - 1).min(3)).min(most);
        }
        match self.quiet {
            quiet if quiet < QUIET_LOOKS.0 => self.ticks.shortest,
            quiet if quiet < QUIET_LOOKS.0 + QUIET_LOOKS.1 => self.ticks.usual,
            _ => self.ticks.longest,
        }
    }

    /// One row for each pane: a pane that is linked into several sessions is taken where a rule names it, else at the
    /// first place.
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
                    if !matches!(self.rule(chosen[at]), Match::Named(_)) && matches!(self.rule(row), Match::Named(_)) {
                        chosen[at] = row;
                    }
                }
            }
        }
        chosen
    }

    fn rule(&self, listed: &ListedPane) -> Match {
        self.rules.of_pane(PaneAddress { server: &self.server, place: &listed.place, pane: listed.id })
    }

    fn wanted(&self, listed: &ListedPane) -> Wanted {
        match self.rule(listed) {
            Match::Ignored => Wanted::Never,
            Match::Named(declared) => Wanted::Always(declared),
            Match::Discovered => Wanted::WithAgent,
        }
    }
}

impl Pane {
    fn is_watched(&self) -> bool {
        // An agent that runs fleetwatch as one of its tools does not turn its own terminal into fleetwatch's.
        let has_agent = self.program.as_ref().is_some_and(|known| matches!(known.program, Program::Agent { .. }));
        if self.own && !has_agent {
            return false;
        }
        match self.wanted {
            Wanted::Never => false,
            Wanted::WithAgent => self.had_agent,
            Wanted::Always(_) => true,
        }
    }

    fn suspect(&self, listed: &ListedPane, clock: i64) -> Suspect {
        let tool = match &self.wanted {
            Wanted::Always(declared) => declared.tool.clone(),
            Wanted::Never | Wanted::WithAgent => None,
        };
        let command = listed.facts.command.clone();
        Suspect { pane: listed.id, pid: listed.pid, command, tool, at: clock, activity: listed.activity }
    }

    fn needs_identification(&self, listed: &ListedPane, clock: i64) -> bool {
        let Some(known) = &self.program else { return true };
        let age = clock.saturating_sub(known.at);
        let idle = listed.activity == known.activity && known.at > known.activity;
        let limit = if idle { IDENTIFY_IDLE } else { IDENTIFY_ACTIVE };
        // A clock that was set back says nothing of the age.
        known.command != listed.facts.command || age >= limit || age < 0 || matches!(known.program, Program::Unknown(_))
    }

    fn is_outdated(&self, listed: &ListedPane) -> bool {
        let Some(captured) = &self.captured else { return true };
        captured.activity != listed.activity
            || captured.may_have_missed()
            || captured.facts != listed.facts
            || captured.size != (listed.columns, listed.rows)
    }

    /// Takes in a capture, if there is one; returns the facts and the capture for the report.
    fn take_capture(&mut self, listed: &ListedPane, capture: Option<(i64, CapturedPane)>) -> (PaneFacts, Capture) {
        self.changing = false;
        let Some((at, CapturedPane { pane, screen })) = capture else {
            let failed = self.is_outdated(listed);
            let capture =
                if failed { failure("no_capture", "the pane could not be captured") } else { Capture::Unchanged };
            return (listed.facts.clone(), capture);
        };
        let Some(screen) = screen else {
            return (pane.facts, failure("empty_capture", "tmux printed no screen for the pane"));
        };
        let before = self.captured.take();
        let same = before.as_ref().is_some_and(|before| *before.screen == screen);
        self.changing = before.as_ref().is_some_and(|before| !same || before.facts != pane.facts);
        let screen = match before {
            Some(before) if same => before.screen,
            _ => Arc::new(screen),
        };
        let report = if same { Capture::Unchanged } else { Capture::Fresh(Arc::clone(&screen)) };
        let facts = pane.facts;
        let size = (pane.columns, pane.rows);
        self.captured = Some(Captured { at, activity: pane.activity, facts: facts.clone(), size, screen });
        (facts, report)
    }
}

impl Pane {
    /// Lets a pane live for one look longer when it has died and its exit status is not known yet.
    fn await_exit_status(&mut self, facts: &mut PaneFacts) {
        if !facts.dead {
            self.life = Life::Alive;
        } else if self.life == Life::Alive && facts.exit_status.is_none() {
            self.life = Life::Ending;
            facts.dead = false;
        }
    }
}

impl Captured {
    /// Whether something may have been printed in the second of the capture, after it.
    fn may_have_missed(&self) -> bool {
        self.at <= self.activity
    }
}

fn failure(kind: &str, message: &str) -> Capture {
    Capture::Failed(Problem { kind: kind.to_owned(), message: message.to_owned() })
}

#[cfg(test)]
mod tests;
