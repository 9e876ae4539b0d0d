//! What was seen of terminals that agents are told of. It is kept in the same transaction as what is told, so that
//! whoever comes after a crash knows exactly what was not.

use rusqlite::{Connection, TransactionBehavior, params};
use serde_json::Value;

use super::queueing::queue_in;
use super::{Intents, NewEvent};
use crate::history::Trouble;
use crate::moment::Moment;

/// What was seen of one terminal.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredSight {
    /// The terminal, spelt alike by every process.
    pub identity: String,
    /// Its server, spelt alike, too.
    pub server: String,
    pub name: String,
    /// When it was seen.
    pub at: Moment,
    pub body: Value,
}

impl Intents {
    /// What was seen on a server by whoever watched it last.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn sights(&self, server: &str) -> Result<Vec<StoredSight>, Trouble> {
        let sql = "SELECT identity, server, name, body, at FROM sights WHERE server = ?1 ORDER BY identity";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([server], |row| {
            let body: String = row.get(3)?;
            // What a newer fleetwatch wrote in another way says nothing to this one.
            let body = serde_json::from_str(&body).unwrap_or_default();
            let at = Moment::from_millis(row.get(4)?);
            Ok(StoredSight { identity: row.get(0)?, server: row.get(1)?, name: row.get(2)?, at, body })
        })?;
        Ok(rows.collect::<Result<Vec<_>, _>>()?)
    }

    /// Queues events, and keeps what was seen of their terminal, if anything is kept of it: all of it or nothing.
    ///
    /// # Errors
    /// The file cannot be written; nothing was queued.
    pub fn tell(&mut self, events: &[NewEvent], sight: Option<&StoredSight>, now: Moment) -> Result<(), Trouble> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for event in events {
            queue_in(&transaction, event, now)?;
        }
        if let Some(sight) = sight {
            keep(&transaction, sight)?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// Forgets a terminal that is gone.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn forget_sight(&mut self, identity: &str) -> Result<(), Trouble> {
        self.connection.prepare_cached("DELETE FROM sights WHERE identity = ?1")?.execute([identity])?;
        Ok(())
    }
}

fn keep(connection: &Connection, sight: &StoredSight) -> Result<(), Trouble> {
    let sql = "INSERT OR REPLACE INTO sights (identity, server, name, at, body) VALUES (?1, ?2, ?3, ?4, ?5)";
    let StoredSight { identity, server, name, at, body } = sight;
    connection.prepare_cached(sql)?.execute(params![identity, server, name, at.as_millis(), body.to_string()])?;
    Ok(())
}
