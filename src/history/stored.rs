//! What is read back.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::identity::same_terminal;
use super::intents::{IntentId, IntentState};
use super::record::{Kind, NamedEvent, OperatorAction, PublicState, Sent, TaskRecord};
use crate::fleet::{Fleet, Input, TerminalKey};
use crate::state::{LEFT, LEFT_UNWATCHED, State, Transition};
use crate::status::{Status, changed};
use crate::task::{Happening, TaskFields};
use crate::time::Timestamp;

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
    pub at: Timestamp,
    /// `None` for what belongs to no terminal.
    pub key: Option<TerminalKey>,
    /// The terminal's id at that time.
    pub name: String,
    pub body: Body,
}

/// What a kind of record has of its own.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    Transition(StoredTransition),
    Input(StoredInput),
    TaskEvent(TaskRecord),
    FollowUp(FollowUpRecord),
    Action(OperatorAction),
    /// What another version wrote and this one cannot read, as it was written.
    Other {
        kind: String,
        document: Value,
    },
}

/// A transition with what was kept of its surroundings.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredTransition {
    pub transition: Transition,
    /// The whole public state after it, unless it was not known.
    pub state: Option<PublicState>,
    /// What was named between assessments since the transition before, oldest first.
    pub events: Vec<NamedEvent>,
    /// The screen as it was.
    pub screen: Option<ScreenId>,
}

/// An input with what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredInput {
    pub sender: String,
    pub sent: Sent,
    /// The outcome's public name. `None` while it is under way, and for ever when its process died before it knew.
    pub outcome: Option<String>,
    pub detail: Option<String>,
    pub ended_at: Option<Timestamp>,
}

/// What became of a message to an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FollowUpRecord {
    /// As it was sent; `None` when it never was.
    pub text: Option<String>,
    pub outcome: IntentState,
    pub detail: Option<String>,
    /// What it tells of, in the order in which it happened.
    pub events: Vec<Value>,
    pub created: Timestamp,
    pub intent: IntentId,
}

/// Something that a process of fleetwatch put into a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    pub number: i64,
    pub at: Timestamp,
    pub key: TerminalKey,
    /// The process, as [`super::Owner`] names it.
    pub owner: String,
    pub sender: String,
    pub sent: Sent,
}

