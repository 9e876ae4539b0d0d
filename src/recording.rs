//! Recordings of terminals: asciicast v3 and v2 in, frames, truth and replayed states out (SPEC §13).
//!
//! In addition to what any asciinema player shows, markers carry what tmux knows (`process NAME`), what the agent wrote about its
//! own session (`record {json}`) and, in labelled recordings, what was true (`truth {json}`). The [`Player`] gives the
//! detector the screen and the process, [`replay()`] also the records; only scoring reads the truth.

mod archive;
mod player;
mod reader;
mod replay;
mod writer;

pub use archive::Archive;
pub use player::{Frame, Player};
pub use replay::{ReplayOptions, Sampling, VersionSource, program, replay, replay_frames};
pub use writer::RecordingWriter;

use std::io;
use std::path::Path;

use crate::agent_record::RecordAddition;
use crate::time::{Span, Timestamp};

/// The most columns and the most rows that a recording may have: far above any real terminal, far below what would
/// take memory in earnest.
pub const LARGEST_SIDE: u16 = 2000;

/// A recording that was read whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// The file's name without its directory and extension.
    pub name: String,
    pub header: Header,
    /// In the order of their times.
    pub events: Vec<RecordedEvent>,
    /// The place of a last line that is cut, as a crash leaves one: what comes before it was read.
    pub cut: Option<RecordingError>,
}

/// What the first line of a recording says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The agent, by its command's name; `None` when the recording does not say.
    pub tool: Option<String>,
    pub version: Option<String>,
    /// What the recording shows, in a few words.
    pub situation: Option<String>,
    pub size: Size,
    /// When the recording began.
    pub began: Option<Timestamp>,
}

/// A terminal's size in cells; both sides lie between 1 and [`LARGEST_SIDE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub columns: u16,
    pub rows: u16,
}

/// One line of a recording after the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedEvent {
    /// Time since the start of the recording.
    pub at: Span,
    /// The line of the file, from 1.
    pub line: usize,
    pub kind: EventKind,
}

/// What happened in the recorded terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// `o`: the program printed.
    Output(String),
    /// `i`: somebody typed.
    Input(String),
    /// `r`: the terminal was resized.
    Resize(Size),
    /// `m` with `process NAME`: tmux's `pane_current_command` is NAME from now on.
    Process(String),
    /// `m` with `record {json}`: what was added to the agent's records.
    Record(Box<RecordAddition>),
    /// `m` with `truth {json}`: what the recording's maker knows.
    Truth(String),
    /// Any other `m`.
    Marker(String),
    /// `x`: the pane's program ended.
    Exit(i32),
}

impl Recording {
    /// The time of the last event.
    pub fn duration(&self) -> Span {
        self.events.last().map_or(Span::ZERO, |event| event.at)
    }

    /// Whether it holds what the agent wrote about its own session.
    pub fn has_records(&self) -> bool {
        self.events.iter().any(|event| matches!(event.kind, EventKind::Record(_)))
    }

    /// When the recording began; the Unix epoch when it does not say.
    pub fn began(&self) -> Timestamp {
        self.header.began.unwrap_or_default()
    }
}

/// Why something is no recording, with the place: `file:line: what is wrong`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordingError {
    /// The file cannot be read at all.
    #[error("{source_name}: {message}")]
    Unreadable { source_name: String, message: String },
    /// A line is wrong.
    #[error("{source_name}:{line}: {message}")]
    Line { source_name: String, line: usize, message: String },
}

impl RecordingError {
    /// The error for a line.
    /// A fault at a line of a file.
    pub fn at(source_name: &str, line: usize, message: impl Into<String>) -> Self {
        RecordingError::Line { source_name: source_name.to_owned(), line, message: message.into() }
    }

    /// The error for a file that cannot be read.
    pub fn unreadable(path: &Path, error: &io::Error) -> Self {
        let message = match error.kind() {
            io::ErrorKind::NotFound => "there is no such file".to_owned(),
            io::ErrorKind::IsADirectory => "this is a directory".to_owned(),
            _ => format!("cannot be read: {error}"),
        };
        RecordingError::Unreadable { source_name: path.display().to_string(), message }
    }
}

#[cfg(test)]
mod tests;
