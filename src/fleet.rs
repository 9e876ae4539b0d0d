//! All terminals: inputs and time in, effects and a view out. It reads no clock and does no I/O.
//!
//! The driving rule, for the app as for a replay: hand every [`Input`] to [`Fleet::handle`] with its time, then take
//! effects from [`Fleet::poll_effect`] until there are none, then wait for the next input or for
//! [`Fleet::poll_timeout`], whichever comes first; a timeout is handed in as [`Input::TimePassed`].

mod entry;
mod leaving;
mod tasks;
mod telling;
mod told;
mod view;
mod why;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, OnceLock};

use entry::Entry;
use jiff::tz::TimeZone;
pub use tasks::{FoundSession, TaskReport, TaskTransition};
use view::place_of;
pub use view::{Capture, Declared, PaneReport, PollResult, Replaced, ServerLoad, ServerReport};
pub use view::{DeclaredBy, ServerHealth, ServerView, SessionView, Terminal, TerminalTransition, View};
pub use why::{RuleSelection, Why, answer_of_ended, no_record};

use crate::agent_record::RecordedTurn;
use crate::ids::ServerInstance;
pub use crate::ids::{PaneId, PaneLocation, ServerId, SessionId, Socket, TerminalKey, WindowId};
use crate::profile::ProfileSet;
use crate::state::{KeptNote, Problem, State, Transition};
use crate::task::{self, Batch, Task};
use crate::time::{Span, Timestamp};
pub use crate::tracker::TerminalHistory;
use crate::tracker::{self, GoneReason, Observation, SurfaceEvent, Timer};
use tasks::{Taken, TaskChanges, Tasks};
pub use told::Told;
use told::Untold;

/// Everything that can happen to the fleet.
#[derive(Clone, Debug)]
pub enum Input {
    /// One poll of one server.
    Server(ServerReport),
    /// What one poll of one server showed of its tasks.
    Tasks(TaskReport),
    /// The operator kills a task, here or in another process of fleetwatch; `reason` says so to people.
    TaskKilled { server: ServerId, window: WindowId, reason: String },
    /// A terminal as the history knows it, before its first poll.
    Known { key: TerminalKey, known: Box<TerminalHistory> },
    /// What the owner of a server tells of it.
    Told { server: ServerId, told: Box<Told> },
    /// The tasks of a server as the history knows them, before the first poll of it.
    KnownTasks { server: ServerId, tasks: Vec<task::TaskHistory> },
    /// A prompt went into a terminal through fleetwatch at this time, here or in another process of it.
    Submitted { key: TerminalKey, at: Timestamp, text: String },
    /// The operator has seen the terminal: selected it for a second, jumped to it or answered it (SPEC §2).
    Seen { key: TerminalKey },
    /// The operator says something of a terminal, or nothing any more, here or in another process of fleetwatch.
    Noted(KeptNote),
    /// Nothing happened but time.
    TimePassed,
    /// A server is watched no longer: its terminals leave.
    Unwatched { server: ServerId },
}

impl Input {
    /// When it was seen, where that is a part of it.
    pub fn at(&self) -> Option<Timestamp> {
        match self {
            Input::Server(report) => Some(report.at),
            Input::Tasks(report) => Some(report.at),
            Input::Submitted { at, .. } => Some(*at),
            Input::Told { told, .. } => Some(told.at),
            _ => None,
        }
    }
}

/// Everything that the fleet wants done or reported.
#[derive(Clone, Debug)]
pub enum Effect {
    /// A terminal is newly watched, or its identification (id, place, version) has changed.
    Introduced { key: TerminalKey },
    /// The public state changed.
    Changed(TerminalTransition),
    /// A terminal has left the fleet; the transition is its last.
    Left(TerminalTransition),
    /// A task is watched from now on, or has another name.
    TaskIntroduced { server: ServerId, window: WindowId },
    /// Task sessions that existed when watching began, reported once per server.
    TasksFound { sessions: Vec<FoundSession> },
    /// A task has another status than its events say: for the history, which sums up how long it ran and waited.
    TaskChanged(TaskTransition),
    /// A task is watched no longer, whatever became of it.
    TaskLeft(TaskTransition),
    /// What happened to tasks between two polls of a server (SPEC §9); never empty.
    Tasks(Batch),
}

