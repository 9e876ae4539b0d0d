//! Polls tmux servers and turns what it finds into inputs for the fleet.
//!
//! Each server has its own async task: a slow or dead one delays only itself. [`plan`], which is pure, decides what to capture and
//! when to poll next; this file asks, waits and passes on.

mod identify;
mod once;
mod plan;
mod task_hooks;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;

pub use once::tell;
pub use plan::Own;
pub use task_hooks::{is_alive, this_process};

use crate::agent_record::AgentRecordReading;
use crate::clock::now;
use crate::config::{Adopted, RecordsConfig, Rules, Ticks};
use crate::fleet::{
    Capture, Input, PaneId, PaneReport, PollResult, Replaced, ServerId, ServerLoad, ServerReport, TaskReport,
    TerminalKey,
};
use crate::git::{GitDirectory, GitWatch};
use crate::history::Recall;
use crate::process::{self, AgentRecords, READ_WITHIN, RecordedAgent, RunningProcess, TableReading, VersionCache};
use crate::profile::{ProfileSet, Program};
use crate::state::Availability;
use crate::status::Status;
use crate::time::Span;
use crate::tmux::{self, Error, KnownRows, Listing, Server};
use plan::{PollReport, ServerMemory, Suspect};
use task_hooks::{Chosen, TaskHooks};

/// Screens that one call captures: it has a deadline, and while it runs tmux serves nobody else.
const CAPTURES: usize = 512;
/// How long a single poll waits for git: longer than any poll for records, as no next one brings what comes later.
const GIT: Duration = READ_WITHIN.saturating_mul(2);
/// The most inputs that may wait before the poller itself waits.
const WAITING_INPUTS: usize = 8;

/// How servers are polled.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub ticks: Ticks,
    pub tmux: tmux::Settings,
    /// Which panes are watched, and their configuration.
    pub rules: Arc<Rules>,
    /// The file with the sessions that the operator chose to be tasks.
    pub adopted: Option<PathBuf>,
    /// The pane that fleetwatch itself runs in, which is never watched.
    pub own: Own,
    /// The history, from which terminals and tasks are recalled and in which other processes record that they kill a task.
    pub history: Option<PathBuf>,
    /// This process, as [`this_process`] names it, when it has bells counted in task sessions until it calls [`release`].
    pub counter: Option<String>,
    /// Whether the records are read that agents write about their own sessions.
    pub records: Arc<RecordsConfig>,
    /// Whether the git repositories are read that agents work in.
    pub git: bool,
    /// Shared by the pollers of all hosts, which take turns.
    pub hosts: HostCount,
}

impl Settings {
    /// The settings that a configuration gives for this process.
    pub fn new(config: &crate::config::Config) -> Self {
        let watch = &config.watch;
        let (ticks, deadline) = (watch.ticks, watch.timeout);
        let usual = tmux::Settings::default();
        let host_deadline = usual.host_deadline.max(deadline);
        let connect_deadline = usual.connect_deadline.max(deadline);
        let transports = Arc::clone(&config.transports);
        let tmux = tmux::Settings { deadline, host_deadline, connect_deadline, transports, ..usual };
        let rules = Arc::new(config.rules.clone());
        let history = config.history.kept_at();
        let records = Arc::new(config.records.clone());
        let (adopted, git) = (Adopted::location(), watch.git);
        let hosts = HostCount::default();
        Self { ticks, tmux, rules, adopted, own: own(), history, counter: None, records, git, hosts }
    }
}

/// The pane that this process runs in.
pub fn own() -> Own {
    Own::new(std::env::var("TMUX").ok(), std::env::var("TMUX_PANE").ok(), process::own_ancestors())
}

/// State that one poller hands to the next.
#[derive(Clone, Debug, Default)]
pub struct PollerState {
    /// The terminals that are already known and need no recall from the history.
    pub known: BTreeSet<TerminalKey>,
    /// Set when the poller sets something in the server that [`release`] takes back.
    pub hooks_set: Arc<AtomicBool>,
}

