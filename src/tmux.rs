//! The only place that knows tmux: its commands, their quoting, and what it prints.
//!
//! Every call is one short `tmux` process with a deadline. A poll of a server is a script that goes to
//! `tmux source-file -` on standard input, so that its size is not limited, an error in one line (a pane that is
//! gone) does not stop the others, and nothing of it passes through a shell. The parts of the output are framed by a
//! nonce that no pane can guess. A text that is sent is the standard input of `load-buffer -`, so that it is neither
//! quoted nor seen in tmux's message log. No call attaches a client, sets an option or starts a server: `source-file`
//! and `if-shell` never do (checked on 3.3a; the `-N` that would forbid it is younger than 3.2). Only [`task`] does: it
//! makes windows, and sets options and a hook in task sessions.
//!
//! A host's tmux is run with the same words by a shell that a long-lived `ssh` has begun there, or another command
//! ([`host`], [`transport`]). That shell reads
//! what it runs as lines and bytes of its standard input; nothing of it is ever a word of its language.

mod error;
mod host;
mod jump;
mod listing;
mod run;
mod script;
mod send;
mod sockets;
mod task;
mod transport;
mod words;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::task::JoinSet;

pub use error::{Error, check_version};
pub use jump::{Clipboard, Inside, Jump, is_utf8, locale};
pub use listing::{CapturedPane, KnownRows, ListedPane, Listing, Marks};
pub use send::{Delivery, Guard, Misread};
pub use sockets::{DEMO, homes, living_but, named, of_user, server_around};
pub use task::{Argv, Begun, Counting, NewTask, NewWindow, Start, TaskPlace, Trace};
pub use transport::{CommandTransport, Settings};
pub use words::{check_name, quote};

use crate::fleet::{PaneId, ServerId, Socket};
use crate::screen::harmless;
use listing::Extent;
use script::Script;
pub(crate) use words::Nonce;

/// Brief rows that cost a server as much as the facts of one pane by itself.
const ROWS_FOR_FACTS: usize = 8;

/// Calls for screens that are under way at the same time, with those that wait for their turn and those whose answer waits to
/// be read: a server is not to stand idle while its last answer is worked on.
const CALLS: usize = 4;

/// What a server is asked in one call.
struct ServerRequest<'a> {
    /// Which panes are listed.
    list: Option<Extent>,
    captures: &'a [PaneId],
    /// Known rows that complete brief ones.
    known: Option<&'a KnownRows>,
}

/// One tmux server, here or on a host. Every call is a process of its own; those on a host share its connections.
#[derive(Clone, Debug)]
pub struct Server {
    id: ServerId,
    settings: Settings,
}

/// What tmux has kept of what a pane has printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scrollback {
    pub text: String,
    /// How many lines above the screen tmux keeps at most, where it may have dropped some.
    pub dropping: Option<u32>,
}

impl Scrollback {
    /// A history that has become full loses a tenth of its lines at once and fills up again, so one that holds more than the
    /// rest may have been full before; nothing that tmux says tells it from one that fills up for the first time.
    fn dropping(size: u32, limit: u32) -> Option<u32> {
        (size > limit.saturating_sub((limit / 10).max(1))).then_some(limit)
    }
}

/// Calls for screens, some of which are under way. Dropping them ends them.
pub struct Captures {
    server: Server,
    rows: Arc<KnownRows>,
    at_once: usize,
    left: VecDeque<PaneId>,
    calls: JoinSet<Result<(Vec<PaneId>, Listing), Error>>,
    /// The turn of the next call.
    turn: run::InTurn,
}

impl Captures {
    /// Adds some more, behind the others.
    pub fn add(&mut self, panes: &[PaneId]) {
        self.left.extend(panes);
        self.begin();
    }

    /// The next answer, and of which panes it is; `None` when all are there.
    pub async fn next(&mut self) -> Option<Result<(Vec<PaneId>, Listing), Error>> {
        let answer = self.calls.join_next().await?;
        self.begin();
        Some(answer.unwrap_or_else(|error| Err(Error::Failed(format!("reading screens failed: {error}")))))
    }

    /// Begins as many calls as may be under way.
    fn begin(&mut self) {
        while self.calls.len() < CALLS && !self.left.is_empty() {
            let panes: Vec<PaneId> = self.left.drain(..self.at_once.min(self.left.len())).collect();
            let (server, rows, next) = (self.server.clone(), Arc::clone(&self.rows), self.turn.then());
            let turn = std::mem::replace(&mut self.turn, next);
            self.calls.spawn(async move {
                let mut poll = server.capture_of(&rows, &panes, turn).await?;
                // What another server shows is not of these panes.
                if !rows.is_of(&poll.instance) {
                    poll.captures.clear();
                }
                Ok((panes, poll))
            });
        }
    }
}

