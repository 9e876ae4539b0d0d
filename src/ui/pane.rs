//! The title line of a pane.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::canvas::Canvas;
use super::text::Pen;

/// Draws `─ title  rest ────` into the first row of an area and returns what is below it.
pub fn titled(canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, title: &[(&str, Style)]) -> Rect {
    if area.is_empty() {
        return area;
    }
    let rule = canvas.theme.parts.rule;
    let mut pen = Pen::new(buffer, area, 0);
    pen.text("─ ", rule);
    for (nth, (text, style)) in title.iter().enumerate() {
        pen.text(if nth == 0 { "" } else { "  " }, rule).text(text, *style);
    }
    pen.text(" ", rule);
    pen.rule("─", rule);
    Rect { y: area.y + 1, height: area.height - 1, ..area }
}
