//! What it costs to keep a history: bytes for a transition, transitions in a second, the time until a page is read.
//!
//! `cargo bench --bench history`; figures and their commands stand in README.md beside this file.

#![allow(clippy::expect_used, reason = "a bench that cannot be set up has nothing to measure")]

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use divan::Bencher;
use fleetwatch::fleet::{
    Capture, Effect, Fleet, Input, PaneId, PaneLocation, PaneReport, PollResult, ServerId, ServerReport, TerminalKey,
};
use fleetwatch::history::{History, Reader, RecordFilter, Settings};
use fleetwatch::present::document;
use fleetwatch::private::HeldLock;
use fleetwatch::profile::ProfileSet;
use fleetwatch::record::{Body, Record, TransitionRecord};
use fleetwatch::recording::{Archive, Player, Recording, program};
use fleetwatch::time::Span;
use tempfile::TempDir;

fn main() {
    let transitions = transitions();
    let (directory, elapsed) = write(transitions);
    let path = path(&directory);
    let connection = rusqlite::Connection::open(&path).expect("the history opens");
    let number = |sql: &str| -> i64 { connection.query_row(sql, [], |row| row.get(0)).expect("a number") };
    let bytes = number("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size");
    let (written, screens) = (number("SELECT count(*) FROM transitions"), number("SELECT count(*) FROM screens"));
    println!("{written} transitions of all recordings, {screens} different screens");
    println!("{} bytes a transition in the file, of which", bytes / written);
    println!("    {} are documents", number("SELECT sum(length(document)) FROM records") / written);
    println!("    {} are screens", number("SELECT sum(length(body)) FROM screens") / written);
    println!(
        "{:.0} transitions a second, {:.2} s in all",
        written as f64 / elapsed.as_secs_f64(),
        elapsed.as_secs_f64()
    );
    drop(connection);
    divan::main();
}

/// Every transition of every recording, polled whenever something was printed.
fn transitions() -> &'static [TransitionRecord] {
    static ALL: OnceLock<Vec<TransitionRecord>> = OnceLock::new();
    ALL.get_or_init(|| {
        let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings/recordings.zst");
        let archive = Archive::open(&archive).expect("the archive is in the repository");
        let profiles = Arc::new(ProfileSet::builtin());
        let mut all = Vec::new();
        for (pane, name) in (1..).zip(archive.names()) {
            let recording = archive.recording(name).expect("a recording can be read");
            watch(&recording, pane, &profiles, &mut all);
        }
        all
    })
}

fn watch(recording: &Recording, pane: u32, profiles: &Arc<ProfileSet>, all: &mut Vec<TransitionRecord>) {
    let mut fleet = Fleet::new(fleetwatch::fleet::Settings::default(), Arc::clone(profiles));
    let key = TerminalKey { server: ServerId::default(), pane: PaneId(pane), pid: pane, instance: Default::default() };
    let place = Arc::new(PaneLocation {
        session: recording.name.clone(),
        window_panes: 1,
        session_windows: 1,
        ..PaneLocation::default()
    });
    let (tool, version) = (recording.header.tool.as_deref(), recording.header.version.as_deref());
    for frame in Player::new(recording) {
        let at = recording.began() + frame.at;
        while let Some(due) = fleet.poll_timeout().filter(|due| *due < at) {
            fleet.handle(Input::TimePassed, due);
            collect(&mut fleet, all);
            if fleet.poll_timeout() == Some(due) {
                break;
            }
        }
        let command = Some(frame.facts.command.as_str()).filter(|command| !command.is_empty());
        let report = PaneReport {
            key: key.clone(),
            place: Arc::clone(&place),
            cwd: None,
            program: program(profiles, tool, version, command),
            facts: frame.facts.clone(),
            capture: if frame.printed { Capture::Fresh(frame.screen) } else { Capture::Unchanged },
            declared: None,
            record: None,
            git: None,
            agent_process: None,
            printed_until: None,
        };
        let outcome = PollResult::Listed(vec![report]);
        fleet.handle(Input::Server(ServerReport::new(key.server.clone(), at, outcome)), at);
        collect(&mut fleet, all);
    }
}

fn collect(fleet: &mut Fleet, all: &mut Vec<TransitionRecord>) {
    while let Some(effect) = fleet.poll_effect() {
        if let Effect::Changed(changed) = effect {
            all.push((&changed).into());
        }
    }
}

fn path(directory: &TempDir) -> PathBuf {
    directory.path().join("history.db")
}

