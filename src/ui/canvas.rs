//! What every region needs to draw itself.

use std::collections::HashMap;

use jiff::tz::TimeZone;

use super::arrangement::Arrangement;
use super::bells::Bells;
use super::keymap::Keymap;
use super::theme::Theme;
use crate::fleet::TerminalKey;
use crate::status::Status;
use crate::time::Timestamp;
use crate::ui::overlay::Waiting;

/// The look and the time of one frame.
pub struct Canvas<'a> {
    pub theme: &'a Theme,
    pub keymap: &'a Keymap,
    pub zone: &'a TimeZone,
    pub now: Timestamp,
    pub ascii: bool,
    /// Whether the spinner turns.
    pub motion: bool,
    /// Whether no notice goes out.
    pub muted: bool,
    /// What is wrong with the history.
    pub history_trouble: Option<&'static str>,
    /// The terminal that the cursor is on.
    pub selected: Option<&'a TerminalKey>,
    /// The prompts that wait for each terminal.
    pub queued: &'a HashMap<TerminalKey, Vec<Waiting>>,
    /// Which bells of tasks were seen.
    pub bells: &'a Bells,
    /// Whether something lies over what is drawn now.
    pub covered: bool,
    /// How the terminals are shown, and which of them are marked or muted.
    pub arrangement: &'a Arrangement,
}

impl Canvas<'_> {
    /// The glyph of a status at the time of the frame.
    pub fn glyph(&self, status: Status) -> &str {
        self.theme.glyph(status, self.ascii, self.motion.then_some(self.now))
    }
}
