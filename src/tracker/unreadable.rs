//! Terminals without an agent's screen to read: the agent has ended or was stopped, or nobody could look.

use super::Tracker;
use super::publish::{Loss, LossReason, Published, aside, diagnostics, unassessed};
use super::turn::TurnTracker;
use crate::agent_record::AgentRecordReading;
use crate::state::{
    AgentFacts, AssessedAvailability, Availability, Diagnostics, ParseStatus, Problem, ProcessState, ProgramEnd,
    TransportState, ended_in_words,
};
use crate::time::Timestamp;

/// What is said of an agent that was stopped.
const SUSPENDED: &str = "suspended, as by Ctrl-Z; `fg` in its pane brings it back";

impl Tracker {
    /// The agent has ended, and its pane is there; how it ended is known of a pane's own program.
    pub(super) fn ended(&mut self, exit_status: Option<i32>, now: Timestamp, next: &mut Published) {
        self.lost(Loss::tui_down(), now, next);
        next.ended_with = exit_status.map(ProgramEnd::of_status);
        next.headline = Some(ended_in_words(next.ended_with));
    }

    /// The agent was stopped. Its screen is not watched meanwhile, so that no window of its turn runs.
    pub(super) fn suspended(&mut self, now: Timestamp, next: &mut Published) {
        (self.observed_at, self.failing, self.doubt_since, self.held_back) = (now, None, None, None);
        next.become_unreadable(Loss::suspended(), &self.turn);
        next.headline = Some(SUSPENDED.to_owned());
    }

    /// The terminal cannot show an agent any more.
    pub(super) fn lost(&mut self, loss: Loss, now: Timestamp, next: &mut Published) {
        self.observed(now);
        (self.doubt_since, self.held_back) = (None, None);
        // What was known of the agent is told for as long as the row of a closed pane stays.
        self.shown = if loss.reason == LossReason::TmuxMissing { self.facts() } else { AgentFacts::default() };
        self.turn.surface_lost(loss.reason, now);
        self.turn.record_is_lost();
        self.record = AgentRecordReading::default();
        next.become_unreadable(loss, &self.turn);
    }

    /// A probe failed; one failure is not a change of the agent's state (SPEC §3).
    pub(super) fn probe_failed(
        &mut self,
        problem: Problem,
        now: Timestamp,
        next: &mut Published,
        notes: &mut Vec<&'static str>,
    ) {
        let (since, count) = self.failing.map_or((now, 1), |(since, count)| (since, count + 1));
        self.failing = Some((since, count));
        let repeats = count >= self.settings.failed_probes || now.since(since) >= self.settings.failed_probe_time;
        if !repeats && self.last_reading.is_some() {
            return self.unchanged(now, next, notes);
        }
        if repeats {
            self.held_back = None;
            let reason = LossReason::ProbeError;
            self.turn.surface_lost(reason, now);
            let (transport, process) = (TransportState::ProbeError, ProcessState::ProbeError);
            let evidence = aside("probe", &problem.message);
            let found = diagnostics(Availability::Error, transport, process, ParseStatus::ProbeError);
            let diagnostics = Diagnostics { probe_error: Some(problem), ..found };
            let loss = Loss { reason, diagnostics, assessment: AssessedAvailability::Unknown, evidence };
            next.become_unreadable(loss, &self.turn);
        }
    }
}

impl Published {
    /// Surface and phase become unknown; the last turn stays (SPEC §3).
    pub(super) fn become_unreadable(&mut self, loss: Loss, turn: &TurnTracker) {
        *self = Self {
            diagnostics: loss.diagnostics,
            assessment: unassessed(loss.assessment),
            last_turn: turn.last_turn().clone(),
            completion: self.completion,
            evidence: std::iter::once(loss.evidence).chain(turn.evidence_of_last()).collect(),
            ..Self::unknown()
        };
    }
}
