//! The cursor: until somebody moves it, it is at the top, whatever is there; after that, it stays on its row while the
//! rows move.

use std::collections::HashMap;

use super::pace::HOLD;
use super::{Item, RowKey, TableRow};
use crate::fleet::{Terminal, TerminalKey, View};
use crate::present::arrangement::Group;
use crate::status::Status;
use crate::time::Timestamp;

/// What the cursor keeps to while the rows move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum CursorAnchor {
    /// The first row, whichever that is.
    #[default]
    Top,
    /// The row that it was moved to.
    Row,
    /// The row that it came to at the top, as something is done with it.
    Worked,
}

/// Which row is selected and where it is kept.
#[derive(Clone, Debug, Default)]
pub struct RowSelection {
    key: Option<RowKey>,
    /// The place of the selected row among all rows.
    index: usize,
    /// When the cursor came to its row.
    since: Timestamp,
    /// Until when rows keep their places.
    held_until: Timestamp,
    anchor: CursorAnchor,
    /// When the cursor came to its row by itself, as the one before left or another one is at the top now.
    slipped: Option<Timestamp>,
    /// The groups as they stood last.
    groups: Vec<Group>,
    /// What stood in the rows then, and whether it waited for the operator.
    stood: Vec<(TerminalKey, bool)>,
    /// Where it has been since it began to go to those that should be looked at.
    walked: Vec<Walked>,
    /// Whether the key before the present one went on that way, and whether the present one did.
    went_on: [bool; 2],
}

/// A row that the way through those that wait has led to. One that asks again is another stop on that way.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Walked {
    key: TerminalKey,
    status: Status,
    since: Option<Timestamp>,
}

impl Walked {
    fn of(item: Item<'_>) -> Self {
        Self { key: item.key().clone(), status: item.status(), since: item.waiting_since() }
    }

    fn is(&self, item: &Item<'_>) -> bool {
        self.key == *item.key() && self.since == item.waiting_since()
    }
}

impl RowSelection {
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
    pub fn since(&self) -> Timestamp {
        self.since
    }

