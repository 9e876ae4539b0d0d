//! The columns that say how a row stands: its state, how its last turn ended, and for how long its screen has been still.

use ratatui::style::Modifier;

use super::cell::Cell;
use crate::fleet::Terminal;
use crate::present::columns::GAP;
use crate::state::TurnSource;
use crate::status::{Hindrance, Status};
use crate::task::rang;
use crate::time::Span;
use crate::ui::signs::{DRAFTED, INFERRED_MARK, MOVES, SENT_MARK, UNSEEN_MARK};
use crate::ui::{Item, Part, field, right, span, text, times};

/// Two moments that are no further apart are one to the operator.
const ABOUT: Span = Span::from_secs(3);

/// What it is, and for how long.
pub(super) fn state_for(cell: &Cell<'_, '_>, cells: usize, word: &str) -> Vec<Part> {
    let style = cell.aged(cell.canvas.theme.style(cell.status));
    let mut age = times::lasting(cell.item.since(), cell.canvas.now);
    // The wait says more than a cut status word; the glyph shows the status.
    let is_narrow = cell.status.needs_operator() && cells < text::width(word) + 1;
    let word = if is_narrow { "" } else { word };
    let room = if is_narrow { cells } else { cells.saturating_sub(text::width(word) + 1) };
    if room < text::width(&age) {
        let since = cell.item.since();
        age = format!("{}{}", if since.exact { "" } else { ">" }, cell.canvas.now.since(since.at).rounded());
    }
    let span_cells = room.min(text::width(&age).max(5));
    let age = if span_cells >= text::width(&age) { &age } else { "" };
    vec![field(word, cells - span_cells, style), right(age, span_cells, style)]
}

/// How the last turn ended as its glyph, how long ago, what that rests on, and whether it was seen; of a task the bells that were not seen.
pub(super) fn last(cell: &Cell<'_, '_>, cells: usize, word: &str) -> Vec<Part> {
    let (canvas, quiet) = (cell.canvas, cell.quiet());
    match cell.item {
        Item::Terminal(terminal) if !word.is_empty() => {
            let last = &terminal.state.last_turn;
            let status = Status::of_last_turn(last).unwrap_or(Status::Unknown);
            let style = cell.style(canvas.theme.style(status).remove_modifier(Modifier::BOLD));
            let source = match last.source {
                TurnSource::ExplicitInput => SENT_MARK,
                TurnSource::SurfaceInference => INFERRED_MARK,
                TurnSource::None => " ",
            };
            let unseen = terminal.state.wants_to_be_seen() && !cell.is_muted;
            // Where the state is this very result, both stand there.
            let is_said = status == cell.status;
            let at = last.at.filter(|_| !is_said);
            let age = at.map(|at| canvas.now.since(at).rounded()).unwrap_or_default();
            let (glyph, source) = if is_said { ("", "") } else { (canvas.glyph(status), source) };
            let unseen = field(if unseen { UNSEEN_MARK } else { "" }, 1, style);
            vec![field(glyph, 1, style), right(age, cells - 3, quiet), field(source, 1, quiet), unseen]
        }
        // A bell is news until it was seen; the facts keep the count.
        Item::Task(task) if canvas.memory.bells.unseen(task) > 0 => {
            let times = canvas.memory.bells.unseen(task);
            let message = rang(times);
            let message = if text::width(&message) < cells { message } else { format!("rang×{times}") };
            let unseen = span(UNSEEN_MARK, cell.style(canvas.theme.style(Status::Finished)));
            vec![field(message, cells - 1, cell.text()), unseen]
        }
        _ => vec![field("–", cells, quiet)],
    }
}

/// For how long the screen has not moved, where that is not how long the state has held, or that it still moves.
pub(super) fn stable(cell: &Cell<'_, '_>, cells: usize) -> Part {
    let (span, style) = match cell.item {
        // Of what has ended nothing could move.
        Item::Terminal(terminal) if terminal.state.has_ended() => (String::new(), cell.quiet()),
        Item::Task(_) => (String::new(), cell.quiet()),
        Item::Terminal(terminal) if terminal.state.stability.stable => {
            let (still, began, now) = (terminal.state.stability.stable_since, cell.item.since().at, cell.canvas.now);
            let span = now.since(still).running();
            // The age of the state says it already.
            let is_said = span == now.since(began).running() || began.since(still) + still.since(began) < ABOUT;
            (if is_said { String::new() } else { span }, cell.text())
        }
        Item::Terminal(_) => (MOVES.to_owned(), cell.quiet()),
    };
    right(span, cells, style)
}

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
