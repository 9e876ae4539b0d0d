//! The reading side: what the command line and the drill-down ask for. It has a connection of its own, and neither waits
//! for a writer nor makes one wait.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::encoding::Codec;
use super::filter::{COLUMNS, RecordFilter, TABLES};
use super::identity::{Columns, Owner, stored_server};
use super::record::{Kind, Sent, TaskRecord, TransitionDocument, read_summary};
use super::store::LEASE;
use super::stored::{Body, RecordId, ScreenId, Stored, StoredInput, StoredTransition, Submission};
use super::timeline::{Holder, Point};
use super::{Trouble, open, retention};
use crate::fleet::{ServerId, TerminalKey};
use crate::screen::Screen;
use crate::state::{LEFT, LEFT_UNWATCHED, Summary, Transition};
use crate::time::Timestamp;

/// A terminal that the history knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTerminal {
    pub key: TerminalKey,
    /// Its latest name.
    pub name: String,
    /// When something was last written of it.
    pub last: Option<Timestamp>,
}

/// What the time line of a terminal is drawn from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// By time.
    pub points: Vec<Point>,
    /// When somebody watched, by beginning.
    pub watched: Vec<(Timestamp, Timestamp)>,
}

/// An open history.
pub struct Reader {
    connection: Connection,
    codec: Codec,
}

impl Reader {
    /// Opens a history to read.
    ///
    /// # Errors
    /// There is none, it cannot be read, or a newer fleetwatch wrote it.
    pub fn open(path: &Path) -> Result<Self, Trouble> {
        let connection = open::open_to_read(path)?;
        Ok(Self { connection, codec: Codec::new()? })
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Every terminal, by its latest record, newest first.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn terminals(&self) -> Result<Vec<StoredTerminal>, Trouble> {
        let sql = "SELECT n.host, n.socket, n.pane, n.pid, n.name,
                          (SELECT max(at) FROM records WHERE terminal = n.id) AS last
                   FROM terminals n ORDER BY last DESC NULLS LAST, n.id DESC";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([], |row| {
            let last: Option<i64> = row.get(5)?;
            Ok(StoredTerminal { key: key(row, 0)?, name: row.get(4)?, last: last.map(Timestamp::from_millis) })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The terminals of which some record bears a name, whatever they are called by now.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn named(&self, name: &str) -> Result<Vec<TerminalKey>, Trouble> {
        let sql = "SELECT host, socket, pane, pid FROM terminals n
                   WHERE EXISTS (SELECT 1 FROM records WHERE terminal = n.id AND name = ?1)";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([name], |row| key(row, 0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// How many records there are, and how many bytes are in use for them.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn extent(&self) -> Result<(u64, u64), Trouble> {
        let count: i64 = self.connection.query_row("SELECT count(*) FROM records", [], |row| row.get(0))?;
        Ok((u64::try_from(count).unwrap_or(0), retention::used(&self.connection)?))
    }

    /// The terminals that some process watches now, with the last transition of each, by name. Whoever only wants to
    /// know how things stand need not ask tmux.
    ///
    /// # Errors
    /// As [`Reader::each`].
    pub fn current(&mut self, now: Timestamp) -> Result<Vec<Stored>, Trouble> {
        let sql = format!(
            "SELECT {COLUMNS} FROM {TABLES} WHERE r.id IN (
                 SELECT (SELECT id FROM records WHERE terminal = w.terminal AND kind = 'transition'
                         ORDER BY at DESC, id DESC LIMIT 1)
                 FROM watches w WHERE w.ended IS NULL AND w.seen > ?1)
             ORDER BY r.name, r.id"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query([(now - LEASE).as_millis()])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(stored(row, &mut self.codec)?);
        }
        Ok(found)
    }

    /// The last transition or event of each terminal of a server that has not left it, as far as is known.
    ///
    /// # Errors
    /// As [`Reader::each`].
    pub(super) fn left_behind(&mut self, server: &ServerId) -> Result<Vec<Stored>, Trouble> {
        let (host, socket) = stored_server(server);
        let sql = format!(
            "SELECT {COLUMNS} FROM {TABLES} WHERE r.id IN (
                 SELECT (SELECT id FROM records WHERE terminal = n.id AND kind IN ('transition', 'task_event')
                         ORDER BY at DESC, id DESC LIMIT 1)
                 FROM terminals n WHERE n.host = ?1 AND n.socket = ?2)
             AND (t.note IS NULL OR t.note NOT IN (?3, ?4)) ORDER BY r.id"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query(params![host, socket, LEFT, LEFT_UNWATCHED])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(stored(row, &mut self.codec)?);
        }
        Ok(found)
    }

