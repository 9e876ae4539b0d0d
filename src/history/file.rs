//! The file: private to this user, migrated to the current tables, moved aside when it is damaged, and kept within its
//! limits.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Params, Row, TransactionBehavior, params};
use serde_json::Value;

use super::encoding::Codec;
use super::usage::HOUR;
use crate::clock::now;
use crate::private::{self, inode, state_directory};
use crate::record::HistoryError;
use crate::time::{Span, Timestamp};

/// The file's name in the state directory.
const FILE_NAME: &str = "history.db";

/// The user's settings for the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether a history is kept at all.
    pub enabled: bool,
    /// How old records may become.
    pub keep: Span,
    /// Bytes that the file may use.
    pub max_bytes: u64,
    /// The file; `None` is the one in the user's state directory.
    pub path: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { enabled: true, keep: Span::from_secs(30 * 24 * 3600), max_bytes: 256 << 20, path: None }
    }
}

impl Settings {
    /// Where the file is: as configured, else in `XDG_STATE_HOME`, else in the platform's directory for state or data.
    /// `None` when the user has no home.
    pub fn location(&self) -> Option<PathBuf> {
        self.path.clone().or_else(|| Some(state_directory()?.join(FILE_NAME)))
    }

    /// The same where a history is kept at all.
    pub fn kept_at(&self) -> Option<PathBuf> {
        self.location().filter(|_| self.enabled)
    }
}

/// How long a file that another process holds is waited for, and until one that failed is tried again.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// How the file is opened.
#[derive(Clone, Debug)]
pub(super) struct HistoryOptions {
    /// How long another process's lock is waited for.
    pub patience: Duration,
    /// Whether every commit reaches the disk before it counts, and not only the operating system.
    pub is_durable: bool,
    /// Pages that the file may grow to; for tests of a full disk.
    pub most_pages: Option<u32>,
}

impl Default for HistoryOptions {
    fn default() -> Self {
        Self { patience: PATIENCE, is_durable: false, most_pages: None }
    }
}

