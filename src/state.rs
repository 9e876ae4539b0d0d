//! The words of the contract: every value that fleetwatch publishes about a terminal (SPEC §2), as types.
//!
//! Nothing here decides anything. The names that serde writes are the public names; they are never renamed.

mod agent;
mod note;
mod words;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::repository::GitFacts;
use crate::time::{Span, Timestamp, seconds};
pub use agent::{AgentFacts, Fact, FactKind, FactName, FactSource, FactValue, PlanProgress};
pub(crate) use agent::{KEPT_TEXT, kept, numbered};
pub use note::{KeptNote, Note, NotePart, unfit_name};
pub(crate) use words::words;
pub use words::{
    AnchorState, Anomaly, AssessedAvailability, Attention, Availability, BusinessState, Change, Completion,
    CompletionAuthority, InputMode, OperatorStatus, ParseStatus, Phase, ProcessState, Readiness, TransportState, Tri,
    TurnResult, TurnSource, UiContext, Witness,
};

/// A failure to capture a terminal or to read what it shows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Problem {
    /// A short, stable name such as `timeout` or `empty_capture`.
    pub kind: String,
    /// What happened, for people.
    pub message: String,
}

impl Problem {
    /// The kind of trouble with what does not answer in time.
    pub const TIMEOUT: &str = "timeout";
}

/// Who and where a terminal is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TerminalFacts {
    /// The configured or derived unique name.
    pub id: String,
    /// `None` is this machine.
    pub host: Option<String>,
    /// The tmux socket's name or path; `None` in a replay.
    pub socket: Option<String>,
    pub session: Option<String>,
    /// `index:name` of the window.
    pub window: Option<String>,
    /// The `%pane` id.
    pub pane: Option<String>,
    /// The pane's first process, which may be a shell.
    pub pid: Option<u32>,
    /// The agent, by its profile family's name (`claude`, `codex`, …), or the program's name.
    pub tool: String,
    pub observed_tool_version: Option<String>,
    /// The program behind which the agent runs, as `ssh`; `None` where its own process was found.
    #[serde(default)]
    pub through: Option<String>,
    /// The profile that read the screen.
    pub profile: Option<String>,
    pub title: String,
    pub cwd: Option<String>,
    /// The git repository around that directory; `None` where there is none or nothing is known of it.
    #[serde(default)]
    pub git: Option<Arc<GitFacts>>,
    /// The label that the operator or the configuration gives.
    #[serde(default)]
    pub label: Option<String>,
}

/// How watching itself is going.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Diagnostics {
    pub availability: Availability,
    pub transport_state: TransportState,
    pub process_state: ProcessState,
    pub parse_status: ParseStatus,
    pub probe_error: Option<Problem>,
    pub parse_error: Option<Problem>,
}

/// What the prompt would do with a key (SPEC §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Surface {
    pub accepting_input: Tri,
    pub editing_input: Tri,
    pub ready_posture: Tri,
    pub pending_input: Tri,
}

impl Surface {
    /// Nothing can be said.
    pub const UNKNOWN: Surface = Surface {
        accepting_input: Tri::Unknown,
        editing_input: Tri::Unknown,
        ready_posture: Tri::Unknown,
        pending_input: Tri::Unknown,
    };
}

/// The turn in flight, or the lack of one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Turn {
    pub phase: Phase,
    pub background_work: Tri,
    /// When this phase began.
    pub since: Timestamp,
    /// Seconds since then, at the time of the state.
    pub elapsed_seconds: f64,
    /// Whether that was seen; if not, the phase has lasted since then at least (SPEC §10).
    pub since_exact: bool,
    /// How much of the turn in flight the agent has waited for the operator, at the time of the state; `None` where no turn is in
    /// flight or nobody watched it.
    #[serde(default, rename = "waited_seconds", with = "seconds")]
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub waited: Option<Span>,
}

impl Turn {
    /// When this phase began.
    pub fn began(&self) -> Since {
        Since { at: self.since, exact: self.since_exact }
    }

    /// The time of the state.
    pub fn now(&self) -> Timestamp {
        self.since + Span::from_millis((self.elapsed_seconds * 1000.0).round() as u64)
    }
}

/// When something began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Since {
    pub at: Timestamp,
    /// Whether its beginning was seen; if not, it was there then, and may be older (SPEC §10).
    pub exact: bool,
}

