//! What the operator says of rows: marked, pinned, muted, named, labelled.

use super::group::{Group, never};
use crate::fleet::{TerminalKey, View};
use crate::present::flags::Mute;
use crate::state::NotePart;
use crate::status::Status;
use crate::time::Span;
use crate::ui::note::NoteBar;
use crate::ui::overlay::Flow;
use crate::ui::picker::{MenuEntry, Picker};
use crate::ui::{Action, Item, Request, RowKey, Topic, Ui};

pub(super) const GROUP: Group = Group {
    actions: &[Action::Mark, Action::MarkAll, Action::Pin, Action::Mute, Action::Rename, Action::Label],
    why_not: never,
    obey,
};

fn obey(ui: &mut Ui, action: Action, view: &View<'_>) -> Vec<Request> {
    match action {
        Action::Mark => ui.mark(view),
        Action::MarkAll => {
            let arrangement = &mut ui.memory.arrangement;
            let shown: Vec<Item<'_>> = arrangement.shown(view).collect();
            arrangement.flags.mark(shown);
        }
        Action::Pin => return ui.pin(view),
        Action::Mute => return ui.mute(view),
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

    /// Pins the selected terminal or all that are marked, or takes that back where it holds for all of them. They go to their places
    /// at once, and the cursor with them.
    fn pin(&mut self, view: &View<'_>) -> Vec<Request> {
        let items = self.acted_on_together(view);
        let Some(first) = items.first() else { return Vec::new() };
        let flags = &mut self.memory.arrangement.flags;
        let take_back = items.iter().all(|item| flags.is_pinned(*item));
        let changed: Vec<Item<'_>> = items.iter().copied().filter(|item| flags.is_pinned(*item) == take_back).collect();
        changed.iter().for_each(|item| flags.toggle_pin(*item));
        let (action, did) = match take_back {
            false => ("pinned", format!("pinned to the top{}", self.undone_by(Action::Pin))),
            true => ("unpinned", "no longer pinned".to_owned()),
        };
        self.notify_about(Topic::Flags(first.key().clone()), Status::Ready, said_of(&items, &did), view.now);
        self.put_in_order(view);
        changed.iter().map(|item| Request::Note { key: Some(item.key().clone()), action }).collect()
    }

    /// Asks for how long the selected terminal is muted, or all that are marked, or takes that back where it holds for all of them.
    fn mute(&mut self, view: &View<'_>) -> Vec<Request> {
        let items = self.acted_on_together(view);
        let Some(first) = items.first() else { return Vec::new() };
        let flags = &mut self.memory.arrangement.flags;
        if !items.iter().all(|item| flags.is_muted(*item)) {
            let open: Vec<Item<'_>> = items.iter().copied().filter(|item| !flags.is_muted(*item)).collect();
            let undone = self.undone_by(Action::Mute);
            self.open(muting(&open, undone));
            return Vec::new();
        }
        items.iter().for_each(|item| flags.mute(*item, Mute::Always(false)));
        self.notify_about(Topic::Flags(first.key().clone()), Status::Ready, said_of(&items, "counted again"), view.now);
        items.iter().map(|item| Request::Note { key: Some(item.key().clone()), action: "unmuted" }).collect()
    }

    fn undone_by(&self, action: Action) -> String {
        self.key_for(action).map(|key| format!("; {key} undoes it")).unwrap_or_default()
    }
}

/// For how long terminals can be muted, with the key that does it.
const MUTES: [(&str, &str); 4] =
    [("u", "until it changes"), ("q", "for 15 minutes"), ("h", "for an hour"), ("m", "always")];

/// For how long some terminals are muted: one key each.
fn muting(items: &[Item<'_>], undone: String) -> Picker {
    let keys: Vec<TerminalKey> = items.iter().map(|item| item.key().clone()).collect();
    let title = match items {
        [one] => format!("mute {}", one.id()),
        several => format!("mute {}", several.len()),
    };
    let entries = MUTES.iter().map(|(letter, text)| MenuEntry::new(*text, *letter)).collect();
    let picker = Picker::new(title, "mute", entries, move |index, cx| {
        let items: Vec<Item<'_>> = keys.iter().filter_map(|key| Item::find(cx.view, key)).collect();
        let Some(first) = items.first() else { return Flow::Close };
        for item in &items {
            let mute = match index {
                0 => Mute::until_it_changes(*item),
                1 => Mute::Until { until: cx.view.now + Span::from_secs(15 * 60) },
                2 => Mute::Until { until: cx.view.now + Span::HOUR },
                _ => Mute::Always(true),
            };
            cx.memory.arrangement.flags.mute(*item, mute);
            cx.ask(Request::Note { key: Some(item.key().clone()), action: "muted" });
        }
        let time = if index == 3 { String::new() } else { format!(" {}", MUTES[index].1) };
        let said = said_of(&items, &format!("muted{time}{undone}"));
        cx.tell_about(Topic::Flags(first.key().clone()), Status::Ready, said);
        Flow::Close
    });
    picker.by_letter()
}

/// What became of one terminal or of several.
fn said_of(items: &[Item<'_>], did: &str) -> String {
    match items {
        [one] => format!("{} is {did}", one.id()),
        several => format!("{} are {did}", several.len()),
    }
}
