//! Asks a database that an agent keeps about all its sessions what is known of one.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row};
use serde_json::{Map, Value};

use super::find::Workplace;

/// How long the agent's own writing is waited for.
const BUSY: Duration = Duration::from_millis(50);
/// How long one question may take: databases of gigabytes were seen.
const LONGEST: Duration = Duration::from_millis(200);
/// Steps of SQLite's machine between two looks at the clock.
const STEPS: i32 = 10_000;
/// Rows that a question may have.
const ROWS: usize = 1000;

/// The file in which SQLite keeps what is not yet in the database.
pub(super) fn journal(path: &Path) -> Option<PathBuf> {
    Some(path.with_file_name(format!("{}-wal", path.file_name()?.to_str()?)))
}

/// A database that is only read.
pub(super) struct AgentDatabase(Connection);

impl AgentDatabase {
    /// Opens one, if that is possible now.
    pub(super) fn open(path: &Path) -> Option<Self> {
        let flags =
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(path, flags).ok()?;
        connection.busy_timeout(BUSY).ok()?;
        connection.execute_batch("PRAGMA query_only = 1; PRAGMA trusted_schema = 0;").ok()?;
        Some(Self(connection))
    }

    /// The rows that answer a question. One that fits another version of the database, or takes too long, has none.
    pub(super) fn ask(&mut self, query: &str, at: &Workplace, session: Option<&str>) -> Vec<Value> {
        let end = Instant::now() + LONGEST;
        let limited = self.0.progress_handler(STEPS, Some(move || Instant::now() > end));
        limited.and_then(|()| rows(&self.0, query, at, session)).unwrap_or_default()
    }
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

/// A row as a JSON value; a text that is JSON as what it says.
fn value(row: &Row<'_>, columns: &[String]) -> rusqlite::Result<Value> {
    let mut fields = Map::new();
    for (place, name) in columns.iter().enumerate() {
        let value = match row.get_ref(place)? {
            ValueRef::Null | ValueRef::Blob(_) => Value::Null,
            ValueRef::Integer(number) => number.into(),
            ValueRef::Real(number) => number.into(),
            ValueRef::Text(text) => {
                let written = Some(text).filter(|text| matches!(text.first(), Some(b'{' | b'[')));
                let read = written.and_then(|text| serde_json::from_slice(text).ok());
                read.unwrap_or_else(|| String::from_utf8_lossy(text).into_owned().into())
            }
        };
        fields.insert(name.clone(), value);
    }
    Ok(Value::Object(fields))
}