    /// Hands on the records that a filter asks for, oldest first, until `take` says that it has enough.
    ///
    /// # Errors
    /// The file cannot be read, or something in it is no record.
    pub fn each(&mut self, filter: &RecordFilter, mut take: impl FnMut(Stored) -> bool) -> Result<(), Trouble> {
        let (sql, values) = filter.statement();
        let mut statement = self.connection.prepare(&sql)?;
        let mut rows = statement.query(rusqlite::params_from_iter(values))?;
        while let Some(row) = rows.next()? {
            if !take(stored(row, &mut self.codec)?) {
                break;
            }
        }
        Ok(())
    }

    /// The records that a filter asks for, oldest first.
    ///
    /// # Errors
    /// As [`Reader::each`].
    pub fn records(&mut self, filter: &RecordFilter) -> Result<Vec<Stored>, Trouble> {
        let mut records = Vec::new();
        self.each(filter, |record| {
            records.push(record);
            true
        })?;
        Ok(records)
    }

    /// A page of one terminal's transitions, oldest first: the last `count` of them, or the last before another one.
    ///
    /// # Errors
    /// As [`Reader::each`].
    pub fn transitions(
        &mut self,
        key: &TerminalKey,
        before: Option<RecordId>,
        count: u32,
    ) -> Result<Vec<Stored>, Trouble> {
        let kinds = vec![Kind::Transition];
        let terminals = Some(vec![key.clone()]);
        self.records(&RecordFilter { terminals, before, kinds, limit: Some(count), ..RecordFilter::default() })
    }

    /// A screen as it was; `None` when it was let go.
    ///
    /// # Errors
    /// The file cannot be read, or what is stored is no screen.
    pub fn screen(&mut self, id: ScreenId) -> Result<Option<Screen>, Trouble> {
        let sql = "SELECT body FROM screens WHERE id = ?1";
        let body: Option<Vec<u8>> =
            self.connection.prepare_cached(sql)?.query_row([id.0], |row| row.get(0)).optional()?;
        body.map(|body| self.codec.unpack_screen(&body)).transpose()
    }

    /// When a terminal was watched by any process, within an interval, by beginning. Who says from time to time that it
    /// still watches, and lives, watches until the end of the interval, which is not to be later than now.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn watched(
        &self,
        key: &TerminalKey,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<Vec<(Timestamp, Timestamp)>, Trouble> {
        let Columns { host, socket, pane, pid, .. } = Columns::of(key);
        let sql = "SELECT w.started, w.seen, iif(w.ended IS NULL AND w.seen > ?7, w.owner, NULL)
                   FROM watches w JOIN terminals n ON n.id = w.terminal
                   WHERE n.host = ?1 AND n.socket = ?2 AND n.pane = ?3 AND n.pid = ?4
                     AND w.started < ?6 AND (w.seen >= ?5 OR w.ended IS NULL) ORDER BY w.started";
        let mut statement = self.connection.prepare_cached(sql)?;
        let values = params![host, socket, pane, pid, from.as_millis(), to.as_millis(), (to - LEASE).as_millis()];
        let rows = statement.query_map(values, |row| {
            let (started, seen) = (Timestamp::from_millis(row.get(0)?), Timestamp::from_millis(row.get(1)?));
            let watches = row.get::<_, Option<String>>(2)?.is_some_and(|owner| !Owner::has_ended(&owner));
            Ok((started, if watches { seen.max(to) } else { seen }))
        })?;
        let watched = rows.collect::<Result<Vec<_>, _>>()?;
        Ok(watched.into_iter().filter(|(_, end)| *end >= from).collect())
    }

