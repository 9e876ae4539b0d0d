//! The history: what happened to every terminal and what was done to it, kept across crashes and restarts (SPEC §10).
//!
//! One SQLite file for all processes of fleetwatch on a machine. [`History`] takes records and never waits: the thread in
//! [`writer`] hands them in batches to [`store`], which writes each batch in one transaction. [`Reader`] answers the command
//! line and the drill-down from a connection of its own, and [`feeds`] tell what any process writes. [`Intents`] is the outbox:
//! it keeps what is to be sent until it is. A full disk, a locked, unwritable or damaged file shows in [`HistoryHealth`] and
//! nowhere else; watching goes on.

mod drafts;
mod encoding;
mod feeds;
mod file;
mod identity;
mod intake;
mod intents;
mod notes;
mod questions;
mod reader;
mod recall;
mod record;
mod requests;
mod sentence;
mod store;
mod summary;
mod timeline;
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

use rusqlite::ErrorCode;

use crate::clock::now;
use crate::fleet::{Effect, Fleet, ServerId, TerminalKey};
use crate::operation::{Operation, Outcome};
use crate::private::{HeldLock, state_directory};
use crate::time::{Span, Timestamp};

pub use drafts::{Draft, Drafts};
pub use feeds::{IntentNews, Submission};
use file::HistoryOptions;
pub use file::VERSION;
pub use identity::{Owner, stored_server};
pub use intake::Stopped;
pub use intents::{Decided, Intent, IntentId, IntentState, Intents};
pub use notes::{keep_note, notes_in};
pub use questions::{
    Answer, DayQuestion, HistoryAnswer, HistoryQuestion, QuestionKind, Questions, SessionFile, StoredScreen,
};
pub use reader::{Reader, RecordFilter, StoredTerminal, TimelineData};
pub use recall::Recall;
pub use record::{
    Body, FollowUpRecord, Kind, NamedEvent, OperatorAction, PublicState, Record, RecordId, ScreenId, Sent, Stored,
    StoredInput, StoredTransition, TaskRecord, TransitionRecord, What,
};
pub use requests::{HttpRequest, HttpRequests, RequestProgress};
pub use sentence::{Actor, Sentence, of_task, of_transition};
pub use summary::{Need, SUMMARY_LASTS, ServerSummary};
pub use timeline::{Holder, Point, TimelineSpan, timeline, totals, turns};
pub use totals::{DayTotals, Grain, Period, Totals, TotalsOf, hours_of};
pub use usage::SessionUsage;

use writer::{Writer, WriterMessage, set};

/// The file's name in the state directory.
const FILE_NAME: &str = "history.db";

/// The user's settings for the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether a history is kept at all.
    pub enabled: bool,
    /// How old records may become.
    pub keep: Span,
    /// Bytes that the file may use.
    pub max_bytes: u64,
    /// The file; `None` is the one in the user's state directory.
    pub path: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { enabled: true, keep: Span::from_secs(30 * 24 * 3600), max_bytes: 256 << 20, path: None }
    }
}

impl Settings {
    /// Where the file is: as configured, else in `XDG_STATE_HOME`, else in the platform's directory for state or data.
    /// `None` when the user has no home.
    pub fn location(&self) -> Option<PathBuf> {
        self.path.clone().or_else(|| Some(state_directory()?.join(FILE_NAME)))
    }

    /// The same where a history is kept at all.
    pub fn kept_at(&self) -> Option<PathBuf> {
        self.location().filter(|_| self.enabled)
    }
}

/// Messages that wait for the thread at most; more than that are counted as lost, because watching must not wait.
const QUEUE: usize = 1024;
/// How long a sender waits for its intent to be written.
const INTENT: Duration = Duration::from_millis(500);
/// How long the end of the program waits for each of the last batches, and for all of them.
const FAREWELL: Duration = Duration::from_millis(1500);
const LONGEST_FAREWELL: Duration = Duration::from_secs(10);

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
    feeds: Mutex<Option<mpsc::Sender<Box<dyn feeds::FeedListener>>>>,
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

    /// What is wrong with the history, each time that it is something else than at the last call; all callers together
    /// are reported once.
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
        self.written(INTENT).await;
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
    pub fn delivered(&self, at: Timestamp) {
        if let Some(uid) = self.uid.clone() {
            self.history.send(WriterMessage::InputDelivered { uid, at });
        }
    }

    /// Records the outcome.
    pub fn ended(&self, outcome: Outcome, at: Timestamp) {
        if let Some(uid) = self.uid.clone() {
            self.history.send(WriterMessage::InputEnded { uid, outcome, at });
        }
    }
}

