//! How the dashboard looks on this terminal: from the configuration and from the environment.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;

use crate::config::{self, ConfigError};
use crate::tmux;
use crate::ui::{Depth, Keymap, Theme, Topic, UiOptions};

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
    let own =
        Keymap::parse(&text).map_err(|error| ConfigError::at(&path, &text, Some(error.at), error.what, error.hint))?;
    Ok(Keymap::shipped().overlaid(own))
}

/// The operator's theme of a name, else the shipped one.
fn theme(name: &str, directories: &[PathBuf]) -> Result<Theme, ConfigError> {
    let file = config::theme_file(name);
    if let Some((path, text)) = file.map_or(Ok(None), |file| first(directories, &file))? {
        return Theme::parse(&text).map_err(|error| {
            let hint = error.hint.unwrap_or_else(|| "the built-in themes are examples to copy from".to_owned());
            ConfigError::at(&path, &text, Some(error.at), error.what, hint)
        });
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

#[cfg(test)]
mod tests {
    use super::*;

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
