//! How the last turn ended, and how long it took.

use serde::{Deserialize, Serialize};

use super::words::{TurnResult, TurnSource, Witness};
use crate::time::{Span, Timestamp, seconds};

/// How the last turn that ended did end. It stays through the next turn until that one ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LastTurn {
    pub result: TurnResult,
    pub source: TurnSource,
    /// When it began; `None` where that was not seen.
    #[serde(default)]
    pub began: Option<Timestamp>,
    pub at: Option<Timestamp>,
    /// How much of that time the agent waited for the operator; `None` where that is not known.
    #[serde(default, rename = "waited_seconds", with = "seconds")]
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub waited: Option<Span>,
    /// The failure or interruption line.
    pub detail: Option<String>,
    /// What says so, and was believed (SPEC §14).
    #[serde(default)]
    pub told_by: Witness,
}

impl LastTurn {
    /// No turn has been seen to end.
    pub const NONE: LastTurn = LastTurn {
        result: TurnResult::None,
        source: TurnSource::None,
        began: None,
        at: None,
        waited: None,
        detail: None,
        told_by: Witness::None,
    };

    /// How long the agent worked on it, without the time in which it waited for the operator; `None` where that is not known.
    pub fn worked(&self) -> Option<Span> {
        Some(self.at?.since(self.began?).less(self.waited?))
    }

    /// A turn that the end of its agent has cut off (SPEC §7, rule 8).
    pub fn cut_off(source: TurnSource, at: Timestamp) -> Self {
        let detail = Some("the agent ended before its turn was seen to end".to_owned());
        Self { source, at: Some(at), detail, told_by: Witness::Process, ..Self::NONE }
    }

    /// Whether the end of its agent cut it off, so that it has no result (SPEC §7, rule 8).
    pub const fn is_cut_off(&self) -> bool {
        matches!(self.told_by, Witness::Process)
    }
}
