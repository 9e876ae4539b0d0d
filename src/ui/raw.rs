//! A mode in which every key goes to a terminal unchanged, except the one that leaves it.

use std::sync::Arc;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::prelude::{Buffer, Position, Rect};

use super::keymap::control_character;
use super::question::Pause;
use super::toast::{NAMED, spoken};
use super::{
    Action, Canvas, Context, Flow, Hint, HitMap, Item, Overlay, OverlayContext, OverlayEvent, OverlayKind,
    OverlayPlace, find, find_live_task, frame, line, preview, span, text,
};
use crate::dialog::Dialog;
use crate::fleet::{Terminal, TerminalKey, View};
use crate::operation::{Act, Key, Privacy, Recipient};
use crate::screen::{Row, Screen, is_harmless};
use crate::status::Status;
use crate::task::Task;

/// The keyboard of one terminal or task.
#[derive(Debug)]
pub struct Raw {
    key: TerminalKey,
    /// Whether the operator has seen that every key goes there.
    is_shown: bool,
    /// The dialog that the last poll showed there.
    dialog: Option<Arc<Dialog>>,
    /// The dialog that was read whole, here or before this was opened.
    read: Option<Arc<Dialog>>,
    /// The dialog of which the operator was told that its agent shows only a part.
    warned: Option<Arc<Dialog>>,
    /// Whether the operator has confirmed that every key goes there.
    is_confirmed: bool,
    /// Keys go nowhere for a second after a dialog has come up.
    pause: Pause,
    /// The last keys that went there.
    pressed: Vec<String>,
    /// What the task that it was opened for is called.
    task: Option<String>,
}

/// Function keys that tmux has.
const FUNCTION_KEYS: u8 = 12;
/// The last keys that are shown.
const SHOWN: usize = 8;

impl Raw {
    /// The mode for a terminal.
    pub fn new(key: TerminalKey) -> Self {
        Self {
            key,
            is_shown: false,
            dialog: None,
            read: None,
            warned: None,
            is_confirmed: false,
            pause: Pause::default(),
            pressed: Vec::new(),
            task: None,
        }
    }

    /// The mode for a terminal whose dialog was read in its box.
    pub fn after_reading(key: TerminalKey, dialog: Arc<Dialog>) -> Self {
        Self { dialog: Some(Arc::clone(&dialog)), read: Some(dialog), ..Self::new(key) }
    }

    /// The mode for a task.
    pub fn for_task(task: &Task) -> Self {
        Self { task: Some(task.id.clone()), ..Self::new(task.key.clone()) }
    }

    /// Follows the dialog of the terminal. A new one gets no key that was meant for what was there before.
    fn follow(&mut self, dialog: Option<&Arc<Dialog>>) {
        let is_other = dialog.is_some_and(|dialog| !self.dialog.as_ref().is_some_and(|it| it.is_same(dialog)));
        if is_other && self.is_shown {
            self.pause.begin();
        }
        self.dialog = dialog.cloned();
    }

    /// Whether the dialog there is still to be read.
    fn is_unread(&self) -> bool {
        let has_read = |dialog: &Arc<Dialog>| self.read.as_ref().is_some_and(|read| read.is_same(dialog));
        self.dialog.as_ref().is_some_and(|dialog| !has_read(dialog))
    }

    /// Where keys go, for the title.
    fn whereto(&self, view: &View<'_>, leave: &str) -> String {
        let name = match (find(view, &self.key), find_live_task(view, &self.key), &self.task) {
            (Some(Terminal { state, .. }), ..) => &state.terminal.id,
            (_, Some(task), _) => &task.id,
            (.., Some(task)) => return format!("{task} has ended"),
            (.., None) => return "the terminal is gone".to_owned(),
        };
        match self.is_confirmed {
            true => format!("every key goes to {name}; {leave} leaves"),
            false => format!("type into {name}? every key goes there until {leave}"),
        }
    }

    /// Says once of a dialog that its agent shows only a part of it. The keys that show more of it go there as well, so
    /// that the operator decides.
    fn warns(&mut self) -> bool {
        let partial = self.dialog.as_ref().filter(|dialog| !dialog.is_whole());
        let Some(dialog) = partial.filter(|dialog| !self.warned.as_ref().is_some_and(|it| it.is_same(dialog))) else {
            return false;
        };
        self.warned = Some(Arc::clone(dialog));
        true
    }

