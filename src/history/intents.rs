//! The outbox: messages to send later, which survive the process that queued them (SPEC §9, follow-ups).
//!
//! An intent goes from `pending` to `attempted` just before its bytes reach the terminal, and from there to its outcome.
//! Each step is one conditional write, so that only one of several processes takes it. A process that finds an attempted
//! intent without an outcome knows that it may have arrived: the operator is asked, and it is never simply sent again.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

use super::encoding::Codec;
use super::file::{self, HistoryOptions, rows};
use super::identity::{Columns, terminal_row};
use crate::follow_up::Wanted;
use crate::ids::TerminalKey;
use crate::record::{FollowUpRecord, HistoryError, Intent, IntentId, IntentState, Kind, OperatorAction};
use crate::time::Timestamp;

/// [`IntentState::is_open`] as a condition, of intents after a number.
pub(super) const OPEN: &str = "id > ?1 AND state IN ('pending', 'attempted', 'unknown', 'expired')";

/// The outcome of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decided {
    Dismissed,
    /// It is sent again, as this one.
    Resent(IntentId),
    /// Nothing is left to decide.
    NotOpen(IntentState),
    /// There is no such intent.
    Missing,
}

/// The intents of a history. Its commits reach the disk before they count.
pub struct Intents {
    connection: Connection,
    codec: Codec,
}

impl Intents {
    /// Opens the intents in a history file.
    pub fn open(path: &Path, now: Timestamp) -> Result<Self, HistoryError> {
        let options = HistoryOptions { is_durable: true, ..HistoryOptions::default() };
        let connection = file::open(path, &options, now)?.connection;
        Ok(Self { connection, codec: Codec::new()? })
    }

    /// Intents that wait, oldest first.
    pub fn pending(&self) -> Result<Vec<Intent>, HistoryError> {
        self.select("state = 'pending' AND id > ?1", 0)
    }

    /// Intents that a process began to send and of which no outcome is known.
    pub fn attempted(&self) -> Result<Vec<Intent>, HistoryError> {
        self.select("state = 'attempted' AND id > ?1", 0)
    }

    /// Queues an event for an agent, once. It joins a message that already waits for the agent, so that several events become
    /// one message; otherwise it starts a new one. Returns the message's number.
    ///
    /// # Errors
    /// The file cannot be written; nothing was queued.
    pub fn queue(&mut self, wanted: &Wanted, now: Timestamp) -> Result<IntentId, HistoryError> {
        let Wanted { to, key, body, keep } = wanted;
        let transaction = self.connection.transaction()?;
        let known = "SELECT intent FROM outbox_events WHERE key = ?1";
        if let Some(id) = transaction.query_row(known, [key], |row| row.get(0)).optional()? {
            return Ok(IntentId(id));
        }
        let waiting = "SELECT id FROM outbox WHERE state = 'pending' AND target = ?1 AND recipient IS NULL
                       ORDER BY id DESC LIMIT 1";
        let joined = transaction.query_row(waiting, [to], |row| row.get(0)).optional()?;
        let id = match joined {
            Some(id) => id,
            None => {
                let sql = "INSERT INTO outbox (target, created, expires, state) VALUES (?1, ?2, ?3, 'pending')";
                transaction.execute(sql, params![to, now, (now + *keep)])?;
                transaction.last_insert_rowid()
            }
        };
        let sql = "INSERT INTO outbox_events (key, intent, at, body) VALUES (?1, ?2, ?3, ?4)";
        let body = serde_json::to_string(body).map_err(|error| HistoryError::Other(error.to_string()))?;
        transaction.execute(sql, params![key, id, now, body])?;
        transaction.commit()?;
        Ok(IntentId(id))
    }

    /// How many messages about events an agent was sent since a time, by its name.
    pub fn told_since(&self, to: &str, since: Timestamp) -> Result<u64, HistoryError> {
        let sql = "SELECT count(*) FROM outbox WHERE target = ?1 AND recipient IS NULL AND attempted_at > ?2";
        let count: i64 = self.connection.prepare_cached(sql)?.query_row(params![to, since], |row| row.get(0))?;
        Ok(count.unsigned_abs())
    }

    /// An intent by its number.
    pub fn get(&self, id: IntentId) -> Result<Option<Intent>, HistoryError> {
        Ok(self.select("id = ?1", id.0)?.pop())
    }

