//! The row of a task: what it is doing and since when, how it ended, how often it rang, what it asks or prints.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::{Columns, GAP, MARKED, MUTED, PINNED, RUNS};
use crate::task::{PaneState, Status, Task};
use crate::ui::arrangement::Item;
use crate::ui::canvas::Canvas;
use crate::ui::meaning::Meaning;
use crate::ui::text::{self, Pen};
use crate::ui::times;

/// Draws the row of a task into a line, in the columns of the agents.
pub(super) fn draw(
    canvas: &Canvas<'_>,
    buffer: &mut Buffer,
    line: Rect,
    columns: &Columns,
    task: &Task,
    is_selected: bool,
) {
    let (parts, flags) = (&canvas.theme.parts, &canvas.arrangement.flags);
    let (marked, muted, pinned) = (flags.is_marked(task), flags.is_muted(task), flags.is_pinned(task));
    let meaning = Item::Task(task).meaning();
    let base = if is_selected { parts.selected } else { Style::default() };
    buffer.set_style(line, base);
    let quiet = base.patch(parts.quiet);
    let style = |style: Style| if muted { quiet } else { base.patch(style) };
    let look = style(canvas.theme.style(meaning));
    let name = if is_selected { style(parts.text).add_modifier(Modifier::BOLD) } else { style(parts.text) };

    let mut pen = Pen::new(buffer, line, 0);
    pen.text(if is_selected { "›" } else { " " }, base.patch(parts.title));
    match meaning {
        _ if marked => pen.text(MARKED, base.patch(parts.key)),
        _ if muted => pen.text(MUTED, quiet),
        Meaning::Waits => pen.text("▌", look),
        _ if pinned => pen.text(PINNED, quiet),
        _ => pen.text(" ", base),
    };
    let glyph = if meaning == Meaning::Working { RUNS } else { canvas.glyph(meaning) };
    pen.text(glyph, look).text(" ", base).field(&task.id, columns.name, name);
    if columns.agent > 0 {
        pen.field("", GAP, base).field("task", columns.agent, quiet);
    }
    let (_, word) = Meaning::of_task(task);
    let since = times::running(canvas.now.since(task.since));
    let span = 5.min(columns.turn.saturating_sub(text::width(&word) + 1));
    pen.field("", GAP.min(columns.turn), base).field(&word, columns.turn - span, look);
    pen.right(if span >= text::width(&since) { &since } else { "" }, span, look);
    if columns.result > 0 {
        pen.field("", GAP, base).field(&bells(task), columns.result, quiet);
    }
    if columns.stable > 0 {
        pen.field("", GAP, base).field("", columns.stable, quiet);
    }
    if columns.place > 0 {
        pen.field("", GAP, base).field(&Item::Task(task).place(), columns.place, quiet);
    }
    if columns.what > 0 {
        pen.field("", GAP, base).field(&what(task), columns.what, style(parts.text));
    }
}

fn bells(task: &Task) -> String {
    match (task.bells, task.bell) {
        (0, false) => "–".to_owned(),
        (0 | 1, _) => "rang".to_owned(),
        (bells, _) => format!("rang {bells} times"),
    }
}

/// What it asks, else the last thing that it printed, else its command.
fn what(task: &Task) -> String {
    let printed = task.preview().useful(1).first().map(|line| line.trim().to_owned());
    let begun = |pane: &PaneState| pane.start_command.clone().unwrap_or_else(|| pane.command.clone());
    let command = || task.pane.as_ref().map(begun).unwrap_or_default();
    match task.prompt() {
        Some(prompt) => prompt.trim().to_owned(),
        None if task.status == Status::Running => {
            let command = command();
            printed.map_or(command.clone(), |line| format!("{command}: {line}"))
        }
        None => printed.unwrap_or_else(command),
    }
}
