//! What the tracker says when it is asked: what the operator has to do, what is known, and when something is due.

use super::Tracker;
use super::timers::{Settings, Timer, TimerName};
use crate::agent_record::RecordedTurn;
use crate::state::{
    AgentFacts, Anomaly, Attention, Availability, Completion, FactName, Operator, OperatorStatus, Phase, ProcessState,
    Readiness, TurnResult, UiContext,
};
use crate::time::Timestamp;

impl Tracker {
    /// Whether a dialog waits for the operator.
    pub fn waits(&self) -> bool {
        self.published.assessment.awaits_operator()
    }

    /// What the agent's own record says of its turn.
    pub fn record(&self) -> Option<&RecordedTurn> {
        self.record.turn.as_ref()
    }

    /// What is known beside the state: by its records, and where they say nothing, or nothing for sure, by its screen.
    pub fn facts(&self) -> AgentFacts {
        let mut facts = self.record.facts.clone();
        facts.fill(&self.shown);
        // Many agents show or record a prompt late or not at all.
        if let Some(sent) = self.sent.as_ref().filter(|sent| self.turn.began_with(sent.at)) {
            facts.put(FactName::LastPrompt, sent.clone());
        }
        facts
    }

    pub(super) fn operator(&self) -> Operator {
        Operator {
            status: self.operator_status(),
            readiness: self.lifecycle.readiness,
            completion: self.lifecycle.completion,
            detail: self.operator_detail(),
        }
    }

    pub(super) fn operator_status(&self) -> OperatorStatus {
        let published = &self.published;
        match published.diagnostics.availability {
            Availability::Error => OperatorStatus::Error,
            Availability::Unavailable => OperatorStatus::Unavailable,
            Availability::TuiDown => OperatorStatus::TuiDown,
            _ if published.diagnostics.process_state == ProcessState::Suspended => OperatorStatus::Suspended,
            _ if published.assessment.awaits_operator() => OperatorStatus::WaitingUserAnswer,
            Availability::Unknown => OperatorStatus::Unknown,
            Availability::Available => match published.phase {
                Phase::Active => OperatorStatus::Processing,
                Phase::Ready if self.lifecycle.completion == Completion::Completed => OperatorStatus::Completed,
                Phase::Ready => OperatorStatus::Ready,
                Phase::Unknown => OperatorStatus::Unknown,
            },
        }
    }

    pub(super) fn operator_detail(&self) -> Option<String> {
        let published = &self.published;
        let problem = published.diagnostics.probe_error.as_ref().or(published.diagnostics.parse_error.as_ref());
        let said =
            problem.map(|problem| problem.message.as_str()).or(self.turn.note()).or(published.headline.as_deref());
        said.map(str::to_owned)
    }

    pub(super) fn attention(&self) -> Attention {
        let published = &self.published;
        if published.assessment.awaits_operator() {
            return match published.assessment.ui_context {
                UiContext::TrustPrompt => Attention::Trust,
                UiContext::Question | UiContext::Limit => Attention::Question,
                UiContext::Setup => Attention::Setup,
                _ => Attention::Approval,
            };
        }
        // A new turn leaves the last one's end behind. Once seen, only a failure that can still be acted on stays.
        let is_at_rest = published.phase != Phase::Active;
        match published.last_turn.result {
            TurnResult::KnownFailure
                if is_at_rest && (self.unseen || published.diagnostics.availability == Availability::Available) =>
            {
                Attention::Failed
            }
            TurnResult::Interrupted if is_at_rest && self.unseen => Attention::Interrupted,
            TurnResult::Success if is_at_rest && self.unseen => Attention::Finished,
            _ if self.lifecycle.readiness == Readiness::Stalled || self.turn.work_stands_still() => Attention::Stalled,
            _ if matches!(published.diagnostics.availability, Availability::TuiDown | Availability::Unavailable) => {
                Attention::Gone
            }
            _ => Attention::None,
        }
    }

    /// What is odd about the turn and its timers (SPEC §6).
    pub(super) fn anomalies(&self) -> Vec<Anomaly> {
        let invalid = self.turn.baseline_is_invalid().then_some(Anomaly::BaselineInvalidated);
        let contradiction = self.turn.record_contradicts(self.now).then_some(Anomaly::RecordContradicts);
        [invalid, contradiction].into_iter().flatten().chain(self.lifecycle.anomaly()).collect()
    }

    /// The timers that run, the next deadline first.
    pub fn timers(&self) -> Vec<Timer> {
        let mut timers: Vec<Timer> = self.running().collect();
        timers.sort_by_key(|timer| timer.until);
        timers
    }

    /// When the tracker wants to be called with [`Observation::Nothing`] at the latest, because something is due.
    ///
    /// [`Observation::Nothing`]: super::Observation::Nothing
    pub fn next_timeout(&self) -> Option<Timestamp> {
        self.running().filter(|timer| timer.name.acts()).map(|timer| timer.until).min()
    }

    /// Until when nothing can change by itself, after a poll: where no turn is in flight, nothing is doubted or not known, and no
    /// dialog stands there, only timers do anything.
    pub(super) fn rest(&self) -> Option<Timestamp> {
        let is_clear = self.is_reading() && self.doubt_since.is_none() && self.failing.is_none();
        let rests = is_clear && self.lifecycle.is_known() && self.turn.rests();
        rests.then(|| self.running().map(|timer| timer.until).min().unwrap_or(Timestamp::LAST))
    }

    /// The timers whose deadline is still to come: what is over must not hide what is due.
    fn running(&self) -> impl Iterator<Item = Timer> {
        let Settings { stable, failed_probe_time, .. } = self.settings;
        let stability = Timer::new(TimerName::Stability, self.stable_since, stable);
        let patience = self.patience(self.held_back.as_deref());
        let held_back = self.held_back.as_ref().and(self.doubt_since);
        let coverage = self.turn.coverage;
        let half_drawn = held_back.map(|since| coverage.window(TimerName::HalfDrawn, since, patience));
        let failing = self.failing.map(|(since, _)| Timer::new(TimerName::FailedProbes, since, failed_probe_time));
        self.turn
            .timers(self.temporal, self.now)
            .chain(self.lifecycle.timers(&self.settings, coverage))
            .chain([half_drawn, failing, Some(stability)].into_iter().flatten())
            .filter(|timer| !timer.is_over(self.now))
    }
}
