//! What is told of a terminal, and how one state differs from the next (SPEC §2, §8).

use serde::Serialize;
use serde_json::Value;

use super::ages::DialogName;
use super::loss::aside;
use crate::hash::{Fnv, fnv};
use crate::state::{
    AssessedAvailability, Assessment, Availability, BusinessState, Change, Diagnostics, Evidence, InputMode, LastTurn,
    OperatorStatus, ParseStatus, Phase, ProcessState, State, Summary, Surface, TransportState, Tri, UiContext,
};

/// The part of the public state that transitions and the signature speak of.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) struct Published {
    pub diagnostics: Diagnostics,
    pub surface: Surface,
    pub phase: Phase,
    pub background_work: Tri,
    pub last_turn: LastTurn,
    pub assessment: Assessment,
    pub evidence: Vec<Evidence>,
    pub headline: Option<String>,
}

impl Published {
    /// Before anything has been seen.
    pub(super) fn unknown() -> Self {
        Self {
            diagnostics: Diagnostics {
                availability: Availability::Unknown,
                transport_state: TransportState::TmuxUp,
                process_state: ProcessState::Unknown,
                parse_status: ParseStatus::Parsed,
                probe_error: None,
                parse_error: None,
            },
            surface: Surface::UNKNOWN,
            phase: Phase::Unknown,
            background_work: Tri::Unknown,
            last_turn: LastTurn::NONE,
            assessment: unassessed(AssessedAvailability::Unknown),
            evidence: Vec::new(),
            headline: None,
        }
    }

    /// What a state told.
    pub(super) fn known(state: &State) -> Self {
        Self {
            diagnostics: state.diagnostics.clone(),
            surface: state.surface,
            phase: state.turn.phase,
            background_work: state.turn.background_work,
            last_turn: state.last_turn.clone(),
            assessment: state.assessment.clone(),
            evidence: state.evidence.clone(),
            headline: state.activity.clone(),
        }
    }

    /// Surface and phase become unknown; the last turn stays (SPEC §3).
    pub(super) fn become_unreadable(
        &mut self,
        diagnostics: Diagnostics,
        availability: AssessedAvailability,
        evidence: Evidence,
    ) {
        self.diagnostics = diagnostics;
        self.surface = Surface::UNKNOWN;
        self.phase = Phase::Unknown;
        self.background_work = Tri::Unknown;
        self.assessment = unassessed(availability);
        self.evidence = std::iter::once(evidence).chain(super::evidence_of(&self.last_turn)).collect();
        self.headline = None;
    }

    /// Something else than the screen tells what the agent does.
    pub(super) fn is_rather(&mut self, (phase, ready, business): (Phase, Tri, BusinessState), why: Evidence) {
        (self.phase, self.surface.ready_posture, self.assessment.business_state) = (phase, ready, business);
        self.evidence.push(why);
    }

    /// A dialog that the operator did not open stops the turn.
    pub(super) fn wait_in_mid_turn(&mut self) {
        self.assessment.business_state = BusinessState::AwaitingOperator;
        self.assessment.ui_context = UiContext::ApprovalPrompt;
        self.evidence.push(aside("in-mid-turn", "a dialog that the operator did not open stops the turn"));
    }

    /// The agent's own record says that it waits for the operator, and the screen shows no dialog that can be read.
    pub(super) fn wait_by_record(&mut self, context: UiContext, word: &str) {
        let why = aside("record", &format!("the agent's own record says that it waits: {word}"));
        self.is_rather((Phase::Unknown, Tri::No, BusinessState::AwaitingOperator), why);
        self.assessment.ui_context = context;
    }

    /// A hash over the public names that is the same in every run and build.
    pub(super) fn signature(&self) -> u64 {
        let mut hash = Fnv::default();
        feed(&mut hash, &self.diagnostics);
        feed(&mut hash, &self.assessment);
        feed(&mut hash, &self.surface);
        feed(&mut hash, &(self.phase, self.background_work));
        feed(&mut hash, &(self.last_turn.result, self.last_turn.source, &self.last_turn.detail));
        hash.get()
    }

