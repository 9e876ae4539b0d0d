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
    /// Which tables have it where the operator has not chosen.
    pub on: ShownOn,
    width: Width,
    /// The cells that must be left for what it does, so that the dashboard has room for the column; 0 has it always.
    spare: usize,
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

    /// Whether the dashboard always has it: what is it, how is it, and what does it do?
    pub const fn stays(&self) -> bool {
        self.spare == 0
    }

    /// Whether a table of [`BOTH_FROM`] cells always has it; below that, the state says it in a sign.
    fn is_standing(&self) -> bool {
        self.title == LAST || self.title == STABLE
    }

    /// Whether a line of the command line has room for it: what a terminal does says more than where it is.
    pub fn is_worth(&self, width: usize) -> bool {
        match self.spare {
            MORE.. => width >= WIDEST,
            WHERE.. => width >= WIDE,
            _ => true,
        }
    }

    /// Whether it says enough for its cells: something of two rows, in a narrow table of half of them.
    pub fn says_enough(&self, items: &[Item<'_>], width: usize) -> bool {
        let says = |item: &&Item<'_>| !(self.words)(**item, Timestamp::default()).is_empty();
        let enough = if width < WIDE { items.len().div_ceil(2) } else { items.len().min(2) };
        self.spare < FACTS || self.spare == WHERE || items.iter().filter(says).take(enough).count() >= enough
    }

    /// Whether it has something to say of any of these items.
    pub fn says_something(&self, items: &[Item<'_>]) -> bool {
        // Those of which it is asked tell no times, and that nothing is known of an agent is told.
        let says = |item: &Item<'_>| !(self.words)(*item, Timestamp::default()).is_empty();
        match self.spare {
            // A place that is called as the terminal is says nothing more.
            WHERE if self.on == ShownOn::Both => items.iter().any(|item| item.session() != called(*item)),
            SERVER => items.iter().any(|item| item.key().server != items[0].key().server),
            FACTS.. if self.spare != WHERE => items.iter().any(says),
            _ => items.iter().any(|item| item.terminal().is_some() || says(item)),
        }
    }
}

/// What an item is called where the operator does not call it otherwise: one other name moves no column.
fn called(item: Item<'_>) -> String {
    if item.note().name.is_some() { item.own_name() } else { item.id().to_owned() }
}

/// The tables that have a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownOn {
    /// The dashboard and the command line.
    Both,
    Dashboard,
    CommandLine,
    Neither,
}

/// The cells of a column in the dashboard.
#[derive(Clone, Copy, Debug)]
enum Width {
    Fixed(usize),
    /// The widest words of the column, within bounds.
    Words(usize, usize),
    /// What the others leave.
    Rest,
}

impl Width {
    /// The cells without which there is no such column.
    fn least(self) -> usize {
        match self {
            Self::Fixed(least) | Self::Words(least, _) => least,
            Self::Rest => 0,
        }
    }
}

/// The columns, left to right. One more is one more line.
pub const COLUMNS: [Column; 22] = [
    column(NAME, ShownOn::Both, Width::Words(NAME_LEAST, 28), 0, |it, _| it.id().to_owned(), name)
        .about("its own name, or the one that you gave it"),
    column("SERVER", ShownOn::Both, Width::Words(6, 20), SERVER, |it, _| it.key().server.to_string(), quiet)
        .about("the tmux server or host that it is on"),
    column(AGENT, ShownOn::Both, Width::Words(5, 20), 24, |it, _| it.agent(), agent)
        .about("which agent it is, and its version"),
    // The longest word and `59m59`, or a word, the last result and `~59m59`.
    column("STATE", ShownOn::Both, Width::Fixed(17), 0, |it, _| it.status().word().into_owned(), standing::state_for)
        .about("what it does or waits for, and for how long"),
    column("SINCE", ShownOn::CommandLine, Width::Words(5, 7), 26, |it, now| times::lasting(it.since(), now), quiet)
        .about("for how long it has been in its state"),
    column(LAST, ShownOn::Both, Width::Fixed(8), 18, |it, _| it.last(), standing::last)
        .about("how its last turn ended, and how long ago"),
    column(STABLE, ShownOn::Dashboard, Width::Fixed(6), 26, |it, _| it.stable().to_owned(), standing::stable)
        .about("for how long its screen has stood still"),
    column("PHASE", ShownOn::Neither, Width::Words(5, 7), 26, |it, _| it.phase(), quiet)
        .about("whether a turn goes on, whatever it needs"),
    column("AVAILABLE", ShownOn::Neither, Width::Words(9, 11), 26, |it, _| it.availability(), quiet)
        .about("whether it can be watched and used"),
    column("CONTEXT", ShownOn::Both, Width::Words(7, 10), FACTS, |it, _| it.context_left(), context)
        .about("how much of its context is left"),
    column("PLAN", ShownOn::Both, Width::Words(4, 6), FACTS, |it, _| it.fact(FactName::Plan), quiet)
        .about("how much of its plan is done"),
    column("MODEL", ShownOn::Both, Width::Words(5, 20), FACTS + 1, |it, _| it.fact(FactName::Model), quiet)
        .about("the model that it uses"),
    column("PLACE", ShownOn::Both, Width::Words(5, 22), WHERE, |it, _| it.place(), quiet)
        .about("its session and window in tmux"),
    column("COST", ShownOn::Both, Width::Words(4, 8), MORE, |it, _| it.cost(), quiet)
        .about("what its session has cost"),
    column("TOKENS", ShownOn::Both, Width::Words(6, 8), MORE, |it, _| it.tokens(), quiet)
        .about("the tokens that its session has used"),
    column("MODE", ShownOn::Both, Width::Words(4, 12), MORE, |it, _| it.fact(FactName::PermissionMode), quiet)
        .about("what it may do without a question"),
    column("BRANCH", ShownOn::Both, Width::Words(6, 28), MORE, |it, _| it.branch(), quiet)
        .about("the git branch of its directory, and what differs"),
    column("PROMPT", ShownOn::Both, Width::Words(6, 40), MORE + 1, |it, _| it.fact(FactName::LastPrompt), quiet)
        .about("the last prompt that it got"),
    column("PANE", ShownOn::CommandLine, Width::Words(4, 20), WHERE, |it, _| it.pane(), quiet)
        .about("its pane in tmux"),
    column(
        "LABEL",
        ShownOn::Neither,
        Width::Words(5, 20),
        FACTS,
        |it, _| it.label().unwrap_or_default().to_owned(),
        quiet,
    )
    .about("the label that you gave it"),
    column("COMMAND", ShownOn::Neither, Width::Words(7, 40), MORE + 1, |it, _| it.command().to_owned(), quiet)
        .about("the command that runs in its pane"),
    column("WHAT", ShownOn::Both, Width::Rest, 0, |it, _| it.what(), what::draw)
        .about("what it asks, does or has said"),
];

