//! The configuration: a TOML file in, validated values out.
//!
//! A file with an error is refused as a whole; the error says where it is and suggests a fix ([`ConfigError`]). For what
//! a file leaves out, the default comes from `config/fleetwatch.toml`, which is built in, printed by `fleetwatch config`
//! and compared with [`Config::default`] by a test.

mod adopted;
mod error;
mod file;
mod rules;
mod validate;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::address::Network;
use crate::fleet::ServerId;
use crate::follow_up::FollowUpRule;
use crate::notify::NotifyRule;
use crate::pattern::Pattern;
use crate::present::template::Template;
use crate::tmux::CommandTransport;
use crate::{history, tracker};

pub use adopted::{Adopted, AdoptedError, AdoptedSession};
pub use error::{ConfigError, Position};

pub use rules::{Match, PaneAddress, Rules, TerminalRule};
pub use validate::THEMES;

/// The commented default configuration.
pub const DEFAULT_TEXT: &str = include_str!("../config/fleetwatch.toml");

/// The JSON schema of the configuration file.
pub const SCHEMA: &str = include_str!("../config/fleetwatch.schema.json");

/// All settings, checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    pub watch: WatchConfig,
    /// The tmux servers to watch when the command line names none; empty means the default server.
    pub servers: Vec<ServerId>,
    /// Whether every server of the user on this machine is watched besides, also one that comes later.
    pub every_server: bool,
    /// How to reach hosts that `ssh` does not reach.
    pub transports: Arc<[CommandTransport]>,
    /// Which panes are watched, and what is known of them beforehand.
    pub rules: Rules,
    pub tracker: tracker::Settings,
    pub history: history::Settings,
    pub records: RecordsConfig,
    /// Templates for prompts.
    pub templates: Vec<Template>,
    pub ui: UiConfig,
    /// What is reported outside of the dashboard.
    pub notify: Vec<NotifyRule>,
    /// Which agents hear of what happens in other terminals.
    pub follow_up: Vec<FollowUpRule>,
    /// Networks that only the operator's machines are in, besides those of Tailscale.
    pub private_networks: Vec<Network>,
    /// How agents are started.
    pub new: NewConfig,
    /// What the file says that is no setting any more, with what to use instead.
    pub left: Vec<ConfigError>,
}

impl Config {
    /// The rules for notices outside of the dashboard. Without any, the terminal's bell rings.
    pub fn notices(&self) -> Vec<NotifyRule> {
        match self.notify.is_empty() && self.ui.bell {
            true => vec![NotifyRule::bell_of_waits()],
            false => self.notify.clone(),
        }
    }
}

/// How `fleetwatch new` starts agents.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct NewConfig {
    /// The directory in which `--worktree` makes working trees; none means beside the repository.
    pub worktrees: Option<PathBuf>,
    /// Files that git ignores and that a new working tree gets from the repository, by their names below it.
    pub copy: Vec<String>,
    /// Programs with their arguments, by the names to start them by: of an agent's own name, or others.
    pub starts: BTreeMap<String, Vec<String>>,
}

/// Which of the records that agents write about their own sessions are read.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RecordsConfig {
    /// Whether records are read.
    pub enabled: bool,
    /// Agents whose records are not read; patterns of their names.
    pub except: Vec<Pattern>,
    /// Directories in which no agent's records are read; patterns of their paths.
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
        // `/work/secret/**` includes the directory itself.
        let is_excepted = |directory: &str| {
            let as_folder = format!("{directory}/");
            self.except_directories.iter().any(|pattern| pattern.is_any(&[directory, &as_folder]))
        };
        self.enabled && !self.except.iter().any(|pattern| pattern.matches(tool)) && !directory.is_some_and(is_excepted)
    }
}

/// How the servers are polled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchConfig {
    pub ticks: Ticks,
    /// How long a tmux server may take to answer before the poll counts as failed.
    pub timeout: Duration,
    /// Whether a process keeps watching when no dashboard is open, and after how long without use it ends.
    pub background: bool,
    pub background_idle: Duration,
    /// Whether the git repositories are read that agents work in.
    pub git: bool,
}

/// The lengths of time between two polls of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticks {
    pub usual: Duration,
    /// While something changes.
    pub shortest: Duration,
    /// While nothing has changed for a while, and no dashboard shows it.
    pub longest: Duration,
}

impl Default for Ticks {
    fn default() -> Self {
        let [usual, shortest, longest] = [500, 250, 2000].map(Duration::from_millis);
        Self { usual, shortest, longest }
    }
}

impl Default for WatchConfig {
    fn default() -> Self {
        Self {
            ticks: Ticks::default(),
            timeout: Duration::from_secs(5),
            background: false,
            background_idle: Duration::from_secs(30 * 60),
            git: true,
        }
    }
}

/// How the dashboard looks.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct UiConfig {
    /// The theme's name.
    pub theme: String,
    /// Whether glyphs beyond ASCII may be drawn.
    pub unicode: bool,
    /// Whether the spinner of a working row moves.
    pub motion: bool,
    /// Whether the terminal's title says how many wait.
    pub title: bool,
    /// Whether the terminal's bell rings when an agent or task begins to wait, if there is no [[notify]].
    pub bell: bool,
    /// Whether the dashboard uses the mouse.
    pub mouse: bool,
}

impl Default for UiConfig {
    fn default() -> Self {
        Self { theme: "dark".to_owned(), unicode: true, motion: true, title: true, bell: true, mouse: true }
    }
}

