//! New records of any process, as they are written: a thread is told when the file may have changed, and continues reading
//! where it stopped.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;

use super::changes::PAUSE;
use super::file::PATIENCE;
use super::intents::{self, OPEN};
use super::reader::{Reader, RecordFilter, listed};
use crate::clock::now;
use crate::operation::LONGEST_ACT;
use crate::private::inode;
use crate::record::{Body, HistoryError, Intent, Stored};
use crate::state::KeptNote;
use crate::time::{Span, Timestamp};

/// An intent that is new or has progressed.
#[derive(Clone, Debug, PartialEq)]
pub struct IntentNews {
    pub intent: Intent,
    /// Whether it was already in this state when the feed began.
    pub is_old: bool,
}

/// Rows of a table that are reported when they are written, and again when they progress.
pub(super) trait Feed: Send + 'static {
    type News: Send;
    /// Its table.
    const TABLE: &'static str;

    /// Which earlier rows are reported first.
    fn first(&self, _reader: &mut Reader) -> Result<Entries<Self::News>, HistoryError> {
        Ok(Vec::new())
    }

    /// The rows after a number, and those of some numbers.
    fn read(&self, reader: &mut Reader, after: i64, open: &[i64]) -> Result<Entries<Self::News>, HistoryError>;
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

/// A message to the thread that reads feeds.
pub(super) enum FeedMessage {
    /// Somebody else listens.
    Listener(Box<dyn FeedListener>),
    /// The file may have changed.
    Changed,
}

/// The feeds of a file, which are read over one connection.
pub(super) struct Feeds {
    file: FollowedFile,
    listeners: Vec<Box<dyn FeedListener>>,
}

impl Feeds {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { file: FollowedFile::new(path), listeners: Vec::new() }
    }

    /// Reads until nobody listens and nobody can be added any more. Whoever is added learns at once where it begins.
    pub(super) fn run(mut self, messages: &Receiver<FeedMessage>) {
        let mut again = None;
        loop {
            self.listeners.retain(|listener| !listener.has_left());
            if self.listeners.is_empty() {
                // Whoever comes next begins with the file that is there then.
                (self.file, again) = (FollowedFile::new(self.file.path), None);
            }
            let next = match again {
                Some(pause) => messages.recv_timeout(pause),
                None => messages.recv().map_err(RecvTimeoutError::from),
            };
            match next {
                Ok(FeedMessage::Listener(listener)) => self.add(listener),
                Ok(FeedMessage::Changed) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) if self.listeners.is_empty() => return,
                Err(RecvTimeoutError::Disconnected) => thread::sleep(PAUSE),
            }
            if !self.listeners.is_empty() {
                again = self.poll();
            }
        }
    }

    pub(super) fn add(&mut self, listener: Box<dyn FeedListener>) {
        self.listeners.push(listener);
        self.file.version = None;
    }

    /// Tells what is new; after which time to try again if the file could not be read.
    pub(super) fn poll(&mut self) -> Option<Duration> {
        if self.file.is_replaced() {
            self.listeners.iter_mut().for_each(|listener| listener.begin_anew());
        }
        let trouble = self.read().err()?;
        if trouble == HistoryError::Locked {
            // What could not be read now is read the next time, whatever the version.
            self.file.version = None;
            return Some(PAUSE);
        }
        tracing::debug!(%trouble, "what other processes write cannot be read");
        self.file.close();
        Some(PATIENCE)
    }

    fn read(&mut self) -> Result<(), HistoryError> {
        let is_new = self.file.open.is_none();
        if !self.file.has_changed()? {
            return Ok(());
        }
        let reader = self.file.opened()?;
        if is_new {
            reader.keep_little()?;
        }
        let troubles: Vec<HistoryError> = self.listeners.iter_mut().filter_map(|one| one.poll(reader).err()).collect();
        // A file that is locked is the least of troubles.
        troubles.into_iter().max_by_key(|trouble| *trouble != HistoryError::Locked).map_or(Ok(()), Err)
    }
}

/// A feed that somebody receives.
pub(super) trait FeedListener: Send {
    /// Returns what is new in a file. A read that fails changes nothing, and the next one gives the same.
    fn poll(&mut self, reader: &mut Reader) -> Result<(), HistoryError>;

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
        Self { feed, news, position }
    }
}

