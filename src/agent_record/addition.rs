//! What was added to an agent's records, as recordings keep it (SPEC §13), and reading it from there.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    AgentRecordReader, AgentRecordReading, AgentRecordRule, AgentRecordSource, Expected, JsonPath, JsonPlaces,
};
use crate::state::{FactKind, KEPT_TEXT};
use crate::time::Timestamp;

/// Characters of a text that no rule reads, where lines are kept whole: enough to know what kind of text it is.
const WHOLE_TEXT: usize = 100;

/// What was added to one file of an agent's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordAddition {
    /// Which record of the profile it is ([`AgentRecordSource::name`]).
    pub source: String,
    /// The file below the agent's folder; empty when there is none any more.
    pub path: String,
    /// Whether what was read before does not count any more, as the file is another one, was begun anew, or is gone.
    #[serde(default, rename = "anew", skip_serializing_if = "std::ops::Not::not")]
    pub is_anew: bool,
    /// Whether there were lines before these that nobody has read.
    #[serde(default, rename = "partial", skip_serializing_if = "std::ops::Not::not")]
    pub is_partial: bool,
    /// What lines said together that stand before these and are not kept ([`AgentRecordReader::summary`]); `null` when
    /// there were none.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub known: Value,
    #[serde(default)]
    pub lines: Vec<Value>,
}

/// What a recording keeps of an agent's records.
#[derive(Clone, Copy, Debug)]
pub struct RecordKeeping {
    pub depth: RecordDepth,
    /// Lines written before this time are kept only as their summary. `None` keeps all lines.
    pub since: Option<Timestamp>,
}

/// How much is kept of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordDepth {
    /// What the profile's rules read, and so nothing that the state does not name.
    Named,
    /// All of it, but of texts that no rule reads only 100 characters. Of a file that is replaced, what the rules read: it may hold tokens.
    Whole,
}

/// The files of one agent, as a recording has them.
#[derive(Clone, Debug, Default)]
pub struct RecordedFiles {
    sources: Arc<[AgentRecordSource]>,
    readers: Vec<AgentRecordReader>,
}

impl RecordedFiles {
    /// Files of which nothing is known yet.
    pub fn new(sources: Arc<[AgentRecordSource]>) -> Self {
        Self { readers: sources.iter().map(|_| AgentRecordReader::default()).collect(), sources }
    }

    /// Takes in what was added by `now`. An addition to a file that the profile does not name says nothing.
    pub fn take(&mut self, addition: &RecordAddition, now: Timestamp) {
        let Some(place) = self.sources.iter().position(|source| source.name() == addition.source) else { return };
        let reader = &mut self.readers[place];
        if addition.is_anew {
            let known = AgentRecordReader::from_summary(&addition.known, now);
            *reader = known.unwrap_or_else(|| AgentRecordReader::new(addition.is_partial));
        }
        addition.lines.iter().for_each(|line| reader.read(&self.sources[place], line, now));
    }

    /// What the files say together.
    pub fn reading(&self) -> AgentRecordReading {
        AgentRecordReading::of(self.readers.iter())
    }
}

impl AgentRecordSource {
    /// Shortens a line for keeping. Read in its place it says the same, but for longer texts.
    pub fn kept(&self, line: &Value, depth: RecordDepth) -> Value {
        let wanted: Vec<WantedPlace> = self.wanted(line).collect();
        let named = reduced(line, &wanted);
        match depth {
            RecordDepth::Whole if !self.replaced => cut(line, Some(&named)),
            RecordDepth::Named | RecordDepth::Whole => named,
        }
    }

    /// What its rules read in a line.
    fn wanted<'a>(&'a self, line: &'a Value) -> impl Iterator<Item = WantedPlace<'a>> {
        let at = self.at.iter().map(|path| WantedPlace { path: &path.0, of: KeptPart::Value });
        at.chain(self.rules.iter().flat_map(|rule| rule.wanted(line)))
    }
}

