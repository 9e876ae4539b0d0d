//! The owner of a server tells of it, and other processes take that in: they show it and keep no trackers for it (SPEC §15).

use std::collections::BTreeSet;

use super::entry::{Entry, ToldTerminal, UntoldTerminal};
use super::told::{Told, Untold};
use super::view::TerminalTransition;
use super::{Effect, Fleet};
use crate::ids::{ServerId, TerminalKey};
use crate::state::Transition;

impl Fleet {
    /// All that is known of a server. What changes from now on is for [`Fleet::take_told`].
    pub fn share(&mut self, server: &ServerId) -> Told {
        let tasks = self.tasks.told(server);
        self.untold.insert(server.clone(), Untold { tasks: Some(tasks.clone()), ..Untold::default() });
        Told {
            at: self.now,
            version: self.inputs,
            is_whole: true,
            server: self.servers.get(server).cloned(),
            terminals: self.of_server(server).map(|(_, entry)| entry.tell(None)).collect(),
            left: Vec::new(),
            tasks: Some(tasks),
            task_events: self.tasks.recent().iter().filter(|event| event.key.server == *server).cloned().collect(),
            recent: self.recent.iter().filter(|recent| recent.key.server == *server).cloned().collect(),
        }
    }

    /// Nobody wants to know of the server any longer.
    pub fn share_no_more(&mut self, server: &ServerId) {
        self.untold.remove(server);
    }

    /// Another process polls a server from now on: what would come due there as well does not come due here, unless this one
    /// polls it again.
    pub fn yield_server(&mut self, server: &ServerId) {
        self.yielded.insert(server.clone());
    }

    /// What has changed of the servers that are shared.
    pub fn take_told(&mut self) -> Vec<(ServerId, Told)> {
        let changed = self.untold.iter_mut().filter(|(_, untold)| untold.has_changed);
        let changed: Vec<(ServerId, Untold)> = changed
            .map(|(server, untold)| {
                let tasks = untold.tasks.clone();
                (server.clone(), std::mem::replace(untold, Untold { tasks, ..Untold::default() }))
            })
            .collect();
        changed.into_iter().map(|(server, untold)| (server.clone(), self.tell(&server, untold))).collect()
    }

    fn tell(&mut self, server: &ServerId, untold: Untold) -> Told {
        let tasks = Some(self.tasks.told(server)).filter(|tasks| untold.tasks.as_ref() != Some(tasks));
        if let (Some(tasks), Some(untold)) = (&tasks, self.untold.get_mut(server)) {
            untold.tasks = Some(tasks.clone());
        }
        let terminals = untold.terminals.iter();
        Told {
            at: self.now,
            version: self.inputs,
            is_whole: false,
            server: self.servers.get(server).cloned(),
            terminals: terminals.filter_map(|(key, untold)| Some(self.entry(key)?.tell(Some(untold)))).collect(),
            left: untold.left,
            tasks,
            task_events: untold.task_events,
            recent: Vec::new(),
        }
    }

    /// What there is to be told of a server that is shared; something has changed.
    pub(super) fn untold(&mut self, server: &ServerId) -> Option<&mut Untold> {
        let untold = self.untold.get_mut(server)?;
        untold.has_changed = true;
        Some(untold)
    }

    /// Notes that a terminal has changed.
    pub(super) fn touch(&mut self, key: &TerminalKey) -> Option<&mut UntoldTerminal> {
        Some(self.untold(&key.server)?.terminals.entry(key.clone()).or_default())
    }

