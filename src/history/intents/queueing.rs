//! Events that are to be told become intents.

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use serde_json::Value;

use super::{IntentId, Intents};
use crate::history::Trouble;
use crate::time::Timestamp;

/// What became of an event that was to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queued {
    /// A new intent tells of it.
    New(IntentId),
    /// An intent that still waits for the same target tells of it as well.
    Joined(IntentId),
    /// It was queued before, by this process or another one.
    Known(IntentId),
}

/// An event that is to be told to one target.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEvent {
    pub target: String,
    /// Its name for this target, which nothing else has.
    pub key: String,
    pub body: Value,
    /// How long an intent waits that begins with it.
    pub expires: Option<Timestamp>,
}

impl Intents {
    /// Queues an event for a target, once. What still waits for the target takes the event in, so that several become one
    /// message.
    ///
    /// # Errors
    /// The file cannot be written; nothing was queued.
    pub fn queue(
        &mut self,
        target: &str,
        key: &str,
        event: &Value,
        now: Timestamp,
        expires: Option<Timestamp>,
    ) -> Result<Queued, Trouble> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let (target, key, body) = (target.to_owned(), key.to_owned(), event.clone());
        let queued = queue_in(&transaction, &NewEvent { target, key, body, expires }, now)?;
        transaction.commit()?;
        Ok(queued)
    }
}

/// Queues an event, as [`Intents::queue`] does, in a transaction.
pub(super) fn queue_in(connection: &Connection, event: &NewEvent, now: Timestamp) -> Result<Queued, Trouble> {
    let NewEvent { target, key, body, expires } = event;
    let known = "SELECT intent FROM outbox_events WHERE key = ?1";
    if let Some(id) = connection.query_row(known, [key], |row| row.get(0)).optional()? {
        return Ok(Queued::Known(IntentId(id)));
    }
    let waiting = "SELECT id FROM outbox WHERE state = 'pending' AND target = ?1 AND recipient IS NULL
                   AND (expires IS NULL OR expires > ?2) ORDER BY id DESC LIMIT 1";
    let joined = connection.query_row(waiting, params![target, now.as_millis()], |row| row.get(0)).optional()?;
    let id = match joined {
        Some(id) => id,
        None => {
            let sql = "INSERT INTO outbox (target, created, expires, state) VALUES (?1, ?2, ?3, 'pending')";
            connection.execute(sql, params![target, now.as_millis(), expires.map(Timestamp::as_millis)])?;
            connection.last_insert_rowid()
        }
    };
    let sql = "INSERT INTO outbox_events (key, intent, at, body) VALUES (?1, ?2, ?3, ?4)";
    connection.execute(sql, params![key, id, now.as_millis(), body.to_string()])?;
    Ok(if joined.is_some() { Queued::Joined(IntentId(id)) } else { Queued::New(IntentId(id)) })
}
