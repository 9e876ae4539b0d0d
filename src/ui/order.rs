//! The order of the rows, and the cursor that stays on its terminal while they move.

use crate::fleet::{Terminal, TerminalKey, View};
use crate::moment::{Moment, Span};

use super::meaning::Meaning;

/// How long the selected row keeps its place after the operator last did something. Then the most urgent come first
/// again without exception; the cursor stays on its terminal all the time.
pub const HOLD: Span = Span::from_secs(30);

/// Which terminal is selected and where its row is kept.
#[derive(Clone, Debug, Default)]
pub struct Cursor {
    key: Option<TerminalKey>,
    /// The place of the selected row among all rows.
    index: usize,
    /// When the cursor came to its terminal.
    since: Moment,
    /// Until when the row keeps its place.
    held_until: Moment,
}

impl Cursor {
    /// The selected terminal.
    pub fn key(&self) -> Option<&TerminalKey> {
        self.key.as_ref()
    }

    /// When the cursor came to its terminal.
    pub fn since(&self) -> Moment {
        self.since
    }

    /// The selected terminal, if it is still there.
    pub fn terminal<'a>(&self, view: &View<'a>) -> Option<&'a Terminal> {
        let key = self.key.as_ref()?;
        view.terminals.iter().copied().find(|terminal| terminal.key == *key)
    }

    /// Takes note that the operator did something: the selected row stays where it is.
    pub fn hold(&mut self, now: Moment) {
        self.held_until = now + HOLD;
    }

    /// The rows, top first. The selected one keeps its place for a while, the others stand in the order of the view.
    pub fn rows<'a>(&self, view: &View<'a>) -> Vec<&'a Terminal> {
        let mut rows: Vec<&Terminal> = view.terminals.clone();
        let natural = self.key.as_ref().and_then(|key| rows.iter().position(|terminal| terminal.key == *key));
        if let Some(natural) = natural.filter(|_| view.now < self.held_until) {
            let selected = rows.remove(natural);
            rows.insert(self.index.min(rows.len()), selected);
        }
        rows
    }

    /// Follows the fleet: the selected terminal may have moved or gone. A terminal that left gives the cursor to the
    /// row that took its place.
    pub fn follow(&mut self, view: &View<'_>) {
        let rows = self.rows(view);
        let found = self.key.as_ref().and_then(|key| rows.iter().position(|terminal| terminal.key == *key));
        match found {
            Some(index) => self.index = index,
            None => self.select(self.index.min(rows.len().saturating_sub(1)), &rows, view.now),
        }
    }

    /// Selects the row at an index, or nothing when there is none.
    pub fn select(&mut self, index: usize, rows: &[&Terminal], now: Moment) {
        let key = rows.get(index).map(|terminal| terminal.key.clone());
        if key != self.key {
            self.since = now;
        }
        (self.key, self.index) = (key, index);
    }

    /// Moves by a number of rows, and stops at both ends.
    pub fn step(&mut self, rows_down: isize, view: &View<'_>) {
        let rows = self.rows(view);
        let index = self.index.saturating_add_signed(rows_down).min(rows.len().saturating_sub(1));
        self.select(index, &rows, view.now);
    }

    /// Moves to the next or previous row that needs the operator, around the ends. Returns whether there is one.
    pub fn step_to_waiting(&mut self, forward: bool, view: &View<'_>) -> bool {
        let rows = self.rows(view);
        let count = rows.len();
        let steps = (1..=count).map(|n| if forward { self.index + n } else { self.index + count - n } % count.max(1));
        let needs = |index: &usize| rows.get(*index).is_some_and(|terminal| needs_operator(terminal));
        let Some(index) = steps.into_iter().find(needs) else { return false };
        self.select(index, &rows, view.now);
        true
    }
}

/// Whether an operator should look at a terminal.
fn needs_operator(terminal: &Terminal) -> bool {
    matches!(
        Meaning::of(&terminal.state),
        Meaning::Waits | Meaning::Failed | Meaning::Stalled | Meaning::Error | Meaning::Interrupted | Meaning::Finished
    )
}
