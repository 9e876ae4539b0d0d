//! Groups of rows: folded and unfolded. In a grid, which has none, the same keys move to the tiles beside.

use super::group::Group;
use crate::fleet::View;
use crate::present::arrangement::{Group as RowGroup, Grouping};
use crate::ui::{Action, Request, RowKey, Ui};

pub(super) const GROUP: Group =
    Group { actions: &[Action::Fold, Action::FocusLeft, Action::FocusRight], why_not, obey };

fn why_not(ui: &Ui, action: Action, _: &View<'_>) -> Option<String> {
    if ui.tiles.is_some() {
        let back = ui.fleet_key(Action::Layout);
        return (action == Action::Fold).then(|| format!("a grid has no groups ({back} goes back to the table)"));
    }
    (ui.memory.arrangement.grouping == Grouping::None).then(|| "there are no groups".to_owned())
}

fn obey(ui: &mut Ui, action: Action, view: &View<'_>) -> Vec<Request> {
    match action {
        Action::FocusLeft if ui.tiles.is_some() => ui.step_beside(-1, 0, view),
        Action::FocusRight if ui.tiles.is_some() => ui.step_beside(1, 0, view),
        Action::FocusLeft => ui.fold_here(Some(true), view),
        Action::FocusRight => ui.fold_here(Some(false), view),
        _ => ui.fold_here(None, view),
    }
    Vec::new()
}

impl Ui {
    /// Folds a group or unfolds it; the cursor goes to its head.
    pub(super) fn toggle_fold(&mut self, group: &RowGroup, view: &View<'_>) {
        let fold = !self.memory.arrangement.is_folded(group);
        self.drawn.rows.clear();
        self.memory.arrangement.fold(group, fold);
        let rows = self.rows(view);
        if let Some(head) = rows.iter().position(|row| row.is(&RowKey::Head(group.clone()))) {
            self.cursor.select(head, &rows, view.now);
        }
    }

    /// Folds or unfolds the group that the cursor is in, whichever it is not or as is wanted.
    fn fold_here(&mut self, wanted: Option<bool>, view: &View<'_>) {
        let group = match self.cursor.row() {
            Some(RowKey::Head(group)) => Some(group.clone()),
            _ => self.selected(view).and_then(|item| self.memory.arrangement.group_of(view, item.key())),
        };
        match group {
            Some(group) if wanted == Some(self.memory.arrangement.is_folded(&group)) => {}
            Some(group) => self.toggle_fold(&group, view),
            // The cursor is on no row.
            None => {}
        }
    }
}
