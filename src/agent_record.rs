//! What agents write about their own sessions, read by rules (SPEC §14): the second witness besides the screen.
//!
//! An agent's profile says in `[[record]]` which of its files are read, what proves that one belongs to a process, and what
//! its lines mean. This module reads the lines and knows no file; `process::AgentRecords` finds the files. A line that no
//! rule matches, or whose values do not have the expected types, says nothing.

mod addition;
mod calls;
mod places;
mod said;

use std::collections::BTreeMap;

pub use addition::{RecordAddition, RecordDepth, RecordKeeping, RecordedFiles};
use calls::CallRules;
pub use calls::OpenCall;
pub use places::{Conditions, JsonPath};
use places::{Expected, JsonPlaces, plan_only};
pub use said::{GAP, Said, SaidRule, Speaker, last_answer, last_answer_text};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::hash::fnv;
use crate::state::{AgentFacts, Fact, FactName, FactSource, FactValue, TurnResult, UiContext, kept, words};
use crate::time::{Span, Timestamp};

words! {
    /// What a record says that its agent does.
    RecordedPhase {
        Active = "active",
        /// The agent asks for something.
        Waiting = "waiting",
        /// The operator has opened a menu or a dialog of the agent's.
        Menu = "menu",
        Idle = "idle",
        /// The turn has ended, and a command that it began runs on.
        Background = "background",
    }
}

/// One kind of file that an agent writes, and how it is read.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentRecordSource {
    /// The agent's folder: the first of these that there is; `$NAME` is a variable of the agent's environment, `~` its home.
    /// `{repository}` is the Git repository that it works in.
    pub base: Vec<String>,
    /// The file below the base, `*` standing for any part of a name. `{pid}` is the agent's process, `{session}` the session
    /// that another of its files names, `{cwd}` its working directory with `-` for each `/`, `{directory}` what stands for that
    /// (see [`DirectoryLink`]). Beginning with `./` it is beside the file of `open`.
    #[serde(default)]
    pub file: Option<String>,
    /// The file below the base that the agent must hold open: the last one by its name counts.
    #[serde(default)]
    pub open: Option<String>,
    /// Where a file named by `{pid}` says when that process began: the id may have been another's before.
    #[serde(default)]
    pub start: Option<JsonPath>,
    /// What the first line of the file must say; of others nothing is read.
    #[serde(default)]
    pub first: Conditions,
    /// How a file is found by the agent's working directory, where nothing proves whose it is. It gives facts that are unsure,
    /// and only while no file is found that is proven to be the agent's.
    #[serde(default)]
    pub directory: Option<DirectoryLink>,
    /// The name of an earlier record of the profile, whose lines these are like: of its rules those hold here that give facts.
    #[serde(default)]
    pub like: Option<String>,
    /// The file is an SQLite database, and these questions are asked of it, each row standing for a line. `:directory`,
    /// `:began`, in milliseconds, and `:session`, the last `session` of an earlier answer, are put in.
    #[serde(default)]
    pub queries: Vec<String>,
    /// Whether all files that fit are one list: what they say is at `/files`.
    #[serde(default)]
    pub gathered: bool,
    /// Whether a line is text and no JSON: what it says is at `/line`.
    #[serde(default)]
    pub text: bool,
    /// Whether the file is one JSON value that is replaced, and not a line for each event.
    #[serde(default)]
    pub replaced: bool,
    /// Whether it marks where turns begin and end, so that it decides that before the screen does: from the first rule on that
    /// `begins` one and is not `unmarked`.
    #[serde(default)]
    pub marks_turns: bool,
    /// How many seconds its turn is believed to go on while the screen stands still, where turns are not marked. Without it as
    /// long as any record was seen to lag behind.
    #[serde(default)]
    pub patience: Option<u32>,
    /// When a line was written.
    #[serde(default)]
    pub at: Option<JsonPath>,
    #[serde(default, rename = "rule")]
    pub rules: Vec<AgentRecordRule>,
    /// What of its lines was said, and by whom, for transcripts.
    #[serde(default)]
    pub said: Vec<SaidRule>,
    /// Which lines call a tool, and which say what came of it.
    #[serde(default)]
    pub calls: Option<CallRules>,
}

impl AgentRecordSource {
    /// How recordings call it: the file as the profile writes it, the one that proves the others first.
    pub fn name(&self) -> &str {
        self.open.as_deref().or(self.file.as_deref()).unwrap_or_default()
    }

