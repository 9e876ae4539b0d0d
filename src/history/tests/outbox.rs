//! The outbox: each event is reported once, whichever process reads it, and each message is sent once or not at all, whenever a
//! process dies.

use super::*;
use crate::follow_up::{FollowUpRule, MessageEvent, Wanted};
use crate::notify::Occasion;
use crate::operation::{Act, Producer, Refusal, When};
use crate::pattern::Pattern;
use crate::state::{Attention, LEFT, LEFT_UNWATCHED, LastTurn};
use crate::status::Hindrance;
use serde_json::json;
use std::collections::BTreeSet;

const HOLD: Span = Span::from_secs(30);

fn open(path: &Path, owner: &str) -> Intents {
    Intents::open(path, Owner::named(owner), at(0)).unwrap()
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
    let (mut a, mut b) = (open(&path, "a"), open(&path, "b"));
    let id = queued(&mut a, "build exited");
    assert_eq!(queued(&mut b, "build exited"), id, "the other dashboard saw the same event");
    assert_eq!(queued(&mut b, "test exited"), id);
    let other = queue(&mut b, "docs", "docs exited", HOLD);
    assert_ne!(other, id, "another target has a message of its own");
    let pending = a.pending(at(4)).unwrap();
    assert_eq!(pending.iter().map(|intent| intent.id).collect::<Vec<_>>(), [id, other]);
    assert_eq!(texts(&pending[0]), ["build exited", "test exited"]);
}

#[test]
fn one_of_two_processes_gets_the_claim() {
    let (_directory, path) = place();
    let (mut a, mut b) = (open(&path, "a"), open(&path, "b"));
    let id = queued(&mut a, "e");
    assert!(a.claim(id, at(1), HOLD).unwrap());
    assert!(!b.claim(id, at(1), HOLD).unwrap());
    assert!(a.claim(id, at(2), HOLD).unwrap(), "who has it may prolong it");
    assert!(!b.release(id).unwrap());
    assert!(!b.attempt(id, "text", 1, at(3)).unwrap());
    assert!(a.release(id).unwrap());
    assert!(b.claim(id, at(4), HOLD).unwrap());
    assert!(!a.attempt(id, "text", 1, at(5)).unwrap());
    assert!(b.attempt(id, "text", 1, at(5)).unwrap());
    assert!(!b.attempt(id, "text", 1, at(5)).unwrap(), "a second attempt is no first one");
    assert!(b.finish(id, IntentState::Sent, None, at(6)).unwrap());
    assert!(!a.claim(id, at(100), HOLD).unwrap());
    assert!(!b.finish(id, IntentState::Failed, None, at(7)).unwrap(), "an outcome stays");
    assert_eq!(a.get(id).unwrap().map(|intent| intent.state), Some(IntentState::Sent));
}

