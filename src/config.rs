//! The configuration: a TOML file in, validated values out.
//!
//! A file that is wrong is refused as a whole, with the place of the fault and what was meant ([`ConfigError`]). What a
//! file leaves out has the default of `config/fleetwatch.toml`, which is shipped, printed by `fleetwatch config` and
//! compared with [`Config::default`] by a test.

mod adopted;
mod error;
mod file;
mod paths;
mod rules;
mod template;
mod validate;

use std::path::{Path, PathBuf};

pub use adopted::{Adopted, AdoptedError, AdoptedSession};
pub use error::{ConfigError, Position};
pub use paths::{Candidate, Origin, SearchPath};
pub use rules::{Match, PaneAddress, Rules, TerminalRule};
pub use template::{Field, Template};

use crate::fleet::ServerId;
use crate::follow_up::FollowUpRule;
use crate::history;
use crate::notify;
use crate::pattern::Pattern;
use crate::time::Span;
use crate::tracker;

/// The names that `theme` may have.
pub const THEMES: &[&str] = validate::THEMES;

/// The commented default configuration.
pub const DEFAULT_TEXT: &str = include_str!("../config/fleetwatch.toml");

/// The JSON schema of the configuration file.
pub const SCHEMA: &str = include_str!("../config/fleetwatch.schema.json");

/// Everything that the user can choose, checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    pub watch: WatchConfig,
    /// The tmux servers to watch when the command line names none; empty means the default server.
    pub servers: Vec<ServerId>,
    /// Which panes are watched, and what is known of them beforehand.
    pub rules: Rules,
    pub tracker: tracker::Settings,
    pub history: history::Settings,
    pub records: RecordsConfig,
    /// Prompts to begin with.
    pub templates: Vec<Template>,
    pub ui: UiConfig,
    /// What is told outside of the dashboard.
    pub notify: Vec<notify::NotifyRule>,
    /// Which agents are told what happens in other terminals.
    pub follow_up: Vec<FollowUpRule>,
}

/// Which records are read that agents write about their own sessions (SPEC §14).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordsConfig {
    pub enabled: bool,
    /// Agents whose records are not read.
    pub except: Vec<Pattern>,
    /// Directories in which no agent's records are read.
    pub except_directories: Vec<Pattern>,
}

impl Default for RecordsConfig {
    fn default() -> Self {
        Self { enabled: true, except: Vec::new(), except_directories: Vec::new() }
    }
}

impl RecordsConfig {
    /// Whether the records of an agent in a directory may be read.
    pub fn allow(&self, tool: &str, directory: Option<&str>) -> bool {
        // `/work/secret/**` means the directory itself as well.
        let is_excepted = |directory: &str| {
            let as_folder = format!("{directory}/");
            self.except_directories.iter().any(|pattern| pattern.is_any(&[directory, &as_folder]))
        };
        self.enabled && !self.except.iter().any(|pattern| pattern.matches(tool)) && !directory.is_some_and(is_excepted)
    }
}

/// How long the process that watches in the background goes on when nobody uses it, unless the configuration says so.
const BACKGROUND_MINUTES: u64 = 30;

/// How the servers are looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchConfig {
    /// The time between two looks at a server that neither stands still nor changes much.
    pub tick: Span,
    /// The time between two looks while something changes.
    pub fastest_tick: Span,
    /// The time between two looks while nothing changes.
    pub slowest_tick: Span,
    /// How long a tmux server may take to answer before the look counts as failed.
    pub timeout: Span,
    /// Whether a process goes on watching when no dashboard is open, and how long nobody may use it until it ends.
    pub background: bool,
    pub background_idle: Span,
}

impl Default for WatchConfig {
    fn default() -> Self {
        Self {
            tick: Span::from_millis(500),
            fastest_tick: Span::from_millis(250),
            slowest_tick: Span::from_millis(1000),
            timeout: Span::from_secs(5),
            background: false,
            background_idle: Span::from_secs(BACKGROUND_MINUTES * 60),
        }
    }
}

/// How the dashboard looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UiConfig {
    /// The theme's name.
    pub theme: String,
    /// Whether glyphs beyond ASCII may be drawn.
    pub unicode: bool,
    /// Whether the spinner of a working row moves.
    pub motion: bool,
    /// Whether the mouse is taken.
    pub mouse: bool,
    /// Whether the operator is asked before an agent is interrupted.
    pub confirm: bool,
}

impl Default for UiConfig {
    fn default() -> Self {
        Self { theme: "dark".to_owned(), unicode: true, motion: true, mouse: true, confirm: true }
    }
}

/// A configuration with the place that it came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    pub config: Config,
    /// `None` when no file was found and the defaults hold.
    pub path: Option<PathBuf>,
}

impl Loaded {
    /// Reads the configuration that a search path finds, or gives the defaults when it finds none.
    ///
    /// # Errors
    /// A file that was named (by `--config` or the environment) and is missing, a file that cannot be read, and a file
    /// whose content is wrong.
    pub fn find(search: &SearchPath) -> Result<Self, ConfigError> {
        match search.find()? {
            Some(path) => Ok(Self { config: Config::load(&path)?, path: Some(path) }),
            None => Ok(Self::default()),
        }
    }

    /// Reads the same search path again. When that fails, `self` stays as it is, and the error says why.
    ///
    /// # Errors
    /// As [`Loaded::find`].
    pub fn reload(&mut self, search: &SearchPath) -> Result<(), ConfigError> {
        *self = Self::find(search)?;
        Ok(())
    }
}

impl Config {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// The file cannot be read, or its content is wrong.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path).map_err(|source| ConfigError::unreadable(path, &source))?;
        Self::parse(&text, path)
    }

    /// Checks a text; `path` is the name that errors give it.
    ///
    /// # Errors
    /// The first fault in the text, with its line and column.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        validate::parse(text, path)
    }
}

#[cfg(test)]
mod tests;
