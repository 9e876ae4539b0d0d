//! The table: one row a terminal.

mod head;
mod task;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::arrangement::{Flags, Item, RowKey, TableRow};
use super::canvas::Canvas;
use super::text::{self, Pen};
use super::{times, what};
use crate::fleet::Terminal;
use crate::state::{Attention, Since, TurnSource};
use crate::status::Status;
use crate::time::Timestamp;

/// Blanks between two columns.
const GAP: usize = 2;
/// Cursor, glyph and a blank; the marks of a row stand between cursor and glyph.
const MARK: usize = 3;
/// The longest word and `59m59`.
const STATE: usize = 17;
/// `interrupted`, an age, what it rests on and whether it was seen.
const LAST: usize = 20;
const STABLE: usize = 6;
/// The narrowest name column; a name is the last thing to be cut.
const NAME: usize = 8;
/// The widest name column, for narrow and for wide frames.
const NAME_MOST: (usize, usize) = (16, 28);
const AGENT_MOST: usize = 20;
/// From this width on the heading says how many of the rows that are not shown wait for the operator.
const LEAST_TOLD: u16 = 46;
const PLACE_MOST: usize = 22;

/// What stands behind a result whose turn fleetwatch itself began, and behind one that was inferred from the screen.
pub const SENT_MARK: &str = "›";
/// See [`SENT_MARK`].
pub const INFERRED_MARK: &str = "~";
/// What stands behind a result that the operator has not seen yet.
pub const UNSEEN_MARK: &str = "●";

/// What stands for a task that runs: it is no agent, and nothing is known of how far it is.
pub const RUNS: &str = "▶";
/// What stands before the glyph of a terminal that is marked, pinned or muted.
pub const MARKED: &str = "■";
/// See [`MARKED`].
pub const PINNED: &str = "↑";
/// See [`MARKED`].
pub const MUTED: &str = "z";

/// The widths of the columns, 0 for those that have no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Columns {
    /// One cell for the bar or a mark; more where a row has both, or several marks.
    marks: usize,
    name: usize,
    agent: usize,
    state: usize,
    last: usize,
    stable: usize,
    place: usize,
    what: usize,
}

