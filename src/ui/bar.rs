//! The line above the table: what is shown other than usual, so that nothing is hidden without a word.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::arrangement::Sort;
use super::canvas::Canvas;
use super::filter;
use super::text::{self, Pen};
use crate::fleet::View;

/// Draws filter, order, groups and marks, as far as there are any. Returns whether there is anything to say.
pub fn draw(canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) -> bool {
    let (arrangement, parts) = (canvas.arrangement, &canvas.theme.parts);
    let mut words: Vec<Vec<(String, Style)>> = Vec::new();
    if !arrangement.filter.is_empty() {
        words.push(vec![
            ("/ ".to_owned(), parts.key),
            (text::cut(arrangement.filter.text(), 40).into_owned(), parts.title),
            (format!("  {}", filter::note(arrangement, view)), parts.quiet),
        ]);
    }
    if arrangement.sort != Sort::Attention {
        words.push(vec![("by ".to_owned(), parts.quiet), (arrangement.sort.word().to_owned(), parts.title)]);
    }
    if let Some(grouping) = arrangement.grouping.word() {
        words.push(vec![("grouped by ".to_owned(), parts.quiet), (grouping.to_owned(), parts.title)]);
    }
    let marked = arrangement.flags.count();
    if marked > 0 {
        words.push(vec![(format!("{marked} marked"), parts.key)]);
    }
    let mut pen = Pen::new(buffer, area, 0);
    pen.skip(1);
    for (nth, parts) in words.iter().enumerate() {
        pen.skip(if nth == 0 { 0 } else { 3 });
        pen.line(parts);
    }
    !words.is_empty()
}
