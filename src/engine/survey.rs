//! What is known of servers at one moment.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinSet};

use super::WAITING_EVENTS;
use crate::clock;
use crate::fleet::{Fleet, Input, ServerId};
use crate::owner::{self, Settings};
use crate::poll;
use crate::state::KeptNote;
use crate::time::Timestamp;

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
