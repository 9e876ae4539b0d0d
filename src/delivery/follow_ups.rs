//! Follow-ups on their way: what happened is queued in the history, sent when its agent is ready, and settled when the
//! process that sent it died (SPEC §9). What to do is decided in [`crate::follow_up`].
//!
//! A thread of its own has the store, because its writes must reach the disk before anything is sent.

mod desk;

use std::collections::{BTreeSet, HashMap};
use std::sync::mpsc::{self, Sender as OrderSender};
use std::thread;

use tokio::runtime::Handle;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

use super::Told;
use crate::fleet::{Health, View};
use crate::follow_up::{Event, FollowUpRule, Source, Target};
use crate::history::{History, IntentId, NewInput, Sent};
use crate::moment::Moment;
use crate::sender::{Recipient, SendOptions, SendOutcome, Sender};
use desk::Desk;

/// What the thread is told.
pub(super) enum Order {
    Happened {
        event: Box<Event>,
        at: Moment,
    },
    Rules(Vec<FollowUpRule>),
    /// The terminals that rules name, as they are now.
    Looked(Box<Looked>),
    /// Whether this text, which tells of so many events, may be sent now.
    MaySend {
        id: IntentId,
        text: String,
        events: usize,
        answer: oneshot::Sender<bool>,
    },
    Ended {
        id: IntentId,
        outcome: SendOutcome,
    },
    /// The program ends once nothing is on its way any more.
    Finish(oneshot::Sender<()>),
}

/// What is seen of all terminals that rules name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Looked {
    /// The agents that are told, by their names.
    pub targets: HashMap<String, Seen>,
    /// The terminals of which they are told.
    pub sources: Vec<Source>,
    /// The servers that have answered, in the word that every process has for them.
    pub answered: BTreeSet<String>,
}

/// An agent that can be told something.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Seen {
    pub target: Target,
    pub recipient: Recipient,
}

/// The way to the thread.
#[derive(Debug)]
pub(super) struct FollowUps {
    orders: OrderSender<Order>,
    agents: BTreeSet<String>,
    rules: Vec<FollowUpRule>,
    /// What the thread was told last.
    looked: Looked,
}

/// What it takes to begin.
#[derive(Clone, Debug)]
pub(super) struct Office {
    history: History,
    sender: Sender,
    told: UnboundedSender<Told>,
}

impl Office {
    pub(super) fn new(history: History, sender: Sender, told: UnboundedSender<Told>) -> Self {
        Self { history, sender, told }
    }

    /// Begins to carry follow-ups by rules; `None` when there are none, or nothing to keep them in, which is told.
    pub(super) fn open(&self, rules: &[FollowUpRule]) -> Option<FollowUps> {
        if rules.is_empty() {
            return None;
        }
        // Nobody listens any more when the program ends.
        let trouble = |text: String| drop(self.told.send(Told::Trouble(text)));
        let (Some(path), Some(owner)) = (self.history.path(), self.history.owner()) else {
            trouble("follow-ups are not sent, as no history is kept".to_owned());
            return None;
        };
        let (orders, received) = mpsc::channel();
        let post = Post { orders: orders.clone(), runtime: Handle::current(), office: self.clone() };
        let desk = Desk::new(path.to_owned(), owner.clone(), rules.to_vec(), post);
        if let Err(error) = thread::Builder::new().name("follow-ups".to_owned()).spawn(move || desk.run(&received)) {
            trouble(format!("follow-ups are not sent: {error}"));
            return None;
        }
        Some(FollowUps { orders, agents: agents(rules), rules: rules.to_vec(), looked: Looked::default() })
    }
}

/// The agents that rules have told something.
fn agents(rules: &[FollowUpRule]) -> BTreeSet<String> {
    rules.iter().map(|rule| rule.to.clone()).collect()
}

impl FollowUps {
    /// Follows other rules from now on; what waits already is sent all the same.
    pub(super) fn obey(&mut self, rules: &[FollowUpRule]) {
        self.agents.extend(agents(rules));
        self.rules = rules.to_vec();
        self.order(Order::Rules(rules.to_vec()));
    }

    /// Something happened that rules may want told.
    pub(super) fn happened(&self, event: Event, at: Moment) {
        self.order(Order::Happened { event: Box::new(event), at });
    }

    /// Looks at the agents that may have to be told something, and at the terminals that it is about.
    pub(super) fn look(&mut self, view: &View<'_>) {
        let named = view.terminals.iter().filter(|terminal| self.agents.contains(&terminal.state.terminal.id));
        let targets = named.map(|terminal| {
            let seen = Seen { target: Target::of(terminal), recipient: Recipient::of(terminal) };
            (terminal.state.terminal.id.clone(), seen)
        });
        let is_source = |name: &str| self.rules.iter().any(|rule| rule.from.matches(name));
        let agents = view.terminals.iter().filter(|terminal| is_source(&terminal.state.terminal.id));
        let tasks = view.tasks.iter().filter(|task| is_source(&task.id));
        let sources =
            agents.map(|agent| Source::of_terminal(agent)).chain(tasks.map(|task| Source::of_task(task, view.now)));
        let has_answered = |health: &Health| matches!(health, Health::Up | Health::NoServer(_));
        let answered = view.servers.iter().filter(|server| has_answered(&server.health));
        let looked = Looked {
            targets: targets.collect(),
            sources: sources.collect(),
            answered: answered.map(|server| server.id.word()).collect(),
        };
        if looked != self.looked {
            self.order(Order::Looked(Box::new(looked.clone())));
            self.looked = looked;
        }
    }

    /// Waits until nothing is on its way.
    pub(super) async fn finish(&self) {
        let (done, wait) = oneshot::channel();
        self.order(Order::Finish(done));
        // A thread that has ended has nothing on its way.
        let _ = wait.await;
    }

    fn order(&self, order: Order) {
        // The thread ends only with the last of those who can order something.
        let _ = self.orders.send(order);
    }
}

/// How the thread sends.
pub(super) struct Post {
    orders: OrderSender<Order>,
    runtime: Handle,
    office: Office,
}

impl Post {
    /// Sends a message in a task of its own, which asks the thread right before the first byte, and tells it the outcome.
    fn send(&self, id: IntentId, to: Recipient, name: String, text: String, events: usize, now: Moment) {
        let (orders, Office { history, sender, told }) = (self.orders.clone(), self.office.clone());
        self.runtime.spawn(async move {
            let sent = Sent::Prompt(text.clone());
            let input = NewInput { key: to.key.clone(), name, at: now, sender: signature(id), sent };
            let ticket = history.begin_input_durably(input).await;
            let may_send = async {
                let (answer, answered) = oneshot::channel();
                let _ = orders.send(Order::MaySend { id, text: text.clone(), events, answer });
                answered.await.unwrap_or(false)
            };
            let submitting = || {
                ticket.delivered(crate::history::now());
                let _ = told.send(Told::Submitting(to.key.clone()));
            };
            let outcome = sender.send_if(&to, &text, SendOptions::default(), may_send, submitting).await;
            ticket.ended(outcome.word(), outcome.detail(), crate::history::now());
            let _ = orders.send(Order::Ended { id, outcome });
        });
    }

    fn tell(&self, told: Told) {
        // Nobody listens any more when the program ends.
        let _ = self.office.told.send(told);
    }
}

/// Under which name a message is written down as an input, so that its outcome is found again.
fn signature(id: IntentId) -> String {
    format!("follow-up {}", id.0)
}
