//! One pane of the demo: writes a recording's output at its own speed, under the names that its processes had.

use std::convert::Infallible;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::stage;
use super::{RefusedEnding, Scene};
use crate::recording::{EventKind, Recording};
use crate::time::Span;

/// How soon the agent of a scene reacts to an answer.
const REACTION: Duration = Duration::from_millis(300);

/// What a player's command line says.
#[derive(Clone, Debug, clap::Args)]
pub struct Play {
    /// The session whose scene is played.
    pub session: String,
    /// The demo's directory.
    #[arg(long)]
    pub stage: PathBuf,
    /// The demo's tmux server.
    #[arg(long)]
    pub server: String,
    /// Where the play begins, in milliseconds of the recording; without it where the scene enters.
    #[arg(long)]
    pub at: Option<u64>,
    /// Whether the screen already shows what was before.
    #[arg(long)]
    pub resumed: bool,
}

/// Clears what an earlier play left: styles, alternate screen, title, contents. Pastes are asked for in brackets.
const RESET: &str = "\x1b[0m\x1b[?1049l\x1b[r\x1b[2J\x1b[H\x1b[?2004h";

/// Plays a scene over and over until the demo ends.
///
/// # Errors
/// There is no such scene, or the pane is no terminal.
pub fn play(play: &Play) -> anyhow::Result<ExitCode> {
    let Some(scene) = Scene::of(&play.session) else { anyhow::bail!("no scene is called {}", play.session) };
    stage::end_with(play.stage.clone(), play.server.clone());
    let recording = scene.recording()?;
    // What is typed is read key by key and not shown, as agents do. It stays so for the whole life of the pane.
    crossterm::terminal::enable_raw_mode()?;
    let digit = scene.refused.map(|refused| refused.digit);
    let mut player = DemoPlayer { play, scene, recording, answers: listen(digit), at: Span::ZERO };
    let begin = play.at.map_or(scene.enters, Span::from_millis);
    // It plays until nobody can see it any more, which is how every pane of the demo ends.
    let _ = player.perform(begin, play.resumed);
    Ok(ExitCode::SUCCESS)
}

/// What somebody's keys mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DemoAnswer {
    /// Enter, or a key that picks an option.
    Given,
    /// Escape, or the key of the plain no.
    Refused,
}

struct DemoPlayer<'a> {
    play: &'a Play,
    scene: &'static Scene,
    recording: Recording,
    answers: Receiver<DemoAnswer>,
    /// How far it has played.
    at: Span,
}

