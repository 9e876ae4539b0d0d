//! Finds the options of a dialog among its rows.

mod buttons;
mod letters;
mod rows;

use std::borrow::Cow;
use std::ops::Range;

use unicode_width::UnicodeWidthStr;

pub(super) use buttons::with_marked;

use super::{Choice, Dialog, Manner, Submit, text};
use crate::screen::{Row, Screen};

/// Glyphs that agents put before the marked option.
const MARKS: [char; 9] = ['❯', '›', '>', '●', '▶', '▸', '➤', '→', '◉'];
/// Glyphs before options that are not marked.
const NO_MARKS: [char; 3] = ['○', '◯', '◌'];
/// What is drawn around a dialog.
const BORDERS: [char; 12] = ['│', '┃', '╭', '╮', '╰', '╯', '─', '━', '█', '░', '▐', '▌'];
/// Borders across.
const ACROSS: [char; 4] = ['─', '━', '╮', '╯'];
/// What agents draw after an option that has been taken.
const TICKS: [char; 2] = ['✔', '✓'];

/// A row without borders.
#[derive(Clone, Copy, Debug)]
pub(super) struct DialogLine<'a> {
    /// From the top of the screen.
    y: usize,
    row: &'a Row,
    pub(super) text: &'a str,
    /// Characters before the text.
    pub(super) column: usize,
    /// The column before which the row's text has to end: that of the border, or of the screen's edge.
    pub(super) room: usize,
}

/// The options of a dialog and their rows.
struct Found {
    manner: Manner,
    options: Vec<Choice>,
    marked: Option<usize>,
    rows: Range<usize>,
    typed: String,
    submit: Option<Submit>,
}

pub(super) fn read(screen: &Screen, rows: Range<usize>, is_menu: bool) -> Dialog {
    let rows = rows.start.min(screen.rows().len())..rows.end.min(screen.rows().len());
    // Nobody approves a text with invisible parts.
    let spelled: Vec<Cow<'_, Row>> = screen.rows()[rows.clone()].iter().map(Row::spelled).collect();
    let columns = usize::from(screen.columns());
    let lines: Vec<DialogLine<'_>> = rows.clone().zip(&spelled).map(|(y, row)| line(y, row, columns)).collect();
    let found = rows::numbered(&lines)
        .or_else(|| rows::marked(&lines))
        .or_else(|| letters::find(&lines))
        // Words side by side in a menu are its tabs.
        .or_else(|| buttons::find(&lines).filter(|_| !is_menu));
    let question = question(&lines, found.as_ref());
    let end = found.as_ref().map_or(rows.end, |found| match found.manner {
        // The letters are in the question.
        Manner::Letters => found.rows.end,
        _ => found.rows.start,
    });
    let above: Vec<DialogLine<'_>> = lines.iter().filter(|line| line.y < end).copied().collect();
    let text = text::logical(&above);
    let last = found.as_ref().map_or(rows.end, |found| found.rows.end);
    let end = last.clamp(rows.start, rows.end) - rows.start;
    // Hints for keys are beside buttons, and not part of the question.
    let hints = found.as_ref().is_some_and(|found| {
        let button = found.options.last().filter(|_| found.manner == Manner::Buttons);
        button.is_some_and(|button| !lines[found.rows.start - rows.start].text.ends_with(&button.label))
    });
    let mut cuts = text::left_out(&lines, end);
    cuts.extend(text::at_edge(&lines, end - usize::from(hints)));
    let found = found.unwrap_or(Found {
        manner: Manner::Unknown,
        options: Vec::new(),
        marked: None,
        rows: rows.end..rows.end,
        typed: String::new(),
        submit: None,
    });
    let taken = lines.iter().filter(|line| found.rows.contains(&line.y)).any(|line| line.text.ends_with(TICKS));
    let Found { manner, options, marked, rows: option_rows, typed, submit } = found;
    Dialog {
        rows,
        option_rows,
        options,
        manner,
        marked,
        typed,
        note: None,
        taken,
        text,
        cuts,
        above: Vec::new(),
        submit,
        asks_instead: false,
        is_menu,
        question,
    }
}

fn line(y: usize, row: &Row, columns: usize) -> DialogLine<'_> {
    let is_around = |c: char| c.is_whitespace() || BORDERS.contains(&c);
    let behind = row.text().trim_start_matches(is_around);
    let column = row.text()[..row.text().len() - behind.len()].chars().count();
    let text = behind.trim_end_matches(is_around);
    let border = behind[text.len()..].find(|c| BORDERS.contains(&c));
    let room = border.map_or(columns, |border| column + behind[..text.len() + border].width());
    DialogLine { y, row, text, column, room }
}

impl<'a> DialogLine<'a> {
    /// Whether the text reaches the edge, or leaves no more than a blank before the border.
    pub(super) fn reaches_edge(&self) -> bool {
        let behind = &self.row.text()[self.row.text().rfind(self.text).map_or(0, |start| start + self.text.len())..];
        let border = behind.trim_start();
        let padding = usize::from(behind.starts_with(' ') && !border.is_empty());
        // A border that continues after the text makes it a title.
        !border.starts_with(ACROSS) && self.column + self.text.width() + padding >= self.room
    }

    /// The text after a mark, with its column, and whether the mark is that of the chosen option.
    pub(super) fn unmarked(&self) -> (&'a str, usize, bool) {
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

/// The text above the options, without marks, ticks and spinners. Below the options are hints for keys, which agents
/// change with the mark.
fn question(lines: &[DialogLine<'_>], found: Option<&Found>) -> String {
    let end = found.map_or(usize::MAX, |found| match found.manner {
        Manner::Letters | Manner::Buttons => found.rows.end,
        _ => found.rows.start,
    });
    let several = found.is_some_and(|found| found.manner == Manner::Several);
    let said = lines.iter().filter(|line| line.y < end && !is_spinner(line.text)).map(|line| {
        let text = untick(line.unmarked().0);
        // What is typed after the question is not part of it.
        let typed = found.filter(|found| line.y + 1 == found.rows.end).map_or("", |found| found.typed.as_str());
        let text = text.strip_suffix(typed).unwrap_or(text).trim_end();
        // The name of a question is ticked with the first option.
        if several { text.replace(['☑', '☒', '◼'], "☐") } else { text.to_owned() }
    });
    said.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Whether a row of a dialog is only a sign that it waits.
pub(super) fn is_ticking(row: &Row) -> bool {
    is_spinner(line(0, row, usize::MAX).text)
}

fn is_spinner(text: &str) -> bool {
    text.starts_with(|c| ('\u{2800}'..='\u{28ff}').contains(&c))
}
