//! Drafts are saved while they are written, so that they survive however the dashboard ends.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::time::Instant;

use super::App;
use super::keeper::Keeper;
use crate::fleet::TerminalKey;
use crate::history::{Draft, DraftKind, Drafts, Settings};
use crate::poll;
use crate::status::Status;
use crate::ui::{Topic, Ui};

/// Keeps drafts.
pub(super) struct DraftStore {
    drafts: Option<Arc<Drafts>>,
    keeper: Keeper<Vec<Draft>>,
    /// What was left the last time, until it is reported.
    found: Vec<Draft>,
    /// Why there is no place for drafts, until it is reported.
    trouble: Option<String>,
}

impl DraftStore {
    /// Takes over what was left. Where that is not possible drafts live as long as the dashboard.
    pub(super) fn start(settings: &Settings, ui: &mut Ui) -> Self {
        let started = Drafts::start(settings);
        let trouble = started.as_ref().err().map(ToString::to_string);
        let (drafts, found) = match started.ok().flatten() {
            Some((drafts, found)) => (Some(Arc::new(drafts)), found),
            None => (None, Vec::new()),
        };
        ui.set_drafts_end_here(drafts.is_none());
        ui.restore_drafts(found.clone());
        Self { drafts, keeper: Keeper::new(found.clone()), found, trouble }
    }
}

impl App {
    /// Tells of drafts from the last time, for terminals that are there.
    pub(super) fn tell_of_drafts(&mut self) {
        let found = std::mem::take(&mut self.drafts.found);
        let name = |draft: &Draft| match &draft.key {
            None => Some("several"),
            Some(key) => self.engine.fleet().terminal(key).map(|terminal| terminal.state.terminal.id.as_str()),
        };
        let has_agents = !self.engine.fleet().view(self.now).terminals.is_empty();
        // What is for several is no news where there are none.
        let is_told = |it: &Draft| it.kind == DraftKind::Prompt && (it.key.is_some() || has_agents);
        let found: Vec<Draft> = found.into_iter().filter(is_told).collect();
        let names: Vec<&str> = found.iter().filter_map(name).collect();
        let answered = |draft: &&Draft| {
            let mut servers = self.engine.fleet().servers();
            let server = draft.key.as_ref().map(|key| &key.server);
            servers.any(|it| Some(&it.id) == server && it.answered_at.is_some())
        };
        let left = found.iter().filter(answered).filter(|draft| name(draft).is_none()).count();
        let restored = (!names.is_empty()).then(|| format!("drafts restored: {}", names.join(", ")));
        let left = (left > 0).then(|| format!("drafts for agents that are gone: {left}, among the earlier prompts"));
        let messages: Vec<String> = restored.into_iter().chain(left).collect();
        if !messages.is_empty() {
            self.ui.notify_about(Topic::Drafts, Status::Ready, messages.join("; "), poll::now());
        }
    }

    /// Keeps what has been written, a moment after it was; says once that a draft lives only as long as the dashboard.
    pub(super) fn keep_drafts(&mut self) {
        let unsent = self.unsent();
        let trouble = match self.drafts.drafts.clone() {
            Some(drafts) => {
                let failed = self.drafts.keeper.follow(unsent, Instant::now(), move |unsent| drafts.keep(unsent));
                failed.map(|error| error.to_string())
            }
            None if unsent.is_empty() => None,
            None => self.drafts.trouble.take(),
        };
        if let Some(why) = trouble {
            self.complain(&format!("drafts are lost when the dashboard ends: {why}"));
        }
    }

    /// Keeps what is left when the dashboard is.
    pub(super) async fn leave_drafts(&mut self) {
        let Some(drafts) = self.drafts.drafts.clone() else { return };
        let unsent = self.unsent();
        self.drafts.keeper.leave(unsent, |unsent| drafts.keep(unsent)).await;
    }

    /// The drafts, by terminal, and the one for several.
    fn unsent(&self) -> Vec<Draft> {
        let (drafts, several) = self.ui.drafts();
        let drafts: BTreeMap<&TerminalKey, &String> = drafts.iter().collect();
        let several = Some(several).filter(|text| !text.trim().is_empty());
        let draft = |key: Option<&TerminalKey>, text: &str| Draft {
            key: key.cloned(),
            text: text.to_owned(),
            at: self.ui.draft_time(key),
            kind: DraftKind::Prompt,
        };
        let several = several.map(|text| draft(None, text));
        let unsent = drafts.into_iter().map(|(key, text)| draft(Some(key), text)).chain(several);
        unsent.chain(self.ui.drafts_aside().iter().cloned()).collect()
    }
}
