//! The writing side of the file: batches of messages, each one transaction.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{CachedStatement, Connection, OptionalExtension, Transaction, params};

use super::encoding::{self, Codec};
use super::file::{self, HistoryOptions, Opened};
use super::identity::{LEASE, Owner, terminal_row, terminal_row_for};
use super::summary::ServerSummary;
use super::{notes, usage};
use crate::fleet::{ServerId, TerminalKey};
use crate::follow_up::NEWS;
use crate::hash::Fnv;
use crate::operation::{Operation, Outcome};
use crate::private::{HeldLock, inode};
use crate::record::{
    HistoryError, Kind, PublicState, Record, SAME_CHANGE, Sent, TaskRecord, TransitionRecord, write_summary,
};
use crate::screen::{KeptScreen, Screen};
use crate::state::{Availability, LEFT, LEFT_UNWATCHED};
use crate::time::Timestamp;

/// A message to the thread that writes.
#[derive(Debug)]
pub(super) enum WriterMessage {
    /// Something happened.
    Record(Arc<Record>),
    /// An operation is about to be performed.
    InputBegun { uid: String, operation: Arc<Operation> },
    /// It came to its outcome.
    InputEnded { uid: String, outcome: Outcome, at: Timestamp },
    /// The summary of one server, in place of the one before.
    Summary(ServerSummary),
    /// This process writes what happens on a server as long as the lead holds, or no longer.
    Lead(ServerId, Option<HeldLock>),
    /// Tells the waiting caller whether everything before this is in the store.
    Flush(tokio::sync::oneshot::Sender<bool>),
}

impl WriterMessage {
    /// Whether another process waits for this, so that it is written at once.
    pub(super) const fn is_urgent(&self) -> bool {
        !matches!(self, WriterMessage::Record(_) | WriterMessage::Summary(_))
    }

    /// Drops it, and answers a caller that waits for a flush.
    pub(super) fn settle(self, is_written: bool) {
        if let WriterMessage::Flush(sender) = self {
            // Whoever asked may have given up waiting.
            let _ = sender.send(is_written);
        }
    }
}

/// The terminals that this process watches, whatever file it writes to.
///
/// The leader of a server writes the records of its terminals. The other processes keep them for a while, and the next
/// leader writes those that the previous one has not, so that nothing is written twice or lost.
#[derive(Clone, Default)]
pub(super) struct Watching {
    /// The servers that this process leads, by [`ServerId::word`].
    leads: HashMap<String, HeldLock>,
    terminals: HashMap<TerminalKey, WatchedTerminal>,
    /// Records that the leaders of other servers should write; oldest first.
    backlog: VecDeque<Arc<Record>>,
    /// What the servers that this process leads are like, by [`ServerId::word`].
    summaries: BTreeMap<String, ServerSummary>,
}

impl Watching {
    /// Whether this process writes what happens on a server.
    fn leads(&self, server: &ServerId) -> bool {
        self.leads.get(&server.word()).is_some_and(HeldLock::holds)
    }
}

/// A terminal that this process watches.
#[derive(Clone, Copy)]
struct WatchedTerminal {
    since: Timestamp,
    /// Its row in the table `watches`, when this process writes it.
    row: Option<i64>,
}

/// An open store.
pub(super) struct Store {
    opened: Opened,
    path: PathBuf,
    owner: Owner,
    codec: Codec,
    watching: Arc<Watching>,
    last_beat: Timestamp,
    /// The log beside the file, by its inode, once something was written.
    log: Option<u64>,
}

impl Store {
    /// Opens the file as [`file::open_checked`] does.
    pub(super) fn open(
        path: &Path,
        owner: &Owner,
        options: &HistoryOptions,
        now: Timestamp,
        after_damage: bool,
    ) -> Result<Self, HistoryError> {
        let opened = file::open_checked(path, options, now, after_damage)?;
        // Every statement of the writer stays prepared; there are about thirty.
        opened.connection.set_prepared_statement_cache_capacity(64);
        let (path, owner, codec) = (path.to_owned(), owner.clone(), Codec::new()?);
        Ok(Self { opened, path, owner, codec, watching: Arc::default(), last_beat: now, log: None })
    }

    /// Where a damaged file was moved to when this one was opened.
    pub(super) fn set_aside(&self) -> Option<&PathBuf> {
        self.opened.set_aside.as_ref()
    }