    /// What the time line of a terminal is drawn from ([`super::timeline`]), up to a time: its transitions, and of a task
    /// its events, from `since` on with the one before, or all of them, and when it was watched.
    ///
    /// # Errors
    /// The file cannot be read, or something in it is no record.
    pub fn line(&mut self, key: &TerminalKey, since: Option<Timestamp>, until: Timestamp) -> Result<Line, Trouble> {
        let Columns { host, socket, pane, pid, .. } = Columns::of(key);
        let since = since.map_or(i64::MIN, Timestamp::as_millis);
        let sql = "WITH one AS (SELECT id FROM terminals WHERE host = ?1 AND socket = ?2 AND pane = ?3 AND pid = ?4)
                   SELECT r.at, t.summary, t.turn_ended, iif(r.kind = 'task_event', r.document, NULL)
                   FROM records r LEFT JOIN transitions t ON t.record = r.id
                   WHERE r.terminal = (SELECT id FROM one) AND r.kind IN ('transition', 'task_event') AND r.at < ?6
                     AND r.at >= coalesce((SELECT max(r.at) FROM records r WHERE r.terminal = (SELECT id FROM one)
                                           AND r.kind IN ('transition', 'task_event') AND r.at < ?5), ?5)
                   ORDER BY r.at, r.id";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(params![host, socket, pane, pid, since, until.as_millis()])?;
        let mut points = Vec::new();
        // The same few come again and again.
        let mut summaries: HashMap<String, Summary> = HashMap::new();
        while let Some(row) = rows.next()? {
            let at = Timestamp::from_millis(row.get(0)?);
            if let Some(document) = row.get_ref(3)?.as_blob_or_null().map_err(|_| Trouble::Damaged)? {
                let document = self.codec.unpack_document(document)?;
                // An event that another version wrote says nothing of who had the turn.
                if let Ok(event) = serde_json::from_str::<TaskRecord>(&document) {
                    points.push(Point::of_task_event(at, &event.happening, &event.state));
                }
                continue;
            }
            let words = row.get_ref(1)?.as_str().map_err(|_| Trouble::Damaged)?;
            let summary = match summaries.get(words) {
                Some(known) => known,
                None => summaries.entry(words.to_owned()).or_insert(read_summary(words).ok_or(Trouble::Damaged)?),
            };
            let turn_ended = row.get::<_, Option<i64>>(2)?.map(Timestamp::from_millis);
            points.push(Point { at, holder: Holder::of(summary), result: summary.result, turn_ended });
        }
        drop(rows);
        drop(statement);
        Ok(Line { points, watched: self.watched(key, Timestamp::from_millis(since), until)? })
    }

    /// The last prompts that were sent, newest first, each text once: to one terminal, or to any.
    ///
    /// # Errors
    /// As [`Reader::each`].
    pub fn prompts(&mut self, key: Option<&TerminalKey>, count: usize) -> Result<Vec<String>, Trouble> {
        let terminals = key.map(|key| vec![key.clone()]);
        // Some of the inputs are keys and answers, and some are the same text again.
        let limit = u32::try_from(count.saturating_mul(8)).ok();
        let mut inputs =
            self.records(&RecordFilter { terminals, kinds: vec![Kind::Input], limit, ..RecordFilter::default() })?;
        let mut prompts: Vec<String> = Vec::new();
        while let Some(input) = inputs.pop() {
            if let Body::Input(StoredInput { sent: Sent::Prompt { text }, .. }) = input.body
                && prompts.len() < count
                && !prompts.contains(&text)
            {
                prompts.push(text);
            }
        }
        Ok(prompts)
    }

