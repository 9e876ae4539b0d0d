//! What is remembered of a turn in flight, of the one that ended last, and of the screen that was seen last.

use std::sync::Arc;

use super::ending::immediate_result;
use crate::profile::{Activity, Classification, EndMark, TakenAs, TurnEnd, TurnRegion};
use crate::state::{LastTurn, Phase, TurnSource, UiContext};
use crate::time::Timestamp;

/// A turn that has begun and not ended.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Flight {
    pub(super) source: TurnSource,
    /// What the agent takes the text as that was sent to begin it.
    pub(super) taken: TakenAs,
    pub(super) armed_at: Timestamp,
    /// Since when a reaction is waited for.
    pub(super) waits_since: Timestamp,
    /// What the turn region showed when the turn was armed, if it was readable then.
    pub(super) baseline: Option<TurnRegion>,
    /// How long the transcript was then, and how the turn before had ended.
    pub(super) baseline_rows: Option<usize>,
    pub(super) baseline_end: Option<TurnEnd>,
    /// Whether the transcript became shorter than it was then: it was redrawn or truncated (SPEC §6).
    pub(super) baseline_is_invalid: bool,
    /// The submitted prompt, once it was seen during the turn.
    pub(super) prompt: Option<Arc<str>>,
    /// When activity was last seen; `None` while an explicit input waits for a reaction.
    pub(super) active_at: Option<Timestamp>,
    /// Whether it is known from before this tracker began, and no work was seen since: it may have ended before.
    pub(super) is_resumed: bool,
    /// Whether nobody looked for a while since work was seen, so that its end was not.
    pub(super) is_unwatched: bool,
    /// Whether the turn region was begun anew since the turn was armed. A turn may end on the very text that it began
    /// on, when the same prompt gets the same answer on a screen that has scrolled.
    pub(super) begun_anew: bool,
    /// Since when the region stands still on a ready surface.
    pub(super) settling: Option<(Timestamp, TurnRegion)>,
    /// The success that this turn may take back, or has taken back.
    pub(super) retraction: Option<Retraction>,
}

/// Work came back soon after a success: was it the same turn?
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) enum Retraction {
    /// The operator has typed since, so it may be a new turn whose prompt is not drawn yet.
    Undecided(Completed),
    /// It was taken back; a new prompt that comes into view gives it back.
    Done(Completed),
}

impl Flight {
    /// A turn that begins on what is seen now.
    pub(super) fn begins(source: TurnSource, seen: Option<&LastScreen>, now: Timestamp) -> Self {
        Self {
            source,
            taken: TakenAs::Prompt,
            armed_at: now,
            waits_since: now,
            baseline: seen.map(|seen| seen.region.clone()),
            baseline_rows: seen.map(|seen| seen.transcript_rows),
            baseline_end: seen.and_then(|seen| seen.end.clone()),
            baseline_is_invalid: false,
            prompt: None,
            active_at: None,
            is_resumed: false,
            is_unwatched: false,
            begun_anew: false,
            settling: None,
            retraction: None,
        }
    }

    /// Whether it is a command of the agent's own of which no work was seen. It is no turn before that.
    pub(super) fn is_command(&self) -> bool {
        self.taken == TakenAs::Command && self.active_at.is_none()
    }

    /// Takes in what a screen shows while the turn is in flight.
    pub(super) fn sees_work(&mut self, reading: &Classification, now: Timestamp) {
        self.active_at = Some(now);
        (self.is_resumed, self.is_unwatched) = (false, false);
        self.settling = None;
        self.prompt = reading.submitted.clone().or(self.prompt.take());
        self.begun_anew |= self.baseline.as_ref().is_some_and(|baseline| is_begun_anew(baseline, &reading.turn));
    }

    /// Takes over what was seen in a turn before it, if that was after this one was armed: it was told late. `region` is
    /// what stands there now.
    pub(super) fn takes_over(&mut self, earlier: Self, region: &TurnRegion) {
        if earlier.active_at.is_none_or(|at| at < self.armed_at) {
            return;
        }
        self.begun_anew = self.baseline.as_ref().is_some_and(|baseline| is_begun_anew(baseline, region));
        self.active_at = earlier.active_at;
        self.is_unwatched = earlier.is_unwatched;
        self.prompt = earlier.prompt;
        self.settling = earlier.settling;
    }

    /// Whether an answer or a completion row of this turn stands there, and not what stood there before it.
    pub(super) fn answered_by(&self, region: &TurnRegion, end: Option<&TurnEnd>, ended: Option<&TurnRegion>) -> bool {
        let differs = |other: Option<&TurnRegion>| other.is_none_or(|other| other != region);
        // A success that was taken back may come again with nothing added to its answer.
        let ended = ended.filter(|_| !matches!(self.retraction, Some(Retraction::Done(_))));
        // What a command of the agent's surface prints is no answer.
        let said = !region.text.is_empty() && !region.command;
        let answer = said && differs(self.baseline.as_ref()) && differs(ended);
        let finished = end.is_some_and(|end| end.mark == EndMark::Completed && Some(end) != self.baseline_end.as_ref());
        answer || finished || (self.begun_anew && said)
    }
}

/// A success, and what it would be taken back to.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Completed {
    pub(super) result: LastTurn,
    pub(super) region: TurnRegion,
    pub(super) previous: LastTurn,
    /// Whether a draft was seen in the prompt since.
    pub(super) drafted: bool,
}

/// What matters of the last readable screen.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct LastScreen {
    pub(super) phase: Phase,
    pub(super) in_dialog: bool,
    pub(super) doubtful: bool,
    pub(super) end: Option<TurnEnd>,
    pub(super) region: TurnRegion,
    pub(super) edge: Arc<[u64]>,
    pub(super) transcript_rows: usize,
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
            since,
        }
    }

    pub(super) fn at_rest(&self) -> bool {
        self.phase == Phase::Ready && !self.in_dialog && !self.doubtful
    }

    /// The end mark on it that is told at once, and the prompt that it stands below.
    pub(super) fn told_end(&self) -> Option<(TurnEnd, Option<u64>)> {
        let end = self.end.as_ref().filter(|end| immediate_result(end.mark).is_some())?;
        Some((end.clone(), self.region.prompt))
    }

    /// Whether the agent itself says, with a completion row, that the turn is done.
    pub(super) fn is_finished(&self) -> bool {
        self.end.as_ref().is_some_and(|end| end.mark == EndMark::Completed)
    }
}

/// The work that the screen shows.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct ShownWork {
    pub(super) activity: Activity,
    /// Since when it looks as it does.
    pub(super) since: Timestamp,
    pub(super) belief: Belief,
}

/// What is thought of work as long as it looks the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) enum Belief {
    Believed,
    /// The agent repaints it while it works, and has not for a long time.
    StandsStill,
    /// It was left behind, or is quoted.
    SetAside,
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

/// A turn is in flight while its agent asks something of the operator.
pub(super) fn dialog_is_work(reading: &Classification) -> bool {
    reading.in_dialog && matches!(reading.assessment.ui_context, UiContext::ApprovalPrompt | UiContext::Question)
}
