//! Decides what to poll: which panes are watched, which are captured, and when to poll again. No clock but the
//! server's, no I/O.
//!
//! A pane is captured when something may have been printed since its last capture: `window_activity` or a fact of the
//! listing has changed, or the last capture was in the very second of the last activity, which has whole seconds
//! only. So an idle pane costs a row of the listing and nothing else.

mod pane;
mod tasks;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crate::config::{Match, PaneAddress, Rules, Ticks};
use crate::fleet::{Capture, Declared, DeclaredBy, PaneId, PaneReport, Replaced, ServerId, SessionView, TerminalKey};
use crate::hash::{Fnv, fnv};
use crate::ids::ServerInstance;
use crate::profile::{ProfileSet, Program};
use crate::task;
use crate::time::Timestamp;
use crate::tmux::{CapturedPane, Error, ListedPane, Listing};

pub(super) use pane::Suspect;
use pane::{CaptureNeed, Gathering, PaneMemory};
pub(super) use pane::{OtherSession, TaskSession};

/// One server, as remembered between polls.
#[derive(Debug)]
pub(super) struct ServerMemory {
    server: ServerId,
    pace: Pace,
    rules: Arc<Rules>,
    own: Own,
    /// By which an agent is known that runs behind another program.
    profiles: Arc<ProfileSet>,
    /// The process of the server that was listed last; 0 before the first.
    pub(super) server_pid: u32,
    instance: ServerInstance,
    panes: BTreeMap<(PaneId, u32), PaneMemory>,
    /// The sessions that the operator chose to be tasks.
    pub(super) adopted: BTreeSet<String>,
    /// The pane that stands for each window, by the window's number.
    primaries: BTreeMap<u32, PaneId>,
    /// The sessions of the last listing by their numbers, and who says that they are tasks.
    sessions: BTreeMap<u32, Option<DeclaredBy>>,
    /// Agents' panes left to later polls; the awaited ones come first.
    awaited: BTreeSet<PaneId>,
    urgent: BTreeSet<PaneId>,
    /// What was replaced since the last report.
    replaced: Replaced,
}

/// The most screens of new panes that one repeated poll captures: a thousand would keep tmux busy for half a second, and
/// delay what the others show.
const AT_ONCE: usize = 64;

/// What the fleet gets from one poll.
#[derive(Debug, Default)]
pub(super) struct PollReport {
    pub panes: Vec<PaneReport>,
    pub replaced: Replaced,
    pub tasks: task::TaskPoll,
    /// The declared task sessions, whose bells are counted.
    pub sessions: Vec<TaskSession>,
    /// Every session, whatever runs in it.
    pub known: Vec<SessionView>,
    /// Other sessions in which something was set.
    pub others: Vec<OtherSession>,
    /// The server's process, when a task has ended and tmux does not say how.
    pub owes_exit_status: Option<u32>,
}

impl ServerMemory {
    pub(super) fn new(server: ServerId, ticks: Ticks, rules: Arc<Rules>, own: Own, profiles: Arc<ProfileSet>) -> Self {
        let host = server.host.is_some().then(|| fnv(server.word().as_bytes()));
        Self {
            server,
            pace: Pace::new(ticks, host),
            rules,
            own,
            profiles,
            server_pid: 0,
            instance: ServerInstance::default(),
            panes: BTreeMap::new(),
            adopted: BTreeSet::new(),
            primaries: BTreeMap::new(),
            sessions: BTreeMap::new(),
            awaited: BTreeSet::new(),
            urgent: BTreeSet::new(),
            replaced: Replaced::default(),
        }
    }

    /// Panes that will most likely be captured in the next poll: those that changed in the last one, and those whose
    /// last capture may have missed something.
    pub(super) fn likely(&self) -> Vec<PaneId> {
        let likely = self.panes.iter().filter(|(_, pane)| pane.is_looked_at() && pane.will_change());
        likely.map(|((id, _), _)| *id).collect()
    }

