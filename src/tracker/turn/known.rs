//! A turn that was known before this tracker began, and what becomes of one while nobody looks (SPEC §10).

use super::TurnTracker;
use super::ending::immediate_result;
use super::recorded::RecordedState;
use super::seen::{Belief, LastScreen, ShownWork, dialog_is_work, same_turn};
use super::state::{Anchor, Flight, Rest, TurnEvent, TurnMachine, TurnState};
use crate::profile::Classification;
use crate::state::{AnchorState, Attention, Completion, Phase, State, TurnResult, TurnSource};
use crate::time::Timestamp;

impl TurnTracker {
    /// Goes on from what a state told and from the screen that it was read from; somebody looked until `until`.
    pub(in crate::tracker) fn remember(&mut self, state: &State, reading: Option<&Classification>, until: Timestamp) {
        let authority = &state.lifecycle_authority;
        let is_armed = authority.completion_monitoring_armed;
        self.coverage.continues(until);
        self.recorded = RecordedState::since(until);
        let is_ended = !is_armed && state.last_turn.result != TurnResult::None;
        self.turn = TurnMachine {
            state: TurnState::AtRest(if is_ended { Rest::ENDED } else { Rest::Idle }),
            last: state.last_turn.clone(),
            saw_end: state.since_exact || !state.attention.is_about_the_past(),
            ended_region: None,
            anchor: authority.anchor_armed_at.map(|armed_at| Anchor { armed_at, lost: None }),
        };
        let Some(reading) = reading else { return };
        let at = state.observed_at;
        self.seen = Some(LastScreen::of(reading, at));
        self.told_end = reading
            .end
            .clone()
            .filter(|end| immediate_result(end.mark).is_some())
            .map(|end| (end, reading.turn.prompt));
        let belief = match state.turn.phase {
            Phase::Active if state.attention == Attention::Stalled => Belief::StandsStill,
            Phase::Ready | Phase::Unknown if !is_armed => Belief::SetAside,
            _ => Belief::Believed,
        };
        self.work = reading.activity.clone().map(|activity| ShownWork { activity, since: at, belief });
        if is_armed {
            let source = match authority.turn_anchor_state {
                AnchorState::Active => TurnSource::ExplicitInput,
                AnchorState::Absent | AnchorState::Lost => TurnSource::SurfaceInference,
            };
            let mut flight =
                Flight::begins(source, Rest::Idle, None, authority.anchor_armed_at.unwrap_or(state.turn.since));
            let is_settling = state.operator.completion == Completion::CandidateComplete;
            let shows_work = reading.activity.is_some() || dialog_is_work(reading);
            if source == TurnSource::SurfaceInference || is_settling || shows_work {
                flight.sees_work(reading, at);
            } else {
                flight.baseline = Some(LastScreen { end: None, transcript_rows: 0, ..LastScreen::of(reading, at) });
            }
            flight.is_resumed = true;
            self.turn.state = TurnState::InFlight(Box::new(flight));
        } else if !reading.in_dialog {
            self.turn.ended_region = Some(reading.turn.clone());
        }
    }

    /// After a gap: whether another turn has taken the place of the one that was known. What went on then was seen to end
    /// only when the gap was short.
    pub(in crate::tracker) fn is_replaced(&mut self, reading: &Classification, now: Timestamp) -> bool {
        let replaced = self.seen.as_ref().is_some_and(|seen| !same_turn(&seen.region, &reading.turn));
        if replaced {
            let unseen = self.coverage.is_after_long_gap();
            self.turn.on(TurnEvent::Replaced { unseen }, now);
        }
        replaced
    }
}
