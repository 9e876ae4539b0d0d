//! All that a fleet knows of one server, for another process that goes on from there (SPEC §15).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::entry::{self, Entry};
use super::{Effect, Fleet, ServerId, ServerView, TerminalKey, TerminalTransition, tasks};
use crate::time::Timestamp;

/// All that a fleet knows of one server. A fleet that takes it in does with the same inputs what the other one does.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Checkpoint {
    /// `None` when the server has not been looked at.
    server: Option<ServerView>,
    entries: Vec<entry::TerminalCheckpoint>,
    tasks: tasks::TasksCheckpoint,
    recent: Vec<TerminalTransition>,
}

impl Checkpoint {
    /// Whether the server has answered or failed to.
    pub fn has_looked(&self) -> bool {
        self.server.is_some()
    }

    /// The terminals that it is about.
    pub fn terminals(&self) -> impl Iterator<Item = &TerminalKey> {
        self.entries.iter().map(|entry| &entry.key)
    }
}

impl Fleet {
    /// All that is known of a server.
    pub fn checkpoint(&self, server: &ServerId) -> Checkpoint {
        let here = self.entries.iter().filter(|(key, _)| key.server == *server);
        Checkpoint {
            server: self.servers.get(server).cloned(),
            entries: here.map(|(_, entry)| entry.checkpoint()).collect(),
            tasks: self.tasks.checkpoint(server),
            recent: self.recent.iter().filter(|recent| recent.key.server == *server).cloned().collect(),
        }
    }

    /// Goes on from what another fleet knows of a server. What that one saw and this one did not is told.
    pub(super) fn restore(&mut self, server: &ServerId, checkpoint: Checkpoint) {
        let Checkpoint { server: view, entries, tasks, recent } = checkpoint;
        let mut before: BTreeMap<TerminalKey, Entry> = BTreeMap::new();
        let keys: Vec<TerminalKey> = self.entries.keys().filter(|key| key.server == *server).cloned().collect();
        for key in keys {
            before.extend(self.entries.remove(&key).map(|entry| (key, entry)));
        }
        for checkpoint in entries {
            let (key, transitions) = (checkpoint.key.clone(), checkpoint.transitions.clone());
            let entry = Entry::restored(checkpoint, self.settings.tracker.clone(), &self.library, self.now);
            let (id, mut screen) = (entry.terminal().state.terminal.id.clone(), entry.terminal().screen.clone());
            self.entries.insert(key.clone(), entry);
            let Some(old) = before.remove(&key) else {
                self.effects.push_back(Effect::Introduced { key });
                continue;
            };
            let last = old.terminal().transitions.back().map_or(Timestamp::default(), |last| last.at);
            // Newest first: what the terminal shows now it has shown since the last one.
            let missed = transitions.into_iter().rev().take_while(|transition| transition.at > last);
            let missed = missed.map(|transition| {
                let told = recent.iter().rev().find(|told| told.key == key && told.transition == transition);
                let (key, id, state) = (key.clone(), id.clone(), told.and_then(|told| told.state.clone()));
                Effect::Changed(TerminalTransition { key, id, transition, state, screen: screen.take() })
            });
            let missed: Vec<Effect> = missed.collect();
            self.effects.extend(missed.into_iter().rev());
        }
        for (key, entry) in before {
            self.entries.insert(key.clone(), entry);
            self.leave(vec![key]);
        }
        self.recent.retain(|recent| recent.key.server != *server);
        self.recent.extend(recent);
        self.recent.make_contiguous().sort_by_key(|recent| recent.transition.at);
        match view {
            Some(view) => drop(self.servers.insert(server.clone(), view)),
            None => drop(self.servers.remove(server)),
        }
        let introduced = self.tasks.restore(server, tasks);
        self.effects
            .extend(introduced.into_iter().map(|window| Effect::TaskIntroduced { server: server.clone(), window }));
        self.name_apart();
    }
}
