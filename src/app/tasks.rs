//! What the dashboard does about tasks beside showing them.

use std::time::Duration;

use super::App;
use super::actors::ActorNews;
use crate::fleet::{FoundSession, Input};
use crate::history::{OperatorAction, Record};
use crate::ids::{ServerId, TerminalKey, WindowId};
use crate::poll;
use crate::status::Status;
use crate::task::{Batch, Happening, TaskEvent};
use crate::tmux::{Server, Start};
use crate::ui::{Topic, happening_status};

/// How a kill is told.
const KILLED: &str = "killed from the dashboard";

/// How long a kill waits for the history, so that other processes know of it before the window is gone.
const NOTED: Duration = Duration::from_millis(500);

impl App {
    /// Ends tasks, and removes their windows.
    pub(super) fn kill_tasks(&mut self, tasks: Vec<(TerminalKey, WindowId)>) {
        for (key, window) in tasks {
            let Some(task) = self.engine.fleet().task(&key.server, window) else { continue };
            let (name, ended) = (task.id.clone(), task.is_dead());
            let (server, reason) = (key.server.clone(), KILLED.to_owned());
            if !ended {
                self.history.record(Record::kill(key.clone(), name.clone(), poll::now(), KILLED));
                self.engine.handle_local(Input::TaskKilled { server, window, reason }, poll::now());
            }
            let (history, tmux) = (self.history.clone(), self.engine.settings().feed.tmux.clone());
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
                ActorNews::Task { key, told }
            });
        }
    }

    /// Runs a task that has ended again.
    pub(super) fn rerun_task(&mut self, key: TerminalKey, window: WindowId) {
        let Some(name) = self.engine.fleet().task(&key.server, window).map(|task| task.id.clone()) else { return };
        let tmux = self.engine.settings().feed.tmux.clone();
        self.actors.work(async move {
            let begun = match Server::new(key.server.clone(), tmux) {
                Ok(server) => server.begin_again(&key, window, None, poll::now().as_millis()).await,
                Err(error) => Err(error),
            };
            let told = match begun {
                Ok(Start::Begun(_)) => Ok(format!("{name} runs again")),
                Ok(Start::Overtaken) => Err(format!("{name} runs again already, or is gone")),
                Err(error) => Err(format!("{name}: {error}")),
            };
            ActorNews::Task { key, told }
        });
    }

    /// A session is treated as tasks from now on, or no longer; the pollers read the choice with their next look.
    pub(super) fn adopted(&mut self, server: ServerId, session: String, adopt: bool, kept: Result<(), String>) {
        if let Err(error) = kept {
            return self.ui.notify(Status::Failed, format!("nothing was changed: {error}"), poll::now());
        }
        let run = self
            .engine
            .fleet()
            .view(poll::now())
            .tasks
            .into_iter()
            .any(|task| task.key.server == server && task.session == session && task.registration.at().is_some());
        let told = match (adopt, run) {
            (true, _) => "is one of tasks now",
            (false, true) => "is no longer a task session, but what `fleetwatch run` started stays a task",
            (false, false) => "is no longer a task session",
        };
        let action = if adopt { "treated as tasks" } else { "treated as tasks no longer" };
        let (name, action) = (session.clone(), OperatorAction::of_word(action));
        self.history.record(Record::Action { key: None, name, at: poll::now(), action });
        self.ui.notify(Status::Finished, format!("{session} {told}"), poll::now());
        self.engine.wake(&server);
        if !adopt {
            let tmux = self.engine.settings().feed.tmux.clone();
            tokio::spawn(async move {
                let Ok(server) = Server::new(server, tmux) else { return };
                if let Err(error) = server.undeclare_tasks(&session).await {
                    tracing::warn!(server = %server.id(), %error, "the session is still marked as one of tasks");
                }
            });
        }
    }

    /// Shows what happened to tasks as messages (SPEC §9), the urgent ones last, which are the last ones to give way.
    pub(super) fn show_task_events(&mut self, batch: &Batch) {
        let now = poll::now();
        let view = self.engine.fleet().view(now);
        let is_muted = |key: &TerminalKey| view.tasks.iter().any(|task| task.key == *key && self.ui.mutes_task(task));
        // What was asked for here has been answered here.
        let ours = Happening::Disappeared { reason: Some(KILLED.to_owned()) };
        let mut events: Vec<&TaskEvent> =
            batch.events.iter().filter(|event| event.happening != ours && !is_muted(&event.key)).collect();
        events.sort_by_key(|event| event.happening.level());
        for event in events {
            let told = format!("{} {}", event.id, event.happening.text());
            let topic = Topic::Event(event.key.clone());
            self.ui.notify_about(topic, happening_status(&event.happening), told, now);
        }
    }
}

/// The notice of task sessions that were there before; `prune` is the key that removes what has ended, after a question.
pub(super) fn found(sessions: &[FoundSession], prune: Option<&str>) -> String {
    let count = |session: &FoundSession| match (session.alive, session.dead) {
        (0, dead) => format!("{}: {dead} ended", session.name),
        (alive, 0) => format!("{}: {alive} alive", session.name),
        (alive, dead) => format!("{}: {alive} alive, {dead} ended", session.name),
    };
    let told = format!("task sessions from before: {}", sessions.iter().map(count).collect::<Vec<_>>().join("; "));
    let only_ended = sessions.iter().any(|session| session.alive == 0);
    match prune.filter(|_| only_ended) {
        Some(key) => format!("{told}; {key} removes what has ended"),
        None if only_ended => format!("{told}; `fleetwatch tasks prune` removes what has ended"),
        None => told,
    }
}
