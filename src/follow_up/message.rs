//! What an agent is told, in words.

use serde_json::Value;

/// Events that a message tells in full; more of them are counted.
const TOLD: usize = 20;

/// What stands at the beginning of the message with a number, and only there: by it the message is found again.
pub fn tag(number: i64) -> String {
    format!("[fleetwatch notification {number}, not from the user]")
}

/// The message with a number that tells of events, oldest first: one line for each, below it the last lines of output.
pub fn message(number: i64, events: &[Value]) -> String {
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
pub fn told(events: &[Value]) -> String {
    let text = |event: &Value| event.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
    match events {
        [event] => text(event),
        events => format!("{} events, the last one: {}", events.len(), events.last().map(text).unwrap_or_default()),
    }
}

fn in_full(event: &Value, indent: &str) -> String {
    let mut text = event.get("text").and_then(Value::as_str).unwrap_or("something happened").to_owned();
    let output = event.get("output").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for line in output.iter().filter_map(Value::as_str) {
        text.push_str(&format!("\n{indent}  | {line}"));
    }
    text
}
