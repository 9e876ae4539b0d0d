//! Sends the outbox: messages are queued in the history by the owner of their server, and sent when their agent is ready
//! (SPEC §9). [`crate::follow_up`] decides what agents are told.
//!
//! A separate thread, the [`worker`], has the store, because its writes must reach the disk before anything is sent.

mod worker;

use std::collections::BTreeSet;
use std::sync::mpsc::Sender as OrderSender;

use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{oneshot, watch};

use super::trouble::DeliveryEvent;
use crate::clock;
use crate::fleet::{Effect, ServerId, Terminal, TerminalKey, View};
use crate::follow_up::{self, FollowUpRule, Posture, RecentEvents, Wanted};
use crate::history::History;
use crate::ids::NamedPlace;
use crate::operation::{Outcome, Producer, Recipient};
use crate::private::HeldLock;
use crate::record::{Intent, IntentId};
use crate::sender::{Gate, Sender};
use crate::time::Timestamp;
pub(super) use worker::open;

/// Messages to the thread.
pub(super) enum OutboxOrder {
    /// Queues events for agents.
    Queue(Vec<Wanted>),
    /// Whether this process acts for a server ([`ServerId::word`]), and the rules it begins with.
    Lead(String, Option<HeldLock>, Vec<FollowUpRule>),
    /// The agents for which something waits, as they are now.
    FleetSnapshot(FleetSnapshot),
    /// Whether this text, with this number of events, may be sent now.
    MaySend { id: IntentId, text: String, events: usize, answer: oneshot::Sender<bool> },
    /// What was sent came to its outcome.
    Ended { id: IntentId, outcome: Outcome },
    /// Another process may have queued or settled something.
    Changed,
    /// The program ends once nothing is being sent.
    Finish(oneshot::Sender<()>),
}

/// The present state of the agents for which something waits.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FleetSnapshot {
    pub targets: Vec<Seen>,
    /// The servers that have answered, in the word that every process has for them.
    pub answered: BTreeSet<String>,
}

impl FleetSnapshot {
    /// The agent that something is for.
    fn target(&self, intent: &Intent) -> Option<&Seen> {
        if let Some(key) = &intent.recipient {
            return self.targets.iter().find(|seen| key.may_be(&seen.recipient.key));
        }
        let called = self.targets.iter().find(|seen| seen.recipient.name == intent.target);
        // A terminal that the operator renamed still answers to its name in the configuration or tmux, unless another one has it.
        let mut renamed = self.targets.iter().filter(|seen| seen.renamed_from.as_ref() == Some(&intent.target));
        called.or_else(|| renamed.next().filter(|_| renamed.next().is_none()))
    }
}

/// An agent that can be sent something.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Seen {
    pub posture: Posture,
    /// Its own name, where the operator calls it otherwise.
    pub renamed_from: Option<String>,
    /// What its own name says of its place.
    pub place: Option<NamedPlace>,
    pub recipient: Recipient,
}

impl Seen {
    /// The recipient of a message: a follow-up is for whatever has the name, a prompt for the terminal that it was written to.
    pub fn recipient_of(&self, intent: &Intent) -> Recipient {
        let is_named = intent.recipient.is_none()
            && (self.renamed_from.is_none() || self.renamed_from.as_ref() == Some(&intent.target));
        self.recipient.clone().at(self.place.clone().filter(|_| is_named))
    }
}

/// For whom something waits: the terminal's name, and the terminal where it is known.
type WaitingTargets = Vec<(String, Option<TerminalKey>)>;

/// The way to the thread.
#[derive(Debug)]
pub(super) struct Outbox {
    rules: Vec<FollowUpRule>,
    events: RecentEvents,
    orders: OrderSender<OutboxOrder>,
    /// For whom something waits, as the thread last read it.
    wanted: watch::Receiver<WaitingTargets>,
    /// The last state sent to the thread.
    snapshot: FleetSnapshot,
}

/// The dependencies of the outbox.
#[derive(Clone, Debug)]
pub(super) struct OutboxSettings {
    pub history: History,
    pub sender: Sender,
    pub events: UnboundedSender<DeliveryEvent>,
}

