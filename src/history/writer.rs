//! The thread that writes, and the handle that the rest of the program holds.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::identity::Owner;
use super::open::Options;
use super::record::{self, Message, NewInput, Record, TransitionRecord};
use super::retention::{self, Limits};
use super::store::{BEAT, Store};
use super::trouble::{Condition, Health};
use super::{Settings, Trouble, now};
use crate::fleet::{Effect, Fleet, TerminalKey};
use crate::moment::Moment;
use crate::state::State;

/// Messages that wait for the thread at most; more than that are counted as lost, because watching must not wait.
const QUEUE: usize = 1024;
/// Messages in one transaction at most, and messages that are kept while the file cannot be written.
const BATCH: usize = 256;
/// How long the first message of a batch waits for others.
const GATHER: Duration = Duration::from_millis(50);
/// How long to wait after a failure.
const RETRY: Duration = Duration::from_secs(2);
/// How long the end of the program waits for each of the last batches, and for all of them.
const FAREWELL: Duration = Duration::from_millis(1500);
const LONGEST_FAREWELL: Duration = Duration::from_secs(10);

/// The history as the rest of the program sees it. Clones write to the same thread; the last one that is dropped waits
/// a moment for what is still to be written.
#[derive(Clone, Debug)]
pub struct History {
    inner: Option<Arc<Inner>>,
    health: Arc<Mutex<Health>>,
}

#[derive(Debug)]
struct Inner {
    owner: Owner,
    path: PathBuf,
    /// `None` only while it is dropped.
    queue: Option<SyncSender<Message>>,
    /// Tells of each batch that was written; closed when the thread has ended.
    progress: Mutex<Receiver<()>>,
    inputs: AtomicU64,
    /// The last state of each terminal, for its last transition, when the fleet does not have it any more.
    states: Mutex<HashMap<TerminalKey, Box<State>>>,
}

impl History {
    /// A history that keeps nothing.
    pub fn off() -> Self {
        Self { inner: None, health: Arc::new(Mutex::new(Health::new(Condition::Off))) }
    }

    /// Begins to write the history that the settings name. It never fails and never waits: whether it can be written
    /// shows in [`History::health`].
    pub fn start(settings: &Settings) -> Self {
        match settings.location() {
            Some(path) if settings.enabled => Self::with(path, settings.limits(), Options::default()),
            _ => Self::off(),
        }
    }

    pub(super) fn with(path: PathBuf, limits: Limits, options: Options) -> Self {
        let health = Arc::new(Mutex::new(Health::new(Condition::Starting)));
        let (queue, messages) = mpsc::sync_channel(QUEUE);
        let (told, progress) = mpsc::sync_channel(1);
        let owner = Owner::of_process(now());
        let writer = Writer::new(path.clone(), owner.clone(), limits, options, Arc::clone(&health));
        let thread = thread::Builder::new().name("history".to_owned()).spawn(move || writer.run(&messages, &told));
        if let Err(error) = thread {
            set(&health, Condition::Degraded(error.into()));
            return Self { inner: None, health };
        }
        let inner = Inner {
            owner,
            path,
            queue: Some(queue),
            progress: Mutex::new(progress),
            inputs: AtomicU64::new(0),
            states: Mutex::default(),
        };
        Self { inner: Some(Arc::new(inner)), health }
    }

    /// Where the history is; `None` when none is kept.
    pub fn path(&self) -> Option<&Path> {
        self.inner.as_ref().map(|inner| inner.path.as_path())
    }

    /// The name by which this process signs what it writes.
    pub fn owner(&self) -> Option<&Owner> {
        self.inner.as_ref().map(|inner| &inner.owner)
    }

