//! A line of text that is being typed.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::prelude::{Line, Rect};
use ratatui_textarea::{CursorMove, TextArea};

use super::frame::Look;
use super::line::{self, Part, field, span};
use crate::present::text;
use crate::screen::is_harmless;

/// Characters that a line takes: more than anybody types, and no more than every frame can be drawn from.
const MOST: usize = 1000;

/// A line that is edited with the usual keys. What is longer than [`MOST`] is cut.
#[derive(Clone, Debug)]
pub struct LineInput {
    /// Has one line at all times.
    area: TextArea<'static>,
    /// Whether what it began with is selected as a whole, so that what is typed takes its place.
    is_selected: bool,
}

impl Default for LineInput {
    fn default() -> Self {
        Self::new("")
    }
}

impl LineInput {
    /// A line with a text in it, the cursor behind.
    pub fn new(text: &str) -> Self {
        let mut area = TextArea::new(vec![text.to_owned()]);
        area.set_max_histories(0);
        area.move_cursor(CursorMove::End);
        Self { area, is_selected: false }
    }

    /// The same with the text selected: what is typed takes its place, and any other key keeps it.
    pub fn selected(text: &str) -> Self {
        Self { is_selected: !text.is_empty(), ..Self::new(text) }
    }

    /// Whether a line can have a text as it is.
    pub fn takes(text: &str) -> bool {
        text.chars().all(is_harmless) && text.chars().count() <= MOST
    }

    /// What was typed.
    pub fn text(&self) -> &str {
        self.area.lines().first().map_or("", String::as_str)
    }

    /// The cells that it takes.
    pub fn cells(&self) -> usize {
        text::width(self.text())
    }

    /// Takes in a key. Returns whether the text is another one now.
    pub fn key(&mut self, key: KeyEvent) -> bool {
        // With Shift the text area would select, which a line does not show.
        let key = KeyEvent { modifiers: key.modifiers - KeyModifiers::SHIFT, ..key };
        let before = self.area.clone();
        let is_typed = matches!(key.code, KeyCode::Char(_)) && key.modifiers.is_empty();
        if std::mem::take(&mut self.is_selected)
            && (is_typed || matches!(key.code, KeyCode::Backspace | KeyCode::Delete))
        {
            *self = Self::new("");
            return if is_typed { self.area.input(key) } else { true };
        }
        let changed = match (key.code, key.modifiers) {
            // As in every shell: what is behind the cursor stays.
            (KeyCode::Char('u'), KeyModifiers::CONTROL) => self.area.delete_line_by_head(),
            (KeyCode::Delete, KeyModifiers::CONTROL) => self.area.delete_next_word(),
            (KeyCode::Enter | KeyCode::Tab, _) | (KeyCode::Char('m'), KeyModifiers::CONTROL) => false,
            _ => self.area.input(key),
        };
        let fits = self.text().chars().count() <= MOST;
        if !fits {
            self.area = before;
        }
        changed && fits
    }

    /// Takes in a pasted text; what does not fit into a line is left out. Returns whether the text is another one now.
    pub fn paste(&mut self, text: &str) -> bool {
        if std::mem::take(&mut self.is_selected) {
            *self = Self::new("");
        }
        let room = MOST.saturating_sub(self.text().chars().count());
        let blank = |c| if c == '\n' || c == '\t' { ' ' } else { c };
        let pasted: String = text.chars().map(blank).filter(|&c| is_harmless(c)).take(room).collect();
        self.area.insert_str(&pasted)
    }

    /// The line and its cursor in a field of that many cells; the cursor is always in it.
    pub fn spans(&self, look: &Look<'_>, cells: usize) -> Vec<Part> {
        let parts = &look.theme.parts;
        let Some(room) = cells.checked_sub(1) else { return Vec::new() };
        let (before, after) = self.around_cursor();
        let under = text::pieces(after).next();
        let shown = tail(before, room);
        // What is out of view to the left is not to be taken for all.
        let (cut, before) =
            if shown.len() < before.len() { ("…", tail(before, room.saturating_sub(1))) } else { ("", shown) };
        let cut = if room == 0 { "" } else { cut };
        let under_cells = under.map_or(1, |piece| usize::from(piece.width));
        let rest = under.map_or("", |piece| after.split_once(piece.symbol).map_or("", |(_, rest)| rest));
        let left = cells.saturating_sub(text::width(cut) + text::width(before) + under_cells);
        vec![
            span(cut, parts.quiet),
            span(before, if self.is_selected { parts.cursor } else { parts.text }),
            span(under.map_or(" ", |piece| piece.symbol), parts.cursor),
            field(rest, left, parts.text),
        ]
    }

