//! What the dashboard remembers while overlays come and go.

use std::collections::{BTreeSet, HashMap};

use super::toast::Toasts;
use crate::fleet::{ServerId, TerminalKey, View};
use crate::present::arrangement::{Arrangement, Bells};
use crate::present::item::find;
use crate::record::Intent;
use crate::time::Timestamp;

/// What outlives every overlay.
#[derive(Clone, Debug, Default)]
pub struct OverlayMemory {
    pub toasts: Toasts,
    /// How the terminals are shown, and which of them are marked.
    pub arrangement: Arrangement,
    /// Which bells of tasks were seen.
    pub bells: Bells,
    /// The prompts that were begun and not sent, by terminal.
    pub drafts: HashMap<TerminalKey, String>,
    /// When each was written last; `None` is the one for several terminals.
    pub draft_times: HashMap<Option<TerminalKey>, Timestamp>,
    /// Prompts on their way, which must not be sent again.
    pub sending: HashMap<TerminalKey, String>,
    /// The prompt for several terminals that was begun and not taken by all of them.
    pub broadcast: BroadcastDraft,
    /// The messages to agents that wait, are on their way, or are for the operator to decide.
    pub follow_ups: Vec<Intent>,
    /// The prompts that wait for each terminal until it is ready.
    pub queued: HashMap<TerminalKey, Vec<Waiting>>,
    /// Why no prompt can wait, where none can.
    pub cannot_wait: Option<&'static str>,
    /// The servers of the user that are not watched.
    pub other_servers: Vec<ServerId>,
}

impl OverlayMemory {
    /// What was begun for a terminal and is not on its way there.
    pub fn draft(&self, key: &TerminalKey) -> Option<&str> {
        self.drafts.get(key).filter(|draft| self.sending.get(key) != Some(draft)).map(String::as_str)
    }

    /// When the draft for a terminal, or for several, was written last, as far as that is known.
    pub fn draft_time(&self, key: Option<&TerminalKey>) -> Option<Timestamp> {
        self.draft_times.get(&key.cloned()).copied()
    }

    /// The terminals for which there is such a draft.
    pub fn drafted(&self) -> impl Iterator<Item = &TerminalKey> {
        self.drafts.keys().filter(|key| self.draft(key).is_some())
    }

    /// The terminals that such a draft is for and that are there no more.
    pub fn left_drafts(&self, view: &View<'_>) -> Vec<TerminalKey> {
        let is_there = |key: &TerminalKey| find(view, key).is_some_and(|it| !it.state.is_unavailable());
        self.drafted().filter(|key| !is_there(key)).cloned().collect()
    }

    /// Keeps a text as the draft for a terminal, in front of the one that it has.
    pub fn keep_as_draft(&mut self, key: &TerminalKey, text: &str, now: Timestamp) {
        let text = match self.draft(key) {
            Some(before) if before != text => format!("{text}\n\n{before}"),
            _ => text.to_owned(),
        };
        self.draft_times.insert(Some(key.clone()), now);
        self.drafts.insert(key.clone(), text);
    }

    /// Puts a text in the place of a draft.
    pub fn restore_draft(&mut self, key: Option<&TerminalKey>, text: String, at: Timestamp) {
        self.draft_times.insert(key.cloned(), at);
        match key {
            Some(key) => drop(self.drafts.insert(key.clone(), text)),
            None => drop(self.broadcast.write(text)),
        }
    }
}

/// A prompt that waits until its agent is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub text: String,
    pub since: Timestamp,
}

/// The prompt for several terminals that is begun, and who has still to take it.
#[derive(Clone, Debug, Default)]
pub struct BroadcastDraft {
    text: String,
    /// Whom it was sent to and who has not taken it; those who could not get it at all stay here.
    missing: BTreeSet<TerminalKey>,
}

impl BroadcastDraft {
    /// The text; empty when there is none.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Follows what is written; returns what stood there before.
    pub fn write(&mut self, text: String) -> Option<String> {
        let before = std::mem::replace(&mut self.text, text);
        if before != self.text {
            self.missing.clear();
        }
        Some(before)
    }

    /// Notes the recipients.
    pub fn is_sent_to(&mut self, keys: &[TerminalKey]) {
        self.missing = keys.iter().cloned().collect();
    }

    /// Takes note that a terminal took a prompt. As long as somebody did not get it, the text is worth keeping.
    pub fn taken(&mut self, key: &TerminalKey, text: &str) {
        if text == self.text && self.missing.remove(key) && self.missing.is_empty() {
            self.text.clear();
        }
    }
}