    /// Records, right before sending, that the text is being sent. It may be sent only if this returns true.
    ///
    /// `events` is the number of events in the text; if another one has joined since, this returns false.
    ///
    /// # Errors
    /// The file cannot be written; the text must not be sent.
    pub fn attempt(&mut self, id: IntentId, text: &str, events: usize, now: Timestamp) -> Result<bool, HistoryError> {
        let sql = "UPDATE outbox SET state = 'attempted', text = ?1, attempted_at = ?2
                   WHERE id = ?3 AND state = 'pending'
                     AND (SELECT count(*) FROM outbox_events WHERE intent = ?3) = ?4";
        let events = i64::try_from(events).unwrap_or(i64::MAX);
        self.change(sql, params![text, now, id.0, events])
    }

    /// Puts an attempt back that demonstrably sent nothing (the target refused before the first byte).
    pub fn retract(&mut self, id: IntentId) -> Result<bool, HistoryError> {
        let sql = "UPDATE outbox SET state = 'pending', text = iif(recipient IS NULL, NULL, text), attempted_at = NULL
                   WHERE id = ?1 AND state = 'attempted'";
        self.change(sql, params![id.0])
    }

    /// Records the outcome of an intent, also as a record of kind `follow_up`. Returns whether that was still open: what another
    /// process took for unclear is told by the one that sent it.
    pub fn finish(
        &mut self,
        id: IntentId,
        state: IntentState,
        detail: Option<&str>,
        now: Timestamp,
    ) -> Result<bool, HistoryError> {
        self.end(
            id,
            state,
            detail,
            now,
            &format!("state IN ('pending', 'attempted', 'unknown') AND state <> '{state}'"),
        )
    }

