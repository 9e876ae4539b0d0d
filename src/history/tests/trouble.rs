//! Whatever befalls the file, recording goes on, says so, and writes again as soon as it can.

use std::fs;

use super::*;

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
    let written = |mut reader: Reader| reader.transitions(&terminal(1), None, 9).unwrap().len();
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
    let history = History::with(path.to_owned(), Settings::default().limits(), options);
    history.lead(ServerId::default(), Some(Held::ALWAYS));
    (history, blocker)
}

#[test]
fn a_locked_file_is_waited_for_in_the_background() {
    let (_directory, path) = place();
    let (history, blocker) = locked(&path);
    let begun = Instant::now();
    fill(&history, 0..100);
    assert!(begun.elapsed() < Duration::from_secs(10), "recording waited for the file: {:?}", begun.elapsed());
    wait_until("it says so", || history.health().condition == WriterState::Degraded(Trouble::Locked));
    assert_eq!(history.health().trouble(), Some("locked"));
    assert_eq!(history.health().warning().unwrap(), "history is not written: another process has locked it");
    let told = [history.new_warning(), history.new_warning()];
    assert_eq!(told, [history.health().warning(), None], "a warning is told once");
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
fn a_full_disk_is_told_and_leaves_what_was_written() {
    let (_directory, path) = place();
    let options = HistoryOptions { most_pages: Some(60), ..HistoryOptions::default() };
    let history = History::with(path.clone(), Settings::default().limits(), options);
    history.lead(ServerId::default(), Some(Held::ALWAYS));
    for second in 0..3000 {
        history.record(Record::Transition(transition(1, second, Phase::Ready, &format!("screen {second}"))));
        if history.health().condition == WriterState::Degraded(Trouble::Full) {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    wait_until("it is full", || history.health().condition == WriterState::Degraded(Trouble::Full));
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
fn a_place_where_no_file_can_be_is_told() {
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
    let newer = Trouble::Newer { found: i64::from(VERSION) + 1, known: VERSION };
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
    assert_eq!(Reader::open(&path).err(), Some(Trouble::Missing(path.clone())));
    assert!(!path.exists(), "reading makes nothing");
}

#[test]
fn a_history_that_is_switched_off_takes_everything_and_keeps_nothing() {
    let (_directory, path) = place();
    let settings = Settings { enabled: false, path: Some(path.clone()), ..Settings::default() };
    let history = History::start(&settings);
    fill(&history, 0..3);
    history.begin_input(&super::inputs::prompt(1, 0, "x")).delivered(at(0));
    assert_eq!((history.health().condition, history.health().lost), (WriterState::Off, 0));
    assert_eq!(history.health().warning(), None);
    drop(history);
    assert!(!path.exists());
}

/// How many transitions of the first terminal somebody else reads.
fn kept(path: &Path) -> usize {
    let Ok(mut reader) = Reader::open(path) else { return 0 };
    reader.transitions(&terminal(1), None, 9).map_or(0, |found| found.len())
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
    drop(open::open(&path, &HistoryOptions::default(), now()).unwrap());
    let mut log = path.clone().into_os_string();
    log.push("-wal");
    let test = "history::tests::trouble::opening_a_history_again_leaves_the_locks_of_those_who_have_it_open";
    let mut client = std::process::Command::new(std::env::current_exe().unwrap());
    client.args(["--exact", test]).env(CLIENT, &path).stdout(std::process::Stdio::null());
    assert!(client.status().unwrap().success());
    assert!(PathBuf::from(&log).exists(), "another client removed the log");
    drop((reader, history));
    assert_eq!(count(&path, "transitions"), 3);
}
