//! Waiting for what happens to a task.

use super::WaitCondition;
use crate::state::TaskStatus;
use crate::task::Task;

impl WaitCondition {
    /// Whether a task is as it is waited for. A bell counts from when the task was first seen, or from its start where
    /// bells are counted, so that one that rang before anybody waited is not waited for in vain.
    pub(super) fn holds_for_task(self, task: &Task) -> bool {
        match self {
            WaitCondition::Exited => task.status == TaskStatus::Exited,
            WaitCondition::Input | WaitCondition::NeedsYou => task.prompt().is_some(),
            WaitCondition::Notify => task.bells > 0,
            WaitCondition::Working => task.status == TaskStatus::Running,
            WaitCondition::Idle => task.status == TaskStatus::Idle,
            WaitCondition::Success | WaitCondition::Finished => task.exit_code() == Some(0),
            WaitCondition::Failed => task.status == TaskStatus::Exited && task.exit_code() != Some(0),
            // A task that is gone is not there to be asked.
            WaitCondition::Ready
            | WaitCondition::Approval
            | WaitCondition::Question
            | WaitCondition::Trust
            | WaitCondition::Setup
            | WaitCondition::Interrupted
            | WaitCondition::Stalled
            | WaitCondition::Gone => false,
        }
    }

    /// Whether it is waited for that a task is no more.
    pub(super) const fn is_end_of_task(self) -> bool {
        matches!(self, WaitCondition::Gone)
    }
}
