//! The connections to hosts: long-lived `ssh` processes, each with a loop in a shell over there (`host.sh`) that runs what it is
//! given. Everything that is asked of a host goes through them.
//!
//! A host has a few sessions, so that nothing that is sent waits for a slow look; each answers one request at a time. One whose
//! answer is late, torn or not waited for is ended, and the next request begins another. What is sent is never sent twice: whoever
//! asked decides what to do.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::run::{OUTPUT_LIMIT, Output, command, spawn_error};
use super::script::Nonce;
use super::{Error, Settings};
use crate::fleet::ServerId;
use crate::hash::fnv;
use crate::screen::harmless;

/// The loop on the host.
const LOOP: &str = include_str!("host.sh");

/// Seconds until `ssh` gives up connecting.
const CONNECT_TIMEOUT: u32 = 10;

/// How many hosts are connected to at the same time. A handshake costs both sides much, and a hundred at once would miss
/// every deadline.
static CONNECTING: Semaphore = Semaphore::const_new(8);

/// Requests that one host answers at the same time: a look, something slow, and what is sent.
const SESSIONS: usize = 3;

/// Bytes of what a login prints before the loop begins.
const GREETING: usize = 1 << 20;
/// Bytes of `ssh`'s own complaints that are kept.
const COMPLAINTS: usize = 64 << 10;

/// The longest path that a socket may have, less what `ssh` adds to it while it binds it.
const LONGEST_SOCKET: usize = 103 - 17;

/// The hosts of this process, by the `ssh` program and the name that it is given.
static HOSTS: Mutex<BTreeMap<(PathBuf, String), Arc<Host>>> = Mutex::new(BTreeMap::new());

/// What is known of a host, and its connections.
#[derive(Debug)]
struct Host {
    turns: Semaphore,
    idle: Mutex<Vec<Session>>,
    known: Mutex<HostFacts>,
}

#[derive(Debug, Default)]
struct HostFacts {
    /// Its name for itself, and the number of its installation.
    machine: Option<String>,
    /// By which connection `ssh` last got there.
    way: Way,
}

/// A connection that several sessions share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Way {
    /// The one that fleetwatch opens.
    #[default]
    Own,
    /// The one that the operator opened, at the ControlPath of their own configuration.
    Operators,
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
    let host = host(&settings.ssh, name);
    let Ok(_turn) = host.turns.acquire().await else { return Err(Error::Failed("the host was given up".into())) };
    let mut session = match host.idle_session() {
        Some(session) => session,
        None => host.connect(settings, id, name).await?,
    };
    // A session whose request is given up in the midst of it is not put back: dropping it ends its `ssh`.
    match timeout(settings.host_deadline, session.ask(words, &stdin)).await {
        Ok(Ok(output)) => {
            host.put_back(session);
            Ok(output)
        }
        Ok(Err(Broken::TooMuch)) => Err(Error::Garbled(format!("more than {} MiB", OUTPUT_LIMIT >> 20))),
        Ok(Err(Broken::Ended)) => {
            Err(Error::Unreachable { host: name.to_owned(), message: session.last_words().await })
        }
        Err(_) => Err(Error::TimedOut { server: id.to_string(), after: settings.host_deadline }),
    }
}

/// By which connection a host is reached, in words.
pub(super) fn connection(ssh: &Path, name: &str) -> String {
    match (host(ssh, name).known().way, control_path(name)) {
        (Way::Operators, _) => "over the connection that you opened".to_owned(),
        (Way::Own, path) if path == "none" => {
            "other calls connect by themselves, as neither XDG_RUNTIME_DIR nor ~/.ssh can hold a socket".to_owned()
        }
        (Way::Own, path) => format!("connection {path}"),
    }
}

/// The options by which another `ssh` uses the connection that is there.
pub(super) fn options_to_share(ssh: &Path, name: &str) -> Vec<String> {
    match host(ssh, name).known().way {
        Way::Own => {
            vec!["-o".to_owned(), format!("ControlPath={}", control_path(name)), "-o".into(), "ControlMaster=no".into()]
        }
        Way::Operators => Vec::new(),
    }
}

