//! What happened, in sentences for people: `finished after 9m`, `asks for approval: rm -rf build`. The log of
//! the dashboard, the list of one terminal and `fleetwatch history` show them. What means nothing to a person,
//! such as a draft that comes and goes, has no sentence and is shown by its fields.

use crate::dialog::{ApprovalSubject, approval, asked, asked_before, bare};
use crate::operation::{Outcome, TOKEN};
use crate::record::{
    Body, FollowUpRecord, HIDDEN, IntentState, OperatorAction, PublicState, Sent, StoredInput, StoredTransition, What,
    as_typed,
};
use crate::screen::harmless;
use crate::state::{
    Availability, Change, Completion, LEFT_UNWATCHED, LastTurn, RETRACTION_UNDONE, State, TaskStatus, Transition,
    TurnResult,
};
use crate::status::{CUT_OFF, Status, before_and_after};
use crate::task::Happening;
use crate::time::Span;

/// The most characters of a sentence; tables cut it at their own width.
const LONGEST: usize = 300;
/// The most characters of an answer that precede its subject.
const LONGEST_CHOICE: usize = 24;

/// The subject of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doer {
    /// The agent or the task itself.
    Terminal,
    /// The operator, in any fleetwatch process, or somebody with one of their tokens.
    You,
    /// A rule of the configuration.
    Fleetwatch,
}

/// What happened, without who did it and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    pub actor: Doer,
    /// One harmless line of at most [`LONGEST`] characters.
    pub text: String,
    /// The terminal's status, or how an act of the operator failed; `None` for an accepted act.
    pub status: Option<Status>,
    /// The token by which it was done, and from where.
    token: Option<String>,
}

impl Sentence {
    fn new(actor: Doer, status: Option<Status>, verb: &str, what: &str) -> Self {
        let what = what.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = harmless(&if what.is_empty() { verb.to_owned() } else { format!("{verb}: {what}") });
        Self { actor, text: cut(&text, LONGEST), status, token: None }
    }

    /// The same with the sender, if it is a token.
    fn by(self, sender: Option<&str>) -> Self {
        Self { token: sender.filter(|sender| sender.starts_with(TOKEN)).map(harmless), ..self }
    }

    fn of(status: Status, verb: &str, what: &str) -> Self {
        Self::new(Doer::Terminal, Some(status), verb, what)
    }

    /// Whether it says that something went wrong: a failure, an act that was refused or not taken, what cannot be read.
    pub fn has_failed(&self) -> bool {
        matches!(self.status.map(Status::group), Some(Status::Failed | Status::Error))
    }

    /// The name before it in a list of many terminals.
    pub fn subject<'a>(&'a self, terminal: &'a str) -> &'a str {
        match self.actor {
            Doer::Terminal => terminal,
            Doer::You => self.token.as_deref().unwrap_or("you"),
            Doer::Fleetwatch => "fleetwatch",
        }
    }
}

/// Cuts a text to a number of characters.
fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// Whether repeating an act says no more than doing it once: typed keys and marks do not, answers and prompts do.
pub fn is_repeatable(body: &Body) -> bool {
    !matches!(body, Body::Input(StoredInput { sent: Sent::Answer { .. } | Sent::Prompt { .. }, .. }))
}

/// The sentence for an event or an act at the terminal of that name; `None` if a person need not know.
pub fn of(body: &Body, name: &str) -> Option<Sentence> {
    match body {
        Body::Transition(kept @ StoredTransition { transition, .. }) => match &kept.state {
            Some(PublicState::Agent(state)) => of_transition(transition, Some(state)),
            Some(PublicState::Task(fields)) => of_task_transition(transition, fields.as_status()),
            Some(PublicState::Other(_)) | None => of_transition(transition, None),
        },
        Body::TaskEvent(event) => Some(of_task(&event.happening)),
        Body::Input(input) => of_input(input, name).map(|said| said.by(Some(&input.sender))),
        Body::FollowUp(message) => of_message(message, name),
        Body::Action(action) => of_action(action, name),
        Body::Other { .. } => None,
    }
}

