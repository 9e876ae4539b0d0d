//! What the dashboard remembers while overlays come and go.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::toast::Toasts;
use crate::fleet::{ServerId, TerminalKey, View};
use crate::present::arrangement::{Arrangement, Bells};
use crate::present::item::find;
use crate::record::{Draft, Intent};
use crate::time::Timestamp;

/// What outlives every overlay.
#[derive(Clone, Debug, Default)]
pub struct OverlayMemory {
    pub toasts: Toasts,
    /// How the terminals are shown, and which of them are marked.
    pub arrangement: Arrangement,
    /// Which bells of tasks were seen.
    pub bells: Bells,
    /// The prompts that were begun and not sent, by terminal, and under `None` the one for several.
    pub drafts: BTreeMap<Option<TerminalKey>, Draft>,
    /// Who has not taken the prompt for several that was sent; those who could not get it at all stay here.
    pub untaken: BTreeSet<TerminalKey>,
    /// Prompts on their way, which must not be sent again.
    pub sending: HashMap<TerminalKey, String>,
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
    /// What was begun for a terminal, or for several, and is not on its way there.
    pub fn draft(&self, to: Option<&TerminalKey>) -> Option<&Draft> {
        let on_its_way = to.and_then(|key| self.sending.get(key));
        self.drafts.get(&to.cloned()).filter(|draft| on_its_way != Some(&draft.text))
    }

    /// The terminals for which there is such a draft.
    pub fn drafted(&self) -> impl Iterator<Item = &TerminalKey> {
        self.drafts.keys().flatten().filter(|key| self.draft(Some(key)).is_some())
    }

    /// The terminals that such a draft is for and that are there no more.
    pub fn left_drafts(&self, view: &View<'_>) -> Vec<TerminalKey> {
        let is_there = |key: &TerminalKey| find(view, key).is_some_and(|it| !it.state.is_unavailable());
        self.drafted().filter(|key| !is_there(key)).cloned().collect()
    }

    /// Keeps a text as the draft for a terminal, in front of the one that it has.
    pub fn keep_as_draft(&mut self, key: &TerminalKey, text: &str, now: Timestamp) {
        let text = match self.draft(Some(key)) {
            Some(before) if before.text != text => format!("{text}\n\n{}", before.text),
            _ => text.to_owned(),
        };
        self.write_draft(Draft { key: Some(key.clone()), text, at: now });
    }

    /// Puts a text in the place of a draft; one of blanks is none.
    pub fn write_draft(&mut self, draft: Draft) {
        if self.drafts.get(&draft.key).is_some_and(|before| before.text == draft.text) {
            return;
        }
        if draft.key.is_none() {
            self.untaken.clear();
        }
        match draft.text.trim().is_empty() {
            true => drop(self.drafts.remove(&draft.key)),
            false => drop(self.drafts.insert(draft.key.clone(), draft)),
        }
    }

    /// Takes note that a terminal took a prompt. As long as somebody did not get that for several, it is worth keeping.
    pub fn taken(&mut self, key: &TerminalKey, text: &str) {
        let is_it = self.drafts.get(&None).is_some_and(|draft| draft.text == text);
        if is_it && self.untaken.remove(key) && self.untaken.is_empty() {
            self.drafts.remove(&None);
        }
    }
}

/// A prompt that waits until its agent is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub text: String,
    pub since: Timestamp,
}
