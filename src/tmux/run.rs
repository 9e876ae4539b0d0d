//! One `tmux` process with a deadline, here or through `ssh`.

use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::{Error, Settings, words};
use crate::fleet::ServerId;
use crate::hash::fnv;

/// What a server prints at most in one call. Five hundred full screens are a tenth of it.
const OUTPUT_LIMIT: usize = 64 << 20;

/// Seconds until `ssh` gives up connecting.
const CONNECT_TIMEOUT: u32 = 10;

/// How many hosts are connected to at the same time. A handshake costs both sides much more than a call does, and a
/// hundred at once would miss every deadline.
static CONNECTING: Semaphore = Semaphore::const_new(8);

/// The longest path that a socket may have, less what `ssh` adds to it while it binds it.
const LONGEST_SOCKET: usize = 103 - 17;

/// What a process left behind.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    /// `None` when a signal ended it.
    pub(super) code: Option<i32>,
}

/// Runs `tmux WORDS` against a server with `stdin` as its standard input.
///
/// The words are constants, ids and numbers; on a host they pass through a shell, inside single quotes.
pub(super) async fn run(settings: &Settings, id: &ServerId, words: &[&str], stdin: Vec<u8>) -> Result<Output, Error> {
    run_in(settings, id, &[], words, stdin).await
}

/// The same with additions to the environment, for a server on this machine.
pub(super) async fn run_in(
    settings: &Settings,
    id: &ServerId,
    environment: &[(&str, &str)],
    words: &[&str],
    stdin: Vec<u8>,
) -> Result<Output, Error> {
    let mut tmux = words::server_words(&id.socket);
    tmux.extend(words.iter().map(|&word| word.to_owned()));
    match &id.host {
        None => {
            let mut command = command(&settings.tmux, &tmux);
            command.envs(environment.iter().copied());
            finish(id, command, stdin, settings.deadline).await
        }
        Some(host) => {
            tmux.insert(0, "tmux".to_owned());
            on_host(settings, id, host, &tmux, stdin).await
        }
    }
}

/// `tmux WORDS` as a program for the operator's terminal. On a host it goes through the connection that is there already,
/// so that nobody has to log in twice.
pub(super) fn foreground(
    settings: &Settings,
    id: &ServerId,
    term: Option<&str>,
    words: &[String],
) -> Result<std::process::Command, Error> {
    let Some(host) = &id.host else {
        let mut command = std::process::Command::new(&settings.tmux);
        command.args(words);
        return Ok(command);
    };
    let mut command = std::process::Command::new(&settings.ssh);
    command.args(["-o", &format!("ControlPath={}", control_path(host)), "-o", "ControlMaster=no", "-t", "--", host]);
    if let Some(term) = term {
        command.args(["env".to_owned(), shell_word(&format!("TERM={term}"))?]);
    }
    command.arg("tmux");
    for word in words {
        command.arg(shell_word(word)?);
    }
    Ok(command)
}

/// Runs another program of constant words on the server's machine.
pub(super) async fn beside(settings: &Settings, id: &ServerId, words: &[&str]) -> Result<Output, Error> {
    let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    match (&id.host, words.split_first()) {
        (Some(host), _) => on_host(settings, id, host, &words, Vec::new()).await,
        (None, Some((program, rest))) => {
            // What is asked for by the name of tmux is the tmux that is used.
            let program = if program == "tmux" { &settings.tmux } else { Path::new(program) };
            finish(id, command(program, rest), Vec::new(), settings.deadline).await
        }
        (None, None) => Err(Error::Failed("there is no program to run".into())),
    }
}

/// Runs a program through `ssh`.
async fn on_host(
    settings: &Settings,
    id: &ServerId,
    host: &str,
    words: &[String],
    stdin: Vec<u8>,
) -> Result<Output, Error> {
    let mut ssh = ssh_options(host);
    ssh.extend(["--".to_owned(), host.to_owned()]);
    for word in words {
        ssh.push(shell_word(word)?);
    }
    // Who waits for a turn does not use up the time for an answer; by then another call may have connected.
    let turn = match is_connected(host) {
        true => None,
        false => CONNECTING.acquire().await.ok().filter(|_| !is_connected(host)),
    };
    let deadline = if turn.is_some() { settings.connect_deadline } else { settings.host_deadline };
    finish(id, command(&settings.ssh, &ssh), stdin, deadline).await
}

