//! A prompt that was sent through fleetwatch (SPEC §7, rule 1), here or by another process, which is known a moment later.

use super::TurnMachine;
use super::flight::{Flight, LastScreen, Retraction};
use crate::profile::TakenAs;
use crate::state::TurnSource;
use crate::time::Timestamp;

impl TurnMachine {
    /// Rule 1: an explicit input arms a turn. It was submitted at `at`; what has been seen since belongs to it.
    pub(in crate::tracker) fn submitted(
        &mut self,
        at: Timestamp,
        taken: TakenAs,
        now: Timestamp,
        notes: &mut Vec<&'static str>,
    ) {
        self.note = None;
        self.anchor_armed_at = Some(at);
        self.anchor_lost = None;
        self.surface_is_lost = false;
        if self.adopt_flight(at) || self.adopt_result(at) {
            notes.push("its prompt was sent through fleetwatch");
            return;
        }
        self.completed = None;
        self.result_is_current = false;
        // A reaction that is due already was never waited for: nobody looked, or the sender's clock is another one.
        let waits_since = if now.since(at) < self.settings.no_reaction { at } else { now };
        let mut flight =
            Flight { waits_since, taken, ..Flight::begins(TurnSource::ExplicitInput, self.seen_at(at), at) };
        if let Some((earlier, seen)) = self.flight.take().zip(self.seen.as_ref()) {
            flight.takes_over(earlier, &seen.region);
        }
        self.flight = Some(flight);
    }

    /// The turn in flight was begun by this input, and its work was seen before the input was told.
    fn adopt_flight(&mut self, at: Timestamp) -> bool {
        let Some(flight) = &mut self.flight else { return false };
        let inferred = flight.source == TurnSource::SurfaceInference || flight.retraction.is_some();
        if !inferred || flight.armed_at < at {
            return false;
        }
        flight.source = TurnSource::ExplicitInput;
        if let Some(Retraction::Done(completed)) = flight.retraction.take() {
            // It was a new turn that began, and not the last one that went on.
            self.last_turn = completed.result;
        }
        true
    }

    /// The turn that this input began has ended already.
    fn adopt_result(&mut self, at: Timestamp) -> bool {
        let begun = self.ended_armed_at.is_some_and(|armed| armed >= at);
        let ended = self.last_turn.at.is_some_and(|ended| ended >= at);
        let inferred = self.result_is_current && self.last_turn.source == TurnSource::SurfaceInference;
        if self.flight.is_some() || !begun || !ended || !inferred {
            return false;
        }
        self.last_turn.source = TurnSource::ExplicitInput;
        if let Some(completed) = &mut self.completed {
            completed.result.source = TurnSource::ExplicitInput;
        }
        true
    }

    /// The last screen that was seen before a time, as far as it is remembered.
    fn seen_at(&self, at: Timestamp) -> Option<&LastScreen> {
        let is_older = |seen: &&LastScreen| seen.since <= at;
        self.seen.as_ref().filter(is_older).or(self.seen_before.as_ref().filter(is_older))
    }
}
