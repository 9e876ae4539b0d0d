//! Drafts are kept while they are written, so that no end of the dashboard loses them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::App;
use crate::fleet::TerminalKey;
use crate::history::{Draft, Drafts, Settings};
use crate::poll;
use crate::status::Status;
use crate::ui::Ui;

/// How long what is written waits to be kept, so that not every key writes a file.
const SOON: Duration = Duration::from_secs(1);

/// Whoever keeps drafts.
pub(super) struct DraftStore {
    drafts: Option<Arc<Drafts>>,
    /// What was kept last.
    kept: Vec<Draft>,
    /// When what is written now is to be kept.
    due: Option<Instant>,
    writing: Option<JoinHandle<std::io::Result<()>>>,
    /// What was left the last time, until it is told.
    found: Vec<Draft>,
}

impl DraftStore {
    /// Takes over what was left. Where that is not possible drafts live as long as the dashboard.
    pub(super) fn start(settings: &Settings, ui: &mut Ui) -> Self {
        let (drafts, found) = match Drafts::start(settings) {
            Ok(Some((drafts, found))) => (Some(Arc::new(drafts)), found),
            Ok(None) => (None, Vec::new()),
            Err(error) => {
                tracing::warn!(%error, "drafts are not kept");
                (None, Vec::new())
            }
        };
        if drafts.is_some() {
            ui.restore_drafts(found.iter().map(|draft| (draft.key.clone(), draft.text.clone())));
        }
        Self { drafts, kept: found.clone(), due: None, writing: None, found }
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
        let names: Vec<&str> = found.iter().filter_map(name).collect();
        if !names.is_empty() {
            let told = format!("drafts restored: {}", names.join(", "));
            self.ui.notify(Status::Ready, told, poll::now());
        }
    }

    /// Keeps what has been written, a moment after it was.
    pub(super) fn keep_drafts(&mut self) {
        let Some(drafts) = self.drafts.drafts.clone() else { return };
        let now = self.unsent();
        let keeper = &mut self.drafts;
        if now == keeper.kept {
            keeper.due = None;
            return;
        }
        let due = *keeper.due.get_or_insert_with(|| Instant::now() + SOON);
        let is_writing = keeper.writing.as_ref().is_some_and(|writing| !writing.is_finished());
        if due <= Instant::now() && !is_writing {
            keeper.due = None;
            keeper.kept.clone_from(&now);
            keeper.writing = Some(tokio::task::spawn_blocking(move || drafts.keep(&now)));
        }
    }

    /// Keeps what is left when the dashboard is.
    pub(super) async fn leave_drafts(&mut self) {
        if let Some(writing) = self.drafts.writing.take() {
            let _ = writing.await;
        }
        let unsent = self.unsent();
        if let Some(drafts) = &self.drafts.drafts
            && unsent != self.drafts.kept
            && let Err(error) = drafts.keep(&unsent)
        {
            tracing::warn!(%error, "drafts were not kept");
        }
    }

    /// The drafts, by terminal, and the one for several.
    fn unsent(&self) -> Vec<Draft> {
        let (drafts, several) = self.ui.drafts();
        let drafts: BTreeMap<&TerminalKey, &String> = drafts.iter().collect();
        let several = Some(several).filter(|text| !text.trim().is_empty());
        let several = several.map(|text| Draft { key: None, text: text.to_owned() });
        let draft = |(key, text): (&TerminalKey, &String)| Draft { key: Some(key.clone()), text: text.clone() };
        drafts.into_iter().map(draft).chain(several).collect()
    }
}
