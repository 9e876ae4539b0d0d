//! Watching servers for as long as a command runs.

use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::Failure;
use super::survey::Watched;
use crate::feed::{self, Poller};
use crate::fleet::{Effect, Fleet, Health, Input, ServerId};
use crate::history::Submission;
use crate::moment::Moment;

/// Reports that may wait until they are taken in; more than that and the pollers wait themselves.
const WAITING_REPORTS: usize = 64;

/// A fleet that is kept up to date.
pub(super) struct Live {
    pub fleet: Fleet,
    inputs: mpsc::Receiver<Input>,
    feed: feed::Settings,
    /// Dropping a poller ends it.
    pollers: Vec<(ServerId, Poller)>,
}

impl Live {
    /// Starts to look at every server.
    ///
    /// # Errors
    /// A server's name is not fit for a command line.
    pub(super) fn start(watched: &Watched) -> Result<Self, Failure> {
        Self::with(watched, watched.feed.clone())
    }

    /// The same, and has the bells of task sessions counted until [`Live::leave`].
    ///
    /// # Errors
    /// A server's name is not fit for a command line.
    pub(super) fn start_counting(watched: &Watched) -> Result<Self, Failure> {
        Self::with(watched, feed::Settings { keeper: Some(feed::owner()), ..watched.feed.clone() })
    }

    fn with(watched: &Watched, feed: feed::Settings) -> Result<Self, Failure> {
        let (sender, inputs) = mpsc::channel(WAITING_REPORTS);
        let spawn = |server: &ServerId| {
            feed::spawn(feed.clone(), watched.library.clone(), server.clone(), sender.clone())
                .map(|poller| (server.clone(), poller))
                .map_err(|error| Failure::usage(&error).hint(error.hint()))
        };
        let pollers = watched.servers.iter().map(spawn).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { fleet: watched.fleet(), inputs, feed, pollers })
    }

    /// Waits until something happens, and gives what the fleet wants told of it.
    pub(super) async fn next(&mut self) -> Vec<Effect> {
        let input = tokio::select! {
            // The pollers hold the other ends and run as long as `self` lives.
            Some(input) = self.inputs.recv() => input,
            () = sleep_until(self.fleet.poll_timeout()) => Input::TimePassed,
        };
        let now = match &input {
            Input::Server(report) => report.at,
            Input::Tasks(report) => report.at,
            _ => feed::now(),
        };
        self.fleet.handle(input, now);
        std::iter::from_fn(|| self.fleet.poll_effect()).collect()
    }

    /// Takes in what happened here, and gives what the fleet wants told of it.
    pub(super) fn take(&mut self, input: Input) -> Vec<Effect> {
        self.fleet.handle(input, feed::now());
        std::iter::from_fn(|| self.fleet.poll_effect()).collect()
    }

    /// Ends watching, and takes back what was set in task sessions for it.
    pub(super) async fn leave(self) {
        for (server, poller) in self.pollers {
            let tended = poller.has_tended();
            // The poller must not set again what is taken back.
            drop(poller);
            if tended && let Err(error) = feed::release(&self.feed, &server).await {
                eprintln!("warning: {server}: what counts bells was left behind: {error}");
            }
        }
    }

    /// Takes in what another process of fleetwatch sent.
    pub(super) fn submitted(&mut self, submission: &Submission) -> Vec<Effect> {
        if let Some(input) = submission.input_for(&self.fleet, feed::now()) {
            self.fleet.handle(input, feed::now());
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
        let view = self.fleet.view(Moment::default());
        // A server that has not reported yet is not known to the fleet at all.
        view.servers.len() < self.pollers.len() || view.servers.iter().any(|server| server.health == Health::Waiting)
    }
}

/// Waits until a moment has come; for ever when there is none.
pub(super) async fn sleep_until(moment: Option<Moment>) {
    match moment {
        Some(at) => tokio::time::sleep(Duration::from_millis(at.since(feed::now()).as_millis())).await,
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
