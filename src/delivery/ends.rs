//! Notes in tmux that the end of what `fleetwatch run` started has been told, so that nobody who watches later tells it
//! again.

use crate::fleet::{Fleet, TerminalKey};
use crate::ids::WindowId;
use crate::task::{Batch, Happening};
use crate::tmux::{self, Server};

/// Notes the ends among what has just been told.
pub(super) fn note_ends(batch: &Batch, fleet: &Fleet, tmux: &tmux::Settings) {
    let was_run = |window: WindowId| {
        let task = fleet.task(&batch.server, window).filter(|task| task.registration.at().is_some())?;
        Some((task.key.clone(), window))
    };
    let ends = batch.events.iter().filter(|event| matches!(event.happening, Happening::Exited { .. }));
    let ended: Vec<(TerminalKey, WindowId)> = ends.filter_map(|event| was_run(event.window)).collect();
    if ended.is_empty() {
        return;
    }
    let (server, tmux) = (batch.server.clone(), tmux.clone());
    tokio::spawn(async move {
        let Ok(server) = Server::new(server, tmux) else { return };
        if let Err(error) = server.ends_were_told(&ended).await {
            tracing::warn!(server = %server.id(), %error, "ends may be told twice");
        }
    });
}
