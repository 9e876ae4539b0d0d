//! Order, groups, filter, marks: how the operator wants the terminals to be shown.

use crate::fleet::View;
use crate::state::Attention;
use crate::status::Status;
use crate::ui::action::Action;
use crate::ui::arrangement::{Group, RowKey};
use crate::ui::filter::{Filter, FilterBar};
use crate::ui::item::Item;
use crate::ui::{Request, Topic, Ui};

impl Ui {
    /// Does what an action says of the order of the rows.
    pub(super) fn rearrange(&mut self, action: Action, view: &View<'_>) {
        // Rows that stand in another order now are no longer where they were shown.
        self.drawn.rows.clear();
        let arrangement = &mut self.memory.arrangement;
        match action {
            Action::Filter => {
                let bar = FilterBar::new(&arrangement.filter);
                self.before_filter = self.cursor.row().cloned();
                return self.open(bar);
            }
            Action::Dismiss => {
                arrangement.filter = Filter::default();
                self.memory.toasts.clear();
            }
            Action::Sort => arrangement.sort = arrangement.sort.next(),
            Action::Group => arrangement.grouping = arrangement.grouping.next(),
            Action::Fold => return self.fold_here(view),
            Action::FoldAll => return self.fold_everything(view),
            Action::Mark => return self.mark(view),
            Action::MarkAll => {
                let shown: Vec<Item<'_>> = arrangement.shown(view).collect();
                return arrangement.flags.mark(shown);
            }
            Action::UnmarkAll => arrangement.flags.unmark_all(),
            _ => return self.lay_out(action, view),
        }
        // What the operator put into another order is in that order at once.
        self.cursor.release();
        self.follow(view);
        self.cursor.hold(view.now);
    }

    /// Follows a filter that is being typed: each row stands where it belongs, and the cursor is on the terminal that
    /// was selected before, or on the first one as long as that is not shown.
    pub(super) fn follow_filter(&mut self, view: &View<'_>) {
        self.cursor.release();
        self.drawn.rows.clear();
        let rows = self.rows(view);
        let before = self.before_filter.as_ref().and_then(|key| rows.iter().position(|row| row.is(key)));
        self.cursor.select(before.unwrap_or(0), &rows, view.now);
    }

    /// Folds a group or unfolds it; the cursor goes to its head.
    pub(super) fn toggle_fold(&mut self, group: &Group, view: &View<'_>) {
        let fold = !self.memory.arrangement.is_folded(group);
        self.drawn.rows.clear();
        self.memory.arrangement.fold(group, fold);
        let rows = self.rows(view);
        if let Some(head) = rows.iter().position(|row| row.is(&RowKey::Head(group.clone()))) {
            self.cursor.select(head, &rows, view.now);
        }
    }

    /// Folds all groups or unfolds them; the cursor goes to the head of the group that it was in, or stays on its row.
    fn fold_everything(&mut self, view: &View<'_>) {
        let arrangement = &mut self.memory.arrangement;
        let key = self.cursor.key();
        let item = key.and_then(|key| arrangement.shown(view).find(|item| item.key() == key));
        let group = item.and_then(|item| arrangement.group_of(item));
        arrangement.fold_all(view);
        self.cursor.release();
        let rows = self.rows(view);
        let is_folded = |group: &Group| self.memory.arrangement.is_folded(group);
        let head = group.filter(is_folded).map(RowKey::Head);
        if let Some(index) = head.and_then(|head| rows.iter().position(|row| row.is(&head))) {
            self.cursor.select(index, &rows, view.now);
        }
        self.follow(view);
        self.cursor.hold(view.now);
    }

    /// Folds or unfolds the group that the cursor is in.
    fn fold_here(&mut self, view: &View<'_>) {
        let group = match self.cursor.row() {
            Some(RowKey::Head(group)) => Some(group.clone()),
            _ => self.selected(view).and_then(|item| self.memory.arrangement.group_of(item)),
        };
        match group {
            Some(group) => self.toggle_fold(&group, view),
            None => self.say("there are no groups".to_owned(), view),
        }
    }

    /// Marks the selected terminal and goes on to the next row, so that several are marked by one key; on the head of a
    /// group it marks the group.
    fn mark(&mut self, view: &View<'_>) {
        let arrangement = &mut self.memory.arrangement;
        match self.cursor.row() {
            Some(RowKey::Head(group)) => {
                let members: Vec<Item<'_>> =
                    arrangement.shown(view).filter(|it| arrangement.group_of(*it).as_ref() == Some(group)).collect();
                if members.iter().all(|member| arrangement.flags.is_marked(*member)) {
                    members.into_iter().for_each(|member| arrangement.flags.toggle_mark(member));
                } else {
                    arrangement.flags.mark(members);
                }
            }
            Some(RowKey::Terminal(_)) => {
                if let Some(item) = self.selected(view) {
                    self.memory.arrangement.flags.toggle_mark(item);
                }
                self.step(1, view);
            }
            None => {}
        }
    }

    /// Pins or mutes the selected terminal or all that are marked, or takes that back where it holds for all of them. A
    /// row stays where it is until the cursor leaves it.
    pub(super) fn flag(&mut self, action: Action, view: &View<'_>) -> Vec<Request> {
        let items = self.acted_on_together(view);
        let Some(first) = items.first() else { return Vec::new() };
        let flags = &mut self.memory.arrangement.flags;
        let holds =
            |item: &Item<'_>| if action == Action::Pin { flags.is_pinned(*item) } else { flags.is_muted(*item) };
        let take_back = items.iter().all(holds);
        let changed: Vec<Item<'_>> = items.iter().copied().filter(|item| holds(item) == take_back).collect();
        for item in &changed {
            let _ = if action == Action::Pin { flags.toggle_pin(*item) } else { flags.toggle_mute(*item) };
        }
        let (action, did) = match (action, take_back) {
            (Action::Pin, false) => ("pinned", "pinned to the top"),
            (Action::Pin, true) => ("unpinned", "no longer pinned"),
            (_, false) if items.len() == 1 => ("muted", "muted: it will not count as needing you"),
            (_, false) => ("muted", "muted: they will not count as needing you"),
            (_, true) if items.len() == 1 => ("unmuted", "counted again when it needs you"),
            (_, true) => ("unmuted", "counted again when they need you"),
        };
        let told = match items.len() {
            1 => format!("{} is {did}", first.id()),
            several => format!("{several} are {did}"),
        };
        self.notify_about(Topic::Flags(first.key().clone()), Status::Ready, told, view.now);
        changed.iter().map(|item| Request::Note { key: Some(item.key().clone()), action }).collect()
    }

    /// Takes what the selected terminal or all that are marked finished as seen.
    pub(super) fn see(&mut self, view: &View<'_>) -> Vec<Request> {
        let items = self.acted_on_together(view);
        items.iter().for_each(|item| self.memory.bells.see(item.key()));
        let finished = |item: &Item<'_>| match item {
            Item::Terminal(terminal) if terminal.state.attention == Attention::Finished => {
                Some(Request::Seen { key: terminal.key.clone() })
            }
            _ => None,
        };
        let seen: Vec<Request> = items.iter().filter_map(finished).collect();
        if seen.is_empty() {
            self.say("nothing has finished there that was not seen".to_owned(), view);
        }
        seen
    }
}
