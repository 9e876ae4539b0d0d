//! The table: one row an agent or a task, in columns that are data.

mod cell;
mod heads;
mod standing;
mod what;

use ratatui::prelude::{Buffer, Modifier, Rect, Style};

use super::signs::{MARKED, MUTED, PINNED};
use super::{Canvas, Flags, Item, Pen, RowKey, TableRow, Viewport, text};
use crate::present::columns::{CellLook, ColumnLayout, GAP, MARK, NAME};
use crate::state::AgentFacts;
use crate::status::Status;
use cell::{Cell, begin_line};
use heads::HeadLayout;

/// The share of the context that is left, in percent, from which on it is shown as a warning.
const LITTLE_CONTEXT: u64 = 20;
/// From this width on the heading says how many of the rows that are not shown wait for the operator.
const LEAST_NAMED: u16 = 46;

/// What was drawn, for the mouse and for paging.
#[derive(Default)]
pub struct TableHits {
    /// The rows that are shown, each with its place.
    pub rows: Vec<(Rect, RowKey)>,
    /// The first row that is shown.
    pub first: usize,
    /// Rows that fit.
    pub page: usize,
    /// Rows that stand side by side: one in a table, several in a grid.
    pub columns: usize,
}

/// Rows that fit. One row stays blank between the table and what is below it.
pub fn page(area: Rect) -> usize {
    usize::from(area.height.saturating_sub(u16::from(area.height > 2) + u16::from(area.height > 4)))
}

/// Draws the heading and the rows that fit, so that the selected row is among them.
pub fn draw(
    canvas: &Canvas<'_>,
    buffer: &mut Buffer,
    area: Rect,
    rows: &[TableRow<'_>],
    selected: usize,
    first: usize,
) -> TableHits {
    let heading = u16::from(area.height > 2);
    let layout = canvas.columns;
    let page = page(area);
    let first = Viewport::first_for(first, selected, page, rows.len());
    if heading == 1 {
        let room = draw_extent(canvas, buffer, area, rows, first, page);
        draw_heading(canvas, buffer, Rect { width: room, ..area }, layout);
    }
    let heads = HeadLayout::new(canvas, usize::from(area.width), rows);
    let mut drawn = TableHits { rows: Vec::new(), first, page, columns: 1 };
    for (offset, row) in rows.iter().enumerate().skip(first).take(page) {
        let y = heading + u16::try_from(offset - first).unwrap_or(u16::MAX);
        let line = Rect { y: area.y + y, height: 1, ..area };
        match row {
            TableRow::Head(head) => heads::draw(canvas, buffer, line, &heads, head, offset == selected),
            TableRow::Item(item) => draw_row(canvas, buffer, line, layout, *item, offset == selected),
        }
        drawn.rows.push((line, row.key()));
    }
    drawn
}

fn draw_heading(canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, layout: &ColumnLayout) {
    let quiet = canvas.theme.parts.quiet;
    let mut pen = Pen::new(buffer, area, 0);
    pen.field("", MARK, quiet);
    for (nth, (column, cells)) in layout.shown().enumerate() {
        // One that has no room beside what stands at the right is left out whole.
        let is_whole = nth == 0 || text::width(column.title) + GAP <= usize::from(pen.room());
        pen.skip(if nth == 0 { 0 } else { 2 }).field(if is_whole { column.title } else { "" }, cells, quiet);
    }
}

/// Says at the right of the heading which rows are shown where not all are, and how many of the others need the
/// operator: in groups, and in an order of names, they stand anywhere. Returns the cells that are left of it.
pub fn draw_extent(
    canvas: &Canvas<'_>,
    buffer: &mut Buffer,
    area: Rect,
    rows: &[TableRow<'_>],
    first: usize,
    page: usize,
) -> u16 {
    if rows.len() <= page {
        return area.width;
    }
    let needing = |rows: &[TableRow<'_>]| -> usize {
        let of_row = |row: &TableRow<'_>| match row {
            TableRow::Head(head) if head.folded => head.counts.count(Status::Approval),
            TableRow::Head(_) => 0,
            TableRow::Item(item) => usize::from(canvas.memory.arrangement.needs_operator(*item)),
        };
        rows.iter().map(of_row).sum()
    };
    let last = (first + page).min(rows.len());
    let hidden = [("↑", needing(&rows[..first])), ("↓", needing(&rows[last..]))];
    let message = hidden.iter().filter(|(_, count)| *count > 0).map(|(arrow, count)| format!(" {arrow} {count}"));
    let message: String = message.collect();
    let has_room = !message.is_empty() && area.width >= LEAST_NAMED;
    let need = if hidden.iter().map(|(_, count)| count).sum::<usize>() == 1 { "needs" } else { "need" };
    let message = if has_room { format!(" {message} {need} you ") } else { String::new() };
    let shown = format!(" {}–{last} of {}", first + 1, rows.len());
    let cells = (text::width(&message) + text::width(&shown)).min(usize::from(area.width));
    let width = u16::try_from(cells).unwrap_or(area.width);
    let at = Rect { x: area.right() - width, width, ..area };
    Pen::new(buffer, at, 0).text(&message, canvas.theme.style(Status::Approval)).text(&shown, canvas.theme.parts.quiet);
    area.width - at.width
}

fn draw_row(
    canvas: &Canvas<'_>,
    buffer: &mut Buffer,
    line: Rect,
    layout: &ColumnLayout,
    item: Item<'_>,
    is_selected: bool,
) {
    let (parts, flags, status) = (&canvas.theme.parts, &canvas.memory.arrangement.flags, item.status());
    let base = if is_selected { parts.selected } else { Style::default() };
    let is_stale = matches!(item, Item::Terminal(terminal) if terminal.state.stale.is_some());
    let (is_muted, quiet) = (flags.is_muted(item), base.patch(parts.quiet));
    let cell = Cell { canvas, item, status, is_selected, is_muted, is_stale, base, quiet };
    let style = cell.style(canvas.theme.style(status));
    let mut pen = begin_line(canvas, buffer, line, is_selected);
    // Nothing that the operator says of a row moves a column: there is one cell before the glyph, and the gap behind the name.
    let (sign, sign_style) = if flags.is_marked(item) {
        (MARKED, style)
    } else if is_muted {
        (MUTED, quiet)
    } else if has_bar(item, flags) {
        ("▌", style)
    } else {
        (" ", base)
    };
    pen.text(sign, sign_style).text(canvas.glyph(item.status()), style).text(" ", base);
    let mut behind = "";
    for (nth, (column, cells)) in layout.shown().enumerate() {
        pen.field(behind, if nth == 0 { 0 } else { GAP }, quiet);
        draw_cell(column.look, &cell, &mut pen, cells, &(column.words)(item, canvas.now));
        behind = if column.title == NAME && flags.is_pinned(item) { PINNED } else { "" };
    }
}

/// What the operator has said of a row, by its marks.
pub fn marks<'a>(item: Item<'a>, flags: &'a Flags) -> impl Iterator<Item = &'static str> + 'a {
    let said = [(flags.is_marked(item), MARKED), (flags.is_muted(item), MUTED), (flags.is_pinned(item), PINNED)];
    said.into_iter().filter(|(is_so, _)| *is_so).map(|(_, mark)| mark)
}

