//! Tests that span the parts of the history.

mod outbox;
mod reading;
mod writing;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;

use super::store::Store;
use super::*;
use crate::fleet::{PaneId, ServerId, TerminalKey};
use crate::follow_up::MessageEvent;
use crate::present::{document, sentence};
use crate::record::timeline::Holder;
use crate::record::{
    self, Body, HistoryError, Intent, IntentId, IntentState, Kind, NamedEvent, OperatorAction, PublicState, Record,
    Sent, Stored, StoredInput, StoredTransition, TaskRecord, TransitionRecord,
};
use crate::screen::Screen;
use crate::state::{
    Availability, Change, Evidence, OperatorStatus, Phase, State, Summary, TerminalFacts, Transition, TurnResult,
    TurnSource, UiContext,
};
use crate::task::{Happening, TaskFields};
use crate::time::Span;
use crate::tracker::{self, Tracker};

pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000 + seconds * 1000)
}

pub(super) fn terminal(pane: u32) -> TerminalKey {
    TerminalKey { server: ServerId::default(), pane: PaneId(pane), pid: 1000 + pane, instance: Default::default() }
}

pub(super) fn state(now: Timestamp) -> State {
    let facts = TerminalFacts {
        id: "api".to_owned(),
        socket: Some("default".to_owned()),
        session: Some("work".to_owned()),
        window: Some("1:api".to_owned()),
        pane: Some("%1".to_owned()),
        pid: Some(1001),
        tool: "claude".to_owned(),
        ..TerminalFacts::default()
    };
    Tracker::new(tracker::Settings::default(), now).state(facts, now)
}

/// A transition of a terminal, with a screen of one line.
pub(super) fn transition(pane: u32, seconds: i64, phase: Phase, screen: &str) -> TransitionRecord {
    let status = match phase {
        Phase::Active => OperatorStatus::Processing,
        Phase::Ready => OperatorStatus::Ready,
        Phase::Unknown => OperatorStatus::Unknown,
    };
    let summary = Summary {
        availability: Availability::Available,
        phase,
        result: TurnResult::None,
        source: TurnSource::None,
        ui_context: UiContext::NormalPrompt,
        status,
    };
    let change = Change { field: "turn.phase".into(), from: "unknown".into(), to: phase.word().into() };
    let evidence = vec![Evidence { rule: "composer".to_owned(), line: Some(0), text: screen.to_owned() }];
    TransitionRecord {
        key: terminal(pane),
        name: format!("t{pane}"),
        transition: Transition {
            at: at(seconds),
            changed: vec![change],
            summary,
            note: Some("noted".to_owned()),
            evidence: evidence.into(),
        },
        state: Some(PublicState::Agent(Box::new(state(at(seconds))))),
        screen: Some(Arc::new(Screen::from_text(screen, 80)).into()),
        events: Vec::new(),
    }
}

pub(super) fn message(pane: u32, seconds: i64, phase: Phase, screen: &str) -> WriterMessage {
    WriterMessage::Record(Arc::new(Record::Transition(transition(pane, seconds, phase, screen))))
}

/// A directory with a place for a history.
pub(super) fn place() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state").join("history.db");
    (directory, path)
}

/// The store of a process that leads.
pub(super) fn store(path: &Path, owner: &str, now: Timestamp) -> Store {
    let mut store = follower(path, owner, now);
    lead(&mut store, HeldLock::ALWAYS, now);
    store
}

/// The store of a process that leads nothing.
pub(super) fn follower(path: &Path, owner: &str, now: Timestamp) -> Store {
    Store::open(path, &Owner::named(owner), &HistoryOptions::default(), now, false).unwrap()
}

pub(super) fn lead(store: &mut Store, held: HeldLock, now: Timestamp) {
    store.write(&[WriterMessage::Lead(ServerId::default(), Some(held))], now).unwrap();
}

pub(super) fn count(path: &Path, table: &str) -> i64 {
    let sql = format!("SELECT count(*) FROM {table}");
    Connection::open(path).unwrap().query_row(&sql, [], |row| row.get(0)).unwrap()
}

