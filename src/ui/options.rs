//! What the dashboard looks like and listens to.

use jiff::tz::TimeZone;

use super::keymap::Keymap;
use super::theme::{Depth, Theme};
use crate::present::template::Template;

/// What the dashboard looks like and listens to.
#[derive(Clone, Debug, PartialEq)]
pub struct UiOptions {
    pub keymap: Keymap,
    pub theme: Theme,
    /// Where the operator's clock stands.
    pub zone: TimeZone,
    /// The operator's home directory; empty where it is not known.
    pub home: String,
    /// Whether nothing but ASCII may be drawn.
    pub ascii: bool,
    pub depth: Depth,
    /// Whether the spinner of a working row turns.
    pub motion: bool,
    /// Whether the terminal's title says how many wait.
    pub title: bool,
    /// Prompts to begin with.
    pub templates: Vec<Template>,
}

impl UiOptions {
    /// With the theme as this terminal can show it.
    pub(super) fn suited(mut self) -> Self {
        self.theme = self.theme.suited_to(self.depth);
        self
    }
}

impl Default for UiOptions {
    /// The shipped keymap and the dark theme, in UTC.
    fn default() -> Self {
        let theme = Theme::shipped("dark").unwrap_or_default();
        let keymap = Keymap::shipped();
        Self {
            keymap,
            theme,
            zone: TimeZone::UTC,
            home: String::new(),
            ascii: false,
            depth: Depth::True,
            motion: true,
            title: true,
            templates: Vec::new(),
        }
    }
}
