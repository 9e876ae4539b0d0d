//! Of several processes that watch the same terminals, one writes. Whatever happens to the file, recording continues, says so,
//! and writes again as soon as it can.

use super::*;
use crate::record::timeline::{Holder, timeline};
use crate::state::LEFT;
use std::fs;

fn times(path: &Path) -> Vec<i64> {
    let records = Reader::open(path).unwrap().records(&RecordFilter::default()).unwrap();
    records.iter().map(|record| (record.at.as_millis() - at(0).as_millis()) / 1000).collect()
}

#[test]
fn the_leader_writes_and_the_others_do_not() {
    let (_directory, path) = place();
    let (mut leader, mut other) = (store(&path, "a", at(0)), follower(&path, "b", at(0)));
    for time in 0..20 {
        leader.write(&[message(1, time, Phase::Ready, "x")], at(time)).unwrap();
        other.write(&[message(1, time, Phase::Ready, "x")], at(time)).unwrap();
        other.beat(at(time), None).unwrap();
    }
    assert_eq!(times(&path), (0..20).collect::<Vec<_>>());
}

#[test]
fn when_one_leaves_the_other_takes_over_without_a_gap() {
    let (_directory, path) = place();
    let (mut first, mut second) = (store(&path, "a", at(0)), follower(&path, "b", at(0)));
    for time in 0..10 {
        first.write(&[message(1, time, Phase::Ready, "x")], at(time)).unwrap();
        second.write(&[message(1, time, Phase::Ready, "x")], at(time)).unwrap();
    }
    first.leave(at(10)).unwrap();
    // Seen before the second one knows that it leads.
    second.write(&[message(1, 12, Phase::Active, "x")], at(12)).unwrap();
    lead(&mut second, HeldLock::ALWAYS, at(13));
    assert_eq!(times(&path), (0..10).chain([12]).collect::<Vec<_>>());
    let watched = Reader::open(&path).unwrap().watched(&terminal(1), at(0), at(100)).unwrap();
    assert_eq!(watched, [(at(0), at(10)), (at(10), at(13))]);
}

#[test]
fn what_the_leader_did_not_come_to_write_the_next_one_does() {
    let (_directory, path) = place();
    let (mut dead, mut other) = (store(&path, "a", at(0)), follower(&path, "b", at(0)));
    dead.write(&[message(1, 0, Phase::Ready, "x")], at(0)).unwrap();
    other.write(&[message(1, 0, Phase::Ready, "x")], at(0)).unwrap();
    // Killed after this; a timer of the other one is a little late.
    dead.write(&[message(1, 4, Phase::Active, "x")], at(4)).unwrap();
    other.write(&[message(1, 5, Phase::Active, "x"), message(1, 6, Phase::Ready, "x")], at(6)).unwrap();
    drop(dead);
    assert_eq!(times(&path), [0, 4]);
    lead(&mut other, HeldLock::ALWAYS, at(7));
    other.write(&[message(1, 8, Phase::Active, "x")], at(8)).unwrap();
    assert_eq!(times(&path), [0, 4, 6, 8]);
}

#[test]
fn one_that_was_stopped_writes_nothing_when_it_goes_on() {
    let (_directory, path) = place();
    let lock = path.parent().unwrap().with_extension("lock");
    let held = crate::private::Lock::try_take(&lock).unwrap().unwrap();
    let (mut stopped, mut other) = (follower(&path, "a", at(0)), follower(&path, "b", at(0)));
    lead(&mut stopped, held.held(), at(0));
    stopped.write(&[message(1, 0, Phase::Ready, "x")], at(0)).unwrap();
    std::fs::remove_file(&lock).unwrap();
    lead(&mut other, HeldLock::ALWAYS, at(3));
    other.write(&[message(1, 4, Phase::Active, "x")], at(4)).unwrap();
    stopped.write(&[message(1, 9, Phase::Ready, "x")], at(9)).unwrap();
    stopped.beat(at(10), None).unwrap();
    assert_eq!(times(&path), [0, 4]);
    let watched = Reader::open(&path).unwrap().watched(&terminal(1), at(0), at(100)).unwrap();
    assert_eq!(watched, [(at(0), at(0)), (at(4), at(4))]);
}

