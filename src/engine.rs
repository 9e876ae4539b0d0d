//! The one loop of every process that watches: reports of the server watchers, the history, the senders and the delivery
//! go into the fleet, and what to show or print comes out. The dashboard, `watch`, `wait` and the
//! other commands drive it in the same way: wait for [`Engine::next`] among other things, hand the event to
//! [`Engine::handle`] with the time, and take [`Engine::poll_update`] until there is none. Whoever may act for a server calls
//! [`Engine::deliver`] afterwards, and [`Engine::leave`] at the end.

mod finding;
mod survey;
mod update;

use std::collections::VecDeque;
use std::future::pending;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::clock;
use crate::config::Config;
use crate::delivery::{DeliveryEvent, Dispatcher};
use crate::fleet::{Fleet, Input, ServerHealth, ServerId, ServerReport, ServerView};
use crate::history::{self, History, IntentNews};
use crate::ids::{TerminalKey, WindowId};
use crate::notify::Suppression;
use crate::operation::Act;
use crate::owner::{self, Actor, ClientMessage, OwnerEvent, Role, Roles, Settings, Watcher};
use crate::poll;
use crate::private;
use crate::process;
use crate::profile::ProfileSet;
use crate::record::Record;
use crate::sender::{OperationEvent, Sender};
use crate::state::KeptNote;
use crate::time::{Span, Timestamp};
use crate::tmux::Error;
pub use survey::{Freshness, PATIENCE, survey};
pub use update::{Update, warning_of};

/// Events of watchers that wait to be handled; with more than that the watchers wait themselves.
const WAITING_EVENTS: usize = 64;
/// New screens that are read at once: a key that comes meanwhile waits for no more.
const AT_ONCE: usize = 8;
/// How long the end of a process waits until a tmux server has given back what was set in it.
const LAST_RELEASE: Duration = Duration::from_secs(1);
/// How long timers wait for a poll that had ended by then and is still on its way to the fleet.
const LATEST_POLL: Span = Span::from_millis(20);
/// Timers that run later than this were not late: the process was stopped, and saw nothing of what they are about.
const STOPPED: Span = Span::from_secs(2);

/// Something that has happened, for [`Engine::handle`].
#[derive(Debug)]
pub enum EngineEvent {
    /// A server was polled, or this process has another role for it.
    Owner(OwnerEvent),
    /// What this process does for another one has come further.
    Operation(OperationEvent),
    /// The operator says something of a terminal, in any process.
    Noted(KeptNote),
    /// Something to show or to print.
    Update(Update),
    /// The next part of a report that is taken in in parts.
    Part,
    /// It is time to look which servers of the user there are.
    Servers,
    /// Nothing happened but time.
    Timeout,
}

/// A fleet that is kept up to date.
pub struct Engine {
    fleet: Fleet,
    settings: Settings,
    /// Dropping a watcher ends it.
    watchers: Vec<(ServerId, Watcher)>,
    roles: Roles,
    /// Where watchers send their events, and where these arrive.
    to_engine: mpsc::Sender<OwnerEvent>,
    owner_events: mpsc::Receiver<OwnerEvent>,
    /// `None` in a process that never acts for a server.
    acting: Option<Acting>,
    updates: VecDeque<Update>,
    /// The remaining parts of a report. Until they are handled, no other report is, and time stands still.
    parts: VecDeque<ServerReport>,
    /// When to look again which servers of the user there are, where all of them are watched.
    look_at: Instant,
}

/// The parts of a process that may act for servers.
struct Acting {
    history: History,
    sender: Sender,
    dispatcher: Dispatcher,
    intents: UnboundedReceiver<IntentNews>,
    notes: UnboundedReceiver<KeptNote>,
    operations: UnboundedReceiver<OperationEvent>,
    /// The same of what other processes ask for.
    asked: UnboundedReceiver<OperationEvent>,
    to_asked: UnboundedSender<OperationEvent>,
    /// What is being done for them, which must not be left half done.
    callers: JoinSet<()>,
    /// Whether this process ends.
    ends: watch::Sender<bool>,
    deliveries: UnboundedReceiver<DeliveryEvent>,
}

