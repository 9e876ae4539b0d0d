//! Prompts that were begun, wait, or come back.

use std::collections::HashMap;

use crate::fleet::{TerminalKey, View};
use crate::record::Draft;
use crate::status::Status;
use crate::ui::{Action, OverlayEvent, Topic, Ui, Waiting, find};

impl Ui {
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
        let opens = self.key_for(Action::Prompt).map(|key| format!("; {key} opens it")).unwrap_or_default();
        for (key, texts) in taken {
            // The one that would have gone first stands first.
            texts.iter().rev().for_each(|text| self.keep_as_draft(key, text, view));
            let name = find(view, key).map_or("the terminal", |terminal| terminal.state.terminal.id.as_str());
            let (status, message) = match texts.is_empty() {
                true => (Status::Stalled, format!("too late: it is on its way to {name}")),
                false => (Status::Ready, format!("taken back: it is a draft for {name} again{opens}")),
            };
            self.notify_about(Topic::Prompt(key.clone()), status, message, view.now);
        }
    }

    /// Offers the prompts that were sent before, newest first: to the terminal that is written to, and to any.
    pub fn prompts(&mut self, own: &[String], all: &[String], view: &View<'_>) {
        let left = self.memory.left_drafts(view);
        let left: Vec<String> =
            left.iter().filter_map(|key| self.memory.draft(Some(key))).map(|draft| draft.text.clone()).collect();
        self.on_event(OverlayEvent::Prompts { own, left: &left, all }, view);
    }

    pub(super) fn keep_as_draft(&mut self, key: &TerminalKey, text: &str, view: &View<'_>) {
        self.memory.keep_as_draft(key, text, view.now);
        self.on_event(OverlayEvent::Drafted { key, text }, view);
    }
}