pub(super) fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let since = Instant::now();
    while !holds() {
        assert!(since.elapsed() < Duration::from_secs(60), "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub(super) fn running(path: &Path) -> History {
    let history = History::with(path.to_owned(), Settings::default(), HistoryOptions::default());
    history.lead(ServerId::default(), Some(HeldLock::ALWAYS));
    history
}

#[test]
fn a_transition_comes_back_with_its_state_and_its_screen() {
    let (_directory, path) = place();
    let mut store = store(&path, "a", at(0));
    store.write(&[message(1, 5, Phase::Ready, "> _")], at(5)).unwrap();

    let mut reader = Reader::open(&path).unwrap();
    let records = reader.records(&RecordFilter::default()).unwrap();
    let [record] = &records[..] else { panic!("one record was written: {records:?}") };
    assert_eq!((record.at, record.name.as_str(), &record.key), (at(5), "t1", &Some(terminal(1))));
    let Body::Transition(transition) = &record.body else { panic!("it is a transition") };
    let Transition { summary, note, .. } = &transition.transition;
    assert_eq!((summary.phase, note.as_deref()), (Phase::Ready, Some("noted")));
    assert_eq!(reader.screen(transition.screen.unwrap()).unwrap(), Some(Screen::from_text("> _", 80)));
    assert_eq!(record.body.agent(), Some(&state(at(5))));
    let [change] = &transition.transition.changed[..] else { panic!("one field changed") };
    assert_eq!((change.field.as_ref(), &change.from, &change.to), ("turn.phase", &"unknown".into(), &"ready".into()));

    let line = document::of_record(record);
    let keys: Vec<&String> = line.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["at", "kind", "terminal", "state", "note", "changed", "evidence", "events", "id", "sentence"]);
    assert_eq!((&line["kind"], &line["terminal"]), (&"transition".into(), &"t1".into()));
    assert_eq!(line["evidence"][0]["rule"], "composer");
}

#[test]
fn what_was_shown_twice_is_stored_once() {
    let (_directory, path) = place();
    let mut store = store(&path, "a", at(0));
    for second in 0..60 {
        let screen = if second % 2 == 0 { "even" } else { "odd" };
        store.write(&[message(second as u32 % 3, second, Phase::Ready, screen)], at(second)).unwrap();
    }
    assert_eq!((count(&path, "transitions"), count(&path, "screens")), (60, 2));
}

#[test]
fn other_screens_under_the_same_hash_stay_apart() {
    let (_directory, path) = place();
    let mut store = store(&path, "a", at(0));
    store.write(&[message(1, 0, Phase::Ready, "one")], at(0)).unwrap();
    // As if "two" had the hash of "one".
    let hash = encoding::hash(&encoding::encode_screen(&Screen::from_text("two", 80)).unwrap());
    store.connection().execute("UPDATE screens SET hash = ?1", [hash]).unwrap();
    store.write(&[message(1, 1, Phase::Ready, "two")], at(1)).unwrap();
    let mut reader = Reader::open(&path).unwrap();
    let shown: Vec<_> = reader
        .records(&RecordFilter::default())
        .unwrap()
        .iter()
        .filter_map(|record| match &record.body {
            Body::Transition(transition) => reader.screen(transition.screen?).unwrap(),
            _ => None,
        })
        .collect();
    assert_eq!(shown, [Screen::from_text("one", 80), Screen::from_text("two", 80)]);
}

#[test]
fn one_pages_backwards_through_a_terminal() {
    let (_directory, path) = place();
    let mut store = store(&path, "a", at(0));
    // Written out of order, as when a process catches up.
    for second in [0, 2, 1, 3, 4, 6, 5, 7] {
        let records = [message(1, second, Phase::Ready, "a"), message(2, second, Phase::Ready, "b")];
        store.write(&records, at(second)).unwrap();
    }
    let mut reader = Reader::open(&path).unwrap();
    let (mut before, mut seen) = (None, Vec::new());
    loop {
        let of_one = RecordFilter { terminals: Some(vec![terminal(1)]), limit: Some(3), ..RecordFilter::default() };
        let page = reader.records(&RecordFilter { before, ..of_one }).unwrap();
        let Some(first) = page.first() else { break };
        before = Some(first.id);
        seen.splice(0..0, page.iter().map(|record| record.at));
    }
    assert_eq!(seen, (0..8).map(at).collect::<Vec<_>>());
}

