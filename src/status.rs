//! What an agent or a task is to a person: one word, the same everywhere (SPEC §12), how urgently it needs them, and what
//! keeps a prompt from it.
//!
//! The public state has the many fields of SPEC §2; this is the only place that turns them into one word for people.

mod hindrance;

use std::borrow::Cow;

use serde_json::Value;

use crate::state::{
    Attention, Availability, BusinessState, Change, Completion, LastTurn, OperatorStatus, ParseStatus, Phase,
    ProcessState, State, Summary, TaskStatus, Transition, Tri, TurnResult, TurnSource, UiContext, Witness,
};

pub use hindrance::Hindrance;

/// What an agent or a task is to a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// The agent asks whether it may do something.
    Approval,
    /// The agent asks something.
    Question,
    /// The agent asks whether it may work in its directory.
    Trust,
    /// The agent asks to be set up.
    Setup,
    /// Its account's limit stopped the agent, which asks what to do about that or stands at its prompt.
    Limit,
    /// The task asks for something.
    Asks,
    /// The last turn ended in an error.
    Failed,
    /// It should be moving, and is not.
    Stalled,
    /// It cannot be read.
    Error,
    /// The last turn was interrupted.
    Interrupted,
    /// The last turn ended well, and the operator has not seen it yet.
    Finished,
    /// A turn is in flight.
    Working,
    /// The task's program runs.
    Running,
    /// A new prompt may be sent; the shell of a task waits for a command.
    Ready,
    /// The agent was stopped, as by Ctrl-Z, and something else has its terminal.
    Suspended,
    /// The screen does not say, or it is old.
    Unknown,
    /// The agent, its pane or the task's window is no longer there.
    Gone,
    /// A turn cut off by the end of its agent, until the operator has seen it: people read `failed`.
    CutOff,
    /// The task's program has ended with this code, if tmux reports it.
    Exited(Option<i32>),
}

impl Status {
    /// One status of each group that is counted, coloured and marked alike, most urgent first.
    pub const GROUPS: [Status; 10] = [
        Status::Approval,
        Status::Failed,
        Status::Stalled,
        Status::Error,
        Status::Interrupted,
        Status::Finished,
        Status::Working,
        Status::Ready,
        Status::Unknown,
        Status::Gone,
    ];

    /// The status of a public state: its agent is gone or cannot be read, else what it wants people to know, else what it does.
    pub const fn of(state: &State) -> Self {
        match state.diagnostics.availability {
            _ if state.is_cut_off_unseen() => return Status::CutOff,
            Availability::TuiDown | Availability::Unavailable => return Status::Gone,
            Availability::Error => return Status::Error,
            _ if state.is_suspended() => return Status::Suspended,
            Availability::Available | Availability::Unknown => {}
        }
        match state.attention {
            Attention::None => Status::doing(state),
            // A screen that stands there and cannot be read may ask something.
            Attention::Finished if matches!(state.turn.phase, Phase::Unknown) && state.stability.stable => {
                Status::doing(state)
            }
            Attention::Question if matches!(state.assessment.ui_context, UiContext::Limit) => Status::Limit,
            Attention::Failed if matches!(state.assessment.ui_context, UiContext::Limit) => Status::doing(state),
            attention => Status::of_attention(attention),
        }
    }

    /// What an agent does now, however its last turn ended.
    pub const fn doing(state: &State) -> Self {
        let waits = matches!(state.assessment.business_state, BusinessState::AwaitingOperator);
        // A turn whose end is still to be confirmed has not ended, and its row should not say one word for a second.
        if matches!((state.operator.completion, state.turn.phase), (Completion::CandidateComplete, Phase::Ready)) {
            return Status::Working;
        }
        Status::of_turn(state.diagnostics.availability, state.turn.phase, front(waits, state.assessment.ui_context))
    }

    /// The same by the state in short that a transition keeps.
    pub const fn of_summary(summary: &Summary) -> Self {
        if matches!(summary.status, OperatorStatus::Suspended) {
            return Status::Suspended;
        }
        let waits = matches!(summary.status, OperatorStatus::WaitingUserAnswer);
        Status::of_turn(summary.availability, summary.phase, front(waits, summary.ui_context))
    }

