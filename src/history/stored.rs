//! What is read back.

use serde_json::{Map, Value, json};

use super::identity::same_terminal;
use super::record::{Kind, What};
use crate::fleet::{Fleet, Input, TerminalKey};
use crate::moment::Moment;
use crate::state::{LEFT, LEFT_UNWATCHED, State, Summary};
use crate::status::{Status, changed};
use crate::task::{Happening, TaskFields};

/// The number of a record. Later ones were written later, which is not always the order in which they happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordId(pub i64);

/// The number of a stored screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScreenId(pub i64);

/// A record as it was read back.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    pub id: RecordId,
    pub at: Moment,
    /// `None` for what belongs to no terminal.
    pub key: Option<TerminalKey>,
    /// The terminal's id at that time.
    pub name: String,
    /// What the kind has in the words of SPEC §12: `state`, `changed`, `evidence` of a transition, and so on.
    pub document: Value,
    pub body: Body,
}

/// What a kind of record has of its own.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    Transition(StoredTransition),
    Input(StoredInput),
    TaskEvent,
    FollowUp,
    Action,
}

/// The fixed parts of a transition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTransition {
    pub summary: Summary,
    /// `last_turn.at` of the state then.
    pub turn_ended: Option<Moment>,
    pub note: Option<String>,
    /// The screen as it was.
    pub screen: Option<ScreenId>,
}

/// The fixed parts of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredInput {
    pub sender: String,
    pub what: What,
    /// `None` while it is under way, and for ever when its process died before it knew.
    pub outcome: Option<String>,
    pub detail: Option<String>,
    pub ended_at: Option<Moment>,
}

/// Something that a process of fleetwatch put into a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    pub number: i64,
    pub at: Moment,
    pub key: TerminalKey,
    /// The process, as [`super::Owner`] names it.
    pub owner: String,
    pub sender: String,
    pub what: What,
    /// What it was, if it was a prompt.
    pub text: String,
}

impl Submission {
    /// What it means to a fleet that watches the terminal, by whatever name of the server: a prompt begins a turn, an
    /// answered dialog was seen, and what other keys do only the screen tells.
    pub fn input_for(&self, fleet: &Fleet, now: Moment) -> Option<Input> {
        let view = fleet.view(now);
        let key =
            view.terminals.iter().map(|terminal| &terminal.key).find(|key| same_terminal(key, &self.key))?.clone();
        match self.what {
            What::Prompt => Some(Input::Submitted { key, at: self.at, text: self.text.clone() }),
            What::Answer => Some(Input::Seen { key }),
            What::Keys => None,
        }
    }
}

impl StoredInput {
    /// Who sent it, for people. A queued prompt and a follow-up are signed with their number in the outbox.
    pub fn by(&self) -> String {
        match self.sender.split_once(' ') {
            Some(("queue", _)) => "from the queue".to_owned(),
            _ => format!("by {}", self.sender),
        }
    }
}

impl Stored {
    /// The kind, by its public name.
    pub const fn kind(&self) -> Kind {
        match self.body {
            Body::Transition(_) => Kind::Transition,
            Body::Input(_) => Kind::Input,
            Body::TaskEvent => Kind::TaskEvent,
            Body::FollowUp => Kind::FollowUp,
            Body::Action => Kind::Action,
        }
    }

    /// Whether it is about a task: the fields of one say what they are.
    pub fn is_of_task(&self) -> bool {
        self.document.get("state").is_some_and(|state| state.get("kind").is_some_and(|kind| kind == "task"))
    }

    /// The fields that changed in a transition, with their old and new values.
    pub fn changes(&self) -> impl Iterator<Item = (&str, &Value, &Value)> {
        let changes = self.document.get("changed").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        changes
            .iter()
            .filter_map(|change| Some((change.get("field")?.as_str()?, change.get("from")?, change.get("to")?)))
    }

    /// What the terminal or task was to a person then; `None` for what is neither a transition nor a task event.
    pub fn status(&self) -> Option<Status> {
        let summary = match &self.body {
            Body::Transition(StoredTransition { note: Some(note), .. }) if note == LEFT || note == LEFT_UNWATCHED => {
                return Some(Status::Gone);
            }
            Body::Transition(transition) => Some(&transition.summary),
            Body::TaskEvent if self.document.get("event").is_some_and(|event| event == "disappeared") => {
                return Some(Status::Gone);
            }
            Body::TaskEvent => None,
            Body::Input(_) | Body::FollowUp | Body::Action => return None,
        };
        let state = self.document.get("state").cloned().unwrap_or(Value::Null);
        let known = match self.is_of_task() {
            true => serde_json::from_value(state).ok().map(|fields: TaskFields| fields.as_status()),
            false => serde_json::from_value(state).ok().map(|state: State| Status::of(&state)),
        };
        known.or(summary.map(Status::of_summary))
    }

    /// What happened, in words. Where texts of others are part of it, they may hold anything.
    pub fn what(&self) -> String {
        let field = |name: &str| self.document.get(name).map(plain).unwrap_or_default();
        match &self.body {
            Body::Transition(transition) => {
                let changes = changed(self.changes(), &transition.summary).into_iter().map(|changed| changed.text);
                changes.chain(transition.note.clone()).collect::<Vec<_>>().join(", ")
            }
            Body::Input(input) => {
                let sent = match input.what {
                    What::Prompt => field("text"),
                    What::Keys => field("keys"),
                    What::Answer => field("choice"),
                };
                let outcome = input.outcome.as_deref().unwrap_or("outcome not known");
                let detail = input.detail.as_deref().map(|detail| format!(": {detail}")).unwrap_or_default();
                format!("{sent}  ({outcome}{detail}, {})", input.by())
            }
            Body::TaskEvent => {
                Happening::of_fields(&self.document).map_or_else(|| field("event"), |happening| happening.text())
            }
            Body::FollowUp => format!("{}: {}", field("outcome"), field("text")),
            Body::Action => {
                // Only what a person would say of it; all of it is in the JSON.
                let detail = self.document.get("detail");
                let part = |name: &str| detail.and_then(|detail| detail.get(name)).filter(|part| !part.is_null());
                let whole = detail.filter(|detail| detail.is_string());
                let told = part("command").or_else(|| part("reason")).or(whole).map(plain);
                field("action") + &told.map(|told| format!(": {told}")).unwrap_or_default()
            }
        }
    }

    /// The record as one line of `history --json` (SPEC §12).
    pub fn to_json(&self) -> Value {
        let mut line = Map::new();
        let mut put = |key: &str, value: Value| {
            // The fixed fields come first and win over what a document says.
            line.entry(key).or_insert(value);
        };
        put("at", json!(self.at));
        put("kind", json!(self.kind()));
        put("terminal", json!(self.name));
        put("state", self.document.get("state").cloned().unwrap_or(Value::Null));
        match &self.body {
            Body::Transition(transition) => put("note", json!(transition.note)),
            Body::Input(input) => {
                put("sender", json!(input.sender));
                put("input", json!(input.what));
                put("outcome", json!(input.outcome));
                put("detail", json!(input.detail));
                put("ended_at", json!(input.ended_at));
            }
            Body::TaskEvent | Body::FollowUp | Body::Action => {}
        }
        if let Value::Object(document) = &self.document {
            document.iter().for_each(|(key, value)| put(key, value.clone()));
        }
        put("id", json!(self.id.0));
        Value::Object(line)
    }
}

/// A value without the quotes of JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}
