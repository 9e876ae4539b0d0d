//! Where the regions of the frame are, for a size.

mod panes;

use ratatui::layout::Rect;

pub use panes::{Divider, Panes, Shown};

/// From this width on the panes below the table stand side by side.
const SIDE_BY_SIDE: u16 = 110;
/// Below this size only marks, names and turns fit.
const SMALLEST_FULL: (u16, u16) = (46, 10);

/// How much room the frame has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrameSize {
    /// Everything has its place.
    #[default]
    Full,
    /// Rows and a line of counts.
    Small,
}

/// The regions of a frame. A region that has no room is empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Regions {
    pub size: FrameSize,
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
    /// The regions of a frame for a number of terminals. `writing` gives the panes more room, and enough of it wherever
    /// the operator has put the divider.
    pub fn new(frame: Rect, terminals: usize, writing: bool, panes: &Panes) -> Self {
        if frame.width < SMALLEST_FULL.0 || frame.height < SMALLEST_FULL.1 {
            return Self::small(frame, writing);
        }
        let row = |y: u16, height: u16| Rect::new(frame.x, frame.y + y, frame.width, height);
        // The header and a blank row above, the footer below.
        let body = frame.height - 3;
        let usual = body - panes_height(body, terminals, writing);
        let table = match panes.shown {
            Shown::Table if !writing => body,
            _ => panes.table_rows(body).map_or(usual, |rows| if writing { rows.min(body - least(body)) } else { rows }),
        };
        let lower = row(2 + table, body - table);
        let beside = frame.width >= SIDE_BY_SIDE && panes.shown == Shown::All;
        let (left, right) = if beside { halves(lower, panes) } else { (lower, Rect::ZERO) };
        Self {
            size: FrameSize::Full,
            header: row(0, 1),
            table: row(2, table),
            left,
            right,
            lower,
            bar: row(1, 1),
            body: row(1, frame.height - 2),
            footer: row(frame.height - 1, 1),
        }
    }

    fn small(frame: Rect, writing: bool) -> Self {
        let row = |y: u16, height: u16| Rect::new(frame.x, frame.y + y, frame.width, height);
        let header = frame.height.min(1);
        let footer = if frame.height >= 6 { 1 } else { 0 };
        let body = frame.height - header - footer;
        let panes = if writing { body.saturating_sub(body / 3) } else { 0 };
        let lower = row(header + body - panes, panes);
        Self {
            size: FrameSize::Small,
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
    const STEP: usize = 4;
    let least = if body < 9 && !writing { 0 } else { least(body) };
    // A heading and a blank row belong to the table.
    let wanted = u16::try_from(terminals.max(1).next_multiple_of(STEP) + 2).unwrap_or(u16::MAX);
    body - wanted.clamp(3.min(body - least), body - least)
}

/// The rows that panes need to say something: a list to take a prompt from has to fit in, too.
fn least(body: u16) -> u16 {
    (body * 2 / 5).max(4)
}

/// A prompt, and the screen that it goes to: side by side where there is room, else the screen above the prompt.
pub fn writing(area: Rect) -> (Rect, Rect) {
    if area.width >= SIDE_BY_SIDE {
        return halves(area, &Panes::default());
    }
    let look = if area.height >= 9 { area.height / 2 } else { 0 };
    let write = Rect { y: area.y + look, height: area.height - look, ..area };
    (write, Rect { height: look, ..area })
}

/// Two panes; where the operator has not chosen, with the wider one, for screens, on the right.
fn halves(area: Rect, panes: &Panes) -> (Rect, Rect) {
    let left = panes.left_columns(area.width).unwrap_or((area.width * 9 / 20).min(84));
    let right = Rect { x: area.x + left + 1, width: area.width - left - 1, ..area };
    (Rect { width: left, ..area }, right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_never_overlap_nor_leave_the_frame() {
        for width in 1..=220 {
            for height in 1..=60 {
                let frame = Rect::new(0, 0, width, height);
                for (terminals, writing) in [(0, false), (3, true), (9, false), (200, false), (200, true)] {
                    let mut panes = Panes::default();
                    panes.shown = [Shown::All, Shown::Table][terminals % 2];
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
}