    /// The status of a task, by what it does and by its exit code if tmux reports it.
    pub const fn of_task(status: TaskStatus, exit_code: Option<i32>) -> Self {
        match status {
            TaskStatus::Running => Status::Running,
            TaskStatus::WaitingInput => Status::Asks,
            TaskStatus::Idle => Status::Ready,
            TaskStatus::Exited => Status::Exited(exit_code),
            TaskStatus::Unknown => Status::Unknown,
        }
    }

    /// What a kind of attention is; nothing to know is [`Status::Unknown`].
    const fn of_attention(attention: Attention) -> Self {
        match attention {
            Attention::Approval => Status::Approval,
            Attention::Question => Status::Question,
            Attention::Trust => Status::Trust,
            Attention::Setup => Status::Setup,
            Attention::Failed => Status::Failed,
            Attention::Interrupted => Status::Interrupted,
            Attention::Finished => Status::Finished,
            Attention::Stalled => Status::Stalled,
            Attention::Gone => Status::Gone,
            Attention::None => Status::Unknown,
        }
    }

    /// How a turn ended; `None` when none has.
    pub const fn of_result(result: TurnResult) -> Option<Self> {
        match result {
            TurnResult::Success => Some(Status::Finished),
            TurnResult::Interrupted => Some(Status::Interrupted),
            TurnResult::KnownFailure => Some(Status::Failed),
            TurnResult::None => None,
        }
    }

    /// How the last turn ended, to a person: one that was cut off has failed, whatever is not known of its result.
    pub const fn of_last_turn(last: &LastTurn) -> Option<Self> {
        if last.is_cut_off() { Some(Status::CutOff) } else { Status::of_result(last.result) }
    }

    /// What an agent does by its phase, or by what it has in front.
    const fn of_turn(availability: Availability, phase: Phase, front: UiContext) -> Self {
        match (availability, phase) {
            (Availability::TuiDown | Availability::Unavailable, _) => Status::Gone,
            (Availability::Error, _) => Status::Error,
            (Availability::Unknown, _) => Status::Unknown,
            (Availability::Available, Phase::Active) => Status::Working,
            // It does not go on by itself.
            (Availability::Available, Phase::Ready) if matches!(front, UiContext::Limit) => Status::Limit,
            (Availability::Available, Phase::Ready) => Status::Ready,
            (Availability::Available, Phase::Unknown) => match Status::of_context(front) {
                Some(dialog) => dialog,
                None => Status::Unknown,
            },
        }
    }

    /// The status of a waiting dialog; `None` if it does not wait for the operator.
    const fn of_context(context: UiContext) -> Option<Self> {
        match context {
            UiContext::ApprovalPrompt => Some(Status::Approval),
            UiContext::Question => Some(Status::Question),
            UiContext::TrustPrompt => Some(Status::Trust),
            UiContext::Setup => Some(Status::Setup),
            UiContext::Limit => Some(Status::Limit),
            UiContext::SelectionMenu | UiContext::SlashCommand | UiContext::CommandPrompt => None,
            UiContext::NormalPrompt | UiContext::ErrorBanner | UiContext::Unknown => None,
        }
    }

