//! What is written: records of what happened to terminals and of what was done to them.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use super::identity::Owner;
use super::standing::Standing;
use crate::fleet::{ServerId, TaskTransition, Terminal, TerminalKey};
use crate::moment::Moment;
use crate::operation::Outcome;
use crate::screen::Screen;
use crate::state::{State, Transition, UiContext, words};
use crate::task::{TaskEvent, TaskFields};
use crate::tmux::Key;
use crate::tracker::SurfaceEvent;

/// Something that happened, on its way into the store.
#[derive(Clone, Debug)]
pub enum Record {
    /// A terminal is watched from now on, or has another name.
    Introduced { key: TerminalKey, name: String, at: Moment },
    /// The public state changed (SPEC §2).
    Transition(TransitionRecord),
    /// The terminal left the fleet; its last transition.
    Left(TransitionRecord),
    /// A task event (SPEC §9): `fields` has `state`, `event` and what belongs to the event, as in SPEC §12.
    TaskEvent { key: TerminalKey, name: String, at: Moment, fields: Value },
    /// The operator did something that is no input: killed, muted, renamed, pruned.
    Action { key: Option<TerminalKey>, name: String, at: Moment, action: String, detail: Value },
}

/// A transition with what surrounds it.
#[derive(Clone, Debug)]
pub struct TransitionRecord {
    pub key: TerminalKey,
    /// The terminal's id at that time.
    pub name: String,
    pub transition: Transition,
    /// The whole public state after it; `None` when the terminal is gone already.
    pub state: Option<PublicState>,
    /// What was shown then.
    pub screen: Option<Arc<Screen>>,
    /// What was named between assessments since the transition before, for debugging (SPEC §6); oldest first.
    pub events: Vec<(Moment, SurfaceEvent)>,
}

/// The whole public state of a terminal.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum PublicState {
    Agent(Box<State>),
    Task(Box<TaskFields>),
}

impl PublicState {
    /// When the last turn of an agent ended.
    pub(super) fn turn_ended(&self) -> Option<Moment> {
        match self {
            PublicState::Agent(state) => state.last_turn.at,
            // The end of a task's run is an event.
            PublicState::Task(_) => None,
        }
    }
}

impl Record {
    /// A transition of a task, or its last one.
    pub(super) fn task_transition(task: &TaskTransition, is_last: bool) -> Self {
        let TaskTransition { key, id, transition, state } = task.clone();
        let state = state.map(PublicState::Task);
        let record = TransitionRecord { key, name: id, transition, state, screen: None, events: Vec::new() };
        if is_last { Record::Left(record) } else { Record::Transition(record) }
    }

    /// A task event in the words of SPEC §12.
    pub(super) fn task_event(event: &TaskEvent) -> Self {
        let mut fields = event.fields();
        fields.insert("state".to_owned(), json!(event.state));
        let (key, name, at) = (event.key.clone(), event.id.clone(), event.at);
        Record::TaskEvent { key, name, at, fields: Value::Object(fields) }
    }

    /// The terminal that it is about, for records of which only one process may write each.
    pub(super) fn watched(&self) -> Option<&TerminalKey> {
        match self {
            Record::Introduced { key, .. } | Record::TaskEvent { key, .. } => Some(key),
            Record::Transition(record) | Record::Left(record) => Some(&record.key),
            Record::Action { .. } => None,
        }
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Record::Introduced { name, .. } | Record::TaskEvent { name, .. } | Record::Action { name, .. } => name,
            Record::Transition(record) | Record::Left(record) => &record.name,
        }
    }

    pub(super) fn at(&self) -> Moment {
        match self {
            Record::Introduced { at, .. } | Record::TaskEvent { at, .. } | Record::Action { at, .. } => *at,
            Record::Transition(record) | Record::Left(record) => record.transition.at,
        }
    }
}

