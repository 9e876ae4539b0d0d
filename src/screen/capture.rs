//! Screens from what tmux prints and from the terminal emulator that plays recordings.

use unicode_width::UnicodeWidthChar;
use vte::{Params, Parser, Perform};

use super::row::{Color, Row, RowBuilder, Style, is_plain};

/// Reads the rows that `capture-pane -p -e` printed. tmux carries the style over from row to row.
pub(super) fn read(bytes: &[u8], columns: u16, rows: u16) -> Vec<Row> {
    let limit = usize::from(rows);
    let mut reader = CaptureReader { columns, limit, done: Vec::with_capacity(limit), ..CaptureReader::default() };
    reader.take(bytes);
    if reader.column > 0 || reader.done.len() < reader.limit {
        reader.end_row();
    }
    reader.done.resize_with(reader.limit, Row::default);
    reader.done
}

#[derive(Default)]
struct CaptureReader {
    columns: u16,
    limit: usize,
    column: u16,
    style: Style,
    row: RowBuilder,
    done: Vec<Row>,
}

impl CaptureReader {
    /// Reads a capture. Most of one is printable ASCII, which needs no parser.
    fn take(&mut self, mut bytes: &[u8]) {
        let mut parser = Parser::new();
        while let Some(&first) = bytes.first() {
            let count = match first {
                b' '..=b'~' => {
                    let count = length_of(bytes, |byte| matches!(byte, b' '..=b'~'));
                    self.print_plain(&bytes[..count]);
                    bytes = &bytes[count..];
                    continue;
                }
                b'\x1b' => length_of_sequence(bytes).unwrap_or(bytes.len()),
                ..0x80 => 1,
                _ => {
                    let count = length_of(bytes, |byte| byte >= 0x80);
                    if std::str::from_utf8(&bytes[..count]).is_ok() { count } else { bytes.len() }
                }
            };
            // An incomplete sequence may go on in the rest, so all of it is parsed.
            parser.advance(self, &bytes[..count]);
            bytes = &bytes[count..];
        }
    }

    fn print_plain(&mut self, bytes: &[u8]) {
        let room = usize::from(self.columns.saturating_sub(self.column));
        let text = std::str::from_utf8(&bytes[..bytes.len().min(room)]).unwrap_or_default();
        if !text.is_empty() {
            self.column += u16::try_from(text.len()).unwrap_or(self.columns);
            self.row.push_plain(text, self.style);
        }
    }

    fn end_row(&mut self) {
        let row = self.row.finish();
        if self.done.len() < self.limit {
            self.done.push(row);
        }
        self.column = 0;
    }
}

impl Perform for CaptureReader {
    fn print(&mut self, c: char) {
        let width = if is_plain(c) { 1 } else { u16::try_from(c.width().unwrap_or(0)).unwrap_or(0) };
        // A row wider than the pane comes from a pane that was resized between listing and capture; the surplus
        // is cut, as it would be on the screen.
        if width > 0 && self.column + width > self.columns {
            return;
        }
        self.column += width;
        self.row.push(c, self.style);
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' => self.end_row(),
            b'\t' => self.print(' '),
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], ignore: bool, action: char) {
        if action == 'm' && intermediates.is_empty() && !ignore {
            apply_sgr(&mut self.style, params);
        }
    }
}

/// How many bytes at the beginning are of a kind.
fn length_of(bytes: &[u8], is_of: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|byte| !is_of(*byte)).unwrap_or(bytes.len())
}

/// The bytes of the control sequence at the beginning, if it is a whole `CSI` of digits and separators.
fn length_of_sequence(bytes: &[u8]) -> Option<usize> {
    let parameters = bytes.strip_prefix(b"\x1b[")?;
    let count = length_of(parameters, |byte| matches!(byte, b'0'..=b';'));
    matches!(parameters.get(count)?, b'@'..=b'~').then_some(count + 3)
}

