//! What agents are told follows from the history: each thing once, whoever reads it, and nothing that was not news.

use std::collections::BTreeSet;

use super::*;
use crate::follow_up::FollowUpRule;
use crate::notify::Occasion;
use crate::pattern::Pattern;
use crate::state::{Attention, LEFT, LEFT_UNWATCHED, LastTurn};

fn rules() -> Vec<FollowUpRule> {
    let on = [Occasion::Finished, Occasion::Approval, Occasion::Gone, Occasion::Exited].into_iter().collect();
    let from = Pattern::new("t*").unwrap();
    vec![FollowUpRule { on, from, to: "lead".to_owned(), template: None, keep: Span::from_secs(60) }]
}

/// What happened to `t1`, by seconds.
enum Step {
    Works,
    Ends,
    /// The end of the turn before is still on the screen.
    Rests,
    Asks(&'static str),
    Note(&'static str),
}

struct Told {
    _directory: TempDir,
    path: PathBuf,
    store: Store,
    ended: Option<i64>,
    asks: Option<(&'static str, i64)>,
}

impl Told {
    fn new() -> Self {
        let (directory, path) = place();
        let store = store(&path, "a", at(0));
        Self { _directory: directory, path, store, ended: None, asks: None }
    }

    fn happens(&mut self, seconds: i64, step: Step) {
        let mut record = transition(1, seconds, Phase::Active, "x");
        let mut state = state(at(seconds));
        state.terminal.id = "t1".to_owned();
        (state.since, state.since_exact) = (at(seconds), true);
        record.transition.note = None;
        match step {
            Step::Works => self.asks = None,
            Step::Ends => (self.ended, state.attention) = (Some(seconds), Attention::Finished),
            Step::Rests => {}
            Step::Asks(dialog) => {
                let since = self.asks.filter(|(asked, _)| *asked == dialog).map_or(seconds, |(_, since)| since);
                self.asks = Some((dialog, since));
                (state.attention, state.since) = (Attention::Approval, at(since));
                state.assessment.dialog = Some(dialog.to_owned());
            }
            Step::Note(note) => record.transition.note = Some(note.to_owned()),
        }
        if let Some(ended) = self.ended {
            let result = TurnResult::Success;
            let source = TurnSource::SurfaceInference;
            state.last_turn = LastTurn { result, source, at: Some(at(ended)), detail: None };
        }
        record.state = Some(PublicState::Agent(Box::new(state)));
        self.store.write(&[Message::Record(Arc::new(Record::Transition(record)))], at(seconds)).unwrap();
    }

    /// What another process reads and queues then.
    fn take_in(&self, owner: &str, seconds: i64) -> Vec<String> {
        let mut intents = Intents::open(&self.path, Owner::named(owner), at(seconds)).unwrap();
        let events = |intents: &Intents| -> Vec<String> {
            let waiting = intents.pending(at(seconds)).unwrap().into_iter().flat_map(|intent| intent.events);
            waiting.map(|event| event["text"].as_str().unwrap().to_owned()).collect()
        };
        let before = events(&intents).len();
        intents.take_in(&rules(), at(seconds)).unwrap();
        events(&intents).split_off(before)
    }
}

#[test]
fn each_end_is_told_once_whoever_reads_it() {
    let mut told = Told::new();
    assert_eq!(told.take_in("a", 0), [""; 0]);
    told.happens(1, Step::Works);
    told.happens(4, Step::Ends);
    assert_eq!(told.take_in("a", 4), [""; 0], "it might be taken back");
    assert_eq!(told.take_in("a", 5), ["t1 has finished"]);
    told.happens(8, Step::Rests);
    assert_eq!(told.take_in("b", 10), [""; 0], "another process reads on where the first one stopped");
    told.happens(11, Step::Works);
    told.happens(14, Step::Ends);
    told.happens(15, Step::Works);
    assert_eq!(told.take_in("b", 20), ["t1 has finished"], "also when the next turn begins at once");
}

#[test]
fn what_was_there_before_anybody_looked_is_no_news() {
    let mut told = Told::new();
    told.happens(1, Step::Ends);
    assert_eq!(told.take_in("a", 5), [""; 0], "nobody wanted to know then");
    let mut told = Told::new();
    told.take_in("a", 0);
    told.happens(1, Step::Ends);
    assert_eq!(told.take_in("a", 5), [""; 0], "it may have ended long before");
}

#[test]
fn a_dialog_is_told_once_as_long_as_it_is_the_same_and_stands() {
    let mut told = Told::new();
    told.take_in("a", 0);
    told.happens(1, Step::Works);
    told.happens(2, Step::Asks("rm"));
    told.happens(4, Step::Works);
    told.happens(5, Step::Asks("ls"));
    told.happens(7, Step::Asks("ls"));
    assert_eq!(told.take_in("a", 9).len(), 2, "each dialog");
    told.happens(10, Step::Asks("cp"));
    assert_eq!(told.take_in("a", 20).len(), 1, "one that takes the place of another one");
    let mut brief = Told::new();
    brief.take_in("a", 0);
    brief.happens(1, Step::Works);
    brief.happens(2, Step::Asks("rm"));
    let mut ready = transition(1, 2, Phase::Active, "x");
    ready.transition.at = at(2) + Span::from_millis(400);
    brief.store.write(&[Message::Record(Arc::new(Record::Transition(ready)))], at(3)).unwrap();
    assert_eq!(brief.take_in("a", 9), [""; 0], "half a dialog");
}

#[test]
fn who_is_gone_when_somebody_looks_again_is_told_as_that() {
    let mut told = Told::new();
    told.take_in("a", 0);
    told.happens(1, Step::Works);
    told.happens(900, Step::Note(LEFT_UNWATCHED));
    assert_eq!(told.take_in("a", 902), ["t1 is gone, its end was not watched"]);
    told.happens(905, Step::Note(LEFT));
    assert_eq!(told.take_in("a", 999), [""; 0], "that it is watched no longer is nothing that it did");
}

#[test]
fn what_rules_did_not_want_is_not_told_once_they_do() {
    let mut told = Told::new();
    told.take_in("a", 0);
    told.happens(1, Step::Works);
    let mut intents = Intents::open(&told.path, Owner::named("a"), at(0)).unwrap();
    assert_eq!(intents.take_in(&[], at(2)).unwrap(), []);
    told.happens(3, Step::Ends);
    assert_eq!(told.take_in("a", 9), [""; 0]);
    told.happens(10, Step::Works);
    told.happens(13, Step::Ends);
    assert_eq!(told.take_in("a", 19), ["t1 has finished"]);
}

#[test]
fn an_agent_is_not_told_what_it_led_to_itself_whoever_told_it() {
    let mut told = Told::new();
    told.take_in("a", 0);
    let mut back = rules();
    (back[0].from, back[0].to) = (Pattern::new("lead").unwrap(), "t1".to_owned());
    told.happens(1, Step::Works);
    told.happens(4, Step::Ends);
    assert_eq!(told.take_in("a", 6), ["t1 has finished"]);
    let mut a = Intents::open(&told.path, Owner::named("a"), at(6)).unwrap();
    let message = &a.pending(at(6)).unwrap()[0];
    assert_eq!(message.events[0]["chain"], serde_json::json!(["t1"]));
    let lead = |told: &mut Told, seconds: i64, ended: Option<i64>| {
        let mut record = transition(2, seconds, Phase::Ready, "x");
        let mut state = state(at(seconds));
        state.terminal.id = "lead".to_owned();
        let result = if ended.is_some() { TurnResult::Success } else { TurnResult::None };
        state.last_turn = LastTurn { result, at: ended.map(at), ..LastTurn::NONE };
        (record.name, record.transition.note) = ("lead".to_owned(), None);
        record.state = Some(PublicState::Agent(Box::new(state)));
        told.store.write(&[Message::Record(Arc::new(Record::Transition(record)))], at(seconds)).unwrap();
    };
    lead(&mut told, 6, None);
    assert!(a.claim(message.id, at(7), Span::from_secs(20)).unwrap());
    assert!(a.attempt(message.id, "text", 1, at(7)).unwrap());
    assert!(a.finish(message.id, IntentState::Sent, None, at(8)).unwrap());
    lead(&mut told, 9, Some(9));
    lead(&mut told, 20, Some(20));
    let mut b = Intents::open(&told.path, Owner::named("b"), at(6)).unwrap();
    let stopped = b.take_in(&back, at(30)).unwrap();
    let stopped: BTreeSet<_> = stopped.iter().map(|stopped| (&stopped.source[..], &stopped.to[..])).collect();
    assert_eq!(stopped, BTreeSet::from([("lead", "t1")]));
    // What lead did after that had another cause.
    assert_eq!(b.pending(at(30)).unwrap().len(), 1);
}
