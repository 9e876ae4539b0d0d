//! What the server answers.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;

use super::wire::Lost;

/// The answer to one request: beats, played one after another.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    beats: Vec<Beat>,
}

#[derive(Clone, Debug)]
pub(super) enum Beat {
    Wait(Duration),
    Hold(Gate),
    Say(String, Duration),
    Think(String, Duration),
    Call(String, Value),
    Refuse { status: u16, kind: String, message: String },
    Cut,
}

impl Answer {
    /// An answer that says nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A text, written over half a second.
    pub fn text(text: &str) -> Self {
        Self::new().say(text, Duration::from_millis(500))
    }

    /// A refusal with an HTTP status, as the service words it.
    pub fn refusal(status: u16, kind: &str, message: &str) -> Self {
        Self::new().beat(Beat::Refuse { status, kind: kind.to_owned(), message: message.to_owned() })
    }

    /// Then writes a text in pieces over `time`.
    pub fn say(self, text: &str, time: Duration) -> Self {
        self.beat(Beat::Say(text.to_owned(), time))
    }

    /// Then thinks aloud over `time`.
    pub fn think(self, text: &str, time: Duration) -> Self {
        self.beat(Beat::Think(text.to_owned(), time))
    }

    /// Then asks for a tool.
    pub fn call(self, name: &str, input: Value) -> Self {
        self.beat(Beat::Call(name.to_owned(), input))
    }

    /// Then writes nothing for `time`.
    pub fn wait(self, time: Duration) -> Self {
        self.beat(Beat::Wait(time))
    }

    /// Then writes nothing until the gate opens.
    pub fn hold(self, gate: &Gate) -> Self {
        self.beat(Beat::Hold(gate.clone()))
    }

    /// Then cuts the connection in the middle of the answer.
    pub fn cut(self) -> Self {
        self.beat(Beat::Cut)
    }

    /// Then all of another answer.
    pub fn then(mut self, other: Self) -> Self {
        self.beats.extend(other.beats);
        self
    }

    /// The same answer without any pause.
    pub(super) fn at_once(mut self) -> Self {
        for beat in &mut self.beats {
            if let Beat::Say(_, time) | Beat::Think(_, time) | Beat::Wait(time) = beat {
                *time = Duration::ZERO;
            }
        }
        self
    }

    pub(super) fn beats(&self) -> &[Beat] {
        &self.beats
    }

    fn beat(mut self, beat: Beat) -> Self {
        self.beats.push(beat);
        self
    }
}

/// Something that a held answer waits for, and the test opens.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    state: Arc<(Mutex<bool>, Condvar)>,
}

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets everything through that waits, and all that comes later.
    pub fn open(&self) {
        *self.state.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.state.1.notify_all();
    }

    /// Waits; `check` is called in between and ends the waiting when the client is lost.
    pub(super) fn wait(&self, mut check: impl FnMut() -> Result<(), Lost>) -> Result<(), Lost> {
        while !*self.state.0.lock().unwrap_or_else(PoisonError::into_inner) {
            check()?;
        }
        Ok(())
    }
}

/// The answers that are still to be given, in order.
#[derive(Debug, Default)]
pub(super) struct Script {
    answers: Mutex<VecDeque<Answer>>,
}

impl Script {
    pub(super) fn push(&self, answer: Answer) {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).push_back(answer);
    }

    pub(super) fn take(&self) -> Option<Answer> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

/// Cuts a text into at most ten pieces a second, between characters.
pub(super) fn pieces(text: &str, time: Duration) -> Vec<&str> {
    let wanted = usize::try_from(time.as_millis() / 100).unwrap_or(1).max(1);
    let length = text.chars().count().div_ceil(wanted).max(1);
    let mut rest = text;
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let end = rest.char_indices().nth(length).map_or(rest.len(), |(index, _)| index);
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    pieces
}