#[test]
fn many_processes_that_want_the_same_send_it_once() {
    let (_directory, path) = place();
    let mut first = open(&path, "first");
    let ids: Vec<IntentId> =
        (0..20).map(|n| queue(&mut first, &format!("target {n}"), &format!("event {n}"), HOLD)).collect();
    let sent: usize = std::thread::scope(|scope| {
        let senders: Vec<_> = (0..4)
            .map(|n| {
                let (path, ids) = (&path, &ids);
                scope.spawn(move || {
                    let mut intents = open(path, &format!("p{n}"));
                    let mut send = |id: IntentId| {
                        intents.claim(id, at(1), HOLD).unwrap() && intents.attempt(id, "x", 1, at(2)).unwrap()
                    };
                    ids.iter().filter(|id| send(**id)).count()
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
    let (mut a, mut b) = (open(&path, "a"), open(&path, "b"));
    let id = queued(&mut a, "one");
    assert!(a.claim(id, at(1), HOLD).unwrap());
    assert_eq!(queued(&mut b, "two"), id);
    assert!(!a.attempt(id, "tells of one", 1, at(2)).unwrap());
    assert!(a.attempt(id, "tells of both", 2, at(2)).unwrap());
    assert_ne!(queued(&mut b, "three"), id, "what is on its way takes nothing in any more");
}

#[test]
fn what_a_dead_process_attempted_is_settled_and_never_sent_by_itself() {
    let (_directory, path) = place();
    let mut dead = open(&path, "a");
    let id = queued(&mut dead, "e");
    assert!(dead.claim(id, at(0), HOLD).unwrap() && dead.attempt(id, "text", 1, at(1)).unwrap());
    drop(dead);
    let mut other = open(&path, "b");
    assert_eq!(other.pending(at(2)).unwrap(), []);
    assert_eq!(other.abandoned(at(2)).unwrap(), [], "the claim still holds");
    let abandoned = other.abandoned(at(60)).unwrap();
    assert_eq!((abandoned[0].id, abandoned[0].text.as_deref()), (id, Some("text")));
    assert!(other.claim(id, at(60), HOLD).unwrap());
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
fn a_claim_that_was_never_attempted_runs_out_and_the_intent_is_free() {
    let (_directory, path) = place();
    let (mut a, mut b) = (open(&path, "a"), open(&path, "b"));
    let id = queued(&mut a, "e");
    assert!(a.claim(id, at(0), HOLD).unwrap());
    assert!(b.claim(id, at(30), HOLD).unwrap());
    assert!(!a.attempt(id, "late", 1, at(31)).unwrap(), "who slept too long has lost it");
    assert!(b.attempt(id, "text", 1, at(31)).unwrap());
    assert!(b.retract(id).unwrap(), "the target refused it");
    assert_eq!(b.pending(at(32)).unwrap().len(), 1);
    assert!(b.attempt(id, "again", 1, at(33)).unwrap());
}

#[test]
fn time_runs_out_and_operators_change_their_minds() {
    let (_directory, path) = place();
    let (mut a, mut b) = (open(&path, "a"), open(&path, "b"));
    let late = queue(&mut a, "lead", "late", Span::from_secs(10));
    assert_eq!(a.expire(at(9)).unwrap(), []);
    assert!(a.claim(late, at(9), HOLD).unwrap());
    assert!(!a.attempt(late, "x", 1, at(10)).unwrap());
    assert_eq!(b.expire(at(10)).unwrap().len(), 1);
    assert_eq!(a.expire(at(10)).unwrap(), [], "it was reported once");
    let id = queued(&mut a, "other");
    assert_ne!(id, late);
    assert!(b.dismiss(id, at(11)).unwrap() == Decided::Dismissed);
    assert!(!a.claim(id, at(12), HOLD).unwrap());
    assert_eq!(a.pending(at(12)).unwrap(), []);
    assert_eq!(count(&path, "records WHERE kind = 'follow_up'"), 2);
}

#[test]
fn what_may_have_arrived_is_for_the_operator_to_decide_once() {
    let (_directory, path) = place();
    let (mut a, mut b) = (open(&path, "a"), open(&path, "b"));
    let id = queue(&mut a, "lead", "e", Span::from_secs(60));
    assert_eq!(b.resend(id, at(1)).unwrap(), Decided::NotOpen(IntentState::Pending), "it will be sent anyway");
    assert!(a.claim(id, at(1), HOLD).unwrap() && a.attempt(id, "text", 1, at(2)).unwrap());
    assert_eq!(b.dismiss(id, at(3)).unwrap(), Decided::NotOpen(IntentState::Attempted));
    assert!(a.finish(id, IntentState::Unknown, Some("who knows"), at(4)).unwrap());
    assert_eq!(b.open_matters().unwrap().len(), 1);
    let Decided::Resent(next) = b.resend(id, at(100)).unwrap() else { panic!("it is sent again") };
    assert_eq!(a.resend(id, at(101)).unwrap(), Decided::NotOpen(IntentState::Resent), "but only once");
    let again = &a.pending(at(101)).unwrap()[0];
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
    let mut a = open(&path, "a");
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
    assert!(a.claim(id, at(3), HOLD).unwrap() && a.attempt(id, "text", 1, at(4)).unwrap());
    assert_eq!(a.outcome_by("follow-up 1", at(2)).unwrap().as_deref(), Some("refused"));
    assert_eq!(a.outcome_by("follow-up 1", at(4)).unwrap(), None);
}

#[test]
fn who_watches_learns_how_far_each_intent_has_come() {
    let (_directory, path) = place();
    let mut a = open(&path, "a");
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
    let (mut a, mut b) = (open(&path, "a"), open(&path, "b"));
    let to = terminal(1);
    let first = a.post((&to, "t1"), ("first\nline two", None), at(1)).unwrap();
    let second = a.post((&to, "t1"), ("second", None), at(2)).unwrap();
    let other = a.post((&terminal(2), "t1"), ("another one", None), at(2)).unwrap();
    let message = queue(&mut a, "t1", "e", HOLD);
    let pending = b.pending(at(4)).unwrap();
    assert_eq!(pending.iter().map(|it| it.id).collect::<Vec<_>>(), [first, second, other, message]);
    assert!(pending[0].recipient.as_ref().is_some_and(|key| key.may_be(&to)) && pending[3].recipient.is_none());
    assert_eq!((pending[0].message_text(), pending[3].message_text()), ("first".to_owned(), "e".to_owned()));
    // It was refused before anything was sent, and still knows its text.
    assert!(b.claim(first, at(5), HOLD).unwrap() && b.attempt(first, "first\nline two", 0, at(5)).unwrap());
    assert!(b.retract(first).unwrap() && b.release(first).unwrap());
    assert!(b.claim(second, at(6), HOLD).unwrap() && b.attempt(second, "second", 0, at(6)).unwrap());
    assert_eq!(a.take_back(&to, at(7)).unwrap(), ["first\nline two"], "the other one is on its way");
    assert!(!b.claim(first, at(8), HOLD).unwrap());
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
    let intents = open(&path, "a");
    let waiting = intents.pending(at(0)).unwrap();
    assert_eq!(waiting.iter().map(Intent::message_text).collect::<Vec<_>>(), ["build exited"]);
    assert!(waiting[0].recipient.is_none());
}

fn rules() -> Vec<FollowUpRule> {
    let on = [Occasion::Finished, Occasion::Approval, Occasion::Gone, Occasion::Exited].into_iter().collect();
    let from = Pattern::new("t*").unwrap();
    vec![FollowUpRule { on, from, to: "lead".to_owned(), template: None, keep: Span::from_secs(60) }]
}

/// What happened to `t1`, by seconds.
enum TerminalEvent {
    Works,
    Ends,
    /// The end of the turn before is still on the screen.
    Rests,
    Asks(&'static str),
    Note(&'static str),
}

struct TerminalStory {
    _directory: TempDir,
    path: PathBuf,
    store: Store,
    ended: Option<i64>,
    asks: Option<(&'static str, i64)>,
}

impl TerminalStory {
    fn new() -> Self {
        let (directory, path) = place();
        let store = store(&path, "a", at(0));
        Self { _directory: directory, path, store, ended: None, asks: None }
    }

    fn happens(&mut self, seconds: i64, step: TerminalEvent) {
        let mut record = transition(1, seconds, Phase::Active, "x");
        let mut state = state(at(seconds));
        state.terminal.id = "t1".to_owned();
        (state.since, state.since_exact) = (at(seconds), true);
        record.transition.note = None;
        match step {
            TerminalEvent::Works => self.asks = None,
            TerminalEvent::Ends => (self.ended, state.attention) = (Some(seconds), Attention::Finished),
            TerminalEvent::Rests => {}
            TerminalEvent::Asks(dialog) => {
                let since = self.asks.filter(|(asked, _)| *asked == dialog).map_or(seconds, |(_, since)| since);
                self.asks = Some((dialog, since));
                (state.attention, state.since) = (Attention::Approval, at(since));
                state.assessment.dialog = Some(dialog.to_owned());
            }
            TerminalEvent::Note(note) => record.transition.note = Some(note.to_owned()),
        }
        if let Some(ended) = self.ended {
            let result = TurnResult::Success;
            let source = TurnSource::SurfaceInference;
            state.last_turn = LastTurn { result, source, at: Some(at(ended)), ..LastTurn::NONE };
        }
        record.state = Some(PublicState::Agent(Box::new(state)));
        self.store.write(&[WriterMessage::Record(Arc::new(Record::Transition(record)))], at(seconds)).unwrap();
    }

    /// What another process reads and queues then.
    fn take_in(&self, owner: &str, seconds: i64) -> Vec<String> {
        let mut intents = Intents::open(&self.path, Owner::named(owner), at(seconds)).unwrap();
        let events = |intents: &Intents| -> Vec<String> {
            let waiting = intents.pending(at(seconds)).unwrap().into_iter().flat_map(|intent| intent.events);
            waiting.map(|event| event.text).collect()
        };
        let before = events(&intents).len();
        intents.take_in(&rules(), at(seconds)).unwrap();
        events(&intents).split_off(before)
    }
}

#[test]
fn each_end_is_reported_once_whoever_reads_it() {
    let mut messages = TerminalStory::new();
    assert_eq!(messages.take_in("a", 0), [""; 0]);
    messages.happens(1, TerminalEvent::Works);
    messages.happens(4, TerminalEvent::Ends);
    assert_eq!(messages.take_in("a", 4), [""; 0], "it might be taken back");
    assert_eq!(messages.take_in("a", 5), ["t1 has finished"]);
    messages.happens(8, TerminalEvent::Rests);
    assert_eq!(messages.take_in("b", 10), [""; 0], "another process reads on where the first one stopped");
    messages.happens(11, TerminalEvent::Works);
    messages.happens(14, TerminalEvent::Ends);
    messages.happens(15, TerminalEvent::Works);
    assert_eq!(messages.take_in("b", 20), ["t1 has finished"], "also when the next turn begins at once");
}

#[test]
fn what_was_there_before_the_first_poll_is_no_news() {
    let mut messages = TerminalStory::new();
    messages.happens(1, TerminalEvent::Ends);
    assert_eq!(messages.take_in("a", 5), [""; 0], "nobody wanted to know then");
    let mut messages = TerminalStory::new();
    messages.take_in("a", 0);
    messages.happens(1, TerminalEvent::Ends);
    assert_eq!(messages.take_in("a", 5), [""; 0], "it may have ended long before");
}

#[test]
fn a_dialog_is_reported_once_as_long_as_it_is_the_same_and_stands() {
    let mut messages = TerminalStory::new();
    messages.take_in("a", 0);
    messages.happens(1, TerminalEvent::Works);
    messages.happens(2, TerminalEvent::Asks("rm"));
    messages.happens(4, TerminalEvent::Works);
    messages.happens(5, TerminalEvent::Asks("ls"));
    messages.happens(7, TerminalEvent::Asks("ls"));
    assert_eq!(messages.take_in("a", 9).len(), 2, "each dialog");
    messages.happens(10, TerminalEvent::Asks("cp"));
    assert_eq!(messages.take_in("a", 20).len(), 1, "one that takes the place of another one");
    let mut brief = TerminalStory::new();
    brief.take_in("a", 0);
    brief.happens(1, TerminalEvent::Works);
    brief.happens(2, TerminalEvent::Asks("rm"));
    let mut ready = transition(1, 2, Phase::Active, "x");
    ready.transition.at = at(2) + Span::from_millis(400);
    brief.store.write(&[WriterMessage::Record(Arc::new(Record::Transition(ready)))], at(3)).unwrap();
    assert_eq!(brief.take_in("a", 9), [""; 0], "half a dialog");
}

#[test]
fn an_agent_that_is_gone_at_the_next_poll_is_reported_as_gone() {
    let mut messages = TerminalStory::new();
    messages.take_in("a", 0);
    messages.happens(1, TerminalEvent::Works);
    messages.happens(900, TerminalEvent::Note(LEFT_UNWATCHED));
    assert_eq!(messages.take_in("a", 902), ["t1 is gone, its end was not watched"]);
    messages.happens(905, TerminalEvent::Note(LEFT));
    assert_eq!(messages.take_in("a", 999), [""; 0], "that it is watched no longer is nothing that it did");
}

#[test]
fn what_rules_did_not_want_is_not_reported_once_they_do() {
    let mut messages = TerminalStory::new();
    messages.take_in("a", 0);
    messages.happens(1, TerminalEvent::Works);
    let mut intents = Intents::open(&messages.path, Owner::named("a"), at(0)).unwrap();
    assert_eq!(intents.take_in(&[], at(2)).unwrap(), []);
    messages.happens(3, TerminalEvent::Ends);
    assert_eq!(messages.take_in("a", 9), [""; 0]);
    messages.happens(10, TerminalEvent::Works);
    messages.happens(13, TerminalEvent::Ends);
    assert_eq!(messages.take_in("a", 19), ["t1 has finished"]);
}

#[test]
fn an_agent_is_not_told_what_it_led_to_itself_whoever_told_it() {
    let mut messages = TerminalStory::new();
    messages.take_in("a", 0);
    let mut back = rules();
    (back[0].from, back[0].to) = (Pattern::new("lead").unwrap(), "t1".to_owned());
    messages.happens(1, TerminalEvent::Works);
    messages.happens(4, TerminalEvent::Ends);
    assert_eq!(messages.take_in("a", 6), ["t1 has finished"]);
    let mut a = Intents::open(&messages.path, Owner::named("a"), at(6)).unwrap();
    let message = &a.pending(at(6)).unwrap()[0];
    assert_eq!(message.events[0].chain, ["t1"]);
    let lead = |messages: &mut TerminalStory, seconds: i64, ended: Option<i64>| {
        let mut record = transition(2, seconds, Phase::Ready, "x");
        let mut state = state(at(seconds));
        state.terminal.id = "lead".to_owned();
        let result = if ended.is_some() { TurnResult::Success } else { TurnResult::None };
        state.last_turn = LastTurn { result, at: ended.map(at), ..LastTurn::NONE };
        (record.name, record.transition.note) = ("lead".to_owned(), None);
        record.state = Some(PublicState::Agent(Box::new(state)));
        messages.store.write(&[WriterMessage::Record(Arc::new(Record::Transition(record)))], at(seconds)).unwrap();
    };
    lead(&mut messages, 6, None);
    assert!(a.claim(message.id, at(7), Span::from_secs(20)).unwrap());
    assert!(a.attempt(message.id, "text", 1, at(7)).unwrap());
    assert!(a.finish(message.id, IntentState::Sent, None, at(8)).unwrap());
    lead(&mut messages, 9, Some(9));
    lead(&mut messages, 20, Some(20));
    let mut b = Intents::open(&messages.path, Owner::named("b"), at(6)).unwrap();
    let stopped = b.take_in(&back, at(30)).unwrap();
    let stopped: BTreeSet<_> = stopped.iter().map(|stopped| (&stopped.source[..], &stopped.to[..])).collect();
    assert_eq!(stopped, BTreeSet::from([("lead", "t1")]));
    // What lead did after that had another cause.
    assert_eq!(b.pending(at(30)).unwrap().len(), 1);
}
