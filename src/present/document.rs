//! The JSON documents of the contract (SPEC §12).

use std::borrow::Cow;
use std::io;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::item::{Item, what_of_agent};
use super::sentence;
use crate::fleet::Fleet;
use crate::record::{Intent, Stored, members};
use crate::screen::harmless;
use crate::state::State;
use crate::task::TaskFields;
use crate::time::Timestamp;

/// The full public state of a terminal or a task (SPEC §2, §9), with the word and the line for people.
#[derive(Serialize)]
#[serde(untagged)]
pub enum PublicFields<'a> {
    Terminal {
        /// The name, under the same key as that of a task.
        id: &'a str,
        #[serde(flatten)]
        state: Box<State>,
        word: Cow<'static, str>,
        what: Option<String>,
    },
    Task {
        #[serde(flatten)]
        task: Box<TaskFields>,
        word: Cow<'static, str>,
    },
}

impl<'a> PublicFields<'a> {
    pub fn of(fleet: &Fleet, item: Item<'a>, now: Timestamp) -> Self {
        let word = item.status().word();
        match item {
            Item::Terminal(terminal) => {
                let (state, what) = (fleet.state_of(terminal, now).into(), what_or_null(&terminal.state));
                PublicFields::Terminal { id: item.id(), state, word, what }
            }
            Item::Task(task) => PublicFields::Task { task: task.fields().into(), word },
        }
    }
}

/// What an agent waits for or does, in JSON.
pub fn what_or_null(state: &State) -> Option<String> {
    Some(what_of_agent(state, None)).filter(|what| !what.is_empty())
}

/// A record as one line of `history --json`.
pub fn of_record(record: &Stored) -> Value {
    let fixed = json!({ "at": record.at, "kind": record.body.kind(), "terminal": record.name, "state": null });
    let mut line: Map<String, Value> = members(fixed).collect();
    for (name, value) in record.body.fields() {
        // The fixed fields win over what another version wrote.
        match name.as_str() {
            "state" => line["state"] = value,
            _ => drop(line.entry(name).or_insert(value)),
        }
    }
    line.insert("id".to_owned(), json!(record.id.0));
    let sentence = sentence::of(&record.body, &record.name);
    let sentence = sentence.map(|sentence| harmless(&format!("{} {}", sentence.subject(&record.name), sentence.text)));
    line.insert("sentence".to_owned(), sentence.into());
    Value::Object(line)
}

/// A message in JSON, in the words of `watch --json`.
pub fn of_intent(intent: &Intent) -> Value {
    json!({
        "intent": intent.id.0, "terminal": intent.target, "outcome": intent.state.outcome(), "detail": intent.detail,
        "text": intent.text, "events": intent.events, "created": intent.created, "expires": intent.expires,
    })
}

/// A value as one line of JSON.
pub fn json_line(value: &impl Serialize) -> io::Result<String> {
    let mut text = serde_json::to_string(value)?;
    text.push('\n');
    Ok(text)
}
