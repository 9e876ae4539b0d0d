//! What the dashboard does about tasks beside showing them.

use super::App;
use crate::feed;
use crate::fleet::{Effect, FoundSession, Input};
use crate::history::kills_before;
use crate::moment::Moment;
use crate::place::WindowId;
use crate::task::Happening;
use crate::tmux::Server;
use crate::ui::Meaning;

impl App {
    /// Tells the fleet, before it is told that tasks are gone, which of them somebody killed elsewhere.
    pub(super) fn tell_of_kills(&mut self, input: &Input, now: Moment) {
        let Input::Tasks(report) = input else { return };
        for killed in kills_before(self.history.path(), report, &self.fleet, now) {
            self.fleet.handle(killed, now);
        }
    }

    /// Shows what was there before, and notes which ends have been told.
    pub(super) fn follow_tasks(&mut self, effect: &Effect) {
        match effect {
            Effect::TasksFound { sessions } => {
                self.ui.notify(Meaning::Finished, found(sessions), feed::now());
            }
            Effect::Tasks(batch) => {
                let is_end = |happening: &Happening| matches!(happening, Happening::Exited { .. });
                let ended: Vec<WindowId> = batch
                    .events
                    .iter()
                    .filter(|event| is_end(&event.happening))
                    .filter(|event| {
                        let task = self.fleet.task(&batch.server, event.window);
                        task.is_some_and(|task| task.registration.at().is_some())
                    })
                    .map(|event| event.window)
                    .collect();
                if ended.is_empty() {
                    return;
                }
                let (server, tmux) = (batch.server.clone(), self.feed.tmux.clone());
                tokio::spawn(async move {
                    let Ok(server) = Server::new(server, tmux) else { return };
                    if let Err(error) = server.ends_were_told(&ended).await {
                        tracing::warn!(server = %server.id(), %error, "ends may be told twice");
                    }
                });
            }
            _ => {}
        }
    }

    /// Takes back what was set in task sessions for counting bells.
    pub(super) async fn leave_tasks(&mut self) {
        for (server, poller) in std::mem::take(&mut self.pollers) {
            let tended = poller.has_tended();
            // The poller must not set again what is taken back.
            drop(poller);
            if tended && let Err(error) = feed::release(&self.feed, &server).await {
                tracing::warn!(%server, %error, "what counts bells was left behind");
            }
        }
    }
}

/// The notice of task sessions that were there before.
fn found(sessions: &[FoundSession]) -> String {
    let count = |session: &FoundSession| match (session.alive, session.dead) {
        (0, dead) => format!("{}: {dead} ended, `fleetwatch tasks prune` removes them", session.name),
        (alive, 0) => format!("{}: {alive} alive", session.name),
        (alive, dead) => format!("{}: {alive} alive, {dead} ended", session.name),
    };
    format!("task sessions from before: {}", sessions.iter().map(count).collect::<Vec<_>>().join("; "))
}
