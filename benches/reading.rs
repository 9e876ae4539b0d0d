//! What one poll of a terminal costs: building a screen, reading it with a profile, a step of the tracker.
//!
//! `cargo bench --bench reading`; figures and their commands stand in README.md beside this file.

#![allow(clippy::expect_used, reason = "a bench that cannot be set up has nothing to measure")]

use std::fs::OpenOptions;
use std::io::Write as _;
use std::process::Command;
use std::sync::Arc;

use divan::{Bencher, black_box};
use fleetwatch::fleet::{PaneId, ServerId, TerminalKey};
use fleetwatch::process::{AgentRecords, RecordedAgent};
use fleetwatch::profile::{Profile, ProfileSet, Temporal};
use fleetwatch::screen::{PaneFacts, Screen};
use fleetwatch::time::Timestamp;
use fleetwatch::tracker::{self, Observation, Tracker};

fn main() {
    divan::main();
}

/// A working Claude Code screen of 120×40 cells in its own colours.
fn capture() -> Vec<u8> {
    let mut rows = vec!["\x1b[38;5;246m  ⎿  some output of a tool, dim and long enough to fill the row as real output does, on and on\x1b[0m".to_owned(); 30];
    rows[2] = "\x1b[38;5;239m\x1b[48;5;237m❯ \x1b[38;5;231mfix the totals\x1b[0m".to_owned();
    rows[4] = "\x1b[38;5;231m●\x1b[0m I read the module and found three callers.".to_owned();
    rows.push(String::new());
    rows.push(
        "\x1b[38;5;174m✶\x1b[0m \x1b[38;5;216mClauding…\x1b[0m \x1b[38;5;246m(7s · ↓ 120 tokens)\x1b[0m".to_owned(),
    );
    rows.push(String::new());
    rows.push("─".repeat(120));
    rows.push("\x1b[38;5;246m❯\u{a0}\x1b[7m \x1b[0m".to_owned());
    rows.push("─".repeat(120));
    rows.push("  \x1b[38;5;246mesc to interrupt · ← for agents\x1b[0m".to_owned());
    rows.join("\n").into_bytes()
}

fn profile(tool: &str) -> Arc<Profile> {
    ProfileSet::builtin().select(tool, None, false).expect("the tool is built in").profile
}

#[divan::bench]
fn screen_from_capture(bencher: Bencher) {
    let bytes = capture();
    bencher.bench(|| Screen::from_capture(black_box(&bytes), 120, 40));
}

#[divan::bench(args = ["claude", "codex"])]
fn read_screen(bencher: Bencher, tool: &str) {
    let screen = Screen::from_capture(&capture(), 120, 40);
    let (profile, facts) = (profile(tool), PaneFacts::default());
    bencher.bench(|| profile.read(black_box(&screen), &facts));
}

#[divan::bench]
fn tracker_step(bencher: Bencher) {
    let screen = Screen::from_capture(&capture(), 120, 40);
    let reading = profile("claude").read(&screen, &PaneFacts::default());
    let mut tracker = Tracker::new(tracker::Settings::default(), Timestamp::default());
    let mut ms = 0;
    bencher.bench_local(|| {
        ms += 500;
        let temporal = Temporal::default();
        tracker.handle(Observation::Read { reading: &reading, temporal, resized: false }, Timestamp::from_millis(ms))
    });
}

#[divan::bench]
fn tracker_step_unchanged(bencher: Bencher) {
    let screen = Screen::from_capture(&capture(), 120, 40);
    let reading = profile("claude").read(&screen, &PaneFacts::default());
    let mut tracker = Tracker::new(tracker::Settings::default(), Timestamp::default());
    tracker.handle(
        Observation::Read { reading: &reading, temporal: Temporal::default(), resized: false },
        Timestamp::default(),
    );
    let mut ms = 0;
    bencher.bench_local(|| {
        ms += 500;
        tracker.handle(Observation::Unchanged, Timestamp::from_millis(ms))
    });
}

/// What one poll costs of an agent whose records are read: one that stands still, one that changes and writes nothing, and one
/// that writes a line of 2 kB.
#[divan::bench(args = ["still", "changes", "writes"])]
fn records(bencher: Bencher, what: &str) {
    let home = tempfile::tempdir().expect("a home can be made");
    let folder = home.path().join(".codex/sessions/2026/11/22");
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let options = || OpenOptions::new().create(true).append(true).open(folder.join("rollout-1.jsonl"));
    let mut file = options().expect("a record can be made");
    writeln!(file, r#"{{"type":"session_meta","payload":{{"source":"cli"}}}}"#).expect("it can be written");
    let held = options().expect("it can be opened again");
    let mut agent = Command::new("sleep").arg("4711").env("HOME", home.path()).stdin(held).spawn().expect("it starts");
    let server = ServerId::default();
    let profiles = Arc::new(ProfileSet::builtin());
    let recorded = [RecordedAgent {
        key: TerminalKey { server, pane: PaneId(1), pid: agent.id(), instance: Default::default() },
        processes: vec![agent.id()],
        sources: profiles.records("codex"),
        tool: "codex".to_owned(),
        profiles,
        is_changing: what != "still",
    }];
    let line =
        format!(r#"{{"type":"event_msg","payload":{{"type":"agent_message","message":"{}"}}}}"#, "x".repeat(2000));
    let (mut records, mut ms) = (AgentRecords::default(), 0);
    bencher.bench_local(|| {
        ms += 250;
        if what == "writes" {
            writeln!(file, "{line}").expect("it can be written");
        }
        records.read(&recorded, Timestamp::from_millis(ms))
    });
    agent.kill().and_then(|()| agent.wait()).expect("it ends");
}

#[divan::bench]
fn profiles(bencher: Bencher) {
    bencher.bench(ProfileSet::builtin);
}