    /// Takes note of a dialog that is whole in view, in an area that shows the end of a screen.
    fn read(&mut self, screen: &Screen, area: Rect) {
        let Some(dialog) = &self.dialog else { return };
        let rows = screen.rows().get(dialog.rows.clone()).unwrap_or_default();
        let height = screen.last_row().map_or(0, |last| last + 1).saturating_sub(dialog.rows.start);
        let fits = height <= usize::from(area.height);
        // Rules and borders are as wide as the pane, and say nothing.
        let said =
            |row: &Row| text::width(row.text().trim_end_matches(|c: char| !c.is_alphanumeric() && !c.is_ascii()));
        if fits && rows.iter().all(|row| said(row) <= usize::from(area.width)) {
            self.read = Some(Arc::clone(dialog));
        }
    }
}

impl Overlay for Raw {
    fn kind(&self) -> OverlayKind<'_> {
        let context = if self.is_confirmed { Context::Raw } else { Context::Confirm };
        OverlayKind { terminal: Some(&self.key), ..OverlayKind::at(context, OverlayPlace::Body) }
    }

    fn hints(&self, _view: &View<'_>) -> Vec<Hint> {
        match self.is_confirmed {
            true => vec![(Action::Close, "leave; every other key goes to the terminal")],
            false => vec![(Action::Accept, "give it the keyboard"), (Action::Close, "no")],
        }
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) -> HitMap {
        let leave = canvas.keymap.key_for(Context::Raw, Action::Close).unwrap_or_default();
        let title = self.whereto(view, &leave);
        let Some(inner) = frame::boxed(canvas, buffer, area, (area.width, area.height), &title) else {
            return HitMap::default();
        };
        // The frame says by its colour, too, that this is no view.
        let warning = canvas.theme.style(Status::Approval);
        let outer = frame::around(inner);
        for at in outer.positions().filter(|at| !inner.contains(*at)) {
            if let Some(cell) = buffer.cell_mut(at) {
                cell.set_style(warning);
            }
        }
        let (above, last) = (Rect { height: inner.height.saturating_sub(1), ..inner }, inner.height.saturating_sub(1));
        preview::draw(canvas, buffer, above, Item::find(view, &self.key), 0);
        if !canvas.covered {
            self.is_shown = true;
            self.pause.is_shown(canvas.now);
            // The first row is the pane's title.
            let below = Rect { height: above.height.saturating_sub(1), ..above };
            if let Some(screen) = find(view, &self.key).and_then(Terminal::screen) {
                self.read(&screen, below);
            }
        }
        let pressed = span(self.pressed.join(" "), canvas.theme.parts.text);
        line::draw(buffer, line::row(inner, last), vec![span("pressed: ", canvas.theme.parts.quiet), pressed]);
        HitMap::at(outer)
    }

    fn obey(&mut self, action: Action, _cx: &mut OverlayContext<'_, '_>) -> Flow {
        match action {
            Action::Close => Flow::Close,
            Action::Accept => {
                self.is_confirmed = self.is_shown;
                Flow::Stay
            }
            _ => Flow::Pass,
        }
    }

    fn key(&mut self, key: KeyEvent, cx: &mut OverlayContext<'_, '_>) -> Flow {
        if !self.is_confirmed {
            return Flow::Stay;
        }
        // A dialog is new there.
        if !self.is_shown || self.pause.holds(cx.view.now) {
            return cx.refuse("nothing was sent: a dialog came up just now");
        }
        if self.is_unread() {
            return cx
                .refuse("nothing was sent: its dialog is not fully in view here; read it in its box, or go there");
        }
        if self.warns() {
            return cx.refuse(
                "nothing was sent: the agent does not show the whole question; press the key again to send it",
            );
        }
        let Some(pressed) = name(key).and_then(|name| name.parse().ok()) else {
            return cx.refuse("tmux has no name for this key; nothing was sent");
        };
        let to = match (cx.terminal(&self.key), find_live_task(cx.view, &self.key)) {
            (Some(terminal), _) => Some((Recipient::as_shown(terminal), Privacy::of(terminal))),
            // What programs ask for is not known, so nothing that is typed is kept.
            (None, task) => task.map(|task| (Recipient::of_task(task), Privacy::Secret)),
        };
        if let Some((to, privacy)) = to {
            cx.perform(to, Act::Keys { keys: vec![pressed], dialog: self.dialog.clone(), privacy });
        }
        Flow::Stay
    }

    fn paste(&mut self, _text: &str, cx: &mut OverlayContext<'_, '_>) -> Flow {
        cx.refuse("pasted text is not a key; nothing was sent. Paste it into a prompt")
    }

    fn wheel(&mut self, _direction: isize, _at: Position, _cx: &mut OverlayContext<'_, '_>) -> Flow {
        Flow::Stay
    }

    fn on_event(&mut self, event: OverlayEvent<'_>, _cx: &mut OverlayContext<'_, '_>) {
        let OverlayEvent::Ended { operation, outcome } = event else { return };
        if let Act::Keys { keys, .. } = &operation.act
            && operation.to.key == self.key
            && outcome.is_accepted()
        {
            self.pressed.extend(keys.iter().map(shown));
            let surplus = self.pressed.len().saturating_sub(SHOWN);
            self.pressed.drain(..surplus);
        }
    }

    fn update(&mut self, cx: &mut OverlayContext<'_, '_>) -> Flow {
        let terminal = cx.terminal(&self.key);
        self.follow(terminal.filter(|terminal| terminal.state.waits()).and_then(|terminal| terminal.dialog.as_ref()));
        if terminal.is_some() {
            return Flow::Stay;
        }
        if find_live_task(cx.view, &self.key).is_some() {
            return Flow::Stay;
        }
        let why = self.whereto(cx.view, "");
        cx.tell(Status::Gone, why);
        Flow::Close
    }
}

