//! What the columns of a row are drawn with.

use ratatui::prelude::{Modifier, Style};

use crate::status::Status;
use crate::ui::{Canvas, Item};

/// One row as its columns are drawn, with the styles that hold for all of it.
pub struct Cell<'a, 'c> {
    pub canvas: &'a Canvas<'c>,
    pub item: Item<'a>,
    pub status: Status,
    pub is_selected: bool,
    pub is_muted: bool,
    pub is_stale: bool,
}

impl Cell<'_, '_> {
    /// A style as this row has it: what is muted or idle keeps its glyph and its words, and raises its voice with nothing else.
    pub fn style(&self, style: Style) -> Style {
        if self.is_muted || self.status == Status::Ready { self.quiet() } else { style }
    }

    /// The style of what is less important.
    pub fn quiet(&self) -> Style {
        self.canvas.theme.parts.quiet
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
