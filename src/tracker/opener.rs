//! Who opened a list of choices whose rows do not show it (SPEC §4): the agent, unless the operator is known to have.

use std::borrow::Cow;

use super::publish::aside;
use super::{Opener, Tracker};
use crate::profile::Classification;
use crate::state::{AssessedAvailability, BusinessState, InputMode, Phase, UiContext};
use crate::time::Timestamp;

impl Tracker {
    /// A reading in which a list of choices that the agent opened asks for one.
    pub(super) fn attributed<'r>(&mut self, reading: &'r Classification, now: Timestamp) -> Cow<'r, Classification> {
        if reading.assessment.availability != AssessedAvailability::Supported {
            return Cow::Borrowed(reading);
        }
        if reading.assessment.ui_context == UiContext::SlashCommand {
            self.commanded_at = Some(now);
        }
        if !reading.offers_choices {
            // What a menu of the operator's leads to is his as well.
            let is_menu = reading.assessment.input_mode == InputMode::Modal && !reading.in_dialog;
            self.opener = is_menu.then_some(Opener::Operator);
            return Cow::Borrowed(reading);
        }
        let opener = self.opener.unwrap_or_else(|| self.opened_by(now));
        self.opener = Some(opener);
        match opener {
            Opener::Operator => Cow::Borrowed(reading),
            Opener::Agent => Cow::Owned(self.request(reading)),
        }
    }

    /// Goes on with the list of choices that a known state is of.
    pub(super) fn remember_opener(&mut self, reading: Option<&Classification>, waits: bool) {
        let opener = if waits { Opener::Agent } else { Opener::Operator };
        self.opener = reading.filter(|reading| reading.offers_choices).map(|_| opener);
    }

    fn opened_by(&self, now: Timestamp) -> Opener {
        let is_commanded =
            self.commanded_at.is_some_and(|at| now.since(at) < self.settings.command) || self.turn.is_commanded();
        // Offers of an agent that has just started come when its prompt is there.
        let has_started = |last: &Classification| last.phase == Phase::Ready && last.turn.prompt.is_some();
        let is_at_prompt = self.last_reading.as_ref().is_some_and(|(last, _)| has_started(last));
        let ended = self.turn.last_turn().at.is_some_and(|at| now.since(at) < self.settings.quick);
        if is_commanded || (is_at_prompt && !self.turn.is_in_flight() && !ended) {
            Opener::Operator
        } else {
            Opener::Agent
        }
    }

    /// The list as what it asks for. Before the first prompt nothing but the start can wait for it.
    fn request(&self, reading: &Classification) -> Classification {
        let context = match &reading.dialog {
            _ if reading.turn.prompt.is_none() && !self.turn.is_in_flight() => UiContext::Setup,
            Some(dialog) if dialog.asks_leave() => UiContext::ApprovalPrompt,
            _ => UiContext::Question,
        };
        let why = aside("not-opened-by-operator", "nobody typed a command or a key that opens this list of choices");
        let mut request = reading.clone();
        request.in_dialog = true;
        request.assessment.business_state = BusinessState::AwaitingOperator;
        request.assessment.ui_context = context;
        request.evidence = reading.evidence.iter().cloned().chain([why]).collect();
        request
    }
}
