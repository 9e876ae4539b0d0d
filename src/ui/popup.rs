//! A box over the frame, for what has to be read before anything else.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::canvas::Canvas;
use super::text::{self, Pen};
use super::viewport::Viewport;

/// One line of a popup: stretches of text in their styles.
pub type StyledLine = Vec<(String, Style)>;

/// The box around what [`frame`] and [`draw`] say is inside.
pub fn around(inner: Rect) -> Rect {
    if inner.is_empty() {
        return Rect::ZERO;
    }
    Rect { x: inner.x - 2, y: inner.y - 1, width: inner.width + 4, height: inner.height + 2 }
}

/// Draws a box with a title and lines in the middle of an area, as far as they are scrolled. Returns the lines' place.
pub fn draw(
    canvas: &Canvas<'_>,
    buffer: &mut Buffer,
    area: Rect,
    title: &str,
    lines: &[StyledLine],
    view: &mut Viewport,
) -> Rect {
    let line_cells = |line: &StyledLine| line.iter().map(|(text, _)| text::width(text)).sum::<usize>();
    let widest = lines.iter().map(line_cells).max().unwrap_or(0).max(text::width(title) + 2);
    let width = u16::try_from(widest + 4).unwrap_or(u16::MAX);
    let height = u16::try_from(lines.len() + 2).unwrap_or(u16::MAX);
    let Some(inner) = frame(canvas, buffer, area, (width, height), title) else { return Rect::ZERO };
    let first = view.fit(usize::from(inner.height), lines.len());
    for (row, line) in (0..inner.height).zip(lines.iter().skip(first)) {
        Pen::new(buffer, inner, row).line(line);
    }
    draw_extent(canvas, buffer, inner, first, view.page(), lines.len());
    inner
}

/// Says at the foot of a box which of its lines are shown, where not all are.
pub fn draw_extent(canvas: &Canvas<'_>, buffer: &mut Buffer, inner: Rect, first: usize, page: usize, count: usize) {
    if count > page && !inner.is_empty() {
        let shown = format!(" {}–{} of {count} ", first + 1, (first + page).min(count));
        let foot = Rect { y: inner.bottom(), height: 1, ..inner };
        Pen::new(buffer, foot, 0).text(&shown, canvas.theme.parts.quiet);
    }
}

/// Draws an empty box of a size, borders included, in the middle of an area. Returns what is inside; `None` when there
/// is no room for anything.
pub fn frame(
    canvas: &Canvas<'_>,
    buffer: &mut Buffer,
    area: Rect,
    (width, height): (u16, u16),
    title: &str,
) -> Option<Rect> {
    let (width, height) = (width.min(area.width), height.min(area.height));
    if width < 4 || height < 3 {
        return None;
    }
    let place = Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height };
    clear(buffer, place);
    draw_border(canvas, buffer, place, title);
    Some(Rect { x: place.x + 2, y: place.y + 1, width: width - 4, height: height - 2 })
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
