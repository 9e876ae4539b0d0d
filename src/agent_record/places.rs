//! Places in JSON values, and what must stand there.

use std::collections::BTreeMap;

use regex::Regex;
use serde::Deserialize;
use serde_json::Value;

use crate::state::{FactKind, FactName, FactValue, PlanProgress, kept};
use crate::time::Timestamp;

/// What must stand where.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct Conditions(pub(super) BTreeMap<JsonPath, Expected>);

impl Conditions {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether all of it stands there.
    pub fn hold(&self, value: &Value) -> bool {
        self.0.iter().all(|(path, expected)| expected.holds(&path.find(value)))
    }
}

/// What is expected at one place.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Expected {
    /// Whether there is anything other than `false` and `null`.
    Present(bool),
    Text(String),
    OneOf(Vec<String>),
    Matches {
        #[serde(deserialize_with = "pattern")]
        matches: Regex,
    },
    /// A text that the pattern does not match.
    Differs {
        #[serde(deserialize_with = "pattern")]
        differs: Regex,
    },
}

impl Expected {
    pub(super) fn holds(&self, found: &[&Value]) -> bool {
        let any = |test: &dyn Fn(&str) -> bool| found.iter().any(|value| value.as_str().is_some_and(test));
        match self {
            Expected::Present(wanted) => {
                let is_set = |value: &&Value| !matches!(value, Value::Null | Value::Bool(false));
                found.iter().any(is_set) == *wanted
            }
            Expected::Text(text) => any(&|found| found == text),
            Expected::OneOf(texts) => any(&|found| texts.iter().any(|text| text == found)),
            Expected::Matches { matches } => any(&|found| matches.is_match(found)),
            Expected::Differs { differs } => any(&|found| !differs.is_match(found)),
        }
    }
}

fn pattern<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Regex, D::Error> {
    let text = String::deserialize(deserializer)?;
    regex::RegexBuilder::new(&text).size_limit(1 << 20).build().map_err(serde::de::Error::custom)
}

/// A place in a JSON value: `/message/content/*/text`, `*` standing for each element.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct JsonPath(pub(super) Vec<String>);

impl TryFrom<String> for JsonPath {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let parts = text.strip_prefix('/').ok_or_else(|| format!("a place begins with `/`: `{text}`"))?;
        Ok(Self(parts.split('/').map(str::to_owned).collect()))
    }
}

impl JsonPath {
    /// Everything that stands there, in order.
    pub fn find<'a>(&self, value: &'a Value) -> Vec<&'a Value> {
        let mut found = vec![value];
        for part in &self.0 {
            found = found
                .into_iter()
                .flat_map(|value| match (part.as_str(), value) {
                    ("*", Value::Array(elements)) => elements.iter().collect(),
                    (name, value) => value.get(name).into_iter().collect::<Vec<_>>(),
                })
                .collect();
        }
        found
    }

    pub(super) fn text<'a>(&self, value: &'a Value) -> Option<&'a str> {
        self.find(value).into_iter().rev().find_map(Value::as_str)
    }

    /// A time there: RFC 3339, or seconds or milliseconds since the epoch.
    pub(super) fn time(&self, value: &Value) -> Option<Timestamp> {
        match self.find(value).pop()? {
            Value::String(text) => {
                let at: jiff::Timestamp = text.parse().ok()?;
                Some(Timestamp::from_millis(at.as_millisecond()))
            }
            Value::Number(number) => {
                /// As seconds, this is the year 5138; as milliseconds, 1973.
                const SECONDS: i64 = 100_000_000_000;
                let number = number.as_i64().or_else(|| number.as_f64().map(|seconds| seconds as i64))?;
                let millis = if number < SECONDS { number.saturating_mul(1000) } else { number };
                // Another time could be written down, but not be read back.
                let at = jiff::Timestamp::from_millisecond(millis).ok()?;
                Some(Timestamp::from_millis(at.as_millisecond()))
            }
            _ => None,
        }
    }
}

/// One place, several whose numbers are added up, or a part of the text at a place.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum JsonPlaces {
    One(JsonPath),
    Sum(Vec<JsonPath>),
    Part {
        at: JsonPath,
        /// A pattern, whose first group is the part.
        #[serde(deserialize_with = "pattern")]
        part: Regex,
    },
}

impl JsonPlaces {
    /// The value of a fact there, if it is of the kind that the fact has.
    pub(super) fn value(&self, name: FactName, value: &Value) -> Option<FactValue> {
        let one = |path: &JsonPath| path.find(value).pop();
        match self {
            JsonPlaces::Part { at, part } => {
                let texts = at.find(value).into_iter().filter_map(Value::as_str);
                texts.rev().find_map(|text| FactValue::read(name, part.captures(text)?.get(1)?.as_str()))
            }
            JsonPlaces::One(path) => match name.kind() {
                FactKind::Count => one(path)?.as_u64().map(FactValue::Count),
                FactKind::Amount => one(path)?.as_f64().filter(|it| it.is_finite()).map(FactValue::Amount),
                FactKind::Plan => plan(&path.find(value)),
                FactKind::Text => path.text(value).and_then(|text| FactValue::read(name, text)),
            },
            JsonPlaces::Sum(paths) => {
                let counts = paths.iter().filter_map(|path| one(path)?.as_u64());
                let sum = counts.reduce(u64::saturating_add).map(FactValue::Count);
                sum.filter(|_| name.kind() == FactKind::Count)
            }
        }
    }
}

/// How agents call the words of a step of their plan.
const STEP_WORDS: [&str; 5] = ["content", "step", "description", "subject", "text"];

/// How far a list of things to do is, which agents write alike: each with a state, and words.
fn plan(found: &[&Value]) -> Option<FactValue> {
    let steps = |value: &&'_ Value| value.as_array().map_or_else(|| vec![(*value).clone()], Clone::clone);
    let items: Vec<Value> = found.iter().flat_map(steps).collect();
    let state = |item: &&Value| item.get("status").and_then(Value::as_str).unwrap_or_default().to_owned();
    if !items.iter().all(|item| item.get("status").is_some_and(Value::is_string)) {
        return None;
    }
    let count = |states: &[&str]| items.iter().filter(|item| states.contains(&state(item).as_str())).count() as u64;
    let doing = items.iter().find(|item| state(item) == "in_progress");
    let doing = doing.and_then(|item| STEP_WORDS.iter().find_map(|word| item.get(word)?.as_str()));
    let of = items.len() as u64 - count(&["cancelled", "deleted"]);
    Some(FactValue::Plan(PlanProgress { done: count(&["completed", "done"]), of, doing: doing.map(kept) }))
}

/// The steps of a plan with nothing else of them.
pub(super) fn plan_only(steps: &Value) -> Value {
    let step = |step: &Value| {
        let named = ["status"].iter().chain(&STEP_WORDS);
        let texts = named.filter_map(|name| Some(((*name).to_owned(), kept(step.get(name)?.as_str()?).into())));
        Value::Object(texts.collect())
    };
    match steps {
        Value::Array(steps) => steps.iter().map(step).collect(),
        _ => Value::Null,
    }
}
