//! How many lines a room may have: those that are not blank, comment or test. A number only gets lower; what a feature needs more
//! is taken from what leaves.

use std::collections::BTreeMap;

/// The lines of each room of more than 400.
const BUDGETS: &[(&str, usize)] = &[
    ("ui", 12_005),
    ("cli", 6_275),
    ("history", 3_500),
    ("present", 3_115),
    ("tracker", 2_890),
    ("profile", 2_860),
    ("tmux", 2_935),
    ("fleet", 2_590),
    ("app", 2_115),
    ("serve", 1_780),
    ("poll", 1_577),
    ("process", 1_510),
    ("recording", 840),
    ("config", 1_375),
    ("sender", 1_360),
    ("delivery", 1_285),
    ("task", 1_205),
    ("dialog", 1_265),
    ("owner", 1_075),
    ("record", 840),
    ("state", 875),
    ("agent_record", 815),
    ("screen", 710),
    ("launch", 650),
    ("demo", 530),
    ("operation", 530),
    ("status", 510),
    ("engine", 575),
    ("git", 835),
    ("notify", 480),
];
/// What every other room has at most.
const SMALL: usize = 400;
/// How far below its budget a room may be before the budget is lowered.
const SLACK: usize = 100;

#[test]
fn no_room_has_more_lines_than_its_budget() {
    let mut rooms: BTreeMap<String, usize> = BTreeMap::new();
    for source in super::sources("src") {
        let lines = source.code.lines().filter(|line| !line.trim().is_empty()).count();
        if let Some(room) = source.module() {
            *rooms.entry(room.to_owned()).or_default() += lines;
        }
    }
    let budget = |room: &str| BUDGETS.iter().find(|(of, _)| *of == room).map_or(SMALL, |(_, lines)| *lines);
    let over = rooms.iter().filter(|(room, lines)| **lines > budget(room));
    let over: Vec<String> = over.map(|(room, lines)| format!("{room}: {lines} of {}", budget(room))).collect();
    assert!(over.is_empty(), "more lines than the budget: {over:?}");
    let lines = |room: &str| rooms.get(room).copied().unwrap_or_default();
    let loose = BUDGETS.iter().filter(|(room, budget)| lines(room) + SLACK < *budget);
    let loose: Vec<String> = loose.map(|(room, budget)| format!("{room}: {} of {budget}", lines(room))).collect();
    assert!(loose.is_empty(), "lower the budget: {loose:?}");
}
