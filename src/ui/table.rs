//! The table: one row an agent or a task, in columns that are data.

use ratatui::prelude::{Buffer, Line, Modifier, Rect, Style};

use super::kit::list::cursor;
use super::theme::{DRAFTED, INFERRED_MARK, MARKED, MOVES, MUTED, PINNED, SENT_MARK, UNSEEN_MARK};
use super::{
    Canvas, Flags, Item, Part, RowKey, TableRow, Viewport, blank, field, frame, line, right, span, text, times,
};
use crate::fleet::Terminal;
use crate::present::arrangement::Head;
use crate::present::columns::{CellLook, ColumnLayout, GAP, MARK, NAME};
use crate::state::{AgentFacts, TurnSource};
use crate::status::{Hindrance, Status};
use crate::task::rang;
use crate::time::Span;

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
            TableRow::Head(head) => line::draw(buffer, line, heads.line(canvas, head, offset == selected)),
            TableRow::Item(item) => line::draw(buffer, line, row_of(canvas, layout, *item, offset == selected)),
        }
        drawn.rows.push((line, row.key()));
    }
    drawn
}

fn draw_heading(canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, layout: &ColumnLayout) {
    let mut line = Line::from(blank(MARK));
    for (nth, (column, cells)) in layout.shown().enumerate() {
        // One that has no room beside what stands at the right is left out whole.
        let is_whole = nth == 0 || text::width(column.title) + GAP <= line::room(area, &line);
        let title = if is_whole { column.title } else { "" };
        line.extend([blank(if nth == 0 { 0 } else { GAP }), field(title, cells, canvas.theme.parts.quiet)]);
    }
    line::draw(buffer, area, line);
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
    let Some(extent) = frame::extent(first, page, rows.len()) else { return area.width };
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
    let message = span(message, canvas.theme.style(Status::Approval));
    let line = Line::from(vec![message, span(format!(" {extent}"), canvas.theme.parts.quiet)]);
    let width = u16::try_from(line::width(&line)).unwrap_or(u16::MAX).min(area.width);
    line::draw(buffer, Rect { x: area.right() - width, width, ..area }, line);
    area.width - width
}

fn row_of(canvas: &Canvas<'_>, layout: &ColumnLayout, item: Item<'_>, is_selected: bool) -> Line<'static> {
    let (parts, flags, status) = (&canvas.theme.parts, &canvas.memory.arrangement.flags, item.status());
    let is_stale = matches!(item, Item::Terminal(terminal) if terminal.state.stale.is_some());
    let (is_muted, quiet) = (flags.is_muted(item), parts.quiet);
    let cell = Cell { canvas, item, status, is_selected, is_muted, is_stale };
    let style = cell.style(canvas.theme.style(status));
    let mut line = cursor(parts, is_selected);
    // Nothing that the operator says of a row moves a column: there is one cell before the glyph, and the gap behind the name.
    let (sign, sign_style) = if flags.is_marked(item) {
        (MARKED, style)
    } else if is_muted {
        (MUTED, quiet)
    } else if has_bar(item, flags) {
        ("▌", style)
    } else {
        (" ", Style::default())
    };
    line.extend([span(sign, sign_style), span(canvas.glyph(item.status()), style), blank(1)]);
    let mut behind = "";
    for (nth, (column, cells)) in layout.shown().enumerate() {
        line += field(behind, if nth == 0 { 0 } else { GAP }, quiet);
        line.extend(cell_of(column.look, &cell, cells, &(column.words)(item, canvas.now)));
        behind = if column.title == NAME && flags.is_pinned(item) { PINNED } else { "" };
    }
    line
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

fn cell_of(look: CellLook, cell: &Cell<'_, '_>, cells: usize, words: &str) -> Vec<Part> {
    match look {
        CellLook::Name => {
            let needs = matches!(cell.status.group(), Status::Approval | Status::Failed) && !cell.is_muted;
            let bold = if needs || cell.is_selected { Modifier::BOLD } else { Modifier::empty() };
            vec![field(words, cells, cell.text().add_modifier(bold))]
        }
        // With its version where that has room.
        CellLook::Agent if text::width(words) > cells => vec![field(cell.item.tool(), cells, cell.quiet())],
        CellLook::Agent | CellLook::Quiet => vec![field(words, cells, cell.quiet())],
        CellLook::State => state_for(cell, cells, words),
        CellLook::Last => last(cell, cells, words),
        CellLook::Stable => vec![stable(cell, cells)],
        // Little that is left is a warning.
        CellLook::Context => {
            let left = cell.item.facts().and_then(AgentFacts::context_left);
            let is_little = left.is_some_and(|(left, _)| left < LITTLE_CONTEXT);
            let warning = || cell.style(cell.canvas.theme.style(Status::Interrupted));
            vec![field(words, cells, if is_little { warning() } else { cell.quiet() })]
        }
        CellLook::What => words_of(cell, cells, words),
    }
}

