//! Follow-ups are made from the history, which has each event once, whichever process watched. How far it was read is stored
//! together with what was queued, so that the next reader neither skips an event nor reports it twice.

use rusqlite::{Connection, OptionalExtension, params};

use super::encoding::Codec;
use super::file::rows;
use super::intents::Intents;
use super::reader;
use crate::follow_up::{COUNTED, FollowUpEvent, FollowUpRule, MessageEvent, Wanted, chain, closes_a_loop, wanted};
use crate::record::{Body, IntentId, Stored, StoredTransition, Trouble};
use crate::state::{LEFT, LEFT_UNWATCHED, RETRACTION_UNDONE, State, Transition};
use crate::time::{Span, Timestamp};

/// How long an agent's state must last before it is reported: a dialog may be half drawn, a success premature.
const HOLD: Span = Span::from_secs(1);
/// Records that are read in one transaction.
const BATCH: i64 = 256;

/// An event that is not reported to an agent, because that would close a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    pub source: String,
    pub to: String,
    /// Why that is one, in words.
    pub why: String,
}

impl Intents {
    /// Queues what rules ask to report of what was written since the last call, by this process or another one; of what was
    /// written before the first call nothing. Without rules the next call with some is the first one.
    ///
    /// # Errors
    /// The file cannot be read or written; what was not queued is queued by the next call.
    pub fn take_in(&mut self, rules: &[FollowUpRule], now: Timestamp) -> Result<Vec<Stopped>, Trouble> {
        let Self { connection, codec, .. } = self;
        let newest = "SELECT coalesce(max(id), 0) FROM records";
        let newest: i64 = connection.prepare_cached(newest)?.query_row([], |row| row.get(0))?;
        let read_to = "SELECT record FROM follow_up_cursor";
        let read_to: Option<i64> = connection.prepare_cached(read_to)?.query_row([], |row| row.get(0)).optional()?;
        match (read_to, rules.is_empty()) {
            (None, true) => return Ok(Vec::new()),
            (Some(read_to), false) if read_to == newest => return Ok(Vec::new()),
            _ => {}
        }
        let transaction = connection.transaction()?;
        if rules.is_empty() {
            transaction.execute("DELETE FROM follow_up_cursor", [])?;
            transaction.commit()?;
            return Ok(Vec::new());
        }
        transaction.execute("INSERT OR IGNORE INTO follow_up_cursor VALUES (1, ?1)", [newest])?;
        let read_to = transaction.query_row("SELECT record FROM follow_up_cursor", [], |row| row.get(0))?;
        let mut intake = Intake { connection: &transaction, codec, rules, now, stopped: Vec::new() };
        let last = intake.read(read_to)?;
        let stopped = intake.stopped;
        transaction.execute("UPDATE follow_up_cursor SET record = ?1", [last])?;
        transaction.commit()?;
        Ok(stopped)
    }

    /// Queues an event for an agent, once. It joins a message that already waits for the agent, so that several events become
    /// one message; otherwise it starts a new one. Returns the message's number.
    ///
    /// # Errors
    /// The file cannot be written; nothing was queued.
    pub fn queue(&mut self, wanted: &Wanted, now: Timestamp) -> Result<IntentId, Trouble> {
        let transaction = self.connection.transaction()?;
        let id = queue(&transaction, wanted, now)?;
        transaction.commit()?;
        Ok(id)
    }
}

/// One transaction in which records become messages.
struct Intake<'a> {
    connection: &'a Connection,
    codec: &'a mut Codec,
    rules: &'a [FollowUpRule],
    now: Timestamp,
    stopped: Vec<Stopped>,
}