    /// The outcome that was written down since a time for an input under a sender's name. Earlier ones are of earlier
    /// attempts, and say nothing of one whose own input could not be written down.
    pub fn outcome_by(&self, sender: &str, since: Timestamp) -> Result<Option<String>, HistoryError> {
        let sql = "SELECT outcome FROM inputs WHERE sender = ?1 AND ended_at >= ?2 ORDER BY record DESC LIMIT 1";
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.query_row(params![sender, since], |row| row.get(0)).optional()?.flatten())
    }

    /// Lets a pending intent wait until `expires`, if it would not anyway.
    pub fn prolong(&mut self, id: IntentId, expires: Timestamp) -> Result<bool, HistoryError> {
        let sql = "UPDATE outbox SET expires = ?1 WHERE id = ?2 AND state = 'pending' AND expires < ?1";
        self.change(sql, params![expires, id.0])
    }

    /// Ends an intent whose time ran out; returns whether this process did.
    pub fn expire(&mut self, id: IntentId, now: Timestamp) -> Result<bool, HistoryError> {
        self.end(id, IntentState::Expired, Some("it could not be sent in time"), now, "state = 'pending'")
    }

    /// Queues a prompt for a terminal, behind earlier ones; `by` names the requester if it is none of fleetwatch's own
    /// programs.
    ///
    /// # Errors
    /// The file cannot be written; nothing waits.
    pub fn post(
        &mut self,
        (to, name): (&TerminalKey, &str),
        (text, by): (&str, Option<&str>),
        now: Timestamp,
    ) -> Result<IntentId, HistoryError> {
        let recipient =
            serde_json::to_string(&Columns::of(to)).map_err(|error| HistoryError::Other(error.to_string()))?;
        let transaction = self.connection.transaction()?;
        let sql = "INSERT INTO outbox (target, recipient, producer, text, created, state)
                   VALUES (?1, ?2, 'queue', ?3, ?4, 'pending')";
        transaction.execute(sql, params![name, recipient, text, now])?;
        let id = IntentId(transaction.last_insert_rowid());
        let action = OperatorAction::Queued { text: text.to_owned(), by: by.map(str::to_owned) };
        keep_action(&transaction, &mut self.codec, (to, name), &action, now)?;
        transaction.commit()?;
        Ok(id)
    }

    /// Takes back the prompts queued for a terminal, except one that is being sent; returns their texts.
    ///
    /// # Errors
    /// The file cannot be written; they wait on.
    pub fn take_back(&mut self, to: &TerminalKey, now: Timestamp) -> Result<Vec<String>, HistoryError> {
        let waiting = self.select("recipient NOT NULL AND state = 'pending' AND id > ?1", 0)?;
        let transaction = self.connection.transaction()?;
        let mut texts = Vec::new();
        for prompt in waiting.into_iter().filter(|it| it.recipient.as_ref().is_some_and(|key| key.may_be(to))) {
            let sql = "UPDATE outbox SET state = 'cancelled', ended_at = ?1 WHERE id = ?2 AND state = 'pending'";
            if transaction.execute(sql, params![now, prompt.id.0])? > 0 {
                let text = prompt.text.unwrap_or_default();
                let action = OperatorAction::TookBack { text: text.clone() };
                keep_action(&transaction, &mut self.codec, (to, &prompt.target), &action, now)?;
                texts.push(text);
            }
        }
        transaction.commit()?;
        Ok(texts)
    }

    /// Intents that wait, are being sent, or need a decision of the operator; oldest first.
    pub fn open_matters(&self) -> Result<Vec<Intent>, HistoryError> {
        self.select(OPEN, 0)
    }

    /// Dismisses an intent; a pending one will not be sent.
    pub fn dismiss(&mut self, id: IntentId, now: Timestamp) -> Result<Decided, HistoryError> {
        let Some(intent) = self.get(id)? else { return Ok(Decided::Missing) };
        let state = match intent.state {
            IntentState::Pending => IntentState::Cancelled,
            IntentState::Unknown | IntentState::Expired => IntentState::Dismissed,
            state => return Ok(Decided::NotOpen(state)),
        };
        let is_as_read = format!("state = '{}'", intent.state);
        match self.end(id, state, None, now, &is_as_read)? {
            true => Ok(Decided::Dismissed),
            false => Ok(self.get(id)?.map_or(Decided::Missing, |intent| Decided::NotOpen(intent.state))),
        }
    }

    /// Has an intent sent again whose outcome is not known, or that ran out: as a new one, so that its message has a
    /// number of its own. It is kept for its agent as long as the first one was.
    ///
    /// # Errors
    /// The file cannot be written; nothing was decided.
    pub fn resend(&mut self, id: IntentId, now: Timestamp) -> Result<Decided, HistoryError> {
        let Some(intent) = self.get(id)? else { return Ok(Decided::Missing) };
        if !matches!(intent.state, IntentState::Unknown | IntentState::Expired) {
            return Ok(Decided::NotOpen(intent.state));
        }
        let expires = intent.expires.map(|expires| now + expires.since(intent.created));
        let next = {
            let transaction = self.connection.transaction()?;
            let sql = "UPDATE outbox SET state = 'resent' WHERE id = ?1 AND state = ?2";
            if transaction.execute(sql, params![id.0, intent.state.word()])? == 0 {
                return Ok(Decided::NotOpen(IntentState::Resent));
            }
            let sql = "INSERT INTO outbox (target, recipient, producer, text, created, expires, state)
                       SELECT target, recipient, producer, iif(recipient IS NULL, NULL, text), ?2, ?3, 'pending'
                       FROM outbox WHERE id = ?1";
            transaction.execute(sql, params![id.0, now, expires])?;
            let next = IntentId(transaction.last_insert_rowid());
            // The events keep their names with the first one, so that nobody queues them anew.
            let sql = "INSERT INTO outbox_events (key, intent, at, body)
                       SELECT 'again ' || ?2 || ' ' || key, ?2, at, body FROM outbox_events WHERE intent = ?1 ORDER BY rowid";
            transaction.execute(sql, params![id.0, next.0])?;
            let detail = format!("as number {}", next.0);
            keep_record(&transaction, &mut self.codec, &intent, (IntentState::Resent, Some(&detail)), now)?;
            transaction.commit()?;
            next
        };
        Ok(Decided::Resent(next))
    }

    fn end(
        &mut self,
        id: IntentId,
        state: IntentState,
        detail: Option<&str>,
        now: Timestamp,
        condition: &str,
    ) -> Result<bool, HistoryError> {
        let Some(intent) = self.get(id)? else { return Ok(false) };
        let transaction = self.connection.transaction()?;
        let sql = format!(
            "UPDATE outbox SET state = ?1, detail = coalesce(?2, detail), ended_at = ?3 WHERE id = ?4 AND {condition}"
        );
        let values = params![state.word(), detail, now, id.0];
        if transaction.execute(&sql, values)? == 0 {
            return Ok(false);
        }
        keep_record(&transaction, &mut self.codec, &intent, (state, detail), now)?;
        transaction.commit()?;
        Ok(true)
    }

    fn change(&self, sql: &str, values: &[&dyn ToSql]) -> Result<bool, HistoryError> {
        Ok(self.connection.prepare_cached(sql)?.execute(values)? > 0)
    }

    fn select(&self, condition: &str, number: impl ToSql) -> Result<Vec<Intent>, HistoryError> {
        select(&self.connection, condition, number)
    }
}

