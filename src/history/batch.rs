//! One transaction: what each message changes in the tables.

use std::collections::VecDeque;
use std::sync::Arc;

use rusqlite::{CachedStatement, OptionalExtension, Transaction, params};

use super::Trouble;
use super::encoding::{self, Codec};
use super::identity::{Columns, Owner};
use super::record::{
    Kind, Message, PublicState, Record, Sent, TaskRecord, TransitionRecord, read_summary, write_summary,
};
use super::store::{WatchedTerminal, Watching};
use crate::fleet::{ServerId, TerminalKey};
use crate::operation::Operation;
use crate::private::Held;
use crate::screen::Screen;
use crate::state::{Availability, LEFT, LEFT_UNWATCHED};
use crate::time::{Span, Timestamp};

/// How far apart two processes may see the same change.
const SAME_CHANGE: Span = Span::from_secs(3);

/// One transaction in the making.
pub(super) struct WriteBatch<'a> {
    pub(super) transaction: Transaction<'a>,
    pub(super) codec: &'a mut Codec,
    pub(super) owner: &'a Owner,
    pub(super) watching: Watching,
    pub(super) now: Timestamp,
}

impl WriteBatch<'_> {
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
            Message::Lead(server, held) => self.lead(server, held.as_ref()),
            Message::Flush(_) => Ok(()),
        }
    }

    fn record(&mut self, record: &Arc<Record>) -> Result<(), Trouble> {
        let Some(key) = record.watched() else { return self.write(record) };
        let since = record.at();
        if self.watching.terminals.get(key).is_some_and(|watched| watched.row.is_none()) && self.has_left(key)? {
            return Ok(());
        }
        self.watching.terminals.entry(key.clone()).or_insert(WatchedTerminal { since, row: None });
        if self.leads(&key.server) {
            self.open_watch(key, record.name())?;
            return self.write(record);
        }
        self.watching.standby.push_back(Arc::clone(record));
        if matches!(**record, Record::Left(_)) {
            self.watching.terminals.remove(key);
        }
        Ok(())
    }

    /// Whether this process writes what happens on a server.
    fn leads(&self, server: &ServerId) -> bool {
        self.watching.leads.get(&server.word()).is_some_and(Held::holds)
    }

    /// Begins to write what happens on a server with what the leader before has not written, or ends that.
    fn lead(&mut self, server: &ServerId, held: Option<&Held>) -> Result<(), Trouble> {
        let word = server.word();
        let terminals = self.watching.terminals.iter_mut().filter(|(key, _)| key.server.word() == word);
        let rows: Vec<i64> = terminals.filter_map(|(_, watched)| watched.row.take()).collect();
        for row in rows {
            self.sql("UPDATE watches SET ended = seen WHERE id = ?1 AND ended IS NULL")?.execute([row])?;
        }
        match held {
            Some(held) => drop(self.watching.leads.insert(word.clone(), held.clone())),
            None => drop(self.watching.leads.remove(&word)),
        }
        if !self.leads(server) {
            return Ok(());
        }
        let is_here = |record: &Arc<Record>| record.watched().is_some_and(|key| key.server.word() == word);
        let (kept, others): (VecDeque<_>, _) =
            std::mem::take(&mut self.watching.standby).into_iter().partition(is_here);
        self.watching.standby = others;
        for record in kept {
            if let Some(key) = record.watched()
                && !self.is_written(key, &record)?
            {
                self.write(&record)?;
            }
        }
        let keys = self.watching.terminals.keys().filter(|key| key.server.word() == word);
        for key in keys.cloned().collect::<Vec<_>>() {
            let name = self.name_of(&key)?;
            self.open_watch(&key, &name)?;
        }
        Ok(())
    }

    fn write(&mut self, record: &Record) -> Result<(), Trouble> {
        match record {
            Record::Introduced { key, name, .. } => self.terminal(key, name).map(drop),
            Record::Transition(record) => self.transition(record).map(drop),
            Record::Left(record) => {
                self.transition(record)?;
                if let Some(WatchedTerminal { row: Some(watch), .. }) = self.watching.terminals.remove(&record.key) {
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
        let turn_ended = state.as_ref().and_then(PublicState::turn_ended).map(Timestamp::as_millis);
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
        at: Timestamp,
        kind: Kind,
        terminal: Option<i64>,
        name: &str,
        document: &impl serde::Serialize,
    ) -> Result<i64, Trouble> {
        let packed = self.codec.pack(document)?;
        let sql = "INSERT INTO records (at, kind, terminal, name, document) VALUES (?1, ?2, ?3, ?4, ?5)";
        Ok(self.sql(sql)?.insert(params![at.as_millis(), kind.word(), terminal, name, packed])?)
    }

    /// The row of a screen; one that is stored already is used again.
    fn screen(&mut self, screen: &Screen) -> Result<i64, Trouble> {
        let encoded = encoding::encode_screen(screen)?;
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

    /// Opens a watch of a terminal in place of the one that another process has left open; watching has no gap where this
    /// one has watched all along.
    fn open_watch(&mut self, key: &TerminalKey, name: &str) -> Result<(), Trouble> {
        let Some(&WatchedTerminal { since, row: None }) = self.watching.terminals.get(key) else { return Ok(()) };
        let terminal = self.terminal(key, name)?;
        self.sql("UPDATE watches SET ended = seen WHERE terminal = ?1 AND ended IS NULL")?.execute([terminal])?;
        let sql = "SELECT max(seen) FROM watches WHERE terminal = ?1";
        let seen: Option<i64> = self.sql(sql)?.query_row([terminal], |row| row.get(0))?;
        let from = seen.map_or(since, |seen| since.max(Timestamp::from_millis(seen))).min(self.now);
        let sql = "INSERT INTO watches (terminal, owner, started, seen) VALUES (?1, ?2, ?3, ?4)";
        let values = params![terminal, self.owner.as_str(), from.as_millis(), self.now.as_millis()];
        let row = Some(self.sql(sql)?.insert(values)?);
        self.watching.terminals.insert(key.clone(), WatchedTerminal { since, row });
        Ok(())
    }

    /// Prolongs the watches of this process, after a stop by beginning them anew.
    ///
    /// # Errors
    /// As [`WriteBatch::message`].
    pub(super) fn beat(&mut self, stopped: Option<Timestamp>) -> Result<(), Trouble> {
        let owner = self.owner.as_str();
        if let Some(at) = stopped {
            // The machine was asleep or this process stopped: nobody watched in the meantime.
            let sql =
                "UPDATE watches SET seen = max(seen, ?1), ended = max(seen, ?1) WHERE owner = ?2 AND ended IS NULL";
            self.sql(sql)?.execute(params![at.as_millis(), owner])?;
            let anew = WatchedTerminal { since: self.now, row: None };
            self.watching.terminals.values_mut().for_each(|watched| *watched = anew);
        }
        let sql = "UPDATE watches SET seen = max(seen, ?1) WHERE owner = ?2 AND ended IS NULL";
        self.sql(sql)?.execute(params![self.now.as_millis(), owner])?;
        for key in self.watching.terminals.keys().cloned().collect::<Vec<_>>() {
            if self.leads(&key.server) {
                let name = self.name_of(&key)?;
                self.open_watch(&key, &name)?;
            }
        }
        Ok(())
    }

    /// Whether it is written that the pane of a terminal is gone: that is the end which this process sees as well, however late.
    fn has_left(&mut self, key: &TerminalKey) -> Result<bool, Trouble> {
        let Columns { host, socket, pane, pid, .. } = Columns::of(key);
        let sql = "SELECT t.summary, t.note FROM transitions t JOIN records r ON r.id = t.record
                   JOIN terminals n ON n.id = r.terminal
                   WHERE n.host = ?1 AND n.socket = ?2 AND n.pane = ?3 AND n.pid = ?4 ORDER BY r.at DESC, r.id DESC LIMIT 1";
        let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?));
        let last = self.sql(sql)?.query_row(params![host, socket, pane, pid], read).optional()?;
        let is_gone =
            |text: &str| read_summary(text).is_some_and(|summary| summary.availability == Availability::Unavailable);
        Ok(last
            .is_some_and(|(summary, note)| matches!(note.as_deref(), Some(LEFT | LEFT_UNWATCHED)) && is_gone(&summary)))
    }

    /// Whether the leader before wrote this: it is not later than what it wrote last, give or take the time between two
    /// looks for the same change.
    fn is_written(&mut self, key: &TerminalKey, record: &Record) -> Result<bool, Trouble> {
        let Columns { host, socket, pane, pid, .. } = Columns::of(key);
        let sql = "SELECT r.at, t.summary, t.note, iif(r.kind = 'task_event', r.document, NULL)
                   FROM records r JOIN terminals n ON n.id = r.terminal LEFT JOIN transitions t ON t.record = r.id
                   WHERE n.host = ?1 AND n.socket = ?2 AND n.pane = ?3 AND n.pid = ?4
                     AND r.kind IN ('transition', 'task_event')
                   ORDER BY r.at DESC, r.id DESC LIMIT 8";
        let read = |row: &rusqlite::Row<'_>| {
            let at = Timestamp::from_millis(row.get(0)?);
            let (summary, note): (Option<String>, Option<String>) = (row.get(1)?, row.get(2)?);
            Ok((at, summary, note, row.get::<_, Option<Vec<u8>>>(3)?))
        };
        let mut last = Vec::new();
        for row in self.transaction.prepare_cached(sql)?.query_map(params![host, socket, pane, pid], read)? {
            last.push(row?);
        }
        let Some(&(newest, ..)) = last.first() else { return Ok(false) };
        if record.at() < newest || self.has_left(key)? {
            return Ok(true);
        }
        // What happened at one moment may be several records.
        for (_, summary, note, document) in last.into_iter().filter(|(at, ..)| *at == newest) {
            let is_same = match record {
                Record::Transition(new) | Record::Left(new) => {
                    summary == Some(write_summary(&new.transition.summary)) && note == new.transition.note
                }
                Record::TaskEvent { event, .. } => {
                    let document = document.map(|document| self.codec.unpack_document(&document)).transpose()?;
                    let written = document.and_then(|document| serde_json::from_str::<TaskRecord>(&document).ok());
                    let kind = std::mem::discriminant(&event.happening);
                    written.is_some_and(|written| std::mem::discriminant(&written.happening) == kind)
                }
                Record::Introduced { .. } | Record::Action { .. } => false,
            };
            if is_same && record.at().since(newest) < SAME_CHANGE {
                return Ok(true);
            }
        }
        Ok(false)
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
