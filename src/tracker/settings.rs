//! The windows and limits of the tracker.

use crate::time::Span;

/// The windows and limits of the tracker; the defaults are SPEC §7's.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Settings {
    /// How long the end of a turn must stand still before it is a success.
    pub settle: Span,
    /// How long an explicit input stays active while the screen shows nothing of it.
    pub no_reaction: Span,
    /// How soon after a success the same turn may turn out to go on.
    pub retraction: Span,
    /// How long an unbroken unknown lasts until it is a stall.
    pub unknown_to_stalled: Span,
    pub stale_active_recovery: Span,
    pub final_stable_active_recovery: Span,
    /// How long the published state must stand to be called stable.
    pub stable: Span,
    /// How many failed probes in a row, or for how long, until it is an error.
    pub failed_probes: u32,
    pub failed_probe_time: Span,
    /// How long a version that nobody has recorded must stand still before it is called ready.
    pub unrecorded_rest: Span,
    /// How long a screen that cannot be read or contradicts itself is taken for a half-drawn one.
    pub doubt: Span,
    /// Transitions kept in memory for each terminal.
    pub kept_transitions: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            settle: Span::from_secs(1),
            no_reaction: Span::from_secs(10),
            retraction: Span::from_secs(10),
            unknown_to_stalled: Span::from_secs(30),
            stale_active_recovery: Span::from_secs(5),
            final_stable_active_recovery: Span::from_secs(20),
            stable: Span::from_secs(1),
            failed_probes: 3,
            failed_probe_time: Span::from_secs(3),
            unrecorded_rest: Span::from_millis(1500),
            doubt: Span::from_secs(1),
            kept_transitions: 256,
        }
    }
}
