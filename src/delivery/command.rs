//! A command of the operator's: program and arguments as they stand in the configuration, never through a shell.

use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::notify::NotifyRule;

/// What every command gets of the environment: what programs need to run and to reach the desktop or a service. Keys and
/// tokens that agents were started with are none of its business.
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

/// Runs a rule's command with a text on its standard input; its own output goes nowhere, as the dashboard has the
/// terminal. Of the environment it gets what is usual and what the rule names.
///
/// # Errors
/// In words: it cannot be started, it says that it failed, or it was ended at its deadline.
pub(super) async fn run(rule: &NotifyRule, input: String) -> Result<(), String> {
    let Some((program, arguments)) = rule.command.split_first() else { return Err("no program is named".to_owned()) };
    let deadline = rule.command_deadline;
    let is_passed_on = |name: &str| {
        USUAL.contains(&name)
            || USUAL_FAMILIES.iter().any(|family| name.starts_with(family))
            || rule.command_environment.iter().any(|named| named == name)
    };
    let environment = std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_passed_on));
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(environment)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("cannot be started: {error}"))?;
    let stdin = child.stdin.take();
    let work = async {
        if let Some(mut stdin) = stdin {
            // A program that does not read what it is told has its reasons.
            let _ = stdin.write_all(input.as_bytes()).await;
        }
        child.wait().await
    };
    let done = tokio::time::timeout(Duration::from_millis(deadline.as_millis()), work).await;
    match done {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(format!("failed: {status}")),
        Ok(Err(error)) => Err(format!("cannot be waited for: {error}")),
        Err(_) => {
            // It may have ended in this very moment.
            let _ = child.kill().await;
            Err(format!("took longer than {} s and was ended", deadline.as_secs()))
        }
    }
}
