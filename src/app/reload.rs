//! Configuration, keymap, theme and profiles are reloaded when their files change, or when the operator asks for it, each
//! separately: if one has an error, the old version stays in force, and the error is shown with its place and what to do.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::{App, appearance};
use crate::config::{self, Config, ConfigError};
use crate::fleet::ServerId;
use crate::poll;
use crate::private::FileStamp;
use crate::profile::ProfileSet;
use crate::status::Status;
use crate::ui::{Theme, Topic, Ui, UiOptions};

/// How often the files are checked.
const EVERY: Duration = Duration::from_secs(1);

/// The directory of the operator's own profiles, beside the configuration.
const PROFILES: &str = "profiles";

/// What is to be shown, by a configuration as it stands in the files now.
pub type LoadResult = Result<(Config, Vec<ServerId>), ConfigError>;

/// The profiles as they stand in the files now, or what is wrong with them and what to do about it.
pub type ProfilesResult = Result<ProfileSet, (String, String)>;

/// How configuration and profiles are read, and where they may be.
#[derive(Clone)]
pub struct LoadSource {
    read: Arc<dyn Fn() -> LoadResult + Send + Sync>,
    profiles: Arc<dyn Fn() -> ProfilesResult + Send + Sync>,
    candidates: Vec<PathBuf>,
}

impl LoadSource {
    /// A source that reads what the candidates say, and the profiles beside them.
    pub fn new(
        candidates: Vec<PathBuf>,
        read: impl Fn() -> LoadResult + Send + Sync + 'static,
        profiles: impl Fn() -> ProfilesResult + Send + Sync + 'static,
    ) -> Self {
        Self { read: Arc::new(read), profiles: Arc::new(profiles), candidates }
    }

    /// Where the operator's own `keymap.toml` and `themes/` may be: beside the candidates, in their order.
    pub(super) fn directories(&self) -> Vec<PathBuf> {
        appearance::beside(&self.candidates)
    }
}

impl fmt::Debug for LoadSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadSource").field("candidates", &self.candidates).finish_non_exhaustive()
    }
}

/// The stamp of each file; `None` if there is no such file.
type Stamps = BTreeMap<PathBuf, Option<FileStamp>>;

/// The files as they were when they were last read.
pub(super) struct FileWatch {
    source: LoadSource,
    read: Stamps,
    /// The profiles in force. Wrong ones are reported again whenever anything is read again.
    profiles: Stamps,
    /// The files at the last check, if they were not as they were read: they are read when they stand
    /// still, and not while an editor writes them.
    changing: Option<Stamps>,
    next: Instant,
}

impl FileWatch {
    /// Watches the files that have just been read.
    pub(super) fn new(source: LoadSource, theme: &str) -> Self {
        let read = stamps(&source, theme);
        let profiles = profiles(&read);
        Self { source, read, profiles, changing: None, next: Instant::now() + EVERY }
    }

    /// Whether the files have changed and now stand still.
    fn is_due(&mut self, theme: &str) -> bool {
        let now = Instant::now();
        if now < self.next {
            return false;
        }
        self.next = now + EVERY;
        let stamps = stamps(&self.source, theme);
        if stamps == self.read {
            self.changing = None;
            return false;
        }
        let stands_still = self.changing.as_ref() == Some(&stamps);
        self.changing = Some(stamps);
        stands_still
    }

    /// Takes note that the files were read, and what they were before: what was written meanwhile has to be read again.
    /// A theme that nobody used before was read just now.
    fn note(&mut self, before: Stamps, theme: &str) {
        self.read = stamps(&self.source, theme);
        for (path, stamp) in before {
            self.read.entry(path).and_modify(|read| *read = stamp);
        }
        self.changing = None;
    }
}

fn stamps(source: &LoadSource, theme: &str) -> Stamps {
    let own = [PathBuf::from("keymap.toml"), PathBuf::from("themes").join(format!("{theme}.toml"))];
    let beside = source.directories();
    let appearances = beside.iter().flat_map(|directory| own.iter().map(|name| directory.join(name)));
    let profiles = beside.iter().flat_map(|directory| std::fs::read_dir(directory.join(PROFILES)).ok());
    let profiles = profiles.flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let stamped = |path: PathBuf| {
        let stamp = FileStamp::at(&path);
        (path, stamp)
    };
    source.candidates.iter().cloned().chain(appearances).chain(profiles).map(stamped).collect()
}

/// Those of the operator's profiles.
fn profiles(stamps: &Stamps) -> Stamps {
    let is_profile = |path: &Path| path.parent().is_some_and(|directory| directory.ends_with(PROFILES));
    stamps.iter().filter(|(path, _)| is_profile(path)).map(|(path, stamp)| (path.clone(), *stamp)).collect()
}

impl App {
    /// Reads the files again if they have changed.
    pub(super) fn follow_files(&mut self) {
        if self.watch.is_due(&self.config.ui.theme) {
            self.reload();
        }
    }

