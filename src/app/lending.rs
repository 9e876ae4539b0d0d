//! Lending the terminal to others: to tmux for a jump, to an editor for a prompt, to the shell while the dashboard is
//! stopped. Nothing is drawn meanwhile; watching, sending and telling go on.

use std::future::pending;
use std::io::{self, Write};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use ratatui::crossterm::event::EventStream;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr};
use tokio::time::timeout;

use super::editor::DraftFile;
use super::{App, AppError, signals};
use crate::fleet::TerminalKey;
use crate::poll;
use crate::screen::harmless;

/// A program that has the terminal now.
pub(super) struct Lent {
    child: Child,
    /// Its standard error, where that is not the terminal.
    errors: Option<ChildStderr>,
    /// The end of what it wrote there.
    said: Vec<u8>,
    name: String,
    purpose: LendPurpose,
}

/// What the terminal is lent for.
pub(super) enum LendPurpose {
    /// The operator looks at a terminal, and acts there.
    Jump(TerminalKey),
    /// The operator writes a prompt.
    Edit(DraftFile),
}

/// Bytes of standard error that are kept.
const SAID: usize = 4096;

/// How the program that has the terminal ended; nothing as long as none has it.
pub(super) async fn given_back(lent: &mut Option<Lent>) -> io::Result<ExitStatus> {
    let Some(Lent { child, errors, said, .. }) = lent else { return pending().await };
    let status = loop {
        tokio::select! {
            biased;
            () = listen(errors, said) => {}
            status = child.wait() => break status,
        }
    };
    // Another process may hold its standard error open.
    let rest = async {
        while errors.is_some() {
            listen(errors, said).await;
        }
    };
    let _ = timeout(Duration::from_millis(100), rest).await;
    status
}

/// Waits until a program has written to its standard error; for ever when that is the terminal, or closed.
async fn listen(errors: &mut Option<ChildStderr>, said: &mut Vec<u8>) {
    let Some(pipe) = errors else { return pending().await };
    if !pipe.read_buf(said).await.is_ok_and(|read| read > 0) {
        *errors = None;
    }
    said.drain(..said.len().saturating_sub(SAID));
}

impl Lent {
    /// Why it failed: in its own words where it had any.
    fn failure(&self, status: ExitStatus) -> Option<String> {
        if status.success() {
            return None;
        }
        let said = String::from_utf8_lossy(&self.said);
        let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
        let last = last.map(|line| format!(": {}", harmless(line))).unwrap_or_default();
        Some(format!("{} ended with an error ({status}){last}", self.name))
    }
}

impl App {
    /// Gives the terminal to another program until it ends; the operator is told when it cannot be started.
    pub(super) fn hand_over(&mut self, command: Command, name: String, purpose: LendPurpose) -> Result<(), AppError> {
        self.let_go();
        match tokio::process::Command::from(command).kill_on_drop(true).spawn() {
            Ok(mut child) => {
                let errors = child.stderr.take();
                self.lent = Some(Lent { child, errors, said: Vec::new(), name, purpose });
                self.due = None;
                Ok(())
            }
            Err(error) => {
                self.take_back()?;
                self.complain(&format!("{name} cannot be started: {error}"));
                Ok(())
            }
        }
    }

    /// Takes the terminal back from a program that has ended, and what was done in it.
    pub(super) fn on_given_back(&mut self, status: io::Result<ExitStatus>) -> Result<(), AppError> {
        let Some(lent) = self.lent.take() else { return Ok(()) };
        self.take_back()?;
        self.ui.is_seen_again(poll::now());
        let failure = lent.failure(status?);
        match lent.purpose {
            LendPurpose::Jump(key) => {
                self.saw(key, "jumped to it");
                failure.iter().for_each(|failure| self.complain(failure));
            }
            LendPurpose::Edit(draft) => {
                let text = match failure {
                    None => draft.read().map_err(|error| format!("the editor's text cannot be read: {error}")),
                    Some(failure) => Err(failure),
                };
                match text {
                    Ok(text) => self.ui.edited(&text, &self.engine.fleet().view(poll::now())),
                    Err(why) => {
                        let kept = draft.keep_if_changed().map(|path| format!("; it is kept in {}", path.display()));
                        self.complain(&format!("{why}{}", kept.unwrap_or_default()));
                    }
                }
            }
        }
        Ok(())
    }

    /// Ends the program that has the terminal, because the dashboard ends.
    pub(super) async fn call_in(&mut self) {
        let Some(Lent { mut child, purpose, .. }) = self.lent.take() else { return };
        signals::terminate(&mut child).await;
        if let LendPurpose::Edit(draft) = purpose
            && let Some(path) = draft.keep_if_changed()
        {
            let told = format!("the unsent prompt is kept in {}", path.display());
            // The terminal may be gone, and then nobody is left to be told.
            let _ = writeln!(io::stderr(), "warning: {}", harmless(&told));
        }
    }

    /// Lets the operator write a prompt in an editor of their own.
    pub(super) fn edit(&mut self, text: String) -> Result<(), AppError> {
        let draft = match DraftFile::write(text) {
            Ok(draft) => draft,
            Err(error) => {
                self.complain(&format!("no file can be made for the editor: {error}"));
                return Ok(());
            }
        };
        let (name, command) = draft.editor();
        self.hand_over(command, name, LendPurpose::Edit(draft))
    }

    /// Stops the process as the shell expects it after Ctrl-Z, and goes on when the shell says so.
    pub(super) async fn suspend(&mut self) -> Result<(), AppError> {
        self.let_go();
        signals::stop_self().await;
        self.take_back()
    }

    /// Takes the terminal once more after the process was stopped from outside and goes on: the shell has set its modes
    /// and written to it meanwhile. Who has it now does so itself.
    pub(super) fn carry_on(&mut self) -> Result<(), AppError> {
        if self.lent.is_none() {
            self.tty.take_again()?;
            self.want_frame(Duration::ZERO);
        }
        Ok(())
    }

    /// Leaves the terminal to others: its screen, its modes and its events.
    pub(super) fn let_go(&mut self) {
        // Two readers would each get a part of what is typed.
        self.events = None;
        self.tty.release();
    }

    fn take_back(&mut self) -> Result<(), AppError> {
        self.tty.retake()?;
        self.events = Some(EventStream::new());
        self.want_frame(Duration::ZERO);
        Ok(())
    }
}