fn host(ssh: &Path, name: &str) -> Arc<Host> {
    let mut hosts = lock(&HOSTS);
    let new = || Host { turns: Semaphore::new(SESSIONS), idle: Mutex::default(), known: Mutex::default() };
    Arc::clone(hosts.entry((ssh.to_owned(), name.to_owned())).or_insert_with(|| Arc::new(new())))
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

    /// Begins a session: by the connection that was used last, else by one that fleetwatch opens, else by one that the operator
    /// has opened, as for a host that asks for a second factor. That comes last, as the operator may have given one socket to
    /// several names that lie behind one address.
    async fn connect(&self, settings: &Settings, id: &ServerId, name: &str) -> Result<Session, Error> {
        let operators = self.known().way == Way::Operators;
        let shared = if operators { self.begin(settings, id, name, Way::Operators).await.ok() } else { None };
        let (session, way) = match shared {
            Some(session) => (session, Way::Operators),
            None => match self.begin(settings, id, name, Way::Own).await {
                Ok(session) => (session, Way::Own),
                Err(error @ Error::Unreachable { .. }) => match self.begin(settings, id, name, Way::Operators).await {
                    Ok(session) => (session, Way::Operators),
                    Err(_) => return Err(error),
                },
                Err(error) => return Err(error),
            },
        };
        let mut known = self.known();
        known.way = way;
        let before = known.machine.replace(session.machine.clone());
        if before.is_some_and(|before| before != session.machine) {
            tracing::warn!(host = name, "another machine answers under this name");
            lock(&self.idle).clear();
        }
        Ok(session)
    }

    async fn begin(&self, settings: &Settings, id: &ServerId, name: &str, way: Way) -> Result<Session, Error> {
        let mut ssh = ssh_options(name, way);
        if way == Way::Operators {
            let mut check = command(&settings.ssh, &[ssh.as_slice(), &words(&["-O", "check", "--", name])].concat());
            let check = timeout(settings.deadline, check.output()).await;
            if !matches!(check, Ok(Ok(output)) if output.status.success()) {
                return Err(Error::Failed("no connection is open".into()));
            }
        }
        // Every shell that somebody may log in with reads this in one way; it keeps nothing of what is behind the loop.
        let nonce = Nonce::new();
        let script = format!("nonce={nonce}\n{LOOP}");
        let start = format!("exec sh -c 'eval \"$(dd bs=1 count={} 2>/dev/null)\"'", script.len());
        ssh.extend(words(&["--", name, &start]));
        // Who waits for a turn does not use up the time for an answer; by then another session may have connected.
        let is_connected = || way == Way::Operators || is_connected(name);
        let turn = match is_connected() {
            true => None,
            false => CONNECTING.acquire().await.ok().filter(|_| !is_connected()),
        };
        let deadline = if turn.is_some() { settings.connect_deadline } else { settings.host_deadline };
        let mut session = Session::spawn(&settings.ssh, &ssh)?;
        match timeout(deadline, session.hear_greeting(&script, &nonce)).await {
            Ok(Ok(())) => Ok(session),
            Ok(Err(_)) => Err(Error::Unreachable { host: name.to_owned(), message: session.last_words().await }),
            Err(_) => Err(Error::TimedOut { server: id.to_string(), after: deadline }),
        }
    }
}

/// An `ssh` and the loop behind it.
#[derive(Debug)]
struct Session {
    child: Child,
    input: ChildStdin,
    output: Reader,
    /// What `ssh` and the login complained of.
    complaints: Arc<Mutex<Vec<u8>>>,
    machine: String,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug)]
enum Broken {
    /// The connection is gone.
    Ended,
    /// The answer is longer than any should be.
    TooMuch,
}

