//! Which terminals are shown, in which order and in which groups, and which bells of tasks were seen.

mod sort;

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use super::columns::{ChosenColumns, ColumnLayout};
use super::filter::{Filter, Unclear};
use super::flags::Flags;
use super::item::{Item, ItemCounts};
use crate::fleet::{TerminalKey, View};
use crate::state::FactName;
use crate::status::Status;
use crate::task::Task;
use crate::time::Timestamp;

pub use sort::Sort;

/// What terminals are put together by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grouping {
    #[default]
    None,
    Session,
    Agent,
    Host,
    /// The label that the operator or the configuration gives.
    Label,
    /// The repository around its directory, of which linked working trees are a part.
    Repository,
}

impl Grouping {
    /// Every choice.
    pub const ALL: [Self; 6] = [Self::None, Self::Session, Self::Agent, Self::Host, Self::Label, Self::Repository];

    /// Its name in the dashboard; `None` without groups.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Session => Some("session"),
            Self::Agent => Some("agent"),
            Self::Host => Some("server"),
            Self::Label => Some("label"),
            Self::Repository => Some("repository"),
        }
    }

    fn of(self, item: Item<'_>) -> Group {
        match self {
            Self::None => Group::Rest,
            Self::Session => Group::Named(match &item.key().server.host {
                Some(host) => format!("{host}/{}", item.session()),
                None => item.session().to_owned(),
            }),
            Self::Agent => Group::Named(item.tool().to_owned()),
            Self::Host => Group::Named(item.key().server.to_string()),
            Self::Label => item.label().map_or(Group::Rest, |label| Group::Named(label.to_owned())),
            Self::Repository => item.git().map_or(Group::Outside, |git| Group::Named(git.repository().to_owned())),
        }
    }
}

/// A group of terminals, in the order in which groups stand.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    Pinned,
    Named(String),
    /// Rows alone in their groups: each head would double its row.
    Alone,
    /// Those that have no label.
    Rest,
    /// Those that are in no repository.
    Outside,
}

impl Group {
    /// What the dashboard calls it.
    pub fn title(&self) -> &str {
        match self {
            Group::Pinned => "pinned",
            Group::Named(name) => name,
            Group::Alone => "one each",
            Group::Rest => "no label",
            Group::Outside => "no repository",
        }
    }
}

/// The identity of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowKey {
    Head(Group),
    Terminal(TerminalKey),
}

/// A row of the table.
#[derive(Clone, Debug)]
pub enum TableRow<'a> {
    Head(Head),
    Item(Item<'a>),
}

/// The head of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub group: Group,
    pub terminals: usize,
    pub folded: bool,
    pub marked: usize,
    /// How many of the group there are of each status, muted ones left out.
    pub counts: ItemCounts,
    /// How many of those should be looked at.
    pub worth_a_look: ItemCounts,
}

impl Head {
    /// How many of each status it shows. A folded head counts everything, an open one only what should be looked at: the
    /// rest stands below it.
    pub fn shown(&self) -> &ItemCounts {
        if self.folded { &self.counts } else { &self.worth_a_look }
    }
}

impl<'a> TableRow<'a> {
    /// The identity of the row.
    pub fn key(&self) -> RowKey {
        match self {
            TableRow::Head(head) => RowKey::Head(head.group.clone()),
            TableRow::Item(item) => RowKey::Terminal(item.key().clone()),
        }
    }

    /// Whether it is the row with an identity.
    pub fn is(&self, key: &RowKey) -> bool {
        match (self, key) {
            (TableRow::Head(head), RowKey::Head(group)) => head.group == *group,
            (TableRow::Item(item), RowKey::Terminal(key)) => item.key() == key,
            _ => false,
        }
    }

    /// What the row is about, if it is not a head.
    pub fn item(&self) -> Option<Item<'a>> {
        match self {
            TableRow::Head(_) => None,
            TableRow::Item(item) => Some(*item),
        }
    }
}

