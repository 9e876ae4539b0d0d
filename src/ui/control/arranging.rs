//! Which rows and columns there are, in which order, and where.

use super::group::{Group, never};
use crate::fleet::{TerminalKey, View};
use crate::present::arrangement::Sort;
use crate::status::Status;
use crate::ui::columns::ColumnList;
use crate::ui::filter_bar::FilterBar;
use crate::ui::lists::arranging;
use crate::ui::{Action, Filter, Item, Request, TableRow, Topic, Ui};

pub(super) const GROUP: Group = Group {
    actions: &[Action::Filter, Action::Close, Action::Sort, Action::Columns, Action::Layout],
    why_not: never,
    obey,
};

fn obey(ui: &mut Ui, action: Action, view: &View<'_>) -> Vec<Request> {
    // Rows that stand in another order now are no longer where they were shown.
    ui.drawn.rows.clear();
    let arrangement = &mut ui.memory.arrangement;
    match action {
        Action::Filter => {
            let bar = FilterBar::new(&arrangement.filter);
            ui.before_filter = ui.cursor.row().cloned();
            ui.open(bar);
        }
        Action::Close => {
            let was_filtered = !arrangement.filter.is_empty();
            ui.memory.toasts.clear();
            match was_filtered {
                true => {
                    arrangement.filter = Filter::default();
                    ui.put_in_order(view);
                }
                // Nothing is put into another order.
                false => arrangement.flags.unmark_all(),
            }
        }
        Action::Sort => {
            let (sort, grouping) = (arrangement.sort, arrangement.grouping);
            let orders = ui.orders(view);
            ui.open(arranging(sort, grouping, orders));
        }
        Action::Columns => ui.open(ColumnList::default()),
        _ => {
            ui.panes.layout = ui.panes.next_layout(&ui.drawn.regions);
            let message = format!("{}; {} goes on", ui.panes.layout.words(), ui.fleet_key(action));
            ui.notify_about(Topic::Layout, Status::Ready, message, view.now);
        }
    }
    Vec::new()
}

impl Ui {
    /// What the operator put into another order is in that order at once.
    pub(super) fn put_in_order(&mut self, view: &View<'_>) {
        self.drawn.rows.clear();
        self.release_rows();
        self.follow(view);
        self.cursor.hold(view.now);
    }

    /// The orders that say something of what is shown.
    pub(super) fn orders(&self, view: &View<'_>) -> Vec<Sort> {
        Sort::of_use(&self.memory.arrangement.shown(view).collect::<Vec<_>>())
    }

    /// Lets every row go to where it belongs.
    fn release_rows(&mut self) {
        self.cursor.release();
        if let Some(tiles) = &mut self.tiles {
            tiles.release();
        }
    }

    /// Follows a filter that is being typed: each row stands where it belongs, and the cursor is on the terminal that
    /// was selected before, or on the first one as long as that is not shown.
    pub(super) fn follow_filter(&mut self, view: &View<'_>) {
        self.release_rows();
        self.drawn.rows.clear();
        let rows = self.rows(view);
        let before = self.before_filter.as_ref().and_then(|key| rows.iter().position(|row| row.is(key)));
        self.cursor.select(before.unwrap_or(0), &rows, view.now);
    }

    /// Lets the cursor follow the rows.
    pub(in crate::ui) fn follow(&mut self, view: &View<'_>) {
        let arrangement = &mut self.memory.arrangement;
        let is_filtered = !arrangement.filter.is_empty();
        if is_filtered {
            let (flags, cursor) = (&arrangement.flags, &self.cursor);
            let is_held = cursor.is_held(view.now);
            arrangement.filter.keep_only(|key| is_held || cursor.key() == Some(key) || flags.has_marked(key));
            let selected = self.cursor.key().and_then(|key| Item::find(view, key));
            let is_kept = |item| arrangement.filter.only_keeps(item, &arrangement.flags, view.now);
            if selected.is_some_and(is_kept) {
                self.cursor.stay();
            }
        }
        let rows = self.rows(view);
        self.cursor.follow(&rows, view.now);
        if is_filtered {
            let flags = &self.memory.arrangement.flags;
            let marked = rows.iter().filter_map(TableRow::item).filter(|item| flags.is_marked(*item)).map(Item::key);
            let kept: Vec<TerminalKey> = marked.chain(self.cursor.key()).cloned().collect();
            self.memory.arrangement.filter.keep(kept);
        }
    }
}
