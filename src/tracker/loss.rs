//! Why there may be no agent's screen to read, and what is said then (SPEC §3); evidence that stands on no row.

use crate::state::{
    AssessedAvailability, Availability, Diagnostics, Evidence, LastTurn, ParseStatus, ProcessState, TransportState,
    TurnResult,
};

/// Why there is no agent's screen to read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Loss {
    TuiDown,
    NoProfile,
    Gone,
}

/// What is said of an agent that no profile reads, with what helps.
const NO_PROFILE: &str = "no profile reads it; make one with `fleetwatch record` and `fleetwatch profiles check`";

impl Loss {
    pub(super) const fn reason(self) -> &'static str {
        match self {
            Loss::TuiDown => "tui_down",
            Loss::NoProfile => "unsupported_tool",
            Loss::Gone => "tmux_missing",
        }
    }

    pub(super) fn diagnostics(self) -> Diagnostics {
        let (availability, transport_state, process_state, parse_status) = match self {
            Loss::TuiDown => {
                (Availability::TuiDown, TransportState::TmuxUp, ProcessState::TuiDown, ParseStatus::SkippedTuiDown)
            }
            Loss::NoProfile => (
                Availability::Unknown,
                TransportState::TmuxUp,
                ProcessState::UnsupportedTool,
                ParseStatus::UnsupportedTool,
            ),
            Loss::Gone => (
                Availability::Unavailable,
                TransportState::TmuxMissing,
                ProcessState::Unknown,
                ParseStatus::TransportUnavailable,
            ),
        };
        Diagnostics { availability, transport_state, process_state, parse_status, probe_error: None, parse_error: None }
    }

    pub(super) fn evidence(self) -> Evidence {
        match self {
            Loss::TuiDown => aside("process", "no known agent runs in the pane"),
            Loss::NoProfile => aside("process", NO_PROFILE),
            Loss::Gone => aside("pane", "tmux has no such pane"),
        }
    }

    pub(super) const fn assessment(self) -> AssessedAvailability {
        match self {
            Loss::TuiDown | Loss::Gone => AssessedAvailability::Disconnected,
            Loss::NoProfile => AssessedAvailability::Unsupported,
        }
    }
}

pub(super) fn available(availability: Availability) -> Diagnostics {
    Diagnostics {
        availability,
        transport_state: TransportState::TmuxUp,
        process_state: ProcessState::TuiUp,
        parse_status: ParseStatus::Parsed,
        probe_error: None,
        parse_error: None,
    }
}

/// Evidence that stands on no row of the screen.
pub(super) fn aside(rule: &str, text: &str) -> Evidence {
    Evidence { rule: rule.to_owned(), line: None, text: text.to_owned() }
}

/// What the last result rests on, when it is one.
pub(super) fn evidence_of(last_turn: &LastTurn) -> Option<Evidence> {
    match last_turn.result {
        TurnResult::None => None,
        TurnResult::Success => Some(aside("last-turn", "the work ended, and its answer stood still")),
        TurnResult::Interrupted | TurnResult::KnownFailure => {
            Some(aside("last-turn", last_turn.detail.as_deref().unwrap_or("it ended without an answer")))
        }
    }
}