    /// The selected terminal, if it is still there.
    pub fn terminal<'a>(&self, view: &View<'a>) -> Option<&'a Terminal> {
        super::find(view, self.key()?)
    }

    /// The terminal that the operator has moved the cursor to; none as long as it keeps to the top.
    pub fn chosen(&self) -> Option<&TerminalKey> {
        self.key().filter(|_| self.anchor != CursorAnchor::Top)
    }

    /// Takes the operator to look at the row from now on.
    pub fn look_anew(&mut self, now: Timestamp) {
        self.since = now;
    }

    /// Whether the operator did something so lately that nothing is to be moved.
    pub fn is_held(&self, now: Timestamp) -> bool {
        now < self.held_until
    }

    /// Takes note that the operator did something: rows stay where they are.
    pub fn hold(&mut self, now: Timestamp) {
        self.held_until = now + HOLD;
    }

    /// Lets rows go to where they belong, because the operator has put them into another order.
    pub fn release(&mut self) {
        self.held_until = Timestamp::default();
    }

    /// When the cursor came to its row by itself, rather than by a key.
    pub fn slipped(&self) -> Option<Timestamp> {
        self.slipped
    }

    /// Keeps to its row from now on, as something is done with it.
    pub fn stay(&mut self) {
        if self.anchor == CursorAnchor::Top {
            self.anchor = CursorAnchor::Worked;
        }
    }

    /// Keeps to the top again, as what was done with its row is done: who never moved it goes on with the next one there,
    /// and does not follow the row that was answered down the table, out of sight of who waits.
    pub fn is_done_with(&mut self, key: &TerminalKey) {
        if self.anchor == CursorAnchor::Worked && self.key() == Some(key) {
            self.anchor = CursorAnchor::Top;
        }
    }

    /// Keeps to the top from now on, if it is there.
    pub fn stay_at_top(&mut self, rows: &[TableRow<'_>]) {
        if self.index == top(rows) {
            self.anchor = CursorAnchor::Top;
        }
    }

    /// Keeps rows and groups in their order for a while, so that the next row is still the next one. One that is new, or
    /// begins to wait for the operator, comes where it belongs.
    pub fn keep<'a>(&self, rows: Vec<TableRow<'a>>, now: Timestamp) -> Vec<TableRow<'a>> {
        if !self.is_held(now) {
            return rows;
        }
        let (stands, groups) = (rows.iter().filter_map(TableRow::item).map(Item::key), rows.iter().filter_map(group));
        let is_same = stands.eq(self.stood.iter().map(|(key, _)| key)) && groups.eq(&self.groups);
        if is_same {
            return rows;
        }
        let places: HashMap<&TerminalKey, (usize, bool)> =
            self.stood.iter().enumerate().map(|(place, (key, waited))| (key, (place, *waited))).collect();
        let mut groups: Vec<(usize, Option<TableRow<'a>>, Vec<Item<'a>>)> = Vec::new();
        for row in rows {
            match (row, groups.last_mut()) {
                (TableRow::Item(item), Some((.., members))) => members.push(item),
                (TableRow::Item(item), None) => groups.push((0, None, vec![item])),
                (TableRow::Head(head), _) => {
                    let place = self.groups.iter().position(|group| *group == head.group);
                    groups.push((place.unwrap_or(usize::MAX), Some(TableRow::Head(head)), Vec::new()));
                }
            }
        }
        groups.sort_by_key(|(place, ..)| *place);
        let in_order = |(_, head, members): (usize, Option<TableRow<'a>>, Vec<Item<'a>>)| {
            head.into_iter().chain(in_places(members, &places).into_iter().map(TableRow::Item))
        };
        groups.into_iter().flat_map(in_order).collect()
    }

    /// Follows the rows: the selected one may have moved or gone, and another one may be at the top. One that left
    /// gives the cursor to the one that stood behind it.
    pub fn follow(&mut self, rows: &[TableRow<'_>], now: Timestamp) {
        let to_top = self.anchor == CursorAnchor::Top && !self.is_held(now);
        if to_top || !self.locate(rows) {
            let index = if to_top { top(rows) } else { self.behind(rows) };
            let before = self.key.clone();
            self.put(index, rows, now);
            if before.is_some() && self.key != before {
                self.slipped = Some(now);
            }
        }
        self.groups = rows.iter().filter_map(group).cloned().collect();
        let stands = || rows.iter().filter_map(TableRow::item).map(|item| (item.key(), item.status().needs_operator()));
        if !stands().eq(self.stood.iter().map(|(key, waited)| (key, *waited))) {
            self.stood = stands().map(|(key, waits)| (key.clone(), waits)).collect();
        }
    }

    /// The place of the program that replaced the selected one in its pane, such as a task that was started again; else of the
    /// next row; else its own.
    fn behind(&self, rows: &[TableRow<'_>]) -> usize {
        let is_in =
            |key: &TerminalKey, item: Item<'_>| (&item.key().server, item.key().pane) == (&key.server, key.pane);
        let in_pane =
            self.key().and_then(|key| rows.iter().position(|row| row.item().is_some_and(|item| is_in(key, item))));
        if let Some(place) = in_pane {
            return place;
        }
        let from = self.stood.iter().position(|(key, _)| Some(key) == self.key()).map_or(usize::MAX, |place| place + 1);
        let place = |key: &TerminalKey| rows.iter().position(|row| row.item().is_some_and(|item| item.key() == key));
        let next = self.stood.iter().skip(from).find_map(|(key, _)| place(key));
        next.unwrap_or(self.index.min(rows.len().saturating_sub(1)))
    }

    /// Finds the place of the selected row. Returns whether it is there.
    pub fn locate(&mut self, rows: &[TableRow<'_>]) -> bool {
        let found = self.key.as_ref().and_then(|key| rows.iter().position(|row| row.is(key)));
        self.index = found.unwrap_or(self.index);
        found.is_some()
    }

    /// Selects the row at an index, or nothing when there is none.
    pub fn select(&mut self, index: usize, rows: &[TableRow<'_>], now: Timestamp) {
        self.put(index, rows, now);
        (self.anchor, self.slipped) = (CursorAnchor::Row, None);
        self.walked.clear();
    }

    fn put(&mut self, index: usize, rows: &[TableRow<'_>], now: Timestamp) {
        let key = rows.get(index).map(TableRow::key);
        if key != self.key {
            self.since = now;
        }
        (self.key, self.index) = (key, index);
    }

    /// Moves by a number of rows, and stops at both ends.
    pub fn step(&mut self, rows_down: isize, rows: &[TableRow<'_>], now: Timestamp) {
        let index = self.index.saturating_add_signed(rows_down).min(rows.len().saturating_sub(1));
        self.select(index, rows, now);
    }

    /// Takes note of a key. The one before it, which may have gone to the next that waits, is no longer the last.
    pub fn begin_key(&mut self) {
        self.went_on = [self.went_on[1], false];
    }

    /// The next of those that wait, given most urgent first: the first that this has not led to since another key was pressed or
    /// the cursor moved. So the most urgent one comes first wherever the cursor is, and one that comes up meanwhile is next. It
    /// begins again once one was answered or all were visited, without those that have finished, which were seen on the way.
    pub fn next_of<'a>(&mut self, queue: &[Item<'a>]) -> Option<Item<'a>> {
        let here = self.key().cloned();
        let goes_on = self.went_on.contains(&true);
        if !goes_on || self.walked.last().map(|walked| &walked.key) != here.as_ref() {
            self.walked.clear();
        }
        self.went_on[1] = true;
        let waits = |key: &TerminalKey| queue.iter().any(|item| item.key() == key && item.status().needs_operator());
        if self.walked.iter().any(|walked| walked.status.needs_operator() && !waits(&walked.key)) {
            self.walked.retain(|walked| walked.status == Status::Finished);
        }
        let next = queue.iter().find(|item| !self.walked.iter().any(|walked| walked.is(item)));
        if next.is_some() {
            return next.copied();
        }
        self.walked.retain(|walked| walked.status == Status::Finished);
        queue.iter().find(|item| item.status() != Status::Finished).copied()
    }

    /// Takes the selected row for one that the way through those that should be looked at has led to, whatever was
    /// pressed there.
    pub fn has_looked_at(&mut self, selected: Item<'_>) {
        self.went_on = [true, false];
        if self.walked.last().is_none_or(|walked| walked.key != *selected.key()) {
            self.walked = vec![Walked::of(selected)];
        }
    }

    /// The one before the selected row of those that need the operator, around the end.
    pub fn previous_of<'a>(&self, queue: &[Item<'a>]) -> Option<Item<'a>> {
        let here = queue.iter().position(|item| Some(item.key()) == self.key());
        let before = here.and_then(|here| here.checked_sub(1)).and_then(|before| queue.get(before));
        before.or(queue.last()).copied()
    }

    /// Selects a row on the way through those that need the operator.
    pub fn walk_to(&mut self, index: usize, rows: &[TableRow<'_>], now: Timestamp) {
        let mut walked = std::mem::take(&mut self.walked);
        self.select(index, rows, now);
        let item = rows.get(index).and_then(TableRow::item);
        walked.extend(item.map(Walked::of));
        self.walked = walked;
    }
}

