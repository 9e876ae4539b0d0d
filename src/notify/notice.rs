//! One thing in words, for people and for programs.

use serde_json::{Value, json};

use super::rule::Occasion;
use super::thing::Thing;
use crate::fleet::{Terminal, TerminalKey};
use crate::moment::Moment;
use crate::screen::harmless;
use crate::state::Attention;
use crate::task::{Happening, TaskEvent};

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

impl Notice {
    /// What an agent needs.
    pub(super) fn of_attention(terminal: &Terminal, thing: Thing, now: Moment) -> Self {
        let state = &terminal.state;
        let (name, occasion) = (state.terminal.id.clone(), thing.occasion);
        let text = attention(terminal, occasion);
        let document = json!({
            "at": now, "kind": "attention", "event": occasion, "terminal": name, "text": text, "state": state,
        });
        Self { key: terminal.key.clone(), name, occasion, text, document, thing: Some(thing) }
    }

    /// Something that happened to a task.
    pub(super) fn of_task(event: &TaskEvent) -> Self {
        let occasion = match event.happening {
            Happening::Started => Occasion::Started,
            Happening::Exited { .. } => Occasion::Exited,
            Happening::Notify { .. } => Occasion::Notify,
            Happening::Input { .. } => Occasion::Input,
            Happening::Disappeared { .. } => Occasion::Disappeared,
        };
        let text = sentence(&event.text(), None);
        let mut document = json!({ "at": event.at, "kind": "task_event", "terminal": event.id, "text": text });
        if let Some(document) = document.as_object_mut() {
            document.extend(event.fields());
            document.insert("state".to_owned(), json!(event.state));
        }
        Self { key: event.key.clone(), name: event.id.clone(), occasion, text, document, thing: None }
    }
}

/// What an agent needs or has done now, told or not, and the text of its notice.
pub fn standing(terminal: &Terminal) -> Option<(Occasion, String)> {
    let occasion = Occasion::of(terminal.state.attention)?;
    Some((occasion, attention(terminal, occasion)))
}

fn attention(terminal: &Terminal, occasion: Occasion) -> String {
    let state = &terminal.state;
    let said = match occasion {
        Occasion::Failed | Occasion::Interrupted => state.last_turn.detail.as_ref(),
        Occasion::Stalled | Occasion::Gone => None,
        _ => state.activity.as_ref(),
    };
    sentence(&format!("{} {}", state.terminal.id, predicate(state.attention)), said.map(String::as_str))
}

/// What an agent that has an operator's attention does, behind its name.
const fn predicate(attention: Attention) -> &'static str {
    match attention {
        Attention::Approval => "asks for approval",
        Attention::Question => "has a question",
        Attention::Trust => "asks for trust",
        Attention::Setup => "waits in a set-up dialog",
        Attention::Failed => "failed",
        Attention::Interrupted => "was interrupted",
        Attention::Finished => "has finished",
        Attention::Stalled => "has stalled",
        Attention::Gone => "is gone",
        Attention::None => "needs nothing",
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
