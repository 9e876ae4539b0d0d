//! Whom a prompt is for, and what stands in its way there.

use crate::fleet::{Terminal, TerminalKey, View};
use crate::state::{Availability, Phase, Tri};
use crate::ui::find;

/// One terminal, or several that get the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recipients {
    One(TerminalKey),
    Several(Vec<TerminalKey>),
}

impl Recipients {
    /// The one terminal, if it is one.
    pub fn one(&self) -> Option<&TerminalKey> {
        match self {
            Recipients::One(key) => Some(key),
            Recipients::Several(_) => None,
        }
    }

    /// All of them, in the order in which they were named.
    pub fn keys(&self) -> &[TerminalKey] {
        match self {
            Recipients::One(key) => std::slice::from_ref(key),
            Recipients::Several(keys) => keys,
        }
    }
}

/// Why a prompt would not be sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptObstacle {
    pub why: &'static str,
    /// Whether it may pass, so that the prompt can wait for it.
    pub may_pass: bool,
}

/// What stands in the way of a prompt to a terminal as things stand; `None` when it would be sent.
pub fn obstacle(view: &View<'_>, key: &TerminalKey) -> Option<PromptObstacle> {
    match find(view, key) {
        Some(terminal) => obstacle_at(terminal),
        None => Some(PromptObstacle { why: "the terminal is gone", may_pass: false }),
    }
}

fn obstacle_at(terminal: &Terminal) -> Option<PromptObstacle> {
    let state = &terminal.state;
    let passes = |why| Some(PromptObstacle { why, may_pass: true });
    if matches!(state.diagnostics.availability, Availability::Unavailable | Availability::TuiDown) {
        return Some(PromptObstacle { why: "the agent has ended", may_pass: false });
    }
    if state.waits() {
        return passes("a dialog waits there");
    }
    match state.turn.phase {
        Phase::Active => passes("it is working"),
        Phase::Unknown => passes("it is not certain to be ready"),
        Phase::Ready if state.surface.editing_input == Tri::Yes => passes("its prompt already contains a draft"),
        Phase::Ready => None,
    }
}