/// Where the one connection to a host listens; `none` where no directory is fit for it.
///
/// It is named after the host as the operator calls it. An address says nothing of the machine behind it: the same one may
/// lie behind two proxies, and what is meant for one machine must never go to the other.
pub(super) fn control_path(host: &str) -> String {
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

/// `ssh` asks nothing, keeps one connection a host for all calls, and notices by itself that a host is gone.
fn ssh_options(host: &str) -> Vec<String> {
    [
        "BatchMode=yes".to_owned(),
        format!("ConnectTimeout={CONNECT_TIMEOUT}"),
        "ControlMaster=auto".to_owned(),
        format!("ControlPath={}", control_path(host)),
        "ControlPersist=120".to_owned(),
        "ServerAliveInterval=5".to_owned(),
        "ServerAliveCountMax=2".to_owned(),
        "RequestTTY=no".to_owned(),
        "RemoteCommand=none".to_owned(),
        "PermitLocalCommand=no".to_owned(),
        "ClearAllForwardings=yes".to_owned(),
        "LogLevel=ERROR".to_owned(),
    ]
    .into_iter()
    .flat_map(|option| ["-o".to_owned(), option])
    .collect()
}

/// A word as the shell of a host reads it back unchanged. Single quotes mean the same to every shell there is.
fn shell_word(word: &str) -> Result<String, Error> {
    if word.contains('\'') || word.chars().any(char::is_control) {
        let why = "it would have to be quoted for a shell";
        return Err(Error::BadName { what: "word", name: word.to_owned(), why });
    }
    Ok(format!("'{word}'"))
}

fn command(program: &Path, words: &[String]) -> Command {
    let mut command = Command::new(program);
    command.args(words);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

async fn finish(id: &ServerId, mut command: Command, stdin: Vec<u8>, deadline: Duration) -> Result<Output, Error> {
    let mut child = command.spawn().map_err(|error| spawn_error(&command, &error))?;
    // Dropping the child at the deadline kills it, and tokio reaps it.
    match timeout(deadline, communicate(&mut child, stdin)).await {
        Ok(output) => output,
        Err(_) => Err(Error::TimedOut { server: id.to_string(), after: deadline }),
    }
}

fn spawn_error(command: &Command, error: &std::io::Error) -> Error {
    let program = command.as_std().get_program().to_string_lossy().into_owned();
    match error.kind() {
        std::io::ErrorKind::NotFound => Error::Missing { program, host: None },
        _ => Error::Failed(format!("{program} cannot be started: {error}")),
    }
}

/// Feeds and drains the process at the same time, as neither side may wait for the other.
async fn communicate(child: &mut Child, stdin: Vec<u8>) -> Result<Output, Error> {
    let input = child.stdin.take();
    let (output, errors) = (child.stdout.take(), child.stderr.take());
    let write = async move {
        if let Some(mut input) = input {
            // A process that ends early (no server) closes the pipe; what it says tells why.
            let _ = input.write_all(&stdin).await;
            let _ = input.shutdown().await;
        }
    };
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let status = {
        let main = async {
            tokio::join!(write, drain(output, &mut stdout, OUTPUT_LIMIT));
            child.wait().await
        };
        let aside = drain(errors, &mut stderr, 1 << 20);
        tokio::pin!(main, aside);
        tokio::select! {
            status = &mut main => {
                // A connection that ssh keeps in the background may hold standard error open for minutes.
                let _ = timeout(Duration::from_millis(100), aside).await;
                status
            }
            () = &mut aside => main.await,
        }
    };
    let status: ExitStatus = status.map_err(|error| Error::Failed(error.to_string()))?;
    if stdout.len() >= OUTPUT_LIMIT {
        return Err(Error::Garbled(format!("more than {} MiB", OUTPUT_LIMIT >> 20)));
    }
    Ok(Output { stdout, stderr, code: status.code() })
}

/// Reads to the end or to the limit. What could be read before an error is still worth having.
async fn drain(pipe: Option<impl AsyncRead + Unpin>, bytes: &mut Vec<u8>, limit: usize) {
    let Some(mut pipe) = pipe else { return };
    while bytes.len() < limit && pipe.read_buf(bytes).await.is_ok_and(|read| read > 0) {}
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
        let words = foreground(&Settings::default(), &id, None, &[]).unwrap();
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
