//! Overlays that are a menu and no more: they differ in what becomes of the entry that is taken.

use std::fmt::Debug;

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::{Position, Rect};

use super::action::Action;
use super::canvas::Canvas;
use super::footer::Hint;
use super::keymap::Context;
use super::menu::Menu;
use super::overlay::{Flow, HitMap, Overlay, OverlayContext};
use crate::fleet::{TerminalKey, View};

/// A menu of which the operator takes one entry.
pub trait Picker: Debug {
    /// The menu.
    fn menu(&mut self) -> &mut Menu;

    /// What the keys that choose, move and close are called in the footer.
    fn words(&self) -> [&'static str; 3];

    /// The terminal that it is about.
    fn about(&self) -> Option<&TerminalKey> {
        None
    }

    /// Does what the entry at a place among all stands for.
    fn take(&mut self, index: usize, desk: &mut OverlayContext<'_, '_>) -> Flow;

    /// The entry that a key stands for; other keys narrow the menu down.
    fn letter(&self, _key: KeyEvent) -> Option<usize> {
        None
    }
}

impl<P: Picker> Overlay for P {
    fn context(&self) -> Context {
        Context::Menu
    }

    fn terminal(&self) -> Option<&TerminalKey> {
        self.about()
    }

    fn hints(&self, _view: &View<'_>) -> Vec<Hint> {
        let [choose, down, close] = self.words();
        vec![(Action::Choose, choose), (Action::Down, down), (Action::Close, close)]
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, _view: &View<'_>) -> HitMap {
        HitMap::at(self.menu().draw(canvas, buffer, area))
    }

    fn perform(&mut self, action: Action, desk: &mut OverlayContext<'_, '_>) -> Flow {
        match action {
            Action::Choose => match self.menu().chosen() {
                Some(index) => self.take(index, desk),
                None => Flow::Stay,
            },
            _ if self.menu().perform(action) => Flow::Stay,
            _ => Flow::Pass,
        }
    }

    fn key(&mut self, key: KeyEvent, desk: &mut OverlayContext<'_, '_>) -> Flow {
        if let Some(index) = self.letter(key) {
            return self.take(index, desk);
        }
        self.menu().key(key);
        Flow::Stay
    }

    fn paste(&mut self, text: &str, _desk: &mut OverlayContext<'_, '_>) -> Flow {
        self.menu().paste(text);
        Flow::Stay
    }

    fn click(&mut self, at: Position, desk: &mut OverlayContext<'_, '_>) -> Flow {
        if self.menu().click(at) { self.perform(Action::Choose, desk) } else { Flow::Stay }
    }
}
