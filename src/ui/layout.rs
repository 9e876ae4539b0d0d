//! Where the regions of the frame are, for a size, and what the operator has chosen of it: which panes are shown, and
//! how large.

use ratatui::layout::{Position, Rect};
use serde::{Deserialize, Serialize};

/// From this width on two panes stand side by side.
pub const SIDE_BY_SIDE: u16 = 110;
/// From this width on a screen has room beside the table.
const BESIDE_TABLE: u16 = 100;
/// The rows that log below a table need to be worth them, where nothing else would be there.
const LEAST_BELOW: u16 = 5;
/// Below this size only marks, names and turns fit.
const SMALLEST_FULL: (u16, u16) = (46, 10);

/// The regions of a frame. A region that has no room is empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Regions {
    /// Whether there is room for rows and a line of counts only.
    pub is_small: bool,
    pub header: Rect,
    pub table: Rect,
    /// The pane on the left, or the only one.
    pub left: Rect,
    /// The pane on the right; empty when there is only one.
    pub right: Rect,
    /// All panes together.
    pub lower: Rect,
    /// The line between the header and the table; in a small frame the header's own.
    pub bar: Rect,
    /// Everything between header and footer.
    pub body: Rect,
    pub footer: Rect,
}

impl Regions {
    /// Whether a pane stands below the table.
    fn is_level(&self) -> bool {
        !self.left.is_empty()
    }

    /// Whether a place is in the line between the table and what is below it.
    fn is_between(&self, at: Position) -> bool {
        let below = if self.lower.y == self.left.y { self.lower } else { self.left };
        below.contains(at) && at.y == below.y
    }

    /// The rows of the table and the panes together.
    fn rows(&self) -> u16 {
        self.table.height + self.left.height
    }

    /// Whether a frame has room for rows and a line of counts only.
    pub const fn is_small(frame: Rect) -> bool {
        frame.width < SMALLEST_FULL.0 || frame.height < SMALLEST_FULL.1
    }

    /// The regions of a frame for a number of terminals. `writing` gives the panes more room, and enough of it wherever
    /// the operator has put the divider.
    pub fn new(frame: Rect, terminals: usize, writing: bool, panes: &Panes) -> Self {
        if Self::is_small(frame) {
            return Self::small(frame, writing);
        }
        let row = |y: u16, height: u16| Rect::new(frame.x, frame.y + y, frame.width, height);
        let around = Self {
            header: row(0, 1),
            bar: row(1, 1),
            body: row(1, frame.height - 2),
            footer: row(frame.height - 1, 1),
            ..Self::default()
        };
        // The header and a blank row above, the footer below.
        let body = frame.height - 3;
        let usual = body - panes_height(body, terminals, writing);
        if panes.layout == Layout::Beside && frame.width >= BESIDE_TABLE {
            let (column, screen) = halves(row(2, body), panes);
            let table = if writing { body } else { panes.table_rows(body).unwrap_or(rows_of(terminals).min(body)) };
            // A few rows of log say less than the table's own.
            let table = if body - table < LEAST_BELOW { body } else { table };
            return Self {
                table: Rect { height: table, ..column },
                left: Rect { y: column.y + table, height: body - table, ..column },
                right: screen,
                lower: screen,
                ..around
            };
        }
        let table = match panes.layout {
            Layout::Table | Layout::Grid if !writing => body,
            Layout::Grid => body - least(body),
            _ => panes.table_rows(body).map_or(usual, |rows| if writing { rows.min(body - least(body)) } else { rows }),
        };
        let lower = row(2 + table, body - table);
        let beside = frame.width >= SIDE_BY_SIDE && panes.layout == Layout::All;
        let (left, right) = if beside { halves(lower, panes) } else { (lower, Rect::ZERO) };
        Self { table: row(2, table), left, right, lower, ..around }
    }

