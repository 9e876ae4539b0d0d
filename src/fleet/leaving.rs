//! Terminals that come into the fleet as another process or the history knows them, and terminals that leave it or stay because
//! their whole server is gone.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::entry::{Entry, KEEP_UNSEEN};
use super::view::{PaneReport, PollResult, STANDS_STILL, ServerReport};
use super::{Effect, Fleet, TerminalTransition};
use crate::ids::{PaneId, ServerId, TerminalKey};
use crate::screen::KeptScreen;
use crate::state::{
    Availability, LEFT, LEFT_UNWATCHED, OperatorStatus, Phase, Summary, Transition, TurnResult, UiContext,
};
use crate::time::Timestamp;
use crate::tracker::{GoneReason, HANDOVER, Observation, TerminalHistory};

/// The most screens that are packed after a report: each takes 0.1 ms.
const PACKED_AT_ONCE: usize = 64;

impl Fleet {
    /// Has the row of one go on that ended and was not seen, as before a restart; returns what is known of any other.
    pub(super) fn bring_back(
        &mut self,
        key: &TerminalKey,
        known: Box<TerminalHistory>,
    ) -> Option<Box<TerminalHistory>> {
        let TerminalHistory { state, seen, .. } = &*known;
        let is_unseen = !*seen && state.unseen && state.has_ended();
        if !is_unseen || self.now.since(state.since) >= KEEP_UNSEEN {
            return Some(known);
        }
        let entry = Entry::gone(key.clone(), self.settings.tracker.clone(), known, self.now);
        self.entries.insert(key.clone(), entry.into());
        self.is_named = false;
        self.wait_for(key);
        self.touch(key).into_iter().for_each(|untold| untold.has_new_screen = true);
        self.effects.push_back(Effect::Introduced { key: key.clone() });
        None
    }

    /// Packs some screens that stand still: of a thousand terminals most do, and whole they take 9 MB.
    pub(super) fn pack_screens(&self, report: &ServerReport) {
        // A command that polls once packs nothing.
        if !matches!(report.outcome, PollResult::Listed(_)) || !self.servers.contains_key(&report.server) {
            return;
        }
        let now = self.now;
        let here = self.recent.iter().filter(|change| change.key.server == report.server);
        let recent = here.filter(|change| now.since(change.transition.at) >= STANDS_STILL);
        let recent = recent.filter_map(|change| change.screen.as_ref()).filter(|screen| screen.is_whole());
        let shown = self.of_server(&report.server).filter_map(|(_, entry)| entry.screen_to_pack(now));
        shown.chain(recent).take(PACKED_AT_ONCE).for_each(KeptScreen::pack);
    }

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

    /// Takes in the panes of a server; returns whether all of them are as they were.
    pub(super) fn listed(
        &mut self,
        server: &ServerId,
        panes: Vec<PaneReport>,
        reason: impl Fn(PaneId) -> GoneReason,
        is_first: bool,
    ) -> bool {
        let listed: BTreeSet<&TerminalKey> = panes.iter().map(|pane| &pane.key).collect();
        let is_here = |entry: &Entry| entry.gone_since().is_none() && !entry.is_told();
        let here = self.of_server(server).filter(|(key, entry)| is_here(entry) && !listed.contains(key));
        let missing: Vec<TerminalKey> = here.map(|(key, _)| key.clone()).collect();
        let mut stands_still = missing.is_empty();
        // One whose pane another process has now has no row beside that one's.
        let mut replaced = Vec::new();
        for key in missing {
            let reason = reason(key.pane);
            self.observe(&key, Observation::Gone(reason));
            if reason == GoneReason::ProcessReplaced && panes.iter().any(|pane| pane.key.pane == key.pane) {
                replaced.push(key);
            }
        }
        self.leave(replaced);
        for pane in panes {
            stands_still &= self.pane(pane, !is_first);
        }
        self.miss(server);
        // Most polls change no name, and of a thousand terminals all would be named anew.
        if !self.is_named {
            self.name_apart();
            stands_still = false;
        }
        stands_still
    }

    /// Forgets the timeout of a terminal that has left.
    pub(super) fn wait_no_more(&mut self, entry: &mut Entry) {
        if let Some(at) = entry.due.take() {
            self.due.remove(&(at, entry.terminal().key.clone()));
        }
    }

    /// Terminals that were known and do not come into view have gone while nobody watched. A first poll may not find every
    /// agent yet.
    pub(super) fn miss(&mut self, server: &ServerId) {
        let now = self.now;
        let is_missing = |key: &TerminalKey, since: Timestamp| key.server == *server && now.since(since) >= HANDOVER;
        let missing = self.known.iter().filter(|(key, (_, since))| is_missing(key, *since));
        let missing: Vec<TerminalKey> = missing.map(|(key, _)| key.clone()).collect();
        for key in missing {
            self.forget(&key);
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
        self.miss_told(server);
    }

    /// Lets go of what this process was told of before it polled the server itself, and has not found.
    fn miss_told(&mut self, server: &ServerId) {
        let told = self.of_server(server).filter(|(_, entry)| entry.is_told());
        let told: Vec<TerminalKey> = told.map(|(key, _)| key.clone()).collect();
        if told.is_empty() {
            self.taken_over.remove(server);
        } else if self.now.since(*self.taken_over.entry(server.clone()).or_insert(self.now)) >= HANDOVER {
            self.leave(told);
        }
    }

    /// Removes a terminal without a word.
    pub(super) fn forget(&mut self, key: &TerminalKey) -> Option<Box<Entry>> {
        let mut entry = self.entries.remove(key)?;
        self.is_named = false;
        self.wait_no_more(&mut entry);
        self.names.remove(&entry.terminal().state.terminal.id);
        self.tasks.name_anew();
        if let Some(server) = self.servers.get_mut(&key.server) {
            server.terminals = server.terminals.saturating_sub(1);
        }
        Some(entry)
    }

    pub(super) fn unwatch(&mut self, server: &ServerId) {
        self.leave(self.of_server(server).map(|(key, _)| key.clone()).collect());
        self.servers.remove(server);
    }

    pub(super) fn leave(&mut self, keys: Vec<TerminalKey>) {
        let now = self.now;
        for key in keys {
            let Some(entry) = self.forget(&key) else { continue };
            let (transition, state) = (entry.farewell(now), entry.terminal().state.clone());
            let id = state.terminal.id.clone();
            self.left(TerminalTransition { key, id, transition, state: Some(Arc::new(state)), screen: None });
        }
    }

    pub(super) fn left(&mut self, left: TerminalTransition) {
        if let Some(untold) = self.untold(&left.key.server) {
            untold.has_left(left.clone());
        }
        self.remember(left.clone());
        self.effects.push_back(Effect::Left(left));
    }
}
