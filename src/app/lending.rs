//! Lending the terminal to others: to tmux for a jump, to an editor for a prompt, to the shell while the dashboard is
//! stopped. Nothing is drawn meanwhile; watching, sending and telling go on.

use std::future::pending;
use std::io::{self, Write};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use ratatui::crossterm::event::EventStream;
use tokio::process::Child;

use super::editor::Draft;
use super::{App, Error, signals};
use crate::feed;
use crate::fleet::TerminalKey;
use crate::screen::harmless;

/// A program that has the terminal now.
pub(super) struct Lent {
    child: Child,
    name: String,
    purpose: Purpose,
}

/// What the terminal is lent for.
pub(super) enum Purpose {
    /// The operator looks at a terminal, and acts there.
    Jump(TerminalKey),
    /// The operator writes a prompt.
    Edit(Draft),
}

/// How the program that has the terminal ended; nothing as long as none has it.
pub(super) async fn given_back(lent: &mut Option<Lent>) -> io::Result<ExitStatus> {
    match lent {
        Some(lent) => lent.child.wait().await,
        None => pending().await,
    }
}

impl App {
    /// Gives the terminal to another program until it ends; the operator is told when it cannot be started.
    pub(super) fn hand_over(&mut self, command: Command, name: String, purpose: Purpose) -> Result<(), Error> {
        self.let_go();
        match tokio::process::Command::from(command).kill_on_drop(true).spawn() {
            Ok(child) => {
                self.lent = Some(Lent { child, name, purpose });
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
    pub(super) fn on_given_back(&mut self, status: io::Result<ExitStatus>) -> Result<(), Error> {
        let Some(Lent { name, purpose, .. }) = self.lent.take() else { return Ok(()) };
        self.take_back()?;
        self.ui.is_seen_again(feed::now());
        let status = status?;
        let failure = (!status.success()).then(|| format!("{name} ended with an error ({status})"));
        match purpose {
            Purpose::Jump(key) => {
                self.saw(key, "jumped to it");
                failure.iter().for_each(|failure| self.complain(failure));
            }
            Purpose::Edit(draft) => {
                let text = match failure {
                    None => draft.read().map_err(|error| format!("the editor's text cannot be read: {error}")),
                    Some(failure) => Err(failure),
                };
                match text {
                    Ok(text) => self.ui.edited(&text, &self.fleet.view(feed::now())),
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
        if let Purpose::Edit(draft) = purpose
            && let Some(path) = draft.keep_if_changed()
        {
            let told = format!("the prompt that was being written is kept in {}", path.display());
            // The terminal may be gone, and then nobody is left to be told.
            let _ = writeln!(io::stderr(), "warning: {}", harmless(&told));
        }
    }

    /// Lets the operator write a prompt in an editor of their own.
    pub(super) fn edit(&mut self, text: String) -> Result<(), Error> {
        let draft = match Draft::write(text) {
            Ok(draft) => draft,
            Err(error) => {
                self.complain(&format!("no file can be made for the editor: {error}"));
                return Ok(());
            }
        };
        let (name, command) = draft.editor();
        self.hand_over(command, name, Purpose::Edit(draft))
    }

    /// Stops the process as the shell expects it after Ctrl-Z, and goes on when the shell says so.
    pub(super) async fn suspend(&mut self) -> Result<(), Error> {
        self.let_go();
        signals::stop_self().await;
        self.take_back()
    }

    /// Leaves the terminal to others: its screen, its modes and its events.
    pub(super) fn let_go(&mut self) {
        // Two readers would each get a part of what is typed.
        self.events = None;
        self.tty.release();
    }

    fn take_back(&mut self) -> Result<(), Error> {
        self.tty.retake()?;
        self.events = Some(EventStream::new());
        self.want_frame(Duration::ZERO);
        Ok(())
    }
}
