//! What is published about a terminal, how one state differs from the next, and what that means for the operator (SPEC §2,
//! §6–8).

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::hash::{Fnv, fnv};
use crate::state::{
    AssessedAvailability, Assessment, Availability, BusinessState, Change, Completion, Diagnostics, Evidence,
    InputMode, LastTurn, OperatorStatus, ParseStatus, Phase, ProcessState, ProgramEnd, State, Summary, Surface,
    TransportState, Tri, UiContext,
};

/// Tells the dialogs that wait for the operator apart: a hash of the dialog's name.
pub(super) type DialogName = u64;

/// The part of the public state that transitions and the signature speak of.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Published {
    pub diagnostics: Diagnostics,
    pub surface: Surface,
    pub phase: Phase,
    pub background_work: Tri,
    pub last_turn: LastTurn,
    /// How far the latest turn is.
    pub completion: Completion,
    pub assessment: Assessment,
    pub evidence: Arc<[Evidence]>,
    pub headline: Option<String>,
    pub ended_with: Option<ProgramEnd>,
}

/// Why a surface was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LossReason {
    TuiDown,
    Suspended,
    UnsupportedTool,
    TmuxMissing,
    ProbeError,
}

impl LossReason {
    /// The public name.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::TuiDown => "tui_down",
            Self::Suspended => "suspended",
            Self::UnsupportedTool => "unsupported_tool",
            Self::TmuxMissing => "tmux_missing",
            Self::ProbeError => "probe_error",
        }
    }

    /// Whether the agent has ended, and its turn with it.
    pub(super) const fn ends_agent(self) -> bool {
        matches!(self, Self::TuiDown | Self::TmuxMissing)
    }
}

/// Why a terminal is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoneReason {
    /// tmux has no such pane any more.
    Pane,
    /// The pane is still there, and another process runs in it.
    ProcessReplaced,
    /// The tmux server ended.
    Server,
    /// Another tmux server answers in place of the one that had the pane.
    ServerReplaced,
}

impl GoneReason {
    /// The headline for an agent that had ended before or not; a closed pane goes without saying.
    pub(super) fn headline(self, had_ended: bool) -> Option<String> {
        let how = match self {
            Self::Pane if had_ended => "the pane is gone",
            Self::Pane => return None,
            Self::ProcessReplaced => "another process now runs in its pane",
            Self::Server => "its tmux server ended",
            Self::ServerReplaced => "its tmux server ended, and another one was started",
        };
        Some(if had_ended { format!("the agent had ended; {how}") } else { how.to_owned() })
    }

    const fn evidence(self) -> &'static str {
        match self {
            Self::Pane => "tmux has no such pane",
            Self::ProcessReplaced => "tmux names another process for the pane",
            Self::Server => "no tmux server answers",
            Self::ServerReplaced => "another tmux server answers on its socket",
        }
    }
}

/// Why there is no agent's screen to read, and what is said then (SPEC §3).
pub(super) struct Loss {
    pub reason: LossReason,
    pub diagnostics: Diagnostics,
    pub assessment: AssessedAvailability,
    pub evidence: Evidence,
}

impl Loss {
    pub(super) fn tui_down() -> Self {
        let (process, parse) = (ProcessState::TuiDown, ParseStatus::SkippedTuiDown);
        Self {
            reason: LossReason::TuiDown,
            diagnostics: diagnostics(Availability::TuiDown, TransportState::TmuxUp, process, parse),
            assessment: AssessedAvailability::Disconnected,
            evidence: aside("process", "no known agent runs in the pane"),
        }
    }

    pub(super) fn suspended() -> Self {
        let (process, parse) = (ProcessState::Suspended, ParseStatus::SkippedTuiDown);
        Self {
            reason: LossReason::Suspended,
            diagnostics: diagnostics(Availability::Unknown, TransportState::TmuxUp, process, parse),
            assessment: AssessedAvailability::Disconnected,
            evidence: aside("process", "the agent's process is stopped"),
        }
    }

    pub(super) fn no_profile() -> Self {
        const HELP: &str = "no profile reads it; make one with `fleetwatch record` and `fleetwatch profiles check`";
        let (process, parse) = (ProcessState::UnsupportedTool, ParseStatus::UnsupportedTool);
        Self {
            reason: LossReason::UnsupportedTool,
            diagnostics: diagnostics(Availability::Unknown, TransportState::TmuxUp, process, parse),
            assessment: AssessedAvailability::Unsupported,
            evidence: aside("process", HELP),
        }
    }

