//! Follow-ups: messages that tell agents what happened to other terminals (SPEC §9). Pure: what the fleet shows in, events
//! and messages out. [`crate::history`] keeps the queue, and [`crate::delivery`] sends.
//!
//! A message is queued for an agent, waits until that agent is ready and has no draft, takes in what happens meanwhile,
//! and is sent once.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use crate::fleet::{Effect, Terminal, View};
use crate::ids::{ServerId, TerminalKey};
use crate::notify::{Occasion, statement};
use crate::pattern::{Pattern, filled};
use crate::screen::harmless;
use crate::state::{Availability, Change, LEFT_UNWATCHED, Phase, State, TurnResult};
use crate::task::{Happening, Preview, TaskEvent, TaskFields};
use crate::time::{Span, Timestamp};
use crate::tracker::STABLE;

/// Useful lines of a task's output that a message shows (SPEC §9).
const OUTPUT_LINES: usize = 3;
/// The longest line of a message, in characters.
const LONGEST: usize = 200;
/// Events that a message lists in full; more of them are counted.
const IN_FULL: usize = 20;
/// How long what happened is news. Who takes over tells what its predecessor saw and could not queue.
pub const NEWS: Span = Span::MINUTE;

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

/// Who is to be told an event. An agent is told nothing of itself; of several rules for one agent the first one holds.
pub fn wanted(rules: &[FollowUpRule], event: &FollowUpEvent) -> Vec<Wanted> {
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

    /// How an agent's last turn ended.
    pub fn of_end(key: &TerminalKey, state: &State) -> Option<Self> {
        let occasion = match state.last_turn.result {
            TurnResult::Success => Occasion::Finished,
            TurnResult::KnownFailure => Occasion::Failed,
            TurnResult::Interrupted => Occasion::Interrupted,
            TurnResult::None => return None,
        };
        let statement = statement(state, None, occasion);
        Some(Self::new(key, &state.terminal.id, occasion, state.last_turn.at?, &statement))
    }

    /// What an agent needs since a time that was seen.
    fn of_need(key: &TerminalKey, state: &State) -> Option<Self> {
        let occasion = Occasion::of_state(state)?;
        let is_seen = !state.attention.is_about_the_past() && state.since_exact;
        let event = || Self::new(key, &state.terminal.id, occasion, state.since, &statement(state, None, occasion));
        is_seen.then(event)
    }

    /// The recent event that an agent's state shows, if somebody watched since then. What nobody saw happen is no news.
    fn of_agent(terminal: &Terminal, watched: Timestamp, now: Timestamp) -> impl Iterator<Item = Self> {
        let Terminal { key, state, .. } = terminal;
        let is_news = move |at: Timestamp| at <= now && now.since(at) < NEWS;
        let turn = &state.last_turn;
        let is_seen = |at: Timestamp| turn.began.is_some() || at > watched || was_seen_to_work(terminal, at);
        let is_seen = turn.at.is_some_and(|at| is_news(at) && is_seen(at));
        let end = is_seen.then(|| Self::of_end(key, state)).flatten();
        let need = is_news(state.since).then(|| Self::of_need(key, state)).flatten();
        end.into_iter().chain(need)
    }

    /// An agent was gone at the next poll.
    pub fn of_lost(key: &TerminalKey, source: &str, at: Timestamp) -> Self {
        Self::new(key, source, Occasion::Gone, at, &format!("{source} is gone, its end was not watched"))
    }
}

/// Recent events of the watched terminals, until they are told.
#[derive(Debug)]
pub struct RecentEvents {
    /// What happened before is no news.
    from: Timestamp,
    /// What happened at one moment: to tasks, and to agents that are gone.
    happened: Vec<(ServerId, FollowUpEvent)>,
    /// The keys of what was told, with the times of the events.
    told: HashMap<String, Timestamp>,
    /// Since when this process watches each terminal.
    watched: HashMap<TerminalKey, Timestamp>,
    due: Option<Timestamp>,
}

impl RecentEvents {
    /// Nothing that happened before `from` is told.
    pub fn since(from: Timestamp) -> Self {
        Self { from, happened: Vec::new(), told: HashMap::new(), watched: HashMap::new(), due: None }
    }

    /// Takes in what happened at one moment.
    pub fn note(&mut self, effect: &Effect) {
        match effect {
            Effect::Tasks(batch) => {
                let event = |TaskEvent { key, id, at, happening, state, .. }: &TaskEvent| {
                    (batch.server.clone(), FollowUpEvent::of_task(key, id, *at, happening, state))
                };
                self.happened.extend(batch.events.iter().map(event));
            }
            Effect::Left(left) if left.transition.note.as_deref() == Some(LEFT_UNWATCHED) => {
                let event = FollowUpEvent::of_lost(&left.key, &left.id, left.transition.at);
                self.happened.push((left.key.server.clone(), event));
            }
            _ => {}
        }
    }

    /// Takes the events that are due on the servers that this process leads, each once. Another process may have told them.
    pub fn take(&mut self, view: &View<'_>, leads: &dyn Fn(&ServerId) -> bool) -> Vec<FollowUpEvent> {
        let now = view.now;
        self.due = None;
        self.told.retain(|_, at| now.since(*at) < NEWS);
        self.happened.retain(|(_, event)| now.since(event.at) < NEWS);
        let mut events: Vec<FollowUpEvent> =
            self.happened.extract_if(.., |(server, _)| leads(server)).map(|(_, event)| event).collect();
        let mut before = std::mem::take(&mut self.watched);
        for terminal in &view.terminals {
            let watched = before.remove(&terminal.key).unwrap_or(now);
            self.watched.insert(terminal.key.clone(), watched);
            if !leads(&terminal.key.server) {
                continue;
            }
            for event in FollowUpEvent::of_agent(terminal, watched, now) {
                let stands_at = event.at + STABLE;
                if stands_at > now {
                    self.due = Some(self.due.map_or(stands_at, |due| due.min(stands_at)));
                } else {
                    events.push(event);
                }
            }
        }
        events.retain(|event| event.at >= self.from && self.told.insert(event.key.clone(), event.at).is_none());
        events
    }

    /// When to call [`RecentEvents::take`] again although nothing changes.
    pub fn poll_timeout(&self) -> Option<Timestamp> {
        self.due
    }
}

/// Whether an agent worked by what was known until it ended at a time: who watched before has seen that, and died.
fn was_seen_to_work(terminal: &Terminal, ended: Timestamp) -> bool {
    let worked = |changed: &Change| changed.field == "phase" && changed.from == Phase::Active.word();
    terminal.transitions.iter().any(|transition| transition.at >= ended && transition.changed.iter().any(worked))
}

/// One harmless line of bounded length: what other terminals show goes into an agent's prompt.
fn line(text: &str) -> String {
    let text = harmless(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
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
}

/// The message with a number that tells of events, oldest first: one line for each, below it the last lines of output.
pub fn message(number: i64, events: &[MessageEvent]) -> String {
    let tag = format!("[fleetwatch notification {number}, not from the user]");
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

impl Posture {
    /// What an agent in a terminal could do.
    pub fn of(terminal: &Terminal) -> Self {
        match terminal.state.diagnostics.availability {
            _ if terminal.takes_a_prompt() => Posture::Ready,
            Availability::TuiDown | Availability::Unavailable => Posture::Gone,
            _ => Posture::Busy,
        }
    }
}

#[cfg(test)]
mod tests;
