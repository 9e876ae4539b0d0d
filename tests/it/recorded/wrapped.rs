//! Agents that run behind another program are known by their screens alone: by their own profile's, and by no other's.

use std::collections::BTreeMap;

use fleetwatch::profile::ProfileSet;

use super::played::played;

/// The agents whose screens are known so, of the version that the newest profile is made for.
const KNOWN: &[&str] =
    &["aider", "claude", "cline", "cn", "codex", "copilot", "gemini", "grok", "kilo", "kimi", "opencode", "pi", "qwen"];

#[test]
fn a_screen_is_taken_for_the_agent_that_drew_it_and_for_no_other() {
    let profiles = ProfileSet::builtin();
    let mut found: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut wrong: BTreeMap<(String, String), u64> = BTreeMap::new();
    for played in played() {
        let tool = played.recording.header.tool.clone().unwrap_or_default();
        let (of_tool, all) = found.entry(tool.clone()).or_default();
        for frame in played.frames.iter().step_by(15).filter(|frame| !frame.facts.dead) {
            *all += 1;
            match profiles.drawn_by(&frame.screen, &frame.facts) {
                Some(by) if by == tool => *of_tool += 1,
                Some(by) => drop(wrong.insert((played.name.to_owned(), by.to_owned()), frame.at.as_millis())),
                None => {}
            }
        }
    }
    assert!(wrong.is_empty(), "taken for another agent: {wrong:#?}\n{found:?}");
    let known: Vec<&str> =
        found.iter().filter(|(_, (of_tool, _))| *of_tool > 0).map(|(tool, _)| tool.as_str()).collect();
    assert_eq!(known, KNOWN, "{found:?}");
    // What is most used is known nearly always.
    for tool in ["claude", "codex"] {
        let (of_tool, all) = found[tool];
        assert!(of_tool * 2 > all, "{tool}: {of_tool} of {all}");
    }
}
