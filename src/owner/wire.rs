//! The messages between owner and clients: one JSON line each.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::net::unix::OwnedReadHalf;

use crate::fleet::{ServerId, TerminalKey, Told};
use crate::ids::WindowId;
use crate::notify::NoticeId;
use crate::operation::Operation;
use crate::time::Span;

/// Increase it whenever the meaning of a message changes.
pub(super) const PROTOCOL: u32 = 16;
/// The longest time between two messages to a client, or to a process that waits for an outcome.
pub(super) const BEAT: Duration = Duration::from_millis(500);
/// How long a process at the other end may be silent that was asked something, before it counts as stopped.
pub(super) const STOPPED: Duration = BEAT.saturating_mul(4);
/// The longest line, in bytes: what is known of thousands of terminals is shorter.
const LONGEST: u64 = 256 << 20;

/// The first message of a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hello {
    pub protocol: u32,
    pub version: String,
    pub server: ServerId,
    /// The fingerprint of the client's configuration and profiles.
    pub rules: u64,
    /// The purpose of the client; another version may omit it.
    #[serde(default)]
    pub rank: Rank,
    /// What the owner is to do once, for a process that is no client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Errand>,
}

impl Hello {
    pub(super) fn new(server: ServerId, rules: u64, rank: Rank) -> Self {
        Self { protocol: PROTOCOL, version: env!("CARGO_PKG_VERSION").to_owned(), server, rules, rank, asked: None }
    }

    /// Whether its process asks for an operation, which says all that is to be done, by whichever rules.
    pub(super) fn acts(&self) -> bool {
        matches!(self.asked, Some(Errand::Act(_)))
    }

    /// Whether its process should own the server instead of another one: a later release of fleetwatch, or the same release
    /// with a higher rank.
    pub(super) fn outranks(&self, other: &Hello) -> bool {
        let numbers = |hello: &Hello| -> Vec<u64> {
            hello.version.split(['.', '-', '+']).map_while(|number| number.parse().ok()).collect()
        };
        let place = |hello: &Hello| (hello.protocol, numbers(hello), hello.rank);
        self.rank.may_own() && place(self) > place(other)
    }
}

/// What another process asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Errand {
    /// What is known of the server; if `fresh`, after a poll that begins now.
    Known { fresh: bool },
    /// An operation.
    Act(Box<Order>),
}

/// An operation that another process asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Order {
    pub operation: Operation,
    /// How long its effect is waited for.
    pub reaction: Span,
}

/// A later message of a client.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientMessage {
    /// Something was done: poll at once.
    Wake,
    /// The operator has seen a terminal.
    Seen { key: TerminalKey },
    /// The operator kills a task; `reason` says so to people.
    TaskKilled { window: WindowId, reason: String },
}

/// A message of the owner.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OwnerMessage {
    /// The owner refuses the client; the reason is for people.
    Refused { why: String },
    /// The first message to each client: all that is known, and the purpose of the owner's process.
    Known { told: Box<Told>, rank: Rank },
    /// What has changed since.
    Told(Box<Told>),
    /// A notice went out, or nobody wants it.
    Handled(NoticeId),
    /// The owner runs and has nothing to report.
    Alive,
}

/// A message as a line.
pub(super) fn line(message: &impl Serialize) -> io::Result<Arc<[u8]>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line.into())
}

/// Reads messages off a connection.
#[derive(Debug)]
pub(super) struct Lines {
    reader: BufReader<OwnedReadHalf>,
    /// The part of a line read so far: a read may be cancelled within a line.
    line: Vec<u8>,
}

impl Lines {
    pub(super) fn new(reader: OwnedReadHalf) -> Self {
        Self { reader: BufReader::with_capacity(1 << 16, reader), line: Vec::new() }
    }

    /// The next message; `None` at the end. May be dropped while it waits.
    ///
    /// # Errors
    /// The other side is gone, or says what this one does not understand.
    pub(super) async fn next<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        match self.next_line().await? {
            Some(line) => Ok(Some(serde_json::from_slice(&line)?)),
            None => Ok(None),
        }
    }

    /// The next message as it came, with the line feed behind it.
    pub(super) async fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let room = LONGEST.saturating_sub(self.line.len() as u64);
            let read = (&mut self.reader).take(room).read_until(b'\n', &mut self.line).await?;
            if self.line.last() == Some(&b'\n') {
                return Ok(Some(std::mem::take(&mut self.line)));
            }
            if read == 0 {
                let cut = !self.line.is_empty();
                return if cut { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(None) };
            }
        }
    }
}

/// The role of this process for a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It polls because there is no owner that it can follow.
    Alone,
    /// It polls and tells its clients.
    Owner,
    /// It is told by the owner.
    Client,
}

/// The purpose of a process. Of those that may own a server, the one with the highest rank does: a dashboard knows what its
/// operator sees and mutes, and only a process with a terminal can ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rank {
    /// It watches for a while and never owns.
    #[default]
    Reader,
    /// It watches only so that others need not.
    Background,
    /// `fleetwatch watch` without a terminal.
    Watch,
    /// `fleetwatch watch` in a terminal.
    Terminal,
    Dashboard,
}

impl Rank {
    pub(super) fn may_own(self) -> bool {
        self != Rank::Reader
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_release_owns_before_an_earlier_one_and_a_dashboard_before_watch() {
        let hello = |protocol, version: &str, rank| Hello {
            protocol,
            version: version.to_owned(),
            ..Hello::new(ServerId::default(), 0, rank)
        };
        let outranks = |one: (u32, &str, Rank), other: (u32, &str, Rank)| {
            hello(one.0, one.1, one.2).outranks(&hello(other.0, other.1, other.2))
        };
        let (new, old) = ((1, "0.10.0", Rank::Watch), (1, "0.9.3", Rank::Watch));
        assert!(outranks(new, old) && !outranks(old, new) && !outranks(old, old));
        assert!(outranks((2, "0.9.3", Rank::Watch), new));
        let dashboard = (1, "0.9.3", Rank::Dashboard);
        assert!(outranks(dashboard, old) && !outranks(old, dashboard) && !outranks(dashboard, new));
        assert!(!outranks((3, "1.0.0", Rank::Reader), old), "it does not stay");
    }
}
