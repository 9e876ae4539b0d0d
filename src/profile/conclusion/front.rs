//! What is in front on a screen, and what that says about the surface (SPEC §4).

use super::limit::names_limit;
use super::{Conclusion, Front};
use crate::profile::classification::{EndMark, TurnEnd};
use crate::profile::rules::{Region, Signal};
use crate::profile::screen_view::DraftText;
use crate::state::{BusinessState, InputMode, Surface, Tri, UiContext};

impl Conclusion<'_> {
    pub(super) fn front(&self) -> Front {
        const DIALOGS: [(Signal, UiContext); 4] = [
            (Signal::Trust, UiContext::TrustPrompt),
            (Signal::Approval, UiContext::ApprovalPrompt),
            (Signal::Question, UiContext::Question),
            (Signal::Setup, UiContext::Setup),
        ];
        // What is known for what it is comes first.
        let mut kinds =
            [false, true].into_iter().flat_map(|either| DIALOGS.map(|(signal, context)| (signal, either, context)));
        let dialog = kinds.find(|(signal, either, _)| self.asked(*signal, *either).is_some());
        let list = |signal, context| self.has(signal).then_some(Front::List(context));
        let prompt = self.sight.prompt.as_ref();
        dialog
            .map(|(.., context)| Front::Dialog(context))
            .or_else(|| self.menu().map(|_| Front::Menu))
            .or_else(|| self.has(Signal::Starting).then_some(Front::Starting))
            .or_else(|| prompt.filter(|p| !p.focused).map(|_| Front::UnfocusedPrompt))
            .or_else(|| list(Signal::Slash, UiContext::SlashCommand))
            .or_else(|| list(Signal::Files, UiContext::SelectionMenu))
            .or_else(|| {
                prompt.filter(|_| self.has(Signal::Opening) && !self.has(Signal::Working)).map(|_| Front::Opening)
            })
            .or_else(|| prompt.map(|_| Front::Prompt))
            .or_else(|| {
                let front = if self.precedes_prompt() { Front::Starting } else { Front::WorkOnly };
                self.has(Signal::Working).then_some(front)
            })
            .unwrap_or(Front::Nothing)
    }

    /// Whether nothing is on the screen that a session has: of an agent that always shows its prompt, neither that nor anything
    /// submitted or said. What it works on, such as a session to resume, is no turn.
    fn precedes_prompt(&self) -> bool {
        let (sight, turn) = (self.sight, &self.sight.profile.turn);
        let always_shown = sight.profile.composer.as_ref().is_some_and(|composer| !composer.only_when_idle);
        let mut said = turn.answers.iter().chain(&turn.tools);
        always_shown
            && sight.submitted.is_empty()
            && !said.any(|&kind| sight.region(Region::Turn).any(|y| sight.is(y, kind)))
    }

    pub(super) fn surface(
        &self,
        front: Front,
        working: bool,
        doubtful: bool,
        end: &Option<TurnEnd>,
    ) -> (Surface, BusinessState, InputMode, UiContext) {
        let pending_input = if self.has(Signal::Queued) { Tri::Yes } else { Tri::No };
        let editing = match self.sight.prompt.as_ref().map(|p| &p.draft) {
            Some(DraftText::Text) => Tri::Yes,
            Some(DraftText::Empty | DraftText::Ghost) => Tri::No,
            // A list that covers the prompt is open because something was typed there.
            None if matches!(front, Front::List(_)) => Tri::Yes,
            None => Tri::Unknown,
        };
        let keys_elsewhere =
            Surface { accepting_input: Tri::No, editing_input: Tri::No, ready_posture: Tri::No, pending_input };
        let at_prompt =
            |ready_posture| Surface { accepting_input: Tri::Yes, editing_input: editing, ready_posture, pending_input };
        let business = if working { BusinessState::Working } else { BusinessState::Idle };
        let is_command = self.sight.prompt.as_ref().is_some_and(|prompt| prompt.command);
        let normal = if is_command { UiContext::CommandPrompt } else { UiContext::NormalPrompt };
        match front {
            Front::Dialog(context) => (keys_elsewhere, BusinessState::AwaitingOperator, InputMode::Modal, context),
            Front::Menu => {
                let business = if working { BusinessState::Working } else { BusinessState::Unknown };
                (keys_elsewhere, business, InputMode::Modal, UiContext::SelectionMenu)
            }
            Front::Starting => (Surface::UNKNOWN, BusinessState::Unknown, InputMode::Closed, UiContext::Unknown),
            Front::Opening => (at_prompt(Tri::No), BusinessState::Unknown, InputMode::Freeform, normal),
            Front::List(context) => (at_prompt(Tri::No), business, InputMode::Freeform, context),
            Front::Prompt if doubtful => (at_prompt(Tri::Unknown), BusinessState::Unknown, InputMode::Freeform, normal),
            Front::Prompt => {
                let failure = end.as_ref().filter(|end| end.mark == EndMark::Failed && !working);
                let context = match failure {
                    _ if normal == UiContext::CommandPrompt => normal,
                    Some(end) if names_limit(&end.detail) => UiContext::Limit,
                    Some(_) => UiContext::ErrorBanner,
                    None => normal,
                };
                let posture = if working { Tri::No } else { Tri::Yes };
                (at_prompt(posture), business, InputMode::Freeform, context)
            }
            Front::UnfocusedPrompt => {
                let business = if working { BusinessState::Working } else { BusinessState::Unknown };
                (Surface { pending_input, ..Surface::UNKNOWN }, business, InputMode::Unknown, UiContext::Unknown)
            }
            Front::WorkOnly if self.sight.profile.composer.as_ref().is_some_and(|c| c.only_when_idle) => {
                (keys_elsewhere, BusinessState::Working, InputMode::Closed, UiContext::Unknown)
            }
            Front::WorkOnly => {
                let surface = Surface { ready_posture: Tri::No, pending_input, ..Surface::UNKNOWN };
                (surface, BusinessState::Working, InputMode::Unknown, UiContext::Unknown)
            }
            Front::Nothing => (Surface::UNKNOWN, BusinessState::Unknown, InputMode::Unknown, UiContext::Unknown),
        }
    }
}
