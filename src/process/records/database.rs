//! Reads one session from a database that an agent keeps about all of them, and creates no files beside it.

use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row};
use serde_json::{Map, Value};

use super::files::{Workplace, open};
use crate::clock::A_MOMENT;

/// How long a poll waits for the records of agents.
pub const READ_WITHIN: Duration = Duration::from_millis(250);
/// How long all queries together may take, and wait while the agent writes: some databases have gigabytes. The poll still gets
/// what was found by then.
const LONGEST: Duration = READ_WITHIN.saturating_sub(A_MOMENT);
/// Steps of SQLite's machine between two checks of the clock.
const STEPS: i32 = 10_000;
/// The most rows of one query.
const ROWS: usize = 1000;
/// The column with the session that later queries ask about.
const SESSION: &str = "session";

/// The file with what SQLite has not yet written into the database.
pub(super) fn journal(path: &Path) -> Option<PathBuf> {
    beside(path, "-wal")
}

fn beside(path: &Path, end: &str) -> Option<PathBuf> {
    Some(path.with_file_name(format!("{}{end}", path.file_name()?.to_str()?)))
}

/// The rows that answer the queries, as far as there was an answer.
#[derive(Debug)]
pub(super) struct DatabaseAnswers {
    pub rows: Vec<Value>,
    pub ended: Result<(), Unanswered>,
}

impl DatabaseAnswers {
    const NONE: Self = Self { rows: Vec::new(), ended: Err(Unanswered::Busy) };
}

/// Runs all queries on the database at `path` in one transaction, so that all answers are of one moment.
pub(super) fn query(path: &Path, queries: &[String], at: &Workplace) -> DatabaseAnswers {
    let opened = open(path).and_then(|file| AgentDatabase::open(path, &file));
    let Some(mut database) = opened else { return DatabaseAnswers::NONE };
    let mut answers = DatabaseAnswers { rows: Vec::new(), ended: Ok(()) };
    for query in queries {
        let session = answers.rows.iter().rev().find_map(|row| row.get(SESSION)?.as_str()).map(str::to_owned);
        match database.ask(query, at, session.as_deref()) {
            Ok(rows) => answers.rows.extend(rows),
            Err(unanswered) => {
                answers.ended = Err(unanswered);
                break;
            }
        }
    }
    answers
}

/// A database, opened only to read.
struct AgentDatabase {
    connection: Connection,
    end: Instant,
}

/// Why a query has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unanswered {
    /// The agent is writing: it can be tried again at once.
    Busy,
    /// All queries together took too long.
    TooLong,
}

impl AgentDatabase {
    /// Opens the database, if that is possible now without creating a file beside it.
    fn open(path: &Path, file: &File) -> Option<Self> {
        let uri = format!("file:{}?mode=ro{}", escaped(path), how(path, file)?);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let mut connection = Connection::open_with_flags(uri, flags).ok()?;
        connection.busy_timeout(LONGEST).ok()?;
        connection.execute_batch("PRAGMA query_only = 1; PRAGMA trusted_schema = 0; BEGIN").ok()?;
        let end = Instant::now() + LONGEST;
        connection.progress_handler(STEPS, Some(move || Instant::now() > end)).ok()?;
        Some(Self { connection, end })
    }

    /// The rows that answer a query; one for another version of the database has none.
    fn ask(&mut self, query: &str, at: &Workplace, session: Option<&str>) -> Result<Vec<Value>, Unanswered> {
        if Instant::now() > self.end {
            return Err(Unanswered::TooLong);
        }
        rows(&self.connection, query, at, session).or_else(|error| match error.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) => Err(Unanswered::TooLong),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::CannotOpen | ErrorCode::ReadOnly) => {
                Err(Unanswered::Busy)
            }
            _ => Ok(Vec::new()),
        })
    }
}

/// Parameters of SQLite's URI that keep it from creating files: it would create those of a write-ahead log, which are
/// missing while nobody has the database open. `None` if it cannot be read that way now.
fn how(path: &Path, file: &File) -> Option<&'static str> {
    /// The byte of the header that says how it is written, and its value for a write-ahead log.
    const WRITTEN: (u64, u8) = (18, 2);
    let mut written = [0];
    file.read_exact_at(&mut written, WRITTEN.0).ok()?;
    if written[0] != WRITTEN.1 {
        return Some("");
    }
    let size = |end: &str| Some(beside(path, end)?.symlink_metadata().ok()?.len());
    match (size("-wal"), size("-shm")) {
        // The log is read, and its index is not even marked.
        (Some(_), Some(_)) => Some("&readonly_shm=1"),
        (None | Some(0), _) => Some("&immutable=1"),
        (Some(_), None) => None,
    }
}

/// A path for a URI.
fn escaped(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-~".contains(&byte);
    let bytes = path.as_os_str().as_bytes().iter();
    bytes.map(|&byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

fn rows(connection: &Connection, query: &str, at: &Workplace, session: Option<&str>) -> rusqlite::Result<Vec<Value>> {
    let mut statement = connection.prepare(query)?;
    let mut put = |name: &str, value: &dyn rusqlite::ToSql| match statement.parameter_index(name) {
        Ok(Some(place)) => statement.raw_bind_parameter(place, value),
        _ => Ok(()),
    };
    put(":directory", &at.directory.to_str())?;
    put(":began", &at.began.as_millis())?;
    put(":session", &session)?;
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut found = Vec::new();
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()?.filter(|_| found.len() < ROWS) {
        found.push(value(row, &columns)?);
    }
    Ok(found)
}

/// A row as a JSON value; texts that are JSON are parsed.
fn value(row: &Row<'_>, columns: &[String]) -> rusqlite::Result<Value> {
    let mut fields = Map::new();
    for (place, name) in columns.iter().enumerate() {
        let value = match row.get_ref(place)? {
            ValueRef::Null | ValueRef::Blob(_) => Value::Null,
            ValueRef::Integer(number) => number.into(),
            ValueRef::Real(number) => number.into(),
            ValueRef::Text(text) => read_text(&String::from_utf8_lossy(text)),
        };
        fields.insert(name.clone(), value);
    }
    Ok(Value::Object(fields))
}

/// A text of a row, parsed if it is JSON.
fn read_text(text: &str) -> Value {
    let written = Some(text).filter(|text| text.starts_with(['{', '[']));
    written.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_else(|| text.to_owned().into())
}
