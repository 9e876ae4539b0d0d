//! The table: one row an agent or a task, in columns that are data.

mod heads;
mod standing;
mod what;

use ratatui::prelude::{Buffer, Modifier, Rect, Style};

use super::columns::ChosenColumns;
use super::{Canvas, Flags, Item, Pen, RowKey, TableRow, Viewport, text, times};
use crate::state::{AgentFacts, FactName};
use crate::status::Status;
use crate::time::Timestamp;
use heads::HeadLayout;

/// What a table shows of each item: its words for every table, and how the dashboard draws them.
#[derive(Debug)]
pub struct Column {
    pub title: &'static str,
    /// The datum in words as of a time; empty where there is none.
    pub words: Words,
    width: Width,
    rank: Rank,
    draw: Draw,
    /// What it says, in a few words.
    pub about: &'static str,
}

impl Column {
    const fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    /// The column that a title means, however it is written.
    pub fn named(title: &str) -> Option<&'static Self> {
        COLUMNS.iter().find(|column| column.title.eq_ignore_ascii_case(title))
    }

    /// Whether every table has it: what is it, how is it, and what does it do?
    pub const fn stays(&self) -> bool {
        matches!(self.rank, Rank::Stays)
    }

    /// Whether a dashboard has it, where it has room, unless the operator chooses otherwise.
    pub const fn is_usual(&self) -> bool {
        matches!(self.rank, Rank::Stays | Rank::Usual(_))
    }

    /// The columns of a list so wide, of terminals on one server or on several: those of a dashboard, with the age of a state
    /// in a column of its own.
    pub fn of_list(width: usize, has_servers: bool) -> Vec<&'static Self> {
        let layout = ColumnLayout::new(width, &ChosenColumns::default(), has_servers);
        let is_listed = |column: &&Self| match column.title {
            STABLE => false,
            SINCE => true,
            title => layout.shows(title),
        };
        COLUMNS.iter().filter(is_listed).collect()
    }
}

/// When a dashboard has a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Stays,
    /// As long as there is room for it and for those of a lower number.
    Usual(u8),
    /// If the operator wants it, and there is room for it and for those before it.
    Chosen,
}

/// The cells of a column in the dashboard.
#[derive(Clone, Copy, Debug)]
enum Width {
    /// In a table below [`NARROW`] cells, below [`WIDE`], and above.
    Fixed([usize; 3]),
    /// What the others leave.
    Rest,
}

impl Width {
    /// The cells in a table so wide.
    fn cells(self, width: usize) -> usize {
        match self {
            Self::Fixed([cells, ..]) if width < NARROW => cells,
            Self::Fixed([_, cells, _]) if width < WIDE => cells,
            Self::Fixed([.., cells]) => cells,
            Self::Rest => 0,
        }
    }
}

