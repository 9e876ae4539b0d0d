//! What is kept: records of what happened to terminals and of what was done to them, as they are written ([`Record`]) and as they
//! are read back ([`Stored`]); what is not sent yet; and what is asked about all that. Types, without the file.

mod error;
mod outbox;
pub mod question;
pub mod timeline;
pub mod totals;

use std::borrow::Cow;
use std::sync::Arc;

pub use error::HistoryError;
pub use outbox::{Draft, Intent};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::dialog::Verdict;
use crate::fleet::{TaskTransition, TerminalKey, TerminalTransition};
use crate::follow_up::MessageEvent;
use crate::operation::{Act, Key, Operation, Outcome, Privacy, Reply};
use crate::screen::KeptScreen;
use crate::state::{
    Availability, Change, Evidence, LEFT, LEFT_UNWATCHED, OperatorStatus, Phase, State, Summary, TerminalFacts,
    Transition, TurnResult, TurnSource, UiContext, words,
};
use crate::status::{Status, changed};
use crate::task::{Happening, Task, TaskEvent, TaskFields};
use crate::time::{Span, Timestamp};
use crate::tracker::SurfaceEvent;

/// How far apart two processes may see the same change.
pub const SAME_CHANGE: Span = Span::from_secs(3);

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

/// A transition with its context.
#[derive(Clone, Debug)]
pub struct TransitionRecord {
    pub key: TerminalKey,
    /// The terminal's id at that time.
    pub name: String,
    pub transition: Transition,
    /// The whole public state after it; `None` where it is not known.
    pub state: Option<PublicState>,
    /// The screen at that time.
    pub screen: Option<KeptScreen>,
    /// What was named between assessments since the transition before, for debugging (SPEC §6); oldest first.
    pub events: Vec<NamedEvent>,
}

impl From<&TerminalTransition> for TransitionRecord {
    fn from(sentence: &TerminalTransition) -> Self {
        let TerminalTransition { key, id, transition, state, screen } = sentence.clone();
        let state = state.map(|state| PublicState::Agent(Box::new(Arc::unwrap_or_clone(state))));
        Self { key, name: id, transition, state, screen, events: Vec::new() }
    }
}

/// What of a transition is no column of its own, in the words of SPEC §12.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TransitionDocument<'a> {
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
    pub(crate) fn turn_ended(&self) -> Option<Timestamp> {
        match self {
            PublicState::Agent(state) => state.last_turn.at,
            // The end of a task's run is an event.
            PublicState::Task(_) | PublicState::Other(_) => None,
        }
    }

    /// Who and where an agent's terminal was.
    pub(crate) fn terminal(&self) -> Option<TerminalFacts> {
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
    /// Saw how a turn ended, which may be kept nowhere else.
    Seen,
    /// Killed a task; `reason` says so to people.
    Kill { reason: String },
    /// Removed the window of a task that had ended.
    Prune,
    /// Started a task, perhaps in the window of one that had ended.
    Run { window: String, command: Vec<String>, again: bool },
    /// Had a prompt wait until its agent is ready.
    Queued {
        text: String,
        /// Who it was, if not one of fleetwatch's own programs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// Took such a prompt back.
    TookBack { text: String },
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

    /// Started a task that had ended again, with the same command.
    pub fn rerun(task: &Task) -> Self {
        let command = shlex::split(task.command()).unwrap_or_else(|| vec![task.command().to_owned()]);
        OperatorAction::Run { window: task.window.to_string(), command, again: true }
    }
}

impl Record {
    /// A transition of a task, or its last one.
    pub(crate) fn task_transition(task: &TaskTransition, is_last: bool) -> Self {
        let TaskTransition { key, id, transition, state } = task.clone();
        let state = state.map(PublicState::Task);
        let record = TransitionRecord { key, name: id, transition, state, screen: None, events: Vec::new() };
        if is_last { Record::Left(record) } else { Record::Transition(record) }
    }

    /// The terminal that it is about, for records that only the leader of its server writes.
    pub(crate) fn watched(&self) -> Option<&TerminalKey> {
        match self {
            Record::Introduced { key, .. } | Record::TaskEvent { key, .. } => Some(key),
            Record::Transition(record) | Record::Left(record) => Some(&record.key),
            Record::Action { .. } => None,
        }
    }

    pub(crate) fn name(&self) -> &str {
        match self {
            Record::Introduced { name, .. } | Record::TaskEvent { name, .. } | Record::Action { name, .. } => name,
            Record::Transition(record) | Record::Left(record) => &record.name,
        }
    }

    pub(crate) fn at(&self) -> Timestamp {
        match self {
            Record::Introduced { at, .. } | Record::TaskEvent { at, .. } | Record::Action { at, .. } => *at,
            Record::Transition(record) | Record::Left(record) => record.transition.at,
        }
    }
}

impl TransitionRecord {
    pub(crate) fn document(&self) -> TransitionDocument<'_> {
        let Transition { changed, evidence, .. } = &self.transition;
        TransitionDocument {
            state: self.state.as_ref().map(Cow::Borrowed),
            changed: changed.into(),
            evidence: (&**evidence).into(),
            events: (&self.events).into(),
        }
    }
}

/// Replaces text that is not kept.
pub(crate) const HIDDEN: &str = "(text)";

/// What was put into a terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Sent {
    /// A prompt, which begins a turn.
    Prompt { text: String },
    /// Keys by their names.
    Keys { keys: Vec<String> },
    /// An answer to a dialog: its text as the operator saw it, what it is about in one line, and the choice.
    Answer {
        dialog: String,
        /// Empty in older records.
        #[serde(default)]
        about: String,
        choice: String,
        /// Whether it is known to refuse what the agent asked for.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        refuses: bool,
    },
}

