//! Prompts that were begun, wait, or come back.

use std::collections::HashMap;

use crate::fleet::{TerminalKey, View};
use crate::history::{Draft, DraftKind};
use crate::operation::{Outcome, When};
use crate::status::Status;
use crate::time::{Span, Timestamp};
use crate::ui::{Action, OverlayEvent, Topic, Ui, Waiting, find, text};

/// How long after the warning that drafts are lost the key that quits is meant.
const WARNED: Span = Span::from_secs(10);

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
        let is_draft = self.memory.drafts.get(key).is_some_and(|draft| draft == text);
        let has_left = match when {
            When::Ready => matches!(outcome, Outcome::Refused(_)),
            When::Now | When::Anyway => self.memory.sending.remove(key).is_some_and(|on_its_way| on_its_way == text),
        };
        match (outcome.is_accepted(), is_draft) {
            (true, true) => drop(self.memory.drafts.remove(key)),
            // The prompt that was opened meanwhile began empty.
            (false, true) if has_left => self.on_event(OverlayEvent::Drafted { key }, view),
            (false, false) if has_left => drop(self.keep_as_draft(key, text, view)),
            _ => {}
        }
        if outcome.is_accepted() {
            self.memory.broadcast.taken(key, text);
            // What was begun for one that is gone has gone to another one.
            let left = self.memory.left_drafts(view);
            self.memory.drafts.retain(|key, draft| draft != text || !left.contains(key));
            self.memory.set_aside.retain(|draft| draft.text != text);
        }
    }

    /// Shows which prompts wait for which terminal, in the order in which they go.
    pub fn show_queue(&mut self, waiting: HashMap<TerminalKey, Vec<Waiting>>) {
        self.memory.queued = waiting;
    }

    /// Begins with the drafts that were left the last time.
    pub fn restore_drafts(&mut self, drafts: impl IntoIterator<Item = Draft>) {
        for draft in drafts {
            match draft.kind {
                DraftKind::Prompt => self.memory.restore_draft(draft.key.as_ref(), draft.text, draft.at),
                DraftKind::Aside | DraftKind::Answer => self.memory.set_aside.push(draft),
            }
        }
    }

    /// When the draft for a terminal, or for several, was written last.
    pub fn draft_time(&self, key: Option<&TerminalKey>) -> Option<Timestamp> {
        self.memory.draft_time(key)
    }

    /// The prompts that were begun and not sent, by terminal, and the one for several.
    pub fn drafts(&self) -> (&HashMap<TerminalKey, String>, &str) {
        (&self.memory.drafts, self.memory.broadcast.text())
    }

    /// The drafts with which no prompt begins.
    pub fn drafts_aside(&self) -> &[Draft] {
        &self.memory.set_aside
    }

    /// Gives prompts back that waited for a terminal: they are its draft again.
    pub fn taken_back(&mut self, taken: &[(TerminalKey, Vec<String>)], view: &View<'_>) {
        // The one that would have gone first is the draft.
        let keep = |ui: &mut Self, (key, texts): &(TerminalKey, Vec<String>)| {
            texts.iter().rev().filter(|text| ui.keep_as_draft(key, text, view)).count() > 0
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
        let is_beside = keep(self, &taken[0]);
        let opens = self.key_for(Action::Prompt);
        let opens = opens.map(|key| format!("; {key} opens it")).unwrap_or_default();
        let beside = if is_beside { ", ↑ in it brings back the one beside it" } else { "" };
        let message = format!("taken back: it is a draft for {name} again{opens}{beside}");
        self.notify_about(Topic::Prompt(key.clone()), Status::Ready, message, view.now);
    }

    /// Offers the prompts that were sent before, newest first: to the terminal that is written to, and to any.
    pub fn prompts(&mut self, own: &[String], all: &[String], view: &View<'_>) {
        let left = self.memory.left_drafts(view);
        let is_left = |draft: &&Draft| draft.key.as_ref().is_some_and(|key| find(view, key).is_none());
        // What was to answer one agent's dialog is no prompt to another.
        let beside = self.memory.set_aside.iter().rev().filter(|draft| draft.kind == DraftKind::Aside);
        let beside = beside.filter(is_left).map(|draft| &draft.text);
        let left: Vec<String> =
            left.iter().filter_map(|key| self.memory.drafts.get(key)).chain(beside).cloned().collect();
        self.on_event(OverlayEvent::Prompts { own, left: &left, all }, view);
    }

    fn keep_as_draft(&mut self, key: &TerminalKey, text: &str, view: &View<'_>) -> bool {
        let has_before = self.memory.keep_as_draft(key, text, view.now);
        self.on_event(OverlayEvent::Drafted { key }, view);
        has_before
    }

    /// Says before the dashboard ends that drafts end with it, where they do; the key again ends it all the same.
    pub(super) fn warns_of_drafts(&mut self, view: &View<'_>) -> bool {
        let memory = &mut self.memory;
        let answers = memory.set_aside.iter().filter(|draft| draft.kind == DraftKind::Answer).count();
        let count = memory.drafted().count() + answers + usize::from(!memory.broadcast.text().trim().is_empty());
        let is_said = memory.warned_of_drafts.is_some_and(|at| (at..at + WARNED).contains(&view.now));
        if !memory.drafts_end_here || count == 0 || is_said {
            return false;
        }
        memory.warned_of_drafts = Some(view.now);
        let key = self.fleet_key(Action::Quit);
        let drafts = text::counted(count, "draft");
        self.say(format!("without a history, {drafts} would be lost; {key} again quits"), view);
        true
    }
}