#[test]
fn filters_take_what_they_say() {
    let (_directory, path) = place();
    let mut store = store(&path, "a", at(0));
    for second in 0..10 {
        store.write(&[message(second as u32 % 2, second, Phase::Ready, "a")], at(second)).unwrap();
    }
    let action =
        Record::Action { key: None, name: String::new(), at: at(20), action: OperatorAction::of_word("muted") };
    store.write(&[WriterMessage::Record(Arc::new(action))], at(20)).unwrap();
    let mut reader = Reader::open(&path).unwrap();
    let mut times = |filter: RecordFilter| -> Vec<i64> {
        let seconds = |record: &Stored| (record.at.as_millis() - at(0).as_millis()) / 1000;
        reader.records(&filter).unwrap().iter().map(seconds).collect()
    };
    let all = RecordFilter::default();
    assert_eq!(times(RecordFilter { since: Some(at(7)), ..all.clone() }), [7, 8, 9, 20]);
    assert_eq!(times(RecordFilter { until: Some(at(2)), ..all.clone() }), [0, 1]);
    assert_eq!(times(RecordFilter { limit: Some(2), ..all.clone() }), [9, 20]);
    assert_eq!(times(RecordFilter { kinds: vec![Kind::Action], ..all.clone() }), [20]);
    assert_eq!(times(RecordFilter { terminals: Some(vec![terminal(1)]), limit: Some(2), ..all.clone() }), [7, 9]);
    let both = Some(vec![terminal(0), terminal(1)]);
    assert_eq!(times(RecordFilter { terminals: both, since: Some(at(8)), ..all.clone() }), [8, 9]);
    assert_eq!(times(RecordFilter { terminals: Some(Vec::new()), ..all }), [0; 0]);
    assert_eq!(reader.extent().unwrap().0, 11);
    let terminals = reader.terminals().unwrap();
    let names: Vec<_> = terminals.iter().map(|terminal| (terminal.name.as_str(), terminal.last)).collect();
    assert_eq!(names, [("t1", Some(at(9))), ("t0", Some(at(8)))]);
}

/// The public fields of a task, as the first version wrote them.
pub(super) fn task_fields() -> TaskFields {
    let fields = json!({
        "kind": "task", "id": "build", "host": null, "socket": "default", "session": "jobs", "window_id": "@12",
        "window": "2:build", "pane": "%7", "pid": 4711, "known": true, "status": "running",
        "since": "2026-11-21T09:00:00.000Z", "started_at": "2026-11-21T09:00:00.000Z", "command": "make", "cwd": "/src",
        "dead": false, "exit_code": null, "bell": false, "bells": 0, "prompt": null, "preview": ["cc -o shop main.c"],
    });
    serde_json::from_value(fields).unwrap()
}