impl Server {
    /// A handle to a server; nothing is called yet.
    ///
    /// Fails when the host's or the socket's name could be read as an option or by a shell.
    pub fn new(id: ServerId, settings: Settings) -> Result<Self, Error> {
        words::check_name(&id)?;
        Ok(Self { id, settings })
    }

    /// Which server this is.
    pub fn id(&self) -> &ServerId {
        &self.id
    }

    /// By which connection its host is reached; `None` for a server on this machine.
    pub fn connection(&self) -> Option<String> {
        Some(host::connection(&self.settings, self.id.host.as_ref()?))
    }

    /// The command that must work for its host to be reached; `None` for a server on this machine.
    pub fn check(&self) -> Option<String> {
        Some(host::check(&self.settings, self.id.host.as_ref()?))
    }

    /// How often an answer of its host was late, torn or cut off; 0 for a server on this machine.
    pub fn broken(&self) -> u32 {
        self.id.host.as_ref().map_or(0, |host| host::broken(&self.settings, host))
    }

    /// Lists every pane of the server and captures the given ones, in one process.
    ///
    /// A pane that is gone is in neither list; that is no error.
    pub async fn poll(&self, captures: &[PaneId]) -> Result<Listing, Error> {
        self.ask(ServerRequest { list: Some(Extent::Whole), captures, known: None }).await
    }

    /// Polls a server again with less work for it: for panes that printed nothing it lists only what may change without output,
    /// and now and then everything.
    pub async fn poll_again(&self, known: &mut KnownRows, captures: &[PaneId]) -> Result<Listing, Error> {
        let extent = known.extent();
        if extent != Extent::Whole {
            let poll = self.ask(ServerRequest { list: Some(extent), captures, known: Some(known) }).await?;
            if !poll.is_incomplete {
                known.learn(&poll, extent);
                return Ok(poll);
            }
        }
        let poll = self.poll(captures).await?;
        known.learn(&poll, Extent::Whole);
        Ok(poll)
    }

