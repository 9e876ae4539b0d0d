//! What is known of an agent beside its state: its model, what it spent, what it was asked last (SPEC §14).

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::words;
use crate::time::Timestamp;

words! {
    /// What can be known of an agent.
    FactName {
        Model = "model",
        /// Tokens of the context that the last answer used.
        ContextUsed = "context_used",
        /// Tokens that the context has room for.
        ContextLimit = "context_limit",
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
        LastPrompt = "last_prompt",
        LastAnswer = "last_answer",
    }
}
words! {
    /// Where a fact of an agent comes from.
    FactSource {
        /// The agent's own record of its session.
        Record = "record",
        /// Its screen.
        Screen = "screen",
    }
}

/// The value of a fact: a count, an amount or a text, as its name says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FactValue {
    Count(u64),
    Amount(f64),
    Text(String),
}

impl fmt::Display for FactValue {
    /// In one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FactValue::Count(count) => write!(f, "{count}"),
            FactValue::Amount(amount) => write!(f, "{amount:.2}"),
            FactValue::Text(text) => f.write_str(&text.replace('\n', " ")),
        }
    }
}

/// One thing that is known of an agent, from where and since when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
            FactValue::Count(_) | FactValue::Amount(_) => None,
        }
    }

    pub fn count(&self, name: FactName) -> Option<u64> {
        match self.get(name)?.value {
            FactValue::Count(count) => Some(count),
            FactValue::Amount(_) | FactValue::Text(_) => None,
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

    /// The share of the context that is left, in percent, where both its size and its use are known.
    pub fn context_left(&self) -> Option<u64> {
        let (used, limit) = (self.count(FactName::ContextUsed)?, self.count(FactName::ContextLimit)?);
        let used = u128::from(used.min(limit)) * 100;
        let share = used.div_ceil(u128::from((limit > 0).then_some(limit)?));
        Some(100 - u64::try_from(share).unwrap_or(100))
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
    fn the_later_fact_is_kept_and_the_context_left_is_never_rounded_up() {
        let mut facts = AgentFacts::default();
        facts.put(FactName::ContextUsed, fact(FactValue::Count(101), 5));
        facts.put(FactName::ContextUsed, fact(FactValue::Count(7), 4));
        assert_eq!(facts.context_left(), None);
        facts.put(FactName::ContextLimit, fact(FactValue::Count(1000), 1));
        assert_eq!(facts.context_left(), Some(89));
        facts.put(FactName::ContextUsed, fact(FactValue::Count(u64::MAX), 6));
        assert_eq!(facts.context_left(), Some(0));
        facts.put(FactName::ContextLimit, fact(FactValue::Count(0), 2));
        assert_eq!(facts.context_left(), None);
    }
}
