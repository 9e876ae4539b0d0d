//! A command of the operator's: program and arguments as they stand in the configuration, never through a shell.

use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::moment::Span;

/// Runs a command with a text on its standard input; its own output goes nowhere, as the dashboard has the terminal.
///
/// # Errors
/// In words: it cannot be started, it says that it failed, or it was ended at its deadline.
pub(super) async fn run(words: &[String], input: String, deadline: Span) -> Result<(), String> {
    let Some((program, arguments)) = words.split_first() else { return Err("no program is named".to_owned()) };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
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