/// The sentence for a transition; `state` is where it led, if known.
pub fn of_transition(transition: &Transition, state: Option<&State>) -> Option<Sentence> {
    let (before, after) = before_and_after(transition);
    // Older records have the whole path of a field.
    let change = |name: &str| transition.changed.iter().find(|it| it.field.rsplit('.').next() == Some(name));
    let note = transition.note.as_deref().unwrap_or_default();
    // Older records do not have the state that they led to.
    let cuts_off = state.map_or(before == Status::Working, |state| {
        state.last_turn.is_cut_off() && state.last_turn.at == Some(transition.at)
    });
    let (gone, is_gone) = if cuts_off { (Status::CutOff, CUT_OFF) } else { (Status::Gone, "gone") };
    if note == LEFT_UNWATCHED {
        return Some(Sentence::of(gone, &format!("{is_gone} while nobody watched"), ""));
    }
    // What a first poll finds is no news: the table shows it.
    let is_found = before == Status::Unknown
        && change("availability").is_some_and(|change| change.from == Availability::Unknown.word())
        && !state.is_some_and(|state| state.since_exact && state.turn.since_exact);
    if is_found {
        return None;
    }
    // That a turn was cut off is said by what cut it off.
    if change("result").is_some() && after != Status::Gone {
        let said = of_result(transition.summary.result, after, note, state);
        // Agents that stop at a no as at Esc say of both that they were interrupted.
        let is_at_dialog = before.needs_operator() && said.status == Some(Status::Interrupted);
        return Some(if is_at_dialog {
            Sentence { text: format!("{} at its dialog", said.text), ..said }
        } else {
            said
        });
    }
    if change("attention").is_some_and(|change| change.to == "stalled") {
        return Some(Sentence::of(Status::Stalled, "stalled", ""));
    }
    if before == after && change("dialog").is_none() {
        return NOTES.iter().find(|(of, _)| *of == note).map(|(_, said)| Sentence::of(Status::Unknown, said, ""));
    }
    let asked = || state.and_then(|state| asked(state, None)).unwrap_or_default();
    // A state that was only unreadable for a moment is not news.
    let stands = state.is_some_and(|state| state.since().at < transition.at);
    let is_unseen = state.is_some_and(|state| !state.since().exact);
    let trouble = || {
        let problem = state.and_then(|state| state.diagnostics.probe_error.as_ref());
        problem.map(|problem| problem.message.as_str()).unwrap_or_default()
    };
    Some(match (before, after) {
        (Status::Error, _) if stands && after.needs_operator() => {
            Sentence::of(after, "read again, and waits for an answer", &asked())
        }
        (Status::Error, Status::Working | Status::Ready) if stands || is_unseen => return None,
        (Status::Error, Status::Gone) if stands => return None,
        (_, Status::Approval) => match state.and_then(|state| approval(&state.assessment, None)) {
            Some(ApprovalSubject { act: Some(act), what }) => Sentence::of(after, &format!("asks to {act} {what}"), ""),
            Some(ApprovalSubject { act: None, what }) => Sentence::of(after, "asks for approval", &what),
            None => Sentence::of(after, "asks for approval", &asked()),
        },
        (_, Status::Question) => Sentence::of(after, "asks", &asked()),
        (_, Status::Trust) => Sentence::of(after, "asks for trust", &asked()),
        (_, Status::Setup) => Sentence::of(after, "asks for setup", &asked()),
        (_, Status::Limit) if state.is_some_and(|state| !state.waits()) => Sentence::of(
            after,
            "stopped by its limit",
            state.and_then(|state| state.activity.as_deref()).unwrap_or_default(),
        ),
        (_, Status::Limit) => Sentence::of(after, "asks what to do about its limit", &asked()),
        (before, Status::Gone) => {
            let (when, what) = ended(before, state);
            Sentence::of(gone, &format!("{is_gone}{when}"), &what)
        }
        (_, Status::Error) => Sentence::of(after, "error", trouble()),
        // A menu that was opened and closed, or a half-drawn screen.
        (Status::Unknown, _) | (_, Status::Unknown) => return None,
        (Status::Suspended, Status::Working | Status::Ready) => Sentence::of(after, "brought back", ""),
        (before, Status::Working) if before.needs_operator() => Sentence::of(after, "working again", ""),
        (_, Status::Working) => began(state),
        // How it ended is said once that is settled.
        (Status::Working, Status::Ready) if state.is_some_and(is_in_flight) => return None,
        (_, after) => Sentence::of(after, &after.word(), ""),
    })
}