/// The settings of the fleet, from the configuration.
#[derive(Clone, Debug)]
pub struct Settings {
    pub tracker: tracker::Settings,
    /// How long a terminal whose pane is gone is still shown.
    pub keep_gone: Span,
    /// Transitions over all terminals that are kept in memory.
    pub kept_transitions: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { tracker: tracker::Settings::default(), keep_gone: Span::from_secs(30), kept_transitions: 256 }
    }
}

/// All watched terminals and servers.
pub struct Fleet {
    settings: Settings,
    profiles: Arc<ProfileSet>,
    entries: BTreeMap<TerminalKey, Box<Entry>>,
    /// What is known of terminals that have not been seen yet, and since when it is.
    known: BTreeMap<TerminalKey, (Box<TerminalHistory>, Timestamp)>,
    /// What was just sent to terminals that were not read yet.
    sent: BTreeMap<TerminalKey, (Timestamp, String)>,
    servers: BTreeMap<ServerId, ServerView>,
    /// The operator's notes on terminals, present or not.
    notes: Vec<KeptNote>,
    recent: VecDeque<TerminalTransition>,
    /// What is not told yet of the servers that other processes want to know of.
    untold: BTreeMap<ServerId, Untold>,
    /// The servers that another process polls now, where this one did.
    yielded: BTreeSet<ServerId>,
    /// Since when this process polls servers of which another one told it.
    taken_over: BTreeMap<ServerId, Timestamp>,
    tasks: Tasks,
    /// When something is due of which terminal, by [`Entry::due`].
    due: BTreeSet<(Timestamp, TerminalKey)>,
    /// The names, and whether they are still those that follow from the terminals.
    names: BTreeSet<String>,
    is_named: bool,
    effects: VecDeque<Effect>,
    now: Timestamp,
    /// Counts the inputs.
    inputs: u64,
    /// Counts those that changed what a view shows, times apart.
    version: u64,
    /// The terminals by how urgent they are, by their places in `entries`: several ask for a view between two inputs.
    order: OnceLock<Vec<usize>>,
    /// The order before, which mostly needs little sorting.
    last_order: Vec<usize>,
}

impl Fleet {
    /// A fleet without terminals.
    pub fn new(settings: Settings, profiles: Arc<ProfileSet>) -> Self {
        Self {
            settings,
            profiles,
            entries: BTreeMap::new(),
            known: BTreeMap::new(),
            sent: BTreeMap::new(),
            servers: BTreeMap::new(),
            notes: Vec::new(),
            recent: VecDeque::new(),
            untold: BTreeMap::new(),
            yielded: BTreeSet::new(),
            taken_over: BTreeMap::new(),
            tasks: Tasks::default(),
            due: BTreeSet::new(),
            names: BTreeSet::new(),
            is_named: true,
            effects: VecDeque::new(),
            now: Timestamp::default(),
            inputs: 0,
            version: 0,
            order: OnceLock::new(),
            last_order: Vec::new(),
        }
    }

    /// Handles an input. Inputs come in the order of their times; an earlier time counts as the latest one.
    pub fn handle(&mut self, input: Input, now: Timestamp) {
        self.now = self.now.max(now);
        self.inputs += 1;
        let before = (self.entries.len(), self.effects.len());
        // Whatever is not known to leave the view as it was changes it.
        let mut stands_still = false;
        match input {
            Input::Server(report) => stands_still = self.server(report),
            Input::Tasks(report) => stands_still = self.tasks(report),
            Input::TaskKilled { server, window, reason } => self.tasks.killed(&server, window, reason),
            Input::Known { key, known } => {
                self.known.insert(key, (known, self.now));
            }
            Input::Told { server, told } => self.take_in(&server, *told),
            Input::KnownTasks { server, tasks } => self.tasks.remember(server, tasks),
            Input::Submitted { key, at, text } => {
                self.sent.retain(|_, (at, _)| self.now.since(*at) < tracker::HANDOVER);
                self.sent.insert(key.clone(), (at, text));
                self.submitted(&key);
            }
            Input::Noted(noted) => self.noted(noted),
            Input::Seen { key } => self.observe(&key, Observation::Seen),
            Input::TimePassed => self.pass_time(),
            Input::Unwatched { server } => {
                let left = self.tasks.forget(&server, self.now);
                self.effects.extend(left.into_iter().map(Effect::TaskLeft));
                self.unwatch(&server);
            }
        }
        if !stands_still || before != (self.entries.len(), self.effects.len()) {
            self.version += 1;
            self.sort_anew();
        }
    }

