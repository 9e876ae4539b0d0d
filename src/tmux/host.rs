//! The connections to hosts: long-lived processes ([`Transport`]), each with a loop in a shell over there (`host.sh`) that runs
//! what it is given. Everything that is asked of a host goes through them.
//!
//! A host has a few sessions, so that sending never waits for a slow poll; each answers one request at a time. A session whose
//! answer is late, torn or no longer wanted is ended, and the next request starts another. Nothing is sent twice: the caller
//! decides what to do.

use std::collections::BTreeMap;
use std::path::Path;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::error::Error;
use super::transport::{OUTPUT_LIMIT, Output, Settings, Transport, Way, command, spawn_error};
use super::words::Nonce;
use crate::clock;
use crate::fleet::ServerId;
use crate::screen::harmless;
use crate::time::Span;

/// The loop on the host.
const LOOP: &str = include_str!("host.sh");

/// How many hosts are connected to at the same time. A handshake costs both sides much, and a hundred at once would miss
/// every deadline.
static CONNECTING: Semaphore = Semaphore::const_new(8);

/// Which part of an answer's time one of them keeps its turn: hosts that do not answer must not hold up those that do.
const TURN: u32 = 4;

/// Requests that one host answers at the same time: a poll, records, git, and what is sent.
const SESSIONS: usize = 4;

/// Bytes of what a login prints before the loop begins.
const GREETING: usize = 1 << 20;
/// Bytes of `ssh`'s own complaints that are kept.
const COMPLAINTS: usize = 64 << 10;

/// The hosts of this process, by how they are reached.
static HOSTS: Mutex<BTreeMap<Transport, Arc<Host>>> = Mutex::new(BTreeMap::new());

/// What is known of a host, and its connections.
#[derive(Debug)]
struct Host {
    transport: Transport,
    turns: Semaphore,
    idle: Mutex<Vec<Session>>,
    known: Mutex<HostFacts>,
}

#[derive(Debug, Default)]
struct HostFacts {
    /// Its name for itself, and the number of its installation.
    machine: Option<String>,
    /// How often an answer was late, torn or cut off.
    broken: u32,
    /// By which connection it was last reached.
    way: Way,
}

/// Runs a program on a host with `stdin` as its standard input. No shell reads the words.
pub(super) async fn call(
    settings: &Settings,
    id: &ServerId,
    name: &str,
    words: &[String],
    stdin: Vec<u8>,
) -> Result<Output, Error> {
    if let Some(word) = words.iter().find(|word| word.contains(['\n', '\0'])) {
        return Err(Error::BadName { what: "word", name: word.clone(), why: "it has more than one line" });
    }
    let host = host(settings, name);
    let late = || Error::TimedOut { server: id.to_string(), after: settings.host_deadline };
    // Nobody waits without end for requests that the host does not answer.
    let Ok(Ok(_turn)) = timeout(settings.host_deadline, host.turns.acquire()).await else { return Err(late()) };
    let mut session = match host.idle_session() {
        Some(session) => session,
        None => host.connect(settings, id, name).await?,
    };
    // A session whose request is given up in the midst of it is not put back: dropping it ends its process.
    let answer = timeout(settings.host_deadline, session.ask(words, &stdin)).await;
    if !matches!(answer, Ok(Ok(_))) {
        host.known().broken += 1;
    }
    match answer {
        Ok(Ok(output)) => {
            host.put_back(session);
            Ok(output)
        }
        Ok(Err(HostError::TooMuch)) => Err(Error::Garbled(format!("more than {} MiB", OUTPUT_LIMIT >> 20))),
        Ok(Err(HostError::Ended)) => Err(host.unreachable(name, session.last_words().await)),
        Err(_) => Err(late()),
    }
}

/// By which connection a host is reached, in words.
pub(super) fn connection(settings: &Settings, name: &str) -> String {
    let host = host(settings, name);
    let way = host.known().way;
    host.transport.connection(way)
}

/// What must work on the command line for a host to be reached, as a hint.
pub(super) fn check(settings: &Settings, name: &str) -> String {
    host(settings, name).transport.check()
}

/// How often an answer of a host was late, torn or cut off.
pub(super) fn broken(settings: &Settings, name: &str) -> u32 {
    host(settings, name).known().broken
}

/// A program of the host for the operator's terminal, which gets the name `term` there if that is given.
pub(super) fn to_show(
    settings: &Settings,
    name: &str,
    term: Option<&str>,
    program: &[String],
) -> Result<std::process::Command, Error> {
    let host = host(settings, name);
    let way = host.known().way;
    host.transport.to_show(program, term, way)
}

