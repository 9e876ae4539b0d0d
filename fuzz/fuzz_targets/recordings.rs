//! Recordings and archives that others made.
#![no_main]

use std::collections::BTreeMap;
use std::sync::Arc;

use fleetwatch::recording::{Archive, Player, Recording, ReplayOptions, replay};
use fleetwatch::screen::is_harmless;
use fleetwatch_fuzz::{PROFILES, root, seed};
use libfuzzer_sys::fuzz_target;

/// Cells of a frame, and events, beyond which an input is only read.
const MOST_CELLS: u32 = 20_000;
const MOST_EVENTS: usize = 200;

fn seeds() -> Vec<Vec<u8>> {
    let archive = Archive::open(&root().join("recordings/recordings.zst")).expect("it is there");
    let mut seeds = Vec::new();
    for name in archive.names().step_by(5) {
        let bytes = archive.bytes(name).unwrap_or_default();
        if bytes.len() < 60_000 {
            seeds.push([b"r", bytes].concat());
        }
        if bytes.len() < 6_000 {
            let packed = Archive::pack(&BTreeMap::from([(name.to_owned(), bytes.to_owned())]));
            seeds.push([b"a".to_vec(), packed.expect("it is packed")].concat());
        }
    }
    seeds
}

fuzz_target!(init: seed(8000, seeds), |data: &[u8]| {
    let Some((kind, bytes)) = data.split_first() else { return };
    if *kind == b'a' {
        if let Ok(archive) = Archive::parse("archive", bytes) {
            archive.names().for_each(|name| drop(archive.recording(name)));
        }
        return;
    }
    let recording = match Recording::parse("recording", bytes) {
        Ok(recording) => recording,
        Err(error) => return drop(error.to_string()),
    };
    let size = recording.header.size;
    let is_small = u32::from(size.columns) * u32::from(size.rows) < MOST_CELLS;
    if !is_small || recording.events.len() > MOST_EVENTS {
        return;
    }
    for frame in Player::new(&recording).take(MOST_EVENTS) {
        assert!(frame.screen.rows().iter().all(|row| row.text().chars().all(is_harmless)));
    }
    replay(&recording, Arc::clone(&PROFILES), &ReplayOptions::default(), |_, state| {
        assert!(!state.terminal.id.is_empty());
    });
});
