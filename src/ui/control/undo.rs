//! Takes back what the letters of a text changed that was typed into the table.

use ratatui::crossterm::event::KeyEvent;

use crate::fleet::{TerminalKey, View};
use crate::ui::arrangement::{Arrangement, Grouping, Sort};
use crate::ui::layout::Panes;
use crate::ui::{Context, Flags, Item, Request, Topic, Ui};

/// What keys of the table change at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Arranged {
    /// How many views lie over the table.
    overlays: usize,
    flags: Flags,
    sort: Sort,
    grouping: Grouping,
    panes: Panes,
    muted: bool,
}

impl Ui {
    /// Handles a key. Where it shows that those before it were letters of a word, what they changed is undone.
    pub(super) fn key_of_run(&mut self, key: KeyEvent, view: &View<'_>) -> Vec<Request> {
        self.cursor.begin_key();
        let was_held = self.memory.type_ahead.holds(view.now);
        let mut requests = self.key(key, view);
        let is_word = !was_held && self.memory.type_ahead.holds_word(view.now) && self.memory.typed.is_word();
        if let Some(undone) = is_word.then(|| self.undo_run(view)).flatten() {
            requests.extend(undone);
            self.memory.type_ahead.add("what the word changed here is undone");
            self.memory.tell_type_ahead(view.now);
        }
        requests
    }

    /// Whether a line that a letter of a text opened takes the rest of it. In that of a prompt it is seen before it is sent.
    pub(super) fn is_line_of_run(&self) -> bool {
        let began_outside = match self.context() {
            Context::Naming => self.began_outside(),
            // A sign opens the palette, which is seldom a part of a text.
            Context::Menu => self.memory.typed.began_outside(),
            _ => false,
        };
        began_outside && self.memory.typed.is_word()
    }

    /// Whether other letters came right before the one that opened a line, but for those that only moved the cursor.
    pub(super) fn began_outside(&self) -> bool {
        let now = self.arranged();
        let has_changed = |before: &Arranged| {
            // Marks are made for what is typed then.
            (before.sort, before.grouping, before.panes, before.muted) != (now.sort, now.grouping, now.panes, now.muted)
        };
        self.memory.typed.began_outside() || self.before_run.as_deref().is_some_and(has_changed)
    }

    /// How everything is arranged that keys of the table change at once.
    pub(super) fn arranged(&self) -> Arranged {
        let Arrangement { flags, sort, grouping, .. } = &self.memory.arrangement;
        let overlays = self.overlays.len();
        Arranged {
            overlays,
            flags: flags.clone(),
            sort: *sort,
            grouping: *grouping,
            panes: self.panes,
            muted: self.muted,
        }
    }

    /// Takes back what the letters of a text changed that were taken for keys; `None` where that is nothing.
    fn undo_run(&mut self, view: &View<'_>) -> Option<Vec<Request>> {
        let before = *self.before_run.take()?;
        let after = self.arranged();
        if before == after {
            return None;
        }
        self.overlays.truncate(before.overlays);
        let mut requests = Vec::new();
        let mut note = |key: Option<&TerminalKey>, is: bool, was: bool, [on, off]: [&'static str; 2]| {
            let action = if was { on } else { off };
            requests.extend((is != was).then(|| Request::Note { key: key.cloned(), action }));
        };
        for item in Item::all(view) {
            let key = Some(item.key());
            note(key, after.flags.is_pinned(item), before.flags.is_pinned(item), ["pinned", "unpinned"]);
            note(key, after.flags.is_muted(item), before.flags.is_muted(item), ["muted", "unmuted"]);
        }
        // What said so is no longer true.
        let said = Item::all(view).into_iter().map(|item| Topic::Flags(item.key().clone()));
        said.chain([Topic::Layout, Topic::Notices]).for_each(|topic| self.memory.toasts.retire(&topic));
        note(None, after.muted, before.muted, ["notices muted", "notices on"]);
        let arrangement = &mut self.memory.arrangement;
        (arrangement.flags, arrangement.sort, arrangement.grouping) = (before.flags, before.sort, before.grouping);
        (self.panes, self.muted) = (before.panes, before.muted);
        self.release_rows();
        self.follow(view);
        Some(requests)
    }
}
