//! The history: what happened to every terminal and what was done to it, kept across crashes and restarts (SPEC §10).
//!
//! One SQLite file for all processes of fleetwatch on a machine. [`History`] takes records and never waits: the thread in
//! [`writer`] hands them in batches to [`store`], which writes each batch in one transaction. [`Reader`] answers the command
//! line and the drill-down from a connection of its own, and [`feeds`] tell what any process writes. [`Intents`] is the outbox:
//! it keeps what is to be sent until it is. A full disk, a locked, unwritable or damaged file shows in [`HistoryHealth`] and
//! nowhere else; watching goes on.
//!
//! Four floors, none of which imports what is above it: its settings and its health ([`health`], [`summary`]); the file, and who
//! writes it ([`file`], [`notes`], [`usage`], [`store`], [`writer`], [`intents`]); who reads it ([`reader`], [`feeds`], [`recall`]);
//! and what is made of that ([`questions`], [`totals`]).

mod changes;
mod drafts;
mod encoding;
mod feeds;
mod file;
mod health;
mod identity;
mod intents;
mod notes;
mod questions;
mod reader;
mod recall;
mod requests;
mod store;
mod summary;
mod totals;
mod usage;
mod writer;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::clock::{self, now};
use crate::fleet::{Effect, Fleet, ServerId, TerminalKey};
use crate::operation::{Operation, Outcome};
use crate::private::HeldLock;
use crate::profile::ProfileSet;
use crate::record::question::Answer;
use crate::record::{NamedEvent, Record, Stored, TransitionRecord};
use crate::state::KeptNote;
use crate::time::Timestamp;

pub use drafts::Drafts;
pub use feeds::IntentNews;
use file::HistoryOptions;
pub use file::PATIENCE;
pub use file::{Settings, VERSION};
pub use health::{HistoryHealth, WriterState};
pub use identity::{Owner, stored_server};
pub use intents::{Decided, Intents};
pub use notes::keep_note;
pub use questions::Questions;
pub use reader::{Reader, RecordFilter, StoredTerminal, notes_in};
pub use recall::Recall;
pub use requests::{HttpRequest, HttpRequests, RequestProgress};
pub use summary::{Need, ServerSummary};
pub use totals::{Grain, Period, day_totals};
pub use usage::SessionUsage;

use changes::Changes;
use feeds::{FeedCursor, FeedListener, FeedMessage, Feeds, IntentChanges, NewRecords, NoteChanges};
use store::WriterMessage;
use writer::{Writer, set};

/// Messages that wait for the thread at most; more than that are counted as lost, because watching must not wait.
const QUEUE: usize = 1024;
/// How long an act waits for the history, so that other processes know of it: ten batches. One that cannot be written holds nothing
/// up.
pub const WRITTEN: Duration = writer::GATHER.saturating_mul(10);

/// The history as the rest of the program sees it. Clones write to the same thread; the last one that is dropped waits
/// a moment for what is still to be written.
#[derive(Clone, Debug)]
pub struct History {
    inner: Option<Arc<Inner>>,
    health: Arc<Mutex<HistoryHealth>>,
}

#[derive(Debug)]
struct Inner {
    owner: Owner,
    path: PathBuf,
    /// `None` only while it is dropped.
    queue: Option<SyncSender<WriterMessage>>,
    /// Tells of each batch that was written; closed when the thread has ended.
    progress: Mutex<Receiver<()>>,
    inputs: AtomicU64,
    /// The time of the last transition of each terminal.
    last: Mutex<HashMap<TerminalKey, Timestamp>>,
    /// Takes feeds to the thread that reads them; `None` as long as nobody asked for one.
    feeds: Mutex<Option<Arc<mpsc::Sender<FeedMessage>>>>,
    changes: Changes,
}

impl History {
    /// A history that keeps nothing.
    pub fn off() -> Self {
        Self { inner: None, health: Arc::new(Mutex::new(HistoryHealth::new(WriterState::Off))) }
    }

    /// Begins to write the history that the settings name. It never fails and never waits: whether it can be written
    /// shows in [`History::health`].
    pub fn start(settings: &Settings) -> Self {
        match settings.location() {
            Some(path) if settings.enabled => Self::with(path, settings.clone(), HistoryOptions::default()),
            _ => Self::off(),
        }
    }

