//! Where a configuration is looked for.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::ConfigError;

/// The file's name in the configuration directory.
const FILE_NAME: &str = "config.toml";

/// Whether there is a theme of the user's own, `themes/NAME.toml` beside a configuration.
pub(super) fn has_theme(configuration: &Path, name: &str) -> bool {
    // Anything but a plain word could lead out of the directory.
    let is_plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
    let directory = configuration.parent().map(|directory| directory.join("themes"));
    is_plain && directory.is_some_and(|themes| themes.join(format!("{name}.toml")).is_file())
}

/// The places where a configuration may stand, first match wins.
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

    /// Whether a file must stand there: someone asked for this very one.
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
    /// was asked for is the only one that is looked at: silently taking another would hide a mistyped name.
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
            // On Linux the platform's directory follows XDG_CONFIG_HOME, and one place is named once.
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

    /// The first place where a file stands; `None` when there is none and none was asked for.
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
                // A file that is there but may not be looked at must not pass for "no configuration".
                Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                    return Err(ConfigError::unreadable(&candidate.path, &error));
                }
                Err(_) => {}
            }
        }
        Ok(None)
    }
}