/// The cells of what the heads of groups say, so that it stands below each other.
pub struct HeadLayout {
    /// The cells of each column; 0 where no head says anything in it.
    cells: Vec<usize>,
    /// Whether there is room for the words behind the numbers.
    has_words: bool,
}

impl HeadLayout {
    pub fn new(canvas: &Canvas<'_>, width: usize, rows: &[TableRow<'_>]) -> Self {
        let with = |has_words| {
            let mut cells = vec![0; 3 + 3 * Status::GROUPS.len()];
            let heads = rows.iter().filter_map(|row| if let TableRow::Head(head) = row { Some(head) } else { None });
            for (place, (said, ..)) in heads.flat_map(|head| columns(canvas, head, has_words).into_iter().enumerate()) {
                cells[place] = text::width(&said).max(cells[place]);
            }
            Self { cells, has_words }
        };
        let mut layout = Some(with(true)).filter(|layout| layout.width() <= width).unwrap_or_else(|| with(false));
        // A name takes what the counts leave, and at least as much as that of a terminal.
        let others = layout.width() - layout.cells[0];
        layout.cells[0] = layout.cells[0].min(width.saturating_sub(others).max(TITLE_LEAST));
        layout
    }

    fn width(&self) -> usize {
        let shown = self.cells.iter().enumerate().filter(|(_, cells)| **cells > 0);
        HEAD + shown.map(|(place, cells)| gap(place) + cells).sum::<usize>()
    }

    /// The head of a group: its name, how many terminals it has, and what they need.
    pub fn line(&self, canvas: &Canvas<'_>, head: &Head, is_selected: bool) -> Line<'static> {
        let parts = &canvas.theme.parts;
        let mut line = cursor(parts, is_selected);
        line += span(if head.folded { "▸ " } else { "▾ " }, parts.quiet);
        let columns = columns(canvas, head, self.has_words).into_iter().zip(&self.cells).enumerate();
        for (place, ((said, style, is_right), cells)) in columns.filter(|(_, (_, cells))| **cells > 0) {
            let said = if is_right { right(said, *cells, style) } else { field(said, *cells, style) };
            line.extend([blank(gap(place)), said]);
        }
        line
    }
}

/// The cells that a title keeps beside counts that leave it less.
const TITLE_LEAST: usize = 8;
/// Cursor, fold sign and a blank before a head.
const HEAD: usize = 3;

/// What a head says, column by column, and what stands at the right of its column: the name, how many there are, how many of
/// them are marked, and of each status the glyph, the number and the words.
fn columns(canvas: &Canvas<'_>, head: &Head, has_words: bool) -> Vec<(String, Style, bool)> {
    let parts = &canvas.theme.parts;
    let marked =
        if head.folded && head.marked > 0 { format!("{MARKED} {} marked", head.marked) } else { String::new() };
    let title = (text::seen_from(canvas.home, head.group.title()), parts.title.add_modifier(Modifier::BOLD), false);
    let mut columns = vec![title, (head.terminals.to_string(), parts.quiet, true), (marked, parts.key, false)];
    let counts = head.shown();
    for status in Status::GROUPS {
        let (glyph, words, style) =
            (canvas.glyph(counts.sign_of(status)), counts.words(status), canvas.theme.style(status));
        let (number, words) = words.split_at(words.find(' ').unwrap_or(words.len()));
        let of_it = [format!("{glyph} "), number.to_owned(), if has_words { words.to_owned() } else { String::new() }];
        let of_it = if counts.count(status) > 0 { of_it } else { Default::default() };
        columns.extend(of_it.into_iter().zip([false, true, false]).map(|(said, is_right)| (said, style, is_right)));
    }
    columns
}

/// The blanks before a column.
fn gap(place: usize) -> usize {
    if matches!(place, 1..3) || (place > 2 && place.is_multiple_of(3)) { GAP } else { 0 }
}

// What the columns of a row are drawn with.

