//! Going through the terminals that wait, or, if none does, through those that need attention; and keys that were typed ahead.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::PRESENT;
use super::table::NOTHING_SELECTED;
use crate::fleet::View;
use crate::operation::Refusal;
use crate::time::{Span, Timestamp};
use crate::ui::dialog::{Ahead, DialogBox};
use crate::ui::lists::copying;
use crate::ui::question::TypeAhead;
use crate::ui::{Action, Context, Item, Keymap, OverlayEvent, Request, TableRow, Topic, Ui};

/// How long the cursor is on a row before anybody can have read what stands there.
const READ: Span = Span::from_millis(300);

impl Ui {
    /// From a dialog it goes on to what the next terminal waits for.
    pub(super) fn step_to_waiting(&mut self, forward: bool, view: &View<'_>) {
        let is_in_dialog = self.context() == Context::Dialog;
        if let Some(item) = self.selected(view).filter(|_| is_in_dialog) {
            self.cursor.has_looked_at(item);
        }
        let before = self.cursor.key().cloned();
        if !self.select_waiting(forward, view) {
            return self.say(self.why_none_waits(view), view);
        }
        let stays = self.cursor.key() == before.as_ref();
        match is_in_dialog {
            true if stays => self.say("nobody else waits".to_owned(), view),
            true => {
                self.overlays.pop();
                self.open_selected(view);
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
            (true, ..=1) => format!("nobody waits but {}", item.id()),
            (true, _) => format!("{} waits longest; {again} again goes to the next", item.id()),
            (false, ..=1) => format!("nobody waits; only {} is worth a look", item.id()),
            (false, _) => format!("nobody waits; {again} again goes to the next that is worth a look"),
        };
        self.say(why, view);
    }

    /// Why there is no next terminal to go to.
    pub(super) fn why_none_waits(&self, view: &View<'_>) -> String {
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
        let show = self.fleet_key(Action::Dismiss);
        format!("the filter hides {message} ({show} shows all)")
    }

    /// Selects the next row of those that wait, or should be looked at, most urgent first. A folded group that it is in is unfolded.
    fn select_waiting(&mut self, forward: bool, view: &View<'_>) -> bool {
        let queue = self.memory.arrangement.queue(view);
        let next = if forward { self.cursor.next_of(&queue) } else { self.cursor.previous_of(&queue) };
        let Some(item) = next else { return false };
        if let Some(group) = self.memory.arrangement.group_of(item) {
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

    /// Goes on to the next that waits, instead of starting a prompt that nobody meant.
    pub(super) fn follow_answer(&mut self, view: &View<'_>) {
        if let Some(answered) = self.selected(view) {
            self.cursor.has_looked_at(answered);
        }
        let arrangement = &self.memory.arrangement;
        let waits = arrangement.shown(view).any(|item| arrangement.needs_operator(item));
        if waits {
            self.select_waiting(true, view);
            // Only the key that goes there goes on from there when it is pressed again.
            self.cursor.begin_key();
        }
        let why = match self.selected(view).filter(|_| waits) {
            Some(next) => format!("{} asks next, and {} shows what", next.id(), self.fleet_key(Action::Open)),
            None => format!("nobody waits any more; {} writes a prompt", self.fleet_key(Action::Prompt)),
        };
        self.memory.type_ahead.begin(&why, true, view.now);
        self.say(why, view);
    }

    /// Offers what can be copied. Soon behind an answer the key may be meant for another dialog, which is not open: the first
    /// one only says so.
    pub(super) fn offer_copy(&mut self, view: &View<'_>) {
        let Some(key) = self.target() else { return };
        let behind = self.answered.filter(|&at| self.overlays.is_empty() && (at..at + PRESENT).contains(&view.now));
        if behind.is_none() || std::mem::replace(&mut self.said_behind, behind) == behind {
            return self.open(copying(key));
        }
        let [open, copy] = [Action::Open, Action::Copy].map(|action| self.fleet_key(action));
        let what = match self.selected(view) {
            Some(item) if item.status().needs_operator() => format!("{open} shows what {} asks", item.id()),
            Some(item) => format!("{} asks nothing", item.id()),
            None => NOTHING_SELECTED.to_owned(),
        };
        self.say(format!("{copy} answered nothing: {what}; {copy} again copies"), view);
    }

    /// The box of a dialog; one whose row nobody can have read under the cursor takes no keys at first: they were typed
    /// ahead. A text is kept where keys led to a row that waited already.
    pub(super) fn guarded(&self, dialog: DialogBox, now: Timestamp) -> DialogBox {
        if !self.is_ahead(now) {
            return dialog;
        }
        let is_meant = self.drawn.selected.is_some() && !dialog.is_deaf(now);
        dialog.typed_ahead(if is_meant { Ahead::Kept } else { Ahead::Ignored })
    }

    /// Whether nobody can have read the row under the cursor that a key opens.
    pub(super) fn is_ahead(&self, now: Timestamp) -> bool {
        let is_new = self.drawn.selected.as_ref() != self.cursor.row() || self.cursor.has_just_come(now, READ);
        self.overlays.is_empty() && is_new
    }

    /// Whether a key was meant for a line that did not open. Esc ends that, and what leaves, closes or moves is a key as ever:
    /// it stands in no text.
    pub(super) fn is_typed_ahead(&mut self, key: KeyEvent, action: Option<Action>, view: &View<'_>) -> bool {
        let moves = !matches!(
            key.code,
            KeyCode::Char(_) | KeyCode::Enter | KeyCode::Backspace | KeyCode::Delete | KeyCode::Esc
        );
        // After a pause, what only changes what is seen may be pressed as well: in the table it does no harm.
        let is_step = self.overlays.is_empty() && action.is_some_and(Action::is_step);
        let is_command = is_step || !Keymap::is_letter(key);
        if moves || (is_command && self.memory.type_ahead.holds_text_only(view.now)) {
            self.memory.type_ahead = TypeAhead::default();
            return false;
        }
        let leaves = matches!(action, Some(Action::Close | Action::Quit | Action::Suspend | Action::Redraw));
        let opens_again = self.memory.type_ahead.opens_again() && action == Some(Action::Open);
        if opens_again || (leaves && key.modifiers.contains(KeyModifiers::CONTROL)) {
            self.memory.type_ahead = TypeAhead::default();
            return false;
        }
        if key.code == KeyCode::Esc {
            self.memory.type_ahead = TypeAhead::default();
            self.retire(&Topic::Key);
            // A box closes with it: what is pressed next is meant for the table.
            return action != Some(Action::Close);
        }
        // Help does no harm, either; a word that is typed may end with its key.
        let asks_help = action == Some(Action::Help) && !self.memory.type_ahead.holds_word(view.now);
        self.prolong_type_ahead(view);
        !asks_help
    }

    /// Takes in what goes nowhere, and says so. What was chosen in the box of a dialog may have been chosen by the same text.
    pub(super) fn prolong_type_ahead(&mut self, view: &View<'_>) {
        let may_answer = self.context() == Context::Dialog;
        self.memory.type_ahead.prolong(may_answer, view.now);
        self.memory.tell_type_ahead(view.now);
        self.on_event(OverlayEvent::TextIgnored, view);
    }

    /// Lets a text go nowhere that was typed where no line is open, and says which key opens one.
    pub(super) fn ignore_text(&mut self, view: &View<'_>) {
        let (context, line, what) = match self.context() {
            Context::Dialog => (Context::Dialog, Action::RefuseWhy, "opens a line for it"),
            _ => (Context::Fleet, Action::Prompt, "writes a prompt"),
        };
        let key = self.options.keymap.key_for(context, line).unwrap_or_default();
        self.memory.type_ahead.begin_word(&format!("this looks like a text; {key} {what}"), view.now);
        self.memory.tell_type_ahead(view.now);
    }

    /// Says of what a letter asked for that it was not done, as other letters followed at once.
    pub fn asked_by_text(&mut self, request: &Request, view: &View<'_>) {
        let Request::Perform(operation) = request else { return self.ignore_text(view) };
        let why = "nothing was sent: letters followed at once, as in a text";
        self.ended(operation, &Refusal::Other(why.to_owned()).into(), view);
        self.memory.type_ahead.begin(why, false, view.now);
    }
}