/// The end of a task as a process sees it: that it is gone, and that it is watched no longer.
fn end(millis: i64) -> [WriterMessage; 2] {
    let at = at(20) + Span::from_millis(millis as u64);
    let event = TaskRecord { happening: Happening::Disappeared { reason: None }, state: Box::new(task_fields()) };
    let mut left = transition(1, 20, Phase::Unknown, "");
    (left.transition.at, left.transition.note, left.state) = (at, Some(LEFT.to_owned()), None);
    let gone = Record::TaskEvent { key: terminal(1), name: "t1".to_owned(), at, event };
    [gone, Record::Left(left)].map(|record| WriterMessage::Record(Arc::new(record)))
}

#[test]
fn an_end_that_two_processes_see_is_written_once_however_far_the_first_one_came() {
    for written in 0..=2 {
        for late in [0, 700] {
            let (_directory, path) = place();
            let (mut first, mut second) = (store(&path, "a", at(0)), follower(&path, "b", at(0)));
            first.write(&[message(1, 0, Phase::Active, "x")], at(0)).unwrap();
            second.write(&[message(1, 0, Phase::Active, "x")], at(0)).unwrap();
            first.write(&end(0)[..written], at(20)).unwrap();
            second.write(&end(late), at(21)).unwrap();
            lead(&mut second, HeldLock::ALWAYS, at(22));
            assert_eq!(count(&path, "records WHERE kind = 'task_event'"), 1, "{written}, {late} ms later");
            assert_eq!(count(&path, "transitions WHERE note = 'left the fleet'"), 1, "{written}, {late} ms later");
        }
    }
}

#[test]
fn a_change_is_kept_once_whoever_owns_when() {
    let (_directory, path) = place();
    let begun = || message(1, 0, Phase::Active, "x");
    let ended = |evidence: &str| message(1, 5, Phase::Ready, evidence);
    let (mut first, mut second) = (store(&path, "a", at(0)), follower(&path, "b", at(0)));
    first.write(&[begun()], at(0)).unwrap();
    second.write(&[begun()], at(0)).unwrap();
    lead(&mut second, HeldLock::ALWAYS, at(4));
    // Each of them derives the end after its own time to settle, and writes it while it leads.
    second.write(&[ended("as one saw it")], at(5)).unwrap();
    first.write(&[ended("as the other one saw it")], at(5)).unwrap();
    assert_eq!(times(&path), [0, 5]);
    // What changed in another way at the same time is another record.
    first.write(&[message(1, 5, Phase::Unknown, "x")], at(5)).unwrap();
    first.write(&[message(2, 5, Phase::Ready, "x")], at(5)).unwrap();
    assert_eq!(times(&path), [0, 5, 5, 5]);
}

#[test]
fn what_an_older_version_kept_twice_is_kept_once() {
    let (_directory, path) = place();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let old = Connection::open(&path).unwrap();
    file::STEPS[..14].iter().for_each(|step| old.execute_batch(step).unwrap());
    old.pragma_update(None, "user_version", 14).unwrap();
    let mut codec = encoding::Codec::new().unwrap();
    old.execute("INSERT INTO terminals VALUES (1, '', 'default', 1, 1001, 't1', NULL)", []).unwrap();
    for (id, seconds, phase) in [
        (1, 0, Phase::Active),
        (2, 5, Phase::Ready),
        (3, 5, Phase::Ready),
        (4, 5, Phase::Unknown),
        (5, 7, Phase::Ready),
    ] {
        let record = transition(1, seconds, phase, &format!("as {id} saw it"));
        let document = codec.pack(&record.document()).unwrap();
        let sql = "INSERT INTO records VALUES (?1, ?2, 'transition', 1, 't1', ?3)";
        old.execute(sql, rusqlite::params![id, at(seconds), document]).unwrap();
        let summary = record::write_summary(&record.transition.summary);
        old.execute("INSERT INTO transitions VALUES (?1, ?2, NULL, NULL, NULL)", rusqlite::params![id, summary])
            .unwrap();
    }
    drop(old);
    assert_eq!(times(&path), [0, 5, 5, 7]);
    assert_eq!(count(&path, "transitions"), 4);
}

