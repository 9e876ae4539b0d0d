//! What a terminal needs, told apart from the next thing of the same kind.

use super::rule::Occasion;
use crate::state::{Phase, State};
use crate::time::Timestamp;

/// One thing that an operator may be told, once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Thing {
    pub occasion: Occasion,
    mark: Mark,
}

/// What tells a thing from the next one of its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Mark {
    /// A dialog by its words; the mark of the selected option moves.
    Dialog(String),
    /// The end of a turn by its time.
    TurnEnd(Option<Timestamp>),
    /// There is only one until it is over.
    Condition,
}

impl Thing {
    /// What a terminal in a state needs; `None` when it needs nothing.
    pub fn of(state: &State) -> Option<Self> {
        let occasion = Occasion::of(state.attention)?;
        let mark = match occasion {
            Occasion::Approval | Occasion::Question | Occasion::Trust | Occasion::Setup => {
                let excerpt = state.assessment.operator_excerpt.as_deref().unwrap_or_default();
                Mark::Dialog(excerpt.chars().filter(|c| c.is_alphanumeric()).collect())
            }
            Occasion::Failed | Occasion::Interrupted | Occasion::Finished => Mark::TurnEnd(state.last_turn.at),
            _ => Mark::Condition,
        };
        Some(Self { occasion, mark })
    }

    /// Whether what was told before is over, so that the same may be told again: the agent works or is ready. While
    /// nothing can be told of a screen, a dialog may still be behind what covers it.
    pub fn is_over(state: &State) -> bool {
        state.turn.phase != Phase::Unknown
    }
}
