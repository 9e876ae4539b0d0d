//! What an agent is told, in words.

use serde::{Deserialize, Serialize};

/// Events that a message tells in full; more of them are counted.
const TOLD: usize = 20;

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

/// What stands at the beginning of the message with a number, and only there: by it the message is found again.
pub fn tag(number: i64) -> String {
    format!("[fleetwatch notification {number}, not from the user]")
}

/// The message with a number that tells of events, oldest first: one line for each, below it the last lines of output.
pub fn message(number: i64, events: &[MessageEvent]) -> String {
    let tag = tag(number);
    match events {
        [event] => format!("{tag} {}", in_full(event, "")),
        events => {
            let mut text = format!("{tag} {} events:", events.len());
            for event in events.iter().take(TOLD) {
                text.push_str(&format!("\n- {}", in_full(event, "  ")));
            }
            if events.len() > TOLD {
                text.push_str(&format!("\n- and {} more", events.len() - TOLD));
            }
            text
        }
    }
}

/// What a message tells, in one short line.
pub fn told(events: &[MessageEvent]) -> String {
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
