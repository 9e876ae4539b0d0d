//! A summary of each server as it is now, for tmux's status line and others that must not ask tmux again. It holds as long as
//! its process counts as watching; one of a process that has ended, as it was killed, does not hold at all.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

use super::identity::{LEASE, Owner};
use crate::fleet::{ServerHealth, Terminal, View};
use crate::ids::ServerId;
use crate::record::HistoryError;
use crate::state::{Attention, Problem};
use crate::status::Status;
use crate::task::Task;
use crate::time::{Span, Timestamp};

/// Who has said what holds for that long: nobody any more.
pub(super) const LEFT: &str = "";
/// Terminals that are named; the others are counted.
const NAMED: usize = 50;

/// How many terminals of one server need what, and which of them need the operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerSummary {
    /// [`ServerId::word`], which no two servers share.
    #[serde(skip)]
    pub server: String,
    #[serde(skip)]
    pub at: Timestamp,
    /// Whether its process has ended, so that another one says the same in a moment, or nobody any more.
    #[serde(skip)]
    pub is_left: bool,
    /// Terminals by what they need, else by what they do: the words of `attention`, then `working`, `ready`, `error` and
    /// `unknown`. Muted ones need nothing.
    pub counts: BTreeMap<String, usize>,
    /// The terminals that need the operator, most urgent first.
    pub needs: Vec<Need>,
    /// Why the server does not answer, if it does not.
    #[serde(default)]
    pub problem: Option<Problem>,
}

/// A terminal that needs the operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Need {
    pub terminal: String,
    /// That of its public state; of a task, what its status is.
    pub attention: Attention,
    /// The word under which it is counted.
    pub counted: String,
    /// [`Status::word`].
    pub word: String,
    /// Since when; an older version did not say.
    #[serde(default)]
    pub since: Option<Timestamp>,
}

impl Need {
    /// Its place by urgency; all that waits for the operator stands equal.
    pub fn place(&self) -> usize {
        Status::GROUPS.iter().position(|group| group.name() == self.counted).unwrap_or_default()
    }
}

impl ServerSummary {
    /// The summary of a server that is in view; the last two say whose needs do not count.
    pub fn of(
        view: &View<'_>,
        server: &ServerId,
        is_muted: &dyn Fn(&Terminal) -> bool,
        is_task_muted: &dyn Fn(&Task) -> bool,
    ) -> Self {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let mut needs = Vec::new();
        let mut count = |id: &str, status: Status, attention: Attention, since: Timestamp| {
            *counts.entry(status.name().to_owned()).or_default() += 1;
            if status.attention() != Attention::None && needs.len() < NAMED {
                let (counted, word) = (status.name().to_owned(), status.word().into_owned());
                needs.push(Need { terminal: id.to_owned(), attention, counted, word, since: Some(since) });
            }
        };
        for terminal in view.terminals.iter().filter(|terminal| terminal.key.server == *server) {
            let state = &terminal.state;
            let status = if is_muted(terminal) { quiet(Status::doing(state)) } else { Status::of(state) };
            count(&state.terminal.id, status, state.attention, state.since);
        }
        for task in view.tasks.iter().filter(|task| task.key.server == *server) {
            let status = if is_task_muted(task) { quiet(task.as_status()) } else { task.as_status() };
            count(&task.id, status, status.attention(), task.since);
        }
        needs.sort_by_key(|need| (need.place(), need.since));
        let health = view.servers.iter().find(|shown| shown.id == *server).map(|shown| &shown.health);
        let problem = health.and_then(ServerHealth::problem).cloned();
        Self { server: server.word(), at: view.now, is_left: false, counts, needs, problem }
    }

    /// Writes it in place of the one before.
    pub(super) fn write(&self, connection: &Connection, owner: &Owner) -> Result<(), HistoryError> {
        let body = serde_json::to_string(self).map_err(|error| HistoryError::Other(error.to_string()))?;
        // Ranks are of older versions.
        let sql = "INSERT INTO standings (server, owner, rank, at, body) VALUES (?1, ?2, 0, ?3, ?4)
                   ON CONFLICT (server) DO UPDATE SET owner = ?2, rank = 0, at = ?3, body = ?4";
        let values = params![self.server, owner.as_str(), self.at, body];
        connection.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }

    /// Lets the summaries of a process that ends expire in a moment, in which the next one writes its own.
    pub(super) fn leave(connection: &Connection, owner: &Owner, now: Timestamp) -> Result<(), HistoryError> {
        let then = now - LEASE + Span::SECOND;
        connection.execute(
            "UPDATE standings SET at = ?1, owner = ?3 WHERE owner = ?2",
            params![then, owner.as_str(), LEFT],
        )?;
        Ok(())
    }
}

/// Whether a server is called as [`ServerId::word`] calls it.
pub(super) fn is_word(server: &str) -> bool {
    let socket = server.split_once('/').map(|(_, socket)| socket);
    socket.is_some_and(|socket| socket == "default" || socket.starts_with("name:") || socket.starts_with("path:"))
}

