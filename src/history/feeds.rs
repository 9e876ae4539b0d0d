//! New records of any process, as they are written: a thread checks at short intervals whether the file has changed, and
//! continues reading where it stopped.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::identity::Owner;
use super::intents::{self, Intent, OPEN};
use super::reader::{Reader, RecordFilter, listed};
use super::record::{Body, Sent, Stored};
use super::{History, Trouble, now};
use crate::fleet::{Fleet, Input};
use crate::ids::TerminalKey;
use crate::private::inode;
use crate::state::KeptNote;
use crate::time::{Span, Timestamp};

/// How often the file is checked for changes; far shorter than a tick.
const PAUSE: Duration = Duration::from_millis(150);
/// How often a file that cannot be read is tried again.
const RETRY: Duration = Duration::from_secs(1);
/// How long to wait for an outcome; after that, the process that would have written it has died.
const LATEST_OUTCOME: Span = Span::from_secs(600);

/// An input that a fleetwatch process sent to a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    pub number: i64,
    pub at: Timestamp,
    pub key: TerminalKey,
    /// The process, as [`super::Owner`] names it.
    pub owner: String,
    pub sent: Sent,
}

impl Submission {
    /// The input for a fleet that watches the terminal, under any name of its server: a prompt begins a turn, and an answered
    /// dialog was seen. The effect of other keys shows only on the screen.
    pub fn input_for(&self, fleet: &Fleet, now: Timestamp) -> Option<Input> {
        let view = fleet.view(now);
        let key = view.terminals.iter().map(|terminal| &terminal.key).find(|key| key.may_be(&self.key))?.clone();
        match &self.sent {
            Sent::Prompt { text } => Some(Input::Submitted { key, at: self.at, text: text.clone() }),
            Sent::Answer { .. } => Some(Input::Seen { key }),
            Sent::Keys { .. } => None,
        }
    }
}

/// An intent that is new or has progressed.
#[derive(Clone, Debug, PartialEq)]
pub struct IntentNews {
    pub intent: Intent,
    /// Whether it was already in this state when the feed began.
    pub is_old: bool,
}

impl History {
    /// Inputs that other processes send after this call. One thread reads this and the feeds below, as long as any has a
    /// receiver.
    pub fn submissions(&self) -> UnboundedReceiver<Submission> {
        match self.owner() {
            Some(owner) => self.follow("submissions", OthersSubmissions { owner: owner.clone() }),
            None => unbounded_channel().1,
        }
    }

    /// Inputs that any process, including this one, sends after this call, each once its outcome is known.
    pub fn inputs(&self) -> UnboundedReceiver<Stored> {
        self.follow("inputs", EndedInputs)
    }

    /// The records of a log: first recent ones of all kinds, then new actions of any process. New transitions come from the
    /// fleet.
    pub fn log(&self) -> UnboundedReceiver<Stored> {
        self.follow("log", LogRecords)
    }

    /// Intents: first the open ones, then every change.
    pub fn intents(&self) -> UnboundedReceiver<IntentNews> {
        self.follow("intents", IntentChanges)
    }

    /// Notes on terminals: first the existing ones, then changes by any process.
    pub fn notes(&self) -> UnboundedReceiver<KeptNote> {
        self.follow("notes", NoteChanges)
    }

    fn follow<F: Feed>(&self, name: &str, feed: F) -> UnboundedReceiver<F::News> {
        let (sender, receiver) = unbounded_channel();
        let Some(inner) = &self.inner else { return receiver };
        let listener: Box<dyn FeedListener> = Box::new(FeedCursor::new(&inner.path, feed, sender));
        let mut feeds = inner.feeds.lock().unwrap_or_else(PoisonError::into_inner);
        let added = match &*feeds {
            Some(added) => added.clone(),
            None => {
                let (added, new) = mpsc::channel();
                let feeds = Feeds::new(inner.path.clone());
                if let Err(error) = thread::Builder::new().name("feeds".to_owned()).spawn(move || feeds.run(&new)) {
                    tracing::warn!(%error, name, "what other processes write is not read");
                }
                added
            }
        };
        // A thread that could not be begun hears nothing.
        let _ = added.send(listener);
        *feeds = Some(added);
        receiver
    }
}

