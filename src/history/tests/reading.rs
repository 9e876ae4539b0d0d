//! What other processes read: what is sent and killed, as it happens, and the answers to questions.

use super::outbox::queue;
use super::*;
use crate::fleet::{Input, TaskReport};
use crate::history::feeds::{Entries, Feed, FeedCursor, Feeds, IntentChanges, NewRecords};
use crate::ids::{SessionId, WindowId};
use crate::operation::{Act, Operation, Outcome, Producer, Recipient, When};
use crate::profile::ProfileSet;
use crate::record::question::{Answer, HistoryAnswer, HistoryQuestion, QuestionKind, StoredScreen};
use crate::screen::PaneFacts;
use crate::task::{PaneState, Preview, Registration, SessionSnapshot, TaskDisplay, TaskPoll, TaskSnapshot};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

pub(super) fn prompt(pane: u32, seconds: i64, text: &str) -> Arc<Operation> {
    let act = Act::Prompt { text: text.to_owned(), when: When::Now };
    operation(pane, seconds, Producer::CommandLine, act)
}

pub(super) fn operation(pane: u32, seconds: i64, producer: Producer, act: Act) -> Arc<Operation> {
    let to = Recipient::new(terminal(pane), format!("t{pane}"));
    Arc::new(Operation { at: at(seconds), producer, to, act })
}

fn sent(reader: &mut Reader) -> Vec<(String, Option<String>)> {
    let records = reader.records(&RecordFilter { kinds: vec![Kind::Input], ..RecordFilter::default() }).unwrap();
    records
        .into_iter()
        .map(|record| match record.body {
            Body::Input(StoredInput { sent: Sent::Prompt { text }, outcome, .. }) => (text, outcome),
            other => panic!("a prompt was asked for: {other:?}"),
        })
        .collect()
}