/// What one screen says by itself: the SurfaceAssessment of SPEC §6; `explain` shows it with the parser's metadata.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Assessment {
    pub availability: AssessedAvailability,
    pub business_state: BusinessState,
    pub input_mode: InputMode,
    pub ui_context: UiContext,
    pub anomalies: Vec<Anomaly>,
    /// The dialog's own text: question, options, which one is selected.
    pub operator_excerpt: Option<String>,
    /// The name of the dialog or menu: a hash over what it asks and all that its options say, in hexadecimal.
    pub dialog: Option<String>,
}

impl Assessment {
    /// Whether it is of a dialog that waits for the operator.
    pub fn awaits_operator(&self) -> bool {
        self.business_state == BusinessState::AwaitingOperator
    }
}

/// What the operator may expect (SPEC §7).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Operator {
    pub status: OperatorStatus,
    pub readiness: Readiness,
    pub completion: Completion,
    /// One line for people.
    pub detail: Option<String>,
}

/// The running timers and the windows that they run in, in seconds (SPEC §7).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LifecycleTiming {
    pub readiness_unknown_elapsed_seconds: Option<f64>,
    pub completion_unknown_elapsed_seconds: Option<f64>,
    pub completion_candidate_elapsed_seconds: Option<f64>,
    pub unknown_to_stalled_timeout_seconds: f64,
    pub completion_stability_seconds: f64,
    pub stale_active_recovery_seconds: f64,
    pub final_stable_active_recovery_seconds: f64,
}

/// What a completion would rest on (SPEC §7).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LifecycleAuthority {
    pub completion_authority: CompletionAuthority,
    pub turn_anchor_state: AnchorState,
    pub completion_monitoring_armed: bool,
    pub anchor_armed_at: Option<Timestamp>,
    pub anchor_lost_at: Option<Timestamp>,
    pub anchor_loss_reason: Option<String>,
}

/// How long the published state has stood (SPEC §8).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Stability {
    /// A stable hash over diagnostics, assessment, surface, turn without times, and last turn, in hexadecimal.
    pub signature: String,
    pub stable: bool,
    pub stable_for_seconds: f64,
    pub stable_since: Timestamp,
}

/// A rule of the profile that fired, and where on the screen.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Evidence {
    pub rule: String,
    /// The screen row, from 0; `None` for the title and other pane facts.
    pub line: Option<usize>,
    /// The row's text, cut to 200 characters.
    pub text: String,
}

/// The last good surface of a terminal that cannot be read now (SPEC §3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Stale {
    /// When it was seen last.
    pub at: Timestamp,
    pub surface: Surface,
    pub phase: Phase,
    /// The assessment of the dialog that waited for the operator then.
    #[serde(default)]
    pub asked: Option<Box<Assessment>>,
}

impl Stale {
    /// What was seen at a time, with its assessment if that is of a dialog that waited for the operator.
    pub fn new(at: Timestamp, surface: Surface, phase: Phase, assessment: &Assessment) -> Self {
        let asked = assessment.awaits_operator().then(|| Box::new(assessment.clone()));
        Self { at, surface, phase, asked }
    }
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProgramEnd {
    /// With this code.
    Exit(i32),
    /// By this signal.
    Signal(i32),
}

impl ProgramEnd {
    /// By the status that shells and tmux have of it.
    pub const fn of_status(status: i32) -> Self {
        if status > 128 { Self::Signal(status - 128) } else { Self::Exit(status) }
    }
}

impl fmt::Display for ProgramEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(code) => write!(f, "exit {code}"),
            Self::Signal(number) => write!(f, "signal {number}"),
        }
    }
}

/// What is said of an agent that has ended while its pane is still there.
pub fn ended_in_words(how: Option<ProgramEnd>) -> String {
    let how = how.map(|how| format!(" ({how})")).unwrap_or_default();
    format!("the agent has ended{how}; its pane is still there")
}

/// The public state of an agent terminal (SPEC §2). Every key is always there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct State {
    pub terminal: TerminalFacts,
    pub diagnostics: Diagnostics,
    pub surface: Surface,
    pub turn: Turn,
    pub last_turn: LastTurn,
    pub assessment: Assessment,
    pub operator: Operator,
    pub lifecycle_timing: LifecycleTiming,
    pub lifecycle_authority: LifecycleAuthority,
    pub stability: Stability,
    pub attention: Attention,
    /// Whether the operator has not seen yet how the last turn ended.
    #[serde(default)]
    pub unseen: bool,
    /// When that began which is said of the terminal in one word, its attention or else what it does: this dialog, this
    /// result, this phase, its being gone.
    pub since: Timestamp,
    /// Whether that was seen; if not, it has lasted since then at least (SPEC §10).
    pub since_exact: bool,
    pub evidence: Arc<[Evidence]>,
    /// The last good surface while the terminal cannot be read; `None` when what is shown is current.
    pub stale: Option<Stale>,
    /// One line of what it waits for or does: the dialog's question, the running tool, the answer's first line.
    pub activity: Option<String>,
    /// How an agent ended whose pane is still there; `None` where tmux does not tell.
    #[serde(default)]
    pub ended_with: Option<ProgramEnd>,
    /// What is known of the agent beside its state (SPEC §14).
    #[serde(default)]
    pub agent: AgentFacts,
    /// When a poll last confirmed the state.
    pub observed_at: Timestamp,
}

