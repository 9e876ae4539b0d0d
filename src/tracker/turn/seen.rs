//! What is remembered of the screens that were seen.

use std::sync::Arc;

use crate::profile::{Activity, Classification, EndMark, TurnEnd, TurnRegion};
use crate::state::{Phase, TurnResult, UiContext};
use crate::time::Timestamp;

/// What matters of the last readable screen.
#[derive(Clone, Debug)]
pub(super) struct LastScreen {
    pub(super) phase: Phase,
    pub(super) in_dialog: bool,
    pub(super) doubtful: bool,
    pub(super) end: Option<TurnEnd>,
    pub(super) region: TurnRegion,
    pub(super) edge: Arc<[u64]>,
    pub(super) transcript_rows: usize,
    pub(super) said_rows: usize,
    pub(super) prompt_rows: Option<usize>,
    /// Since when all of this is as it is.
    pub(super) since: Timestamp,
}

impl LastScreen {
    pub(super) fn of(reading: &Classification, since: Timestamp) -> Self {
        Self {
            phase: reading.phase,
            in_dialog: reading.in_dialog,
            doubtful: reading.doubt.is_some(),
            end: reading.end.clone(),
            region: reading.turn.clone(),
            edge: Arc::clone(&reading.edge),
            transcript_rows: reading.transcript_rows,
            said_rows: reading.said_rows,
            prompt_rows: reading.prompt_rows,
            since,
        }
    }

    pub(super) fn at_rest(&self) -> bool {
        self.phase == Phase::Ready && !self.in_dialog && !self.doubtful
    }

    /// The end mark on it that is published at once, and the prompt above it.
    pub(super) fn known_end(&self) -> Option<(TurnEnd, Option<u64>)> {
        let end = self.end.as_ref().filter(|end| immediate_result(end.mark).is_some())?;
        Some((end.clone(), self.region.prompt))
    }

    /// Whether the agent itself says, with a completion row, that the turn is done.
    pub(super) fn is_finished(&self) -> bool {
        self.end.as_ref().is_some_and(|end| end.mark == EndMark::Completed)
    }
}

/// The work that the screen shows.
#[derive(Clone, Debug)]
pub(super) struct ShownWork {
    pub(super) activity: Activity,
    /// Since when it looks as it does.
    pub(super) since: Timestamp,
    pub(super) belief: Belief,
}

/// What is thought of work as long as it looks the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Belief {
    Believed,
    /// The agent repaints it while it works, and has not for a long time.
    StandsStill,
    /// It was left behind, or is quoted.
    SetAside,
}

/// What an end mark reports at once (rule 4); a completion row's success has to settle first.
pub(super) const fn immediate_result(mark: EndMark) -> Option<TurnResult> {
    match mark {
        EndMark::Completed => None,
        EndMark::Interrupted => Some(TurnResult::Interrupted),
        EndMark::Failed => Some(TurnResult::KnownFailure),
    }
}

/// Whether two regions belong to the same turn: the same submitted prompt, as far as it can be seen.
pub(super) fn same_turn(one: &TurnRegion, other: &TurnRegion) -> bool {
    match (one.prompt, other.prompt) {
        (Some(a), Some(b)) => a == b && one.prompts == other.prompts,
        // A prompt that scrolls away leaves the same turn; one that comes into view begins another.
        (Some(_), None) => true,
        (None, None) => true,
        (None, Some(_)) => false,
    }
}

/// Whether the text since the last prompt does not go on from an earlier one: another prompt was submitted.
pub(super) fn is_begun_anew(earlier: &TurnRegion, region: &TurnRegion) -> bool {
    !region.text.starts_with(&*earlier.text)
}

/// Whether a prompt that was submitted is what a draft holds. Either may show only its first row.
pub(super) fn is_of_draft(sent: &str, draft: &str) -> bool {
    !sent.is_empty() && (draft.starts_with(sent) || sent.starts_with(draft))
}

/// A turn is in flight while its agent asks something of the operator.
pub(super) fn dialog_is_work(reading: &Classification) -> bool {
    reading.in_dialog && matches!(reading.assessment.ui_context, UiContext::ApprovalPrompt | UiContext::Question)
}

/// Whether the agent asks what to do about its account's limit, which stops a turn.
pub(super) fn is_limited(reading: &Classification) -> bool {
    reading.in_dialog && reading.assessment.ui_context == UiContext::Limit
}
