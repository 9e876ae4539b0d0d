//! Calls of tools whose result has not come: what an agent runs, or asks leave for. A pane may show only a part of it.

use serde::Deserialize;
use serde_json::Value;

use super::places::{Conditions, JsonPath};

/// Calls that are kept, and characters of one: of a longer one nothing is known.
const CALLS: usize = 64;
const TEXT: usize = 100_000;

/// How lines say that a tool is called, and what came of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallRules {
    opens: CallRule,
    closes: CallRule,
}

/// The calls that a line is about.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CallRule {
    #[serde(rename = "where")]
    conditions: Conditions,
    /// Where several of them stand; what `which` and the places below name is in each.
    each: JsonPath,
    #[serde(default)]
    which: Conditions,
    /// What the call and its result have in common.
    id: JsonPath,
    /// Where the text stands that is asked leave for, in full: the first place at which there is one.
    #[serde(default)]
    text: Vec<JsonPath>,
    /// Where the text stands that is shown behind it.
    #[serde(default)]
    behind: Option<JsonPath>,
}

/// A call of which no result has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenCall {
    id: String,
    /// What it is about, in full; `None` where the rules do not say, or the record said two things.
    pub text: Option<String>,
    /// What is shown behind that.
    pub behind: Option<String>,
}

impl CallRules {
    /// Takes in what a line says of calls.
    pub(super) fn read(&self, line: &Value, open: &mut Vec<OpenCall>) {
        for call in self.closes.find(line) {
            let closed = self.closes.id.text(call);
            open.retain(|known| Some(known.id.as_str()) != closed);
        }
        for call in self.opens.find(line) {
            let text = self.opens.text.iter().find_map(|place| place.text(call));
            let call = OpenCall {
                id: self.opens.id.text(call).unwrap_or_default().to_owned(),
                text: text.filter(|text| text.len() <= TEXT).map(str::to_owned),
                behind: self.opens.behind.as_ref().and_then(|place| place.text(call)).map(str::to_owned),
            };
            match open.iter_mut().find(|known| known.id == call.id) {
                Some(known) if *known == call => {}
                Some(known) => known.text = None,
                None => open.push(call),
            }
        }
        if open.len() > CALLS {
            open.drain(..open.len() - CALLS);
        }
    }
}

impl CallRule {
    fn find<'a>(&self, line: &'a Value) -> Vec<&'a Value> {
        let all = if self.conditions.hold(line) { self.each.find(line) } else { Vec::new() };
        all.into_iter().filter(|call| self.which.hold(call)).collect()
    }
}
