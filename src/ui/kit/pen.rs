//! How text gets into the frame.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::present::text::{Piece, cut, pieces, width};

/// The cells that stretches of text take, one behind the other.
pub fn line_width(line: &[(String, Style)]) -> usize {
    line.iter().map(|(text, _)| width(text)).sum()
}

/// Writes text into one row of the frame, left to right, never beyond the row's end.
pub struct Pen<'a> {
    buffer: &'a mut Buffer,
    row: u16,
    column: u16,
    end: u16,
}

impl<'a> Pen<'a> {
    /// A pen at the beginning of an area's row, counted from the area's top. Outside of the frame it writes nothing.
    pub fn new(buffer: &'a mut Buffer, area: Rect, row: u16) -> Self {
        let area = area.intersection(buffer.area);
        let inside = row < area.height;
        let end = if inside { area.right() } else { area.left() };
        Self { buffer, row: area.top().saturating_add(row), column: area.left(), end }
    }

    /// The column that is written next, in cells from the frame's left.
    pub fn column(&self) -> u16 {
        self.column
    }

    /// Cells until the end of the row.
    pub fn room(&self) -> u16 {
        self.end - self.column
    }

    /// Leaves cells as they are.
    pub fn skip(&mut self, cells: u16) -> &mut Self {
        self.column += cells.min(self.room());
        self
    }

    /// Writes a text, cut with `…` where the row ends.
    pub fn text(&mut self, text: &str, style: Style) -> &mut Self {
        let cells = width(text).min(usize::from(self.room()));
        self.field(text, cells, style)
    }

    /// Writes stretches of text, each in its style, one behind the other.
    pub fn line(&mut self, parts: &[(String, Style)]) -> &mut Self {
        for (text, style) in parts {
            self.text(text, *style);
        }
        self
    }

    /// Writes a text into a field of that many cells: cut with `…`, filled up with blanks.
    pub fn field(&mut self, text: &str, cells: usize, style: Style) -> &mut Self {
        let cells = cells.min(usize::from(self.room()));
        let end = self.column + u16::try_from(cells).unwrap_or(u16::MAX);
        let text = cut(text, cells);
        for piece in pieces(&text) {
            if self.column + piece.width > end {
                break;
            }
            self.put(piece, style);
        }
        self.fill(end, style)
    }

    /// Writes a text at the right of a field of that many cells.
    pub fn right(&mut self, text: &str, cells: usize, style: Style) -> &mut Self {
        let cells = cells.min(usize::from(self.room()));
        let blanks = cells.saturating_sub(width(text));
        self.field("", blanks, style).field(text, cells - blanks, style)
    }

    /// Writes a text as it is, without `…`: what does not fit is not written.
    pub fn raw(&mut self, text: &str, style: Style) -> &mut Self {
        for piece in pieces(text) {
            if piece.width > self.room() {
                self.column = self.end;
                break;
            }
            self.put(piece, style);
        }
        self
    }

    /// Repeats a symbol of one cell up to the end of the row.
    pub fn rule(&mut self, symbol: &str, style: Style) -> &mut Self {
        while self.room() > 0 {
            self.raw(symbol, style);
        }
        self
    }

    fn fill(&mut self, end: u16, style: Style) -> &mut Self {
        while self.column < end {
            self.put(Piece { symbol: " ", width: 1 }, style);
        }
        self
    }

    fn put(&mut self, piece: Piece<'_>, style: Style) {
        for offset in 0..piece.width {
            if let Some(cell) = self.buffer.cell_mut((self.column + offset, self.row)) {
                if offset == 0 {
                    cell.set_symbol(piece.symbol).set_style(style);
                } else {
                    // The second cell of a wide character is hidden by it.
                    cell.reset();
                    cell.set_style(style);
                }
            }
        }
        self.column += piece.width;
    }
}

#[cfg(test)]
mod tests;
