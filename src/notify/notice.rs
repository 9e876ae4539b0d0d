//! One thing in words, for people and for programs.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::rule::Occasion;
use super::thing::Thing;
use crate::dialog::{Dialog, asked};
use crate::fleet::{Terminal, TerminalKey};
use crate::screen::harmless;
use crate::state::State;
use crate::task::TaskEvent;
use crate::time::Timestamp;

/// The longest text of one notice, in characters.
const LONGEST: usize = 160;

/// One thing that is told.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    pub key: TerminalKey,
    /// The terminal's name.
    pub name: String,
    pub occasion: Occasion,
    /// One harmless line that begins with the name.
    pub text: String,
    /// The event for programs: a line of SPEC §12 with `text`; what an agent needs has the kind `attention`.
    pub document: Value,
    /// What must still stand when it goes out.
    pub(super) thing: Option<Thing>,
}

/// By what two processes know that they mean the same notice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticeId {
    pub key: TerminalKey,
    pub text: String,
}

impl Notice {
    pub(super) fn id(&self) -> NoticeId {
        NoticeId { key: self.key.clone(), text: self.text.clone() }
    }

    /// What an agent needs.
    pub(super) fn of_attention(terminal: &Terminal, thing: Thing, now: Timestamp) -> Self {
        let state = &terminal.state;
        let (name, occasion) = (state.terminal.id.clone(), thing.occasion);
        let text = statement(state, terminal.dialog.as_deref(), occasion);
        let document = json!({
            "at": now, "kind": "attention", "event": occasion, "terminal": name, "text": text, "state": state,
        });
        Self { key: terminal.key.clone(), name, occasion, text, document, thing: Some(thing) }
    }

    /// Something that happened to a task.
    pub(super) fn of_task(event: &TaskEvent) -> Self {
        let occasion = Occasion::of_task(&event.happening);
        let text = sentence(&event.text(), None);
        let mut document = json!({ "at": event.at, "kind": "task_event", "terminal": event.id, "text": text });
        if let (Some(document), Value::Object(happening)) = (document.as_object_mut(), json!(event.happening)) {
            document.extend(happening);
            document.insert("state".to_owned(), json!(event.state));
        }
        Self { key: event.key.clone(), name: event.id.clone(), occasion, text, document, thing: None }
    }
}

/// What an agent needs or has done, in one line.
pub fn statement(state: &State, dialog: Option<&Dialog>, occasion: Occasion) -> String {
    let (activity, detail) = (&state.activity, &state.last_turn.detail);
    let (said, unwatched) = match occasion {
        Occasion::Failed | Occasion::Interrupted => (detail.clone(), is_unwatched(state)),
        // The answer of a turn that is not the latest one any more is not the agent's activity.
        Occasion::Finished => (detail.as_ref().or(activity.as_ref()).cloned(), detail.is_some() || is_unwatched(state)),
        Occasion::Stalled | Occasion::Gone => (None, false),
        _ => (asked(state, dialog).or_else(|| activity.clone()), false),
    };
    let unwatched = if unwatched { ", its end was not watched" } else { "" };
    sentence(&format!("{} {}{unwatched}", state.terminal.id, predicate(occasion)), said.as_deref())
}

/// Whether the end of the last turn, which is what the operator is wanted for, was found when nobody had looked.
fn is_unwatched(state: &State) -> bool {
    state.attention.is_about_the_past() && !state.since_exact
}

/// What an agent does, behind its name.
const fn predicate(occasion: Occasion) -> &'static str {
    match occasion {
        Occasion::Approval => "asks for approval",
        Occasion::Question => "has a question",
        Occasion::Trust => "asks for trust",
        Occasion::Setup => "waits in a set-up dialog",
        Occasion::Failed => "failed",
        Occasion::Interrupted => "was interrupted",
        Occasion::Finished => "has finished",
        Occasion::Stalled => "has stalled",
        Occasion::Gone => "is gone",
        // Those of tasks say it themselves.
        Occasion::Started | Occasion::Exited | Occasion::Notify | Occasion::Input | Occasion::Disappeared => {
            "is a task"
        }
    }
}

/// A statement and what the terminal itself says to it, on one line of bounded length.
fn sentence(statement: &str, said: Option<&str>) -> String {
    let said = said.map(|said| said.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|said| !said.is_empty());
    let whole = harmless(&said.map_or(statement.to_owned(), |said| format!("{statement}: {said}")));
    match whole.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &whole[..end]),
        None => whole,
    }
}
