//! Every server of the user, as they come and go: agents start some of their own, and end them.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use super::Engine;
use crate::fleet::{ServerHealth, ServerId, ServerView};
use crate::time::Timestamp;
use crate::tmux;

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