impl Columns {
    /// What fits into a width. Mark, name and state always stay; the others come by priority, each only when what the
    /// terminal does keeps enough room to say something.
    fn new(width: usize, items: &[Item<'_>], flags: &Flags) -> Self {
        let widest = |text: &dyn Fn(Item<'_>) -> usize| items.iter().map(|item| text(*item)).max().unwrap_or(0);
        let most = if width < 100 { NAME_MOST.0 } else { NAME_MOST.1 };
        let wanted = widest(&|item| text::width(item.id())).clamp(NAME, most);
        let before = |item: &Item<'_>| marks(*item, flags).count() + usize::from(has_bar(*item, flags));
        let marks = items.iter().map(before).max().unwrap_or(0).max(1);
        let mark = MARK + marks;
        let state = STATE.min(width.saturating_sub(mark + NAME.min(width / 2) + GAP));
        let name = wanted.min(width.saturating_sub(mark + GAP + state)).max(1);
        let mut columns = Self { marks, name, agent: 0, state, last: 0, stable: 0, place: 0, what: 0 };
        let used = mark + name + GAP + state;
        let mut left = width.saturating_sub(used);
        let agent = widest(&|item| text::width(&item.agent())).clamp(5, AGENT_MOST);
        let place = widest(&|item| text::width(&item.place())).clamp(5, PLACE_MOST);
        let optional: [(&mut usize, usize, usize); 4] = [
            (&mut columns.last, LAST, 18),
            (&mut columns.agent, agent, 24),
            (&mut columns.stable, STABLE, 26),
            (&mut columns.place, place, 40),
        ];
        for (column, cells, least_what) in optional {
            if left >= cells + GAP + least_what {
                *column = cells;
                left -= cells + GAP;
            }
        }
        columns.what = left.saturating_sub(GAP);
        columns
    }
}

/// What was drawn, for the mouse and for paging.
pub struct TableHits {
    /// The rows that are shown, each with its place.
    pub rows: Vec<(Rect, RowKey)>,
    /// The first row that is shown.
    pub first: usize,
    /// Rows that fit.
    pub page: usize,
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
    let items: Vec<Item<'_>> = rows.iter().filter_map(TableRow::item).collect();
    let columns = Columns::new(usize::from(area.width), &items, &canvas.arrangement.flags);
    // One row stays blank between the table and what is below it.
    let page = usize::from(area.height.saturating_sub(heading + u16::from(area.height > 4)));
    let first = scroll(first, selected, page, rows.len());
    if heading == 1 {
        let room = draw_extent(canvas, buffer, area, rows, first, page);
        draw_heading(canvas, buffer, Rect { width: room, ..area }, &columns);
    }
    let mut drawn = TableHits { rows: Vec::new(), first, page };
    for (offset, row) in rows.iter().enumerate().skip(first).take(page) {
        let y = heading + u16::try_from(offset - first).unwrap_or(u16::MAX);
        let line = Rect { y: area.y + y, height: 1, ..area };
        match row {
            TableRow::Head(head) => head::draw(canvas, buffer, line, head, offset == selected),
            TableRow::Item(Item::Terminal(terminal)) => {
                draw_row(canvas, buffer, line, &columns, terminal, offset == selected);
            }
            TableRow::Item(Item::Task(task)) => task::draw(canvas, buffer, line, &columns, task, offset == selected),
        }
        drawn.rows.push((line, row.key()));
    }
    drawn
}

/// The first row to show, moved as little as it takes to have the selected one in the page.
fn scroll(first: usize, selected: usize, page: usize, count: usize) -> usize {
    let lowest = (selected + 1).saturating_sub(page);
    first.clamp(lowest, selected.max(lowest)).min(count.saturating_sub(page))
}

fn draw_heading(canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, columns: &Columns) {
    let quiet = canvas.theme.parts.quiet;
    let mut pen = Pen::new(buffer, area, 0);
    pen.field("", MARK + columns.marks, quiet).field("NAME", columns.name, quiet);
    let headings = [
        ("AGENT", columns.agent),
        ("STATE", columns.state),
        ("LAST", columns.last),
        ("STABLE", columns.stable),
        ("PLACE", columns.place),
        ("WHAT", columns.what),
    ];
    for (heading, cells) in headings.into_iter().filter(|(_, cells)| *cells > 0) {
        // One that has no room beside what stands at the right is left out whole.
        let is_whole = text::width(heading) + GAP <= usize::from(pen.room());
        pen.skip(2).field(if is_whole { heading } else { "" }, cells, quiet);
    }
}

/// Says at the right of the heading which rows are shown where not all are, and how many of the others need the operator:
/// in groups, and in an order of names, they stand anywhere. Returns the cells that are left of it.
fn draw_extent(
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
            TableRow::Head(head) if head.folded => head.counts[Status::Approval.place()],
            TableRow::Head(_) => 0,
            TableRow::Item(item) => usize::from(canvas.arrangement.needs_operator(*item)),
        };
        rows.iter().map(of_row).sum()
    };
    let last = (first + page).min(rows.len());
    let hidden = [("↑", needing(&rows[..first])), ("↓", needing(&rows[last..]))];
    let told = hidden.iter().filter(|(_, count)| *count > 0).map(|(arrow, count)| format!(" {arrow} {count}"));
    let told: String = told.collect();
    let has_room = !told.is_empty() && area.width >= LEAST_TOLD;
    let need = if hidden.iter().map(|(_, count)| count).sum::<usize>() == 1 { "needs" } else { "need" };
    let told = if has_room { format!(" {told} {need} you ") } else { String::new() };
    let shown = format!(" {}–{last} of {}", first + 1, rows.len());
    let cells = (text::width(&told) + text::width(&shown)).min(usize::from(area.width));
    let width = u16::try_from(cells).unwrap_or(area.width);
    let at = Rect { x: area.right() - width, width, ..area };
    Pen::new(buffer, at, 0).text(&told, canvas.theme.style(Status::Approval)).text(&shown, canvas.theme.parts.quiet);
    area.width - at.width
}

fn draw_row(
    canvas: &Canvas<'_>,
    buffer: &mut Buffer,
    line: Rect,
    columns: &Columns,
    terminal: &Terminal,
    is_selected: bool,
) {
    let state = &terminal.state;
    let parts = &canvas.theme.parts;
    let status = Status::of(state);
    let (mut pen, tone) = begin(canvas, buffer, line, columns.marks, Item::Terminal(terminal), is_selected);
    let Tone { base, quiet, muted } = tone;
    let stale = if state.stale.is_some() { Modifier::ITALIC } else { Modifier::empty() };
    let text_style = tone.of(parts.text).add_modifier(stale);
    let needs = matches!(status.group(), Status::Approval | Status::Failed) && !muted;
    let name_style = if needs || is_selected { text_style.add_modifier(Modifier::BOLD) } else { text_style };
    pen.field(&state.terminal.id, columns.name, name_style);
    if columns.agent > 0 {
        pen.field("", GAP, base).field(&agent(terminal), columns.agent, quiet);
    }
    pen.field("", GAP.min(columns.state), base);
    let state_style = tone.of(canvas.theme.style(status)).add_modifier(stale);
    draw_state(canvas, &mut pen, columns.state, status, state.since(), state_style);
    if columns.last > 0 {
        pen.field("", GAP, base);
        draw_result(canvas, &mut pen, terminal, tone);
    }
    if columns.stable > 0 {
        let style = if state.stability.stable { text_style } else { quiet };
        let span = times::running(canvas.now.since(state.stability.stable_since));
        pen.field("", GAP, base).right(&span, columns.stable, style);
    }
    if columns.place > 0 {
        pen.field("", GAP, base).field(&terminal.place.target(), columns.place, quiet);
    }
    if columns.what > 0 {
        let style = match status {
            Status::Gone | Status::Unknown => quiet,
            _ => text_style,
        };
        pen.field("", GAP, base);
        let mut room = columns.what;
        if let Some(waiting) = canvas.queued.get(&terminal.key) {
            let queued = format!("queued {}", waiting.len());
            let cells = (text::width(&queued) + GAP).min(room);
            pen.field(&queued, cells, base.patch(canvas.theme.style(Status::Working)));
            room -= cells;
        }
        pen.field(&what::line(terminal), room, style);
    }
}