    /// All lines that tmux has kept of a pane, scrolled away or not, as they were printed; of a dead one without tmux's own
    /// last line. Nothing in them acts on a terminal.
    pub async fn scrollback(&self, pane: PaneId, is_dead: bool) -> Result<Scrollback, Error> {
        let pane = pane.to_string();
        let facts = ["display-message", "-p", "-t", &pane, "#{history_size} #{history_limit}", ";"];
        let words = [&facts[..], &["capture-pane", "-p", "-J", "-S", "-", "-t", &pane]].concat();
        let output = run::run(&self.settings, &self.id, &words, Vec::new()).await?;
        if output.code != Some(0) {
            return Err(self.explain(&output, Error::Failed(format!("pane {pane} is not shown"))));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let mut lines = text.lines();
        let facts = lines.next().and_then(|facts| facts.split_once(' '));
        let dropping = facts.and_then(|(size, limit)| Scrollback::dropping(size.parse().ok()?, limit.parse().ok()?));
        let mut lines: Vec<String> = lines.map(|line| harmless(line.trim_end())).collect();
        lines.pop_if(|last| is_dead && last.starts_with(listing::DEAD));
        // Below what was printed, the screen is blank.
        let printed = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
        Ok(Scrollback { text: lines[..printed].join("\n"), dropping })
    }

    /// Captures panes without listing the others.
    pub async fn capture(&self, panes: &[PaneId]) -> Result<Listing, Error> {
        self.ask(ServerRequest { list: None, captures: panes, known: None }).await
    }

    /// Captures panes that were just listed, so many in a call: while the server works on one call, the answer to the last is
    /// read.
    pub async fn capture_listed(
        &self,
        known: &mut KnownRows,
        panes: &[PaneId],
        at_once: usize,
    ) -> Result<Listing, Error> {
        let mut calls = self.captures(known, panes, at_once);
        let mut all = Listing { clock: i64::MAX, ..Listing::default() };
        while let Some(answer) = calls.next().await {
            let (_, poll) = answer?;
            known.learn_captures(&poll);
            all.clock = all.clock.min(poll.clock);
            all.captures.extend(poll.captures);
        }
        Ok(all)
    }

    /// The same, begun now, each call as it is answered.
    pub fn captures(&self, known: &KnownRows, panes: &[PaneId], at_once: usize) -> Captures {
        let (server, rows, turn) = (self.clone(), Arc::new(known.clone()), run::InTurn::default());
        let mut captures = Captures { server, rows, at_once, left: VecDeque::new(), calls: JoinSet::new(), turn };
        captures.add(panes);
        captures
    }

    /// Panes of some rows, in one call: what all of them show, or a few.
    async fn capture_of(&self, rows: &KnownRows, panes: &[PaneId], mut turn: run::InTurn) -> Result<Listing, Error> {
        if panes.len() * ROWS_FOR_FACTS >= rows.len() {
            let list = Some(rows.extent());
            let poll = self.ask_in_turn(ServerRequest { list, captures: panes, known: Some(rows) }, turn).await?;
            if !poll.is_incomplete {
                return Ok(poll);
            }
            turn = run::InTurn::default();
        }
        self.ask_in_turn(ServerRequest { list: None, captures: panes, known: Some(rows) }, turn).await
    }

    async fn ask(&self, asked: ServerRequest<'_>) -> Result<Listing, Error> {
        self.ask_in_turn(asked, run::InTurn::default()).await
    }

    async fn ask_in_turn(&self, asked: ServerRequest<'_>, turn: run::InTurn) -> Result<Listing, Error> {
        let lost = match self.ask_once(&asked, turn).await {
            Err(error @ (Error::Lost { .. } | Error::Mismatch { .. })) => error,
            answer => return answer,
        };
        // There is none any more if its server has ended.
        match self.ask_once(&asked, run::InTurn::default()).await {
            Err(Error::Lost { server, message } | Error::Mismatch { server, message, .. }) => {
                Err(Error::Mismatch { server, message, client: self.client_version().await })
            }
            Err(error) if error.is_no_server() => Err(error),
            Err(_) => Err(lost),
            answer => answer,
        }
    }

    /// What the `tmux` program on the server's machine says that it is.
    async fn client_version(&self) -> Option<String> {
        let version = self.run_beside(&["tmux", "-V"]).await.ok()?;
        Some(harmless(version.trim().trim_start_matches("tmux "))).filter(|version| !version.is_empty())
    }

    async fn ask_once(&self, asked: &ServerRequest<'_>, turn: run::InTurn) -> Result<Listing, Error> {
        let nonce = Nonce::new();
        let mut script = Script::new();
        script.header(&nonce, self.id.host.is_some());
        if let Some(extent) = asked.list {
            script.list(&nonce, extent);
        }
        for &pane in asked.captures {
            match (asked.list, asked.known) {
                (Some(_), _) => script.capture_after_list(&nonce, pane),
                (None, Some(_)) => script.capture_screen(&nonce, pane),
                (None, None) => script.capture(&nonce, pane),
            }
        }
        script.end(&nonce);
        let words = ["source-file", "-"];
        let output = run::run_in(&self.settings, &self.id, &[], &words, script.into_bytes(), turn).await?;
        let text = String::from_utf8_lossy(&output.stdout);
        let nothing = KnownRows::default();
        match listing::parse(&text, nonce.as_str(), asked.known.unwrap_or(&nothing), asked.list) {
            Ok(poll) => Ok(poll),
            Err(Error::TooOld { found, .. }) => Err(Error::TooOld { found, host: self.id.host.clone() }),
            // What tmux or ssh said on standard error explains better what is wrong than what was not printed.
            Err(error) => Err(self.explain(&output, error)),
        }
    }

    async fn run_script(&self, script: Script) -> Result<transport::Output, Error> {
        run::run(&self.settings, &self.id, &["source-file", "-"], script.into_bytes()).await
    }

    /// Runs a program of constant words on the machine that the server is on, and returns what it printed.
    ///
    /// For what tmux itself does not report (`ps`). Fails like a poll does; a program that says no is a failure.
    pub(crate) async fn run_beside(&self, words: &[&str]) -> Result<String, Error> {
        let output = run::beside(&self.settings, &self.id, words).await?;
        match output.code {
            Some(0) => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            _ => Err(self.explain(&output, Error::Failed(format!("{} failed", words.first().unwrap_or(&""))))),
        }
    }

    fn explain(&self, output: &transport::Output, otherwise: Error) -> Error {
        error::from_stderr(&self.id, &output.stderr, output.code).unwrap_or(otherwise)
    }
}

/// The server that plain `tmux` would talk to, by `-L NAME` or `-S PATH` as tmux takes them; the path wins.
pub fn local(name: Option<String>, path: Option<PathBuf>) -> ServerId {
    let socket = match (path, name) {
        (Some(path), _) => Socket::at(path),
        (None, Some(name)) if name != "default" => Socket::Name(name.into()),
        (None, _) => Socket::Default,
    };
    ServerId { host: None, socket }
}
