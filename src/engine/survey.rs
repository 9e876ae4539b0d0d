//! What is known of servers at one moment.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinSet};

use super::{Engine, WAITING_EVENTS};
use crate::clock;
use crate::fleet::{Fleet, Input, ServerHealth, ServerId, ServerView};
use crate::owner::{self, Settings};
use crate::poll;
use crate::state::KeptNote;
use crate::time::Timestamp;
use crate::tmux;

/// How long a command or a request waits for what only makes its answer better: a remedy, a name, another owner, an end that tmux
/// is about to report, the next dialog, or the question of a task. What looks like one counts after a second without change.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// How recent the knowledge of servers has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// As their owners know it, which is at most a tick old.
    Known,
    /// From a poll that is made now.
    Now,
}

/// What is known of servers: what their owners know, or what a poll shows where there is none, all at the same time.
pub async fn survey(
    settings: &Settings,
    servers: &[ServerId],
    freshness: Freshness,
    notes: Vec<KeptNote>,
) -> Result<Fleet, JoinError> {
    let mut polls = JoinSet::new();
    let (to_fleet, mut inputs) = mpsc::channel(WAITING_EVENTS);
    for server in servers {
        let (settings, server, to_fleet) = (settings.clone(), server.clone(), to_fleet.clone());
        polls.spawn(async move {
            let Some(told) = owner::ask(&settings, &server, freshness == Freshness::Now).await else {
                return poll::tell(settings.poll, settings.profiles, server, to_fleet).await;
            };
            // Whoever asked may have ended.
            let _ = to_fleet.send(Input::Told { server, told }).await;
        });
    }
    drop(to_fleet);
    let mut fleet = Fleet::new(settings.fleet.clone(), Arc::clone(&settings.profiles));
    notes.into_iter().for_each(|noted| fleet.handle(Input::Noted(noted), Timestamp::default()));
    while let Some(input) = inputs.recv().await {
        let at = input.at().unwrap_or_else(clock::now);
        fleet.handle(input, at);
    }
    while let Some(ended) = polls.join_next().await {
        ended?;
    }
    Ok(fleet)
}

// Every server of the user, as they come and go: agents start some of their own, and end them.

/// How many looks the rows of one stay that has ended: long enough to see that it has, and it may have been started anew.
const STAYS: u32 = 5;

impl Engine {
    /// Watches the servers that have come, and no longer those that went, once the operator has seen how their agents ended.
    pub(super) fn find_servers(&mut self, now: Timestamp) {
        self.look_at = Instant::now() + self.settings.poll.ticks.longest;
        let watched = self.servers();
        let come = tmux::living_but(&watched.iter().collect::<Vec<_>>());
        let has_come = !come.is_empty();
        match self.watch(&come) {
            Ok(watchers) => self.watchers.extend(watchers),
            Err(error) => tracing::warn!(%error, "servers that have come are not watched"),
        }
        let is_left = |server: &ServerId| watched.len() > 1 && !has_come && self.has_gone(server, now);
        // One after the other, so that one stays to say that none runs.
        let Some(gone) = watched.iter().position(is_left) else { return };
        let (server, watcher) = self.watchers.remove(gone);
        self.roles.lock().unwrap_or_else(PoisonError::into_inner).remove(&server);
        self.leave_server(server, watcher, now);
    }

    /// Whether nothing is left to say of a server.
    fn has_gone(&self, server: &ServerId, now: Timestamp) -> bool {
        let is_named = self.settings.every.as_ref().is_none_or(|every| every.named.contains(server));
        let Some(view) = self.fleet.servers().find(|view| view.id == *server) else { return false };
        let ServerView { health: ServerHealth::NoServer(_), ended_at, .. } = view else { return false };
        let has_stayed =
            ended_at.is_none_or(|ended| Duration::from(now.since(ended)) >= self.settings.poll.ticks.longest * STAYS);
        let terminals = self.fleet.view(now).terminals;
        let is_unseen = || terminals.iter().any(|it| it.key.server == *server && it.state.unseen);
        server.host.is_none() && !is_named && has_stayed && !is_unseen()
    }
}
