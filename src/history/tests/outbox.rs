//! The outbox: each event is queued once, whichever process saw it, and each message is sent once or not at all, whenever a
//! process dies.

use super::*;
use crate::follow_up::{MessageEvent, Wanted};
use crate::operation::{Act, Producer, Refusal, When};
use crate::status::Hindrance;
use serde_json::json;

const HOLD: Span = Span::from_secs(30);

fn open(path: &Path) -> Intents {
    Intents::open(path, at(0)).unwrap()
}

fn queued(intents: &mut Intents, key: &str) -> IntentId {
    queue(intents, "lead", key, Span::from_secs(3600))
}

fn of_text(text: &str) -> MessageEvent {
    MessageEvent { text: text.to_owned(), ..MessageEvent::default() }
}

/// Queues an event with a name for somebody, for whom it is kept so long.
pub(super) fn queue(intents: &mut Intents, to: &str, key: &str, keep: Span) -> IntentId {
    let wanted = Wanted { to: to.to_owned(), key: key.to_owned(), body: of_text(key), keep };
    intents.queue(&wanted, at(0)).unwrap()
}

fn texts(intent: &Intent) -> Vec<&str> {
    intent.events.iter().map(|event| event.text.as_str()).collect()
}

#[test]
fn events_for_one_target_become_one_message_and_each_is_reported_once() {
    let (_directory, path) = place();
    let (mut a, mut b) = (open(&path), open(&path));
    let id = queued(&mut a, "build exited");
    assert_eq!(queued(&mut b, "build exited"), id, "the other dashboard saw the same event");
    assert_eq!(queued(&mut b, "test exited"), id);
    let other = queue(&mut b, "docs", "docs exited", HOLD);
    assert_ne!(other, id, "another target has a message of its own");
    let pending = a.pending().unwrap();
    assert_eq!(pending.iter().map(|intent| intent.id).collect::<Vec<_>>(), [id, other]);
    assert_eq!(texts(&pending[0]), ["build exited", "test exited"]);
}

#[test]
fn one_of_two_processes_sends_and_the_outcome_stays() {
    let (_directory, path) = place();
    let (mut a, mut b) = (open(&path), open(&path));
    let id = queued(&mut a, "e");
    assert!(b.attempt(id, "text", 1, at(5)).unwrap());
    assert!(!a.attempt(id, "text", 1, at(5)).unwrap(), "a second attempt is no first one");
    assert_eq!((a.told_since("lead", at(4)).unwrap(), a.told_since("lead", at(5)).unwrap()), (1, 0));
    assert!(b.retract(id).unwrap(), "the target refused it");
    assert_eq!((a.pending().unwrap().len(), a.told_since("lead", at(0)).unwrap()), (1, 0));
    assert!(a.attempt(id, "again", 1, at(6)).unwrap());
    assert!(b.finish(id, IntentState::Unknown, Some("its sender died"), at(60)).unwrap(), "it stood still");
    assert!(!b.finish(id, IntentState::Unknown, None, at(61)).unwrap());
    assert!(a.finish(id, IntentState::Sent, None, at(62)).unwrap(), "who sent it knows better");
    assert!(!b.finish(id, IntentState::Failed, None, at(63)).unwrap(), "an outcome stays");
    assert_eq!(a.get(id).unwrap().map(|intent| intent.state), Some(IntentState::Sent));
}

#[test]
fn many_processes_that_want_the_same_send_it_once() {
    let (_directory, path) = place();
    let mut first = open(&path);
    let ids: Vec<IntentId> =
        (0..20).map(|n| queue(&mut first, &format!("target {n}"), &format!("event {n}"), HOLD)).collect();
    let sent: usize = std::thread::scope(|scope| {
        let senders: Vec<_> = (0..4)
            .map(|_| {
                let (path, ids) = (&path, &ids);
                scope.spawn(move || {
                    let mut intents = open(path);
                    ids.iter().filter(|id| intents.attempt(**id, "x", 1, at(2)).unwrap()).count()
                })
            })
            .collect();
        senders.into_iter().map(|sender| sender.join().unwrap()).sum()
    });
    assert_eq!(sent, ids.len());
}

#[test]
fn an_event_that_joins_in_the_last_moment_is_not_left_out() {
    let (_directory, path) = place();
    let (mut a, mut b) = (open(&path), open(&path));
    let id = queued(&mut a, "one");
    assert_eq!(queued(&mut b, "two"), id);
    assert!(!a.attempt(id, "tells of one", 1, at(2)).unwrap());
    assert!(a.attempt(id, "tells of both", 2, at(2)).unwrap());
    assert_ne!(queued(&mut b, "three"), id, "what is on its way takes nothing in any more");
}

