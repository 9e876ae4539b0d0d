//! Every action of the table in one list, found by typing, each with its key.

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::{Position, Rect};

use super::action::Action;
use super::canvas::Canvas;
use super::footer::Hint;
use super::keymap::{Binding, Context, Keymap, show};
use super::menu::{Entry, Menu};
use super::overlay::{Desk, Overlay, Then};
use crate::fleet::View;

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
            Entry { text: text.to_owned(), note: keys.unwrap_or_default() }
        };
        let entries = actions.iter().map(entry).collect();
        Self { actions, menu: Menu::new("commands", entries) }
    }
}

impl Overlay for Palette {
    fn context(&self) -> Context {
        Context::Menu
    }

    fn hints(&self, _view: &View<'_>) -> Vec<Hint> {
        vec![(Action::Choose, "do it"), (Action::Down, "down"), (Action::Close, "close")]
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, _view: &View<'_>) -> Vec<(Rect, Action)> {
        self.menu.draw(canvas, buffer, area);
        Vec::new()
    }

    fn perform(&mut self, action: Action, _desk: &mut Desk<'_, '_>) -> Then {
        match action {
            Action::Choose => match self.menu.chosen() {
                Some(index) => Then::Perform(self.actions[index]),
                None => Then::Stay,
            },
            _ if self.menu.perform(action) => Then::Stay,
            _ => Then::Pass,
        }
    }

    fn key(&mut self, key: KeyEvent, _desk: &mut Desk<'_, '_>) -> Then {
        self.menu.key(key);
        Then::Stay
    }

    fn paste(&mut self, text: &str, _desk: &mut Desk<'_, '_>) -> Then {
        self.menu.paste(text);
        Then::Stay
    }

    fn click(&mut self, at: Position, desk: &mut Desk<'_, '_>) -> Then {
        if self.menu.click(at) { self.perform(Action::Choose, desk) } else { Then::Stay }
    }
}
