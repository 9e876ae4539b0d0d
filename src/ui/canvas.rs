//! What a frame of the dashboard is drawn with: its look, and what the dashboard knows besides the view.

use std::ops::Deref;

use super::kit::frame::Look;
use super::memory::OverlayMemory;
use crate::fleet::TerminalKey;
use crate::present::columns::ColumnLayout;
use crate::present::item::Item;
use crate::status::Status;

/// The look of one frame, and what is known besides the view.
pub struct Canvas<'a> {
    pub look: Look<'a>,
    pub home: &'a str,
    /// Whether no notice goes out.
    pub muted: bool,
    /// What is wrong with the history.
    pub history_trouble: Option<&'static str>,
    /// The terminal that the cursor is on.
    pub selected: Option<&'a TerminalKey>,
    /// What is marked, queued, begun and seen, and how the terminals are shown.
    pub memory: &'a OverlayMemory,
    /// The columns of the table.
    pub columns: &'a ColumnLayout,
}

impl<'a> Deref for Canvas<'a> {
    type Target = Look<'a>;

    fn deref(&self) -> &Look<'a> {
        &self.look
    }
}

impl Canvas<'_> {
    /// The beginning of the prompt that was begun for a row which only waits for one: it says more than what the agent said
    /// last.
    pub fn draft(&self, item: Item<'_>) -> Option<String> {
        let waits_for_it = matches!(item.status(), Status::Ready | Status::Interrupted);
        let is_shown = waits_for_it && self.memory.arrangement.flags.is_drafted(item);
        if !is_shown {
            return None;
        }
        let draft = self.memory.drafts.get(&Some(item.key().clone()))?;
        let words = draft.text.split_whitespace().take(DRAFT_WORDS);
        Some(format!("draft: {}", words.collect::<Vec<_>>().join(" ")))
    }
}

/// The words of a draft that a row has room for.
const DRAFT_WORDS: usize = 60;
