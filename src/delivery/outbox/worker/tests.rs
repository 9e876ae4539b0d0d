//! A message is sent once, however slow the sending is.

use std::sync::Arc;
use std::sync::mpsc;

use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::*;
use crate::delivery::outbox::Seen;
use crate::follow_up::{MessageEvent, Wanted};
use crate::history::History;
use crate::ids::{PaneId, ServerId, TerminalKey};
use crate::operation::Recipient;
use crate::profile::ProfileSet;
use crate::record::IntentState;
use crate::sender::Sender;
use crate::tmux;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000 + seconds * 1000)
}

/// A process that sends a message, and one that waits for what it leaves behind.
struct World {
    _directory: TempDir,
    _runtime: Runtime,
    worker: Worker,
    other: Intents,
    reported: UnboundedReceiver<DeliveryEvent>,
    id: IntentId,
}

impl World {
    /// The message is on its way to an agent that shows nothing of it.
    fn sending() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("history.db");
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (tell, reported) = unbounded_channel();
        let sender = Sender::new(Arc::new(ProfileSet::builtin()), tmux::Settings::default(), History::off(), None);
        let history = History::start(&crate::history::Settings {
            path: Some(path.clone()),
            ..crate::history::Settings::default()
        });
        let settings = OutboxSettings { history, sender, events: tell };
        let (orders, handle) = (mpsc::channel().0, runtime.handle().clone());
        let mut worker = Worker::new(settings, orders, Default::default(), handle).unwrap();
        worker.leads.insert(ServerId::default().word(), HeldLock::ALWAYS);
        let key = TerminalKey { server: ServerId::default(), pane: PaneId(1), pid: 1, instance: Default::default() };
        let recipient = Recipient::new(key, "lead".to_owned());
        let posture = Posture::Ready;
        worker.snapshot.targets.push(Seen { posture, renamed_from: None, place: None, recipient: recipient.clone() });
        let mut other = Intents::open(&path, at(0)).unwrap();
        let (to, key, keep) = ("lead".to_owned(), "event".to_owned(), Span::from_secs(3600));
        let body = MessageEvent { text: "it is done".to_owned(), ..MessageEvent::default() };
        other.queue(&Wanted { to, key, body, keep }, at(0)).unwrap();
        let intents = worker.open(at(0)).unwrap();
        let id = intents.pending().unwrap()[0].id;
        assert!(intents.attempt(id, "text", 1, at(0)).unwrap());
        let intent = intents.get(id).unwrap().unwrap();
        worker.sending.insert(id, Sending { intent, to: recipient.key });
        Self { _directory: directory, _runtime: runtime, worker, other, reported, id }
    }

    fn state(&self) -> IntentState {
        self.other.get(self.id).unwrap().unwrap().state
    }

    fn was_reported(&mut self) -> bool {
        self.reported.try_recv().is_ok_and(|reported| matches!(reported, DeliveryEvent::FollowUp(_)))
    }
}

#[test]
fn a_message_on_its_way_is_settled_by_nobody_however_long_that_takes() {
    let mut world = World::sending();
    for seconds in (0..300).step_by(5) {
        world.worker.work(at(seconds)).unwrap();
        assert_eq!(world.state(), IntentState::Attempted, "after {seconds} s");
    }
    world.worker.outcomes.push((world.id, Outcome::Accepted(None)));
    world.worker.work(at(300)).unwrap();
    assert_eq!(world.state(), IntentState::Sent);
    assert!(world.was_reported() && world.worker.sending.is_empty());
}

#[test]
fn what_another_process_left_is_for_the_operator_to_decide_after_a_moment() {
    let mut world = World::sending();
    world.worker.sending.clear();
    world.worker.work(at(10)).unwrap();
    world.worker.work(at(12)).unwrap();
    assert_eq!(world.state(), IntentState::Attempted, "its outcome may come yet");
    world.worker.leads.clear();
    world.worker.settle(at(20)).unwrap();
    assert_eq!(world.state(), IntentState::Attempted, "it is for the leader of the server");
    world.worker.leads.insert(ServerId::default().word(), HeldLock::ALWAYS);
    world.worker.settle(at(30)).unwrap();
    assert_eq!(world.state(), IntentState::Unknown);
    let asked = world.reported.try_recv().unwrap();
    assert!(
        matches!(&asked, DeliveryEvent::Trouble(text) if text.contains("look there (its sender died)")),
        "{asked:?}"
    );
}

