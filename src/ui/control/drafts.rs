//! Prompts that were begun, wait, or come back.

use std::collections::HashMap;

use crate::fleet::{TerminalKey, View};
use crate::operation::{Outcome, When};
use crate::record::Draft;
use crate::status::Status;
use crate::ui::{Action, OverlayEvent, Topic, Ui, Waiting, find};

impl Ui {
    /// A draft goes only when its text has arrived; what was not sent and is no draft becomes one.
    pub(super) fn follow_draft(
        &mut self,
        key: &TerminalKey,
        text: &str,
        when: When,
        outcome: &Outcome,
        view: &View<'_>,
    ) {
        let is_draft = self.memory.drafts.get(&Some(key.clone())).is_some_and(|draft| draft.text == text);
        let has_left = match when {
            When::Ready => matches!(outcome, Outcome::Refused(_)),
            When::Now | When::Anyway => self.memory.sending.remove(key).is_some_and(|on_its_way| on_its_way == text),
        };
        match (outcome.is_accepted(), is_draft) {
            (true, true) => drop(self.memory.drafts.remove(&Some(key.clone()))),
            // The prompt that was opened meanwhile began empty.
            (false, true) if has_left => self.on_event(OverlayEvent::Drafted { key, text }, view),
            (false, false) if has_left => self.keep_as_draft(key, text, view),
            _ => {}
        }
        if outcome.is_accepted() {
            self.memory.taken(key, text);
            // What was begun for one that is gone has gone to another one.
            let left = self.memory.left_drafts(view);
            self.memory
                .drafts
                .retain(|key, draft| draft.text != text || key.as_ref().is_none_or(|key| !left.contains(key)));
        }
    }

    /// Shows which prompts wait for which terminal, in the order in which they go.
    pub fn show_queue(&mut self, waiting: HashMap<TerminalKey, Vec<Waiting>>) {
        self.memory.queued = waiting;
    }

    /// Begins with the drafts that were left the last time.
    pub fn restore_drafts(&mut self, drafts: impl IntoIterator<Item = Draft>) {
        drafts.into_iter().for_each(|draft| self.memory.write_draft(draft));
    }

    /// The prompts that were begun and not sent: the one for several, and behind it those by terminal.
    pub fn drafts(&self) -> Vec<Draft> {
        self.memory.drafts.values().cloned().collect()
    }

    /// Gives prompts back that waited for a terminal: they are its draft again.
    pub fn taken_back(&mut self, taken: &[(TerminalKey, Vec<String>)], view: &View<'_>) {
        // The one that would have gone first stands first.
        let keep = |ui: &mut Self, (key, texts): &(TerminalKey, Vec<String>)| {
            texts.iter().rev().for_each(|text| ui.keep_as_draft(key, text, view));
        };
        let [(key, texts)] = taken else {
            for taken in taken {
                keep(self, taken);
            }
            let late = taken.iter().filter(|(_, texts)| texts.is_empty()).count();
            let late = if late > 0 { format!("; too late for {late}") } else { String::new() };
            let back = taken.iter().filter(|(_, texts)| !texts.is_empty()).count();
            let message = format!("taken back from {back} of the marked: each has its draft again{late}");
            return self.notify_about(Topic::Drafts, Status::Ready, message, view.now);
        };
        let name = find(view, key).map_or("the terminal", |terminal| terminal.state.terminal.id.as_str());
        if texts.is_empty() {
            let message = format!("too late: it is on its way to {name}");
            return self.notify_about(Topic::Prompt(key.clone()), Status::Stalled, message, view.now);
        }
        keep(self, &taken[0]);
        let opens = self.key_for(Action::Prompt);
        let opens = opens.map(|key| format!("; {key} opens it")).unwrap_or_default();
        let message = format!("taken back: it is a draft for {name} again{opens}");
        self.notify_about(Topic::Prompt(key.clone()), Status::Ready, message, view.now);
    }

    /// Offers the prompts that were sent before, newest first: to the terminal that is written to, and to any.
    pub fn prompts(&mut self, own: &[String], all: &[String], view: &View<'_>) {
        let left = self.memory.left_drafts(view);
        let left: Vec<String> =
            left.iter().filter_map(|key| self.memory.draft(Some(key))).map(|draft| draft.text.clone()).collect();
        self.on_event(OverlayEvent::Prompts { own, left: &left, all }, view);
    }

    fn keep_as_draft(&mut self, key: &TerminalKey, text: &str, view: &View<'_>) {
        self.memory.keep_as_draft(key, text, view.now);
        self.on_event(OverlayEvent::Drafted { key, text }, view);
    }
}