    /// Whether a file of it is known to be of one process, not only of the directory that the process works in.
    pub fn is_proven(&self) -> bool {
        self.directory.is_none() && self.queries.is_empty()
    }

    /// Takes over what the lines of another record say, but for what they say of turns.
    pub fn take_facts_of(&mut self, other: &Self) {
        self.at = self.at.take().or_else(|| other.at.clone());
        self.rules.extend(other.rules.iter().filter_map(AgentRecordRule::facts));
        self.said.extend(other.said.iter().cloned());
    }

    /// When a line was written, if it says so.
    pub fn written_at(&self, line: &Value) -> Option<Timestamp> {
        self.at.as_ref().and_then(|at| at.time(line))
    }

    /// What its facts are said to come from.
    pub const fn fact_source(&self) -> FactSource {
        if self.directory.is_some() { FactSource::Directory } else { FactSource::Record }
    }

    /// What is wrong with it as a whole, for people.
    pub fn fault(&self) -> Option<&'static str> {
        let file = self.file.as_deref().unwrap_or_default();
        if self.directory.is_some() && (self.marks_turns || self.rules.iter().any(AgentRecordRule::says_turns)) {
            return Some("a file that is found by its `directory` proves no turn: it can only give facts");
        }
        match (&self.open, &self.start) {
            _ if self.base.is_empty() => Some("`base` names no folder"),
            _ if self.queries.is_empty() == matches!(self.directory, Some(DirectoryLink::Queries)) => {
                Some("`queries` and `directory = \"queries\"` belong together")
            }
            (None, None) if self.directory.is_some() && !file.is_empty() && !file.contains("..") => None,
            (None, None) if !file.contains("{session}") => {
                Some("nothing proves that the file belongs to the agent: add `open`, `start` or `{session}`")
            }
            (_, Some(_)) if !file.contains("{pid}") => Some("`start` is for a `file` that is named by `{pid}`"),
            _ if self.gathered && !file.contains("{session}/") => {
                Some("`gathered` is for files in a folder of a `{session}`")
            }
            (_, Some(_)) if !self.replaced => Some("`start` is for a file that is `replaced`"),
            (None, _) if file.is_empty() => Some("say which `file` or which `open` file is read"),
            _ if [file, self.open.as_deref().unwrap_or_default()].iter().any(|path| path.contains("..")) => {
                Some("a file must be below its `base`")
            }
            _ => None,
        }
    }

    /// Whether transcripts can be read from it.
    pub fn is_transcript(&self) -> bool {
        !self.said.is_empty()
    }

    /// What a line says, in lines for a screen.
    pub fn said_by(&self, line: &Value) -> Vec<Said> {
        let mut said = Vec::new();
        self.said.iter().for_each(|rule| rule.read(line, &mut said));
        said
    }
}

/// What leads from a working directory to a file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DirectoryLink {
    /// The base is in it.
    Base,
    /// The first line says it there, or the value where the file is one.
    Line(JsonPath),
    /// Another file below the base holds it: what stands for its `*` is `{directory}`.
    File(String),
    /// The questions ask for it.
    Queries,
}

/// What lines of one shape say.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AgentRecordRule {
    #[serde(rename = "where")]
    conditions: Conditions,
    /// Begins another session in the same file: what was read before belongs to the last one.
    restarts: bool,
    /// Searched for at the head of a file whose end alone is read: it holds for the whole file.
    head: bool,
    /// A prompt was submitted: a result before it is that of an earlier turn.
    begins: bool,
    /// It holds only as long as nothing in the file has marked where a turn begins.
    unmarked: bool,
    turn: Option<RecordedPhase>,
    /// What it asks for, where it waits; an approval unless the rule says otherwise.
    context: Option<UiContext>,
    /// How the turn ended. A success does not take the place of what went wrong in the same turn.
    result: Option<TurnResult>,
    /// The agent's own words for it.
    word: Option<JsonPath>,
    /// A text that is JSON: the facts are in what it says.
    within: Option<JsonPath>,
    /// When what it says began, where that is another time than the line's.
    at: Option<JsonPath>,
    /// Facts, by where they stand; numbers at several places are added up.
    take: BTreeMap<FactName, JsonPlaces>,
    /// Counts that each line adds to.
    sum: BTreeMap<FactName, JsonPlaces>,
    /// What lines must differ in to be counted twice: of those with the same value the last one counts.
    once: Option<JsonPath>,
}

impl AgentRecordRule {
    fn says_turns(&self) -> bool {
        self.begins || self.turn.is_some() || self.result.is_some()
    }