fn host(settings: &Settings, name: &str) -> Arc<Host> {
    let transport = Transport::of(settings, name);
    let new = |transport: &Transport| {
        let (transport, turns) = (transport.clone(), Semaphore::new(SESSIONS));
        Arc::new(Host { transport, turns, idle: Mutex::default(), known: Mutex::default() })
    };
    Arc::clone(lock(&HOSTS).entry(transport).or_insert_with_key(new))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Host {
    fn known(&self) -> MutexGuard<'_, HostFacts> {
        lock(&self.known)
    }

    fn idle_session(&self) -> Option<Session> {
        let mut idle = lock(&self.idle);
        idle.retain_mut(Session::is_alive);
        idle.pop()
    }

    fn put_back(&self, session: Session) {
        if self.known().machine.as_ref() == Some(&session.machine) {
            lock(&self.idle).push(session);
        }
    }

    fn unreachable(&self, name: &str, message: String) -> Error {
        Error::Unreachable { host: name.to_owned(), message, check: self.transport.check() }
    }

    /// Begins a session in one of the ways that there are.
    async fn connect(&self, settings: &Settings, id: &ServerId, name: &str) -> Result<Session, Error> {
        let mut why = Error::Failed("there is no way to the host".into());
        let last = self.known().way;
        for &way in self.transport.ways(last) {
            match self.begin(settings, id, name, way).await {
                Ok(session) => {
                    self.connected(name, &session, way);
                    return Ok(session);
                }
                // That the operator has opened no connection says nothing of the host.
                Err(_) if way == Way::Operators => {}
                Err(error @ Error::Unreachable { .. }) => why = error,
                Err(error) => return Err(error),
            }
        }
        Err(why)
    }

    fn connected(&self, name: &str, session: &Session, way: Way) {
        let mut known = self.known();
        known.way = way;
        let before = known.machine.replace(session.machine.clone());
        if before.is_some_and(|before| before != session.machine) {
            tracing::warn!(host = name, "another machine answers under this name");
            lock(&self.idle).clear();
        }
    }

    async fn begin(&self, settings: &Settings, id: &ServerId, name: &str, way: Way) -> Result<Session, Error> {
        if let Some((program, words)) = self.transport.to_check(way) {
            let check = timeout(settings.deadline, command(&program, &words).output()).await;
            if !matches!(check, Ok(Ok(output)) if output.status.success()) {
                return Err(Error::Failed("no connection is open".into()));
            }
        }
        // It keeps nothing of what is behind the loop.
        let nonce = Nonce::new();
        let script = format!("nonce={nonce}\n{LOOP}");
        let (program, words) =
            self.transport.to_run(&format!("eval \"$(dd bs=1 count={} 2>/dev/null)\"", script.len()), way);
        // Who waits for a turn does not use up the time for an answer; by then another session may have connected.
        let is_connected = || self.transport.is_connected(way);
        let turn = match is_connected() {
            true => None,
            false => CONNECTING.acquire().await.ok().filter(|_| !is_connected()),
        };
        let deadline = if turn.is_some() { settings.connect_deadline } else { settings.host_deadline };
        let mut session = Session::spawn(&program, &words)?;
        let answer = async {
            let mut greeting = pin!(session.hear_greeting(&script, &nonce));
            if let Some(_turn) = turn
                && let Ok(heard) = timeout(settings.host_deadline / TURN, &mut greeting).await
            {
                return heard;
            }
            greeting.await
        };
        match timeout(deadline, answer).await {
            Ok(Ok(())) => Ok(session),
            Ok(Err(_)) => Err(self.unreachable(name, session.last_words().await)),
            Err(_) => Err(Error::TimedOut { server: id.to_string(), after: deadline }),
        }
    }
}

/// A process that leads to the host, and the loop behind it.
#[derive(Debug)]
struct Session {
    child: Child,
    input: ChildStdin,
    output: AnswerReader,
    /// What it and the login complained of.
    complaints: Arc<Mutex<Vec<u8>>>,
    machine: String,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug)]
enum HostError {
    /// The connection is gone.
    Ended,
    /// The answer is longer than any should be.
    TooMuch,
}

