//! What the columns of a row are drawn with.

use ratatui::prelude::{Buffer, Modifier, Rect, Style};

use crate::status::Status;
use crate::ui::{Canvas, Item, Pen};

/// Draws the ground of a line and the cursor on it.
pub fn begin_line<'a>(canvas: &Canvas<'_>, buffer: &'a mut Buffer, line: Rect, is_selected: bool) -> Pen<'a> {
    let parts = &canvas.theme.parts;
    let base = if is_selected { parts.selected } else { Style::default() };
    buffer.set_style(line, base);
    let mut pen = Pen::new(buffer, line, 0);
    // The title's style is the cursor's alone: where titles are underlined, a blank would be, too.
    pen.text(if is_selected { "›" } else { " " }, if is_selected { base.patch(parts.title) } else { base });
    pen
}

/// One row as its columns are drawn, with the styles that hold for all of it.
pub struct Cell<'a, 'c> {
    pub canvas: &'a Canvas<'c>,
    pub item: Item<'a>,
    pub status: Status,
    pub is_selected: bool,
    pub is_muted: bool,
    pub is_stale: bool,
    pub base: Style,
    pub quiet: Style,
}

impl Cell<'_, '_> {
    /// A style as this row has it: what is muted or idle keeps its glyph and its words, and raises its voice with nothing else.
    pub fn style(&self, style: Style) -> Style {
        if self.is_muted || self.status == Status::Ready { self.quiet } else { self.base.patch(style) }
    }

    /// The same, leaning where what is known is old.
    pub fn aged(&self, style: Style) -> Style {
        let stale = if self.is_stale { Modifier::ITALIC } else { Modifier::empty() };
        self.style(style).add_modifier(stale)
    }

    /// The style of words, quiet where they are of what is there no more.
    pub fn text(&self) -> Style {
        let parts = &self.canvas.theme.parts;
        self.aged(if self.item.is_of_the_past() { parts.quiet } else { parts.text })
    }
}
