//! Scores under the conditions of live watching: two polls a second, and versions that nobody has recorded yet.

use std::sync::{Arc, OnceLock};

use crate::scoring::score::in_parallel;
use crate::scoring::score::{Score, score_frames};
use crate::scoring::truth::Doubts;
use crate::scoring::truth::Field;
use fleetwatch::profile::ProfileSet;
use fleetwatch::recording::{ReplayOptions, Sampling, VersionSource};
use fleetwatch::time::Span;

use super::played::{Played, played};

/// Every recording of the archive with its score.
fn scored(options: &ReplayOptions) -> Vec<(String, Score)> {
    scored_with(ProfileSet::builtin(), options)
}

fn scored_with(profiles: ProfileSet, options: &ReplayOptions) -> Vec<(String, Score)> {
    let doubts = include_str!("../../../tests/recordings/DOUBTS.md");
    let doubts = Doubts::parse("tests/recordings/DOUBTS.md", doubts).expect("the doubts can be read");
    let profiles = Arc::new(profiles);
    in_parallel(played(), |Played { name, recording, frames, .. }| {
        let frames = frames.iter().cloned();
        let score = score_frames(recording, frames, name, Arc::clone(&profiles), options, &doubts);
        ((*name).to_owned(), score.expect("its truth can be read"))
    })
}

fn every(ms: u64) -> ReplayOptions {
    ReplayOptions { sampling: Sampling::Every(Span::from_millis(ms)), ..ReplayOptions::default() }
}

/// Every recording as one of a version that is not out yet, at four polls a second.
fn scored_as_unknown() -> &'static [(String, Score)] {
    static SCORED: OnceLock<Vec<(String, Score)>> = OnceLock::new();
    SCORED.get_or_init(|| scored(&as_unknown()))
}

fn as_unknown() -> ReplayOptions {
    ReplayOptions { version: VersionSource::Given("999.0.0".to_owned()), ..every(250) }
}

/// At the default tick the published phase follows soon, and phase and dialogs stay right.
#[test]
fn two_polls_a_second_are_enough() {
    let scored = scored(&every(500));
    let mut delays: Vec<u64> = scored
        .iter()
        .flat_map(|(_, score)| &score.delays)
        .filter(|delay| delay.field == Field::Phase)
        // A change that was never followed counts as a late one.
        .map(|delay| delay.delay.map_or(u64::MAX, Span::as_millis))
        .collect();
    delays.sort_unstable();
    let rank = |percent: usize| delays[(delays.len() * percent).div_ceil(100).saturating_sub(1)];
    assert!(delays.len() > 300, "{} changes of phase", delays.len());
    assert!(rank(50) <= 600, "the median is {} ms", rank(50));
    assert!(rank(95) <= 1500, "the 95th percentile is {} ms", rank(95));
    for (field, floor) in [(Field::Availability, 99.9), (Field::Phase, 99.5), (Field::Blocked, 99.9)] {
        let (mut judged, mut right) = (0, 0);
        for tally in scored.iter().map(|(_, score)| score.tallies[field as usize]) {
            judged += tally.judged_ms;
            right += tally.right_ms;
        }
        let percent = right as f64 * 100.0 / judged as f64;
        assert!(percent >= floor, "{} scores {percent:.3} % at two polls a second", field.word());
    }
}

/// The milliseconds in which an agent worked, and those of them in which it was called ready.
fn work_and_ready<'a>(scored: impl IntoIterator<Item = &'a (String, Score)>) -> (u64, u64) {
    scored.into_iter().flat_map(|(_, score)| &score.phases).fold((0, 0), |(work, ready), ((truth, reported), ms)| {
        let works = *truth == "active";
        (work + if works { *ms } else { 0 }, ready + if works && *reported == "ready" { *ms } else { 0 })
    })
}

/// The profiles that are compiled in, without a single rule that tells work: the next release may show it in any way.
fn blind_to_work() -> ProfileSet {
    let mut profiles = ProfileSet::builtin();
    let tools: Vec<String> = profiles.tools().map(str::to_owned).collect();
    for tool in tools {
        let mut file: toml::Table = ProfileSet::shipped(&tool).expect("it is compiled in").parse().expect("it is TOML");
        let written_profiles = file["profile"].as_array_mut().expect("it has profiles");
        let id = |rule: &toml::Value| rule["id"].as_str().expect("a rule has an id").to_owned();
        let gives_work = |rule: &toml::Value| rule["gives"].as_str() == Some("working");
        let mut removed = Vec::new();
        for profile in written_profiles.iter_mut().filter_map(toml::Value::as_table_mut) {
            if let Some(rules) = profile.get_mut("rules").and_then(toml::Value::as_array_mut) {
                removed.extend(rules.iter().filter(|rule| gives_work(rule)).map(id));
                rules.retain(|rule| !gives_work(rule));
            }
            if let Some(without) = profile.get_mut("without").and_then(toml::Value::as_array_mut) {
                without.retain(|name| name.as_str().is_none_or(|name| removed.iter().all(|gone| gone != name)));
            }
        }
        let written = toml::to_string(&file).expect("a table can be written");
        profiles.add(&format!("{tool}.toml"), &written).expect("rules fewer are rules still");
    }
    profiles
}

/// What a version that nobody has recorded shows of its work may have another shape: then it moves, and what moves is not
/// called ready.
#[test]
fn work_in_an_unknown_shape_is_not_ready() {
    let (work, ready) = work_and_ready(scored_as_unknown());
    assert!(work > 600_000, "the recordings show {work} ms of work");
    assert!(ready * 50 <= work, "older releases read as a newer one: of {work} ms of work {ready} ms are called ready");
    let (work, ready) = work_and_ready(&scored_with(blind_to_work(), &as_unknown()));
    assert!(ready * 10 <= work, "without any rule for work: of {work} ms of work {ready} ms are called ready");
}

/// Without a version, and with one that is not out yet, an agent is read by its newest profile: what that does not know
/// is unknown, and no recorded dialog is called ready.
#[test]
fn an_unknown_version_makes_no_dialog_ready() {
    /// A dialog that opens between two polls is called by what was there before, for one poll.
    const LONGER_THAN_A_POLL: u64 = 500;
    let without_version = scored(&ReplayOptions { version: VersionSource::Withheld, ..every(250) });
    for (version, scored) in [("no version", &without_version[..]), ("an unknown one", scored_as_unknown())] {
        let mut seen = 0;
        for (name, score) in scored {
            let hidden = score.phases.get(&("unknown", "ready")).copied().unwrap_or(0);
            assert!(hidden < LONGER_THAN_A_POLL, "{name} with {version}: called ready for {hidden} ms");
            seen += score.phases.iter().filter(|((truth, _), _)| *truth == "unknown").map(|(_, ms)| ms).sum::<u64>();
        }
        assert!(seen > 400_000, "the recordings show {seen} ms of dialogs");
    }
}