/// A running poller of one server. Dropping it ends the poller.
#[derive(Debug)]
pub struct Poller {
    task: JoinHandle<()>,
    requests: Arc<PollRequests>,
    polls: mpsc::Receiver<Polled>,
}

impl Poller {
    /// The next input; `None` when the poller has crashed. May be dropped while it waits.
    pub async fn next(&mut self) -> Option<Polled> {
        self.polls.recv().await
    }

    /// Polls at once, and then more often for a while: something was sent, or somebody looks.
    pub fn wake(&self) {
        self.requests.wake.notify_one();
    }

    /// Polls at once, and relies on nothing that was known before: somebody has a name to act on.
    pub fn ask_anew(&self) {
        self.requests.anew.store(true, Ordering::Relaxed);
        self.wake();
    }
}

/// What is asked of a running poller.
#[derive(Debug, Default)]
struct PollRequests {
    wake: Notify,
    /// The next poll is to ask for all facts of all panes.
    anew: AtomicBool,
}

impl Drop for Poller {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// An input from a poll.
#[derive(Clone, Debug)]
pub struct Polled {
    /// When the poll began; it covers everything in the server before that.
    pub began: Instant,
    pub input: Input,
}

/// Starts to poll a server.
///
/// Fails when the server's name is not fit for a command line.
pub fn spawn(
    settings: Settings,
    profiles: Arc<ProfileSet>,
    server: ServerId,
    since: PollerState,
) -> Result<Poller, Error> {
    let mut poller = ServerPoller::new(settings, profiles, server, since)?;
    let (inputs, polls) = mpsc::channel(WAITING_INPUTS);
    let requests = Arc::new(PollRequests::default());
    let asked = Arc::clone(&requests);
    let task = tokio::spawn(async move {
        loop {
            let began = Instant::now();
            if asked.anew.swap(false, Ordering::Relaxed) {
                poller.rows.doubt();
            }
            let polled = poller.poll().await;
            let pause = poller.pause();
            let kills = match &polled.tasks {
                Some(report) => poller.recall.before_tasks(report).await,
                None => Vec::new(),
            };
            for input in kills.into_iter().chain(polled.inputs()) {
                if inputs.send(Polled { began, input }).await.is_err() {
                    return;
                }
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = asked.wake.notified() => poller.memory.hurry(),
            }
        }
    });
    Ok(Poller { task, requests, polls })
}

/// The result of one poll of a server.
struct ServerPoll {
    /// Recalled from the history, for new terminals.
    known: Vec<Input>,
    /// Its agents.
    server: ServerReport,
    /// Its tasks; `None` when nothing is known of them.
    tasks: Option<TaskReport>,
}

impl ServerPoll {
    /// The inputs for the fleet; tasks first, so that after the server's report both are known.
    fn inputs(self) -> impl Iterator<Item = Input> + Send {
        let reports = [self.tasks.map(Input::Tasks), Some(Input::Server(self.server))];
        // A terminal must exist before it can have been sent something.
        let (sent, known): (Vec<Input>, Vec<Input>) =
            self.known.into_iter().partition(|input| matches!(input, Input::Submitted { .. }));
        known.into_iter().chain(reports.into_iter().flatten()).chain(sent)
    }
}

/// The agents whose records have changed, with the new readings.
type RecordsRead = Vec<(TerminalKey, AgentRecordReading)>;

/// Adds to each agent what its records say.
fn add_records(panes: &mut [PaneReport], readings: &mut BTreeMap<TerminalKey, AgentRecordReading>) {
    for pane in panes {
        pane.record = readings.remove(&pane.key).map(Box::new);
    }
}

/// Whether an agent runs in a pane, and in the pane's own directory.
fn is_agent(pane: &PaneReport) -> bool {
    matches!(pane.program, Program::Agent { through: None, .. })
}

/// The pane of a terminal that waited for the operator when last seen.
fn waits(known: &Input) -> Option<PaneId> {
    match known {
        Input::Known { key, known } if Status::of(&known.state).needs_operator() => Some(key.pane),
        _ => None,
    }
}

/// The terminal whose pane was still there when its agent had ended.
fn has_ended(known: &Input) -> Option<&TerminalKey> {
    match known {
        Input::Known { key, known } if known.state.diagnostics.availability == Availability::TuiDown => Some(key),
        _ => None,
    }
}

/// Counts the pollers of hosts, whose work is all done on this machine.
#[derive(Clone, Debug, Default)]
pub struct HostCount(Arc<AtomicU32>);

impl HostCount {
    /// Counts one more until the result is dropped.
    fn join(&self) -> OnHost {
        self.0.fetch_add(1, Ordering::Relaxed);
        OnHost(self.clone())
    }
}

/// One counted poller.
struct OnHost(HostCount);

impl OnHost {
    fn count(&self) -> u32 {
        self.0.0.load(Ordering::Relaxed)
    }
}

impl Drop for OnHost {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The processes of a pane that are its agent.
#[derive(Debug, Default)]
struct AgentProcesses {
    ids: Vec<u32>,
    /// The process that proves that the agent still runs; `None` if none can.
    proof: Option<RunningProcess>,
}

/// One server with what is remembered of earlier polls.
struct ServerPoller {
    server: Server,
    on_host: Option<OnHost>,
    profiles: Arc<ProfileSet>,
    memory: ServerMemory,
    hooks: TaskHooks,
    chosen: Chosen,
    recall: Recall,
    versions: VersionCache,
    /// The processes of each pane that are its agent, by the pane's own.
    agents: BTreeMap<u32, AgentProcesses>,
    reads_records: Arc<RecordsConfig>,
    records: AgentRecords,
    /// A slow reading of records that is still under way.
    reading: Option<JoinHandle<(RecordsRead, AgentRecords)>>,
    /// `None` if repositories are not read.
    git: Option<GitWatch>,
    is_only_poll: bool,
    /// The rows of the last poll.
    rows: KnownRows,
    /// How long tmux took in the last poll.
    took: Duration,
    /// Whether a task has ended and it is not known how.
    awaits_exit_status: bool,
    /// All processes, which are read while tmux lists all panes for the first time.
    processes: Option<TableReading>,
}

impl ServerPoller {
    fn new(settings: Settings, profiles: Arc<ProfileSet>, server: ServerId, since: PollerState) -> Result<Self, Error> {
        let Settings { ticks, tmux, rules, adopted, own, history, counter, records, git, hosts } = settings;
        let memory = ServerMemory::new(server.clone(), ticks, rules, own, Arc::clone(&profiles));
        let server = Server::new(server, tmux)?;
        // Of a host only the screens, titles and processes are read.
        let git = (git && server.id().host.is_none()).then(GitWatch::default);
        let hooks = TaskHooks::new(counter, since.hooks_set);
        Ok(Self {
            on_host: server.id().host.is_some().then(|| hosts.join()),
            processes: TableReading::begin(&server),
            recall: Recall::begin(history, server.id(), since.known),
            server,
            profiles,
            memory,
            hooks,
            chosen: Chosen::new(adopted),
            versions: VersionCache::default(),
            agents: BTreeMap::new(),
            reads_records: records,
            records: AgentRecords::default(),
            reading: None,
            git,
            is_only_poll: false,
            rows: KnownRows::default(),
            took: Duration::ZERO,
            awaits_exit_status: false,
        })
    }