#[test]
fn an_end_that_a_stopped_process_finds_later_is_not_written_again() {
    let (_directory, path) = place();
    let (mut stopped, mut other) = (follower(&path, "a", at(0)), store(&path, "b", at(0)));
    stopped.write(&[message(1, 0, Phase::Active, "x")], at(0)).unwrap();
    other.write(&[message(1, 0, Phase::Active, "x")], at(3)).unwrap();
    let gone = |seconds| {
        let mut gone = transition(1, seconds, Phase::Unknown, "");
        gone.transition.summary.availability = Availability::Unavailable;
        let mut left = gone.clone();
        (left.transition.at, left.transition.note) = (at(seconds + 30), Some(LEFT.to_owned()));
        [Record::Transition(gone), Record::Left(left)].map(|record| WriterMessage::Record(Arc::new(record)))
    };
    other.write(&gone(10), at(40)).unwrap();
    stopped.beat(at(100), Some(at(2))).unwrap();
    stopped.write(&gone(100), at(130)).unwrap();
    lead(&mut stopped, HeldLock::ALWAYS, at(131));
    assert_eq!(times(&path), [0, 10, 40]);
}

#[test]
fn a_machine_that_slept_did_not_watch() {
    let (_directory, path) = place();
    let mut store = store(&path, "a", at(0));
    store.write(&[message(1, 0, Phase::Active, "x")], at(0)).unwrap();
    for time in [10, 20, 3620, 3630] {
        store.beat(at(time), None).unwrap();
    }
    let watched = Reader::open(&path).unwrap().watched(&terminal(1), at(0), at(9999)).unwrap();
    assert_eq!(watched, [(at(0), at(20)), (at(3620), at(3630))]);
}

#[test]
fn a_process_that_was_stopped_did_not_watch_meanwhile() {
    let (_directory, path) = place();
    let mut store = store(&path, "a", at(0));
    store.write(&[message(1, 0, Phase::Active, "x")], at(0)).unwrap();
    store.beat(at(10), None).unwrap();
    store.beat(at(30), Some(at(14))).unwrap();
    store.write(&[message(1, 30, Phase::Ready, "x")], at(30)).unwrap();
    let mut reader = Reader::open(&path).unwrap();
    let watched = reader.watched(&terminal(1), at(0), at(31)).unwrap();
    assert_eq!(watched, [(at(0), at(14)), (at(30), at(31))], "it lives as far as is known");
    let points = reader.line(&terminal(1), None, at(40)).unwrap().points;
    let line: Vec<_> = timeline(&points, &watched, at(0), at(30)).iter().map(|s| (s.holder, s.to)).collect();
    assert_eq!(line, [(Holder::Working, at(14)), (Holder::Unwatched, at(30))]);
}

#[test]
fn a_terminal_that_leaves_is_no_longer_watched() {
    let (_directory, path) = place();
    let mut store = store(&path, "a", at(0));
    store.write(&[message(1, 0, Phase::Active, "x")], at(0)).unwrap();
    let left = Record::Left(transition(1, 8, Phase::Unknown, ""));
    store.write(&[WriterMessage::Record(Arc::new(left))], at(8)).unwrap();
    store.beat(at(10), None).unwrap();
    let watched = Reader::open(&path).unwrap().watched(&terminal(1), at(0), at(9999)).unwrap();
    assert_eq!(watched, [(at(0), at(8))]);
}

#[test]
fn a_batch_that_fails_changes_nothing() {
    let (_directory, path) = place();
    let mut store = store(&path, "a", at(0));
    store.write(&[message(1, 0, Phase::Ready, "x")], at(0)).unwrap();
    let twice =
        |uid: &str| WriterMessage::InputBegun { uid: uid.to_owned(), operation: super::reading::prompt(2, 1, "hello") };
    store.write(&[message(2, 1, Phase::Ready, "x"), twice("u"), twice("u")], at(1)).unwrap_err();
    assert_eq!(times(&path), [0]);
    store.write(&[message(2, 2, Phase::Ready, "x")], at(2)).unwrap();
    assert_eq!(times(&path), [0, 2]);
}

