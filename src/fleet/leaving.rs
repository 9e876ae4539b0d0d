//! Terminals that leave the fleet, and those that stay because their whole server is gone.

use std::sync::Arc;

use super::{Effect, Fleet, TerminalTransition};
use crate::ids::{ServerId, TerminalKey};
use crate::state::{
    Availability, LEFT, LEFT_UNWATCHED, OperatorStatus, Phase, Summary, Transition, TurnResult, UiContext,
};
use crate::time::{Span, Timestamp};
use crate::tracker::TerminalHistory;

/// How long a terminal that the history knows may take to be found.
const COMES_INTO_VIEW: Span = Span::from_secs(4);

impl Fleet {
    /// A server answers again: what ended with the one before it stays no longer than what ends alone.
    pub(super) fn came_back(&mut self, server: &ServerId) {
        let kept = self.of_server(server).filter(|(_, entry)| entry.is_kept_with_server());
        let kept: Vec<TerminalKey> = kept.map(|(key, _)| key.clone()).collect();
        for key in kept {
            if let Some(entry) = self.entries.get_mut(&key) {
                entry.server_came_back();
            }
            self.wait_for(&key);
        }
        self.tasks.came_back(server);
    }

    /// Terminals that were known and do not come into view have gone while nobody watched. A first poll may not find every
    /// agent yet.
    pub(super) fn miss(&mut self, server: &ServerId) {
        let now = self.now;
        let is_missing =
            |key: &TerminalKey, since: Timestamp| key.server == *server && now.since(since) >= COMES_INTO_VIEW;
        let missing = self.known.iter().filter(|(key, (_, since))| is_missing(key, *since));
        let missing: Vec<TerminalKey> = missing.map(|(key, _)| key.clone()).collect();
        for key in missing {
            let known = self.known.remove(&key).and_then(|(known, _)| self.bring_back(&key, known));
            let Some(TerminalHistory { state, .. }) = known.map(|known| *known) else { continue };
            let was_gone = matches!(state.diagnostics.availability, Availability::TuiDown | Availability::Unavailable);
            let is_in_flight = state.lifecycle_authority.completion_monitoring_armed;
            let summary = Summary {
                availability: Availability::Unavailable,
                phase: Phase::Unknown,
                // A turn that was in flight when nobody watched any more is not the one before it.
                result: if is_in_flight { TurnResult::None } else { state.last_turn.result },
                source: state.last_turn.source,
                ui_context: UiContext::Unknown,
                status: OperatorStatus::Unavailable,
            };
            let transition = Transition::last(summary, if was_gone { LEFT } else { LEFT_UNWATCHED }, now);
            let id = state.terminal.id;
            self.left(TerminalTransition { key, id, transition, state: None, screen: None });
        }
    }

    pub(super) fn unwatch(&mut self, server: &ServerId) {
        self.leave(self.of_server(server).map(|(key, _)| key.clone()).collect());
        self.servers.remove(server);
    }

    pub(super) fn leave(&mut self, keys: Vec<TerminalKey>) {
        let now = self.now;
        for key in keys {
            let Some(mut entry) = self.entries.remove(&key) else { continue };
            self.is_named = false;
            self.ahead.remove(&key);
            self.wait_no_more(&mut entry);
            let (transition, state) = (entry.farewell(now), entry.terminal().state.clone());
            let id = state.terminal.id.clone();
            self.names.remove(&id);
            if let Some(server) = self.servers.get_mut(&key.server) {
                server.terminals = server.terminals.saturating_sub(1);
            }
            self.left(TerminalTransition { key, id, transition, state: Some(Arc::new(state)), screen: None });
        }
    }

    pub(super) fn left(&mut self, left: TerminalTransition) {
        self.remember(left.clone());
        self.effects.push_back(Effect::Left(left));
    }
}
