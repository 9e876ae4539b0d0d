//! One process polls each tmux server, acts for it, and tells the others (SPEC §15).
//!
//! Of all processes of a user that share a history, the **owner** of a server holds its [`lease`], polls it and tells its
//! **clients** over a socket what is known and what changes. A client shows that, and goes on from it when the owner ends.
//! Each process has one [`Watcher`] per server, as owner or as client. Only the owner, who has the [`Lead`], notifies,
//! sends queued messages and records what happens. What any process does to a terminal its owner performs ([`Actor`]).
//!
//! - `act` has the owner perform what another process asks for.
//! - `lease` decides who the owner is: a lock on a file, and the socket beside it.
//! - `wire` holds the messages between owner and clients.
//! - `hub` is the owner's side, `client` the clients' side.
//!
//! A process that can be neither (no directory for sockets, another configuration, another version) polls for itself, and
//! leaves acting to the owner if there can be one.

mod act;
mod client;
mod hub;
mod lease;
mod wire;

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

pub use act::{Actor, Caller, Roles};
pub use client::ask;
use lease::{Acquired, Bid, LeasePath, acquire};

use wire::Hello;
pub use wire::{ClientMessage, Rank, Role};

use crate::clock;
use crate::config::Config;
use crate::fleet::{self, Input, ServerId, TerminalKey, Told};
use crate::follow_up::FollowUpRule;
use crate::history::{self, History};
use crate::notify::NoticeId;
use crate::poll;
use crate::private::HeldLock;
use crate::profile::ProfileSet;
use crate::tmux::{self, Error, Server};

/// How often a process that polls by itself asks whether there is an owner to follow: each attempt is given up after as long.
const ASK_AGAIN: Duration = wire::STOPPED;
/// The same after an owner has refused it; by then another process may own the server. Each attempt reads all screens again. An owner
/// that could not poll leaves the lease to others for as long.
const ASK_REFUSER: Duration = Duration::from_secs(30);
/// Attempts to follow an owner that is starting or ending, before the process polls for itself.
const TRIES: u32 = 50;

/// An event of one server for this process.
#[derive(Debug)]
pub enum OwnerEvent {
    /// Something for the fleet.
    Input(Input),
    /// The new role of this process for the server; with the lead, it acts for the server.
    Role {
        server: ServerId,
        role: Role,
        lead: Option<Lead>,
        /// Where to say that what this process was told of the server until now is in the history.
        taken_over: Option<oneshot::Sender<()>>,
    },
    /// The owner has handled a notice: it went out, or nobody wants it.
    Handled(NoticeId),
    /// The owner of the server refuses this process, which polls for itself; the reason is for people.
    Refused { server: ServerId, why: String },
    /// Another process asks for an operation on the server.
    Act(Box<Caller>),
    /// A client asks for something else.
    Client { server: ServerId, asked: ClientMessage },
    /// A client wants to know what is known of the server after all earlier inputs, and what changes later; or it takes over
    /// from this process, which yields.
    Share { server: ServerId, yields: bool, reply: oneshot::Sender<Box<Told>> },
}

/// The right to act for a server: to notify, run commands, send queued messages, and record what happens in the history.
/// A process without it reads, shows, and records what its operator does.
#[derive(Clone, Debug)]
pub struct Lead {
    held: HeldLock,
    to_task: mpsc::UnboundedSender<LocalEvent>,
}

impl Lead {
    /// Whether this process still has it; ask right before acting. Another process may have taken over while this one was
    /// stopped.
    pub fn holds(&self) -> bool {
        self.held.holds()
    }

    /// The lock behind it, for parts of the process that need no more.
    pub fn held(&self) -> HeldLock {
        self.held.clone()
    }

    /// Tells the other processes that a notice is handled.
    pub fn handled(&self, notice: NoticeId) {
        // It has ended where nobody listens.
        let _ = self.to_task.send(LocalEvent::Handled(notice));
    }
}

/// An event from this process itself.
#[derive(Debug)]
enum LocalEvent {
    /// Something has changed that its clients do not know.
    Told(Box<Told>),
    /// It handled a notice.
    Handled(NoticeId),
    /// It has something for the owner.
    Client(ClientMessage),
}

/// What is watched, and by which rules: processes that differ in it do not follow each other.
#[derive(Clone, Debug)]
pub struct Settings {
    pub poll: poll::Settings,
    pub profiles: Arc<ProfileSet>,
    pub fleet: fleet::Settings,
    /// What agents are told, which only the owner does.
    pub follow_ups: Vec<FollowUpRule>,
    pub rank: Rank,
    /// Where every server of the user is watched.
    pub every: Option<EveryServer>,
}

