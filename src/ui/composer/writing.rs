//! What is being written: kept at every change, replaced by earlier prompts, added to by what comes back.

use ratatui::style::Style;
use ratatui_textarea::{CursorMove, TextArea, WrapMode};

use super::Composer;
use super::recipients::Recipients;
use crate::status::Status;
use crate::ui::overlay::{OverlayContext, OverlayMemory};
use crate::ui::text;

impl Composer {
    pub(super) fn replace(&mut self, text: &str) {
        self.text = text_area(text);
    }

    /// Keeps what was written for the next time, at every change, so that it cannot be lost.
    pub(super) fn keep_draft(&mut self, desk: &mut OverlayContext<'_, '_>) {
        let text = self.prompt();
        // What is written anew has been seen by whoever writes it.
        self.is_kept &= !text.is_empty();
        match &self.to {
            Recipients::Several(_) => desk.memory.broadcast.write(text),
            Recipients::One(key) if text.trim().is_empty() => drop(desk.memory.drafts.remove(key)),
            Recipients::One(key) => drop(desk.memory.drafts.insert(key.clone(), text)),
        }
    }

    /// Takes in a pasted text, with the line ends of any system. Returns how many control characters, which no prompt
    /// may contain, were left out.
    fn insert(&mut self, pasted: &str) -> usize {
        let lines = pasted.replace("\r\n", "\n").replace('\r', "\n");
        let fit: String = lines.chars().filter(|&c| c == '\n' || c == '\t' || !c.is_control()).collect();
        self.text.insert_str(&fit);
        lines.chars().count() - fit.chars().count()
    }

    pub(super) fn take(&mut self, text: &str, desk: &mut OverlayContext<'_, '_>) {
        let left_out = self.insert(text);
        if left_out > 0 {
            let left_out = text::counted(left_out, "control character");
            desk.tell(Status::Stalled, format!("removed from the paste: {left_out}"));
        }
        self.keep_draft(desk);
    }

    pub(super) fn older(&mut self) {
        if let Some(prompt) = self.recall.older(&self.prompt()).map(str::to_owned) {
            self.replace(&prompt);
        }
    }

    pub(super) fn newer(&mut self) {
        if let Some(prompt) = self.recall.newer().map(str::to_owned) {
            self.replace(&prompt);
        }
    }

    /// Takes over the draft that something was added to. What is typed next goes where it would have gone.
    pub(super) fn show_draft(&mut self, memory: &OverlayMemory) {
        let at = self.text.cursor();
        let draft = self.to.one().and_then(|key| memory.drafts.get(key)).map_or("", String::as_str);
        (self.is_kept, self.was_whole) = (true, false);
        self.replace(draft);
        let cell = |at| u16::try_from(at).unwrap_or(u16::MAX);
        self.text.move_cursor(CursorMove::Jump(cell(at.0), cell(at.1)));
    }
}

pub fn text_area(text: &str) -> TextArea<'static> {
    let mut area = TextArea::new(text.split('\n').map(str::to_owned).collect());
    area.set_wrap_mode(WrapMode::WordOrGlyph);
    area.set_cursor_line_style(Style::default());
    area.set_placeholder_text("what should it do?   (↑ brings back what was sent before)");
    area.move_cursor(CursorMove::Bottom);
    area.move_cursor(CursorMove::End);
    area
}