impl Session {
    fn spawn(program: &Path, words: &[String]) -> Result<Self, Error> {
        let mut command = command(program, words);
        let mut child = command.spawn().map_err(|error| spawn_error(&command, &error))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), errors) = pipes else {
            return Err(Error::Failed("the connection has no pipes".into()));
        };
        let complaints = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&complaints);
        // It ends with the last process that has this end of the pipe, which may be a connection in the background.
        tokio::spawn(async move {
            let mut errors = errors;
            let mut bytes = Vec::new();
            while let Some(pipe) = &mut errors {
                bytes.clear();
                if !pipe.read_buf(&mut bytes).await.is_ok_and(|read| read > 0) {
                    break;
                }
                let mut heard = lock(&heard);
                heard.extend_from_slice(&bytes);
                let above = heard.len().saturating_sub(COMPLAINTS);
                heard.drain(..above);
            }
        });
        let output = AnswerReader { output, bytes: Vec::new() };
        Ok(Self { child, input, output, complaints, machine: String::new() })
    }

    /// Hands the loop over, and waits until it runs. What a login prints before is nobody's business.
    async fn hear_greeting(&mut self, script: &str, nonce: &Nonce) -> Result<(), HostError> {
        let Self { input, output, machine, .. } = self;
        let write = input.write_all(script.as_bytes());
        let read = async {
            let before = output.up_to(&format!("\n{nonce} begin "), GREETING).await?;
            drop(before);
            output.up_to("\n", GREETING).await
        };
        let (_, read) = tokio::join!(write, read);
        *machine = String::from_utf8_lossy(&read?).into_owned();
        Ok(())
    }

    async fn ask(&mut self, words: &[String], stdin: &[u8]) -> Result<Output, HostError> {
        let nonce = Nonce::new();
        let mut request = format!("{nonce} {} {}\n", words.len(), stdin.len());
        words.iter().for_each(|word| request.extend([word.as_str(), "\n"]));
        let Self { input, output, .. } = self;
        // A connection that ends while it is written to says so to whoever reads.
        let write = async {
            if input.write_all(request.as_bytes()).await.is_ok() {
                let _ = input.write_all(stdin).await;
            }
        };
        let read = async {
            output.up_to(&format!("{nonce} out\n"), OUTPUT_LIMIT).await?;
            let stdout = output.up_to(&format!("\n{nonce} err\n"), OUTPUT_LIMIT).await?;
            Ok((stdout, output.up_to(&format!("\n{nonce} end\n"), OUTPUT_LIMIT).await?))
        };
        let ((), read) = tokio::join!(write, read);
        let (stdout, mut stderr) = read?;
        let status = stderr.iter().rposition(|byte| *byte == b'\n').map(|at| stderr.split_off(at));
        let code = status.and_then(|status| String::from_utf8_lossy(&status).trim().parse().ok());
        Ok(Output { stdout, stderr, code })
    }

    fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// The last words before the connection ended: of the program that leads there, or of a login that refused.
    async fn last_words(&mut self) -> String {
        let ended = timeout(Span::SECOND.into(), self.child.wait()).await;
        // The reader of complaints may not have got the last one yet.
        tokio::time::sleep(clock::A_MOMENT).await;
        let said = [lock(&self.complaints).clone(), std::mem::take(&mut self.output.bytes)];
        let last = said.iter().find_map(|bytes| {
            let text = String::from_utf8_lossy(bytes);
            let line = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
            Some(harmless(line).chars().take(300).collect::<String>())
        });
        last.unwrap_or_else(|| match ended {
            Ok(Ok(status)) if status.success() => "the connection ended without a word".to_owned(),
            Ok(Ok(status)) => format!("the connection ended with {status}"),
            _ => "the connection broke".to_owned(),
        })
    }
}

/// What comes from a host, in parts that end with a mark.
#[derive(Debug)]
struct AnswerReader {
    output: ChildStdout,
    /// What was read of parts that have not ended.
    bytes: Vec<u8>,
}

impl AnswerReader {
    /// Returns what precedes the mark; the rest stays buffered.
    async fn up_to(&mut self, mark: &str, limit: usize) -> Result<Vec<u8>, HostError> {
        let mark = mark.as_bytes();
        let mut searched = 0;
        loop {
            if let Some(at) = find(&self.bytes[searched..], mark) {
                let rest = self.bytes.split_off(searched + at + mark.len());
                let mut part = std::mem::replace(&mut self.bytes, rest);
                part.truncate(searched + at);
                return Ok(part);
            }
            if self.bytes.len() > limit {
                return Err(HostError::TooMuch);
            }
            searched = self.bytes.len().saturating_sub(mark.len() - 1);
            self.bytes.reserve(16 << 10);
            if !self.output.read_buf(&mut self.bytes).await.is_ok_and(|read| read > 0) {
                return Err(HostError::Ended);
            }
        }
    }
}

/// Where `mark` begins.
fn find(bytes: &[u8], mark: &[u8]) -> Option<usize> {
    let first = mark.first()?;
    let mut from = 0;
    while let Some(at) = bytes[from..].iter().position(|byte| byte == first) {
        if bytes[from + at..].starts_with(mark) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}