    /// One process in most cases: the panes that changed last time are captured along with the listing, as they
    /// mostly go on changing. A second one fetches what else turns out to have changed.
    async fn poll(&mut self) -> ServerPoll {
        let listed = match self.ask().await {
            Ok((poll, suspects)) => {
                self.identify(&suspects).await;
                if !self.is_only_poll {
                    self.memory.put_off(&poll);
                }
                let due = self.memory.due(&poll);
                Ok((poll, due))
            }
            Err(error) => Err(error),
        };
        self.complete(listed).await
    }

    /// Continues after the listing and captures the panes that are due.
    async fn complete(&mut self, listed: Result<(Listing, Vec<PaneId>), Error>) -> ServerPoll {
        let polled = match listed {
            Ok((poll, due)) => self.try_complete(poll, due).await,
            Err(error) => Err(error),
        };
        self.conclude(polled).await
    }

    /// Makes the report of a poll.
    async fn conclude(&mut self, polled: Result<PollReport, Error>) -> ServerPoll {
        let (replaced, outcome, tasks) = match polled {
            Ok(report) => {
                tracing::debug!(server = %self.server.id(), took = ?self.took, panes = report.panes.len(), "polled");
                (report.replaced, PollResult::Listed(report.panes), Some((report.tasks, report.known)))
            }
            Err(error) => {
                let error = self.without_socket(error);
                tracing::warn!(server = %self.server.id(), took = ?self.took, %error, "a poll failed");
                self.memory.failed(&error);
                let (outcome, tasks) = match error.is_no_server() {
                    true => (PollResult::NoServer(error.problem()), Some(Default::default())),
                    false => (PollResult::Failed(error.problem()), None),
                };
                (Replaced::default(), outcome, tasks)
            }
        };
        let (server, at) = (self.server.id().clone(), now());
        let tasks = tasks.map(|(poll, sessions)| TaskReport { server: server.clone(), at, poll, sessions });
        let server = ServerReport { server, at, load: self.load(), replaced, outcome };
        let known = self.recall.before(&server).await;
        self.memory.hurry_for(known.iter().filter_map(waits));
        self.memory.had_agents(known.iter().filter_map(has_ended));
        ServerPoll { known, server, tasks }
    }

