//! The fleet as a table of text: names and words in columns that stay straight with wide characters in them.

use std::borrow::Cow;

use crate::fleet::Terminal;
use crate::status::Status;
use crate::task::Task;
use crate::ui::{text, what};

/// Cells between two columns.
const GAP: usize = 2;

/// No times: one look at a terminal does not tell how long it has been so.
const HEAD: [&str; 6] = ["NAME", "AGENT", "STATE", "LAST", "WHERE", "WHAT"];

/// The place of `WHERE` in it, and the width below which a terminal has no room for it.
const WHERE: usize = 4;
/// See [`WHERE`].
const NARROW: usize = 100;

/// The table of some terminals and tasks, a line each, below a head.
///
/// With `width`, what does not fit in is cut: long names and places first, then the end of the line.
pub(super) fn table(terminals: &[&Terminal], tasks: &[&Task], width: Option<usize>) -> String {
    let agents = terminals.iter().map(|terminal| row(terminal));
    let mut rows: Vec<[String; 6]> = agents.chain(tasks.iter().map(|task| task_row(task))).collect();
    let mut head = HEAD.map(str::to_owned);
    // What it does says more than where it is, which mostly repeats its name.
    if width.is_some_and(|width| width < NARROW) {
        std::iter::once(&mut head).chain(&mut rows).for_each(|row| row[WHERE].clear());
    }
    aligned(&head, &rows, width)
}

fn row(terminal: &Terminal) -> [String; 6] {
    let state = &terminal.state;
    let host = state.terminal.host.as_ref().map(|host| format!("{host}:")).unwrap_or_default();
    [
        state.terminal.id.clone(),
        [Some(state.terminal.tool.as_str()), state.terminal.observed_tool_version.as_deref()]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" "),
        Status::of(state).word().into_owned(),
        Status::of_result(state.last_turn.result).map_or("-".to_owned(), |status| status.word().into_owned()),
        format!("{host}{} {}", terminal.place.target(), terminal.key.pane),
        what::line(terminal),
    ]
    .map(|cell| plain(&cell))
}

fn task_row(task: &Task) -> [String; 6] {
    let host = task.key.server.host.as_ref().map(|host| format!("{host}:")).unwrap_or_default();
    [
        task.id.clone(),
        "task".to_owned(),
        task.as_status().word().into_owned(),
        task.rings().unwrap_or_else(|| "-".to_owned()),
        format!("{host}{}:{} {} {}", task.session, task.index, task.window, task.key.pane),
        task.prompt().unwrap_or(task.command()).to_owned(),
    ]
    .map(|cell| plain(&cell))
}

/// The most cells that each column but the last takes where a line does not fit.
const MOST: usize = 24;

/// Rows in columns as wide as their widest cell. Where lines would be wider than `width`, long cells are cut, and then the
/// end of the line.
pub(super) fn aligned<const N: usize>(head: &[String; N], rows: &[[String; N]], width: Option<usize>) -> String {
    let mut widths = head.each_ref().map(|cell| text::width(cell));
    for row in rows {
        for (widest, cell) in widths.iter_mut().zip(row) {
            *widest = text::width(cell).max(*widest);
        }
    }
    if width.is_some_and(|width| widths.iter().map(|cells| cells + GAP).sum::<usize>() > width + GAP) {
        widths.iter_mut().rev().skip(1).for_each(|cells| *cells = (*cells).min(MOST));
    }
    let mut table = String::new();
    for row in std::iter::once(head).chain(rows) {
        let mut line = String::new();
        for (nth, (cell, width)) in row.iter().zip(widths).enumerate() {
            // The last one is cut with the line.
            let cell = if nth + 1 == N { Cow::Borrowed(cell.as_str()) } else { text::cut(cell, width) };
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

    fn rows() -> [[String; 3]; 3] {
        let row = |cells: [&str; 3]| cells.map(str::to_owned);
        [
            row(["shop-api", "ready", "Wrote docs"]),
            row(["日本語", "tui_down", ""]),
            row(["e\u{301}té", "x", "寿司を食べた"]),
        ]
    }

    #[test]
    fn wide_and_combining_characters_keep_the_columns_straight() {
        let head = ["NAME", "STATE", "WHAT"].map(str::to_owned);
        insta::assert_snapshot!(aligned(&head, &rows(), None), @r"
        NAME      STATE     WHAT
        shop-api  ready     Wrote docs
        日本語    tui_down
        été       x         寿司を食べた
        ");
    }

    #[test]
    fn a_narrow_terminal_cuts_the_end_of_the_line() {
        let head = ["NAME", "STATE", "WHAT"].map(str::to_owned);
        insta::assert_snapshot!(aligned(&head, &rows(), Some(24)), @r"
        NAME      STATE     WHAT
        shop-api  ready     Wro…
        日本語    tui_down
        été       x         寿…
        ");
    }

    #[test]
    fn a_long_name_leaves_room_for_the_rest_on_a_terminal_and_is_whole_elsewhere() {
        let head = ["NAME", "STATE", "WHAT"].map(str::to_owned);
        let name = "a-very-long-name-of-a-session-that-somebody-has-thought-of";
        let rows = [[name, "ready", "Wrote the docs of it"].map(str::to_owned)];
        assert!(aligned(&head, &rows, None).contains(name));
        insta::assert_snapshot!(aligned(&head, &rows, Some(40)), @r"
        NAME                      STATE  WHAT
        a-very-long-name-of-a-s…  ready  Wrote…
        ");
        for width in 1..90 {
            assert!(aligned(&head, &rows, Some(width)).lines().all(|line| text::width(line) <= width));
        }
    }
}