impl AgentRecordRule {
    /// Everything that a rule reads in a line: what it names, and what keeps it from fitting.
    fn wanted<'a>(&'a self, line: &Value) -> impl Iterator<Item = WantedPlace<'a>> {
        let fits = self.conditions.hold(line);
        let conditions = self.conditions.0.iter().map(move |(path, expected)| {
            let of = match expected {
                Expected::Text(text) => KeptPart::OneOf(std::slice::from_ref(text)),
                Expected::OneOf(texts) => KeptPart::OneOf(texts),
                Expected::Matches { .. } | Expected::Differs { .. } if fits => KeptPart::Value,
                Expected::Matches { .. } | Expected::Differs { .. } | Expected::Present(_) => KeptPart::Presence,
            };
            WantedPlace { path: &path.0, of }
        });
        let facts = self.take.iter().chain(&self.sum).filter(|_| self.within.is_none());
        let places = facts.flat_map(|(name, places)| {
            let of = if name.kind() == FactKind::Plan { KeptPart::Plan } else { KeptPart::Value };
            let paths = match places {
                JsonPlaces::One(path) | JsonPlaces::Part { at: path, .. } => std::slice::from_ref(path),
                JsonPlaces::Sum(paths) => paths,
            };
            paths.iter().map(move |path| WantedPlace { path: &path.0, of })
        });
        let named = [&self.word, &self.at, &self.once, &self.within].into_iter().flatten();
        let named = named.map(|path: &JsonPath| WantedPlace { path: &path.0, of: KeptPart::Value });
        conditions.chain(named.chain(places).filter(move |_| fits))
    }
}

/// A place in a line, and how much of what stands there is read.
#[derive(Clone, Copy)]
struct WantedPlace<'a> {
    path: &'a [String],
    of: KeptPart<'a>,
}

#[derive(Clone, Copy)]
enum KeptPart<'a> {
    Value,
    /// The text where it is one of these; whether there is something, where it is not.
    OneOf(&'a [String]),
    Presence,
    /// The states of a plan's steps, and what the agent calls them.
    Plan,
}

/// A value with nothing in it but what is wanted. `true` stands for what is only known to be there.
fn reduced<'a>(value: &Value, wanted: &[WantedPlace<'a>]) -> Value {
    let below = |name: &str| -> Vec<WantedPlace<'a>> {
        let rest =
            |one: &WantedPlace<'a>| one.path.split_first().filter(|(first, _)| *first == name).map(|(_, rest)| rest);
        wanted.iter().filter_map(|one| Some(WantedPlace { path: rest(one)?, of: one.of })).collect()
    };
    if wanted.iter().any(|one| one.path.is_empty() && matches!(one.of, KeptPart::Plan)) {
        return super::plan_only(value);
    }
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().filter_map(|(name, field)| {
                let wanted = below(name);
                (!wanted.is_empty()).then(|| (name.clone(), reduced(field, &wanted)))
            });
            Value::Object(kept.collect::<Map<_, _>>())
        }
        Value::Array(elements) => {
            let wanted = below("*");
            match wanted.is_empty() {
                true => Value::Array(Vec::new()),
                false => Value::Array(elements.iter().map(|element| reduced(element, &wanted)).collect()),
            }
        }
        Value::Null | Value::Bool(false) => value.clone(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            let here = || wanted.iter().filter(|one| one.path.is_empty());
            let is_read = here().any(|one| match one.of {
                KeptPart::Value => true,
                KeptPart::OneOf(texts) => value.as_str().is_some_and(|text| texts.iter().any(|one| one == text)),
                KeptPart::Presence | KeptPart::Plan => false,
            });
            match is_read {
                true => shortened(value, KEPT_TEXT),
                false => Value::Bool(here().next().is_some()),
            }
        }
    }
}

/// A value with its texts cut, but for those that are read.
fn cut(value: &Value, read: Option<&Value>) -> Value {
    match value {
        Value::Object(fields) => {
            let read = |name: &str| read.and_then(|read| read.get(name));
            fields.iter().map(|(name, field)| (name.clone(), cut(field, read(name)))).collect()
        }
        Value::Array(elements) => {
            let read = |at: usize| read.and_then(|read| read.get(at));
            elements.iter().enumerate().map(|(at, element)| cut(element, read(at))).collect()
        }
        _ => read.filter(|read| read.is_string()).cloned().unwrap_or_else(|| shortened(value, WHOLE_TEXT)),
    }
}

fn shortened(value: &Value, length: usize) -> Value {
    match value.as_str().and_then(|text| text.char_indices().nth(length).map(|(end, _)| &text[..end])) {
        Some(cut) => Value::String(cut.to_owned()),
        None => value.clone(),
    }
}
