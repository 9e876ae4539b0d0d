//! The messages between owner and clients: one JSON line each.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::net::unix::OwnedReadHalf;

use crate::fleet::{
    Capture, Checkpoint, Input, PaneReport, PollResult, Replaced, ServerId, ServerLoad, ServerReport, TaskReport,
    TerminalKey,
};
use crate::notify::NoticeId;
use crate::operation::Operation;
use crate::time::{Span, Timestamp};

/// Increase it whenever the meaning of a message changes.
pub(super) const PROTOCOL: u32 = 15;
/// The longest line, in bytes: a checkpoint of thousands of terminals is shorter.
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
    /// What the owner is to do, for a process that is no client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Box<Asked>>,
}

impl Hello {
    pub(super) fn new(server: ServerId, rules: u64, rank: Rank) -> Self {
        Self { protocol: PROTOCOL, version: env!("CARGO_PKG_VERSION").to_owned(), server, rules, rank, asked: None }
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

/// An operation that another process asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Asked {
    pub operation: Operation,
    /// How long its effect is waited for.
    pub reaction: Span,
}

/// A later message of a client.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ClientMessage {
    /// Something was sent: poll at once.
    Wake,
    /// Poll once more, and report when all inputs of a poll that began after this request have been sent.
    Poll {
        /// The process that asks, by its id.
        by: u32,
    },
    /// An input that its process handled, if it [concerns the others](concerns_others).
    Taken(Input),
}

/// Whether an input from one process is for the fleets of the others as well.
pub(super) fn concerns_others(input: &Input) -> bool {
    matches!(input, Input::Seen { .. } | Input::TaskKilled { .. } | Input::Submitted { .. })
}

/// A message of the owner.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OwnerMessage {
    /// The owner refuses the client; the reason is for people.
    Refused { why: String },
    /// The first message to each client: everything that is known, and the panes that later messages are relative to.
    Checkpoint {
        checkpoint: Box<Checkpoint>,
        panes: Vec<PaneReport>,
        /// The purpose of the owner's process.
        rank: Rank,
    },
    /// A poll, relative to the one before.
    Report { at: Timestamp, load: ServerLoad, outcome: Delta },
    /// The tasks of the same poll; `None` if they are as in the poll before.
    Tasks { at: Timestamp, report: Option<Box<TaskReport>> },
    /// A poll that this process asked for has been sent completely.
    Polled { by: u32 },
    /// An input from the history, or from any process.
    Taken(Input),
    /// A notice went out, or nobody wants it.
    Handled(NoticeId),
    /// The owner runs and has nothing to report.
    Alive,
}

/// The changes since the poll before.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Delta {
    Listed {
        changed: Vec<PaneReport>,
        gone: Vec<TerminalKey>,
        #[serde(default)]
        replaced: Replaced,
    },
    /// No pane could be listed.
    Other(PollResult),
}

/// The panes of the last poll, which the next one is compared with.
#[derive(Debug, Default)]
pub(super) struct LastPanes(BTreeMap<TerminalKey, PaneReport>);

impl LastPanes {
    pub(super) fn new(panes: Vec<PaneReport>) -> Self {
        Self(panes.into_iter().map(|pane| (pane.key.clone(), pane)).collect())
    }

    pub(super) fn all(&self) -> Vec<PaneReport> {
        self.0.values().cloned().collect()
    }

    /// The changes in a report, which becomes the last one.
    pub(super) fn delta(&mut self, report: &ServerReport) -> OwnerMessage {
        let outcome = match &report.outcome {
            PollResult::Listed(panes) => {
                let mut before = std::mem::take(&mut self.0);
                let mut changed = Vec::new();
                for pane in panes {
                    let unchanged = PaneReport { capture: Capture::Unchanged, ..pane.clone() };
                    let is_same = before.remove(&pane.key).is_some_and(|before| before == unchanged);
                    if !is_same || pane.capture != Capture::Unchanged {
                        changed.push(pane.clone());
                    }
                    self.0.insert(pane.key.clone(), unchanged);
                }
                Delta::Listed { changed, gone: before.into_keys().collect(), replaced: report.replaced.clone() }
            }
            other => Delta::Other(other.clone()),
        };
        OwnerMessage::Report { at: report.at, load: report.load, outcome }
    }

    /// Restores the report behind a delta.
    pub(super) fn report(&mut self, server: &ServerId, at: Timestamp, load: ServerLoad, delta: Delta) -> ServerReport {
        let (replaced, outcome) = match delta {
            Delta::Listed { changed, gone, replaced } => {
                gone.iter().for_each(|key| drop(self.0.remove(key)));
                let mut captures = BTreeMap::new();
                for mut pane in changed {
                    captures.insert(pane.key.clone(), std::mem::replace(&mut pane.capture, Capture::Unchanged));
                    self.0.insert(pane.key.clone(), pane);
                }
                let whole = |pane: &PaneReport| {
                    let capture = captures.remove(&pane.key).unwrap_or(Capture::Unchanged);
                    PaneReport { capture, ..pane.clone() }
                };
                (replaced, PollResult::Listed(self.0.values().map(whole).collect()))
            }
            Delta::Other(outcome) => (Replaced::default(), outcome),
        };
        ServerReport { server: server.clone(), at, load, replaced, outcome }
    }
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

    #[test]
    fn a_poll_comes_back_from_what_is_new_in_it() {
        use crate::fleet::PaneId;
        use crate::profile::Program;
        use crate::screen::{PaneFacts, Screen};
        let server = ServerId::default();
        let pane = |pane, title: &str, capture| PaneReport {
            key: TerminalKey { server: server.clone(), pane: PaneId(pane), pid: 7, instance: Default::default() },
            place: Arc::default(),
            cwd: None,
            facts: PaneFacts { title: title.to_owned(), ..PaneFacts::default() },
            program: Program::Other { command: "sh".to_owned() },
            capture,
            declared: None,
            record: None,
            git: None,
            agent_process: None,
            printed_until: None,
        };
        let fresh = || Capture::Fresh(Arc::new(Screen::from_text("one\ntwo", 20)));
        let polls = [
            vec![pane(1, "a", fresh()), pane(2, "b", fresh())],
            vec![pane(1, "a", Capture::Unchanged), pane(2, "b", fresh())],
            vec![pane(1, "a", Capture::Unchanged), pane(2, "c", Capture::Unchanged)],
            vec![pane(1, "a", Capture::Unchanged), pane(3, "", fresh())],
            vec![],
        ];
        let (mut owner, mut client) = (LastPanes::default(), LastPanes::default());
        let mut counts = Vec::new();
        for panes in polls {
            let at = Timestamp::from_millis(1);
            let load = ServerLoad::default();
            let replaced = Replaced { is_server: panes.is_empty(), panes: [PaneId(panes.len() as u32)].into() };
            let outcome = PollResult::Listed(panes.clone());
            let report = ServerReport { server: server.clone(), at, load, replaced: replaced.clone(), outcome };
            let message = line(&owner.delta(&report)).unwrap();
            let OwnerMessage::Report { at, load, outcome } = serde_json::from_slice(&message).unwrap() else {
                panic!("no poll")
            };
            let Delta::Listed { changed, gone, .. } = &outcome else { panic!("no list") };
            counts.push((changed.len(), gone.len()));
            let back = client.report(&server, at, load, outcome);
            assert_eq!(back.replaced, replaced);
            let PollResult::Listed(back) = back.outcome else { panic!("no list") };
            assert_eq!(back, panes);
        }
        assert_eq!(counts, [(2, 0), (1, 0), (1, 0), (1, 1), (0, 2)]);
    }
}
