//! How many times the sources write down as numbers. Each is a setting of its machine, with a reason, and costs whoever wonders why
//! something takes so long; so they only get fewer.

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
