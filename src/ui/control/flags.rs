//! What the operator says of rows: pinned, muted.

use crate::fleet::View;
use crate::status::Status;
use crate::ui::{Action, Flags, Item, Request, Topic, Ui};

impl Ui {
    /// Pins or mutes the selected terminal or all that are marked, or takes that back where it holds for all of them. What
    /// is pinned goes to its place at once, and the cursor with it; what is muted, not before the cursor leaves it.
    pub(super) fn flag(&mut self, action: Action, view: &View<'_>) -> Vec<Request> {
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
