//! The tasks of all servers, next to the agents: their names, and what happens to them (SPEC §9).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde_json::json;

use super::view::SessionView;
use crate::hash::fast;
use crate::ids::{ServerId, TerminalKey, WindowId};
use crate::state::{Change, KeptNote, LEFT, Problem, Summary, TaskStatus, Transition};
use crate::task::{
    Batch, Happening, Registration, SETTLED, Task, TaskEvent, TaskFields, TaskHistory, TaskPoll, TaskTracker,
};
use crate::time::{Span, Timestamp};
use crate::tracker::Settings;

/// What one poll of one server showed of its tasks.
#[derive(Clone, Debug)]
pub struct TaskReport {
    pub server: ServerId,
    /// When tmux answered.
    pub at: Timestamp,
    pub poll: TaskPoll,
    /// Every session of the server, whatever runs in it.
    pub sessions: Vec<SessionView>,
}

/// A task session that was there when watching began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSession {
    pub server: ServerId,
    pub name: String,
    /// Windows whose program runs.
    pub alive: usize,
    /// Windows whose program has ended.
    pub dead: usize,
}

/// The tasks of all servers.
#[derive(Default)]
pub(super) struct Tasks {
    watches: BTreeMap<ServerId, TaskTracker>,
    sessions: BTreeMap<ServerId, Vec<SessionView>>,
    standings: Standings,
    /// The servers of which another process tells: theirs have no tracker here.
    told: BTreeSet<ServerId>,
    /// What is known of tasks on servers that have not been polled yet.
    known: BTreeMap<ServerId, Vec<TaskHistory>>,
    /// What the names of the tasks follow from, as it was when they were given.
    named: Option<u64>,
    recent: VecDeque<TaskEvent>,
    /// The tasks of servers that have ended, as they were: they are shown until their server comes back.
    gone: BTreeMap<ServerId, Vec<Task>>,
}

/// What the owner of a server tells of its tasks.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) struct ToldTasks {
    /// `None` if the server has not been polled.
    tasks: Option<Vec<Task>>,
    sessions: Vec<SessionView>,
    gone: Vec<Task>,
}

/// The result of a report.
pub(super) struct Taken {
    /// Tasks that are new, or have another name.
    pub introduced: Vec<(ServerId, WindowId)>,
    /// Sessions that the first poll of a server found.
    pub found: Vec<FoundSession>,
    pub batch: Batch,
    /// Changes of tasks that are no events, and tasks that are no longer watched.
    pub standings: TaskChanges,
}

impl Tasks {
    /// Whether a report says the same as the last one, and there is no task that time could change.
    pub(super) fn stands_still(&self, report: &TaskReport) -> bool {
        let TaskReport { server, at: _, poll, sessions } = report;
        let is_idle = self.watches.get(server).is_some_and(|watch| watch.tasks().next().is_none());
        let has_none = poll.sessions.iter().all(|session| session.windows.is_empty());
        is_idle && has_none && !self.told.contains(server) && self.sessions.get(server) == Some(sessions)
    }

    /// Handles a report. `names` are the ids of terminals, which tasks must not share.
    pub(super) fn take(
        &mut self,
        report: TaskReport,
        now: Timestamp,
        (names, notes): (&BTreeSet<String>, &[KeptNote]),
        keep: usize,
    ) -> Taken {
        let TaskReport { server, poll, sessions, .. } = report;
        self.keep_gone(&server, sessions.is_empty(), now);
        self.sessions.insert(server.clone(), sessions);
        let told = if self.told.remove(&server) { self.watches.remove(&server) } else { None };
        let first = !self.watches.contains_key(&server);
        // Where the history knows nothing, this process goes on from what it was told.
        let as_told = || told.iter().flat_map(TaskTracker::tasks).map(Task::as_known).collect();
        let known = self.known.remove(&server).filter(|known| !known.is_empty()).unwrap_or_else(as_told);
        let watch = self.watches.entry(server.clone()).or_insert_with(|| TaskTracker::known(known));
        let remembered: Vec<Task> = watch.tasks().filter(|_| first).cloned().collect();
        // Those that are only known were not reported yet.
        let before: BTreeSet<WindowId> = watch.tasks().filter(|_| !first).map(|task| task.window).collect();
        let mut events = watch.take(poll, now);
        for task in &remembered {
            let now = watch.task(task.window).filter(|now| now.key.may_be(&task.key));
            self.standings.remember(now.unwrap_or(task), task.status);
        }
        let found = if first && told.is_none() { found(&server, watch) } else { Vec::new() };
        let mut introduced: BTreeSet<(ServerId, WindowId)> = self.name_apart(names, notes).into_iter().collect();
        if let Some(watch) = self.watches.get(&server) {
            let new = watch.tasks().filter(|task| !before.contains(&task.window));
            introduced.extend(new.map(|task| (server.clone(), task.window)));
            for event in &mut events {
                // A window that is gone keeps the name that it had.
                if let Some(task) = watch.task(event.window) {
                    event.rename(&task.id);
                }
            }
        }
        let tasks = self.watches.get(&server).into_iter().flat_map(TaskTracker::tasks);
        let standings = self.standings.take(&server, tasks, &events, now);
        self.recent.extend(events.iter().cloned());
        while self.recent.len() > keep {
            self.recent.pop_front();
        }
        Taken { introduced: introduced.into_iter().collect(), found, batch: Batch { server, events }, standings }
    }

