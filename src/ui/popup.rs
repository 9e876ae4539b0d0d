//! A box over the frame, for what has to be read before anything else.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::canvas::Canvas;
use super::text::{self, Pen};

/// One line of a popup: stretches of text in their styles.
pub type Line = Vec<(String, Style)>;

/// Draws a box with a title and lines in the middle of an area, from the line at `scroll` on.
///
/// Returns the highest scroll that still shows something new.
pub fn draw(canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, title: &str, lines: &[Line], scroll: usize) -> usize {
    let parts = &canvas.theme.parts;
    let line_cells = |line: &Line| line.iter().map(|(text, _)| text::width(text)).sum::<usize>();
    let widest = lines.iter().map(line_cells).max().unwrap_or(0).max(text::width(title) + 2);
    let width = u16::try_from(widest + 4).unwrap_or(u16::MAX).min(area.width);
    let height = u16::try_from(lines.len() + 2).unwrap_or(u16::MAX).min(area.height);
    if width < 4 || height < 3 {
        return 0;
    }
    let place = Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height };
    clear(buffer, place);
    let inner = Rect { x: place.x + 2, y: place.y + 1, width: width - 4, height: height - 2 };
    let most = lines.len().saturating_sub(usize::from(inner.height));
    let scroll = scroll.min(most);
    draw_border(canvas, buffer, place, title);
    for (row, line) in (0..inner.height).zip(lines.iter().skip(scroll)) {
        let mut pen = Pen::new(buffer, inner, row);
        for (text, style) in line {
            pen.text(text, *style);
        }
    }
    if most > 0 {
        let more = format!(" {}–{} of {} ", scroll + 1, scroll + usize::from(inner.height), lines.len());
        let foot = Rect { y: place.bottom() - 1, height: 1, x: place.x + 2, width: width - 4 };
        Pen::new(buffer, foot, 0).text(&more, parts.quiet);
    }
    most
}

/// Blanks an area, so that nothing of what is below shines through, not even half of a wide character.
pub fn clear(buffer: &mut Buffer, area: Rect) {
    let area = area.intersection(buffer.area);
    for y in area.rows().map(|row| row.y) {
        if let Some(left) = area.x.checked_sub(1)
            && let Some(cell) = buffer.cell_mut((left, y))
            && text::width(cell.symbol()) > 1
        {
            cell.set_symbol(" ");
        }
        for x in area.left()..area.right() {
            if let Some(cell) = buffer.cell_mut((x, y)) {
                cell.reset();
            }
        }
    }
}

fn draw_border(canvas: &Canvas<'_>, buffer: &mut Buffer, place: Rect, title: &str) {
    let parts = &canvas.theme.parts;
    let inner = usize::from(place.width - 2);
    let mut pen = Pen::new(buffer, place, 0);
    pen.raw("┌ ", parts.rule).text(&text::cut(title, inner.saturating_sub(3)), parts.title).raw(" ", parts.rule);
    while pen.room() > 1 {
        pen.raw("─", parts.rule);
    }
    pen.raw("┐", parts.rule);
    for row in 1..place.height - 1 {
        let mut pen = Pen::new(buffer, place, row);
        pen.raw("│", parts.rule).skip(place.width - 2).raw("│", parts.rule);
    }
    let mut pen = Pen::new(buffer, place, place.height - 1);
    pen.raw("└", parts.rule).raw(&"─".repeat(inner), parts.rule).raw("┘", parts.rule);
}
