//! Consecutive polls of the task windows of one server, and what happened between them.

use std::collections::{BTreeMap, BTreeSet};

use super::prompt::PromptDetector;
use super::snapshot::{
    PaneState, Preview, Registration, SessionSnapshot, TaskDisplay, TaskFields, TaskHistory, TaskPoll, TaskSnapshot,
};
use super::{Happening, TaskEvent, rang};
use crate::ids::{SessionId, TerminalKey, WindowId};
use crate::state::{KeptNote, Note, Problem, Since, TaskStatus};
use crate::status::Status;
use crate::time::Timestamp;
use crate::tracker::Settings;

/// The tasks of one server over time. The first poll of a session is its baseline and makes no events, except for
/// windows that `fleetwatch run` started and nobody has reported.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct TaskTracker {
    /// Whether the server was polled before: a window of `run` in a session that was not there then is news.
    has_polled: bool,
    /// The sessions whose baseline is known.
    sessions: BTreeSet<SessionId>,
    tasks: BTreeMap<WindowId, Task>,
    /// Windows that the operator has killed, and the words for it.
    killed: BTreeMap<WindowId, String>,
    /// Since when polls of the server fail, and how many have failed.
    #[serde(default)]
    failing: Option<(Timestamp, u32)>,
}

/// One task as it was last seen.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Task {
    /// The task's unique name in the fleet.
    pub id: String,
    pub key: TerminalKey,
    pub window: WindowId,
    /// The name of the window.
    pub name: String,
    /// The index of the window in its session.
    pub index: u32,
    pub session: String,
    pub session_id: SessionId,
    pub status: TaskStatus,
    /// When the status began.
    pub since: Timestamp,
    /// Whether that is exact; if not, it has lasted at least since then.
    #[serde(default)]
    pub since_exact: bool,
    /// When the program began to run, or was first seen.
    pub started_at: Timestamp,
    /// The last known state of the pane.
    pub pane: Option<PaneState>,
    /// Whether that state is from the last poll.
    pub known: bool,
    pub bell: bool,
    /// Bells since the program was first seen.
    pub bells: u64,
    pub registration: Registration,
    pub shown: TaskDisplay,
    /// The operator's note on it.
    #[serde(default)]
    pub note: Note,
    /// Why it cannot be polled now, and its status before; meanwhile its status is unknown.
    #[serde(default)]
    unreachable: Option<Unreachable>,
    /// Whether it is gone with its server.
    #[serde(default)]
    is_gone: bool,
    /// Whether it was known before the first poll, and this process has not polled it yet.
    unwatched: bool,
    /// Whether it still shows what the first poll found.
    #[serde(default)]
    as_found: bool,
    counter: Option<u64>,
    /// The last poll showed the flag, and the counter does not include that bell yet.
    flag_awaits_counter: bool,
    /// The last poll showed the flag, there was no counter, and the flag was counted.
    counted_by_flag: bool,
    standing: PromptDetector,
}

/// The kind of problem of a task whose server ended.
pub(super) const GONE: &str = "no_server";

/// Why a task cannot be polled, and its status when it could.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Unreachable {
    problem: Problem,
    status: TaskStatus,
    since: Timestamp,
    #[serde(default)]
    since_exact: bool,
}

