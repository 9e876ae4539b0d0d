//! The operator's flags on terminals in the dashboard: marked, pinned, muted.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::item::Item;
use crate::fleet::{ServerHealth, TerminalKey, View};
use crate::time::{Span, Timestamp};

/// Marks, pins and mutes, and what prompts were begun for. Pins and mutes begin with what the configuration says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    drafted: BTreeSet<TerminalKey>,
    marked: BTreeSet<TerminalKey>,
    /// Marked terminals whose act is under way.
    worked_on: BTreeSet<TerminalKey>,
    chosen: ChosenFlags,
    /// When the fleet was first followed.
    begun: Option<Timestamp>,
}

/// What the operator has pinned and muted, or not, other than the configuration says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChosenFlags {
    #[serde(with = "pairs")]
    pinned: BTreeMap<TerminalKey, bool>,
    #[serde(with = "pairs")]
    muted: BTreeMap<TerminalKey, bool>,
}

impl ChosenFlags {
    /// These, with what another dashboard has changed since both knew `base`.
    pub fn merged(&self, base: &Self, theirs: &Self) -> Self {
        let merge =
            |ours: &BTreeMap<TerminalKey, bool>, base: &BTreeMap<TerminalKey, bool>, theirs: &BTreeMap<_, _>| {
                let keys: BTreeSet<&TerminalKey> = ours.keys().chain(theirs.keys()).collect();
                let newest = |key: &&TerminalKey| if ours.get(key) == base.get(key) { theirs } else { ours };
                keys.into_iter().filter_map(|key| Some((key.clone(), *newest(&key).get(key)?))).collect()
            };
        Self {
            pinned: merge(&self.pinned, &base.pinned, &theirs.pinned),
            muted: merge(&self.muted, &base.muted, &theirs.muted),
        }
    }
}

/// A map as a list of pairs: names in JSON are texts, and a terminal's identity is none.
mod pairs {
    use super::*;

    pub fn serialize<S: Serializer>(map: &BTreeMap<TerminalKey, bool>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(map)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<TerminalKey, bool>, D::Error> {
        Ok(Vec::<(TerminalKey, bool)>::deserialize(deserializer)?.into_iter().collect())
    }
}

/// Grace period in which every terminal and task of an answering server is found. Choices for those that are still missing are
/// forgotten.
const FOUND: Span = Span::from_secs(30);

impl Flags {
    /// Whether a terminal is among those that are acted on together.
    pub fn is_marked(&self, item: Item<'_>) -> bool {
        self.has_marked(item.key())
    }

    /// Whether a key is marked, whether or not it is there.
    pub fn has_marked(&self, key: &TerminalKey) -> bool {
        self.marked.contains(key)
    }

    /// Whether a terminal stands at the top.
    pub fn is_pinned(&self, item: Item<'_>) -> bool {
        self.chosen.pinned.get(item.key()).copied().unwrap_or(item.declared().0)
    }

    /// Whether a terminal never counts as needing the operator.
    pub fn is_muted(&self, item: Item<'_>) -> bool {
        self.chosen.muted.get(item.key()).copied().unwrap_or(item.declared().1)
    }

    /// Whether the operator has begun a prompt for a terminal here and not sent it.
    pub fn is_drafted(&self, item: Item<'_>) -> bool {
        self.drafted.contains(item.key())
    }

    /// Takes note of the terminals that prompts were begun for.
    pub fn set_drafted(&mut self, keys: impl IntoIterator<Item = TerminalKey>) {
        self.drafted = keys.into_iter().collect();
    }

    /// What is marked and in the fleet.
    pub fn marked<'a>(&self, view: &View<'a>) -> impl Iterator<Item = Item<'a>> {
        let items = if self.marked.is_empty() { Vec::new() } else { Item::all(view) };
        items.into_iter().filter(|item| self.is_marked(*item))
    }

    /// The marked agents.
    pub fn marked_agents<'a>(&self, view: &View<'a>) -> Vec<Item<'a>> {
        self.marked(view).filter(|item| item.terminal().is_some()).collect()
    }

    /// Marks terminals.
    pub fn mark<'a>(&mut self, items: impl IntoIterator<Item = Item<'a>>) {
        self.marked.extend(items.into_iter().map(|item| item.key().clone()));
    }

    /// Takes the mark of a terminal away: what it was marked for is done.
    pub fn unmark(&mut self, key: &TerminalKey) {
        self.marked.remove(key);
    }

    /// What a terminal was marked for is under way there.
    pub fn work_on(&mut self, key: &TerminalKey) {
        self.worked_on.insert(key.clone());
    }

    /// Something is over at a terminal: its mark goes if that is what it was set for, and it was done.
    pub fn has_worked_on(&mut self, key: &TerminalKey, is_done: bool) {
        if self.worked_on.remove(key) && is_done {
            self.unmark(key);
        }
    }

    /// Marks a terminal, or takes its mark away.
    pub fn toggle_mark(&mut self, item: Item<'_>) {
        if !self.marked.remove(item.key()) {
            self.marked.insert(item.key().clone());
        }
    }

    /// Takes all marks away.
    pub fn unmark_all(&mut self) {
        self.marked.clear();
    }

    /// Pins a terminal, or lets it go.
    pub fn toggle_pin(&mut self, item: Item<'_>) {
        let pinned = !self.is_pinned(item);
        choose(&mut self.chosen.pinned, item, pinned, item.declared().0);
    }

    /// Mutes a terminal, or gives it its voice back.
    pub fn toggle_mute(&mut self, item: Item<'_>) {
        let muted = !self.is_muted(item);
        choose(&mut self.chosen.muted, item, muted, item.declared().1);
    }

    /// What is pinned and muted.
    pub fn chosen(&self) -> &ChosenFlags {
        &self.chosen
    }

    /// Begins with what was pinned and muted the last time.
    pub fn restore(&mut self, chosen: ChosenFlags) {
        self.chosen = chosen;
    }

    /// Forgets what was said of terminals that have left the fleet. Pins and mutes stay while their server does not answer.
    pub fn follow(&mut self, view: &View<'_>) {
        let is_found = view.now.since(*self.begun.get_or_insert(view.now)) >= FOUND;
        let ChosenFlags { pinned, muted } = &mut self.chosen;
        if self.marked.is_empty() && pinned.is_empty() && muted.is_empty() {
            return;
        }
        let there: BTreeSet<&TerminalKey> = Item::all(view).into_iter().map(Item::key).collect();
        self.marked.retain(|key| there.contains(key));
        let is_up = |key: &TerminalKey| {
            view.servers.iter().any(|server| server.id == key.server && server.health == ServerHealth::Up)
        };
        for chosen in [pinned, muted] {
            chosen.retain(|key, _| !is_found || there.contains(key) || !is_up(key));
        }
    }
}

/// Keeps a choice, unless it is what the configuration says anyway.
fn choose(chosen: &mut BTreeMap<TerminalKey, bool>, item: Item<'_>, wanted: bool, declared: bool) {
    match wanted == declared {
        true => drop(chosen.remove(item.key())),
        false => drop(chosen.insert(item.key().clone(), wanted)),
    }
}