/// What the end of an agent cut off, and why or how it ended, unless its pane was closed.
fn ended(before: Status, state: Option<&State>) -> (&'static str, String) {
    let reason = state.and_then(|state| match state.is_unavailable() {
        true => state.activity.clone(),
        false => state.ended_with.map(|how| how.to_string()),
    });
    let (when, asked) = match before {
        before if before.needs_operator() => (" while it asked", state.and_then(|state| asked_before(state, None))),
        Status::Working => (" while it worked", None),
        _ => ("", None),
    };
    let what = [asked, reason].into_iter().flatten().filter(|part| !part.is_empty());
    (when, what.collect::<Vec<_>>().join(" · "))
}

/// Whether a turn is in flight, or its result is not settled yet.
fn is_in_flight(state: &State) -> bool {
    matches!(state.operator.completion, Completion::InProgress | Completion::CandidateComplete)
}

/// Words for notes of transitions that change nothing else.
const NOTES: [(&str, &str); 2] =
    [("sent, no reaction", "did not react to the prompt"), ("taken as a command", "took the text as a command")];

/// A turn began.
fn began(state: Option<&State>) -> Sentence {
    match state.and_then(State::works_on) {
        Some(prompt) => Sentence::of(Status::Working, "working on", prompt),
        None => Sentence::of(Status::Working, "working", ""),
    }
}

/// A turn ended, or its result was withdrawn.
fn of_result(result: TurnResult, now: Status, note: &str, state: Option<&State>) -> Sentence {
    if now == Status::Working && result != TurnResult::KnownFailure {
        // A success was taken back, or given back because another turn had begun.
        return match note.contains(RETRACTION_UNDONE) {
            true => began(state),
            false => Sentence::of(Status::Working, "working again", ""),
        };
    }
    let last = state.map(|state| &state.last_turn);
    let after = last.and_then(after).unwrap_or_default();
    let detail = last.and_then(|last| last.detail.as_deref()).filter(|_| result == TurnResult::KnownFailure);
    match Status::of_result(result) {
        Some(status) => {
            Sentence::of(status, &format!("{}{after}", status.word()), &detail.map(bare).unwrap_or_default())
        }
        None => Sentence::of(now, &now.word(), ""),
    }
}

/// How long a turn took: the work, and the wait for the operator if there was any.
fn after(last: &LastTurn) -> Option<String> {
    let (worked, waited) = (last.worked()?, last.waited?);
    let waits = waited >= Span::SECOND && (worked + waited).rounded() != worked.rounded();
    let waited = if waits { format!(", waited {}", waited.rounded()) } else { String::new() };
    Some(format!(" after {}{waited}", worked.rounded()))
}

/// A task that goes on once its question was answered; for all else it has events.
fn of_task_transition(transition: &Transition, now: Status) -> Option<Sentence> {
    let asked = |change: &Change| change.field == "status" && change.from == TaskStatus::WaitingInput.word();
    let goes_on = now == Status::Running && transition.changed.iter().any(asked);
    goes_on.then(|| Sentence::of(now, "running again", ""))
}

/// What happened to a task.
pub fn of_task(happening: &Happening) -> Sentence {
    Sentence::of(happening.as_status(), &happening.text(), "")
}

