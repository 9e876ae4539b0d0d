//! The column that says what a row waits for or does.

use super::cell::Cell;
use crate::fleet::Terminal;
use crate::present::columns::GAP;
use crate::status::{Hindrance, Status};
use crate::ui::signs::DRAFTED;
use crate::ui::{Part, field, right, text};

/// The cells that are left for what a row asks or does before why its prompts wait is said.
const WORDS_LEAST: usize = 24;

/// The words of a row, before its queued prompts. The sign of a draft stands before the draft's own words, and else at the end,
/// where nobody takes it for the agent's.
pub(super) fn words_of(cell: &Cell<'_, '_>, cells: usize, words: &str) -> Vec<Part> {
    let (draft, style) = (cell.canvas.draft(cell.item), cell.canvas.theme.parts.key);
    let is_drafted = cell.canvas.memory.arrangement.flags.is_drafted(cell.item);
    let before = if is_drafted && draft.is_some() { (text::width(DRAFTED) + 1).min(cells) } else { 0 };
    let room = cells - before;
    let tag = format!("{DRAFTED} draft");
    let tag = if room < WORDS_LEAST + GAP + text::width(&tag) { DRAFTED } else { tag.as_str() };
    let behind = if is_drafted && draft.is_none() { (text::width(tag) + GAP).min(room) } else { 0 };
    let queued = queued(cell, room - behind).unwrap_or_default();
    let queue = if queued.is_empty() { 0 } else { (text::width(&queued) + GAP).min(room - behind) };
    let refused = cell.canvas.refused(cell.item);
    let words = draft.as_deref().or(refused.as_deref()).unwrap_or(words);
    // A turn that has just begun shows nothing yet.
    let words = if words.is_empty() && cell.status == Status::Working { text::ELLIPSIS } else { words };
    let is_over = matches!(cell.status, Status::Gone | Status::Unknown);
    let words = field(words, room - behind - queue, if is_over { cell.quiet() } else { cell.text() });
    let queued = right(queued, queue, cell.canvas.theme.style(Status::Working));
    vec![field(DRAFTED, before, style), words, queued, right(tag, behind, style)]
}

/// How many prompts wait for it, behind what it does: nobody takes that for the first of them.
fn queued(cell: &Cell<'_, '_>, room: usize) -> Option<String> {
    let queued = format!("queued {}", cell.canvas.memory.queued.get(cell.item.key())?.len());
    // That one which works is waited for says its state.
    let why = cell.item.terminal().and_then(Terminal::prompt_hindrance).filter(|why| *why != Hindrance::Working);
    let with = why.map(|why| format!("{queued} {}", why.until()));
    Some(with.filter(|with| text::width(with) + GAP + WORDS_LEAST <= room).unwrap_or(queued))
}