    /// A server without a session has ended, and all its tasks with it.
    fn keep_gone(&mut self, server: &ServerId, has_ended: bool, now: Timestamp) {
        match self.watches.get(server) {
            Some(watch) if has_ended => {
                let gone = watch.tasks().map(|task| task.clone().gone_with_server(now));
                self.gone.entry(server.clone()).or_default().extend(gone);
            }
            Some(_) => self.came_back(server),
            None => {}
        }
    }

    /// A server answers again.
    pub(super) fn came_back(&mut self, server: &ServerId) {
        self.gone.remove(server);
    }

    /// Handles a failed poll; returns how its tasks change.
    pub(super) fn failed(
        &mut self,
        server: &ServerId,
        problem: &Problem,
        settings: &Settings,
        now: Timestamp,
    ) -> TaskChanges {
        let Some(watch) = self.watches.get_mut(server) else { return TaskChanges::default() };
        watch.failed(problem, settings, now);
        self.standings.take(server, watch.tasks(), &[], now)
    }

    /// What is told of a server to other processes.
    pub(super) fn told(&self, server: &ServerId) -> ToldTasks {
        ToldTasks {
            tasks: self.watches.get(server).map(|watch| watch.tasks().cloned().collect()),
            sessions: self.sessions.get(server).cloned().unwrap_or_default(),
            gone: self.gone.get(server).cloned().unwrap_or_default(),
        }
    }

    /// Takes in what the owner of a server tells: its tasks, if they have changed, and what happened to them; with all that
    /// is known (`is_whole`) none of that is news. Returns the windows of tasks that are new here, and the news.
    pub(super) fn take_in(
        &mut self,
        server: &ServerId,
        (told, events): (Option<ToldTasks>, Vec<TaskEvent>),
        is_whole: bool,
        keep: usize,
    ) -> (Vec<WindowId>, Batch) {
        let mut new = Vec::new();
        if let Some(ToldTasks { tasks, sessions, gone }) = told {
            self.told.insert(server.clone());
            self.gone.insert(server.clone(), gone);
            self.sessions.insert(server.clone(), sessions);
            let before = self.watches.remove(server);
            let is_known = |task: &&Task| before.as_ref().is_some_and(|watch| watch.task(task.window).is_some());
            new.extend(tasks.iter().flatten().filter(|task| !is_known(task)).map(|task| task.window));
            self.standings.restore(server, tasks.iter().flatten());
            self.watches.extend(tasks.map(|tasks| (server.clone(), TaskTracker::told(tasks))));
        }
        if is_whole {
            self.recent.retain(|event| event.key.server != *server);
        }
        self.recent.extend(events.iter().cloned());
        self.recent.make_contiguous().sort_by_key(|event| event.at);
        let surplus = self.recent.len().saturating_sub(keep);
        self.recent.drain(..surplus);
        let events = if is_whole { Vec::new() } else { events };
        (new, Batch { server: server.clone(), events })
    }

