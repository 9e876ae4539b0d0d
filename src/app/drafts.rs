//! Drafts are saved while they are written, so that they survive however the dashboard ends.

use std::sync::Arc;

use super::keeper::Keeper;
use crate::history::{Drafts, Settings};
use crate::record::Draft;
use crate::ui::Ui;

/// Keeps drafts.
pub(super) struct DraftStore {
    pub(super) drafts: Option<Arc<Drafts>>,
    pub(super) keeper: Keeper<Vec<Draft>>,
    /// What was left the last time, until it is reported.
    pub(super) found: Vec<Draft>,
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
