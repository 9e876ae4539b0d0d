//! How a turn ends: an end mark at once, a returned prompt, or an answer that settles (SPEC §7, rules 3 and 4).

use super::seen::{is_of_draft, same_turn};
use super::state::{Ending, Flight, TurnEvent, TurnStage};
use super::{LastScreen, TurnTracker};
use crate::profile::{Classification, Temporal, TurnEnd, TurnRegion};
use crate::state::{TurnResult, Witness};
use crate::time::{Span, Timestamp};

impl TurnTracker {
    /// Rule 4: an end mark that has not been reported yet is reported at once.
    pub(super) fn tell_end(&mut self, end: &TurnEnd, result: TurnResult, region: &TurnRegion, now: Timestamp) {
        let known = self.known_end.as_ref().is_some_and(|(known, prompt)| {
            known == end && (*prompt == region.prompt || prompt.is_none() || region.prompt.is_none())
        });
        let flight_moved = self.flight().is_some_and(|flight| {
            (flight.begun_anew || flight.baseline.as_ref().is_none_or(|seen| seen.region != *region))
                && (flight.seen_at().is_some() || flight.is_anchored())
        });
        if known && !flight_moved {
            return;
        }
        // A command is a turn only where the agent shows work; what else it prints ends none.
        let is_turn = match self.flight() {
            Some(flight) => flight.seen_at().is_some() || !(flight.is_command() || region.command),
            None => !region.command && !self.record_knows(result, now),
        };
        if is_turn {
            self.conclude(result, Some(end.detail.clone()), now, region);
        }
        self.known_end = Some((end.clone(), region.prompt));
    }

    /// A turn that was stopped before its answer: it is gone, and its prompt stands in the live prompt again.
    pub(super) fn tell_returned_prompt(&mut self, reading: &Classification, now: Timestamp) {
        let Some(seen) = self.seen.as_ref().filter(|seen| seen.at_rest()) else { return };
        let Some(flight) = self.flight().filter(|flight| flight.seen_at().is_some()) else { return };
        if flight.answered_by(seen, self.turn.ended_region.as_ref()) {
            return;
        }
        let (Some(sent), Some(draft)) = (&flight.prompt, &reading.draft) else { return };
        if !is_of_draft(sent, draft) || reading.submitted.as_ref() == Some(sent) {
            return;
        }
        let detail = Some("stopped before an answer: the prompt came back as a draft".to_owned());
        self.conclude(TurnResult::Interrupted, detail, now, &reading.turn);
    }

    /// Rule 3: the work has ended on a ready surface, and what stands there begins to settle.
    pub(super) fn end_turn(&mut self, now: Timestamp, temporal: Temporal) {
        let linger = self.linger(temporal);
        let goes_on = self.record_goes_on(now);
        let works = self.shows_work() || self.moved.is_some();
        let (Some(seen), Some(flight)) = (&self.seen, self.turn.state.flight()) else { return };
        let (finished, region) = (seen.is_finished(), &seen.region);
        let answers = |seen: &LastScreen| flight.answered_by(seen, self.turn.ended_region.as_ref());
        let has_changed = matches!(&flight.stage, TurnStage::Settling { left, .. }
            if left.region.text != region.text || answers(left) != answers(seen));
        if seen.in_dialog {
            // The agent asks something, so its turn has not ended.
            self.turn.on(TurnEvent::Stirs, now);
            return;
        }
        if !seen.at_rest() || goes_on || works {
            return;
        }
        match flight.seen_at() {
            None => {
                let answered = flight.answered_by(seen, self.turn.ended_region.as_ref());
                let baseline = flight.baseline.as_ref();
                let new_prompt = baseline.map_or(flight.own.is_some(), |seen| !same_turn(&seen.region, region));
                let is_command = region.command || flight.is_command();
                if new_prompt && is_command && !region.text.is_empty() {
                    // A command of the agent's surface has done what it does without a turn.
                    self.turn.on(TurnEvent::CommandDone, now);
                    return;
                }
                if !new_prompt || !answered || is_command {
                    return;
                }
                self.turn.on(TurnEvent::AnswerSeen, now);
                // Where an answer grows without any other trace of work, it may not be whole yet.
                if linger > Span::ZERO && !finished {
                    return;
                }
            }
            Some(at) if now.since(self.coverage.begun(at)) < linger && !finished => {
                // What settled before has changed; it begins anew when the work is over.
                if has_changed {
                    self.turn.on(TurnEvent::Stirs, now);
                }
                return;
            }
            Some(_) => {}
        }
        if has_changed || self.settling_since().is_none() {
            self.turn.on(TurnEvent::Rests { left: seen }, now);
        }
    }

