//! One `tmux` process with a deadline, here or on a host.

use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::error::Error;
use super::transport::{OUTPUT_LIMIT, Output, Settings, command, spawn_error};
use super::{host, words};
use crate::fleet::ServerId;

/// The place of a call in a row of them: it is handed over when the one before it begins to be answered. A server that has two
/// calls answers neither before it has done both, and one that has none waits for the next process to start.
#[derive(Debug, Default)]
pub(super) struct InTurn {
    after: Option<oneshot::Receiver<()>>,
    next: Option<oneshot::Sender<()>>,
}

impl InTurn {
    /// The place behind this one.
    pub(super) fn then(&mut self) -> Self {
        let (next, after) = oneshot::channel();
        self.next = Some(next);
        Self { after: Some(after), next: None }
    }
}

/// Runs `tmux WORDS` against a server with `stdin` as its standard input.
pub(super) async fn run(settings: &Settings, id: &ServerId, words: &[&str], stdin: Vec<u8>) -> Result<Output, Error> {
    run_in(settings, id, &[], words, stdin, InTurn::default()).await
}

/// The same with additions to the environment and in its turn, both for a server on this machine only.
pub(super) async fn run_in(
    settings: &Settings,
    id: &ServerId,
    environment: &[(&str, &str)],
    words: &[&str],
    stdin: Vec<u8>,
    turn: InTurn,
) -> Result<Output, Error> {
    let mut tmux = words::server_words(&id.socket);
    tmux.extend(words.iter().map(|&word| word.to_owned()));
    match &id.host {
        None => {
            let mut command = command(&settings.tmux, &tmux);
            command.envs(environment.iter().copied());
            finish(id, command, stdin, settings.deadline, turn).await
        }
        Some(host) => {
            tmux.insert(0, "tmux".to_owned());
            host::call(settings, id, host, &tmux, stdin).await
        }
    }
}

/// `tmux WORDS` as a program for the operator's terminal, which gets the name `term` on a host if that is given.
pub(super) fn foreground(
    settings: &Settings,
    id: &ServerId,
    term: Option<&str>,
    words: &[String],
) -> Result<std::process::Command, Error> {
    if let Some(host) = &id.host {
        return host::to_show(settings, host, term, &[&["tmux".to_owned()], words].concat());
    }
    let mut command = std::process::Command::new(&settings.tmux);
    command.args(words);
    Ok(command)
}

/// Runs another program on the server's machine, with nothing on its standard input.
pub(super) async fn beside(settings: &Settings, id: &ServerId, words: &[&str]) -> Result<Output, Error> {
    let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    match (&id.host, words.split_first()) {
        (Some(host), _) => host::call(settings, id, host, &words, Vec::new()).await,
        (None, Some((program, rest))) => {
            // What is asked for by the name of tmux is the tmux that is used.
            let program = if program == "tmux" { &settings.tmux } else { Path::new(program) };
            finish(id, command(program, rest), Vec::new(), settings.deadline, InTurn::default()).await
        }
        (None, None) => Err(Error::Failed("there is no program to run".into())),
    }
}

async fn finish(
    id: &ServerId,
    mut command: Command,
    stdin: Vec<u8>,
    deadline: Duration,
    turn: InTurn,
) -> Result<Output, Error> {
    let mut child = command.spawn().map_err(|error| spawn_error(&command, &error))?;
    // Dropping the child at the deadline kills it, and tokio reaps it.
    match timeout(deadline, communicate(&mut child, stdin, turn)).await {
        Ok(output) => output,
        Err(_) => Err(Error::TimedOut { server: id.to_string(), after: deadline }),
    }
}

/// Feeds and drains the process at the same time, as neither side may wait for the other.
async fn communicate(child: &mut Child, stdin: Vec<u8>, InTurn { after, next }: InTurn) -> Result<Output, Error> {
    let input = child.stdin.take();
    let (mut output, errors) = (child.stdout.take(), child.stderr.take());
    let write = async move {
        if let Some(mut input) = input {
            // A process that ends early (no server) closes the pipe; its output says why.
            let _ = input.write_all(&stdin).await;
            if let Some(after) = after {
                // One that is not answered is over.
                let _ = after.await;
            }
            let _ = input.shutdown().await;
        }
    };
    // What most of them print fits.
    let (mut stdout, mut stderr) = (Vec::with_capacity(1 << 16), Vec::new());
    let read = async {
        drain(output.as_mut(), &mut stdout, 1).await;
        next.map(|next| next.send(()));
        drain(output.as_mut(), &mut stdout, OUTPUT_LIMIT).await;
    };
    tokio::join!(write, read, drain(errors, &mut stderr, 1 << 20));
    let status = child.wait().await;
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
