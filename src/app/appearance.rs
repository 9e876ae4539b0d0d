//! What the operator's files and the environment say, how the dashboard looks by them, and whether the files have changed.

use std::collections::BTreeMap;
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use tokio::time::Instant;

use crate::clock;
use crate::config::{self, Config, ConfigError};
use crate::fleet::ServerId;
use crate::private::FileStamp;
use crate::profile::ProfileSet;
use crate::status::Status;
use crate::time::Span;
use crate::tmux;
use crate::ui::{Depth, Keymap, Theme, Topic, Ui, UiOptions};

/// The dashboard's options. The operator's own `keymap.toml` and `themes/NAME.toml` are read from `directories`.
///
/// # Errors
/// One of them cannot be read or is wrong, or there is no theme of the wanted name.
pub(super) fn options(wanted: &config::UiConfig, directories: &[PathBuf]) -> Result<UiOptions, ConfigError> {
    let environment = Environment::of_process();
    Ok(environment.options(wanted, keymap(directories)?, theme(environment.theme(wanted), directories)?))
}

/// The same, read again: what has an error stays as it was, and the error is shown.
pub(super) fn options_again(
    wanted: &config::UiConfig,
    directories: &[PathBuf],
    before: &UiOptions,
) -> (UiOptions, [Option<(Topic, ConfigError)>; 2]) {
    let environment = Environment::of_process();
    let (keymap, keymap_fault) = or_before(keymap(directories), &before.keymap);
    let (theme, theme_fault) = or_before(theme(environment.theme(wanted), directories), &before.theme);
    let faults = [keymap_fault.map(|fault| (Topic::Keymap, fault)), theme_fault.map(|fault| (Topic::Theme, fault))];
    (environment.options(wanted, keymap, theme), faults)
}

fn or_before<T: Clone>(read: Result<T, ConfigError>, before: &T) -> (T, Option<ConfigError>) {
    match read {
        Ok(read) => (read, None),
        Err(fault) => (before.clone(), Some(fault)),
    }
}

/// The directories of files.
pub(super) fn beside(files: &[PathBuf]) -> Vec<PathBuf> {
    files.iter().filter_map(|path| path.parent()).map(Path::to_owned).collect()
}

/// The shipped keymap with the operator's own laid over it.
fn keymap(directories: &[PathBuf]) -> Result<Keymap, ConfigError> {
    let Some((path, text)) = first(directories, Path::new("keymap.toml"))? else { return Ok(Keymap::shipped()) };
    let own = Keymap::parse(&text).map_err(|fault| ConfigError::of(&path, &text, fault))?;
    Ok(Keymap::shipped().overlaid(own))
}

/// The operator's theme of a name, else the shipped one.
fn theme(name: &str, directories: &[PathBuf]) -> Result<Theme, ConfigError> {
    let file = config::theme_file(name);
    if let Some((path, text)) = file.map_or(Ok(None), |file| first(directories, &file))? {
        return Theme::parse(&text).map_err(|fault| ConfigError::of(&path, &text, fault));
    }
    Theme::shipped(name).ok_or_else(|| {
        let names = Theme::names().collect::<Vec<_>>().join(", ");
        let hint =
            format!("the built-in ones are {names}; your own would be themes/{name}.toml beside the configuration");
        ConfigError { path: PathBuf::new(), position: None, what: format!("there is no theme {name:?}"), hint }
    })
}

/// The first file of a name that there is in the directories.
fn first(directories: &[PathBuf], name: &Path) -> Result<Option<(PathBuf, String)>, ConfigError> {
    for path in directories.iter().map(|directory| directory.join(name)) {
        match std::fs::read_to_string(&path) {
            Ok(text) => return Ok(Some((path, text))),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(error) => {
                let hint = "check that it is a file of UTF-8 text that you may read".to_owned();
                return Err(ConfigError { path, position: None, what: format!("cannot be read: {error}"), hint });
            }
        }
    }
    Ok(None)
}

/// What the environment says of the terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    no_color: Option<String>,
    color_term: Option<String>,
    pub term: Option<String>,
    home: Option<String>,
    /// The first one that is set of `LC_ALL`, `LC_CTYPE` and `LANG`.
    pub locale: Option<String>,
}

impl Environment {
    /// That of this process.
    pub fn of_process() -> Self {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let (no_color, color_term, term, home) = (set("NO_COLOR"), set("COLORTERM"), set("TERM"), set("HOME"));
        Self { no_color, color_term, term, home, locale: tmux::locale() }
    }

    fn options(&self, wanted: &config::UiConfig, keymap: Keymap, theme: Theme) -> UiOptions {
        UiOptions {
            keymap,
            theme,
            zone: TimeZone::system(),
            home: self.home.clone().unwrap_or_default(),
            ascii: !wanted.unicode || !self.is_utf8(),
            depth: self.depth(),
            motion: wanted.motion,
            title: wanted.title,
            templates: Vec::new(),
        }
    }

    /// The name of the theme: the wanted one, where there are colours.
    fn theme<'a>(&self, wanted: &'a config::UiConfig) -> &'a str {
        if self.depth() == Depth::None { "no-colour" } else { &wanted.theme }
    }

    /// How many colours the terminal has.
    pub fn depth(&self) -> Depth {
        let term = self.term.as_deref().unwrap_or_default();
        match self.color_term.as_deref() {
            _ if self.no_color.is_some() || term == "dumb" => Depth::None,
            Some("truecolor" | "24bit") => Depth::True,
            _ if term.contains("direct") => Depth::True,
            _ if term.contains("256color") || term.starts_with("tmux") => Depth::Indexed,
            _ => Depth::Sixteen,
        }
    }

    /// Whether it allows other signs than those of ASCII.
    pub fn is_utf8(&self) -> bool {
        tmux::is_utf8(self.locale.as_deref())
    }
}

