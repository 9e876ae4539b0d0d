//! What a row is about: the terminal of an agent, or a task beside the agents.

use crate::fleet::{Terminal, TerminalKey};
use crate::state::Since;
use crate::status::Status;
use crate::task::Task;

/// An agent's terminal or a task.
#[derive(Clone, Copy, Debug)]
pub enum Item<'a> {
    Terminal(&'a Terminal),
    Task(&'a Task),
}

impl<'a> From<&'a Terminal> for Item<'a> {
    fn from(terminal: &'a Terminal) -> Self {
        Item::Terminal(terminal)
    }
}

impl<'a> From<&'a Task> for Item<'a> {
    fn from(task: &'a Task) -> Self {
        Item::Task(task)
    }
}

impl<'a> Item<'a> {
    /// Its identity.
    pub fn key(self) -> &'a TerminalKey {
        match self {
            Item::Terminal(terminal) => &terminal.key,
            Item::Task(task) => &task.key,
        }
    }

    /// Its unique name.
    pub fn id(self) -> &'a str {
        match self {
            Item::Terminal(terminal) => &terminal.state.terminal.id,
            Item::Task(task) => &task.id,
        }
    }

    /// The agent, or `task`.
    pub fn tool(self) -> &'a str {
        match self {
            Item::Terminal(terminal) => &terminal.state.terminal.tool,
            Item::Task(_) => "task",
        }
    }

    /// The agent and its version, or `task`.
    pub fn agent(self) -> String {
        match self {
            Item::Terminal(terminal) => crate::ui::table::agent(terminal),
            Item::Task(_) => "task".to_owned(),
        }
    }

    /// The session that it is in.
    pub fn session(self) -> &'a str {
        match self {
            Item::Terminal(terminal) => &terminal.place.session,
            Item::Task(task) => &task.session,
        }
    }

    /// The directory that it is in.
    pub fn cwd(self) -> &'a str {
        match self {
            Item::Terminal(terminal) => terminal.state.terminal.cwd.as_deref().unwrap_or_default(),
            Item::Task(task) => task.pane.as_ref().and_then(|pane| pane.cwd.as_deref()).unwrap_or_default(),
        }
    }

    /// Where it is, as tmux takes it for a target.
    pub fn place(self) -> String {
        match self {
            Item::Terminal(terminal) => terminal.place.target(),
            Item::Task(task) => format!("{}:{}", task.session, task.index),
        }
    }

    /// The label that the configuration gives it.
    pub fn label(self) -> Option<&'a str> {
        match self {
            Item::Terminal(terminal) => terminal.declared.label.as_deref(),
            Item::Task(task) => task.shown.label.as_deref(),
        }
    }

    /// Whether the configuration wants it pinned, and whether it wants it muted.
    pub fn declared(self) -> (bool, bool) {
        match self {
            Item::Terminal(terminal) => (terminal.declared.pinned, terminal.declared.muted),
            Item::Task(task) => (task.shown.pinned, task.shown.muted),
        }
    }

    /// What it is to the operator.
    pub fn status(self) -> Status {
        match self {
            Item::Terminal(terminal) => Status::of(&terminal.state),
            Item::Task(task) => task.as_status(),
        }
    }

    /// What it does, however its last turn ended.
    pub fn doing(self) -> Status {
        match self {
            Item::Terminal(terminal) => Status::doing(&terminal.state),
            Item::Task(_) => self.status(),
        }
    }

    /// Since when its status holds.
    pub fn since(self) -> Since {
        match self {
            Item::Terminal(terminal) => terminal.state.since(),
            Item::Task(task) => Since { at: task.since, exact: true },
        }
    }
}
