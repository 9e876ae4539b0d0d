//! What is sent: written down before, judged after, and known to the other processes at once.

use super::*;
use crate::dialog::Dialog;
use crate::operation::{Act, Operation, Outcome, Producer, Recipient, Refusal, Reply, When};
use crate::status::Hindrance;

pub(in super::super) fn prompt(pane: u32, seconds: i64, text: &str) -> Arc<Operation> {
    let act = Act::Prompt { text: text.to_owned(), when: When::Now };
    operation(pane, seconds, Producer::CommandLine, act)
}

pub(in super::super) fn operation(pane: u32, seconds: i64, producer: Producer, act: Act) -> Arc<Operation> {
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
    assert_eq!(reader.submissions_after(0).unwrap(), []);

    ticket.delivered(at(1));
    ticket.ended(Outcome::Accepted(None), at(2));
    assert!(runtime.block_on(history.written(Duration::from_secs(10))));
    assert_eq!(sent(&mut reader), [("do it".to_owned(), Some("accepted".to_owned()))]);
    let submissions = reader.submissions_after(0).unwrap();
    assert_eq!((submissions.len(), &submissions[0].key, submissions[0].at), (1, &terminal(1), at(1)));
    assert_eq!(reader.submissions_after(submissions[0].number).unwrap(), []);
    assert_eq!(reader.last_submission().unwrap(), submissions[0].number);
    let line = reader.records(&RecordFilter::default()).unwrap()[0].to_json();
    let expected = serde_json::json!({
        "at": at(0), "kind": "input", "terminal": "t1", "state": null, "sender": "command line", "input": "prompt",
        "outcome": "accepted", "detail": null, "ended_at": at(2), "text": "do it", "id": 1,
    });
    assert_eq!(line, expected);
}

#[test]
fn what_was_never_delivered_is_no_submission() {
    let (_directory, path) = place();
    let history = running(&path);
    history.begin_input(&prompt(1, 0, "no")).ended(Refusal::Hindrance(Hindrance::Working).into(), at(1));
    drop(history);
    let mut reader = Reader::open(&path).unwrap();
    assert_eq!(sent(&mut reader), [("no".to_owned(), Some("refused".to_owned()))]);
    assert_eq!(reader.submissions_after(0).unwrap(), []);
}

#[test]
fn another_process_learns_within_a_tick_what_was_sent_and_not_what_it_sent_itself() {
    let (_directory, path) = place();
    let (ours, theirs) = (running(&path), running(&path));
    wait_until("the file is there", || ours.health().condition == WriterState::Good);
    let mut received = ours.submissions();
    // The thread that listens may begin late, and what was sent before it did is old.
    let listens = Instant::now();
    while received.try_recv().is_err() {
        assert!(listens.elapsed() < Duration::from_secs(20), "nobody listens");
        theirs.begin_input(&prompt(9, 0, "is anybody there")).delivered(at(0));
        std::thread::sleep(Duration::from_millis(10));
    }
    ours.begin_input(&prompt(1, 0, "ours")).delivered(at(0));
    let begun = Instant::now();
    theirs.begin_input(&prompt(2, 0, "theirs")).delivered(at(0));
    let dialog = Arc::new(Dialog::read(&Screen::from_text("Run it?\n❯ 1. Yes\n  2. No", 80), 0..3));
    let act = Act::Answer { dialog, excerpt: "Run it?".to_owned(), reply: Reply::Option(0) };
    theirs.begin_input(&operation(3, 0, Producer::CommandLine, act)).delivered(at(1));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let mut next = || {
        let limit = Duration::from_secs(10);
        loop {
            let next = runtime.block_on(async { tokio::time::timeout(limit, received.recv()).await }).unwrap().unwrap();
            if next.key != terminal(9) {
                return next;
            }
        }
    };
    let (first, second) = (next(), next());
    // The looks are 150 ms apart; the rest is for a busy machine.
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    assert_eq!((first.key.clone(), first.sent.what()), (terminal(2), What::Prompt));
    assert_eq!((second.key.clone(), second.sent.what()), (terminal(3), What::Answer));
}

#[test]
fn what_was_sent_before_is_old() {
    let (_directory, path) = place();
    let theirs = running(&path);
    theirs.begin_input(&prompt(1, 0, "old")).delivered(at(0));
    wait_until("it is written", || path.exists() && Reader::open(&path).is_ok_and(|r| r.last_submission() == Ok(1)));
    let ours = running(&path);
    let mut received = ours.submissions();
    // Let the follower find its beginning before the next one comes.
    std::thread::sleep(Duration::from_millis(400));
    theirs.begin_input(&prompt(2, 1, "new")).delivered(at(1));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let limit = Duration::from_secs(10);
    let first = runtime.block_on(async { tokio::time::timeout(limit, received.recv()).await }).unwrap().unwrap();
    assert_eq!(first.key, terminal(2));
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
