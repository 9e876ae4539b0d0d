//! The reading side: what the command line and the drill-down ask for. It has its own connection, and neither waits
//! for a writer nor makes one wait.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Params, Row, params};

use super::encoding::Codec;
use super::file::{self, rows};
use super::identity::{Columns, LEASE, Owner, stored_server, terminal_row};
use super::summary::{self, ServerSummary};
use super::usage::{self, SessionUsage};
use crate::fleet::{ServerId, TerminalKey};
use crate::record::timeline::{Point, TimelineData};
use crate::record::{
    Body, HistoryError, Kind, OperatorAction, RecordId, ScreenId, Sent, Stored, StoredInput, StoredTransition,
    TaskRecord, TransitionDocument, read_summary,
};
use crate::screen::Screen;
use crate::state::{KeptNote, LEFT, LEFT_UNWATCHED, Note, Summary, Transition};
use crate::time::Timestamp;

/// Selects records; absent fields do not restrict.
#[derive(Clone, Debug, Default)]
pub struct RecordFilter {
    /// Only these terminals; `None` for all records, with or without a terminal.
    pub terminals: Option<Vec<TerminalKey>>,
    /// From this time on.
    pub since: Option<Timestamp>,
    /// Before this time.
    pub until: Option<Timestamp>,
    /// Records before this one, for paging backwards.
    pub before: Option<RecordId>,
    /// Empty means all kinds.
    pub kinds: Vec<Kind>,
    /// Only this many of the newest; `None` for all.
    pub limit: Option<u32>,
}

impl RecordFilter {
    /// The clauses after [`SELECT`] for the records, oldest first.
    fn conditions(&self, connection: &Connection) -> Result<String, HistoryError> {
        let mut wheres = vec!["TRUE".to_owned()];
        if let Some(terminals) = &self.terminals {
            let rows = terminals.iter().map(|key| terminal_row(connection, key));
            let rows = rows.filter_map(Result::transpose).collect::<Result<Vec<i64>, _>>()?;
            wheres.push(match rows[..] {
                // With `=` the index gives its records in their order, so that a page of it costs no more than a page.
                [row] => format!("r.terminal = {row}"),
                _ => format!("r.terminal IN ({})", listed(&rows)),
            });
        }
        wheres.extend(self.since.map(|since| format!("r.at >= {}", since.as_millis())));
        wheres.extend(self.until.map(|until| format!("r.at < {}", until.as_millis())));
        if let Some(RecordId(before)) = self.before {
            // Numbers follow the writing, times the observation, and pages are in the order of the times.
            wheres.push(format!("(r.at, r.id) < ((SELECT at FROM records WHERE id = {before}), {before})"));
        }
        if !self.kinds.is_empty() {
            let kinds: Vec<String> = self.kinds.iter().map(|kind| format!("'{kind}'")).collect();
            wheres.push(format!("r.kind IN ({})", kinds.join(", ")));
            if !self.kinds.contains(&Kind::Transition) {
                // It follows from the above, but has to be said for the index of what is rare to be used.
                wheres.push("r.kind <> 'transition'".to_owned());
            }
        }
        let wheres = wheres.join(" AND ");
        Ok(match self.limit {
            None => format!("WHERE {wheres} ORDER BY r.at, r.id"),
            // The newest ones are chosen by number first, so that no document is read in vain.
            Some(limit) => format!(
                "WHERE r.id IN (SELECT r.id FROM records r WHERE {wheres} ORDER BY r.at DESC, r.id DESC LIMIT {limit})
                 ORDER BY r.at, r.id"
            ),
        })
    }
}

/// Numbers as SQL has them in a list.
pub(super) fn listed(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
}

/// A terminal that the history knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTerminal {
    pub key: TerminalKey,
    /// Its latest name.
    pub name: String,
    /// When something was last written of it.
    pub last: Option<Timestamp>,
}

/// An open history.
pub struct Reader {
    pub(super) connection: Connection,
    pub(super) codec: Codec,
}