    /// Corrects "no server" for a server that still runs but whose socket is gone: removed, moved, or hidden by a mount.
    fn without_socket(&self, error: Error) -> Error {
        let pid = self.memory.server_pid;
        match error.is_no_server() && self.on_host.is_none() && pid != 0 && process::is_tmux(pid) {
            true => Error::Failed(format!(
                "nothing answers on its socket, but the server (process {pid}) runs; `kill -USR1 {pid}` has it make the socket again"
            )),
            false => error,
        }
    }

    /// The cost of polling the server.
    fn load(&self) -> ServerLoad {
        ServerLoad { took: Span::from_millis(self.took.as_millis() as u64), broken: self.server.broken() }
    }

    /// What is there, and the panes whose processes are to be listed.
    async fn ask(&mut self) -> Result<(Listing, Vec<Suspect>), Error> {
        self.took = Duration::ZERO;
        if let Some(sessions) = self.chosen.read_again(self.server.id()) {
            self.memory.adopted = sessions;
        }
        let asked = Instant::now();
        let poll = self.server.poll_again(&mut self.rows, &self.memory.likely()).await?;
        self.took = asked.elapsed();
        let suspects = self.memory.listed(&poll);
        Ok((poll, suspects))
    }

    async fn try_complete(&mut self, poll: Listing, due: Vec<PaneId>) -> Result<PollReport, Error> {
        let mut more = Listing::default();
        if !due.is_empty() {
            let asked = Instant::now();
            more = self.server.capture_listed(&mut self.rows, &due, CAPTURES).await?;
            self.took += asked.elapsed();
        }
        let instance = poll.instance.clone();
        let mut report = self.memory.report(poll, more, now());
        self.name_processes(&mut report.panes);
        let there: BTreeSet<u32> = report.panes.iter().map(|pane| pane.key.pid).collect();
        self.agents.retain(|pid, _| there.contains(pid));
        self.read_records(&mut report.panes).await;
        self.read_git(&mut report.panes).await;
        self.hooks.ensure_hooks(&self.server, &instance, &report.sessions).await;
        self.hooks.remove_hooks(&self.server, &report.others).await;
        self.awaits_exit_status = report.owes_exit_status.is_some();
        if let Some(pid) = report.owes_exit_status {
            // Seen on 3.3a: tmux misses the signal that its child has ended, and asks for it only with the next one.
            let nudged = self.server.run_beside(&["kill", "-CHLD", &pid.to_string()]).await;
            nudged.err().into_iter().for_each(|error| tracing::debug!(%error, "tmux could not be reminded"));
        }
        Ok(report)
    }

