//! The thread that writes: it gathers messages, and hands them to the [`Store`] a transaction at a time.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::file::PATIENCE;
use super::file::{self, HistoryOptions, Settings};
use super::health::{HistoryHealth, WriterState};
use super::identity::Owner;
use super::store::{Store, Watching, WriterMessage};
use crate::clock::now;
use crate::record::HistoryError;
use crate::record::timeline::BEAT;
use crate::time::{Span, Timestamp};

/// Messages in one transaction at most, and messages that are kept while the file cannot be written.
const BATCH: usize = 256;
/// How long the first message of a batch waits for others.
pub(super) const GATHER: Duration = Duration::from_millis(50);
/// Only a process that was stopped wakes so late: longer than it takes until its owner is taken for stopped.
const STOPPED: Duration = Duration::from_secs(4);

/// Says how the writing goes.
pub(super) fn set(health: &Mutex<HistoryHealth>, condition: WriterState) {
    health.lock().unwrap_or_else(PoisonError::into_inner).condition = condition;
}

/// The state of the thread.
pub(super) struct Writer {
    path: PathBuf,
    owner: Owner,
    limits: Settings,
    options: HistoryOptions,
    health: Arc<Mutex<HistoryHealth>>,
    store: Option<Store>,
    /// What a store knew that was closed after an error.
    watching: Watching,
    /// Messages that are not written yet, oldest first.
    pending: Vec<WriterMessage>,
    next_beat: Instant,
    /// When this process was stopped or its machine suspended, until that is written.
    stopped: Option<Timestamp>,
    next_cleaning: Instant,
    /// Not to be tried before.
    not_before: Instant,
    damaged: bool,
    /// Why the last upkeep that was due failed.
    upkeep_trouble: Option<HistoryError>,
}

impl Writer {
    pub(super) fn new(
        path: PathBuf,
        owner: Owner,
        limits: Settings,
        options: HistoryOptions,
        health: Arc<Mutex<HistoryHealth>>,
    ) -> Self {
        let now = Instant::now();
        Self {
            path,
            owner,
            limits,
            options,
            health,
            store: None,
            watching: Watching::default(),
            pending: Vec::new(),
            next_beat: now + Duration::from(BEAT),
            stopped: None,
            next_cleaning: now + Duration::from(Span::MINUTE),
            not_before: now,
            damaged: false,
            upkeep_trouble: None,
        }
    }

