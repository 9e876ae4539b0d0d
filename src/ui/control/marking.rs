//! What the operator says of rows: marked, pinned, muted, named, labelled.

use super::group::{Group, never};
use crate::fleet::View;
use crate::state::NotePart;
use crate::status::Status;
use crate::ui::note::NoteBar;
use crate::ui::{Action, Flags, Item, Request, RowKey, Topic, Ui};

pub(super) const GROUP: Group = Group {
    actions: &[Action::Mark, Action::MarkAll, Action::Pin, Action::Mute, Action::Rename, Action::Label],
    why_not: never,
    perform,
};

fn perform(ui: &mut Ui, action: Action, view: &View<'_>) -> Vec<Request> {
    match action {
        Action::Mark => ui.mark(view),
        Action::MarkAll => {
            let arrangement = &mut ui.memory.arrangement;
            let shown: Vec<Item<'_>> = arrangement.shown(view).collect();
            arrangement.flags.mark(shown);
        }
        Action::Pin | Action::Mute => return ui.flag(action, view),
        _ => ui.note(action, view),
    }
    Vec::new()
}

impl Ui {
    /// Marks the selected terminal and goes on to the next row, so that several are marked by one key; on the head of a
    /// group it marks the group.
    fn mark(&mut self, view: &View<'_>) {
        self.drawn.rows.clear();
        let arrangement = &mut self.memory.arrangement;
        match self.cursor.row() {
            Some(RowKey::Head(group)) => {
                let members = arrangement.members(view, group);
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

    /// Opens the line in which a terminal is named, or several are labelled.
    fn note(&mut self, action: Action, view: &View<'_>) {
        let (part, items) = match action {
            Action::Label => (NotePart::Label, self.acted_on_together(view)),
            _ => (NotePart::Name, self.acted_on(view).into_iter().collect()),
        };
        if let Some(bar) = NoteBar::new(part, &items) {
            self.open(bar);
        }
    }

    /// Pins or mutes the selected terminal or all that are marked, or takes that back where it holds for all of them. What
    /// is pinned goes to its place at once, and the cursor with it; what is muted, not before the cursor leaves it.
    fn flag(&mut self, action: Action, view: &View<'_>) -> Vec<Request> {
        let items = self.acted_on_together(view);
        let Some(first) = items.first() else { return Vec::new() };
        let flags = &mut self.memory.arrangement.flags;
        let pins = action == Action::Pin;
        let holds = |item: &Item<'_>| if pins { flags.is_pinned(*item) } else { flags.is_muted(*item) };
        let take_back = items.iter().all(holds);
        let changed: Vec<Item<'_>> = items.iter().copied().filter(|item| holds(item) == take_back).collect();
        let toggle = if pins { Flags::toggle_pin } else { Flags::toggle_mute };
        changed.iter().for_each(|item| toggle(flags, *item));
        let undo = self.key_for(action);
        let undo = undo.map(|key| format!("; {key} undoes it")).unwrap_or_default();
        let waiting = changed.iter().filter(|item| item.status().needs_operator()).count();
        let (action, did) = match (action, take_back) {
            (Action::Pin, false) => ("pinned", format!("pinned to the top{undo}")),
            (Action::Pin, true) => ("unpinned", "no longer pinned".to_owned()),
            (_, false) if items.len() == 1 && waiting == 1 => {
                ("muted", format!("muted, although it waits for you{undo}"))
            }
            (_, false) if items.len() == 1 => ("muted", format!("muted: it will not count as needing you{undo}")),
            (_, false) if waiting > 0 => ("muted", format!("muted, although {waiting} of them wait for you{undo}")),
            (_, false) => ("muted", format!("muted: they will not count as needing you{undo}")),
            (_, true) if items.len() == 1 => ("unmuted", "counted again when it needs you".to_owned()),
            (_, true) => ("unmuted", "counted again when they need you".to_owned()),
        };
        let message = match items.len() {
            1 => format!("{} is {did}", first.id()),
            several => format!("{several} are {did}"),
        };
        self.notify_about(Topic::Flags(first.key().clone()), Status::Ready, message, view.now);
        if pins {
            self.put_in_order(view);
        }
        changed.iter().map(|item| Request::Note { key: Some(item.key().clone()), action }).collect()
    }
}