    /// How the writing goes.
    pub fn health(&self) -> Health {
        self.health.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps a record. It never waits; when the writing has fallen far behind, the record is lost and counted.
    pub fn record(&self, record: Record) {
        self.tell(Message::Record(Arc::new(record)));
    }

    /// Keeps what an effect of the fleet tells.
    pub fn effect(&self, effect: &Effect, fleet: &Fleet, now: Moment) {
        let Some(inner) = &self.inner else { return };
        let mut states = inner.states.lock().unwrap_or_else(PoisonError::into_inner);
        let (key, name, transition, state, screen) = match effect {
            Effect::Introduced { key } => {
                let Some(terminal) = fleet.terminal(key) else { return };
                let name = terminal.state.terminal.id.clone();
                return self.record(Record::Introduced { key: key.clone(), name, at: now });
            }
            Effect::Changed { key, id, transition, screen } => {
                let state = fleet.state(key, now).map(Box::new);
                states.extend(state.clone().map(|state| (key.clone(), state)));
                (key, id, transition, state, screen.clone())
            }
            Effect::Left { key, id, transition } => (key, id, transition, states.remove(key), None),
        };
        let (key, name, transition) = (key.clone(), name.clone(), transition.clone());
        let record = TransitionRecord { key, name, transition, state, screen };
        self.record(match effect {
            Effect::Left { .. } => Record::Left(record),
            Effect::Introduced { .. } | Effect::Changed { .. } => Record::Transition(record),
        });
    }

    /// Writes down that something is about to be sent. The ticket takes what becomes of it; without a word the outcome
    /// stays open, which is read as not known.
    pub fn begin_input(&self, input: NewInput) -> Ticket {
        let uid = self.inner.as_ref().map(|inner| {
            let uid = record::uid(&inner.owner, inner.inputs.fetch_add(1, Ordering::Relaxed));
            self.tell(Message::InputBegun { uid: uid.clone(), input });
            uid
        });
        Ticket { history: self.clone(), uid }
    }

    /// Waits until everything up to here is in the store, at most for `limit`; whether it is.
    pub async fn written(&self, limit: Duration) -> bool {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        if self.inner.is_none() || !self.tell(Message::Flush(sender)) {
            return false;
        }
        matches!(tokio::time::timeout(limit, receiver).await, Ok(Ok(true)))
    }

    fn tell(&self, message: Message) -> bool {
        let Some(queue) = self.inner.as_ref().and_then(|inner| inner.queue.as_ref()) else { return false };
        match queue.try_send(message) {
            Ok(()) => true,
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                self.health.lock().unwrap_or_else(PoisonError::into_inner).lost += 1;
                false
            }
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        drop(self.queue.take());
        let progress = self.progress.get_mut().unwrap_or_else(PoisonError::into_inner);
        let since = Instant::now();
        // A file that cannot be written must not keep the program from ending; one that is slow may.
        while progress.recv_timeout(FAREWELL).is_ok() && since.elapsed() < LONGEST_FAREWELL {}
    }
}

/// An input that was written down before it is sent.
#[derive(Clone, Debug)]
pub struct Ticket {
    history: History,
    uid: Option<String>,
}

impl Ticket {
    /// The first bytes are about to reach the terminal. From here on the other processes take its turn for an explicit
    /// input.
    pub fn delivered(&self, at: Moment) {
        if let Some(uid) = self.uid.clone() {
            self.history.tell(Message::InputDelivered { uid, at });
        }
    }

    /// What became of it: the outcome's word and the rest of what there is to say.
    pub fn ended(&self, outcome: &str, detail: Option<String>, at: Moment) {
        if let Some(uid) = self.uid.clone() {
            self.history.tell(Message::InputEnded { uid, outcome: outcome.to_owned(), detail, at });
        }
    }
}

fn set(health: &Mutex<Health>, condition: Condition) {
    health.lock().unwrap_or_else(PoisonError::into_inner).condition = condition;
}

/// What the thread works with.
struct Writer {
    path: PathBuf,
    owner: Owner,
    limits: Limits,
    options: Options,
    health: Arc<Mutex<Health>>,
    store: Option<Store>,
    /// The terminals of a store that was closed because of trouble.
    orphans: Vec<TerminalKey>,
    /// What is not written yet, oldest first.
    pending: Vec<Message>,
    next_beat: Instant,
    next_chores: Instant,
    /// Not to be tried before.
    not_before: Instant,
    damaged: bool,
}

impl Writer {
    fn new(path: PathBuf, owner: Owner, limits: Limits, options: Options, health: Arc<Mutex<Health>>) -> Self {
        let now = Instant::now();
        Self {
            path,
            owner,
            limits,
            options,
            health,
            store: None,
            orphans: Vec::new(),
            pending: Vec::new(),
            next_beat: now + BEAT_TIME,
            next_chores: now + retention::FIRST,
            not_before: now,
            damaged: false,
        }
    }

    fn run(mut self, messages: &Receiver<Message>, progress: &SyncSender<()>) {
        loop {
            let open = self.gather(messages);
            if self.work(!open) {
                // Nobody may be waiting, and the one before may not have been heard yet.
                let _ = progress.try_send(());
            }
            if !open {
                break;
            }
        }
        if let Some(store) = &mut self.store
            && let Err(trouble) = store.leave(now())
        {
            tracing::warn!(%trouble, "the history's watches could not be ended");
        }
    }