    /// Reads configuration, profiles, keymap and theme again.
    pub(super) fn reload(&mut self) {
        let before = stamps(&self.watch.source, &self.config.ui.theme);
        let (config, profiles, appearance) =
            (self.config.clone(), self.engine.settings().profiles.clone(), self.ui.options().clone());
        let mut later = Vec::new();
        let mut faults: Vec<(Topic, String)> = Vec::new();
        // Profiles first: whoever watches anew does so with them.
        if let Err((what, hint)) = self.reload_profiles() {
            faults.push((Topic::Profiles, format!("{what} ({hint})")));
        }
        match self.reload_config() {
            Ok(tables) => later = tables,
            Err(fault) => faults.push((Topic::Config, fault)),
        }
        let directories = self.watch.source.directories();
        let (options, wrong) = appearance::options_again(&self.config.ui, &directories, self.ui.options());
        self.ui.set_options(UiOptions { templates: self.config.templates.clone(), ..options });
        let wrong = wrong.into_iter().flatten();
        faults.extend(wrong.map(|(topic, fault)| (topic, format!("{fault} ({})", fault.hint))));
        // Also what is wrong is read once, and again when it has changed.
        self.watch.note(before, &self.config.ui.theme);
        let changed = config != self.config
            || !Arc::ptr_eq(&profiles, &self.engine.settings().profiles)
            || appearance != *self.ui.options();
        self.tell_of_reload(changed, &later, faults);
    }

    /// Shows everything in a theme that is compiled in, until the configuration is read again.
    pub(super) fn show_in(&mut self, name: &str) {
        let Some(theme) = Theme::shipped(name) else { return };
        self.ui.set_options(UiOptions { theme, ..self.ui.options().clone() });
        let message = format!("theme {name}, until the dashboard ends; `theme = \"{name}\"` in [ui] keeps it");
        self.ui.notify_about(Topic::Theme, Status::Finished, message, poll::now());
    }

    /// Tells all that is wrong, each file for itself, and what holds now.
    fn tell_of_reload(&mut self, changed: bool, later: &[&str], faults: Vec<(Topic, String)>) {
        [Topic::Files, Topic::Config, Topic::Left, Topic::Keymap, Topic::Theme, Topic::Profiles]
            .iter()
            .for_each(|topic| self.ui.retire(topic));
        let now = poll::now();
        if changed || faults.is_empty() {
            let later = match later {
                [] => String::new(),
                later => format!("; {} takes effect at the next start", later.join(" and ")),
            };
            let candidates = &self.watch.source.candidates;
            let misnamed = config::misnamed(candidates).into_iter().next();
            let misnamed = misnamed.filter(|_| !candidates.iter().any(|path| path.exists()));
            let (status, message) = match misnamed {
                None => (Status::Finished, format!("configuration reloaded{later}")),
                Some(path) => (Status::Stalled, config::not_read(&path)),
            };
            self.ui.notify_about(Topic::Files, status, message, now);
        }
        let but = if changed { "left as it was" } else { "nothing was changed" };
        for (topic, fault) in faults {
            self.ui.notify_about(topic, Status::Failed, format!("{but}: {fault}"), now);
        }
    }

    /// Takes over the profiles, if their files have changed.
    fn reload_profiles(&mut self) -> Result<(), (String, String)> {
        let files = profiles(&stamps(&self.watch.source, &self.config.ui.theme));
        if files == self.watch.profiles {
            return Ok(());
        }
        let profiles = Arc::new((self.watch.source.profiles)()?);
        self.watch.profiles = files;
        self.engine.set_profiles(&profiles).map_err(|error| (error.to_string(), error.hint()))
    }

    /// Takes over the whole configuration or nothing of it. Returns the tables that hold from the next start only.
    fn reload_config(&mut self) -> Result<Vec<&'static str>, String> {
        let read = (self.watch.source.read)();
        let (config, servers) = read.map_err(|error| format!("{error} ({})", error.hint))?;
        let watches = |config: &Config| {
            (config.watch.clone(), config.transports.clone(), config.rules.clone(), config.records.clone())
        };
        if watches(&config) != watches(&self.config) || servers != self.engine.servers() {
            let watched = self.engine.set_servers(poll::Settings::new(&config), &servers);
            watched.map_err(|error| format!("{error} ({})", error.hint()))?;
        }
        self.engine.set_config(&config);
        self.tty.use_mouse(config.ui.mouse).map_err(|error| error.to_string())?;
        let later = [
            ("[tracker]", config.tracker != self.config.tracker),
            ("[history]", config.history != self.config.history),
        ];
        // What does not hold yet stays what it was, so that it is reported again.
        let (tracker, history) = (self.config.tracker.clone(), self.config.history.clone());
        self.config = Config { tracker, history, ..config };
        tell_what_left(&mut self.ui, &self.config);
        Ok(later.into_iter().filter(|(_, changed)| *changed).map(|(table, _)| table).collect())
    }
}

/// Tells what the configuration says that is no setting any more.
pub(super) fn tell_what_left(ui: &mut Ui, config: &Config) {
    for left in &config.left {
        ui.notify_about(Topic::Left, Status::Stalled, format!("{left} ({})", left.hint), poll::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_while_the_files_are_read_is_read_again() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("config.toml");
        std::fs::write(&file, "1").expect("a file");
        let read = || Ok((Config::default(), Vec::new()));
        let source = LoadSource::new(vec![file.clone()], read, || Ok(ProfileSet::builtin()));
        let mut watch = FileWatch::new(source.clone(), "dark");
        let before = stamps(&source, "dark");
        std::fs::write(&file, "12").expect("a file");
        watch.note(before, "dark");
        assert_ne!(watch.read, stamps(&source, "dark"));
        // Another theme's file was not there before, and was read as it is.
        watch.note(stamps(&source, "dark"), "light");
        assert_eq!(watch.read, stamps(&source, "light"));
    }
}
