//! How many times the sources write down as numbers. Each is a setting of its machine, with a reason, and costs whoever wonders why
//! something takes so long; so they only get fewer.

use std::fs;
use std::path::{Path, PathBuf};

use super::Source;

/// Times as numbers; units of time itself are not counted.
const BUDGET: usize = 98;

#[test]
fn times_written_down_as_numbers_only_get_fewer() {
    let found: Vec<String> =
        super::sources("src").iter().filter(|source| source.module() != Some("time")).flat_map(times).collect();
    assert!(found.len() <= BUDGET, "{} of {BUDGET}:\n{}", found.len(), found.join("\n"));
    assert!(found.len() + 5 > BUDGET, "lower the budget to {}", found.len());
}

/// The lines that make a span or a duration of a number.
fn times(source: &Source) -> impl Iterator<Item = String> {
    let makes = |line: &&str| {
        let made = ["Span::from_", "Duration::from_"].into_iter().flat_map(|name| line.split(name).skip(1));
        made.filter_map(|rest| rest.split_once('(')).any(|(_, number)| number.starts_with(|c: char| c.is_ascii_digit()))
    };
    source.code.lines().filter(makes).map(|line| format!("{}: {}", source.name, line.trim()))
}

/// Who waits for a condition waits no longer than it takes, and says what was there when it did not come. So only the support, and what
/// stands in for others, lets time pass by itself; `pass` is for time that is itself tested.
#[test]
fn tests_wait_for_conditions() {
    let mut files = Vec::new();
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    super::collect(&tests, &mut files);
    let sleeps = |path: &&PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        ["thread", "time"].iter().any(|module| text.contains(&format!("{module}::sleep(")))
    };
    let mut found: Vec<&Path> = files.iter().filter(sleeps).map(|path| path.strip_prefix(&tests).unwrap()).collect();
    found.sort();
    assert_eq!(found, ["it/support/model_server/wire.rs", "it/support/private_tmux.rs"].map(Path::new));
}
