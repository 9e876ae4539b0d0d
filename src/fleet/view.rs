//! What the fleet shows to whoever draws or prints it.

use std::collections::VecDeque;
use std::sync::Arc;

use super::report::Declared;
use crate::dialog::Dialog;
use crate::ids::{PaneLocation, ServerId, TerminalKey};
use crate::profile::{RefusedInputs, StopKey};
use crate::screen::{PaneFacts, Screen};
use crate::state::{Problem, State, Transition};
use crate::status::{Hindrance, Status};
use crate::task::{Task, TaskEvent};
use crate::time::Timestamp;

/// One watched terminal.
#[derive(Clone, Debug)]
pub struct Terminal {
    pub key: TerminalKey,
    pub place: PaneLocation,
    /// What the configuration says of it.
    pub declared: Declared,
    /// The public state (SPEC §2), with its times as of the last input that concerned the terminal: who shows running
    /// times derives them from `turn.since`, `last_turn.at` and `stability.stable_since`.
    pub state: State,
    pub facts: PaneFacts,
    /// The last screen that was captured.
    pub screen: Option<Arc<Screen>>,
    /// The keys that stop the agent's turn, one after the other; none where that is not known.
    pub interrupt: Vec<StopKey>,
    /// What the agent makes of texts that are no plain prompts.
    pub input: RefusedInputs,
    /// The dialog or menu on that screen which takes the keys.
    pub dialog: Option<Arc<Dialog>>,
    /// Newest last, bounded.
    pub transitions: VecDeque<Transition>,
}

impl Terminal {
    /// What keeps a prompt from beginning a turn now, on its screen or in tmux.
    pub fn prompt_hindrance(&self) -> Option<Hindrance> {
        match Hindrance::of(&self.state) {
            None if self.facts.in_mode => Some(Hindrance::InMode),
            hindrance => hindrance,
        }
    }

    /// Whether a prompt would begin a turn now, and tmux would pass it on.
    pub fn takes_a_prompt(&self) -> bool {
        self.prompt_hindrance().is_none()
    }
}

/// How a server answers.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum ServerHealth {
    /// It has not been asked yet.
    Waiting,
    Up,
    NoServer(Problem),
    Failed(Problem),
}

/// One watched server.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct ServerView {
    pub id: ServerId,
    pub health: ServerHealth,
    /// When it last answered a listing.
    pub answered_at: Option<Timestamp>,
    /// Watched terminals on it.
    pub terminals: usize,
}

impl ServerView {
    /// A server that has not answered yet.
    pub(super) fn waiting(id: ServerId) -> Self {
        Self { id, health: ServerHealth::Waiting, answered_at: None, terminals: 0 }
    }
}

/// A session of a watched server, whatever runs in it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SessionView {
    pub server: ServerId,
    pub name: String,
    pub windows: u32,
    /// Who says that its windows are tasks; `None` when nobody does.
    pub declared_by: Option<DeclaredBy>,
}

/// Who says that the windows of a session are tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum DeclaredBy {
    Configuration,
    /// `fleetwatch run` made the session.
    Run,
    /// The operator chose it.
    Operator,
}

/// What terminals are sorted by: how urgently they need the operator, then their names.
pub(super) fn urgency(terminal: &Terminal) -> (usize, &str) {
    (Status::of(&terminal.state).urgency(), &terminal.state.terminal.id)
}

/// A transition with the terminal that made it.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct TerminalTransition {
    pub key: TerminalKey,
    /// The terminal's id at that time.
    pub id: String,
    pub transition: Transition,
    /// The public state that it led to; `None` where this process does not know it any more, or never did.
    #[serde(default)]
    pub state: Option<Arc<State>>,
    /// What the terminal showed then; another process does not tell it.
    #[serde(skip)]
    pub screen: Option<Arc<Screen>>,
}

/// What there is to show at one time.
#[derive(Clone, Debug)]
pub struct View<'a> {
    pub now: Timestamp,
    /// Most urgent first.
    pub terminals: Vec<&'a Terminal>,
    pub servers: Vec<&'a ServerView>,
    /// Newest last, over all terminals, bounded.
    pub recent: &'a VecDeque<TerminalTransition>,
    /// Those that need somebody first.
    pub tasks: Vec<&'a Task>,
    /// Every session of every server, whatever runs in it.
    pub sessions: Vec<&'a SessionView>,
    /// What happened to tasks, newest last, bounded.
    pub task_events: &'a VecDeque<TaskEvent>,
}