impl Reader {
    /// Opens a history to read.
    ///
    /// # Errors
    /// There is none, it cannot be read, or a newer fleetwatch wrote it.
    pub fn open(path: &Path) -> Result<Self, HistoryError> {
        let connection = file::open_to_read(path)?;
        Ok(Self { connection, codec: Codec::new()? })
    }

    /// Every terminal, by its latest record, newest first.
    pub fn terminals(&self) -> Result<Vec<StoredTerminal>, HistoryError> {
        let sql = "SELECT n.host, n.socket, n.pane, n.pid, n.name,
                          (SELECT max(at) FROM records WHERE terminal = n.id) AS last
                   FROM terminals n ORDER BY last DESC NULLS LAST, n.id DESC";
        rows(&self.connection, sql, [], |row| {
            Ok(StoredTerminal { key: Columns::read(row, 0)?.key(), name: row.get(4)?, last: row.get(5)? })
        })
    }

    /// The terminals of which some record bears a name, whatever they are called by now.
    pub fn named(&self, name: &str) -> Result<Vec<TerminalKey>, HistoryError> {
        let sql = "SELECT host, socket, pane, pid FROM terminals n
                   WHERE EXISTS (SELECT 1 FROM records WHERE terminal = n.id AND name = ?1)";
        rows(&self.connection, sql, [name], |row| Ok(Columns::read(row, 0)?.key()))
    }

    /// Turns off most caching, for a reader of new records, which needs no page twice.
    pub(super) fn keep_little(&self) -> Result<(), HistoryError> {
        Ok(self.connection.pragma_update(None, "cache_size", -256)?)
    }

    /// How many records there are, and how many bytes are in use for them.
    pub fn extent(&self) -> Result<(u64, u64), HistoryError> {
        let count: i64 = self.connection.query_row("SELECT count(*) FROM records", [], |row| row.get(0))?;
        Ok((count.unsigned_abs(), file::used(&self.connection)?))
    }

    /// The number of the last transition or event of each terminal of a server that has not left it, as far as is known.
    pub(super) fn left_behind(&self, server: &ServerId) -> Result<Vec<RecordId>, HistoryError> {
        let (host, socket) = stored_server(server);
        let sql = "SELECT r.id FROM records r LEFT JOIN transitions t ON t.record = r.id
                   WHERE r.id IN (
                        SELECT (SELECT id FROM records WHERE terminal = n.id AND kind IN ('transition', 'task_event')
                                ORDER BY at DESC, id DESC LIMIT 1)
                        FROM terminals n WHERE n.host = ?1 AND n.socket = ?2)
                    AND (t.note IS NULL OR t.note NOT IN (?3, ?4)) ORDER BY r.id";
        rows(&self.connection, sql, params![host, socket, LEFT, LEFT_UNWATCHED], |row| row.get(0).map(RecordId))
    }

    /// Passes the records of a filter, oldest first, to `take` until it returns `false`.
    pub fn each(&mut self, filter: &RecordFilter, take: impl FnMut(Stored) -> bool) -> Result<(), HistoryError> {
        let tail = filter.conditions(&self.connection)?;
        each(&self.connection, &mut self.codec, &tail, [], take)
    }

    /// The records of a filter, oldest first.
    pub fn records(&mut self, filter: &RecordFilter) -> Result<Vec<Stored>, HistoryError> {
        let tail = filter.conditions(&self.connection)?;
        self.select(&tail, [])
    }

    /// The records that a condition and an order lead to.
    pub(super) fn select(&mut self, tail: &str, values: impl Params) -> Result<Vec<Stored>, HistoryError> {
        select(&self.connection, &mut self.codec, tail, values)
    }

    /// The operator's acts and inputs at a terminal since a time. SQLite plans this once for all terminals.
    pub(super) fn done_since(&mut self, key: &TerminalKey, since: Timestamp) -> Result<Vec<Stored>, HistoryError> {
        let Some(terminal) = terminal_row(&self.connection, key)? else { return Ok(Vec::new()) };
        let tail = "WHERE r.terminal = ?1 AND r.at >= ?2 AND r.kind IN ('action', 'input') ORDER BY r.at, r.id";
        self.select(tail, params![terminal, since])
    }