#[test]
fn a_message_whose_agent_nobody_sees_is_waited_for_as_long_as_it_is_kept() {
    let mut world = World::sending();
    world.worker.sending.clear();
    world.worker.snapshot.targets.clear();
    for seconds in [0, 10, 3599] {
        world.worker.work(at(seconds)).unwrap();
        assert_eq!(world.state(), IntentState::Attempted, "after {seconds} s: another process may send it");
    }
    world.worker.work(at(3605)).unwrap();
    assert_eq!(world.state(), IntentState::Unknown);
}

#[test]
fn a_message_whose_agent_is_there_has_time_also_when_another_process_takes_over() {
    let mut world = World::sending();
    world.other.retract(world.id).unwrap();
    world.worker.sending.clear();
    world.worker.snapshot.targets[0].posture = Posture::Busy;
    for seconds in (0..7200).step_by(20) {
        world.worker.work(at(seconds)).unwrap();
    }
    assert_eq!(world.state(), IntentState::Pending, "it works for two hours");
    // The next one does not know of the agent yet, and may be late.
    let targets = std::mem::take(&mut world.worker.snapshot.targets);
    world.worker.missing.clear();
    for seconds in [9000, 9004] {
        world.worker.work(at(seconds)).unwrap();
        assert_eq!(world.state(), IntentState::Pending);
    }
    world.worker.snapshot.targets = targets;
    world.worker.work(at(9005)).unwrap();
    world.worker.snapshot.targets.clear();
    for seconds in [9006, 9100, 9124] {
        world.worker.work(at(seconds)).unwrap();
        assert_eq!(world.state(), IntentState::Pending, "after {seconds} s");
    }
    world.worker.work(at(9126)).unwrap();
    assert_eq!(world.state(), IntentState::Expired);
}

#[test]
fn an_agent_is_told_a_few_times_a_minute_and_the_rest_at_once() {
    let mut world = World::sending();
    world.worker.outcomes.push((world.id, Outcome::Accepted(None)));
    world.worker.work(at(0)).unwrap();
    let wanted = |nth: u64| {
        let body = MessageEvent { text: format!("event {nth}"), ..MessageEvent::default() };
        Wanted { to: "lead".to_owned(), key: nth.to_string(), body, keep: Span::from_secs(3600) }
    };
    for nth in 1..MOST {
        let id = world.other.queue(&wanted(nth), at(1)).unwrap();
        assert!(world.other.attempt(id, "text", 1, at(1)).unwrap());
        assert!(world.other.finish(id, IntentState::Sent, None, at(1)).unwrap());
    }
    world.worker.take(OutboxOrder::Queue((10..13).map(wanted).collect()));
    world.worker.work(at(2)).unwrap();
    assert!(world.worker.sending.is_empty());
    let _enter = world._runtime.enter();
    world.worker.work(at(62)).unwrap();
    let sent: Vec<usize> = world.worker.sending.values().map(|sending| sending.intent.events.len()).collect();
    assert_eq!(sent, [3], "as one message");
}

#[test]
fn an_outcome_that_cannot_be_written_is_kept_until_it_can() {
    let mut world = World::sending();
    let path = world.worker.path.clone();
    let locker = rusqlite::Connection::open(&path).unwrap();
    locker.execute_batch("BEGIN IMMEDIATE").unwrap();
    world.worker.outcomes.push((world.id, Outcome::Accepted(None)));
    assert_eq!(world.worker.work(at(1)), Err(HistoryError::Locked));
    assert!(!world.was_reported());
    locker.execute_batch("ROLLBACK").unwrap();
    world.worker.work(at(2)).unwrap();
    assert_eq!(world.state(), IntentState::Sent);
    assert!(world.was_reported());
}
