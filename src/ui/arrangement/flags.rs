//! What the operator has said of single terminals: marked, pinned, muted. It lasts as long as the dashboard.

use std::collections::{BTreeMap, BTreeSet};

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
    pub fn is_marked(&self, terminal: &Terminal) -> bool {
        self.marked.contains(&terminal.key)
    }

    /// Whether a terminal stands at the top.
    pub fn is_pinned(&self, terminal: &Terminal) -> bool {
        self.pinned.get(&terminal.key).copied().unwrap_or(terminal.declared.pinned)
    }

    /// Whether a terminal never counts as needing the operator.
    pub fn is_muted(&self, terminal: &Terminal) -> bool {
        self.muted.get(&terminal.key).copied().unwrap_or(terminal.declared.muted)
    }

    /// The marked terminals that are in the fleet, in its order.
    pub fn marked<'a>(&self, view: &View<'a>) -> Vec<&'a Terminal> {
        view.terminals.iter().copied().filter(|terminal| self.is_marked(terminal)).collect()
    }

    /// Marks terminals.
    pub fn mark<'a>(&mut self, terminals: impl IntoIterator<Item = &'a Terminal>) {
        self.marked.extend(terminals.into_iter().map(|terminal| terminal.key.clone()));
    }

    /// Marks a terminal, or takes its mark away.
    pub fn toggle_mark(&mut self, terminal: &Terminal) {
        if !self.marked.remove(&terminal.key) {
            self.marked.insert(terminal.key.clone());
        }
    }

    /// Takes all marks away. Returns whether there were any.
    pub fn unmark_all(&mut self) -> bool {
        !std::mem::take(&mut self.marked).is_empty()
    }

    /// Pins a terminal, or lets it go. Returns whether it is pinned now.
    pub fn toggle_pin(&mut self, terminal: &Terminal) -> bool {
        let pinned = !self.is_pinned(terminal);
        self.pinned.insert(terminal.key.clone(), pinned);
        pinned
    }

    /// Mutes a terminal, or gives it its voice back. Returns whether it is muted now.
    pub fn toggle_mute(&mut self, terminal: &Terminal) -> bool {
        let muted = !self.is_muted(terminal);
        self.muted.insert(terminal.key.clone(), muted);
        muted
    }

    /// Forgets the marks of terminals that have left the fleet.
    pub fn follow(&mut self, view: &View<'_>) {
        if !self.marked.is_empty() {
            self.marked.retain(|key| view.terminals.iter().any(|terminal| terminal.key == *key));
        }
    }
}