/// How the operator wants the terminals to be shown.
#[derive(Clone, Debug, Default)]
pub struct Arrangement {
    pub sort: Sort,
    pub grouping: Grouping,
    pub filter: Filter,
    pub flags: Flags,
    pub columns: ChosenColumns,
    folded: BTreeSet<Group>,
    order: RefCell<Option<RowOrder>>,
}

/// What the order of the rows follows from: the version of the view, and how they are to be shown.
type OrderOf = (u64, Sort, Grouping, (String, BTreeSet<TerminalKey>), Flags);

/// The order that was worked out last: a key moves the cursor, and the rows stay.
#[derive(Clone, Debug)]
struct RowOrder {
    of: OrderOf,
    /// Places among all items, and groups.
    rows: Vec<(usize, Group)>,
}

/// A terminal or task with its group.
type Grouped<'a> = (Item<'a>, Group);

/// A terminal or task with what it is sorted by.
struct Placed<'a> {
    /// Its place among all.
    place: usize,
    item: Item<'a>,
    group: Group,
    key: SortKey,
}

/// The values that an order compares, computed once for each row. Values that it ignores are equal in all rows.
#[derive(Default)]
struct SortKey {
    /// How urgent it is, or which state it has.
    rank: (usize, bool),
    /// Since when the operator is waited for, or since when it is as it is.
    since: Option<Timestamp>,
    /// The least first, and what is not known last.
    measure: Option<f64>,
    /// From a to z, and what is not known last.
    text: String,
}

