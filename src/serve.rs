//! The fleet over HTTP (SPEC §17), with the engine that the dashboard runs on.
//!
//! One async task owns the engine. A route sends it a closure that runs between two events, so that its answer describes a single
//! moment.

mod act;
mod check;
mod event_log;
mod events;
mod listener;
mod metrics;
mod openapi;
mod page;
mod places;
mod read;
mod served;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tokio::sync::{Semaphore, mpsc, watch};

use crate::address::WebAddress;
use crate::clock;
use crate::config::Config;
use crate::engine::{Engine, Update, warning_of};
use crate::history::History;
use crate::ids::ServerId;
use crate::notify::Suppression;
use crate::owner::Settings;
use crate::present::events::{Event, Events, new_problems};
use crate::present::filter::Filter;
use crate::present::flags::Flags;
use crate::present::objection::Objection;
use crate::tmux;
use crate::token::TokenFile;
use check::Access;
use event_log::EventLog;
pub use listener::Listener;
use metrics::{Metrics, locked};
use places::ConnectionPlaces;
use served::{Inquiry, Served};

/// How many inquiries may wait; beyond that, the caller waits.
const INQUIRIES: usize = 64;

/// Connections at once, and where the system allows few files: tmux, git and the history need some.
const CONNECTIONS: usize = 512;
const FEWEST_CONNECTIONS: usize = 16;

/// Who may ask, by what names, and how many at once.
pub struct Admission {
    pub tokens: TokenFile,
    /// Names by which requests may address this server, besides `localhost` and IP addresses.
    pub names: Vec<String>,
    /// What a proxy in front of it shows.
    pub page: Option<WebAddress>,
    /// Files that may be open beside those that servers need.
    pub files: usize,
}

/// The engine, and what routes need to answer from it.
pub struct Serving {
    engine: Engine,
    history: History,
    served: Served,
    asked: mpsc::Receiver<Inquiry>,
    tell_end: watch::Sender<bool>,
    connections: usize,
}

impl Serving {
    /// Begins to watch.
    ///
    /// # Errors
    /// A server's name does not fit into a command line.
    pub fn start(
        config: &Config,
        settings: Settings,
        servers: &[ServerId],
        Admission { tokens, names, page, files }: Admission,
    ) -> Result<Self, tmux::Error> {
        let history = History::start(&config.history);
        let (engine, actor) = Engine::start_acting(settings, servers, (config, &history), false)?;
        let (inquiries, asked) = mpsc::channel(INQUIRIES);
        let (tell_end, ending) = watch::channel(false);
        let served = Served {
            inquiries,
            events: Arc::new(EventLog::new()),
            access: Arc::new(Access::new(tokens, names, page)),
            metrics: Arc::new(Mutex::new(Metrics::new())),
            actor,
            acts: Arc::new(Semaphore::new(act::MOST as usize)),
            history: history.path().map(PathBuf::from).zip(history.owner().cloned()),
            ending,
        };
        let connections = CONNECTIONS.min(files).max(FEWEST_CONNECTIONS);
        Ok(Self { engine, history, served, asked, tell_end, connections })
    }

    /// Watches, reports what happens, and answers requests until the end is asked for.
    ///
    /// # Errors
    /// An event cannot be written as JSON.
    pub async fn run<E>(
        mut self,
        listener: Listener,
        end: impl Future<Output = E>,
        warn: impl Fn(Objection),
    ) -> io::Result<()> {
        let (router, ending) = (read::routes(self.served.clone()), self.served.ending.clone());
        let serving = tokio::spawn(listener.serve(router, ConnectionPlaces::new(self.connections), ending));
        let done = self.answer(end, &warn).await;
        self.tell_end.send_replace(true);
        let _ended = serving.await;
        // Acts in progress are completed, and kept.
        let acts = async { drop(self.served.acts.acquire_many(act::MOST).await) };
        self.engine.leave(acts).await.into_iter().for_each(|left| warn(Objection::bare(left)));
        done
    }

    async fn answer<E>(&mut self, end: impl Future<Output = E>, warn: &impl Fn(Objection)) -> io::Result<()> {
        let Self { engine, history, served: Served { events: log, metrics, .. }, asked, .. } = self;
        let mut inputs = history.inputs();
        let (mut events, mut health) = (Events::new(Filter::default(), Flags::default()), BTreeMap::new());
        tokio::pin!(end);
        loop {
            let mut sent = None;
            tokio::select! {
                event = engine.next() => {
                    engine.handle(event, clock::now());
                    while let Some(event) = engine.try_next() {
                        engine.handle(event, clock::now());
                    }
                }
                Some(input) = inputs.recv() => sent = Some(input),
                Some(inquiry) = asked.recv() => {
                    inquiry(engine);
                    continue;
                }
                _ = &mut end => return Ok(()),
            }
            for (server, problem) in new_problems(engine.fleet(), &mut health) {
                // Finding out why must not block inquiries.
                let what = format!("{server}: {}", problem.message);
                warn(Objection::new(what, "`fleetwatch doctor` asks it again and says what to do"));
            }
            warning_of(history).into_iter().for_each(warn);
            drop(engine.deliver(Suppression::NOBODY, clock::now()));
            let updates: Vec<Update> = std::iter::from_fn(|| engine.poll_update()).collect();
            updates.iter().filter_map(Update::warning).for_each(|warning| warn(Objection::bare(warning)));
            let (fleet, now) = (engine.fleet(), clock::now());
            locked(metrics).update(&updates, fleet);
            let mut told = events.of(updates.iter().filter_map(Update::told), fleet, now);
            if let Some(event) = sent.as_ref().and_then(|input| events.of_input(input, fleet, now)) {
                told.push(event);
                sent.iter().for_each(|input| locked(metrics).sent(input));
            }
            told.extend(events.of_facts(fleet, now));
            log.push(&told.iter().map(Event::json).collect::<io::Result<String>>()?);
        }
    }
}

#[cfg(test)]
mod tests;