/// Rows of a table that are reported when they are written, and again when they progress.
pub(super) trait Feed: Send + 'static {
    type News: Send;

    /// The number of the last row, and which earlier ones are reported first.
    fn first(&self, reader: &mut Reader) -> Result<(i64, Entries<Self::News>), Trouble>;

    /// The rows after a number, and those of some numbers.
    fn read(&self, reader: &mut Reader, after: i64, open: &[i64]) -> Result<Entries<Self::News>, Trouble>;
}

/// The present state of a row.
pub(super) struct FeedEntry<T> {
    number: i64,
    progress: RowProgress,
    /// Whether it can still progress.
    is_open: bool,
    /// The news to report, if any.
    news: Option<T>,
}

pub(super) type Entries<T> = Vec<FeedEntry<T>>;

/// The progress of a row: a word for its state, and its number of events.
type RowProgress = (&'static str, usize);

/// The feeds of a file, which are read over one connection.
pub(super) struct Feeds {
    file: FollowedFile,
    listeners: Vec<Box<dyn FeedListener>>,
}

impl Feeds {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { file: FollowedFile::new(path), listeners: Vec::new() }
    }

    /// Reads until nobody listens and nobody can be `added` any more. Whoever is added learns at once where it begins.
    fn run(mut self, added: &Receiver<Box<dyn FeedListener>>) {
        let mut pause = Duration::ZERO;
        loop {
            self.listeners.retain(|listener| !listener.has_left());
            let next = if self.listeners.is_empty() {
                // Whoever comes next begins with the file that is there then.
                self.file = FollowedFile::new(self.file.path);
                added.recv().map_err(RecvTimeoutError::from)
            } else {
                added.recv_timeout(pause)
            };
            match next {
                Ok(listener) => self.add(listener),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) if self.listeners.is_empty() => return,
                Err(RecvTimeoutError::Disconnected) => thread::sleep(pause),
            }
            pause = self.poll().unwrap_or(PAUSE);
        }
    }

    pub(super) fn add(&mut self, listener: Box<dyn FeedListener>) {
        self.listeners.push(listener);
    }

    /// Tells what is new; how long to wait if it is longer than usual.
    pub(super) fn poll(&mut self) -> Option<Duration> {
        if self.file.is_replaced() {
            self.listeners.iter_mut().for_each(|listener| listener.begin_anew());
        }
        let is_open = self.file.open.is_some();
        let version = self.file.opened().and_then(|reader| {
            if !is_open {
                reader.keep_little()?;
            }
            reader.data_version()
        });
        let polled: Vec<Result<(), Trouble>> = match (version, &mut self.file.open) {
            (Ok(version), Some(reader)) => {
                self.listeners.iter_mut().map(|listener| listener.poll(reader, version)).collect()
            }
            (version, _) => vec![version.map(drop)],
        };
        let trouble = polled.into_iter().filter_map(Result::err).find(|trouble| *trouble != Trouble::Locked)?;
        tracing::debug!(%trouble, "what other processes write cannot be read");
        self.file.close();
        self.listeners.iter_mut().for_each(|listener| listener.poll_again());
        Some(RETRY)
    }
}

/// A feed that somebody receives.
pub(super) trait FeedListener: Send {
    /// Returns what is new in a file of this version. A read that fails changes nothing, and the next one gives the same.
    fn poll(&mut self, reader: &mut Reader, version: i64) -> Result<(), Trouble>;

    /// Reads again, whatever the version: another connection counts otherwise.
    fn poll_again(&mut self);

    /// Another file has taken the place of the one before, and begins to count anew.
    fn begin_anew(&mut self);

    /// Whether nobody receives it any more.
    fn has_left(&self) -> bool;
}

/// The position in a feed.
pub(super) struct FeedCursor<F: Feed> {
    feed: F,
    news: UnboundedSender<F::News>,
    /// The rows already reported; `None` before the first poll.
    position: Option<FeedPosition>,
    /// The version of the file that was read last, as its connection counts.
    version: Option<i64>,
}

#[derive(Clone, Default)]
struct FeedPosition {
    /// The last row of all.
    last: i64,
    /// The rows that can still progress.
    open: BTreeMap<i64, RowProgress>,
}

