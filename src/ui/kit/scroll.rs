//! Which part of a text or a list is in view: the one scroll model of pop-ups, texts and lists.

use std::ops::Range;

use crate::ui::action::Action;

/// How far something is scrolled, in rows or in lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Viewport {
    /// What is shown first; `None` is wherever the end is in view.
    top: Option<usize>,
    /// The highest top that still shows something new, as of the last frame.
    most: usize,
    /// How much the last frame had room for.
    page: usize,
    /// Whether it goes along with the end of something that grows, once that is in view.
    follows: bool,
}

impl Default for Viewport {
    /// The beginning of something that does not grow.
    fn default() -> Self {
        Self { top: Some(0), most: 0, page: 0, follows: false }
    }
}

impl Viewport {
    /// The beginning of something that grows: who scrolls to the end stays there.
    pub const fn from_start() -> Self {
        Self { top: Some(0), most: usize::MAX, page: 1, follows: true }
    }

    /// The end, also when more comes behind it.
    pub const fn at_end() -> Self {
        Self { top: None, ..Self::from_start() }
    }

    /// The first row of a list to show, moved as little as it takes to have the selected one in the page.
    pub fn first_for(first: usize, selected: usize, page: usize, count: usize) -> usize {
        let lowest = (selected + 1).saturating_sub(page);
        first.clamp(lowest, selected.max(lowest)).min(count.saturating_sub(page))
    }

    /// What is shown first.
    pub fn first(&self) -> usize {
        self.top.unwrap_or(self.most).min(self.most)
    }

    /// How much the last frame had room for.
    pub const fn page(&self) -> usize {
        self.page
    }

    /// Takes in how much a frame has room for, of so many. Returns what is shown first.
    pub fn fit(&mut self, page: usize, count: usize) -> usize {
        self.fit_to(page, count.saturating_sub(page))
    }

    /// The same where the highest top is known.
    pub fn fit_to(&mut self, page: usize, most: usize) -> usize {
        (self.page, self.most) = (page, most);
        self.first()
    }

    /// Moves, and stops at both ends.
    pub fn step(&mut self, by: isize) {
        let top = self.first().saturating_add_signed(by);
        let ends = self.follows && top >= self.most && by > 0;
        self.top = (!ends).then_some(top.min(self.most));
    }

    /// Moves as an action says. Returns whether it says so.
    pub fn obey(&mut self, action: Action) -> bool {
        let rows = rows_of(action, self.page);
        rows.into_iter().for_each(|rows| self.step(rows));
        rows.is_some()
    }

    /// Has a row in view first, as far as what follows fills the page.
    pub const fn begin_at(&mut self, row: usize) {
        self.top = Some(row);
    }

    /// Moves as little as it takes to have some rows in view; their beginning, where not all of them fit.
    pub fn reveal(&mut self, rows: Range<usize>) {
        self.top = Some(self.first().max(rows.end.saturating_sub(self.page)).min(rows.start));
    }

    /// Has a row in view and not among the last `spare` ones: in the middle, if it was not.
    pub fn center(&mut self, row: usize, spare: usize) {
        let first = self.first();
        if row < first || row + spare >= first + self.page.max(1 + spare) {
            self.top = Some(row.saturating_sub(self.page / 2));
        }
    }
}

/// How many rows down an action moves; of a page, a row stays in view.
pub fn rows_of(action: Action, page: usize) -> Option<isize> {
    let page = isize::try_from(page.max(2) - 1).unwrap_or(isize::MAX);
    Some(match action {
        Action::Up => -1,
        Action::Down => 1,
        Action::PageUp => -page,
        Action::PageDown => page,
        Action::First => isize::MIN,
        Action::Last => isize::MAX,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_stop_it_and_the_end_is_followed_where_it_grows() {
        let mut fixed = Viewport::default();
        fixed.step(5);
        assert_eq!(fixed.fit(3, 9), 0, "nothing was drawn yet");
        fixed.step(99);
        assert_eq!((fixed.first(), fixed.fit(3, 12)), (6, 6));
        assert_eq!(fixed.fit(3, 5), 2);
        fixed.step(-1);
        assert_eq!(fixed.first(), 1);
        let mut growing = Viewport::at_end();
        assert_eq!((growing.fit(3, 9), growing.fit(3, 12)), (6, 9));
        growing.step(-2);
        assert_eq!(growing.fit(3, 20), 7);
        growing.step(99);
        assert_eq!(growing.fit(3, 30), 27);
    }

    #[test]
    fn rows_come_into_view_as_little_as_it_takes() {
        let mut view = Viewport::default();
        view.fit(4, 20);
        for (rows, first) in [(0..1, 0), (3..4, 0), (4..5, 1), (8..11, 7), (7..8, 7), (2..9, 2)] {
            view.reveal(rows.clone());
            assert_eq!(view.first(), first, "{rows:?}");
        }
        view.center(5, 0);
        assert_eq!(view.first(), 2);
        view.center(5, 1);
        assert_eq!(view.first(), 3);
        view.center(19, 0);
        assert_eq!(view.first(), 16);
    }
}
