//! A dashboard comes and goes beside a `watch`: whoever owns the server when a turn ends, it is told and kept once.

use std::collections::BTreeSet;
use std::fs::File;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::*;

/// How many turns end beside a dashboard that opens or leaves; more of them by hand.
const ROUNDS: u32 = 6;

/// The JSON lines of a text.
fn lines(text: &str) -> Vec<Value> {
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Whether a line says that a turn ended well.
fn is_end(line: &Value) -> bool {
    let changes = line["changed"].as_array();
    changes.is_some_and(|all| all.iter().any(|it| it["field"] == "result" && it["to"] == "success"))
}

#[test]
fn a_turns_end_is_told_and_kept_once_whoever_owns_when() {
    let rounds = std::env::var("FLEETWATCH_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(ROUNDS);
    let world = World::with_parrot();
    let printed = world.directory.path().join("watched");
    let mut watch = world.command();
    watch.args(["-L", world.watched.name(), "watch", "--json"]).stdin(Stdio::null());
    let mut watch = watch.stdout(File::create(&printed).unwrap()).stderr(Stdio::null()).spawn().unwrap();
    let told = || lines(&std::fs::read_to_string(&printed).unwrap());
    wait_until("the watch", || told().iter().any(|line| line["state"]["turn"]["phase"] == "ready"));
    for round in 1..=rounds {
        world.watched.run(&["send-keys", "-t", "birds:", "nap 0.6", "Enter"]);
        // Some end before the dashboard is there, some while it takes over, and some when it has left.
        let moment = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos() % 1_100_000;
        pass(Duration::from_micros(400_000 + u64::from(moment)));
        world.open();
        world.quit();
        wait_until(&format!("the end of turn {round}"), || {
            told().iter().filter(|line| is_end(line)).count() >= round as usize
        });
    }
    signal("TERM", watch.id());
    watch.wait().unwrap();
    let ends = told().into_iter().filter(is_end).map(|line| line["at"].to_string()).collect::<Vec<_>>();
    assert_eq!(ends.len(), rounds as usize, "watch told: {ends:#?}");
    let kept = lines(&world.fleetwatch(&["history", "--json", "--limit", "100000"]).1);
    let kept: Vec<&Value> = kept.iter().filter(|line| line["kind"] == "transition").collect();
    let same = kept.iter().map(|it| (it["terminal"].to_string(), it["at"].to_string(), it["changed"].to_string()));
    assert_eq!(same.collect::<BTreeSet<_>>().len(), kept.len(), "a change is kept twice");
    let ends: Vec<&&Value> = kept.iter().filter(|line| is_end(line)).collect();
    assert_eq!(ends.len(), rounds as usize, "the history has: {ends:#?}");
    let days = lines(&world.fleetwatch(&["history", "--summary", "--json"]).1);
    let counted: u64 = days.iter().filter_map(|day| day["turns"]["success"].as_u64()).sum();
    assert_eq!(counted, u64::from(rounds));
}
