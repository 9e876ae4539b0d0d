//! The dialog that a terminal waits in, to be read; it is answered in the terminal itself.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::action::Action;
use super::canvas::Canvas;
use super::footer::Hint;
use super::keymap::Context;
use super::meaning::{Meaning, turn_word, waits};
use super::overlay::{Desk, Overlay, Then};
use super::popup::{self, Line, Scroll};
use super::times;
use crate::fleet::{Terminal, TerminalKey, View};

/// The dialog of one terminal. It closes when the terminal no longer waits.
#[derive(Debug)]
pub struct Dialog {
    key: TerminalKey,
    scroll: Scroll,
}

impl Dialog {
    /// The dialog of a terminal.
    pub fn new(key: TerminalKey) -> Self {
        Self { key, scroll: Scroll::default() }
    }
}

impl Overlay for Dialog {
    fn context(&self) -> Context {
        Context::Dialog
    }

    fn terminal(&self) -> Option<&TerminalKey> {
        Some(&self.key)
    }

    fn hints(&self, _view: &View<'_>) -> Vec<Hint> {
        vec![(Action::Jump, "go there and answer"), (Action::Close, "close")]
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) -> Vec<(Rect, Action)> {
        if let Some(terminal) = super::find(view, &self.key) {
            let title = title(terminal, canvas);
            popup::draw(canvas, buffer, area, &title, &lines(terminal, canvas), &mut self.scroll);
        }
        Vec::new()
    }

    fn perform(&mut self, action: Action, _desk: &mut Desk<'_, '_>) -> Then {
        self.scroll.perform(action)
    }

    fn update(&mut self, desk: &mut Desk<'_, '_>) -> Then {
        let terminal = desk.terminal(&self.key);
        if terminal.is_some_and(|terminal| waits(&terminal.state)) {
            return Then::Stay;
        }
        let name = terminal.map_or("the terminal", |terminal| terminal.state.terminal.id.as_str());
        desk.tell(Meaning::Ready, format!("the dialog of {name} is closed"));
        Then::Close
    }
}

fn title(terminal: &Terminal, canvas: &Canvas<'_>) -> String {
    let state = &terminal.state;
    let since = times::running(canvas.now.since(state.turn.since));
    format!("{}: {} for {since}", state.terminal.id, turn_word(state))
}

/// The dialog's own text and how to answer it.
fn lines(terminal: &Terminal, canvas: &Canvas<'_>) -> Vec<Line> {
    let (parts, keymap) = (&canvas.theme.parts, canvas.keymap);
    let mut lines: Vec<Line> = Vec::new();
    let excerpt = terminal.state.assessment.operator_excerpt.as_deref();
    match excerpt.filter(|_| waits(&terminal.state)) {
        Some(excerpt) => {
            // Selected options stand out by the agent's own mark, which is part of the text.
            lines.extend(excerpt.lines().map(|line| vec![(line.to_owned(), parts.text)]));
        }
        None => lines.push(vec![("there is no dialog any more".to_owned(), parts.quiet)]),
    }
    lines.push(Vec::new());
    let jump = keymap.key_for(Context::Dialog, Action::Jump).unwrap_or_default();
    let close = keymap.key_for(Context::Dialog, Action::Close).unwrap_or_default();
    lines.push(vec![
        (jump, parts.key),
        (" go there and answer   ".to_owned(), parts.quiet),
        (close, parts.key),
        (" close; nothing was sent".to_owned(), parts.quiet),
    ]);
    lines
}
