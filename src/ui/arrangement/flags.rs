//! What the operator has said of single terminals: marked, pinned, muted. It lasts as long as the dashboard.

use std::collections::{BTreeMap, BTreeSet};

use super::item::Item;
use crate::fleet::{Terminal, TerminalKey, View};

/// Marks, pins and mutes. Pins and mutes begin with what the configuration says.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    marked: BTreeSet<TerminalKey>,
    pinned: BTreeMap<TerminalKey, bool>,
    muted: BTreeMap<TerminalKey, bool>,
}

impl Flags {
    /// Whether a terminal is among those that are acted on together.
    pub fn is_marked<'a>(&self, item: impl Into<Item<'a>>) -> bool {
        let item = item.into();
        self.marked.contains(item.key())
    }

    /// Whether a terminal stands at the top.
    pub fn is_pinned<'a>(&self, item: impl Into<Item<'a>>) -> bool {
        let item = item.into();
        self.pinned.get(item.key()).copied().unwrap_or(item.declared().0)
    }

    /// Whether a terminal never counts as needing the operator.
    pub fn is_muted<'a>(&self, item: impl Into<Item<'a>>) -> bool {
        let item = item.into();
        self.muted.get(item.key()).copied().unwrap_or(item.declared().1)
    }

    /// How many are marked, tasks included.
    pub fn count(&self) -> usize {
        self.marked.len()
    }

    /// The marked terminals that are in the fleet, in its order.
    pub fn marked<'a>(&self, view: &View<'a>) -> Vec<&'a Terminal> {
        view.terminals.iter().copied().filter(|terminal| self.is_marked(*terminal)).collect()
    }

    /// Marks terminals.
    pub fn mark<'a>(&mut self, items: impl IntoIterator<Item = Item<'a>>) {
        self.marked.extend(items.into_iter().map(|item| item.key().clone()));
    }

    /// Marks a terminal, or takes its mark away.
    pub fn toggle_mark<'a>(&mut self, item: impl Into<Item<'a>>) {
        let item = item.into();
        if !self.marked.remove(item.key()) {
            self.marked.insert(item.key().clone());
        }
    }

    /// Takes all marks away.
    pub fn unmark_all(&mut self) {
        self.marked.clear();
    }

    /// Pins a terminal, or lets it go. Returns whether it is pinned now.
    pub fn toggle_pin<'a>(&mut self, item: impl Into<Item<'a>>) -> bool {
        let item = item.into();
        let pinned = !self.is_pinned(item);
        self.pinned.insert(item.key().clone(), pinned);
        pinned
    }

    /// Mutes a terminal, or gives it its voice back. Returns whether it is muted now.
    pub fn toggle_mute<'a>(&mut self, item: impl Into<Item<'a>>) -> bool {
        let item = item.into();
        let muted = !self.is_muted(item);
        self.muted.insert(item.key().clone(), muted);
        muted
    }

    /// Forgets the marks of terminals that have left the fleet.
    pub fn follow(&mut self, view: &View<'_>) {
        if !self.marked.is_empty() {
            let there = |key: &TerminalKey| {
                view.terminals.iter().any(|terminal| terminal.key == *key)
                    || view.tasks.iter().any(|task| task.key == *key)
            };
            self.marked.retain(there);
        }
    }
}
