//! Stories of tasks, one a file: what each poll of the windows of a server shows, and what is reported to have happened.

use std::collections::{BTreeMap, BTreeSet};

use fleetwatch::ids::{PaneId, ServerId, SessionId, TerminalKey, WindowId};
use fleetwatch::screen::{Cursor, Screen};
use fleetwatch::task::{
    Batch, PaneState, Preview, Registration, SessionSnapshot, TaskDisplay, TaskPoll, TaskSnapshot, TaskTracker,
};
use fleetwatch::time::Timestamp;
use serde::Deserialize;

#[test]
fn every_story_of_tasks_is_true() {
    super::tell_all("tests/stories/tasks", 20, tell);
}

fn tell(text: &str) -> Result<(), String> {
    let story: Story = toml::from_str(text).map_err(|error| error.to_string())?;
    assert!(!story.title.is_empty() && story.rule.starts_with("SPEC"), "what does it show?");
    let mut watch = TaskTracker::default();
    let mut windows: Vec<Window> = Vec::new();
    let mut sessions: Vec<String> = Vec::new();
    for step in story.polls {
        windows = step.windows.unwrap_or(windows);
        sessions = step.sessions.unwrap_or(sessions);
        for (window, reason) in &step.killed {
            watch.killed(WindowId(window.parse().expect("a window's number")), reason.clone());
        }
        let now = Timestamp::from_millis((step.at * 1000.0).round() as i64);
        let events = watch.take(poll(&windows, &sessions, &step.elsewhere), now);
        let reported: Vec<String> = events.iter().map(|event| event.text().replacen("task ", "", 1)).collect();
        assert_eq!(reported, step.events, "at {}: what is reported", step.at);
        if let Some(level) = step.level {
            let batch = Batch { server: ServerId::default(), events };
            assert_eq!(batch.level().word(), level, "at {}: the level", step.at);
        }
        for (name, status) in step.status {
            let task = watch.tasks().find(|task| task.name == name).expect("the task is there");
            assert_eq!(task.status.word(), status, "at {}: {name}", step.at);
        }
        for (name, bells) in step.bells {
            let task = watch.tasks().find(|task| task.name == name).expect("the task is there");
            assert_eq!(task.bells, bells, "at {}: bells of {name}", step.at);
        }
    }
    Ok(())
}

/// A file under `stories/tasks/`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Story {
    title: String,
    rule: String,
    polls: Vec<Step>,
}

/// One poll, and what is reported after it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    /// Seconds since the story's beginning.
    at: f64,
    /// All task windows; those of the poll before when it is not given.
    windows: Option<Vec<Window>>,
    /// Task sessions that are there beside those of the windows.
    sessions: Option<Vec<String>>,
    /// Windows of the server that are no tasks.
    #[serde(default)]
    elsewhere: BTreeSet<u32>,
    /// Windows that the operator kills before the poll, with what is said of it.
    #[serde(default)]
    killed: BTreeMap<String, String>,
    #[serde(default)]
    events: Vec<String>,
    level: Option<String>,
    #[serde(default)]
    status: BTreeMap<String, String>,
    #[serde(default)]
    bells: BTreeMap<String, u64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Window {
    id: u32,
    name: String,
    #[serde(default = "tasks")]
    session: String,
    /// The rows, with `█` where the cursor is; without one it stands at the beginning of the row below the last.
    #[serde(default)]
    screen: String,
    #[serde(default = "bash")]
    command: String,
    #[serde(default)]
    alternate: bool,
    #[serde(default)]
    dead: bool,
    code: Option<i32>,
    #[serde(default)]
    bell: bool,
    bells: Option<u64>,
    /// The process; another one is another run.
    pid: Option<u32>,
    pane: Option<u32>,
    /// `run` or `told`.
    started_by: Option<String>,
    /// The pane's state could not be had.
    #[serde(default)]
    unknown: bool,
}

fn tasks() -> String {
    "tasks".to_owned()
}

fn bash() -> String {
    "bash".to_owned()
}

fn poll(windows: &[Window], sessions: &[String], elsewhere: &BTreeSet<u32>) -> TaskPoll {
    let mut by_session: BTreeMap<&str, Vec<TaskSnapshot>> = BTreeMap::new();
    for name in sessions {
        by_session.entry(name).or_default();
    }
    for window in windows {
        by_session.entry(&window.session).or_default().push(window.snapshot());
    }
    // A session's number is the sum of its letters, so that one name has the same number in every poll; behind `=` stands
    // the name that a session with the number of another one has now.
    let number = |name: &str| name.split('=').next_back().unwrap_or_default().bytes().map(u32::from).sum();
    let snapshot = |(name, windows): (&str, _)| SessionSnapshot {
        id: SessionId(number(name)),
        name: name.split('=').next().unwrap_or_default().to_owned(),
        windows,
    };
    TaskPoll {
        sessions: by_session.into_iter().map(snapshot).collect(),
        elsewhere: elsewhere.iter().copied().map(WindowId).collect(),
        ..TaskPoll::default()
    }
}

impl Window {
    fn snapshot(&self) -> TaskSnapshot {
        let at = self.screen.lines().enumerate().find_map(|(row, line)| {
            line.find('█').map(|byte| (row, unicode_width::UnicodeWidthStr::width(&line[..byte])))
        });
        let (row, column) = at.unwrap_or((self.screen.lines().count(), 0));
        let mut text = self.screen.replace('█', "");
        text.push_str(&"\n".repeat(24));
        let screen = Screen::from_text(&text, 80);
        let small = |n: usize| u16::try_from(n).expect("a small screen");
        let cursor = Cursor { row: small(row), column: small(column), visible: true };
        let pane = PaneState {
            command: self.command.clone(),
            start_command: None,
            cwd: None,
            dead: self.dead,
            exit_code: self.code,
            alternate: self.alternate,
            preview: Preview::of(&screen, cursor, self.dead),
        };
        let registration = match self.started_by.as_deref() {
            None => Registration::None,
            Some("run") => Registration::Started(Timestamp::from_millis(0)),
            Some("told") => Registration::Reported(Timestamp::from_millis(0)),
            Some(other) => panic!("{other} starts no task"),
        };
        let pane_id = PaneId(self.pane.unwrap_or(self.id));
        let key = TerminalKey {
            server: ServerId::default(),
            pane: pane_id,
            pid: self.pid.unwrap_or(self.id),
            instance: Default::default(),
        };
        TaskSnapshot {
            window: WindowId(self.id),
            name: self.name.clone(),
            index: self.id,
            key,
            pane: (!self.unknown).then_some(pane),
            ended_at: None,
            bell: self.bell,
            bells: self.bells,
            registration,
            shown: TaskDisplay::default(),
        }
    }
}
