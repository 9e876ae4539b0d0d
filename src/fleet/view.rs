//! The view of the fleet, for drawing and printing, and what a poller reports to it.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::agent_record::AgentRecordReading;
use crate::dialog::Dialog;
use crate::ids::{NamedPlace, PaneId, PaneLocation, ServerId, TerminalKey, is_id};
use crate::profile::{Program, RefusedInputs, StopKey};
use crate::repository::GitFacts;
use crate::screen::{KeptScreen, PaneFacts, Screen};
use crate::state::{Note, Problem, State, Transition, unfit_name};
use crate::status::{Hindrance, Status};
use crate::task::{Task, TaskEvent};
use crate::time::{Span, Timestamp};
use crate::tracker::GoneReason;

/// What has not printed for so long stands still: its screen is packed, and without a profile it is called quiet.
pub(super) const STANDS_STILL: Span = Span::from_secs(5);

/// One watched terminal.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Terminal {
    pub key: TerminalKey,
    pub place: Arc<PaneLocation>,
    /// Its configuration.
    pub declared: Declared,
    /// The operator's note on it.
    #[serde(default)]
    pub note: Note,
    /// The process of the agent that runs in it, or of what stands for it behind `ssh`; of the last one where none runs.
    #[serde(default)]
    pub process: Option<u32>,
    /// The public state (SPEC §2), with its times as of the last input that concerned the terminal: who shows running
    /// times derives them from `turn.since`, `last_turn.at` and `stability.stable_since`.
    pub state: State,
    pub facts: PaneFacts,
    /// The last screen that was captured; [`Terminal::screen`] reads it.
    pub screen: Option<KeptScreen>,
    /// The keys that stop the agent's turn, one after the other; none where that is not known.
    #[serde(skip)]
    pub interrupt: Vec<StopKey>,
    /// What the agent makes of texts that are no plain prompts.
    #[serde(skip)]
    pub input: RefusedInputs,
    /// The dialog or menu on that screen which takes the keys.
    pub dialog: Option<Arc<Dialog>>,
    /// Newest last, bounded.
    pub transitions: VecDeque<Transition>,
}

impl Terminal {
    /// The last screen that was captured. One that has stood still is unpacked for it.
    pub fn screen(&self) -> Option<Arc<Screen>> {
        self.screen.as_ref()?.whole()
    }

    /// What the pane shows of an agent that no profile reads: whether it prints, its bell and its title.
    pub(super) fn activity(&self, printed_at: Option<Timestamp>, now: Timestamp) -> String {
        let prints = printed_at.map_or("", |at| if now.since(at) < STANDS_STILL { "prints" } else { "quiet" });
        let words = [prints, if self.facts.bell { "rang" } else { "" }, self.facts.title.trim()];
        words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" · ")
    }

    /// The name that the configuration gives or that follows from the place.
    pub fn own_name(&self) -> String {
        self.declared.name.clone().unwrap_or_else(|| self.key.server.on_host(&self.place.derived_name()))
    }

    /// The same, where the operator calls it otherwise.
    pub fn renamed_from(&self) -> Option<String> {
        Some(self.own_name()).filter(|own| self.note.name.as_ref().is_some_and(|name| name != own))
    }

    /// What a target that means this terminal says of its place: nothing if it is an id or the name that the operator gave it.
    pub fn named_by(&self, target: &str) -> Option<NamedPlace> {
        if is_id(target) || self.note.name.as_deref() == Some(target) {
            return None;
        }
        let name = self.key.server.without_host(target).unwrap_or(target);
        if self.declared.name.as_deref().is_some_and(|declared| declared == target || declared == name) {
            // tmux renames windows after their programs, so a window's name counts only where it was asked for.
            let whole = self.place.whole();
            let window_name = whole.window_name.filter(|_| self.declared.by_window_name);
            return Some(NamedPlace { window_name, ..whole });
        }
        // Behind a name that two would have stands the pane.
        let derived = || self.place.named(&self.place.derived_name());
        self.place.named(name).or_else(|| derived().filter(|_| self.state.terminal.id.ends_with(name)))
    }

    /// What it is grouped by.
    pub fn label(&self) -> Option<&str> {
        self.note.label.as_deref().or(self.declared.label.as_deref())
    }

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

impl ServerHealth {
    /// What is wrong with the server, if something is.
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            Self::NoServer(problem) | Self::Failed(problem) => Some(problem),
            Self::Waiting | Self::Up => None,
        }
    }
}

