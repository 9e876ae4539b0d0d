//! What an agent draws: captures become screens, screens are read, and the readings make states.
#![no_main]

use fleetwatch::profile::Program;
use fleetwatch::recording::Player;
use fleetwatch::screen::{PaneFacts, Screen, is_harmless};
use fleetwatch::time::Span;
use fleetwatch_fuzz::{Watched, profile, profile_of, recordings, seed};
use libfuzzer_sys::fuzz_target;

/// Stands between two captures.
const NEXT: u8 = 0x1e;

/// The rows of a seed: what an agent asks and where its user types is at the bottom.
const LAST_ROWS: usize = 24;

fn last_rows(capture: &str) -> String {
    let rows: Vec<&str> = capture.trim_end_matches('\n').split('\n').collect();
    rows[rows.len().saturating_sub(LAST_ROWS)..].join("\n")
}

fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for recording in recordings(2) {
        let Some(number) = profile_of(&recording) else { continue };
        let frames: Vec<_> = Player::new(&recording).collect();
        for pair in frames.chunks(2).step_by(1 + frames.len() / 6) {
            let mut seed = vec![number, pair[0].screen.size().0 as u8, LAST_ROWS as u8];
            let captures: Vec<_> = pair.iter().map(|frame| last_rows(&frame.screen.to_capture())).collect();
            seed.extend(captures.join("\u{1e}").into_bytes());
            seeds.push(seed);
        }
    }
    seeds
}

fuzz_target!(init: seed(4096, seeds), |data: &[u8]| {
    let [number, columns, rows, captures @ ..] = data else { return };
    let profile = profile(*number);
    let (columns, rows) = (u16::from(*columns).max(1), u16::from(*rows).clamp(1, 80));
    let mut watched = Watched::new(Program::agent(profile.tool(), None));
    for capture in captures.split(|byte| *byte == NEXT).take(4) {
        let screen = Screen::from_capture(capture, columns, rows);
        assert!(screen.rows().iter().all(|row| row.text().chars().all(is_harmless)));
        let again = Screen::from_capture(screen.to_capture().as_bytes(), columns, screen.rows().len() as u16);
        assert_eq!(again, screen, "a capture of what was captured");
        let facts = PaneFacts::default();
        let reading = profile.read(&screen, &facts);
        profile.project(&screen, &facts);
        if let Some(dialog) = &reading.dialog {
            dialog.live_rows(&screen);
            assert!(dialog.is_same(dialog) && !dialog.id().is_empty());
            for option in 0..=dialog.options.len() {
                dialog.presses(option);
                dialog.refuses(option);
            }
        }
        watched.poll(facts, screen.into(), Span::from_millis(700));
        let state = watched.fleet.state(&fleetwatch_fuzz::terminal(), watched.now).expect("it is watched");
        serde_json::to_string(&state).expect("a state is JSON");
    }
});