    /// Takes in what the owner of a server tells.
    pub(super) fn take_in(&mut self, server: &ServerId, told: Told) {
        let Told { at, version: _, is_whole, server: view, terminals, left, tasks, task_events, recent } = told;
        if is_whole {
            let there: BTreeSet<&TerminalKey> = terminals.iter().map(|told| &told.terminal.key).collect();
            let missing = self.of_server(server).map(|(key, _)| key).filter(|key| !there.contains(key));
            let missing = missing.cloned().collect();
            self.leave(missing);
            self.recent.retain(|recent| recent.key.server != *server);
            self.recent.extend(recent);
            self.recent.make_contiguous().sort_by_key(|recent| recent.transition.at);
        }
        terminals.into_iter().for_each(|told| self.take_in_terminal(told, is_whole));
        for left in left {
            self.forget(&left.key);
            self.left(left);
        }
        if view.as_ref().is_some_and(|view| view.health.problem().is_none()) {
            self.entries.iter_mut().filter(|(key, _)| key.server == *server).for_each(|(_, entry)| entry.pass(at));
        }
        match view {
            Some(view) => drop(self.servers.insert(server.clone(), view)),
            None => drop(self.servers.remove(server)),
        }
        let keep = self.settings.kept_transitions;
        let (introduced, batch) = self.tasks.take_in(server, (tasks, task_events), is_whole, keep);
        let introduced = introduced.into_iter().map(|window| Effect::TaskIntroduced { server: server.clone(), window });
        self.effects.extend(introduced);
        if !batch.events.is_empty() {
            self.effects.push_back(Effect::Tasks(batch));
        }
        match self.is_named {
            false => self.name_apart(),
            true => self.name_tasks(),
        }
    }

    fn take_in_terminal(&mut self, told: ToldTerminal, is_whole: bool) {
        let key = told.terminal.key.clone();
        let before = self.entries.remove(&key).map(|mut before| {
            self.wait_no_more(&mut before);
            before
        });
        let news = told.news(before.as_deref(), is_whole);
        let mut entry = Entry::told(told, self.settings.tracker.clone(), &self.profiles, before.as_deref(), is_whole);
        // What the other fleet has not heard of yet may be known here.
        entry.take_note(&self.notes);
        self.is_named &= before.as_ref().map(|before| before.naming()) == Some(entry.naming());
        let is_new = before.as_ref().is_none_or(|before| before.is_unread() || !entry.is_named_like(before));
        if is_new && !entry.is_unread() {
            self.effects.push_back(Effect::Introduced { key: key.clone() });
        }
        let state = |transition: &Transition| {
            let recent = self.recent.iter().rev();
            let recent = recent.filter(|_| is_whole).find(|it| it.key == key && it.transition == *transition);
            recent.map_or_else(|| Some(entry.terminal().state.clone().into()), |recent| recent.state.clone())
        };
        let (id, screen) = (entry.terminal().state.terminal.id.clone(), entry.terminal().screen.clone());
        let newest = news.len();
        let news = news.into_iter().enumerate().map(|(nth, transition)| {
            let (state, key, id) = (state(&transition), key.clone(), id.clone());
            // What the terminal shows now it has shown since the last one.
            let screen = screen.clone().filter(|_| nth + 1 == newest);
            TerminalTransition { key, id, transition, state, screen }
        });
        let news: Vec<TerminalTransition> = news.collect();
        self.entries.insert(key, entry.into());
        for changed in news {
            if !is_whole {
                self.remember(changed.clone());
            }
            self.effects.push_back(Effect::Changed(changed));
        }
    }

    /// Prepares this process, which polls the server of a terminal now, to go on from what it was told of it, or from what the
    /// history knows if that is newer. Returns what was shown until now.
    pub(super) fn take_over(&mut self, key: &TerminalKey) -> Option<Box<Entry>> {
        if !self.entry(key)?.is_told() {
            return None;
        }
        let told = self.entries.remove(key)?;
        let known = told.known_with(self.known.remove(key).map(|(known, _)| known));
        let armed_at = told.terminal().state.lifecycle_authority.anchor_armed_at;
        if self.sent.get(key).is_some_and(|(at, _)| armed_at >= Some(*at)) {
            // The process before has taken it in.
            self.sent.remove(key);
        }
        let entry = told.taken_over(known, self.now);
        self.entries.insert(key.clone(), entry.into());
        Some(told)
    }

    /// The same with all of a server that could not be reached.
    pub(super) fn take_over_all(&mut self, server: &ServerId) {
        let told = self.of_server(server).filter(|(_, entry)| entry.is_told() && entry.gone_since().is_none());
        let told: Vec<TerminalKey> = told.map(|(key, _)| key.clone()).collect();
        told.iter().for_each(|key| drop(self.take_over(key)));
    }
}