/// A key as shown. The input may be a password, and the terminal decides whether it is seen.
fn shown(key: &Key) -> String {
    if key.is_text() { "*".to_owned() } else { spoken(key.as_str()) }
}

/// The name that tmux has for a key; `None` when it has none.
fn name(key: KeyEvent) -> Option<String> {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let (base, is_character) = match key.code {
        KeyCode::Char(c) if c != ' ' && control => {
            let c = control_character(c).to_ascii_lowercase();
            // There is no byte for control with any other character.
            let exists = c.is_ascii_alphabetic() || "@[\\]^_?/".contains(c);
            (exists.then(|| c.to_string())?, true)
        }
        KeyCode::Char(c) if c != ' ' => (is_harmless(c).then(|| c.to_string())?, true),
        KeyCode::F(n) => ((1..=FUNCTION_KEYS).contains(&n).then(|| format!("F{n}"))?, false),
        named => (NAMED.iter().find(|(code, _)| *code == named)?.1.to_owned(), false),
    };
    // A character carries its own shift.
    let shift = key.modifiers.contains(KeyModifiers::SHIFT) && !is_character && key.code != KeyCode::BackTab;
    let modifiers = [(control, "C-"), (key.modifiers.contains(KeyModifiers::ALT), "M-"), (shift, "S-")];
    Some(modifiers.iter().filter(|(on, _)| *on).map(|(_, prefix)| *prefix).chain([base.as_str()]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn what_has_no_name_is_not_given_one() {
        let control = KeyModifiers::CONTROL;
        for (code, modifiers) in [
            (KeyCode::F(13), KeyModifiers::NONE),
            (KeyCode::Char('1'), control),
            (KeyCode::Char('é'), control),
            (KeyCode::Char(','), control),
        ] {
            assert_eq!(name(KeyEvent::new(code, modifiers)), None, "{code:?}");
        }
        for modifiers in (0..8).map(KeyModifiers::from_bits_truncate) {
            let codes = ('\0'..'\u{2100}').map(KeyCode::Char).chain((0..=u8::MAX).map(KeyCode::F));
            for found in codes.filter_map(|code| name(KeyEvent::new(code, modifiers))) {
                assert!(found.parse::<Key>().is_ok(), "{found:?}");
            }
        }
    }
}
