//! What happens to tasks, in words (SPEC §9, §12).

use super::snapshot::{Preview, TaskFields};
use crate::ids::{ServerId, TerminalKey, WindowId};
use crate::state::words;
use crate::status::Status;
use crate::time::Timestamp;

/// Something that happened to a task.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TaskEvent {
    /// When it was observed.
    pub at: Timestamp,
    /// The task's name in the fleet, unique at that time; `from` patterns of follow-ups are matched against it.
    pub id: String,
    pub window: WindowId,
    /// The name of the window.
    pub name: String,
    /// The session that the window is in.
    pub session: String,
    /// The pane that stands for the window.
    pub key: TerminalKey,
    pub happening: Happening,
    /// What the window showed last.
    pub preview: Preview,
    /// The task's public fields after it, or the last ones of a task that is gone.
    pub state: Box<TaskFields>,
}

/// The kinds of events, with what belongs to each, in JSON as SPEC §12 names it: `event` and what applies of `exit_code`,
/// `bells`, `prompt` and `reason`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Happening {
    /// A window that was not there before, or whose program was started again.
    Started,
    /// The program has ended; `code` is unknown if tmux does not report it, and above 128 for a signal. `bells` rang in the
    /// same poll, so that one message says both.
    Exited {
        #[serde(rename = "exit_code")]
        code: Option<i32>,
        #[serde(default, skip_serializing_if = "is_zero")]
        bells: u64,
    },
    /// It rang so many times since the previous poll.
    Notify { bells: u64 },
    /// It waits for an answer to this prompt.
    Input { prompt: String },
    /// A live window is gone; the reason is known if the operator killed it through fleetwatch.
    Disappeared { reason: Option<String> },
}

words! {
    /// How urgent a batch of events is (SPEC §9).
    Level { Info = "info", Warning = "warning" }
}

/// Events that one poll of a server found, in the order of the windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    pub server: ServerId,
    pub events: Vec<TaskEvent>,
}

impl Batch {
    /// The highest level of its events.
    pub fn level(&self) -> Level {
        self.events.iter().map(|event| event.happening.level()).max().unwrap_or(Level::Info)
    }
}

impl Happening {
    /// The public name of the kind (SPEC §12).
    pub const fn word(&self) -> &'static str {
        match self {
            Happening::Started => "started",
            Happening::Exited { .. } => "exited",
            Happening::Notify { .. } => "notify",
            Happening::Input { .. } => "input",
            Happening::Disappeared { .. } => "disappeared",
        }
    }

    /// Whether it is an end that is not known to be good: what a task that ended so counts as everywhere.
    pub const fn is_failure(&self) -> bool {
        matches!(self, Happening::Exited { code, .. } if !matches!(code, Some(0)))
    }

    /// A warning needs the operator: a question, a loss, an end that is not known to be good.
    pub const fn level(&self) -> Level {
        match self {
            Happening::Started | Happening::Notify { .. } | Happening::Exited { code: Some(0), .. } => Level::Info,
            Happening::Exited { .. } | Happening::Input { .. } | Happening::Disappeared { .. } => Level::Warning,
        }
    }

    /// The status that shows it in the table.
    pub const fn as_status(&self) -> Status {
        match self {
            Happening::Started => Status::Running,
            Happening::Exited { code, .. } => Status::Exited(*code),
            Happening::Notify { .. } | Happening::Input { .. } => Status::Asks,
            Happening::Disappeared { .. } => Status::Gone,
        }
    }

    /// What happened, to follow the task's name: `exited with code 2`.
    pub fn text(&self) -> String {
        match self {
            Happening::Started => "started".to_owned(),
            Happening::Exited { code, bells: 0 } => ended(*code),
            Happening::Exited { code, bells } => format!("{}, then {}", rang(*bells), ended(*code)),
            Happening::Notify { bells } => rang(*bells),
            Happening::Input { prompt } => format!("asks: {prompt}"),
            Happening::Disappeared { reason: None } => "disappeared".to_owned(),
            Happening::Disappeared { reason: Some(reason) } => format!("disappeared: {reason}"),
        }
    }
}

impl TaskEvent {
    /// Sets the task's name in the fleet.
    pub(crate) fn rename(&mut self, id: &str) {
        id.clone_into(&mut self.id);
        id.clone_into(&mut self.state.id);
    }

    /// What happened in one sentence: `task build (@12) exited with code 2`.
    pub fn text(&self) -> String {
        format!("task {} ({}) {}", self.id, self.window, self.happening.text())
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn ended(code: Option<i32>) -> String {
    match code {
        Some(code) => format!("exited with code {code}"),
        None => "exited with an unknown code".to_owned(),
    }
}

/// How often something rang, for people.
pub fn rang(bells: u64) -> String {
    match bells {
        0 | 1 => "rang".to_owned(),
        bells => format!("rang {bells} times"),
    }
}