/// What the rows of a statement are read as.
pub(super) fn rows<T>(
    connection: &Connection,
    sql: &str,
    values: impl Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, HistoryError> {
    Ok(connection.prepare_cached(sql)?.query_map(values, read)?.collect::<Result<_, _>>()?)
}

/// What a reader keeps of the file at most, in the way of `PRAGMA cache_size`: 16 MiB. Totals of all terminals go through the
/// file once for each, and would read every page again from the system with the 2 MiB that are usual.
const READ_CACHE: i32 = -16 * 1024;
/// What a writer keeps: 1 MiB. Each of its rows is written once.
const WRITE_CACHE: i32 = -1024;

/// An open file.
#[derive(Debug)]
pub(super) struct Opened {
    pub connection: Connection,
    /// The file itself, whatever its name comes to mean.
    pub inode: Option<u64>,
    /// Where a damaged file was moved to.
    pub set_aside: Option<PathBuf>,
}

/// Opens a file for writing; makes it and its directory when they are missing, brings it to the present layout, and
/// moves it aside when it is damaged.
///
/// # Errors
/// It cannot be opened, locked or written, or a newer fleetwatch wrote it.
pub(super) fn open(path: &Path, options: &HistoryOptions, now: Timestamp) -> Result<Opened, HistoryError> {
    open_checked(path, options, now, false)
}

/// The inode of the log that SQLite keeps beside a file while it is open.
pub(super) fn log_inode(path: &Path) -> Option<u64> {
    inode(&beside(path, "-wal"))
}

/// Opens a file for reading only. What is read is never newer than one commit, and no writer waits for it.
///
/// # Errors
/// It is missing, cannot be read, or has another layout.
pub(super) fn open_to_read(path: &Path) -> Result<Connection, HistoryError> {
    if matches!(path.try_exists(), Ok(false)) {
        return Err(HistoryError::Missing(path.to_owned()));
    }
    private::check_file(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = connect_to_read(path, flags)?;
    let found = match refuse_newer(&connection) {
        Err(HistoryError::Other(_) | HistoryError::ReadOnly) => return open_unwritable(path),
        found => found?,
    };
    if found == i64::from(VERSION) {
        return Ok(connection);
    }
    // Opening an old file for writing migrates it; readers may do so too.
    drop(connection);
    drop(open(path, &HistoryOptions::default(), now())?);
    connect_to_read(path, flags)
}

fn connect_to_read(path: &Path, flags: OpenFlags) -> Result<Connection, HistoryError> {
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    keep_plans(&connection)?;
    connection.pragma_update(None, "cache_size", READ_CACHE)?;
    Ok(connection)
}

/// Has a statement planned once: SQLite would plan it anew for each time that a row is to be later than.
fn keep_plans(connection: &Connection) -> Result<(), HistoryError> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

/// Where not even SQLite's shared memory can be made, the file is read as one that nobody writes.
fn open_unwritable(path: &Path) -> Result<Connection, HistoryError> {
    let escaped: String = path.display().to_string().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(format!("file:{escaped}?immutable=1"), flags)?;
    let is_present = refuse_newer(&connection)? == i64::from(VERSION);
    if is_present { Ok(connection) } else { Err(HistoryError::ReadOnly) }
}

/// As [`open`]. After damage the whole file is checked before it is trusted again: another process may have moved the damaged
/// one aside already.
pub(super) fn open_checked(
    path: &Path,
    options: &HistoryOptions,
    now: Timestamp,
    after_damage: bool,
) -> Result<Opened, HistoryError> {
    if let Some(directory) = path.parent().filter(|directory| !directory.as_os_str().is_empty()) {
        private::make_directory(directory)?;
    }
    // Making, migrating and moving aside are for one process at a time.
    let guard = private::locked_within(&beside(path, ".lock"), options.patience)?;
    let _guard = guard.ok_or(HistoryError::Locked)?;
    let connect = || {
        // SQLite gives its side files the same mode.
        private::make_file(path)?;
        let connection = connect(path, options)?;
        let is_sound = !after_damage
            || connection.query_row("PRAGMA quick_check(1)", [], |row| Ok(row.get_ref(0)?.as_str()? == "ok"))?;
        if is_sound { Ok(connection) } else { Err(HistoryError::Damaged) }
    };
    let (connection, set_aside) = match connect() {
        Err(HistoryError::Damaged) => {
            let kept = move_aside(path, now)?;
            (connect()?, Some(kept))
        }
        connected => (connected?, None),
    };
    Ok(Opened { connection, inode: inode(path), set_aside })
}

fn connect(path: &Path, options: &HistoryOptions) -> Result<Connection, HistoryError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(options.patience)?;
    // A transaction that only began to read could be refused once it writes.
    connection.set_transaction_behavior(TransactionBehavior::Immediate);
    keep_plans(&connection)?;
    // A newer file is not touched, not even by the settings below.
    refuse_newer(&connection)?;
    // Only an empty file takes this; without it, a file that once was large stays so.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", if options.is_durable { "FULL" } else { "NORMAL" })?;
    connection.pragma_update(None, "cache_size", WRITE_CACHE)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update_and_check(None, "journal_size_limit", 4 << 20, |_| Ok(()))?;
    if let Some(pages) = options.most_pages {
        connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    }
    migrate(&mut connection)?;
    Ok(connection)
}

/// Renames a damaged file with its side files; what can be saved from it may still be wanted.
fn move_aside(path: &Path, now: Timestamp) -> Result<PathBuf, HistoryError> {
    let stamp: String = now.to_string().chars().filter(|c| c.is_ascii_alphanumeric()).collect();
    let kept = beside(path, &format!(".damaged-{stamp}"));
    fs::rename(path, &kept)?;
    for side in ["-wal", "-shm"] {
        let from = beside(path, side);
        if from.exists() {
            fs::rename(from, beside(&kept, side))?;
        }
    }
    Ok(kept)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// The steps from each version to the next, from an empty file on. A released step never changes.
pub(super) const STEPS: &[&str] = &[
    // 1: what happened.
    "CREATE TABLE terminals (
         id INTEGER PRIMARY KEY,
         host TEXT NOT NULL, socket TEXT NOT NULL, pane INTEGER NOT NULL, pid INTEGER NOT NULL,
         name TEXT NOT NULL,
         UNIQUE (host, socket, pane, pid)
     ) STRICT;
     CREATE TABLE records (
         id INTEGER PRIMARY KEY AUTOINCREMENT,
         at INTEGER NOT NULL,
         kind TEXT NOT NULL,
         terminal INTEGER REFERENCES terminals (id),
         name TEXT NOT NULL,
         document BLOB NOT NULL
     ) STRICT;
     CREATE INDEX records_by_time ON records (at);
     CREATE INDEX records_by_terminal ON records (terminal, at);
     CREATE TABLE screens (id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, body BLOB NOT NULL) STRICT;
     CREATE INDEX screens_by_hash ON screens (hash);
     CREATE TABLE transitions (
         record INTEGER PRIMARY KEY REFERENCES records (id) ON DELETE CASCADE,
         summary TEXT NOT NULL,
         turn_ended INTEGER,
         note TEXT,
         screen INTEGER REFERENCES screens (id)
     ) STRICT;
     CREATE INDEX transitions_by_screen ON transitions (screen);
     CREATE TABLE inputs (
         record INTEGER PRIMARY KEY REFERENCES records (id) ON DELETE CASCADE,
         uid TEXT NOT NULL UNIQUE,
         owner TEXT NOT NULL,
         sender TEXT NOT NULL,
         what TEXT NOT NULL,
         outcome TEXT, detail TEXT, ended_at INTEGER
     ) STRICT;
     CREATE TABLE submissions (
         id INTEGER PRIMARY KEY AUTOINCREMENT,
         at INTEGER NOT NULL,
         input INTEGER NOT NULL REFERENCES inputs (record) ON DELETE CASCADE
     ) STRICT;
     CREATE INDEX submissions_by_input ON submissions (input);
     CREATE TABLE watches (
         id INTEGER PRIMARY KEY,
         terminal INTEGER NOT NULL REFERENCES terminals (id),
         owner TEXT NOT NULL,
         started INTEGER NOT NULL, seen INTEGER NOT NULL, ended INTEGER
     ) STRICT;
     CREATE INDEX watches_by_terminal ON watches (terminal, started);
     CREATE INDEX watches_open ON watches (owner) WHERE ended IS NULL;
     CREATE TABLE chores (name TEXT PRIMARY KEY, done_at INTEGER NOT NULL) STRICT;",
    // 2: messages to be sent later.
    "CREATE TABLE intents (
         id INTEGER PRIMARY KEY AUTOINCREMENT,
         target TEXT NOT NULL,
         created INTEGER NOT NULL, expires INTEGER,
         state TEXT NOT NULL,
         owner TEXT, claimed_until INTEGER,
         attempted_at INTEGER, ended_at INTEGER,
         text TEXT, detail TEXT, record INTEGER
     ) STRICT;
     CREATE INDEX intents_by_state ON intents (state, target);
     CREATE TABLE intent_events (
         key TEXT PRIMARY KEY,
         intent INTEGER NOT NULL REFERENCES intents (id) ON DELETE CASCADE,
         at INTEGER NOT NULL,
         body TEXT NOT NULL
     ) STRICT;
     CREATE INDEX intent_events_by_intent ON intent_events (intent);",
    // 3: how things stand now, for those who must not ask tmux.
    "CREATE TABLE standings (
         server TEXT PRIMARY KEY,
         owner TEXT NOT NULL,
         rank INTEGER NOT NULL,
         at INTEGER NOT NULL,
         body TEXT NOT NULL
     ) STRICT;",
    // 4: what was seen of terminals that agents are told of.
    "CREATE TABLE sights (
         identity TEXT PRIMARY KEY,
         server TEXT NOT NULL,
         name TEXT NOT NULL,
         at INTEGER NOT NULL,
         body TEXT NOT NULL
     ) STRICT;",
    // 5: what is rare among many transitions.
    "CREATE INDEX records_by_kind ON records (kind, at) WHERE kind <> 'transition';",
    // 6: up to which record it is known what agents are to be told; ends that nobody watched are transitions like others.
    "CREATE TABLE follow_up_cursor (only INTEGER PRIMARY KEY CHECK (only = 1), record INTEGER NOT NULL) STRICT;
     DROP TABLE sights;",
    // 7: one outbox for all that is to be sent: messages to agents, by name, and prompts to one terminal.
    "ALTER TABLE intents RENAME TO outbox;
     ALTER TABLE intent_events RENAME TO outbox_events;
     ALTER TABLE outbox ADD COLUMN producer TEXT NOT NULL DEFAULT 'follow_up';
     ALTER TABLE outbox ADD COLUMN recipient TEXT;",
    // 8: what agents used by the hour, and whose work it was.
    "CREATE TABLE usage (
         terminal INTEGER NOT NULL REFERENCES terminals (id) ON DELETE CASCADE,
         session TEXT NOT NULL,
         hour INTEGER NOT NULL,
         tool TEXT NOT NULL,
         label TEXT,
         tokens_in INTEGER, tokens_out INTEGER, cost REAL,
         PRIMARY KEY (terminal, session, hour)
     ) STRICT, WITHOUT ROWID;",
    // 9: what the operator noted of terminals; a row without a text is a note that was taken away.
    "CREATE TABLE notes (
         id INTEGER PRIMARY KEY AUTOINCREMENT,
         terminal INTEGER NOT NULL UNIQUE REFERENCES terminals (id) ON DELETE CASCADE,
         instance TEXT,
         at INTEGER NOT NULL,
         text TEXT
     ) STRICT;",
    // 10: the operator's name and label of a terminal, and the process of the agent that they are of.
    "ALTER TABLE notes ADD COLUMN process INTEGER;
     ALTER TABLE notes ADD COLUMN name TEXT;
     ALTER TABLE notes ADD COLUMN label TEXT;",
    // 11: what was asked for over HTTP under a key, and what was answered.
    "CREATE TABLE requests (
         id INTEGER PRIMARY KEY AUTOINCREMENT,
         token TEXT NOT NULL, key TEXT NOT NULL, digest TEXT NOT NULL,
         at INTEGER NOT NULL,
         owner TEXT NOT NULL,
         status INTEGER, body TEXT,
         UNIQUE (token, key)
     ) STRICT;",
    // 12: what was done in hours that are over, in milliseconds, and up to which hour that is known.
    "ALTER TABLE terminals ADD COLUMN added_up INTEGER;
     CREATE TABLE hours (
         terminal INTEGER NOT NULL REFERENCES terminals (id) ON DELETE CASCADE,
         hour INTEGER NOT NULL,
         working INTEGER NOT NULL, waiting INTEGER NOT NULL, ready INTEGER NOT NULL, gone INTEGER NOT NULL,
         unknown INTEGER NOT NULL,
         turns TEXT,
         PRIMARY KEY (terminal, hour)
     ) STRICT, WITHOUT ROWID;",
    // 13: whether a session began before anyone watched it, and what it had used when it was seen first.
    "ALTER TABLE usage ADD COLUMN unseen INTEGER NOT NULL DEFAULT 0;
     ALTER TABLE usage ADD COLUMN first_in INTEGER;
     ALTER TABLE usage ADD COLUMN first_out INTEGER;
     ALTER TABLE usage ADD COLUMN first_cost REAL;",
    // 14: the hours of a day in one row, as lines: there were as many rows as a long history has records.
    "CREATE TABLE days (
         terminal INTEGER NOT NULL REFERENCES terminals (id) ON DELETE CASCADE,
         day INTEGER NOT NULL,
         hours TEXT NOT NULL,
         PRIMARY KEY (terminal, day)
     ) STRICT, WITHOUT ROWID;
     INSERT INTO days SELECT terminal, hour / 24, group_concat(
         concat_ws(' ', hour % 24, working, waiting, ready, gone, unknown, turns), char(10) ORDER BY hour)
     FROM hours GROUP BY terminal, hour / 24;
     DROP TABLE hours;",
    ONCE,
    // 16: totals are added up when they are asked for.
    "DROP TABLE days;
     ALTER TABLE terminals DROP COLUMN added_up;",
    // 17: of what the operator says of a terminal, its name and its label are kept.
    "ALTER TABLE notes DROP COLUMN text;",
    // 18: the unsent text for each terminal, and for several.
    "CREATE TABLE drafts (terminal TEXT PRIMARY KEY, at INTEGER NOT NULL, text TEXT NOT NULL) STRICT;",
    // 19: the owner of a server queues what happens there, and alone sends what waits.
    "DROP TABLE follow_up_cursor;
     ALTER TABLE outbox DROP COLUMN owner;
     ALTER TABLE outbox DROP COLUMN claimed_until;",
    // 20: what one process sends the owner of the server sends, and tells the others.
    "DROP TABLE submissions;",
];