impl TaskTracker {
    /// Begins with what is known of the tasks; the first poll shows what has happened to them since.
    pub fn known(known: Vec<TaskHistory>) -> Self {
        let mut watch = Self::default();
        for TaskHistory { key, fields, killed } in known {
            let Some(task) = Task::known(key, fields) else { continue };
            watch.killed.extend(killed.map(|reason| (task.window, reason)));
            watch.tasks.insert(task.window, task);
        }
        watch
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

impl Task {
    /// Its name, not counting the operator's own, as long as no other task has it.
    pub fn own_name(&self) -> String {
        self.key.server.on_host(&self.name)
    }

    /// A task as it was known before the first poll.
    fn known(key: TerminalKey, fields: TaskFields) -> Option<Self> {
        let (window, index, name) = fields.window().map(|(id, index, name)| (id, index, name.to_owned()))?;
        let pane = PaneState {
            command: fields.command.unwrap_or_default(),
            start_command: fields.start_command,
            cwd: fields.cwd,
            dead: fields.dead,
            exit_code: fields.exit_code,
            alternate: false,
            preview: Preview::of_lines(fields.preview),
        };
        Some(Self {
            id: fields.id,
            key,
            window,
            name,
            index,
            session: fields.session,
            // Those of sessions come with the first poll.
            session_id: SessionId(0),
            status: fields.status,
            since: fields.since,
            since_exact: fields.since_exact,
            started_at: fields.started_at,
            pane: Some(pane),
            known: fields.known,
            bell: fields.bell,
            bells: fields.bells,
            registration: Registration::None,
            shown: TaskDisplay::default(),
            note: Note::default(),
            unreachable: None,
            is_gone: false,
            unwatched: true,
            as_found: false,
            counter: Some(fields.bells),
            flag_awaits_counter: false,
            counted_by_flag: false,
            standing: PromptDetector::known(fields.prompt),
        })
    }

    fn new(
        window: TaskSnapshot,
        session_id: SessionId,
        session: &str,
        is_baseline: bool,
        now: Timestamp,
        events: &mut Vec<TaskEvent>,
    ) -> Self {
        let registration = window.registration;
        let mut task = Self {
            id: window.name.clone(),
            key: window.key,
            window: window.window,
            name: window.name,
            index: window.index,
            session: session.to_owned(),
            session_id,
            status: TaskStatus::Unknown,
            since: now,
            since_exact: !is_baseline,
            started_at: registration.at().map_or(now, |at| at.min(now)),
            known: window.pane.is_some(),
            pane: None,
            bell: window.bell,
            bells: window.bells.unwrap_or(0).max(u64::from(window.bell)),
            registration,
            shown: window.shown,
            note: Note::default(),
            unreachable: None,
            is_gone: false,
            unwatched: false,
            as_found: is_baseline,
            // The counter may lag the flag by a moment, and must not count the same bell again.
            counter: window.bells.map(|bells| if is_baseline { bells } else { bells.max(u64::from(window.bell)) }),
            flag_awaits_counter: false,
            counted_by_flag: window.bells.is_none() && window.bell && !is_baseline,
            standing: PromptDetector::default(),
        };
        let prompt = task.take_pane(window.pane, window.ended_at, now, is_baseline);
        debug_assert!(prompt.is_none(), "a prompt is reported by the second poll");
        if task.status == TaskStatus::Running {
            (task.since, task.since_exact) = (task.started_at, !is_baseline || registration.at().is_some());
        }
        task.started_at = task.started_at.min(task.since);
        let unreported = matches!(registration, Registration::Started(_));
        let dead = task.is_dead();
        match (is_baseline, dead) {
            (true, true) if unreported => task.ended(task.bells, now, events),
            (true, _) => {}
            (false, true) => task.ended(task.bells, now, events),
            (false, false) => {
                events.push(task.event(now, Happening::Started));
                task.rang(task.bells, now, events);
            }
        }
        task
    }

    /// Takes in the next poll of the same window.
    fn poll(
        &mut self,
        window: TaskSnapshot,
        session_id: SessionId,
        session: &str,
        now: Timestamp,
        events: &mut Vec<TaskEvent>,
    ) {
        let mut unseen = self.unwatched;
        if let Some(Unreachable { status, since, since_exact, .. }) = self.unreachable.take() {
            (self.status, self.since, self.since_exact) = (status, since, since_exact);
            unseen = true;
        }
        let again = !window.key.may_be(&self.key);
        // If the first of several panes is gone, the next one represents the window, but has not just begun.
        let in_place = window.key.pane == self.key.pane;
        let was_dead = self.is_dead();
        if again && !was_dead {
            // The program was replaced between two polls; how the old one ended is not known.
            events.push(self.event(now, Happening::Exited { code: None, bells: 0 }));
        }
        if !std::mem::take(&mut self.unwatched) && window.registration.at() != self.registration.at() {
            // `run` started it, and the count with it.
            self.counter = self.counter.map(|_| 0);
        }
        (self.name, self.index, self.registration) = (window.name, window.index, window.registration);
        (self.session_id, self.key, self.shown) = (session_id, window.key, window.shown);
        if self.session != session {
            self.session = session.to_owned();
        }
        if again {
            self.begin_anew(now, unseen);
        }
        if let Some(ended) = window.pane.as_ref().filter(|pane| pane.dead && again && in_place) {
            // It began and ended between two polls.
            self.status = TaskStatus::Running;
            self.pane = Some(PaneState { dead: false, exit_code: None, ..ended.clone() });
            // Not after its end, which tmux may have dated.
            let at = window.ended_at.filter(|_| unseen).map_or(now, |at| at.min(now));
            events.push(self.event(at, Happening::Started));
        }
        let rung = self.count(window.bell, window.bells);
        self.known = window.pane.is_some();
        let prompt = self.take_pane(window.pane, window.ended_at, now, unseen);
        match (self.is_dead(), was_dead && !again) {
            (true, false) => self.ended(rung, now, events),
            (false, _) if again && in_place => {
                events.push(self.event(now, Happening::Started));
                self.rang(rung, now, events);
            }
            _ => self.rang(rung, now, events),
        }
        if let Some(prompt) = prompt {
            events.push(self.event(now, Happening::Input { prompt }));
        }
    }

    /// The prompt that the task waits at.
    pub fn prompt(&self) -> Option<&str> {
        self.standing.prompt()
    }

    /// Whether it may wait at a prompt, which only another poll can tell.
    pub fn may_ask(&self) -> bool {
        self.standing.may_ask()
    }

    /// Whether its program has ended.
    pub fn is_dead(&self) -> bool {
        self.pane.as_ref().is_some_and(|pane| pane.dead)
    }

    /// Whether its window is gone with its whole server: it is shown as it was, and nothing can be done to it.
    pub fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// What becomes of it when its server ends: a program that had ended before keeps how it did.
    pub fn gone_with_server(mut self, now: Timestamp) -> Self {
        if !self.is_dead() {
            // Nothing that it could not be polled for counts any more.
            if let Some(Unreachable { status, .. }) = self.unreachable.take() {
                self.status = status;
            }
            self.lost(&Problem { kind: GONE.to_owned(), message: "its tmux server ended".to_owned() }, now);
        }
        (self.is_gone, self.known) = (true, false);
        self
    }

    /// What it was when it was polled last, where it cannot be polled now.
    pub fn before(&self) -> Option<Status> {
        self.unreachable.as_ref().map(|unreachable| Status::of_task(unreachable.status, None))
    }

    /// The exit code of a program that has ended, if tmux reports it.
    pub fn exit_code(&self) -> Option<i32> {
        self.pane.as_ref().filter(|pane| pane.dead)?.exit_code
    }

    /// What runs in it: the command that it was started with, else the program.
    pub fn command(&self) -> &str {
        let pane = self.pane.as_ref();
        pane.map_or("", |pane| pane.start_command.as_deref().unwrap_or(&pane.command))
    }

    /// When its status began.
    pub fn began(&self) -> Since {
        Since { at: self.since, exact: self.since_exact }
    }

    /// What it is to a person.
    pub fn as_status(&self) -> Status {
        match self.unreachable {
            Some(_) if self.is_gone => Status::Gone,
            Some(_) => Status::Error,
            None => Status::of_task(self.status, self.exit_code()),
        }
    }

    /// Why it cannot be polled now; `None` if the last poll succeeded.
    pub fn problem(&self) -> Option<&Problem> {
        self.unreachable.as_ref().map(|unreachable| &unreachable.problem)
    }

    /// How often it rang, for people; `None` if it did not.
    pub fn rings(&self) -> Option<String> {
        let bells = self.bells.max(u64::from(self.bell));
        (bells > 0).then(|| rang(bells))
    }

    /// The last lines of its output.
    pub fn preview(&self) -> Preview {
        self.pane.as_ref().map(|pane| pane.preview.clone()).unwrap_or_default()
    }

    /// The public fields.
    pub fn fields(&self) -> TaskFields {
        let pane = self.pane.as_ref();
        TaskFields {
            kind: "task",
            id: self.id.clone(),
            host: self.key.server.host.as_deref().map(str::to_owned),
            socket: self.key.server.socket.to_string(),
            session: self.session.clone(),
            window_id: self.window.to_string(),
            window: format!("{}:{}", self.index, self.name),
            pane: self.key.pane.to_string(),
            pid: self.key.pid,
            known: self.known,
            status: self.status,
            since: self.since,
            since_exact: self.since_exact,
            started_at: self.started_at,
            command: pane.map(|pane| pane.command.clone()),
            start_command: pane.and_then(|pane| pane.start_command.clone()),
            cwd: pane.and_then(|pane| pane.cwd.clone()),
            dead: self.is_dead(),
            exit_code: self.exit_code(),
            bell: self.bell,
            bells: self.bells,
            prompt: self.prompt().map(str::to_owned),
            preview: self.preview().lines().to_vec(),
            probe_error: self.problem().cloned(),
        }
    }

    /// It cannot be polled: what was seen last is kept, but its status is unknown.
    fn lost(&mut self, problem: &Problem, now: Timestamp) {
        match &mut self.unreachable {
            Some(unreachable) => unreachable.problem = problem.clone(),
            None => {
                let (status, Since { at: since, exact: since_exact }) = (self.status, self.began());
                self.unreachable = Some(Unreachable { problem: problem.clone(), status, since, since_exact });
                (self.status, self.since, self.since_exact, self.known) = (TaskStatus::Unknown, now, true, false);
            }
        }
    }

    /// Takes in the state of the pane, if it is known; returns the prompt that the poll confirms. `unseen` says that nobody
    /// saw the change: only tmux knows when it was.
    fn take_pane(
        &mut self,
        pane: Option<PaneState>,
        ended_at: Option<Timestamp>,
        now: Timestamp,
        unseen: bool,
    ) -> Option<String> {
        let pane = pane?;
        let stands = |before: &PaneState| (&before.preview, before.dead) == (&pane.preview, pane.dead);
        self.as_found &= self.pane.as_ref().is_none_or(stands);
        let prompt = self.standing.poll(&pane, now).map(str::to_owned);
        let status = self.standing.status(&pane, now);
        if status != self.status {
            let ended = ended_at.filter(|_| unseen || self.as_found);
            (self.since, self.since_exact) = match ended {
                // tmux counts whole seconds, in one of which it may have begun as well.
                Some(at) => (self.registration.at().map_or(at, |began| at.max(began)).min(now), true),
                None if unseen => (now, false),
                // What the first poll found is understood only now.
                None if self.as_found => (self.since, false),
                None => (now, true),
            };
            self.status = status;
        }
        self.pane = Some(pane);
        prompt
    }

    /// Another program runs in the same window.
    fn begin_anew(&mut self, now: Timestamp, unseen: bool) {
        self.started_at = self.registration.at().map_or(now, |at| at.min(now));
        (self.since, self.since_exact) = (now, !unseen);
        (self.pane, self.as_found) = (None, false);
        self.status = TaskStatus::Unknown;
        self.standing = PromptDetector::default();
        self.bells = 0;
    }

    /// How many bells rang since the last poll.
    fn count(&mut self, flag: bool, counter: Option<u64>) -> u64 {
        let rose = flag && !self.bell;
        self.bell = flag;
        let before = std::mem::replace(&mut self.counter, counter);
        let awaited = std::mem::take(&mut self.flag_awaits_counter);
        let counted = std::mem::replace(&mut self.counted_by_flag, rose && counter.is_none());
        let rung = match (before, counter) {
            // The counter is new.
            (None, Some(counter)) => counter.saturating_sub(u64::from(counted)),
            (Some(before), Some(counter)) if counter > before => counter - before,
            // The counter is a hook that runs a moment after the flag is set: the next poll will show it.
            (Some(_), Some(_)) if rose => {
                self.flag_awaits_counter = true;
                0
            }
            _ => u64::from(rose || awaited),
        };
        self.bells += rung;
        rung
    }

    /// Its program has ended: when tmux says so, where nobody saw it.
    fn ended(&self, bells: u64, now: Timestamp, events: &mut Vec<TaskEvent>) {
        let at = if self.status == TaskStatus::Exited { self.since.min(now) } else { now };
        events.push(self.event(at, Happening::Exited { code: self.exit_code(), bells }));
    }

    fn rang(&self, bells: u64, now: Timestamp, events: &mut Vec<TaskEvent>) {
        if bells > 0 {
            events.push(self.event(now, Happening::Notify { bells }));
        }
    }

    /// Something that happened to it.
    pub(crate) fn event(&self, at: Timestamp, happening: Happening) -> TaskEvent {
        TaskEvent {
            at,
            id: self.id.clone(),
            window: self.window,
            name: self.name.clone(),
            session: self.session.clone(),
            key: self.key.clone(),
            happening,
            preview: self.preview(),
            state: Box::new(self.fields()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{PaneId, ServerId};
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
            TaskHistory { key: task.key.clone(), fields: serde_json::from_value(fields).unwrap(), killed }
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
        assert!(why(1).contains("exited 3 for 1m10"), "{}", why(1));
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