    /// Reads screens by other profiles from the next poll on; what is known of each terminal stays.
    pub fn set_profiles(&mut self, profiles: Arc<ProfileSet>) {
        self.entries.values_mut().for_each(|entry| entry.set_profiles(&profiles));
        self.profiles = profiles;
        self.version += 1;
        self.sort_anew();
    }

    fn sort_anew(&mut self) {
        if let Some(order) = self.order.take() {
            self.last_order = order;
        }
    }

    /// The next thing that the fleet wants done, oldest first.
    pub fn poll_effect(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    /// When the fleet wants to be called with [`Input::TimePassed`] at the latest.
    pub fn poll_timeout(&self) -> Option<Timestamp> {
        self.due.iter().find(|(_, key)| !self.yielded.contains(&key.server)).map(|(at, _)| *at)
    }

    /// Changes when what a view shows does, times apart.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The terminal with an identity; its times are as of the last input that concerned it.
    pub fn terminal(&self, key: &TerminalKey) -> Option<&Terminal> {
        self.entry(key).map(Entry::terminal)
    }

    /// The public state of a terminal of a view with its times as of `now`, or as the view has it when it is known no more.
    pub fn state_of(&self, terminal: &Terminal, now: Timestamp) -> State {
        self.state(&terminal.key, now).unwrap_or_else(|| terminal.state.clone())
    }

    /// The public state of a terminal with its times as of `now`.
    pub fn state(&self, key: &TerminalKey, now: Timestamp) -> Option<State> {
        self.entry(key).map(|entry| entry.state(now))
    }

    /// The task in a window.
    pub fn task(&self, server: &ServerId, window: WindowId) -> Option<&Task> {
        self.tasks.task(server, window)
    }

    /// The task that a pane represents.
    pub fn task_of_pane(&self, key: &TerminalKey) -> Option<&Task> {
        self.tasks.of_pane(key)
    }

    /// The name of a terminal or task that exists.
    pub fn name_of(&self, key: &TerminalKey) -> Option<&str> {
        let terminal = self.terminal(key).map(|terminal| terminal.state.terminal.id.as_str());
        terminal.or_else(|| self.task_of_pane(key).map(|task| task.id.as_str()))
    }

    /// What was named between consecutive assessments of a terminal (SPEC §6), newest last, bounded.
    pub fn surface_events(&self, key: &TerminalKey) -> impl Iterator<Item = (Timestamp, SurfaceEvent)> {
        self.entry(key).into_iter().flat_map(|entry| entry.events().iter().copied())
    }

    /// The dialog with the agent as far as a terminal's screen shows it (SPEC §6); `None` when nothing reads its screen.
    pub fn dialog_text(&self, key: &TerminalKey) -> Option<String> {
        self.entry(key).and_then(Entry::dialog_text)
    }

    /// Why a terminal is said to be what it is at `now`, with times as clocks in `zone` show them; `reads_records` says
    /// whether its records may be read. `None` when no profile has read a screen of it.
    pub fn explain(&self, key: &TerminalKey, reads_records: bool, zone: &TimeZone, now: Timestamp) -> Option<String> {
        self.entry(key).and_then(|entry| entry.explain(&self.profiles, reads_records, zone, now))
    }

    /// What an agent's own record says of its turn, where it says anything of it.
    pub fn recorded_turn(&self, key: &TerminalKey) -> Option<&RecordedTurn> {
        self.entry(key).and_then(Entry::record)
    }

    /// The timers that run for a terminal, the next deadline first (SPEC §7); none for one that is not there.
    pub fn timers(&self, key: &TerminalKey) -> Vec<Timer> {
        self.entry(key).map(Entry::timers).unwrap_or_default()
    }

    /// The watched servers.
    pub fn servers(&self) -> impl Iterator<Item = &ServerView> {
        self.servers.values()
    }

    /// The view at a time, most urgent terminal first.
    pub fn view(&self, now: Timestamp) -> View<'_> {
        let terminals: Vec<&Terminal> = self.entries.values().map(|entry| entry.terminal()).collect();
        let order = self.order.get_or_init(|| {
            let mut places = self.last_order.clone();
            if places.len() != terminals.len() {
                places = (0..terminals.len()).collect();
            }
            places.sort_by(|a, b| view::urgency(terminals[*a]).cmp(&view::urgency(terminals[*b])));
            places
        });
        View {
            now,
            version: Some(self.version),
            terminals: order.iter().map(|place| terminals[*place]).collect(),
            servers: self.servers.values().collect(),
            recent: &self.recent,
            tasks: self.tasks.all(),
            sessions: self.tasks.sessions(),
            task_events: self.tasks.recent(),
        }
    }

