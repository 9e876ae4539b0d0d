//! Terminals that come into the fleet as another process or the history knows them, and terminals that leave it or stay because
//! their whole server is gone.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::checkpoint::Checkpoint;
use super::entry::{Entry, KEEP_UNSEEN};
use super::view::{PACKED_AFTER, PollResult, ServerReport, Terminal};
use super::{Effect, Fleet, TerminalTransition};
use crate::ids::{ServerId, TerminalKey};
use crate::screen::KeptScreen;
use crate::state::{
    Availability, LEFT, LEFT_UNWATCHED, OperatorStatus, Phase, Summary, Transition, TurnResult, UiContext,
};
use crate::time::{Span, Timestamp};
use crate::tracker::TerminalHistory;

/// The most screens that are packed after a report: each takes 0.1 ms.
const PACKED_AT_ONCE: usize = 64;

/// How long a terminal that the history knows may take to be found.
const COMES_INTO_VIEW: Span = Span::from_secs(4);

impl Fleet {
    /// All that is known of a server.
    pub fn checkpoint(&self, server: &ServerId) -> Checkpoint {
        let here = self.entries.iter().filter(|(key, _)| key.server == *server);
        Checkpoint {
            at: self.now,
            server: self.servers.get(server).cloned(),
            entries: here.map(|(_, entry)| Entry::clone(entry)).collect(),
            tasks: self.tasks.checkpoint(server),
            recent: self.recent.iter().filter(|recent| recent.key.server == *server).cloned().collect(),
        }
    }

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
        let recent = self.recent.iter().filter(|change| now.since(change.transition.at) >= PACKED_AFTER);
        let recent = recent.filter_map(|change| change.screen.as_ref()).filter(|screen| screen.is_whole());
        let shown = self.entries.values().filter_map(|entry| entry.screen_to_pack(now));
        shown.chain(recent).take(PACKED_AT_ONCE).for_each(KeptScreen::pack);
    }

    /// Continues from another fleet's knowledge of a server. Changes that only the other one saw are reported.
    pub(super) fn restore(&mut self, server: &ServerId, checkpoint: Checkpoint) {
        let Checkpoint { at: _, server: view, entries, tasks, recent } = checkpoint;
        let mut before: BTreeMap<TerminalKey, Entry> = BTreeMap::new();
        let keys: Vec<TerminalKey> = self.of_server(server).map(|(key, _)| key.clone()).collect();
        for key in keys {
            let Some(mut entry) = self.entries.remove(&key) else { continue };
            self.wait_no_more(&mut entry);
            before.insert(key, *entry);
        }
        for entry in entries {
            let mut entry = entry.restored(self.settings.tracker.clone(), &self.profiles, self.now);
            // What the other fleet has not heard yet may be known here.
            entry.take_note(&self.notes);
            let Terminal { key, transitions, state, screen, .. } = entry.terminal();
            let (key, id, mut screen) = (key.clone(), state.terminal.id.clone(), screen.clone());
            let old = before.remove(&key);
            let transitions = if old.is_some() { transitions.clone() } else { VecDeque::new() };
            self.entries.insert(key.clone(), entry.into());
            self.wait_for(&key);
            let Some(old) = old else {
                self.effects.push_back(Effect::Introduced { key });
                continue;
            };
            let told = &old.terminal().transitions;
            let at = |last: Option<&Transition>| last.map_or(Timestamp::default(), |last| last.at);
            let (last, known) = (at(told.back()), at(transitions.back()));
            // What this fleet saw first the other one is about to see.
            let ahead = told.iter().filter(|told| told.at > known && !told.changed.is_empty());
            let ahead: Vec<_> = ahead.map(|told| (told.at, told.changed.clone())).collect();
            if !ahead.is_empty() {
                self.ahead.insert(key.clone(), ahead);
            }
            // The two may have seen the same at different times, as the first one that is new to this fleet.
            let is_told = |missed: &Transition| {
                !missed.changed.is_empty() && told.back().is_some_and(|told| told.changed == missed.changed)
            };
            let mut missed: Vec<Transition> = transitions.into_iter().skip_while(|missed| missed.at <= last).collect();
            if missed.first().is_some_and(is_told) {
                missed.remove(0);
            }
            // Newest first: what the terminal shows now it has shown since the last one.
            let missed = missed.into_iter().rev().map(|transition| {
                let change = recent.iter().rev().find(|change| change.key == key && change.transition == transition);
                let (key, id, state) = (key.clone(), id.clone(), change.and_then(|change| change.state.clone()));
                Effect::Changed(TerminalTransition { key, id, transition, state, screen: screen.take() })
            });
            let missed: Vec<Effect> = missed.collect();
            self.effects.extend(missed.into_iter().rev());
        }
        for (key, entry) in before {
            self.entries.insert(key.clone(), entry.into());
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
