//! What is known of an agent besides its state: its model, its cost, its last prompt (SPEC §14).

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::json;

use super::words::{Change, words};
use crate::screen::harmless;
use crate::time::Timestamp;

/// Characters of a text that are kept of a record: as much as a screen would show of it.
pub const KEPT_TEXT: usize = 2000;

words! {
    /// What can be known of an agent.
    FactName {
        Model = "model",
        /// Tokens of the context that the last answer used.
        ContextUsed = "context_used",
        /// Tokens that the context has room for.
        ContextLimit = "context_limit",
        /// The share of the context that is left, in percent, as the screen shows it.
        ContextLeft = "context_left",
        /// Tokens read in this session.
        TokensIn = "tokens_in",
        /// Tokens written in this session.
        TokensOut = "tokens_out",
        /// What the session cost so far, in US dollars.
        CostUsd = "cost_usd",
        PermissionMode = "permission_mode",
        /// The agent's own id of its session.
        Session = "session",
        Title = "title",
        Branch = "branch",
        /// How much of what it set out to do is done.
        Plan = "plan",
        LastPrompt = "last_prompt",
        LastAnswer = "last_answer",
        /// The file with all that was said in the session.
        Transcript = "transcript",
    }
}
/// What kind of value a fact has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactKind {
    Count,
    Amount,
    Plan,
    Text,
}

impl FactName {
    /// What its values are.
    pub const fn kind(self) -> FactKind {
        match self {
            FactName::ContextUsed
            | FactName::ContextLimit
            | FactName::ContextLeft
            | FactName::TokensIn
            | FactName::TokensOut => FactKind::Count,
            FactName::CostUsd => FactKind::Amount,
            FactName::Plan => FactKind::Plan,
            _ => FactKind::Text,
        }
    }
}

words! {
    /// Where a fact of an agent comes from.
    FactSource {
        /// The agent's own record of its session.
        Record = "record",
        /// A record that was found by the agent's directory: nothing proves that it is this agent's.
        Directory = "directory",
        /// Its screen.
        Screen = "screen",
        /// What fleetwatch sent, until the agent itself tells it.
        Sent = "sent",
    }
}

/// How far an agent is with the list of what it set out to do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlanProgress {
    pub done: u64,
    pub of: u64,
    /// What it does now, in its own words.
    pub doing: Option<String>,
}

/// The value of a fact: a count, an amount, a plan or a text, as its name says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum FactValue {
    Count(u64),
    Amount(f64),
    Plan(PlanProgress),
    Text(String),
}

impl FactValue {
    /// The value of a fact as an agent writes it for people: `1.2k`, `12,345`, `$0.03`, or any text.
    pub fn read(name: FactName, text: &str) -> Option<Self> {
        match name.kind() {
            // Counts that people are shown have no more than a few digits behind the point.
            FactKind::Count => Some(Self::Count(numbered(text)?.round() as u64)),
            FactKind::Amount => numbered(text).map(Self::Amount),
            FactKind::Plan => {
                let (done, of) = text.split_once('/')?;
                let (done, of) = (done.trim().parse().ok()?, of.trim().parse().ok()?);
                (done <= of).then_some(Self::Plan(PlanProgress { done, of, doing: None }))
            }
            FactKind::Text => Some(kept(text)).filter(|text| !text.is_empty()).map(Self::Text),
        }
    }

    /// Both together, as far as they are numbers.
    pub fn with(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Count(a), Self::Count(b)) => Self::Count(a.saturating_add(*b)),
            (Self::Amount(a), Self::Amount(b)) => Self::Amount(a + b),
            _ => other.clone(),
        }
    }

    /// This one less another, as far as they are numbers.
    pub fn without(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Count(a), Self::Count(b)) => Self::Count(a.saturating_sub(*b)),
            (Self::Amount(a), Self::Amount(b)) => Self::Amount(a - b),
            _ => self.clone(),
        }
    }
}

/// A number as agents write it for people: with thousands, a sign of money, or a unit behind it.
pub fn numbered(text: &str) -> Option<f64> {
    let plain: String = text.trim().trim_start_matches('$').chars().filter(|c| !matches!(c, ',' | '_')).collect();
    let unit = plain.chars().last()?.to_ascii_lowercase();
    let scale = match unit {
        'k' => 1e3,
        'm' => 1e6,
        'b' => 1e9,
        _ => 1.0,
    };
    let digits = plain.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let is_plain = digits.len() <= 20 && digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    let number: f64 = digits.parse().ok().filter(|_| is_plain)?;
    Some(number * scale)
}