    /// The given tasks that were killed through fleetwatch since a time, with the reason; oldest first.
    pub(super) fn task_kills(
        &mut self,
        keys: Vec<TerminalKey>,
        since: Timestamp,
    ) -> Result<Vec<(TerminalKey, String)>, HistoryError> {
        let (terminals, kinds) = (Some(keys), vec![Kind::Action]);
        let records =
            self.records(&RecordFilter { terminals, since: Some(since), kinds, ..RecordFilter::default() })?;
        let kill = |record: Stored| match record.body {
            Body::Action(OperatorAction::Kill { reason }) => Some((record.key?, reason)),
            _ => None,
        };
        Ok(records.into_iter().filter_map(kill).collect())
    }

    /// The last `count` transitions of a terminal, oldest first.
    pub fn transitions(&mut self, key: &TerminalKey, count: u32) -> Result<Vec<Stored>, HistoryError> {
        let (terminals, kinds) = (Some(vec![key.clone()]), vec![Kind::Transition]);
        self.records(&RecordFilter { terminals, kinds, limit: Some(count), ..RecordFilter::default() })
    }

    /// A stored screen; `None` if it is no longer kept.
    pub fn screen(&mut self, id: ScreenId) -> Result<Option<Screen>, HistoryError> {
        self.packed_screen(id)?.map(|body| self.codec.unpack_screen(&body)).transpose()
    }

    /// The same screen, still packed.
    pub(super) fn packed_screen(&self, id: ScreenId) -> Result<Option<Vec<u8>>, HistoryError> {
        let sql = "SELECT body FROM screens WHERE id = ?1";
        Ok(self.connection.prepare_cached(sql)?.query_row([id.0], |row| row.get(0)).optional()?)
    }

    /// When any process watched a terminal within an interval, by beginning. A living process that regularly records that it
    /// watches counts until the end of the interval, which must not be later than now.
    pub fn watched(
        &self,
        key: &TerminalKey,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<Vec<(Timestamp, Timestamp)>, HistoryError> {
        let Some(terminal) = terminal_row(&self.connection, key)? else { return Ok(Vec::new()) };
        watched(&self.connection, terminal, from, to)
    }

    /// What the time line of a terminal is drawn from ([`super::timeline`]), up to a time: its transitions, and of a task
    /// its events, from `since` on with the one before, or all of them, and when it was watched.
    pub fn line(
        &mut self,
        key: &TerminalKey,
        since: Option<Timestamp>,
        until: Timestamp,
    ) -> Result<TimelineData, HistoryError> {
        let Some(terminal) = terminal_row(&self.connection, key)? else { return Ok(TimelineData::default()) };
        let watched = self.watched(key, since.unwrap_or(LONG_AGO), until)?;
        Ok(TimelineData { points: points(&self.connection, &mut self.codec, terminal, since, until)?, watched })
    }

    /// Notes made or removed after a number, each with its own number; oldest first.
    pub(super) fn notes_after(&self, number: i64) -> Result<Vec<(i64, KeptNote)>, HistoryError> {
        let sql = "SELECT t.host, t.socket, t.pane, t.pid, n.id, n.instance, n.process, n.name, n.label
                   FROM notes n JOIN terminals t ON t.id = n.terminal WHERE n.id > ?1 ORDER BY n.id";
        rows(&self.connection, sql, [number], |row| {
            let columns = Columns { instance: row.get(5)?, ..Columns::read(row, 0)? };
            let note = Note { name: row.get(7)?, label: row.get(8)? };
            Ok((row.get(4)?, KeptNote { key: columns.key(), process: row.get(6)?, note }))
        })
    }

    /// The notes that there are.
    pub fn notes(&self) -> Result<Vec<KeptNote>, HistoryError> {
        let notes = self.notes_after(0)?.into_iter().map(|(_, kept)| kept);
        Ok(notes.filter(|kept| !kept.note.is_empty()).collect())
    }

    /// The summary of every server that somebody watches now.
    pub fn summaries(&self, now: Timestamp) -> Result<Vec<ServerSummary>, HistoryError> {
        let sql = "SELECT server, at, body, owner FROM standings WHERE at > ?1 ORDER BY server";
        let read = |row: &rusqlite::Row<'_>| {
            let (server, at): (String, _) = (row.get(0)?, row.get(1)?);
            let (body, owner): (String, String) = (row.get(2)?, row.get(3)?);
            let (is_left, is_over) = (owner == summary::LEFT, Owner::has_ended(&owner));
            // A row that another version of fleetwatch wrote in another way says nothing to this one. Of servers by other
            // words it may say once more what is said already.
            let body: Option<ServerSummary> =
                serde_json::from_str(&body).ok().filter(|_| summary::is_word(&server) && !is_over);
            Ok(body.map(|body| ServerSummary { server, at, is_left, ..body }))
        };
        Ok(rows(&self.connection, sql, [now - LEASE], read)?.into_iter().flatten().collect())
    }