impl Engine {
    /// Begins to watch servers, and never acts for one.
    ///
    /// # Errors
    /// A server's name is not fit for a command line.
    pub fn start(settings: Settings, servers: &[ServerId]) -> Result<Self, Error> {
        Self::with(settings, servers, None)
    }

    /// The same, and may act for servers by the rules of a configuration, until [`Engine::leave`]. What the actor that is
    /// returned performs the engine follows. Must be called within the runtime.
    pub fn start_acting(
        mut settings: Settings,
        servers: &[ServerId],
        (config, history): (&Config, &History),
        has_terminal: bool,
    ) -> Result<(Self, Actor), Error> {
        // By this name other processes tell that what it sets in tmux is still in use.
        process::take_name();
        settings.poll.counter = Some(poll::this_process());
        let (to_operations, operations) = mpsc::unbounded_channel();
        let (to_asked, asked) = mpsc::unbounded_channel();
        let (to_deliveries, deliveries) = mpsc::unbounded_channel();
        let (profiles, tmux) = (Arc::clone(&settings.profiles), settings.poll.tmux.clone());
        let sender = Sender::new(profiles, tmux.clone(), history.clone(), private::lock_directory());
        let sender = sender.telling(to_operations);
        let acting = Acting {
            dispatcher: Dispatcher::start(config, history, has_terminal, (sender.clone(), tmux), to_deliveries),
            sender: sender.clone(),
            intents: history.intents(),
            notes: history.notes(),
            history: history.clone(),
            operations,
            asked,
            to_asked,
            callers: JoinSet::new(),
            ends: watch::Sender::default(),
            deliveries,
        };
        let mut engine = Self::with(settings, servers, Some(acting))?;
        // Nothing is reported under a name that is not the operator's.
        engine.know(history::notes_in(history.path()));
        let actor = Actor::new(sender, engine.settings.poll.history.clone(), Arc::clone(&engine.roles));
        Ok((engine, actor))
    }

    fn with(settings: Settings, servers: &[ServerId], acting: Option<Acting>) -> Result<Self, Error> {
        let (to_engine, owner_events) = mpsc::channel(WAITING_EVENTS);
        let fleet = Fleet::new(settings.fleet.clone(), Arc::clone(&settings.profiles));
        let (watchers, roles, updates) = (Vec::new(), Roles::default(), VecDeque::new());
        let (parts, look_at) = (VecDeque::new(), Instant::now());
        let mut engine =
            Self { fleet, settings, watchers, roles, to_engine, owner_events, acting, updates, parts, look_at };
        engine.watchers = engine.watch(servers)?;
        Ok(engine)
    }

    /// Sets the operator's notes at the beginning.
    pub fn know(&mut self, notes: Vec<KeptNote>) {
        notes.into_iter().for_each(|noted| self.apply(Input::Noted(noted), Timestamp::default()));
    }

    fn watch(&self, servers: &[ServerId]) -> Result<Vec<(ServerId, Watcher)>, Error> {
        let spawn = |server: &ServerId| {
            let watcher = owner::spawn(self.settings.clone(), server.clone(), self.to_engine.clone())?;
            Ok((server.clone(), watcher))
        };
        servers.iter().map(spawn).collect()
    }

    /// All terminals and tasks, as of the events that have been handled.
    pub fn fleet(&self) -> &Fleet {
        &self.fleet
    }

    /// The same, when nothing is watched any longer.
    pub fn into_fleet(self) -> Fleet {
        self.fleet
    }

    /// How servers are watched now.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Explains a terminal's state at a time; `None` if no profile has read its screen.
    pub fn explain(&self, key: &TerminalKey, now: Timestamp) -> Option<String> {
        let terminal = &self.fleet.terminal(key)?.state.terminal;
        let reads_records = self.settings.poll.records.allow(&terminal.tool, terminal.cwd.as_deref());
        self.fleet.explain(key, reads_records, &TimeZone::system(), now)
    }

