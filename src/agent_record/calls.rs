//! Calls of tools whose result has not come: what an agent runs, or asks leave for. A pane may show only a part of it.

use std::collections::BTreeMap;

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
    /// What is called.
    #[serde(default)]
    name: Option<JsonPath>,
    /// A text that is JSON: the places below are in what it says.
    #[serde(default)]
    within: Option<JsonPath>,
    /// Where the text stands that is asked leave for, in full, by what is called: a model may put another one elsewhere.
    #[serde(default)]
    text: BTreeMap<String, JsonPath>,
    /// Where the text stands that is shown beside it.
    #[serde(default)]
    beside: Option<JsonPath>,
    /// What starts agents that may ask in the same pane after it has returned: it is open until the turn ends.
    #[serde(default)]
    launches: Vec<String>,
}

/// A call of which no result has come; the default is one of which nothing is known, and which nothing ends but the turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenCall {
    id: String,
    /// What it is about, in full; `None` where the rules do not say, or the record said two things.
    pub text: Option<String>,
    /// What is shown beside that: in front of its beginning, behind its end.
    pub beside: Option<String>,
    /// Whether its result does not end it.
    stays: bool,
}

impl CallRules {
    /// Takes in what a line says of calls.
    pub(super) fn read(&self, line: &Value, open: &mut Vec<OpenCall>) {
        for call in self.closes.find(line) {
            let closed = self.closes.id_of(call);
            open.retain(|known| known.id != closed || known.stays || closed.is_empty());
        }
        for call in self.opens.find(line) {
            let rule = &self.opens;
            let within = rule.within.as_ref().map(|place| parsed(place.text(call)));
            let at = |place: Option<&JsonPath>| place?.text(within.as_ref().unwrap_or(call));
            let name = rule.name.as_ref().and_then(|name| name.text(call)).unwrap_or_default();
            let (text, beside) = (at(rule.text.get(name)), at(rule.beside.as_ref()));
            let is_short = [text, beside].into_iter().flatten().all(|text| text.len() <= TEXT);
            let kept = |text: Option<&str>| text.filter(|_| is_short).map(str::to_owned);
            let (id, stays) = (rule.id_of(call), rule.launches.iter().any(|launch| launch == name));
            // Nothing closes what has no name.
            let text = kept(text).filter(|_| !id.is_empty());
            let call = OpenCall { id, text, beside: kept(beside), stays };
            match open.iter_mut().find(|known| known.id == call.id) {
                Some(known) if *known == call => {}
                Some(known) => known.text = None,
                None => open.push(call),
            }
        }
        if open.len() > CALLS {
            // Those that are kept may end before one that is not.
            *open = vec![OpenCall::default()];
        }
    }
}

impl CallRule {
    /// What the call and its result have in common, cut to a length that no agent reaches.
    fn id_of(&self, call: &Value) -> String {
        self.id.text(call).unwrap_or_default().chars().take(200).collect()
    }

    fn find<'a>(&self, line: &'a Value) -> Vec<&'a Value> {
        let all = if self.conditions.hold(line) { self.each.find(line) } else { Vec::new() };
        all.into_iter().filter(|call| self.which.hold(call)).collect()
    }
}

/// What a text says as JSON; nothing where it is none.
fn parsed(text: Option<&str>) -> Value {
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}