/// What each kind of record was before it was read as a type, and what a later version may write.
#[test]
fn documents_of_every_version_are_read_and_reported() {
    let (_directory, path) = place();
    oldest_file(&path);
    let mut agent = json!(state(at(1)));
    let task = json!(task_fields());
    let transition = json!({ "state": agent, "changed": [], "evidence": [] });
    // Before it was known since when.
    agent.as_object_mut().unwrap().remove("since");
    let older = json!({ "state": agent, "changed": [], "evidence": [], "events": [] });
    let event = |event: &str| json!({ "event": event, "exit_code": 2, "prompt": "Proceed?", "state": task });
    let message = json!({
        "text": "done", "outcome": "sent", "detail": null, "events": [MessageEvent { text: "e".to_owned(), ..MessageEvent::default() }], "created": at(1), "intent": 7,
    });
    let action = |action: &str, detail: serde_json::Value| json!({ "action": action, "detail": detail });
    let run = json!({ "window": "@12", "command": ["make", "all"], "again": false });
    let documents = [
        ("transition", transition, "left the fleet"),
        ("transition", older, "left the fleet"),
        ("transition", json!({ "state": { "mood": "good" }, "changed": [], "evidence": [] }), "left the fleet"),
        ("transition", json!({ "changed": "everything" }), "transition {\"changed\":\"everything\"}"),
        ("task_event", event("exited"), "exited with code 2"),
        ("task_event", event("input"), "asks: Proceed?"),
        ("task_event", json!({ "event": "slept", "state": {} }), "task_event {\"event\":\"slept\",\"state\":{}}"),
        ("input", json!({ "text": "do it" }), "do it  (accepted, by cli)"),
        ("input", json!({ "keys": ["Escape", "C-c"] }), "Escape C-c  (accepted, by cli)"),
        ("input", json!({ "dialog": "Run it?", "choice": "1" }), "1  (accepted, by cli)"),
        ("follow_up", message, "sent: done"),
        ("action", action("seen", json!(null)), "seen"),
        ("action", action("kill", json!({ "reason": "killed" })), "kill: killed"),
        ("action", action("run", run), "run: make all"),
        ("action", action("pinned", json!(null)), "pinned"),
        ("action", action("shared", json!({ "with": "all" })), "shared"),
        ("dream", json!({ "of": "sheep" }), "dream {\"of\":\"sheep\"}"),
    ];
    let connection = Connection::open(&path).unwrap();
    let mut codec = encoding::Codec::new().unwrap();
    for (id, (kind, document, _)) in (2..).zip(&documents) {
        let packed = codec.pack(document).unwrap();
        let sql = "INSERT INTO records (id, at, kind, terminal, name, document) VALUES (?1, ?1, ?2, 1, 'old', ?3)";
        connection.execute(sql, rusqlite::params![id, kind, packed]).unwrap();
        let beside = match *kind {
            "transition" => {
                "INSERT INTO transitions VALUES (?1, 'unavailable unknown none none unknown unavailable', NULL,
                                                 'left the fleet', NULL)"
            }
            "input" => "INSERT INTO inputs VALUES (?1, ?1, 'x', 'cli', 'prompt', 'accepted', NULL, NULL)",
            _ => continue,
        };
        connection.execute(beside, [id]).unwrap();
    }
    let mut reader = Reader::open(&path).unwrap();
    let records: Vec<Stored> =
        reader.records(&RecordFilter::default()).unwrap().into_iter().filter(|it| it.id.0 > 1).collect();
    assert_eq!(records.len(), documents.len());
    for (record, (kind, document, what)) in records.iter().zip(&documents) {
        assert_eq!(record.body.what(), *what);
        let line = document::of_record(record);
        assert_eq!((&line["kind"], &line["terminal"]), (&json!(kind), &json!("old")));
        for (name, value) in document.as_object().unwrap() {
            // What does not belong to an event is not kept of it, and a field without a value may be left out.
            let is_there = line[name] == *value || name == "state" && kind == &"task_event";
            assert!(is_there || line.get(name).is_none(), "{name} of {line}");
        }
    }
    let is_read = |record: &&Stored| !matches!(record.body, Body::Other { .. });
    assert_eq!(records.iter().filter(is_read).count(), documents.len() - 3);
    assert!(matches!(records[11].body, Body::Action(OperatorAction::Seen)));
    assert!(matches!(records[12].body, Body::Action(OperatorAction::Kill { .. })));
    assert!(matches!(records[13].body, Body::Action(OperatorAction::Run { .. })));
    assert_eq!(records[0].body.agent(), Some(&state(at(1))));
    assert_eq!(records[4].body.task(), Some(&task_fields()));
    let Body::Transition(StoredTransition { state: Some(older), .. }) = &records[1].body else { panic!("a state") };
    assert_eq!(older.terminal().map(|facts| facts.tool).as_deref(), Some("claude"));
}

/// A file as the first layout left it, with something in it.
fn oldest_file(path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(file::STEPS[0]).unwrap();
    connection.pragma_update(None, "user_version", 1).unwrap();
    connection
        .execute_batch(
            "INSERT INTO terminals VALUES (1, '', 'name:work', 4, 77, 'old');
             INSERT INTO records VALUES (1, 5000, 'action', 1, 'old', x'007b2261223a317d');",
        )
        .unwrap();
}