impl State {
    /// It was seen to be as it is until `now`.
    pub fn pass(&mut self, now: Timestamp) {
        let passed = now.since(self.turn.now());
        self.turn.waited = self.turn.waited.map(|waited| if self.waits() { waited + passed } else { waited });
        self.observed_at = now;
        self.turn.elapsed_seconds = now.since(self.turn.since).as_secs();
        self.stability.stable_for_seconds = now.since(self.stability.stable_since).as_secs();
    }

    /// When that began which is said of the terminal in one word.
    pub fn since(&self) -> Since {
        Since { at: self.since, exact: self.since_exact }
    }

    /// Whether a dialog of the agent has the keyboard, so that a prompt cannot be sent.
    pub fn waits(&self) -> bool {
        self.diagnostics.availability == Availability::Available && self.assessment.awaits_operator()
    }

    /// The last known state of an agent that was gone at the first poll after nobody had watched.
    pub fn gone_unwatched(self, at: Timestamp) -> Self {
        let diagnostics = Diagnostics {
            availability: Availability::Unavailable,
            transport_state: TransportState::TmuxMissing,
            process_state: ProcessState::Unknown,
            parse_status: ParseStatus::TransportUnavailable,
            probe_error: None,
            parse_error: None,
        };
        let is_in_flight = self.lifecycle_authority.completion_monitoring_armed;
        Self {
            diagnostics,
            surface: Surface::UNKNOWN,
            turn: Turn { phase: Phase::Unknown, since: at, since_exact: false, waited: None, ..self.turn },
            last_turn: if is_in_flight { LastTurn::cut_off(self.last_turn.source, at) } else { self.last_turn },
            attention: Attention::Gone,
            since: at,
            since_exact: false,
            evidence: vec![Evidence {
                rule: "pane".to_owned(),
                line: None,
                text: "it was gone at the next poll".to_owned(),
            }]
            .into(),
            activity: None,
            ended_with: None,
            ..self
        }
    }

    /// The prompt of the turn in flight, where it is known: an older one came before the last turn had ended.
    pub fn works_on(&self) -> Option<&str> {
        // What was sent since may not be on the screen yet.
        let (ended, sent) = (self.last_turn.at, self.lifecycle_authority.anchor_armed_at);
        let at = self.agent.get(FactName::LastPrompt)?.at;
        let is_of_this_turn = ended.is_none_or(|ended| at > ended) && sent.is_none_or(|sent| at >= sent);
        self.agent.text(FactName::LastPrompt).filter(|_| is_of_this_turn)
    }

    /// What the last turn answered, if a record has it.
    pub fn answer(&self) -> Option<&str> {
        let answered = self.agent.get(FactName::LastAnswer)?.at;
        let is_of_last_turn = self.last_turn.began.is_some_and(|began| answered >= began);
        self.agent
            .text(FactName::LastAnswer)
            .filter(|_| is_of_last_turn && self.last_turn.result == TurnResult::Success)
    }

    /// Whether viewing the terminal clears its unseen result.
    pub fn wants_to_be_seen(&self) -> bool {
        self.attention == Attention::Finished || (self.unseen && self.has_ended())
    }

    /// Whether its end cut a turn off, and the operator has not seen that yet.
    pub const fn is_cut_off_unseen(&self) -> bool {
        self.unseen && self.has_ended() && self.last_turn.is_cut_off()
    }

    /// Whether not even its pane is there any more.
    pub fn is_unavailable(&self) -> bool {
        self.diagnostics.availability == Availability::Unavailable
    }

    /// Whether the agent was stopped and still is there.
    pub const fn is_suspended(&self) -> bool {
        matches!(self.diagnostics.process_state, ProcessState::Suspended)
    }

    /// Whether the agent is there no more.
    pub const fn has_ended(&self) -> bool {
        matches!(self.diagnostics.availability, Availability::TuiDown | Availability::Unavailable)
    }
}

