//! The tables, and how an older file becomes a newer one.

use rusqlite::{Connection, TransactionBehavior};

use super::Trouble;

/// What leads from each version to the next, from an empty file on. A step that was once released never changes.
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
    // 2: what is to be sent once its time has come.
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
];

/// The version that this program writes.
pub const VERSION: u32 = STEPS.len() as u32;

/// Brings a file to [`VERSION`], all or nothing. Two processes may try at once.
///
/// # Errors
/// The file was written by a newer fleetwatch, or it cannot be written.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), Trouble> {
    let known = i64::from(VERSION);
    if version(connection)? == known {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = refuse_newer(&transaction)?;
    let done = usize::try_from(found).unwrap_or(STEPS.len());
    for step in STEPS.iter().skip(done) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "user_version", known)?;
    transaction.commit()?;
    Ok(())
}

/// The version of a file, unless this program does not know it.
///
/// # Errors
/// A newer fleetwatch wrote it, or it cannot be read.
pub(super) fn refuse_newer(connection: &Connection) -> Result<i64, Trouble> {
    match version(connection)? {
        found if (0..=i64::from(VERSION)).contains(&found) => Ok(found),
        found => Err(Trouble::Newer { found, known: VERSION }),
    }
}

/// The version of a file; 0 is an empty one.
pub(super) fn version(connection: &Connection) -> Result<i64, Trouble> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}