    /// The number of the last record; 0 where there is none.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn last_record(&self) -> Result<RecordId, Trouble> {
        let sql = "SELECT coalesce(max(id), 0) FROM records";
        Ok(self.connection.prepare_cached(sql)?.query_row([], |row| row.get(0).map(RecordId))?)
    }

    /// The inputs that were written after a record, in that order.
    ///
    /// # Errors
    /// As [`Reader::each`].
    pub(super) fn inputs_after(&mut self, after: RecordId) -> Result<Vec<Stored>, Trouble> {
        // The plus keeps SQLite from the index of kinds, which knows nothing of numbers.
        let sql = format!("SELECT {COLUMNS} FROM {TABLES} WHERE r.id > ?1 AND +r.kind = 'input' ORDER BY r.id");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query([after.0])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(stored(row, &mut self.codec)?);
        }
        Ok(found)
    }

    /// The number of the last submission, from which [`Reader::submissions_after`] goes on.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn last_submission(&self) -> Result<i64, Trouble> {
        let sql = "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'submissions'), 0)";
        Ok(self.connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
    }

    /// What any process put into a terminal after a submission, oldest first.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn submissions_after(&mut self, number: i64) -> Result<Vec<Submission>, Trouble> {
        let sql = "SELECT n.host, n.socket, n.pane, n.pid, s.id, s.at, i.owner, i.sender, r.document
                   FROM submissions s JOIN inputs i ON i.record = s.input JOIN records r ON r.id = i.record
                   JOIN terminals n ON n.id = r.terminal WHERE s.id > ?1 ORDER BY s.id";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([number])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let document = row.get_ref(8)?.as_blob().map_err(|_| Trouble::Damaged)?;
            let document = self.codec.unpack_document(document)?;
            found.push(Submission {
                number: row.get(4)?,
                at: Timestamp::from_millis(row.get(5)?),
                key: key(row, 0)?,
                owner: row.get(6)?,
                sender: row.get(7)?,
                sent: serde_json::from_str(&document).map_err(|_| Trouble::Damaged)?,
            });
        }
        Ok(found)
    }

    /// A number that changes whenever another connection wrote to the file; asking costs next to nothing.
    pub(super) fn data_version(&self) -> Result<i64, Trouble> {
        Ok(self.connection.pragma_query_value(None, "data_version", |row| row.get(0))?)
    }
}

/// A record from a row of [`COLUMNS`].
pub(super) fn stored(row: &Row<'_>, codec: &mut Codec) -> Result<Stored, Trouble> {
    let at = Timestamp::from_millis(row.get(1)?);
    let kind: String = row.get(2)?;
    let document = codec.unpack_document(row.get_ref(4)?.as_blob().map_err(|_| Trouble::Damaged)?)?;
    let body = match body(row, &kind, at, &document)? {
        Some(body) => body,
        None => Body::Other { kind, document: serde_json::from_str(&document).map_err(|_| Trouble::Damaged)? },
    };
    let has_terminal = row.get_ref(5)? != rusqlite::types::ValueRef::Null;
    Ok(Stored {
        id: RecordId(row.get(0)?),
        at,
        key: if has_terminal { Some(key(row, 5)?) } else { None },
        name: row.get(3)?,
        body,
    })
}

/// What a kind of record has of its own; `None` when this version cannot read it.
fn body(row: &Row<'_>, kind: &str, at: Timestamp, document: &str) -> rusqlite::Result<Option<Body>> {
    Ok(match Kind::of_word(kind) {
        Some(Kind::Transition) => {
            let summary = row.get::<_, Option<String>>(9)?.as_deref().and_then(read_summary);
            let (note, screen) = (row.get(10)?, row.get::<_, Option<i64>>(11)?.map(ScreenId));
            summary.zip(parsed::<TransitionDocument<'_>>(document)).map(|(summary, document)| {
                let (changed, evidence) = (document.changed.into_owned(), document.evidence.into_owned());
                let transition = Transition { at, changed, summary, note, evidence };
                let (state, events) = (document.state.map(Cow::into_owned), document.events.into_owned());
                Body::Transition(StoredTransition { transition, state, events, screen })
            })
        }
        Some(Kind::Input) => {
            let (sender, outcome, detail) = (row.get(12)?, row.get(13)?, row.get(14)?);
            let ended_at = row.get::<_, Option<i64>>(15)?.map(Timestamp::from_millis);
            parsed(document).map(|sent| Body::Input(StoredInput { sender, sent, outcome, detail, ended_at }))
        }
        Some(Kind::TaskEvent) => parsed(document).map(Body::TaskEvent),
        Some(Kind::FollowUp) => parsed(document).map(Body::FollowUp),
        Some(Kind::Action) => parsed(document).map(Body::Action),
        None => None,
    })
}

fn parsed<'a, T: serde::Deserialize<'a>>(document: &'a str) -> Option<T> {
    serde_json::from_str(document).ok()
}

fn key(row: &Row<'_>, first: usize) -> rusqlite::Result<TerminalKey> {
    let columns = Columns {
        host: row.get(first)?,
        socket: row.get(first + 1)?,
        pane: row.get(first + 2)?,
        pid: row.get(first + 3)?,
        instance: None,
    };
    Ok(columns.key())
}