/// The whole public state in short, as a transition keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Summary {
    pub availability: Availability,
    pub phase: Phase,
    pub result: TurnResult,
    pub source: TurnSource,
    pub ui_context: UiContext,
    pub status: OperatorStatus,
}

words! {
    /// What a task is doing.
    TaskStatus {
        Running = "running", WaitingInput = "waiting_input", Idle = "idle", Exited = "exited", Unknown = "unknown",
    }
}

impl TaskStatus {
    /// The same in the words of an agent's state in short (SPEC §2): who has the turn, and how the run ended; a code that
    /// is not known is no success.
    pub const fn summary(self, exit_code: Option<i32>) -> Summary {
        let (availability, phase, ui_context, status) = match self {
            TaskStatus::Running => {
                (Availability::Available, Phase::Active, UiContext::Unknown, OperatorStatus::Processing)
            }
            TaskStatus::WaitingInput => {
                (Availability::Available, Phase::Unknown, UiContext::Question, OperatorStatus::WaitingUserAnswer)
            }
            TaskStatus::Idle => (Availability::Available, Phase::Ready, UiContext::NormalPrompt, OperatorStatus::Ready),
            TaskStatus::Exited => (Availability::TuiDown, Phase::Unknown, UiContext::Unknown, OperatorStatus::TuiDown),
            TaskStatus::Unknown => (Availability::Unknown, Phase::Unknown, UiContext::Unknown, OperatorStatus::Unknown),
        };
        let result = match (self, exit_code) {
            (TaskStatus::Exited, Some(0)) => TurnResult::Success,
            (TaskStatus::Exited, Some(_)) => TurnResult::KnownFailure,
            _ => TurnResult::None,
        };
        Summary { availability, phase, result, source: TurnSource::None, ui_context, status }
    }
}

/// A record of what changed in one terminal at one observation (SPEC §2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Transition {
    /// The time of the observation that showed it.
    pub at: Timestamp,
    pub changed: Vec<Change>,
    pub summary: Summary,
    /// What was decided beside the plain reading: `premature success retracted`, a recovery's name, `left the fleet`.
    pub note: Option<String>,
    pub evidence: Arc<[Evidence]>,
}

/// What the evidence says of a turn that only the agent's record holds open.
pub const RECORD_HOLDS: &str = "the agent's own record holds the turn open";

/// The note of the last transition of a terminal that leaves the fleet.
pub const LEFT: &str = "left the fleet";
/// The same of one that was gone at the next poll.
pub const LEFT_UNWATCHED: &str = "left the fleet while nobody watched";

/// The note of a transition that gives a success back, which was taken back for another turn.
pub const RETRACTION_UNDONE: &str = "retraction undone: a new turn began";

impl Transition {
    /// The last transition of a terminal.
    pub fn last(summary: Summary, note: &str, at: Timestamp) -> Self {
        Self { at, changed: Vec::new(), summary, note: Some(note.to_owned()), evidence: Arc::default() }
    }
}

/// How the last turn that ended did end. It stays through the next turn until that one ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LastTurn {
    pub result: TurnResult,
    pub source: TurnSource,
    /// When it began; `None` where that was not seen.
    #[serde(default)]
    pub began: Option<Timestamp>,
    pub at: Option<Timestamp>,
    /// How much of that time the agent waited for the operator; `None` where that is not known.
    #[serde(default, rename = "waited_seconds", with = "seconds")]
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub waited: Option<Span>,
    /// The failure or interruption line.
    pub detail: Option<String>,
    /// What says so, and was believed (SPEC §14).
    #[serde(default)]
    pub told_by: Witness,
}

impl LastTurn {
    /// No turn has been seen to end.
    pub const NONE: LastTurn = LastTurn {
        result: TurnResult::None,
        source: TurnSource::None,
        began: None,
        at: None,
        waited: None,
        detail: None,
        told_by: Witness::None,
    };

    /// How long the agent worked on it, without the time in which it waited for the operator; `None` where that is not known.
    pub fn worked(&self) -> Option<Span> {
        Some(self.at?.since(self.began?).less(self.waited?))
    }

    /// A turn that the end of its agent has cut off (SPEC §7, rule 8).
    pub fn cut_off(source: TurnSource, at: Timestamp) -> Self {
        let detail = Some("the agent ended before its turn was seen to end".to_owned());
        Self { source, at: Some(at), detail, told_by: Witness::Process, ..Self::NONE }
    }

    /// Whether the end of its agent cut it off, so that it has no result (SPEC §7, rule 8).
    pub const fn is_cut_off(&self) -> bool {
        matches!(self.told_by, Witness::Process)
    }
}
