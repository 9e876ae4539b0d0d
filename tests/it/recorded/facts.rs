//! What screens tell of agents beside their state, in the recordings of each version.

use std::collections::{BTreeMap, BTreeSet};

use fleetwatch::state::FactName;

use super::played::played;

/// What the recordings of a version may show, and all of which they do show somewhere: `fact=value`, a `*` standing for any
/// number.
const SHOWN: &[(&str, &[&str])] = &[
    ("claude-2.0.14", &["model=Sonnet 4.5"]),
    ("claude-2.1.118", &["model=Sonnet 4.6"]),
    (
        "claude-2.1.197",
        &[
            "model=Opus 4.8 (1M context)",
            "permission_mode=accept edits",
            "permission_mode=auto mode",
            "permission_mode=bypass permissions",
            "permission_mode=plan mode",
        ],
    ),
    ("claude-2.1.330", &["model=Opus 5.5", "permission_mode=auto mode", "permission_mode=manual mode"]),
    ("codex-0.44.0", &["model=gpt-5-codex", "context_left=*"]),
    ("codex-0.58.0", &["model=gpt-5-codex", "model=gpt-5.1-codex", "context_left=*"]),
    ("codex-0.116.0", &["model=gpt-5-codex", "model=parcel-1", "context_left=*"]),
    ("codex-0.153.4", &["model=gpt-5.5"]),
    ("codex-0.169.0", &["model=GPT-5.5", "model=GPT-6.1-Sol", "model=gpt-5-codex"]),
    ("gemini-0.61.0", &["model=gemini-2.5-pro", "branch=main"]),
    ("copilot-1.0.102", &["model=mock-1", "permission_mode=Manual Approval"]),
    ("kilo-7.7.7", &["context_left=*", "context_used=*", "model=Mock One", "permission_mode=Code"]),
    ("opencode-1.18.33", &["context_left=*", "context_used=*", "model=Mock One", "permission_mode=Build"]),
    ("aider-0.86.2", &["model=openai/mock-1"]),
    ("pi-0.73.1", &["branch=main", "model=mock-1", "context_left=*", "context_limit=*", "tokens_in=*", "tokens_out=*"]),
];

#[test]
fn screens_tell_the_same_facts_in_every_recording_of_a_version() {
    let mut found: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let (mut recordings, mut telling) = (0, 0);
    for played in played() {
        let Some((folder, _)) = SHOWN.iter().find(|(folder, _)| played.name.split('/').next() == Some(folder)) else {
            continue;
        };
        let mut reported = false;
        for (_, reading) in played.readings().step_by(3) {
            for (fact, value) in &reading.facts {
                // Prompts are another thing in each recording.
                if *fact == FactName::LastPrompt {
                    continue;
                }
                reported = true;
                let value = value.to_string();
                let value = if value.bytes().all(|b| b.is_ascii_digit()) { "*".to_owned() } else { value };
                found.entry(folder).or_default().insert(format!("{fact}={value}"));
            }
        }
        (recordings, telling) = (recordings + 1, telling + usize::from(reported));
    }
    assert!(telling * 10 > recordings * 9, "{telling} of {recordings} recordings tell something");
    let wanted: BTreeMap<&str, BTreeSet<String>> =
        SHOWN.iter().map(|(folder, facts)| (*folder, facts.iter().map(|&fact| fact.to_owned()).collect())).collect();
    let differ = wanted.iter().filter(|(folder, facts)| found.get(*folder) != Some(*facts));
    let differ: Vec<_> = differ.map(|(folder, facts)| (folder, facts, found.get(folder))).collect();
    assert!(differ.is_empty(), "{differ:#?}");
}
