//! A mode in which every key goes to a terminal as it is, but for the one that leaves it.

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::{Position, Rect};

use super::action::Action;
use super::canvas::Canvas;
use super::footer::Hint;
use super::keymap::{Context, control_character};
use super::meaning::Meaning;
use super::overlay::{Desk, Overlay, Place, Then};
use super::text::Pen;
use super::{Request, find, popup, preview};
use crate::fleet::{TerminalKey, View};

/// The keyboard of one terminal.
#[derive(Debug)]
pub struct Raw {
    key: TerminalKey,
    /// The last keys that went there.
    pressed: Vec<String>,
}

/// The last keys that are shown.
const SHOWN: usize = 8;

impl Raw {
    /// The mode for a terminal.
    pub fn new(key: TerminalKey) -> Self {
        Self { key, pressed: Vec::new() }
    }
}

impl Overlay for Raw {
    fn context(&self) -> Context {
        Context::Raw
    }

    fn place(&self) -> Place {
        Place::Body
    }

    fn terminal(&self) -> Option<&TerminalKey> {
        Some(&self.key)
    }

    fn hints(&self, _view: &View<'_>) -> Vec<Hint> {
        vec![(Action::Close, "leave; every other key goes to the terminal")]
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) -> Vec<(Rect, Action)> {
        let terminal = find(view, &self.key);
        let name = terminal.map_or("a terminal that is gone", |terminal| terminal.state.terminal.id.as_str());
        let leave = canvas.keymap.key_for(Context::Raw, Action::Close).unwrap_or_default();
        let title = format!("every key goes to {name}; {leave} leaves");
        let Some(inner) = popup::frame(canvas, buffer, area, (area.width, area.height), &title) else {
            return Vec::new();
        };
        // The frame says by its colour, too, that this is no view.
        let warning = canvas.theme.style(Meaning::Waits);
        let outer = Rect { x: inner.x - 2, y: inner.y - 1, width: inner.width + 4, height: inner.height + 2 };
        for at in outer.positions().filter(|at| !inside(inner, *at)) {
            if let Some(cell) = buffer.cell_mut(at) {
                cell.set_style(warning);
            }
        }
        let (look, last) = (Rect { height: inner.height.saturating_sub(1), ..inner }, inner.height.saturating_sub(1));
        preview::draw(canvas, buffer, look, terminal, None);
        let mut pen = Pen::new(buffer, inner, last);
        pen.text("pressed: ", canvas.theme.parts.quiet).text(&self.pressed.join(" "), canvas.theme.parts.text);
        Vec::new()
    }

    fn perform(&mut self, action: Action, _desk: &mut Desk<'_, '_>) -> Then {
        match action {
            Action::Close => Then::Close,
            _ => Then::Pass,
        }
    }

    fn key(&mut self, key: KeyEvent, desk: &mut Desk<'_, '_>) -> Then {
        let Some(name) = name(key) else {
            desk.tell(Meaning::Unknown, "tmux has no name for this key; nothing was sent".to_owned());
            return Then::Stay;
        };
        self.pressed.push(name.clone());
        let surplus = self.pressed.len().saturating_sub(SHOWN);
        self.pressed.drain(..surplus);
        desk.ask(Request::Keys { key: self.key.clone(), keys: vec![name], tell: false });
        Then::Stay
    }

    fn paste(&mut self, _text: &str, desk: &mut Desk<'_, '_>) -> Then {
        desk.tell(Meaning::Unknown, "a pasted text is no key; nothing was sent. Paste it into a prompt".to_owned());
        Then::Stay
    }

    fn wheel(&mut self, _direction: isize, _at: Position, _desk: &mut Desk<'_, '_>) -> Then {
        Then::Stay
    }

    fn update(&mut self, desk: &mut Desk<'_, '_>) -> Then {
        if desk.terminal(&self.key).is_some() {
            return Then::Stay;
        }
        desk.tell(Meaning::Gone, "the terminal is gone".to_owned());
        Then::Close
    }
}

fn inside(area: Rect, at: Position) -> bool {
    area.contains(at)
}

/// The name that tmux has for a key.
fn name(key: KeyEvent) -> Option<String> {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let (base, is_character) = match key.code {
        KeyCode::Char(' ') => ("Space".to_owned(), false),
        KeyCode::Char(c) if control => (control_character(c).to_ascii_lowercase().to_string(), true),
        KeyCode::Char(c) => (c.to_string(), true),
        KeyCode::F(n) => (format!("F{n}"), false),
        named => (named_key(named)?.to_owned(), false),
    };
    // A character carries its own shift.
    let shift = key.modifiers.contains(KeyModifiers::SHIFT) && !is_character && key.code != KeyCode::BackTab;
    let modifiers = [(control, "C-"), (key.modifiers.contains(KeyModifiers::ALT), "M-"), (shift, "S-")];
    Some(modifiers.iter().filter(|(on, _)| *on).map(|(_, prefix)| *prefix).chain([base.as_str()]).collect())
}

fn named_key(code: KeyCode) -> Option<&'static str> {
    Some(match code {
        KeyCode::Enter => "Enter",
        KeyCode::Esc => "Escape",
        KeyCode::Tab => "Tab",
        KeyCode::BackTab => "BTab",
        KeyCode::Backspace => "BSpace",
        KeyCode::Up => "Up",
        KeyCode::Down => "Down",
        KeyCode::Left => "Left",
        KeyCode::Right => "Right",
        KeyCode::Home => "Home",
        KeyCode::End => "End",
        KeyCode::PageUp => "PageUp",
        KeyCode::PageDown => "PageDown",
        KeyCode::Insert => "IC",
        KeyCode::Delete => "DC",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tmux::Key;

    #[test]
    fn every_key_has_a_name_that_tmux_knows() {
        let named = |code, modifiers| name(KeyEvent::new(code, modifiers)).expect("a name");
        let none = KeyModifiers::NONE;
        for (code, modifiers, wanted) in [
            (KeyCode::Char('a'), none, "a"),
            (KeyCode::Char('A'), KeyModifiers::SHIFT, "A"),
            (KeyCode::Char(' '), none, "Space"),
            (KeyCode::Char(';'), none, ";"),
            (KeyCode::Char('é'), none, "é"),
            (KeyCode::Char('c'), KeyModifiers::CONTROL, "C-c"),
            (KeyCode::Char('4'), KeyModifiers::CONTROL, "C-\\"),
            (KeyCode::Char('x'), KeyModifiers::ALT, "M-x"),
            (KeyCode::Enter, none, "Enter"),
            (KeyCode::Enter, KeyModifiers::ALT, "M-Enter"),
            (KeyCode::BackTab, KeyModifiers::SHIFT, "BTab"),
            (KeyCode::Up, KeyModifiers::SHIFT, "S-Up"),
            (KeyCode::F(5), none, "F5"),
        ] {
            let found = named(code, modifiers);
            assert_eq!(found, wanted);
            assert!(found.parse::<Key>().is_ok(), "{found}");
        }
        assert_eq!(name(KeyEvent::new(KeyCode::CapsLock, none)), None);
    }
}
