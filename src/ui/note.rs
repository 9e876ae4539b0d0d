//! The line in which a note on a terminal is written.

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::{Position, Rect};

use super::Request;
use super::action::Action;
use super::frame::{Canvas, Hint};
use super::input::LineInput;
use super::item::Item;
use super::keymap::Context;
use super::overlay::{Flow, HitMap, Overlay, OverlayContext, OverlayPlace};
use super::text::Pen;
use crate::fleet::{TerminalKey, View};
use crate::history::Note;

/// The note on one terminal while it is typed.
#[derive(Debug)]
pub struct NoteBar {
    key: TerminalKey,
    name: String,
    line: LineInput,
}

impl NoteBar {
    /// Begins with the note that there is.
    pub fn new(item: Item<'_>, before: Option<&str>) -> Self {
        let (key, name) = (item.key().clone(), item.id().to_owned());
        Self { key, name, line: LineInput::new(before.unwrap_or_default()) }
    }
}

impl Overlay for NoteBar {
    fn context(&self) -> Context {
        Context::Note
    }

    fn place(&self) -> OverlayPlace {
        OverlayPlace::Bar
    }

    fn terminal(&self) -> Option<&TerminalKey> {
        Some(&self.key)
    }

    fn hints(&self, _view: &View<'_>) -> Vec<Hint> {
        vec![(Action::Choose, "keep the note"), (Action::Close, "leave it as it was")]
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, _view: &View<'_>) -> HitMap {
        let parts = &canvas.theme.parts;
        let mut pen = Pen::new(buffer, area, 0);
        pen.skip(1).text(&format!("note on {}: ", self.name), parts.key);
        let room = usize::from(pen.room());
        self.line.draw(canvas, &mut pen, room);
        HitMap::at(area)
    }

    fn perform(&mut self, action: Action, cx: &mut OverlayContext<'_, '_>) -> Flow {
        match action {
            Action::Choose => {
                let note = Note::new(self.key.clone(), self.line.text());
                cx.ask(Request::KeepNote { note, name: self.name.clone() });
                Flow::Close
            }
            Action::Close => Flow::Close,
            _ => Flow::Pass,
        }
    }

    fn key(&mut self, key: KeyEvent, _cx: &mut OverlayContext<'_, '_>) -> Flow {
        self.line.key(key);
        Flow::Stay
    }

    fn paste(&mut self, text: &str, _cx: &mut OverlayContext<'_, '_>) -> Flow {
        self.line.paste(text);
        Flow::Stay
    }

    fn click(&mut self, _at: Position, _cx: &mut OverlayContext<'_, '_>) -> Flow {
        Flow::Stay
    }
}
