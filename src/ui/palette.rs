//! Every action of the table in one list, found by typing, each with its key.

use super::action::Action;
use super::keymap::{Binding, Context, Keymap, show};
use super::menu::{Menu, MenuEntry};
use super::overlay::{Flow, OverlayContext};
use super::picker::Picker;

/// The list of actions.
#[derive(Debug)]
pub struct Palette {
    actions: Vec<Action>,
    menu: Menu,
}

impl Palette {
    /// The actions of the table with the keys of a keymap. An action whose key was taken away is here all the same.
    pub fn new(keymap: &Keymap) -> Self {
        let is_offered = |action: &Action| !matches!(action, Action::Palette | Action::Dismiss);
        let of = |keymap: &Keymap| -> Vec<Binding> { keymap.bindings(Context::Fleet).cloned().collect() };
        let (shipped, live) = (of(&Keymap::shipped()), of(keymap));
        let mut actions: Vec<Action> = shipped.iter().chain(&live).filter_map(|binding| binding.action).collect();
        let mut met = Vec::new();
        actions.retain(|action| {
            !met.contains(action) && is_offered(action) && {
                met.push(*action);
                true
            }
        });
        let entry = |action: &Action| {
            let binding = live.iter().find(|binding| binding.action == Some(*action));
            let keys = binding.map(|binding| binding.keys.iter().map(|key| show(*key)).collect::<Vec<_>>().join("  "));
            let text = binding.map_or(action.description(), |binding| binding.description.as_str());
            MenuEntry { text: text.to_owned(), note: keys.unwrap_or_default() }
        };
        let entries = actions.iter().map(entry).collect();
        // The footer and the keymap call them by their names.
        let names: Vec<&str> = actions.iter().map(|action| action.name()).collect();
        Self { menu: Menu::new("commands", entries).found_by(names), actions }
    }
}

impl Picker for Palette {
    fn menu(&mut self) -> &mut Menu {
        &mut self.menu
    }

    fn words(&self) -> [&'static str; 3] {
        ["do it", "down", "close"]
    }

    fn take(&mut self, index: usize, _desk: &mut OverlayContext<'_, '_>) -> Flow {
        Flow::Perform(self.actions[index])
    }
}
