//! Names of terminals and processes that are the same in all fleetwatch processes.

use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::fleet::{PaneId, ServerId, Socket, TerminalKey};
use crate::ids::ServerInstance;
use crate::record::HistoryError;
use crate::record::timeline::BEAT;
use crate::time::{Span, Timestamp};

/// A fleetwatch process, as its records name it: process id and start, a pair that is never reused.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Owner(String);

impl Owner {
    /// A name for this process at this time; each call makes another one.
    pub fn of_process(now: Timestamp) -> Self {
        static MADE: AtomicU64 = AtomicU64::new(0);
        Self(format!("{}-{}-{}", std::process::id(), now.as_millis(), MADE.fetch_add(1, Ordering::Relaxed)))
    }

    /// A given name, as it was read back or as a test wants it.
    pub fn named(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// Whether the process of this name is known to have ended. It is not while another process has its id.
    pub(super) fn has_ended(name: &str) -> bool {
        let pid = name.split('-').next().and_then(|pid| pid.parse().ok()).and_then(rustix::process::Pid::from_raw);
        pid.is_some_and(|pid| rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH))
    }

    /// The name as it is stored.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// How long a silent process still counts as watching.
pub(super) const LEASE: Span = BEAT.times(3);

/// A terminal's identity as columns.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub(super) struct Columns {
    /// Empty for this machine.
    pub host: String,
    pub socket: String,
    pub pane: u32,
    pub pid: u32,
    /// The table of terminals does not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
}

impl Columns {
    pub(super) fn of(key: &TerminalKey) -> Self {
        Self {
            host: key.server.host.as_deref().unwrap_or_default().to_owned(),
            socket: key.server.socket.word(),
            pane: key.pane.0,
            pid: key.pid,
            instance: key.instance.word().map(str::to_owned),
        }
    }

    /// From four columns of a row, in the order of the table.
    pub(super) fn read(row: &Row<'_>, first: usize) -> rusqlite::Result<Self> {
        let (host, socket, pane) = (row.get(first)?, row.get(first + 1)?, row.get(first + 2)?);
        Ok(Self { host, socket, pane, pid: row.get(first + 3)?, instance: None })
    }

    pub(super) fn key(&self) -> TerminalKey {
        let host = Some(self.host.as_str().into()).filter(|_| !self.host.is_empty());
        let server = ServerId { host, socket: socket(&self.socket) };
        TerminalKey {
            server,
            pane: PaneId(self.pane),
            pid: self.pid,
            instance: ServerInstance::new(self.instance.as_deref().unwrap_or_default()),
        }
    }
}

impl ToSql for Timestamp {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.as_millis().into())
    }
}

impl FromSql for Timestamp {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_i64().map(Timestamp::from_millis)
    }
}

/// The row of a terminal in the table of terminals.
pub(super) fn terminal_row(connection: &Connection, key: &TerminalKey) -> Result<Option<i64>, HistoryError> {
    let Columns { host, socket, pane, pid, .. } = Columns::of(key);
    let sql = "SELECT id FROM terminals WHERE host = ?1 AND socket = ?2 AND pane = ?3 AND pid = ?4";
    Ok(connection.prepare_cached(sql)?.query_row(params![host, socket, pane, pid], |row| row.get(0)).optional()?)
}

/// The same, inserted if missing. Sets the terminal's name if one is given.
pub(super) fn terminal_row_for(
    connection: &Connection,
    key: &TerminalKey,
    name: Option<&str>,
) -> Result<i64, HistoryError> {
    if let Some(row) = terminal_row(connection, key)? {
        let sql = "UPDATE terminals SET name = ?1 WHERE id = ?2 AND name <> ?1";
        if let Some(name) = name {
            connection.prepare_cached(sql)?.execute(params![name, row])?;
        }
        return Ok(row);
    }
    let Columns { host, socket, pane, pid, .. } = Columns::of(key);
    let sql = "INSERT INTO terminals (host, socket, pane, pid, name) VALUES (?1, ?2, ?3, ?4, ?5)";
    Ok(connection.prepare_cached(sql)?.insert(params![host, socket, pane, pid, name.unwrap_or_default()])?)
}

/// A server's host, empty for this machine, and its socket, however that was spelt.
pub fn stored_server(server: &ServerId) -> (String, String) {
    (server.host.as_deref().unwrap_or_default().to_owned(), server.socket.word())
}

fn socket(word: &str) -> Socket {
    match word.split_once(':') {
        Some(("name", name)) => Socket::Name(name.into()),
        Some(("path", path)) => Socket::at(path),
        _ => Socket::Default,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(socket: Socket) -> TerminalKey {
        TerminalKey { server: ServerId { host: None, socket }, pane: PaneId(4), pid: 17, instance: Default::default() }
    }

    #[test]
    fn one_server_has_one_name_however_it_was_spelt() {
        let name = key(Socket::Name("work".into()));
        // Whose directory that is, this does not know.
        assert!(!name.may_be(&key(Socket::at("/tmp/tmux-1000/work"))));
        assert!(!key(Socket::Default).may_be(&key(Socket::at("/tmp/tmux-0/default"))));
        assert!(key(Socket::Default).may_be(&key(Socket::Name("default".into()))));
        assert!(!name.may_be(&key(Socket::at("/run/work"))));
        assert!(!name.may_be(&key(Socket::Default)));
        assert!(!name.may_be(&TerminalKey { pid: 18, ..name.clone() }));
    }

    #[test]
    fn a_process_lives_until_it_has_ended() {
        let own = Owner::of_process(Timestamp::default());
        for unknown in [own.as_str(), "", "a", "0-1-2", "-1-1"] {
            assert!(!Owner::has_ended(unknown), "{unknown}");
        }
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let name = format!("{}-1800000000000-0", child.id());
        child.wait().unwrap();
        assert!(Owner::has_ended(&name));
    }

    #[test]
    fn identities_come_back() {
        for socket in [Socket::Default, Socket::Name("a:b".into()), Socket::at("/run/x:y")] {
            let local = key(socket);
            assert_eq!(Columns::of(&local).key(), local);
            let server = ServerId { host: Some("box".into()), ..local.server.clone() };
            let remote = TerminalKey { server, ..local };
            assert_eq!(Columns::of(&remote).key(), remote);
        }
    }
}