impl<F: Feed> FeedCursor<F> {
    pub(super) fn new(path: &Path, feed: F, news: UnboundedSender<F::News>) -> Self {
        // In a file that is still to be made, everything will be new.
        let position = (!path.exists()).then(FeedPosition::default);
        Self { feed, news, position, version: None }
    }
}

impl<F: Feed> FeedListener for FeedCursor<F> {
    fn poll(&mut self, reader: &mut Reader, version: i64) -> Result<(), Trouble> {
        if self.version == Some(version) {
            return Ok(());
        }
        let (mut position, found) = match &self.position {
            None => {
                let (last, found) = self.feed.first(reader)?;
                (FeedPosition { last, ..FeedPosition::default() }, found)
            }
            Some(position) => {
                let open: Vec<i64> = position.open.keys().copied().collect();
                (position.clone(), self.feed.read(reader, position.last, &open)?)
            }
        };
        for entry in found {
            position.last = position.last.max(entry.number);
            let before = match entry.is_open {
                true => position.open.insert(entry.number, entry.progress),
                false => position.open.remove(&entry.number),
            };
            // Nobody receives it any more when this fails.
            let news = entry.news.filter(|_| before != Some(entry.progress));
            news.into_iter().for_each(|news| drop(self.news.send(news)));
        }
        self.position = Some(position);
        // Only now: what could not be read, because the file was locked, is read the next time.
        self.version = Some(version);
        Ok(())
    }

    fn poll_again(&mut self) {
        self.version = None;
    }

    fn begin_anew(&mut self) {
        (self.position, self.version) = (Some(FeedPosition::default()), None);
    }

    fn has_left(&self) -> bool {
        self.news.is_closed()
    }
}

/// A file that is read repeatedly, even if another one takes its name.
pub(super) struct FollowedFile {
    path: PathBuf,
    open: Option<Reader>,
    /// The file that the path meant at the last poll, which need not have been readable; a file that was moved aside
    /// keeps its inode.
    inode: Option<u64>,
    /// The version that was read last, as this connection counts.
    version: Option<i64>,
}

impl FollowedFile {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, open: None, inode: None, version: None }
    }

    /// Whether another file, or none, has taken the place of the one before; that one is closed.
    fn is_replaced(&mut self) -> bool {
        let inode = inode(&self.path);
        if inode == self.inode {
            return false;
        }
        self.close();
        std::mem::replace(&mut self.inode, inode).is_some()
    }

    /// Closes the file, to be reopened the next time. If another file has its name by then, that one counts as new.
    pub(super) fn close(&mut self) {
        (self.open, self.version) = (None, None);
    }

    /// The file that the path means now.
    pub(super) fn reader(&mut self) -> Result<&mut Reader, Trouble> {
        self.is_replaced();
        self.opened()
    }

    fn opened(&mut self) -> Result<&mut Reader, Trouble> {
        match &mut self.open {
            Some(open) => Ok(open),
            none => Ok(none.insert(Reader::open(&self.path)?)),
        }
    }

    /// Whether something was written since the last call.
    pub(super) fn has_changed(&mut self) -> Result<bool, Trouble> {
        let version = self.reader()?.data_version()?;
        Ok(self.version.replace(version) != Some(version))
    }
}

/// Inputs of other processes.
pub(super) struct OthersSubmissions {
    pub(super) owner: Owner,
}

impl Feed for OthersSubmissions {
    type News = Submission;

    fn first(&self, reader: &mut Reader) -> Result<(i64, Entries<Submission>), Trouble> {
        Ok((reader.newest("submissions")?, Vec::new()))
    }

    fn read(&self, reader: &mut Reader, after: i64, _: &[i64]) -> Result<Entries<Submission>, Trouble> {
        let entry = |submission: Submission| {
            let (number, is_ours) = (submission.number, submission.owner == self.owner.as_str());
            FeedEntry { number, progress: ("delivered", 0), is_open: false, news: (!is_ours).then_some(submission) }
        };
        Ok(reader.submissions_after(after)?.into_iter().map(entry).collect())
    }
}

/// Inputs whose outcome is known.
struct EndedInputs;

impl Feed for EndedInputs {
    type News = Stored;

