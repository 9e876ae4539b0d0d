//! Rules as data, and the small engine that reads a screen with them (SPEC §4–6).

mod classification;
mod color;
mod compile;
mod conclusion;
mod engine;
mod explain;
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
pub use input::{RefusedInputs, TakenAs};
pub use projection::{DialogProjection, ProjectedRow, Projector, RowReason, TailRegex, normalized};
pub use rules::{Region, Signal, StopKey};
pub use set::{ProfileSet, Selected, Selection};
pub use transcript::{GAP, Transcript};
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
    },
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
    /// Whether the process belongs to the foreground process group of its terminal.
    pub foreground: bool,
}

impl ProcessInfo {
    /// Whether the process has a name, its own or the one that it was called by.
    fn is_called(&self, name: &str) -> bool {
        self.name == name || self.called_as() == Some(name)
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
