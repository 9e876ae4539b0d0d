//! Drafts are saved while they are written, so that they survive however the dashboard ends.

use std::io;
use std::sync::Arc;

use tokio::time::Instant;

use super::App;
use super::keeper::Keeper;
use crate::history::{Draft, Drafts, Settings};
use crate::poll;
use crate::status::Status;
use crate::ui::{Topic, Ui};

/// Keeps drafts.
pub(super) struct DraftStore {
    drafts: Option<Arc<Drafts>>,
    keeper: Keeper<Vec<Draft>>,
    /// What was left the last time, until it is reported.
    found: Vec<Draft>,
}

impl DraftStore {
    /// Takes over what was left. Without a history drafts live as long as the dashboard; one in trouble is reported elsewhere.
    pub(super) fn start(settings: &Settings, ui: &mut Ui) -> Self {
        let (drafts, found) = Drafts::start(settings).unzip();
        let found = found.unwrap_or_default();
        ui.restore_drafts(found.clone());
        Self { drafts: drafts.map(Arc::new), keeper: Keeper::new(found.clone()), found }
    }
}

impl App {
    /// Tells of drafts from the last time, for terminals that are there.
    pub(super) fn tell_of_drafts(&mut self) {
        let found = std::mem::take(&mut self.drafts.found);
        let keys = found.iter().filter_map(|draft| draft.key.as_ref());
        let terminals = keys.filter_map(|key| self.engine.fleet().terminal(key));
        let names: Vec<&str> = terminals.map(|terminal| terminal.state.terminal.id.as_str()).collect();
        if !names.is_empty() {
            let message = format!("drafts restored: {}", names.join(", "));
            self.ui.notify_about(Topic::Drafts, Status::Ready, message, poll::now());
        }
    }

    /// Keeps what has been written, a moment after it was.
    pub(super) fn keep_drafts(&mut self) {
        let Some(drafts) = self.drafts.drafts.clone() else { return };
        let keep = move |unsent: &Vec<Draft>| drafts.keep(unsent).map_err(io::Error::other);
        if let Some(why) = self.drafts.keeper.follow(self.ui.drafts(), Instant::now(), keep) {
            self.complain(&format!("drafts are lost when the dashboard ends: {why}"));
        }
    }

    /// Keeps what is left when the dashboard is.
    pub(super) async fn leave_drafts(&mut self) {
        let Some(drafts) = self.drafts.drafts.clone() else { return };
        let unsent = self.ui.drafts();
        self.drafts.keeper.leave(unsent, |unsent| drafts.keep(unsent).map_err(io::Error::other)).await;
    }
}