/// A text of a record or a screen, harmless and bounded; its lines stay.
pub fn kept(text: &str) -> String {
    let cut = text.char_indices().nth(KEPT_TEXT).map_or(text, |(at, _)| &text[..at]);
    cut.split('\n').map(harmless).collect::<Vec<_>>().join("\n").trim().to_owned()
}

impl fmt::Display for FactValue {
    /// In one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FactValue::Count(count) => write!(f, "{count}"),
            FactValue::Amount(amount) => write!(f, "{amount:.2}"),
            FactValue::Plan(PlanProgress { of: 0, .. }) => Ok(()),
            FactValue::Plan(plan) => write!(f, "{}/{}", plan.done, plan.of),
            FactValue::Text(text) => f.write_str(&text.replace('\n', " ")),
        }
    }
}

/// One thing that is known of an agent, from where and since when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Fact {
    pub value: FactValue,
    pub source: FactSource,
    pub at: Timestamp,
}

/// What is known of an agent beside its state. In JSON every name is there; what is not known is `null`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentFacts(BTreeMap<FactName, Fact>);

impl AgentFacts {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All that is known, by its name.
    pub fn iter(&self) -> impl Iterator<Item = (FactName, &Fact)> {
        self.0.iter().map(|(name, fact)| (*name, fact))
    }

    pub fn get(&self, name: FactName) -> Option<&Fact> {
        self.0.get(&name)
    }

    pub fn text(&self, name: FactName) -> Option<&str> {
        match &self.get(name)?.value {
            FactValue::Text(text) => Some(text),
            FactValue::Count(_) | FactValue::Amount(_) | FactValue::Plan(_) => None,
        }
    }

    pub fn count(&self, name: FactName) -> Option<u64> {
        match self.get(name)?.value {
            FactValue::Count(count) => Some(count),
            FactValue::Amount(_) | FactValue::Plan(_) | FactValue::Text(_) => None,
        }
    }

    /// Takes in what is known now, unless something later is known.
    pub fn put(&mut self, name: FactName, fact: Fact) {
        if self.0.get(&name).is_none_or(|known| known.at <= fact.at) {
            self.0.insert(name, fact);
        }
    }

    /// Takes over what another source knows later, or knows at all.
    pub fn merge(&mut self, other: &AgentFacts) {
        other.0.iter().for_each(|(name, fact)| self.put(*name, fact.clone()));
    }

    /// Knows nothing of these any more.
    pub fn forget(&mut self, names: &[FactName]) {
        self.0.retain(|name, _| !names.contains(name));
    }

    /// Leaves out what no fact of its name can be, and makes the rest as harmless as what is read by rules.
    pub fn make_harmless(&mut self, now: Timestamp) {
        self.0.retain(|name, fact| {
            fact.at = fact.at.min(now);
            match (name.kind(), &mut fact.value) {
                (FactKind::Text, FactValue::Text(text)) => *text = kept(text),
                (FactKind::Plan, FactValue::Plan(plan)) => plan.doing = plan.doing.as_deref().map(kept),
                (FactKind::Count, FactValue::Count(_)) | (FactKind::Amount, FactValue::Amount(_)) => {}
                _ => return false,
            }
            true
        });
    }

    /// The plan, if there is one.
    pub fn plan(&self) -> Option<&PlanProgress> {
        match &self.get(FactName::Plan)?.value {
            FactValue::Plan(plan) if plan.of > 0 => Some(plan),
            _ => None,
        }
    }

    /// The tokens that its session read and wrote.
    pub fn tokens(&self) -> Option<u64> {
        let counts = [FactName::TokensIn, FactName::TokensOut].into_iter().filter_map(|name| self.count(name));
        counts.reduce(u64::saturating_add)
    }

    /// What it cost so far, in US dollars.
    pub fn cost(&self) -> Option<f64> {
        match self.get(FactName::CostUsd)?.value {
            FactValue::Amount(cost) => Some(cost),
            FactValue::Count(_) | FactValue::Plan(_) | FactValue::Text(_) => None,
        }
    }

    /// Which values are others than they were, whatever they come from.
    pub fn changes_from(&self, before: &AgentFacts) -> Vec<Change> {
        let value = |facts: &AgentFacts, name| json!(facts.get(name).map(|fact| &fact.value));
        let change = |name: &FactName| {
            let (from, to) = (value(before, *name), value(self, *name));
            (from != to).then(|| Change { field: format!("agent.{name}").into(), from, to })
        };
        FactName::ALL.iter().filter_map(change).collect()
    }