#[test]
fn an_input_is_written_before_it_is_sent_and_its_outcome_after() {
    let (_directory, path) = place();
    let history = running(&path);
    let ticket = history.begin_input(&prompt(1, 0, "do it"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    assert!(runtime.block_on(history.written(Duration::from_secs(10))));
    let mut reader = Reader::open(&path).unwrap();
    assert_eq!(sent(&mut reader), [("do it".to_owned(), None)]);

    ticket.ended(Outcome::Accepted(None), at(2));
    assert!(runtime.block_on(history.written(Duration::from_secs(10))));
    assert_eq!(sent(&mut reader), [("do it".to_owned(), Some("accepted".to_owned()))]);
    let line = document::of_record(&reader.records(&RecordFilter::default()).unwrap()[0]);
    let expected = serde_json::json!({
        "at": at(0), "kind": "input", "terminal": "t1", "state": null, "sender": "command line", "input": "prompt",
        "outcome": "accepted", "detail": null, "ended_at": at(2), "text": "do it", "id": 1, "sentence": "you prompted t1: do it",
    });
    assert_eq!(line, expected);
}

#[test]
fn the_composer_finds_earlier_prompts() {
    let (_directory, path) = place();
    let history = running(&path);
    for (pane, text) in [(1, "one"), (2, "two"), (1, "three"), (1, "one")] {
        history.begin_input(&prompt(pane, 0, text)).ended(Outcome::Accepted(None), at(0));
    }
    let keys = Act::Interrupt { keys: vec!["Escape".parse().unwrap()], dialog: None };
    history.begin_input(&operation(1, 0, Producer::Dashboard, keys));
    drop(history);
    let mut reader = Reader::open(&path).unwrap();
    assert_eq!(reader.prompts(None, 10).unwrap(), ["one", "three", "two"]);
    assert_eq!(reader.prompts(Some(&terminal(1)), 10).unwrap(), ["one", "three"]);
    assert_eq!(reader.prompts(None, 1).unwrap(), ["one"]);
}

/// A feed that meets trouble when the file is read for the first time, or for another one.
struct Troubled<F> {
    feed: F,
    readings: Cell<usize>,
    trouble_at: usize,
    meet: fn(&F, &mut Reader) -> HistoryError,
}

impl<F: Feed> Troubled<F> {
    fn new(feed: F, trouble_at: usize, meet: fn(&F, &mut Reader) -> HistoryError) -> Self {
        Self { feed, readings: Cell::new(0), trouble_at, meet }
    }

    fn read_as<T>(
        &self,
        reader: &mut Reader,
        read: impl FnOnce(&F, &mut Reader) -> Result<T, HistoryError>,
    ) -> Result<T, HistoryError> {
        self.readings.set(self.readings.get() + 1);
        if self.readings.get() == self.trouble_at {
            Err((self.meet)(&self.feed, reader))
        } else {
            read(&self.feed, reader)
        }
    }
}

impl<F: Feed> Feed for Troubled<F> {
    type News = F::News;
    const TABLE: &'static str = F::TABLE;

    fn first(&self, reader: &mut Reader) -> Result<Entries<F::News>, HistoryError> {
        self.read_as(reader, |feed, reader| feed.first(reader))
    }

    fn read(&self, reader: &mut Reader, after: i64, open: &[i64]) -> Result<Entries<F::News>, HistoryError> {
        self.read_as(reader, |feed, reader| feed.read(reader, after, open))
    }
}

/// A feed of a file that is read for somebody.
struct FollowedFeed<F: Feed> {
    feeds: Feeds,
    news: UnboundedReceiver<F::News>,
}

impl<F: Feed> FollowedFeed<F> {
    fn new(path: PathBuf, feed: F) -> Self {
        let (sender, news) = unbounded_channel();
        let cursor = FeedCursor::new(&path, feed, sender);
        let mut feeds = Feeds::new(path);
        feeds.add(Box::new(cursor));
        Self { feeds, news }
    }

    /// What is new, and after which time to try again.
    fn poll(&mut self) -> (Vec<F::News>, Option<Duration>) {
        let pause = self.feeds.poll();
        (std::iter::from_fn(|| self.news.try_recv().ok()).collect(), pause)
    }
}

/// What a feed meets in a file that another process has locked.
fn locked<F: Feed>(feed: &F, reader: &mut Reader) -> HistoryError {
    reader.connection.busy_timeout(Duration::ZERO).unwrap();
    let path = reader.connection.path().unwrap().to_owned();
    let other = Connection::open(path).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let (first, later) = (reader.newest(F::TABLE).err(), feed.read(reader, 0, &[]).err());
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(
        (&first, &later),
        (&Some(HistoryError::Locked), &Some(HistoryError::Locked)),
        "the lock keeps nobody out"
    );
    HistoryError::Locked
}

/// Reads a file that is locked, and in which only the locker writes: versions stay what they were.
fn read_in_vain<F: Feed>(path: &Path, cursor: &mut FollowedFeed<F>) {
    // With a log of its own, as it is otherwise, no writer keeps a reader out for longer than a moment.
    Connection::open(path).unwrap().pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(())).unwrap();
    let (found, pause) = cursor.poll();
    assert!(found.is_empty() && pause == Some(crate::history::changes::PAUSE), "a lock is soon gone");
}

/// A feed that counts the steps that SQLite takes for it.
struct Counted<F>(F, Arc<AtomicUsize>);

impl<F: Feed> Feed for Counted<F> {
    type News = F::News;
    const TABLE: &'static str = F::TABLE;

    fn read(&self, reader: &mut Reader, after: i64, open: &[i64]) -> Result<Entries<F::News>, HistoryError> {
        let steps = Arc::clone(&self.1);
        let count_one = move || steps.fetch_add(1, Ordering::Relaxed) == usize::MAX;
        reader.connection.progress_handler(1, Some(count_one))?;
        self.0.read(reader, after, open)
    }
}

/// How many steps it takes to read what is new, behind so many records and intents that somebody else has written.
fn steps_behind<F: Feed>(count: i64, feed: F) -> usize {
    let (_directory, path) = place();
    let mut theirs = store(&path, "theirs", at(0));
    let mut write = |nth: i64| {
        theirs.write(&[message(1, nth, Phase::Ready, "api")], at(count)).unwrap();
        let mut intents = Intents::open(&path, at(0)).unwrap();
        let queued = queue(&mut intents, "lead", &nth.to_string(), Span::from_secs(60));
        intents.dismiss(queued, at(count)).unwrap();
    };
    let steps = Arc::new(AtomicUsize::new(0));
    write(0);
    let mut feed = FollowedFeed::new(path.clone(), Counted(feed, Arc::clone(&steps)));
    assert_eq!(feed.poll().1, None);
    (0..count).for_each(&mut write);
    assert_eq!(feed.poll().1, None);
    write(count);
    steps.store(0, Ordering::Relaxed);
    assert_eq!(feed.poll().1, None);
    steps.load(Ordering::Relaxed)
}

#[test]
fn what_is_new_costs_the_same_behind_a_long_history() {
    let of_kinds = |kinds| move || NewRecords { kinds, begins_of_late: false };
    for feed in [of_kinds("'input'"), of_kinds("'transition'")] {
        assert_eq!(steps_behind(4, feed()), steps_behind(200, feed()));
    }
    assert_eq!(steps_behind(4, IntentChanges), steps_behind(200, IntentChanges));
}

#[test]
fn intents_that_were_locked_at_the_first_poll_are_read_at_the_next_and_still_old() {
    let (_directory, path) = place();
    queue_for(&path, "lead");
    let mut cursor = FollowedFeed::new(path.clone(), Troubled::new(IntentChanges, 1, locked));
    read_in_vain(&path, &mut cursor);
    assert_eq!(intents_read(&mut cursor), [("lead".to_owned(), true)]);
    assert!(intents_read(&mut cursor).is_empty());
    queue_for(&path, "docs");
    assert_eq!(intents_read(&mut cursor), [("docs".to_owned(), false)]);
}

#[test]
fn in_a_file_that_takes_the_place_of_another_everything_is_new() {
    let (_directory, path) = place();
    queue_for(&path, "lead");
    let mut cursor = FollowedFeed::new(path.clone(), IntentChanges);
    assert_eq!(intents_read(&mut cursor), [("lead".to_owned(), true)]);
    std::fs::rename(&path, path.with_extension("old")).unwrap();
    let (found, pause) = cursor.poll();
    assert_eq!((found.len(), pause), (0, Some(crate::history::PATIENCE)));
    queue_for(&path, "docs");
    assert_eq!(intents_read(&mut cursor), [("docs".to_owned(), false)]);
}

fn queue_for(path: &Path, target: &str) {
    let mut intents = Intents::open(path, at(0)).unwrap();
    queue(&mut intents, target, target, Span::from_secs(60));
}

/// What a poll reports: whom it is for, and whether it is old.
fn intents_read<F: Feed<News = IntentNews>>(cursor: &mut FollowedFeed<F>) -> Vec<(String, bool)> {
    cursor.poll().0.into_iter().map(|one| (one.intent.target, one.is_old)).collect()
}

#[test]
fn a_file_that_is_replaced_after_it_could_not_be_read_is_new_all_the_same() {
    let (_directory, path) = place();
    queue_for(&path, "lead");
    let mut cursor = FollowedFeed::new(path.clone(), Troubled::new(IntentChanges, 2, |_, _| HistoryError::Damaged));
    assert_eq!(intents_read(&mut cursor), [("lead".to_owned(), true)]);
    queue_for(&path, "docs");
    let (found, pause) = cursor.poll();
    assert!(found.is_empty() && pause.is_some(), "it is damaged");
    std::fs::rename(&path, path.with_extension("old")).unwrap();
    queue_for(&path, "other");
    queue_for(&path, "another");
    assert_eq!(intents_read(&mut cursor), [("other".to_owned(), false), ("another".to_owned(), false)]);
}

#[test]
fn what_follows_a_file_that_could_never_be_read_is_new() {
    let (_directory, path) = place();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, [7; 10_000]).unwrap();
    let mut cursor = FollowedFeed::new(path.clone(), IntentChanges);
    assert!(cursor.poll().1.is_some(), "it is no database");
    std::fs::rename(&path, path.with_extension("old")).unwrap();
    queue_for(&path, "lead");
    assert_eq!(intents_read(&mut cursor), [("lead".to_owned(), false)]);
}

