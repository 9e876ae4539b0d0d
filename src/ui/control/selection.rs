//! Which rows an action is about.

use crate::fleet::{Terminal, TerminalKey, View};
use crate::ui::{Action, Item, RowKey, Ui};

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
