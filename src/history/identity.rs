//! Terminals and processes by names that two processes of fleetwatch spell alike.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::fleet::{PaneId, ServerId, Socket, TerminalKey};
use crate::moment::Moment;

/// A process of fleetwatch, as it signs what it writes: process id and start, which together do not come back.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Owner(String);

impl Owner {
    /// The name of this process, given the time; each call makes another one.
    pub fn of_process(now: Moment) -> Self {
        static MADE: AtomicU64 = AtomicU64::new(0);
        Self(format!("{}-{}-{}", std::process::id(), now.as_millis(), MADE.fetch_add(1, Ordering::Relaxed)))
    }

    /// A given name, as it was read back or as a test wants it.
    pub fn named(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The name as it is stored.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A terminal's identity as columns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Columns {
    /// Empty for this machine.
    pub host: String,
    pub socket: String,
    pub pane: u32,
    pub pid: u32,
}

impl Columns {
    pub(super) fn of(key: &TerminalKey) -> Self {
        let host = key.server.host.clone().unwrap_or_default();
        Self { host, socket: socket_word(&key.server.socket), pane: key.pane.0, pid: key.pid }
    }

    pub(super) fn key(&self) -> TerminalKey {
        let host = Some(self.host.clone()).filter(|host| !host.is_empty());
        let server = ServerId { host, socket: socket(&self.socket) };
        TerminalKey { server, pane: PaneId(self.pane), pid: self.pid }
    }
}

/// Whether two identities are the same terminal, however its socket was spelt.
pub fn same_terminal(left: &TerminalKey, right: &TerminalKey) -> bool {
    Columns::of(left) == Columns::of(right)
}

/// A socket as it is stored. A path in tmux's own directory is written by its name, because `-L work`, `-S
/// /tmp/tmux-1000/work` and the variable `TMUX` mean the same server.
fn socket_word(socket: &Socket) -> String {
    match socket {
        Socket::Default => "default".to_owned(),
        Socket::Name(name) => format!("name:{name}"),
        Socket::Path(path) => match own_name(path).as_deref() {
            Some("default") => "default".to_owned(),
            Some(name) => format!("name:{name}"),
            None => format!("path:{}", path.display()),
        },
    }
}

fn own_name(path: &Path) -> Option<String> {
    let directory = path.parent()?.file_name()?.to_string_lossy();
    directory.starts_with("tmux-").then(|| path.file_name().map(|name| name.to_string_lossy().into_owned()))?
}

fn socket(word: &str) -> Socket {
    match word.split_once(':') {
        Some(("name", name)) => Socket::Name(name.to_owned()),
        Some(("path", path)) => Socket::Path(path.into()),
        _ => Socket::Default,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(socket: Socket) -> TerminalKey {
        TerminalKey { server: ServerId { host: None, socket }, pane: PaneId(4), pid: 17 }
    }

    #[test]
    fn one_server_has_one_name_however_it_was_spelt() {
        let name = key(Socket::Name("work".into()));
        assert!(same_terminal(&name, &key(Socket::Path("/tmp/tmux-1000/work".into()))));
        assert!(same_terminal(&key(Socket::Default), &key(Socket::Path("/tmp/tmux-0/default".into()))));
        assert!(!same_terminal(&name, &key(Socket::Path("/run/work".into()))));
        assert!(!same_terminal(&name, &key(Socket::Default)));
        assert!(!same_terminal(&name, &TerminalKey { pid: 18, ..name.clone() }));
    }

    #[test]
    fn identities_come_back() {
        for socket in [Socket::Default, Socket::Name("a:b".into()), Socket::Path("/run/x:y".into())] {
            let local = key(socket);
            assert_eq!(Columns::of(&local).key(), local);
            let server = ServerId { host: Some("box".into()), ..local.server.clone() };
            let remote = TerminalKey { server, ..local };
            assert_eq!(Columns::of(&remote).key(), remote);
        }
    }
}
