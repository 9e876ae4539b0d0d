//! Watching servers for as long as a command runs.

use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::Failure;
use super::survey::Watched;
use crate::fleet::{Effect, Fleet, Input, ServerHealth, ServerId};
use crate::history::Submission;
use crate::operation::Act;
use crate::owner::{self, OwnerEvent, Rank, Watcher};
use crate::poll;
use crate::sender::OperationEvent;
use crate::time::Timestamp;

/// Reports that may wait until they are taken in; more than that and the pollers wait themselves.
const WAITING_REPORTS: usize = 64;

/// A fleet that is kept up to date.
pub(super) struct Live {
    pub fleet: Fleet,
    events: mpsc::Receiver<OwnerEvent>,
    feed: poll::Settings,
    /// What is no input for the fleet, for whoever tells outside what happens.
    pub about_servers: Vec<OwnerEvent>,
    /// Dropping a watcher ends it.
    watchers: Vec<(ServerId, Watcher)>,
}

impl Live {
    /// Starts to look at every server.
    ///
    /// # Errors
    /// A server's name is not fit for a command line.
    pub(super) fn start(watched: &Watched) -> Result<Self, Failure> {
        Self::with(watched, watched.feed.clone(), Rank::Reader)
    }

    /// The same, and may own the servers: it has the bells of task sessions counted until [`Live::leave`].
    ///
    /// # Errors
    /// A server's name is not fit for a command line.
    pub(super) fn start_owning(watched: &Watched, rank: Rank) -> Result<Self, Failure> {
        Self::with(watched, poll::Settings { keeper: Some(poll::owner()), ..watched.feed.clone() }, rank)
    }

    fn with(watched: &Watched, feed: poll::Settings, rank: Rank) -> Result<Self, Failure> {
        let (sender, events) = mpsc::channel(WAITING_REPORTS);
        let settings = watched.watching(feed.clone(), rank);
        let spawn = |server: &ServerId| {
            owner::spawn(settings.clone(), server.clone(), sender.clone())
                .map(|watcher| (server.clone(), watcher))
                .map_err(|error| Failure::usage(&error).hint(error.hint()))
        };
        let watchers = watched.servers.iter().map(spawn).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { fleet: watched.fleet(), events, feed, about_servers: Vec::new(), watchers })
    }

    /// Waits until something happens, and gives what the fleet wants told of it.
    pub(super) async fn next(&mut self) -> Vec<Effect> {
        let input = tokio::select! {
            // The watchers hold the other ends and run as long as `self` lives.
            Some(event) = self.events.recv() => match event {
                OwnerEvent::Input(input) => input,
                OwnerEvent::Refused { server, why } => {
                    Failure::refused(owner::refusal(&server, &why)).warn();
                    return Vec::new();
                }
                event => {
                    self.about_servers.push(event);
                    return Vec::new();
                }
            },
            () = sleep_until(self.fleet.poll_timeout()) => Input::TimePassed,
        };
        let now = input.at().unwrap_or_else(poll::now);
        self.fleet.handle(input, now);
        std::iter::from_fn(|| self.fleet.poll_effect()).collect()
    }

    /// How long no other process has used what is watched here.
    pub(super) fn unused_for(&self) -> Duration {
        self.watchers.iter().map(|(_, watcher)| watcher.unused_for()).min().unwrap_or_default()
    }

    /// Takes in how far an operation of this process has come, and gives what the fleet wants told of it.
    pub(super) fn performed(&mut self, event: &OperationEvent) -> Vec<Effect> {
        if let OperationEvent::Begun(operation) = event
            && let Act::Prompt { text, .. } = &operation.act
        {
            let (key, at) = (operation.to.key.clone(), poll::now());
            self.fleet.handle(Input::Submitted { key, at, text: text.clone() }, at);
        }
        std::iter::from_fn(|| self.fleet.poll_effect()).collect()
    }

    /// Ends watching, and takes back what was set in task sessions for it.
    pub(super) async fn leave(self) {
        for (server, watcher) in self.watchers {
            let tended = watcher.has_tended();
            // The watcher must not set again what is taken back.
            drop(watcher);
            if tended && let Err(error) = poll::release(&self.feed, &server).await {
                eprintln!("warning: {server}: what counts bells was left behind: {error}");
            }
        }
    }

    /// Takes in what another process of fleetwatch sent.
    pub(super) fn submitted(&mut self, submission: &Submission) -> Vec<Effect> {
        if let Some(input) = submission.input_for(&self.fleet, poll::now()) {
            self.fleet.handle(input, poll::now());
        }
        std::iter::from_fn(|| self.fleet.poll_effect()).collect()
    }

    /// Watches until every server has been asked once.
    pub(super) async fn first_look(&mut self) -> Vec<Effect> {
        let mut effects = self.next().await;
        while self.is_waiting() {
            effects.extend(self.next().await);
        }
        effects
    }

    fn is_waiting(&self) -> bool {
        let view = self.fleet.view(Timestamp::default());
        // A server that has not reported yet is not known to the fleet at all.
        view.servers.len() < self.watchers.len()
            || view.servers.iter().any(|server| server.health == ServerHealth::Waiting)
    }
}

/// Waits until a moment has come; for ever when there is none.
pub(super) async fn sleep_until(moment: Option<Timestamp>) {
    match moment {
        Some(at) => tokio::time::sleep(Duration::from_millis(at.since(poll::now()).as_millis())).await,
        None => std::future::pending().await,
    }
}

/// Waits until the operator or the system wants the program to end: Ctrl-C, SIGTERM, SIGHUP.
pub(super) async fn end_asked_for() {
    let signals = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()), signal(SignalKind::hangup()));
    let (Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)) = signals else {
        // Without handlers the signals end the program by themselves.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        _ = hangup.recv() => {}
    }
}
