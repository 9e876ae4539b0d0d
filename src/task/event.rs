//! What happens to tasks, in the words of SPEC §9.

use serde_json::{Map, Value, json};

use super::snapshot::{Preview, TaskFields};
use crate::moment::Moment;
use crate::place::{ServerId, TerminalKey, WindowId};
use crate::state::words;

/// Something that happened to a task.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TaskEvent {
    /// When it was observed.
    pub at: Moment,
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

/// The kinds of events, with what belongs to each.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Happening {
    /// A window that was not there before, or whose program was started again.
    Started,
    /// The program has ended; `code` is unknown when tmux does not tell, and above 128 for a signal. `bells` rang in the
    /// same look, which makes one message of both.
    Exited { code: Option<i32>, bells: u64 },
    /// It rang so many times since the look before.
    Notify { bells: u64 },
    /// It waits for an answer to this prompt.
    Input { prompt: String },
    /// A live window is gone; the reason is known when the operator killed it through fleetwatch.
    Disappeared { reason: Option<String> },
}

words! {
    /// How urgent a batch of events is (SPEC §9).
    Level { Info = "info", Warning = "warning" }
}

/// Events that one look at a server found, in the order of the windows.
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

    /// What happened by the fields that tell it, as [`TaskEvent::fields`] gives them.
    pub fn of_fields(fields: &Value) -> Option<Self> {
        let text = |field: &str| fields.get(field).and_then(Value::as_str).map(str::to_owned);
        let bells = fields.get("bells").and_then(Value::as_u64).unwrap_or(0);
        Some(match fields.get("event")?.as_str()? {
            "started" => Happening::Started,
            "exited" => {
                let code = fields.get("exit_code").and_then(Value::as_i64);
                Happening::Exited { code: code.and_then(|code| code.try_into().ok()), bells }
            }
            "notify" => Happening::Notify { bells },
            "input" => Happening::Input { prompt: text("prompt")? },
            "disappeared" => Happening::Disappeared { reason: text("reason") },
            _ => return None,
        })
    }

    /// A warning is what the operator must look at: a question, a loss, an end that is not known to be good.
    pub const fn level(&self) -> Level {
        match self {
            Happening::Started | Happening::Notify { .. } | Happening::Exited { code: Some(0), .. } => Level::Info,
            Happening::Exited { .. } | Happening::Input { .. } | Happening::Disappeared { .. } => Level::Warning,
        }
    }

    /// What happened, to stand behind the task's name: `exited with code 2`.
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
    /// Gives the task the name that it has in the fleet.
    pub(crate) fn rename(&mut self, id: &str) {
        id.clone_into(&mut self.id);
        id.clone_into(&mut self.state.id);
    }

    /// What happened in one sentence: `task build (@12) exited with code 2`.
    pub fn text(&self) -> String {
        format!("task {} ({}) {}", self.id, self.window, self.happening.text())
    }

    /// The fields of the event in JSON, as SPEC §12 names them: `event` and what applies of `exit_code`, `bells`,
    /// `prompt` and `reason`.
    pub fn fields(&self) -> Map<String, Value> {
        let mut fields = Map::new();
        fields.insert("event".to_owned(), json!(self.happening.word()));
        match &self.happening {
            Happening::Started => {}
            Happening::Exited { code, bells } => {
                fields.insert("exit_code".to_owned(), json!(code));
                if *bells > 0 {
                    fields.insert("bells".to_owned(), json!(bells));
                }
            }
            Happening::Notify { bells } => {
                fields.insert("bells".to_owned(), json!(bells));
            }
            Happening::Input { prompt } => {
                fields.insert("prompt".to_owned(), json!(prompt));
            }
            Happening::Disappeared { reason } => {
                fields.insert("reason".to_owned(), json!(reason));
            }
        }
        fields
    }
}

fn ended(code: Option<i32>) -> String {
    match code {
        Some(code) => format!("exited with code {code}"),
        None => "exited with an unknown code".to_owned(),
    }
}

fn rang(bells: u64) -> String {
    match bells {
        0 | 1 => "rang".to_owned(),
        bells => format!("rang {bells} times"),
    }
}
