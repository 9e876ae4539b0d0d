//! Rules as data, and the small engine that reads a screen with them (SPEC §4–6).

mod reading;

pub use reading::{Activity, EndMark, Reading, TurnEnd, TurnRegion};

/// What runs in a pane, as its processes tell (SPEC §3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// A known agent.
    Agent {
        /// The profile family's name: `claude`, `codex`, …
        tool: String,
        /// From the executable's package metadata or path.
        version: Option<String>,
    },
    /// No known agent: a shell, a build, a server. The name is the foreground command's.
    Other { command: String },
    /// The processes could not be looked at.
    Unknown(crate::state::Problem),
}

/// One process of a pane, as the agent's rules see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessInfo {
    pub pid: u32,
    /// The executable's name (`comm`), as tmux's `pane_current_command` would show it.
    pub name: String,
    /// The command line, word by word.
    pub arguments: Vec<String>,
    /// The executable's path, links resolved, when it may be read.
    pub executable: Option<String>,
    /// Whether the process belongs to the foreground process group of its terminal.
    pub foreground: bool,
}

/// All profiles: the ones that are compiled in and the user's.
#[derive(Debug, Default)]
pub struct Library {}

impl Library {
    /// The profiles that are compiled in.
    pub fn builtin() -> Self {
        Self {}
    }

    /// Which program a pane runs, from tmux's `pane_current_command` and the processes under the pane's pid.
    ///
    /// `pinned` is the tool that the configuration gives for the pane.
    pub fn identify(&self, current_command: &str, _processes: &[ProcessInfo], _pinned: Option<&str>) -> Program {
        Program::Other { command: current_command.to_owned() }
    }
}
