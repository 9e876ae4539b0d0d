//! Starts agents and tasks for the operator, and closes agents with their worktrees.

use std::sync::Arc;

use super::App;
use crate::clock;
use crate::git::WorktreeLeft;
use crate::ids::TerminalKey;
use crate::launch::{self, Closed, Closing, Launcher, Order, Started};
use crate::operation::{Act, Operation, Producer, Recipient, When};
use crate::present::objection::Objection;
use crate::record::OperatorAction;
use crate::status::Status;
use crate::tmux::Server;
use crate::ui::OverlayEvent;

impl App {
    /// What starts something on the server of a row, by default in its repository.
    fn launcher(&self, near: Option<&TerminalKey>) -> Result<Launcher, Objection> {
        let fleet = self.engine.fleet();
        let servers = self.engine.servers();
        let server = near.map(|key| &key.server).or(self.engine.settings().home(&servers));
        let server = server.ok_or_else(|| Objection::bare("there is no server to start it on"))?.clone();
        let agent = near.and_then(|key| fleet.terminal(key)).and_then(|it| it.state.terminal.cwd.clone());
        let here = || std::env::current_dir().ok()?.to_str().map(str::to_owned);
        let here = agent.or_else(|| here().filter(|_| server.host.is_none()));
        Ok(Launcher {
            server: Server::new(server, self.tmux())?,
            profiles: Arc::clone(&self.engine.settings().profiles),
            config: self.config.new.clone(),
            here,
            history: self.history.path().map(ToOwned::to_owned),
        })
    }

    /// Says how a line can go on.
    pub(super) fn offer(&self, line: String, near: Option<&TerminalKey>) {
        let Ok(launcher) = self.launcher(near) else { return };
        let found = tokio::task::spawn_blocking(move || {
            let launcher = launcher.in_repository();
            let place = launcher.here.as_deref().map(|here| format!("It starts in {here}.")).unwrap_or_default();
            (launcher.offers(&line), place, line)
        });
        self.work(found, |app, found| {
            if let Ok((offers, place, line)) = found {
                let event = OverlayEvent::Offers { line: &line, place: &place, offers: &offers };
                app.ui.on_event(event, &app.engine.fleet().view(clock::now()));
            }
            Ok(())
        });
    }

    /// Starts what a line orders.
    pub(super) fn start_ordered(&self, line: &str, near: Option<&TerminalKey>) {
        let ready = Order::parse(line).and_then(|order| Ok((order, self.launcher(near)?)));
        let start = async move {
            let (order, launcher) = ready?;
            let launcher =
                tokio::task::spawn_blocking(move || launcher.in_repository()).await.map_err(Objection::bare)?;
            launcher.start(&order, clock::now()).await
        };
        self.work(start, |app, started| {
            let now = clock::now();
            let told = started.as_ref().map(drop);
            app.ui.on_event(OverlayEvent::Started(told), &app.engine.fleet().view(now));
            match started {
                Ok(started) => app.has_started(&started),
                // The line that was left meanwhile cannot show it.
                Err(why) => app.ui.notify(Status::Error, format!("not started: {}", why.in_full()), now),
            }
            Ok(())
        });
    }

    fn has_started(&mut self, started: &Started) {
        let now = clock::now();
        self.history.record(started.record(&started.name, now));
        self.engine.wake(&started.begun.key.server);
        self.ui.await_row(started.begun.key.clone());
        let place = match &started.worktree {
            Some(tree) => format!("in the worktree {}", tree.path.display()),
            None => format!("in session {}", started.session),
        };
        let waits = if started.queued.is_some() { "; its prompt waits until it is ready" } else { "" };
        let command = started.command.join(" ");
        self.ui.notify(Status::Finished, format!("{command} runs {place}{waits}"), now);
    }

    /// Closes an agent, and offers to remove the worktree that `new` made for it.
    pub(super) fn close_agent(&self, key: TerminalKey, asks: bool) {
        let Some(terminal) = self.engine.fleet().terminal(&key) else { return };
        let (to, name) = (Recipient::of(terminal), terminal.state.terminal.id.clone());
        let end = self.engine.settings().profiles.end(&terminal.state.terminal.tool).filter(|_| asks);
        let closing = match end {
            Some(text) => Closing::Ask(Box::new(Operation {
                at: clock::now(),
                // What becomes of the prompt that ends it is not told as that of any other.
                producer: Producer::CommandLine,
                to: to.clone(),
                act: Act::Prompt { text: text.to_owned(), when: When::Now },
            })),
            None => Closing::Force,
        };
        self.did(Some(key.clone()), name.clone(), OperatorAction::of_word("closed"));
        let (actor, tmux, copied) = (self.actor.clone(), self.tmux(), self.config.new.copy.clone());
        let of = key.clone();
        let close = async move {
            let server = Server::new(of.server.clone(), tmux)?;
            let path = server.worktree_of(&of).await.unwrap_or_default();
            let closed = launch::close(&server, &actor, &to, closing).await?;
            let left = match path {
                Some(path) => Some((launch::worktree_left(&server, &path, &copied).await, path)),
                None => None,
            };
            Ok::<_, Objection>((closed, left))
        };
        self.work(close, move |app, done| {
            app.engine.wake(&key.server);
            let (status, message) = match &done {
                Ok((Closed::Ended, _)) => (Status::Finished, format!("{name} has ended")),
                Ok((Closed::Killed, _)) => (Status::Finished, format!("{name} was closed")),
                Err(why) => (Status::Error, format!("{name} was not closed: {}", why.in_full())),
            };
            app.ui.notify(status, message, clock::now());
            if let Ok((_, Some((left, path)))) = done {
                app.offer_to_remove(&path, left);
            }
            Ok(())
        });
    }

    fn offer_to_remove(&mut self, path: &str, left: Result<WorktreeLeft, Objection>) {
        let now = clock::now();
        let stays = match left {
            Ok(left) if left.reasons.is_empty() => {
                let view = self.engine.fleet().view(now);
                return self.ui.offer_to_remove(path, left.branch.as_deref(), &left.ignored, &view);
            }
            Ok(left) => left.reasons.join("; "),
            Err(why) => why.to_string(),
        };
        self.ui.notify(Status::Stalled, format!("its worktree {path} stays: {stays}"), now);
    }

    /// Removes a worktree in which there is nothing but what the operator has read of.
    pub(super) fn remove_worktree(&self, path: String, ignored: Vec<String>) {
        let Ok(launcher) = self.launcher(None) else { return };
        let copied = self.config.new.copy.clone();
        let of = path.clone();
        let remove = async move {
            let left = launch::worktree_left(&launcher.server, &of, &copied).await?;
            let more = left.ignored.iter().find(|name| !ignored.contains(name));
            if let Some(why) = left.reasons.first().or(more) {
                return Err(Objection::bare(format!("something has come there: {why}")));
            }
            launch::remove_worktree(&of, &left).await
        };
        self.work(remove, move |app, removed| {
            let (status, message) = match removed {
                Ok(()) => (Status::Finished, format!("{path} was removed")),
                Err(why) => (Status::Error, format!("{path} stays: {}", why.in_full())),
            };
            app.ui.notify(status, message, clock::now());
            Ok(())
        });
    }
}
