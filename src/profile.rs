//! Rules as data, and the small engine that reads a screen with them (SPEC §4–6).

mod classification;
mod color;
mod compile;
mod conclusion;
mod engine;
mod explain;
mod identity;
mod input;
mod projection;
mod rules;
mod screen_view;
mod set;
mod transcript;
mod version;

pub use classification::{Activity, Classification, Composed, EndMark, Family, Submitted, TurnEnd, TurnRegion};
pub use compile::{Profile, ProfileError, Temporal, Versions};
pub use engine::Miss;
pub use explain::{Explanation, PromptFound, RegionFound, RowFound, RuleTried};
pub use input::{PasteLimit, RefusedInputs, TakenAs};
pub use projection::{DialogProjection, ProjectedRow, RowReason, normalized};
pub use rules::{Region, Signal, StopKey};
pub use set::{ProfileSet, Selected, Selection};
pub use transcript::Transcript;
pub use version::is_version;

/// What runs in a pane, judged by its processes (SPEC §3).
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Program {
    /// A known agent.
    Agent {
        /// The profile family's name: `claude`, `codex`, …
        tool: String,
        /// From the executable's package metadata or path.
        version: Option<String>,
        /// The program behind which it runs, as `ssh`, where only its screen is to be seen.
        through: Option<String>,
    },
    /// A known agent that was stopped, as by Ctrl-Z: the shell in front of it has the keyboard.
    Suspended { tool: String },
    /// A program behind which an agent may run, as `ssh`. Only the screen can tell.
    Wrapper { command: String },
    /// No known agent: a shell, a build, a server. The name is the foreground command's.
    Other { command: String },
    /// The processes could not be listed.
    Unknown(crate::state::Problem),
}

/// Shells, by their names.
pub const SHELLS: &[&str] =
    &["bash", "sh", "zsh", "fish", "dash", "ksh", "mksh", "ash", "tcsh", "csh", "nu", "pwsh", "elvish", "xonsh"];

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
    pub parent: u32,
    /// The terminal that controls it, as the system names it; `None` if it has none, or that is not told.
    pub terminal: Option<String>,
    /// Whether the process has its terminal's keyboard: it belongs to the foreground group, or the system tells of no such
    /// group, and it is not stopped.
    pub foreground: bool,
    /// Whether it was stopped, as by Ctrl-Z.
    pub stopped: bool,
}

impl Program {
    /// An agent that was found by its own process.
    pub fn agent(tool: &str, version: Option<&str>) -> Self {
        Self::Agent { tool: tool.to_owned(), version: version.map(str::to_owned), through: None }
    }
}

impl ProcessInfo {
    /// Whether the process has a name, its own or the one that it was called by.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.names().any(|own| own == name)
    }

    /// The names that it goes by: its own and the one that it was called by.
    fn names(&self) -> impl Iterator<Item = &str> {
        [Some(self.name.as_str()), self.called_as()].into_iter().flatten()
    }

    /// Whether it is a shell that runs no script, and so takes commands.
    fn is_bare_shell(&self) -> bool {
        // A login shell is `-bash`.
        let called = self.called_as().map_or(self.name.as_str(), |name| name.trim_start_matches('-'));
        SHELLS.contains(&called) && self.arguments.iter().skip(1).all(|argument| argument.starts_with('-'))
    }

    /// The first word of the command line, without its path.
    fn called_as(&self) -> Option<&str> {
        self.arguments.first().map(|first| first.rsplit('/').next().unwrap_or(first))
    }
}