/// A configuration and the file that it came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    pub config: Config,
    /// `None` when no file was found and the defaults hold.
    pub path: Option<PathBuf>,
}

impl Loaded {
    /// Reads the configuration that a search path finds, or returns the defaults if there is none.
    ///
    /// # Errors
    /// A file that was named (by `--config` or the environment) is missing, or the file cannot be read or is wrong.
    pub fn find(search: &SearchPath) -> Result<Self, ConfigError> {
        match search.find()? {
            Some(path) => Ok(Self { config: Config::load(&path)?, path: Some(path) }),
            None => Ok(Self::default()),
        }
    }
}

impl Config {
    /// Reads and checks a file.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path).map_err(|source| ConfigError::unreadable(path, &source))?;
        Self::parse(&text, path)
    }
}

// Where a configuration may be.

/// The file's name in the configuration directory.
const FILE_NAME: &str = "config.toml";
/// What it is called by mistake: the default one in the repository has this name.
const MISNAMED: &str = "fleetwatch.toml";

/// Files beside missing ones that somebody may take for them, and that are not read.
pub fn misnamed<'p>(paths: impl IntoIterator<Item = &'p PathBuf>) -> Vec<PathBuf> {
    let missing = paths.into_iter().filter(|path| !path.exists());
    missing.map(|path| path.with_file_name(MISNAMED)).filter(|path| path.exists()).collect()
}

/// What is said of such a file.
pub fn not_read(path: &Path) -> String {
    format!("{} is not read; it would have to be called {FILE_NAME}", path.display())
}

/// The file of a custom theme, in the directory of a configuration.
pub fn theme_file(name: &str) -> Option<PathBuf> {
    // Anything but a plain word could lead out of the directory.
    let is_plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
    is_plain.then(|| PathBuf::from("themes").join(format!("{name}.toml")))
}

/// The places where a configuration may be; the first match wins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchPath {
    candidates: Vec<Candidate>,
}

/// One place, and who named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub origin: Origin,
    pub path: PathBuf,
}

/// Who named a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `--config FILE`.
    CommandLine,
    /// The variable `FLEETWATCH_CONFIG`.
    Environment,
    /// The directory that `XDG_CONFIG_HOME` names.
    XdgConfigHome,
    /// The platform's directory for configurations.
    Platform,
}

impl Origin {
    /// The origin in words.
    pub const fn describe(self) -> &'static str {
        match self {
            Origin::CommandLine => "--config",
            Origin::Environment => "FLEETWATCH_CONFIG",
            Origin::XdgConfigHome => "XDG_CONFIG_HOME",
            Origin::Platform => "default",
        }
    }

    /// Whether the file must exist, because somebody asked for it.
    const fn is_required(self) -> bool {
        matches!(self, Origin::CommandLine | Origin::Environment)
    }
}

impl SearchPath {
    /// The search path of this process: its environment and the `--config` that it was given.
    pub fn of_process(command_line: Option<&Path>) -> Self {
        let platform = directories::ProjectDirs::from("", "", "fleetwatch");
        Self::new(command_line, |name| std::env::var_os(name), platform.as_ref().map(|dirs| dirs.config_dir()))
    }

    /// The search path for a `--config`, an environment and the platform's own configuration directory. A file that
    /// was asked for is the only one that is read: silently taking another would hide a mistyped name.
    pub fn new(
        command_line: Option<&Path>,
        variable: impl Fn(&str) -> Option<OsString>,
        platform: Option<&Path>,
    ) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let asked_for = command_line
            .map(|path| (Origin::CommandLine, path.to_owned()))
            .or_else(|| set("FLEETWATCH_CONFIG").map(|path| (Origin::Environment, path)));
        if let Some((origin, path)) = asked_for {
            return Self { candidates: vec![Candidate { origin, path }] };
        }
        let mut candidates = Vec::new();
        if let Some(home) = set("XDG_CONFIG_HOME").filter(|path| path.is_absolute()) {
            let path = home.join("fleetwatch").join(FILE_NAME);
            candidates.push(Candidate { origin: Origin::XdgConfigHome, path });
        }
        if let Some(directory) = platform {
            let path = directory.join(FILE_NAME);
            // On Linux the platform's directory follows XDG_CONFIG_HOME; a place is listed once.
            if candidates.iter().all(|candidate| candidate.path != path) {
                candidates.push(Candidate { origin: Origin::Platform, path });
            }
        }
        Self { candidates }
    }

    /// Every place, in the order in which they are tried.
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// Files beside a missing configuration that somebody may take for it, and that are not read.
    pub fn misnamed(&self) -> Vec<PathBuf> {
        let looked_for = self.candidates.iter().filter(|candidate| !candidate.origin.is_required());
        misnamed(looked_for.map(|candidate| &candidate.path))
    }

    /// The first place with a file; `None` if there is none and none was asked for.
    ///
    /// # Errors
    /// A file that was asked for is missing.
    pub fn find(&self) -> Result<Option<PathBuf>, ConfigError> {
        for candidate in &self.candidates {
            match std::fs::metadata(&candidate.path) {
                Ok(_) => return Ok(Some(candidate.path.clone())),
                Err(error) if candidate.origin.is_required() => {
                    return Err(ConfigError::unreadable(&candidate.path, &error));
                }
                // A file that exists but cannot be accessed must not pass for "no configuration", nor a link to none.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied || candidate.path.is_symlink() => {
                    return Err(ConfigError::unreadable(&candidate.path, &error));
                }
                Err(_) => {}
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests;