impl Submission {
    /// What it means to a fleet that watches the terminal, by whatever name of the server: a prompt begins a turn, an
    /// answered dialog was seen, and what other keys do only the screen tells.
    pub fn input_for(&self, fleet: &Fleet, now: Timestamp) -> Option<Input> {
        let view = fleet.view(now);
        let key =
            view.terminals.iter().map(|terminal| &terminal.key).find(|key| same_terminal(key, &self.key))?.clone();
        match &self.sent {
            Sent::Prompt { text } => Some(Input::Submitted { key, at: self.at, text: text.clone() }),
            Sent::Answer { .. } => Some(Input::Seen { key }),
            Sent::Keys { .. } => None,
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

impl Body {
    /// The kind, by its public name.
    pub fn kind(&self) -> &str {
        match self {
            Body::Transition(_) => Kind::Transition.word(),
            Body::Input(_) => Kind::Input.word(),
            Body::TaskEvent(_) => Kind::TaskEvent.word(),
            Body::FollowUp(_) => Kind::FollowUp.word(),
            Body::Action(_) => Kind::Action.word(),
            Body::Other { kind, .. } => kind,
        }
    }

    /// The state of an agent after a transition.
    pub fn agent(&self) -> Option<&State> {
        match self {
            Body::Transition(StoredTransition { state: Some(PublicState::Agent(state)), .. }) => Some(state),
            _ => None,
        }
    }

    /// The fields of a task after a transition or an event.
    pub fn task(&self) -> Option<&TaskFields> {
        match self {
            Body::Transition(StoredTransition { state: Some(PublicState::Task(fields)), .. })
            | Body::TaskEvent(TaskRecord { state: fields, .. }) => Some(fields),
            _ => None,
        }
    }

    /// What the terminal or task was to a person then; `None` for what is neither a transition nor a task event.
    pub fn status(&self) -> Option<Status> {
        let kept = match self {
            Body::Transition(kept) => kept,
            Body::TaskEvent(TaskRecord { happening: Happening::Disappeared { .. }, .. }) => return Some(Status::Gone),
            Body::TaskEvent(event) => return Some(event.state.as_status()),
            _ => return None,
        };
        if matches!(kept.transition.note.as_deref(), Some(LEFT | LEFT_UNWATCHED)) {
            return Some(Status::Gone);
        }
        Some(match &kept.state {
            Some(PublicState::Agent(state)) => Status::of(state),
            Some(PublicState::Task(fields)) => fields.as_status(),
            Some(PublicState::Other(_)) | None => Status::of_summary(&kept.transition.summary),
        })
    }

    /// What happened, in words. Where texts of others are part of it, they may hold anything.
    pub fn what(&self) -> String {
        match self {
            Body::Transition(StoredTransition { transition, .. }) => {
                let changes = changed(transition).into_iter().map(|changed| changed.text);
                changes.chain(transition.note.clone()).collect::<Vec<_>>().join(", ")
            }
            Body::Input(input) => {
                let sent = match &input.sent {
                    Sent::Prompt { text } => text,
                    Sent::Keys { keys } => &keys.join(" "),
                    Sent::Answer { choice, .. } => choice,
                };
                let outcome = input.outcome.as_deref().unwrap_or("outcome not known");
                let detail = input.detail.as_deref().map(|detail| format!(": {detail}")).unwrap_or_default();
                format!("{sent}  ({outcome}{detail}, {})", input.by())
            }
            Body::TaskEvent(event) => event.happening.text(),
            Body::FollowUp(FollowUpRecord { outcome, text, .. }) => {
                format!("{outcome}: {}", text.as_deref().unwrap_or("none"))
            }
            Body::Action(action) => match action {
                OperatorAction::Seen => "seen".to_owned(),
                OperatorAction::Kill { reason } => format!("kill: {reason}"),
                OperatorAction::Run { command, .. } => format!("run: {}", command.join(" ")),
                OperatorAction::Other { action, detail: Value::String(detail) } => format!("{action}: {detail}"),
                OperatorAction::Other { action, .. } => action.clone(),
            },
            Body::Other { kind, document } => format!("{kind} {document}"),
        }
    }

    /// What the kind has of its own, in the words of SPEC §12.
    pub fn fields(&self) -> Map<String, Value> {
        let fields = match self {
            Body::Transition(StoredTransition { transition, state, events, .. }) => {
                let Transition { changed, note, evidence, .. } = transition;
                json!({ "state": state, "note": note, "changed": changed, "evidence": evidence, "events": events })
            }
            Body::Input(StoredInput { sender, sent, outcome, detail, ended_at }) => {
                let what = sent.what();
                let input = json!({
                    "sender": sender, "input": what, "outcome": outcome, "detail": detail, "ended_at": ended_at,
                });
                return [input, json!(sent)].into_iter().flat_map(members).collect();
            }
            Body::TaskEvent(event) => json!(event),
            Body::FollowUp(record) => json!(record),
            Body::Action(action) => json!(action),
            Body::Other { document, .. } => document.clone(),
        };
        members(fields).collect()
    }
}

impl Stored {
    /// The record as one line of `history --json` (SPEC §12).
    pub fn to_json(&self) -> Value {
        let mut fields = self.body.fields();
        let state = fields.shift_remove("state");
        let fixed = json!({ "at": self.at, "kind": self.body.kind(), "terminal": self.name, "state": state });
        let mut line: Map<String, Value> = members(fixed).collect();
        for (name, value) in fields {
            // The fixed fields win over what another version wrote.
            line.entry(name).or_insert(value);
        }
        line.insert("id".to_owned(), json!(self.id.0));
        Value::Object(line)
    }
}

fn members(value: Value) -> impl Iterator<Item = (String, Value)> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
    .into_iter()
}