impl From<&Act> for Sent {
    fn from(act: &Act) -> Self {
        match act {
            Act::Prompt { text, .. } => Sent::Prompt { text: text.clone() },
            Act::Keys { keys, privacy, .. } => Sent::Keys { keys: names(keys, *privacy) },
            Act::Interrupt { keys, .. } => Sent::Keys { keys: names(keys, Privacy::Open) },
            Act::Answer { dialog, asked, reply } => {
                let (text, about) = (asked.excerpt.clone(), asked.about.clone());
                let chosen = if let Reply::Option(option) = reply { dialog.options.get(*option) } else { None };
                let refuses = chosen.is_some_and(|option| option.verdict == Some(Verdict::No));
                Sent::Answer { dialog: text, about, choice: reply.in_words(dialog), refuses }
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

/// The names of keys to keep; possibly secret text is replaced by a marker.
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

/// The public state in short as one column, readable by people and by SQL: the six words of a summary, in its order.
pub(crate) fn write_summary(summary: &Summary) -> String {
    let Summary { availability, phase, result, source, ui_context, status } = summary;
    format!("{availability} {phase} {result} {source} {ui_context} {status}")
}

/// Reads the six words; `None` for anything else.
pub(crate) fn read_summary(words: &str) -> Option<Summary> {
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

/// The number of a record. Later ones were written later, which is not always the order in which they happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordId(pub i64);

/// The number of a stored screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScreenId(pub i64);

/// The number of an intent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct IntentId(pub i64);

words! {
    /// How far an intent has come.
    IntentState {
        /// It waits for its agent.
        Pending = "pending",
        /// Its bytes are on their way, or were when the process died.
        Attempted = "attempted",
        Sent = "sent",
        /// Nothing was sent, for good.
        Failed = "failed",
        /// It may or may not have arrived; the operator decides.
        Unknown = "unknown",
        /// Its time ran out before it could be sent.
        Expired = "expired",
        /// The operator took it back.
        Cancelled = "cancelled",
        /// The operator had it sent again, as another one.
        Resent = "resent",
        /// The operator knows that it did not arrive, or that it did, and wants it left at that.
        Dismissed = "dismissed",
    }
}

impl IntentState {
    /// The outcome for `watch --json`: the state, or `queued` while it waits.
    pub const fn outcome(self) -> &'static str {
        match self {
            IntentState::Pending => "queued",
            state => state.word(),
        }
    }

    /// Whether it can still become something else.
    pub const fn is_open(self) -> bool {
        matches!(self, IntentState::Pending | IntentState::Attempted | IntentState::Unknown | IntentState::Expired)
    }
}

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

/// The part of a record that depends on its kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// The public state changed.
    Transition(StoredTransition),
    /// Something was put into a terminal.
    Input(StoredInput),
    /// Something happened to a task.
    TaskEvent(TaskRecord),
    /// A message to an agent came to its end.
    FollowUp(FollowUpRecord),
    /// The operator did something that is no input.
    Action(OperatorAction),
    /// A record of another version, unread, as it was written.
    Other { kind: String, document: Value },
}

/// A stored transition with its context.
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

/// An input with its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredInput {
    pub sender: String,
    pub sent: Sent,
    /// The outcome's public name. `None` while it is under way, and for ever when its process died before it knew.
    pub outcome: Option<String>,
    pub detail: Option<String>,
    pub ended_at: Option<Timestamp>,
}

/// The outcome of a message to an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FollowUpRecord {
    /// As it was sent; `None` when it never was.
    pub text: Option<String>,
    pub outcome: IntentState,
    pub detail: Option<String>,
    /// Its events, in order.
    pub events: Vec<MessageEvent>,
    pub created: Timestamp,
    pub intent: IntentId,
}

impl StoredInput {
    /// The sender for people. A queued prompt and a follow-up are signed with their number in the outbox.
    pub fn by(&self) -> String {
        match self.sender.split_once(' ') {
            Some(("queue", _)) => "from the queue".to_owned(),
            _ if ["dashboard", "command line"].contains(&self.sender.as_str()) => format!("from the {}", self.sender),
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

    /// The event in words. Texts of others in it may hold anything.
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
                OperatorAction::Prune => "prune".to_owned(),
                OperatorAction::Run { command, .. } => format!("run: {}", as_typed(command)),
                OperatorAction::Queued { text, by: None } => format!("queued: {text}"),
                OperatorAction::Queued { text, by: Some(by) } => format!("queued: {text}  (by {by})"),
                OperatorAction::TookBack { text } => format!("took back: {text}"),
                OperatorAction::Other { action, detail: Value::String(detail) } => format!("{action}: {detail}"),
                OperatorAction::Other { action, .. } => action.clone(),
            },
            Body::Other { kind, document } => format!("{kind} {document}"),
        }
    }

    /// The fields of the kind, in the words of SPEC §12.
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
    /// An operation with its outcome, where no history keeps it.
    pub fn unwritten(operation: &Operation, outcome: &Outcome) -> Self {
        let Operation { at, producer, to, act } = operation;
        let input = StoredInput {
            sender: producer.to_string(),
            sent: Sent::from(act),
            outcome: Some(outcome.word().to_owned()),
            detail: outcome.detail(),
            ended_at: None,
        };
        Self { id: RecordId(0), at: *at, key: Some(to.key.clone()), name: to.name.clone(), body: Body::Input(input) }
    }
}

/// The members of a JSON object; none of anything else.
pub(crate) fn members(value: Value) -> impl Iterator<Item = (String, Value)> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
    .into_iter()
}

/// A command as it would be typed in a shell.
pub(crate) fn as_typed(command: &[String]) -> String {
    shlex::try_join(command.iter().map(String::as_str)).unwrap_or_else(|_| command.join(" "))
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
