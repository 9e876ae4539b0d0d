//! Tasks: watched windows that run something other than a known agent, and what happens in them (SPEC §9).
//!
//! [`TaskTracker`] compares consecutive polls of the task windows of one server and says what happened between them. It is
//! pure: the same polls with the same times give the same [`TaskEvent`]s, and it knows no clock, no tmux and no file.

mod event;
mod prompt;
mod snapshot;
mod window;

use std::collections::{BTreeMap, BTreeSet};

pub use event::{Batch, Happening, Level, TaskEvent, rang};
pub use prompt::{SETTLED, TaskPrompt};
pub use snapshot::{
    PaneState, Preview, Registration, SessionSnapshot, TaskDisplay, TaskFields, TaskHistory, TaskPoll, TaskSnapshot,
};
pub use window::Task;

use crate::ids::{SessionId, WindowId};
use crate::state::{KeptNote, Problem, TaskStatus};
use crate::time::Timestamp;
use crate::tracker::Settings;

/// The tasks of one server over time. The first poll of a session is its baseline and makes no events, except for
/// windows that `fleetwatch run` started and nobody has reported.
#[derive(Clone, Debug, Default)]
pub struct TaskTracker {
    /// Whether the server was polled before: a window of `run` in a session that was not there then is news.
    has_polled: bool,
    /// The sessions whose baseline is known.
    sessions: BTreeSet<SessionId>,
    tasks: BTreeMap<WindowId, Task>,
    /// Windows that the operator has killed, and the words for it.
    killed: BTreeMap<WindowId, String>,
    /// Since when polls of the server fail, and how many have failed.
    failing: Option<(Timestamp, u32)>,
}

impl TaskTracker {
    /// Begins with what is known of the tasks; the first poll shows what has happened to them since.
    pub fn known(known: Vec<TaskHistory>) -> Self {
        let mut watch = Self::default();
        for known in known {
            let killed = known.killed.clone();
            let Some(task) = Task::known(known) else { continue };
            watch.killed.extend(killed.map(|reason| (task.window, reason)));
            watch.tasks.insert(task.window, task);
        }
        watch
    }

    /// The tasks as another process has them, which takes in the polls.
    pub fn told(tasks: Vec<Task>) -> Self {
        Self { tasks: tasks.into_iter().map(|task| (task.window, task)).collect(), ..Self::default() }
    }

    /// Takes in a poll; returns what happened since the previous one, windows that are gone first.
    pub fn take(&mut self, poll: TaskPoll, now: Timestamp) -> Vec<TaskEvent> {
        let mut events = Vec::new();
        self.failing = None;
        let TaskPoll { sessions, elsewhere, awaited } = poll;
        let there: BTreeSet<WindowId> = sessions
            .iter()
            .flat_map(|session| session.windows.iter().map(|window| window.window))
            .chain(awaited)
            .collect();
        self.let_go(&there, &elsewhere, now, &mut events);
        let mut taken = BTreeSet::new();
        let mut baselines = BTreeSet::new();
        for session in sessions {
            let is_baseline = !self.sessions.contains(&session.id);
            baselines.insert(session.id);
            let SessionSnapshot { id, name, windows } = session;
            // A window that is linked into several sessions is one task.
            for window in windows.into_iter().filter(|window| taken.insert(window.window)) {
                match self.tasks.get_mut(&window.window) {
                    Some(task) => task.poll(window, id, &name, now, &mut events),
                    None => {
                        let window_id = window.window;
                        let is_news = self.has_polled && window.registration.at().is_some();
                        let task = Task::new(window, id, &name, is_baseline && !is_news, now, &mut events);
                        self.tasks.insert(window_id, task);
                    }
                }
            }
        }
        for event in &events {
            self.tasks.get_mut(&event.window).into_iter().for_each(|task| task.was_told(event.at));
        }
        self.sessions = baselines;
        self.has_polled = true;
        self.killed.retain(|window, _| self.tasks.contains_key(window));
        events
    }

    /// A poll failed. Once that repeats, tasks that ran are unreachable, as agents are (SPEC §3); ended ones stay ended.
    pub fn failed(&mut self, problem: &Problem, settings: &Settings, now: Timestamp) {
        let (since, count) = self.failing.map_or((now, 1), |(since, count)| (since, count + 1));
        self.failing = Some((since, count));
        if count < settings.failed_probes && now.since(since) < settings.failed_probe_time {
            return;
        }
        for task in self.tasks.values_mut().filter(|task| !task.is_dead()) {
            task.lost(problem, now);
        }
    }

    /// Notes that the operator kills a window, as the reason once it is gone.
    pub fn killed(&mut self, window: WindowId, reason: String) {
        self.killed.insert(window, reason);
    }

