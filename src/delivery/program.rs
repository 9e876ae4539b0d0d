//! Runs a program with its arguments, never through a shell.

use std::io::{self, ErrorKind};
use std::process::{Output, Stdio};

use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::time::Span;

/// Variables that every program gets: to run, and to reach the desktop or a service. Keys and tokens that agents were started
/// with are none of its business.
const USUAL: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "TZ",
    "TMPDIR",
    "LANG",
    "LANGUAGE",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "DBUS_SESSION_BUS_ADDRESS",
    "SSH_AUTH_SOCK",
    "TMUX",
    "TMUX_PANE",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
];
/// Beginnings of further names.
const USUAL_FAMILIES: &[&str] = &["LC_", "XDG_"];

/// Runs a program with a text on its standard input; what it prints goes where it is said, or nowhere, as the dashboard has
/// the terminal. Of the environment it gets what is usual and what is named.
///
/// # Errors
/// It cannot be started, or was ended at its deadline.
pub(super) async fn run(
    words: &[String],
    environment: &[String],
    deadline: Span,
    printed: Stdio,
    input: String,
) -> io::Result<Output> {
    let (program, arguments) = words.split_first().ok_or_else(|| io::Error::other("no program is named"))?;
    let is_passed_on = |name: &str| {
        USUAL.contains(&name)
            || USUAL_FAMILIES.iter().any(|family| name.starts_with(family))
            || environment.iter().any(|named| named == name)
    };
    let environment = std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_passed_on));
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(environment)
        .stdin(Stdio::piped())
        .stdout(printed)
        .stderr(Stdio::null())
        .kill_on_drop(true);
    let mut child = command.spawn().map_err(|error| {
        let why = match error.kind() {
            ErrorKind::NotFound => format!("there is no program {program}"),
            _ => format!("cannot be started: {error}"),
        };
        io::Error::new(error.kind(), why)
    })?;
    let stdin = child.stdin.take();
    let work = async {
        if let Some(mut stdin) = stdin {
            // A program may have its reasons not to read its input.
            let _ = stdin.write_all(input.as_bytes()).await;
        }
        child.wait_with_output().await
    };
    let done = tokio::time::timeout(deadline.into(), work).await;
    // At its deadline it is killed, as it is dropped.
    let late = || format!("took longer than {} s and was ended", deadline.as_secs());
    done.unwrap_or_else(|_| Err(io::Error::new(ErrorKind::TimedOut, late())))
}
