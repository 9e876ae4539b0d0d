//! The fleet as a table of text: the columns of the dashboard, which stay straight with wide characters in them.

use std::borrow::Cow;

use crate::fleet::Terminal;
use crate::task::Task;
use crate::time::Timestamp;
use crate::ui::{COLUMNS, Column, Item, ShownOn, text};

/// Cells between two columns.
const GAP: usize = 2;

/// The table of some terminals and tasks, a line each, below a head.
///
/// Without `chosen` columns, those that say something and have room. With `width`, what does not fit in is cut: long names and places first, then the end of the line.
pub(super) fn table(
    terminals: &[&Terminal],
    tasks: &[&Task],
    chosen: Option<&[&'static Column]>,
    width: Option<usize>,
    now: Timestamp,
) -> String {
    let items = terminals.iter().map(|it| Item::from(*it)).chain(tasks.iter().map(|it| Item::from(*it)));
    let items: Vec<Item<'_>> = items.collect();
    let is_usual = |column: &&Column| matches!(column.on, ShownOn::Both | ShownOn::CommandLine);
    let is_shown = |column: &&Column| is_usual(column) && column.is_worth(width) && column.says_something(&items);
    let columns: Vec<&Column> = match chosen {
        Some(chosen) => chosen.to_vec(),
        None => COLUMNS.iter().filter(is_shown).collect(),
    };
    let head: Vec<String> = columns.iter().map(|column| column.title.to_owned()).collect();
    let cell = |item: Item<'_>, column: &&Column| match (column.words)(item, now) {
        none if none.is_empty() => "-".to_owned(),
        words => plain(&words),
    };
    let line = |item: &Item<'_>| columns.iter().map(|column| cell(*item, column)).collect();
    let rows: Vec<Vec<String>> = items.iter().map(line).collect();
    aligned(&head, &rows, width)
}

/// The most cells that each column but the last takes where a line does not fit, and how many it keeps at least.
const MOST: usize = 24;
/// See [`MOST`].
const LEAST: usize = 8;

/// Rows in columns as wide as their widest cell. Where lines would be wider than `width`, long cells are cut, and then the
/// end of the line.
pub(super) fn aligned(head: &[String], rows: &[Vec<String>], width: Option<usize>) -> String {
    let mut widths: Vec<usize> = head.iter().map(|cell| text::width(cell)).collect();
    for row in rows {
        for (widest, cell) in widths.iter_mut().zip(row) {
            *widest = text::width(cell).max(*widest);
        }
    }
    if width.is_some_and(|width| widths.iter().map(|cells| cells + GAP).sum::<usize>() > width + GAP) {
        widths.iter_mut().rev().skip(1).for_each(|cells| *cells = (*cells).min(MOST));
        // The last one says most: what is widest beside it gives way until it has a third of the line.
        let width = width.unwrap_or(usize::MAX);
        let last = widths.last().copied().unwrap_or(0).min(width / 3);
        let taken = |widths: &[usize]| widths.iter().rev().skip(1).map(|cells| cells + GAP).sum::<usize>();
        while taken(&widths) + last > width {
            let widest = widths.iter_mut().rev().skip(1).max_by_key(|cells| **cells).filter(|cells| **cells > LEAST);
            let Some(cells) = widest else { break };
            *cells -= 1;
        }
    }
    let mut table = String::new();
    for row in std::iter::once(head).chain(rows.iter().map(Vec::as_slice)) {
        let mut line = String::new();
        for (nth, (cell, width)) in row.iter().zip(&widths).enumerate() {
            // The last one is cut with the line.
            let cell = if nth + 1 == row.len() { Cow::Borrowed(cell.as_str()) } else { text::cut(cell, *width) };
            line.push_str(&cell);
            line.push_str(&" ".repeat((width + GAP).saturating_sub(text::width(&cell))));
        }
        table.push_str(&text::cut(line.trim_end(), width.unwrap_or(usize::MAX)));
        table.push('\n');
    }
    table
}

/// A text without anything that could act on a terminal, or on whose width terminals disagree.
fn plain(text: &str) -> String {
    text::pieces(text).map(|piece| piece.symbol).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: [&str; 3]) -> Vec<String> {
        cells.map(str::to_owned).to_vec()
    }

    fn rows() -> Vec<Vec<String>> {
        vec![
            row(["shop-api", "ready", "Wrote docs"]),
            row(["日本語", "tui_down", ""]),
            row(["e\u{301}té", "x", "寿司を食べた"]),
        ]
    }

    #[test]
    fn wide_and_combining_characters_keep_the_columns_straight() {
        let head = row(["NAME", "STATE", "WHAT"]);
        insta::assert_snapshot!(aligned(&head, &rows(), None), @r"
        NAME      STATE     WHAT
        shop-api  ready     Wrote docs
        日本語    tui_down
        été       x         寿司を食べた
        ");
    }

    #[test]
    fn a_narrow_terminal_cuts_the_end_of_the_line() {
        let head = row(["NAME", "STATE", "WHAT"]);
        insta::assert_snapshot!(aligned(&head, &rows(), Some(24)), @r"
        NAME      STATE     WHAT
        shop-api  ready     Wro…
        日本語    tui_down
        été       x         寿…
        ");
    }

    #[test]
    fn a_long_name_leaves_room_for_the_rest_on_a_terminal_and_is_whole_elsewhere() {
        let head = row(["NAME", "STATE", "WHAT"]);
        let name = "a-very-long-name-of-a-session-that-somebody-has-thought-of";
        let rows = [row([name, "ready", "Wrote the docs of it"])];
        assert!(aligned(&head, &rows, None).contains(name));
        insta::assert_snapshot!(aligned(&head, &rows, Some(40)), @r"
        NAME                STATE  WHAT
        a-very-long-name-…  ready  Wrote the do…
        ");
        for width in 1..90 {
            assert!(aligned(&head, &rows, Some(width)).lines().all(|line| text::width(line) <= width));
        }
    }
}