impl Arrangement {
    /// The rows, top first.
    pub fn rows<'a>(&self, view: &View<'a>) -> Vec<TableRow<'a>> {
        if self.grouping == Grouping::None {
            return self.ungrouped(view);
        }
        let placed = self.in_order(view, self.grouping);
        let mut groups: Vec<&[Grouped<'a>]> = placed.chunk_by(|a, b| a.1 == b.1).collect();
        if self.sort == Sort::Attention {
            // The most urgent member stands first in its group.
            groups.sort_by_key(|members| (members[0].1 != Group::Pinned, self.place_in_queue(members[0].0)));
        }
        let mut rows = Vec::with_capacity(placed.len() + groups.len());
        for members in groups {
            let group = members[0].1.clone();
            let folded = self.folded.contains(&group);
            let (mut counts, mut worth_a_look) = (ItemCounts::default(), ItemCounts::default());
            for (member, _) in members.iter().filter(|(member, _)| !self.flags.is_muted(*member)) {
                counts.add(*member);
                if member.status().wants_a_look() {
                    worth_a_look.add(*member);
                }
            }
            let marked = members.iter().filter(|(member, _)| self.flags.is_marked(*member)).count();
            rows.push(TableRow::Head(Head { group, terminals: members.len(), folded, marked, counts, worth_a_look }));
            if !folded {
                rows.extend(members.iter().map(|(member, _)| TableRow::Item(*member)));
            }
        }
        rows
    }

    fn of(&self, version: Option<u64>, grouping: Grouping) -> Option<OrderOf> {
        let filter = (self.filter.text().to_owned(), self.filter.kept().clone());
        let version = version.filter(|_| !self.filter.is_timed())?;
        Some((version, self.sort, grouping, filter, self.flags.clone()))
    }

    /// The columns of a table so wide.
    pub fn layout(&self, width: usize, view: &View<'_>) -> ColumnLayout {
        ColumnLayout::new(width, &self.columns, view.servers.len() > 1)
    }

    /// The rows without groups, top first; pinned ones come before all others.
    pub fn ungrouped<'a>(&self, view: &View<'a>) -> Vec<TableRow<'a>> {
        self.in_order(view, Grouping::None).into_iter().map(|(item, _)| TableRow::Item(item)).collect()
    }

    fn in_order<'a>(&self, view: &View<'a>, grouping: Grouping) -> Vec<Grouped<'a>> {
        let all = Item::all(view);
        let of = self.of(view.version, grouping);
        if let Some(order) = self.order.borrow().as_ref().filter(|order| Some(&order.of) == of.as_ref()) {
            return order.rows.iter().map(|(place, group)| (all[*place], group.clone())).collect();
        }
        let fits = |item: Item<'_>| self.filter.lets(item, &self.flags, view.now);
        let alone = self.alone(&all, grouping);
        let mut shown: Vec<Option<Placed<'a>>> = all
            .into_iter()
            .enumerate()
            .map(|(place, item)| fits(item).then(|| self.placed(place, item, grouping)))
            .collect();
        let mut placed = Vec::with_capacity(shown.len());
        // What is sorted already but for a few rows is sorted with few comparisons.
        if let Some(before) = self.order.borrow().as_ref() {
            placed.extend(before.rows.iter().filter_map(|(place, _)| shown.get_mut(*place)?.take()));
        }
        placed.extend(shown.into_iter().flatten());
        for row in placed.iter_mut().filter(|row| alone.contains(&row.group)) {
            row.group = Group::Alone;
        }
        placed.sort_by(|a, b| self.compare(a, b));
        let rows = || placed.iter().map(|placed| (placed.place, placed.group.clone())).collect();
        self.order.replace(of.map(|of| RowOrder { of, rows: rows() }));
        placed.into_iter().map(|placed| (placed.item, placed.group)).collect()
    }

    /// The groups with one member of all that there are, whatever the filter hides; none where it is the only such group.
    fn alone(&self, all: &[Item<'_>], grouping: Grouping) -> BTreeSet<Group> {
        let mut members: BTreeMap<Group, usize> = BTreeMap::new();
        if grouping != Grouping::None {
            all.iter().for_each(|item| *members.entry(self.group(*item, grouping)).or_default() += 1);
        }
        members.retain(|group, count| *count == 1 && matches!(group, Group::Named(_)));
        if members.len() > 1 { members.into_keys().collect() } else { BTreeSet::new() }
    }

    /// What the filter lets through, in no particular order; what is in folded groups, too.
    pub fn shown<'a>(&self, view: &View<'a>) -> impl Iterator<Item = Item<'a>> {
        let now = view.now;
        Item::all(view).into_iter().filter(move |item| self.filter.lets(*item, &self.flags, now))
    }

    /// The fault of the filter, if any; a word that looks like a field may be part of a name.
    pub fn filter_doubt(&self, view: &View<'_>) -> Option<Unclear> {
        let is_word = |doubt: &Unclear| matches!(doubt, Unclear::Field(_) | Unclear::Name(_));
        let is_of_use = |doubt: &Unclear| !is_word(doubt) || self.shown(view).next().is_none();
        self.filter.doubt(view).filter(is_of_use)
    }

    /// How many terminals the filter lets through, or what is wrong with it.
    pub fn filter_note(&self, view: &View<'_>) -> String {
        if let Some(doubt) = self.filter_doubt(view) {
            return doubt.in_short();
        }
        format!("{} of {}", self.shown(view).count(), view.terminals.len() + view.tasks.len())
    }

    /// How many of these the filter hides.
    pub fn hidden(&self, items: &[Item<'_>], view: &View<'_>) -> usize {
        items.iter().filter(|item| !self.filter.lets(**item, &self.flags, view.now)).count()
    }

    /// The group that a terminal is shown in, if there are groups.
    pub fn group_of(&self, view: &View<'_>, key: &TerminalKey) -> Option<Group> {
        let is_grouped = self.grouping != Grouping::None;
        let rows = is_grouped.then(|| self.in_order(view, self.grouping))?;
        rows.into_iter().find(|(item, _)| item.key() == key).map(|(_, group)| group)
    }

    /// Folds or unfolds a group.
    pub fn fold(&mut self, group: &Group, fold: bool) {
        if fold {
            self.folded.insert(group.clone());
        } else {
            self.folded.remove(group);
        }
    }

    /// Whether a group is folded.
    pub fn is_folded(&self, group: &Group) -> bool {
        self.folded.contains(group)
    }

    /// Whether a terminal should be looked at by the operator. A muted one never says so.
    pub fn wants_a_look(&self, item: Item<'_>) -> bool {
        !self.flags.is_muted(item) && item.status().wants_a_look()
    }

    /// Whether a terminal waits for the operator: what the header counts as needing you. A muted one never does.
    pub fn needs_operator(&self, item: Item<'_>) -> bool {
        !self.flags.is_muted(item) && item.status().needs_operator()
    }

    /// Rows that the operator goes to, however they are sorted: those that wait, the longest wait first. If none waits, those
    /// worth a look, most urgent first; what has finished comes last.
    pub fn queue<'a>(&self, view: &View<'a>) -> Vec<Item<'a>> {
        let mut queue: Vec<Item<'a>> = self.shown(view).filter(|item| self.wants_a_look(*item)).collect();
        if queue.iter().any(|item| self.needs_operator(*item)) {
            queue.retain(|item| self.needs_operator(*item));
        }
        let placed = queue.into_iter().map(|item| (self.place_in_queue(item), item));
        let mut placed: Vec<_> = placed.collect();
        // As the rows stand that wait equally long.
        placed.sort_by(|(a, one), (b, other)| a.cmp(b).then_with(|| by_name(*one, *other)));
        placed.into_iter().map(|(_, item)| item).collect()
    }

    /// The order of the queue. Rows that nobody should look at come last and equal.
    fn place_in_queue(&self, item: Item<'_>) -> ((usize, bool), Option<Timestamp>) {
        match self.wants_a_look(item) {
            true => (rank(item, false), item.waiting_since()),
            false => ((usize::MAX, true), None),
        }
    }

    /// The members of a group in the order in which they stand in it, whether it is folded or not.
    pub fn members<'a>(&self, view: &View<'a>, group: &Group) -> Vec<Item<'a>> {
        let placed = self.in_order(view, self.grouping).into_iter();
        placed.filter(|(_, of)| of == group).map(|(item, _)| item).collect()
    }

    fn group(&self, item: Item<'_>, grouping: Grouping) -> Group {
        if self.flags.is_pinned(item) { Group::Pinned } else { grouping.of(item) }
    }

    fn placed<'a>(&self, place: usize, item: Item<'a>, grouping: Grouping) -> Placed<'a> {
        let mut key = SortKey::default();
        match self.sort {
            Sort::Attention => {
                key.rank = rank(item, self.flags.is_muted(item));
                key.since = item.waiting_since().filter(|_| self.wants_a_look(item));
            }
            Sort::Phase => key.rank.0 = phase(item),
            Sort::Age => key.since = Some(item.since().at),
            Sort::Agent => key.text = item.agent(),
            Sort::Model => key.text = item.fact(FactName::Model),
            Sort::Context | Sort::Plan | Sort::Tokens | Sort::Cost => {
                let value = self.sort.measure().and_then(|it| Some((it, it.of(item)?)));
                key.measure = value.map(|(it, value)| if it.is_worth_when_small() { value } else { -value });
            }
            Sort::Name | Sort::Host => {}
        }
        Placed { place, item, group: self.group(item, grouping), key }
    }

    fn compare(&self, a: &Placed<'_>, b: &Placed<'_>) -> Ordering {
        let groups = match (&a.group, &b.group) {
            (Group::Named(a), Group::Named(b)) => natural(a, b).then_with(|| a.cmp(b)),
            (a, b) => a.cmp(b),
        };
        let ((one, it), (other, that)) = ((&a.key, a.item), (&b.key, b.item));
        let measures = one.measure.is_none().cmp(&other.measure.is_none());
        let measures = measures.then(one.measure.unwrap_or(0.0).total_cmp(&other.measure.unwrap_or(0.0)));
        let texts = || one.text.is_empty().cmp(&other.text.is_empty()).then_with(|| natural(&one.text, &other.text));
        let hosts = || if self.sort == Sort::Host { it.key().server.cmp(&that.key().server) } else { Ordering::Equal };
        let sorted = groups.then(one.rank.cmp(&other.rank)).then(one.since.cmp(&other.since)).then(measures);
        sorted.then_with(texts).then_with(hosts).then_with(|| by_name(it, that))
    }
}