    /// The line and its cursor behind something, in the first row of an area.
    pub fn behind(&self, look: &Look<'_>, area: Rect, before: impl Into<Line<'static>>) -> Line<'static> {
        let mut line = before.into();
        line.extend(self.spans(look, line::room(area, &line)));
        line
    }

    fn around_cursor(&self) -> (&str, &str) {
        let at = self.text().char_indices().nth(self.area.cursor().1).map_or(self.text().len(), |(at, _)| at);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn press(line: &mut LineInput, code: KeyCode, modifiers: KeyModifiers) -> bool {
        line.key(KeyEvent::new(code, modifiers))
    }

    #[test]
    fn the_usual_keys_edit_a_line_and_it_stays_one_line() {
        let mut line = LineInput::new("one two");
        let (control, shift) = (KeyModifiers::CONTROL, KeyModifiers::SHIFT);
        assert!(!press(&mut line, KeyCode::Enter, KeyModifiers::NONE));
        assert!(!press(&mut line, KeyCode::Tab, KeyModifiers::NONE));
        assert!(!press(&mut line, KeyCode::Char('m'), control));
        assert!(!press(&mut line, KeyCode::Left, shift), "nothing is selected that the next key would replace");
        assert!(press(&mut line, KeyCode::Char('W'), shift));
        assert_eq!(line.text(), "one twWo");
        assert!(press(&mut line, KeyCode::Char('u'), control));
        assert_eq!((line.text(), line.around_cursor()), ("o", ("", "o")));
        assert!(!press(&mut line, KeyCode::Backspace, KeyModifiers::NONE));
        assert!(line.paste("a\nb\u{1b}"));
        assert_eq!(line.around_cursor(), ("a b", "o"));
        assert!(press(&mut line, KeyCode::Char('w'), control));
        assert_eq!(line.text(), "a o");
        // What was cut comes back, and words are passed by.
        let alt = KeyModifiers::ALT;
        press(&mut line, KeyCode::Char('a'), control);
        assert!(press(&mut line, KeyCode::Char('y'), control));
        assert_eq!(line.around_cursor(), ("b", "a o"));
        press(&mut line, KeyCode::Char('f'), alt);
        press(&mut line, KeyCode::Char('b'), alt);
        assert!(press(&mut line, KeyCode::Char('k'), control));
        press(&mut line, KeyCode::Char('a'), control);
        press(&mut line, KeyCode::Char('d'), alt);
        press(&mut line, KeyCode::Char('e'), control);
        assert!(line.around_cursor().1.is_empty());
    }

    #[test]
    fn what_is_typed_takes_the_place_of_a_selected_text_and_other_keys_keep_it() {
        let none = KeyModifiers::NONE;
        let mut line = LineInput::selected("old");
        assert!(press(&mut line, KeyCode::Char('n'), none) && press(&mut line, KeyCode::Char('o'), none));
        assert_eq!(line.text(), "no");
        let mut line = LineInput::selected("old");
        press(&mut line, KeyCode::End, none);
        assert!(press(&mut line, KeyCode::Char('-'), none));
        assert_eq!(line.text(), "old-");
        let mut line = LineInput::selected("old");
        assert!(press(&mut line, KeyCode::Backspace, none) && line.text().is_empty());
        let mut line = LineInput::selected("old");
        assert!(line.paste("new") && line.text() == "new");
    }

    #[test]
    fn a_full_line_takes_no_more() {
        let mut line = LineInput::new(&"x".repeat(MOST - 1));
        assert!(line.paste("yz"));
        assert!(line.text().ends_with("xy"));
        assert!(!line.paste("z"));
        assert!(!press(&mut line, KeyCode::Char('z'), KeyModifiers::NONE));
        assert_eq!(line.text().chars().count(), MOST);
        assert!(press(&mut line, KeyCode::Backspace, KeyModifiers::NONE));
    }
}
