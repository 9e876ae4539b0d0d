//! Lending the terminal to others: to tmux for a jump, to the shell while the dashboard is stopped.

use std::time::Duration;

use ratatui::crossterm::event::EventStream;

use super::editor::Draft;
use super::{App, Error, signals};
use crate::feed;

impl App {
    /// Gives the terminal to another program until it ends. Watching goes on in the meantime.
    /// Returns whether it did what it was started for; the operator is told when it did not.
    pub(super) async fn hand_over(&mut self, command: std::process::Command, name: &str) -> Result<bool, Error> {
        self.let_go();
        let mut child = match tokio::process::Command::from(command).kill_on_drop(true).spawn() {
            Ok(child) => child,
            Err(error) => {
                self.take_back()?;
                self.complain(&format!("{name} cannot be started: {error}"));
                return Ok(false);
            }
        };
        let status = loop {
            tokio::select! {
                status = child.wait() => break status?,
                () = self.signals.end() => {
                    self.wants_to_end = true;
                    signals::terminate(&mut child).await;
                    return Ok(false);
                }
                Some(input) = self.inputs.recv() => self.take(input),
            }
        };
        self.take_back()?;
        if !status.success() {
            self.complain(&format!("{name} ended with an error ({status})"));
        }
        Ok(status.success())
    }

    /// Lets the operator write a prompt in an editor of their own.
    pub(super) async fn edit(&mut self, text: &str) -> Result<(), Error> {
        let draft = match Draft::write(text) {
            Ok(draft) => draft,
            Err(error) => {
                self.complain(&format!("no file can be made for the editor: {error}"));
                return Ok(());
            }
        };
        let (name, command) = draft.editor();
        if self.hand_over(command, &name).await? {
            match draft.read() {
                Ok(text) => self.ui.edited(&text, &self.fleet.view(feed::now())),
                Err(error) => self.complain(&format!("the editor's text cannot be read: {error}")),
            }
        }
        Ok(())
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