/// All servers of the user on this machine are watched, as they come and go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EveryServer {
    /// Those that are watched also while they do not run.
    pub named: Vec<ServerId>,
    /// The one on which something is started where nothing else is said.
    pub home: ServerId,
}

impl EveryServer {
    /// What a configuration says of it.
    pub fn of(config: &Config) -> Option<Self> {
        let named: Vec<ServerId> = config.servers.iter().cloned().map(tmux::named).collect();
        let home = named.iter().find(|server| server.host.is_none()).cloned();
        let home = home.unwrap_or_else(|| tmux::named(tmux::server_around()));
        config.every_server.then_some(Self { named, home })
    }
}

impl Settings {
    /// Settings from a configuration, for a process that never owns.
    pub fn new(config: &Config, profiles: Arc<ProfileSet>) -> Self {
        let fleet = fleet::Settings { tracker: config.tracker.clone(), ..fleet::Settings::default() };
        let (poll, follow_ups) = (poll::Settings::new(config), config.follow_up.clone());
        Self { poll, profiles, fleet, follow_ups, rank: Rank::Reader, every: EveryServer::of(config) }
    }

    /// The server on which something is started where nothing else is said, among those that are watched.
    pub fn home<'a>(&'a self, servers: &'a [ServerId]) -> Option<&'a ServerId> {
        self.every.as_ref().map(|every| &every.home).or(servers.first())
    }

    /// Equal in two processes if both read every screen in the same way, and tell agents the same.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (env!("CARGO_PKG_VERSION"), self.profiles.fingerprint()).hash(&mut hasher);
        let poll = &self.poll;
        format!(
            "{:?}{:?}{:?}{:?}{:?}{:?}{:?}",
            poll.rules, poll.records, poll.git, poll.adopted, poll.tmux.transports, self.fleet, self.follow_ups
        )
        .hash(&mut hasher);
        hasher.finish()
    }

    fn hello(&self, server: &ServerId) -> Hello {
        Hello::new(server.clone(), self.fingerprint(), self.rank)
    }
}

/// Keeps this process up to date on one server until it is dropped.
#[derive(Debug)]
pub struct Watcher {
    task: JoinHandle<()>,
    to_task: mpsc::UnboundedSender<LocalEvent>,
    hooks_set: Arc<AtomicBool>,
    has_clients: Arc<AtomicBool>,
    used: Arc<Mutex<Instant>>,
}

impl Watcher {
    /// Time since this process last exchanged inputs with one that shows them.
    pub fn unused_for(&self) -> Duration {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    /// Has the owner do something, or know it; where that is this process, it polls at once.
    pub fn tell_owner(&self, asked: ClientMessage) {
        // It has ended where nobody listens.
        let _ = self.to_task.send(LocalEvent::Client(asked));
    }

    /// Tells the clients what has changed; `false` if there are none.
    pub fn tell(&self, told: Told) -> bool {
        self.has_clients.load(Ordering::Relaxed) && self.to_task.send(LocalEvent::Told(Box::new(told))).is_ok()
    }

    /// Whether it has set hooks in the server, which [`poll::release`] takes back.
    pub fn has_set_hooks(&self) -> bool {
        self.hooks_set.load(Ordering::Relaxed)
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Begins to watch a server: as its owner, as a client of the owner, or alone.
///
/// # Errors
/// The server's name is not fit for a command line.
pub fn spawn(settings: Settings, server: ServerId, events: mpsc::Sender<OwnerEvent>) -> Result<Watcher, Error> {
    // The name is checked here, where the error reaches somebody.
    Server::new(server.clone(), settings.poll.tmux.clone())?;
    let hooks_set = Arc::new(AtomicBool::new(false));
    let (to_task, local_events) = mpsc::unbounded_channel();
    let (has_clients, used) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Instant::now())));
    let place = LeasePath::of(&server, settings.poll.history.as_deref(), settings.rank.may_own());
    let task = WatchTask {
        settings,
        server,
        place,
        events,
        to_task: to_task.clone(),
        local_events,
        hooks_set: Arc::clone(&hooks_set),
        has_clients: Arc::clone(&has_clients),
        role: None,
        used: Arc::clone(&used),
        known: BTreeSet::new(),
        yields_until: None,
        refused: None,
        asked_lock: None,
    };
    Ok(Watcher { task: tokio::spawn(task.run()), to_task, hooks_set, has_clients, used })
}