    /// Whether what the work has left, settled or not, is an answer of the turn.
    pub(super) fn leaves_answer(&self) -> bool {
        let Some(flight) = self.flight() else { return false };
        let left = match &flight.stage {
            TurnStage::Awaited { .. } => None,
            TurnStage::Working { .. } => self.seen.as_ref().filter(|seen| seen.at_rest() && !seen.in_dialog),
            TurnStage::Settling { left, .. } => Some(left),
        };
        left.is_some_and(|left| flight.answered_by(left, self.turn.ended_region.as_ref()))
    }

    /// Rule 3: what has stood still for the settle window is a success if it is an answer. Work that has vanished
    /// without one ends the turn without a word, stopped where that is how the agent stops; it gets the window too, since an
    /// answer may be drawn a moment later.
    pub(super) fn settle(&mut self, now: Timestamp, temporal: Temporal) {
        if self.settle_window().is_none_or(|timer| !timer.is_over(now)) {
            return;
        }
        let Some((_, left)) = self.flight().and_then(Flight::left) else { return };
        let region = left.region.clone();
        if let Some(limit) = self.limited.take() {
            return self.conclude(TurnResult::KnownFailure, Some(limit), now, &region);
        }
        let finished = self.seen.as_ref().is_some_and(LastScreen::is_finished);
        if !self.leaves_answer() {
            if temporal.stops_silently && !region.command {
                let detail = Some("stopped before an answer: its work is gone without one".to_owned());
                return self.conclude(TurnResult::Interrupted, detail, now, &region);
            }
            self.turn.on(TurnEvent::Vanishes, now);
        } else if temporal.completion_row && !finished {
            // It stopped without saying that it is done: no success, and nothing that says what else.
            self.turn.on(TurnEvent::Vanishes, now);
            self.turn.ended_region = Some(region);
        } else {
            // Below the agent's own completion row only another turn can follow (a background command that ends starts
            // one by itself), so such a success is never premature.
            let how = Ending { result: TurnResult::Success, detail: None, began: None, told_by: Witness::Screen };
            self.turn.on(TurnEvent::Ends { how, at: now, region: &region, premature: !finished }, now);
            self.known_end = None;
        }
    }

    /// An answer that was found when this tracker began ends its turn when another prompt comes into view, however soon:
    /// whoever submitted that one saw the agent ready. `answer` is the answer in one line, which is not there any more.
    pub(in crate::tracker) fn end_resumed(
        &mut self,
        next: &Classification,
        answer: Option<&str>,
        temporal: Temporal,
        now: Timestamp,
    ) {
        let (Some(flight), Some(seen)) = (self.flight(), &self.seen) else { return };
        let is_answered = seen.at_rest()
            && (seen.is_finished() || !temporal.completion_row)
            && !same_turn(&seen.region, &next.turn)
            && flight.answered_by(seen, self.turn.ended_region.as_ref());
        if !flight.is_resumed || flight.seen_at().is_none() || !is_answered {
            return;
        }
        let region = seen.region.clone();
        self.conclude(TurnResult::Success, answer.map(str::to_owned), now, &region);
        self.known_end = None;
    }

    /// The screen shows that the turn is over: how, and what stands there now is what it ended on.
    pub(super) fn conclude(&mut self, result: TurnResult, detail: Option<String>, at: Timestamp, region: &TurnRegion) {
        let how = Ending { result, detail, began: None, told_by: Witness::Screen };
        self.turn.on(TurnEvent::Ends { how, at, region, premature: false }, at);
        // What the first poll finds has ended some time before.
        self.turn.saw_end &= !self.coverage.is_after_gap();
    }
}