impl OutboxSettings {
    fn tell(&self, event: DeliveryEvent) {
        // Nobody listens any more when the program ends.
        let _ = self.events.send(event);
    }
}

impl Outbox {
    fn new(rules: &[FollowUpRule], orders: OrderSender<OutboxOrder>, wanted: watch::Receiver<WaitingTargets>) -> Self {
        let events = RecentEvents::since(Timestamp::default());
        Self { rules: rules.to_vec(), events, orders, wanted, snapshot: FleetSnapshot::default() }
    }

    /// Replaces the rules for what happens from now on; messages that already wait are still sent.
    pub(super) fn set_rules(&mut self, rules: &[FollowUpRule]) {
        if self.rules != rules {
            self.rules = rules.to_vec();
            self.events = RecentEvents::since(clock::now());
        }
    }

    /// Takes in what happened, until [`Outbox::follow`] queues it.
    pub(super) fn note(&mut self, effect: &Effect) {
        if !self.rules.is_empty() {
            self.events.note(effect);
        }
    }

    /// Acts for a server as long as the lead holds, or no longer.
    pub(super) fn lead(&self, server: &ServerId, held: Option<HeldLock>) {
        self.order(OutboxOrder::Lead(server.word(), held, self.rules.clone()));
    }

    /// Queues the due messages of the servers that this process leads, and captures the agents that have some.
    pub(super) fn follow(&mut self, view: &View<'_>, leads: &dyn Fn(&ServerId) -> bool) {
        if !self.rules.is_empty() {
            let events = self.events.take(view, leads);
            let wanted: Vec<Wanted> = events.iter().flat_map(|event| follow_up::wanted(&self.rules, event)).collect();
            if !wanted.is_empty() {
                self.order(OutboxOrder::Queue(wanted));
            }
        }
        let wanted = self.wanted.borrow().clone();
        let is_wanted = |terminal: &&&Terminal| {
            wanted.iter().any(|(name, key)| match key {
                Some(key) => key.may_be(&terminal.key),
                None => *name == terminal.state.terminal.id || terminal.renamed_from().as_ref() == Some(name),
            })
        };
        let targets = view.terminals.iter().filter(is_wanted).map(|terminal| Seen {
            posture: Posture::of(terminal),
            renamed_from: terminal.renamed_from(),
            place: terminal.named_by(&terminal.own_name()),
            recipient: Recipient::of(terminal),
        });
        let answered = view.servers.iter().filter(|server| server.answered_at.is_some());
        let answered = answered.map(|server| server.id.word()).collect();
        let snapshot = FleetSnapshot { targets: targets.collect(), answered };
        if snapshot != self.snapshot {
            self.order(OutboxOrder::FleetSnapshot(snapshot.clone()));
            self.snapshot = snapshot;
        }
    }

    /// When to call [`Outbox::follow`] again although nothing changes.
    pub(super) fn poll_timeout(&self) -> Option<Timestamp> {
        self.events.poll_timeout()
    }

    /// Waits until nothing is on its way.
    pub(super) async fn finish(&self) {
        let (done, wait) = oneshot::channel();
        self.order(OutboxOrder::Finish(done));
        // A thread that has ended has nothing on its way.
        let _ = wait.await;
    }

    fn order(&self, order: OutboxOrder) {
        // The thread ends only with the last of those who can order something.
        let _ = self.orders.send(order);
    }
}

/// Asks the thread right before the first byte: it writes down that the message is attempted, or takes it back.
struct Attempt {
    orders: OrderSender<OutboxOrder>,
    id: IntentId,
    text: String,
    events: usize,
}

impl Gate for Attempt {
    async fn may_begin(&mut self) -> bool {
        let (answer, answered) = oneshot::channel();
        let (id, text, events) = (self.id, self.text.clone(), self.events);
        let _ = self.orders.send(OutboxOrder::MaySend { id, text, events, answer });
        answered.await.unwrap_or(false)
    }
}

/// Under which producer something is written down, so that its outcome is found again.
fn producer(intent: &Intent) -> Producer {
    match intent.recipient {
        Some(_) => Producer::Queue(intent.id.0),
        None => Producer::FollowUp(intent.id.0),
    }
}