    /// The history says this of the tasks on a server before its first poll.
    pub(super) fn remember(&mut self, server: ServerId, known: Vec<TaskHistory>) {
        if self.told.contains(&server) || !self.watches.contains_key(&server) {
            self.known.insert(server, known);
        }
    }

    /// A server is watched no longer.
    pub(super) fn forget(&mut self, server: &ServerId, now: Timestamp) -> Vec<TaskTransition> {
        self.watches.remove(server);
        self.told.remove(server);
        self.sessions.remove(server);
        self.came_back(server);
        self.standings.forget(server, now)
    }

    /// The operator kills a window.
    pub(super) fn killed(&mut self, server: &ServerId, window: WindowId, reason: String) {
        if let Some(watch) = self.watches.get_mut(server) {
            watch.killed(window, reason);
        }
    }

    /// All tasks, those that need somebody first.
    pub(super) fn all(&self) -> Vec<&Task> {
        let watched = self.watches.values().flat_map(TaskTracker::tasks);
        let mut tasks: Vec<&Task> = watched.chain(self.gone.values().flatten()).collect();
        tasks.sort_by(|a, b| {
            let order =
                a.as_status().urgency().cmp(&b.as_status().urgency()).then_with(|| a.key.server.cmp(&b.key.server));
            order.then_with(|| a.session.cmp(&b.session)).then(a.index.cmp(&b.index))
        });
        tasks
    }

    /// The sessions of all servers.
    pub(super) fn sessions(&self) -> Vec<&SessionView> {
        self.sessions.values().flatten().collect()
    }

    pub(super) fn task(&self, server: &ServerId, window: WindowId) -> Option<&Task> {
        self.watches.get(server)?.task(window)
    }

    /// The task in whose window a pane stands for the others.
    pub(super) fn of_pane(&self, key: &TerminalKey) -> Option<&Task> {
        self.watches.get(&key.server)?.tasks().find(|task| task.key == *key)
    }

    pub(super) fn recent(&self) -> &VecDeque<TaskEvent> {
        &self.recent
    }

    /// The names of terminals have changed, and may be those of tasks.
    pub(super) fn name_anew(&mut self) {
        self.named = None;
    }

    /// Gives tasks what the operator says of them, and their names: the operator's, else the window's, which the first that has
    /// it keeps; the others bear as much of the place as tells them apart. Those with another name than before are given back.
    pub(super) fn name_apart(&mut self, names: &BTreeSet<String>, notes: &[KeptNote]) -> Vec<(ServerId, WindowId)> {
        self.watches.values_mut().for_each(|watch| watch.take_notes(notes));
        let wanted = self.wanted_names();
        if self.named.replace(wanted) == Some(wanted) {
            return Vec::new();
        }
        let levels: [fn(&Task) -> Option<String>; 4] = [given_name, window_name, session_and_window, session_and_id];
        let mut wanted: BTreeMap<String, Vec<&Task>> = BTreeMap::new();
        let mut given: Vec<(ServerId, WindowId, String)> = Vec::new();
        let mut unnamed: Vec<&Task> = self.watches.values().flat_map(TaskTracker::tasks).collect();
        let mut contenders = unnamed.clone();
        for (nth, level) in levels.into_iter().enumerate() {
            wanted.clear();
            if nth == WINDOW_NAME {
                contenders.clone_from(&unnamed);
            }
            for task in &contenders {
                level(task).into_iter().for_each(|name| wanted.entry(name).or_default().push(task));
            }
            let mut now_named = Vec::new();
            unnamed.retain(|task| {
                let Some(name) = level(task) else { return true };
                let is_taken = names.contains(name.as_str()) || given.iter().any(|(.., taken)| *taken == name);
                let alone = match wanted.get(&name).map(Vec::as_slice) {
                    Some([_]) => !is_taken,
                    // Windows are numbered in the order in which they were made; those of another server may be older.
                    Some(several) if nth == WINDOW_NAME => {
                        let has_it = |one: &Task| self.standings.0.get(&one.key).is_some_and(|(id, _)| *id == name);
                        let first = several.iter().min_by_key(|one| (!has_it(one), &one.key.server, one.window));
                        !is_taken && first.is_some_and(|first| std::ptr::eq(*first, *task))
                    }
                    _ => false,
                };
                if alone {
                    now_named.push((task.key.server.clone(), task.window, name));
                }
                !alone
            });
            given.extend(now_named);
        }
        // Ids of windows are unique on a server; what is left differs by its server alone.
        given.extend(unnamed.iter().map(|task| {
            let id = format!("{} {}/{}", task.name, task.key.server, task.window);
            (task.key.server.clone(), task.window, id)
        }));
        let mut taken: BTreeSet<String> =
            given.iter().map(|(.., id)| id.clone()).chain(names.iter().cloned()).collect();
        for task in self.gone.values_mut().flatten() {
            // One that is gone takes its name from nobody who is there.
            if !taken.insert(task.id.clone()) {
                task.id = format!("{} {}/{}", task.name, task.key.server, task.window);
            }
        }
        let mut renamed = Vec::new();
        for (server, window, id) in given {
            if self.watches.get_mut(&server).is_some_and(|watch| watch.rename(window, id)) {
                renamed.push((server, window));
            }
        }
        renamed
    }
}