/// The styles that hold for a whole row.
#[derive(Clone, Copy)]
struct Tone {
    base: Style,
    quiet: Style,
    muted: bool,
}

impl Tone {
    /// A style as this row has it: what is muted keeps its glyph and its words, and raises its voice with nothing else.
    fn of(self, style: Style) -> Style {
        if self.muted { self.quiet } else { self.base.patch(style) }
    }
}

/// What the operator has said of a row, by its marks.
fn marks<'a>(item: Item<'a>, flags: &'a Flags) -> impl Iterator<Item = &'static str> + 'a {
    let said = [(flags.is_marked(item), MARKED), (flags.is_muted(item), MUTED), (flags.is_pinned(item), PINNED)];
    said.into_iter().filter(|(is_so, _)| *is_so).map(|(_, mark)| mark)
}

/// Whether a row waits for the operator; a muted terminal raises no voice with a bar.
fn has_bar(item: Item<'_>, flags: &Flags) -> bool {
    item.status().needs_operator() && !flags.is_muted(item)
}

/// Draws the cursor, the bar, the marks and the glyph of a row; the columns follow with the pen and the styles that it gives.
fn begin<'a>(
    canvas: &Canvas<'_>,
    buffer: &'a mut Buffer,
    line: Rect,
    cells: usize,
    item: Item<'_>,
    is_selected: bool,
) -> (Pen<'a>, Tone) {
    let (parts, flags) = (&canvas.theme.parts, &canvas.arrangement.flags);
    let base = if is_selected { parts.selected } else { Style::default() };
    buffer.set_style(line, base);
    let tone = Tone { base, quiet: base.patch(parts.quiet), muted: flags.is_muted(item) };
    let status = item.status();
    let look = tone.of(canvas.theme.style(status));
    let mut pen = Pen::new(buffer, line, 0);
    // The title's style is the cursor's alone: where titles are underlined, a blank would be, too.
    pen.text(if is_selected { "›" } else { " " }, if is_selected { base.patch(parts.title) } else { base });
    // The bar stands before the glyph and the marks, and none of them takes its cell.
    let said: Vec<&str> = marks(item, flags).collect();
    let blank = cells.saturating_sub(said.len());
    if has_bar(item, flags) {
        pen.field("▌", blank.max(1), look);
    } else {
        pen.field("", blank, base);
    }
    for mark in said {
        pen.text(mark, if mark == MARKED { base.patch(parts.key) } else { tone.quiet });
    }
    let runs = status == Status::Running;
    pen.text(if runs { RUNS } else { canvas.glyph(status) }, look).text(" ", base);
    (pen, tone)
}

/// What it is, and for how long.
fn draw_state(canvas: &Canvas<'_>, pen: &mut Pen<'_>, cells: usize, status: Status, since: Since, style: Style) {
    let word = status.word();
    let span = times::lasting(since, canvas.now);
    let span_cells = 5.min(cells.saturating_sub(text::width(&word) + 1));
    pen.field(&word, cells - span_cells, style);
    pen.right(if span_cells >= text::width(&span) { &span } else { "" }, span_cells, style);
}

/// How the last turn ended, when, what that rests on, and whether it was seen.
fn draw_result(canvas: &Canvas<'_>, pen: &mut Pen<'_>, terminal: &Terminal, tone: Tone) {
    let Tone { base, quiet, muted } = tone;
    let last = &terminal.state.last_turn;
    let Some(status) = Status::of_result(last.result) else {
        pen.field("–", LAST, quiet);
        return;
    };
    let style = base.patch(canvas.theme.style(status)).remove_modifier(Modifier::BOLD);
    let style = if muted { quiet } else { style };
    let source = match last.source {
        TurnSource::ExplicitInput => SENT_MARK,
        TurnSource::SurfaceInference => INFERRED_MARK,
        TurnSource::None => " ",
    };
    let unseen = terminal.state.attention == Attention::Finished && !muted;
    pen.field(&status.word(), 11, style);
    pen.right(&age_of(last.at, canvas.now), 5, quiet).field("", 1, base).field(source, 1, quiet);
    pen.field("", 1, base).field(if unseen { UNSEEN_MARK } else { "" }, 1, style);
}

fn age_of(at: Option<Timestamp>, now: Timestamp) -> String {
    at.map(|at| times::age(now.since(at))).unwrap_or_default()
}

/// The agent and its version.
pub fn agent(terminal: &Terminal) -> String {
    let facts = &terminal.state.terminal;
    match &facts.observed_tool_version {
        Some(version) => format!("{} {version}", facts.tool),
        None => facts.tool.clone(),
    }
}
