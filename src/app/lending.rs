//! Lending the terminal to others: to tmux for a jump, to an editor for a prompt, to the shell while the dashboard is
//! stopped. Nothing is drawn meanwhile; watching, sending and notices go on.

use std::fs::{self, OpenOptions};
use std::future::pending;
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ratatui::crossterm::event::EventStream;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr};
use tokio::time::timeout;

use super::{App, AppError, terminal};
use crate::fleet::{Input, TerminalKey};
use crate::poll;
use crate::screen::harmless;
use crate::ui::OverlayEvent;

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
    /// Gives the terminal to another program until it ends; a message says when it cannot be started.
    pub(super) fn hand_over(&mut self, command: Command, name: String, purpose: LendPurpose) -> Result<(), AppError> {
        self.let_go();
        // What was typed ahead was meant for the dashboard: no agent's prompt and no editor gets it.
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
        self.ui.is_seen_again(poll::now());
        let failure = lent.failure(status?);
        match lent.purpose {
            LendPurpose::Jump(key) => {
                self.engine.handle_local(Input::Seen { key }, poll::now());
                failure.iter().for_each(|failure| self.complain(failure));
            }
            LendPurpose::Edit(draft) => {
                let text = match failure {
                    None => draft.read().map_err(|error| format!("the editor's text cannot be read: {error}")),
                    Some(failure) => Err(failure),
                };
                match text {
                    Ok(text) => {
                        self.ui.on_event(OverlayEvent::Edited { text: &text }, &self.engine.fleet().view(poll::now()))
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

// A prompt in the operator's own editor.

/// What is started when the environment names no editor.
const USUAL: &str = "vi";
/// Bytes that are read back at most; no prompt may be longer.
const LONGEST: u64 = 1 << 20;

/// A prompt in a file of its own that nobody else may read; it goes when this is dropped.
pub(super) struct DraftFile {
    path: PathBuf,
    /// What was written into it at first.
    text: String,
    is_kept: bool,
}

impl DraftFile {
    /// Writes a prompt into a new file.
    pub(super) fn write(text: String) -> io::Result<Self> {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let path = std::env::temp_dir().join(format!("fleetwatch-prompt-{}-{time}.md", std::process::id()));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        let draft = Self { path, text, is_kept: false };
        file.write_all(draft.text.as_bytes())?;
        Ok(draft)
    }

    /// The editor that VISUAL or EDITOR names, with the file, and what to call it.
    pub(super) fn editor(&self) -> (String, Command) {
        let named = ["VISUAL", "EDITOR"].into_iter().find_map(|name| {
            let value = std::env::var(name).ok()?;
            (!value.trim().is_empty()).then_some(value)
        });
        let named = named.unwrap_or_else(|| USUAL.to_owned());
        // No shell takes it apart: words are what blanks part.
        let mut words = named.split_whitespace();
        let program = words.next().unwrap_or(USUAL);
        let mut command = Command::new(program);
        command.args(words).arg(&self.path);
        (program.to_owned(), command)
    }

    /// The text as the editor left it, without the line end that editors put behind the last line.
    pub(super) fn read(&self) -> io::Result<String> {
        let mut text = String::new();
        let read = fs::File::open(&self.path)?.take(LONGEST + 1).read_to_string(&mut text)?;
        if read as u64 > LONGEST {
            return Err(io::Error::other(format!("it has more than {LONGEST} bytes")));
        }
        if text.ends_with('\n') {
            text.pop();
        }
        Ok(text)
    }

    /// Leaves the file where it is if the editor has written anything else into it, and reports where.
    pub(super) fn keep_if_changed(mut self) -> Option<PathBuf> {
        let written = fs::read(&self.path).ok()?;
        let text = written.strip_suffix(b"\n").unwrap_or(&written);
        self.is_kept = text != self.text.as_bytes() && written != self.text.as_bytes();
        self.is_kept.then(|| self.path.clone())
    }
}

impl Drop for DraftFile {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = fs::remove_file(&self.path);
        }
    }
}
