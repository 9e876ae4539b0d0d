//! Follow-ups: messages that tell agents what happened to other terminals (SPEC §9). Pure: events of the history and the state of
//! agents in, what to do out. [`crate::history`] keeps the queue, and [`crate::delivery`] sends.
//!
//! A message is queued for an agent, waits until that agent is ready and has no draft, takes in what happens meanwhile,
//! and is sent once. A message that a dead process may have sent is investigated, never simply sent again.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::fleet::Terminal;
use crate::ids::TerminalKey;
use crate::notify::{Occasion, statement};
use crate::pattern::{Pattern, filled};
use crate::screen::{Screen, harmless};
use crate::state::{Availability, State, Tri, TurnResult};
use crate::task::{Happening, Preview, TaskFields};
use crate::time::{Span, Timestamp};

/// Useful lines of a task's output that a message shows (SPEC §9).
const OUTPUT_LINES: usize = 3;
/// The longest line of a message, in characters.
const LONGEST: usize = 200;
/// Events that a message lists in full; more of them are counted.
const IN_FULL: usize = 20;
/// Messages from one terminal to one agent within [`COUNTED`] at most: an agent that starts a task again whenever it is
/// told of its end is a loop, too, that no chain shows.
const MOST: u64 = 20;
/// The time in which they are counted.
pub const COUNTED: Span = Span::from_secs(600);

/// One `[[follow_up]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowUpRule {
    pub on: BTreeSet<Occasion>,
    /// The terminals that it is about, by their names.
    pub from: Pattern,
    /// The agent to tell, by its name.
    pub to: String,
    /// What is said of an event, with `{text}`, `{source}` and `{event}`; `None` is the text.
    pub template: Option<String>,
    /// How long a message is kept for an agent that is not there.
    pub keep: Span,
}

/// An event that one agent is to be told.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    pub to: String,
    /// The name of the event for this agent, which nothing else has.
    pub key: String,
    /// What is kept of it until it is sent.
    pub body: MessageEvent,
    pub keep: Span,
}

