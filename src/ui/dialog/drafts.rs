//! The draft for a terminal in the line in which its dialog is answered.

use super::DialogBox;
use crate::status::Status;
use crate::ui::input::LineInput;
use crate::ui::overlay::OverlayMemory;

/// What is said of a draft that stands in the line.
const OFFERED: &str = "what you type replaces the draft; → edits it";

impl DialogBox {
    /// Begins an empty line with the draft for the terminal, as far as that is one line. It stays the draft until it was
    /// sent.
    pub fn offer_draft(&mut self, memory: &OverlayMemory) {
        let Some(typing) = self.typing.as_mut().filter(|it| it.option.is_some() && it.line.text().is_empty()) else {
            return;
        };
        if let Some(draft) = memory.draft(&self.key).filter(|draft| LineInput::takes(draft)) {
            typing.line = LineInput::selected(draft);
            self.message = Some((Status::Ready, OFFERED.to_owned()));
        }
    }

    /// What was typed has been sent: it is no draft any more.
    pub(super) fn forget_draft(&self, memory: &mut OverlayMemory) {
        if let Some(typing) = &self.typing {
            memory.take_draft_back(&self.key, typing.line.text());
        }
    }
}
