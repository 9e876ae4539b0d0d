//! The text of an answer: the line in which it is typed, and what comes back there of one that was not taken.

use super::state::{DialogBox, Typing};
use crate::status::Status;
use crate::time::Timestamp;
use crate::ui::LineInput;
use crate::ui::memory::OverlayMemory;

/// What is said of a draft that stands in the line.
const OFFERED: &str = "what you type replaces the draft; → edits it";

impl DialogBox {
    /// A line with that text, as far as it is one line. It stays kept until it was sent.
    pub(super) fn draft(&mut self, memory: &OverlayMemory) -> LineInput {
        let Some(draft) = memory.draft(&self.key).filter(|draft| LineInput::takes(draft)) else {
            return LineInput::default();
        };
        self.message = Some((Status::Ready, OFFERED.to_owned()));
        LineInput::selected(draft)
    }

    /// Begins the line with which the box has just opened with it.
    pub fn offer_draft(&mut self, memory: &OverlayMemory) {
        if let Some(typing) = self.typing.take_if(|typing| typing.option.is_some()) {
            self.typing = Some(Typing { line: self.draft(memory), ..typing });
        }
    }

    /// Keeps a text as the terminal's draft, in the place of one that a line begins with.
    pub(super) fn keep(&self, memory: &mut OverlayMemory, text: &str, now: Timestamp) {
        memory.drafts.retain(|key, draft| *key != self.key || !LineInput::takes(draft));
        memory.keep_as_draft(&self.key, text, now);
    }

    /// What was typed has been sent: it is no draft any more.
    pub(super) fn forget_draft(&self, memory: &mut OverlayMemory) {
        if let Some(typing) = &self.typing {
            memory.drafts.retain(|key, draft| *key != self.key || draft != typing.line.text());
        }
    }
}
