//! A line of text that is being typed.

use ratatui::crossterm::event::{Event, KeyEvent};
use tui_input::backend::crossterm::EventHandler;
use tui_input::{Input, InputRequest};

use super::canvas::Canvas;
use super::text::{self, Pen};
use crate::screen::is_harmless;

/// A line that is edited with the usual keys.
#[derive(Clone, Debug, Default)]
pub struct LineInput {
    input: Input,
}

impl LineInput {
    /// A line with a text in it, the cursor behind.
    pub fn new(text: &str) -> Self {
        Self { input: Input::new(text.to_owned()) }
    }

    /// What was typed.
    pub fn text(&self) -> &str {
        self.input.value()
    }

    /// The cells that it takes.
    pub fn cells(&self) -> usize {
        text::width(self.text())
    }

    /// Takes in a key. Returns whether the text is another one now.
    pub fn key(&mut self, key: KeyEvent) -> bool {
        self.input.handle_event(&Event::Key(key)).is_some_and(|changed| changed.value)
    }

    /// Takes in a pasted text; what does not fit into a line is left out. Returns whether the text is another one now.
    pub fn paste(&mut self, text: &str) -> bool {
        let mut changed = false;
        for c in text.chars().map(|c| if c == '\n' || c == '\t' { ' ' } else { c }).filter(|&c| is_harmless(c)) {
            changed |= self.input.handle(InputRequest::InsertChar(c)).is_some_and(|changed| changed.value);
        }
        changed
    }

    /// Writes the line and its cursor into a field of that many cells; the cursor is always in it.
    pub fn draw(&self, canvas: &Canvas<'_>, pen: &mut Pen<'_>, cells: usize) {
        let parts = &canvas.theme.parts;
        let cells = cells.min(usize::from(pen.room()));
        let Some(room) = cells.checked_sub(1) else { return };
        let at = self.text().char_indices().nth(self.input.cursor()).map_or(self.text().len(), |(at, _)| at);
        let (before, after) = self.text().split_at(at);
        let under = text::pieces(after).next();
        let before = tail(before, room);
        let under_cells = under.map_or(1, |piece| usize::from(piece.width));
        let rest = under.map_or("", |piece| after.split_once(piece.symbol).map_or("", |(_, rest)| rest));
        let left = cells.saturating_sub(text::width(before) + under_cells);
        pen.raw(before, parts.text).raw(under.map_or(" ", |piece| piece.symbol), parts.cursor);
        pen.field(rest, left, parts.text);
    }
}

/// The end of a text that fits into that many cells.
fn tail(text: &str, cells: usize) -> &str {
    let mut from = 0;
    while text::width(&text[from..]) > cells {
        from += text[from..].chars().next().map_or(1, char::len_utf8);
    }
    &text[from..]
}