// What can go wrong with the file, and what is said of it.

/// Why the history cannot be written or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    #[error("another process has locked it")]
    Locked,
    #[error("the disk is full")]
    Full,
    #[error("it is not writable")]
    ReadOnly,
    #[error("it is damaged")]
    Damaged,
    #[error("it was written by a newer fleetwatch (layout {found}; this one knows {known})")]
    Newer { found: i64, known: u32 },
    #[error("there is none at {}", .0.display())]
    Missing(PathBuf),
    #[error("none is kept")]
    Off,
    #[error("{0}")]
    Other(String),
}

impl Trouble {
    /// A word or two to follow "history".
    pub const fn word(&self) -> &'static str {
        match self {
            Trouble::Locked => "locked",
            Trouble::Full => "disk full",
            Trouble::ReadOnly => "not writable",
            Trouble::Damaged => "damaged",
            Trouble::Newer { .. } => "too new",
            Trouble::Missing(_) => "missing",
            Trouble::Off => "off",
            Trouble::Other(_) => "fails",
        }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Trouble::Locked => "close the program that has it open; what is pending is written afterwards",
            Trouble::Full => "free some disk space, or lower `max_mib` in [history]",
            Trouble::ReadOnly | Trouble::Other(_) => {
                "check the file and its directory, or choose another `path` in [history]"
            }
            Trouble::Damaged => "the next `fleetwatch` or `fleetwatch watch` sets it aside and starts a new one",
            Trouble::Newer { .. } => "run the newer fleetwatch, or choose another `path` in [history]",
            Trouble::Off => "set `enabled = true` in [history]",
            Trouble::Missing(_) => "it is created when `fleetwatch` or `fleetwatch watch` runs",
        }
    }
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        let rusqlite::Error::SqliteFailure(failure, _) = &error else { return Trouble::Other(error.to_string()) };
        match failure.code {
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed => {
                Trouble::Locked
            }
            ErrorCode::DiskFull => Trouble::Full,
            ErrorCode::ReadOnly | ErrorCode::PermissionDenied => Trouble::ReadOnly,
            ErrorCode::CannotOpen => Trouble::Other("it cannot be opened".to_owned()),
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Trouble::Damaged,
            _ => Trouble::Other(error.to_string()),
        }
    }
}

impl From<std::io::Error> for Trouble {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            // What was refused by this program says why.
            _ if error.get_ref().is_some() => Trouble::Other(error.to_string()),
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => Trouble::Full,
            std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => Trouble::ReadOnly,
            _ => Trouble::Other(error.to_string()),
        }
    }
}

/// How the writing of the history goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryHealth {
    pub condition: WriterState,
    /// Records that could not be kept.
    pub lost: u64,
    /// Where a damaged file was moved to, when this process found one.
    pub set_aside: Option<PathBuf>,
    /// The last warning that was returned.
    reported: Option<String>,
}

/// Whether the history is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriterState {
    /// The configuration switches it off.
    Off,
    /// The file is not open yet.
    Starting,
    Good,
    /// It is not written now; watching goes on, and writing is tried again.
    Degraded(Trouble),
}

impl HistoryHealth {
    const fn new(condition: WriterState) -> Self {
        Self { condition, lost: 0, set_aside: None, reported: None }
    }

    /// What is wrong now, in a word or two that stand as long as it is; `None` while all is well.
    pub fn trouble(&self) -> Option<&'static str> {
        match &self.condition {
            WriterState::Degraded(trouble) => Some(trouble.word()),
            _ if self.lost > 0 => Some("has gaps"),
            _ => None,
        }
    }

    /// Why no prompt can wait in it, where none can.
    pub fn why_nothing_waits(&self) -> Option<&'static str> {
        match self.condition {
            WriterState::Off => Some("no prompt can wait without a history"),
            WriterState::Degraded(_) => Some("no prompt can wait while the history fails"),
            _ => None,
        }
    }

    /// One line that the operator should see; `None` while all is well.
    pub fn warning(&self) -> Option<String> {
        let lost = match self.lost {
            0 => String::new(),
            1 => " (1 record lost)".to_owned(),
            many => format!(" ({many} records lost)"),
        };
        match (&self.condition, &self.set_aside) {
            (WriterState::Degraded(trouble), _) => Some(format!("history is not written: {trouble}{lost}")),
            (_, Some(path)) => {
                Some(format!("history was damaged; it is kept as {}, and a new one was begun{lost}", path.display()))
            }
            _ if self.lost > 0 => Some(format!("history has gaps{lost}")),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
