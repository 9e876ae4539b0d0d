//! The scripts that drive real agents, as far as they can be tested without them.

use std::process::Command;

#[test]
fn every_situation_can_be_driven_by_its_name() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/situations");
    let listed = Command::new("python3").args([script, "--list"]).output().unwrap();
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let names = String::from_utf8(listed.stdout).unwrap();
    for agent in ["claude-", "codex-"] {
        let of_agent = names.lines().filter(|name| name.starts_with(agent)).count();
        assert!(of_agent >= 60, "{of_agent} of {agent}");
    }
}

/// A tag can be moved to other code, a commit cannot.
#[test]
fn the_actions_of_workflows_are_pinned_by_commit() {
    let mut actions = 0;
    for workflow in ["ci", "nightly", "release"] {
        let path = format!("{}/.github/workflows/{workflow}.yml", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        for line in text.lines().filter(|line| line.trim_start().trim_start_matches("- ").starts_with("uses:")) {
            let (_, commit) = line.split_once('@').expect(line);
            let commit: String = commit.chars().take_while(char::is_ascii_hexdigit).collect();
            assert_eq!(commit.len(), 40, "{workflow}: {line}");
            actions += 1;
        }
    }
    assert!(actions > 10, "{actions}");
}
