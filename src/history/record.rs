//! What is written: records of what happened to terminals and of what was done to them.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use super::identity::Owner;
use super::standing::Standing;
use crate::fleet::{ServerId, TaskTransition, TerminalKey};
use crate::moment::Moment;
use crate::operation::{Act, Operation, Outcome, Privacy};
use crate::screen::Screen;
use crate::state::{State, Transition, words};
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

impl What {
    /// The kind of an act, by its public name.
    pub(super) const fn of(act: &Act) -> Self {
        match act {
            Act::Prompt { .. } => What::Prompt,
            Act::Keys { .. } | Act::Interrupt { .. } => What::Keys,
            Act::Answer { .. } => What::Answer,
        }
    }
}

/// What is kept of an act beside its kind.
pub(super) fn document(act: &Act) -> String {
    match act {
        Act::Prompt { text, .. } => json!({ "text": text }),
        Act::Keys { keys, privacy, .. } => json!({ "keys": names(keys, *privacy) }),
        Act::Interrupt { keys, .. } => json!({ "keys": names(keys, Privacy::Open) }),
        Act::Answer { dialog, excerpt, reply } => json!({ "dialog": excerpt, "choice": reply.in_words(dialog) }),
    }
    .to_string()
}

/// Keys as they may be kept: of what may be secret no text stays, only that there was some.
fn names(keys: &[Key], privacy: Privacy) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for key in keys {
        let name = if privacy == Privacy::Secret && key.is_text() { HIDDEN } else { key.as_str() };
        if name != HIDDEN || names.last().is_none_or(|last| *last != HIDDEN) {
            names.push(name);
        }
    }
    names
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

/// What the writer is told.
#[derive(Debug)]
pub(super) enum Message {
    Record(Arc<Record>),
    InputBegun {
        uid: String,
        operation: Arc<Operation>,
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