    /// Takes over what a screen shows, which holds until it shows something else. The mode is shown at the prompt or is the
    /// usual one; where it was another, no word stands for it, so that a record from before does not count either. The prompt
    /// of a turn that begins may read as the one before.
    pub fn show(&mut self, shown: &[(FactName, FactValue)], (at_prompt, begins): (bool, bool), at: Timestamp) {
        let is_usual = at_prompt && shown.iter().all(|(name, _)| *name != FactName::PermissionMode);
        if let Some(mode) = self.0.get_mut(&FactName::PermissionMode).filter(|mode| is_usual && !is_empty(mode)) {
            *mode = Fact { value: FactValue::Text(String::new()), source: FactSource::Screen, at };
        }
        for (name, value) in shown {
            let is_asked_anew = begins && *name == FactName::LastPrompt;
            if self.0.get(name).is_none_or(|known| known.value != *value || is_asked_anew) {
                self.0.insert(*name, Fact { value: value.clone(), source: FactSource::Screen, at });
            }
        }
    }

    /// Takes over what a screen shows that this, which records reported, does not know or is less sure of, and the mode:
    /// records tell it with the next prompt only.
    pub fn fill(&mut self, shown: &AgentFacts) {
        for (name, fact) in &shown.0 {
            if *name == FactName::PermissionMode && is_empty(fact) {
                self.0.retain(|known, it| known != name || it.at > fact.at);
                continue;
            }
            let is_worse = |known: &Fact| known.source == FactSource::Directory && fact.source != FactSource::Directory;
            if *name == FactName::PermissionMode || self.0.get(name).is_none_or(is_worse) {
                self.0.insert(*name, fact.clone());
            }
        }
    }

    /// The share of the context that is left, in percent, where its size and its use are known, or where the screen tells
    /// it, and where that comes from.
    pub fn context_left(&self) -> Option<(u64, FactSource)> {
        let count = |name| Some((self.count(name)?, self.get(name)?.source));
        let shown = count(FactName::ContextLeft).map(|(left, source)| (left.min(100), source));
        let Some(((used, source), (limit, _))) = count(FactName::ContextUsed).zip(count(FactName::ContextLimit)) else {
            return shown;
        };
        if shown.is_some() && source == FactSource::Directory {
            return shown;
        }
        let used = u128::from(used.min(limit)) * 100;
        let share = used.div_ceil(u128::from((limit > 0).then_some(limit)?));
        Some((100 - u64::try_from(share).unwrap_or(100), source))
    }
}

/// Whether no word stands for it.
fn is_empty(fact: &Fact) -> bool {
    matches!(&fact.value, FactValue::Text(text) if text.is_empty())
}

#[cfg(test)]
impl schemars::JsonSchema for AgentFacts {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "AgentFacts".into()
    }

    fn json_schema(made: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let fact = made.subschema_for::<Option<Fact>>();
        let names: serde_json::Map<_, _> =
            FactName::ALL.iter().map(|name| (name.word().to_owned(), fact.clone().to_value())).collect();
        let required = FactName::words();
        schemars::json_schema!({ "type": "object", "properties": names, "required": required })
    }
}

impl Serialize for AgentFacts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(FactName::ALL.iter().map(|name| (name, self.0.get(name))))
    }
}

