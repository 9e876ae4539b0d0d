//! What is let go: what is too old, and the oldest when there is too much.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use super::Trouble;
use crate::time::{Span, Timestamp};

/// When the first check comes after the start, and how far apart the others are.
pub(super) const FIRST: Duration = Duration::from_secs(20);
pub(super) const INTERVAL: Duration = Duration::from_secs(60);
/// How long records may stay beyond their age until they are looked for again.
const AGE_CHECK: Span = Span::from_secs(3600);
/// Records that are removed in one transaction: few enough that other processes are not kept waiting.
const CHUNK: i64 = 500;
/// Pages that are given back to the file system at once.
const PAGES: i64 = 1000;

/// How much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RetentionLimits {
    pub keep: Span,
    pub max_bytes: u64,
}

/// Removes what is beyond the limits. Several processes may do so at once.
///
/// # Errors
/// The file cannot be written; what was removed until then stays removed.
pub(super) fn run(connection: &mut Connection, limits: &RetentionLimits, now: Timestamp) -> Result<(), Trouble> {
    if is_due(connection, "age", now)? {
        let oldest = now - limits.keep;
        while remove_before(connection, oldest)? {}
        forget_watches(connection, oldest)?;
        remove_loose(connection)?;
        connection.execute("INSERT OR REPLACE INTO chores VALUES ('age', ?1)", [now.as_millis()])?;
    }
    if used(connection)? > limits.max_bytes {
        // Some room is made beyond the limit, so that this is not done for each record again.
        let enough = limits.max_bytes / 10 * 9;
        while used(connection)? > enough && remove_oldest(connection)? {
            remove_loose(connection)?;
        }
    }
    give_back(connection)
}

/// Bytes of the file that are in use.
pub(super) fn used(connection: &Connection) -> Result<u64, Trouble> {
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let pages = pragma("page_count")? - pragma("freelist_count")?;
    Ok(u64::try_from(pages * pragma("page_size")?).unwrap_or(0))
}

fn is_due(connection: &Connection, chore: &str, now: Timestamp) -> Result<bool, Trouble> {
    let sql = "SELECT done_at FROM chores WHERE name = ?1";
    let done: Option<i64> = connection.query_row(sql, [chore], |row| row.get(0)).optional()?;
    // A time in the future comes from a clock that was set back since.
    Ok(done.map(Timestamp::from_millis).is_none_or(|done| done > now || now.since(done) >= AGE_CHECK))
}

/// Removes some of the records before a time; whether there were any.
fn remove_before(connection: &mut Connection, oldest: Timestamp) -> Result<bool, Trouble> {
    let sql = "DELETE FROM records WHERE id IN (SELECT id FROM records WHERE at < ?1 ORDER BY at LIMIT ?2)";
    Ok(connection.execute(sql, params![oldest.as_millis(), CHUNK])? > 0)
}

/// Removes some of the oldest records; whether there were any.
fn remove_oldest(connection: &mut Connection) -> Result<bool, Trouble> {
    let sql = "DELETE FROM records WHERE id IN (SELECT id FROM records ORDER BY at LIMIT ?1)";
    Ok(connection.execute(sql, [CHUNK])? > 0)
}

/// Removes screens that no transition shows any more. In one transaction, because a writer may be about to use one.
fn remove_loose(connection: &mut Connection) -> Result<(), Trouble> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute(
        "DELETE FROM screens WHERE NOT EXISTS (SELECT 1 FROM transitions WHERE transitions.screen = screens.id)",
        [],
    )?;
    transaction.commit()?;
    Ok(())
}

/// Removes watches that ended before a time, terminals of which nothing is left, and intents that are long done.
fn forget_watches(connection: &mut Connection, oldest: Timestamp) -> Result<(), Trouble> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute("DELETE FROM watches WHERE seen < ?1", [oldest.as_millis()])?;
    transaction.execute("DELETE FROM outbox WHERE ended_at < ?1", [oldest.as_millis()])?;
    transaction.execute(
        "DELETE FROM terminals WHERE NOT EXISTS (SELECT 1 FROM records WHERE terminal = terminals.id)
             AND NOT EXISTS (SELECT 1 FROM watches WHERE terminal = terminals.id)",
        [],
    )?;
    transaction.commit()?;
    Ok(())
}

/// Gives free pages back to the file system, some at a time, once they are a good part of the file.
fn give_back(connection: &Connection) -> Result<(), Trouble> {
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let mut free = pragma("freelist_count")?;
    while free > pragma("page_count")? / 8 {
        connection.execute_batch(&format!("PRAGMA incremental_vacuum({PAGES})"))?;
        let left = pragma("freelist_count")?;
        if left >= free {
            // A file that was made without the means to shrink keeps its size and fills its free pages first.
            break;
        }
        free = left;
    }
    Ok(())
}