    /// The word for it in a row. JSON has it as `word` and metrics as a label, so it is public.
    pub fn word(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Status::Approval => "approval",
            Status::Question => "question",
            Status::Asks => "asks",
            Status::Trust => "trust",
            Status::Setup => "setup",
            Status::Limit => "limit",
            Status::Failed | Status::CutOff => "failed",
            Status::Exited(Some(code)) => return Cow::Owned(format!("exited {code}")),
            Status::Exited(None) => "exited ?",
            Status::Stalled => "stalled",
            Status::Error => "error",
            Status::Interrupted => "interrupted",
            Status::Finished => "finished",
            Status::Working => "working",
            Status::Running => "running",
            Status::Ready => "ready",
            Status::Suspended => "suspended",
            Status::Unknown => "unknown",
            Status::Gone => "gone",
        })
    }

    /// The name that counts it, in JSON and in the header: agents and tasks share those of agents.
    pub const fn name(self) -> &'static str {
        match self {
            Status::Approval => "approval",
            Status::Question | Status::Asks => "question",
            Status::Trust => "trust",
            Status::Setup => "setup",
            Status::Limit => "limit",
            Status::Failed => "failed",
            Status::Stalled => "stalled",
            Status::Error => "error",
            Status::Interrupted => "interrupted",
            Status::Finished | Status::Exited(Some(0)) => "finished",
            Status::Exited(_) | Status::CutOff => "failed",
            Status::Working | Status::Running => "working",
            Status::Ready => "ready",
            Status::Suspended | Status::Unknown => "unknown",
            Status::Gone => "gone",
        }
    }

    /// The attention of SPEC §2 that it is, also for a task.
    pub const fn attention(self) -> Attention {
        match self {
            Status::Approval => Attention::Approval,
            Status::Question | Status::Limit | Status::Asks => Attention::Question,
            Status::Trust => Attention::Trust,
            Status::Setup => Attention::Setup,
            Status::Finished | Status::Exited(Some(0)) => Attention::Finished,
            Status::Failed | Status::Exited(_) | Status::CutOff => Attention::Failed,
            Status::Stalled => Attention::Stalled,
            Status::Interrupted => Attention::Interrupted,
            Status::Gone => Attention::Gone,
            Status::Error | Status::Working | Status::Running | Status::Ready => Attention::None,
            Status::Suspended | Status::Unknown => Attention::None,
        }
    }

    /// The status of [`Status::GROUPS`] that it is counted, coloured and marked with.
    pub const fn group(self) -> Self {
        match self {
            Status::Question | Status::Trust | Status::Setup | Status::Limit | Status::Asks => Status::Approval,
            Status::Exited(Some(0)) => Status::Finished,
            Status::Exited(_) | Status::CutOff => Status::Failed,
            Status::Running => Status::Working,
            Status::Suspended => Status::Unknown,
            other => other,
        }
    }

    /// The place of its group in [`Status::GROUPS`].
    pub const fn place(self) -> usize {
        match self.group() {
            Status::Approval | Status::Question | Status::Trust | Status::Setup | Status::Limit | Status::Asks => 0,
            Status::Failed | Status::Exited(_) | Status::CutOff => 1,
            Status::Stalled => 2,
            Status::Error => 3,
            Status::Interrupted => 4,
            Status::Finished => 5,
            Status::Working | Status::Running => 6,
            Status::Ready => 7,
            Status::Unknown | Status::Suspended => 8,
            Status::Gone => 9,
        }
    }

    /// What so many of its group are called: `needs you`, `failed`.
    pub fn group_word(self, count: usize) -> &'static str {
        match self.group() {
            Status::Approval if count == 1 => "needs you",
            Status::Approval => "need you",
            group => group.name(),
        }
    }

    /// Its place by how urgently it needs the operator; the lowest comes first. All that waits for an answer stands equal, so
    /// that who waits longest comes first. A task that ended well needs nobody: it was announced, and there is no turn to
    /// give it.
    pub const fn urgency(self) -> usize {
        match self {
            Status::Exited(Some(0)) => Status::Gone.place(),
            // An unknown screen may hide a question; a ready one waits for nothing.
            Status::Unknown => Status::Ready.place(),
            Status::Ready | Status::Suspended => Status::Unknown.place(),
            _ => self.place(),
        }
    }

    /// Whether a dialog or a question waits for the operator.
    pub const fn needs_operator(self) -> bool {
        matches!(self.group(), Status::Approval)
    }

    /// Whether the operator should look at it sooner or later.
    pub const fn wants_a_look(self) -> bool {
        match self {
            Status::Exited(code) => !matches!(code, Some(0)),
            Status::Working | Status::Running | Status::Ready => false,
            Status::Suspended | Status::Unknown | Status::Gone => false,
            _ => true,
        }
    }
}

/// What needs the operator in front of an agent: a wait is an approval unless known to be something else, and its account's limit
/// counts at its prompt, too.
const fn front(waits: bool, context: UiContext) -> UiContext {
    match (waits, context) {
        (_, UiContext::Limit) => UiContext::Limit,
        (true, UiContext::Question | UiContext::TrustPrompt | UiContext::Setup) => context,
        (true, _) => UiContext::ApprovalPrompt,
        (false, _) => UiContext::Unknown,
    }
}

// What a transition changed, in the words that people read: `working → approval`, `ready`, `finished`.

/// The rank of fields that follow from others and say less to an operator; they are said only if nothing else is.
const FOLLOWS: u8 = 9;