impl Tasks {
    /// A number that is another one when tasks would be named otherwise. Mostly nothing has changed since the poll before.
    fn wanted_names(&self) -> u64 {
        let mut hasher = fast();
        for (server, watch) in &self.watches {
            server.hash(&mut hasher);
            for task in watch.tasks() {
                (task.window, &task.name, &task.session, &task.note.name).hash(&mut hasher);
            }
        }
        hasher.finish()
    }
}

fn given_name(task: &Task) -> Option<String> {
    task.note.name.clone()
}

/// The level of [`Tasks::name_apart`] at which one of several keeps the name.
const WINDOW_NAME: usize = 1;

fn window_name(task: &Task) -> Option<String> {
    Some(task.own_name())
}

fn session_and_window(task: &Task) -> Option<String> {
    Some(task.key.server.on_host(&format!("{}:{}", task.session, task.name)))
}

fn session_and_id(task: &Task) -> Option<String> {
    Some(task.key.server.on_host(&format!("{} {}", task.name, task.window)))
}

/// The task sessions of a server that were there before this process.
fn found(server: &ServerId, watch: &TaskTracker) -> Vec<FoundSession> {
    let mut sessions: BTreeMap<&str, FoundSession> = BTreeMap::new();
    for task in watch.tasks() {
        // What `run` started a moment ago is no leftover.
        if matches!(task.registration, Registration::Started(_)) && task.is_dead() {
            continue;
        }
        let session = sessions.entry(&task.session).or_insert_with(|| FoundSession {
            server: server.clone(),
            name: task.session.clone(),
            alive: 0,
            dead: 0,
        });
        *(if task.is_dead() { &mut session.dead } else { &mut session.alive }) += 1;
    }
    sessions.into_values().collect()
}

// How tasks stand from when on, as the history keeps it beside their events: that a question was answered, or that a
// program was there from the start, is no event (SPEC §9), and without it the time that it ran and waited would not be
// known.

/// How long another status must last before it is reported. A full-screen program that repaints itself now and then seems
/// to run each time until it has stood still again.
const LASTS: Span = SETTLED.times(2);

/// A change of a task that is no event.
#[derive(Clone, Debug)]
pub struct TaskTransition {
    pub key: TerminalKey,
    /// The task's name in the fleet.
    pub id: String,
    pub transition: Transition,
    /// Its public fields then; `None` when it is gone.
    pub state: Option<Box<TaskFields>>,
}

/// The status of each task as it was reported: by its events, and by transitions for what is no event.
#[derive(Debug, Default)]
struct Standings(BTreeMap<TerminalKey, (String, TaskStatus)>);

/// What to report after a poll.
#[derive(Debug, Default)]
pub(in crate::fleet) struct TaskChanges {
    pub changed: Vec<TaskTransition>,
    pub left: Vec<TaskTransition>,
}

impl Standings {
    /// Notes the status of a task that was reported elsewhere.
    fn remember(&mut self, task: &Task, status: TaskStatus) {
        self.0.insert(task.key.clone(), (task.id.clone(), status));
    }

