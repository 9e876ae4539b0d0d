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
    muted: BTreeMap<TerminalKey, Mute>,
}

/// Whether a terminal is muted, and for how long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Mute {
    /// Until the operator says otherwise.
    Always(bool),
    /// Until a time.
    Until { until: Timestamp },
    /// As long as it is what it was.
    Same { word: String, since: Option<Timestamp> },
}

impl Mute {
    /// As long as a terminal is what it is now.
    pub fn until_it_changes(item: Item<'_>) -> Self {
        Self::Same { word: item.status().word().into_owned(), since: item.waiting_since() }
    }

    /// Whether it holds for a terminal.
    fn holds(&self, item: Item<'_>) -> bool {
        match self {
            Self::Always(muted) => *muted,
            Self::Until { .. } => true,
            Self::Same { .. } => *self == Self::until_it_changes(item),
        }
    }
}

impl ChosenFlags {
    /// These, with what another dashboard has changed since both knew `base`.
    pub fn merged(&self, base: &Self, theirs: &Self) -> Self {
        Self {
            pinned: merge(&self.pinned, &base.pinned, &theirs.pinned),
            muted: merge(&self.muted, &base.muted, &theirs.muted),
        }
    }
}

fn merge<T: Clone + PartialEq>(
    ours: &BTreeMap<TerminalKey, T>,
    base: &BTreeMap<TerminalKey, T>,
    theirs: &BTreeMap<TerminalKey, T>,
) -> BTreeMap<TerminalKey, T> {
    let keys: BTreeSet<&TerminalKey> = ours.keys().chain(theirs.keys()).collect();
    let newest = |key: &&TerminalKey| if ours.get(key) == base.get(key) { theirs } else { ours };
    keys.into_iter().filter_map(|key| Some((key.clone(), newest(&key).get(key)?.clone()))).collect()
}

/// A map as a list of pairs: names in JSON are texts, and a terminal's identity is none.
mod pairs {
    use super::*;

    pub fn serialize<T: Serialize, S: Serializer>(
        map: &BTreeMap<TerminalKey, T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(map)
    }

    pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<TerminalKey, T>, D::Error> {
        Ok(Vec::<(TerminalKey, T)>::deserialize(deserializer)?.into_iter().collect())
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
        self.chosen.muted.get(item.key()).map_or(item.declared().1, |mute| mute.holds(item))
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
    pub fn mute(&mut self, item: Item<'_>, mute: Mute) {
        choose(&mut self.chosen.muted, item, mute, Mute::Always(item.declared().1));
    }

    /// Forgets what is over by a time.
    pub fn expire(&mut self, now: Timestamp) {
        self.chosen.muted.retain(|_, mute| !matches!(mute, Mute::Until { until } if *until <= now));
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
        self.expire(view.now);
        for item in Item::all(view) {
            let is_over = |mute: &Mute| matches!(mute, Mute::Same { .. }) && !mute.holds(item);
            if !self.chosen.muted.is_empty() && self.chosen.muted.get(item.key()).is_some_and(is_over) {
                self.chosen.muted.remove(item.key());
            }
        }
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
        let stays = |key: &TerminalKey| !is_found || there.contains(key) || !is_up(key);
        pinned.retain(|key, _| stays(key));
        muted.retain(|key, _| stays(key));
    }
}

/// Keeps a choice, unless it is what the configuration says anyway.
fn choose<T: PartialEq>(chosen: &mut BTreeMap<TerminalKey, T>, item: Item<'_>, wanted: T, declared: T) {
    match wanted == declared {
        true => drop(chosen.remove(item.key())),
        false => drop(chosen.insert(item.key().clone(), wanted)),
    }
}
