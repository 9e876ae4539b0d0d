//! Something that happened in a terminal and that an agent may be told.

use serde::{Deserialize, Serialize};

use crate::notify::{Notice, Occasion};
use crate::place::TerminalKey;
use crate::screen::harmless;
use crate::task::{Happening, TaskEvent};

/// Useful lines of a task's output that a message shows (SPEC §9).
const OUTPUT_LINES: usize = 3;
/// The longest line of a message, in characters.
const LONGEST: usize = 200;

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The terminal's name.
    pub source: String,
    /// The terminal itself, spelt alike by every process that sees it.
    pub identity: String,
    /// The server that it is on, spelt alike, too.
    pub server: String,
    pub occasion: Occasion,
    /// What tells it from the next one of its kind as every process sees it, as far as anything but the time does.
    pub mark: String,
    /// Whether there is no next one with the same mark.
    pub is_unique: bool,
    /// What happened, in one harmless line.
    pub text: String,
    /// The last useful lines of output.
    pub output: Vec<String>,
}

impl Event {
    /// What happened to a task.
    pub fn of_task(event: &TaskEvent) -> Self {
        let (occasion, mark) = match &event.happening {
            Happening::Started => (Occasion::Started, ""),
            Happening::Exited { .. } => (Occasion::Exited, ""),
            Happening::Disappeared { .. } => (Occasion::Disappeared, ""),
            Happening::Notify { .. } => (Occasion::Notify, ""),
            Happening::Input { prompt } => (Occasion::Input, prompt.as_str()),
        };
        Self {
            source: event.id.clone(),
            identity: identity(&event.key),
            server: event.key.server.word(),
            occasion,
            mark: mark.to_owned(),
            // A program starts and ends once, and the next one in the same window has another pid.
            is_unique: !matches!(occasion, Occasion::Notify | Occasion::Input),
            text: line(&event.text()),
            output: event.preview.useful(OUTPUT_LINES).into_iter().map(line).collect(),
        }
    }

    /// What an agent needs or has done.
    pub fn of_agent(notice: &Notice) -> Self {
        Self::of_attention(&notice.key, &notice.name, notice.occasion, &notice.text)
    }

    /// The same of what stands in a terminal, as [`crate::notify::standing`] tells it.
    pub(super) fn of_attention(key: &TerminalKey, name: &str, occasion: Occasion, text: &str) -> Self {
        Self {
            source: name.to_owned(),
            identity: identity(key),
            server: key.server.word(),
            occasion,
            mark: line(text),
            is_unique: false,
            text: line(text),
            output: Vec::new(),
        }
    }

    /// Whether an agent did it, so that a follow-up may have been the cause.
    pub fn is_of_an_agent(&self) -> bool {
        use Occasion::{Approval, Failed, Finished, Gone, Interrupted, Question, Setup, Stalled, Trust};
        matches!(self.occasion, Approval | Question | Trust | Setup | Failed | Interrupted | Finished | Stalled | Gone)
    }

    /// Whether it ends an agent's turn.
    pub fn ends_a_turn(&self) -> bool {
        matches!(self.occasion, Occasion::Finished | Occasion::Failed | Occasion::Interrupted | Occasion::Gone)
    }
}

/// The name of a terminal that every process spells alike.
pub(super) fn identity(key: &TerminalKey) -> String {
    format!("{}/{}/{}", key.server.word(), key.pane, key.pid)
}

/// One harmless line of bounded length: what other terminals show goes into an agent's prompt.
pub(super) fn line(text: &str) -> String {
    let text = harmless(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// The name of an event for one target, which every process gives it alike. Where only the time tells it from the next
/// one of its kind, so does the name.
pub(super) fn key(event: &Event, to: &str) -> String {
    format!("{}|{}|{}|{to}", event.identity, event.occasion, event.mark)
}
