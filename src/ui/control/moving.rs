//! Which rows an action is about, and moving the cursor by rows.

use super::group::{Group, never};
use crate::fleet::{Terminal, TerminalKey, View};
use crate::ui::{Action, Drawn, Item, Request, RowKey, Ui, grid};

impl Ui {
    /// What the cursor is on, unless that is the head of a group.
    pub(in crate::ui) fn selected<'a>(&self, view: &View<'a>) -> Option<Item<'a>> {
        Item::find(view, self.cursor.key()?)
    }

    /// The terminal that an action is about: that of what lies on top, else the selected one.
    pub(super) fn target(&self) -> Option<TerminalKey> {
        let shown = self.overlays.iter().rev().find_map(|overlay| overlay.kind().terminal);
        shown.or(self.cursor.key()).cloned()
    }

    /// What an action on one row is about: the terminal that lies on top, such as the one that is looked into, else the
    /// selected row.
    pub(super) fn acted_on<'a>(&self, view: &View<'a>) -> Option<Item<'a>> {
        Item::find(view, &self.target()?)
    }

    /// What an action for several is about: all that are marked, unless something about one terminal lies on top; else
    /// what any action is about.
    pub(super) fn acted_on_together<'a>(&self, view: &View<'a>) -> Vec<Item<'a>> {
        let marked = self.memory.arrangement.flags.marked(view);
        let marked: Vec<Item<'a>> = marked.filter(|_| self.overlays.is_empty()).collect();
        if marked.is_empty() { self.acted_on(view).into_iter().collect() } else { marked }
    }

    /// The marked agents that wait and are shown, by rows; none while an overlay is open, or if it is only one and the
    /// selected row asks something itself.
    pub(super) fn marked_that_wait<'a>(&self, view: &View<'a>) -> Vec<&'a Terminal> {
        let arrangement = &self.memory.arrangement;
        let waits = |item: Item<'a>| match item {
            Item::Terminal(terminal) if terminal.state.waits() && arrangement.flags.is_marked(item) => Some(terminal),
            _ => None,
        };
        let is_here = self.overlays.is_empty() && matches!(self.cursor.row(), Some(RowKey::Terminal(_)));
        let marked: Vec<&Terminal> = arrangement.shown(view).filter(|_| is_here).filter_map(waits).collect();
        let asks_itself = || self.selected(view).is_some_and(|item| item.status().needs_operator());
        if marked.len() == 1 && asks_itself() { Vec::new() } else { marked }
    }

    /// The key of an action in the table, as messages name it.
    pub(super) fn fleet_key(&self, action: Action) -> String {
        self.key_for(action).unwrap_or_default()
    }
}

pub(super) const GROUP: Group = Group {
    actions: &[Action::Up, Action::Down, Action::PageUp, Action::PageDown, Action::First, Action::Last],
    why_not: never,
    obey,
};

fn obey(ui: &mut Ui, action: Action, view: &View<'_>) -> Vec<Request> {
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
