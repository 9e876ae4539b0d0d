//! The row of a task: what it is doing and since when, how it ended, how often it rang, what it asks or prints.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::{Columns, GAP, Tone, UNSEEN_MARK, begin, draw_state};
use crate::state::{Since, TaskStatus};
use crate::status::Status;
use crate::task::{PaneState, Task};
use crate::ui::arrangement::Item;
use crate::ui::canvas::Canvas;

/// Draws the row of a task into a line, in the columns of the agents.
pub(super) fn draw(
    canvas: &Canvas<'_>,
    buffer: &mut Buffer,
    line: Rect,
    columns: &Columns,
    task: &Task,
    is_selected: bool,
) {
    let text = canvas.theme.parts.text;
    let (mut pen, tone) = begin(canvas, buffer, line, columns.marks, Item::Task(task), is_selected);
    let Tone { base, quiet, .. } = tone;
    let status = task.as_status();
    let look = tone.of(canvas.theme.style(status));
    let name = if is_selected { tone.of(text).add_modifier(Modifier::BOLD) } else { tone.of(text) };
    pen.field(&task.id, columns.name, name);
    if columns.agent > 0 {
        pen.field("", GAP, base).field("task", columns.agent, quiet);
    }
    pen.field("", GAP.min(columns.state), base);
    draw_state(canvas, &mut pen, columns.state, status, Since { at: task.since, exact: true }, look);
    if columns.last > 0 {
        // A bell is news until it was seen; the facts keep the count.
        let (told, style, mark) = match canvas.bells.unseen(task) {
            0 => ("–".to_owned(), quiet, ""),
            1 => ("rang".to_owned(), tone.of(text), UNSEEN_MARK),
            bells => (format!("rang {bells} times"), tone.of(text), UNSEEN_MARK),
        };
        pen.field("", GAP, base).field(&told, columns.last - 1, style);
        pen.field(mark, 1, tone.of(canvas.theme.style(Status::Finished)));
    }
    if columns.stable > 0 {
        pen.field("", GAP, base).field("", columns.stable, quiet);
    }
    if columns.place > 0 {
        pen.field("", GAP, base).field(&Item::Task(task).place(), columns.place, quiet);
    }
    if columns.what > 0 {
        pen.field("", GAP, base).field(&what(task), columns.what, tone.of(text));
    }
}

/// What it asks, else the last thing that it printed, else its command.
fn what(task: &Task) -> String {
    let printed = task.preview().useful(1).first().map(|line| line.trim().to_owned());
    let begun = |pane: &PaneState| pane.start_command.clone().unwrap_or_else(|| pane.command.clone());
    let command = || task.pane.as_ref().map(begun).unwrap_or_default();
    match task.prompt() {
        Some(prompt) => prompt.trim().to_owned(),
        None if task.status == TaskStatus::Running => {
            let command = command();
            printed.map_or(command.clone(), |line| format!("{command}: {line}"))
        }
        None => printed.unwrap_or_else(command),
    }
}