/// One watched server.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct ServerView {
    pub id: ServerId,
    pub health: ServerHealth,
    /// When the screens of all its terminals were last reported.
    pub answered_at: Option<Timestamp>,
    /// When it was found to have ended, as long as it has.
    #[serde(default)]
    pub ended_at: Option<Timestamp>,
    /// Watched terminals on it.
    pub terminals: usize,
    #[serde(default)]
    pub load: ServerLoad,
}

impl ServerView {
    /// Whether nothing is known of it yet, or not of each of its terminals.
    pub fn is_waiting(&self) -> bool {
        match self.health {
            ServerHealth::Waiting => true,
            ServerHealth::Up | ServerHealth::NoServer(_) => self.answered_at.is_none(),
            ServerHealth::Failed(_) => false,
        }
    }

    /// A server that has not answered yet.
    pub(super) fn waiting(id: ServerId) -> Self {
        let load = ServerLoad::default();
        Self { id, health: ServerHealth::Waiting, answered_at: None, ended_at: None, terminals: 0, load }
    }
}

/// A session of a watched server, whatever runs in it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SessionView {
    pub server: ServerId,
    pub name: String,
    pub windows: u32,
    /// Why its windows are tasks; `None` if they are not.
    pub declared_by: Option<DeclaredBy>,
}

/// Why the windows of a session are tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum DeclaredBy {
    Configuration,
    /// `fleetwatch run` made the session.
    Run,
    /// The operator chose it.
    Operator,
}

/// What terminals are sorted by: how urgently they need the operator, of those that wait the longest wait, then their names.
pub(super) fn urgency(terminal: &Terminal) -> (usize, Option<Timestamp>, &str) {
    let status = Status::of(&terminal.state);
    let since = status.needs_operator().then_some(terminal.state.since);
    (status.urgency(), since, &terminal.state.terminal.id)
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
    /// The screen at that time; unknown if another process reported the transition.
    #[serde(skip)]
    pub screen: Option<KeptScreen>,
}

/// The fleet at one time.
#[derive(Clone, Debug)]
pub struct View<'a> {
    pub now: Timestamp,
    /// Equal as long as nothing but the time changes; `None` if the view is not to be cached.
    pub version: Option<u64>,
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

impl View<'_> {
    /// Why the operator cannot call a terminal so: another one has that name, or would have it without the one that the
    /// operator gave it. `None` where they can.
    pub fn name_fault(&self, key: &TerminalKey, name: &str) -> Option<String> {
        if let Some(why) = unfit_name(name) {
            return Some(why);
        }
        let terminals = self.terminals.iter().map(|it| (&it.key, it.state.terminal.id.as_str(), it.own_name()));
        let tasks = self.tasks.iter().map(|it| (&it.key, it.id.as_str(), it.own_name()));
        let mut others = terminals.chain(tasks).filter(|(other, ..)| *other != key);
        let (_, id, _) = others.find(|(_, id, own)| *id == name || own == name)?;
        Some(if id == name {
            format!("another terminal is called {name}")
        } else {
            format!("{name} is what {id} is called in tmux")
        })
    }
}

// What a poller reports to the fleet of one poll of one tmux server.

/// One poll of one server.
#[derive(Clone, Debug)]
pub struct ServerReport {
    pub server: ServerId,
    /// When tmux answered.
    pub at: Timestamp,
    pub load: ServerLoad,
    /// Why terminals that are missing in the outcome are gone, where it is not that tmux has no such pane.
    pub replaced: Replaced,
    pub outcome: PollResult,
}

/// What was replaced by something new since the last listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replaced {
    /// Another server answers.
    pub is_server: bool,
    /// Another process runs in these panes.
    pub panes: BTreeSet<PaneId>,
}

impl Replaced {
    /// Why a terminal is gone whose pane was this one.
    pub fn reason(&self, pane: PaneId) -> GoneReason {
        match self.is_server {
            true => GoneReason::ServerReplaced,
            false if self.panes.contains(&pane) => GoneReason::ProcessReplaced,
            false => GoneReason::Pane,
        }
    }
}

/// The cost of polling a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ServerLoad {
    /// How long the last poll took.
    pub took: Span,
    /// How often an answer was late, torn or cut off since its host was first asked.
    pub broken: u32,
}

/// The result of a poll of a server.
#[derive(Clone, Debug)]
pub enum PollResult {
    /// Every watched pane of the server. A terminal that was there before and is not in the list is gone.
    Listed(Vec<PaneReport>),
    /// The screens of some panes that were listed as [`Capture::Awaited`] before; `is_last` when no more is awaited.
    Read { panes: Vec<PaneReport>, is_last: bool },
    /// There is no such server (no socket, or nobody answers on it): all its panes are gone.
    NoServer(Problem),
    /// The server could not be asked; nothing is known of its panes.
    Failed(Problem),
}

