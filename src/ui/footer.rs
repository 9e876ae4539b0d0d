//! The last line: the keys that do something for what is selected now.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::action::Action;
use super::canvas::Canvas;
use super::keymap::Context;
use super::text::{self, Pen};

/// A key worth showing, with what it does in a word.
pub type Hint = (Action, &'static str);

/// Draws the hints that fit, the first ones and always the last. Returns where each one is.
pub fn draw(
    canvas: &Canvas<'_>,
    buffer: &mut Buffer,
    area: Rect,
    context: Context,
    hints: &[Hint],
) -> Vec<(Rect, Action)> {
    let parts = &canvas.theme.parts;
    let shown = |&(action, word): &Hint| canvas.keymap.key_for(context, action).map(|key| (action, key, word));
    let mut hints: Vec<(Action, String, &str)> = hints.iter().filter_map(shown).collect();
    let cells = |key: &str, word: &str| text::width(key) + 1 + text::width(word) + 3;
    let room = usize::from(area.width);
    // What does not fit is left out whole; the last hint, the way to all the others, is the last to go.
    while hints.len() > 1 && hints.iter().map(|(_, key, word)| cells(key, word)).sum::<usize>() > room + 2 {
        hints.remove(hints.len() - 2);
    }
    let mut drawn = Vec::new();
    let mut pen = Pen::new(buffer, area, 0);
    pen.skip(1);
    for (action, key, word) in hints {
        let start = pen.column();
        pen.text(&key, parts.key).text(" ", parts.quiet).text(word, parts.quiet);
        drawn.push((Rect { x: start, width: pen.column() - start, ..area }, action));
        pen.skip(3);
    }
    drawn
}