/// The columns, left to right. One more is one more line.
pub const COLUMNS: [Column; 22] = [
    column(NAME, Width::Fixed([10, 14, 20]), Rank::Stays, |it, _| it.id().to_owned(), name)
        .about("its own name, or the one that you gave it"),
    column(SERVER, fixed(14), Rank::Usual(2), |it, _| it.key().server.to_string(), quiet)
        .about("the tmux server or host that it is on"),
    column("AGENT", Width::Fixed([8, 8, 15]), Rank::Usual(0), |it, _| it.agent(), agent)
        .about("which agent it is, and its version"),
    // The longest word and `>59m`, and where there is room `>59m59`.
    column(
        STATE,
        Width::Fixed([13, 15, 17]),
        Rank::Stays,
        |it, _| it.status().word().into_owned(),
        standing::state_for,
    )
    .about("what it does or waits for, and for how long"),
    column(SINCE, fixed(7), Rank::Chosen, |it, now| times::lasting(it.since(), now), quiet)
        .about("for how long it has been in its state"),
    column("LAST", Width::Fixed([7, 7, 8]), Rank::Usual(1), |it, _| it.last(), standing::last)
        .about("how its last turn ended, and how long ago"),
    column(STABLE, fixed(6), Rank::Usual(3), |it, _| it.stable().to_owned(), standing::stable)
        .about("for how long its screen has stood still"),
    column("PHASE", fixed(7), Rank::Chosen, |it, _| it.phase(), quiet)
        .about("whether a turn goes on, whatever it needs"),
    column("AVAILABLE", fixed(11), Rank::Chosen, |it, _| it.availability(), quiet)
        .about("whether it can be watched and used"),
    column("CONTEXT", fixed(9), Rank::Usual(4), |it, _| it.context_left(), context)
        .about("how much of its context is left"),
    column("PLAN", fixed(6), Rank::Chosen, |it, _| it.fact(FactName::Plan), quiet)
        .about("how much of its plan is done"),
    column("MODEL", fixed(16), Rank::Usual(5), |it, _| it.fact(FactName::Model), quiet).about("the model that it uses"),
    column("PLACE", fixed(16), Rank::Chosen, |it, _| it.place(), quiet).about("its session and window in tmux"),
    column("COST", fixed(7), Rank::Chosen, |it, _| it.cost(), quiet).about("what its session has cost"),
    column("TOKENS", fixed(7), Rank::Chosen, |it, _| it.tokens(), quiet).about("the tokens that its session has used"),
    column("MODE", fixed(12), Rank::Chosen, |it, _| it.fact(FactName::PermissionMode), quiet)
        .about("what it may do without a question"),
    column("BRANCH", fixed(22), Rank::Usual(6), |it, _| it.branch(), quiet)
        .about("the git branch of its directory, and what differs"),
    column("PROMPT", fixed(30), Rank::Chosen, |it, _| it.fact(FactName::LastPrompt), quiet)
        .about("the last prompt that it got"),
    column("PANE", fixed(12), Rank::Chosen, |it, _| it.pane(), quiet).about("its pane in tmux"),
    column("LABEL", fixed(12), Rank::Chosen, |it, _| it.label().unwrap_or_default().to_owned(), quiet)
        .about("the label that you gave it"),
    column("COMMAND", fixed(24), Rank::Chosen, |it, _| it.command().to_owned(), quiet)
        .about("the command that runs in its pane"),
    column("WHAT", Width::Rest, Rank::Stays, |it, _| it.what(), what::draw).about("what it asks, does or has said"),
];

