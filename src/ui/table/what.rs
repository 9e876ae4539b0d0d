//! The column that says what a row waits for or does.

use super::{Cell, DRAFTED, GAP, NOTED};
use crate::fleet::Terminal;
use crate::status::{Hindrance, Status};
use crate::ui::item::BEFORE_OPTION;
use crate::ui::{Pen, text};

/// The cells that are left for what a row asks or does before why its prompts wait is said.
const WORDS_LEAST: usize = 24;
/// The fewest cells in which a note says something, with its sign and what stands before it.
const NOTE_LEAST: usize = 14;

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
    let Some(note) = cell.item.note().text.as_deref() else {
        pen.field(words, room, style);
        return;
    };
    // What waits, or did when its server ended, keeps what it asks without its options; nothing is lost of what is only ready.
    let asks = cell.status.needs_operator() || cell.item.waited_before();
    let least = match cell.status {
        _ if asks => words.split_once(BEFORE_OPTION).map_or(room, |it| text::width(it.0) + GAP),
        Status::Ready => 0,
        _ => room / 3,
    };
    let wanted = text::width(NOTED) + 1 + text::width(note) + GAP;
    let shown = text::width(words).min(least.max(room.saturating_sub(wanted)));
    let shown = shown.min(room.saturating_sub(text::width(NOTED) + GAP));
    // What is asked gives no cell to a note of which nothing could be read.
    if asks && room < shown + wanted.min(NOTE_LEAST) {
        pen.field(words, room, style);
        return;
    }
    let gap = if shown > 0 { GAP } else { 0 };
    let (style, left) = (cell.style(cell.canvas.theme.parts.key), room - shown - gap);
    pen.field(words, shown, style).field("", gap, cell.base);
    pen.field(NOTED, 1.min(left), style).field("", 1.min(left.saturating_sub(1)), style);
    pen.field(note, left.saturating_sub(2), style);
}