    /// The servers that are watched.
    pub fn servers(&self) -> Vec<ServerId> {
        self.watchers.iter().map(|(server, _)| server.clone()).collect()
    }

    /// Waits until something happens. May be dropped while it waits.
    pub async fn next(&mut self) -> EngineEvent {
        let outside = self.acting.as_ref().and_then(|acting| acting.dispatcher.poll_timeout());
        let timers = self.fleet.poll_timeout().map(|due| due + LATEST_POLL);
        let timeout = timers.into_iter().chain(outside).min();
        if !self.parts.is_empty() {
            return EngineEvent::Part;
        }
        tokio::select! {
            Some(event) = self.owner_events.recv() => EngineEvent::Owner(event),
            event = next_of(&mut self.acting) => event,
            () = sleep_until(timeout) => EngineEvent::Timeout,
            () = tokio::time::sleep_until(self.look_at.into()), if self.settings.every.is_some() => EngineEvent::Servers,
        }
    }

    /// What a watcher has reported already, if anything: many reports are handled before a frame is drawn.
    pub fn try_next(&mut self) -> Option<EngineEvent> {
        if !self.parts.is_empty() {
            return Some(EngineEvent::Part);
        }
        self.owner_events.try_recv().ok().map(EngineEvent::Owner)
    }

    /// Handles an event at `now`.
    pub fn handle(&mut self, event: EngineEvent, now: Timestamp) {
        match event {
            EngineEvent::Owner(event) => self.owner_event(event, now),
            EngineEvent::Operation(event) => self.operation_event(&event, now),
            EngineEvent::Noted(noted) => self.take(Input::Noted(noted), now),
            EngineEvent::Update(update) => {
                if let Update::Operation(event) = &update {
                    self.operation_event(event, now);
                }
                self.updates.push_back(update);
            }
            EngineEvent::Part => {
                let is_watched = |part: &ServerReport| self.watchers.iter().any(|(server, _)| *server == part.server);
                if let Some(part) = self.parts.pop_front().filter(is_watched) {
                    let at = part.at;
                    self.apply(Input::Server(part), at);
                }
            }
            EngineEvent::Servers => self.find_servers(now),
            EngineEvent::Timeout => {}
        }
        // Whatever happens, time passes.
        self.pass_time(now, LATEST_POLL);
    }

    /// Whether there is something to show or to print.
    pub fn has_updates(&self) -> bool {
        !self.updates.is_empty()
    }

    /// The next thing to show or to print, oldest first.
    pub fn poll_update(&mut self) -> Option<Update> {
        self.updates.pop_front()
    }

    /// The operator of this or another process has seen a terminal.
    pub fn see(&mut self, key: TerminalKey, now: Timestamp) {
        if self.follows(&key.server) {
            return self.tell_owner(&key.server.clone(), ClientMessage::Seen { key });
        }
        let seen = self.fleet.terminal(&key).filter(|terminal| terminal.state.unseen);
        if let (Some(acting), Some(terminal)) = (&self.acting, seen) {
            // Whoever watches later must know that the operator sees how the turn ended.
            acting.history.record(Record::seen(key.clone(), terminal.state.terminal.id.clone(), now));
        }
        self.take(Input::Seen { key }, now);
    }

    /// The operator of this or another process kills a task; `reason` says so to people.
    pub fn task_killed(&mut self, server: ServerId, window: WindowId, reason: String, now: Timestamp) {
        match self.follows(&server) {
            true => self.tell_owner(&server, ClientMessage::TaskKilled { window, reason }),
            false => self.take(Input::TaskKilled { server, window, reason }, now),
        }
    }

    /// Waits for the next event and takes it in.
    pub async fn turn(&mut self) {
        let event = self.next().await;
        self.handle(event, clock::now());
    }

    /// Whether a server has not been polled yet, or not all of its terminals.
    pub fn is_waiting(&self) -> bool {
        !self.has_listed() || self.fleet.servers().any(ServerView::is_waiting)
    }