impl TransitionRecord {
    /// What the store keeps beside the columns, in the words of SPEC §12.
    pub(super) fn document(&self) -> String {
        let Transition { changed, evidence, .. } = &self.transition;
        let events: Vec<Value> = self.events.iter().map(|(at, event)| json!({ "at": at, "event": event })).collect();
        json!({ "state": self.state, "changed": changed, "evidence": evidence, "events": events }).to_string()
    }
}

/// What stands for text that is not kept.
const HIDDEN: &str = "(text)";

/// What was put into a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sent {
    /// A prompt, which begins a turn.
    Prompt(String),
    /// Keys by their names.
    Keys(Vec<String>),
    /// An answer to a dialog: the dialog's text as the operator saw it, and the choice.
    Answer { dialog: String, choice: String },
}

/// How much of what is typed may be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privacy {
    Open,
    /// A password may be among it: any program may ask for one, with or without that word.
    Secret,
}

impl Privacy {
    /// Of what is typed into an agent's terminal now: setting it up may mean to type a key or a password.
    pub fn of(terminal: &Terminal) -> Self {
        match terminal.state.assessment.ui_context {
            UiContext::Setup => Privacy::Secret,
            _ => Privacy::Open,
        }
    }
}

impl Sent {
    /// Keys as they may be kept: of what may be secret no text stays, only that there was some.
    pub fn keys(keys: &[Key], privacy: Privacy) -> Self {
        let mut names: Vec<String> = Vec::new();
        for key in keys {
            let name = if privacy == Privacy::Secret && key.is_text() { HIDDEN } else { key.as_str() };
            if name != HIDDEN || names.last().is_none_or(|last| last != HIDDEN) {
                names.push(name.to_owned());
            }
        }
        Sent::Keys(names)
    }

    pub(super) const fn what(&self) -> What {
        match self {
            Sent::Prompt(_) => What::Prompt,
            Sent::Keys(_) => What::Keys,
            Sent::Answer { .. } => What::Answer,
        }
    }

    pub(super) fn document(&self) -> String {
        match self {
            Sent::Prompt(text) => json!({ "text": text }),
            Sent::Keys(keys) => json!({ "keys": keys }),
            Sent::Answer { dialog, choice } => json!({ "dialog": dialog, "choice": choice }),
        }
        .to_string()
    }
}

words! {
    /// The kind of an input.
    What { Prompt = "prompt", Keys = "keys", Answer = "answer" }
}
words! {
    /// The kind of a record, as SPEC §12 names it; `action` is what the operator did beside inputs.
    Kind {
        Transition = "transition", TaskEvent = "task_event", Input = "input", FollowUp = "follow_up",
        Action = "action",
    }
}

/// An input that is about to be sent.
#[derive(Clone, Debug)]
pub struct NewInput {
    pub key: TerminalKey,
    /// The terminal's id now.
    pub name: String,
    pub at: Moment,
    /// Who sends it, in the words of the operator: `dashboard`, `command line`, `follow-up`.
    pub sender: String,
    pub sent: Sent,
}

/// What the writer is told.
#[derive(Debug)]
pub(super) enum Message {
    Record(Arc<Record>),
    InputBegun {
        uid: String,
        input: NewInput,
    },
    /// The first bytes are about to reach the terminal.
    InputDelivered {
        uid: String,
        at: Moment,
    },
    /// How things stand on one server.
    Standing(Standing),
    /// This process is the owner of a server now, and writes what happens there.
    TakeOver(ServerId),
    InputEnded {
        uid: String,
        outcome: Outcome,
        at: Moment,
    },
    /// Whoever waits is told whether all before this is in the store.
    Flush(tokio::sync::oneshot::Sender<bool>),
}

impl Message {
    /// Whether another process waits for this, so that it is written at once.
    pub(super) const fn is_urgent(&self) -> bool {
        !matches!(self, Message::Record(_) | Message::Standing(_))
    }
}

/// The name of an input that is unique over all processes.
pub(super) fn uid(owner: &Owner, number: u64) -> String {
    format!("{}.{number}", owner.as_str())
}