    /// Takes in a listing; returns the panes whose processes must be listed before it is known what to do with them.
    pub(super) fn listed(&mut self, poll: &Listing) -> Vec<Suspect> {
        if poll.server_pid != self.server_pid || poll.instance != self.instance {
            // Another server: its pane ids and even its process ids may be those of the last one.
            self.replaced.is_server |= self.server_pid != 0;
            self.panes.clear();
            self.urgent.clear();
            (self.server_pid, self.instance) = (poll.server_pid, poll.instance.clone());
        }
        let is_first = self.primaries.is_empty();
        self.choose_primaries(&poll.panes);
        self.choose_sessions(&poll.panes);
        let mut there = BTreeSet::new();
        let mut suspects = Vec::new();
        for listed in self.choose_rows(&poll.panes) {
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
                let is_unreported = listed.marks.run_at.is_some() && !listed.marks.is_reported;
                pane.is_old |= is_first && !is_unreported;
            }
            pane.own = self.own.is(&self.server, poll.server_pid, listed);
            if pane.wanted != CaptureNeed::Never && pane.needs_identification(listed, poll.clock) {
                suspects.push(pane.suspect(listed, poll.clock));
            }
        }
        let replaced = &mut self.replaced.panes;
        self.panes.retain(|key, _| {
            let stays = there.contains(key);
            if !stays && poll.panes.iter().any(|listed| listed.id == key.0) {
                replaced.insert(key.0);
            }
            stays
        });
        suspects
    }

    /// Records what runs in a suspect.
    pub(super) fn identified(&mut self, suspect: &Suspect, program: Program) {
        let may_hide_agent = self.profiles.may_hide_agent(&suspect.command);
        if let Some(pane) = self.panes.get_mut(&(suspect.pane, suspect.pid)) {
            pane.identified(suspect, program, may_hide_agent);
        }
    }

    /// The agent that was known by the screen of a suspect, behind its wrapper.
    pub(super) fn read_through(&self, suspect: &Suspect) -> Option<Program> {
        let program = self.panes.get(&(suspect.pane, suspect.pid))?.program()?;
        matches!(program, Program::Agent { through: Some(_), .. }).then_some(program)
    }

    /// Records that a suspect still runs the same agent.
    pub(super) fn confirmed(&mut self, suspect: &Suspect) {
        if let Some(pane) = self.panes.get_mut(&(suspect.pane, suspect.pid)) {
            pane.confirmed(suspect);
        }
    }

    /// Captures these panes before the others.
    pub(super) fn hurry_for(&mut self, panes: impl IntoIterator<Item = PaneId>) {
        self.urgent.extend(panes);
    }

    /// In these an agent has ended that was watched: they stay watched until they are gone.
    pub(super) fn had_agents<'a>(&mut self, keys: impl IntoIterator<Item = &'a TerminalKey>) {
        for key in keys {
            if let Some(pane) = self.panes.get_mut(&(key.pane, key.pid)) {
                pane.had_agent();
                self.pace.hurry();
            }
        }
    }

    /// Leaves new panes to later polls if there are many: the first poll lists them and captures none.
    pub(super) fn put_off(&mut self, poll: &Listing) {
        let is_new = |listed: &&Arc<ListedPane>| {
            let pane = self.panes.get(&(listed.id, listed.pid));
            pane.is_some_and(|pane| pane.is_new() && !pane.is_asked && pane.is_watched() && !pane.is_task())
        };
        let new = poll.panes.iter().filter(is_new).map(|listed| (listed.id, listed.pid));
        let mut new: Vec<(PaneId, u32)> = new.collect();
        new.sort_by_key(|(id, _)| !self.urgent.contains(id));
        let count = if self.awaited.is_empty() && new.len() > AT_ONCE { 0 } else { AT_ONCE.min(new.len()) };
        self.awaited = new.split_off(count).into_iter().map(|(id, _)| id).collect();
        for key in new {
            self.panes.entry(key).and_modify(|pane| pane.is_asked = true);
        }
    }

    /// Leaves these panes to captures of their own.
    pub(super) fn await_screens(&mut self, panes: &[PaneId]) {
        self.awaited = panes.iter().copied().collect();
    }

    /// Records that some of them have been captured, or are gone.
    pub(super) fn await_no_more(&mut self, panes: &BTreeSet<PaneId>) {
        self.awaited.retain(|pane| !panes.contains(pane));
    }

    /// Whether one of these panes is reported as a task.
    pub(super) fn has_task_among(&self, panes: &[PaneId]) -> bool {
        let tasks: BTreeSet<PaneId> =
            self.panes.iter().filter(|(_, pane)| pane.is_task()).map(|((id, _), _)| *id).collect();
        panes.iter().any(|pane| tasks.contains(pane))
    }

    /// Watched panes that may show something new and were not captured in this poll.
    pub(super) fn due(&self, poll: &Listing) -> Vec<PaneId> {
        let captured: BTreeSet<PaneId> = poll.captures.iter().map(|capture| capture.pane.id).collect();
        let is_due = |listed: &&Arc<ListedPane>| {
            self.panes.get(&(listed.id, listed.pid)).is_some_and(|pane| pane.is_looked_at() && pane.is_outdated(listed))
        };
        let due: BTreeSet<PaneId> = poll.panes.iter().filter(is_due).map(|listed| listed.id).collect();
        due.difference(&captured).filter(|id| !self.awaited.contains(id)).copied().collect()
    }

    /// Combines the listing and the captures fetched after it into the report.
    pub(super) fn report(&mut self, poll: Listing, more: Listing, at: Timestamp) -> PollReport {
        let (sessions, others) = (self.task_sessions(&poll.panes), self.other_sessions(&poll.panes));
        let known = self.known_sessions(&poll.panes);
        let chosen: Vec<Arc<ListedPane>> = self.choose_rows(&poll.panes).into_iter().cloned().collect();
        let mut captures: BTreeMap<(PaneId, u32), (i64, CapturedPane)> = BTreeMap::new();
        for (clock, captured) in [(poll.clock, poll.captures), (more.clock, more.captures)] {
            captures
                .extend(captured.into_iter().map(|capture| ((capture.pane.id, capture.pane.pid), (clock, capture))));
        }
        let (mut panes, mut gathering) = (Vec::new(), Gathering::default());
        let mut changed = false;
        for listed in chosen {
            let key = (listed.id, listed.pid);
            let Some(pane) = self.panes.get_mut(&key).filter(|pane| pane.is_looked_at()) else { continue };
            let first = pane.is_new();
            let (facts, capture) = match self.awaited.contains(&listed.id) {
                true => (listed.facts.clone(), Capture::Awaited),
                false => pane.take_capture(&listed, captures.remove(&key)),
            };
            if let Capture::Fresh(screen) = &capture {
                pane.look_through(|| self.profiles.drawn_by(screen, &facts));
            }
            if !pane.is_watched() {
                continue;
            }
            changed |= pane.changing || first;
            let printed_until = Some(pane.printed_until(&listed, poll.clock, at));
            let key = TerminalKey {
                server: self.server.clone(),
                pane: listed.id,
                pid: listed.pid,
                instance: self.instance.clone(),
            };
            if pane.is_task() {
                // In whole seconds of the server's clock, which on a host is another one.
                let ahead = if self.server.host.is_some() { at.as_millis().div_euclid(1000) - poll.clock } else { 0 };
                let ended = listed.died.map(|died| Timestamp::from_millis((died + ahead) * 1000));
                gathering.add(key, &listed, pane, facts, &capture, ended);
                continue;
            }
            panes.push(PaneReport {
                key,
                place: listed.place.clone(),
                cwd: listed.cwd.clone(),
                program: pane.program().unwrap_or_else(|| Program::Other { command: facts.command.clone() }),
                facts,
                capture,
                declared: pane.declared().cloned(),
                record: None,
                git: None,
                agent_process: None,
                printed_until,
            });
        }
        self.pace.polled(changed);
        let owes = self.panes.values().any(PaneMemory::owes_exit_status);
        let owes_exit_status = owes.then_some(self.server_pid);
        let (replaced, tasks) = (std::mem::take(&mut self.replaced), gathering.finish(&sessions, &poll.panes));
        PollReport { panes, replaced, tasks, sessions, known, others, owes_exit_status }
    }

    /// Records a failed poll.
    pub(super) fn failed(&mut self, error: &Error) {
        self.pace.failed(error.is_no_server());
        // What was captured along with a failed poll is lost.
        self.panes.values_mut().for_each(|pane| pane.changing = false);
        self.awaited.clear();
    }

    /// Something will change soon.
    pub(super) fn hurry(&mut self) {
        self.pace.hurry();
    }

    /// How long to wait for the next poll after one that took this long.
    pub(super) fn pause(&self, took: Duration) -> Duration {
        if self.awaited.is_empty() { self.pace.pause(took) } else { Duration::ZERO }
    }

    /// Chooses one row for each pane: where a rule names it or makes it a task, else where its window is at home.
    fn choose_rows<'a>(&self, rows: &'a [Arc<ListedPane>]) -> Vec<&'a Arc<ListedPane>> {
        let mut chosen: Vec<&Arc<ListedPane>> = Vec::new();
        let mut index: BTreeMap<PaneId, usize> = BTreeMap::new();
        for row in rows {
            match index.get(&row.id) {
                None => {
                    index.insert(row.id, chosen.len());
                    chosen.push(row);
                }
                Some(&at) => {
                    let rank = |row: &ListedPane| (self.is_named(row), row.at_home);
                    if rank(row) > rank(chosen[at]) {
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

/// The pane that fleetwatch itself runs in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Own {
    /// The server's process id and the pane, from `TMUX` and `TMUX_PANE`.
    pane: Option<(u32, PaneId)>,
    /// The process ids of this process and of those above it.
    processes: BTreeSet<u32>,
}

/// tmux's name for the program in a pane that runs a dashboard.
const PROGRAM: &str = env!("CARGO_PKG_NAME");

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
        let is_a_dashboard =
            pane.facts.command == PROGRAM || pane.start_command.as_deref().is_some_and(runs_only_a_dashboard);
        let is_here = server.host.is_none()
            && (self.pane == Some((server_pid, pane.id)) || (!pane.facts.dead && self.processes.contains(&pane.pid)));
        is_a_dashboard || is_here
    }
}

/// Whether a pane was opened for a dashboard that a shell started, whose name tmux has then. Of a line with further
/// commands nobody knows which one runs.
fn runs_only_a_dashboard(start_command: &str) -> bool {
    const SHELLS: [&str; 8] = ["sh", "dash", "bash", "zsh", "fish", "-c", "-lc", "exec"];
    let mut words =
        start_command.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'')).filter(|it| !it.is_empty());
    let name = |word: &str| word.rsplit('/').next().unwrap_or(word).to_owned();
    let program = words.find(|word| !SHELLS.contains(&name(word).as_str()));
    program.is_some_and(|word| name(word) == PROGRAM) && !start_command.contains([';', '&', '|', '\n'])
}