/// What was sent into a terminal, and its outcome.
fn of_input(input: &StoredInput, name: &str) -> Option<Sentence> {
    if input.sender.starts_with("follow-up") {
        // The message itself has a sentence.
        return None;
    }
    // The action before names who queued it, who may have had a token.
    let actor = if input.sender.starts_with("queue ") { Doer::Fleetwatch } else { Doer::You };
    let outcome = input.outcome.as_deref();
    let answer = match &input.sent {
        Sent::Answer { choice, about, .. } if about.is_empty() => choice.clone(),
        // What was answered must not be cut off by how.
        Sent::Answer { choice, about, .. } => format!("{}, to {about}", cut(choice, LONGEST_CHOICE)),
        Sent::Prompt { .. } | Sent::Keys { .. } => String::new(),
    };
    let answer = answer.as_str();
    if outcome == Some(Outcome::Accepted(None).word()) {
        let (verb, what) = match &input.sent {
            Sent::Prompt { text } => (format!("prompted {name}"), text.as_str()),
            Sent::Answer { .. } => (format!("answered {name}"), answer),
            Sent::Keys { keys } => match keys.iter().all(|key| key.chars().nth(1).is_none() || key == HIDDEN) {
                true => (format!("typed in {name}"), ""),
                false => (format!("{} in {name}", pressed(keys)), ""),
            },
        };
        return Some(Sentence::new(actor, None, &verb, what));
    }
    let (act, done) = match input.sent.what() {
        What::Prompt => ("prompt", "prompted"),
        What::Answer => ("answer", "answered"),
        What::Keys => ("press keys in", "pressed keys in"),
    };
    let (verb, status) = match outcome {
        Some("refused") => (format!("could not {act} {name}"), Status::Failed),
        Some("not_taken") => (format!("{done} {name}, not taken"), Status::Failed),
        Some(word) => (format!("{done} {name}, {word}"), Status::Unknown),
        None => (format!("{done} {name}, outcome not known"), Status::Unknown),
    };
    let said = [answer, input.detail.as_deref().unwrap_or_default()].into_iter().filter(|part| !part.is_empty());
    Some(Sentence::new(actor, Some(status), &verb, &said.collect::<Vec<_>>().join("; ")))
}

/// Keys that were pressed, and texts of which no more is kept.
fn pressed(keys: &[String]) -> String {
    if keys == [HIDDEN, "Enter"] {
        return "typed a line".to_owned();
    }
    let part = |part: &[String]| match part {
        [text] if text == HIDDEN => "typed a text".to_owned(),
        names => format!("pressed {}", names.join(" ")),
    };
    let parts = keys.chunk_by(|one, next| one != HIDDEN && next != HIDDEN).map(part);
    parts.collect::<Vec<_>>().join(" and ")
}

/// The outcome of a message to an agent.
fn of_message(message: &FollowUpRecord, name: &str) -> Option<Sentence> {
    let text = message.text.as_deref().unwrap_or_default();
    let why = message.detail.as_deref().unwrap_or_default();
    let (actor, status) = (Doer::Fleetwatch, Some(Status::Failed));
    Some(match message.outcome {
        IntentState::Sent => Sentence::new(actor, None, &format!("told {name}"), text),
        IntentState::Failed => Sentence::new(actor, status, &format!("did not tell {name}"), why),
        IntentState::Expired => Sentence::new(actor, status, &format!("did not tell {name} in time"), ""),
        IntentState::Unknown => Sentence::new(actor, Some(Status::Unknown), &format!("may have told {name}"), why),
        IntentState::Cancelled | IntentState::Dismissed => {
            Sentence::new(Doer::You, None, &format!("dropped the message to {name}"), text)
        }
        IntentState::Resent => Sentence::new(Doer::You, None, &format!("sent the message to {name} again"), text),
        IntentState::Pending | IntentState::Attempted => return None,
    })
}