impl Intake<'_> {
    /// Reads the records after a number; returns the number of the last one read.
    fn read(&mut self, read_to: i64) -> Result<i64, Trouble> {
        let sql = "SELECT id, kind, at, name FROM records WHERE id > ?1 ORDER BY id LIMIT ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(params![read_to, BATCH])?;
        let mut last = read_to;
        while let Some(row) = rows.next()? {
            let (id, at): (i64, Timestamp) = (row.get(0)?, row.get(2)?);
            let (kind, name): (String, String) = (row.get(1)?, row.get(3)?);
            let is_transition = kind == "transition";
            if (is_transition || kind == "task_event") && self.rules.iter().any(|rule| rule.from.matches(&name)) {
                // A time in the future comes from a clock that was set back since.
                if is_transition && at <= self.now && self.now < at + HOLD {
                    break;
                }
                for event in self.events(id)? {
                    self.tell(id, &event)?;
                }
            }
            last = id;
        }
        Ok(last)
    }

    /// The events of a record.
    fn events(&mut self, id: i64) -> Result<Vec<FollowUpEvent>, Trouble> {
        let Some(record) = self.record("r.id = ?1", id, Timestamp::default())? else { return Ok(Vec::new()) };
        let Some(key) = record.key.clone() else { return Ok(Vec::new()) };
        let StoredTransition { transition: Transition { note, .. }, .. } = match &record.body {
            Body::Transition(transition) => transition,
            Body::TaskEvent(event) => {
                return Ok(vec![FollowUpEvent::of_task(&key, &record.name, record.at, &event.happening, &event.state)]);
            }
            _ => return Ok(Vec::new()),
        };
        match note.as_deref() {
            Some(LEFT) => return Ok(Vec::new()),
            Some(LEFT_UNWATCHED) => return Ok(vec![FollowUpEvent::of_lost(&key, &record.name, record.at)]),
            _ => {}
        }
        let Some(state) = record.body.agent() else { return Ok(Vec::new()) };
        let mut events = FollowUpEvent::of_agent(&key, state);
        // An end is reported by the transition that it makes. Later ones have it, too, and two processes that see the same
        // end one after the other have two times for it.
        let is_undone = note.as_deref().is_some_and(|note| note.contains(RETRACTION_UNDONE));
        events.retain(|event| !event.is_result() || event.at == record.at || is_undone);
        if events.is_empty() {
            return Ok(events);
        }
        match self.record(&of_same("r.id < ?1"), id, Timestamp::default())? {
            // What a first poll finds is no news.
            None => events.retain(|event| !event.is_result() && state.since_exact),
            Some(before) => {
                let needs = |state: &State| (state.attention, state.assessment.dialog.clone());
                let is_same = before.body.agent().is_some_and(|before| needs(before) == needs(state));
                events.retain(|event| event.is_result() || !is_same);
            }
        }
        let stands = self.record(&of_same("r.id >= ?1 AND r.at <= ?2"), id, record.at + HOLD)?;
        let stands =
            stands.as_ref().and_then(|last| last.body.agent()).map(|state| FollowUpEvent::of_agent(&key, state));
        let stands = stands.unwrap_or_default();
        events.retain(|event| stands.iter().any(|other| other.key == event.key));
        Ok(events)
    }

    /// The last one of the records for which a condition over an id and a time holds.
    fn record(&mut self, condition: &str, id: i64, at: Timestamp) -> Result<Option<Stored>, Trouble> {
        let tail = format!("WHERE {condition} AND ?2 NOT NULL ORDER BY r.at DESC, r.id DESC LIMIT 1");
        Ok(reader::select(self.connection, self.codec, &tail, params![id, at])?.pop())
    }

    /// Queues an event for the agents that rules name, unless that would close a loop.
    fn tell(&mut self, record: i64, event: &FollowUpEvent) -> Result<(), Trouble> {
        let led_to =
            if event.is_of_an_agent() { chain(&event.source, &self.causes(record, event)?) } else { Vec::new() };
        for wanted in wanted(self.rules, event, &led_to) {
            let sent_before = self.sent_before(&event.source, &wanted.to)?;
            if let Some(why) = closes_a_loop(&event.source, &wanted.to, &led_to, sent_before) {
                self.stopped.push(Stopped { source: event.source.clone(), to: wanted.to, why });
                continue;
            }
            queue(self.connection, &wanted, self.now)?;
        }
        Ok(())
    }

    /// The events that an agent was told between the end of its previous turn and a record.
    fn causes(&self, record: i64, event: &FollowUpEvent) -> Result<Vec<MessageEvent>, Trouble> {
        let sql = "SELECT e.body FROM outbox_events e JOIN outbox i ON i.id = e.intent
                   WHERE i.target = ?1 AND i.state IN ('attempted', 'sent', 'unknown') AND i.attempted_at <= ?2
                     AND i.attempted_at > (SELECT coalesce(max(iif(t.turn_ended < ?2, t.turn_ended, NULL)), min(r.at))
                                           FROM records r JOIN transitions t ON t.record = r.id
                                           WHERE r.terminal = (SELECT terminal FROM records WHERE id = ?3))";
        let bodies = rows(self.connection, sql, params![event.source, event.at, record], |row| row.get(0))?;
        bodies.iter().map(|body: &String| serde_json::from_str(body).map_err(|_| Trouble::Damaged)).collect()
    }

    /// How often an agent was recently told of a source.
    fn sent_before(&self, source: &str, to: &str) -> Result<u64, Trouble> {
        let sql = "SELECT count(*) FROM outbox_events e JOIN outbox i ON i.id = e.intent
                   WHERE i.target = ?1 AND e.at > ?2 AND json_extract(e.body, '$.source') = ?3";
        let since = self.now - COUNTED;
        let count: i64 =
            self.connection.prepare_cached(sql)?.query_row(params![to, since, source], |row| row.get(0))?;
        Ok(count.unsigned_abs())
    }
}

/// A condition for transitions of the terminal that the record with the id is about.
fn of_same(condition: &str) -> String {
    format!("r.terminal = (SELECT terminal FROM records WHERE id = ?1) AND r.kind = 'transition' AND {condition}")
}

/// The same in a transaction.
fn queue(connection: &Connection, wanted: &Wanted, now: Timestamp) -> Result<IntentId, Trouble> {
    let Wanted { to, key, body, keep } = wanted;
    let known = "SELECT intent FROM outbox_events WHERE key = ?1";
    if let Some(id) = connection.query_row(known, [key], |row| row.get(0)).optional()? {
        return Ok(IntentId(id));
    }
    let waiting = "SELECT id FROM outbox WHERE state = 'pending' AND target = ?1 AND recipient IS NULL
                   AND (expires IS NULL OR expires > ?2) ORDER BY id DESC LIMIT 1";
    let joined = connection.query_row(waiting, params![to, now], |row| row.get(0)).optional()?;
    let id = match joined {
        Some(id) => id,
        None => {
            let sql = "INSERT INTO outbox (target, created, expires, state) VALUES (?1, ?2, ?3, 'pending')";
            connection.execute(sql, params![to, now, (now + *keep)])?;
            connection.last_insert_rowid()
        }
    };
    let sql = "INSERT INTO outbox_events (key, intent, at, body) VALUES (?1, ?2, ?3, ?4)";
    let body = serde_json::to_string(body).map_err(|error| Trouble::Other(error.to_string()))?;
    connection.execute(sql, params![key, id, now, body])?;
    Ok(IntentId(id))
}