    /// Whether the path still means this file, and not another one or none, and its log is the one that is written.
    pub(super) fn is_in_place(&self) -> bool {
        let is_same_file = inode(&self.path) == self.opened.inode;
        let has_log = self.log.is_none() || file::log_inode(&self.path) == self.log;
        if is_same_file && !has_log {
            // Nobody else reads what went into a log that somebody removed; it can still be brought into the file.
            let saved = self.opened.connection.pragma_update_and_check(None, "wal_checkpoint", "PASSIVE", |_| Ok(()));
            saved.err().into_iter().for_each(|error| tracing::warn!(%error, "a removed log could not be saved"));
        }
        is_same_file && has_log
    }

    /// Takes over from an earlier store of this process; watches have to be opened in this file.
    pub(super) fn inherit(&mut self, mut watching: Watching) {
        watching.terminals.values_mut().for_each(|watched| watched.row = None);
        self.watching = Arc::new(watching);
    }

    /// What a later store of this process takes over.
    pub(super) fn into_watching(self) -> Watching {
        Arc::unwrap_or_clone(self.watching)
    }

    /// Writes messages in one transaction: all of them or none.
    ///
    /// # Errors
    /// Nothing was written.
    pub(super) fn write(&mut self, messages: &[WriterMessage], now: Timestamp) -> Result<(), HistoryError> {
        self.transact(now, |batch| messages.iter().try_for_each(|message| batch.message(message)))
    }

    /// Says that this process still watches. Due every [`BEAT`], and when this process has been `stopped` for a while, with the
    /// time at which that began.
    ///
    /// # Errors
    /// Nothing was written.
    pub(super) fn beat(&mut self, now: Timestamp, stopped: Option<Timestamp>) -> Result<(), HistoryError> {
        if !self.watching.backlog.is_empty() {
            Arc::make_mut(&mut self.watching).backlog.retain(|record| now.since(record.at()) < NEWS);
        }
        if !self.watching.terminals.is_empty() || !self.watching.summaries.is_empty() {
            let stopped = stopped.or_else(|| (now.since(self.last_beat) > LEASE).then_some(self.last_beat));
            self.transact(now, |batch| batch.beat(stopped))?;
        }
        self.last_beat = now;
        Ok(())
    }

    /// Ends the watches of this process.
    ///
    /// # Errors
    /// Nothing was written; the watches run out by themselves.
    pub(super) fn leave(&mut self, now: Timestamp) -> Result<(), HistoryError> {
        let sql = "UPDATE watches SET seen = ?1, ended = ?1 WHERE owner = ?2 AND ended IS NULL";
        self.opened.connection.execute(sql, params![now, self.owner.as_str()])?;
        ServerSummary::leave(&self.opened.connection, &self.owner, now)?;
        self.watching = Arc::default();
        // The file is whole by itself then, without its log; a reader that is in the way is not waited for.
        self.opened.connection.pragma_update_and_check(None, "wal_checkpoint", "PASSIVE", |_| Ok(()))?;
        Ok(())
    }

    /// The connection, for what is no record.
    pub(super) fn connection(&mut self) -> &mut Connection {
        &mut self.opened.connection
    }

    fn transact(
        &mut self,
        now: Timestamp,
        work: impl FnOnce(&mut StoreBatch<'_>) -> Result<(), HistoryError>,
    ) -> Result<(), HistoryError> {
        let transaction = self.opened.connection.transaction()?;
        // What a failed transaction changed of what is watched must not stay. It is copied only if it changes.
        let watching = Arc::clone(&self.watching);
        let mut batch = StoreBatch { transaction, codec: &mut self.codec, owner: &self.owner, watching, now };
        work(&mut batch)?;
        let StoreBatch { transaction, watching, .. } = batch;
        transaction.commit()?;
        self.watching = watching;
        if self.log.is_none() {
            self.log = file::log_inode(&self.path);
        }
        Ok(())
    }
}

/// What makes two records of one terminal and one time the same, whoever writes them: a hash of what changed.
fn sameness(happened: &impl serde::Serialize) -> i64 {
    let mut hash = Fnv::default();
    // What has no JSON is written nowhere.
    let _ = serde_json::to_writer(&mut hash, happened);
    hash.get().cast_signed()
}

/// An open transaction. When a part of it fails, all of it is given up.
struct StoreBatch<'a> {
    transaction: Transaction<'a>,
    codec: &'a mut Codec,
    owner: &'a Owner,
    watching: Arc<Watching>,
    now: Timestamp,
}