/// Tells a client what is known once all of it is in the history, so that nothing is lost if this process then ends.
pub fn reply<T: Send + 'static>(known: T, history: History, reply: oneshot::Sender<T>) {
    tokio::spawn(async move {
        history.written(history::WRITTEN).await;
        // The client may have gone in the meantime.
        let _ = reply.send(known);
    });
}

/// Says, for people, why a process polls for itself.
pub fn refusal(server: &ServerId, why: &str) -> String {
    format!("{server} is also watched by another fleetwatch, which this one does not follow: {why}")
}

/// Whether another process owns a server, so that this one could follow it. May take a moment, but waits for no process.
pub fn is_owned(settings: &Settings, server: &ServerId) -> bool {
    LeasePath::of(server, settings.poll.history.as_deref(), false).is_some_and(|place| place.is_listened())
}

/// The task that watches one server.
struct WatchTask {
    settings: Settings,
    server: ServerId,
    /// The lease; `None` if there is no directory for it.
    place: Option<LeasePath>,
    events: mpsc::Sender<OwnerEvent>,
    local_events: mpsc::UnboundedReceiver<LocalEvent>,
    to_task: mpsc::UnboundedSender<LocalEvent>,
    hooks_set: Arc<AtomicBool>,
    has_clients: Arc<AtomicBool>,
    role: Option<Role>,
    used: Arc<Mutex<Instant>>,
    /// The terminals that this process already knows, which need no recall from the history.
    known: BTreeSet<TerminalKey>,
    /// Until when this process leaves the lease to one that outranks it.
    yields_until: Option<Instant>,
    /// Why and when an owner last refused this process.
    refused: Option<(String, Instant)>,
    /// The inode of the lock when its holder was last asked.
    asked_lock: Option<u64>,
}

/// Why following an owner ended.
enum FollowEnd {
    Ended(End),
    /// The owner ended or gave way before it sent anything.
    Nothing,
    /// The owner is stopped: it holds its lease and is silent.
    Frozen,
    /// The owner has other rules or another version; its reason.
    Refused(String),
}

/// Why a role ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The process has to find another role.
    Changed,
    /// Nobody receives the events any longer.
    Closed,
}

impl WatchTask {
    async fn run(mut self) {
        let mut tries = 0;
        let mut is_frozen = false;
        loop {
            let frozen = if is_frozen { self.asked_lock.take() } else { None };
            is_frozen = false;
            let yields = self.yields_until.is_some_and(|until| Instant::now() < until);
            let bid = match frozen {
                Some(lock) => Bid::Replace(lock),
                None if self.settings.rank.may_own() && !yields => Bid::Own,
                None => Bid::Follow,
            };
            let acquired = match &self.place {
                Some(place) => {
                    self.asked_lock = place.lock_inode();
                    acquire(place, bid).await
                }
                None => Acquired::Nothing,
            };
            let end = match acquired {
                Acquired::Lease(lease) => {
                    tries = 0;
                    match self.set_role(Role::Owner, Some(lease.held())).await {
                        End::Closed => End::Closed,
                        End::Changed => self.own(lease).await,
                    }
                }
                Acquired::Connection(stream) => match self.follow(stream).await {
                    FollowEnd::Ended(end) => {
                        tries = 0;
                        end
                    }
                    FollowEnd::Nothing => End::Changed,
                    FollowEnd::Frozen if self.settings.rank.may_own() => {
                        is_frozen = true;
                        End::Changed
                    }
                    FollowEnd::Frozen => {
                        tries = TRIES;
                        self.report_refusal("it does not answer".to_owned()).await
                    }
                    FollowEnd::Refused(why) => {
                        tries = TRIES;
                        self.report_refusal(why).await
                    }
                },
                Acquired::Silence if self.settings.rank.may_own() => End::Changed,
                Acquired::Silence | Acquired::Nothing => {
                    tries = TRIES;
                    End::Changed
                }
            };
            if end == End::Closed {
                return;
            }
            if tries == 0 || is_frozen {
                tries = 1;
                continue;
            }
            tries += 1;
            if self.place.is_some() && tries < TRIES {
                tokio::time::sleep(clock::A_MOMENT).await;
                continue;
            }
            // Where there is a place for a lease somebody else may have it, and acts.
            let held = self.place.is_none().then_some(HeldLock::ALWAYS);
            if self.set_role(Role::Alone, held).await == End::Closed || self.poll_alone().await == End::Closed {
                return;
            }
            tries = TRIES;
        }
    }

