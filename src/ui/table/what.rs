//! The column that says what a row waits for or does.

use super::{Cell, DRAFTED, GAP};
use crate::fleet::Terminal;
use crate::status::{Hindrance, Status};
use crate::ui::{Pen, text};

/// The cells that are left for what a row asks or does before why its prompts wait is said.
const WORDS_LEAST: usize = 24;

/// What it waits for or does, behind the prompts that wait for it. That there is a draft stands before its own words, and
/// else at the end, where nobody takes it for the beginning of what the agent says.
pub(super) fn draw(cell: &Cell<'_, '_>, pen: &mut Pen<'_>, cells: usize, words: &str) {
    let (draft, style) = (cell.canvas.draft(cell.item), cell.base.patch(cell.canvas.theme.parts.key));
    let is_drafted = cell.canvas.memory.arrangement.flags.is_drafted(cell.item);
    let mut room = cells;
    if is_drafted && draft.is_some() {
        let cells = (text::width(DRAFTED) + 1).min(room);
        pen.field(DRAFTED, cells, style);
        room -= cells;
    }
    let tag = format!("{DRAFTED} draft");
    let tag = if room < WORDS_LEAST + GAP + text::width(&tag) { DRAFTED } else { tag.as_str() };
    let behind = if is_drafted && draft.is_none() { (text::width(tag) + GAP).min(room) } else { 0 };
    let refused = cell.canvas.refused(cell.item);
    draw_words(cell, pen, room - behind, draft.as_deref().or(refused.as_deref()).unwrap_or(words));
    pen.right(tag, behind, style);
}

fn draw_words(cell: &Cell<'_, '_>, pen: &mut Pen<'_>, cells: usize, words: &str) {
    let mut room = cells;
    if let Some(waiting) = cell.canvas.memory.queued.get(cell.item.key()) {
        let mut queued = format!("queued {}", waiting.len());
        // That one which works is waited for says its state.
        let why = cell.item.terminal().and_then(Terminal::prompt_hindrance);
        if let Some(why) = why.filter(|why| *why != Hindrance::Working) {
            let with = format!("{queued} {}", why.until());
            queued = if text::width(&with) + GAP + WORDS_LEAST <= room { with } else { queued };
        }
        let cells = (text::width(&queued) + GAP).min(room);
        pen.field(&queued, cells, cell.base.patch(cell.canvas.theme.style(Status::Working)));
        room -= cells;
    }
    // A turn that has just begun shows nothing yet.
    let words = if words.is_empty() && cell.status == Status::Working { text::ELLIPSIS } else { words };
    let is_over = matches!(cell.status, Status::Gone | Status::Unknown);
    let style = if is_over { cell.quiet } else { cell.text() };
    pen.field(words, room, style);
}
