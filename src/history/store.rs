//! The writing side of the file: batches of messages, each one transaction.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{CachedStatement, OptionalExtension, Transaction, TransactionBehavior, params};

use super::encoding::{self, Codec};
use super::identity::{Columns, Owner};
use super::open::{self, Opened, Options};
use super::record::{Kind, Message, NewInput, Record, TransitionRecord};
use super::{Trouble, summary};
use crate::fleet::TerminalKey;
use crate::moment::{Moment, Span};
use crate::screen::Screen;

/// How long a process that no longer says so still counts as watching. Another one takes its terminals over then.
pub(super) const LEASE: Span = Span::from_secs(30);
/// How often a process says that it still watches.
pub(super) const BEAT: Span = Span::from_secs(10);
/// How far apart two processes may see the same change.
const SAME_CHANGE: Span = Span::from_secs(3);

/// An open store.
///
/// Of the processes that watch a terminal, one writes its transitions: the one whose watch is open (table `watches`).
/// The others keep theirs for as long as a lease lasts and write them when the first one falls silent, so that nothing
/// is written twice and nothing is lost.
pub(super) struct Store {
    opened: Opened,
    path: PathBuf,
    owner: Owner,
    codec: Codec,
    /// The terminals that this process watches, and the open watch of those that it writes.
    watched: HashMap<TerminalKey, Option<i64>>,
    /// What another process is to write, should it not do so; oldest first.
    standby: VecDeque<Arc<Record>>,
    last_beat: Moment,
}

impl Store {
    /// Opens the file as [`open::open`] does.
    ///
    /// # Errors
    /// As there.
    pub(super) fn open(path: &Path, owner: &Owner, options: &Options, now: Moment) -> Result<Self, Trouble> {
        Self::with(open::open(path, options, now)?, path, owner, now)
    }

    /// Opens the file as [`open::open_after_damage`] does.
    ///
    /// # Errors
    /// As there.
    pub(super) fn open_after_damage(
        path: &Path,
        owner: &Owner,
        options: &Options,
        now: Moment,
    ) -> Result<Self, Trouble> {
        Self::with(open::open_after_damage(path, options, now)?, path, owner, now)
    }

    fn with(opened: Opened, path: &Path, owner: &Owner, now: Moment) -> Result<Self, Trouble> {
        // Every statement of the writer stays prepared; there are about thirty.
        opened.connection.set_prepared_statement_cache_capacity(64);
        Ok(Self {
            opened,
            path: path.to_owned(),
            owner: owner.clone(),
            codec: Codec::new()?,
            watched: HashMap::new(),
            standby: VecDeque::new(),
            last_beat: now,
        })
    }

    /// Where a damaged file was moved to when this one was opened.
    pub(super) fn set_aside(&self) -> Option<&PathBuf> {
        self.opened.set_aside.as_ref()
    }

    /// Whether the path still means this file, and not another one or none.
    pub(super) fn is_in_place(&self) -> bool {
        open::inode(&self.path) == self.opened.inode
    }

    /// Takes over what another store of this process knew of the watched terminals; their watches have to be opened
    /// anew.
    pub(super) fn inherit(&mut self, watched: impl IntoIterator<Item = TerminalKey>) {
        self.watched.extend(watched.into_iter().map(|key| (key, None)));
    }

    /// The terminals that this process watches.
    pub(super) fn watched(&self) -> impl Iterator<Item = &TerminalKey> {
        self.watched.keys()
    }

    /// Writes messages in one transaction: all of them or none.
    ///
    /// # Errors
    /// Nothing was written.
    pub(super) fn write(&mut self, messages: &[Message], now: Moment) -> Result<(), Trouble> {
        self.transact(now, |batch| messages.iter().try_for_each(|message| batch.message(message)))
    }

    /// Says that this process still watches, and takes over terminals whose writer fell silent. Due every [`BEAT`].
    ///
    /// # Errors
    /// Nothing was written.
    pub(super) fn beat(&mut self, now: Moment) -> Result<(), Trouble> {
        if self.watched.is_empty() {
            self.last_beat = now;
            return Ok(());
        }
        let slept = now.since(self.last_beat) > LEASE;
        self.transact(now, |batch| batch.beat(slept))?;
        self.last_beat = now;
        let oldest = now - LEASE - LEASE;
        self.standby.retain(|record| record.at() > oldest);
        Ok(())
    }