/// One row as its columns are drawn, with the styles that hold for all of it.
pub struct Cell<'a, 'c> {
    pub canvas: &'a Canvas<'c>,
    pub item: Item<'a>,
    pub status: Status,
    pub is_selected: bool,
    pub is_muted: bool,
    pub is_stale: bool,
}

impl Cell<'_, '_> {
    /// A style as this row has it: what is muted or idle keeps its glyph and its words, and raises its voice with nothing else.
    pub fn style(&self, style: Style) -> Style {
        if self.is_muted || self.status == Status::Ready { self.quiet() } else { style }
    }

    /// The style of what is less important.
    pub fn quiet(&self) -> Style {
        self.canvas.theme.parts.quiet
    }

    /// The same, leaning where what is known is old.
    pub fn aged(&self, style: Style) -> Style {
        let stale = if self.is_stale { Modifier::ITALIC } else { Modifier::empty() };
        self.style(style).add_modifier(stale)
    }

    /// The style of words, quiet where they are of what is there no more.
    pub fn text(&self) -> Style {
        let parts = &self.canvas.theme.parts;
        self.aged(if self.item.is_of_the_past() { parts.quiet } else { parts.text })
    }
}

// The columns that say how a row stands: its state, how its last turn ended, and for how long its screen has been still.

/// What it is, and for how long.
fn state_for(cell: &Cell<'_, '_>, cells: usize, word: &str) -> Vec<Part> {
    let style = cell.aged(cell.canvas.theme.style(cell.status));
    let age = times::lasting(cell.item.since(), cell.canvas.now);
    // The wait says more than a cut status word; the glyph shows the status.
    let is_narrow = cell.status.needs_operator() && cells < text::width(word) + 1 + text::width(&age);
    let word = if is_narrow { "" } else { word };
    let room = if is_narrow { cells } else { cells.saturating_sub(text::width(word) + 1) };
    let span_cells = room.min(text::width(&age).max(5));
    let age = if span_cells >= text::width(&age) { &age } else { "" };
    vec![field(word, cells - span_cells, style), right(age, span_cells, style)]
}

/// How the last turn ended as its glyph, how long ago, what that rests on, and whether it was seen; of a task the bells that were not seen.
fn last(cell: &Cell<'_, '_>, cells: usize, word: &str) -> Vec<Part> {
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

/// For how long nothing has changed, where that is not how long the state has held, or that something still does.
fn stable(cell: &Cell<'_, '_>, cells: usize) -> Part {
    let (span, style) = match cell.item {
        // Of what has ended nothing could move.
        Item::Terminal(terminal) if terminal.state.has_ended() => (String::new(), cell.quiet()),
        Item::Task(_) => (String::new(), cell.quiet()),
        Item::Terminal(terminal) if terminal.state.stability.stable => {
            let (still, began, now) = (terminal.state.stability.stable_since, cell.item.since().at, cell.canvas.now);
            // The age of the state says it already.
            let is_said = began.since(still) + still.since(began) < Span::MINUTE;
            (if is_said { String::new() } else { now.since(still).rounded() }, cell.text())
        }
        Item::Terminal(_) => (MOVES.to_owned(), cell.quiet()),
    };
    right(span, cells, style)
}

/// The cells that are left for what a row asks or does before why its prompts wait is said.
const WORDS_LEAST: usize = 24;

/// The words of a row, before its queued prompts. The sign of a draft stands before the draft's own words, and else at the end,
/// where nobody takes it for the agent's.
fn words_of(cell: &Cell<'_, '_>, cells: usize, words: &str) -> Vec<Part> {
    let (draft, style) = (cell.canvas.draft(cell.item), cell.canvas.theme.parts.key);
    let is_drafted = cell.canvas.memory.arrangement.flags.is_drafted(cell.item);
    let before = if is_drafted && draft.is_some() { (text::width(DRAFTED) + 1).min(cells) } else { 0 };
    let room = cells - before;
    let tag = format!("{DRAFTED} draft");
    let tag = if room < WORDS_LEAST + GAP + text::width(&tag) { DRAFTED } else { tag.as_str() };
    let behind = if is_drafted && draft.is_none() { (text::width(tag) + GAP).min(room) } else { 0 };
    let queued = queued(cell, room - behind).unwrap_or_default();
    let queue = if queued.is_empty() { 0 } else { (text::width(&queued) + GAP).min(room - behind) };
    let words = draft.as_deref().unwrap_or(words);
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