    fn small(frame: Rect, writing: bool) -> Self {
        let row = |y: u16, height: u16| Rect::new(frame.x, frame.y + y, frame.width, height);
        let header = frame.height.min(1);
        let footer = if frame.height >= 6 { 1 } else { 0 };
        let body = frame.height - header - footer;
        let panes = if writing { body.saturating_sub(body / 3) } else { 0 };
        let lower = row(header + body - panes, panes);
        Self {
            is_small: true,
            header: row(0, header),
            table: row(header, body - panes),
            left: lower,
            right: Rect::ZERO,
            lower,
            bar: row(0, header),
            body: row(header, body),
            footer: row(frame.height - footer, footer),
        }
    }
}

/// The height of the panes: what the table leaves of the body, but never so little that they say nothing, nor so much
/// that the table could not show its first rows. It changes in steps, so that a new terminal rarely moves anything.
fn panes_height(body: u16, terminals: usize, writing: bool) -> u16 {
    let least = if body < 9 && !writing { 0 } else { least(body) };
    body - rows_of(terminals).clamp(3.min(body - least), body - least)
}

/// The rows of a table that shows all of so many terminals, with the heading and a blank row; in steps.
fn rows_of(terminals: usize) -> u16 {
    const STEP: usize = 4;
    u16::try_from(terminals.max(1).next_multiple_of(STEP) + 2).unwrap_or(u16::MAX)
}

/// The rows that panes need to say something: a list to take a prompt from has to fit in, too.
fn least(body: u16) -> u16 {
    (body * 2 / 5).max(4)
}

/// A prompt, and the screen that it goes to: side by side where there is room, else the screen above the prompt.
pub fn writing(area: Rect) -> (Rect, Rect) {
    if area.width >= SIDE_BY_SIDE {
        return side_by_side(area);
    }
    let shown = if area.height >= 9 { area.height / 2 } else { 0 };
    let write = Rect { y: area.y + shown, height: area.height - shown, ..area };
    (write, Rect { height: shown, ..area })
}

/// Two panes in a view of its own.
pub fn side_by_side(area: Rect) -> (Rect, Rect) {
    halves(area, &Panes::default())
}

/// Two panes; where the operator has not chosen, with the wider one, for screens, on the right.
fn halves(area: Rect, panes: &Panes) -> (Rect, Rect) {
    let left = panes.left_columns(area.width).unwrap_or((area.width * 9 / 20).min(84));
    let right = Rect { x: area.x + left + 1, width: area.width - left - 1, ..area };
    (Rect { width: left, ..area }, right)
}

/// What is shown beside the table, and where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// Both panes below the table, side by side or in turns.
    #[default]
    All,
    /// The table with the log on the left, and a tall screen on the right; below the table, where the frame is
    /// narrow.
    Beside,
    /// Live screens of the most urgent terminals instead of the table.
    Grid,
    Screen,
    Log,
    /// No pane: the table has all the room.
    Table,
}

impl Layout {
    /// Every choice.
    pub const ALL: [Self; 6] = [Self::All, Self::Beside, Self::Grid, Self::Screen, Self::Log, Self::Table];

    /// What the dashboard calls it, in a frame so wide.
    pub const fn words(self, width: u16) -> &'static str {
        match self {
            Self::All if width < SIDE_BY_SIDE => "table, and log or screen below it",
            Self::All => "table, log and screen",
            Self::Beside if width < BESIDE_TABLE => "table, and the screen below it (beside it from 100 columns on)",
            Self::Beside => "table with a tall screen beside it",
            Self::Grid => "a grid of live screens",
            Self::Screen => "table and screen",
            Self::Log => "table and log",
            Self::Table => "the table alone",
        }
    }
}

/// A line between two regions that the operator can move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Divider {
    /// Between the table and the panes below it.
    Level,
    /// Between two panes, or the table and the screen beside it.
    Upright,
}

/// Which panes are shown, and where the operator has put the dividers. Without that, both follow the number of
/// terminals and the size of the frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Panes {
    pub layout: Layout,
    below: Below,
    /// The part of the body that the table has, and the part of the width that the left pane has, in thousandths, so
    /// that they hold for frames of other sizes, too.
    upper: Option<u16>,
    left: Option<u16>,
    /// The divider that the mouse holds.
    #[serde(skip)]
    dragged: Option<Divider>,
}

/// Which pane is shown below the table when there is room for one only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Below {
    #[default]
    Preview,
    Log,
}

