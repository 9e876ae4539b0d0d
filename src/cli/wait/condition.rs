//! The states that can be waited for.

use clap::ValueEnum;

use crate::fleet::Terminal;
use crate::state::{Availability, BusinessState, Phase, TaskStatus, TurnResult, UiContext};
use crate::status::Status;
use crate::task::Task;

/// What can be waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WaitCondition {
    /// A prompt may be sent: the agent is ready, with no draft and no copy mode.
    Ready,
    /// A turn is in flight (also: active, processing, running).
    #[value(aliases = ["active", "processing", "running"])]
    Working,
    /// The agent is neither working nor waiting for anybody.
    Idle,
    /// A dialog waits for the operator (also: blocked, waiting, awaiting_operator, waiting_user_answer).
    #[value(aliases = ["blocked", "waiting", "awaiting_operator", "waiting_user_answer"])]
    NeedsYou,
    /// An approval waits for the operator.
    Approval,
    /// A question waits for the operator.
    Question,
    /// The agent asks whether it may work in its directory.
    Trust,
    /// The agent wants to be set up.
    Setup,
    /// The account's limit is reached: a list of what to do, or a failed turn.
    Limit,
    /// The last turn ended well, and the operator has not seen it yet.
    Finished,
    /// No turn is in flight, and the last one ended well (also: completed, done).
    #[value(aliases = ["completed", "done"])]
    Success,
    /// No turn is in flight, and the last one failed (also: known_failure).
    #[value(alias = "known_failure")]
    Failed,
    /// No turn is in flight, and the last one was interrupted.
    Interrupted,
    /// It should be moving but is not.
    Stalled,
    /// It cannot be read.
    Error,
    /// Nothing says what it does.
    Unknown,
    /// The agent is stopped, as by Ctrl-Z.
    Suspended,
    /// The agent, its pane or the task's window is no longer there (also: unavailable, tui_down, disconnected).
    #[value(aliases = ["unavailable", "tui_down", "disconnected"])]
    Gone,
    /// The task's program has ended; an agent: it is gone.
    Exited,
    /// The task asks for something; an agent: a dialog waits (also: input, waiting_input).
    #[value(aliases = ["input", "waiting_input"])]
    Asks,
    /// The task has rung its bell.
    Notify,
}

impl WaitCondition {
    /// Whether a terminal satisfies the condition.
    pub fn holds(self, terminal: &Terminal) -> bool {
        let state = &terminal.state;
        let available = state.diagnostics.availability == Availability::Available;
        let is = |status| Status::of(state) == status;
        let ended = |result| available && state.turn.phase == Phase::Ready && state.last_turn.result == result;
        match self {
            // A turn whose end is still to be confirmed has not ended.
            WaitCondition::Ready => terminal.takes_a_prompt() && Status::doing(state) != Status::Working,
            WaitCondition::Working => available && state.turn.phase == Phase::Active,
            WaitCondition::Idle => available && state.assessment.business_state == BusinessState::Idle,
            WaitCondition::NeedsYou => available && state.assessment.awaits_operator(),
            WaitCondition::Success => ended(TurnResult::Success),
            WaitCondition::Failed => ended(TurnResult::KnownFailure),
            WaitCondition::Interrupted => ended(TurnResult::Interrupted),
            // By the status of the row: if the screen can no longer be read, the last result does not count.
            WaitCondition::Approval => is(Status::Approval),
            WaitCondition::Question => is(Status::Question),
            WaitCondition::Trust => is(Status::Trust),
            WaitCondition::Setup => is(Status::Setup),
            WaitCondition::Limit => available && state.assessment.ui_context == UiContext::Limit,
            WaitCondition::Finished => is(Status::Finished),
            WaitCondition::Stalled => is(Status::Stalled),
            WaitCondition::Error => is(Status::Error),
            WaitCondition::Unknown => is(Status::Unknown) || is(Status::Suspended),
            WaitCondition::Suspended => is(Status::Suspended),
            WaitCondition::Gone | WaitCondition::Exited => state.has_ended(),
            WaitCondition::Asks => WaitCondition::NeedsYou.holds(terminal),
            // The screen of an agent says more than its bell.
            WaitCondition::Notify => false,
        }
    }

    /// Whether a task satisfies the condition; `None` for conditions of agents. Bells count from when the task was first seen, or
    /// from its start if a hook counts them, so that nobody waits for one that has already rung.
    pub(super) fn holds_for_task(self, task: &Task) -> Option<bool> {
        Some(match self {
            WaitCondition::Exited => task.status == TaskStatus::Exited,
            WaitCondition::Asks | WaitCondition::NeedsYou => task.prompt().is_some(),
            WaitCondition::Notify => task.bells > 0,
            WaitCondition::Working => task.status == TaskStatus::Running,
            WaitCondition::Idle | WaitCondition::Ready => task.status == TaskStatus::Idle,
            WaitCondition::Success | WaitCondition::Finished => task.exit_code() == Some(0),
            WaitCondition::Failed => task.status == TaskStatus::Exited && task.exit_code() != Some(0),
            WaitCondition::Error => task.as_status() == Status::Error,
            WaitCondition::Unknown => task.as_status() == Status::Unknown,
            // A task that is gone has no state.
            WaitCondition::Gone => false,
            WaitCondition::Approval | WaitCondition::Question | WaitCondition::Trust => return None,
            WaitCondition::Setup | WaitCondition::Limit => return None,
            WaitCondition::Interrupted | WaitCondition::Stalled | WaitCondition::Suspended => return None,
        })
    }

    /// How it is written.
    pub(super) fn word(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}
