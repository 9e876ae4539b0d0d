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