    /// What all agents had used up to a time, hour by hour in each session of each terminal, with the terminal's row.
    pub(super) fn usage(&self, until: Timestamp) -> Result<Vec<(i64, SessionUsage)>, HistoryError> {
        let sql = "SELECT hour, session, tool, label, tokens_in, tokens_out, cost, terminal,
                        first_in, first_out, first_cost FROM usage
                   WHERE hour * ?2 < ?1 ORDER BY terminal, session, hour";
        // The row before mostly has the same words.
        let mut known: [Arc<str>; 3] = Default::default();
        rows(&self.connection, sql, params![until, usage::HOUR], |row| {
            let mut word = |place: usize| -> rusqlite::Result<Option<Arc<str>>> {
                let Some(word) = row.get_ref(place)?.as_str_or_null()? else { return Ok(None) };
                let known = &mut known[place - 1];
                if **known != *word {
                    *known = word.into();
                }
                Ok(Some(Arc::clone(known)))
            };
            let hour: i64 = row.get(0)?;
            let count = |place| -> rusqlite::Result<Option<u64>> {
                Ok(row.get::<_, Option<i64>>(place)?.and_then(|count| u64::try_from(count).ok()))
            };
            let used = SessionUsage {
                hour: usage::begin_of(hour),
                session: word(1)?.unwrap_or_default(),
                tool: word(2)?.unwrap_or_default(),
                label: word(3)?,
                tokens_in: count(4)?,
                tokens_out: count(5)?,
                cost_usd: row.get(6)?,
                before: (count(8)?, count(9)?, row.get(10)?),
            };
            Ok((row.get(7)?, used))
        })
    }

