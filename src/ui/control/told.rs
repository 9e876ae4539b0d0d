//! What the dashboard is told beside what became of prompts: the queue, earlier prompts, the editor's text.

use crate::status::Status;
use std::collections::HashMap;

use crate::fleet::{TerminalKey, View};

use crate::ui::overlay::{OperationNews, Waiting};
use crate::ui::{Topic, Ui, find};

impl Ui {
    /// Shows which prompts wait for which terminal, in the order in which they go.
    pub fn show_queue(&mut self, waiting: HashMap<TerminalKey, Vec<Waiting>>) {
        self.memory.queued = waiting;
    }

    /// Begins with the drafts that were left the last time; `None` is the one for several terminals.
    pub fn restore_drafts(&mut self, drafts: impl IntoIterator<Item = (Option<TerminalKey>, String)>) {
        for (key, text) in drafts {
            match key {
                Some(key) => drop(self.memory.drafts.insert(key, text)),
                None => self.memory.broadcast.write(text),
            }
        }
    }

    /// The prompts that were begun and not sent, by terminal, and the one for several.
    pub fn drafts(&self) -> (&HashMap<TerminalKey, String>, &str) {
        (&self.memory.drafts, self.memory.broadcast.text())
    }

    /// Gives prompts back that waited for a terminal: they are its draft again.
    pub fn taken_back(&mut self, key: &TerminalKey, texts: &[String], view: &View<'_>) {
        let name = find(view, key).map_or("the terminal", |terminal| terminal.state.terminal.id.as_str());
        if texts.is_empty() {
            let told = format!("too late: it is on its way to {name}");
            return self.notify_about(Topic::Prompt(key.clone()), Status::Stalled, told, view.now);
        }
        self.add_to_draft(key, &texts.join("\n\n"), view);
        let told = format!("taken back: it is a draft for {name} again");
        self.notify_about(Topic::Prompt(key.clone()), Status::Ready, told, view.now);
    }

    /// Offers the prompts that were sent before, newest first: to the terminal that is written to, and to any.
    pub fn prompts(&mut self, own: &[String], all: &[String], view: &View<'_>) {
        self.hear(OperationNews::Prompts { own, all }, view);
    }

    /// Takes the prompt over that comes back from the operator's editor.
    pub fn edited(&mut self, text: &str, view: &View<'_>) {
        self.hear(OperationNews::Edited { text }, view);
    }

    pub(super) fn add_to_draft(&mut self, key: &TerminalKey, text: &str, view: &View<'_>) {
        let draft = self.memory.drafts.entry(key.clone()).or_default();
        if !draft.is_empty() {
            draft.push_str("\n\n");
        }
        draft.push_str(text);
        self.hear(OperationNews::Drafted { key }, view);
    }
}