/// Who is to be told an event. `chain` are the agents that led to it. An agent is told nothing of itself;
/// of several rules for one agent the first one holds.
pub fn wanted(rules: &[FollowUpRule], event: &FollowUpEvent, chain: &[String]) -> Vec<Wanted> {
    let mut wanted: Vec<Wanted> = Vec::new();
    for rule in rules {
        let fits = event.occasion.is_among(&rule.on, event.has_failed) && rule.from.matches(&event.source);
        if !fits || rule.to == event.source || wanted.iter().any(|other| other.to == rule.to) {
            continue;
        }
        let text = match &rule.template {
            Some(template) => {
                let (text, source) = (event.text.as_str(), event.source.as_str());
                filled(template, &[("{text}", text), ("{source}", source), ("{event}", event.occasion.word())])
            }
            None => event.text.clone(),
        };
        wanted.push(Wanted {
            to: rule.to.clone(),
            key: format!("{}|{}", event.key, rule.to),
            body: MessageEvent {
                source: event.source.clone(),
                event: event.occasion.to_string(),
                text,
                output: event.output.clone(),
                chain: chain.to_vec(),
            },
            keep: rule.keep,
        });
    }
    wanted
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowUpEvent {
    /// The terminal's name.
    pub source: String,
    pub occasion: Occasion,
    /// Whether it is the bad end of a task.
    pub has_failed: bool,
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
        Self { source: source.to_owned(), occasion, has_failed: false, at, key, text: line(text), output: Vec::new() }
    }

    /// What happened to a task whose public fields are these since.
    pub fn of_task(key: &TerminalKey, source: &str, at: Timestamp, happening: &Happening, task: &TaskFields) -> Self {
        let text = format!("task {source} ({}) {}", task.window_id, happening.text());
        let output = Preview::of_lines(&task.preview).useful(OUTPUT_LINES).into_iter().map(line).collect();
        let has_failed = happening.is_failure();
        Self { output, has_failed, ..Self::new(key, source, Occasion::of_task(happening), at, &text) }
    }

    /// What a state of an agent says: how its last turn ended, and what it needs.
    pub fn of_agent(key: &TerminalKey, state: &State) -> Vec<Self> {
        let name = &state.terminal.id;
        let result = match state.last_turn.result {
            TurnResult::Success => Some(Occasion::Finished),
            TurnResult::KnownFailure => Some(Occasion::Failed),
            TurnResult::Interrupted => Some(Occasion::Interrupted),
            TurnResult::None => None,
        };
        let ended = result.zip(state.last_turn.at);
        let needs = Occasion::of_state(state).filter(|_| !state.attention.is_about_the_past());
        let happened = ended.into_iter().chain(needs.map(|needs| (needs, state.since)));
        happened.map(|(occasion, at)| Self::new(key, name, occasion, at, &statement(state, None, occasion))).collect()
    }

    /// An agent was gone at the next poll.
    pub fn of_lost(key: &TerminalKey, source: &str, at: Timestamp) -> Self {
        Self::new(key, source, Occasion::Gone, at, &format!("{source} is gone, its end was not watched"))
    }

    /// Whether an agent did it, so that a follow-up may have been the cause.
    pub fn is_of_an_agent(&self) -> bool {
        use Occasion::{Disappeared, Exited, Input, Notify, Started};
        !matches!(self.occasion, Started | Exited | Notify | Input | Disappeared)
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

/// The agents that led to what an agent does now, and itself; it was told these events since its last turn ended.
pub fn chain<'a>(source: &str, events: impl IntoIterator<Item = &'a MessageEvent>) -> Vec<String> {
    let mut chain: Vec<String> = events.into_iter().flat_map(|event| &event.chain).cloned().collect();
    chain.push(source.to_owned());
    chain.sort();
    chain.dedup();
    chain
}

/// Whether telling an agent of a source would close a loop, in words: `chain` are the agents that led to the event, and
/// `told` is how often the agent was told of the source within [`COUNTED`].
pub fn closes_a_loop(source: &str, to: &str, chain: &[String], events: u64) -> Option<String> {
    if chain.iter().any(|agent| agent == to) {
        return Some(format!("{to} itself led to it"));
    }
    let minutes = COUNTED.as_millis() / 60_000;
    (events >= MOST).then(|| format!("{to} was told of {source} {MOST} times within {minutes} minutes"))
}

/// An event as it is kept until it is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MessageEvent {
    /// The name of the terminal in which it happened.
    pub source: String,
    /// The word of what happened.
    pub event: String,
    /// What is said of it, in one harmless line.
    pub text: String,
    /// The last useful lines of output.
    pub output: Vec<String>,
    /// The agents that led to it.
    pub chain: Vec<String>,
}

/// What stands at the beginning of the message with a number.
pub fn tag(number: i64) -> String {
    format!("{} not from the user]", mark(number))
}

/// The part of the tag that is nowhere else. By it the message is found again, also where only its first part was pasted.
fn mark(number: i64) -> String {
    format!("[fleetwatch notification {number},")
}

/// The message with a number that tells of events, oldest first: one line for each, below it the last lines of output.
pub fn message(number: i64, events: &[MessageEvent]) -> String {
    let tag = tag(number);
    match events {
        [event] => format!("{tag} {}", in_full(event, "")),
        events => {
            let mut text = format!("{tag} {} events:", events.len());
            for event in events.iter().take(IN_FULL) {
                text.push_str(&format!("\n- {}", in_full(event, "  ")));
            }
            if events.len() > IN_FULL {
                text.push_str(&format!("\n- and {} more", events.len() - IN_FULL));
            }
            text
        }
    }
}

/// What a message says, in one short line.
pub fn message_text(events: &[MessageEvent]) -> String {
    let last = events.last().map(|event| event.text.as_str()).unwrap_or_default();
    match events {
        [_] => last.to_owned(),
        events => format!("{} events, the last one: {last}", events.len()),
    }
}

fn in_full(event: &MessageEvent, indent: &str) -> String {
    let mut text = if event.text.is_empty() { "something happened".to_owned() } else { event.text.clone() };
    for line in &event.output {
        text.push_str(&format!("\n{indent}  | {line}"));
    }
    text
}