impl StoreBatch<'_> {
    fn message(&mut self, message: &WriterMessage) -> Result<(), HistoryError> {
        match message {
            WriterMessage::Record(record) => return self.record(record),
            WriterMessage::InputBegun { uid, operation } => return self.input_begun(uid, operation),
            WriterMessage::InputEnded { uid, outcome, at } => {
                let sql = "UPDATE inputs SET outcome = ?1, detail = ?2, ended_at = ?3 WHERE uid = ?4";
                self.sql(sql)?.execute(params![outcome.word(), outcome.detail(), at, uid])?;
            }
            WriterMessage::Summary(summary) => return self.summary(summary),
            WriterMessage::Lead(server, held) => return self.lead(server, held.as_ref()),
            WriterMessage::Flush(_) => {}
        }
        Ok(())
    }

    /// Writes a summary, which each beat renews until there is another one.
    fn summary(&mut self, summary: &ServerSummary) -> Result<(), HistoryError> {
        let summaries = &mut self.watching_mut().summaries;
        if summary.is_left {
            summaries.remove(&summary.server);
            return Ok(());
        }
        summaries.insert(summary.server.clone(), summary.clone());
        summary.write(&self.transaction, self.owner)
    }

    fn watching_mut(&mut self) -> &mut Watching {
        Arc::make_mut(&mut self.watching)
    }

    /// Writes a record, if this process leads the server that it is about, or keeps it.
    fn record(&mut self, record: &Arc<Record>) -> Result<(), HistoryError> {
        let Some(key) = record.watched() else { return self.write(record) };
        let since = record.at();
        if self.watching.terminals.get(key).is_some_and(|watched| watched.row.is_none()) && self.has_left(key)? {
            return Ok(());
        }
        if !self.watching.terminals.contains_key(key) {
            self.watching_mut().terminals.insert(key.clone(), WatchedTerminal { since, row: None });
        }
        if self.watching.leads(&key.server) {
            self.open_watch(key, Some(record.name()))?;
            return self.write(record);
        }
        self.watching_mut().backlog.push_back(Arc::clone(record));
        if matches!(**record, Record::Left(_)) {
            self.watching_mut().terminals.remove(key);
        }
        Ok(())
    }

    /// Starts to write a server's records, first those that the previous leader has not written; or stops.
    fn lead(&mut self, server: &ServerId, held: Option<&HeldLock>) -> Result<(), HistoryError> {
        let word = server.word();
        let terminals = self.watching_mut().terminals.iter_mut().filter(|(key, _)| key.server.word() == word);
        let rows: Vec<i64> = terminals.filter_map(|(_, watched)| watched.row.take()).collect();
        for row in rows {
            self.sql("UPDATE watches SET ended = seen WHERE id = ?1 AND ended IS NULL")?.execute([row])?;
        }
        match held {
            Some(held) => drop(self.watching_mut().leads.insert(word.clone(), held.clone())),
            None => drop(self.watching_mut().leads.remove(&word)),
        }
        if !self.watching.leads(server) {
            return Ok(());
        }
        let is_here = |record: &Arc<Record>| record.watched().is_some_and(|key| key.server.word() == word);
        let (here, elsewhere): (VecDeque<_>, _) =
            std::mem::take(&mut self.watching_mut().backlog).into_iter().partition(is_here);
        self.watching_mut().backlog = elsewhere;
        for record in here {
            if let Some(key) = record.watched()
                && !self.is_written(key, &record)?
            {
                self.write(&record)?;
            }
        }
        self.open_watches(|key| key.server.word() == word)
    }

    fn write(&mut self, record: &Record) -> Result<(), HistoryError> {
        match record {
            Record::Introduced { key, name, .. } => self.terminal(key, Some(name)).map(drop)?,
            Record::Transition(record) => self.transition(record)?,
            Record::Left(record) => {
                self.transition(record)?;
                notes::forget(&self.transaction, self.terminal(&record.key, None)?, record.transition.at)?;
                if let Some(WatchedTerminal { row: Some(watch), .. }) =
                    self.watching_mut().terminals.remove(&record.key)
                {
                    let sql = "UPDATE watches SET seen = max(seen, ?1), ended = max(seen, ?1) WHERE id = ?2";
                    self.sql(sql)?.execute(params![record.transition.at, watch])?;
                }
            }
            Record::TaskEvent { key, name, at, event } => {
                let is_same = Some(sameness(&event.happening));
                self.insert(*at, (Kind::TaskEvent, is_same), Some(key), name, event).map(drop)?;
            }
            Record::Action { key, name, at, action } => {
                self.insert(*at, (Kind::Action, None), key.as_ref(), name, action).map(drop)?;
            }
        }
        Ok(())
    }

    fn transition(&mut self, record: &TransitionRecord) -> Result<(), HistoryError> {
        let TransitionRecord { key, name, transition, state, screen, .. } = record;
        let is_same = Some(sameness(&transition.changed));
        let Some(id) = self.insert(transition.at, (Kind::Transition, is_same), Some(key), name, &record.document())?
        else {
            return Ok(());
        };
        let screen = screen.as_ref().and_then(KeptScreen::whole);
        let screen = screen.map(|screen| self.screen(&screen)).transpose()?;
        let turn_ended = state.as_ref().and_then(PublicState::turn_ended);
        let sql = "INSERT INTO transitions (record, summary, turn_ended, note, screen) VALUES (?1, ?2, ?3, ?4, ?5)";
        let summary = write_summary(&transition.summary);
        self.sql(sql)?.execute(params![id, summary, turn_ended, transition.note, screen])?;
        if let Some(PublicState::Agent(state)) = state {
            let terminal = self.terminal(key, None)?;
            usage::note_usage(&self.transaction, terminal, transition.at, state)?;
        }
        Ok(())
    }

    fn input_begun(&mut self, uid: &str, Operation { at, producer, to, act }: &Operation) -> Result<(), HistoryError> {
        let sent = Sent::from(act);
        let Some(id) = self.insert(*at, (Kind::Input, None), Some(&to.key), &to.name, &sent)? else { return Ok(()) };
        let sql = "INSERT INTO inputs (record, uid, owner, sender, what) VALUES (?1, ?2, ?3, ?4, ?5)";
        let what = sent.what().word();
        self.sql(sql)?.execute(params![id, uid, self.owner.as_str(), producer.to_string(), what])?;
        Ok(())
    }

    /// Writes a record and returns its number; `None` where one of the same terminal, time and sameness is there already:
    /// two processes that take over from each other see the same end, and either may write it first.
    fn insert(
        &mut self,
        at: Timestamp,
        (kind, sameness): (Kind, Option<i64>),
        key: Option<&TerminalKey>,
        name: &str,
        document: &impl serde::Serialize,
    ) -> Result<Option<i64>, HistoryError> {
        let terminal = key.map(|key| self.terminal(key, Some(name))).transpose()?;
        let packed = self.codec.pack(document)?;
        let sql = "INSERT INTO records (at, kind, terminal, name, document, sameness) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                   ON CONFLICT (terminal, at, sameness) WHERE sameness IS NOT NULL DO NOTHING RETURNING id";
        let values = params![at, kind.word(), terminal, name, packed, sameness];
        Ok(self.sql(sql)?.query_row(values, |row| row.get(0)).optional()?)
    }

    /// The row of a screen; one that is stored already is used again.
    fn screen(&mut self, screen: &Screen) -> Result<i64, HistoryError> {
        let encoded = encoding::encode_screen(screen)?;
        let (hash, packed) = (encoding::hash(&encoded), self.codec.pack_screen(&encoded));
        let sql = "SELECT id FROM screens WHERE hash = ?1 AND body = ?2";
        let known = self.sql(sql)?.query_row(params![hash, packed], |row| row.get(0)).optional()?;
        match known {
            Some(id) => Ok(id),
            None => Ok(self.sql("INSERT INTO screens (hash, body) VALUES (?1, ?2)")?.insert(params![hash, packed])?),
        }
    }

    /// The row of a terminal, which has a name from now on, or keeps the one that it has.
    fn terminal(&self, key: &TerminalKey, name: Option<&str>) -> Result<i64, HistoryError> {
        terminal_row_for(&self.transaction, key, name)
    }

    /// Opens a watch of a terminal in place of the one that another process has left open; watching has no gap where this
    /// one has watched all along.
    fn open_watch(&mut self, key: &TerminalKey, name: Option<&str>) -> Result<(), HistoryError> {
        let Some(&WatchedTerminal { since, row: None }) = self.watching.terminals.get(key) else { return Ok(()) };
        let terminal = self.terminal(key, name)?;
        self.sql("UPDATE watches SET ended = seen WHERE terminal = ?1 AND ended IS NULL")?.execute([terminal])?;
        let sql = "SELECT max(seen) FROM watches WHERE terminal = ?1";
        let seen: Option<Timestamp> = self.sql(sql)?.query_row([terminal], |row| row.get(0))?;
        let from = seen.map_or(since, |seen| since.max(seen)).min(self.now);
        let sql = "INSERT INTO watches (terminal, owner, started, seen) VALUES (?1, ?2, ?3, ?4)";
        let values = params![terminal, self.owner.as_str(), from, self.now];
        let row = Some(self.sql(sql)?.insert(values)?);
        self.watching_mut().terminals.insert(key.clone(), WatchedTerminal { since, row });
        Ok(())
    }

    /// Opens the watches of some of the terminals that this process watches.
    fn open_watches(&mut self, which: impl Fn(&TerminalKey) -> bool) -> Result<(), HistoryError> {
        let keys: Vec<TerminalKey> = self.watching.terminals.keys().filter(|key| which(key)).cloned().collect();
        keys.iter().try_for_each(|key| self.open_watch(key, None))
    }

    /// Prolongs the watches of this process and its summaries; after a stop, it begins new watches, and what has changed is to
    /// be found out first.
    fn beat(&mut self, stopped: Option<Timestamp>) -> Result<(), HistoryError> {
        let owner = self.owner.as_str();
        if let Some(at) = stopped {
            // The machine was asleep or this process stopped: nobody watched in the meantime.
            let sql =
                "UPDATE watches SET seen = max(seen, ?1), ended = max(seen, ?1) WHERE owner = ?2 AND ended IS NULL";
            self.sql(sql)?.execute(params![at, owner])?;
            let anew = WatchedTerminal { since: self.now, row: None };
            self.watching_mut().terminals.values_mut().for_each(|watched| *watched = anew);
        }
        let sql = "UPDATE watches SET seen = max(seen, ?1) WHERE owner = ?2 AND ended IS NULL";
        self.sql(sql)?.execute(params![self.now, owner])?;
        let leads: Vec<String> =
            self.watching.leads.iter().filter(|(_, held)| held.holds()).map(|(word, _)| word.clone()).collect();
        if stopped.is_none() {
            for summary in leads.iter().filter_map(|word| self.watching.summaries.get(word)) {
                ServerSummary { at: self.now, ..summary.clone() }.write(&self.transaction, self.owner)?;
            }
        }
        self.open_watches(|key| leads.contains(&key.server.word()))
    }

    /// Whether it is written that the pane of a terminal is gone: that is the end which this process sees as well, however late.
    fn has_left(&self, key: &TerminalKey) -> Result<bool, HistoryError> {
        let Some(terminal) = terminal_row(&self.transaction, key)? else { return Ok(false) };
        let sql = "SELECT t.note IN (?2, ?3) AND t.summary LIKE ?4 FROM transitions t JOIN records r ON r.id = t.record
                   WHERE r.terminal = ?1 ORDER BY r.at DESC, r.id DESC LIMIT 1";
        let gone = format!("{} %", Availability::Unavailable);
        let last = self.sql(sql)?.query_row(params![terminal, LEFT, LEFT_UNWATCHED, gone], |row| row.get(0));
        Ok(last.optional()?.flatten().unwrap_or(false))
    }

    /// Whether the previous leader wrote this: it is not later than its last record, allowing for two processes that see
    /// the same change at different times.
    fn is_written(&mut self, key: &TerminalKey, record: &Record) -> Result<bool, HistoryError> {
        let Some(terminal) = terminal_row(&self.transaction, key)? else { return Ok(false) };
        // What happened at one moment may be several records.
        let sql = "SELECT r.at, t.summary, t.note, iif(r.kind = 'task_event', r.document, NULL)
                   FROM records r LEFT JOIN transitions t ON t.record = r.id
                   WHERE r.terminal = ?1 AND r.kind IN ('transition', 'task_event')
                     AND r.at = (SELECT max(at) FROM records WHERE terminal = ?1 AND kind IN ('transition', 'task_event'))";
        let mut statement = self.transaction.prepare_cached(sql)?;
        let mut rows = statement.query([terminal])?;
        let (mut newest, mut is_same) = (None, false);
        while let Some(row) = rows.next()? {
            newest = Some(row.get(0)?);
            is_same |= match record {
                Record::Transition(new) | Record::Left(new) => {
                    let (summary, note): (Option<String>, Option<String>) = (row.get(1)?, row.get(2)?);
                    summary == Some(write_summary(&new.transition.summary)) && note == new.transition.note
                }
                Record::TaskEvent { event, .. } => {
                    let document: Option<Vec<u8>> = row.get(3)?;
                    let document = document.map(|document| self.codec.unpack_document(&document)).transpose()?;
                    let written = document.and_then(|document| serde_json::from_str::<TaskRecord>(&document).ok());
                    let kind = std::mem::discriminant(&event.happening);
                    written.is_some_and(|written| std::mem::discriminant(&written.happening) == kind)
                }
                Record::Introduced { .. } | Record::Action { .. } => false,
            };
        }
        let Some(newest) = newest else { return Ok(false) };
        Ok(record.at() < newest || is_same && record.at().since(newest) < SAME_CHANGE || self.has_left(key)?)
    }

    fn sql(&self, sql: &str) -> Result<CachedStatement<'_>, HistoryError> {
        Ok(self.transaction.prepare_cached(sql)?)
    }
}
