//! The scores that fleetwatch reaches on all recordings may not fall.
//!
//! `tests/recordings/SCORES` holds, for every agent version and field, the milliseconds that are judged and those in
//! which the answer was wrong. Recordings that hold the agent's own records are there twice instead: read with them as
//! version `…+records`, and by their screen alone as `…+screen`. After an improvement it is written anew with
//! `FLEETWATCH_WRITE_SCORES=1 cargo test --test it scores::`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::scoring::score::in_parallel;
use crate::scoring::score::tasks::{TaskField, score_task};
use crate::scoring::score::{Score, Tally, score_frames};
use crate::scoring::truth::Doubts;
use crate::scoring::truth::Field;
use fleetwatch::profile::ProfileSet;
use fleetwatch::recording::{RecordingError, ReplayOptions};

use super::played::{Played, archive, played};

/// Tallies by agent version and field.
type Table = BTreeMap<(String, &'static str), Tally>;

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A recording's agent version, what the screen alone scores, and what it scores with records where there are some.
struct Scored {
    version: String,
    alone: Score,
    with_records: Option<Score>,
}

fn scores(doubts: &Doubts) -> Result<Vec<Scored>, RecordingError> {
    let profiles = Arc::new(ProfileSet::builtin());
    let scored = in_parallel(played(), |Played { name, recording, frames, .. }| {
        let scored = |with_records| {
            let options = ReplayOptions { with_records, ..ReplayOptions::default() };
            score_frames(recording, frames.iter().cloned(), name, Arc::clone(&profiles), &options, doubts)
        };
        let (alone, with_records) = (scored(false)?, recording.has_records().then(|| scored(true)).transpose()?);
        let word = |tag: &Option<String>| tag.clone().unwrap_or_default();
        let version = format!("{} {}", word(&recording.header.tool), word(&recording.header.version));
        Ok(Scored { version, alone, with_records })
    });
    scored.into_iter().collect()
}

fn table(scores: &[Scored]) -> Table {
    let mut table = Table::new();
    let both = |one: &'_ Scored| match &one.with_records {
        None => vec![(one.version.clone(), one.alone.clone())],
        Some(with) => vec![
            (format!("{}+records", one.version), with.clone()),
            (format!("{}+screen", one.version), one.alone.clone()),
        ],
    };
    for (version, score) in scores.iter().flat_map(both) {
        for (field, tally) in Field::ALL.iter().zip(score.tallies).filter(|(_, tally)| tally.judged_ms > 0) {
            table.entry((version.clone(), field.word())).or_default().add(tally);
        }
    }
    table
}

fn written(table: &Table) -> String {
    let line = |((version, field), tally): (&(String, &str), &Tally)| {
        format!("{version:<24} {field:<16} {:>8} {:>6}\n", tally.judged_ms, tally.judged_ms - tally.right_ms)
    };
    let head = format!("{:<24} {:<16} {:>8} {:>6}\n", "# agent version", "field", "judged", "wrong");
    head + &table.iter().map(line).collect::<String>()
}

#[test]
fn tasks_are_read_right_in_every_recording_of_a_shell() {
    let archive = archive();
    let mut judged = BTreeMap::new();
    let mut recordings = 0;
    for name in archive.names() {
        let recording = archive.recording(name).unwrap();
        let Some(score) = score_task(&recording, name).unwrap() else { continue };
        recordings += 1;
        assert!(score.spells.is_empty(), "{name}: {:#?}", score.spells);
        for (field, tally) in TaskField::ALL.iter().zip(score.tallies) {
            assert_eq!(tally.judged_ms, tally.right_ms, "{name}: {field}");
            *judged.entry(*field).or_insert(0) += tally.judged_ms;
        }
    }
    assert_eq!(recordings, 15, "every recording of a shell");
    for field in TaskField::ALL {
        assert!(judged[field] > 5_000, "{field} is judged for {} ms only", judged[field]);
    }
}

#[test]
fn no_score_falls() {
    let archive = archive();
    let text = std::fs::read_to_string(here("tests/recordings/DOUBTS.md")).unwrap();
    let doubts = Doubts::parse("tests/recordings/DOUBTS.md", &text).unwrap();
    for doubt in doubts.all() {
        assert!(archive.names().any(|name| doubt.is_about(name)), "no recording is called {}", doubt.recording);
    }
    let scores = scores(&doubts).unwrap();
    let doubted: u64 = scores.iter().map(|one| one.alone.doubted_ms).sum();
    println!("{} doubts leave out {:.1} labelled seconds", doubts.all().len(), doubted as f64 / 1000.0);
    // Doubts are for single moments, and for recordings of clients that had no time to draw what they did; they are not for
    // what fleetwatch does not do well.
    let judged: u64 = scores.iter().flat_map(|one| one.alone.tallies).map(|tally| tally.judged_ms).sum();
    assert!(doubted * 200 < judged, "{doubted} ms are doubted, of {judged} that are judged");

    let reached = table(&scores);
    let path = here("tests/recordings/SCORES");
    if std::env::var_os("FLEETWATCH_WRITE_SCORES").is_some() {
        std::fs::write(&path, written(&reached)).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    let mut known = 0;
    for line in kept.lines().filter(|line| !line.starts_with('#')) {
        let [tool, version, field, judged, wrong] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            panic!("{line:?} is no score")
        };
        let field = Field::of_word(field).expect("a field").word();
        let tally = reached.get(&(format!("{tool} {version}"), field)).expect("a version that is scored");
        let now_wrong = tally.judged_ms - tally.right_ms;
        assert_eq!(tally.judged_ms.to_string(), judged, "{tool} {version} {field} is judged for another time");
        let allowed: u64 = wrong.parse().expect("a number");
        // Better counts as well: what is not written down would hide the next fault.
        assert_eq!(now_wrong, allowed, "{tool} {version} {field}: milliseconds that are wrong, and those written down");
        known += 1;
    }
    assert_eq!(known, reached.len(), "every score is written down");
}
