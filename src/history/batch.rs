//! One transaction: what each message changes in the tables.

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::Arc;

use rusqlite::{CachedStatement, OptionalExtension, Transaction, params};

use super::encoding::{self, Codec};
use super::identity::{Columns, Owner};
use super::record::{
    Kind, Message, PublicState, Record, Sent, TaskRecord, TransitionRecord, read_summary, write_summary,
};
use super::store::{BEAT, LEASE};
use super::{Trouble, presence};
use crate::fleet::{ServerId, TerminalKey};
use crate::moment::{Moment, Span};
use crate::operation::Operation;
use crate::screen::Screen;
use crate::state::{Availability, LEFT, LEFT_UNWATCHED};

/// How far apart two processes may see the same change.
const SAME_CHANGE: Span = Span::from_secs(3);

/// One transaction in the making.
pub(super) struct Batch<'a> {
    pub(super) transaction: Transaction<'a>,
    pub(super) codec: &'a mut Codec,
    pub(super) owner: &'a Owner,
    pub(super) path: &'a Path,
    pub(super) watched: HashMap<TerminalKey, Option<i64>>,
    pub(super) standby: VecDeque<Arc<Record>>,
    pub(super) now: Moment,
}

impl Batch<'_> {
    /// Adds a message to the transaction.
    ///
    /// # Errors
    /// It cannot be written; the transaction is to be given up.
    pub(super) fn message(&mut self, message: &Message) -> Result<(), Trouble> {
        match message {
            Message::Record(record) => self.record(record),
            Message::InputBegun { uid, operation } => self.input_begun(uid, operation),
            Message::InputDelivered { uid, at } => {
                let sql = "INSERT INTO submissions (at, input) SELECT ?1, record FROM inputs WHERE uid = ?2";
                self.sql(sql)?.execute(params![at.as_millis(), uid])?;
                Ok(())
            }
            Message::InputEnded { uid, outcome, at } => {
                let sql = "UPDATE inputs SET outcome = ?1, detail = ?2, ended_at = ?3 WHERE uid = ?4";
                self.sql(sql)?.execute(params![outcome.word(), outcome.detail(), at.as_millis(), uid])?;
                Ok(())
            }
            Message::Standing(standing) => standing.write(&self.transaction, self.owner),
            Message::TakeOver(server) => self.take_over(server),
            Message::Flush(_) => Ok(()),
        }
    }

    fn record(&mut self, record: &Arc<Record>) -> Result<(), Trouble> {
        let Some(key) = record.watched() else { return self.write(record) };
        match self.writes(key, record.name(), record.at())? {
            Writes::Here => self.write(record),
            Writes::HereFromNow if self.is_written(key, record)? => Ok(()),
            Writes::HereFromNow => self.write(record),
            Writes::Elsewhere => {
                self.standby.push_back(Arc::clone(record));
                if matches!(**record, Record::Left(_)) {
                    self.watched.remove(key);
                }
                Ok(())
            }
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
            Record::TaskEvent { key, name, at, event } => {
                let terminal = self.terminal(key, name)?;
                self.insert(*at, Kind::TaskEvent, Some(terminal), name, event).map(drop)
            }
            Record::Action { key, name, at, action } => {
                let terminal = key.as_ref().map(|key| self.terminal(key, name)).transpose()?;
                self.insert(*at, Kind::Action, terminal, name, action).map(drop)
            }
        }
    }

    fn transition(&mut self, record: &TransitionRecord) -> Result<i64, Trouble> {
        let TransitionRecord { key, name, transition, state, screen, .. } = record;
        let terminal = self.terminal(key, name)?;
        let id = self.insert(transition.at, Kind::Transition, Some(terminal), name, &record.document())?;
        let screen = screen.as_deref().map(|screen| self.screen(screen)).transpose()?;
        let turn_ended = state.as_ref().and_then(PublicState::turn_ended).map(Moment::as_millis);
        let sql = "INSERT INTO transitions (record, summary, turn_ended, note, screen) VALUES (?1, ?2, ?3, ?4, ?5)";
        let summary = write_summary(&transition.summary);
        self.sql(sql)?.execute(params![id, summary, turn_ended, transition.note, screen])?;
        Ok(id)
    }

    fn input_begun(&mut self, uid: &str, Operation { at, producer, to, act }: &Operation) -> Result<(), Trouble> {
        let terminal = self.terminal(&to.key, &to.name)?;
        let sent = Sent::from(act);
        let id = self.insert(*at, Kind::Input, Some(terminal), &to.name, &sent)?;
        let sql = "INSERT INTO inputs (record, uid, owner, sender, what) VALUES (?1, ?2, ?3, ?4, ?5)";
        let what = sent.what().word();
        self.sql(sql)?.execute(params![id, uid, self.owner.as_str(), producer.to_string(), what])?;
        Ok(())
    }

    fn insert(
        &mut self,
        at: Moment,
        kind: Kind,
        terminal: Option<i64>,
        name: &str,
        document: &impl serde::Serialize,
    ) -> Result<i64, Trouble> {
        let document = serde_json::to_string(document).map_err(|error| Trouble::Other(error.to_string()))?;
        let packed = self.codec.pack_document(&document);
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
        let Columns { host, socket, pane, pid, .. } = Columns::of(key);
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

    /// Which process writes a terminal: this one when nobody else does; `at` is when it has begun to watch if it did so
    /// just now.
    fn writes(&mut self, key: &TerminalKey, name: &str, at: Moment) -> Result<Writes, Trouble> {
        let known = self.watched.get(key).copied();
        if let Some(Some(watch)) = known
            && self.sql("SELECT 1 FROM watches WHERE id = ?1 AND ended IS NULL")?.exists(params![watch])?
        {
            return Ok(Writes::Here);
        }
        if known.is_some() && self.has_left(key, at)? {
            return Ok(Writes::Elsewhere);
        }
        // Who stood by has watched all along, since before the other one fell silent.
        let stood_by = known == Some(None);
        let from = if stood_by { self.last_seen(key)?.unwrap_or(at) } else { at };
        let terminal = self.terminal(key, name)?;
        // A file that was opened anew lets this process follow itself.
        let sql = "SELECT owner <> ?2 FROM watches WHERE terminal = ?1 ORDER BY id DESC LIMIT 1";
        let follows = self.sql(sql)?.query_row(params![terminal, self.owner.as_str()], |row| row.get(0)).optional()?;
        let watch = self.open_watch(terminal, from)?;
        self.watched.insert(key.clone(), watch);
        Ok(match (watch, stood_by) {
            (None, _) => Writes::Elsewhere,
            (Some(_), false) => Writes::Here,
            (Some(_), true) => {
                self.catch_up(key)?;
                if follows == Some(true) { Writes::HereFromNow } else { Writes::Here }
            }
        })
    }

    /// Whether another process wrote that a terminal has left: that is the end which this one sees as well, however late it
    /// comes if the pane is gone. One that left for another reason may still be watched here.
    fn has_left(&mut self, key: &TerminalKey, at: Moment) -> Result<bool, Trouble> {
        let last = self.last_record(key)?;
        let is_end = |last: &LastRecord| matches!(last.note.as_deref(), Some(LEFT | LEFT_UNWATCHED));
        Ok(last.is_some_and(|last| is_end(&last) && (last.is_of_gone() || at.since(last.at) < BEAT)))
    }

    /// Ends the watches that other processes have of a server's terminals, and writes what they have not.
    fn take_over(&mut self, server: &ServerId) -> Result<(), Trouble> {
        let stands_by = |(key, watch): &(&TerminalKey, &Option<i64>)| key.server == *server && watch.is_none();
        let keys: Vec<TerminalKey> = self.watched.iter().filter(stands_by).map(|(key, _)| key.clone()).collect();
        for key in keys {
            let name = self.name_of(&key)?;
            let terminal = self.terminal(&key, &name)?;
            self.sql("UPDATE watches SET ended = seen WHERE terminal = ?1 AND ended IS NULL")?.execute([terminal])?;
            self.writes(&key, &name, self.now)?;
        }
        Ok(())
    }

    /// Opens a watch of a terminal, unless another process has one that has not run out and is not known to have died.
    fn open_watch(&mut self, terminal: i64, from: Moment) -> Result<Option<i64>, Trouble> {
        let alive = (self.now - LEASE).as_millis();
        let sql = "SELECT owner FROM watches WHERE terminal = ?1 AND ended IS NULL AND owner <> ?2 AND seen > ?3";
        let other: Option<String> =
            self.sql(sql)?.query_row(params![terminal, self.owner.as_str(), alive], |row| row.get(0)).optional()?;
        if other.is_some_and(|other| !presence::has_died(self.path, &other)) {
            return Ok(None);
        }
        self.sql("UPDATE watches SET ended = seen WHERE terminal = ?1 AND ended IS NULL")?.execute([terminal])?;
        let sql = "INSERT INTO watches (terminal, owner, started, seen) VALUES (?1, ?2, ?3, ?4)";
        let (from, now) = (from.min(self.now).as_millis(), self.now.as_millis());
        Ok(Some(self.sql(sql)?.insert(params![terminal, self.owner.as_str(), from, now])?))
    }

    /// Prolongs the watches of this process, after a stop by beginning them anew, and takes over those that ran out.
    ///
    /// # Errors
    /// As [`Batch::message`].
    pub(super) fn beat(&mut self, stopped: Option<Moment>) -> Result<(), Trouble> {
        let owner = self.owner.as_str();
        if let Some(at) = stopped {
            // The machine was asleep or this process stopped: nobody watched in the meantime.
            let sql =
                "UPDATE watches SET seen = max(seen, ?1), ended = max(seen, ?1) WHERE owner = ?2 AND ended IS NULL";
            self.sql(sql)?.execute(params![at.as_millis(), owner])?;
        }
        let sql = "UPDATE watches SET seen = max(seen, ?1) WHERE owner = ?2 AND ended IS NULL";
        self.sql(sql)?.execute(params![self.now.as_millis(), owner])?;
        let keys: Vec<TerminalKey> = self.watched.keys().cloned().collect();
        for key in keys {
            let name = self.name_of(&key)?;
            self.writes(&key, &name, self.now)?;
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
            Record::Transition(new) | Record::Left(new) => last.summary == Some(write_summary(&new.transition.summary)),
            Record::TaskEvent { event, .. } => {
                let kind = std::mem::discriminant(&event.happening);
                last.event.as_ref().is_some_and(|last| std::mem::discriminant(&last.happening) == kind)
            }
            Record::Introduced { .. } | Record::Action { .. } => false,
        };
        Ok(same && record.at().since(last.at) < SAME_CHANGE)
    }

    fn last_record(&mut self, key: &TerminalKey) -> Result<Option<LastRecord>, Trouble> {
        let Columns { host, socket, pane, pid, .. } = Columns::of(key);
        let sql = "SELECT r.at, t.summary, t.note, iif(r.kind = 'task_event', r.document, NULL)
                   FROM records r JOIN terminals n ON n.id = r.terminal LEFT JOIN transitions t ON t.record = r.id
                   WHERE n.host = ?1 AND n.socket = ?2 AND n.pane = ?3 AND n.pid = ?4
                     AND r.kind IN ('transition', 'task_event')
                   ORDER BY r.at DESC, r.id DESC LIMIT 1";
        let read = |row: &rusqlite::Row<'_>| {
            let at = Moment::from_millis(row.get(0)?);
            Ok((
                LastRecord { at, summary: row.get(1)?, note: row.get(2)?, event: None },
                row.get::<_, Option<Vec<u8>>>(3)?,
            ))
        };
        let last =
            self.transaction.prepare_cached(sql)?.query_row(params![host, socket, pane, pid], read).optional()?;
        let Some((mut last, document)) = last else { return Ok(None) };
        if let Some(document) = document {
            let document = self.codec.unpack_document(&document)?;
            last.event = serde_json::from_str(&document).ok();
        }
        Ok(Some(last))
    }

    fn last_seen(&mut self, key: &TerminalKey) -> Result<Option<Moment>, Trouble> {
        let Columns { host, socket, pane, pid, .. } = Columns::of(key);
        let sql = "SELECT max(w.seen) FROM watches w JOIN terminals n ON n.id = w.terminal
                   WHERE n.host = ?1 AND n.socket = ?2 AND n.pane = ?3 AND n.pid = ?4";
        let seen: Option<i64> = self.sql(sql)?.query_row(params![host, socket, pane, pid], |row| row.get(0))?;
        Ok(seen.map(Moment::from_millis))
    }

    fn name_of(&mut self, key: &TerminalKey) -> Result<String, Trouble> {
        let Columns { host, socket, pane, pid, .. } = Columns::of(key);
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
    note: Option<String>,
    /// What happened to a task.
    event: Option<TaskRecord>,
}

impl LastRecord {
    /// Whether the terminal's pane did not exist any more.
    fn is_of_gone(&self) -> bool {
        let summary = self.summary.as_deref().and_then(read_summary);
        summary.is_some_and(|summary| summary.availability == Availability::Unavailable)
    }
}

/// Which process writes what happens to a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writes {
    Here,
    /// This one takes over from another one, which may have written what both of them saw.
    HereFromNow,
    Elsewhere,
}