impl Session {
    fn spawn(ssh: &Path, words: &[String]) -> Result<Self, Error> {
        let mut command = command(ssh, words);
        let mut child = command.spawn().map_err(|error| spawn_error(&command, &error))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), errors) = pipes else { return Err(Error::Failed("ssh has no pipes".into())) };
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
        let output = Reader { output, bytes: Vec::new() };
        Ok(Self { child, input, output, complaints, machine: String::new() })
    }

    /// Hands the loop over, and waits until it runs. What a login prints before is nobody's business.
    async fn hear_greeting(&mut self, script: &str, nonce: &Nonce) -> Result<(), Broken> {
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

    async fn ask(&mut self, words: &[String], stdin: &[u8]) -> Result<Output, Broken> {
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

    /// What was said at last before the connection ended: by `ssh`, or by a login that lets nobody in.
    async fn last_words(&mut self) -> String {
        let ended = timeout(Duration::from_secs(1), self.child.wait()).await;
        // Who hears the complaints may not have heard the last one yet.
        tokio::time::sleep(Duration::from_millis(20)).await;
        let said = [lock(&self.complaints).clone(), std::mem::take(&mut self.output.bytes)];
        let last = said.iter().find_map(|bytes| {
            let text = String::from_utf8_lossy(bytes);
            let line = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
            Some(harmless(line).chars().take(300).collect::<String>())
        });
        last.unwrap_or_else(|| match ended {
            Ok(Ok(status)) => format!("ssh ended with {status}"),
            _ => "the connection broke".to_owned(),
        })
    }
}

/// What comes from a host, in parts that end with a mark.
#[derive(Debug)]
struct Reader {
    output: ChildStdout,
    /// What was read of parts that have not ended.
    bytes: Vec<u8>,
}

impl Reader {
    /// What stands before the mark. What stands behind it is left for the next one.
    async fn up_to(&mut self, mark: &str, limit: usize) -> Result<Vec<u8>, Broken> {
        let mark = mark.as_bytes();
        let mut looked_at = 0;
        loop {
            if let Some(at) = find(&self.bytes[looked_at..], mark) {
                let rest = self.bytes.split_off(looked_at + at + mark.len());
                let mut part = std::mem::replace(&mut self.bytes, rest);
                part.truncate(looked_at + at);
                return Ok(part);
            }
            if self.bytes.len() > limit {
                return Err(Broken::TooMuch);
            }
            looked_at = self.bytes.len().saturating_sub(mark.len() - 1);
            self.bytes.reserve(16 << 10);
            if !self.output.read_buf(&mut self.bytes).await.is_ok_and(|read| read > 0) {
                return Err(Broken::Ended);
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

/// Where the one connection to a host listens; `none` where no directory is fit for it.
///
/// It is named after the host as the operator calls it. An address says nothing of the machine behind it: the same one may
/// lie behind two proxies, and what is meant for one machine must never go to the other.
fn control_path(host: &str) -> String {
    let runtime = std::env::var("XDG_RUNTIME_DIR").ok();
    let home = std::env::var("HOME").ok().map(|home| format!("{home}/.ssh"));
    control_path_in(host, [runtime, home].into_iter().flatten())
}

fn control_path_in(host: &str, directories: impl IntoIterator<Item = String>) -> String {
    let name = format!("fleetwatch-{:016x}", fnv(host.as_bytes()));
    let fits = |directory: &String| {
        let is_short = directory.len() + 1 + name.len() <= LONGEST_SOCKET;
        is_short && !directory.contains(UNFIT) && Path::new(directory).is_dir()
    };
    let directory = directories.into_iter().find(fits);
    directory.map_or_else(|| "none".to_owned(), |directory| format!("{directory}/{name}"))
}

/// What `ssh` would read as more than a path.
const UNFIT: [char; 5] = ['%', '"', ' ', '$', '~'];

/// Whether there is a connection to the host that a call can use.
fn is_connected(host: &str) -> bool {
    Path::new(&control_path(host)).exists()
}

/// `ssh` asks nothing, keeps one connection a host for all sessions, and notices by itself that a host is gone.
fn ssh_options(name: &str, way: Way) -> Vec<String> {
    let shared = match way {
        Way::Own => vec![
            "ControlMaster=auto".to_owned(),
            format!("ControlPath={}", control_path(name)),
            "ControlPersist=120".to_owned(),
        ],
        Way::Operators => vec!["ControlMaster=no".to_owned()],
    };
    let others = [
        "BatchMode=yes",
        &format!("ConnectTimeout={CONNECT_TIMEOUT}"),
        "ServerAliveInterval=5",
        "ServerAliveCountMax=2",
        "RequestTTY=no",
        "RemoteCommand=none",
        "PermitLocalCommand=no",
        "ClearAllForwardings=yes",
        "LogLevel=ERROR",
    ];
    let options = others.into_iter().map(str::to_owned).chain(shared);
    options.flat_map(|option| ["-o".to_owned(), option]).collect()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_of_a_host_has_a_connection_of_its_own() {
        let path = |host: &str| control_path_in(host, ["/".to_owned()]);
        assert_eq!(path("prod-db"), path("prod-db"));
        assert_ne!(path("prod-db"), path("staging-db"));
        assert_ne!(path("box"), path("me@box"));
        let id = ServerId { host: Some("box".into()), ..ServerId::default() };
        let words = super::super::run::foreground(&Settings::default(), &id, None, &[]).unwrap();
        let option = format!("ControlPath={}", control_path("box"));
        assert!(words.get_args().any(|word| word.to_str() == Some(&option)), "{words:?}");
    }

    #[test]
    fn a_connection_is_kept_only_where_its_socket_fits() {
        let long = tempfile::tempdir().unwrap();
        let long = long.path().join("x".repeat(90));
        std::fs::create_dir(&long).unwrap();
        let long = long.to_str().unwrap().to_owned();
        assert_eq!(control_path_in("box", [long.clone(), "/nowhere".to_owned()]), "none");
        assert!(control_path_in("box", [long, "/tmp".to_owned()]).starts_with("/tmp/fleetwatch-"));
    }
}
