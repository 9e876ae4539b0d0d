//! Says how things stand into the history, for those who must not ask tmux once more.

use std::collections::HashMap;

use crate::fleet::{Health, Terminal, View};
use crate::history::{History, Rank, Standing};
use crate::moment::{Moment, Span};
use crate::place::ServerId;

/// How often it is said again although nothing has changed; well within the time that it holds.
const AGAIN: Span = Span::from_secs(5);

/// What was said last of each server.
#[derive(Debug)]
pub(super) struct Beacon {
    history: History,
    rank: Rank,
    said: HashMap<ServerId, Standing>,
}

impl Beacon {
    pub(super) fn new(history: History, rank: Rank) -> Self {
        Self { history, rank, said: HashMap::new() }
    }

    /// Says what has changed since, and what was not said for a while.
    pub(super) fn follow(&mut self, view: &View<'_>, is_muted: &dyn Fn(&Terminal) -> bool) {
        if self.history.path().is_none() {
            return;
        }
        let answers = |health: &Health| matches!(health, Health::Up | Health::NoServer(_));
        for server in view.servers.iter().filter(|server| answers(&server.health)) {
            let standing = Standing::of(view, &server.id, self.rank, is_muted);
            let is_said = self.said.get(&server.id).is_some_and(|said| {
                Standing { at: said.at, ..standing.clone() } == *said && view.now.since(said.at) < AGAIN
            });
            if !is_said {
                self.history.standing(standing.clone());
                self.said.insert(server.id.clone(), standing);
            }
        }
    }

    /// When something has to be said again at the latest.
    pub(super) fn poll_timeout(&self) -> Option<Moment> {
        self.said.values().map(|said| said.at + AGAIN).min()
    }
}