impl<'de> Deserialize<'de> for AgentFacts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = BTreeMap::<FactName, Option<Fact>>::deserialize(deserializer)?;
        Ok(Self(written.into_iter().filter_map(|(name, fact)| Some((name, fact?))).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(value: FactValue, at: i64) -> Fact {
        Fact { value, source: FactSource::Record, at: Timestamp::from_millis(at) }
    }

    #[test]
    fn every_name_is_in_the_json_and_comes_back() {
        let mut facts = AgentFacts::default();
        facts.put(FactName::Model, fact(FactValue::Text("opus".to_owned()), 1));
        facts.put(FactName::CostUsd, fact(FactValue::Amount(0.5), 1));
        let json = serde_json::to_value(&facts).unwrap();
        assert_eq!(json.as_object().unwrap().len(), FactName::ALL.len());
        assert_eq!((json["model"]["value"].as_str(), json["branch"].is_null()), (Some("opus"), true));
        assert_eq!(serde_json::from_value::<AgentFacts>(json).unwrap(), facts);
    }

    #[test]
    fn the_same_prompt_again_is_that_of_the_turn_that_begins_with_it() {
        let asked = [(FactName::LastPrompt, FactValue::Text("go on".to_owned()))];
        let mut shown = AgentFacts::default();
        for (begins, known_at) in [(true, 5), (false, 5), (true, 7)] {
            shown.show(&asked, (true, begins), Timestamp::from_millis(known_at));
            shown.show(&asked, (true, false), Timestamp::from_millis(known_at + 1));
            assert_eq!(shown.get(FactName::LastPrompt).map(|fact| fact.at.as_millis()), Some(known_at));
        }
    }

    #[test]
    fn a_screen_tells_what_no_record_proves() {
        let text = |text: &str| FactValue::Text(text.to_owned());
        let mut shown = AgentFacts::default();
        let at = Timestamp::from_millis(5);
        shown.show(&[(FactName::Model, text("shown")), (FactName::PermissionMode, text("plan"))], (true, false), at);
        shown.show(&[], (false, false), at);
        assert_eq!(shown.text(FactName::PermissionMode), Some("plan"), "a dialog hides it");
        let mut recorded = AgentFacts::default();
        recorded.put(FactName::PermissionMode, Fact { source: FactSource::Record, ..fact(text("default"), 3) });
        let mode = |shown: &AgentFacts, recorded: &AgentFacts| {
            let mut facts = recorded.clone();
            facts.fill(shown);
            facts.text(FactName::PermissionMode).map(str::to_owned)
        };
        assert_eq!(mode(&shown, &recorded).as_deref(), Some("plan"), "a record tells it with the next prompt");
        shown.show(&[], (true, false), at);
        assert_eq!((mode(&shown, &recorded), shown.text(FactName::Model)), (None, Some("shown")));
        recorded.put(FactName::PermissionMode, Fact { source: FactSource::Record, ..fact(text("default"), 6) });
        assert_eq!(mode(&shown, &recorded).as_deref(), Some("default"));
        assert_eq!(mode(&shown, &AgentFacts::default()), None);
        let known = |source| {
            let mut facts = AgentFacts::default();
            facts.put(FactName::Model, Fact { source, ..fact(text("recorded"), 9) });
            facts.fill(&shown);
            facts.text(FactName::Model).map(str::to_owned)
        };
        assert_eq!(known(FactSource::Record).as_deref(), Some("recorded"));
        assert_eq!(known(FactSource::Directory).as_deref(), Some("shown"), "that is unsure");
        let mut facts = AgentFacts::default();
        facts.fill(&shown);
        let changes = facts.changes_from(&AgentFacts::default());
        assert_eq!(changes.iter().map(|it| it.field.as_ref()).collect::<Vec<_>>(), ["agent.model"]);
    }

    #[test]
    fn numbers_are_read_as_agents_write_them() {
        let read = |text: &str| FactValue::read(FactName::TokensIn, text);
        for (text, count) in [("1.2k", 1200), ("12,345", 12_345), ("128K", 128_000), ("1.5M", 1_500_000), ("7", 7)] {
            assert_eq!(read(text), Some(FactValue::Count(count)), "{text}");
        }
        assert_eq!(FactValue::read(FactName::CostUsd, "$0.03"), Some(FactValue::Amount(0.03)));
        for text in ["", "k", "-1", "1e9", "inf", "NaN", "many"] {
            assert_eq!(read(text), None, "{text}");
        }
        let plan = |text| FactValue::read(FactName::Plan, text).map(|plan| plan.to_string());
        assert_eq!((plan("1/3").as_deref(), plan("4/3"), plan("x")), (Some("1/3"), None, None));
    }

    #[test]
    fn the_later_fact_is_kept_and_the_context_left_is_never_rounded_up() {
        let mut facts = AgentFacts::default();
        facts.put(FactName::ContextUsed, fact(FactValue::Count(101), 5));
        facts.put(FactName::ContextUsed, fact(FactValue::Count(7), 4));
        assert_eq!(facts.context_left(), None);
        facts.put(FactName::ContextLimit, fact(FactValue::Count(1000), 1));
        assert_eq!(facts.context_left(), Some((89, FactSource::Record)));
        facts.put(FactName::ContextUsed, fact(FactValue::Count(u64::MAX), 6));
        assert_eq!(facts.context_left(), Some((0, FactSource::Record)));
        facts.put(FactName::ContextLimit, fact(FactValue::Count(0), 2));
        assert_eq!(facts.context_left(), None);
    }
}