    /// Compares the tasks of a server after a poll, and the events of that poll.
    fn take<'a>(
        &mut self,
        server: &ServerId,
        tasks: impl Iterator<Item = &'a Task>,
        events: &[TaskEvent],
        now: Timestamp,
    ) -> TaskChanges {
        let mut changes = TaskChanges::default();
        let mut here = BTreeSet::new();
        for task in tasks {
            here.insert(&task.key);
            let known = self.0.get(&task.key).map(|(_, status)| *status);
            let is_reported =
                |event: &&TaskEvent| event.key == task.key && !matches!(event.happening, Happening::Notify { .. });
            let by_event = events.iter().rev().find(is_reported).map(|event| event.state.status);
            let status = match (by_event, known) {
                (Some(status), _) => status,
                (None, Some(status)) if status == task.status || now.since(task.since) < LASTS => status,
                (None, known) => {
                    let at = if known.is_some() { task.since } else { now };
                    changes.changed.push(changed(task, known.unwrap_or(TaskStatus::Unknown), at));
                    task.status
                }
            };
            match self.0.get_mut(&task.key) {
                Some((id, stands)) if *id == task.id => *stands = status,
                _ => drop(self.0.insert(task.key.clone(), (task.id.clone(), status))),
            }
        }
        let is_gone = |key: &&TerminalKey| key.server == *server && !here.contains(key);
        let gone: Vec<TerminalKey> = self.0.keys().filter(is_gone).cloned().collect();
        for key in gone {
            changes.left.extend(self.0.remove(&key).map(|(id, _)| left(key, id, now)));
        }
        changes
    }

    /// Takes the tasks of a server as reported.
    fn restore<'a>(&mut self, server: &ServerId, tasks: impl Iterator<Item = &'a Task>) {
        self.0.retain(|key, _| key.server != *server);
        self.0.extend(tasks.map(|task| (task.key.clone(), (task.id.clone(), task.status))));
    }

    /// A server is watched no longer.
    fn forget(&mut self, server: &ServerId, now: Timestamp) -> Vec<TaskTransition> {
        self.take(server, std::iter::empty(), &[], now).left
    }
}

fn changed(task: &Task, from: TaskStatus, at: Timestamp) -> TaskTransition {
    let changed = vec![Change { field: "status".into(), from: json!(from), to: json!(task.status) }];
    let summary = task.status.summary(task.exit_code());
    let transition = Transition { at, changed, summary, note: None, evidence: Arc::default() };
    TaskTransition { key: task.key.clone(), id: task.id.clone(), transition, state: Some(Box::new(task.fields())) }
}

fn left(key: TerminalKey, id: String, at: Timestamp) -> TaskTransition {
    let summary: Summary = TaskStatus::Exited.summary(None);
    let transition = Transition::last(summary, LEFT, at);
    TaskTransition { key, id, transition, state: None }
}

#[cfg(test)]
mod standing_tests {
    use super::*;
    use crate::ids::{PaneId, SessionId, WindowId};
    use crate::screen::{Cursor, Screen};
    use crate::status::Status;
    use crate::task::{
        PaneState, Preview, Registration, SessionSnapshot, TaskDisplay, TaskPoll, TaskSnapshot, TaskTracker,
    };

    /// What is reported of a task whose screen, by seconds, is this; `None` is a window that is gone.
    fn changes(polls: &[(i64, Option<&str>)]) -> Vec<String> {
        let (mut watch, mut standings) = (TaskTracker::default(), Standings::default());
        let mut changes = Vec::new();
        for &(at, screen) in polls {
            let now = Timestamp::from_millis(at * 1000);
            let windows = screen.map(window).into_iter().collect();
            let session = SessionSnapshot { id: SessionId(1), name: "builds".to_owned(), windows };
            let events = watch.take(TaskPoll { sessions: vec![session], ..TaskPoll::default() }, now);
            let TaskChanges { changed, left } = standings.take(&ServerId::default(), watch.tasks(), &events, now);
            changes.extend(changed.iter().map(|task| {
                let Change { from, to, .. } = &task.transition.changed[0];
                format!("{} {from} {to}", task.transition.at.as_millis() / 1000).replace('"', "")
            }));
            changes.extend(left.iter().map(|task| format!("{} left", task.transition.at.as_millis() / 1000)));
        }
        changes
    }