    fn with(path: PathBuf, limits: Settings, options: HistoryOptions) -> Self {
        let health = Arc::new(Mutex::new(HistoryHealth::new(WriterState::Starting)));
        let (queue, messages) = mpsc::sync_channel(QUEUE);
        let (written, progress) = mpsc::sync_channel(1);
        let owner = Owner::of_process(now());
        let writer = Writer::new(path.clone(), owner.clone(), limits, options, Arc::clone(&health));
        let thread = thread::Builder::new().name("history".to_owned()).spawn(move || writer.run(&messages, &written));
        if let Err(error) = thread {
            set(&health, WriterState::Degraded(error.into()));
            return Self { inner: None, health };
        }
        let inner = Inner {
            owner,
            path,
            queue: Some(queue),
            progress: Mutex::new(progress),
            inputs: AtomicU64::new(0),
            last: Mutex::default(),
            feeds: Mutex::default(),
            changes: Changes::default(),
        };
        Self { inner: Some(Arc::new(inner)), health }
    }

    /// Where the history is; `None` when none is kept.
    pub fn path(&self) -> Option<&Path> {
        self.inner.as_ref().map(|inner| inner.path.as_path())
    }

    /// The name of this process in its records.
    pub fn owner(&self) -> Option<&Owner> {
        self.inner.as_ref().map(|inner| &inner.owner)
    }

