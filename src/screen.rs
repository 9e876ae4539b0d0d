//! One capture of a terminal: a grid of styled rows, and the facts that tmux reports about the pane.
//!
//! A [`Screen`] holds text and styles only. Control characters and marks that reorder text are taken out when it is
//! built, so that whatever is drawn or logged from a screen cannot act on the operator's terminal. Where somebody decides
//! based on a text, such as an approval, they are spelled out: [`Row::spelled`], [`spelled`].

mod capture;
pub(crate) mod kept;
mod row;

use std::fmt::Write as _;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use kept::KeptScreen;
pub use row::{Color, Row, Style, dense, harmless, indexed_rgb, is_harmless, spelled};
pub(crate) use row::{RowBuilder, is_drawn_as_nothing};

/// The visible screen of a pane.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Screen {
    columns: u16,
    rows: Vec<Row>,
}

impl Screen {
    /// A screen of `columns` cells a row with the given rows, top first.
    pub fn new(columns: u16, rows: Vec<Row>) -> Self {
        Self { columns, rows }
    }

    /// Reads what `tmux capture-pane -p -e` printed for a pane of this many columns and rows.
    ///
    /// Never fails: bytes that are no UTF-8 become U+FFFD, unknown sequences are dropped, missing rows are blank.
    pub fn from_capture(bytes: &[u8], columns: u16, rows: u16) -> Self {
        Self::new(columns, capture::read(bytes, columns, rows))
    }

    /// Copies what a terminal emulator shows, as a recording is replayed.
    pub fn from_vt100(screen: &vt100::Screen) -> Self {
        Self::new(screen.size().1.get(), capture::copy(screen, |_| None))
    }

    /// Like [`Screen::from_vt100`], with the rows from an earlier copy for which `changed`, given their index from the
    /// top, says no.
    pub fn from_vt100_rows(screen: &vt100::Screen, earlier: &Screen, changed: impl Fn(u16) -> bool) -> Self {
        let columns = screen.size().1.get();
        let is_same = |y: &u16| earlier.columns() == columns && !changed(*y);
        let known = |y| Some(y).filter(is_same).and_then(|y| earlier.row(usize::from(y))).cloned();
        Self::new(columns, capture::copy(screen, known))
    }

    /// A screen of unstyled lines, as tests and tools write them.
    pub fn from_text(text: &str, columns: u16) -> Self {
        let rows = text
            .lines()
            .map(|line| {
                let mut row = RowBuilder::default();
                line.chars().for_each(|c| row.push(c, Style::default()));
                row.finish()
            })
            .collect();
        Self { columns, rows }
    }

    /// Cells in a row.
    pub fn columns(&self) -> u16 {
        self.columns
    }

    /// Cells in a row, and rows.
    pub fn size(&self) -> (u16, usize) {
        (self.columns, self.rows.len())
    }

    /// All rows, top first.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// All rows, top first, out of the screen.
    pub fn into_rows(self) -> Vec<Row> {
        self.rows
    }

    /// The row at an index from the top.
    pub fn row(&self, index: usize) -> Option<&Row> {
        self.rows.get(index)
    }

    /// Whether nothing at all is shown.
    pub fn is_blank(&self) -> bool {
        self.rows.iter().all(Row::is_blank)
    }

    /// The index of the last row that is not blank.
    pub fn last_row(&self) -> Option<usize> {
        self.rows.iter().rposition(|row| !row.is_blank())
    }
}

/// Where the pane's cursor is, in cells from the top left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Cursor {
    pub column: u16,
    pub row: u16,
    pub visible: bool,
}

/// What tmux reports about a pane beside its screen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct PaneFacts {
    /// `pane_title`, without control characters.
    pub title: String,
    /// `pane_current_command`.
    pub command: String,
    pub cursor: Cursor,
    /// Whether the alternate screen is shown.
    pub alternate: bool,
    /// Whether the pane's program has ended (`remain-on-exit`).
    pub dead: bool,
    /// The exit status of a dead pane, when tmux knows it.
    pub exit_status: Option<i32>,
    /// Whether a bell rang since somebody last looked at the window.
    pub bell: bool,
    /// Rows in the scrollback.
    pub history_size: u32,
    /// Whether the pane is in copy mode or another mode, in which keys do not reach its program.
    pub in_mode: bool,
}

// A screen as text that any process can read back: rows as `capture-pane -e` prints them. It comes from another process,
// so it is read like a capture, and whatever could act on a terminal is taken out (SPEC §15).

#[derive(Serialize, Deserialize)]
struct Wire {
    columns: u16,
    rows: u16,
    text: String,
}

impl Serialize for Screen {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rows = u16::try_from(self.rows.len()).unwrap_or(u16::MAX);
        Wire { columns: self.columns, rows, text: self.to_capture() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Screen {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Wire { columns, rows, text } = Wire::deserialize(deserializer)?;
        Ok(Screen::from_capture(text.as_bytes(), columns, rows))
    }
}

impl Screen {
    /// What [`Screen::from_capture`] reads this screen from.
    pub fn to_capture(&self) -> String {
        let mut text = String::new();
        let mut style = Style::default();
        for (index, row) in self.rows.iter().enumerate() {
            if index > 0 {
                text.push('\n');
            }
            for (run, next) in row.captured_runs() {
                if next != style {
                    style = next;
                    push_style(&mut text, style);
                }
                text.push_str(&run);
            }
        }
        text
    }
}

/// Appends the sequence that sets a style, whatever was set before.
pub(crate) fn push_style(text: &mut String, style: Style) {
    text.push_str("\x1b[0");
    let flags =
        [(style.bold, "1"), (style.dim, "2"), (style.italic, "3"), (style.underline, "4"), (style.inverse, "7")];
    for (_, code) in flags.into_iter().filter(|(is_set, _)| *is_set) {
        text.push(';');
        text.push_str(code);
    }
    for (color, code) in [(style.foreground, 38), (style.background, 48)] {
        // Writing to a string does not fail.
        let _ = match color {
            Color::Default => Ok(()),
            Color::Indexed(index) => write!(text, ";{code};5;{index}"),
            Color::Rgb(r, g, b) => write!(text, ";{code};2;{r};{g};{b}"),
        };
    }
    text.push('m');
}

#[cfg(test)]
mod tests;