#[test]
fn what_a_dead_process_attempted_is_never_sent_by_itself() {
    let (_directory, path) = place();
    let mut dead = open(&path);
    let id = queued(&mut dead, "e");
    assert!(dead.attempt(id, "text", 1, at(1)).unwrap());
    drop(dead);
    let mut other = open(&path);
    assert_eq!(other.pending().unwrap(), []);
    let attempted = other.attempted().unwrap();
    assert_eq!((attempted[0].id, attempted[0].text.as_deref()), (id, Some("text")));
    assert!(!other.attempt(id, "text", 1, at(61)).unwrap());
    assert!(other.finish(id, IntentState::Unknown, Some("its process died"), at(62)).unwrap());
    let records = Reader::open(&path).unwrap().records(&RecordFilter::default()).unwrap();
    let line = document::of_record(&records[0]);
    assert_eq!(
        (&line["kind"], &line["terminal"], &line["outcome"]),
        (&json!("follow_up"), &json!("lead"), &json!("unknown"))
    );
    assert_eq!(line["events"], json!([of_text("e")]));
}

#[test]
fn time_runs_out_and_operators_change_their_minds() {
    let (_directory, path) = place();
    let (mut a, mut b) = (open(&path), open(&path));
    let late = queue(&mut a, "lead", "late", Span::from_secs(10));
    assert!(b.expire(late, at(10)).unwrap());
    assert!(!a.expire(late, at(10)).unwrap(), "it was reported once");
    assert!(!a.attempt(late, "x", 1, at(10)).unwrap());
    let id = queued(&mut a, "other");
    assert_ne!(id, late);
    assert!(b.dismiss(id, at(11)).unwrap() == Decided::Dismissed);
    assert!(!a.attempt(id, "x", 1, at(12)).unwrap());
    assert_eq!(a.pending().unwrap(), []);
    assert_eq!(count(&path, "records WHERE kind = 'follow_up'"), 2);
}

#[test]
fn what_may_have_arrived_is_for_the_operator_to_decide_once() {
    let (_directory, path) = place();
    let (mut a, mut b) = (open(&path), open(&path));
    let id = queue(&mut a, "lead", "e", Span::from_secs(60));
    assert_eq!(b.resend(id, at(1)).unwrap(), Decided::NotOpen(IntentState::Pending), "it will be sent anyway");
    assert!(a.attempt(id, "text", 1, at(2)).unwrap());
    assert_eq!(b.dismiss(id, at(3)).unwrap(), Decided::NotOpen(IntentState::Attempted));
    assert!(a.finish(id, IntentState::Unknown, Some("who knows"), at(4)).unwrap());
    assert_eq!(b.open_matters().unwrap().len(), 1);
    let Decided::Resent(next) = b.resend(id, at(100)).unwrap() else { panic!("it is sent again") };
    assert_eq!(a.resend(id, at(101)).unwrap(), Decided::NotOpen(IntentState::Resent), "but only once");
    let again = &a.pending().unwrap()[0];
    assert_eq!((again.id, &again.target[..], texts(again)), (next, "lead", vec!["e"]));
    assert_eq!(again.expires, Some(at(160)));
    assert_eq!(queued(&mut a, "e"), id, "the event is known by its name all the same");
    assert_eq!(a.dismiss(next, at(103)).unwrap(), Decided::Dismissed);
    assert_eq!(a.dismiss(next, at(104)).unwrap(), Decided::NotOpen(IntentState::Cancelled));
    assert_eq!(a.dismiss(IntentId(99), at(104)).unwrap(), Decided::Missing);
    assert_eq!(a.open_matters().unwrap(), []);
    let outcomes: Vec<_> = Reader::open(&path).unwrap().records(&RecordFilter::default()).unwrap();
    let outcome = |record: &Stored| match &record.body {
        Body::FollowUp(record) => record.outcome,
        other => panic!("a follow-up was asked for: {other:?}"),
    };
    let outcomes: Vec<_> = outcomes.iter().map(outcome).collect();
    assert_eq!(outcomes, [IntentState::Unknown, IntentState::Resent, IntentState::Cancelled]);
}

