//! The terminal of whoever runs a command: lines on standard error, and texts in its width, its colours and its signs.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

use ratatui::crossterm::style::{Color, Stylize};

use crate::app::Environment;
use crate::present::text;
use crate::present::text::in_ascii;
use crate::status::Status;

/// Writes a line to standard error. Where nobody reads it, as where the terminal is gone, nothing comes of it, and the program
/// still ends as it should.
pub(super) fn tell(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// A text with the signs that the locale allows. Without UTF-8, those of the dashboard are written in ASCII; names and what
/// agents say stay as they are.
pub(super) fn in_locale(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || Environment::of_process().is_utf8() {
        return text.into();
    }
    let mut plain = String::with_capacity(text.len());
    for sign in text.chars() {
        match in_ascii(sign) {
            Some(ascii) => plain.push_str(ascii),
            None => plain.push(sign),
        }
    }
    plain.into()
}

/// The columns of the terminal on standard output; `None` if it is no terminal, and nothing is cut or coloured.
pub(super) fn terminal_width() -> Option<usize> {
    columns(&io::stdout())
}

fn columns(of: &impl IsTerminal) -> Option<usize> {
    let (columns, _) = of.is_terminal().then(crossterm::terminal::size)?.ok()?;
    Some(usize::from(columns)).filter(|columns| *columns > 0)
}

/// Whether colours are wanted: standard output is a terminal, and nobody said no.
fn wants_color() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// The colour of a state's word, the same in every command.
pub(super) const fn color(status: Status) -> Color {
    match status.group() {
        Status::Failed | Status::Stalled | Status::Error => Color::Red,
        Status::Finished => Color::Green,
        Status::Working => Color::Yellow,
        Status::Ready => Color::Cyan,
        Status::Unknown | Status::Gone => Color::DarkGrey,
        _ => Color::Magenta,
    }
}

/// A text in a colour, where there is one and colours are wanted.
pub(super) fn painted(text: &str, color: Option<Color>) -> Cow<'_, str> {
    color.filter(|_| wants_color()).map_or(text.into(), |color| text.with(color).to_string().into())
}

/// A text for people with its lines broken to the width of the terminal, at blanks: paths stay whole, to be copied. Words in it may
/// be [`painted`].
pub(super) fn wrapped(text: &str) -> String {
    broken(text, terminal_width())
}

/// Wraps a text for standard error.
pub(super) fn wrapped_error(text: &str) -> String {
    broken(text, columns(&io::stderr()))
}

fn broken(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return text.to_owned() };
    text.lines().flat_map(|line| hanging(line, width)).map(|row| row + "\n").collect()
}

/// A line in rows of at most `cells` cells. Those behind the first stand below the last column that begins in its first half, and
/// below the text behind an arrow.
fn hanging(line: &str, cells: usize) -> Vec<String> {
    if shown_width(line) <= cells {
        return vec![line.to_owned()];
    }
    let begins = |(at, c): &(usize, char)| *c != ' ' && line[..*at].ends_with("  ");
    let is_in_half = |at: &usize| shown_width(&line[..*at]) <= cells / 2;
    let begins = line.char_indices().filter(begins).map(|(at, _)| at);
    let column = begins.take_while(is_in_half).last().unwrap_or_default();
    let arrow = line[column..].strip_prefix("→ ").map_or(0, |said| line.len() - column - said.len());
    let (head, rest) = line.split_at(column + arrow);
    let below = " ".repeat(if head.is_empty() { 2 } else { shown_width(head) });
    let (mut rows, mut row, mut is_begun) = (Vec::new(), head.to_owned(), false);
    for word in rest.split_inclusive(' ') {
        if is_begun && shown_width(&row) + shown_width(word.trim_end()) > cells {
            rows.push(std::mem::replace(&mut row, below.clone()).trim_end().to_owned());
        }
        row.push_str(word);
        is_begun = true;
    }
    rows.push(row);
    rows
}

/// The cells of a text without the sequences that colour it.
fn shown_width(text: &str) -> usize {
    let mut parts = text.split('\u{1b}');
    let before = parts.next().map_or(0, text::width);
    before + parts.filter_map(|part| part.split_once('m')).map(|(_, shown)| text::width(shown)).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_of_a_long_line_stand_below_its_last_column() {
        let said = [
            "  because        rule approval-dialog, row 12: Do you want to proceed?",
            "ok    tmux           tmux 3.4 and some more words of it",
            "                     → install another one that is newer",
            "shop-api waits for your approval: Bash command mkdir build",
            "short  line",
        ];
        let rows = said.iter().flat_map(|line| hanging(line, 44)).collect::<Vec<_>>().join("\n");
        insta::assert_snapshot!(rows, @r"
          because        rule approval-dialog, row
                         12: Do you want to proceed?
        ok    tmux           tmux 3.4 and some more
                             words of it
                             → install another one
                               that is newer
        shop-api waits for your approval: Bash
          command mkdir build
        short  line
        ");
        assert!(rows.lines().all(|row| text::width(row) <= 44));
    }

    #[test]
    fn a_colour_takes_no_cells() {
        let red = |word: &str| word.with(Color::Red).to_string();
        let line = format!("10:00:00  docs  {}  what it says of it", red("failed"));
        let [plain, coloured] = ["10:00:00  docs  failed  what it says of it".to_owned(), line]
            .map(|line| hanging(&line, 36).join("\n").replace(&red("failed"), "failed"));
        assert_eq!(coloured, plain);
        assert_eq!(plain, "10:00:00  docs  failed  what it says\n                of it");
    }
}