/// The rows that a table needs to show anything, and those that a pane needs.
const LEAST_ROWS: u16 = 3;
/// The columns that a pane needs to show anything.
const LEAST_COLUMNS: u16 = 20;

impl Panes {
    /// Which pane is shown alone below the table, if there is but one.
    pub fn single(&self, regions: &Regions) -> Option<Below> {
        match self.layout {
            Layout::All if regions.right.is_empty() => Some(self.below),
            Layout::All | Layout::Grid | Layout::Table => None,
            Layout::Beside if !regions.right.is_empty() => None,
            Layout::Beside | Layout::Screen => Some(Below::Preview),
            Layout::Log => Some(Below::Log),
        }
    }

    /// The next layout, around, without those that look as one before them does in a frame with these regions.
    pub fn next_layout(&self, regions: &Regions) -> Layout {
        let look = |layout| self.look(layout, regions);
        let is_first = |layout: &Layout| Layout::ALL.into_iter().find(|it| look(*it) == look(*layout)) == Some(*layout);
        let from = self.layout as usize + 1;
        let others = (from..from + Layout::ALL.len()).map(|at| Layout::ALL[at % Layout::ALL.len()]);
        others.filter(is_first).find(|it| look(*it) != look(self.layout)).unwrap_or(self.layout)
    }

    /// The layout that looks as one does where there is less room than that one needs.
    fn look(&self, layout: Layout, regions: &Regions) -> Layout {
        let width = regions.body.width;
        match layout {
            Layout::Grid => Layout::Grid,
            _ if regions.is_small => Layout::Table,
            Layout::All if width < SIDE_BY_SIDE && self.below == Below::Log => Layout::Log,
            Layout::All if width < SIDE_BY_SIDE => Layout::Screen,
            Layout::Beside if width < BESIDE_TABLE => Layout::Screen,
            layout => layout,
        }
    }

    /// The pane that takes the place of a single one by [`Panes::switch`].
    pub const fn other(&self) -> Below {
        match self.below {
            Below::Preview => Below::Log,
            Below::Log => Below::Preview,
        }
    }

    /// Shows the other pane where there is room for one only.
    pub fn switch(&mut self) {
        self.below = self.other();
    }

    /// Lets the mouse take hold of the divider at a place: the titles of the panes, or the column between them.
    pub fn hold(&mut self, at: Position, regions: &Regions) {
        let beside = Position { x: at.x + 1, ..at };
        self.dragged = match () {
            () if regions.right.contains(beside) && beside.x == regions.right.x => Some(Divider::Upright),
            () if regions.is_between(at) => Some(Divider::Level),
            () => None,
        };
    }

    /// Moves the divider that the mouse holds.
    pub fn drag(&mut self, at: Position, regions: &Regions) {
        match self.dragged {
            Some(Divider::Level) => self.put(Divider::Level, at.y.saturating_sub(regions.table.y), regions.rows()),
            Some(Divider::Upright) => {
                self.put(Divider::Upright, at.x.saturating_sub(regions.body.x), regions.body.width);
            }
            None => {}
        }
    }

    /// Lets go of the divider.
    pub fn release(&mut self) {
        self.dragged = None;
    }

    /// The same without the mouse.
    pub const fn settled(self) -> Self {
        Self { dragged: None, ..self }
    }

    /// Moves a divider by cells, from where it was put or else from where the last frame had it.
    pub fn nudge(&mut self, divider: Divider, cells: i32, regions: &Regions) {
        let (rows, width) = (regions.rows(), regions.body.width);
        let left = regions.right.x.saturating_sub(regions.body.x + 1);
        let (before, all, is_shown) = match divider {
            Divider::Level => (self.table_rows(rows).unwrap_or(regions.table.height), rows, regions.is_level()),
            Divider::Upright => (self.left_columns(width).unwrap_or(left), width, !regions.right.is_empty()),
        };
        // A divider that is not on the frame is not moved.
        if is_shown {
            let moved = (i32::from(before) + cells).clamp(0, i32::from(all));
            self.put(divider, u16::try_from(moved).unwrap_or(before), all);
        }
    }

