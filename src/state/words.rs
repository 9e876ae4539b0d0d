//! The words of the contract, each an enum, and a change from one value to another.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// Declares an enum whose variants have the fixed public names of the contract.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        pub enum $name { $($(#[$vmeta])* #[serde(rename = $word)] $variant),+ }

        impl $name {
            /// Every value, in the order of the contract.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// The public name, as it stands in JSON.
            pub const fn word(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }

            /// All public names, in the same order.
            pub fn words() -> Vec<&'static str> {
                Self::ALL.iter().map(|value| value.word()).collect()
            }

            /// The value with a public name.
            pub fn of_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.word() == word)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }
    };
}

pub(crate) use words;

words! {
    /// Whether the agent can be watched and used at all (SPEC §3).
    Availability {
        Available = "available", Unavailable = "unavailable", TuiDown = "tui_down", Error = "error", Unknown = "unknown",
    }
}
words! {
    /// Whether tmux still has the pane.
    TransportState { TmuxUp = "tmux_up", TmuxMissing = "tmux_missing", ProbeError = "probe_error" }
}
words! {
    /// Whether a known agent runs in the pane.
    ProcessState {
        TuiUp = "tui_up", TuiDown = "tui_down", Suspended = "suspended", UnsupportedTool = "unsupported_tool", ProbeError = "probe_error",
        Unknown = "unknown",
    }
}
words! {
    /// What became of reading the screen.
    ParseStatus {
        Parsed = "parsed", SkippedTuiDown = "skipped_tui_down", UnsupportedTool = "unsupported_tool",
        TransportUnavailable = "transport_unavailable", ProbeError = "probe_error", ParseError = "parse_error",
    }
}
words! {
    /// A question about the surface that a screen may leave open.
    Tri { Yes = "yes", No = "no", Unknown = "unknown" }
}
words! {
    /// Whether a turn is in flight (SPEC §4).
    Phase { Ready = "ready", Active = "active", Unknown = "unknown" }
}
words! {
    /// How the last turn ended.
    TurnResult { Success = "success", Interrupted = "interrupted", KnownFailure = "known_failure", None = "none" }
}
words! {
    /// How the last turn was known to have begun.
    TurnSource { ExplicitInput = "explicit_input", SurfaceInference = "surface_inference", None = "none" }
}
words! {
    /// What says how the last turn ended: the screen, the agent's own record, or the end of the agent's process.
    #[derive(Default)]
    Witness { Screen = "screen", Record = "record", Process = "process", #[default] None = "none" }
}
words! {
    /// What the assessment says of the profile's grip on the screen.
    AssessedAvailability {
        Supported = "supported", Unsupported = "unsupported", Disconnected = "disconnected", Unknown = "unknown",
    }
}
words! {
    /// Whose move it is.
    BusinessState { Idle = "idle", Working = "working", AwaitingOperator = "awaiting_operator", Unknown = "unknown" }
}
words! {
    /// Where typed characters would go.
    InputMode { Freeform = "freeform", Modal = "modal", Closed = "closed", Unknown = "unknown" }
}
words! {
    /// What stands in front of the operator.
    UiContext {
        NormalPrompt = "normal_prompt", SelectionMenu = "selection_menu", SlashCommand = "slash_command",
        CommandPrompt = "command_prompt",
        ApprovalPrompt = "approval_prompt", TrustPrompt = "trust_prompt", Question = "question", Setup = "setup",
        Limit = "limit", ErrorBanner = "error_banner", Unknown = "unknown",
    }
}
words! {
    /// What the operator may expect of the terminal (SPEC §7).
    OperatorStatus {
        Ready = "ready", Processing = "processing", WaitingUserAnswer = "waiting_user_answer", Completed = "completed",
        TuiDown = "tui_down", Suspended = "suspended", Unavailable = "unavailable", Error = "error", Unknown = "unknown",
    }
}
words! {
    /// Whether the terminal can take a prompt (SPEC §7).
    Readiness {
        Ready = "ready", Waiting = "waiting", Blocked = "blocked", Failed = "failed", Unknown = "unknown",
        Stalled = "stalled",
    }
}
words! {
    /// How far an armed turn has come (SPEC §7).
    Completion {
        Inactive = "inactive", InProgress = "in_progress", CandidateComplete = "candidate_complete",
        Completed = "completed", Waiting = "waiting", Blocked = "blocked", Failed = "failed", Unknown = "unknown",
        Stalled = "stalled",
    }
}
words! {
    /// What a completion rests on (SPEC §7).
    CompletionAuthority { TurnAnchored = "turn_anchored", UnanchoredBackground = "unanchored_background" }
}
words! {
    /// Whether an explicit input still holds the turn (SPEC §7).
    AnchorState { Active = "active", Absent = "absent", Lost = "lost" }
}
words! {
    /// The one thing that an operator should know, most urgent first (SPEC §2).
    Attention {
        Approval = "approval", Question = "question", Trust = "trust", Setup = "setup", Failed = "failed",
        Interrupted = "interrupted", Finished = "finished", Stalled = "stalled", Gone = "gone", None = "none",
    }
}
impl Attention {
    /// Whether it is not about what the terminal does now, but about how it came to that.
    pub const fn is_about_the_past(self) -> bool {
        matches!(self, Attention::Failed | Attention::Interrupted | Attention::Finished | Attention::Stalled)
    }
}

words! {
    /// Oddities that an assessment names (SPEC §6).
    Anomaly {
        UnknownVersionFloorUsed = "unknown_version_floor_used", PresetOverrideUsed = "preset_override_used",
        BaselineInvalidated = "baseline_invalidated", StalledEntered = "stalled_entered",
        StalledRecovered = "stalled_recovered", RecordContradicts = "record_contradicts",
    }
}

/// One field that changed, by its public name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Change {
    pub field: Cow<'static, str>,
    pub from: serde_json::Value,
    pub to: serde_json::Value,
}