    fn first(&self, reader: &mut Reader) -> Result<(i64, Entries<Stored>), Trouble> {
        Ok((reader.newest("records")?, Vec::new()))
    }

    fn read(&self, reader: &mut Reader, after: i64, open: &[i64]) -> Result<Entries<Stored>, Trouble> {
        records(reader, after, open, "+r.kind = 'input'")
    }
}

/// The records of a log.
struct LogRecords;

/// The oldest and the most records that a log begins with; its clock shows no day.
const OF_LATE: (Span, u32) = (Span::from_secs(12 * 3600), 200);

impl Feed for LogRecords {
    type News = Stored;

    fn first(&self, reader: &mut Reader) -> Result<(i64, Entries<Stored>), Trouble> {
        let last = reader.newest("records")?;
        let now = now();
        let (age, most) = OF_LATE;
        let filter = RecordFilter { since: Some(now - age), limit: Some(most), ..RecordFilter::default() };
        Ok((last, reader.records(&filter)?.into_iter().map(|record| entry(record, now)).collect()))
    }

    fn read(&self, reader: &mut Reader, after: i64, open: &[i64]) -> Result<Entries<Stored>, Trouble> {
        records(reader, after, open, "+r.kind IN ('input', 'follow_up', 'action')")
    }
}

/// The records after a number, and those of some numbers, for which a condition holds. A plus before the kind keeps SQLite
/// from the index of kinds, which knows nothing of numbers.
fn records(reader: &mut Reader, after: i64, open: &[i64], condition: &str) -> Result<Entries<Stored>, Trouble> {
    let tail = format!("WHERE (r.id > ?1 OR r.id IN ({})) AND {condition} ORDER BY r.id", listed(open));
    let now = now();
    Ok(reader.select(&tail, [after])?.into_iter().map(|record| entry(record, now)).collect())
}

/// A record, which is reported at once or, for an input, once its outcome is known.
fn entry(record: Stored, now: Timestamp) -> FeedEntry<Stored> {
    let has_ended = !matches!(&record.body, Body::Input(input) if input.outcome.is_none());
    let is_open = !has_ended && now.since(record.at) < LATEST_OUTCOME;
    let progress = (if has_ended { "ended" } else { "begun" }, 0);
    FeedEntry { number: record.id.0, progress, is_open, news: has_ended.then_some(record) }
}

/// Notes, whenever one is made or removed.
struct NoteChanges;

impl Feed for NoteChanges {
    type News = KeptNote;

    fn first(&self, reader: &mut Reader) -> Result<(i64, Entries<KeptNote>), Trouble> {
        Ok((reader.newest("notes")?, self.read(reader, 0, &[])?))
    }

    fn read(&self, reader: &mut Reader, after: i64, _: &[i64]) -> Result<Entries<KeptNote>, Trouble> {
        let entry = |(number, note)| FeedEntry { number, progress: ("noted", 0), is_open: false, news: Some(note) };
        Ok(reader.notes_after(after)?.into_iter().map(entry).collect())
    }
}

/// Intents, whenever they progress.
pub(super) struct IntentChanges;

impl IntentChanges {
    fn entry(intent: Intent, is_old: bool) -> FeedEntry<IntentNews> {
        let progress = (intent.state.word(), intent.events.len());
        FeedEntry {
            number: intent.id.0,
            progress,
            is_open: intent.state.is_open(),
            news: Some(IntentNews { intent, is_old }),
        }
    }
}

impl Feed for IntentChanges {
    type News = IntentNews;

    fn first(&self, reader: &mut Reader) -> Result<(i64, Entries<IntentNews>), Trouble> {
        // Asked for first: what is queued and settled in between is new at the next poll.
        let last = reader.newest("outbox")?;
        let open = intents::select(&reader.connection, OPEN, 0)?;
        Ok((last, open.into_iter().map(|intent| Self::entry(intent, true)).collect()))
    }

    fn read(&self, reader: &mut Reader, after: i64, open: &[i64]) -> Result<Entries<IntentNews>, Trouble> {
        let condition = format!("id > ?1 OR id IN ({})", listed(open));
        let found = intents::select(&reader.connection, &condition, after)?;
        Ok(found.into_iter().map(|intent| Self::entry(intent, false)).collect())
    }
}
