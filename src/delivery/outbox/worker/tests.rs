//! A message is sent once, however slow the sending is.

use std::sync::Arc;
use std::sync::mpsc;

use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::*;
use crate::delivery::outbox::Seen;
use crate::follow_up::{MessageEvent, Target, Wanted};
use crate::history::History;
use crate::ids::{PaneId, ServerId, TerminalKey};
use crate::operation::Recipient;
use crate::profile::ProfileSet;
use crate::record::IntentState;
use crate::sender::Sender;
use crate::state::Tri;
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
        let mut worker = Worker::new(settings, Vec::new(), orders, Default::default(), handle).unwrap();
        worker.owner = Owner::named("ours");
        worker.leads.insert(ServerId::default().word(), HeldLock::ALWAYS);
        let key = TerminalKey { server: ServerId::default(), pane: PaneId(1), pid: 1, instance: Default::default() };
        let recipient = Recipient::new(key, "lead".to_owned());
        let target = Target::new(Posture::Ready, Tri::No, "nothing", true);
        worker.snapshot.targets.push(Seen { target, renamed_from: None, place: None, recipient: recipient.clone() });
        let mut other = Intents::open(&path, Owner::named("other"), at(0)).unwrap();
        let (to, key, keep) = ("lead".to_owned(), "event".to_owned(), Span::from_secs(3600));
        let body = MessageEvent { text: "it is done".to_owned(), ..MessageEvent::default() };
        other.queue(&Wanted { to, key, body, keep }, at(0)).unwrap();
        let intents = worker.open(at(0)).unwrap();
        let id = intents.pending(at(0)).unwrap()[0].id;
        assert!(intents.claim(id, at(0), HOLD).unwrap() && intents.attempt(id, "text", 1, at(0)).unwrap());
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
fn a_message_on_its_way_is_nobody_elses_however_long_that_takes() {
    let mut world = World::sending();
    for seconds in (0..300).step_by(5) {
        world.worker.work(at(seconds)).unwrap();
        assert_eq!(world.state(), IntentState::Attempted, "after {seconds} s");
        assert_eq!(world.other.abandoned(at(seconds)).unwrap(), [], "after {seconds} s");
    }
    world.worker.outcomes.push((world.id, Outcome::Accepted(None)));
    world.worker.work(at(300)).unwrap();
    assert_eq!(world.state(), IntentState::Sent);
    assert!(world.was_reported() && world.worker.sending.is_empty());
}

#[test]
fn who_stood_still_does_not_take_its_own_message_for_abandoned() {
    let mut world = World::sending();
    // Neither at the first poll nor after a long time.
    for seconds in [100, 101, 110, 200] {
        world.worker.settle(at(seconds)).unwrap();
        assert_eq!(world.state(), IntentState::Attempted);
    }
}

#[test]
fn what_another_process_took_for_not_sent_is_not_sent_again() {
    let mut world = World::sending();
    let World { other, id, .. } = &mut world;
    assert!(other.claim(*id, at(60), HOLD).unwrap(), "its sender stood still");
    assert!(other.retract(*id).unwrap() && other.release(*id).unwrap());
    assert!(other.claim(*id, at(61), HOLD).unwrap());
    world.worker.outcomes.push((world.id, Outcome::Accepted(None)));
    world.worker.work(at(62)).unwrap();
    assert_eq!(world.state(), IntentState::Sent);
    assert!(!world.other.attempt(world.id, "text", 1, at(63)).unwrap());
}

#[test]
fn an_outcome_that_cannot_be_written_is_kept_until_it_can() {
    let mut world = World::sending();
    let path = world.worker.path.clone();
    let locker = rusqlite::Connection::open(&path).unwrap();
    locker.execute_batch("BEGIN IMMEDIATE").unwrap();
    world.worker.outcomes.push((world.id, Outcome::Accepted(None)));
    assert_eq!(world.worker.work(at(1)), Err(Trouble::Locked));
    assert!(!world.was_reported());
    locker.execute_batch("ROLLBACK").unwrap();
    world.worker.work(at(2)).unwrap();
    assert_eq!(world.state(), IntentState::Sent);
    assert!(world.was_reported());
}