    /// Puts a divider so that what is before it has that many of all the cells.
    pub fn put(&mut self, divider: Divider, cells: u16, all: u16) {
        let part = u16::try_from(u32::from(cells) * 1000 / u32::from(all.max(1))).unwrap_or(1000).min(1000);
        match divider {
            Divider::Level => self.upper = Some(part),
            Divider::Upright => self.left = Some(part),
        }
    }

    /// The rows of the table in a body, where the operator has chosen them.
    pub fn table_rows(&self, body: u16) -> Option<u16> {
        // A body that has no room for both leaves it to the usual layout.
        let most = body.checked_sub(LEAST_ROWS).filter(|most| *most >= LEAST_ROWS)?;
        self.upper.map(|part| part_of(body, part).clamp(LEAST_ROWS, most))
    }

    /// The columns of the left pane in a width, where the operator has chosen them.
    pub fn left_columns(&self, width: u16) -> Option<u16> {
        let most = width.checked_sub(LEAST_COLUMNS + 1).filter(|most| *most >= LEAST_COLUMNS)?;
        self.left.map(|part| part_of(width, part).clamp(LEAST_COLUMNS, most))
    }
}

/// Rounded, so that what was put at a cell is there again.
fn part_of(all: u16, part: u16) -> u16 {
    u16::try_from((u32::from(all) * u32::from(part)).div_ceil(1000)).unwrap_or(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_never_overlap_nor_leave_the_frame() {
        for width in 1..=220 {
            for height in 1..=60 {
                let frame = Rect::new(0, 0, width, height);
                for (terminals, writing) in
                    [(0, false), (3, true), (9, false), (200, false), (200, true), (1, false), (1, true), (4, false)]
                {
                    let mut panes = Panes { layout: Layout::ALL[terminals % Layout::ALL.len()], ..Panes::default() };
                    if terminals == 9 {
                        panes.put(Divider::Level, width % height, height);
                        panes.put(Divider::Upright, height, width);
                    }
                    let regions = Regions::new(frame, terminals, writing, &panes);
                    let all = [regions.header, regions.table, regions.left, regions.right, regions.footer];
                    for (i, a) in all.iter().enumerate() {
                        assert!(a.is_empty() || frame.intersection(*a) == *a, "{frame:?} {regions:?}");
                        for b in all[i + 1..].iter().filter(|b| !b.is_empty()) {
                            assert!(a.is_empty() || a.intersection(*b).is_empty(), "{frame:?} {regions:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_table_gets_what_it_needs_and_the_panes_the_rest() {
        let few = Regions::new(Rect::new(0, 0, 120, 40), 7, false, &Panes::default());
        assert_eq!((few.table.height, few.left.height), (10, 27));
        let many = Regions::new(Rect::new(0, 0, 80, 24), 200, false, &Panes::default());
        assert_eq!((many.table.height, many.left.height, many.right.height), (13, 8, 0));
    }

    #[test]
    fn a_prompt_has_room_wherever_the_divider_is() {
        let mut panes = Panes::default();
        for height in 10..=60 {
            let body = height - 3;
            for rows in 0..=body {
                panes.put(Divider::Level, rows, body);
                let regions = Regions::new(Rect::new(0, 0, 80, height), 12, true, &panes);
                assert!(regions.left.height >= (body * 2 / 5).max(4), "{rows} of {body}: {regions:?}");
            }
        }
        panes.put(Divider::Level, 8, 21);
        assert_eq!(
            Regions::new(Rect::new(0, 0, 80, 24), 12, true, &panes).table.height,
            8,
            "a divider higher up stays"
        );
    }

    #[test]
    fn a_divider_is_where_it_was_put() {
        let mut panes = Panes::default();
        for body in 6..200 {
            for rows in 3..=body - 3 {
                panes.put(Divider::Level, rows, body);
                assert_eq!(panes.table_rows(body), Some(rows), "{rows} of {body}");
            }
        }
        panes.put(Divider::Level, 150, 200);
        assert_eq!((panes.table_rows(5), panes.table_rows(6)), (None, Some(3)));
        panes.put(Divider::Upright, 0, 120);
        assert_eq!((panes.left_columns(120), panes.left_columns(30)), (Some(20), None));
    }
}