type Words = fn(Item<'_>, Timestamp) -> String;
type Draw = fn(&Cell<'_, '_>, &mut Pen<'_>, usize, &str);

const fn column(title: &'static str, on: ShownOn, width: Width, spare: usize, words: Words, draw: Draw) -> Column {
    Column { title, words, on, width, spare, draw, about: "" }
}

const NAME: &str = "NAME";
/// A name is the last thing to be cut; below [`WIDE`] cells it takes no more than [`NAME_MOST`].
const NAME_LEAST: usize = 8;
const NAME_MOST: usize = 16;
/// See there.
const NAME_STEP: usize = 4;
/// Its version is left out where it would leave less than [`TOLD`] to what a row asks or does.
const AGENT: &str = "AGENT";
const TOLD: usize = 30;
/// How the last turn ended, and for how long the screen has stood still; where there is no room for them, the state says
/// it in a sign.
const LAST: &str = "LAST";
/// See [`LAST`].
const STABLE: &str = "STABLE";
/// From this width on there is room for both.
const BOTH_FROM: usize = 120;
const WIDE: usize = 100;
/// In these widths a state has room for its word and, but for the longest, a rounded age, so that what it asks has some.
const SLIM: std::ops::Range<usize> = 36..50;
const WORD: usize = 13;
/// From this width on the command line has room for all that is known.
const WIDEST: usize = 200;
/// The most cells that facts leave to what a row asks or does: a question with its options.
const SHARE: usize = 80;
/// What the server spares, which matters only if there are several.
const SERVER: usize = 28;
/// What every column spares in a narrow table: what a terminal does comes first there.
const NARROW: usize = 36;
/// What the columns spare of facts that not every agent tells; where no row has any, they are left out.
const FACTS: usize = 34;
/// The share of the context that is left, in percent, from which on it is shown as a warning.
const LITTLE_CONTEXT: u64 = 20;
/// What the columns spare that say where something is.
const WHERE: usize = 40;
/// What the least important facts spare: only a wide dashboard has room for them.
const MORE: usize = 50;
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

/// The cells of each column, and of the marks of a row.
#[derive(Clone, Debug)]
pub struct ColumnLayout {
    /// The cells of the table.
    pub(super) width: usize,
    /// The columns of the operator's choice, left to right; `None` for one that has no room.
    columns: Vec<(&'static Column, Option<usize>)>,
}

impl ColumnLayout {
    /// What fits into a width, for all items, whichever of them are shown: neither a filter nor a folded group moves a
    /// column. What has no `spare` always stays, the name the longest; the others come by what they spare, each only when
    /// what the terminal does keeps enough room to say something. What stood there before keeps its place and its cells, so
    /// that a value which comes and goes moves nothing.
    pub(super) fn new(
        width: usize,
        items: &[Item<'_>],
        chosen: &ChosenColumns,
        before: Option<&Self>,
        now: Timestamp,
    ) -> Self {
        let mut left = width.saturating_sub(MARK);
        let had = |column: &Column| before.and_then(|before| before.cells(column.title));
        let of_agents = items.iter().map(|item| text::width(item.tool())).max().unwrap_or(0);
        let wanted = |column: &Column| {
            let cells = match column.width {
                Width::Fixed(cells) if SLIM.contains(&width) => cells.min(WORD),
                Width::Fixed(cells) => cells,
                Width::Rest => 0,
                Width::Words(least, most) => {
                    let widest = items.iter().map(|item| text::width(&(column.words)(*item, now))).max().unwrap_or(0);
                    widest.clamp(least, most)
                }
            };
            cells.max(had(column).unwrap_or(0))
        };
        let mut columns: Vec<(&Column, Option<usize>)> =
            chosen.shown().into_iter().map(|column| (column, None)).collect();
        let reserved = NAME_LEAST.min(width / 2);
        for (column, room) in columns.iter_mut().filter(|(it, _)| it.stays() && matches!(it.width, Width::Fixed(_))) {
            let cells = wanted(column).min(left.saturating_sub(reserved + GAP));
            *room = (cells > 0).then_some(cells);
            left = left.saturating_sub(cells + GAP);
        }
        for (column, room) in columns.iter_mut().filter(|(it, _)| it.stays() && matches!(it.width, Width::Words(..))) {
            // In steps, so that another name seldom moves what stands behind.
            let (step, most) = if width < WIDE { (1, NAME_MOST) } else { (NAME_STEP, usize::MAX) };
            let cells = wanted(column).next_multiple_of(step).min(most).min(left).max(1);
            *room = Some(cells);
            left = left.saturating_sub(cells);
        }
        let stands = |it: &Column| match it.spare {
            SERVER => it.says_something(items),
            _ => it.is_standing() || it.title == AGENT,
        };
        let standing = columns.iter().filter(|(it, _)| stands(it)).map(|(it, _)| wanted(it) + GAP).sum::<usize>();
        let is_bare = width >= BOTH_FROM && left < standing + GAP + TOLD;
        let wanted = |column: &Column| match column.title {
            AGENT if is_bare => wanted(column).min(of_agents.max(column.width.least())),
            _ => wanted(column),
        };
        // What the state tells in a sign has no column in a narrow table, unless the operator wants it.
        let is_usual = *chosen == ChosenColumns::default();
        let is_folded = |it: &Column| width < BOTH_FROM && it.is_standing();
        // Whoever chooses columns wants them more than the end of a long line.
        let spare = |it: &Column| if is_usual { it.spare } else { it.spare.min(WHERE) };
        // What all rows say is asked only of columns that may have room.
        let may_fit = |it: &Column| left >= it.width.least() + GAP + spare(it);
        // One that stood there stays where a value goes, but takes no more room for that: of the same rows a table shows the
        // same columns, whatever it showed before.
        let is_told = |it: &Column| {
            had(it).is_some() || (it.says_something(items) && (!is_usual || it.says_enough(items, width)))
        };
        let is_wanted = |it: &Column| !(is_usual && is_folded(it)) && may_fit(it) && is_told(it);
        let mut optional: Vec<&mut (&Column, Option<usize>)> =
            columns.iter_mut().filter(|(it, _)| !it.stays() && is_wanted(it)).collect();
        optional.sort_by_key(|(it, _)| (width < BOTH_FROM || !it.is_standing(), it.spare));
        // What is known beside the state is worth less than what a row asks or does, until that has its share of the width.
        let share = if is_usual { (width * 2 / 5).min(SHARE) } else { 0 };
        for (column, room) in optional {
            let cells = wanted(column) + GAP;
            let least = match column.spare {
                _ if width < WIDE => NARROW,
                FACTS.. => share,
                _ => 0,
            };
            if left >= cells + spare(column).max(least) {
                *room = Some(cells - GAP);
                left -= cells;
            }
        }
        if let (Some((_, room)), Some(cells @ 1..)) =
            (columns.iter_mut().find(|(it, _)| matches!(it.width, Width::Rest)), left.checked_sub(GAP))
        {
            *room = Some(cells);
        }
        Self { width, columns }
    }

    /// Whether a column has room.
    pub(super) fn shows(&self, title: &str) -> bool {
        self.cells(title).is_some()
    }

    /// The cells of a column, if it has room.
    fn cells(&self, title: &str) -> Option<usize> {
        self.shown().find_map(|(column, cells)| (column.title == title).then_some(cells))
    }

    /// The columns that have room, with their cells.
    fn shown(&self) -> impl Iterator<Item = (&'static Column, usize)> {
        self.columns.iter().filter_map(|(column, cells)| Some((*column, (*cells)?)))
    }

    /// Whether a column of the operator's choice has no room, so that the state says in a sign what it would say.
    fn folds(&self, title: &str) -> bool {
        self.columns.iter().any(|(column, cells)| column.title == title && cells.is_none())
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
    /// Whether the state says in a sign how the last turn ended, and whether the screen still moves.
    folds: (bool, bool),
    base: Style,
    quiet: Style,
}

impl Cell<'_, '_> {
    /// A style as this row has it: what is muted keeps its glyph and its words, and raises its voice with nothing else.
    fn style(&self, style: Style) -> Style {
        if self.is_muted { self.quiet } else { self.base.patch(style) }
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
    let folds = (layout.folds(LAST), layout.folds(STABLE));
    let cell = Cell { canvas, item, status, is_selected, is_muted, is_stale, folds, base, quiet };
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