// The agent that is to be told: whether now is the time, and whether a message has arrived.

/// How long what a process that died had begun is waited for: a tmux that it started may still deliver, and the agent draws
/// what it got.
const AFTERMATH: Span = Span::from_secs(3);
/// How long a screen is waited for that can be read.
const PATIENCE: Span = Span::from_secs(30);

/// What an agent could do with a message now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Posture {
    /// It would begin a turn.
    Ready,
    /// It works, asks something, has a draft, or is in an unknown state.
    Busy,
    /// Its terminal is there, but no agent runs in it.
    Gone,
}

/// What is seen of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub posture: Posture,
    /// Whether its prompt holds text.
    pub draft: Tri,
    /// What it shows, without blanks: agents wrap and indent what they were told.
    shown: String,
    /// Whether all that it ever showed is still on the screen.
    shows_all: bool,
}

impl Target {
    /// What a terminal shows now.
    pub fn of(terminal: &Terminal) -> Self {
        let state = &terminal.state;
        let posture = match state.diagnostics.availability {
            _ if terminal.takes_a_prompt() => Posture::Ready,
            Availability::TuiDown | Availability::Unavailable => Posture::Gone,
            _ => Posture::Busy,
        };
        let shows_all = !terminal.facts.alternate && terminal.facts.history_size == 0;
        Self::new(posture, state.surface.editing_input, &text(terminal.screen().as_deref()), shows_all)
    }

    /// A target that shows a text; `shows_all` when nothing of it has scrolled away.
    pub fn new(posture: Posture, draft: Tri, shown: &str, shows_all: bool) -> Self {
        Self { posture, draft, shown: squeezed(shown), shows_all }
    }

    /// Whether the message with a number stands on its screen.
    pub fn shows(&self, number: i64) -> bool {
        self.shown.contains(&squeezed(&mark(number)))
    }
}

/// What became of a message whose sender died while it sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Arrived,
    /// Nothing of it was sent; it may be sent.
    NotSent,
    /// It cannot be told, for this reason; the operator is asked.
    Unclear(&'static str),
    /// It is too early to tell.
    Wait,
}

/// What became of the message with a number, or of a prompt, which has none: whether the text on the screen is that one
/// cannot be told. `recorded` is the outcome that its sender still wrote down; `waited` is for how
/// long that has been asked.
pub fn fate(number: Option<i64>, recorded: Option<&str>, target: Option<&Target>, waited: Span) -> Fate {
    match recorded {
        Some("accepted") => return Fate::Arrived,
        Some("refused") => return Fate::NotSent,
        _ => {}
    }
    let Some(target) = target.filter(|target| target.posture != Posture::Gone) else {
        return Fate::Unclear("its agent is gone");
    };
    let Some(number) = number else {
        return if waited < AFTERMATH { Fate::Wait } else { Fate::Unclear("its sender died") };
    };
    match (target.shows(number), target.draft, target.posture) {
        _ if waited < AFTERMATH => Fate::Wait,
        (true, Tri::Yes, _) => Fate::Unclear("it may stand in the prompt, unsent"),
        (true, Tri::No, _) => Fate::Arrived,
        // A prompt that is not found on the screen may be the very row in which the message stands.
        (true, Tri::Unknown, _) if waited < PATIENCE => Fate::Wait,
        (true, Tri::Unknown, _) => Fate::Unclear("it is on the screen, but it cannot be told whether it was sent"),
        (false, Tri::No, Posture::Ready) if target.shows_all && recorded.is_none() => Fate::NotSent,
        (false, _, Posture::Ready) => Fate::Unclear("it is not on the screen, and may have scrolled away"),
        (false, ..) => Fate::Wait,
    }
}

fn text(screen: Option<&Screen>) -> String {
    screen.map(|screen| screen.rows().iter().map(|row| row.text()).collect::<Vec<_>>().concat()).unwrap_or_default()
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

#[cfg(test)]
mod tests;