/// Writes transitions as fast as it goes; how long that took until the last one was in the file.
fn write<'a>(transitions: impl IntoIterator<Item = &'a TransitionRecord>) -> (TempDir, Duration) {
    let directory = tempfile::tempdir().expect("a directory for the history");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let history = History::start(&Settings { path: Some(path(&directory)), ..Settings::default() });
    history.lead(ServerId::default(), Some(HeldLock::ALWAYS));
    let began = Instant::now();
    let mut transitions = transitions.into_iter().peekable();
    while transitions.peek().is_some() {
        transitions.by_ref().take(256).for_each(|record| history.record(Record::Transition(record.clone())));
        assert!(runtime.block_on(history.written(Duration::from_secs(60))), "{:?}", history.health());
    }
    let elapsed = began.elapsed();
    drop(history);
    (directory, elapsed)
}

/// What the loop of the dashboard pays for a transition.
#[divan::bench(sample_count = 20, sample_size = 20)]
fn hand_over(bencher: Bencher) {
    let directory = tempfile::tempdir().expect("a directory for the history");
    let history = History::start(&Settings { path: Some(path(&directory)), ..Settings::default() });
    history.lead(ServerId::default(), Some(HeldLock::ALWAYS));
    let mut next = transitions().iter().cycle();
    bencher
        .with_inputs(|| next.next().cloned().expect("there are transitions"))
        .bench_local_values(|record| history.record(Record::Transition(record)));
}

/// The last 50 transitions of one terminal, as the drill-down asks for them.
#[divan::bench]
fn read_a_page(bencher: Bencher) {
    let (directory, _) = write(transitions());
    let mut reader = Reader::open(&path(&directory)).expect("the history opens");
    let key = &transitions()[transitions().len() / 2].key;
    bencher.bench_local(|| reader.transitions(key, 50).expect("a page"));
}

/// One stored screen.
#[divan::bench]
fn read_a_screen(bencher: Bencher) {
    let (directory, _) = write(&transitions()[..200]);
    let mut reader = Reader::open(&path(&directory)).expect("the history opens");
    let records = reader.records(&RecordFilter::default()).expect("the records");
    let screen = records.iter().find_map(|record| match &record.body {
        Body::Transition(transition) => transition.screen,
        _ => None,
    });
    let screen = screen.expect("a transition with a screen");
    bencher.bench_local(|| reader.screen(screen).expect("a screen"));
}

/// Records of a long history.
const MANY: usize = 100_000;

/// A history in which the transitions of the recordings come again and again, for as many records as a long one has.
fn long_history() -> PathBuf {
    static WRITTEN: OnceLock<TempDir> = OnceLock::new();
    path(WRITTEN.get_or_init(|| write(transitions().iter().cycle().take(MANY)).0))
}

/// Every record of a long history as the type that was written.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn read_many_typed(bencher: Bencher) {
    let mut reader = Reader::open(&long_history()).expect("the history opens");
    bencher.bench_local(|| {
        let mut count = 0;
        let each = reader.each(&RecordFilter::default(), |record| {
            count += usize::from(record.body.agent().is_some());
            true
        });
        each.expect("the records");
        count
    });
}

/// The documents of the same records as JSON values, as they were read before they were typed.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn read_many_as_values(bencher: Bencher) {
    let sample = include_bytes!("../src/history/samples/documents.jsonl");
    let mut unpack = zstd::bulk::Decompressor::with_dictionary(sample).expect("a dictionary");
    let connection = rusqlite::Connection::open(long_history()).expect("the history opens");
    bencher.bench_local(|| {
        let mut statement =
            connection.prepare("SELECT at, kind, name, document FROM records ORDER BY at, id").expect("a statement");
        let mut rows = statement.query([]).expect("rows");
        let mut count = 0;
        while let Some(row) = rows.next().expect("a row") {
            let blob = row.get_ref(3).expect("a column").as_blob().expect("a blob");
            // The first byte says how the rest was packed, and all of these are packed in one way.
            let document = unpack.decompress(&blob[1..], 1 << 20).expect("a document");
            let value: serde_json::Value = serde_json::from_slice(&document).expect("JSON");
            count += usize::from(value["state"]["turn"]["phase"].is_string());
        }
        count
    });
}

/// Every record of a long history as a line of `history --json`.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn print_many_as_json(bencher: Bencher) {
    let mut reader = Reader::open(&long_history()).expect("the history opens");
    bencher.bench_local(|| {
        let mut bytes = 0;
        let each = reader.each(&RecordFilter::default(), |record| {
            bytes += document::of_record(&record).to_string().len();
            true
        });
        each.expect("the records");
        bytes
    });
}

/// What `history --summary` reads: the time line of every terminal.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn read_many_time_lines(bencher: Bencher) {
    let mut reader = Reader::open(&long_history()).expect("the history opens");
    let terminals = reader.terminals().expect("the terminals");
    let until = terminals.iter().filter_map(|terminal| terminal.last).max().expect("a time") + Span::from_secs(1);
    bencher.bench_local(|| {
        let line = |key| reader.line(key, None, until).expect("a line").points.len();
        terminals.iter().map(|terminal| &terminal.key).map(line).sum::<usize>()
    });
}
