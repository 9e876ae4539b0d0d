//! The last line: the keys that do something for what is selected now.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::action::Action;
use super::canvas::Canvas;
use super::keymap::Context;
use super::text::{self, Pen};

/// A key worth showing, with what it does in a word.
pub type Hint = (Action, &'static str);

/// Draws the hints that fit, the first ones and always the last, with a blank before them. Returns where each one is.
pub fn draw(
    canvas: &Canvas<'_>,
    buffer: &mut Buffer,
    area: Rect,
    context: Context,
    hints: &[Hint],
) -> Vec<(Rect, Action)> {
    let line = Rect { x: area.x + area.width.min(1), width: area.width.saturating_sub(1), ..area };
    draw_buttons(canvas, buffer, line, context, hints)
}

/// Draws the hints that fit, the first ones and always the last, from the left edge on. Returns where each one is.
pub fn draw_buttons(
    canvas: &Canvas<'_>,
    buffer: &mut Buffer,
    area: Rect,
    context: Context,
    hints: &[Hint],
) -> Vec<(Rect, Action)> {
    let parts = &canvas.theme.parts;
    let (hints, _) = fitting(canvas, area.width, context, hints);
    let mut drawn = Vec::new();
    let mut pen = Pen::new(buffer, area, 0);
    for (action, key, word) in hints {
        let start = pen.column();
        pen.text(&key, parts.key).text(" ", parts.quiet).text(word, parts.quiet);
        drawn.push((Rect { x: start, width: pen.column() - start, ..area }, action));
        pen.skip(GAP);
    }
    drawn
}

/// The cells that hints take where all of them fit.
pub fn cells(canvas: &Canvas<'_>, context: Context, hints: &[Hint]) -> usize {
    let (shown, _) = fitting(canvas, u16::MAX, context, hints);
    shown.iter().map(of_one).sum::<usize>().saturating_sub(usize::from(GAP))
}

/// The hints that a footer of a width leaves out.
pub fn left_out(canvas: &Canvas<'_>, width: u16, context: Context, hints: &[Hint]) -> Vec<Hint> {
    fitting(canvas, width.saturating_sub(1), context, hints)
        .1
        .into_iter()
        .map(|(action, _, word)| (action, word))
        .collect()
}

/// The cells between two hints.
const GAP: u16 = 3;

/// The cells of a hint and of the gap behind it.
fn of_one((_, key, word): &Keyed) -> usize {
    text::width(key) + 1 + text::width(word) + usize::from(GAP)
}

/// A hint with its key.
type Keyed = (Action, String, &'static str);

/// The hints that fit, and those that do not, both in their order.
fn fitting(canvas: &Canvas<'_>, width: u16, context: Context, hints: &[Hint]) -> (Vec<Keyed>, Vec<Keyed>) {
    let keyed = |&(action, word): &Hint| canvas.keymap.key_for(context, action).map(|key| (action, key, word));
    let mut fitting: Vec<Keyed> = hints.iter().filter_map(keyed).collect();
    let mut others = Vec::new();
    // What does not fit is left out whole; the last hint, the way to all the others, is the last to go.
    while fitting.len() > 1 && fitting.iter().map(of_one).sum::<usize>() > usize::from(width) + usize::from(GAP) {
        others.insert(0, fitting.remove(fitting.len() - 2));
    }
    (fitting, others)
}