/// Applies one `CSI … m` sequence.
fn apply_sgr(style: &mut Style, params: &Params) {
    let mut params = params.iter();
    while let Some(param) = params.next() {
        match param.first().copied().unwrap_or(0) {
            0 => *style = Style::default(),
            // The emulator that plays recordings knows one intensity at a time, the last one that was asked for; a
            // live screen must read the same.
            1 => (style.bold, style.dim) = (true, false),
            2 => (style.bold, style.dim) = (false, true),
            3 => style.italic = true,
            // `4:0` is the spelling of "no underline" among the curly and dotted kinds.
            4 => style.underline = param.get(1) != Some(&0),
            7 => style.inverse = true,
            21 => style.underline = true,
            22 => (style.bold, style.dim) = (false, false),
            23 => style.italic = false,
            24 => style.underline = false,
            27 => style.inverse = false,
            n @ 30..=37 => style.foreground = Color::Indexed(byte(n - 30)),
            38 => style.foreground = extended(param, &mut params).unwrap_or(style.foreground),
            39 => style.foreground = Color::Default,
            n @ 40..=47 => style.background = Color::Indexed(byte(n - 40)),
            48 => style.background = extended(param, &mut params).unwrap_or(style.background),
            49 => style.background = Color::Default,
            58 => drop(extended(param, &mut params)),
            n @ 90..=97 => style.foreground = Color::Indexed(byte(n - 90 + 8)),
            n @ 100..=107 => style.background = Color::Indexed(byte(n - 100 + 8)),
            _ => {}
        }
    }
}

/// A 256-colour or true colour, spelled with `:` (all in one parameter) or with `;` (in the ones that follow).
fn extended<'a>(param: &[u16], rest: &mut impl Iterator<Item = &'a [u16]>) -> Option<Color> {
    let mut next = || rest.next().and_then(|p| p.first().copied());
    if param.len() > 1 {
        return match (param[1], &param[2..]) {
            (5, [index, ..]) => Some(Color::Indexed(byte(*index))),
            (2, [r, g, b]) | (2, [_, r, g, b, ..]) => Some(Color::Rgb(byte(*r), byte(*g), byte(*b))),
            _ => None,
        };
    }
    match next()? {
        5 => Some(Color::Indexed(byte(next()?))),
        2 => Some(Color::Rgb(byte(next()?), byte(next()?), byte(next()?))),
        _ => None,
    }
}

fn byte(n: u16) -> u8 {
    u8::try_from(n).unwrap_or(u8::MAX)
}

/// Copies the emulator's visible rows; those that are known are taken as they are.
pub(super) fn copy(screen: &vt100::Screen, known: impl Fn(u16) -> Option<Row>) -> Vec<Row> {
    let (rows, columns) = screen.size();
    (0..rows.get()).map(|y| known(y).unwrap_or_else(|| copy_row(screen, y, columns.get()))).collect()
}

fn copy_row(screen: &vt100::Screen, y: u16, columns: u16) -> Row {
    let mut row = RowBuilder::default();
    for x in 0..columns {
        let Some(cell) = screen.cell(y, x) else { continue };
        if cell.is_wide_continuation() {
            continue;
        }
        let style = style_of(cell);
        if cell.has_contents() {
            cell.contents().chars().for_each(|c| row.push(c, style));
        } else {
            row.push(' ', style);
        }
    }
    row.finish()
}

fn style_of(cell: &vt100::Cell) -> Style {
    Style {
        foreground: color_of(cell.fgcolor()),
        background: color_of(cell.bgcolor()),
        bold: cell.bold(),
        dim: cell.dim(),
        italic: cell.italic(),
        underline: cell.underline(),
        inverse: cell.inverse(),
    }
}

fn color_of(color: vt100::Color) -> Color {
    match color {
        vt100::Color::Default => Color::Default,
        vt100::Color::Idx(index) => Color::Indexed(index),
        vt100::Color::Rgb(r, g, b) => Color::Rgb(r, g, b),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_capture_is_read_as_if_all_of_it_was_parsed(
            parts in proptest::collection::vec(prop_oneof![
                "[ a-zäß漢🙂\u{301}\u{202E}\u{85}\u{9b}]{0,12}".prop_map(String::into_bytes),
                "\u{1b}\\[[0-9;:]{0,9}[mHK]?".prop_map(String::into_bytes),
                "\u{1b}[\\]P(\\[?]{0,2}8;;x(\u{7}|\u{1b}\\\\)?".prop_map(String::into_bytes),
                proptest::collection::vec(any::<u8>(), 0..6),
                Just(b"\n".to_vec()),
            ], 0..40),
            columns in 0u16..30,
        ) {
            let (bytes, limit) = (parts.concat(), 20);
            let mut parsed = CaptureReader { columns, limit, ..CaptureReader::default() };
            Parser::new().advance(&mut parsed, &bytes);
            let mut taken = CaptureReader { columns, limit, ..CaptureReader::default() };
            taken.take(&bytes);
            parsed.end_row();
            taken.end_row();
            prop_assert_eq!(taken.done, parsed.done);
        }
    }
}
