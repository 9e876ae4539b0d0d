//! What the rows of the table can be sorted by.

use serde::{Deserialize, Serialize};

use super::super::item::{Item, Measure};
use crate::state::FactName;

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

/// Each order with its name, a few words for what comes first, and the number that it compares. A key goes through them in this
/// order, which is that of [`Sort`].
const ORDERS: [(Sort, &str, &str, Option<Measure>); 11] = [
    (Sort::Attention, "attention", "who needs you first, the longest wait on top", None),
    (Sort::Name, "name", "from a to z", None),
    (Sort::Phase, "state", "working first, then ready, then what needs you", None),
    (Sort::Age, "age", "longest in its state first", None),
    (Sort::Agent, "agent", "from a to z", None),
    (Sort::Host, "server", "servers and hosts from a to z", None),
    (Sort::Model, "model", "from a to z", None),
    (Sort::Context, "context", "least context left first", Some(Measure::ContextLeft)),
    (Sort::Plan, "plan", "most left to do first", Some(Measure::PlanDone)),
    (Sort::Tokens, "tokens", "most tokens used first", Some(Measure::Tokens)),
    (Sort::Cost, "cost", "most expensive first", Some(Measure::Cost)),
];

impl Sort {
    /// All of them, in their order.
    pub fn all() -> impl Iterator<Item = Self> {
        ORDERS.iter().map(|(order, ..)| *order)
    }

    /// What the dashboard calls it.
    pub fn name(self) -> &'static str {
        ORDERS[self as usize].1
    }

    /// What stands first, in a few words.
    pub fn explanation(self) -> &'static str {
        ORDERS[self as usize].2
    }

    pub(super) fn measure(self) -> Option<Measure> {
        ORDERS[self as usize].3
    }

    /// Those that say something of these items, in their order.
    pub fn of_use(items: &[Item<'_>]) -> Vec<Self> {
        let says = |sort: &Self| match (sort, sort.measure()) {
            (Self::Model, _) => items.iter().any(|item| !item.fact(FactName::Model).is_empty()),
            (_, Some(measure)) => items.iter().any(|item| measure.of(*item).is_some()),
            _ => true,
        };
        Self::all().filter(says).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_order_has_its_own_words() {
        for (place, order) in Sort::all().enumerate() {
            assert_eq!(order as usize, place, "{order:?}");
        }
    }
}
