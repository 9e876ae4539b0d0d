//! Looks at tmux servers, again and again, and turns what is there into inputs for the fleet.
//!
//! One task a server: a slow or dead one delays nobody but itself. What to capture and when to look next is decided by
//! [`plan`], which is pure; this file asks, waits and hands on.

mod plan;

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;

pub use plan::{Own, Ticks};

use crate::config::Rules;
use crate::fleet::{Input, Outcome, ServerId, ServerReport};
use crate::moment::Moment;
use crate::process::{self, VersionCache};
use crate::profile::{Library, ProcessInfo, Program};
use crate::tmux::{self, Error, Look, Server};
use plan::{Memory, Suspect};

/// How servers are looked at.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub ticks: Ticks,
    pub tmux: tmux::Settings,
    /// Which panes are watched, and what the configuration says of them.
    pub rules: Arc<Rules>,
    /// The pane that fleetwatch itself runs in, which is never watched.
    pub own: Own,
}

impl Settings {
    /// The settings that a configuration gives for this process.
    pub fn new(config: &crate::config::Config) -> Self {
        let watch = &config.watch;
        let millis = |span: crate::moment::Span| Duration::from_millis(span.as_millis());
        let ticks = Ticks {
            usual: millis(watch.tick),
            shortest: millis(watch.fastest_tick),
            longest: millis(watch.slowest_tick),
        };
        let deadline = millis(watch.timeout);
        let usual = tmux::Settings::default();
        let host_deadline = usual.host_deadline.max(deadline);
        let tmux = tmux::Settings { deadline, host_deadline, ..usual };
        Self { ticks, tmux, rules: Arc::new(config.rules.clone()), own: own() }
    }
}

/// What is known of the pane that this process runs in.
pub fn own() -> Own {
    Own::new(std::env::var("TMUX").ok(), std::env::var("TMUX_PANE").ok(), process::own_ancestors())
}

/// What time it is. Everything above and below is told the time; the feed is where it comes from.
pub fn now() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// A running poller of one server. Dropping it ends the poller.
#[derive(Debug)]
pub struct Poller {
    task: JoinHandle<()>,
    wake: Arc<Notify>,
}

impl Poller {
    /// Looks at once, and then quickly for a while: something was sent.
    pub fn wake(&self) {
        self.wake.notify_one();
    }
}

impl Drop for Poller {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Starts to look at a server, and sends a report of each look. Ends when nobody receives any more.
///
/// Fails when the server's name is not fit for a command line.
pub fn spawn(
    settings: Settings,
    library: Arc<Library>,
    server: ServerId,
    inputs: mpsc::Sender<Input>,
) -> Result<Poller, Error> {
    let mut looker = Looker::new(settings, library, server)?;
    let wake = Arc::new(Notify::new());
    let woken = Arc::clone(&wake);
    let task = tokio::spawn(async move {
        loop {
            let report = looker.look().await;
            let pause = looker.pause();
            if inputs.send(Input::Server(report)).await.is_err() {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = woken.notified() => looker.memory.hurry(),
            }
        }
    });
    Ok(Poller { task, wake })
}

/// Looks at a server once and captures every watched pane of it.
pub async fn look(settings: Settings, library: Arc<Library>, server: ServerId) -> ServerReport {
    match Looker::new(settings, library, server.clone()) {
        Ok(mut looker) => looker.look().await,
        Err(error) => ServerReport { server, at: now(), outcome: Outcome::Failed(error.problem()) },
    }
}

/// One server with what is remembered of the last looks at it.
struct Looker {
    server: Server,
    library: Arc<Library>,
    memory: Memory,
    versions: VersionCache,
    /// How long the last look took.
    took: Duration,
}

impl Looker {
    fn new(settings: Settings, library: Arc<Library>, server: ServerId) -> Result<Self, Error> {
        let Settings { ticks, tmux, rules, own } = settings;
        let memory = Memory::new(server.clone(), ticks, rules, own);
        let server = Server::new(server, tmux)?;
        Ok(Self { server, library, memory, versions: VersionCache::default(), took: Duration::ZERO })
    }

    async fn look(&mut self) -> ServerReport {
        let start = Instant::now();
        let looked = self.try_look().await;
        self.took = start.elapsed();
        let outcome = match looked {
            Ok(panes) => {
                tracing::debug!(server = %self.server.id(), took = ?self.took, panes = panes.len(), "looked");
                Outcome::Listed(panes)
            }
            Err(error) => {
                tracing::warn!(server = %self.server.id(), took = ?self.took, %error, "a look failed");
                self.memory.failed(&error);
                match error.is_no_server() {
                    true => Outcome::NoServer(error.problem()),
                    false => Outcome::Failed(error.problem()),
                }
            }
        };
        ServerReport { server: self.server.id().clone(), at: now(), outcome }
    }

    /// One process in most cases: the panes that changed last time are captured along with the listing, as they
    /// mostly go on changing. A second one fetches what else turns out to have changed.
    async fn try_look(&mut self) -> Result<Vec<crate::fleet::PaneReport>, Error> {
        let look = self.server.look(&self.memory.likely()).await?;
        let suspects = self.memory.listed(&look);
        if !suspects.is_empty() {
            self.identify(&suspects).await;
        }
        let due = self.memory.due(&look);
        let more = match due.is_empty() {
            true => Look::default(),
            false => self.server.capture(&due).await?,
        };
        Ok(self.memory.report(look, more))
    }

    async fn identify(&mut self, suspects: &[Suspect]) {
        let roots = suspects.iter().map(|suspect| suspect.pid).collect();
        let scanned = process::under(&self.server, roots).await;
        let local = self.server.id().host.is_none();
        for suspect in suspects {
            let program = match &scanned {
                Ok(found) => {
                    let processes = found.get(&suspect.pid).map(Vec::as_slice).unwrap_or_default();
                    let program = self.library.identify(&suspect.command, processes, suspect.tool.as_deref());
                    if local { self.with_version(program, processes) } else { program }
                }
                // Where processes cannot be listed, the command that tmux names may still be the agent's own.
                Err(error) => match self.library.identify(&suspect.command, &[], suspect.tool.as_deref()) {
                    agent @ Program::Agent { .. } => agent,
                    _ => Program::Unknown(error.problem()),
                },
            };
            self.memory.identified(suspect, program);
        }
    }

    /// Adds the version that the agent's package tells, when the program does not have one yet.
    fn with_version(&mut self, program: Program, processes: &[ProcessInfo]) -> Program {
        let Program::Agent { tool, version: None } = program else { return program };
        // The agent among the processes is one that is found to be this agent by itself.
        let is_agent = |process: &&ProcessInfo| {
            let alone = self.library.identify(&process.name, std::slice::from_ref(*process), None);
            matches!(alone, Program::Agent { tool: found, .. } if found == tool)
        };
        let version = processes.iter().filter(is_agent).find_map(|process| self.versions.version_of(process));
        Program::Agent { tool, version }
    }

    fn pause(&self) -> Duration {
        self.memory.pause(self.took)
    }
}