    /// Takes messages until a batch is worth writing or something else is due; whether more can come.
    fn gather(&mut self, messages: &Receiver<Message>) -> bool {
        let mut until = self.next_beat.min(self.next_chores);
        if self.store.is_none() || !self.pending.is_empty() {
            until = until.min(self.not_before);
        }
        while self.pending.len() < BATCH {
            match messages.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(message) => {
                    let urgent = message.is_urgent();
                    self.pending.push(message);
                    until = match urgent {
                        // What is queued already goes along.
                        true => Instant::now(),
                        false => until.min(Instant::now() + GATHER).max(self.not_before),
                    };
                }
                Err(RecvTimeoutError::Timeout) => return true,
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
        // A full batch that may not be tried yet leaves the rest in the queue, which counts what it cannot hold.
        thread::sleep(self.not_before.saturating_duration_since(Instant::now()));
        true
    }

    /// Writes what is pending, if it may be tried now; whether it was written.
    fn work(&mut self, last: bool) -> bool {
        if Instant::now() < self.not_before && !last {
            self.answer(false);
            return false;
        }
        match self.try_work() {
            Ok(()) => {
                self.answer(true);
                self.pending.clear();
                self.damaged = false;
                set(&self.health, Condition::Good);
                true
            }
            Err(trouble) => {
                self.answer(false);
                tracing::warn!(%trouble, path = %self.path.display(), "the history cannot be written");
                // Damage is mended by the next attempt, which follows at once; damage again is not.
                let mend = trouble == Trouble::Damaged && !self.damaged;
                self.damaged = trouble == Trouble::Damaged;
                self.not_before = if mend { Instant::now() } else { Instant::now() + RETRY };
                if !matches!(trouble, Trouble::Locked | Trouble::Full) {
                    self.close();
                }
                set(&self.health, Condition::Degraded(trouble));
                false
            }
        }
    }

    fn try_work(&mut self) -> Result<(), Trouble> {
        if self.store.as_ref().is_some_and(|store| !store.is_in_place()) {
            // Another process moved the file aside, or somebody removed it: what is written there nobody reads.
            self.close();
        }
        let at = now();
        let store = match &mut self.store {
            Some(store) => store,
            None => {
                let open = if self.damaged { Store::open_after_damage } else { Store::open };
                let mut store = open(&self.path, &self.owner, &self.options, at)?;
                if let Some(kept) = store.set_aside() {
                    let mut health = self.health.lock().unwrap_or_else(PoisonError::into_inner);
                    health.set_aside = Some(kept.clone());
                }
                store.inherit(self.orphans.drain(..));
                self.store.insert(store)
            }
        };
        write(store, &self.pending, &self.health, at)?;
        if Instant::now() >= self.next_beat {
            self.next_beat = Instant::now() + BEAT_TIME;
            store.beat(at)?;
        }
        if Instant::now() >= self.next_chores {
            self.next_chores = Instant::now() + retention::INTERVAL;
            retention::run(store.connection(), &self.limits, at)?;
        }
        Ok(())
    }

    fn close(&mut self) {
        if let Some(store) = self.store.take() {
            self.orphans.extend(store.watched().cloned());
        }
    }

    /// Tells those who wait for a flush.
    fn answer(&mut self, written: bool) {
        let (flushes, rest) =
            std::mem::take(&mut self.pending).into_iter().partition(|message| matches!(message, Message::Flush(_)));
        self.pending = rest;
        let flushes: Vec<Message> = flushes;
        for flush in flushes {
            if let Message::Flush(sender) = flush {
                // Whoever asked may have given up waiting.
                let _ = sender.send(written);
            }
        }
    }
}

const BEAT_TIME: Duration = Duration::from_millis(BEAT.as_millis());

/// Writes what is pending. A message that cannot be written for a reason of its own must not hold up the others, so
/// after such a failure each goes alone, and those that fail are lost.
fn write(store: &mut Store, pending: &[Message], health: &Mutex<Health>, at: Moment) -> Result<(), Trouble> {
    if pending.is_empty() {
        return Ok(());
    }
    match store.write(pending, at) {
        Err(Trouble::Other(_)) => {}
        written => return written,
    }
    let mut lost = 0;
    for message in pending.iter() {
        match store.write(std::slice::from_ref(message), at) {
            Err(Trouble::Other(reason)) => {
                tracing::warn!(reason, ?message, "a record of the history cannot be written");
                lost += 1;
            }
            written => written?,
        }
    }
    if lost == pending.len() as u64 {
        // Not one could be written: the reason lies in the file.
        return Err(Trouble::Other("nothing can be written to it".to_owned()));
    }
    health.lock().unwrap_or_else(PoisonError::into_inner).lost += lost;
    Ok(())
}
