//! What is written: records of what happened to terminals and of what was done to them. What is read back
//! ([`super::stored`]) is made of the same types.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::identity::Owner;
use super::standing::ServerSummary;
use crate::fleet::{ServerId, TaskTransition, TerminalKey, TerminalTransition};
use crate::operation::{Act, Operation, Outcome, Privacy};
use crate::private::Held;
use crate::screen::Screen;
use crate::state::{
    Availability, Change, Evidence, OperatorStatus, Phase, State, Summary, TerminalFacts, Transition, TurnResult,
    TurnSource, UiContext, words,
};
use crate::task::{Happening, TaskEvent, TaskFields};
use crate::time::Timestamp;
use crate::tmux::Key;
use crate::tracker::SurfaceEvent;

/// Something that happened, on its way into the store.
#[derive(Clone, Debug)]
pub enum Record {
    /// A terminal is watched from now on, or has another name.
    Introduced { key: TerminalKey, name: String, at: Timestamp },
    /// The public state changed (SPEC §2).
    Transition(TransitionRecord),
    /// The terminal left the fleet; its last transition.
    Left(TransitionRecord),
    /// A task event (SPEC §9).
    TaskEvent { key: TerminalKey, name: String, at: Timestamp, event: TaskRecord },
    /// The operator did something that is no input.
    Action { key: Option<TerminalKey>, name: String, at: Timestamp, action: OperatorAction },
}

/// A transition with what surrounds it.
#[derive(Clone, Debug)]
pub struct TransitionRecord {
    pub key: TerminalKey,
    /// The terminal's id at that time.
    pub name: String,
    pub transition: Transition,
    /// The whole public state after it; `None` where it is not known.
    pub state: Option<PublicState>,
    /// What was shown then.
    pub screen: Option<Arc<Screen>>,
    /// What was named between assessments since the transition before, for debugging (SPEC §6); oldest first.
    pub events: Vec<NamedEvent>,
}

impl From<&TerminalTransition> for TransitionRecord {
    fn from(told: &TerminalTransition) -> Self {
        let TerminalTransition { key, id, transition, state, screen } = told.clone();
        let state = state.map(|state| PublicState::Agent(Box::new(Arc::unwrap_or_clone(state))));
        Self { key, name: id, transition, state, screen, events: Vec::new() }
    }
}

/// What of a transition is no column of its own, in the words of SPEC §12.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct TransitionDocument<'a> {
    pub state: Option<Cow<'a, PublicState>>,
    pub changed: Cow<'a, [Change]>,
    pub evidence: Cow<'a, [Evidence]>,
    #[serde(default)]
    pub events: Cow<'a, [NamedEvent]>,
}

/// What was named between two assessments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedEvent {
    pub at: Timestamp,
    pub event: SurfaceEvent,
}

/// The whole public state of a terminal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PublicState {
    Agent(Box<State>),
    Task(Box<TaskFields>),
    /// A state that another version wrote, as it was written.
    Other(Value),
}

impl PublicState {
    /// When the last turn of an agent ended.
    pub(super) fn turn_ended(&self) -> Option<Timestamp> {
        match self {
            PublicState::Agent(state) => state.last_turn.at,
            // The end of a task's run is an event.
            PublicState::Task(_) | PublicState::Other(_) => None,
        }
    }

    /// Who and where an agent's terminal was.
    pub(super) fn terminal(&self) -> Option<TerminalFacts> {
        match self {
            PublicState::Agent(state) => Some(state.terminal.clone()),
            PublicState::Task(_) => None,
            PublicState::Other(state) => serde_json::from_value(state.get("terminal")?.clone()).ok(),
        }
    }
}

/// What happened to a task, and its public fields after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRecord {
    #[serde(flatten)]
    pub happening: Happening,
    pub state: Box<TaskFields>,
}

impl From<&TaskEvent> for TaskRecord {
    fn from(event: &TaskEvent) -> Self {
        Self { happening: event.happening.clone(), state: event.state.clone() }
    }
}

/// What the operator did that is no input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", content = "detail", rename_all = "snake_case")]
pub enum OperatorAction {
    /// Saw how a turn ended, which nothing else that is kept may tell.
    Seen,
    /// Killed a task; `reason` says so to people.
    Kill { reason: String },
    /// Started a task, perhaps in the window of one that had ended.
    Run { window: String, command: Vec<String>, again: bool },
    /// Anything else, by its word: `pinned`, `notices muted`.
    #[serde(untagged)]
    Other {
        action: String,
        #[serde(default)]
        detail: Value,
    },
}

