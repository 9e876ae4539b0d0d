//! What a row of the table says of agents, in all recordings: what is asked, worked on, answered, and why it failed.

use std::collections::BTreeMap;
use std::sync::Arc;

use fleetwatch::present::item::what_of_agent;
use fleetwatch::profile::ProfileSet;
use fleetwatch::recording::{ReplayOptions, replay_frames};
use fleetwatch::status::Status;

use super::played::{Played, played};

/// What may not stand in a row: borders, bullets and spinners of an agent's own.
const DRAWN: &[char] = &['│', '┃', '╭', '╰', '●', '⎿', '⏺', '✻', '✦', '◆', '⠋', '▌'];

#[test]
fn a_row_says_what_an_agent_asks_does_or_has_done() {
    let profiles = Arc::new(ProfileSet::builtin());
    let mut reported: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let (mut working, mut with_prompt) = (0, 0);
    for Played { name, recording, frames, .. } in played() {
        let frames = frames.iter().cloned();
        let lines = reported.entry(name.split('/').next().unwrap_or(name).to_owned()).or_default();
        replay_frames(recording, frames, Arc::clone(&profiles), &ReplayOptions::default(), |_, state| {
            let (status, what) = (Status::of(state), what_of_agent(state, None));
            if status == Status::Working {
                (working, with_prompt) = (working + 1, with_prompt + usize::from(state.works_on().is_some()));
                return;
            }
            let has_what = matches!(status.group(), Status::Approval | Status::Finished | Status::Failed);
            let line = format!("{:<9} {what}", status.word());
            if has_what && !lines.contains(&line) {
                lines.push(line);
            }
        });
    }
    let drawn: Vec<&String> = reported.values().flatten().filter(|line| line.contains(DRAWN)).collect();
    assert!(drawn.is_empty(), "{drawn:#?}");
    assert!(with_prompt * 10 > working * 8, "{with_prompt} of {working} working rows name their prompt");
    let reported: String =
        reported.iter().map(|(agent, lines)| format!("{agent}\n  {}\n", lines.join("\n  "))).collect();
    insta::with_settings!({prepend_module_to_snapshot => false}, {
        insta::assert_snapshot!("whats", reported);
    });
}
