//! The draft for a terminal in the line in which its dialog is answered.

use super::{DialogBox, Typing};
use crate::status::Status;
use crate::ui::input::LineInput;
use crate::ui::overlay::OverlayMemory;

/// What is said of a draft that stands in the line.
const OFFERED: &str = "what you type replaces the draft; → edits it";

impl DialogBox {
    /// A line with the draft for the terminal, as far as that is one line. It stays the draft until it was sent.
    pub(super) fn draft(&mut self, memory: &OverlayMemory) -> LineInput {
        let Some(draft) = memory.draft(&self.key).filter(|draft| LineInput::takes(draft)) else {
            return LineInput::default();
        };
        self.message = Some((Status::Ready, OFFERED.to_owned()));
        LineInput::selected(draft)
    }

    /// Begins the line with which the box has just opened with the draft.
    pub fn offer_draft(&mut self, memory: &OverlayMemory) {
        if let Some(typing) = self.typing.take_if(|typing| typing.option.is_some()) {
            self.typing = Some(Typing { line: self.draft(memory), ..typing });
        }
    }

    /// What was typed has been sent: it is no draft any more.
    pub(super) fn forget_draft(&self, memory: &mut OverlayMemory) {
        if let Some(typing) = &self.typing {
            memory.take_draft_back(&self.key, typing.line.text());
        }
    }
}
