//! Which text of a terminal is copied: one key each, after the key that opens this.

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::{Position, Rect};

use super::action::Action;
use super::canvas::Canvas;
use super::footer::Hint;
use super::keymap::Context;
use super::menu::{Entry, Menu};
use super::overlay::{Desk, Overlay, Then};
use super::{Copied, Request};
use crate::fleet::{TerminalKey, View};

/// What can be copied, with the key that does it and what it is called.
const OFFERED: [(char, Copied, &str); 3] = [
    ('n', Copied::Name, "name of the terminal"),
    ('d', Copied::Dialog, "dialog that waits, with its options"),
    ('t', Copied::Transcript, "transcript on its screen"),
];

/// The choice of what is copied.
#[derive(Debug)]
pub struct Copying {
    key: TerminalKey,
    menu: Menu,
}

impl Copying {
    /// What can be copied of a terminal.
    pub fn new(key: TerminalKey) -> Self {
        let entry = |(key, _, text): &(char, Copied, &str)| Entry { text: (*text).to_owned(), note: key.to_string() };
        Self { key, menu: Menu::new("copy the …", OFFERED.iter().map(entry).collect()).whole() }
    }

    fn copy(&self, index: Option<usize>, desk: &mut Desk<'_, '_>) -> Then {
        let Some((_, what, _)) = index.and_then(|index| OFFERED.get(index)) else { return Then::Stay };
        desk.ask(Request::Copy { key: self.key.clone(), what: *what });
        Then::Close
    }
}

impl Overlay for Copying {
    fn context(&self) -> Context {
        Context::Menu
    }

    fn terminal(&self) -> Option<&TerminalKey> {
        Some(&self.key)
    }

    fn hints(&self, _view: &View<'_>) -> Vec<Hint> {
        vec![(Action::Choose, "copy"), (Action::Down, "down"), (Action::Close, "close")]
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, _view: &View<'_>) -> Vec<(Rect, Action)> {
        self.menu.draw(canvas, buffer, area);
        Vec::new()
    }

    fn perform(&mut self, action: Action, desk: &mut Desk<'_, '_>) -> Then {
        match action {
            Action::Choose => self.copy(self.menu.chosen(), desk),
            _ if self.menu.perform(action) => Then::Stay,
            _ => Then::Pass,
        }
    }

    fn key(&mut self, key: KeyEvent, desk: &mut Desk<'_, '_>) -> Then {
        let index = OFFERED.iter().position(|(letter, ..)| key.code == KeyCode::Char(*letter));
        self.copy(index, desk)
    }

    fn click(&mut self, at: Position, desk: &mut Desk<'_, '_>) -> Then {
        if self.menu.click(at) { self.perform(Action::Choose, desk) } else { Then::Stay }
    }
}