    /// Whether there is no terminal and no task.
    pub fn is_bare(&self) -> bool {
        self.entries.is_empty() && self.tasks.all().is_empty()
    }

    /// Takes in a poll; returns whether the view is as it was, times apart.
    fn server(&mut self, report: ServerReport) -> bool {
        self.pack_screens(&report);
        let ServerReport { server, at, load, replaced, outcome } = report;
        self.untold(&server);
        self.yielded.remove(&server);
        let is_told = self.of_server(&server).any(|(_, entry)| entry.is_told());
        let view = self.servers.entry(server.clone()).or_insert_with(|| ServerView::waiting(server.clone()));
        view.load = load;
        let has_answered = view.answered_at.is_some();
        // What it shows first in this process may have been there before.
        let is_first = is_told || !has_answered;
        let is_whole = outcome.is_whole();
        let was_up = view.health == ServerHealth::Up && has_answered && !is_told;
        let stands_still = match outcome {
            PollResult::Listed(panes) => {
                view.health = ServerHealth::Up;
                let had_ended = view.ended_at.take().is_some();
                view.answered_at = if is_whole { Some(at) } else { view.answered_at };
                let stands_still = self.listed(&server, panes, |pane| replaced.reason(pane), is_first);
                if had_ended {
                    self.came_back(&server);
                }
                stands_still && !had_ended
            }
            PollResult::Read { panes, .. } => {
                view.answered_at = if is_whole { Some(at) } else { view.answered_at };
                let mut stands_still = true;
                for pane in panes {
                    stands_still &= self.pane(pane, !is_first);
                }
                stands_still
            }
            PollResult::NoServer(problem) => {
                (view.health, view.ended_at) = (ServerHealth::NoServer(problem), view.ended_at.or(Some(self.now)));
                view.answered_at = Some(at);
                self.listed(&server, Vec::new(), |_| GoneReason::Server, is_first);
                false
            }
            PollResult::Failed(problem) => {
                view.health = ServerHealth::Failed(problem.clone());
                self.probe_failed(&server, &problem);
                false
            }
        };
        let count = self.of_server(&server).count();
        let before = self.servers.get_mut(&server).map(|view| std::mem::replace(&mut view.terminals, count));
        was_up && stands_still && before == Some(count)
    }

    /// Tasks have other names than terminals.
    fn name_tasks(&mut self) {
        let renamed = self.tasks.name_apart(&self.names, &self.notes).into_iter();
        self.effects.extend(renamed.map(|(server, window)| Effect::TaskIntroduced { server, window }));
    }

    /// Takes in the tasks of a poll; returns whether the view is as it was.
    fn tasks(&mut self, report: TaskReport) -> bool {
        let stands_still = self.tasks.stands_still(&report);
        let Taken { introduced, found, batch, standings } =
            self.tasks.take(report, self.now, (&self.names, &self.notes), self.settings.kept_transitions);
        let introduced = introduced.into_iter().map(|(server, window)| Effect::TaskIntroduced { server, window });
        self.effects.extend(introduced);
        if let Some(untold) = self.untold(&batch.server) {
            untold.have_happened(&batch.events);
        }
        if !found.is_empty() {
            self.effects.push_back(Effect::TasksFound { sessions: found });
        }
        if !batch.events.is_empty() {
            self.effects.push_back(Effect::Tasks(batch));
        }
        self.tell_standings(standings);
        stands_still
    }

    fn entry(&self, key: &TerminalKey) -> Option<&Entry> {
        self.entries.get(key).map(|entry| &**entry)
    }