impl PollResult {
    /// Whether a later one includes nothing of it.
    pub fn is_whole(&self) -> bool {
        match self {
            Self::Listed(panes) => panes.iter().all(|pane| pane.capture != Capture::Awaited),
            Self::Read { is_last, .. } => *is_last,
            Self::NoServer(_) | Self::Failed(_) => true,
        }
    }
}

impl ServerReport {
    /// What came of a poll of a server where that is all there is to say.
    pub fn new(server: ServerId, at: Timestamp, outcome: PollResult) -> Self {
        Self { server, at, load: ServerLoad::default(), replaced: Replaced::default(), outcome }
    }

    /// The same in parts that can be taken in one after the other, with no more than `count` new screens each.
    pub fn in_parts(self, count: usize) -> impl Iterator<Item = Self> {
        let Self { server, at, load, replaced, outcome } = self;
        let outcomes = match outcome {
            PollResult::Listed(panes) => split(panes, count),
            other => vec![other],
        };
        outcomes.into_iter().map(move |outcome| {
            let (server, replaced) = (server.clone(), replaced.clone());
            Self { server, at, load, replaced, outcome }
        })
    }
}

/// A listing with the first new screens, and then the panes with the others.
fn split(mut panes: Vec<PaneReport>, count: usize) -> Vec<PollResult> {
    let is_whole = panes.iter().all(|pane| pane.capture != Capture::Awaited);
    let is_new = |pane: &&mut PaneReport| matches!(pane.capture, Capture::Fresh(_));
    let later = panes.iter_mut().filter(is_new).skip(count);
    let later = later.map(|pane| {
        let capture = std::mem::replace(&mut pane.capture, Capture::Awaited);
        PaneReport { capture, record: pane.record.take(), ..pane.clone() }
    });
    let later: Vec<PaneReport> = later.collect();
    let parts = later.chunks(count).map(<[PaneReport]>::to_vec).enumerate();
    let is_last = |nth: usize| is_whole && (nth + 1) * count >= later.len();
    let parts = parts.map(|(nth, panes)| PollResult::Read { panes, is_last: is_last(nth) });
    let parts: Vec<PollResult> = parts.collect();
    std::iter::once(PollResult::Listed(panes)).chain(parts).collect()
}

/// One pane in a listing.
#[derive(Clone, Debug, PartialEq)]
pub struct PaneReport {
    pub key: TerminalKey,
    pub place: Arc<PaneLocation>,
    pub cwd: Option<String>,
    pub facts: PaneFacts,
    /// What runs in the pane.
    pub program: Program,
    pub capture: Capture,
    /// What the configuration says of this pane, if it names it.
    pub declared: Option<Declared>,
    /// The reading of the agent's own records; `None` if unchanged since the last poll.
    pub record: Option<Box<AgentRecordReading>>,
    /// The git repository around its directory, as it was read last.
    pub git: Option<Arc<GitFacts>>,
    /// The process of the agent that runs in it; `None` where none does, or it was not seen.
    pub agent_process: Option<u32>,
    /// Since when nothing was printed in its window, as of the poll; `None` if unknown.
    pub printed_until: Option<Timestamp>,
}

impl PaneReport {
    /// Whether the screen of an agent is still to be captured.
    pub(super) fn is_awaited(&self) -> bool {
        self.capture == Capture::Awaited && matches!(self.program, Program::Agent { .. })
    }
}

/// The part of the configuration that is about one pane.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Declared {
    pub name: Option<String>,
    pub tool: Option<String>,
    pub version: Option<String>,
    /// Its group in the dashboard.
    pub label: Option<String>,
    /// Whether it is pinned to the top of the dashboard, and whether it never counts as needing the operator.
    pub pinned: bool,
    pub muted: bool,
    /// Whether the pane has its name by what its window is called, and not by where the window is.
    pub by_window_name: bool,
}

/// The screen of a pane in a listing.
#[derive(Clone, Debug, PartialEq)]
pub enum Capture {
    /// Nothing was printed since the last capture, which still holds.
    Unchanged,
    Fresh(Arc<Screen>),
    /// Its screen is still to be captured: many panes take several polls.
    Awaited,
    /// The pane is listed but its screen could not be had.
    Failed(Problem),
}

/// What tells a terminal from others that would have the same name.
pub(super) fn place_of(key: &TerminalKey) -> String {
    if key.server == ServerId::default() { key.pane.to_string() } else { format!("{}/{}", key.server, key.pane) }
}
