//! What a terminal's state means to an operator, in one word: the key to its glyph, colour and place in the counts.

use crate::state::{Attention, Availability, BusinessState, Phase, State, UiContext};
use crate::task::{Status, Task};

/// The meanings that are told apart at a glance, most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Meaning {
    /// An approval, a question, a trust or set-up dialog waits for the operator.
    Waits,
    Failed,
    Stalled,
    /// It cannot be read.
    Error,
    /// Ended well, and the operator has not looked at it yet.
    Finished,
    Interrupted,
    Working,
    Ready,
    Unknown,
    /// The agent or its pane is no longer there.
    Gone,
}

impl Meaning {
    /// Every meaning in its order, which is that of the header's counts and of the rows.
    pub const ALL: [Meaning; 10] = [
        Meaning::Waits,
        Meaning::Failed,
        Meaning::Stalled,
        Meaning::Error,
        Meaning::Finished,
        Meaning::Interrupted,
        Meaning::Working,
        Meaning::Ready,
        Meaning::Unknown,
        Meaning::Gone,
    ];

    /// Whether an operator should look at a terminal of this meaning sooner or later. Only what waits *needs* the operator
    /// (SPEC §12), as the header counts it.
    pub fn wants_a_look(self) -> bool {
        match self {
            Meaning::Waits | Meaning::Failed | Meaning::Stalled | Meaning::Error => true,
            Meaning::Interrupted | Meaning::Finished => true,
            Meaning::Gone | Meaning::Working | Meaning::Ready | Meaning::Unknown => false,
        }
    }

    /// What a state means: its attention if it has one, else how it can be reached, else its phase.
    pub fn of(state: &State) -> Self {
        match state.attention {
            Attention::Approval | Attention::Question | Attention::Trust | Attention::Setup => return Meaning::Waits,
            Attention::Failed => return Meaning::Failed,
            Attention::Interrupted => return Meaning::Interrupted,
            Attention::Finished => return Meaning::Finished,
            Attention::Stalled => return Meaning::Stalled,
            Attention::Gone => return Meaning::Gone,
            Attention::None => {}
        }
        turn_meaning(state)
    }
}

impl Meaning {
    /// What a task's status means, and its word: an end that is not known to be good is a failure.
    pub fn of_task(task: &Task) -> (Self, String) {
        let meaning = match (task.status, task.exit_code()) {
            (Status::Running, _) => Meaning::Working,
            (Status::WaitingInput, _) => Meaning::Waits,
            (Status::Idle, _) => Meaning::Ready,
            (Status::Exited, Some(0)) => Meaning::Finished,
            (Status::Exited, _) => Meaning::Failed,
            (Status::Unknown, _) => Meaning::Unknown,
        };
        (meaning, task.word())
    }
}

/// Whether a dialog of the agent has the keyboard, so that a prompt cannot be sent.
pub fn waits(state: &State) -> bool {
    state.diagnostics.availability == Availability::Available
        && state.assessment.business_state == BusinessState::AwaitingOperator
}

/// Whether the agent is there no more.
pub fn has_ended(state: &State) -> bool {
    matches!(state.diagnostics.availability, Availability::TuiDown | Availability::Unavailable)
}

/// The turn in one word: the phase, or what stands in its way.
pub fn turn_word(state: &State) -> &'static str {
    match state.diagnostics.availability {
        Availability::TuiDown | Availability::Unavailable => return "gone",
        Availability::Error => return "error",
        Availability::Available | Availability::Unknown => {}
    }
    match state.turn.phase {
        Phase::Ready => "ready",
        Phase::Active => "active",
        Phase::Unknown => context_word(state.assessment.ui_context).unwrap_or("unknown"),
    }
}

/// What the turn's word means by itself, whatever else the terminal wants the operator to know.
pub fn turn_meaning(state: &State) -> Meaning {
    match (state.diagnostics.availability, state.turn.phase) {
        (Availability::Available, Phase::Active) => Meaning::Working,
        (Availability::Available, Phase::Ready) => Meaning::Ready,
        (Availability::Available, Phase::Unknown) if waits(state) => Meaning::Waits,
        (Availability::Available | Availability::Unknown, _) => Meaning::Unknown,
        (Availability::Error, _) => Meaning::Error,
        (Availability::TuiDown | Availability::Unavailable, _) => Meaning::Gone,
    }
}

/// What has the keyboard, in a word; nothing where that is the prompt or not known.
pub fn context_word(context: UiContext) -> Option<&'static str> {
    match context {
        UiContext::ApprovalPrompt => Some("approval"),
        UiContext::Question => Some("question"),
        UiContext::TrustPrompt => Some("trust"),
        UiContext::Setup => Some("setup"),
        UiContext::SelectionMenu => Some("menu"),
        UiContext::SlashCommand => Some("slash"),
        UiContext::NormalPrompt | UiContext::ErrorBanner | UiContext::Unknown => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_meaning_stands_at_its_place() {
        assert!(Meaning::ALL.into_iter().map(|meaning| meaning as usize).eq(0..Meaning::ALL.len()));
    }
}