/// The order of rows that are alike in all else.
fn by_name(a: Item<'_>, b: Item<'_>) -> Ordering {
    natural(a.id(), b.id()).then_with(|| a.key().cmp(b.key()))
}

/// The place of a terminal by how urgently it needs the operator; the lowest comes first. A muted terminal has its place
/// among those that need nobody. Of those that cannot be read, the ones that may still ask something come first.
fn rank(item: Item<'_>, muted: bool) -> (usize, bool) {
    if muted { (Status::Ready.urgency(), false) } else { (item.status().urgency(), !item.asked_before()) }
}

/// The place of a terminal by its state: those that say the same stand together.
fn phase(item: Item<'_>) -> usize {
    match item.status() {
        Status::Working | Status::Running => 0,
        Status::Ready => 1,
        other => 2 + other.urgency(),
    }
}

/// Compares names as people do: without regard to case, and numbers by their value, so that `api-9` comes before
/// `api-10`.
fn natural(mut a: &str, mut b: &str) -> Ordering {
    // Names of one fleet begin alike for the most part; a number is compared as a whole.
    let alike = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y && x.is_ascii() && !x.is_ascii_digit()).count();
    (a, b) = (&a[alike..], &b[alike..]);
    loop {
        let (Some(x), Some(y)) = (a.chars().next(), b.chars().next()) else {
            return b.is_empty().cmp(&a.is_empty());
        };
        let order = if x.is_ascii_digit() && y.is_ascii_digit() {
            let (x, y) = (number(&mut a), number(&mut b));
            x.len().cmp(&y.len()).then_with(|| x.cmp(y))
        } else {
            (a, b) = (&a[x.len_utf8()..], &b[y.len_utf8()..]);
            match x.is_ascii() && y.is_ascii() {
                true => x.to_ascii_lowercase().cmp(&y.to_ascii_lowercase()),
                false => x.to_lowercase().cmp(y.to_lowercase()),
            }
        };
        if order.is_ne() {
            return order;
        }
    }
}

