//! Going through the terminals that wait, or, if none does, through those that need attention.

use super::group::Group;
use crate::fleet::View;
use crate::ui::{Action, Context, Item, Request, TableRow, Topic, Ui};

pub(super) const GROUP: Group = Group { actions: &[Action::NextWaiting, Action::PreviousWaiting], why_not, perform };

fn why_not(ui: &Ui, _: Action, view: &View<'_>) -> Option<String> {
    ui.memory.arrangement.queue(view).is_empty().then(|| ui.why_none_waits(view))
}

fn perform(ui: &mut Ui, action: Action, view: &View<'_>) -> Vec<Request> {
    ui.step_to_waiting(action == Action::NextWaiting, view);
    Vec::new()
}

impl Ui {
    /// From a dialog it goes on to what the next terminal waits for, and from the view of a terminal to that of the next.
    fn step_to_waiting(&mut self, forward: bool, view: &View<'_>) {
        let context = self.context();
        let is_in_view = matches!(context, Context::Dialog | Context::Drill);
        if let Some(item) = self.selected(view).filter(|_| is_in_view) {
            self.cursor.has_looked_at(item);
        }
        let before = self.cursor.key().cloned();
        if !self.select_waiting(forward, view) {
            return self.say(self.why_none_waits(view), view);
        }
        let stays = self.cursor.key() == before.as_ref();
        match is_in_view {
            true if stays => self.say("nobody else waits".to_owned(), view),
            true => {
                self.overlays.pop();
                match self.cursor.key().cloned().filter(|_| context == Context::Drill) {
                    Some(key) => self.open_history(&key, view),
                    None => self.open_selected(view),
                }
            }
            false if stays => self.say_longest(view),
            // What was said of the one before is no longer about the cursor.
            false => self.retire(&Topic::Key),
        }
    }

    /// Says why the key that goes to the longest wait did not move the cursor.
    fn say_longest(&mut self, view: &View<'_>) {
        let queue = self.memory.arrangement.queue(view);
        let Some(item) = self.selected(view) else { return };
        let again = self.fleet_key(Action::NextWaiting);
        let why = match (item.status().needs_operator(), queue.len()) {
            (true, ..=1) => format!("{} is the only one waiting", item.id()),
            (true, _) => format!("{} waits longest; {again} again goes to the next", item.id()),
            (false, ..=1) => format!("nobody waits; only {} is worth a look", item.id()),
            (false, _) => format!("nobody waits; {again} again goes to the next that is worth a look"),
        };
        self.say(why, view);
    }

    /// Why there is no next terminal to go to.
    fn why_none_waits(&self, view: &View<'_>) -> String {
        let arrangement = &self.memory.arrangement;
        if !arrangement.queue(view).is_empty() {
            return "nothing else needs you".to_owned();
        }
        let hidden: Vec<Item<'_>> =
            Item::all(view).into_iter().filter(|item| arrangement.wants_a_look(*item)).collect();
        let needing = hidden.iter().filter(|item| arrangement.needs_operator(**item)).count();
        let message = match (hidden.len(), needing) {
            (0, _) => return "nothing needs you".to_owned(),
            (1, 0) => "1 that is worth a look".to_owned(),
            (some, 0) => format!("{some} that are worth a look"),
            (_, 1) => "1 that needs you".to_owned(),
            (_, some) => format!("{some} that need you"),
        };
        let show = self.fleet_key(Action::Close);
        format!("the filter hides {message} ({show} shows all)")
    }

    /// Selects the next row of those that wait, or should be looked at, most urgent first. A folded group that it is in is unfolded.
    fn select_waiting(&mut self, forward: bool, view: &View<'_>) -> bool {
        let queue = self.memory.arrangement.queue(view);
        let next = if forward { self.cursor.next_of(&queue) } else { self.cursor.previous_of(&queue) };
        let Some(item) = next else { return false };
        if let Some(group) = self.memory.arrangement.group_of(view, item.key()) {
            self.memory.arrangement.fold(&group, false);
        }
        let rows = self.rows(view);
        let is_it = |row: &TableRow<'_>| row.item().is_some_and(|shown| shown.key() == item.key());
        if let Some(index) = rows.iter().position(is_it) {
            match forward {
                true => self.cursor.walk_to(index, &rows, view.now),
                false => self.cursor.select(index, &rows, view.now),
            }
        }
        true
    }
}
