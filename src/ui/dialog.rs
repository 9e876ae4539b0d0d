//! The dialog that a terminal waits in, to be read; it is answered in the terminal itself.

use super::canvas::Canvas;
use super::keymap::{Context, Keymap};
use super::meaning::{turn_word, waits};
use super::popup::Line;
use super::{action::Action, times};
use crate::fleet::Terminal;

/// The title of the view.
pub fn title(terminal: &Terminal, canvas: &Canvas<'_>) -> String {
    let state = &terminal.state;
    let since = times::running(canvas.now.since(state.turn.since));
    format!("{}: {} for {since}", state.terminal.id, turn_word(state))
}

/// The lines of the view: the dialog's own text and how to answer it.
pub fn lines(terminal: &Terminal, canvas: &Canvas<'_>, keymap: &Keymap) -> Vec<Line> {
    let parts = &canvas.theme.parts;
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