    /// Whether each server has said which terminals it has, or does not answer.
    pub fn has_listed(&self) -> bool {
        // A server that has not reported yet is not known to the fleet at all.
        self.fleet.servers().count() == self.watchers.len()
            && self.fleet.servers().all(|server| server.health != ServerHealth::Waiting)
    }

    /// Delivers what is due of what the fleet shows now, for the servers for which this process acts. What is returned is to be
    /// written to the operator's terminal.
    pub fn deliver(&mut self, operator: Suppression<'_>, now: Timestamp) -> Vec<u8> {
        let Some(acting) = &mut self.acting else { return Vec::new() };
        acting.dispatcher.follow(&self.fleet.view(now), operator)
    }

    /// Mutes all notices, or lets the rules apply again.
    pub fn mute(&mut self, muted: bool) {
        self.acting.iter_mut().for_each(|acting| acting.dispatcher.mute(muted));
    }

    /// Delivers by the rules of another configuration from now on.
    pub fn set_config(&mut self, config: &Config) {
        self.acting.iter_mut().for_each(|acting| acting.dispatcher.set_config(config));
        self.settings.every = owner::EveryServer::of(config);
        if self.settings.follow_ups != config.follow_up {
            self.settings.follow_ups.clone_from(&config.follow_up);
            // Those with the same rules follow each other.
            if let Err(error) = self.set_servers(self.settings.poll.clone(), &self.servers()) {
                tracing::warn!(%error, "processes with the new rules do not follow this one");
            }
        }
    }

    /// Reads screens by other profiles from now on.
    pub fn set_profiles(&mut self, profiles: &Arc<ProfileSet>) -> Result<(), Error> {
        self.acting.iter().for_each(|acting| acting.sender.set_profiles(Arc::clone(profiles)));
        self.fleet.set_profiles(Arc::clone(profiles));
        self.settings.profiles = Arc::clone(profiles);
        self.set_servers(self.settings.poll.clone(), &self.servers())
    }

    /// Watches these servers, and by these rules, from now on. The terminals of the others leave the fleet.
    ///
    /// # Errors
    /// As [`Engine::start`]; nothing has changed then.
    pub fn set_servers(&mut self, poll: poll::Settings, servers: &[ServerId]) -> Result<(), Error> {
        let counter = self.settings.poll.counter.clone();
        let before = std::mem::replace(&mut self.settings.poll, poll::Settings { counter, ..poll });
        let watchers = match self.watch(servers) {
            Ok(watchers) => std::mem::replace(&mut self.watchers, watchers),
            Err(error) => {
                self.settings.poll = before;
                return Err(error);
            }
        };
        // The new watchers say who owns the servers.
        self.roles.lock().unwrap_or_else(PoisonError::into_inner).clear();
        for (server, watcher) in watchers.into_iter().filter(|(server, _)| !servers.contains(server)) {
            self.leave_server(server, watcher, clock::now());
        }
        Ok(())
    }

    /// The terminals of a server that is no longer watched leave the fleet.
    fn leave_server(&mut self, server: ServerId, watcher: Watcher, now: Timestamp) {
        let poll = self.settings.poll.clone();
        self.take(Input::Unwatched { server: server.clone() }, now);
        tokio::spawn(async move { release(poll, server, watcher).await });
    }

    /// Polls a server at once, as something was done there.
    pub fn wake(&self, server: &ServerId) {
        self.tell_owner(server, ClientMessage::Wake);
    }

    fn tell_owner(&self, server: &ServerId, asked: ClientMessage) {
        self.watcher(server).into_iter().for_each(|watcher| watcher.tell_owner(asked.clone()));
    }

    fn watcher(&self, server: &ServerId) -> Option<&Watcher> {
        self.watchers.iter().find(|(watched, _)| watched == server).map(|(_, watcher)| watcher)
    }

