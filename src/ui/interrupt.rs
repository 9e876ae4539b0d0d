//! Stopping what an agent does: which key goes, and only once the operator has said so.

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::{Position, Rect};

use super::Request;
use super::action::Action;
use super::canvas::Canvas;
use super::footer::Hint;
use super::keymap::Context;
use super::meaning::turn_word;
use super::menu::{Entry, Menu};
use super::overlay::{Desk, Overlay, Then};
use crate::fleet::{Terminal, TerminalKey, View};

/// The keys that stop agents, the usual one first.
const KEYS: [(&[&str], &str); 3] = [
    (&["Escape"], "stops the turn of most agents"),
    (&["Escape", "Escape"], "where the first one only warns"),
    (&["C-c"], "stops programs; many agents end on a second one"),
];

/// The question which key to press.
#[derive(Debug)]
pub struct Interrupt {
    key: TerminalKey,
    menu: Menu,
}

impl Interrupt {
    /// The question for a terminal.
    pub fn new(terminal: &Terminal) -> Self {
        let state = &terminal.state;
        let title = format!("press in {}, which is {}?", state.terminal.id, turn_word(state));
        let entry = |(keys, note): &(&[&str], &str)| Entry { text: keys.join(" "), note: (*note).to_owned() };
        Self { key: terminal.key.clone(), menu: Menu::new(title, KEYS.iter().map(entry).collect()) }
    }

    /// What is asked for without a question, where the operator has configured it so.
    pub fn at_once(key: TerminalKey) -> Request {
        request(key, 0)
    }
}

fn request(key: TerminalKey, place: usize) -> Request {
    let keys = KEYS[place].0.iter().map(|key| (*key).to_owned()).collect();
    Request::Keys { key, keys, tell: true }
}

impl Overlay for Interrupt {
    fn context(&self) -> Context {
        Context::Menu
    }

    fn terminal(&self) -> Option<&TerminalKey> {
        Some(&self.key)
    }

    fn hints(&self, _view: &View<'_>) -> Vec<Hint> {
        vec![(Action::Choose, "press it"), (Action::Down, "another key"), (Action::Close, "press nothing")]
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, _view: &View<'_>) -> Vec<(Rect, Action)> {
        self.menu.draw(canvas, buffer, area);
        Vec::new()
    }

    fn perform(&mut self, action: Action, desk: &mut Desk<'_, '_>) -> Then {
        match action {
            Action::Choose => match self.menu.chosen() {
                Some(place) => {
                    desk.ask(request(self.key.clone(), place));
                    Then::Close
                }
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

    /// A click only selects; pressing takes the key.
    fn click(&mut self, at: Position, _desk: &mut Desk<'_, '_>) -> Then {
        self.menu.click(at);
        Then::Stay
    }
}