/// 15: what happened to a terminal at one time is kept once, whichever process saw it.
const ONCE: &str = "ALTER TABLE records ADD COLUMN sameness INTEGER;
     CREATE UNIQUE INDEX records_once ON records (terminal, at, sameness) WHERE sameness IS NOT NULL;";

/// The version that this program writes.
pub const VERSION: u32 = STEPS.len() as u32;

/// Brings a file to [`VERSION`], all or nothing. Two processes may try at once.
///
/// # Errors
/// The file was written by a newer fleetwatch, or it cannot be written.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), HistoryError> {
    let known = i64::from(VERSION);
    if version(connection)? == known {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = refuse_newer(&transaction)?;
    let done = usize::try_from(found).unwrap_or(STEPS.len());
    for step in STEPS.iter().skip(done) {
        transaction.execute_batch(step)?;
        if *step == ONCE {
            drop_doubles(&transaction)?;
        }
    }
    transaction.pragma_update(None, "user_version", known)?;
    transaction.commit()?;
    Ok(())
}

/// Removes what was kept twice: of the transitions of one terminal at one time that changed the same, the first one stays.
fn drop_doubles(connection: &Connection) -> Result<(), HistoryError> {
    let sql = "SELECT id, terminal, at, document FROM records r WHERE kind = 'transition' AND EXISTS
                   (SELECT 1 FROM records o WHERE o.terminal = r.terminal AND o.at = r.at AND o.id <> r.id) ORDER BY id";
    let (mut codec, mut known, mut doubles) = (Codec::new()?, BTreeSet::new(), Vec::new());
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (id, terminal, at, document): (i64, i64, i64, Vec<u8>) =
            (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
        // What cannot be read is like nothing else.
        let document = codec.unpack_document(&document).ok();
        let document = document.and_then(|document| serde_json::from_str::<Value>(&document).ok());
        let Some(changed) = document.map(|document| document["changed"].to_string()) else { continue };
        if !known.insert((terminal, at, changed)) {
            doubles.push(id);
        }
    }
    doubles.into_iter().try_for_each(|id| connection.execute("DELETE FROM records WHERE id = ?1", [id]).map(drop))?;
    Ok(())
}

