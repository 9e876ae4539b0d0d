//! The timers of a turn (SPEC §7): each says since when it runs, or that it does not.

use super::TurnTracker;
use super::seen::{Belief, ShownWork};
use super::state::{Flight, Rest, Stage, TurnState};
use crate::agent_record::RecordedPhase;
use crate::profile::Temporal;
use crate::time::Timestamp;
use crate::tracker::timers::{Timer, TimerName};

impl TurnTracker {
    /// The timers of the turn; those whose time is over are among them.
    pub(in crate::tracker) fn timers(&self, temporal: Temporal, now: Timestamp) -> impl Iterator<Item = Timer> {
        [
            self.settle_window(),
            self.silence(),
            self.lingering(temporal),
            self.unrecorded_rest(),
            self.standstill(),
            self.stale_active(),
            self.final_stable_active(now),
            self.retraction_window(),
        ]
        .into_iter()
        .flatten()
        .chain(self.recorded_timers())
    }

    /// Rule 3: what the turn has left must stand still.
    pub(super) fn settle_window(&self) -> Option<Timer> {
        Some(self.coverage.window(TimerName::Settle, self.settling_since()?, self.settings.settle))
    }

    /// Rule 1: an explicit input waits for a reaction. Work that went on when it was sent is one.
    pub(super) fn silence(&self) -> Option<Timer> {
        match self.flight()?.stage {
            Stage::Awaited { since, .. } if !self.shows_work() => {
                Some(self.coverage.window(TimerName::NoReaction, since, self.settings.no_reaction))
            }
            _ => None,
        }
    }

    /// A counter that the agent repaints while it works stands still.
    pub(super) fn standstill(&self) -> Option<Timer> {
        let work = self.work.as_ref().filter(|work| work.activity.ticks && work.belief == Belief::Believed)?;
        Some(self.coverage.window(TimerName::WorkStandsStill, work.since, self.settings.final_stable_active_recovery))
    }

    /// A version that nobody has recorded looks ready, but something has moved.
    pub(super) fn unrecorded_rest(&self) -> Option<Timer> {
        let (at, window) = self.moved?;
        Some(self.coverage.window(TimerName::UnrecordedRest, at, window))
    }

    /// Stale-active: no anchor, a prompt that would take a submission, and a status row that stands still.
    pub(super) fn stale_active(&self) -> Option<Timer> {
        let anchored = self.flight().is_some_and(Flight::is_anchored);
        let ShownWork { activity, since, .. } = self.work.as_ref().filter(|_| !anchored && self.shows_work())?;
        let is_left_behind = activity.status_row_only && activity.prompt_idle;
        let window = self.settings.stale_active_recovery;
        is_left_behind.then(|| self.coverage.window(TimerName::StaleActiveRecovery, *since, window))
    }

    /// Final stable-active: the screen is ready and unchanged, and still a turn is held to be in flight. One that its
    /// record holds is not given up.
    pub(super) fn final_stable_active(&self, now: Timestamp) -> Option<Timer> {
        if self.record_goes_on(now) {
            return None;
        }
        let seen = self.seen.as_ref().filter(|seen| seen.at_rest())?;
        let flight = self.flight().filter(|_| self.settling_since().is_none())?;
        // A screen may have stood for an hour when a prompt is sent.
        let since = seen.since.max(flight.armed_at).max(flight.seen_at().unwrap_or(flight.armed_at));
        let window = self.settings.final_stable_active_recovery;
        Some(self.coverage.window(TimerName::FinalStableActiveRecovery, since, window))
    }

    /// Work is taken to go on for a while after its last trace.
    fn lingering(&self, temporal: Temporal) -> Option<Timer> {
        let is_recorded = self.recorded_as(RecordedPhase::Active).is_some();
        match self.flight()?.stage {
            Stage::Working { seen_at } if !self.shows_work() && !is_recorded => {
                Some(self.coverage.window(TimerName::Linger, seen_at, self.linger(temporal)))
            }
            _ => None,
        }
    }

    /// Rule 5: the same turn may turn out to go on.
    fn retraction_window(&self) -> Option<Timer> {
        match self.turn.state {
            TurnState::AtRest(Rest::Ended { retractable: Some(_), .. }) => {
                Some(Timer::new(TimerName::Retraction, self.turn.last.at?, self.settings.retraction))
            }
            _ => None,
        }
    }
}
