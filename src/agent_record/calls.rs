//! Calls of tools whose result has not come: what an agent runs, or asks leave for. A pane may show only a part of it.

use serde::Deserialize;
use serde_json::Value;

use super::places::{Conditions, JsonPath};

/// Calls that are kept, and bytes of one: of what is more nothing is known.
const CALLS: usize = 16;
/// See [`CALLS`].
const TEXT: usize = 32 << 10;

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
            let closed = self.closes.name(call);
            open.retain(|known| known.id != closed);
        }
        for call in self.opens.find(line) {
            let text = self.opens.text.iter().find_map(|place| place.text(call));
            let behind = self.opens.behind.as_ref().and_then(|place| place.text(call));
            let is_short = [text, behind].into_iter().flatten().all(|text| text.len() <= TEXT);
            let kept = |text: Option<&str>| text.filter(|_| is_short).map(str::to_owned);
            let call = OpenCall { id: self.opens.name(call), text: kept(text), behind: kept(behind) };
            match open.iter_mut().find(|known| known.id == call.id) {
                Some(known) if *known == call => {}
                Some(known) => known.text = None,
                None => open.push(call),
            }
        }
        if open.len() > CALLS {
            open.truncate(CALLS);
            open.iter_mut().for_each(|known| known.text = None);
        }
    }
}

impl CallRule {
    /// What the call and its result have in common, cut to a length that no agent reaches.
    fn name(&self, call: &Value) -> String {
        self.id.text(call).unwrap_or_default().chars().take(200).collect()
    }

    fn find<'a>(&self, line: &'a Value) -> Vec<&'a Value> {
        let all = if self.conditions.hold(line) { self.each.find(line) } else { Vec::new() };
        all.into_iter().filter(|call| self.which.hold(call)).collect()
    }
}