#[test]
fn who_lives_has_watched_until_now_and_who_died_until_it_last_said_so() {
    let (_directory, path) = place();
    let mut first = store(&path, Owner::of_process(at(0)).as_str(), at(0));
    first.write(&[message(1, 0, Phase::Active, "x")], at(0)).unwrap();
    first.beat(at(10), None).unwrap();
    let reader = Reader::open(&path).unwrap();
    let watched = |from, to| reader.watched(&terminal(1), at(from), at(to)).unwrap();
    assert_eq!(watched(0, 18), [(at(0), at(18))]);
    assert_eq!(watched(15, 18), [(at(0), at(18))]);
    assert_eq!(watched(0, 7), [(at(0), at(10))], "as it was then");
    assert_eq!(watched(0, 60), [(at(0), at(10))], "it has been silent for too long: the machine slept");
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    let gone = format!("{}-1-0", child.id());
    first.connection().execute("UPDATE watches SET owner = ?1", [gone]).unwrap();
    assert_eq!(watched(0, 18), [(at(0), at(10))]);
    assert_eq!(watched(15, 18), []);
}

#[test]
fn two_dashboards_at_full_speed_lose_nothing() {
    let (_directory, path) = place();
    std::thread::scope(|scope| {
        for pane in 1..=3u32 {
            let path = path.clone();
            scope.spawn(move || {
                let history = running(&path);
                for time in 0..300 {
                    history.record(Record::Transition(transition(pane, time, Phase::Ready, &format!("{pane} {time}"))));
                    if time % 50 == 0 {
                        std::thread::sleep(Duration::from_millis(20));
                    }
                }
                // The end of a program waits for a moment only, which a busy machine may not have.
                let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
                wait_until("it is written", || runtime.block_on(history.written(Duration::from_secs(60))));
            });
        }
    });
    assert_eq!(count(&path, "transitions"), 900);
    wait_until("its watches are ended", || count(&path, "watches WHERE ended IS NULL") == 0);
}

fn fill(history: &History, seconds: std::ops::Range<i64>) {
    for second in seconds {
        history.record(Record::Transition(transition(1, second, Phase::Ready, &format!("screen {second}"))));
    }
}

#[test]
fn a_file_that_is_no_database_is_kept_aside_and_a_new_one_begun() {
    let (directory, path) = place();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, b"these are my notes, and no database at all").unwrap();
    let history = running(&path);
    fill(&history, 0..3);
    wait_until("it is written", || history.health().condition == WriterState::Good);
    let kept = history.health().set_aside.expect("it says where the old file is");
    assert_eq!(fs::read(&kept).unwrap(), b"these are my notes, and no database at all");
    assert!(kept.starts_with(directory.path()));
    assert!(history.health().warning().unwrap().contains(&kept.display().to_string()));
    drop(history);
    assert_eq!(count(&path, "transitions"), 3);
}

#[test]
fn damage_that_shows_while_writing_is_mended_and_nothing_is_lost() {
    let (_directory, path) = place();
    let history = running(&path);
    fill(&history, 0..500);
    drop(history);
    // Every page but the first is overwritten: the file opens well.
    let mut bytes = fs::read(&path).unwrap();
    assert!(bytes.len() > 40 * 4096);
    bytes[4096..].fill(0x5a);
    fs::write(&path, bytes).unwrap();
    let history = running(&path);
    fill(&history, 500..510);
    wait_until("it is written", || {
        history.health().set_aside.is_some() && history.health().condition == WriterState::Good
    });
    assert_eq!(history.health().lost, 0);
    drop(history);
    assert_eq!(count(&path, "transitions"), 10);
}

#[test]
fn of_two_processes_that_meet_the_same_damage_one_moves_it_aside() {
    let (_directory, path) = place();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, vec![7; 10_000]).unwrap();
    std::thread::scope(|scope| {
        for pane in 0..3 {
            let path = &path;
            scope.spawn(move || {
                let history = running(path);
                history.record(Record::Transition(transition(pane, 1, Phase::Ready, "x")));
                drop(history);
            });
        }
    });
    assert_eq!(count(&path, "transitions"), 3);
    let names = fs::read_dir(path.parent().unwrap()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.filter(|name| name.contains("damaged") && !name.ends_with("-shm")).count(), 1);
}

