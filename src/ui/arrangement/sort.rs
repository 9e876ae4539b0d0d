//! What the rows of the table can be sorted by.

use serde::{Deserialize, Serialize};

use crate::state::FactName;
use crate::ui::item::{Item, Measure};

/// What the rows are sorted by. Equals stand in the order of their names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sort {
    /// The most urgent first, and of those the one that has waited longest.
    #[default]
    Attention,
    Name,
    /// Their state: working, ready, and then by how urgently it needs the operator.
    Phase,
    /// How long they have been doing that, longest first.
    Age,
    Agent,
    Host,
    Model,
    /// The one with the least context left first.
    Context,
    /// The one with the most of its plan to do first.
    Plan,
    /// The one that used the most first.
    Tokens,
    Cost,
}

impl Sort {
    /// All of them, in the order in which one key goes through them.
    pub const ALL: [Self; 11] = [
        Self::Attention,
        Self::Name,
        Self::Phase,
        Self::Age,
        Self::Agent,
        Self::Host,
        Self::Model,
        Self::Context,
        Self::Plan,
        Self::Tokens,
        Self::Cost,
    ];

    /// What stands first, in a few words.
    pub const fn explanation(self) -> &'static str {
        match self {
            Self::Attention => "who needs you first, the longest wait on top",
            Self::Name => "from a to z",
            Self::Phase => "working first, then ready, then what needs you",
            Self::Age => "longest in its state first",
            Self::Agent => "from a to z",
            Self::Host => "servers and hosts from a to z",
            Self::Model => "from a to z",
            Self::Context => "least context left first",
            Self::Plan => "most left to do first",
            Self::Tokens => "most tokens used first",
            Self::Cost => "most expensive first",
        }
    }

    /// Those that say something of these items, in their order.
    pub fn of_use(items: &[Item<'_>]) -> Vec<Self> {
        let says = |sort: &Self| match (sort, sort.measure()) {
            (Self::Model, _) => items.iter().any(|item| !item.fact(FactName::Model).is_empty()),
            (_, Some(measure)) => items.iter().any(|item| measure.of(*item).is_some()),
            _ => true,
        };
        Self::ALL.into_iter().filter(says).collect()
    }

    /// The next one of some, around.
    pub fn next(self, orders: &[Self]) -> Self {
        orders.iter().copied().find(|order| *order as usize > self as usize).unwrap_or_default()
    }

    /// The one before in some, around.
    pub fn before(self, orders: &[Self]) -> Self {
        orders
            .iter()
            .rev()
            .copied()
            .find(|order| (*order as usize) < self as usize)
            .or(orders.last().copied())
            .unwrap_or_default()
    }

    pub(super) fn measure(self) -> Option<Measure> {
        match self {
            Self::Context => Some(Measure::ContextLeft),
            Self::Plan => Some(Measure::PlanDone),
            Self::Tokens => Some(Measure::Tokens),
            Self::Cost => Some(Measure::Cost),
            _ => None,
        }
    }

    /// What the dashboard calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Attention => "attention",
            Self::Name => "name",
            Self::Phase => "state",
            Self::Age => "age",
            Self::Agent => "agent",
            Self::Host => "server",
            Self::Model => "model",
            Self::Context => "context",
            Self::Plan => "plan",
            Self::Tokens => "tokens",
            Self::Cost => "cost",
        }
    }
}
