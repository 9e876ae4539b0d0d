//! Something that happened in a terminal and that an agent may be told, by what the history says of it.

use crate::ids::TerminalKey;
use crate::notify::{Occasion, statement};
use crate::screen::harmless;
use crate::state::{State, TurnResult};
use crate::task::{Happening, Preview, TaskFields};
use crate::time::Timestamp;

/// Useful lines of a task's output that a message shows (SPEC §9).
const OUTPUT_LINES: usize = 3;
/// The longest line of a message, in characters.
const LONGEST: usize = 200;

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowUpEvent {
    /// The terminal's name.
    pub source: String,
    pub occasion: Occasion,
    /// When it began.
    pub at: Timestamp,
    /// Its name, which nothing else has that ever happens.
    pub key: String,
    /// What happened, in one harmless line.
    pub text: String,
    /// The last useful lines of output.
    pub output: Vec<String>,
}

impl FollowUpEvent {
    fn new(key: &TerminalKey, source: &str, occasion: Occasion, at: Timestamp, text: &str) -> Self {
        let identity = format!("{}/{}/{}", key.server.word(), key.pane, key.pid);
        let key = format!("{identity}|{occasion}|{}", at.as_millis());
        Self { source: source.to_owned(), occasion, at, key, text: line(text), output: Vec::new() }
    }

    /// What happened to a task whose public fields are these since.
    pub fn of_task(key: &TerminalKey, source: &str, at: Timestamp, happening: &Happening, task: &TaskFields) -> Self {
        let text = format!("task {source} ({}) {}", task.window_id, happening.text());
        let output = Preview::of_lines(&task.preview).useful(OUTPUT_LINES).into_iter().map(line).collect();
        Self { output, ..Self::new(key, source, Occasion::of_task(happening), at, &text) }
    }

    /// What a state of an agent tells: how its last turn ended, and what it needs.
    pub fn of_agent(key: &TerminalKey, state: &State) -> Vec<Self> {
        let name = &state.terminal.id;
        let result = match state.last_turn.result {
            TurnResult::Success => Some(Occasion::Finished),
            TurnResult::KnownFailure => Some(Occasion::Failed),
            TurnResult::Interrupted => Some(Occasion::Interrupted),
            TurnResult::None => None,
        };
        let ended = result.zip(state.last_turn.at);
        let needs = Occasion::of(state.attention).filter(|_| !state.attention.is_about_the_past());
        let happened = ended.into_iter().chain(needs.map(|needs| (needs, state.since)));
        happened.map(|(occasion, at)| Self::new(key, name, occasion, at, &statement(state, None, occasion))).collect()
    }

    /// An agent was gone when somebody looked again.
    pub fn of_lost(key: &TerminalKey, source: &str, at: Timestamp) -> Self {
        Self::new(key, source, Occasion::Gone, at, &format!("{source} is gone, its end was not watched"))
    }

    /// Whether an agent did it, so that a follow-up may have been the cause.
    pub fn is_of_an_agent(&self) -> bool {
        use Occasion::{Approval, Failed, Finished, Gone, Interrupted, Question, Setup, Stalled, Trust};
        matches!(self.occasion, Approval | Question | Trust | Setup | Failed | Interrupted | Finished | Stalled | Gone)
    }

    /// Whether it is how a turn ended.
    pub fn is_result(&self) -> bool {
        matches!(self.occasion, Occasion::Finished | Occasion::Failed | Occasion::Interrupted)
    }
}

/// One harmless line of bounded length: what other terminals show goes into an agent's prompt.
fn line(text: &str) -> String {
    let text = harmless(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
