//! Which terminals are shown, in which order and in which groups.

mod flags;
mod rank;

use std::cmp::Ordering;
use std::collections::BTreeSet;

pub use flags::Flags;
pub use rank::waiting_since;
use rank::{natural, rank};

use super::filter::Filter;
use super::meaning::Meaning;
use crate::fleet::{Terminal, TerminalKey, View};

/// What the rows are sorted by. Equals stand in the order of their names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// The most urgent first, and of those the one that has waited longest.
    #[default]
    Attention,
    Name,
    /// What they do: working, ready, waiting, gone.
    Phase,
    /// How long they have been doing that, longest first.
    Age,
    Agent,
    Host,
}

impl Sort {
    const ALL: [Self; 6] = [Self::Attention, Self::Name, Self::Phase, Self::Age, Self::Agent, Self::Host];

    /// The next one, around.
    pub fn next(self) -> Self {
        Self::ALL[(self as usize + 1) % Self::ALL.len()]
    }

    /// What the dashboard calls it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Attention => "attention",
            Self::Name => "name",
            Self::Phase => "phase",
            Self::Age => "age",
            Self::Agent => "agent",
            Self::Host => "host",
        }
    }
}

/// What terminals are put together by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    #[default]
    None,
    Session,
    Agent,
    Host,
    /// The label that the configuration gives.
    Label,
}

impl Grouping {
    const ALL: [Self; 5] = [Self::None, Self::Session, Self::Agent, Self::Host, Self::Label];

    /// The next one, around.
    pub fn next(self) -> Self {
        Self::ALL[(self as usize + 1) % Self::ALL.len()]
    }

    /// What the dashboard calls it; nothing where there are no groups.
    pub const fn word(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Session => Some("session"),
            Self::Agent => Some("agent"),
            Self::Host => Some("host"),
            Self::Label => Some("label"),
        }
    }

    fn of(self, terminal: &Terminal) -> Group {
        match self {
            Self::None => Group::Rest,
            Self::Session => Group::Named(match &terminal.key.server.host {
                Some(host) => format!("{host}/{}", terminal.place.session),
                None => terminal.place.session.clone(),
            }),
            Self::Agent => Group::Named(terminal.state.terminal.tool.clone()),
            Self::Host => Group::Named(terminal.key.server.to_string()),
            Self::Label => terminal.declared.label.clone().map_or(Group::Rest, Group::Named),
        }
    }
}

/// A group of terminals, in the order in which groups stand.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    Pinned,
    Named(String),
    /// Those that have nothing to be grouped by, such as a label.
    Rest,
}

impl Group {
    /// What the dashboard calls it.
    pub fn title(&self) -> &str {
        match self {
            Group::Pinned => "pinned",
            Group::Named(name) => name,
            Group::Rest => "the others",
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
pub enum Row<'a> {
    Head(Head),
    Terminal(&'a Terminal),
}

/// The head of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub group: Group,
    pub terminals: usize,
    pub folded: bool,
    /// How many of the group there are of each meaning, muted ones left out.
    pub counts: [usize; Meaning::ALL.len()],
}

impl Head {
    /// Whether any terminal of the group should be looked at by the operator.
    pub fn needs_operator(&self) -> bool {
        Meaning::ALL.into_iter().any(|meaning| meaning.needs_operator() && self.counts[meaning as usize] > 0)
    }
}

impl<'a> Row<'a> {
    /// The identity of the row.
    pub fn key(&self) -> RowKey {
        match self {
            Row::Head(head) => RowKey::Head(head.group.clone()),
            Row::Terminal(terminal) => RowKey::Terminal(terminal.key.clone()),
        }
    }

    /// Whether it is the row with an identity.
    pub fn is(&self, key: &RowKey) -> bool {
        match (self, key) {
            (Row::Head(head), RowKey::Head(group)) => head.group == *group,
            (Row::Terminal(terminal), RowKey::Terminal(key)) => terminal.key == *key,
            _ => false,
        }
    }

    /// The terminal of the row, if it is not a head.
    pub fn terminal(&self) -> Option<&'a Terminal> {
        match self {
            Row::Head(_) => None,
            Row::Terminal(terminal) => Some(terminal),
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
    folded: BTreeSet<Group>,
}

/// A terminal with what it is sorted by.
struct Placed<'a> {
    terminal: &'a Terminal,
    group: Group,
    rank: usize,
}

impl Arrangement {
    /// The rows, top first.
    pub fn rows<'a>(&self, view: &View<'a>) -> Vec<Row<'a>> {
        let mut placed: Vec<Placed<'a>> = self.shown(view).map(|terminal| self.placed(terminal)).collect();
        placed.sort_by(|a, b| self.compare(a, b));
        if self.grouping == Grouping::None {
            return placed.into_iter().map(|placed| Row::Terminal(placed.terminal)).collect();
        }
        let mut rows = Vec::with_capacity(placed.len() + 8);
        for members in placed.chunk_by(|a, b| a.group == b.group) {
            let group = members[0].group.clone();
            let folded = self.folded.contains(&group);
            let mut counts = [0; Meaning::ALL.len()];
            for member in members.iter().filter(|member| !self.flags.is_muted(member.terminal)) {
                counts[Meaning::of(&member.terminal.state) as usize] += 1;
            }
            rows.push(Row::Head(Head { group, terminals: members.len(), folded, counts }));
            if !folded {
                rows.extend(members.iter().map(|member| Row::Terminal(member.terminal)));
            }
        }
        rows
    }