/// What the operator did to a terminal besides inputs.
fn of_action(action: &OperatorAction, name: &str) -> Option<Sentence> {
    let (verb, what) = match action {
        OperatorAction::Kill { .. } => (format!("killed {name}"), ""),
        OperatorAction::Prune => (format!("removed {name}"), ""),
        OperatorAction::Run { command, again, .. } => {
            let again = if *again { " again" } else { "" };
            return Some(Sentence::new(Doer::You, None, &format!("ran {name}{again}"), &as_typed(command)));
        }
        OperatorAction::Queued { text, by } => {
            let said = Sentence::new(Doer::You, None, &format!("queued for {name}"), text);
            return Some(said.by(by.as_deref()));
        }
        OperatorAction::TookBack { text } => (format!("took back from {name}"), text.as_str()),
        // What only this dashboard shows otherwise now is seen there.
        OperatorAction::Seen | OperatorAction::Other { .. } => return None,
    };
    Some(Sentence::new(Doer::You, None, &verb, what))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::state::{
        Assessment, BusinessState, OperatorStatus, Phase, Stale, Summary, TerminalFacts, TurnSource, UiContext,
    };
    use crate::time::Timestamp;
    use crate::tracker::{GoneReason, Observation, Settings, Tracker};

    fn summary(availability: Availability, phase: Phase, result: TurnResult, ui_context: UiContext) -> Summary {
        let waits = matches!(ui_context, UiContext::ApprovalPrompt | UiContext::Question);
        let status = if waits { OperatorStatus::WaitingUserAnswer } else { OperatorStatus::Ready };
        Summary { availability, phase, result, source: TurnSource::None, ui_context, status }
    }

    /// A transition to a phase, of an agent that can be read, which changed these fields.
    fn said(phase: Phase, context: UiContext, changed: &[(&'static str, &str, &str)], note: Option<&str>) -> String {
        let result = changed.iter().find(|(field, ..)| *field == "result");
        let result = result.and_then(|(.., to)| TurnResult::of_word(to)).unwrap_or(TurnResult::None);
        let change = |&(field, from, to): &(&'static str, &str, &str)| Change {
            field: field.into(),
            from: json!(from),
            to: json!(to),
        };
        let transition = Transition {
            at: Timestamp::from_millis(1),
            changed: changed.iter().map(change).collect(),
            summary: summary(Availability::Available, phase, result, context),
            note: note.map(str::to_owned),
            evidence: Arc::default(),
        };
        of_transition(&transition, None).map_or_else(|| "-".to_owned(), |sentence| sentence.text)
    }

    #[test]
    fn the_wait_for_the_operator_is_no_work_and_is_named_where_it_matters() {
        let took = |seconds: u64, waited: Option<u64>| {
            let (began, at) = (Some(Timestamp::default()), Some(Timestamp::default() + Span::from_secs(seconds)));
            after(&LastTurn { began, at, waited: waited.map(Span::from_secs), ..LastTurn::NONE })
        };
        assert_eq!(took(424, Some(420)).as_deref(), Some(" after 4s, waited 7m"));
        assert_eq!(took(540, Some(0)).as_deref(), Some(" after 9m"));
        assert_eq!(took(550, Some(8)).as_deref(), Some(" after 9m"));
        let (began, at) = (Some(Timestamp::default()), Some(Timestamp::from_millis(2_100)));
        let short = LastTurn { began, at, waited: Some(Span::from_millis(250)), ..LastTurn::NONE };
        assert_eq!(after(&short).as_deref(), Some(" after 1s"), "a wait of no second is none");
        assert_eq!(took(424, None), None, "nobody saw when it went on");
    }

    #[test]
    fn a_transition_is_one_short_sentence_or_none() {
        let (prompt, none) = (UiContext::NormalPrompt, None);
        let began = [("phase", "ready", "active"), ("accepting_input", "yes", "no")];
        assert_eq!(said(Phase::Active, prompt, &began, none), "working");
        let ended = [("result", "none", "success"), ("source", "none", "surface_inference")];
        assert_eq!(said(Phase::Ready, prompt, &ended, none), "finished");
        let failed = [("phase", "active", "ready"), ("result", "none", "known_failure")];
        assert_eq!(said(Phase::Ready, prompt, &failed, none), "failed");
        let asks = [("phase", "active", "unknown"), ("ui_context", "normal_prompt", "approval_prompt")];
        assert_eq!(said(Phase::Unknown, UiContext::ApprovalPrompt, &asks, none), "asks for approval");
        let next = [("dialog", "Run a?", "Run b?")];
        assert_eq!(said(Phase::Unknown, UiContext::ApprovalPrompt, &next, none), "asks for approval");
        let answered = [("phase", "unknown", "active"), ("ui_context", "approval_prompt", "normal_prompt")];
        assert_eq!(said(Phase::Active, prompt, &answered, none), "working again");
        let taken_back = [("phase", "ready", "active"), ("result", "success", "none")];
        let note = Some("premature success retracted");
        assert_eq!(said(Phase::Active, prompt, &taken_back, note), "working again");
        assert_eq!(said(Phase::Ready, prompt, &[], Some("sent, no reaction")), "did not react to the prompt");
        assert_eq!(said(Phase::Ready, prompt, &[("attention", "none", "stalled")], none), "stalled");
    }

    #[test]
    fn what_says_nothing_to_a_person_has_no_sentence() {
        let prompt = UiContext::NormalPrompt;
        for internal in ["editing_input", "background_work", "accepting_input", "ui_context", "input_mode"] {
            assert_eq!(said(Phase::Ready, prompt, &[(internal, "no", "yes")], None), "-", "{internal}");
        }
        let found = [("availability", "unknown", "available"), ("phase", "unknown", "active")];
        assert_eq!(said(Phase::Active, prompt, &found, None), "-", "a first poll");
        let found = [("availability", "unknown", "available"), ("result", "none", "known_failure")];
        assert_eq!(said(Phase::Ready, prompt, &found, None), "-", "a first poll of a failure");
        let menu = [("phase", "ready", "unknown"), ("ui_context", "normal_prompt", "selection_menu")];
        assert_eq!(said(Phase::Unknown, UiContext::SelectionMenu, &menu, None), "-");
        assert_eq!(said(Phase::Ready, prompt, &[], Some("left the fleet")), "-");
    }

    #[test]
    fn an_agent_that_goes_or_cannot_be_read_has_a_sentence() {
        let went = |to: Availability| {
            let from = Change { field: "availability".into(), from: json!("available"), to: json!(to) };
            let summary = summary(to, Phase::Unknown, TurnResult::None, UiContext::Unknown);
            let at = Timestamp::from_millis(1);
            let transition = Transition { at, changed: vec![from], summary, note: None, evidence: Arc::default() };
            of_transition(&transition, None).map(|sentence| (sentence.text, sentence.status))
        };
        assert_eq!(went(Availability::TuiDown), Some(("gone".to_owned(), Some(Status::Gone))));
        let mut tracker = Tracker::new(Settings::default(), Timestamp::default());
        let _ = tracker.handle(Observation::Gone(GoneReason::Server), Timestamp::default());
        let mut state = tracker.state(TerminalFacts::default(), Timestamp::default());
        let said = |before: Status, state: &State| {
            let phase = if before == Status::Working { "active" } else { "unknown" };
            let from = |field: &'static str, from: &str, to: &str| Change {
                field: field.into(),
                from: json!(from),
                to: json!(to),
            };
            let asks = from("ui_context", "question", "unknown");
            let changed = vec![from("availability", "available", "unavailable"), from("phase", phase, "unknown"), asks];
            let summary = summary(Availability::Unavailable, Phase::Unknown, TurnResult::None, UiContext::Unknown);
            let at = Timestamp::from_millis(1);
            let transition = Transition { at, changed, summary, note: None, evidence: Arc::default() };
            of_transition(&transition, Some(state))
                .map(|said| format!("{}: {}", said.status.map_or("", Status::name), said.text))
                .unwrap_or_default()
        };
        assert_eq!(said(Status::Working, &state), "gone: gone while it worked: its tmux server ended");
        let asks = Assessment { operator_excerpt: Some("Run make test?".to_owned()), ..state.assessment.clone() };
        let asks = Assessment { business_state: BusinessState::AwaitingOperator, ..asks };
        state.stale = Some(Stale::new(Timestamp::default(), state.surface, Phase::Unknown, &asks));
        assert_eq!(said(Status::Question, &state), "gone: gone while it asked: Run make test? · its tmux server ended");
        state.activity = None;
        assert_eq!(said(Status::Question, &state), "gone: gone while it asked: Run make test?");
        // One end in mid-turn has one word in the log and in the row.
        state.last_turn = LastTurn::cut_off(TurnSource::SurfaceInference, Timestamp::from_millis(1));
        assert_eq!(said(Status::Question, &state), "failed: failed, cut off while it asked: Run make test?");
        assert_eq!(said(Status::Working, &state), "failed: failed, cut off while it worked");
        state.last_turn.at = Some(Timestamp::default());
        assert_eq!(said(Status::Working, &state), "gone: gone while it worked", "an earlier turn was cut off");
        for (status, how) in [(0, "exit 0"), (3, "exit 3"), (137, "signal 9")] {
            let mut tracker = Tracker::new(Settings::default(), Timestamp::default());
            let _ = tracker.handle(Observation::TuiDown { exit_status: Some(status) }, Timestamp::default());
            let state = tracker.state(TerminalFacts::default(), Timestamp::default());
            assert_eq!(said(Status::Question, &state), format!("gone: gone while it asked: {how}"));
            assert_eq!(said(Status::Working, &state), format!("gone: gone while it worked: {how}"));
        }
        assert_eq!(went(Availability::Error), Some(("error".to_owned(), Some(Status::Error))));
        assert_eq!(went(Availability::Unknown), None);
    }

    #[test]
    fn what_stands_there_as_before_is_no_news_when_it_can_be_read_again() {
        let (began, read) = (Timestamp::from_millis(1), Timestamp::from_millis(60_001));
        let again = |phase, context, since| {
            let from = Change { field: "availability".into(), from: json!("error"), to: json!("available") };
            let summary = summary(Availability::Available, phase, TurnResult::None, context);
            let transition =
                Transition { at: read, changed: vec![from], summary, note: None, evidence: Arc::default() };
            let tracker = Tracker::new(Settings::default(), since);
            let state = tracker.state(TerminalFacts::default(), read);
            of_transition(&transition, Some(&state)).map(|sentence| sentence.text)
        };
        let approval = UiContext::ApprovalPrompt;
        let asks = |since| again(Phase::Unknown, approval, since);
        assert_eq!(asks(began).as_deref(), Some("read again, and waits for an answer"));
        assert_eq!(asks(read).as_deref(), Some("asks for approval"));
        assert_eq!(again(Phase::Ready, UiContext::NormalPrompt, began), None);
    }

    #[test]
    fn what_the_operator_did_is_given_with_its_outcome() {
        let input = |sender: &str, sent: Sent, outcome: Option<&str>, detail: Option<&str>| {
            let (outcome, detail) = (outcome.map(str::to_owned), detail.map(str::to_owned));
            let input = StoredInput { sender: sender.to_owned(), sent, outcome, detail, ended_at: None };
            let sentence = of(&Body::Input(input), "docs");
            sentence.map(|sentence| format!("{} {}", sentence.subject("docs"), sentence.text))
        };
        let prompt = || Sent::Prompt { text: "fix\n  it \u{1b}[31m".to_owned() };
        let answer_to = |about: &str, choice: &str| Sent::Answer {
            dialog: String::new(),
            about: about.to_owned(),
            choice: choice.to_owned(),
            refuses: false,
        };
        let answer = || answer_to("", "1 Yes");
        let keys = |keys: &[&str]| Sent::Keys { keys: keys.iter().map(|key| (*key).to_owned()).collect() };
        let said = |sent, outcome, detail| input("dashboard", sent, outcome, detail).unwrap_or_default();
        let accepted = Some("accepted");
        assert_eq!(said(prompt(), accepted, None), "you prompted docs: fix it [31m");
        let queued = input("queue 3", prompt(), accepted, None);
        assert_eq!(queued.as_deref(), Some("fleetwatch prompted docs: fix it [31m"), "a token may have queued it");
        assert_eq!(said(answer(), accepted, None), "you answered docs: 1 Yes");
        let to = answer_to("rm -rf build", "2 Yes, and don't ask again for rm in this directory");
        assert_eq!(said(to, accepted, None), "you answered docs: 2 Yes, and don't ask aga…, to rm -rf build");
        assert_eq!(said(keys(&["Escape"]), accepted, None), "you pressed Escape in docs");
        assert_eq!(said(keys(&["a", "(text)"]), accepted, None), "you typed in docs");
        let text = said(keys(&["Down", "Tab", "(text)", "Enter"]), accepted, None);
        assert_eq!(text, "you pressed Down Tab and typed a text and pressed Enter in docs");
        assert_eq!(said(keys(&["(text)", "Enter"]), accepted, None), "you typed a line in docs");
        let why = Some("it is working");
        assert_eq!(said(prompt(), Some("refused"), why), "you could not prompt docs: it is working");
        assert_eq!(said(answer(), Some("not_taken"), why), "you answered docs, not taken: 1 Yes; it is working");
        assert_eq!(said(prompt(), None, None), "you prompted docs, outcome not known");
        assert_eq!(input("follow-up 3", prompt(), accepted, None), None, "the message has a sentence");
        let action = |action: OperatorAction| of(&Body::Action(action), "docs").map(|sentence| sentence.text);
        let queued = OperatorAction::Queued { text: "go on".to_owned(), by: None };
        assert_eq!(action(queued).as_deref(), Some("queued for docs: go on"));
        assert_eq!(action(OperatorAction::of_word("pinned")), None);
    }
}