// How often a server is polled.

/// Polls without a change until the tick grows from the shortest to the usual, to the slow, and to the longest one.
const QUIET_POLLS: [u32; 3] = [8, 20, 50];
/// The slow tick, in usual ones.
const SLOW: u32 = 2;

/// The longest pause after failures, in slow ticks: a host costs a connection each time.
const BACK_OFF_HERE: u32 = 2;
const BACK_OFF_HOST: u32 = 8;

/// A pause is at least this many times as long as the poll before it.
const REST: u32 = 4;
/// The same on this machine as long as one poll begins within a usual tick after the other: tmux is kept busy a 28th of its time.
const REST_WITHIN_TICK: u32 = 28;

/// The least time between two polls of any hosts. A poll costs this machine about 2 ms, so all hosts together cost a fifth of
/// a core, however many there are.
const OF_A_HOST: Duration = Duration::from_millis(10);

/// The least wait for the next poll of one of this many hosts, after a poll that took this long.
pub(super) fn turn_of_host(hosts: u32, took: Duration) -> Duration {
    (OF_A_HOST * hosts).saturating_sub(took)
}

/// Decides how long to wait for the next poll.
#[derive(Debug)]
struct Pace {
    ticks: Ticks,
    /// The name of a server on a host as a number, by which the pauses of many hosts are spread; `None` on this machine.
    host: Option<u64>,
    /// Polls since something changed.
    quiet: u32,
    /// Failures in a row.
    failures: u32,
    /// Whether the last failure says that there is no server.
    no_server: bool,
}