    /// Adds what the agents' own records now say.
    async fn read_records(&mut self, panes: &mut [PaneReport]) {
        self.begin_records(panes.iter().filter(|pane| pane.capture != Capture::Awaited));
        let mut readings = self.records_read().await;
        add_records(panes, &mut readings);
    }

    /// Begins to read the records of agents, unless an earlier reading is still under way.
    fn begin_records<'a>(&mut self, panes: impl Iterator<Item = &'a PaneReport>) {
        if self.reading.is_some() || self.server.id().host.is_some() {
            return;
        }
        let agent = |pane: &PaneReport| {
            // Behind a wrapper its directory and its records are others.
            let Program::Agent { tool, through: None, .. } = &pane.program else { return None };
            let processes = self.agents.get(&pane.key.pid)?.ids.clone();
            // Of one that may not be read any more nothing is known either.
            let may_read = self.reads_records.allow(tool, pane.cwd.as_deref());
            let sources = if may_read { self.profiles.records(tool) } else { Arc::default() };
            let is_changing = matches!(pane.capture, Capture::Fresh(_) | Capture::Awaited);
            let (tool, profiles) = (tool.clone(), Arc::clone(&self.profiles));
            Some(RecordedAgent { key: pane.key.clone(), processes, sources, tool, profiles, is_changing })
        };
        let agents: Vec<RecordedAgent> = panes.filter_map(agent).collect();
        if !self.records.is_due(&agents, now()) {
            return;
        }
        let mut records = std::mem::take(&mut self.records);
        self.reading = Some(tokio::task::spawn_blocking(move || (records.read(&agents, now()), records)));
    }

    /// Records read since [`Self::begin_records`]; nothing yet if that takes long. A slow disk must not hold up what the screens
    /// say, so the next poll waits for it again.
    async fn records_read(&mut self) -> BTreeMap<TerminalKey, AgentRecordReading> {
        let Some(reading) = &mut self.reading else { return BTreeMap::new() };
        let Ok(read) = tokio::time::timeout(READ_WITHIN, reading).await else { return BTreeMap::new() };
        self.reading = None;
        let (readings, records) = read.unwrap_or_else(|_| Default::default());
        self.records = records;
        readings.into_iter().collect()
    }

    /// Adds the facts of the agents' repositories. They are read in the background; a later poll reports changes.
    async fn read_git(&mut self, panes: &mut [PaneReport]) {
        let Some(git) = &mut self.git else { return };
        let directory = |pane: &PaneReport| {
            let is_active = matches!(pane.capture, Capture::Fresh(_));
            Some(GitDirectory { path: pane.cwd.clone().filter(|_| is_agent(pane))?, is_active })
        };
        let directories: Vec<GitDirectory> = panes.iter().filter_map(directory).collect();
        git.poll(&directories, now());
        if self.is_only_poll {
            git.settle(GIT, now()).await;
        }
        self.add_git(panes);
    }

    /// Adds the facts that are known so far.
    fn add_git(&self, panes: &mut [PaneReport]) {
        let Some(git) = &self.git else { return };
        for pane in panes.iter_mut().filter(|pane| is_agent(pane)) {
            pane.git = pane.cwd.as_deref().and_then(|path| git.facts(path));
        }
    }

    fn pause(&self) -> Duration {
        let turn = self.on_host.as_ref().map_or(Duration::ZERO, |host| plan::turn_of_host(host.count(), self.took));
        self.memory.pause(self.took).max(turn)
    }
}

/// Removes what this process set in a server's task sessions.
///
/// # Errors
/// tmux does not answer; the next process that watches takes it back then.
pub async fn release(settings: &Settings, server: &ServerId) -> Result<(), Error> {
    let Some(owner) = settings.counter.clone() else { return Ok(()) };
    Server::new(server.clone(), settings.tmux.clone())?.stop_counting(&[owner]).await
}
