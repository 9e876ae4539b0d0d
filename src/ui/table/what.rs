//! The column that says what a row waits for or does.

use super::cell::Cell;
use crate::fleet::Terminal;
use crate::present::columns::GAP;
use crate::status::{Hindrance, Status};
use crate::ui::signs::DRAFTED;
use crate::ui::{Pen, text};

/// The cells that are left for what a row asks or does before why its prompts wait is said.
const WORDS_LEAST: usize = 24;

/// What it waits for or does, before the prompts that wait for it. That there is a draft stands before its own words, and
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
    let queued = queued(cell, room - behind).unwrap_or_default();
    let queue = if queued.is_empty() { 0 } else { (text::width(&queued) + GAP).min(room - behind) };
    let refused = cell.canvas.refused(cell.item);
    draw_words(cell, pen, room - behind - queue, draft.as_deref().or(refused.as_deref()).unwrap_or(words));
    pen.right(&queued, queue, cell.base.patch(cell.canvas.theme.style(Status::Working)));
    pen.right(tag, behind, style);
}

/// How many prompts wait for it, behind what it does: nobody takes that for the first of them.
fn queued(cell: &Cell<'_, '_>, room: usize) -> Option<String> {
    let queued = format!("queued {}", cell.canvas.memory.queued.get(cell.item.key())?.len());
    // That one which works is waited for says its state.
    let why = cell.item.terminal().and_then(Terminal::prompt_hindrance).filter(|why| *why != Hindrance::Working);
    let with = why.map(|why| format!("{queued} {}", why.until()));
    Some(with.filter(|with| text::width(with) + GAP + WORDS_LEAST <= room).unwrap_or(queued))
}

fn draw_words(cell: &Cell<'_, '_>, pen: &mut Pen<'_>, room: usize, words: &str) {
    // A turn that has just begun shows nothing yet.
    let words = if words.is_empty() && cell.status == Status::Working { text::ELLIPSIS } else { words };
    let is_over = matches!(cell.status, Status::Gone | Status::Unknown);
    let style = if is_over { cell.quiet } else { cell.text() };
    pen.field(words, room, style);
}
