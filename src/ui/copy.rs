//! Which text of a terminal is copied: one key each, after the key that opens this.

use ratatui::crossterm::event::{KeyCode, KeyEvent};

use super::menu::{Menu, MenuEntry};
use super::overlay::{Flow, OverlayContext};
use super::picker::Picker;
use super::{Copied, Request};
use crate::fleet::TerminalKey;

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
        let entry =
            |(key, _, text): &(char, Copied, &str)| MenuEntry { text: (*text).to_owned(), note: key.to_string() };
        Self { key, menu: Menu::new("copy the …", OFFERED.iter().map(entry).collect()).whole() }
    }
}

impl Picker for Copying {
    fn menu(&mut self) -> &mut Menu {
        &mut self.menu
    }

    fn words(&self) -> [&'static str; 3] {
        ["copy", "down", "close"]
    }

    fn about(&self) -> Option<&TerminalKey> {
        Some(&self.key)
    }

    fn take(&mut self, index: usize, desk: &mut OverlayContext<'_, '_>) -> Flow {
        desk.ask(Request::Copy { key: self.key.clone(), what: OFFERED[index].1 });
        Flow::Close
    }

    fn letter(&self, key: KeyEvent) -> Option<usize> {
        OFFERED.iter().position(|(letter, ..)| key.code == KeyCode::Char(*letter))
    }
}
