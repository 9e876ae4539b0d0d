//! The fleet as a table of text: names and words in columns that stay straight with wide characters in them.

use crate::fleet::Terminal;
use crate::state::{Attention, State, TurnResult};
use crate::task::Task;
use crate::ui::{text, turn_word};

/// Cells between two columns.
const GAP: usize = 2;

/// No times: one look at a terminal does not tell how long it has been so.
const HEAD: [&str; 6] = ["NAME", "AGENT", "STATE", "LAST TURN", "WHERE", "WHAT"];

/// The table of some terminals and tasks, a line each, below a head.
///
/// With `width`, what does not fit in is cut at the end of the line.
pub(super) fn table(terminals: &[&Terminal], tasks: &[&Task], width: Option<usize>) -> String {
    let agents = terminals.iter().map(|terminal| row(terminal));
    let rows: Vec<[String; 6]> = agents.chain(tasks.iter().map(|task| task_row(task))).collect();
    aligned(&HEAD.map(str::to_owned), &rows, width)
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
        word(state).to_owned(),
        match state.last_turn.result {
            TurnResult::None => "-".to_owned(),
            result => result.word().trim_start_matches("known_").to_owned(),
        },
        format!("{host}{} {}", terminal.place.target(), terminal.key.pane),
        state.activity.clone().unwrap_or_default(),
    ]
    .map(|cell| plain(&cell))
}

fn task_row(task: &Task) -> [String; 6] {
    let host = task.key.server.host.as_ref().map(|host| format!("{host}:")).unwrap_or_default();
    [
        task.id.clone(),
        "task".to_owned(),
        task.word(),
        task.rings().unwrap_or_else(|| "-".to_owned()),
        format!("{host}{}:{} {} {}", task.session, task.index, task.window, task.key.pane),
        task.prompt().unwrap_or(task.command()).to_owned(),
    ]
    .map(|cell| plain(&cell))
}

/// The state in one word: what the operator should know of it, else the turn in the dashboard's word.
pub(super) fn word(state: &State) -> &'static str {
    match state.attention {
        Attention::None => turn_word(state),
        attention => attention.word(),
    }
}

/// Rows in columns as wide as their widest cell.
pub(super) fn aligned<const N: usize>(head: &[String; N], rows: &[[String; N]], width: Option<usize>) -> String {
    let mut widths = head.each_ref().map(|cell| text::width(cell));
    for row in rows {
        for (widest, cell) in widths.iter_mut().zip(row) {
            *widest = text::width(cell).max(*widest);
        }
    }
    let mut table = String::new();
    for row in std::iter::once(head).chain(rows) {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            line.push_str(cell);
            line.push_str(&" ".repeat(width - text::width(cell) + GAP));
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
}