    /// The terminals of a server.
    fn of_server<'a>(&'a self, server: &'a ServerId) -> impl Iterator<Item = (&'a TerminalKey, &'a Entry)> {
        let first =
            TerminalKey { server: server.clone(), pane: PaneId(0), pid: 0, instance: ServerInstance::default() };
        let here = self.entries.range(first..).take_while(move |(key, _)| key.server == *server);
        here.map(|(key, entry)| (key, &**entry))
    }

    /// Takes in a pane; returns whether it is as it was.
    fn pane(&mut self, report: PaneReport, is_new: bool) -> bool {
        let entry = self.entries.get_mut(&report.key);
        if entry.is_some_and(|entry| entry.stands_still(&report, self.now)) {
            return true;
        }
        let (key, is_fresh) = (report.key.clone(), matches!(report.capture, Capture::Fresh(_)));
        if self.entry(&key).is_some_and(|entry| entry.is_told() && report.is_awaited()) {
            // Until it is read here, it is as it was told.
            return true;
        }
        let named_by = self.entry(&key).map(Entry::naming);
        let told = self.take_over(&key);
        let known = self.known.remove(&key).map(|(known, _)| known);
        let entry = self
            .entries
            .entry(key.clone())
            .or_insert_with(|| Entry::new(key.clone(), self.settings.tracker.clone(), known, is_new, self.now).into());
        let outcome = entry.poll(report, &self.profiles, self.now);
        // What was said of the agent before is not said of the one that was begun in its place.
        let relabelled = entry.take_note(&self.notes);
        self.is_named &= named_by == Some(entry.naming());
        let is_introduced = match told {
            Some(told) => !entry.is_named_like(&told),
            None => (outcome.renamed || relabelled) && !entry.is_unread(),
        };
        if is_introduced {
            self.effects.push_back(Effect::Introduced { key: key.clone() });
        }
        self.touch(&key).into_iter().for_each(|untold| untold.has_new_screen |= is_fresh);
        self.wait_for(&key);
        if let Some(transition) = outcome.transition {
            self.record(&key, transition);
        }
        self.submitted(&key);
        false
    }

    /// Hands on what was sent to a terminal once that was read.
    fn submitted(&mut self, key: &TerminalKey) {
        let is_read = |entry: &&mut Box<Entry>| !entry.is_unread() && !entry.is_told();
        let Some(entry) = self.entries.get_mut(key).filter(is_read) else { return };
        let Some((at, text)) = self.sent.remove(key) else { return };
        let taken = entry.sent(&text, at, self.now);
        self.observe(key, Observation::Submitted { at, taken });
    }

    fn noted(&mut self, noted: KeptNote) {
        self.notes.retain(|before| !before.key.may_be(&noted.key));
        let key = noted.key.clone();
        self.notes.extend(Some(noted).filter(|noted| !noted.note.is_empty()));
        for (key, entry) in self.entries.iter_mut().filter(|(here, _)| here.may_be(&key)) {
            if entry.take_note(&self.notes) && !entry.is_unread() {
                self.effects.push_back(Effect::Introduced { key: key.clone() });
            }
        }
        self.name_apart();
    }

    fn probe_failed(&mut self, server: &ServerId, problem: &Problem) {
        self.take_over_all(server);
        // What was not polled yet says so, and what is gone is not asked for.
        let is_asked = |entry: &Entry| !entry.is_unread() && entry.gone_since().is_none();
        let read = self.of_server(server).filter(|(_, entry)| is_asked(entry));
        let keys: Vec<TerminalKey> = read.map(|(key, _)| key.clone()).collect();
        for key in keys {
            self.observe(&key, Observation::ProbeFailed(problem.clone()));
        }
        let standings = self.tasks.failed(server, problem, &self.settings.tracker, self.now);
        self.tell_standings(standings);
    }

    fn tell_standings(&mut self, standings: TaskChanges) {
        self.effects.extend(standings.changed.into_iter().map(Effect::TaskChanged));
        self.effects.extend(standings.left.into_iter().map(Effect::TaskLeft));
    }

    fn observe(&mut self, key: &TerminalKey, observation: Observation<'_>) {
        let Some(entry) = self.entries.get_mut(key).filter(|entry| !entry.is_told()) else { return };
        let was_gone = entry.gone_since().is_some();
        let transition = entry.observe(observation, self.now);
        self.is_named &= was_gone == entry.gone_since().is_some();
        self.touch(key);
        self.wait_for(key);
        if let Some(transition) = transition {
            self.record(key, transition);
        }
    }

    /// Notes when something is due of a terminal.
    fn wait_for(&mut self, key: &TerminalKey) {
        let Some(entry) = self.entries.get_mut(key) else { return };
        let (before, due) = entry.note_due(self.settings.keep_gone);
        if before != due {
            before.map(|at| self.due.remove(&(at, key.clone())));
            self.due.extend(due.map(|at| (at, key.clone())));
        }
    }

    /// Does what is due; terminals whose panes are long gone leave the fleet.
    fn pass_time(&mut self) {
        let due = self.due.iter().take_while(|(at, _)| *at <= self.now).map(|(_, key)| key);
        let due: Vec<TerminalKey> = due.filter(|key| !self.yielded.contains(&key.server)).cloned().collect();
        let (now, keep) = (self.now, self.settings.keep_gone);
        let leaves = |key: &TerminalKey| self.entry(key).and_then(|entry| entry.leaves_at(keep));
        let is_gone = |key: &TerminalKey| leaves(key).is_some_and(|at| at <= now);
        let (gone, mut due): (Vec<TerminalKey>, Vec<TerminalKey>) = due.into_iter().partition(is_gone);
        // What is due at once happens in the order of the terminals.
        due.sort();
        due.iter().for_each(|key| self.observe(key, Observation::Nothing));
        self.leave(gone);
    }

    fn record(&mut self, key: &TerminalKey, transition: Transition) {
        let Some(terminal) = self.terminal(key) else { return };
        let (state, screen) = (terminal.state.clone(), terminal.screen.clone());
        let (key, id, state) = (key.clone(), state.terminal.id.clone(), Some(Arc::new(state)));
        let changed = TerminalTransition { key, id, transition, state, screen };
        self.touch(&changed.key).into_iter().for_each(|untold| untold.transitions += 1);
        self.remember(changed.clone());
        self.effects.push_back(Effect::Changed(changed));
    }

    fn remember(&mut self, transition: TerminalTransition) {
        self.recent.push_back(transition);
        while self.recent.len() > self.settings.kept_transitions {
            self.recent.pop_front();
        }
    }

    /// Ids are unique: a name that two terminals would have is made unique by server, then by pane. One whose pane is gone
    /// takes its name from nobody who is there, and a name that the operator gave is its terminal's.
    fn name_apart(&mut self) {
        let mut wanted: BTreeMap<String, Vec<TerminalKey>> = BTreeMap::new();
        for (key, entry) in &self.entries {
            wanted.entry(entry.wanted_name()).or_default().push(key.clone());
        }
        let is_gone = |key: &TerminalKey| self.entry(key).is_some_and(|entry| entry.gone_since().is_some());
        let mut named: Vec<(TerminalKey, String)> = Vec::new();
        for (name, keys) in wanted {
            let there = keys.iter().filter(|key| !is_gone(key)).count();
            let given = |key: &&TerminalKey| self.entry(key).is_some_and(Entry::has_given_name) && !is_gone(key);
            let given: Vec<&TerminalKey> = keys.iter().filter(given).collect();
            // Where nobody who is there is called so, the name is that of whoever left last.
            let left_last = keys.iter().max_by_key(|key| self.entry(key).and_then(Entry::gone_since));
            let mut taken = BTreeSet::new();
            for key in keys.iter().filter(|key| !is_gone(key)).chain(keys.iter().filter(|key| is_gone(key))) {
                let is_alone = match given[..] {
                    [one] => key == one,
                    _ => (there == 1 && !is_gone(key)) || (there == 0 && left_last == Some(key)),
                };
                let place = format!("{name} {}", place_of(key));
                let id = match is_alone {
                    true => name.clone(),
                    // A pane in which another agent was started is the place of two.
                    false if taken.contains(&place) => format!("{place} {}", key.pid),
                    false => place,
                };
                taken.insert(id.clone());
                named.push((key.clone(), id));
            }
        }
        for (key, id) in named {
            if self.entries.get_mut(&key).is_some_and(|entry| entry.rename(id) && !entry.is_unread()) {
                self.effects.push_back(Effect::Introduced { key });
            }
        }
        self.is_named = true;
        let id = |entry: &Entry| entry.terminal().state.terminal.id.clone();
        self.names = self.entries.values().map(|entry| id(entry)).collect();
        self.tasks.name_anew();
        self.name_tasks();
    }
}

#[cfg(test)]
mod tests;
