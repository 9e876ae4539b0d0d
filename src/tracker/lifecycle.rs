//! Readiness, completion and their timers (SPEC §7).

use super::publish::Published;
use super::timers::{Coverage, Settings, Timer, TimerName};
use super::turn::TurnTracker;
use crate::state::{
    Anomaly, AssessedAvailability, Availability, Completion, LifecycleTiming, Phase, Readiness, State, Tri,
};
use crate::time::Timestamp;

/// Readiness and completion as they follow from the published state and the turn.
#[derive(Clone, Debug)]
pub(super) struct Lifecycle {
    pub(super) readiness: Readiness,
    pub(super) completion: Completion,
    /// Since when nothing is known; it runs through all polls until something is known again.
    unknown_since: Option<Timestamp>,
    completion_unknown_since: Option<Timestamp>,
    /// Whether the present readiness came right after a stall.
    recovered: bool,
}

impl Lifecycle {
    pub(super) fn new() -> Self {
        Self {
            readiness: Readiness::Unknown,
            completion: Completion::Inactive,
            unknown_since: None,
            completion_unknown_since: None,
            recovered: false,
        }
    }

    /// Goes on from a state.
    pub(super) fn remember(&mut self, state: &State) {
        let (operator, since) = (&state.operator, state.turn.since);
        (self.readiness, self.completion) = (operator.readiness, operator.completion);
        self.unknown_since = matches!(operator.readiness, Readiness::Unknown | Readiness::Stalled).then_some(since);
        self.completion_unknown_since =
            matches!(operator.completion, Completion::Unknown | Completion::Stalled).then_some(since);
    }

    /// Whether it is known both of the terminal and of its turn.
    pub(super) fn is_known(&self) -> bool {
        self.unknown_since.is_none() && self.completion_unknown_since.is_none()
    }

    /// A turn was armed by an explicit input.
    pub(super) fn armed(&mut self) {
        self.completion = Completion::InProgress;
        self.completion_unknown_since = None;
    }

    /// What an assessment names of the timers (SPEC §6).
    pub(super) fn anomaly(&self) -> Option<Anomaly> {
        match self.readiness {
            Readiness::Stalled => Some(Anomaly::StalledEntered),
            _ => self.recovered.then_some(Anomaly::StalledRecovered),
        }
    }

    pub(super) fn update(
        &mut self,
        published: &mut Published,
        turn: &TurnTracker,
        settings: &Settings,
        now: Timestamp,
    ) {
        let known = readiness_of(published);
        self.unknown_since = (known == Readiness::Unknown).then(|| self.unknown_since.unwrap_or(now));
        let coverage = turn.coverage;
        // A stall lasts as long as nothing is known, whether it was polled all the time or not.
        let stalls = |since: Option<Timestamp>, stalled: bool| {
            let timer =
                since.map(|since| coverage.window(TimerName::UnknownToStalled, since, settings.unknown_to_stalled));
            timer.is_some_and(|timer| stalled || (coverage.holds(now) && timer.is_over(now)))
        };
        let stalled = stalls(self.unknown_since, self.readiness == Readiness::Stalled);
        let readiness = if stalled { Readiness::Stalled } else { known };
        let before = std::mem::replace(&mut self.readiness, readiness);
        if before != readiness {
            self.recovered = before == Readiness::Stalled;
        }

        let completion = self.completion_of(published, turn, known);
        let unknown = matches!(completion, Completion::Unknown);
        self.completion_unknown_since = unknown.then(|| self.completion_unknown_since.unwrap_or(now));
        let stalled = stalls(self.completion_unknown_since, self.completion == Completion::Stalled);
        self.completion = if stalled { Completion::Stalled } else { completion };
        published.completion = self.completion;
    }

    fn completion_of(&self, published: &Published, turn: &TurnTracker, readiness: Readiness) -> Completion {
        let in_flight = match readiness {
            Readiness::Blocked => Completion::Blocked,
            Readiness::Failed => Completion::Failed,
            Readiness::Unknown => Completion::Unknown,
            Readiness::Waiting if published.phase == Phase::Unknown => Completion::Waiting,
            _ => Completion::InProgress,
        };
        match turn.completion(in_flight) {
            // Nobody waited for the end of a turn that was never in flight.
            _ if !turn.is_in_flight() && self.completion == Completion::Inactive => Completion::Inactive,
            completion => completion,
        }
    }

    /// Since when nothing is known, until that is a stall.
    pub(super) fn timers(&self, settings: &Settings, coverage: Coverage) -> impl Iterator<Item = Timer> {
        let stalls = |since: Option<Timestamp>, name| Some(coverage.window(name, since?, settings.unknown_to_stalled));
        let readiness = stalls(self.unknown_since, TimerName::UnknownToStalled);
        let completion = stalls(self.completion_unknown_since, TimerName::CompletionUnknownToStalled);
        readiness.into_iter().chain(completion)
    }

    pub(super) fn timing(&self, settings: &Settings, settling: Option<Timestamp>, now: Timestamp) -> LifecycleTiming {
        let elapsed = |since: Option<Timestamp>| since.map(|since| now.since(since).as_secs());
        LifecycleTiming {
            readiness_unknown_elapsed_seconds: elapsed(self.unknown_since),
            completion_unknown_elapsed_seconds: elapsed(self.completion_unknown_since),
            completion_candidate_elapsed_seconds: elapsed(settling),
            unknown_to_stalled_timeout_seconds: settings.unknown_to_stalled.as_secs(),
            completion_stability_seconds: settings.settle.as_secs(),
            stale_active_recovery_seconds: settings.stale_active_recovery.as_secs(),
            final_stable_active_recovery_seconds: settings.final_stable_active_recovery.as_secs(),
        }
    }
}

fn readiness_of(published: &Published) -> Readiness {
    match published.diagnostics.availability {
        Availability::Unavailable | Availability::TuiDown | Availability::Error => return Readiness::Failed,
        Availability::Available | Availability::Unknown => {}
    }
    if published.assessment.availability == AssessedAvailability::Disconnected {
        return Readiness::Failed;
    }
    if published.assessment.awaits_operator() {
        return Readiness::Blocked;
    }
    match published.phase {
        Phase::Ready => Readiness::Ready,
        Phase::Active => Readiness::Waiting,
        // A menu or list that the operator opened is known for what it is.
        Phase::Unknown if published.surface.ready_posture == Tri::No => Readiness::Waiting,
        Phase::Unknown if published.assessment.availability == AssessedAvailability::Unsupported => Readiness::Failed,
        Phase::Unknown => Readiness::Unknown,
    }
}