    /// Ends the watches of this process, so that another one takes over at once.
    ///
    /// # Errors
    /// Nothing was written; the watches run out by themselves.
    pub(super) fn leave(&mut self, now: Moment) -> Result<(), Trouble> {
        if self.watched.values().flatten().next().is_none() {
            return Ok(());
        }
        let sql = "UPDATE watches SET seen = ?1, ended = ?1 WHERE owner = ?2 AND ended IS NULL";
        self.opened.connection.execute(sql, params![now.as_millis(), self.owner.as_str()])?;
        self.watched.clear();
        Ok(())
    }

    /// The connection, for chores that are no records.
    pub(super) fn connection(&mut self) -> &mut rusqlite::Connection {
        &mut self.opened.connection
    }

    fn transact(
        &mut self,
        now: Moment,
        work: impl FnOnce(&mut Batch<'_>) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        let transaction = self.opened.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut batch = Batch {
            transaction,
            codec: &mut self.codec,
            owner: &self.owner,
            // What a failed transaction changed here must not stay.
            watched: self.watched.clone(),
            standby: self.standby.clone(),
            now,
        };
        work(&mut batch)?;
        let Batch { transaction, watched, standby, .. } = batch;
        transaction.commit()?;
        self.watched = watched;
        self.standby = standby;
        Ok(())
    }
}

/// One transaction in the making.
struct Batch<'a> {
    transaction: Transaction<'a>,
    codec: &'a mut Codec,
    owner: &'a Owner,
    watched: HashMap<TerminalKey, Option<i64>>,
    standby: VecDeque<Arc<Record>>,
    now: Moment,
}