#[test]
fn a_file_that_is_removed_under_its_writer_is_begun_anew() {
    let (_directory, path) = place();
    let history = running(&path);
    fill(&history, 0..3);
    // All three: one that is still on its way would come into the new file.
    let written = |mut reader: Reader| reader.transitions(&terminal(1), 9).unwrap().len();
    wait_until("it is written", || Reader::open(&path).ok().map(written) == Some(3));
    for name in ["history.db", "history.db-wal", "history.db-shm"] {
        let _ = fs::remove_file(path.with_file_name(name));
    }
    fill(&history, 3..5);
    drop(history);
    assert_eq!(count(&path, "transitions"), 2);
}

/// A history whose file another connection keeps locked.
fn locked(path: &Path) -> (History, Connection) {
    drop(store(path, "x", at(0)));
    let blocker = Connection::open(path).unwrap();
    blocker.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let options = HistoryOptions { patience: Duration::from_millis(50), ..HistoryOptions::default() };
    let history = History::with(path.to_owned(), Settings::default(), options);
    history.lead(ServerId::default(), Some(HeldLock::ALWAYS));
    (history, blocker)
}

#[test]
fn a_locked_file_is_waited_for_in_the_background() {
    let (_directory, path) = place();
    let (history, blocker) = locked(&path);
    let begun = Instant::now();
    fill(&history, 0..100);
    assert!(begun.elapsed() < Duration::from_secs(10), "recording waited for the file: {:?}", begun.elapsed());
    wait_until("it says so", || history.health().condition == WriterState::Degraded(HistoryError::Locked));
    assert_eq!(history.health().trouble(), Some("locked"));
    assert_eq!(history.health().warning().unwrap(), "history is not written: another process has locked it");
    let reported = [history.new_warning(), history.new_warning()];
    assert_eq!(reported, [history.health().warning(), None], "a warning is given once");
    drop(blocker);
    wait_until("it is written", || history.health().condition == WriterState::Good);
    assert_eq!((history.health().warning(), history.health().lost), (None, 0));
    drop(history);
    assert_eq!(count(&path, "transitions"), 100);
}

#[test]
fn what_cannot_wait_any_longer_is_lost_and_counted() {
    let (_directory, path) = place();
    let (history, blocker) = locked(&path);
    let begun = Instant::now();
    fill(&history, 0..4000);
    assert!(begun.elapsed() < Duration::from_secs(10), "recording waited for the file: {:?}", begun.elapsed());
    let lost = history.health().lost;
    assert!(lost > 1000, "{lost} of 4000 records were counted as lost");
    drop(blocker);
    wait_until("it is written", || history.health().condition == WriterState::Good);
    assert_eq!(history.health().warning().unwrap(), format!("history has gaps ({lost} records lost)"));
    assert_eq!(history.health().trouble(), Some("has gaps"));
    drop(history);
    assert_eq!(count(&path, "transitions"), 4000 - i64::try_from(lost).unwrap());
}

#[test]
fn a_full_disk_is_reported_and_leaves_what_was_written() {
    let (_directory, path) = place();
    let options = HistoryOptions { most_pages: Some(100), ..HistoryOptions::default() };
    let history = History::with(path.clone(), Settings::default(), options);
    history.lead(ServerId::default(), Some(HeldLock::ALWAYS));
    for second in 0..3000 {
        history.record(Record::Transition(transition(1, second, Phase::Ready, &format!("screen {second}"))));
        if history.health().condition == WriterState::Degraded(HistoryError::Full) {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    wait_until("it is full", || history.health().condition == WriterState::Degraded(HistoryError::Full));
    let written = count(&path, "transitions");
    assert!(written > 10, "{written} were written before");
    // There is room again.
    Connection::open(&path)
        .unwrap()
        .execute_batch("PRAGMA foreign_keys = ON; DELETE FROM records; DELETE FROM screens")
        .unwrap();
    wait_until("it is written again", || history.health().condition == WriterState::Good);
}

#[test]
fn a_place_where_no_file_can_be_is_reported() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "in the way").unwrap();
    let history = running(&file.join("history.db"));
    fill(&history, 0..3);
    wait_until("it says so", || matches!(history.health().condition, WriterState::Degraded(_)));
    assert!(history.health().warning().unwrap().starts_with("history is not written: "));
    let begun = Instant::now();
    drop(history);
    assert!(begun.elapsed() < Duration::from_secs(4), "the program's end waited: {:?}", begun.elapsed());
}