#[test]
fn an_older_file_becomes_a_present_one_and_keeps_its_records() {
    let (_directory, path) = place();
    oldest_file(&path);
    let mut store = store(&path, "a", at(0));
    store.write(&[message(1, 0, Phase::Ready, "new")], at(0)).unwrap();
    let records = Reader::open(&path).unwrap().records(&RecordFilter::default()).unwrap();
    let unread = Body::Other { kind: "action".to_owned(), document: json!({ "a": 1 }) };
    assert_eq!((records[0].name.as_str(), &records[0].body), ("old", &unread));
    assert_eq!((records.len(), count(&path, "outbox")), (2, 0));
}

#[test]
fn who_only_reads_an_older_file_brings_it_up_to_date_too() {
    let (_directory, path) = place();
    oldest_file(&path);
    assert_eq!(Reader::open(&path).unwrap().records(&RecordFilter::default()).unwrap().len(), 1);
}

#[test]
fn two_processes_may_bring_a_file_up_to_date_at_once() {
    for _ in 0..10 {
        let (_directory, path) = place();
        oldest_file(&path);
        std::thread::scope(|scope| {
            for owner in ["a", "b", "c"] {
                let path = &path;
                scope.spawn(move || store(path, owner, at(0)));
            }
        });
        assert_eq!((count(&path, "outbox"), count(&path, "records")), (0, 1));
    }
}

#[test]
fn the_history_is_for_nobody_else() {
    use std::os::unix::fs::PermissionsExt;
    let (_directory, path) = place();
    let mut store = store(&path, "a", at(0));
    store.write(&[message(1, 0, Phase::Ready, "secret")], at(0)).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    let files: Vec<_> = std::fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 3, "the file and its side files: {files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn what_is_too_old_goes_and_takes_its_screens_with_it() {
    let (_directory, path) = place();
    let mut store = store(&path, "a", at(0));
    for second in 0..1200 {
        store.write(&[message(1, second, Phase::Ready, &format!("screen {second}"))], at(second)).unwrap();
    }
    let limits = Settings { keep: Span::from_secs(100), max_bytes: u64::MAX, ..Settings::default() };
    file::clean(store.connection(), &limits, at(1200)).unwrap();
    let records = Reader::open(&path).unwrap().records(&RecordFilter::default()).unwrap();
    assert_eq!((records.len(), records[0].at), (100, at(1100)));
    assert_eq!(count(&path, "screens"), 100);
    // The next poll comes much later; a second process need not do the same again.
    file::clean(store.connection(), &limits, at(1300)).unwrap();
    assert_eq!(count(&path, "records"), 100);
    file::clean(store.connection(), &limits, at(5000)).unwrap();
    assert_eq!((count(&path, "records"), count(&path, "screens")), (0, 0));
}

#[test]
fn the_oldest_goes_when_there_is_too_much_and_the_file_shrinks() {
    let (_directory, path) = place();
    let mut store = store(&path, "a", at(0));
    let noise = |second: i64| -> String {
        (0..4000i64).map(|n| char::from(b'!' + ((n * n * 31 + second * 7919 + n * second) % 90) as u8)).collect()
    };
    for second in 0..3000 {
        store.write(&[message(1, second, Phase::Ready, &noise(second))], at(second)).unwrap();
    }
    let before = file::used(store.connection()).unwrap();
    let limits = Settings { keep: Span::from_secs(1_000_000), max_bytes: before / 2, ..Settings::default() };
    file::clean(store.connection(), &limits, at(3000)).unwrap();
    let after = file::used(store.connection()).unwrap();
    assert!(after <= before / 2 && after > before / 4, "{before} bytes became {after}");
    let records = Reader::open(&path).unwrap().records(&RecordFilter::default()).unwrap();
    assert_eq!(records.last().unwrap().at, at(2999));
    let pages: i64 = store.connection().pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    assert!(pages * 4096 < before as i64 * 3 / 4, "{pages} pages are left in the file");
}