    /// How long no other process has needed this one.
    pub fn unused_for(&self) -> Duration {
        self.watchers.iter().map(|(_, watcher)| watcher.unused_for()).min().unwrap_or_default()
    }

    /// Ends watching: waits for `sends` and for what is being delivered, until the history is written, and takes back what was
    /// set in task sessions. Returns what could not be taken back, for people.
    pub async fn leave(&mut self, sends: impl Future<Output = ()>) -> Vec<String> {
        if let Some(acting) = &mut self.acting {
            let Acting { dispatcher, callers, ends, .. } = acting;
            ends.send_replace(true);
            let asked = async { while callers.join_next().await.is_some() {} };
            let _ =
                tokio::time::timeout(clock::FAREWELL, async { tokio::join!(sends, asked, dispatcher.finish()) }).await;
            let ended: Vec<OperationEvent> = std::iter::from_fn(|| acting.operations.try_recv().ok()).collect();
            self.updates.extend(ended.into_iter().map(Update::Operation));
        }
        if let Some(acting) = &self.acting {
            // The next owner writes what is not in the file then.
            acting.history.written(history::WRITTEN).await;
        }
        let watchers = std::mem::take(&mut self.watchers).into_iter();
        let released: JoinSet<_> =
            watchers.map(|(server, it)| release(self.settings.poll.clone(), server, it)).collect();
        released.join_all().await.into_iter().filter_map(Result::err).collect()
    }

    fn owner_event(&mut self, event: OwnerEvent, now: Timestamp) {
        match event {
            OwnerEvent::Input(input) => self.take(input, now),
            OwnerEvent::Act(caller) => {
                if let Some(acting) = &mut self.acting {
                    // Those that are done need no place any more.
                    while acting.callers.try_join_next().is_some() {}
                    let sender = acting.sender.clone().telling(acting.to_asked.clone());
                    acting.callers.spawn(caller.serve(sender, acting.ends.subscribe()));
                }
            }
            OwnerEvent::Refused { server, why } => {
                self.updates.push_back(Update::Refused(owner::refusal(&server, &why)));
            }
            OwnerEvent::Client { server, asked } => match asked {
                ClientMessage::Seen { key } if key.server == server => self.see(key, now),
                ClientMessage::TaskKilled { window, reason } => self.task_killed(server, window, reason, now),
                ClientMessage::Seen { .. } | ClientMessage::Wake => {}
            },
            OwnerEvent::Share { server, yields, reply } => {
                if let Some(acting) = &self.acting {
                    owner::reply(Box::new(self.fleet.share(&server)), acting.history.clone(), reply);
                }
                if yields {
                    self.fleet.yield_server(&server);
                }
            }
            OwnerEvent::Role { server, role, lead, taken_over } => {
                self.roles.lock().unwrap_or_else(PoisonError::into_inner).insert(server.clone(), role);
                // Those who want to know of it ask the process that owns it now.
                self.fleet.share_no_more(&server);
                if role == Role::Client {
                    self.fleet.yield_server(&server);
                }
                if let Some(acting) = &mut self.acting {
                    acting.dispatcher.lead(server, lead);
                    taken_over.into_iter().for_each(|done| owner::reply((), acting.history.clone(), done));
                }
            }
            OwnerEvent::Handled(notice) => {
                self.acting.iter_mut().for_each(|acting| acting.dispatcher.handled(notice.clone()));
            }
        }
    }

    /// Whether another process tells of a server, its owner.
    fn follows(&self, server: &ServerId) -> bool {
        self.roles.lock().unwrap_or_else(PoisonError::into_inner).get(server) == Some(&Role::Client)
    }

    /// Follows an operation that this process performs: a prompt begins a turn, and an answered dialog was seen.
    fn operation_event(&mut self, event: &OperationEvent, now: Timestamp) {
        let (OperationEvent::Begun(operation) | OperationEvent::Ended(operation, _)) = event;
        let key = operation.to.key.clone();
        self.wake(&key.server);
        if self.follows(&key.server) {
            return;
        }
        match (event, &operation.act) {
            (OperationEvent::Begun(_), Act::Prompt { text, .. }) => {
                self.take(Input::Submitted { key, at: now, text: text.clone() }, now);
            }
            (OperationEvent::Ended(_, outcome), Act::Answer { .. }) if outcome.is_accepted() => self.see(key, now),
            _ => {}
        }
    }

