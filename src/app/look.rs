//! How the dashboard looks on this terminal: what the configuration wants and what the environment tells of it.

use jiff::tz::TimeZone;

use crate::config;
use crate::ui::{Depth, Keymap, Options, Theme};

/// The dashboard's options, and what is wrong with the wanted ones.
pub(super) fn options(wanted: &config::Ui) -> (Options, Option<String>) {
    let environment = Environment::of_process();
    let depth = environment.depth();
    let name = if depth == Depth::None { "no-colour" } else { wanted.theme.as_str() };
    let (theme, complaint) = match Theme::shipped(name) {
        Some(theme) => (theme, None),
        None => {
            let known: Vec<&str> = Theme::names().collect();
            let complaint = format!("there is no theme {name:?}; there are {}", known.join(", "));
            (Options::default().theme, Some(complaint))
        }
    };
    let options = Options {
        keymap: Keymap::shipped(),
        theme,
        zone: TimeZone::system(),
        ascii: !wanted.unicode || !environment.is_utf8(),
        depth,
        motion: wanted.motion,
    };
    (options, complaint)
}

/// What the environment tells of the terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Environment {
    no_color: Option<String>,
    color_term: Option<String>,
    term: Option<String>,
    /// The first one that is set of `LC_ALL`, `LC_CTYPE` and `LANG`.
    locale: Option<String>,
}

impl Environment {
    fn of_process() -> Self {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        Self {
            no_color: set("NO_COLOR"),
            color_term: set("COLORTERM"),
            term: set("TERM"),
            locale: ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set),
        }
    }

    fn depth(&self) -> Depth {
        let term = self.term.as_deref().unwrap_or_default();
        match self.color_term.as_deref() {
            _ if self.no_color.is_some() || term == "dumb" => Depth::None,
            Some("truecolor" | "24bit") => Depth::True,
            _ if term.contains("direct") => Depth::True,
            _ if term.contains("256color") || term.starts_with("tmux") => Depth::Indexed,
            _ => Depth::Sixteen,
        }
    }

    /// A locale that says nothing leaves it open; most terminals without one show UTF-8 all the same.
    fn is_utf8(&self) -> bool {
        let locale = self.locale.as_deref().map(str::to_ascii_lowercase);
        locale.is_none_or(|locale| locale.contains("utf-8") || locale.contains("utf8"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(no_color: Option<&str>, color_term: Option<&str>, term: &str) -> Depth {
        let own = |text: &str| text.to_owned();
        let (no_color, color_term) = (no_color.map(own), color_term.map(own));
        Environment { no_color, color_term, term: Some(own(term)), locale: None }.depth()
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