/// The version of a file, unless this program does not know it.
///
/// # Errors
/// A newer fleetwatch wrote it, or it cannot be read.
pub(super) fn refuse_newer(connection: &Connection) -> Result<i64, HistoryError> {
    match version(connection)? {
        found if (0..=i64::from(VERSION)).contains(&found) => Ok(found),
        found => Err(HistoryError::Newer { found, known: VERSION }),
    }
}

/// The version of a file; 0 is an empty one.
pub(super) fn version(connection: &Connection) -> Result<i64, HistoryError> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

/// Records that are removed in one transaction: few enough that other processes are not kept waiting.
const CHUNK: i64 = 500;
/// Pages that are given back to the file system at once.
const PAGES: i64 = 1000;

/// Removes what is beyond the limits. Several processes may do so at once.
///
/// # Errors
/// The file cannot be written; what was removed until then stays removed.
pub(super) fn clean(connection: &mut Connection, limits: &Settings, now: Timestamp) -> Result<(), HistoryError> {
    if is_due(connection, "age", now)? {
        let oldest = now - limits.keep;
        while remove_oldest(connection, oldest)? {}
        forget_watches(connection, oldest)?;
        remove_loose(connection)?;
        connection.execute("INSERT OR REPLACE INTO chores VALUES ('age', ?1)", [now])?;
    }
    if used(connection)? > limits.max_bytes {
        // Some room is made beyond the limit, so that this is not done for each record again.
        let enough = limits.max_bytes / 10 * 9;
        while used(connection)? > enough && remove_oldest(connection, Timestamp::LAST)? {
            remove_loose(connection)?;
        }
    }
    give_back(connection)
}