    /// The same without what it says of turns, if anything is left.
    fn facts(&self) -> Option<Self> {
        let facts = Self { begins: false, turn: None, result: None, ..self.clone() };
        (!facts.take.is_empty() || !facts.sum.is_empty()).then_some(facts)
    }
}

/// What a record says of the turn now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedTurn {
    pub phase: RecordedPhase,
    /// What it waits for, where that is known to be no approval.
    pub context: Option<UiContext>,
    /// The agent's own word for it.
    pub word: String,
    /// Since when.
    pub at: Timestamp,
    /// Whether the record marks where turns begin and end.
    pub marks_turns: bool,
    /// How long it is believed to go on while the screen stands still, where the source says so and marks no turns.
    #[serde(default)]
    pub patience: Option<Span>,
}

/// How a record says that the last turn ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedResult {
    pub result: TurnResult,
    /// The agent's own words, if it has any.
    pub detail: Option<String>,
    /// When its prompt was submitted, where the record says so.
    #[serde(default)]
    pub began: Option<Timestamp>,
    pub at: Timestamp,
}

/// All that an agent's records say of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentRecordReading {
    pub facts: AgentFacts,
    pub turn: Option<RecordedTurn>,
    pub result: Option<RecordedResult>,
    /// The calls of tools whose results have not come, oldest first.
    #[serde(skip)]
    pub calls: Vec<OpenCall>,
}

impl AgentRecordReading {
    /// What the files of one agent say together.
    pub fn of<'a>(files: impl Iterator<Item = &'a AgentRecordReader>) -> Self {
        let mut reading = Self::default();
        files.filter_map(AgentRecordReader::reading).for_each(|file| reading.merge(file));
        reading
    }

    /// What two files of one agent say together.
    pub fn merge(&mut self, other: &AgentRecordReading) {
        self.facts.merge(&other.facts);
        self.calls.extend_from_slice(&other.calls);
        let is_later = |turn: &RecordedTurn| {
            self.turn.as_ref().is_none_or(|known| (known.marks_turns, known.at) <= (turn.marks_turns, turn.at))
        };
        if let Some(turn) = other.turn.as_ref().filter(|turn| is_later(turn)) {
            self.turn = Some(turn.clone());
        }
        let is_later = |result: &RecordedResult| self.result.as_ref().is_none_or(|known| known.at <= result.at);
        if let Some(result) = other.result.as_ref().filter(|result| is_later(result)) {
            self.result = Some(result.clone());
        }
    }
}

/// Reads one file, line by line.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentRecordReader {
    reading: AgentRecordReading,
    /// Sums over all lines, with what the last line added and the hash of what identifies it.
    sums: BTreeMap<FactName, (FactValue, FactValue, Option<u64>)>,
    /// Whether lines were left out, so that sums would be too small.
    is_partial: bool,
    /// When a prompt was submitted after the last result.
    began: Option<Timestamp>,
    /// Whether a line has marked where a turn begins.
    has_marks: bool,
    /// Whether some rule fitted a line.
    is_understood: bool,
}

impl AgentRecordReader {
    /// A reader of a file; `is_partial` when it does not begin with its first line.
    pub fn new(is_partial: bool) -> Self {
        Self { is_partial, ..Self::default() }
    }

    /// Whether the file was not read from its first line on.
    pub fn is_partial(&self) -> bool {
        self.is_partial
    }

    /// What was read so far; `None` when nothing of it could be understood.
    pub fn reading(&self) -> Option<&AgentRecordReading> {
        self.is_understood.then_some(&self.reading)
    }

    /// All that was read so far, but for what was said: it goes on from there, and holds no prompt and no answer.
    pub fn summary(&self) -> Value {
        let mut reader = self.clone();
        reader.reading.facts.forget(&[FactName::LastPrompt, FactName::LastAnswer]);
        serde_json::to_value(&reader).unwrap_or_default()
    }

    /// A reader that goes on from a summary; `None` when it is none. Anybody may have written it.
    pub fn from_summary(summary: &Value, now: Timestamp) -> Option<Self> {
        let mut reader: Self = Self::deserialize(summary).ok().filter(|_| summary.is_object())?;
        let AgentRecordReading { facts, turn, result, calls: _ } = &mut reader.reading;
        facts.make_harmless(now);
        if let Some(RecordedTurn { word, at, .. }) = turn {
            (*word, *at) = (kept(word), (*at).min(now));
        }
        if let Some(RecordedResult { detail, began, at, .. }) = result {
            (*detail, *began, *at) = (detail.as_deref().map(kept), began.map(|at| at.min(now)), (*at).min(now));
        }
        Some(reader)
    }