#[test]
fn a_file_of_the_future_is_left_alone() {
    let (_directory, path) = place();
    drop(store(&path, "x", at(0)));
    Connection::open(&path).unwrap().pragma_update(None, "user_version", VERSION + 1).unwrap();
    let before = fs::read(&path).unwrap();
    let newer = HistoryError::Newer { found: i64::from(VERSION) + 1, known: VERSION };
    let history = running(&path);
    fill(&history, 0..3);
    wait_until("it says so", || history.health().condition == WriterState::Degraded(newer.clone()));
    drop(history);
    assert_eq!(Reader::open(&path).err(), Some(newer));
    assert!(fs::read(&path).unwrap() == before, "not a byte of it is changed");
}

#[test]
fn one_record_that_cannot_be_written_does_not_hold_up_the_others() {
    let (_directory, path) = place();
    let history = running(&path);
    wait_until("it is open", || history.health().condition == WriterState::Good);
    let sql = "CREATE TRIGGER fussy BEFORE INSERT ON records WHEN NEW.name = 't7'
               BEGIN SELECT raise(FAIL, 'not this one'); END";
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    fill(&history, 0..3);
    history.record(Record::Transition(transition(7, 3, Phase::Ready, "x")));
    fill(&history, 4..6);
    wait_until("it is counted", || history.health().lost == 1);
    drop(history);
    assert_eq!(count(&path, "transitions"), 5);
}

#[test]
fn there_is_no_history_to_read_before_one_was_written() {
    let (_directory, path) = place();
    assert_eq!(Reader::open(&path).err(), Some(HistoryError::Missing(path.clone())));
    assert!(!path.exists(), "reading makes nothing");
}

#[test]
fn a_history_that_is_switched_off_takes_everything_and_keeps_nothing() {
    let (_directory, path) = place();
    let settings = Settings { enabled: false, path: Some(path.clone()), ..Settings::default() };
    let history = History::start(&settings);
    fill(&history, 0..3);
    history.begin_input(&super::reading::prompt(1, 0, "x"));
    assert_eq!((history.health().condition, history.health().lost), (WriterState::Off, 0));
    assert_eq!(history.health().warning(), None);
    drop(history);
    assert!(!path.exists());
}

/// How many transitions of the first terminal somebody else reads.
fn kept(path: &Path) -> usize {
    let Ok(mut reader) = Reader::open(path) else { return 0 };
    reader.transitions(&terminal(1), 9).map_or(0, |found| found.len())
}

#[test]
fn nothing_is_lost_when_somebody_removes_the_log_of_a_file_that_is_written() {
    let (_directory, path) = place();
    let history = running(&path);
    fill(&history, 0..3);
    wait_until("they are kept", || kept(&path) == 3);
    let mut log = path.clone().into_os_string();
    log.push("-wal");
    fs::remove_file(&log).unwrap();
    fill(&history, 3..5);
    drop(history);
    assert_eq!(count(&path, "transitions"), 5);
}

#[test]
fn opening_a_history_again_leaves_the_locks_of_those_who_have_it_open() {
    /// Set in another process, which is a client of SQLite that opens the file and closes it.
    const CLIENT: &str = "FLEETWATCH_TEST_CLIENT";
    if let Some(path) = std::env::var_os(CLIENT) {
        assert!(count(Path::new(&path), "records") > 0);
        return;
    }
    let (_directory, path) = place();
    let history = running(&path);
    fill(&history, 0..3);
    wait_until("they are kept", || kept(&path) == 3);
    let reader = Reader::open(&path).unwrap();
    // A second opening in the same process once took all of its locks with it, so that the next client to close the file
    // removed the log that is written.
    drop(file::open(&path, &HistoryOptions::default(), now()).unwrap());
    let mut log = path.clone().into_os_string();
    log.push("-wal");
    let test = "history::tests::writing::opening_a_history_again_leaves_the_locks_of_those_who_have_it_open";
    let mut client = std::process::Command::new(std::env::current_exe().unwrap());
    client.args(["--exact", test]).env(CLIENT, &path).stdout(std::process::Stdio::null());
    assert!(client.status().unwrap().success());
    assert!(PathBuf::from(&log).exists(), "another client removed the log");
    drop((reader, history));
    assert_eq!(count(&path, "transitions"), 3);
}