    /// The last prompts that were sent, newest first, each text once: to one terminal, or to any.
    pub fn prompts(&mut self, key: Option<&TerminalKey>, count: usize) -> Result<Vec<String>, HistoryError> {
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

    /// The number of the last row of a table; 0 if it is empty.
    pub(super) fn newest(&self, table: &str) -> Result<i64, HistoryError> {
        let sql = format!("SELECT coalesce(max(id), 0) FROM {table}");
        Ok(self.connection.prepare_cached(&sql)?.query_row([], |row| row.get(0))?)
    }

    /// A number that changes whenever another connection wrote to the file; asking costs next to nothing.
    pub(super) fn data_version(&self) -> Result<i64, HistoryError> {
        Ok(self.connection.pragma_query_value(None, "data_version", |row| row.get(0))?)
    }
}

/// The notes in a history; none if it cannot be read, which is reported elsewhere.
pub fn notes_in(path: Option<&Path>) -> Vec<KeptNote> {
    path.and_then(|path| Reader::open(path).ok()?.notes().ok()).unwrap_or_default()
}

/// The columns of a record with all that belongs to its kind, and where they come from.
const SELECT: &str = "SELECT r.id, r.at, r.kind, r.name, r.document, n.host, n.socket, n.pane, n.pid,
                             t.summary, t.note, t.screen, i.sender, i.outcome, i.detail, i.ended_at
                      FROM records r LEFT JOIN terminals n ON n.id = r.terminal
                           LEFT JOIN transitions t ON t.record = r.id LEFT JOIN inputs i ON i.record = r.id";

/// Before all that can be on record.
pub(super) const LONG_AGO: Timestamp = Timestamp::from_millis(i64::MIN);

/// Hands on the records that a condition and an order lead to, until `take` says that it has enough.
fn each(
    connection: &Connection,
    codec: &mut Codec,
    tail: &str,
    values: impl Params,
    mut take: impl FnMut(Stored) -> bool,
) -> Result<(), HistoryError> {
    let mut statement = connection.prepare_cached(&format!("{SELECT} {tail}"))?;
    let mut rows = statement.query(values)?;
    while let Some(row) = rows.next()? {
        if !take(stored(row, codec)?) {
            break;
        }
    }
    Ok(())
}

/// The records that a condition and an order lead to.
pub(super) fn select(
    connection: &Connection,
    codec: &mut Codec,
    tail: &str,
    values: impl Params,
) -> Result<Vec<Stored>, HistoryError> {
    let mut found = Vec::new();
    each(connection, codec, tail, values, |record| {
        found.push(record);
        true
    })?;
    Ok(found)
}

/// A record from a row of [`SELECT`].
fn stored(row: &Row<'_>, codec: &mut Codec) -> Result<Stored, HistoryError> {
    let at = row.get(1)?;
    let kind: String = row.get(2)?;
    let document = codec.unpack_document(row.get_ref(4)?.as_blob().map_err(|_| HistoryError::Damaged)?)?;
    let body = match body(row, &kind, at, &document)? {
        Some(body) => body,
        None => Body::Other { kind, document: serde_json::from_str(&document).map_err(|_| HistoryError::Damaged)? },
    };
    let has_terminal = row.get_ref(5)? != rusqlite::types::ValueRef::Null;
    Ok(Stored {
        id: RecordId(row.get(0)?),
        at,
        key: if has_terminal { Some(Columns::read(row, 5)?.key()) } else { None },
        name: row.get(3)?,
        body,
    })
}

/// The body of a record; `None` if this version cannot read it.
fn body(row: &Row<'_>, kind: &str, at: Timestamp, document: &str) -> rusqlite::Result<Option<Body>> {
    Ok(match Kind::of_word(kind) {
        Some(Kind::Transition) => {
            let summary = row.get::<_, Option<String>>(9)?.as_deref().and_then(read_summary);
            let (note, screen) = (row.get(10)?, row.get::<_, Option<i64>>(11)?.map(ScreenId));
            summary.zip(parsed::<TransitionDocument<'_>>(document)).map(|(summary, document)| {
                let (changed, evidence) = (document.changed.into_owned(), document.evidence.as_ref().into());
                let transition = Transition { at, changed, summary, note, evidence };
                let (state, events) = (document.state.map(Cow::into_owned), document.events.into_owned());
                Body::Transition(StoredTransition { transition, state, events, screen })
            })
        }
        Some(Kind::Input) => {
            let (sender, outcome, detail) = (row.get(12)?, row.get(13)?, row.get(14)?);
            let ended_at = row.get(15)?;
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

/// As [`Reader::watched`].
pub(super) fn watched(
    connection: &Connection,
    terminal: i64,
    from: Timestamp,
    to: Timestamp,
) -> Result<Vec<(Timestamp, Timestamp)>, HistoryError> {
    let sql = "SELECT started, seen, iif(ended IS NULL AND seen > ?4, owner, NULL) FROM watches
               WHERE terminal = ?1 AND started < ?3 AND (seen >= ?2 OR ended IS NULL) ORDER BY started";
    let mut watched = rows(connection, sql, params![terminal, from, to, to - LEASE], |row| {
        let (started, seen): (_, Timestamp) = (row.get(0)?, row.get(1)?);
        let watches = row.get::<_, Option<String>>(2)?.is_some_and(|owner| !Owner::has_ended(&owner));
        Ok((started, if watches { seen.max(to) } else { seen }))
    })?;
    watched.retain(|(_, end)| *end >= from);
    Ok(watched)
}

/// The transitions of a terminal, and of a task its events, before a time, from another one on with the one before.
pub(super) fn points(
    connection: &Connection,
    codec: &mut Codec,
    terminal: i64,
    since: Option<Timestamp>,
    until: Timestamp,
) -> Result<Vec<Point>, HistoryError> {
    // Of a transition the record itself, with its document, is not read: its time is in the index.
    let sql = "SELECT r.at, t.summary, t.turn_ended, iif(t.record IS NULL, r.document, NULL)
               FROM records r LEFT JOIN transitions t ON t.record = r.id
               WHERE r.terminal = ?1 AND (t.record IS NOT NULL OR r.kind = 'task_event') AND r.at < ?3
                 AND r.at >= coalesce((SELECT max(at) FROM records WHERE terminal = ?1
                                       AND kind IN ('transition', 'task_event') AND at < ?2), ?2)
               ORDER BY r.at, r.id";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![terminal, since.unwrap_or(LONG_AGO), until])?;
    let mut points = Vec::new();
    // The same few come again and again.
    let mut summaries: HashMap<String, Summary> = HashMap::new();
    while let Some(row) = rows.next()? {
        let at = row.get(0)?;
        if let Some(document) = row.get_ref(3)?.as_blob_or_null().map_err(|_| HistoryError::Damaged)? {
            let document = codec.unpack_document(document)?;
            // An event that another version wrote says nothing of who had the turn.
            if let Ok(event) = serde_json::from_str::<TaskRecord>(&document) {
                points.push(Point::of_task_event(at, &event.happening, &event.state));
            }
            continue;
        }
        let words = row.get_ref(1)?.as_str().map_err(|_| HistoryError::Damaged)?;
        let summary = match summaries.get(words) {
            Some(known) => known,
            None => summaries.entry(words.to_owned()).or_insert(read_summary(words).ok_or(HistoryError::Damaged)?),
        };
        points.push(Point::of(at, summary, row.get(2)?));
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{PaneId, ServerId};

    #[test]
    fn a_page_costs_what_is_on_it_however_long_the_history_is() {
        let mut connection = Connection::open_in_memory().unwrap();
        file::migrate(&mut connection).unwrap();
        connection.execute_batch("INSERT INTO terminals VALUES (1, '', 'default', 1, 1, 't1')").unwrap();
        // How SQLite finds what a filter asks for.
        let plan = |filter: &RecordFilter| {
            let sql = format!("EXPLAIN QUERY PLAN {SELECT} {}", filter.conditions(&connection).unwrap());
            let mut statement = connection.prepare(&sql).unwrap();
            let rows = statement.query_map([], |row| row.get::<_, String>(3)).unwrap();
            rows.map(Result::unwrap).collect::<Vec<_>>().join("\n")
        };
        let key = TerminalKey { server: ServerId::default(), pane: PaneId(1), pid: 1, instance: Default::default() };
        let page = RecordFilter { limit: Some(50), ..RecordFilter::default() };
        let of_one = RecordFilter { terminals: Some(vec![key]), ..page.clone() };
        let earlier = RecordFilter { before: Some(RecordId(7)), ..of_one.clone() };
        let rare = RecordFilter { kinds: vec![Kind::Action], ..page.clone() };
        for (filter, index) in [
            (page, "INDEX records_by_time"),
            (of_one, "INDEX records_by_terminal (terminal=?)"),
            (earlier, "INDEX records_by_terminal (terminal=? AND at<?)"),
            (rare, "INDEX records_by_kind (kind=?)"),
        ] {
            let plan = plan(&filter);
            assert!(plan.contains(index), "{filter:?}:\n{plan}");
            // What is on the page is sorted, and nothing else.
            assert_eq!(plan.matches("TEMP B-TREE").count(), 1, "{filter:?}:\n{plan}");
        }
    }
}