fn pane(dead: bool) -> PaneState {
    PaneState {
        command: "make".to_owned(),
        start_command: None,
        cwd: None,
        dead,
        exit_code: None,
        alternate: false,
        preview: Preview::of(&Screen::from_text("", 80), crate::screen::Cursor::default(), dead),
    }
}

/// A poll of windows of which some have ended; each window has the pane of its number.
fn report(seconds: i64, alive: &[u32], dead: &[u32], elsewhere: &[u32]) -> TaskReport {
    let window = |number: u32, dead: bool| TaskSnapshot {
        window: WindowId(number),
        name: format!("t{number}"),
        index: number,
        key: terminal(number),
        pane: Some(pane(dead)),
        ended_at: None,
        bell: false,
        bells: None,
        registration: Registration::None,
        shown: TaskDisplay::default(),
    };
    let windows =
        alive.iter().map(|number| window(*number, false)).chain(dead.iter().map(|number| window(*number, true)));
    let session = SessionSnapshot { id: SessionId(0), name: "tasks".to_owned(), windows: windows.collect() };
    let poll = TaskPoll {
        sessions: vec![session],
        elsewhere: elsewhere.iter().copied().map(WindowId).collect(),
        ..TaskPoll::default()
    };
    TaskReport { server: ServerId::default(), at: at(seconds), poll, sessions: Vec::new() }
}

