//! What follows from the published state for the operator: status, attention, oddities (SPEC §2, §6, §7).

use super::Tracker;
use crate::state::{
    Anomaly, Attention, Availability, BusinessState, Completion, Operator, OperatorStatus, Phase, Readiness,
    TurnResult, UiContext,
};

impl Tracker {
    pub(super) fn operator(&self) -> Operator {
        Operator {
            status: self.operator_status(),
            readiness: self.lifecycle.readiness(),
            completion: self.lifecycle.completion(),
            detail: self.operator_detail(),
        }
    }

    pub(super) fn operator_status(&self) -> OperatorStatus {
        let published = &self.published;
        match published.diagnostics.availability {
            Availability::Error => OperatorStatus::Error,
            Availability::Unavailable => OperatorStatus::Unavailable,
            Availability::TuiDown => OperatorStatus::TuiDown,
            _ if published.assessment.business_state == BusinessState::AwaitingOperator => {
                OperatorStatus::WaitingUserAnswer
            }
            Availability::Unknown => OperatorStatus::Unknown,
            Availability::Available => match published.phase {
                Phase::Active => OperatorStatus::Processing,
                Phase::Ready if self.lifecycle.completion() == Completion::Completed => OperatorStatus::Completed,
                Phase::Ready => OperatorStatus::Ready,
                Phase::Unknown => OperatorStatus::Unknown,
            },
        }
    }

    pub(super) fn operator_detail(&self) -> Option<String> {
        let published = &self.published;
        let problem = published.diagnostics.probe_error.as_ref().or(published.diagnostics.parse_error.as_ref());
        if let Some(problem) = problem {
            return Some(problem.message.clone());
        }
        if let Some(note) = self.turn.note() {
            return Some(note.to_owned());
        }
        published.headline.clone()
    }

    pub(super) fn attention(&self) -> Attention {
        let published = &self.published;
        if published.assessment.business_state == BusinessState::AwaitingOperator {
            return match published.assessment.ui_context {
                UiContext::TrustPrompt => Attention::Trust,
                UiContext::Question => Attention::Question,
                UiContext::Setup => Attention::Setup,
                _ => Attention::Approval,
            };
        }
        // A new turn leaves the last one's end behind. Once seen, only a failure that can still be acted on stays.
        let told = published.phase != Phase::Active;
        match published.last_turn.result {
            TurnResult::KnownFailure
                if told && (self.unseen || published.diagnostics.availability == Availability::Available) =>
            {
                Attention::Failed
            }
            TurnResult::Interrupted if told && self.unseen => Attention::Interrupted,
            TurnResult::Success if told && self.unseen => Attention::Finished,
            _ if self.lifecycle.readiness() == Readiness::Stalled || self.turn.work_stands_still() => {
                Attention::Stalled
            }
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
}
