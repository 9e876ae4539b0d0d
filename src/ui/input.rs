//! A line of text that is being typed.

use ratatui::crossterm::event::{Event, KeyEvent};
use tui_input::Input;
use tui_input::backend::crossterm::EventHandler;

use super::canvas::Canvas;
use super::text::{self, Pen};
use crate::screen::is_harmless;

/// Characters that a line takes: more than anybody types, and no more than every frame can be drawn from.
const MOST: usize = 1000;

/// A line that is edited with the usual keys. What is longer than [`MOST`] is cut.
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
        let full = (self.text().chars().count() >= MOST).then(|| self.input.clone());
        let changed = self.input.handle_event(&Event::Key(key)).is_some_and(|changed| changed.value);
        match full {
            Some(before) if self.text().chars().count() > MOST => {
                self.input = before;
                false
            }
            _ => changed,
        }
    }

    /// Takes in a pasted text; what does not fit into a line is left out. Returns whether the text is another one now.
    pub fn paste(&mut self, text: &str) -> bool {
        let room = MOST.saturating_sub(self.text().chars().count());
        let blank = |c| if c == '\n' || c == '\t' { ' ' } else { c };
        let pasted: String = text.chars().map(blank).filter(|&c| is_harmless(c)).take(room).collect();
        if pasted.is_empty() {
            return false;
        }
        let (before, after) = self.around_cursor();
        let (line, cursor) = (format!("{before}{pasted}{after}"), self.input.cursor() + pasted.chars().count());
        self.input = Input::new(line).with_cursor(cursor);
        true
    }

    /// Writes the line and its cursor into a field of that many cells; the cursor is always in it.
    pub fn draw(&self, canvas: &Canvas<'_>, pen: &mut Pen<'_>, cells: usize) {
        let parts = &canvas.theme.parts;
        let cells = cells.min(usize::from(pen.room()));
        let Some(room) = cells.checked_sub(1) else { return };
        let (before, after) = self.around_cursor();
        let under = text::pieces(after).next();
        let before = tail(before, room);
        let under_cells = under.map_or(1, |piece| usize::from(piece.width));
        let rest = under.map_or("", |piece| after.split_once(piece.symbol).map_or("", |(_, rest)| rest));
        let left = cells.saturating_sub(text::width(before) + under_cells);
        pen.raw(before, parts.text).raw(under.map_or(" ", |piece| piece.symbol), parts.cursor);
        pen.field(rest, left, parts.text);
    }

    fn around_cursor(&self) -> (&str, &str) {
        let at = self.text().char_indices().nth(self.input.cursor()).map_or(self.text().len(), |(at, _)| at);
        self.text().split_at(at)
    }
}

/// The end of a text that fits into that many cells, whatever its characters join to.
fn tail(text: &str, cells: usize) -> &str {
    let mut left = cells;
    let fits = |&(at, c): &(usize, char)| {
        let rest = left.checked_sub(text::width(&text[at..at + c.len_utf8()]));
        left = rest.unwrap_or(left);
        rest.is_some()
    };
    let from = text.char_indices().rev().take_while(fits).last().map_or(text.len(), |(at, _)| at);
    &text[from..]
}