/// The group that a row is the head of.
fn group<'a>(row: &'a TableRow<'_>) -> Option<&'a Group> {
    match row {
        TableRow::Head(head) => Some(&head.group),
        TableRow::Item(_) => None,
    }
}

/// The members of a group in the order in which they stood. One that is new, or waits only now, comes behind the one
/// that it belongs behind.
fn in_places<'a>(members: Vec<Item<'a>>, places: &HashMap<&TerminalKey, (usize, bool)>) -> Vec<Item<'a>> {
    let place = |item: &Item<'a>| {
        let (place, waited) = places.get(item.key()).copied()?;
        Some(place).filter(|_| waited || !item.status().needs_operator())
    };
    let mut ordered: Vec<Item<'a>> = members.iter().copied().filter(|item| place(item).is_some()).collect();
    ordered.sort_by_key(place);
    let mut before: Option<&TerminalKey> = None;
    for item in members {
        if place(&item).is_none() {
            let at = before.and_then(|before| ordered.iter().position(|other| other.key() == before));
            ordered.insert(at.map_or(0, |at| at + 1), item);
        }
        before = Some(item.key());
    }
    ordered
}

/// The first row that is about something: the head of an open group is above it.
fn top(rows: &[TableRow<'_>]) -> usize {
    usize::from(matches!(rows, [TableRow::Head(head), TableRow::Item(_), ..] if !head.folded))
}
