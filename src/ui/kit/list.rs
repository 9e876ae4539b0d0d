//! A list of which one entry is selected.

use ratatui::prelude::{Buffer, Line, Rect};
use ratatui::widgets::StatefulWidget;

use super::line::{self, Part, blank, span};
use super::scroll::Viewport;
use crate::ui::theme::Parts;

/// A list of which one entry is selected.
pub struct List<'a, F> {
    pub parts: &'a Parts,
    pub count: usize,
    /// The selected entry.
    pub at: usize,
    /// An entry, for the cells that there are behind the cursor.
    pub entry: F,
}

impl<F: Fn(usize, usize) -> Vec<Part>> StatefulWidget for List<'_, F> {
    type State = Viewport;

    /// Draws the entries that fit, moved as little as it takes to have the selected one among them.
    fn render(self, area: Rect, buffer: &mut Buffer, view: &mut Viewport) {
        view.fit(usize::from(area.height), self.count);
        view.reveal(self.at..self.at + 1);
        for (row, nth) in area.rows().zip(view.first()..self.count) {
            let mut line = cursor(self.parts, nth == self.at) + blank(1);
            line.extend((self.entry)(nth, line::room(row, &line)));
            line::draw(buffer, row, line);
        }
    }
}

/// The beginning of a row, with the cursor and a ground of its own where it is selected.
pub fn cursor(parts: &Parts, is_selected: bool) -> Line<'static> {
    match is_selected {
        true => Line::from(span("›", parts.title)).style(parts.selected),
        false => blank(1).into(),
    }
}