/// How the last turn ended and what that rests on, for people; `None` where none has ended.
pub fn last_turn_in_words(last: &LastTurn) -> Option<String> {
    let began = match last.source {
        TurnSource::ExplicitInput => ", begun with a prompt from fleetwatch",
        TurnSource::SurfaceInference => ", seen to begin on the screen",
        TurnSource::None => "",
    };
    let told = match last.told_by {
        Witness::Record => ", told by its record",
        Witness::Screen => ", told by its screen",
        Witness::Process | Witness::None => "",
    };
    let word = if last.is_cut_off() { CUT_OFF.into() } else { Status::of_result(last.result)?.word() };
    Some(format!("{word}{began}{told}"))
}

/// Words for a turn without a result because its agent ended before it (SPEC §7, rule 8): the word of its state, and why.
pub const CUT_OFF: &str = "failed, cut off";

/// One thing that a transition changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// `working → approval`, `failed`, `draft no → yes`.
    pub text: String,
    /// The status that the new value means; `None` where it says nothing of it.
    pub status: Option<Status>,
}

/// A field by the last part of its public name, with its old and its new value.
type Field<'a> = (&'a str, &'a Value, &'a Value);

/// The status before a transition and after it, however its last turn ended.
pub fn before_and_after(Transition { changed, summary, .. }: &Transition) -> (Status, Status) {
    let fields: Vec<Field<'_>> = changed.iter().map(|Change { field, from, to }| (last(field), from, to)).collect();
    (status_before(&fields, summary), status_after(summary))
}

/// What a transition changed, most telling first.
pub fn changed(transition: &Transition) -> Vec<Changed> {
    changed_of(transition, |_| true)
}

/// The changes that people read as they happen: the status, the question, and that it cannot be read. That a draft or background
/// work came or went is no news.
pub fn news(transition: &Transition) -> Vec<Changed> {
    const NEWS: [&str; 8] =
        ["availability", "phase", "ui_context", "dialog", "result", "attention", "probe_error", "parse_error"];
    changed_of(transition, |field| NEWS.contains(&field))
}

fn changed_of(Transition { changed, summary, .. }: &Transition, is_told: impl Fn(&str) -> bool) -> Vec<Changed> {
    let fields = changed.iter().map(|Change { field, from, to }| (last(field), from, to));
    let fields: Vec<Field<'_>> = fields.filter(|(field, ..)| is_told(field)).collect();
    let (before, after) = (status_before(&fields, summary), status_after(summary));
    let mut changes: Vec<(u8, Changed)> = Vec::new();
    if before != after {
        changes.push((0, Changed { text: format!("{} → {}", before.word(), after.word()), status: Some(after) }));
    }
    let comes_or_goes = before != after && fields.iter().any(|(field, ..)| *field == "availability");
    for &(field, from, to) in &fields {
        let is_said = match field {
            "availability" | "phase" => before != after,
            "ui_context" => before != after && after != Status::Unknown,
            "result" => false,
            // If a terminal comes or goes, its present status says all the rest.
            _ => comes_or_goes,
        };
        // That nothing can be said of a draft or the like any more goes with what else changed.
        let says_little = Tri::of_word(text(from)).is_some() && [text(from), text(to)].contains(&Tri::Unknown.word());
        if !is_said {
            let is_cut_off = comes_or_goes && field == "result" && text(to) == TurnResult::None.word();
            let text = if is_cut_off {
                Changed { text: CUT_OFF.into(), status: Some(Status::CutOff) }
            } else {
                change(field, from, to)
            };
            changes.push((if says_little { FOLLOWS } else { rank(field) }, text));
        }
    }
    changes.sort_by_key(|(rank, _)| *rank);
    if changes.first().is_some_and(|(rank, _)| *rank < FOLLOWS) {
        changes.retain(|(rank, _)| *rank < FOLLOWS);
    }
    changes.into_iter().map(|(_, change)| change).collect()
}

fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// What the terminal did before its fields changed.
fn status_before(fields: &[Field<'_>], summary: &Summary) -> Status {
    let from = |name: &str| fields.iter().find(|(field, ..)| *field == name).and_then(|(_, from, _)| from.as_str());
    let availability = from("availability").and_then(Availability::of_word).unwrap_or(summary.availability);
    let phase = from("phase").and_then(Phase::of_word).unwrap_or(summary.phase);
    let context = from("ui_context").and_then(UiContext::of_word).unwrap_or(summary.ui_context);
    if from("process_state") == Some(ProcessState::Suspended.word()) {
        return Status::Suspended;
    }
    Status::of_turn(availability, phase, context)
}

/// What it does now.
fn status_after(summary: &Summary) -> Status {
    if summary.status == OperatorStatus::Suspended {
        return Status::Suspended;
    }
    Status::of_turn(summary.availability, summary.phase, summary.ui_context)
}

/// How much a field says to an operator; the lowest comes first.
fn rank(field: &str) -> u8 {
    match field {
        "availability" => 0,
        "phase" | "status" => 1,
        "result" => 2,
        "ui_context" => 3,
        "background_work" => 4,
        "probe_error" | "parse_error" => 5,
        "accepting_input" | "ready_posture" | "business_state" | "input_mode" | "source" | "process_state"
        | "transport_state" | "parse_status" => FOLLOWS,
        _ => 7,
    }
}

/// One field that changed, in words.
fn change(field: &str, from: &Value, to: &Value) -> Changed {
    let result = |value: &Value| value.as_str().and_then(TurnResult::of_word).and_then(Status::of_result);
    let task = |value: &Value| {
        let status = value.as_str().and_then(TaskStatus::of_word).unwrap_or(TaskStatus::Unknown);
        Status::of_task(status, None)
    };
    let (text, status) = match (field, result(to)) {
        // A result needs no "from": the turn that ended before is another one.
        ("result", Some(result)) => (result.word().into_owned(), Some(result)),
        ("result", None) => (format!("{} withdrawn", result(from).unwrap_or(Status::Unknown).word()), None),
        ("status", _) => (format!("{} → {}", task(from).word(), task(to).word()), Some(task(to))),
        _ => {
            let status = match (field, to.as_str()) {
                ("ui_context", Some(to)) => UiContext::of_word(to).and_then(Status::of_context),
                ("probe_error" | "parse_error", _) => Some(Status::Error),
                ("background_work", Some("yes")) => Some(Status::Working),
                _ => None,
            };
            (format!("{} {} → {}", label(field), short(from), short(to)), status)
        }
    };
    Changed { text, status }
}

/// What a field is called.
fn label(field: &str) -> &str {
    match field {
        "accepting_input" => "accepting",
        "editing_input" => "draft",
        "ready_posture" => "posture",
        "pending_input" => "queued",
        "background_work" => "background",
        "ui_context" => "context",
        "business_state" => "business",
        "input_mode" => "input",
        "process_state" => "process",
        "transport_state" => "transport",
        "parse_status" => "screen",
        other => other,
    }
}

/// A value of a field that has no status.
fn short(value: &Value) -> String {
    let word = match value {
        Value::Null => "–",
        Value::String(word) => word.as_str(),
        // A problem is named by its kind.
        Value::Object(fields) => fields.get("kind").and_then(Value::as_str).unwrap_or("?"),
        other => return other.to_string(),
    };
    match UiContext::of_word(word) {
        Some(UiContext::NormalPrompt) => "prompt".to_owned(),
        Some(UiContext::SelectionMenu) => "menu".to_owned(),
        Some(UiContext::SlashCommand) => "slash".to_owned(),
        None if word == ParseStatus::Parsed.word() => "read".to_owned(),
        None if word == ParseStatus::UnsupportedTool.word() => "no profile".to_owned(),
        Some(context) => {
            Status::of_context(context).map_or(word.replace('_', " "), |status| status.word().into_owned())
        }
        None => word.replace('_', " "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_names_no_way_that_is_refused() {
        use Hindrance::*;
        for hindrance in [Gone, Suspended, InMode, Dialog, Menu, Working, Command, Draft, Queued, NotReady, NoProfile] {
            let hint = hindrance.hint();
            assert_eq!(hint.contains("--force"), hindrance.may_insist(), "{hindrance:?}: {hint}");
            assert!(!hint.contains("--when-ready") || hindrance.may_pass(), "{hindrance:?}: {hint}");
        }
    }

    #[test]
    fn each_group_stands_at_its_place() {
        let places = Status::GROUPS.map(Status::place);
        assert!(places.into_iter().eq(0..Status::GROUPS.len()));
        assert_eq!(Status::GROUPS.map(Status::group), Status::GROUPS);
    }

    #[test]
    fn who_waits_comes_first_and_what_ended_well_last() {
        use Status::*;
        let order = [
            Approval,
            Question,
            Trust,
            Asks,
            Failed,
            Exited(None),
            Stalled,
            Finished,
            Working,
            Unknown,
            Ready,
            Exited(Some(0)),
        ];
        assert!(order.is_sorted_by_key(|status| status.urgency()));
        assert!(Failed.urgency() == Exited(Some(2)).urgency() && Working.urgency() == Running.urgency());
        assert!(Asks.needs_operator() && !Failed.needs_operator());
    }

    #[test]
    fn words_are_those_of_the_contract() {
        use Status::*;
        assert_eq!(Exited(Some(2)).word(), "exited 2");
        assert_eq!([Asks, Running, Finished].map(Status::word), ["asks", "running", "finished"]);
        assert_eq!(
            (Question.group_word(1), Asks.group_word(2), Running.group_word(2)),
            ("needs you", "need you", "working")
        );
    }
}

#[cfg(test)]
mod change_tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::state::{OperatorStatus, TurnSource};
    use crate::time::Timestamp;

    fn transition(phase: Phase, ui_context: UiContext, fields: &[Change]) -> Transition {
        let status = OperatorStatus::Unknown;
        let (availability, result, source) = (Availability::Available, TurnResult::None, TurnSource::None);
        let summary = Summary { availability, phase, result, source, ui_context, status };
        let (at, evidence) = (Timestamp::default(), Arc::default());
        Transition { at, changed: fields.to_vec(), summary, note: None, evidence }
    }

    fn text(phase: Phase, ui_context: UiContext, fields: &[Change]) -> String {
        words(changed(&transition(phase, ui_context, fields)))
    }

    fn words(changes: Vec<Changed>) -> String {
        changes.into_iter().map(|changed| changed.text).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn a_change_is_put_in_the_words_of_the_table() {
        let field =
            |name: &'static str, from: &str, to: &str| Change { field: name.into(), from: json!(from), to: json!(to) };
        let asks = [
            field("phase", "active", "unknown"),
            field("ui_context", "normal_prompt", "approval_prompt"),
            field("accepting_input", "yes", "no"),
            field("business_state", "working", "awaiting_operator"),
        ];
        assert_eq!(text(Phase::Unknown, UiContext::ApprovalPrompt, &asks), "working → approval");
        let answered = [field("phase", "unknown", "active"), field("ui_context", "approval_prompt", "normal_prompt")];
        assert_eq!(text(Phase::Active, UiContext::NormalPrompt, &answered), "approval → working");
        let ended = [field("phase", "active", "ready"), field("result", "known_failure", "success")];
        assert_eq!(text(Phase::Ready, UiContext::NormalPrompt, &ended), "working → ready, finished");
        let comes = [field("availability", "tui_down", "available"), field("accepting_input", "unknown", "yes")];
        assert_eq!(text(Phase::Ready, UiContext::NormalPrompt, &comes), "gone → ready");
        let menu = [field("phase", "ready", "unknown"), field("ui_context", "normal_prompt", "slash_command")];
        assert_eq!(text(Phase::Unknown, UiContext::SlashCommand, &menu), "ready → unknown, context prompt → slash");
        let withdrawn = [field("result", "success", "none")];
        assert_eq!(text(Phase::Ready, UiContext::NormalPrompt, &withdrawn), "finished withdrawn");
        let cut_off = [field("availability", "available", "tui_down"), field("result", "success", "none")];
        let (status, source) = (OperatorStatus::TuiDown, TurnSource::SurfaceInference);
        let (availability, phase, ui_context) = (Availability::TuiDown, Phase::Unknown, UiContext::Unknown);
        let summary = Summary { availability, phase, result: TurnResult::None, source, ui_context, status };
        let gone = Transition { changed: cut_off.to_vec(), ..Transition::last(summary, "", Timestamp::default()) };
        let said: Vec<String> = changed(&gone).into_iter().map(|changed| changed.text).collect();
        assert_eq!(said, ["unknown → gone", CUT_OFF]);
        let news = |phase, fields: &[Change]| words(news(&transition(phase, UiContext::NormalPrompt, fields)));
        let [draft, background] = ["surface.editing_input", "background_work"].map(|name| field(name, "yes", "no"));
        assert_eq!(news(Phase::Ready, &[draft.clone(), background]), "");
        assert_eq!(news(Phase::Active, &[draft, field("turn.phase", "ready", "active")]), "ready → working");
        let task = [field("status", "waiting_input", "running")];
        assert_eq!(text(Phase::Active, UiContext::Unknown, &task), "asks → running");
    }
}