/// Whether a row waits for the operator; a muted terminal raises no voice with a bar.
pub fn has_bar(item: Item<'_>, flags: &Flags) -> bool {
    item.status().needs_operator() && !flags.is_muted(item)
}

fn draw_cell(look: CellLook, cell: &Cell<'_, '_>, pen: &mut Pen<'_>, cells: usize, words: &str) {
    let draw = match look {
        CellLook::Name => name,
        CellLook::Agent => agent,
        CellLook::State => standing::state_for,
        CellLook::Last => standing::last,
        CellLook::Stable => standing::stable,
        CellLook::Context => context,
        CellLook::What => what::draw,
        CellLook::Quiet => quiet,
    };
    draw(cell, pen, cells, words);
}

fn name(cell: &Cell<'_, '_>, pen: &mut Pen<'_>, cells: usize, name: &str) {
    let needs = matches!(cell.status.group(), Status::Approval | Status::Failed) && !cell.is_muted;
    let bold = if needs || cell.is_selected { Modifier::BOLD } else { Modifier::empty() };
    pen.field(name, cells, cell.text().add_modifier(bold));
}

/// The style of what is less important.
fn quiet(cell: &Cell<'_, '_>, pen: &mut Pen<'_>, cells: usize, words: &str) {
    pen.field(words, cells, cell.quiet);
}

/// An agent, with its version where that has room.
fn agent(cell: &Cell<'_, '_>, pen: &mut Pen<'_>, cells: usize, words: &str) {
    quiet(cell, pen, cells, if text::width(words) > cells { cell.item.tool() } else { words });
}

/// How much of its context is left, which is a warning when it is little.
fn context(cell: &Cell<'_, '_>, pen: &mut Pen<'_>, cells: usize, words: &str) {
    let is_little = cell.item.facts().and_then(AgentFacts::context_left).is_some_and(|(left, _)| left < LITTLE_CONTEXT);
    let style = if is_little { cell.style(cell.canvas.theme.style(Status::Interrupted)) } else { cell.quiet };
    pen.field(words, cells, style);
}
