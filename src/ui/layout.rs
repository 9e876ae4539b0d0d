//! Where the regions of the frame are, for a size and the layout that the operator has chosen.

use ratatui::layout::Rect;
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
        // Panes have what the table leaves, but never so little that they say nothing, nor so much that it could not show its first
        // rows. That changes in steps, so that a new terminal rarely moves anything.
        let kept = if body < 9 && !writing { 0 } else { least(body) };
        let usual = rows_of(terminals).clamp(3.min(body - kept), body - kept);
        if panes.layout == Layout::Beside && frame.width >= BESIDE_TABLE {
            let (column, screen) = side_by_side(row(2, body));
            let table = if writing { body } else { rows_of(terminals).min(body) };
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
            Layout::Grid if !writing => body,
            Layout::Grid => body - least(body),
            Layout::Below | Layout::Beside => usual,
        };
        let lower = row(2 + table, body - table);
        let beside = frame.width >= SIDE_BY_SIDE && panes.layout == Layout::Below;
        let (left, right) = if beside { side_by_side(lower) } else { (lower, Rect::ZERO) };
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

/// Two panes, with the wider one, for screens, on the right.
pub fn side_by_side(area: Rect) -> (Rect, Rect) {
    let left = (area.width * 9 / 20).min(84);
    let right = Rect { x: area.x + left + 1, width: area.width - left - 1, ..area };
    (Rect { width: left, ..area }, right)
}

/// What is shown beside the table, and where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// The table with the log on the left, and a tall screen on the right; below the table, where the frame is
    /// narrow.
    Beside,
    /// Live screens of the most urgent terminals instead of the table.
    Grid,
    /// The screen below the table, with the log beside it where there is room.
    #[default]
    #[serde(other)]
    Below,
}

impl Layout {
    /// What the dashboard calls it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Below => "the screen below the table",
            Self::Beside => "the screen beside the table",
            Self::Grid => "a grid of screens",
        }
    }
}

/// Which panes are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Panes {
    pub layout: Layout,
}

impl Panes {
    /// Whether only a screen is shown beside the table, and no log.
    pub fn is_screen_alone(&self, regions: &Regions) -> bool {
        self.layout != Layout::Grid && regions.right.is_empty()
    }

    /// The next layout, around, without one that looks as the one before it at this width.
    pub fn next_layout(&self, regions: &Regions) -> Layout {
        match self.layout {
            Layout::Below if regions.body.width >= BESIDE_TABLE => Layout::Beside,
            Layout::Below | Layout::Beside => Layout::Grid,
            Layout::Grid => Layout::Below,
        }
    }
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
                    let layouts = [Layout::Below, Layout::Beside, Layout::Grid];
                    let panes = Panes { layout: layouts[terminals % layouts.len()] };
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
}