impl DemoPlayer<'_> {
    /// Plays over and over; it only comes back when the pane is gone.
    fn perform(&mut self, begin: Span, shown: bool) -> io::Result<Infallible> {
        self.begin(begin, shown)?;
        loop {
            if self.run()?
                && let Some(RefusedEnding { recording, at, .. }) = self.scene.refused
                && let Ok(refused) = self.scene.named(recording)
            {
                let whole = std::mem::replace(&mut self.recording, refused);
                self.begin(at, false)?;
                self.run()?;
                self.recording = whole;
            }
            // Escape means nothing to an agent at rest.
            while self.wait(self.scene.rests) == Some(DemoAnswer::Refused) {}
            self.begin(self.scene.repeats, false)?;
        }
    }

    /// Shows the screen as it was at a time, under the name of the process of that time.
    fn begin(&mut self, at: Span, shown: bool) -> io::Result<()> {
        let before = || self.recording.events.iter().take_while(|event| event.at <= at);
        let name = before().filter_map(|event| self.name_of(&event.kind)).last();
        if let Some(name) = name {
            self.become_process(name, at, shown);
        }
        if !shown {
            let mut text = RESET.to_owned();
            before().filter_map(|event| output(&event.kind)).for_each(|output| text.push_str(output));
            print(&text)?;
        }
        self.at = at;
        Ok(())
    }

    /// Plays until the recording shows nothing more, unless it is refused before.
    fn run(&mut self) -> io::Result<bool> {
        let (mut began, mut from) = (Instant::now(), self.at);
        let first = self.recording.events.partition_point(|event| event.at <= from);
        // Whoever recorded it waited a while at the end, in which the agent is ready and a prompt counts.
        let shows = |kind: &EventKind| output(kind).is_some() || self.name_of(kind).is_some();
        let end = self.recording.events.iter().rposition(|event| shows(&event.kind)).map_or(first, |last| last + 1);
        // Answers from before do not count.
        while self.answers.try_recv().is_ok() {}
        for n in first..end {
            let at = self.recording.events[n].at;
            if let Some(wait) = self.scene.waits.filter(|wait| wait.from >= self.at && wait.from < at) {
                if self.wait_for_answer() == DemoAnswer::Refused {
                    return Ok(true);
                }
                // Whoever recorded the session took time to answer; an answer of now takes effect now.
                from = wait.until.max(at);
                began = Instant::now() + REACTION;
            }
            let due = began + Duration::from_millis(at.as_millis().saturating_sub(from.as_millis()));
            if self.is_refused_before(due) {
                return Ok(true);
            }
            self.at = at;
            let kind = &self.recording.events[n].kind;
            if let Some(text) = output(kind) {
                print(text)?;
            } else if let Some(name) = self.name_of(kind) {
                self.become_process(name, at, true);
            }
        }
        Ok(false)
    }

    /// Lets the time pass until then. An agent that cannot be interrupted takes no notice of keys.
    fn is_refused_before(&self, due: Instant) -> bool {
        let rest = || due.saturating_duration_since(Instant::now());
        while self.scene.refused.is_some() {
            match self.answers.recv_timeout(rest()) {
                Ok(DemoAnswer::Refused) => return true,
                Ok(DemoAnswer::Given) => {}
                Err(RecvTimeoutError::Timeout) => return false,
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        std::thread::sleep(rest());
        false
    }

    /// Stands still until somebody answers: a dialog is the operator's. Answers from before do not count.
    fn wait_for_answer(&mut self) -> DemoAnswer {
        while self.answers.try_recv().is_ok() {}
        // Nobody can answer any more once the pane is gone, and the player with it.
        self.answers.recv().unwrap_or_else(|_| {
            loop {
                std::thread::park();
            }
        })
    }

    /// Stands still for a time, or until somebody answers. Answers from before do not count.
    fn wait(&mut self, length: Span) -> Option<DemoAnswer> {
        while self.answers.try_recv().is_ok() {}
        let length = Duration::from(length);
        match self.answers.recv_timeout(length) {
            Ok(answer) => Some(answer),
            Err(RecvTimeoutError::Timeout) => None,
            // Nobody can answer any more; the time must pass all the same.
            Err(RecvTimeoutError::Disconnected) => {
                std::thread::sleep(length);
                None
            }
        }
    }

    /// The name under which the pane's process was seen from an event on: the agent's or a shell's.
    fn name_of(&self, kind: &EventKind) -> Option<&'static str> {
        let EventKind::Process(name) = kind else { return None };
        let agent = name == self.scene.tool || matches!(name.as_str(), "node" | "python3" | "bun");
        Some(if agent { self.scene.tool } else { stage::SHELL })
    }

    /// Goes on under another name. The process stays the same, as a shell's `exec` would leave it.
    fn become_process(&self, name: &str, at: Span, shown: bool) {
        let now = std::env::args_os().next().map(PathBuf::from);
        if now.as_deref().and_then(Path::file_name).is_some_and(|now| now == name) {
            return;
        }
        let Play { session, stage, server, .. } = self.play;
        let mut command = Command::new(stage::program(stage, name));
        command.args(stage::words(session, stage, server)).args(["--at", &at.as_millis().to_string()]);
        if shown {
            command.arg("--resumed");
        }
        // It only comes back when it failed (the program was replaced meanwhile); then the play goes on as it is.
        let _ = command.exec();
    }
}

