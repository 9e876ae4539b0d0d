//! What the dashboard does about tasks beside showing them.

use std::time::Duration;

use super::App;
use super::actors::News;
use crate::feed;
use crate::fleet::{Effect, FoundSession, Input};
use crate::history::{Record, kills_before};
use crate::moment::Moment;
use crate::place::{TerminalKey, WindowId};
use crate::task::Happening;
use crate::tmux::Server;
use crate::ui::Meaning;

/// How a kill is told.
const KILLED: &str = "killed from the dashboard";

/// How long a kill waits for the history, so that other processes know of it before the window is gone.
const NOTED: Duration = Duration::from_millis(500);

impl App {
    /// Ends tasks, and removes their windows.
    pub(super) fn kill_tasks(&mut self, tasks: Vec<(TerminalKey, WindowId)>) {
        for (key, window) in tasks {
            let Some(task) = self.fleet.task(&key.server, window) else { continue };
            let (name, ended) = (task.id.clone(), task.is_dead());
            let (server, reason) = (key.server.clone(), KILLED.to_owned());
            if !ended {
                self.history.record(Record::kill(key.clone(), name.clone(), feed::now(), KILLED));
                self.take(Input::TaskKilled { server, window, reason });
            }
            let (history, tmux) = (self.history.clone(), self.feed.tmux.clone());
            self.actors.work(async move {
                history.written(NOTED).await;
                let killed = match Server::new(key.server.clone(), tmux) {
                    Ok(server) => server.kill_task(&key, window).await,
                    Err(error) => Err(error),
                };
                let told = match killed {
                    Ok(true) => Ok(format!("{name} was {}", if ended { "removed" } else { "ended" })),
                    Ok(false) => Err(format!("{name} is gone already")),
                    Err(error) => Err(format!("{name}: {error}")),
                };
                News::Task { key, told }
            });
        }
    }

    /// Runs a task that has ended again.
    pub(super) fn rerun_task(&mut self, key: TerminalKey, window: WindowId) {
        let Some(name) = self.fleet.task(&key.server, window).map(|task| task.id.clone()) else { return };
        let tmux = self.feed.tmux.clone();
        self.actors.work(async move {
            let begun = match Server::new(key.server.clone(), tmux) {
                Ok(server) => server.begin_again(&key, window, None, feed::now().as_millis()).await,
                Err(error) => Err(error),
            };
            let told = begun.map(|_| format!("{name} runs again")).map_err(|error| format!("{name}: {error}"));
            News::Task { key, told }
        });
    }

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