/// Bytes of the file that are in use.
pub(super) fn used(connection: &Connection) -> Result<u64, HistoryError> {
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let pages = pragma("page_count")? - pragma("freelist_count")?;
    Ok(u64::try_from(pages * pragma("page_size")?).unwrap_or(0))
}

fn is_due(connection: &Connection, chore: &str, now: Timestamp) -> Result<bool, HistoryError> {
    let sql = "SELECT done_at FROM chores WHERE name = ?1";
    let done: Option<Timestamp> = connection.query_row(sql, [chore], |row| row.get(0)).optional()?;
    // A time in the future comes from a clock that was set back since.
    Ok(done.is_none_or(|done| done > now || now.since(done) >= Span::HOUR))
}

/// Removes some of the oldest records before a time; whether there were any.
fn remove_oldest(connection: &Connection, before: Timestamp) -> Result<bool, HistoryError> {
    let sql = "DELETE FROM records WHERE id IN (SELECT id FROM records WHERE at < ?1 ORDER BY at LIMIT ?2)";
    Ok(connection.execute(sql, params![before, CHUNK])? > 0)
}

/// Removes screens that no transition shows any more. In one transaction, because a writer may be about to use one.
fn remove_loose(connection: &mut Connection) -> Result<(), HistoryError> {
    let transaction = connection.transaction()?;
    transaction.execute(
        "DELETE FROM screens WHERE NOT EXISTS (SELECT 1 FROM transitions WHERE transitions.screen = screens.id)",
        [],
    )?;
    transaction.commit()?;
    Ok(())
}

/// Removes watches that ended before a time, terminals of which nothing is left, and intents and requests that are long done.
fn forget_watches(connection: &mut Connection, oldest: Timestamp) -> Result<(), HistoryError> {
    let transaction = connection.transaction()?;
    transaction.execute("DELETE FROM watches WHERE seen < ?1", [oldest])?;
    transaction.execute("DELETE FROM outbox WHERE ended_at < ?1", [oldest])?;
    transaction.execute("DELETE FROM requests WHERE at < ?1", [oldest])?;
    transaction.execute("DELETE FROM usage WHERE (hour + 1) * ?2 < ?1", params![oldest, HOUR])?;
    transaction.execute(
        "DELETE FROM terminals WHERE NOT EXISTS (SELECT 1 FROM records WHERE terminal = terminals.id)
             AND NOT EXISTS (SELECT 1 FROM watches WHERE terminal = terminals.id)
             AND NOT EXISTS (SELECT 1 FROM notes WHERE terminal = terminals.id AND at >= ?1)",
        [oldest],
    )?;
    transaction.commit()?;
    Ok(())
}

/// Gives free pages back to the file system, some at a time, once they are a good part of the file.
fn give_back(connection: &Connection) -> Result<(), HistoryError> {
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
