//! The heads of groups in the table, with their counts aligned.

use ratatui::prelude::{Line, Modifier, Style};

use crate::present::arrangement::Head;
use crate::present::columns::GAP;
use crate::status::Status;
use crate::ui::kit::list::cursor;
use crate::ui::signs::MARKED;
use crate::ui::{Canvas, TableRow, blank, field, right, span, text};

/// The cells of what the heads of groups say, so that it stands below each other.
pub struct HeadLayout {
    /// The cells of each column; 0 where no head says anything in it.
    cells: Vec<usize>,
    /// Whether there is room for the words behind the numbers.
    has_words: bool,
}

impl HeadLayout {
    pub fn new(canvas: &Canvas<'_>, width: usize, rows: &[TableRow<'_>]) -> Self {
        let with = |has_words| {
            let mut cells = vec![0; 3 + 3 * Status::GROUPS.len()];
            let heads = rows.iter().filter_map(|row| if let TableRow::Head(head) = row { Some(head) } else { None });
            for (place, (said, ..)) in heads.flat_map(|head| columns(canvas, head, has_words).into_iter().enumerate()) {
                cells[place] = text::width(&said).max(cells[place]);
            }
            Self { cells, has_words }
        };
        let mut layout = Some(with(true)).filter(|layout| layout.width() <= width).unwrap_or_else(|| with(false));
        // A name takes what the counts leave, and at least as much as that of a terminal.
        let others = layout.width() - layout.cells[0];
        layout.cells[0] = layout.cells[0].min(width.saturating_sub(others).max(TITLE_LEAST));
        layout
    }

    fn width(&self) -> usize {
        let shown = self.cells.iter().enumerate().filter(|(_, cells)| **cells > 0);
        HEAD + shown.map(|(place, cells)| gap(place) + cells).sum::<usize>()
    }

    /// The head of a group: its name, how many terminals it has, and what they need.
    pub fn line(&self, canvas: &Canvas<'_>, head: &Head, is_selected: bool) -> Line<'static> {
        let parts = &canvas.theme.parts;
        let mut line = cursor(parts, is_selected);
        line += span(if head.folded { "▸ " } else { "▾ " }, parts.quiet);
        let columns = columns(canvas, head, self.has_words).into_iter().zip(&self.cells).enumerate();
        for (place, ((said, style, is_right), cells)) in columns.filter(|(_, (_, cells))| **cells > 0) {
            let said = if is_right { right(said, *cells, style) } else { field(said, *cells, style) };
            line.extend([blank(gap(place)), said]);
        }
        line
    }
}

/// The cells that a title keeps beside counts that leave it less.
const TITLE_LEAST: usize = 8;
/// Cursor, fold sign and a blank before a head.
const HEAD: usize = 3;

/// What a head says, column by column, and what stands at the right of its column: the name, how many there are, how many of
/// them are marked, and of each status the glyph, the number and the words.
fn columns(canvas: &Canvas<'_>, head: &Head, has_words: bool) -> Vec<(String, Style, bool)> {
    let parts = &canvas.theme.parts;
    let marked =
        if head.folded && head.marked > 0 { format!("{MARKED} {} marked", head.marked) } else { String::new() };
    let title = (head.group.title().to_owned(), parts.title.add_modifier(Modifier::BOLD), false);
    let mut columns = vec![title, (head.terminals.to_string(), parts.quiet, true), (marked, parts.key, false)];
    let counts = head.shown();
    for status in Status::GROUPS {
        let (glyph, words, style) =
            (canvas.glyph(counts.sign_of(status)), counts.words(status), canvas.theme.style(status));
        let (number, words) = words.split_at(words.find(' ').unwrap_or(words.len()));
        let of_it = [format!("{glyph} "), number.to_owned(), if has_words { words.to_owned() } else { String::new() }];
        let of_it = if counts.count(status) > 0 { of_it } else { Default::default() };
        columns.extend(of_it.into_iter().zip([false, true, false]).map(|(said, is_right)| (said, style, is_right)));
    }
    columns
}

/// The blanks before a column.
fn gap(place: usize) -> usize {
    if matches!(place, 1..3) || (place > 2 && place.is_multiple_of(3)) { GAP } else { 0 }
}
