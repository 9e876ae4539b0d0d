//! Going through the terminals that wait, or, if none does, through those that need attention.

use super::group::Group;
use crate::fleet::View;
use crate::ui::{Action, Context, Item, Request, TableRow, Topic, Ui};

pub(super) const GROUP: Group = Group { actions: &[Action::NextWaiting, Action::PreviousWaiting], why_not, obey };

fn why_not(ui: &Ui, _: Action, view: &View<'_>) -> Option<String> {
    ui.memory.arrangement.queue(view).is_empty().then(|| ui.why_none_waits(view))
}

fn obey(ui: &mut Ui, action: Action, view: &View<'_>) -> Vec<Request> {
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
        let waits = self.selected(view).filter(|item| item.status().needs_operator());
        self.say(waits.map_or_else(|| "nobody waits".to_owned(), |item| format!("{} waits longest", item.id())), view);
    }

    /// Why there is no next terminal to go to.
    fn why_none_waits(&self, view: &View<'_>) -> String {
        let arrangement = &self.memory.arrangement;
        if !arrangement.queue(view).is_empty() {
            return "nothing else needs you".to_owned();
        }
        match Item::all(view).into_iter().filter(|item| arrangement.wants_a_look(*item)).count() {
            0 => "nothing needs you".to_owned(),
            hidden => format!("the filter hides {hidden} to look at ({} shows all)", self.fleet_key(Action::Close)),
        }
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