    /// How the writing goes.
    pub fn health(&self) -> HistoryHealth {
        self.health.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The trouble of the history each time that it changes; all callers together get it once.
    pub fn new_warning(&self) -> Option<String> {
        let mut health = self.health.lock().unwrap_or_else(PoisonError::into_inner);
        // That more and more is lost is the same trouble.
        let trouble = HistoryHealth { lost: health.lost.min(1), ..health.clone() }.warning();
        let is_new = trouble != health.reported;
        health.reported = trouble;
        health.warning().filter(|_| is_new)
    }

    /// Where the history would be, and what to do so that it is written; `None` while it is.
    pub fn remedy(&self) -> Option<String> {
        let WriterState::Degraded(trouble) = self.health().condition else { return None };
        self.path().map(|path| format!("{}: {}", path.display(), trouble.hint()))
    }

    /// Keeps a record. It never waits; when the writing has fallen far behind, the record is lost and counted.
    pub fn record(&self, record: Record) {
        self.send(WriterMessage::Record(Arc::new(record)));
    }

    /// Keeps an effect of the fleet.
    pub fn effect(&self, effect: &Effect, fleet: &Fleet, now: Timestamp) {
        let Some(inner) = &self.inner else { return };
        let mut last = inner.last.lock().unwrap_or_else(PoisonError::into_inner);
        match effect {
            Effect::Introduced { key } => {
                let Some(terminal) = fleet.terminal(key) else { return };
                let name = terminal.state.terminal.id.clone();
                // It was watched from the poll on that found it, and its first transition has the same time.
                let at = terminal.state.observed_at.min(now);
                self.record(Record::Introduced { key: key.clone(), name, at });
            }
            Effect::TaskIntroduced { .. } | Effect::TasksFound { .. } => {}
            Effect::Tasks(batch) => batch.events.iter().for_each(|event| {
                let (key, name, at) = (event.key.clone(), event.id.clone(), event.at);
                self.record(Record::TaskEvent { key, name, at, event: event.into() });
            }),
            Effect::TaskChanged(task) => self.record(Record::task_transition(task, false)),
            Effect::TaskLeft(task) => self.record(Record::task_transition(task, true)),
            Effect::Changed(changed) => {
                let before = last.insert(changed.key.clone(), changed.transition.at);
                let is_new = |(at, _): &(Timestamp, _)| before.is_none_or(|before| *at > before);
                let events = fleet.surface_events(&changed.key).filter(is_new);
                let events = events.map(|(at, event)| NamedEvent { at, event }).collect();
                self.record(Record::Transition(TransitionRecord { events, ..changed.into() }));
            }
            Effect::Left(left) => {
                last.remove(&left.key);
                self.record(Record::Left(left.into()));
            }
        }
    }

    /// This process writes what happens on a server as long as the lead holds, also what it has taken in just before; with
    /// none it writes nothing of it.
    pub fn lead(&self, server: ServerId, held: Option<HeldLock>) {
        let Some(queue) = self.inner.as_ref().and_then(|inner| inner.queue.clone()) else { return };
        if let Err(TrySendError::Full(message)) = queue.try_send(WriterMessage::Lead(server, held)) {
            // This must not be lost, and nobody may wait for it here.
            thread::spawn(move || drop(queue.send(message)));
        }
    }

    /// Keeps the summary of a server in place of the one before.
    pub fn summarize(&self, summary: ServerSummary) {
        self.send(WriterMessage::Summary(summary));
    }

    /// Writes down that an operation is about to be performed. The ticket takes what becomes of it; without a word the outcome
    /// stays open, which is read as not known.
    pub fn begin_input(&self, operation: &Arc<Operation>) -> Ticket {
        let uid = self.inner.as_ref().map(|inner| {
            let uid = format!("{}.{}", inner.owner.as_str(), inner.inputs.fetch_add(1, Ordering::Relaxed));
            self.send(WriterMessage::InputBegun { uid: uid.clone(), operation: Arc::clone(operation) });
            uid
        });
        Ticket { history: self.clone(), uid }
    }

    /// Like [`History::begin_input`], and waits until it is written, at most for half a second: a history that cannot be
    /// written keeps nobody from sending.
    pub async fn begin_input_durably(&self, operation: &Arc<Operation>) -> Ticket {
        let ticket = self.begin_input(operation);
        self.written(WRITTEN).await;
        ticket
    }

    /// Waits until everything up to here is in the store, at most for `limit`; whether it is.
    pub async fn written(&self, limit: Duration) -> bool {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        if self.inner.is_none() || !self.send(WriterMessage::Flush(sender)) {
            return false;
        }
        matches!(tokio::time::timeout(limit, receiver).await, Ok(Ok(true)))
    }

    /// Inputs that any process, including this one, sends after this call, each once its outcome is known. One thread reads this
    /// and the feeds below, as long as any has a receiver.
    pub fn inputs(&self) -> UnboundedReceiver<Stored> {
        self.follow("inputs", NewRecords { kinds: "'input'", begins_of_late: false })
    }

    /// The records of a log: first recent ones of all kinds, then new actions of any process. New transitions come from the
    /// fleet.
    pub fn log(&self) -> UnboundedReceiver<Stored> {
        self.follow("log", NewRecords { kinds: "'input', 'follow_up', 'action'", begins_of_late: true })
    }

    /// Intents: first the open ones, then every change.
    pub fn intents(&self) -> UnboundedReceiver<IntentNews> {
        self.follow("intents", IntentChanges)
    }

    /// Notes on terminals: first the existing ones, then changes by any process.
    pub fn notes(&self) -> UnboundedReceiver<KeptNote> {
        self.follow("notes", NoteChanges)
    }

    fn follow<F: feeds::Feed>(&self, name: &str, feed: F) -> UnboundedReceiver<F::News> {
        let (sender, receiver) = unbounded_channel();
        let Some(inner) = &self.inner else { return receiver };
        let listener: Box<dyn FeedListener> = Box::new(FeedCursor::new(&inner.path, feed, sender));
        let mut feeds = inner.feeds.lock().unwrap_or_else(PoisonError::into_inner);
        let added = match &*feeds {
            Some(added) => Arc::clone(added),
            None => {
                let (added, new) = mpsc::channel();
                let added = Arc::new(added);
                let told = Arc::downgrade(&added);
                self.when_changed(move || told.upgrade().is_some_and(|told| told.send(FeedMessage::Changed).is_ok()));
                let feeds = Feeds::new(inner.path.clone());
                if let Err(error) = thread::Builder::new().name("feeds".to_owned()).spawn(move || feeds.run(&new)) {
                    tracing::warn!(%error, name, "what other processes write is not read");
                }
                added
            }
        };
        // A thread that could not be begun hears nothing.
        let _ = added.send(FeedMessage::Listener(listener));
        *feeds = Some(added);
        receiver
    }

    /// Calls `listener` when any process may have written to the history, until it returns `false`.
    pub fn when_changed(&self, listener: impl FnMut() -> bool + Send + 'static) {
        if let Some(inner) = &self.inner {
            inner.changes.tell(&inner.path, listener);
        }
    }

    /// Answers questions, in the order in which they are asked. It does so without a history as well, and says then that
    /// none is kept.
    pub fn questions(&self, profiles: Arc<ProfileSet>) -> (Questions, UnboundedReceiver<Answer>) {
        Questions::start(self.path(), profiles)
    }

    fn send(&self, message: WriterMessage) -> bool {
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
        while progress.recv_timeout(PATIENCE).is_ok() && since.elapsed() < clock::FAREWELL {}
    }
}

/// An input that was written down before it is sent.
#[derive(Clone, Debug)]
pub struct Ticket {
    history: History,
    uid: Option<String>,
}

impl Ticket {
    /// Records the outcome.
    pub fn ended(&self, outcome: Outcome, at: Timestamp) {
        if let Some(uid) = self.uid.clone() {
            self.history.send(WriterMessage::InputEnded { uid, outcome, at });
        }
    }
}

// What can go wrong with the file, and what is said of it.

#[cfg(test)]
mod tests;
