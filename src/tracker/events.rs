//! What happened between two assessments of a terminal, by name (SPEC §6). These are observations for debugging and the
//! history; they decide nothing about turns.

use crate::state::{AssessedAvailability, Assessment, BusinessState, InputMode, words};

words! {
    /// One thing that happened between two consecutive assessments.
    SurfaceEvent {
        SupportedSurface = "supported_surface", SurfaceUnsupported = "surface_unsupported",
        SurfaceDisconnected = "surface_disconnected", ProcessingStarted = "processing_started",
        PromptFreeform = "prompt_freeform", PromptModal = "prompt_modal", OperatorBlocked = "operator_blocked",
        UnknownEntered = "unknown_entered", ContextChanged = "context_changed",
        NormalizedTextChanged = "normalized_text_changed",
    }
}

/// Two of these are compared: an assessment, and a hash of the normalized text behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assessed {
    pub assessment: Assessment,
    pub normalized_text: u64,
}

/// The events from one assessment to the next, in the order of the contract.
pub fn surface_events(before: &Assessed, after: &Assessed) -> Vec<SurfaceEvent> {
    let (a, b) = (&before.assessment, &after.assessment);
    let becomes = |availability| a.availability != availability && b.availability == availability;
    let business = |state| a.business_state != state && b.business_state == state;
    let mode = |mode| a.input_mode != mode && b.input_mode == mode;
    [
        (becomes(AssessedAvailability::Supported), SurfaceEvent::SupportedSurface),
        (becomes(AssessedAvailability::Unsupported), SurfaceEvent::SurfaceUnsupported),
        (becomes(AssessedAvailability::Disconnected), SurfaceEvent::SurfaceDisconnected),
        (business(BusinessState::Working), SurfaceEvent::ProcessingStarted),
        (mode(InputMode::Freeform), SurfaceEvent::PromptFreeform),
        (mode(InputMode::Modal), SurfaceEvent::PromptModal),
        (business(BusinessState::AwaitingOperator), SurfaceEvent::OperatorBlocked),
        (business(BusinessState::Unknown), SurfaceEvent::UnknownEntered),
        (a.ui_context != b.ui_context, SurfaceEvent::ContextChanged),
        (before.normalized_text != after.normalized_text, SurfaceEvent::NormalizedTextChanged),
    ]
    .into_iter()
    .filter_map(|(happened, event)| happened.then_some(event))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::UiContext;

    fn assessed(business_state: BusinessState, input_mode: InputMode, ui_context: UiContext) -> Assessed {
        Assessed {
            assessment: Assessment {
                availability: AssessedAvailability::Supported,
                business_state,
                input_mode,
                ui_context,
                anomalies: Vec::new(),
                operator_excerpt: None,
                dialog: None,
            },
            normalized_text: 1,
        }
    }

    #[test]
    fn an_approval_blocks_the_operator_in_a_modal_prompt() {
        let working = assessed(BusinessState::Working, InputMode::Freeform, UiContext::NormalPrompt);
        let dialog = assessed(BusinessState::AwaitingOperator, InputMode::Modal, UiContext::ApprovalPrompt);
        let expected = [SurfaceEvent::PromptModal, SurfaceEvent::OperatorBlocked, SurfaceEvent::ContextChanged];
        assert_eq!(surface_events(&working, &dialog), expected);
        assert_eq!(surface_events(&dialog, &dialog), []);
        let back = surface_events(&dialog, &working);
        assert!(back.contains(&SurfaceEvent::ProcessingStarted) && back.contains(&SurfaceEvent::PromptFreeform));
    }
}
