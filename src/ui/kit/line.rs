//! How text gets into the frame: a [`span`] of it, lines of spans, and the row of cells that a line becomes.

use std::ops::Range;

use ratatui::prelude::{Buffer, Line, Rect, Span, Style};
use ratatui::widgets::{Clear, Widget};

use crate::present::text::{self, Piece, pieces};

/// A span that owns its text, by a name that no length of time has.
pub type Part = Span<'static>;

/// A stretch of text in a style. Here, and nowhere else, text of panes becomes harmless: only pieces are left that cannot act on
/// the terminal and whose width no terminal doubts.
pub fn span(text: impl AsRef<str>, style: Style) -> Part {
    Span::styled(harmless(text.as_ref()), style)
}

/// A text as a span has it.
pub fn harmless(text: &str) -> String {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.to_owned();
    }
    pieces(text).map(|piece| piece.symbol).collect()
}

/// A text in a field of that many cells: cut with `…`, filled up with blanks.
pub fn field(text: impl AsRef<str>, cells: usize, style: Style) -> Part {
    span(text::padded(&text::cut(text.as_ref(), cells), cells), style)
}

/// A text at the right of a field of that many cells.
pub fn right(text: impl AsRef<str>, cells: usize, style: Style) -> Part {
    let text = text::cut(text.as_ref(), cells);
    span(format!("{}{text}", " ".repeat(cells.saturating_sub(text::width(&text)))), style)
}

/// Cells that keep the style of what is below.
pub fn blank(cells: usize) -> Part {
    Span::raw(" ".repeat(cells))
}

/// The cells that a line takes. Terminals disagree with [`Line::width`] where scripts join letters.
pub fn width(line: &Line<'_>) -> usize {
    line.iter().map(|span| text::width(&span.content)).sum()
}

/// The cells of an area that a line leaves.
pub fn room(area: Rect, line: &Line<'_>) -> usize {
    usize::from(area.width).saturating_sub(width(line))
}

/// What a line says.
pub fn text_of(line: &Line<'_>) -> String {
    line.iter().map(|span| span.content.as_ref()).collect()
}

/// The bytes of a line that are in a range.
pub fn slice(line: &Line<'_>, range: Range<usize>) -> Vec<Part> {
    let mut end = 0;
    let within = |part: &Span<'_>| {
        let begin = end;
        end += part.content.len();
        let from = range.start.max(begin) - begin;
        let text = part.content.get(from..range.end.min(end).checked_sub(begin)?)?;
        (!text.is_empty()).then(|| span(text, part.style))
    };
    line.iter().filter_map(within).collect()
}

/// A row of an area, counted from its top; nothing where there is none.
pub fn row(area: Rect, nth: u16) -> Rect {
    let height = u16::from(nth < area.height);
    Rect { y: area.y.saturating_add(nth), height, ..area }
}

/// Writes a line into the first row of an area, cut with `…` where that ends, and never beyond it. Blanks at the end of a span
/// are cut without a word.
pub fn draw<'l>(buffer: &mut Buffer, area: Rect, line: impl Into<Line<'l>>) {
    let Some(row) = area.intersection(buffer.area).rows().next() else { return };
    let line = line.into();
    buffer.set_style(row, line.style);
    let mut x = row.x;
    for Span { content, style } in &line.spans {
        let room = usize::from(row.right().saturating_sub(x));
        let is_over = text::width(content) > room;
        let cut = is_over.then(|| text::padded(&text::cut(content.trim_end_matches(' '), room), room));
        for Piece { symbol, width } in pieces(cut.as_deref().unwrap_or(content)) {
            // The second cell of a wide character is hidden by it.
            for (at, symbol) in (x..x + width).zip([symbol, " "]) {
                if let Some(cell) = buffer.cell_mut((at, row.y)) {
                    cell.set_symbol(symbol).set_style(*style);
                }
            }
            x += width;
        }
    }
}

/// Writes a line over others, hiding them.
pub fn draw_over<'l>(buffer: &mut Buffer, area: Rect, line: impl Into<Line<'l>>) {
    let line = line.into();
    let width = u16::try_from(width(&line)).unwrap_or(u16::MAX).min(area.width);
    Clear.render(Rect { width, height: area.height.min(1), ..area }, buffer);
    draw(buffer, area, line);
}

/// Writes lines into the rows of an area that it has for them.
pub fn draw_all<'l, L: Into<Line<'l>>>(buffer: &mut Buffer, area: Rect, lines: impl IntoIterator<Item = L>) {
    for (row, line) in area.rows().zip(lines) {
        draw(buffer, row, line);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ratatui::buffer::CellWidth;

    use super::*;

    #[test]
    fn a_line_never_leaves_its_row() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 6, 3));
        let plain = Style::default();
        draw(&mut buffer, Rect::new(1, 0, 3, 1), span("abcdefgh", plain));
        draw(&mut buffer, Rect::new(0, 1, 6, 1), vec![right("42", 5, plain), span("漢", plain)]);
        draw(&mut buffer, Rect::new(0, 2, 4, 1), vec![field("ab", 9, plain), span("c", plain)]);
        draw(&mut buffer, Rect::new(0, 5, 6, 1), span("outside", plain));
        assert_eq!(buffer, Buffer::with_lines([" ab…  ", "   42…", "ab    "]));
        let joined = Line::from(span("لا", plain));
        assert_eq!((joined.width(), width(&joined)), (1, 2), "each letter has a cell of its own");
    }

    proptest! {
        #[test]
        fn a_span_is_harmless_and_stays_as_it_is(text in any::<String>()) {
            let once = span(&text, Style::default());
            prop_assert!(once.content.chars().all(crate::screen::is_harmless), "{:?}", once.content);
            prop_assert_eq!(text::width(&once.content), text::width(&text));
            prop_assert_eq!(&span(&once.content, Style::default()), &once);
            for piece in pieces(&text) {
                prop_assert_eq!(piece.symbol.cell_width(), piece.width, "{:?}", piece);
            }
        }

        #[test]
        fn a_field_has_as_many_cells_as_it_says(text in any::<String>(), cells in 0_usize..30) {
            for field in [field(&text, cells, Style::default()), right(&text, cells, Style::default())] {
                prop_assert_eq!(width(&field.into()), cells);
            }
        }
    }
}
