//! What the operator has chosen of the layout: which panes are shown, and how large.

/// Which panes are shown below the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shown {
    /// Both, side by side or in turns.
    #[default]
    All,
    Screen,
    Transitions,
    /// None of them: the table has all the room.
    Table,
}

impl Shown {
    /// Every choice.
    pub const ALL: [Self; 4] = [Self::All, Self::Screen, Self::Transitions, Self::Table];

    /// The next one, around.
    pub fn next(self) -> Self {
        Self::ALL[(self as usize + 1) % Self::ALL.len()]
    }

    /// What the dashboard calls it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::All => "table, transitions and screen",
            Self::Screen => "table and screen",
            Self::Transitions => "table and transitions",
            Self::Table => "the table alone",
        }
    }
}

/// A line between two regions that the operator can move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Divider {
    /// Between the table and the panes below it.
    Level,
    /// Between the two panes.
    Upright,
}

/// Which panes are shown, and where the operator has put the dividers. Without that, both follow the number of
/// terminals and the size of the frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Panes {
    pub shown: Shown,
    /// The part of the body that the table has, and the part of the width that the left pane has, in thousandths, so
    /// that they hold for frames of other sizes, too.
    upper: Option<u16>,
    left: Option<u16>,
}

/// The rows that a table needs to show anything, and those that a pane needs.
const LEAST_ROWS: u16 = 3;
/// The columns that a pane needs to show anything.
const LEAST_COLUMNS: u16 = 20;

impl Panes {
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
