//! One task: what consecutive polls say of its window, what happened between them, and why it has its status.

use std::fmt::Write as _;

use super::event::{Happening, TaskEvent, rang};
use super::prompt::PromptDetector;
use super::snapshot::{GONE, PaneState, Preview, Registration, TaskDisplay, TaskFields, TaskHistory, TaskSnapshot};
use crate::ids::{NamedPlace, PaneLocation, SessionId, TerminalKey, WindowId, is_id};
use crate::state::{Note, Problem, Since, TaskStatus};
use crate::status::Status;
use crate::time::Timestamp;

/// One task as it was last seen.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
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
    pub(super) unwatched: bool,
    /// Whether it still shows what the first poll found.
    #[serde(default)]
    as_found: bool,
    counter: Option<u64>,
    /// The last poll showed the flag, and the counter does not include that bell yet.
    flag_awaits_counter: bool,
    /// When the last event happened that was told of it.
    #[serde(default)]
    told_until: Option<Timestamp>,
    /// The last poll showed the flag, there was no counter, and the flag was counted.
    counted_by_flag: bool,
    standing: PromptDetector,
}

/// Why a task cannot be polled, and its status when it could.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Unreachable {
    problem: Problem,
    status: TaskStatus,
    since: Timestamp,
    #[serde(default)]
    since_exact: bool,
}

impl Task {
    /// Its name, not counting the operator's own, as long as no other task has it.
    pub fn own_name(&self) -> String {
        self.key.server.on_host(&self.name)
    }

    /// A task as it was known before the first poll.
    pub(super) fn known(TaskHistory { key, fields, at, .. }: TaskHistory) -> Option<Self> {
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
            told_until: Some(at),
            counted_by_flag: false,
            standing: PromptDetector::known(fields.prompt),
        })
    }

    pub(super) fn new(
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
            told_until: None,
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
    pub(super) fn poll(
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

    /// Its state when its server ends: a program that had ended before keeps its result.
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

    /// Its status at the last poll, if it cannot be polled now.
    pub fn before(&self) -> Option<Status> {
        self.unreachable.as_ref().map(|unreachable| Status::of_task(unreachable.status, None))
    }

    /// The exit code of a program that has ended, if tmux reports it.
    pub fn exit_code(&self) -> Option<i32> {
        self.pane.as_ref().filter(|pane| pane.dead)?.exit_code
    }

    /// Its command: the one that started it, else the program.
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
    pub(super) fn lost(&mut self, problem: &Problem, now: Timestamp) {
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
                // tmux counts whole seconds, in one of which it may have begun as well, and have been seen running.
                Some(at) => {
                    let lived_until = self.registration.at().max(self.told_until);
                    (lived_until.map_or(at, |alive| at.max(alive)).min(now), true)
                }
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

    /// An event of it is told.
    pub(super) fn was_told(&mut self, at: Timestamp) {
        self.told_until = self.told_until.max(Some(at));
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

    /// What is known of it, for a process that watches it from now on.
    pub fn as_known(&self) -> TaskHistory {
        TaskHistory {
            key: self.key.clone(),
            fields: self.fields(),
            at: self.told_until.unwrap_or(self.since),
            killed: None,
        }
    }

    /// Where its window stands.
    pub fn place(&self) -> PaneLocation {
        PaneLocation {
            session: self.session.clone(),
            window_index: self.index,
            window_name: self.name.clone(),
            ..PaneLocation::default()
        }
    }

    /// The place in a target that means this task; none if the target is an id or the operator's name for it.
    pub fn named_by(&self, target: &str) -> Option<NamedPlace> {
        if is_id(target) || self.note.name.as_deref() == Some(target) {
            return None;
        }
        let name = self.key.server.without_host(target).unwrap_or(target);
        let by_window = || NamedPlace { window_index: None, pane_index: None, ..self.place().whole() };
        self.place().named(name).or_else(|| self.id.ends_with(name).then(by_window))
    }
}

// Why a task has its status.

/// How many lines of output are shown for a program that has ended.
const LAST: usize = 3;

/// The first exit code that stands for a signal.
const SIGNALS: i32 = 128;

impl Task {
    /// Why it has its status, as text for people; headings are not indented.
    pub fn why(&self, now: Timestamp) -> String {
        let word = self.as_status().word();
        // What a first poll finds may have lasted for long.
        let (is_seen, more) = (self.since_exact, if self.since_exact { "" } else { "more than " });
        let mut text = format!("{word} for {more}{}\n", now.since(self.since).rounded());
        for reason in self.reasons() {
            let _ = writeln!(text, "  {reason}");
        }
        text.push_str("\nThe program\n");
        let _ = writeln!(text, "  {}", self.command());
        let how = match self.registration {
            Registration::None => "first seen",
            Registration::Started(_) | Registration::Reported(_) => "started by `fleetwatch run`",
        };
        let ran = match (self.is_dead(), is_seen && self.started_at < self.since) {
            (true, false) => "ended before that poll".to_owned(),
            (true, true) => format!("ran for {}", self.since.since(self.started_at).rounded()),
            (false, _) if self.is_gone() => format!("ran for {}", self.since.since(self.started_at).rounded()),
            (false, _) => format!("has run for {}", now.since(self.started_at).rounded()),
        };
        let _ = writeln!(text, "  {how} {} ago, {ran}", now.since(self.started_at).rounded());
        match self.bells {
            0 => {}
            1 => text.push_str("  rang once\n"),
            bells => {
                let _ = writeln!(text, "  rang {bells} times");
            }
        }
        text
    }

    fn reasons(&self) -> Vec<String> {
        if let Some(problem) = self.problem() {
            return vec![problem.message.clone(), "what is shown is what was seen last".to_owned()];
        }
        let Some(pane) = &self.pane else { return vec!["the state of its pane is not known".to_owned()] };
        let command = &pane.command;
        match (self.status, self.prompt()) {
            (TaskStatus::Exited, _) => {
                let code = match self.exit_code() {
                    Some(code) if code > SIGNALS => {
                        format!("signal {} ended it: {code}, as shells say it", code - SIGNALS)
                    }
                    Some(code) => format!("its pane is dead, and tmux reports code {code}"),
                    None => "its pane is dead, and tmux does not report how it ended".to_owned(),
                };
                let last = pane.preview.useful(LAST).into_iter().map(|line| format!("last output: {line}"));
                [code].into_iter().chain(last).collect()
            }
            (TaskStatus::WaitingInput, Some(prompt)) => vec![
                format!("it asks: {prompt}"),
                "the cursor is where the answer goes, and two polls in a row showed the same".to_owned(),
            ],
            (TaskStatus::WaitingInput, None) => vec![format!("{command} fills the screen and waits for keys")],
            (TaskStatus::Idle, _) => vec![format!("the cursor is behind the prompt of {command}")],
            (TaskStatus::Running | TaskStatus::Unknown, _) if self.may_ask() => {
                vec![format!("{command} runs; the next poll shows whether its last row asks")]
            }
            (TaskStatus::Running | TaskStatus::Unknown, _) => {
                vec![format!("{command} runs, and nothing on its screen asks")]
            }
        }
    }
}