/// Keeps the outcome of an intent as a record of kind `follow_up`.
fn keep_record(
    connection: &Connection,
    codec: &mut Codec,
    intent: &Intent,
    (state, detail): (IntentState, Option<&str>),
    now: Timestamp,
) -> Result<(), HistoryError> {
    if let Some(recipient) = &intent.recipient {
        // What else becomes of a prompt stands with the input that it is.
        if state == IntentState::Cancelled {
            let action = OperatorAction::TookBack { text: intent.text.clone().unwrap_or_default() };
            keep_action(connection, codec, (recipient, &intent.target), &action, now)?;
        }
        return Ok(());
    }
    let document = FollowUpRecord {
        text: intent.text.clone(),
        outcome: state,
        detail: detail.map(str::to_owned),
        events: intent.events.clone(),
        created: intent.created,
        intent: intent.id,
    };
    let packed = codec.pack(&document)?;
    // The terminal that has the name now, so that the record is found where its inputs are; of an agent that nobody has
    // seen, the one that the message is about, so that the record is found on its server.
    let sql = "INSERT INTO records (at, kind, name, document, terminal) VALUES (?1, ?2, ?3, ?4, coalesce(
                   (SELECT id FROM terminals WHERE name = ?3 ORDER BY id DESC LIMIT 1),
                   (SELECT id FROM terminals WHERE name = ?5 ORDER BY id DESC LIMIT 1)))";
    let source = intent.events.iter().map(|event| &event.source).find(|source| !source.is_empty());
    connection.execute(sql, params![now, Kind::FollowUp.word(), intent.target, packed, source])?;
    let record = connection.last_insert_rowid();
    connection.execute("UPDATE outbox SET record = ?1 WHERE id = ?2", params![record, intent.id.0])?;
    Ok(())
}

/// Records what the operator did with a queued prompt.
fn keep_action(
    connection: &Connection,
    codec: &mut Codec,
    (to, name): (&TerminalKey, &str),
    action: &OperatorAction,
    now: Timestamp,
) -> Result<(), HistoryError> {
    let (packed, terminal) = (codec.pack(action)?, terminal_row(connection, to)?);
    let sql = "INSERT INTO records (at, kind, terminal, name, document) VALUES (?1, ?2, ?3, ?4, ?5)";
    connection.execute(sql, params![now, Kind::Action.word(), terminal, name, packed])?;
    Ok(())
}

/// The intents for which a condition over one number holds, oldest first.
pub(super) fn select(
    connection: &Connection,
    condition: &str,
    number: impl ToSql,
) -> Result<Vec<Intent>, HistoryError> {
    let sql = format!(
        "SELECT id, target, created, expires, state, attempted_at, text, detail, recipient
         FROM outbox WHERE {condition} ORDER BY id"
    );
    let mut intents = rows(connection, &sql, [number], intent)?;
    let events = "SELECT body FROM outbox_events WHERE intent = ?1 ORDER BY rowid";
    for intent in &mut intents {
        for body in rows(connection, events, [intent.id.0], |row| row.get::<_, String>(0))? {
            intent.events.push(serde_json::from_str(&body).map_err(|_| HistoryError::Damaged)?);
        }
    }
    Ok(intents)
}

fn intent(row: &Row<'_>) -> rusqlite::Result<Intent> {
    let word: String = row.get(4)?;
    let state = IntentState::of_word(&word);
    let recipient =
        row.get::<_, Option<String>>(8)?.and_then(|recipient| serde_json::from_str::<Columns>(&recipient).ok());
    Ok(Intent {
        id: IntentId(row.get(0)?),
        target: row.get(1)?,
        created: row.get(2)?,
        expires: row.get(3)?,
        state: state.ok_or(rusqlite::Error::InvalidColumnType(4, word, rusqlite::types::Type::Text))?,
        attempted_at: row.get(5)?,
        text: row.get(6)?,
        detail: row.get(7)?,
        events: Vec::new(),
        recipient: recipient.map(|columns| columns.key()),
    })
}