impl<F: Feed> FeedListener for FeedCursor<F> {
    fn poll(&mut self, reader: &mut Reader) -> Result<(), HistoryError> {
        // Asked for first: what is written in between is new at the next poll. Rows get their numbers as they are committed.
        let last = reader.newest(F::TABLE)?;
        let (mut position, found) = match &self.position {
            None => (FeedPosition::default(), self.feed.first(reader)?),
            Some(position) => {
                let open: Vec<i64> = position.open.keys().copied().collect();
                (position.clone(), self.feed.read(reader, position.last, &open)?)
            }
        };
        position.last = last;
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
        Ok(())
    }

    fn begin_anew(&mut self) {
        self.position = Some(FeedPosition::default());
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
    pub(super) fn reader(&mut self) -> Result<&mut Reader, HistoryError> {
        self.is_replaced();
        self.opened()
    }

    fn opened(&mut self) -> Result<&mut Reader, HistoryError> {
        match &mut self.open {
            Some(open) => Ok(open),
            none => Ok(none.insert(Reader::open(&self.path)?)),
        }
    }

    /// Whether something was written since the last call.
    pub(super) fn has_changed(&mut self) -> Result<bool, HistoryError> {
        let version = self.reader()?.data_version()?;
        Ok(self.version.replace(version) != Some(version))
    }
}

/// Records of some kinds, inputs among them once their outcome is known.
pub(super) struct NewRecords {
    /// As SQL has them in a list.
    pub kinds: &'static str,
    /// Whether recent records of all kinds come first.
    pub begins_of_late: bool,
}

/// The oldest and the most records that a log begins with; its clock shows no day.
const OF_LATE: (Span, u32) = (Span::from_secs(12 * 3600), 200);

impl Feed for NewRecords {
    type News = Stored;
    const TABLE: &'static str = "records";

    fn first(&self, reader: &mut Reader) -> Result<Entries<Stored>, HistoryError> {
        if !self.begins_of_late {
            return Ok(Vec::new());
        }
        let ((age, most), now) = (OF_LATE, now());
        let filter = RecordFilter { since: Some(now - age), limit: Some(most), ..RecordFilter::default() };
        Ok(reader.records(&filter)?.into_iter().map(|record| entry(record, now)).collect())
    }

    fn read(&self, reader: &mut Reader, after: i64, open: &[i64]) -> Result<Entries<Stored>, HistoryError> {
        // A plus before the kind keeps SQLite from the index of kinds, which knows nothing of numbers.
        let tail = format!("WHERE {} AND +r.kind IN ({}) ORDER BY r.id", after_or_open("r.id", open), self.kinds);
        let now = now();
        Ok(reader.select(&tail, [after])?.into_iter().map(|record| entry(record, now)).collect())
    }
}

/// The condition for the rows after a number, the first parameter, and for some before it. Of two alternatives alone SQLite would
/// read the whole table, so it begins with the first row that can be meant.
fn after_or_open(id: &str, open: &[i64]) -> String {
    match open.iter().min() {
        None => format!("{id} > ?1"),
        Some(first) => format!("{id} >= min(?1, {first}) AND ({id} > ?1 OR {id} IN ({}))", listed(open)),
    }
}

/// A record, which is reported at once or, for an input, once its outcome is known.
fn entry(record: Stored, now: Timestamp) -> FeedEntry<Stored> {
    let has_ended = !matches!(&record.body, Body::Input(input) if input.outcome.is_none());
    let is_open = !has_ended && now.since(record.at) < LONGEST_ACT;
    let progress = (if has_ended { "ended" } else { "begun" }, 0);
    FeedEntry { number: record.id.0, progress, is_open, news: has_ended.then_some(record) }
}

/// Notes, whenever one is made or removed.
pub(super) struct NoteChanges;

impl Feed for NoteChanges {
    type News = KeptNote;
    const TABLE: &'static str = "notes";

    fn first(&self, reader: &mut Reader) -> Result<Entries<KeptNote>, HistoryError> {
        self.read(reader, 0, &[])
    }

    fn read(&self, reader: &mut Reader, after: i64, _: &[i64]) -> Result<Entries<KeptNote>, HistoryError> {
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
    const TABLE: &'static str = "outbox";

    fn first(&self, reader: &mut Reader) -> Result<Entries<IntentNews>, HistoryError> {
        let open = intents::select(&reader.connection, OPEN, 0)?;
        Ok(open.into_iter().map(|intent| Self::entry(intent, true)).collect())
    }

    fn read(&self, reader: &mut Reader, after: i64, open: &[i64]) -> Result<Entries<IntentNews>, HistoryError> {
        let found = intents::select(&reader.connection, &after_or_open("id", open), after)?;
        Ok(found.into_iter().map(|intent| Self::entry(intent, false)).collect())
    }
}
