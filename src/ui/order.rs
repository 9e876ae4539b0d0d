//! The cursor, which stays on its row while the rows move.

use super::arrangement::{Row, RowKey};
use crate::fleet::{Terminal, TerminalKey, View};
use crate::moment::{Moment, Span};

/// How long the selected row keeps its place after the operator last did something. Then the most urgent come first
/// again without exception; the cursor stays on its terminal all the time.
pub const HOLD: Span = Span::from_secs(30);

/// Which row is selected and where it is kept.
#[derive(Clone, Debug, Default)]
pub struct Cursor {
    key: Option<RowKey>,
    /// The place of the selected row among all rows.
    index: usize,
    /// When the cursor came to its row.
    since: Moment,
    /// Until when the row keeps its place.
    held_until: Moment,
}

impl Cursor {
    /// The selected row.
    pub fn row(&self) -> Option<&RowKey> {
        self.key.as_ref()
    }

    /// The terminal of the selected row.
    pub fn key(&self) -> Option<&TerminalKey> {
        match &self.key {
            Some(RowKey::Terminal(key)) => Some(key),
            Some(RowKey::Head(_)) | None => None,
        }
    }

    /// The place of the selected row among all rows.
    pub fn index(&self) -> usize {
        self.index
    }

    /// When the cursor came to its row.
    pub fn since(&self) -> Moment {
        self.since
    }

    /// The selected terminal, if it is still there.
    pub fn terminal<'a>(&self, view: &View<'a>) -> Option<&'a Terminal> {
        super::find(view, self.key()?)
    }

    /// Takes note that the operator did something: the selected row stays where it is.
    pub fn hold(&mut self, now: Moment) {
        self.held_until = now + HOLD;
    }

    /// Lets the selected row go to where it belongs, because the operator has put the rows into another order.
    pub fn release(&mut self) {
        self.held_until = Moment::default();
    }

    /// Keeps the selected row in its place for a while, as far as that is in its group.
    pub fn keep<'a>(&self, mut rows: Vec<Row<'a>>, now: Moment) -> Vec<Row<'a>> {
        let natural = self.key.as_ref().and_then(|key| rows.iter().position(|row| row.is(key)));
        let is_terminal = |index: &usize| rows[*index].item().is_some();
        if let Some(natural) = natural.filter(is_terminal).filter(|_| now < self.held_until) {
            let is_head = |row: &Row<'_>| row.item().is_none();
            let from = rows[..natural].iter().rposition(is_head).map_or(0, |head| head + 1);
            let to = rows[natural..].iter().position(is_head).map_or(rows.len(), |head| natural + head);
            let selected = rows.remove(natural);
            rows.insert(self.index.clamp(from, to - 1), selected);
        }
        rows
    }

    /// Follows the rows: the selected one may have moved or gone. One that left gives the cursor to the row that took
    /// its place.
    pub fn follow(&mut self, rows: &[Row<'_>], now: Moment) {
        let found = self.key.as_ref().and_then(|key| rows.iter().position(|row| row.is(key)));
        match found {
            Some(index) => self.index = index,
            None => self.select(self.index.min(rows.len().saturating_sub(1)), rows, now),
        }
    }

    /// Selects the row at an index, or nothing when there is none.
    pub fn select(&mut self, index: usize, rows: &[Row<'_>], now: Moment) {
        let key = rows.get(index).map(Row::key);
        if key != self.key {
            self.since = now;
        }
        (self.key, self.index) = (key, index);
    }

    /// Moves by a number of rows, and stops at both ends.
    pub fn step(&mut self, rows_down: isize, rows: &[Row<'_>], now: Moment) {
        let index = self.index.saturating_add_signed(rows_down).min(rows.len().saturating_sub(1));
        self.select(index, rows, now);
    }

    /// Moves to the next or previous row of a kind, around the ends. Returns whether there is one.
    pub fn step_to(
        &mut self,
        forward: bool,
        rows: &[Row<'_>],
        now: Moment,
        is_wanted: impl Fn(&Row<'_>) -> bool,
    ) -> bool {
        let count = rows.len();
        let mut steps =
            (1..=count).map(|n| if forward { self.index + n } else { self.index + count - n } % count.max(1));
        let Some(index) = steps.find(|&index| rows.get(index).is_some_and(&is_wanted)) else { return false };
        self.select(index, rows, now);
        true
    }
}
