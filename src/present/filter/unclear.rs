//! What is wrong with a filter, and what was meant.

use std::collections::BTreeSet;

use super::words::{AGES, FIELDS, MEASURES, OTHER_FIELDS, STATES, SYNONYMS, is_spoken};
use crate::pattern::nearest;

/// What is wrong with a filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unclear {
    /// There is no such state.
    State(String),
    /// There is no such field; the word itself is searched for.
    Field(String),
    /// Nothing is called so; it is a state.
    Name(String),
    /// This is no number, and the field asks for one.
    Number(&'static str, String),
    /// Nobody has that in the field; these are what somebody has.
    Value { field: &'static str, word: String, known: Vec<String> },
}

/// What is said behind the name of a field, or else that name.
fn value(known: &str) -> &str {
    known.split_once(':').map_or(known, |(field, value)| if value.is_empty() { field } else { value })
}

impl Unclear {
    /// In a few words.
    pub fn in_short(&self) -> String {
        match self {
            Unclear::State(word) => format!("no state {word}"),
            Unclear::Field(word) => format!("no field {word}"),
            Unclear::Name(word) => format!("nothing is called {word}"),
            Unclear::Number(field, value) => {
                let is_age = AGES.iter().any(|(age, _)| age == field);
                format!("no {} {value}", if is_age { "time" } else { "number" })
            }
            Unclear::Value { field, word, .. } => format!("no {field} {word}"),
        }
    }

    /// Whether nothing can ever fit.
    pub fn is_wrong(&self) -> bool {
        matches!(self, Unclear::State(_) | Unclear::Number(..))
    }

    /// What was meant, or all that there is.
    pub fn hint(&self) -> String {
        let (word, known): (&str, Vec<String>) = match self {
            Unclear::State(word) => {
                let said = SYNONYMS.into_iter().map(|(said, _)| said).filter(|said| is_spoken(said));
                (word, STATES.into_iter().chain(said).map(|it| format!("is:{it}")).collect())
            }
            Unclear::Field(word) => {
                let said = word.trim_start_matches('-');
                let own = OTHER_FIELDS.iter().find(|(other, _)| *other == said).map_or(said, |(_, field)| field);
                if own != word && FIELDS.contains(&own) {
                    let not = if said == word { "" } else { "!" };
                    return format!("did you mean {not}{own}:?");
                }
                (word, FIELDS.map(|field| format!("{field}:")).to_vec())
            }
            Unclear::Value { field, word, known } => (word, known.iter().map(|it| format!("{field}:{it}")).collect()),
            Unclear::Name(word) => return format!("did you mean is:{word}?"),
            Unclear::Number(field, _) => {
                let measures = MEASURES.iter().map(|(name, _, wanted)| (name, wanted));
                let mut asked = measures.chain(AGES.iter().map(|(name, wanted)| (name, wanted)));
                let wanted = asked.find(|(name, _)| *name == field).map_or("a number", |(_, wanted)| wanted);
                return format!("{field}: takes {wanted}");
            }
        };
        let meant = nearest(word, known.iter().map(|known| value(known)));
        if let Some(meant) = known.iter().find(|known| Some(value(known)) == meant) {
            return format!("did you mean {meant}?");
        }
        match self {
            Unclear::State(_) => format!("is: takes {}", STATES.join(", ")),
            Unclear::Field(_) => format!("the fields are {}", known.join(" ")),
            _ => {
                let known: BTreeSet<&str> = known.iter().map(String::as_str).collect();
                format!("there is {}", known.into_iter().collect::<Vec<_>>().join(" "))
            }
        }
    }
}