#[test]
fn the_outcome_of_an_earlier_attempt_says_nothing_of_a_later_one() {
    let (_directory, path) = place();
    let mut a = open(&path);
    let id = queued(&mut a, "e");
    let act = Act::Prompt { text: "text".to_owned(), when: When::Ready };
    let operation = super::reading::operation(1, 0, Producer::FollowUp(1), act);
    let begun = WriterMessage::InputBegun { uid: "a".to_owned(), operation };
    let ended = WriterMessage::InputEnded {
        uid: "a".to_owned(),
        outcome: Refusal::Hindrance(Hindrance::Working).into(),
        at: at(2),
    };
    store(&path, "a", at(0)).write(&[begun, ended], at(2)).unwrap();
    assert!(a.attempt(id, "text", 1, at(4)).unwrap());
    assert_eq!(a.outcome_by("follow-up 1", at(2)).unwrap().as_deref(), Some("refused"));
    assert_eq!(a.outcome_by("follow-up 1", at(4)).unwrap(), None);
}

#[test]
fn who_watches_learns_how_far_each_intent_has_come() {
    let (_directory, path) = place();
    let mut a = open(&path);
    let old = queued(&mut a, "old");
    let history = History::with(path.clone(), Settings::default(), HistoryOptions::default());
    let mut news = history.intents();
    let mut next = || {
        let news = news.blocking_recv().unwrap();
        (news.intent.id, news.intent.state, news.intent.events.len(), news.is_old)
    };
    assert_eq!(next(), (old, IntentState::Pending, 1, true));
    assert_eq!(queued(&mut a, "joins"), old);
    assert_eq!(next(), (old, IntentState::Pending, 2, false));
    assert!(a.dismiss(old, at(5)).unwrap() == Decided::Dismissed);
    assert_eq!(next(), (old, IntentState::Cancelled, 2, false));
    let new = queued(&mut a, "new");
    assert_eq!(next(), (new, IntentState::Pending, 1, false));
}

#[test]
fn a_prompt_waits_for_its_terminal_beside_messages_and_is_taken_back_whole() {
    let (_directory, path) = place();
    let (mut a, mut b) = (open(&path), open(&path));
    let to = terminal(1);
    let first = a.post((&to, "t1"), ("first\nline two", None), at(1)).unwrap();
    let second = a.post((&to, "t1"), ("second", None), at(2)).unwrap();
    let other = a.post((&terminal(2), "t1"), ("another one", None), at(2)).unwrap();
    let message = queue(&mut a, "t1", "e", HOLD);
    let pending = b.pending().unwrap();
    assert_eq!(pending.iter().map(|it| it.id).collect::<Vec<_>>(), [first, second, other, message]);
    assert!(pending[0].recipient.as_ref().is_some_and(|key| key.may_be(&to)) && pending[3].recipient.is_none());
    assert_eq!((pending[0].message_text(), pending[3].message_text()), ("first".to_owned(), "e".to_owned()));
    // It was refused before anything was sent, and still knows its text.
    assert!(b.attempt(first, "first\nline two", 0, at(5)).unwrap());
    assert!(b.retract(first).unwrap());
    assert!(b.attempt(second, "second", 0, at(6)).unwrap());
    assert_eq!(a.take_back(&to, at(7)).unwrap(), ["first\nline two"], "the other one is on its way");
    assert!(!b.attempt(first, "first\nline two", 0, at(8)).unwrap());
    // Nobody knows what became of that one; sent again it is a prompt for the same terminal.
    assert!(b.finish(second, IntentState::Unknown, Some("its sender died"), at(9)).unwrap());
    let Decided::Resent(again) = a.resend(second, at(10)).unwrap() else { panic!("it is sent again") };
    let again = a.get(again).unwrap().unwrap();
    assert_eq!((again.text.as_deref(), again.recipient), (Some("second"), pending[1].recipient.clone()));
    // What else becomes of prompts stands with the inputs that they are.
    let records = Reader::open(&path).unwrap().records(&RecordFilter::default()).unwrap();
    let messages: Vec<String> = records.iter().filter_map(|it| Some(sentence::of(&it.body, &it.name)?.text)).collect();
    let queued = ["queued for t1: first line two", "queued for t1: second", "queued for t1: another one"];
    assert_eq!(messages[..3], queued);
    assert_eq!(messages[3..], ["took back from t1: first line two"]);
}

#[test]
fn an_older_outbox_keeps_what_waits() {
    let (_directory, path) = place();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let old = Connection::open(&path).unwrap();
    file::STEPS[..5].iter().for_each(|step| old.execute_batch(step).unwrap());
    old.execute_batch(
        "INSERT INTO intents (target, created, state) VALUES ('lead', 1, 'pending');
         INSERT INTO intent_events VALUES ('e', 1, 1, '{\"text\": \"build exited\"}');
         PRAGMA user_version = 5;",
    )
    .unwrap();
    drop(old);
    let intents = open(&path);
    let waiting = intents.pending().unwrap();
    assert_eq!(waiting.iter().map(Intent::message_text).collect::<Vec<_>>(), ["build exited"]);
    assert!(waiting[0].recipient.is_none());
}
