//! Finds the options of a dialog among its rows.

mod buttons;
mod letters;
mod rows;

use std::ops::Range;

pub(super) use buttons::with_marked;

use super::{Choice, Dialog, Manner};
use crate::screen::{Row, Screen};

/// Glyphs that agents put before the marked option.
const MARKS: [char; 9] = ['❯', '›', '>', '●', '▶', '▸', '➤', '→', '◉'];
/// Glyphs that stand before the options that are not marked.
const NO_MARKS: [char; 3] = ['○', '◯', '◌'];
/// What is drawn around a dialog.
const BORDERS: [char; 12] = ['│', '┃', '╭', '╮', '╰', '╯', '─', '━', '█', '░', '▐', '▌'];
/// What agents draw behind an option that has been taken.
const TICKS: [char; 2] = ['✔', '✓'];

/// A row without what is drawn around it.
#[derive(Clone, Copy, Debug)]
struct Line<'a> {
    /// From the top of the screen.
    y: usize,
    row: &'a Row,
    text: &'a str,
    /// Characters before the text.
    column: usize,
}

/// The options of a dialog and where they stand.
struct Found {
    manner: Manner,
    options: Vec<Choice>,
    marked: Option<usize>,
    rows: Range<usize>,
    typed: String,
}

pub(super) fn read(screen: &Screen, rows: Range<usize>) -> Dialog {
    let rows = rows.start.min(screen.rows().len())..rows.end.min(screen.rows().len());
    let lines: Vec<Line<'_>> = rows.clone().map(|y| line(y, &screen.rows()[y])).collect();
    let found = rows::numbered(&lines)
        .or_else(|| rows::marked(&lines))
        .or_else(|| letters::find(&lines))
        .or_else(|| buttons::find(&lines));
    let identity = identity(&lines, found.as_ref());
    let found = found.unwrap_or(Found {
        manner: Manner::Unknown,
        options: Vec::new(),
        marked: None,
        rows: rows.end..rows.end,
        typed: String::new(),
    });
    let taken = lines.iter().filter(|line| found.rows.contains(&line.y)).any(|line| line.text.ends_with(TICKS));
    let Found { manner, mut options, marked, rows: option_rows, typed } = found;
    for option in &mut options {
        option.label = untick(&option.label).to_owned();
    }
    Dialog { rows, option_rows, options, manner, marked, typed, taken, identity }
}

fn line(y: usize, row: &Row) -> Line<'_> {
    let is_around = |c: char| c.is_whitespace() || BORDERS.contains(&c);
    let text = row.text().trim_start_matches(is_around);
    let column = row.text()[..row.text().len() - text.len()].chars().count();
    Line { y, row, text: text.trim_end_matches(is_around), column }
}

impl<'a> Line<'a> {
    /// The text behind a mark, with its column, and whether there is a mark of the one that is chosen.
    fn unmarked(&self) -> (&'a str, usize, bool) {
        let Some(first) = self.text.chars().next().filter(|c| MARKS.contains(c) || NO_MARKS.contains(c)) else {
            return (self.text, self.column, false);
        };
        let behind = &self.text[first.len_utf8()..];
        let text = behind.trim_start();
        if text.is_empty() || text.len() == behind.len() {
            return (self.text, self.column, false);
        }
        let blanks = behind[..behind.len() - text.len()].chars().count();
        (text, self.column + 1 + blanks, MARKS.contains(&first))
    }
}

fn untick(text: &str) -> &str {
    text.trim_end_matches(|c: char| TICKS.contains(&c) || c.is_whitespace())
}

/// What makes the dialog this one: all that it says down to its last option, without marks, ticks and spinners. What stands
/// below the options are hints for keys, which agents change with the mark.
fn identity(lines: &[Line<'_>], found: Option<&Found>) -> String {
    let end = found.map_or(usize::MAX, |found| found.rows.end);
    let said = lines.iter().filter(|line| line.y < end && !is_spinner(line.text)).map(|line| {
        let text = untick(line.unmarked().0);
        // What is typed behind the question is no part of it.
        let typed = found.filter(|found| line.y + 1 == found.rows.end).map_or("", |found| found.typed.as_str());
        text.strip_suffix(typed).unwrap_or(text).trim_end()
    });
    said.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

fn is_spinner(text: &str) -> bool {
    text.starts_with(|c| ('\u{2800}'..='\u{28ff}').contains(&c))
}