    /// Takes in one line, or the whole of a file that is replaced. Now stands in for a missing time.
    pub fn read(&mut self, source: &AgentRecordSource, value: &Value, now: Timestamp) {
        if source.replaced || source.gathered {
            *self = Self::new(self.is_partial);
        }
        self.read_by(source, value, now, |_| true);
        // Only where nobody else can have written it.
        if let Some(calls) = source.calls.as_ref().filter(|_| source.is_proven()) {
            match self.is_partial && !self.has_marks {
                // What was left out may have called something.
                true => self.reading.calls = vec![OpenCall::default()],
                false => calls.read(value, &mut self.reading.calls),
            }
        }
    }

    /// Takes in a line of the head of a file of which else only the end is read. Returns whether it says something there.
    pub fn read_head(&mut self, source: &AgentRecordSource, value: &Value, now: Timestamp) -> bool {
        self.read_by(source, value, now, |rule| rule.head)
    }

    fn read_by(
        &mut self,
        source: &AgentRecordSource,
        value: &Value,
        now: Timestamp,
        is_asked: impl Fn(&AgentRecordRule) -> bool,
    ) -> bool {
        let mut is_understood = false;
        let written = source.written_at(value).unwrap_or(now);
        for rule in source.rules.iter().filter(|rule| is_asked(rule) && rule.conditions.hold(value)) {
            if rule.unmarked && self.has_marks {
                continue;
            }
            (self.is_understood, is_understood) = (true, true);
            // A clock of the future would never be overtaken.
            let recorded = rule.at.as_ref().and_then(|at| at.time(value));
            let at = recorded.unwrap_or(written).min(now);
            self.apply(rule, source, value, at);
        }
        is_understood
    }

    fn apply(&mut self, rule: &AgentRecordRule, source: &AgentRecordSource, value: &Value, at: Timestamp) {
        if rule.restarts {
            *self = Self { is_understood: true, ..Self::new(false) };
        }
        let by = source.fact_source();
        let put = |facts: &mut AgentFacts, name, value| {
            facts.put(name, Fact { value, source: by, at });
        };
        let within = rule.within.as_ref().and_then(|place| serde_json::from_str(place.text(value)?).ok());
        let inner: &Value = within.as_ref().unwrap_or(value);
        for (name, places) in &rule.take {
            if let Some(value) = places.value(*name, inner) {
                put(&mut self.reading.facts, *name, value);
            }
        }
        for (name, places) in rule.sum.iter().filter(|_| !self.is_partial) {
            let Some(more) = places.value(*name, inner) else { continue };
            let once = rule.once.as_ref().and_then(|once| once.text(value)).map(|text| fnv(text.as_bytes()));
            let sum = match self.sums.get(name) {
                Some((sum, last, by)) if once.is_some() && *by == once => sum.without(last).with(&more),
                Some((sum, ..)) => sum.with(&more),
                None => more.clone(),
            };
            self.sums.insert(*name, (sum.clone(), more, once));
            put(&mut self.reading.facts, *name, sum);
        }
        let word = rule.word.as_ref().and_then(|word| word.text(value)).map(kept);
        if rule.begins || rule.result.is_some() {
            // What ends a turn does not always say what became of each call.
            self.reading.calls.clear();
        }
        if rule.begins {
            self.began.get_or_insert(at);
        }
        self.has_marks |= rule.begins && !rule.unmarked;
        if let Some(phase) = rule.turn {
            let word = word.clone().unwrap_or_else(|| phase.word().to_owned());
            let goes_on = self.reading.turn.as_ref().filter(|turn| turn.phase == phase && !rule.begins);
            // An event within a turn is not its beginning.
            let at = goes_on.map_or(at, |turn| if rule.at.is_some() { at } else { turn.at });
            let marks_turns = source.marks_turns && self.has_marks;
            let patience = source.patience.filter(|_| !marks_turns).map(|seconds| Span::from_secs(seconds.into()));
            self.reading.turn = Some(RecordedTurn { phase, context: rule.context, word, at, marks_turns, patience });
        }
        if let Some(result) = rule.result {
            let went_wrong = self.reading.result.as_ref().is_some_and(|known| known.result != TurnResult::Success);
            let began = self.began.take();
            if began.is_some() || !went_wrong || result != TurnResult::Success {
                self.reading.result = Some(RecordedResult { result, detail: word, began, at });
            }
        }
    }
}

#[cfg(test)]
mod tests;
