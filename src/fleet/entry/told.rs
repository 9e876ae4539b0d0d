//! A terminal as the owner of its server tells of it.

use super::Entry;
use super::parts::{Beside, ToldTerminal, UntoldTerminal};
use crate::fleet::view::Terminal;
use crate::profile::ProfileSet;
use crate::state::{Availability, Summary, Transition};
use crate::time::Timestamp;
use crate::tracker::{self, TerminalHistory};

impl ToldTerminal {
    /// The transitions that are new to a fleet which has this entry; `is_whole` if all are told, not only the new ones.
    pub(in crate::fleet) fn news(&self, before: Option<&Entry>, is_whole: bool) -> Vec<Transition> {
        let told = &self.terminal.transitions;
        if !is_whole {
            return told.iter().cloned().collect();
        }
        let Some(last) = before.map(|before| before.terminal.transitions.back()) else { return Vec::new() };
        let at = last.map_or(Timestamp::default(), |last| last.at);
        let mut news: Vec<Transition> = told.iter().skip_while(|told| told.at <= at).cloned().collect();
        // Two processes that take over from each other may have seen the same at different times.
        let is_same =
            |news: &Transition| !news.changed.is_empty() && last.is_some_and(|last| last.changed == news.changed);
        if news.first().is_some_and(is_same) {
            news.remove(0);
        }
        news
    }
}

impl Entry {
    /// What is to be told of it: all, or what has not been told yet.
    pub(in crate::fleet) fn tell(&self, untold: Option<&UntoldTerminal>) -> ToldTerminal {
        let Terminal { key, place, declared, note, process, state, facts, screen, dialog, transitions, .. } =
            &self.terminal;
        let told = untold.map_or(0, |untold| transitions.len().saturating_sub(untold.transitions));
        let terminal = Terminal {
            key: key.clone(),
            place: place.clone(),
            declared: declared.clone(),
            note: note.clone(),
            process: *process,
            state: state.clone(),
            facts: facts.clone(),
            screen: screen.clone().filter(|_| untold.is_none_or(|untold| untold.has_new_screen)),
            interrupt: Vec::new(),
            input: Default::default(),
            dialog: dialog.clone(),
            transitions: transitions.iter().skip(told).cloned().collect(),
        };
        ToldTerminal {
            terminal,
            agent: self.agent.clone(),
            gone: self.gone.clone(),
            is_unread: self.is_unread,
            beside: Beside { record: self.record().cloned(), timers: self.timers() },
        }
    }

    /// One that another process tells of, in place of the one before.
    pub(in crate::fleet) fn told(
        told: ToldTerminal,
        settings: tracker::Settings,
        profiles: &ProfileSet,
        before: Option<&Entry>,
        is_whole: bool,
    ) -> Self {
        let ToldTerminal { mut terminal, agent, gone, is_unread, beside } = told;
        let now = terminal.state.observed_at;
        if let Some(before) = before {
            // Its name follows from the terminals of this fleet.
            terminal.state.terminal.id.clone_from(&before.terminal.state.terminal.id);
            terminal.screen = terminal.screen.or_else(|| before.terminal.screen.clone());
            if !is_whole {
                let new = std::mem::take(&mut terminal.transitions);
                terminal.transitions = before.terminal.transitions.iter().cloned().chain(new).collect();
                let surplus = terminal.transitions.len().saturating_sub(settings.kept_transitions);
                terminal.transitions.drain(..surplus);
            }
        }
        let mut entry = Self::new(terminal.key.clone(), settings, None, false, now);
        entry.cwd.clone_from(&terminal.state.terminal.cwd);
        (entry.terminal, entry.agent, entry.gone, entry.is_unread) = (terminal, agent, gone, is_unread);
        if before.is_none() {
            entry.terminal.state.terminal.id = entry.wanted_name();
        }
        entry.beside = Some(beside);
        entry.set_profiles(profiles);
        entry
    }

    /// Whether its tracker is in another process.
    pub(in crate::fleet) fn is_told(&self) -> bool {
        self.beside.is_some()
    }

    /// Whether what names it is the same.
    pub(in crate::fleet) fn is_named_like(&self, other: &Self) -> bool {
        let (one, other) = (&self.terminal, &other.terminal);
        (&one.place, &one.declared, &one.state.terminal.label)
            == (&other.place, &other.declared, &other.state.terminal.label)
    }

    /// A poll of the other process found it as it was at this time, which is that process's: of what came after, the history may know
    /// more than this one was told.
    pub(in crate::fleet) fn pass(&mut self, at: Timestamp) {
        let diagnostics = &self.terminal.state.diagnostics;
        if self.is_told() && self.gone.is_none() && diagnostics.availability != Availability::Unavailable {
            let at = at.max(self.terminal.state.observed_at);
            self.terminal.state.pass(at);
        }
    }

    /// One that this process polls from now on and has not read yet, shown and named as before.
    pub(in crate::fleet) fn taken_over(&self, known: Option<Box<TerminalHistory>>, now: Timestamp) -> Self {
        let mut entry = Self::new(self.terminal.key.clone(), self.settings.clone(), known, false, now);
        let Terminal { place, declared, process, state, screen, .. } = &self.terminal;
        (entry.terminal.place, entry.terminal.declared) = (place.clone(), declared.clone());
        (entry.terminal.process, entry.terminal.screen) = (*process, screen.clone());
        entry.terminal.state.terminal = state.terminal.clone();
        entry.refresh(now);
        entry
    }

    /// What this process goes on from: what it was told, with what only the history says, or the history where that is newer.
    pub(in crate::fleet) fn known_with(&self, history: Option<Box<TerminalHistory>>) -> Option<Box<TerminalHistory>> {
        let Terminal { state, screen, .. } = &self.terminal;
        let is_newer = |known: &TerminalHistory| known.state.observed_at > state.observed_at;
        if self.is_unread || history.as_deref().is_some_and(is_newer) {
            return history;
        }
        let (prompted, seen) = history.map_or((false, false), |known| (known.prompted, known.seen));
        let (seen, at) = (seen || !state.unseen, state.observed_at);
        let (state, screen, unbroken_until) = (state.clone(), screen.clone(), at);
        Some(Box::new(TerminalHistory { state, screen, watched_until: at, unbroken_until, prompted, seen }))
    }

    /// Its state in short.
    pub(super) fn summary(&self) -> Summary {
        let last = self.terminal.transitions.back().filter(|_| self.is_told());
        last.map_or_else(|| self.tracker.summary(), |last| last.summary.clone())
    }
}