impl Batch<'_> {
    fn message(&mut self, message: &Message) -> Result<(), Trouble> {
        match message {
            Message::Record(record) => self.record(record),
            Message::InputBegun { uid, input } => self.input_begun(uid, input),
            Message::InputDelivered { uid, at } => {
                let sql = "INSERT INTO submissions (at, input) SELECT ?1, record FROM inputs WHERE uid = ?2";
                self.sql(sql)?.execute(params![at.as_millis(), uid])?;
                Ok(())
            }
            Message::InputEnded { uid, outcome, detail, at } => {
                let sql = "UPDATE inputs SET outcome = ?1, detail = ?2, ended_at = ?3 WHERE uid = ?4";
                self.sql(sql)?.execute(params![outcome, detail, at.as_millis(), uid])?;
                Ok(())
            }
            Message::Flush(_) => Ok(()),
        }
    }

    fn record(&mut self, record: &Arc<Record>) -> Result<(), Trouble> {
        match record.watched() {
            Some(key) if !self.is_ours(key, record.name(), record.at())? => {
                self.standby.push_back(Arc::clone(record));
                if matches!(**record, Record::Left(_)) {
                    self.watched.remove(key);
                }
                Ok(())
            }
            _ => self.write(record),
        }
    }

    fn write(&mut self, record: &Record) -> Result<(), Trouble> {
        match record {
            Record::Introduced { key, name, .. } => self.terminal(key, name).map(drop),
            Record::Transition(record) => self.transition(record).map(drop),
            Record::Left(record) => {
                self.transition(record)?;
                if let Some(Some(watch)) = self.watched.remove(&record.key) {
                    let sql = "UPDATE watches SET seen = max(seen, ?1), ended = max(seen, ?1) WHERE id = ?2";
                    self.sql(sql)?.execute(params![record.transition.at.as_millis(), watch])?;
                }
                Ok(())
            }
            Record::TaskEvent { key, name, at, fields } => {
                let terminal = self.terminal(key, name)?;
                self.insert(*at, Kind::TaskEvent, Some(terminal), name, &fields.to_string()).map(drop)
            }
            Record::Action { key, name, at, action, detail } => {
                let terminal = key.as_ref().map(|key| self.terminal(key, name)).transpose()?;
                let document = serde_json::json!({ "action": action, "detail": detail }).to_string();
                self.insert(*at, Kind::Action, terminal, name, &document).map(drop)
            }
        }
    }

    fn transition(&mut self, record: &TransitionRecord) -> Result<i64, Trouble> {
        let TransitionRecord { key, name, transition, state, screen } = record;
        let terminal = self.terminal(key, name)?;
        let id = self.insert(transition.at, Kind::Transition, Some(terminal), name, &record.document())?;
        let screen = screen.as_deref().map(|screen| self.screen(screen)).transpose()?;
        let turn_ended = state.as_ref().and_then(|state| state.last_turn.at).map(Moment::as_millis);
        let sql = "INSERT INTO transitions (record, summary, turn_ended, note, screen) VALUES (?1, ?2, ?3, ?4, ?5)";
        let summary = summary::write(&transition.summary);
        self.sql(sql)?.execute(params![id, summary, turn_ended, transition.note, screen])?;
        Ok(id)
    }

    fn input_begun(&mut self, uid: &str, input: &NewInput) -> Result<(), Trouble> {
        let terminal = self.terminal(&input.key, &input.name)?;
        let id = self.insert(input.at, Kind::Input, Some(terminal), &input.name, &input.sent.document())?;
        let sql = "INSERT INTO inputs (record, uid, owner, sender, what) VALUES (?1, ?2, ?3, ?4, ?5)";
        let what = input.sent.what().word();
        self.sql(sql)?.execute(params![id, uid, self.owner.as_str(), input.sender, what])?;
        Ok(())
    }

    fn insert(
        &mut self,
        at: Moment,
        kind: Kind,
        terminal: Option<i64>,
        name: &str,
        document: &str,
    ) -> Result<i64, Trouble> {
        let packed = self.codec.pack_document(document);
        let sql = "INSERT INTO records (at, kind, terminal, name, document) VALUES (?1, ?2, ?3, ?4, ?5)";
        Ok(self.sql(sql)?.insert(params![at.as_millis(), kind.word(), terminal, name, packed])?)
    }

    /// The row of a screen; one that is stored already is used again.
    fn screen(&mut self, screen: &Screen) -> Result<i64, Trouble> {
        let encoded = encoding::encode_screen(screen);
        let (hash, packed) = (encoding::hash(&encoded), self.codec.pack_screen(&encoded));
        let sql = "SELECT id FROM screens WHERE hash = ?1 AND body = ?2";
        let known = self.sql(sql)?.query_row(params![hash, packed], |row| row.get(0)).optional()?;
        match known {
            Some(id) => Ok(id),
            None => Ok(self.sql("INSERT INTO screens (hash, body) VALUES (?1, ?2)")?.insert(params![hash, packed])?),
        }
    }

    /// The row of a terminal, which keeps its latest name.
    fn terminal(&mut self, key: &TerminalKey, name: &str) -> Result<i64, Trouble> {
        let Columns { host, socket, pane, pid } = Columns::of(key);
        let sql = "SELECT id, name FROM terminals WHERE host = ?1 AND socket = ?2 AND pane = ?3 AND pid = ?4";
        let known: Option<(i64, String)> = self
            .sql(sql)?
            .query_row(params![host, socket, pane, pid], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        match known {
            Some((id, known)) if known == name => Ok(id),
            Some((id, _)) => {
                self.sql("UPDATE terminals SET name = ?1 WHERE id = ?2")?.execute(params![name, id])?;
                Ok(id)
            }
            None => {
                let sql = "INSERT INTO terminals (host, socket, pane, pid, name) VALUES (?1, ?2, ?3, ?4, ?5)";
                Ok(self.sql(sql)?.insert(params![host, socket, pane, pid, name])?)
            }
        }
    }

    /// Whether this process is the one that writes a terminal, which it becomes when nobody else is; `at` is when it
    /// has begun to watch if it did so just now.
    fn is_ours(&mut self, key: &TerminalKey, name: &str, at: Moment) -> Result<bool, Trouble> {
        let known = self.watched.get(key).copied();
        if let Some(Some(watch)) = known
            && self.sql("SELECT 1 FROM watches WHERE id = ?1 AND ended IS NULL")?.exists(params![watch])?
        {
            return Ok(true);
        }
        // Who stood by has watched all along, since before the other one fell silent.
        let stood_by = known == Some(None);
        let from = if stood_by { self.last_seen(key)?.unwrap_or(at) } else { at };
        let terminal = self.terminal(key, name)?;
        let watch = self.open_watch(terminal, from)?;
        self.watched.insert(key.clone(), watch);
        if watch.is_some() && stood_by {
            self.catch_up(key)?;
        }
        Ok(watch.is_some())
    }

    /// Opens a watch of a terminal, unless another process has one that has not run out.
    fn open_watch(&mut self, terminal: i64, from: Moment) -> Result<Option<i64>, Trouble> {
        let alive = (self.now - LEASE).as_millis();
        let sql = "SELECT 1 FROM watches WHERE terminal = ?1 AND ended IS NULL AND owner <> ?2 AND seen > ?3";
        if self.sql(sql)?.exists(params![terminal, self.owner.as_str(), alive])? {
            return Ok(None);
        }
        self.sql("UPDATE watches SET ended = seen WHERE terminal = ?1 AND ended IS NULL")?.execute([terminal])?;
        let sql = "INSERT INTO watches (terminal, owner, started, seen) VALUES (?1, ?2, ?3, ?4)";
        let (from, now) = (from.min(self.now).as_millis(), self.now.as_millis());
        Ok(Some(self.sql(sql)?.insert(params![terminal, self.owner.as_str(), from, now])?))
    }

    fn beat(&mut self, slept: bool) -> Result<(), Trouble> {
        let owner = self.owner.as_str();
        if slept {
            // The machine was asleep or this process stopped: nobody watched in the meantime.
            self.sql("UPDATE watches SET ended = seen WHERE owner = ?1 AND ended IS NULL")?.execute([owner])?;
        }
        let sql = "UPDATE watches SET seen = max(seen, ?1) WHERE owner = ?2 AND ended IS NULL";
        self.sql(sql)?.execute(params![self.now.as_millis(), owner])?;
        let keys: Vec<TerminalKey> = self.watched.keys().cloned().collect();
        for key in keys {
            let name = self.name_of(&key)?;
            self.is_ours(&key, &name, self.now)?;
        }
        Ok(())
    }

    /// Writes what was kept for the case that the other process does not write it.
    fn catch_up(&mut self, key: &TerminalKey) -> Result<(), Trouble> {
        let (kept, others) =
            std::mem::take(&mut self.standby).into_iter().partition(|record| record.watched() == Some(key));
        self.standby = others;
        let kept: VecDeque<Arc<Record>> = kept;
        for record in kept {
            if !self.is_written(key, &record)? {
                self.write(&record)?;
            }
        }
        Ok(())
    }

    /// Whether the other process wrote this: it is not later than what it wrote last, give or take the time between two
    /// looks for the same change.
    fn is_written(&mut self, key: &TerminalKey, record: &Record) -> Result<bool, Trouble> {
        let Some(last) = self.last_record(key)? else { return Ok(false) };
        if record.at() <= last.at {
            return Ok(true);
        }
        let same = match record {
            Record::Transition(new) | Record::Left(new) => {
                last.summary == Some(summary::write(&new.transition.summary))
            }
            _ => false,
        };
        Ok(same && record.at().since(last.at) < SAME_CHANGE)
    }

    fn last_record(&mut self, key: &TerminalKey) -> Result<Option<LastRecord>, Trouble> {
        let Columns { host, socket, pane, pid } = Columns::of(key);
        let sql = "SELECT r.at, t.summary FROM records r JOIN terminals n ON n.id = r.terminal
                   LEFT JOIN transitions t ON t.record = r.id
                   WHERE n.host = ?1 AND n.socket = ?2 AND n.pane = ?3 AND n.pid = ?4
                     AND r.kind IN ('transition', 'task_event')
                   ORDER BY r.at DESC, r.id DESC LIMIT 1";
        let read =
            |row: &rusqlite::Row<'_>| Ok(LastRecord { at: Moment::from_millis(row.get(0)?), summary: row.get(1)? });
        Ok(self.sql(sql)?.query_row(params![host, socket, pane, pid], read).optional()?)
    }

    fn last_seen(&mut self, key: &TerminalKey) -> Result<Option<Moment>, Trouble> {
        let Columns { host, socket, pane, pid } = Columns::of(key);
        let sql = "SELECT max(w.seen) FROM watches w JOIN terminals n ON n.id = w.terminal
                   WHERE n.host = ?1 AND n.socket = ?2 AND n.pane = ?3 AND n.pid = ?4";
        let seen: Option<i64> = self.sql(sql)?.query_row(params![host, socket, pane, pid], |row| row.get(0))?;
        Ok(seen.map(Moment::from_millis))
    }

    fn name_of(&mut self, key: &TerminalKey) -> Result<String, Trouble> {
        let Columns { host, socket, pane, pid } = Columns::of(key);
        let sql = "SELECT name FROM terminals WHERE host = ?1 AND socket = ?2 AND pane = ?3 AND pid = ?4";
        let name = self.sql(sql)?.query_row(params![host, socket, pane, pid], |row| row.get(0)).optional()?;
        Ok(name.unwrap_or_default())
    }

    fn sql(&self, sql: &str) -> Result<CachedStatement<'_>, Trouble> {
        Ok(self.transaction.prepare_cached(sql)?)
    }
}

/// What was written last of a terminal.
struct LastRecord {
    at: Moment,
    summary: Option<String>,
}