/// Takes the digits that come next out of a text. Without leading zeros the longer one is the larger number.
fn number<'a>(text: &mut &'a str) -> &'a str {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    *text = rest;
    digits.trim_start_matches('0')
}

/// The tasks that rang.
#[derive(Clone, Debug, Default)]
pub struct Bells {
    of: HashMap<TerminalKey, Heard>,
}

/// The bells of one task.
#[derive(Clone, Debug, Default)]
struct Heard {
    rung: u64,
    /// When the last one was noticed.
    at: Timestamp,
    seen: u64,
}

impl Bells {
    /// Takes note of what has rung. A task that runs again starts counting from zero.
    pub fn follow(&mut self, view: &View<'_>) {
        let mut before = std::mem::take(&mut self.of);
        for task in view.tasks.iter().filter(|task| rung(task) > 0) {
            let mut heard = before.remove(&task.key).unwrap_or_default();
            let rung = rung(task);
            if rung > heard.rung {
                heard.at = view.now;
            }
            (heard.rung, heard.seen) = (rung, heard.seen.min(rung));
            self.of.insert(task.key.clone(), heard);
        }
    }

    /// How often a task has rung since the operator last saw it.
    pub fn unseen(&self, task: &Task) -> u64 {
        rung(task).saturating_sub(self.of.get(&task.key).map_or(0, |heard| heard.seen))
    }

    /// When a task last rang, unless the operator has seen it since.
    pub fn unseen_since(&self, key: &TerminalKey) -> Option<Timestamp> {
        self.of.get(key).filter(|heard| heard.rung > heard.seen).map(|heard| heard.at)
    }

    /// The operator has seen a task.
    pub fn mark_seen(&mut self, key: &TerminalKey) {
        if let Some(heard) = self.of.get_mut(key) {
            heard.seen = heard.rung;
        }
    }
}

fn rung(task: &Task) -> u64 {
    task.bells.max(u64::from(task.bell))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_as_people_do() {
        let mut names =
            ["api-10", "Web", "api-9", "api", "api-09b", "1", "étude", "api-123456789012345678901234567890"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(
            names,
            ["1", "api", "api-9", "api-09b", "api-10", "api-123456789012345678901234567890", "Web", "étude"]
        );
    }
}
