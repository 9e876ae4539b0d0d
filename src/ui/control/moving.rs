//! Moving the cursor by rows.

use super::group::{Group, never};
use crate::fleet::View;
use crate::ui::{Action, Drawn, Request, Ui, grid};

pub(super) const GROUP: Group = Group {
    actions: &[Action::Up, Action::Down, Action::PageUp, Action::PageDown, Action::First, Action::Last],
    why_not: never,
    perform,
};

fn perform(ui: &mut Ui, action: Action, view: &View<'_>) -> Vec<Request> {
    let page = isize::try_from(ui.drawn.page.max(1)).unwrap_or(isize::MAX);
    match action {
        Action::Up => ui.step_beside(0, -1, view),
        Action::Down => ui.step_beside(0, 1, view),
        Action::PageUp => ui.step(-page, view),
        Action::PageDown => ui.step(page, view),
        Action::First => {
            ui.step(isize::MIN, view);
            let rows = ui.rows(view);
            ui.cursor.stay_at_top(&rows);
        }
        _ => ui.step(isize::MAX, view),
    }
    Vec::new()
}

impl Ui {
    /// Moves the cursor by rows, and stops at both ends: by the rows as they were shown, wherever they may be by now.
    pub(super) fn step(&mut self, rows_down: isize, view: &View<'_>) {
        let rows = self.rows(view);
        let Drawn { rows: shown, first, count, .. } = &self.drawn;
        let from = shown.iter().position(|(_, key)| Some(key) == self.cursor.row());
        let to = from.map(|from| (first + from).saturating_add_signed(rows_down).min(count.saturating_sub(1)));
        let shown = to.and_then(|to| shown.get(to.checked_sub(*first)?));
        match shown.and_then(|(_, key)| rows.iter().position(|row| row.is(key))) {
            Some(index) => self.cursor.select(index, &rows, view.now),
            None => self.cursor.step(rows_down, &rows, view.now),
        }
        self.before_filter = self.cursor.row().cloned();
    }

    /// Moves the cursor to the row below or above, in a grid to the tile there, if there is one.
    pub(super) fn step_beside(&mut self, right: isize, down: isize, view: &View<'_>) {
        let (columns, count, from) = (self.drawn.columns, self.drawn.count, self.cursor.index());
        let by = if columns > 1 { grid::neighbour(from, (columns, count), right, down) } else { Some(down) };
        by.into_iter().for_each(|rows_down| self.step(rows_down, view));
    }
}