    fn window(screen: &str) -> TaskSnapshot {
        let column = u16::try_from(screen.len()).unwrap();
        let cursor = Cursor { column, row: 0, visible: true };
        let dead = screen == "dead";
        let preview = Preview::of(&Screen::from_text(&format!("{screen}\n\n\n"), 80), cursor, dead);
        let command = "make".to_owned();
        let (exit_code, alternate) = (dead.then_some(2), false);
        let pane = PaneState { command, start_command: None, cwd: None, dead, exit_code, alternate, preview };
        TaskSnapshot {
            window: WindowId(1),
            name: "build".to_owned(),
            index: 1,
            key: TerminalKey { server: ServerId::default(), pane: PaneId(1), pid: 7, instance: Default::default() },
            pane: Some(pane),
            ended_at: None,
            bell: false,
            bells: None,
            registration: Registration::None,
            shown: TaskDisplay::default(),
        }
    }

    #[test]
    fn a_status_without_an_event_is_reported_with_its_beginning() {
        // It was there from the start, asks, which is an event, and is answered, which is none.
        let asks = Some("Proceed? [y/N] ");
        let polls = [(1, Some("one")), (2, asks), (3, asks), (20, Some("two")), (21, Some("two")), (25, Some("two"))];
        assert_eq!(changes(&polls), ["1 unknown running", "20 waiting_input running"]);
        let ends = [(1, Some("one")), (9, Some("dead")), (30, Some("dead")), (31, None), (32, None)];
        assert_eq!(changes(&ends), ["1 unknown running", "31 left"]);
    }

    #[test]
    fn what_lasts_no_longer_than_a_moment_is_not_reported() {
        let asks = Some("Proceed? [y/N] ");
        let polls = [(1, Some("one")), (2, asks), (3, asks), (10, Some("two")), (12, asks), (13, asks), (30, asks)];
        assert_eq!(changes(&polls), ["1 unknown running"]);
    }

    #[test]
    fn tasks_of_a_server_that_ended_are_shown_as_they_were_until_it_is_back() {
        let (mut tasks, server) = (Tasks::default(), ServerId::default());
        let session = |windows| SessionSnapshot { id: SessionId(1), name: "builds".to_owned(), windows };
        let seen = SessionView { server: server.clone(), name: "builds".to_owned(), windows: 1, declared_by: None };
        let take = |tasks: &mut Tasks, second: i64, screens: &[&str]| {
            let at = Timestamp::from_millis(second * 1000);
            let windows = (1..).zip(screens).map(|(id, screen)| {
                let key = TerminalKey { pane: PaneId(id), ..window(screen).key };
                TaskSnapshot { window: WindowId(id), name: format!("build{id}"), key, ..window(screen) }
            });
            let sessions = if screens.is_empty() { vec![] } else { vec![session(windows.collect())] };
            let poll = TaskPoll { sessions, ..TaskPoll::default() };
            let sessions = if screens.is_empty() { vec![] } else { vec![seen.clone()] };
            let report = TaskReport { server: server.clone(), at, poll, sessions };
            let taken = tasks.take(report, at, (&BTreeSet::new(), &[]), 10);
            taken.batch.events.len()
        };
        take(&mut tasks, 1, &["one", "dead"]);
        assert_eq!(take(&mut tasks, 60, &[]), 1, "that one disappeared is told as ever, and once");
        assert_eq!(take(&mut tasks, 3600, &[]), 0);
        let shown = |tasks: &Tasks| {
            let all = tasks.all().into_iter();
            all.map(|task| (task.id.clone(), task.as_status(), task.fields().as_status())).collect::<Vec<_>>()
        };
        let (gone, exited) = (Status::Gone, Status::Exited(Some(2)));
        let expected = [("build2".to_owned(), exited, exited), ("build1".to_owned(), gone, gone)];
        assert_eq!(shown(&tasks), expected);
        assert!(tasks.all().iter().all(|task| task.is_gone() && tasks.task(&server, task.window).is_none()));
        let told = serde_json::to_string(&tasks.told(&server)).unwrap();
        let mut other = Tasks::default();
        other.take_in(&server, (serde_json::from_str(&told).unwrap(), Vec::new()), true, 10);
        assert_eq!(shown(&other), expected);
        take(&mut tasks, 3700, &["three"]);
        assert_eq!(shown(&tasks), [("build1".to_owned(), Status::Running, Status::Running)]);
    }
}