    /// Notes that another process needs this one, or this one another.
    fn mark_used(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Announces the new role, and whether this process acts.
    async fn set_role(&mut self, role: Role, held: Option<HeldLock>) -> End {
        let before = self.role.replace(role);
        // Another lease is another role.
        if before == Some(role) && role != Role::Owner {
            return End::Changed;
        }
        tracing::debug!(server = %self.server, ?role, "role");
        let lead = held.map(|held| Lead { held, to_task: self.to_task.clone() });
        let takes_over = role == Role::Owner && before == Some(Role::Client);
        let (taken_over, written) = if takes_over { Some(oneshot::channel()).unzip() } else { (None, None) };
        let role = OwnerEvent::Role { server: self.server.clone(), role, lead, taken_over };
        let end = self.send(role).await;
        if let Some(written) = written {
            // It goes on from what the history says, and that must be all that was told.
            let _late = tokio::time::timeout(2 * history::WRITTEN, written).await;
        }
        end
    }

    /// Starts to poll.
    fn poll(&self) -> Option<poll::Poller> {
        let (poll, profiles) = (self.settings.poll.clone(), Arc::clone(&self.settings.profiles));
        let since = poll::PollerState { known: self.known.clone(), hooks_set: Arc::clone(&self.hooks_set) };
        // Its name was checked when all began.
        poll::spawn(poll, profiles, self.server.clone(), since).ok()
    }

    /// Announces, once for each reason, that this process has to poll for itself.
    async fn report_refusal(&mut self, why: String) -> End {
        tracing::warn!(server = %self.server, why, "the owner is not followed");
        let before = self.refused.replace((why.clone(), Instant::now()));
        if before.is_some_and(|(before, _)| before == why) {
            return End::Changed;
        }
        self.send(OwnerEvent::Refused { server: self.server.clone(), why }).await
    }

    /// Whether this process, which polls for itself, could now own the server or follow its owner.
    fn can_change_role(&self) -> bool {
        let Some(place) = &self.place else { return false };
        let may_ask = self.refused.as_ref().is_none_or(|(_, at)| at.elapsed() > ASK_REFUSER);
        (self.settings.rank.may_own() && place.is_free()) || (may_ask && place.is_listened())
    }

    /// Polls without clients.
    async fn poll_alone(&mut self) -> End {
        let Some(mut poller) = self.poll() else { return End::Closed };
        let ask_again = tokio::time::sleep(ASK_AGAIN);
        tokio::pin!(ask_again);
        loop {
            tokio::select! {
                Some(polled) = poller.next() => {
                    if self.hand_on(polled.input).await == End::Closed {
                        return End::Closed;
                    }
                }
                Some(event) = self.local_events.recv() => match event {
                    LocalEvent::Client(_) => poller.wake(),
                    // A process that is alone has no clients.
                    LocalEvent::Told(_) | LocalEvent::Handled(_) => {}
                },
                () = &mut ask_again, if self.place.is_some() => {
                    if self.can_change_role() {
                        return End::Changed;
                    }
                    ask_again.as_mut().reset(tokio::time::Instant::now() + ASK_AGAIN);
                }
                else => return End::Closed,
            }
        }
    }

    /// Passes an input on to this process.
    async fn hand_on(&mut self, input: Input) -> End {
        if let Input::Server(report) = &input
            && let fleet::PollResult::Listed(panes) = &report.outcome
        {
            self.known = panes.iter().map(|pane| pane.key.clone()).collect();
        }
        self.send(OwnerEvent::Input(input)).await
    }

    async fn send(&self, event: OwnerEvent) -> End {
        match self.events.send(event).await {
            Ok(()) => End::Changed,
            Err(_) => End::Closed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_that_read_other_records_do_not_follow_each_other() {
        let fingerprint = |text| {
            let config = Config::parse(text, std::path::Path::new("test.toml")).unwrap();
            Settings::new(&config, Arc::new(ProfileSet::builtin())).fingerprint()
        };
        assert_eq!(fingerprint(""), fingerprint("[records]\nenabled = true\n"));
        assert_ne!(fingerprint(""), fingerprint("[records]\nenabled = false\n"));
        assert_ne!(fingerprint(""), fingerprint("[records]\nexcept = [\"codex\"]\n"));
        assert_ne!(fingerprint(""), fingerprint("[watch]\ngit = false\n"));
    }
}