    /// The terminals that the filter lets through, in no particular order; those in folded groups, too.
    pub fn shown<'a>(&self, view: &View<'a>) -> impl Iterator<Item = &'a Terminal> {
        let mut fits = self.filter.matcher(&self.flags);
        view.terminals.clone().into_iter().filter(move |terminal| fits(terminal))
    }

    /// The group that a terminal is shown in, if there are groups.
    pub fn group_of(&self, terminal: &Terminal) -> Option<Group> {
        (self.grouping != Grouping::None).then(|| self.placed(terminal).group)
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

    /// Folds all groups, or unfolds them when all of them are folded.
    pub fn fold_all(&mut self, view: &View<'_>) {
        let groups: BTreeSet<Group> = self.shown(view).filter_map(|terminal| self.group_of(terminal)).collect();
        let all_folded = groups.iter().all(|group| self.folded.contains(group));
        self.folded = if all_folded { BTreeSet::new() } else { groups };
    }

    /// Whether a terminal should be looked at by the operator. A muted one never says so.
    pub fn needs_operator(&self, terminal: &Terminal) -> bool {
        !self.flags.is_muted(terminal) && Meaning::of(&terminal.state).needs_operator()
    }

    fn placed<'a>(&self, terminal: &'a Terminal) -> Placed<'a> {
        let pinned = self.flags.is_pinned(terminal);
        let group = match self.grouping {
            _ if pinned => Group::Pinned,
            grouping => grouping.of(terminal),
        };
        Placed { terminal, group, rank: rank(terminal, self.flags.is_muted(terminal)) }
    }

    fn compare(&self, a: &Placed<'_>, b: &Placed<'_>) -> Ordering {
        let since = |a: &Placed<'_>| a.terminal.state.turn.since;
        let groups = match (&a.group, &b.group) {
            (Group::Named(a), Group::Named(b)) => natural(a, b).then_with(|| a.cmp(b)),
            (a, b) => a.cmp(b),
        };
        let sorted = match self.sort {
            Sort::Attention => a.rank.cmp(&b.rank).then_with(|| {
                let waits = |a: &Placed<'_>| waiting_since(a.terminal).filter(|_| self.needs_operator(a.terminal));
                waits(a).cmp(&waits(b))
            }),
            Sort::Name => Ordering::Equal,
            Sort::Phase => rank::phase(&a.terminal.state).cmp(&rank::phase(&b.terminal.state)),
            Sort::Age => since(a).cmp(&since(b)),
            Sort::Agent => natural(&super::table::agent(a.terminal), &super::table::agent(b.terminal)),
            Sort::Host => a.terminal.key.server.cmp(&b.terminal.key.server),
        };
        let name = || natural(&a.terminal.state.terminal.id, &b.terminal.state.terminal.id);
        groups.then(sorted).then_with(name).then_with(|| a.terminal.key.cmp(&b.terminal.key))
    }
}
