//! The words of a filter: states, fields, and what people say for them.

use super::super::item::Measure;
use crate::state::FactName;

/// The words that `is:` knows: those that the table, the header and the log say, and marks of a row.
pub(super) const STATES: [&str; 25] = [
    "needs-you",
    "working",
    "ready",
    "failed",
    "finished",
    "gone",
    "stalled",
    "interrupted",
    "error",
    "suspended",
    "unknown",
    "draft",
    "background",
    "dirty",
    "marked",
    "pinned",
    "muted",
    "approval",
    "question",
    "trust",
    "setup",
    "limit",
    "asks",
    "running",
    "exited",
];

/// What a word of a filter may ask for by `name:`; other names are part of a plain word.
pub(super) const FIELDS: [&str; 17] = [
    "is", "name", "age", "waited", "agent", "host", "session", "label", "dir", "model", "mode", "branch", "prompt",
    "context", "plan", "tokens", "cost",
];

/// The fields that take several values, of which one is enough; in the texts of the others a comma is a comma.
pub(super) const LISTS: [&str; 9] = ["is", "name", "agent", "host", "session", "label", "dir", "model", "mode"];

/// Other names of fields, and the one of [`FIELDS`] that each means.
pub(super) const OTHER_FIELDS: [(&str, &str); 7] = [
    ("state", "is"),
    ("status", "is"),
    ("attention", "is"),
    ("tool", "agent"),
    ("directory", "dir"),
    ("cwd", "dir"),
    ("repository", "dir"),
];

/// Synonyms, among them the words of the JSON, and the one of [`STATES`] that each means; `success` is a turn that ended well,
/// seen or not, and `idle` takes a prompt now, whatever its last turn was.
pub(super) const SYNONYMS: [(&str, &str); 17] = [
    ("active", "working"),
    ("awaiting_operator", "needs-you"),
    ("blocked", "needs-you"),
    ("completed", "success"),
    ("disconnected", "gone"),
    ("done", "success"),
    ("idle", "idle"),
    ("input", "asks"),
    ("known_failure", "failed"),
    ("processing", "working"),
    ("success", "success"),
    ("tui_down", "gone"),
    ("unavailable", "gone"),
    ("unsupported", "unknown"),
    ("waiting", "needs-you"),
    ("waiting_input", "asks"),
    ("waiting_user_answer", "needs-you"),
];

/// The states that a word of the operator's may mean: those that it begins, else those of the synonyms that it begins.
pub(super) fn states(word: &str) -> Vec<&'static str> {
    let own: Vec<&str> = STATES.into_iter().filter(|state| state.starts_with(&word.replace('_', "-"))).collect();
    if !own.is_empty() {
        return own;
    }
    SYNONYMS.into_iter().filter(|(said, _)| said.starts_with(word)).map(|(_, state)| state).collect()
}

/// Whether a synonym is a word that people say, and no name of the JSON.
pub(super) fn is_spoken(said: &str) -> bool {
    !said.contains('_')
}

/// Whether a word names a state.
pub(super) fn is_state(word: &str) -> bool {
    STATES.contains(&word) || SYNONYMS.iter().any(|(said, _)| *said == word)
}

/// The facts that can be asked for by a part of what they say.
pub(super) const FACTS: [(&str, FactName); 4] = [
    ("model", FactName::Model),
    ("mode", FactName::PermissionMode),
    ("branch", FactName::Branch),
    ("prompt", FactName::LastPrompt),
];

/// The numbers that can be asked for, and how.
pub(super) const MEASURES: [(&str, Measure, &str); 4] = [
    ("context", Measure::ContextLeft, "a percentage that is left, such as context:<20%"),
    ("plan", Measure::PlanDone, "a percentage that is done or steps, such as plan:<50% or plan:1/3"),
    ("tokens", Measure::Tokens, "a number of tokens, such as tokens:>100k"),
    ("cost", Measure::Cost, "an amount of dollars, such as cost:>5"),
];

/// The ages that can be asked for, and how.
pub(super) const AGES: [(&str, &str); 2] = [
    ("age", "how long it has been as it is, such as age:<1h, age:>30m or age:>2d"),
    ("waited", "how long it has waited for you, such as waited:>5m"),
];
/// What Tab offers of them.
pub(super) const USUAL_AGES: [&str; 4] = [">1m", ">5m", ">1h", "<1h"];