type Words = fn(Item<'_>, Timestamp) -> String;
type Draw = fn(&Cell<'_, '_>, &mut Pen<'_>, usize, &str);

const fn column(title: &'static str, width: Width, rank: Rank, words: Words, draw: Draw) -> Column {
    Column { title, words, width, rank, draw, about: "" }
}

const fn fixed(cells: usize) -> Width {
    Width::Fixed([cells; 3])
}

const NAME: &str = "NAME";
const SERVER: &str = "SERVER";
const STATE: &str = "STATE";
const SINCE: &str = "SINCE";
const STABLE: &str = "STABLE";
/// Below this many cells a table is narrow, and from [`WIDE`] on it is wide.
const NARROW: usize = 60;
/// See [`NARROW`].
const WIDE: usize = 120;
/// The percentage of the width that is kept for what a row asks or does, and where the operator chooses the columns.
const WHAT_SHARE: [usize; 2] = [30, 20];
/// The share of the context that is left, in percent, from which on it is shown as a warning.
const LITTLE_CONTEXT: u64 = 20;
/// Blanks between two columns.
const GAP: usize = 2;
/// Cursor, bar or sign, glyph and a blank.
const MARK: usize = 4;
/// From this width on the heading says how many of the rows that are not shown wait for the operator.
const LEAST_NAMED: u16 = 46;

/// What stands behind a result whose turn fleetwatch itself began.
pub const SENT_MARK: &str = "›";
/// What stands behind a result that was inferred from the screen.
pub const INFERRED_MARK: &str = "~";
/// What stands for how long a screen has stood still that has not: it still moves.
pub const MOVES: &str = "~";
/// What stands behind a result that the operator has not seen yet.
pub const UNSEEN_MARK: &str = "●";

/// What stands for a task that runs: it is no agent, and nothing is known of how far it is.
pub const RUNS: &str = "▶";
/// What stands before the glyph of a terminal that is marked or muted.
pub const MARKED: &str = "■";
/// What stands behind the name of a terminal that is pinned.
pub const PINNED: &str = "↑";
/// See [`MARKED`].
pub const MUTED: &str = "z";
/// What stands before what a terminal does that a prompt was begun for.
pub const DRAFTED: &str = "✎";

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

/// The columns that have room in a table so wide, with their cells. They follow from the width and the operator's choice
/// alone: no value moves a column.
#[derive(Clone, Debug)]
pub struct ColumnLayout(Vec<(&'static Column, usize)>);

impl ColumnLayout {
    /// The columns of the operator's choice that fit into a width, those of a lower rank first. The server is among the usual
    /// ones where there are several.
    pub(super) fn new(width: usize, chosen: &ChosenColumns, has_servers: bool) -> Self {
        let is_usual = *chosen == ChosenColumns::default();
        let mut columns = chosen.shown();
        columns.retain(|column| !is_usual || column.title != SERVER || has_servers);
        let mut ranked = columns.clone();
        ranked.sort_by_key(|column| column.rank);
        let least = width * WHAT_SHARE[usize::from(!is_usual)] / 100;
        let cells = |column: &Column| match column.width.cells(width) {
            0 => GAP + least,
            cells => GAP + cells,
        };
        let mut left = (width + GAP).saturating_sub(MARK);
        let mut has_room = true;
        ranked.retain(|column| {
            has_room &= column.stays() || left >= cells(column);
            left = left.saturating_sub(if has_room { cells(column) } else { 0 });
            has_room
        });
        columns.retain(|column| ranked.iter().any(|it| it.title == column.title));
        let total: usize = columns.iter().map(|column| GAP + column.width.cells(width)).sum();
        let rest = (width + GAP).saturating_sub(MARK + total);
        // Where even those that stay have no room, first the state gives way and then the name.
        let lacks = (MARK + total).saturating_sub(width + GAP + GAP);
        let state = Column::named(STATE).map_or(0, |state| state.width.cells(width));
        let fitted = columns.into_iter().map(|column| match column.title {
            NAME => (column, column.width.cells(width).saturating_sub(lacks.saturating_sub(state)).max(1)),
            STATE => (column, column.width.cells(width).saturating_sub(lacks)),
            _ if matches!(column.width, Width::Rest) => (column, rest),
            _ => (column, column.width.cells(width)),
        });
        Self(fitted.filter(|(_, cells)| *cells > 0).collect())
    }

    /// Whether a column has room.
    pub(super) fn shows(&self, title: &str) -> bool {
        self.0.iter().any(|(column, _)| column.title == title)
    }

    /// The columns that have room, with their cells.
    fn shown(&self) -> impl Iterator<Item = (&'static Column, usize)> {
        self.0.iter().copied()
    }
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

/// Draws the ground of a line and the cursor on it.
fn begin_line<'a>(canvas: &Canvas<'_>, buffer: &'a mut Buffer, line: Rect, is_selected: bool) -> Pen<'a> {
    let parts = &canvas.theme.parts;
    let base = if is_selected { parts.selected } else { Style::default() };
    buffer.set_style(line, base);
    let mut pen = Pen::new(buffer, line, 0);
    // The title's style is the cursor's alone: where titles are underlined, a blank would be, too.
    pen.text(if is_selected { "›" } else { " " }, if is_selected { base.patch(parts.title) } else { base });
    pen
}

/// One row as its columns are drawn, with the styles that hold for all of it.
struct Cell<'a, 'c> {
    canvas: &'a Canvas<'c>,
    item: Item<'a>,
    status: Status,
    is_selected: bool,
    is_muted: bool,
    is_stale: bool,
    base: Style,
    quiet: Style,
}

impl Cell<'_, '_> {
    /// A style as this row has it: what is muted or idle keeps its glyph and its words, and raises its voice with nothing else.
    fn style(&self, style: Style) -> Style {
        if self.is_muted || self.status == Status::Ready { self.quiet } else { self.base.patch(style) }
    }

    /// The same, leaning where what is known is old.
    fn aged(&self, style: Style) -> Style {
        let stale = if self.is_stale { Modifier::ITALIC } else { Modifier::empty() };
        self.style(style).add_modifier(stale)
    }

    /// The style of words, quiet where they are of what is there no more.
    fn text(&self) -> Style {
        let parts = &self.canvas.theme.parts;
        self.aged(if self.item.is_of_the_past() { parts.quiet } else { parts.text })
    }
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
        (column.draw)(&cell, &mut pen, cells, &(column.words)(item, canvas.now));
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
