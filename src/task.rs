//! Tasks: watched windows that run something else than a known agent, and what happens in them (SPEC §9).
//!
//! [`TaskTracker`] compares consecutive looks at the task windows of one server and says what happened between them. It is
//! pure: the same looks with the same times give the same [`TaskEvent`]s, and it knows no clock, no tmux and no file.

mod event;
mod prompt;
mod snapshot;
mod watch;

pub use event::{Batch, Happening, Level, TaskEvent};
pub use prompt::SETTLED;
pub use prompt::TaskPrompt;
pub use snapshot::{
    PaneState, Preview, Registration, SessionSnapshot, TaskDisplay, TaskFields, TaskHistory, TaskPoll, TaskSnapshot,
};
pub use watch::{Task, TaskTracker, rang};
