//! Lending the terminal to others: to tmux for a jump, to an editor for a prompt, to the shell while the dashboard is
//! stopped. Nothing is drawn meanwhile; watching, sending and notices go on.

use std::io::{self, Write};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use ratatui::crossterm::event::EventStream;

use super::App;
use super::terminal::{self, AppError, DraftFile, LendPurpose, Lent};
use crate::clock;
use crate::screen::harmless;
use crate::ui::OverlayEvent;

impl App {
    /// Gives the terminal to another program until it ends; a message says when it cannot be started.
    pub(super) fn hand_over(&mut self, command: Command, name: String, purpose: LendPurpose) -> Result<(), AppError> {
        self.let_go();
        // Keys typed ahead were meant for the dashboard, so no agent and no editor gets them.
        self.tty.forget_typed();
        match tokio::process::Command::from(command).kill_on_drop(true).spawn() {
            Ok(mut child) => {
                let errors = child.stderr.take();
                // Now, and not when they come back.
                if let LendPurpose::Jump(key) = &purpose {
                    self.note(Some(key.clone()), "jumped to it");
                }
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
        self.ui.is_seen_again(clock::now());
        let failure = lent.failure(status?);
        match lent.purpose {
            LendPurpose::Jump(key) => {
                self.engine.see(key, clock::now());
                failure.iter().for_each(|failure| self.complain(failure));
            }
            LendPurpose::Edit(draft) => {
                let text = match failure {
                    None => draft.read().map_err(|error| format!("the editor's text cannot be read: {error}")),
                    Some(failure) => Err(failure),
                };
                match text {
                    Ok(text) => {
                        self.ui.on_event(OverlayEvent::Edited { text: &text }, &self.engine.fleet().view(clock::now()))
                    }
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
        terminal::terminate(&mut child).await;
        if let LendPurpose::Edit(draft) = purpose
            && let Some(path) = draft.keep_if_changed()
        {
            let message = format!("the unsent prompt is kept in {}", path.display());
            // The terminal may be gone, and then nobody is left to be told.
            let _ = writeln!(io::stderr(), "warning: {}", harmless(&message));
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
        terminal::stop_self().await;
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