impl OperatorAction {
    /// An action that needs no more than its word.
    pub fn of_word(action: impl Into<String>) -> Self {
        OperatorAction::Other { action: action.into(), detail: Value::Null }
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

    /// The terminal that it is about, for records that only the leader of its server writes.
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

    pub(super) fn at(&self) -> Timestamp {
        match self {
            Record::Introduced { at, .. } | Record::TaskEvent { at, .. } | Record::Action { at, .. } => *at,
            Record::Transition(record) | Record::Left(record) => record.transition.at,
        }
    }
}

impl TransitionRecord {
    pub(super) fn document(&self) -> TransitionDocument<'_> {
        let Transition { changed, evidence, .. } = &self.transition;
        TransitionDocument {
            state: self.state.as_ref().map(Cow::Borrowed),
            changed: changed.into(),
            evidence: evidence.into(),
            events: (&self.events).into(),
        }
    }
}

/// What stands for text that is not kept.
const HIDDEN: &str = "(text)";

/// What was put into a terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Sent {
    /// A prompt, which begins a turn.
    Prompt { text: String },
    /// Keys by their names.
    Keys { keys: Vec<String> },
    /// An answer to a dialog: the dialog's text as the operator saw it, and the choice.
    Answer { dialog: String, choice: String },
}

impl From<&Act> for Sent {
    fn from(act: &Act) -> Self {
        match act {
            Act::Prompt { text, .. } => Sent::Prompt { text: text.clone() },
            Act::Keys { keys, privacy, .. } => Sent::Keys { keys: names(keys, *privacy) },
            Act::Interrupt { keys, .. } => Sent::Keys { keys: names(keys, Privacy::Open) },
            Act::Answer { dialog, excerpt, reply } => {
                Sent::Answer { dialog: excerpt.clone(), choice: reply.in_words(dialog) }
            }
        }
    }
}

impl Sent {
    /// The kind of the input.
    pub const fn what(&self) -> What {
        match self {
            Sent::Prompt { .. } => What::Prompt,
            Sent::Keys { .. } => What::Keys,
            Sent::Answer { .. } => What::Answer,
        }
    }
}

/// Keys as they may be kept: of what may be secret no text stays, only that there was some.
fn names(keys: &[Key], privacy: Privacy) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for key in keys {
        let name = if privacy == Privacy::Secret && key.is_text() { HIDDEN } else { key.as_str() };
        if name != HIDDEN || names.last().is_none_or(|last| last != HIDDEN) {
            names.push(name.to_owned());
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
        at: Timestamp,
    },
    /// How things stand on one server.
    Standing(ServerSummary),
    /// This process writes what happens on a server as long as the lead holds, or no longer.
    Lead(ServerId, Option<Held>),
    InputEnded {
        uid: String,
        outcome: Outcome,
        at: Timestamp,
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

/// The public state in short as one column, readable by people and by SQL: the six words of a summary, in its order.
pub(super) fn write_summary(summary: &Summary) -> String {
    let Summary { availability, phase, result, source, ui_context, status } = summary;
    format!("{availability} {phase} {result} {source} {ui_context} {status}")
}

/// Reads the six words; `None` for anything else.
pub(super) fn read_summary(words: &str) -> Option<Summary> {
    let words: Vec<&str> = words.split(' ').collect();
    let [availability, phase, result, source, ui_context, status] = words[..] else { return None };
    Some(Summary {
        availability: Availability::of_word(availability)?,
        phase: Phase::of_word(phase)?,
        result: TurnResult::of_word(result)?,
        source: TurnSource::of_word(source)?,
        ui_context: UiContext::of_word(ui_context)?,
        status: OperatorStatus::of_word(status)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_come_back() {
        let summary = Summary {
            availability: Availability::TuiDown,
            phase: Phase::Unknown,
            result: TurnResult::KnownFailure,
            source: TurnSource::SurfaceInference,
            ui_context: UiContext::ErrorBanner,
            status: OperatorStatus::WaitingUserAnswer,
        };
        let words = "tui_down unknown known_failure surface_inference error_banner waiting_user_answer";
        assert_eq!(write_summary(&summary), words);
        assert_eq!(read_summary(words), Some(summary));
        assert_eq!(read_summary("tui_down unknown"), None);
        assert_eq!(read_summary(&format!("{words} more")), None);
        assert_eq!(read_summary("a b c d e f"), None);
    }
}