    fn take(&mut self, input: Input, now: Timestamp) {
        let server = match &input {
            Input::Server(report) => Some(&report.server),
            Input::Tasks(report) => Some(&report.server),
            Input::Told { server, .. } => Some(server),
            _ => None,
        };
        if server.is_some_and(|server| self.watchers.iter().all(|(watched, _)| watched != server)) {
            // It was sent before its server was let go, and comes too late.
            return;
        }
        let now = match input.at() {
            Some(at) => {
                self.pass_time(at, Span::ZERO);
                at
            }
            None => now,
        };
        match input {
            Input::Server(report) => {
                self.parts.extend(report.in_parts(AT_ONCE));
                self.handle(EngineEvent::Part, now);
            }
            input => self.apply(input, now),
        }
    }

    /// Lets the timers run that were due so long before, each at its own time, unless this process was stopped meanwhile.
    fn pass_time(&mut self, until: Timestamp, before: Span) {
        let mut last = None;
        if !self.parts.is_empty() {
            return;
        }
        while let Some(due) = self.fleet.poll_timeout().filter(|due| *due + before <= until) {
            let due = if until.since(due) > STOPPED { until } else { due };
            // A timer that is due again at once must not stop the time.
            let at = last.map_or(due, |last: Timestamp| due.max(last.next()));
            if at > until {
                return;
            }
            self.apply(Input::TimePassed, at);
            last = Some(at);
        }
    }

    fn apply(&mut self, input: Input, now: Timestamp) {
        self.fleet.handle(input, now);
        while let Some(effect) = self.fleet.poll_effect() {
            self.acting.iter_mut().for_each(|acting| acting.dispatcher.effect(&effect, &self.fleet, now));
            self.updates.push_back(Update::Effect(effect));
        }
        for (server, told) in self.fleet.take_told() {
            if !self.watcher(&server).is_some_and(|watcher| watcher.tell(told)) {
                self.fleet.share_no_more(&server);
            }
        }
    }
}

/// Ends a watcher, and takes back what it has set in the server's task sessions. A server that is gone has nothing of it, and
/// one that does not answer keeps nobody waiting: the next process that watches takes it back.
///
/// # Errors
/// Something was left behind: why, for people.
async fn release(poll: poll::Settings, server: ServerId, watcher: Watcher) -> Result<(), String> {
    let is_set = watcher.has_set_hooks();
    // The watcher must not set again what is taken back.
    drop(watcher);
    if !is_set {
        return Ok(());
    }
    let why = match tokio::time::timeout(LAST_RELEASE, poll::release(&poll, &server)).await {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(error)) if error.is_no_server() => return Ok(()),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "tmux does not answer".to_owned(),
    };
    Err(format!("{server}: the hook that counts bells was left behind: {why}"))
}

/// What happens in a process that may act; nothing ever does in another one.
async fn next_of(acting: &mut Option<Acting>) -> EngineEvent {
    let Some(acting) = acting else { return pending().await };
    EngineEvent::Update(tokio::select! {
        Some(event) = acting.operations.recv() => Update::Operation(event),
        Some(event) = acting.deliveries.recv() => Update::Delivery(event),
        Some(news) = acting.intents.recv() => Update::Intent(news),
        Some(event) = acting.asked.recv() => return EngineEvent::Operation(event),
        Some(noted) = acting.notes.recv() => return EngineEvent::Noted(noted),
        else => pending().await,
    })
}

/// Waits until a moment has come; for ever when there is none.
async fn sleep_until(moment: Option<Timestamp>) {
    match moment {
        Some(at) => tokio::time::sleep(Duration::from_millis(at.since(clock::now()).as_millis())).await,
        None => pending().await,
    }
}