    /// Writes messages until all senders are gone; `progress` is notified of each batch.
    pub(super) fn run(mut self, messages: &Receiver<WriterMessage>, progress: &SyncSender<()>) {
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
    fn gather(&mut self, messages: &Receiver<WriterMessage>) -> bool {
        let mut until = match self.store.is_none() || !self.pending.is_empty() {
            true => self.not_before,
            // Nothing may be tried before, so that a beat which is overdue does not turn in circles.
            false => self.next_upkeep().max(self.not_before),
        };
        while self.pending.len() < BATCH {
            // A stop is dated to when the sleep began in which it came, so no sleep is long.
            let (asleep, sleep) =
                (now(), until.saturating_duration_since(Instant::now()).min(Duration::from(BEAT) / 2));
            let received = messages.recv_timeout(sleep);
            if Duration::from(now().since(asleep)) > sleep + STOPPED {
                self.stopped.get_or_insert(asleep);
            }
            match received {
                Ok(message) => {
                    let urgent = message.is_urgent();
                    self.pending.push(message);
                    until = match urgent {
                        // What is queued already goes along.
                        true => Instant::now(),
                        false => until.min(Instant::now() + GATHER).max(self.not_before),
                    };
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() < until => {}
                Err(RecvTimeoutError::Timeout) => return true,
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
        // A full batch that may not be tried yet leaves the rest in the queue, which counts what it cannot hold.
        thread::sleep(self.not_before.saturating_duration_since(Instant::now()));
        true
    }

    /// Writes the pending messages if a retry is due; returns whether they were written.
    fn work(&mut self, last: bool) -> bool {
        if Instant::now() < self.not_before && !last {
            self.answer(false);
            return false;
        }
        let at = now();
        match self.try_write(at) {
            Ok(()) => {
                self.damaged = false;
                self.keep_up(at);
                let condition = self.upkeep_trouble.clone().map_or(WriterState::Good, WriterState::Degraded);
                set(&self.health, condition);
                true
            }
            Err(trouble) => {
                tracing::warn!(%trouble, path = %self.path.display(), "the history cannot be written");
                // Damage is mended by the next attempt, which follows at once; damage again is not.
                let mend = trouble == HistoryError::Damaged && !self.damaged;
                self.not_before = if mend { Instant::now() } else { Instant::now() + PATIENCE };
                self.note_trouble(&trouble);
                set(&self.health, WriterState::Degraded(trouble));
                // Last, as whoever is answered asks the health for the reason.
                self.answer(false);
                false
            }
        }
    }

    /// Writes the pending messages; those that are not in the file stay pending.
    fn try_write(&mut self, at: Timestamp) -> Result<(), HistoryError> {
        if self.store.as_ref().is_some_and(|store| !store.is_in_place()) {
            // Another process moved the file aside, or somebody removed it: what is written there nobody reads.
            self.close();
        }
        let store = match &mut self.store {
            Some(store) => store,
            None => {
                let mut store = Store::open(&self.path, &self.owner, &self.options, at, self.damaged)?;
                if let Some(kept) = store.set_aside() {
                    let mut health = self.health.lock().unwrap_or_else(PoisonError::into_inner);
                    health.set_aside = Some(kept.clone());
                }
                store.inherit(std::mem::take(&mut self.watching));
                self.store.insert(store)
            }
        };
        if self.stopped.is_some() {
            store.beat(at, self.stopped)?;
            self.stopped = None;
        }
        write(store, &mut self.pending, &self.health, at)
    }

    /// Records that this process still watches, and cleans the file, when due. A failure here affects neither written nor
    /// later messages.
    fn keep_up(&mut self, at: Timestamp) {
        if Instant::now() < self.next_upkeep() {
            return;
        }
        let done = self.try_upkeep(at);
        if let Err(trouble) = &done {
            tracing::warn!(%trouble, path = %self.path.display(), "the history cannot be kept up");
            // All of it waits, so that the next attempt is one at what failed.
            let later = Instant::now() + PATIENCE;
            for next in [&mut self.next_beat, &mut self.next_cleaning] {
                *next = (*next).max(later);
            }
            self.note_trouble(trouble);
        }
        self.upkeep_trouble = done.err();
    }

    fn try_upkeep(&mut self, at: Timestamp) -> Result<(), HistoryError> {
        let Some(store) = &mut self.store else { return Ok(()) };
        if Instant::now() >= self.next_beat {
            store.beat(at, None)?;
            self.next_beat = Instant::now() + Duration::from(BEAT);
        }
        if Instant::now() >= self.next_cleaning {
            file::clean(store.connection(), &self.limits, at)?;
            self.next_cleaning = Instant::now() + Duration::from(Span::MINUTE);
        }
        Ok(())
    }

    fn next_upkeep(&self) -> Instant {
        self.next_beat.min(self.next_cleaning)
    }

    /// Reopens the file the next time, unless the trouble is not the connection's.
    fn note_trouble(&mut self, trouble: &HistoryError) {
        self.damaged = *trouble == HistoryError::Damaged;
        if !matches!(trouble, HistoryError::Locked | HistoryError::Full) {
            self.close();
        }
    }

    fn close(&mut self) {
        if let Some(store) = self.store.take() {
            self.watching = store.into_watching();
        }
    }

    /// Answers the callers that wait for a flush.
    fn answer(&mut self, written: bool) {
        let (flushes, rest): (Vec<WriterMessage>, Vec<WriterMessage>) = std::mem::take(&mut self.pending)
            .into_iter()
            .partition(|message| matches!(message, WriterMessage::Flush(_)));
        self.pending = rest;
        flushes.into_iter().for_each(|flush| flush.settle(written));
    }
}

/// Writes what is pending, which holds afterwards what is to be tried again. A message that cannot be written for a
/// reason of its own must not hold up the others, so after such a failure each goes alone, and those that fail are lost.
fn write(
    store: &mut Store,
    pending: &mut Vec<WriterMessage>,
    health: &Mutex<HistoryHealth>,
    at: Timestamp,
) -> Result<(), HistoryError> {
    if pending.is_empty() {
        return Ok(());
    }
    match store.write(pending, at) {
        Ok(()) => {
            pending.drain(..).for_each(|message| message.settle(true));
            return Ok(());
        }
        Err(HistoryError::Other(_)) => {}
        Err(trouble) => return Err(trouble),
    }
    let lost = write_each(pending, |message| store.write(std::slice::from_ref(message), at))?;
    health.lock().unwrap_or_else(PoisonError::into_inner).lost += lost;
    Ok(())
}

/// Writes messages one by one; how many of them are lost. After an error those are still pending that were not written,
/// and only those: what is in the file must not come into it a second time.
fn write_each(
    pending: &mut Vec<WriterMessage>,
    mut write: impl FnMut(&WriterMessage) -> Result<(), HistoryError>,
) -> Result<u64, HistoryError> {
    let all = pending.len();
    let (mut refused, mut trouble) = (Vec::new(), None);
    let mut messages = std::mem::take(pending).into_iter();
    for message in messages.by_ref() {
        match write(&message) {
            Ok(()) => message.settle(refused.is_empty()),
            Err(HistoryError::Other(reason)) => {
                tracing::warn!(reason, "a record of the history cannot be written");
                refused.push(message);
            }
            Err(other) => {
                refused.push(message);
                trouble = Some(other);
                break;
            }
        }
    }
    if trouble.is_none() && refused.len() == all {
        // Not one could be written: the reason lies in the file.
        trouble = Some(HistoryError::Other("nothing can be written to it".to_owned()));
    }
    match trouble {
        Some(trouble) => {
            pending.extend(refused.into_iter().chain(messages));
            Err(trouble)
        }
        None => Ok(refused.len() as u64),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::history::tests::{count, message, place, terminal};
    use crate::ids::ServerId;
    use crate::operation::Outcome;
    use crate::operation::{Act, Operation, Producer, Recipient, When};
    use crate::private::HeldLock;
    use crate::state::Phase;

    fn writer(path: PathBuf) -> Writer {
        let health = Arc::new(Mutex::new(HistoryHealth::new(WriterState::Starting)));
        let limits = super::super::Settings::default();
        Writer::new(path, Owner::named("a"), limits, HistoryOptions::default(), health)
    }

    fn flush() -> (WriterMessage, tokio::sync::oneshot::Receiver<bool>) {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        (WriterMessage::Flush(sender), receiver)
    }

    #[test]
    fn what_is_written_stays_written_when_the_upkeep_fails() {
        let (_directory, path) = place();
        let mut writer = writer(path.clone());
        writer.pending.push(WriterMessage::Lead(ServerId::default(), Some(HeldLock::ALWAYS)));
        assert!(writer.work(false), "the file is made");
        let rename = |from: &str, to: &str| {
            let sql = format!("ALTER TABLE {from} RENAME TO {to}");
            rusqlite::Connection::open(&path).unwrap().execute_batch(&sql).unwrap();
        };
        rename("chores", "elsewhere");
        let (to, act) =
            (Recipient::new(terminal(1), "t1".to_owned()), Act::Prompt { text: "hello".to_owned(), when: When::Now });
        let operation = Arc::new(Operation { at: now(), producer: Producer::Dashboard, to, act });
        let (flush, mut answer) = flush();
        writer.pending = vec![
            message(1, 0, Phase::Ready, "x"),
            WriterMessage::InputBegun { uid: "a.1".to_owned(), operation },
            WriterMessage::InputEnded { uid: "a.1".to_owned(), outcome: Outcome::Accepted(None), at: now() },
            flush,
        ];
        for _ in 0..3 {
            let before = Instant::now();
            writer.next_cleaning = before;
            assert!(writer.work(false), "records do not wait for the upkeep");
            let condition = writer.health.lock().unwrap().condition.clone();
            assert!(matches!(condition, WriterState::Degraded(HistoryError::Other(_))), "{condition:?}");
            assert!(writer.pending.is_empty() && writer.next_cleaning >= before + PATIENCE);
        }
        assert_eq!(answer.try_recv(), Ok(true), "what was flushed is in the file");
        assert_eq!(["transitions", "inputs"].map(|table| count(&path, table)), [1, 1]);
        rename("elsewhere", "chores");
        writer.next_beat = Instant::now() + Duration::from_secs(3600);
        writer.next_cleaning = writer.next_beat;
        assert!(writer.work(false));
        assert_ne!(writer.health.lock().unwrap().condition, WriterState::Good, "they were not tried again yet");
        writer.next_cleaning = Instant::now();
        assert!(writer.work(false));
        assert_eq!(writer.health.lock().unwrap().condition, WriterState::Good);
    }

    #[test]
    fn of_messages_that_go_alone_only_those_are_tried_again_that_were_not_written() {
        let ended = |uid: &str| {
            let (uid, outcome) = (uid.to_owned(), Outcome::Accepted(None));
            WriterMessage::InputEnded { uid, outcome, at: now() }
        };
        let names = |messages: &[WriterMessage]| -> Vec<String> {
            let name = |message: &WriterMessage| match message {
                WriterMessage::InputEnded { uid, .. } => uid.clone(),
                other => format!("{other:?}"),
            };
            messages.iter().map(name).collect()
        };
        let (flush, mut answer) = flush();
        let mut pending = vec![ended("good"), ended("odd"), flush, ended("last"), ended("behind")];
        let mut written = Vec::new();
        let mut is_locked = true;
        let mut write = |message: &WriterMessage| match message {
            WriterMessage::InputEnded { uid, .. } if uid == "odd" => {
                Err(HistoryError::Other("not this one".to_owned()))
            }
            WriterMessage::InputEnded { uid, .. } if uid == "last" && is_locked => {
                is_locked = false;
                Err(HistoryError::Locked)
            }
            WriterMessage::InputEnded { uid, .. } => {
                written.push(uid.clone());
                Ok(())
            }
            _ => Ok(()),
        };
        assert_eq!(write_each(&mut pending, &mut write), Err(HistoryError::Locked));
        assert_eq!(names(&pending), ["odd", "last", "behind"]);
        assert_eq!(write_each(&mut pending, &mut write), Ok(1), "the odd one is lost");
        assert!(pending.is_empty());
        pending.push(ended("odd"));
        assert!(matches!(write_each(&mut pending, &mut write), Err(HistoryError::Other(_))));
        assert_eq!(names(&pending), ["odd"], "nothing is lost of a file that takes nothing");
        assert_eq!(written, ["good", "last", "behind"], "each is written once");
        assert_eq!(answer.try_recv(), Ok(false), "not all before it is in the file");
    }

    #[test]
    fn a_beat_that_is_overdue_waits_for_the_next_attempt() {
        let directory = tempfile::tempdir().unwrap();
        let mut writer = writer(directory.path().join("history.db"));
        let (_sender, messages) = mpsc::channel();
        for is_open in [false, true] {
            let store = || Store::open(&writer.path, &writer.owner, &writer.options, now(), false).unwrap();
            writer.store = is_open.then(store);
            let until = Instant::now() + Duration::from_millis(40);
            (writer.next_beat, writer.not_before) = (Instant::now(), until);
            assert!(writer.gather(&messages));
            assert!(Instant::now() >= until, "the file is tried in a circle");
        }
    }
}
