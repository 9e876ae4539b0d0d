//! What a tracker is told.

use crate::profile::{Classification, TakenAs, Temporal};
use crate::state::Problem;
use crate::time::Timestamp;

/// What was found when the terminal was looked at.
#[derive(Clone, Debug)]
pub enum Observation<'a> {
    /// A known agent runs and its screen was read with a profile. `temporal` is what the profile says of time.
    Read { reading: &'a Classification, temporal: Temporal, resized: bool },
    /// A known agent runs and nothing of its screen, title or cursor has changed since it was last read.
    Unchanged,
    /// The pane is there, but no known agent runs in it.
    TuiDown,
    /// The program has no profile; what the pane itself tells of it, in one line.
    NoProfile { activity: String },
    /// The session or the pane is gone.
    Gone,
    /// tmux or the processes could not be asked.
    ProbeFailed(Problem),
    /// A prompt went in through fleetwatch, at this time; another process of it tells that a moment later.
    Submitted { at: Timestamp, taken: TakenAs },
    /// The operator has seen the terminal.
    Seen,
    /// Nothing but time.
    Nothing,
}

impl Observation<'_> {
    /// Whether somebody looked, and did not fail.
    pub(super) const fn is_look(&self) -> bool {
        match self {
            Observation::Read { .. } | Observation::Unchanged => true,
            Observation::TuiDown | Observation::NoProfile { .. } | Observation::Gone => true,
            Observation::ProbeFailed(_) | Observation::Submitted { .. } | Observation::Seen => false,
            Observation::Nothing => false,
        }
    }
}