#[test]
fn a_prompt_that_was_sent_just_now_is_told_behind_what_was_known() {
    let (_directory, path) = place();
    let history = running(&path);
    let now = crate::clock::now();
    let known = transition(1, (now.as_millis() - at(0).as_millis()) / 1000 - 60, Phase::Ready, "api");
    history.record(Record::Transition(known));
    let sent = Operation { at: now, ..(*prompt(1, 0, "tidy up")).clone() };
    history.begin_input(&Arc::new(sent));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    assert!(runtime.block_on(history.written(Duration::from_secs(10))));
    let report =
        crate::fleet::ServerReport::new(ServerId::default(), now, crate::fleet::PollResult::Listed(Vec::new()));
    let _runtime = runtime.enter();
    let mut recall = Recall::begin(Some(path), &Default::default(), Default::default());
    let told = runtime.block_on(recall.before(&report));
    let sent = told.iter().find_map(|input| match input {
        Input::Submitted { key, at, text } => Some((key.clone(), *at, text.clone())),
        _ => None,
    });
    assert_eq!(sent, Some((terminal(1), now, "tidy up".to_owned())), "{told:?}");
}

#[test]
fn of_the_tasks_that_are_gone_those_that_somebody_killed_are_reported() {
    let (_directory, path) = place();
    let kill = |pane: u32, seconds: i64| {
        let record = Record::kill(terminal(pane), format!("t{pane}"), at(seconds), &format!("killed {pane}"));
        WriterMessage::Record(Arc::new(record))
    };
    let moved = Record::Action {
        key: Some(terminal(4)),
        name: "t4".to_owned(),
        at: at(100),
        action: OperatorAction::of_word("renamed"),
    };
    let messages =
        [kill(1, 100), kill(2, 10), kill(3, 100), WriterMessage::Record(Arc::new(moved)), kill(5, 100), kill(6, 100)];
    store(&path, "theirs", at(0)).write(&messages, at(100)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let _runtime = runtime.enter();
    let mut recall = Recall::begin(Some(path), &Default::default(), Default::default());
    let mut before = |report: &TaskReport| {
        let answer = runtime.block_on(recall.before_tasks(report)).into_iter().map(|input| match input {
            Input::TaskKilled { window, reason, .. } => (window.0, reason),
            other => panic!("{other:?}"),
        });
        answer.collect::<Vec<_>>()
    };
    assert!(before(&report(101, &[1, 2, 3, 4, 5], &[6], &[])).is_empty(), "all are there");
    // The kill of 2 was another one's, long ago; 5 was moved, and 6 had ended before.
    assert_eq!(before(&report(102, &[3], &[], &[5])), [(1, "killed 1".to_owned())]);
    assert_eq!(before(&report(103, &[], &[], &[5])), [(3, "killed 3".to_owned())], "each is reported once");
    assert!(before(&report(104, &[], &[], &[])).is_empty());
}

/// Asks and waits for the answer.
fn ask(history: &History, ask: QuestionKind) -> HistoryAnswer {
    let (questions, mut answers) = history.questions(Arc::new(ProfileSet::builtin()));
    questions.ask(HistoryQuestion::Terminal { key: terminal(1), ask: Box::new(ask) });
    match answers.blocking_recv().expect("an answer") {
        Answer::Terminal { answer, .. } => *answer,
        other => panic!("{other:?}"),
    }
}

fn kept(transitions: impl IntoIterator<Item = TransitionRecord>) -> (TempDir, History) {
    let (directory, path) = place();
    let history = running(&path);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    for record in transitions {
        history.record(Record::Transition(record));
        // No more at once than the queue holds.
        assert!(runtime.block_on(history.written(Duration::from_secs(20))), "{:?}", history.health());
    }
    (directory, history)
}

fn joined(lines: &[crate::agent_record::Said]) -> String {
    lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n")
}

#[test]
fn pages_lead_back_to_the_beginning() {
    let (_directory, history) = kept((0..230).map(|n| transition(1, n, Phase::Ready, "api")));
    let HistoryAnswer::Page { records, earlier: true, .. } = ask(&history, QuestionKind::Page { before: None }) else {
        panic!("a page")
    };
    assert_eq!((records.len(), records[0].at), (200, at(30)));
    let before = Some(records[0].id);
    let HistoryAnswer::Page { records, earlier, .. } = ask(&history, QuestionKind::Page { before }) else {
        panic!("a page")
    };
    assert_eq!((records.len(), records[29].at, earlier), (30, at(29), false));
}

#[test]
fn screens_and_the_time_line_are_read() {
    let (_directory, history) =
        kept([transition(1, 5, Phase::Active, "first"), transition(1, 9, Phase::Ready, "second")]);
    let HistoryAnswer::Page { records, .. } = ask(&history, QuestionKind::Page { before: None }) else {
        panic!("a page")
    };
    let Body::Transition(first) = &records[0].body else { panic!("a transition") };
    let HistoryAnswer::Screen(_, Some(screen)) = ask(&history, QuestionKind::Screen(first.screen.unwrap())) else {
        panic!("a screen")
    };
    assert_eq!(screen.rows()[0].text(), "first");
    let HistoryAnswer::Line(line) = ask(&history, QuestionKind::Line { since: None, until: at(20) }) else {
        panic!("a line")
    };
    assert_eq!(line.points.iter().map(|point| point.holder).collect::<Vec<_>>(), [Holder::Working, Holder::Ready]);
}

#[test]
fn a_transcript_is_put_together_from_the_screens_of_a_terminal() {
    let shown =
        ["> first prompt\nworking on it", "working on it\nit is done\n> second prompt", "> second prompt\nfine"];
    let (_directory, history) = kept((0..3).zip(shown).map(|(n, text)| {
        let mut record = transition(1, n, Phase::Ready, text);
        // No profile knows this one, so that the whole screen is its dialog.
        let Some(PublicState::Agent(state)) = &mut record.state else { panic!("a state of an agent") };
        state.terminal.tool = "something".to_owned();
        record
    }));
    let lines = |until, last| match ask(&history, QuestionKind::Transcript { until, record: None, last }) {
        HistoryAnswer::Transcript { lines, .. } => joined(&lines),
        other => panic!("{other:?}"),
    };
    assert_eq!(lines(at(9), None), "> first prompt\nworking on it\nit is done\n> second prompt\nfine");
    assert_eq!(lines(at(0), None), "> first prompt\nworking on it");
}

#[test]
fn without_a_history_the_screen_of_now_is_still_a_transcript() {
    let history = History::off();
    let screen = Arc::new(Screen::from_text("only this", 80));
    let last = StoredScreen { screen, facts: PaneFacts::default(), tool: "something".to_owned(), version: None };
    let answer = ask(&history, QuestionKind::Transcript { until: at(1), record: None, last: Some(last) });
    assert!(matches!(answer, HistoryAnswer::Transcript { lines, .. } if joined(&lines) == "only this"));
    assert!(matches!(
        ask(&history, QuestionKind::Page { before: None }),
        HistoryAnswer::Failed { trouble: HistoryError::Off, .. }
    ));
    assert!(matches!(
        ask(&history, QuestionKind::Transcript { until: at(1), record: None, last: None }),
        HistoryAnswer::Failed { trouble: HistoryError::Off, .. }
    ));
}

#[test]
fn a_transition_keeps_what_was_named_between_assessments() {
    let mut record = transition(1, 3, Phase::Active, "api");
    record.events = vec![NamedEvent { at: at(2), event: crate::tracker::SurfaceEvent::ProcessingStarted }];
    let (_directory, history) = kept([record]);
    let HistoryAnswer::Page { records, .. } = ask(&history, QuestionKind::Page { before: None }) else {
        panic!("a page")
    };
    let json = document::of_record(&records[0]);
    assert_eq!(json["events"], serde_json::json!([{ "at": at(2), "event": "processing_started" }]));
}

#[test]
fn a_second_question_is_answered_with_only_what_is_new() {
    let (_directory, history) = kept([transition(1, 1, Phase::Ready, "api")]);
    let (questions, mut answers) = history.questions(Arc::new(ProfileSet::builtin()));
    let mut again = || {
        questions.ask(HistoryQuestion::Terminal { key: terminal(1), ask: Box::new(QuestionKind::Again) });
        match answers.blocking_recv().expect("an answer") {
            Answer::Terminal { answer, .. } => match *answer {
                HistoryAnswer::Page { records, .. } => records.len(),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(again(), 1);
    history.record(Record::Transition(transition(1, 2, Phase::Active, "api")));
    wait_until("the other one is reported, too", || count(history.path().unwrap(), "transitions") == 2);
    assert_eq!((again(), again()), (2, 0));
}
