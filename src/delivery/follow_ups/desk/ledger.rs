//! What was seen of the terminals that agents are told of, by this process and by the one before.

use std::collections::{BTreeMap, BTreeSet};

use crate::follow_up::{Event, LULL, Sight, Source, missed};
use crate::history::StoredSight;
use crate::moment::Moment;
use crate::notify::Occasion;

/// All terminals of the servers for which this process is on duty.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// The servers, and since when this process is on duty there.
    servers: BTreeMap<String, Moment>,
    entries: BTreeMap<String, Entry>,
    /// How terminals look now.
    looks: BTreeMap<String, Look>,
    /// The servers that have answered.
    answered: BTreeSet<String>,
}

#[derive(Clone, Debug)]
struct Entry {
    server: String,
    name: String,
    sight: Sight,
    /// What an earlier process saw is compared with how it looks now, once that can be told.
    inherited: bool,
    /// When it was seen.
    at: Moment,
    /// Since when it stands here.
    since: Moment,
}

/// How a terminal looks.
#[derive(Clone, Debug)]
struct Look {
    source: Source,
    /// Since when it looks like that.
    since: Moment,
    /// When it was last seen not to work, and how it looked then.
    rest: Option<(Moment, Source)>,
}

/// What is to be written down.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Change {
    /// Another sight of a terminal.
    Seen(StoredSight),
    /// Something that happened while nobody watched, and what is remembered of its terminal once it is told.
    Missed(Event, Option<StoredSight>),
    /// A terminal that is gone, by its identity.
    Gone(String),
}

impl Ledger {
    /// Whether this process is on duty for a server.
    pub(super) fn covers(&self, server: &str) -> bool {
        self.servers.contains_key(server)
    }

    /// This process is on duty for a server from now on; this is what the one before has seen.
    pub(super) fn adopt(&mut self, server: &str, stored: Vec<StoredSight>, now: Moment) {
        self.servers.insert(server.to_owned(), now);
        for StoredSight { identity, server, name, at, body } in stored {
            let Some(sight) = body.get("sight").and_then(|sight| serde_json::from_value(sight.clone()).ok()) else {
                continue;
            };
            self.entries.insert(identity, Entry { server, name, sight, inherited: true, at, since: now });
        }
    }

    /// Takes in how terminals look now.
    pub(super) fn look(&mut self, sources: Vec<Source>, answered: BTreeSet<String>, now: Moment) {
        let mut before = std::mem::take(&mut self.looks);
        for source in sources {
            let (same, rested) = match before.remove(&source.identity) {
                Some(Look { source: before, since, rest }) => {
                    let is_same = before.sight == source.sight && before.is_clear == source.is_clear;
                    (is_same.then_some(since), rest)
                }
                None => (None, None),
            };
            let rest = if source.is_clear && !source.is_busy() { Some((now, source.clone())) } else { rested };
            self.looks.insert(source.identity.clone(), Look { source, since: same.unwrap_or(now), rest });
        }
        self.answered = answered;
    }

    /// Compares what was seen with how it looks now; what follows is to be written down in this order.
    pub(super) fn compare(&mut self, now: Moment) -> Vec<Change> {
        let mut changes = Vec::new();
        for (identity, Look { source, since, rest }) in &self.looks {
            if !self.servers.contains_key(&source.server) {
                continue;
            }
            let Some(entry) = self.entries.get_mut(identity) else {
                let (server, name, sight) = (source.server.clone(), source.name.clone(), Sight::first(source));
                let entry = Entry { server, name, sight, inherited: false, at: now, since: now };
                changes.push(Change::Seen(entry.stored(identity)));
                self.entries.insert(identity.clone(), entry);
                continue;
            };
            entry.name.clone_from(&source.name);
            let quiet = now.since((*since).max(entry.since));
            if entry.inherited && !source.is_busy() && (!source.is_clear || quiet < LULL) {
                // The process that was on duty may have told it a moment ago, and this one may still come to tell it.
                continue;
            }
            if std::mem::take(&mut entry.inherited) {
                // Another turn may have begun since the one that the earlier process saw.
                let rest = rest.as_ref().filter(|(at, _)| source.is_busy() && *at > entry.at);
                let event = missed(&entry.sight, entry.at, rest.map_or(source, |(_, rest)| rest));
                if let Some(event) = event {
                    (entry.sight, entry.at) = (entry.sight.told(&event), now);
                    changes.push(Change::Missed(event, Some(entry.stored(identity))));
                }
            }
            let next = entry.sight.then(source, quiet);
            if next != entry.sight {
                (entry.sight, entry.at) = (next, now);
                changes.push(Change::Seen(entry.stored(identity)));
            }
        }
        self.let_go(now, &mut changes);
        changes
    }

    /// Takes in that an event is told; what is remembered of its terminal from now on, if anything is.
    pub(super) fn told(&mut self, event: &Event, now: Moment) -> Option<StoredSight> {
        let entry = self.entries.get_mut(&event.identity)?;
        entry.sight = entry.sight.told(event);
        (entry.inherited, entry.at) = (false, now);
        Some(entry.stored(&event.identity))
    }

    /// Whether an event is one that the process before has told: who stood by sees it, too, and the prompt of a task is found
    /// anew by whoever begins to watch.
    pub(super) fn is_known(&self, event: &Event) -> bool {
        let Some(entry) = self.entries.get(&event.identity).filter(|entry| entry.inherited) else { return false };
        match &entry.sight {
            Sight::Task { prompt, .. } => {
                event.occasion == Occasion::Input && prompt.as_deref() == Some(event.mark.as_str())
            }
            Sight::Agent { stands, .. } => {
                stands.as_ref().is_some_and(|told| told.occasion == event.occasion && told.text == event.text)
            }
        }
    }

    /// What is remembered of the terminal with a name.
    pub(super) fn stored(&self, name: &str) -> Option<StoredSight> {
        let (identity, entry) = self.entries.iter().find(|(_, entry)| entry.name == name)?;
        Some(entry.stored(identity))
    }

    /// Terminals that are gone are forgotten; what an earlier process saw of one may have to be told.
    fn let_go(&mut self, now: Moment, changes: &mut Vec<Change>) {
        let absent = |identity: &String, entry: &Entry| {
            self.answered.contains(&entry.server)
                && self.servers.contains_key(&entry.server)
                && !self.looks.contains_key(identity)
                && (!entry.inherited || now.since(entry.since) >= LULL)
        };
        let gone: Vec<String> = self
            .entries
            .iter()
            .filter(|(identity, entry)| absent(identity, entry))
            .map(|(identity, _)| identity.clone())
            .collect();
        for identity in gone {
            let Some(entry) = self.entries.remove(&identity) else { continue };
            if entry.inherited {
                let again = self.looks.values().any(|look| look.source.is_in_place_of(&entry.server, &entry.sight));
                changes.extend(
                    Source::lost(&identity, &entry.server, &entry.name, &entry.sight, again)
                        .map(|event| Change::Missed(event, None)),
                );
            }
            changes.push(Change::Gone(identity));
        }
    }
}

impl Entry {
    fn stored(&self, identity: &str) -> StoredSight {
        StoredSight {
            identity: identity.to_owned(),
            server: self.server.clone(),
            name: self.name.clone(),
            at: self.at,
            body: serde_json::json!({ "sight": self.sight }),
        }
    }
}