/// The status that a muted terminal counts as: it never needs anybody.
const fn quiet(status: Status) -> Status {
    match status.attention() {
        Attention::None | Attention::Gone => status,
        _ => match status {
            // It is in the middle of a turn, or of its command.
            Status::Approval | Status::Question | Status::Stalled | Status::Asks => Status::Working,
            // It has not begun, or does not go on.
            Status::Trust | Status::Setup | Status::Limit => Status::Ready,
            Status::Exited(_) => Status::Gone,
            _ => Status::Unknown,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::Reader;
    use crate::history::file::{HistoryOptions, open};
    use crate::history::store::WriterMessage;
    use crate::history::tests::{follower, place, store};
    use crate::ids::Socket;
    use crate::private::HeldLock;
    use crate::record::timeline::BEAT;

    #[test]
    fn what_a_process_said_that_was_killed_does_not_hold() {
        let (now, (_directory, path)) = (Timestamp::from_millis(1_800_000_000_000), place());
        let connection = open(&path, &HistoryOptions::default(), now).unwrap().connection;
        let server = ServerId { host: None, socket: Socket::Default }.word();
        let (counts, needs) = (BTreeMap::new(), Vec::new());
        let summary = ServerSummary { server, at: now, is_left: false, counts, needs, problem: None };
        let words = |now| Reader::open(&path).unwrap().summaries(now).unwrap().len();
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let owner = Owner::named(format!("{}-1800000000000-0", child.id()));
        summary.write(&connection, &owner).unwrap();
        assert_eq!(words(now), 1);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(words(now), 0);
        // Who leaves in order says so, and the next one has a moment.
        summary.write(&connection, &owner).unwrap();
        ServerSummary::leave(&connection, &owner, now).unwrap();
        assert_eq!((words(now), words(now + Span::SECOND)), (1, 0));
    }

    #[test]
    fn a_summary_holds_as_long_as_its_process_watches_and_leads_and_says_no_other() {
        let (now, (_directory, path)) = (Timestamp::from_millis(1_800_000_000_000), place());
        let id = ServerId::default();
        let summary = |is_left| {
            let counts = BTreeMap::from([("ready".to_owned(), 1)]);
            let server = id.word();
            WriterMessage::Summary(ServerSummary { server, at: now, is_left, counts, needs: Vec::new(), problem: None })
        };
        let at = |time| Reader::open(&path).unwrap().summaries(time).unwrap().first().map(|summary| summary.at);
        let mut one = store(&path, "one", now);
        one.write(&[summary(false)], now).unwrap();
        let mut time = now;
        for _ in 0..9 {
            time = time + BEAT;
            one.beat(time, None).unwrap();
            assert_eq!(at(time), Some(time));
        }
        assert_eq!((at(time + BEAT), at(time + LEASE)), (Some(time), None), "nobody watches any more");
        // What changed while it was stopped it finds out first.
        let woken = time + BEAT;
        one.beat(woken, Some(time)).unwrap();
        assert_eq!(at(woken), Some(time));
        // Another file instead of the one that was removed has it again.
        std::fs::remove_file(&path).unwrap();
        let mut anew = follower(&path, "one", woken);
        anew.inherit(one.into_watching());
        anew.beat(woken, None).unwrap();
        assert_eq!(at(woken), Some(woken));
        for end in [summary(true), WriterMessage::Lead(id.clone(), None)] {
            anew.write(&[WriterMessage::Lead(id.clone(), Some(HeldLock::ALWAYS)), summary(false)], woken).unwrap();
            anew.write(&[end], woken).unwrap();
            anew.beat(woken + BEAT, None).unwrap();
            assert_eq!(at(woken + BEAT), None, "nobody renews it");
        }
    }

    #[test]
    fn what_is_muted_counts_as_what_it_does_and_needs_nothing() {
        use Status::{Approval, Asks, Exited, Gone, Limit, Question, Ready, Setup, Stalled, Trust, Working};
        for status in Status::GROUPS.into_iter().chain([Asks, Exited(Some(0)), Exited(Some(3)), Exited(None)]) {
            assert!(matches!(quiet(status).attention(), Attention::None | Attention::Gone), "{status:?}");
        }
        for (is, counts) in [
            (Approval, Working),
            (Question, Working),
            (Stalled, Working),
            (Asks, Working),
            (Trust, Ready),
            (Setup, Ready),
            (Limit, Ready),
            (Working, Working),
            (Ready, Ready),
            (Exited(Some(3)), Gone),
        ] {
            assert_eq!(quiet(is), counts, "{is:?}");
        }
    }

    #[test]
    fn each_server_has_a_summary_of_its_own_whatever_it_is_called() {
        let (now, (_directory, path)) = (Timestamp::from_millis(1_800_000_000_000), place());
        let connection = open(&path, &HistoryOptions::default(), now).unwrap().connection;
        let socket = |socket| ServerId { host: None, socket };
        let servers = [
            socket(Socket::Default),
            socket(Socket::Name("box".into())),
            socket(Socket::at("/srv/box")),
            ServerId { host: Some("box".into()), socket: Socket::Default },
            ServerId { host: Some("box".into()), socket: Socket::Name("box".into()) },
        ];
        let summary = |server: String| ServerSummary {
            server,
            at: now,
            is_left: false,
            counts: BTreeMap::new(),
            needs: Vec::new(),
            problem: None,
        };
        for server in &servers {
            summary(server.word()).write(&connection, &Owner::named("one")).unwrap();
            // As an older version called it.
            summary(server.to_string()).write(&connection, &Owner::named("another")).unwrap();
        }
        let mut words: Vec<String> = servers.iter().map(ServerId::word).collect();
        words.sort();
        let read = Reader::open(&path).unwrap().summaries(now).unwrap();
        assert_eq!(read.into_iter().map(|summary| summary.server).collect::<Vec<_>>(), words);
    }
}