impl Pace {
    fn new(ticks: Ticks, host: Option<u64>) -> Self {
        Self { ticks, host, quiet: 0, failures: 0, no_server: false }
    }

    /// Records a successful poll.
    fn polled(&mut self, changed: bool) {
        (self.failures, self.no_server) = (0, false);
        self.quiet = if changed { 0 } else { self.quiet.saturating_add(1) };
    }

    /// Records a failed poll.
    fn failed(&mut self, no_server: bool) {
        self.failures = self.failures.saturating_add(1);
        self.no_server = no_server;
    }

    /// Something will change soon.
    fn hurry(&mut self) {
        (self.quiet, self.failures) = (0, 0);
    }

    /// How long to wait for the next poll after one that took this long.
    fn pause(&self, took: Duration) -> Duration {
        // A server with many panes, or on a busy machine, is not to be kept busy by being watched; but where something changes
        // here, it is reported within two usual ticks.
        let is_changing = self.host.is_none() && self.quiet < QUIET_POLLS[0] && took < self.ticks.usual;
        let longest = if is_changing { self.ticks.usual } else { self.slow() };
        let in_tick = if is_changing { (took * REST_WITHIN_TICK).min(self.ticks.usual - took) } else { Duration::ZERO };
        self.wanted_pause().max(in_tick).max((took * REST).min(longest))
    }

    fn wanted_pause(&self) -> Duration {
        if self.no_server {
            return self.slow();
        }
        if self.failures > 0 {
            let most = if self.host.is_some() { BACK_OFF_HOST } else { BACK_OFF_HERE };
            let pause = self.slow() * (1 << (self.failures - 1).min(3)).min(most);
            return pause + pause.mul_f64(self.spread());
        }
        match self.quiet {
            quiet if quiet < QUIET_POLLS[0] => self.ticks.shortest,
            quiet if quiet < QUIET_POLLS[1] => self.ticks.usual,
            quiet if quiet < QUIET_POLLS[2] => self.slow(),
            _ => self.ticks.longest,
        }
    }

    fn slow(&self) -> Duration {
        (self.ticks.usual * SLOW).min(self.ticks.longest)
    }

    /// How much longer the pause after a failure is, up to a half: a hundred hosts that fail at once, as the network is
    /// gone, are not to be connected to at once again.
    fn spread(&self) -> f64 {
        let Some(host) = self.host else { return 0.0 };
        let mut hash = Fnv::default();
        hash.feed(&host.to_le_bytes());
        hash.feed(&self.failures.to_le_bytes());
        f64::from((hash.get() >> 32) as u32 % 512) / 1024.0
    }
}

#[cfg(test)]
mod tests;
