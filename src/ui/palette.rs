//! Lists of which one entry is taken at once: every action of the table with its key, and what can be copied.

use super::action::Action;
use super::keymap::{Binding, Context, Keymap, show};
use super::overlay::Flow;
use super::picker::{MenuEntry, Picker};
use super::{Copied, Request};
use crate::fleet::TerminalKey;

/// The actions of the table with the keys of a keymap. An action whose key was taken away is here all the same.
pub fn palette(keymap: &Keymap) -> Picker {
    let of = |keymap: &Keymap| -> Vec<Binding> { keymap.bindings(Context::Fleet).cloned().collect() };
    let (shipped, live) = (of(&Keymap::shipped()), of(keymap));
    let mut actions: Vec<Action> = Vec::new();
    for action in shipped.iter().chain(&live).filter_map(|binding| binding.action) {
        if !actions.contains(&action) && !matches!(action, Action::Palette | Action::Dismiss) {
            actions.push(action);
        }
    }
    let entry = |action: &Action| {
        let binding = live.iter().find(|binding| binding.action == Some(*action));
        let keys = binding.map(|binding| binding.keys.iter().map(|key| show(*key)).collect::<Vec<_>>().join("  "));
        let text = binding.map_or(action.description(), |binding| binding.description.as_str());
        MenuEntry::new(text, keys.unwrap_or_default())
    };
    let entries = actions.iter().map(entry).collect();
    // The footer and the keymap call them by their names.
    let names: Vec<&str> = actions.iter().map(|action| action.name()).collect();
    Picker::new("commands", "do it", entries, move |index, _| Flow::Perform(actions[index])).found_by(names)
}

/// What can be copied, with the key that does it and what it is called.
const COPIED: [(&str, Copied, &str); 3] = [
    ("n", Copied::Name, "name of the terminal"),
    ("d", Copied::Dialog, "dialog that waits, with its options"),
    ("t", Copied::Transcript, "transcript on its screen"),
];

/// Which text of a terminal is copied: one key each.
pub fn copying(key: TerminalKey) -> Picker {
    let entries = COPIED.iter().map(|(letter, _, text)| MenuEntry::new(*text, *letter)).collect();
    let about = key.clone();
    let picker = Picker::new("copy the …", "copy", entries, move |index, desk| {
        desk.ask(Request::Copy { key: key.clone(), what: COPIED[index].1 });
        Flow::Close
    });
    picker.about(about).by_letter()
}