    /// What tells the dialog that waits for the operator from the next one.
    pub(super) fn dialog_name(&self) -> Option<DialogName> {
        let waits = self.assessment.business_state == BusinessState::AwaitingOperator;
        Some(fnv(self.assessment.dialog.as_deref().filter(|_| waits)?.as_bytes()))
    }

    pub(super) fn summary(&self, status: OperatorStatus) -> Summary {
        Summary {
            availability: self.diagnostics.availability,
            phase: self.phase,
            result: self.last_turn.result,
            source: self.last_turn.source,
            ui_context: self.assessment.ui_context,
            status,
        }
    }

    /// The fields of SPEC §2's transition record in which `next` differs.
    pub(super) fn changes_to(&self, next: &Published) -> Vec<Change> {
        let (a, b) = (&self.diagnostics, &next.diagnostics);
        let (s, t) = (&self.surface, &next.surface);
        let (x, y) = (&self.assessment, &next.assessment);
        [
            change("availability", &a.availability, &b.availability),
            change("transport_state", &a.transport_state, &b.transport_state),
            change("process_state", &a.process_state, &b.process_state),
            change("parse_status", &a.parse_status, &b.parse_status),
            change("accepting_input", &s.accepting_input, &t.accepting_input),
            change("editing_input", &s.editing_input, &t.editing_input),
            change("ready_posture", &s.ready_posture, &t.ready_posture),
            change("pending_input", &s.pending_input, &t.pending_input),
            change("phase", &self.phase, &next.phase),
            change("background_work", &self.background_work, &next.background_work),
            // Two turns may end alike one after the other; the time tells that it is another result.
            change_of_result(&self.last_turn, &next.last_turn),
            change("source", &self.last_turn.source, &next.last_turn.source),
            change("business_state", &x.business_state, &y.business_state),
            change("input_mode", &x.input_mode, &y.input_mode),
            change("ui_context", &x.ui_context, &y.ui_context),
            self.change_of_dialog(next),
            change("probe_error", &a.probe_error, &b.probe_error),
            change("parse_error", &a.parse_error, &b.parse_error),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// A dialog that takes the place of another one is told by what both ask (SPEC §10).
    fn change_of_dialog(&self, next: &Published) -> Option<Change> {
        let (from, to) = (self.dialog_name()?, next.dialog_name()?);
        let asked = |of: &Published| value(&of.assessment.operator_excerpt.as_deref().map(in_one_line));
        (from != to).then(|| Change { field: "dialog".into(), from: asked(self), to: asked(next) })
    }
}

/// A dialog's text in one line.
fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn change_of_result(from: &LastTurn, to: &LastTurn) -> Option<Change> {
    (from.result != to.result || from.at != to.at).then(|| Change {
        field: "result".into(),
        from: value(&from.result),
        to: value(&to.result),
    })
}

fn change<T: PartialEq + Serialize>(field: &'static str, from: &T, to: &T) -> Option<Change> {
    (from != to).then(|| Change { field: field.into(), from: value(from), to: value(to) })
}

/// Public values are words, numbers and plain records; all of them have a JSON form.
fn value(of: &impl Serialize) -> Value {
    serde_json::to_value(of).unwrap_or(Value::Null)
}

fn feed(hash: &mut Fnv, public: &impl Serialize) {
    // Writing public values into memory cannot fail.
    let _ = serde_json::to_writer(hash, public);
}

fn unassessed(availability: AssessedAvailability) -> Assessment {
    Assessment {
        availability,
        business_state: BusinessState::Unknown,
        input_mode: InputMode::Unknown,
        ui_context: UiContext::Unknown,
        anomalies: Vec::new(),
        operator_excerpt: None,
        dialog: None,
    }
}
