//! Waiting for what happens to a task.

use super::Condition;
use crate::state::TaskStatus;
use crate::task::Task;

impl Condition {
    /// Whether a task is as it is waited for. A bell counts from when the task was first seen, or from its start where
    /// bells are counted, so that one that rang before anybody waited is not waited for in vain.
    pub(super) fn holds_for_task(self, task: &Task) -> bool {
        match self {
            Condition::Exited => task.status == TaskStatus::Exited,
            Condition::Input | Condition::NeedsYou => task.prompt().is_some(),
            Condition::Notify => task.bells > 0,
            Condition::Working => task.status == TaskStatus::Running,
            Condition::Idle => task.status == TaskStatus::Idle,
            Condition::Success | Condition::Finished => task.exit_code() == Some(0),
            Condition::Failed => task.status == TaskStatus::Exited && task.exit_code() != Some(0),
            // A task that is gone is not there to be asked.
            Condition::Ready
            | Condition::Approval
            | Condition::Question
            | Condition::Trust
            | Condition::Setup
            | Condition::Interrupted
            | Condition::Stalled
            | Condition::Gone => false,
        }
    }

    /// Whether it is waited for that a task is no more.
    pub(super) const fn is_end_of_task(self) -> bool {
        matches!(self, Condition::Gone)
    }
}