    /// All tasks, by the ids of their windows.
    pub fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.tasks.values()
    }

    /// One task.
    pub fn task(&self, window: WindowId) -> Option<&Task> {
        self.tasks.get(&window)
    }

    /// Sets a task's unique name; returns whether it changed.
    pub fn rename(&mut self, window: WindowId, id: String) -> bool {
        let Some(task) = self.tasks.get_mut(&window).filter(|task| task.id != id) else { return false };
        task.id = id;
        true
    }

    /// Takes over the notes on its tasks.
    pub fn take_notes(&mut self, notes: &[KeptNote]) {
        for task in self.tasks.values_mut() {
            let note = notes.iter().find(|noted| noted.is_of(&task.key, None));
            task.note = note.map(|noted| noted.note.clone()).unwrap_or_default();
        }
    }

    fn let_go(
        &mut self,
        there: &BTreeSet<WindowId>,
        elsewhere: &BTreeSet<WindowId>,
        now: Timestamp,
        events: &mut Vec<TaskEvent>,
    ) {
        let gone: Vec<WindowId> = self.tasks.keys().filter(|window| !there.contains(window)).copied().collect();
        for window in gone {
            let Some(task) = self.tasks.remove(&window) else { continue };
            // The end of a dead window that goes has been reported, and one that was moved lives on.
            if task.status != TaskStatus::Exited && !elsewhere.contains(&window) {
                let unwatched = || task.unwatched.then(|| "while nobody watched".to_owned());
                let reason = self.killed.remove(&window).or_else(unwatched);
                events.push(task.event(now, Happening::Disappeared { reason }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{PaneId, ServerId, TerminalKey};
    use crate::screen::{Cursor, Screen};

    fn key(pane: u32) -> TerminalKey {
        TerminalKey { server: ServerId::default(), pane: PaneId(pane), pid: pane, instance: Default::default() }
    }

    fn window(number: u32, screen: &str, exit_code: Option<i32>, bells: u64) -> TaskSnapshot {
        let cursor = Cursor { column: u16::try_from(screen.len()).unwrap(), row: 0, visible: true };
        let preview = Preview::of(&Screen::from_text(screen, 80), cursor, exit_code.is_some());
        let (command, dead) = ("make".to_owned(), exit_code.is_some());
        let pane = PaneState { command, start_command: None, cwd: None, dead, exit_code, alternate: false, preview };
        TaskSnapshot {
            window: WindowId(number),
            name: format!("t{number}"),
            index: number,
            key: key(number),
            pane: Some(pane),
            ended_at: None,
            bell: false,
            bells: Some(bells),
            registration: Registration::Started(Timestamp::from_millis(1)),
            shown: TaskDisplay::default(),
        }
    }

    fn poll(watch: &mut TaskTracker, windows: Vec<TaskSnapshot>, seconds: i64) -> Vec<String> {
        let session = SessionSnapshot { id: SessionId(1), name: "builds".to_owned(), windows };
        let events = watch
            .take(TaskPoll { sessions: vec![session], ..TaskPoll::default() }, Timestamp::from_millis(seconds * 1000));
        events.iter().map(TaskEvent::text).collect()
    }

    #[test]
    fn a_task_that_runs_again_and_ends_before_its_exit_status_is_known_has_started() {
        let mut watch = TaskTracker::default();
        poll(&mut watch, vec![window(1, "one", None, 0)], 1);
        assert_eq!(poll(&mut watch, vec![window(1, "one", Some(4), 0)], 2), ["task t1 (@1) exited with code 4"]);
        let awaited = BTreeSet::from([WindowId(1)]);
        let events = watch.take(TaskPoll { awaited, ..TaskPoll::default() }, Timestamp::from_millis(3_000));
        assert!(events.is_empty(), "{events:?}");
        let again = TaskSnapshot { key: TerminalKey { pid: 2, ..key(1) }, ..window(1, "one", Some(4), 0) };
        let events = poll(&mut watch, vec![again], 4);
        assert_eq!(events, ["task t1 (@1) started", "task t1 (@1) exited with code 4"]);
    }

    #[test]
    fn a_watch_that_goes_on_tells_what_happened_since_and_nothing_else() {
        let asks = "Proceed? [y/N] ";
        let mut before = TaskTracker::default();
        let windows = |watch: &mut TaskTracker, at| {
            let windows = vec![
                window(1, "one", None, 0),
                window(2, "two", None, 0),
                window(3, asks, None, 2),
                window(4, "four", Some(1), 0),
                window(5, "five", None, 1),
                window(6, "six", None, 0),
            ];
            poll(watch, windows, at)
        };
        windows(&mut before, 10);
        windows(&mut before, 12);
        // As the history keeps it.
        let known = |task: &Task| {
            let fields = serde_json::to_value(task.fields()).unwrap();
            let killed = (task.window == WindowId(6)).then(|| "killed from the dashboard".to_owned());
            TaskHistory { fields: serde_json::from_value(fields).unwrap(), killed, ..task.as_known() }
        };
        let mut after = TaskTracker::known(before.tasks().map(known).collect());
        let now = vec![
            window(1, "one and more", None, 0),
            window(2, "two", Some(3), 0),
            window(3, asks, None, 2),
            window(4, "four", Some(1), 0),
            window(7, "seven", None, 0),
        ];
        let events = poll(&mut after, now.clone(), 100);
        assert_eq!(
            events,
            [
                "task t5 (@5) disappeared: while nobody watched",
                "task t6 (@6) disappeared: killed from the dashboard",
                "task t2 (@2) exited with code 3",
            ]
        );
        let first = after.task(WindowId(1)).unwrap();
        assert_eq!((first.started_at, first.since), (Timestamp::from_millis(1), Timestamp::from_millis(1)));
        assert_eq!(after.task(WindowId(3)).map(Task::prompt), Some(Some(asks.trim())));
        assert_eq!([poll(&mut after, now.clone(), 102), poll(&mut after, now, 104)], [vec![""; 0], vec![""; 0]]);
    }

    #[test]
    fn an_end_that_tmux_dates_to_the_second_is_not_before_what_was_told() {
        let at = Timestamp::from_millis;
        let take = |watch: &mut TaskTracker, window, now| {
            let session = SessionSnapshot { id: SessionId(1), name: "builds".to_owned(), windows: vec![window] };
            watch.take(TaskPoll { sessions: vec![session], ..TaskPoll::default() }, at(now))
        };
        let mut before = TaskTracker { has_polled: true, ..TaskTracker::default() };
        let began = Registration::Started(at(28_912));
        let runs = TaskSnapshot { registration: began, ..window(1, "one", None, 0) };
        let started = take(&mut before, runs, 29_031);
        assert_eq!(started[0].at, at(29_031));
        let known = |watch: &TaskTracker| TaskTracker::known(watch.tasks().map(Task::as_known).collect());
        let ended = || TaskSnapshot { ended_at: Some(at(29_000)), registration: began, ..window(1, "one", Some(0), 0) };
        let mut after = known(&before);
        let ends = take(&mut after, ended(), 30_000);
        assert_eq!((ends[0].text().as_str(), ends[0].at), ("task t1 (@1) exited with code 0", at(29_031)));
        assert_eq!(take(&mut known(&after), ended(), 31_000), []);
    }

    #[test]
    fn a_first_poll_does_not_make_young_what_is_old() {
        let mut watch = TaskTracker::default();
        let unregistered = |window: TaskSnapshot| TaskSnapshot { registration: Registration::None, ..window };
        let ended = |window: TaskSnapshot, seconds: i64| TaskSnapshot {
            ended_at: Some(Timestamp::from_millis(seconds * 1000)),
            ..unregistered(window)
        };
        let windows = |code: Option<i32>| {
            vec![
                ended(window(1, "reported", Some(3), 0), 40),
                unregistered(window(2, "not reported", Some(3), 0)),
                unregistered(window(3, "runs", code, 0)),
                unregistered(window(4, "Proceed? [y/N] ", None, 0)),
                window(5, "started by run", None, 0),
            ]
        };
        let began = |watch: &TaskTracker| {
            let tasks = watch.tasks().map(|task| (task.since.as_millis() / 1000, task.since_exact));
            tasks.collect::<Vec<_>>()
        };
        poll(&mut watch, windows(None), 100);
        poll(&mut watch, windows(None), 102);
        // The question stood there in the first poll, which could not tell that it is one.
        assert_eq!(began(&watch), [(40, true), (100, false), (100, false), (100, false), (0, true)]);
        assert_eq!(watch.task(WindowId(4)).map(|task| task.status), Some(TaskStatus::WaitingInput));
        let why = |number| watch.task(WindowId(number)).unwrap().why(Timestamp::from_millis(110_000));
        assert!(why(1).contains("exited 3 for 1m"), "{}", why(1));
        assert!(why(2).contains("exited 3 for more than 10s"), "{}", why(2));
        poll(&mut watch, windows(Some(0)), 120);
        assert_eq!(began(&watch)[2], (120, true), "somebody was watching");
        let away = vec![ended(window(5, "started by run", Some(1), 0), 130)];
        for seconds in [125, 140] {
            let problem = Problem { kind: "x".to_owned(), message: "x".to_owned() };
            watch.failed(&problem, &Settings::default(), Timestamp::from_millis(seconds * 1000));
        }
        poll(&mut watch, away, 150);
        assert_eq!(began(&watch), [(130, true)], "it ended while nobody could ask");
    }
}