/// The directory of the operator's own profiles, beside the configuration.
const PROFILES: &str = "profiles";

/// What is to be shown, by a configuration as it stands in the files now.
pub type LoadResult = Result<(Config, Vec<ServerId>), ConfigError>;

/// The profiles as they stand in the files now, or what is wrong with them and what to do about it.
pub type ProfilesResult = Result<ProfileSet, (String, String)>;

/// How configuration and profiles are read, and where they may be.
#[derive(Clone)]
pub struct LoadSource {
    pub(super) read: Arc<dyn Fn() -> LoadResult + Send + Sync>,
    pub(super) profiles: Arc<dyn Fn() -> ProfilesResult + Send + Sync>,
    pub(super) candidates: Vec<PathBuf>,
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
        beside(&self.candidates)
    }
}

impl fmt::Debug for LoadSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadSource").field("candidates", &self.candidates).finish_non_exhaustive()
    }
}

/// The stamp of each file; `None` if there is no such file.
pub(super) type Stamps = BTreeMap<PathBuf, Option<FileStamp>>;

/// The files as they were when they were last read.
pub(super) struct FileWatch {
    pub(super) source: LoadSource,
    pub(super) read: Stamps,
    /// The profiles in force. Wrong ones are reported again whenever anything is read again.
    pub(super) profiles: Stamps,
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
        Self { source, read, profiles, changing: None, next: Instant::now() + Duration::from(Span::SECOND) }
    }

    /// Whether the files have changed and now stand still.
    pub(super) fn is_due(&mut self, theme: &str) -> bool {
        let now = Instant::now();
        if now < self.next {
            return false;
        }
        self.next = now + Duration::from(Span::SECOND);
        let stamps = stamps(&self.source, theme);
        if stamps == self.read {
            self.changing = None;
            return false;
        }
        let stands_still = self.changing.as_ref() == Some(&stamps);
        self.changing = Some(stamps);
        stands_still
    }

    /// Notes that the files were read, and their stamps from before, because what was written meanwhile has to be read again. A
    /// theme in its first use was read just now.
    pub(super) fn note(&mut self, before: Stamps, theme: &str) {
        self.read = stamps(&self.source, theme);
        for (path, stamp) in before {
            self.read.entry(path).and_modify(|read| *read = stamp);
        }
        self.changing = None;
    }
}

pub(super) fn stamps(source: &LoadSource, theme: &str) -> Stamps {
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
pub(super) fn profiles(stamps: &Stamps) -> Stamps {
    let is_profile = |path: &Path| path.parent().is_some_and(|directory| directory.ends_with(PROFILES));
    stamps.iter().filter(|(path, _)| is_profile(path)).map(|(path, stamp)| (path.clone(), *stamp)).collect()
}

/// Tells what the configuration says that is no setting any more.
pub(super) fn tell_what_left(ui: &mut Ui, config: &Config) {
    for left in &config.left {
        ui.notify_about(Topic::Left, Status::Stalled, format!("{left} ({})", left.hint), clock::now());
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

    #[test]
    fn the_operators_own_files_are_found_and_checked() {
        let directory = tempfile::tempdir().expect("a directory");
        let directories = [directory.path().join("nothing"), directory.path().to_owned()];
        let wanted = |theme: &str| config::UiConfig { theme: theme.to_owned(), ..config::UiConfig::default() };
        let refused = |theme: &str| options(&wanted(theme), &directories).expect_err("a refusal").to_string();
        assert!(options(&wanted("dark"), &directories).is_ok());
        let own = directory.path().join("keymap.toml");
        std::fs::write(&own, "fleet = [\n  { on = \"x\", run = \"leave\" },\n]\n").expect("a file");
        assert_eq!(refused("dark"), format!("{}:2:21: there is no action \"leave\"", own.display()));
        std::fs::write(&own, "fleet = [ { on = \"x\", run = \"quit\" } ]").expect("a file");
        assert!(options(&wanted("dark"), &directories).is_ok());
        if Environment::of_process().depth() != Depth::None {
            assert_eq!(refused("../dark"), "there is no theme \"../dark\"");
        }
    }

    fn with(no_color: Option<&str>, color_term: Option<&str>, term: &str) -> Depth {
        let own = |text: &str| text.to_owned();
        let (no_color, color_term) = (no_color.map(own), color_term.map(own));
        Environment { no_color, color_term, term: Some(own(term)), ..Environment::default() }.depth()
    }

    #[test]
    fn the_environment_tells_the_depth_of_colours() {
        assert_eq!(with(None, Some("truecolor"), "xterm-256color"), Depth::True);
        assert_eq!(with(None, None, "xterm-256color"), Depth::Indexed);
        assert_eq!(with(None, None, "screen"), Depth::Sixteen);
        assert_eq!(with(Some("1"), Some("truecolor"), "xterm-256color"), Depth::None);
        assert_eq!(with(None, None, "dumb"), Depth::None);
    }

    #[test]
    fn only_a_locale_that_says_so_is_ascii() {
        let utf8 = |locale: Option<&str>| {
            Environment { locale: locale.map(str::to_owned), ..Environment::default() }.is_utf8()
        };
        assert!(utf8(None) && utf8(Some("en_US.UTF-8")) && utf8(Some("C.utf8")));
        assert!(!utf8(Some("C")) && !utf8(Some("POSIX")) && !utf8(Some("de_DE.ISO-8859-1")));
    }
}