fn output(kind: &EventKind) -> Option<&str> {
    match kind {
        EventKind::Output(text) => Some(text),
        _ => None,
    }
}

fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Reads what is typed, and reports every answer: Enter, a key that picks an option, or Escape.
fn listen(refusing: Option<u8>) -> Receiver<DemoAnswer> {
    let (tell, answers) = mpsc::channel();
    std::thread::spawn(move || {
        let mut keys = KeyParser { refusing, ..KeyParser::default() };
        let (mut input, mut bytes) = (io::stdin().lock(), [0; 4096]);
        loop {
            let Ok(count @ 1..) = input.read(&mut bytes) else { return };
            if keys.take_all(&bytes[..count]).into_iter().any(|answer| tell.send(answer).is_err()) {
                return;
            }
        }
    });
    answers
}

const ESCAPE: u8 = 0x1b;

/// Tells answers from pasted text and from keys that send several bytes.
#[derive(Default)]
struct KeyParser {
    /// The escape sequence that is being read.
    sequence: Vec<u8>,
    pasting: bool,
    /// The digit that says no.
    refusing: Option<u8>,
}

impl KeyParser {
    /// Takes what came at once. Escape alone is a key; else it begins a sequence.
    fn take_all(&mut self, bytes: &[u8]) -> Vec<DemoAnswer> {
        if bytes == [ESCAPE] && !self.pasting {
            self.sequence.clear();
            return vec![DemoAnswer::Refused];
        }
        let refusing = self.refusing;
        let answer = |byte: &u8| if Some(*byte) == refusing { DemoAnswer::Refused } else { DemoAnswer::Given };
        bytes.iter().filter(|byte| self.take(**byte)).map(answer).collect()
    }

    /// Takes a byte; whether it completes an answer.
    fn take(&mut self, byte: u8) -> bool {
        if byte == ESCAPE {
            self.sequence = vec![byte];
            return false;
        }
        if self.sequence.is_empty() {
            return !self.pasting && matches!(byte, b'\r' | b'1'..=b'9' | b'y' | b'n');
        }
        self.sequence.push(byte);
        let introduced = self.sequence.len() > 2 || !matches!(byte, b'[' | b'O');
        if introduced && (0x40..=0x7e).contains(&byte) || self.sequence.len() > 16 {
            match &self.sequence[..] {
                b"\x1b[200~" => self.pasting = true,
                b"\x1b[201~" => self.pasting = false,
                _ => {}
            }
            self.sequence.clear();
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(bytes: &[u8]) -> usize {
        KeyParser::default().take_all(bytes).len()
    }

    #[test]
    fn escape_and_the_plain_no_refuse() {
        let taken = |bytes: &[u8]| KeyParser { refusing: Some(b'4'), ..KeyParser::default() }.take_all(bytes);
        assert_eq!(
            (taken(b"\x1b"), taken(b"4"), taken(b"1")),
            (vec![DemoAnswer::Refused], vec![DemoAnswer::Refused], vec![DemoAnswer::Given])
        );
        assert_eq!((taken(b"\x1b[A"), taken(b"\x1b[200~4")), (vec![], vec![]));
    }

    #[test]
    fn enter_and_options_answer_and_nothing_else_does() {
        assert_eq!(answers(b"\r"), 1);
        assert_eq!(answers(b"2"), 1);
        assert_eq!(answers(b"hello, world"), 0);
        assert_eq!(answers(b"\x1b[A\x1b[B\x1bOP\x1b[1;5C"), 0, "arrows and function keys");
        assert_eq!(answers(b"\x1b[200~yes\r1\r\x1b[201~"), 0, "a paste is text");
        assert_eq!(answers(b"\x1b[200~yes\x1b[201~\r"), 1, "Enter behind it submits");
    }
}