    pub(super) fn gone(reason: GoneReason) -> Self {
        let (process, parse) = (ProcessState::Unknown, ParseStatus::TransportUnavailable);
        Self {
            reason: LossReason::TmuxMissing,
            diagnostics: diagnostics(Availability::Unavailable, TransportState::TmuxMissing, process, parse),
            assessment: AssessedAvailability::Disconnected,
            evidence: aside("pane", reason.evidence()),
        }
    }
}

/// Diagnostics without an error of their own.
pub(super) fn diagnostics(
    availability: Availability,
    transport_state: TransportState,
    process_state: ProcessState,
    parse_status: ParseStatus,
) -> Diagnostics {
    Diagnostics { availability, transport_state, process_state, parse_status, probe_error: None, parse_error: None }
}

impl Published {
    /// Before anything has been seen.
    pub(super) fn unknown() -> Self {
        Self {
            diagnostics: diagnostics(
                Availability::Unknown,
                TransportState::TmuxUp,
                ProcessState::Unknown,
                ParseStatus::Parsed,
            ),
            surface: Surface::UNKNOWN,
            phase: Phase::Unknown,
            background_work: Tri::Unknown,
            last_turn: LastTurn::NONE,
            completion: no_turn(),
            assessment: unassessed(AssessedAvailability::Unknown),
            evidence: Arc::default(),
            headline: None,
            ended_with: None,
        }
    }

    /// What a state says.
    pub(super) fn known(state: &State) -> Self {
        Self {
            diagnostics: state.diagnostics.clone(),
            surface: state.surface,
            phase: state.turn.phase,
            background_work: state.turn.background_work,
            last_turn: state.last_turn.clone(),
            completion: state.operator.completion,
            assessment: state.assessment.clone(),
            evidence: state.evidence.clone(),
            headline: state.activity.clone(),
            ended_with: state.ended_with,
        }
    }

    /// Adds evidence behind that of the reading, which other states share.
    pub(super) fn add_evidence(&mut self, more: impl IntoIterator<Item = Evidence>) {
        let mut more = more.into_iter().peekable();
        if more.peek().is_some() {
            self.evidence = self.evidence.iter().cloned().chain(more).collect();
        }
    }

    /// Something other than the screen says what the agent does.
    pub(super) fn is_rather(&mut self, (phase, ready, business): (Phase, Tri, BusinessState), why: Evidence) {
        (self.phase, self.surface.ready_posture, self.assessment.business_state) = (phase, ready, business);
        self.add_evidence([why]);
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

    /// Whether a dialog may stand there that is covered, or cannot be read now.
    pub(super) fn may_show_a_dialog(&self) -> bool {
        matches!(self.diagnostics.availability, Availability::Available | Availability::Error)
    }

    /// The name of the waiting dialog, which differs from the next one's.
    pub(super) fn dialog_name(&self) -> Option<DialogName> {
        let waits = self.assessment.awaits_operator();
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
        let mut changes: Vec<Change> = [
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
            // Two turns may end alike one after the other; the time shows that it is another result.
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
        .collect();
        if changes.is_empty() {
            changes.extend(self.change_of_completion(next));
        }
        changes
    }

    /// A turn that ends and leaves everything else as it was is told all the same: whoever watches next goes on from what
    /// the last transition says.
    fn change_of_completion(&self, next: &Published) -> Option<Change> {
        use Completion::{Completed, Failed, Inactive};
        let ends = !matches!(self.completion, Completed | Failed | Inactive) && next.completion == Inactive;
        change("completion", &self.completion, &next.completion).filter(|_| ends)
    }

    /// A dialog that takes the place of another one is recognised by what both ask (SPEC §10).
    fn change_of_dialog(&self, next: &Published) -> Option<Change> {
        let (from, to) = (self.dialog_name()?, next.dialog_name()?);
        let asked = |of: &Published| value(&of.assessment.operator_excerpt.as_deref().map(in_one_line));
        (from != to).then(|| Change { field: "dialog".into(), from: asked(self), to: asked(next) })
    }
}

const fn no_turn() -> Completion {
    Completion::Inactive
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

pub(super) fn unassessed(availability: AssessedAvailability) -> Assessment {
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

/// Evidence that stands on no row of the screen.
pub(super) fn aside(rule: &str, text: &str) -> Evidence {
    Evidence { rule: rule.to_owned(), line: None, text: text.to_owned() }
}
