//! The thread: it alone touches the store of what waits, and decides with what it knows of the agents.
//!
//! A message is sent by the process that has claimed it, which prolongs its claim for as long as it sends: however slow
//! a server is, nobody else takes the message for abandoned. Only a process that stands still or dies lets its claim run
//! out. What it attempted is looked into then ([`settling`]) by the leader of the server and, unless its agent shows that
//! nothing came, never sent again; a process that is stopped while it sends keeps its turn at the terminal, and is waited
//! for.

mod settling;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use tokio::sync::oneshot;

use super::{Looked, Order, Post};
use crate::delivery::DeliveryEvent;
use crate::follow_up::{self, FollowUpRule, Posture};
use crate::history::{self, Intent, IntentId, Intents, Owner, Stopped, Trouble};
use crate::ids::TerminalKey;
use crate::operation::Outcome;
use crate::private::Held;
use crate::time::{Span, Timestamp};

/// How often the store is looked at for what other processes queued or left behind.
const PAUSE: Duration = Duration::from_millis(500);
/// How long this process has a message to itself unless it prolongs that, which it does for as long as it sends.
const HOLD: Span = Span::from_secs(20);
/// How long an agent that refused a message is left alone.
const RESPITE: Span = Span::from_secs(2);

/// Everything that waits and is on its way.
pub(super) struct Worker {
    path: PathBuf,
    owner: Owner,
    rules: Vec<FollowUpRule>,
    post: Post,
    intents: Option<Intents>,
    /// The servers for which this process acts, by their words.
    leads: HashMap<String, Held>,
    looked: Looked,
    /// Since when it is known that the sender of a message has died.
    abandoned: HashMap<IntentId, Timestamp>,
    /// What is being sent, until what became of it is written down.
    sending: HashMap<IntentId, Sending>,
    /// Since when the terminals of prompts are not found.
    missing: HashMap<IntentId, Timestamp>,
    /// What became of it, in its order.
    outcomes: Vec<(IntentId, Outcome)>,
    /// Agents that are left alone until a moment.
    respite: HashMap<TerminalKey, Timestamp>,
    /// Who waits for the end.
    leaving: Vec<oneshot::Sender<()>>,
    /// What the operator was told that is wrong.
    troubled: Option<Trouble>,
    /// Loops that were told.
    loops: HashSet<(String, String)>,
}

/// Something that is being sent.
struct Sending {
    intent: Intent,
    to: TerminalKey,
}

impl Worker {
    pub(super) fn new(path: PathBuf, owner: Owner, rules: Vec<FollowUpRule>, post: Post) -> Self {
        Self {
            path,
            owner,
            rules,
            post,
            intents: None,
            leads: HashMap::new(),
            looked: Looked::default(),
            abandoned: HashMap::new(),
            sending: HashMap::new(),
            missing: HashMap::new(),
            outcomes: Vec::new(),
            respite: HashMap::new(),
            leaving: Vec::new(),
            troubled: None,
            loops: HashSet::new(),
        }
    }

    /// Works until the program ends and nothing is on its way any more.
    pub(super) fn run(mut self, orders: &Receiver<Order>) {
        loop {
            match orders.recv_timeout(PAUSE) {
                Ok(order) => self.take(order),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            while let Ok(order) = orders.try_recv() {
                self.take(order);
            }
            let worked = self.work(history::now());
            self.judge(worked);
            if self.sending.is_empty() && !self.leaving.is_empty() {
                let leaving = std::mem::take(&mut self.leaving);
                // First of all it lets go of the history, which ends with the last one that holds it: the watches of this
                // process must end, and what was told last be written, before the process does.
                drop(self);
                // Who gave up waiting has gone.
                for done in leaving {
                    let _ = done.send(());
                }
                return;
            }
        }
    }

    fn take(&mut self, order: Order) {
        let now = history::now();
        match order {
            Order::Rules(rules) => self.rules = rules,
            Order::Lead(server, Some(held)) => drop(self.leads.insert(server, held)),
            Order::Lead(server, None) => drop(self.leads.remove(&server)),
            Order::Looked(looked) => self.looked = looked,
            Order::MaySend { id, text, events, answer } => {
                let to = self.sending.get(&id).map(|sending| sending.to.server.word());
                let leads = to.is_some_and(|server| self.leads(&server));
                let allowed = match &mut self.intents {
                    Some(intents) if leads => intents.attempt(id, &text, events, now).unwrap_or(false),
                    _ => false,
                };
                // The task that asks waits for this very answer.
                let _ = answer.send(allowed);
            }
            Order::Ended { id, outcome } => self.outcomes.push((id, outcome)),
            Order::Finish(done) => self.leaving.push(done),
        }
    }

    /// Whether this process acts for a server.
    fn leads(&self, server: &str) -> bool {
        self.leads.get(server).is_some_and(Held::holds)
    }

    /// Queues what has happened since, whoever saw it.
    fn take_in(&mut self, now: Timestamp) -> Result<(), Trouble> {
        let Some(intents) = &mut self.intents else { return Ok(()) };
        for Stopped { source, to, why } in intents.take_in(&self.rules, now)? {
            let text = format!("a loop of follow-ups is stopped: {to} is not told of {source}, as {why}");
            if self.loops.insert((source, to)) {
                self.post.tell(DeliveryEvent::Trouble(text));
            }
        }
        Ok(())
    }

    /// Does all that can be done now.
    fn work(&mut self, now: Timestamp) -> Result<(), Trouble> {
        self.open(now)?;
        self.conclude(now)?;
        self.hold(now)?;
        if !self.leads.values().any(Held::holds) {
            return Ok(());
        }
        self.take_in(now)?;
        self.expire(now)?;
        self.give_up(now)?;
        self.settle(now)?;
        let open = self.open(now)?.open_matters()?;
        self.post.wanted.set(&open);
        if self.leaving.is_empty() { self.send(now) } else { Ok(()) }
    }

    fn open(&mut self, now: Timestamp) -> Result<&mut Intents, Trouble> {
        match &mut self.intents {
            Some(intents) => Ok(intents),
            none => Ok(none.insert(Intents::open(&self.path, self.owner.clone(), now)?)),
        }
    }

    /// Sends what waits for agents that are ready.
    fn send(&mut self, now: Timestamp) -> Result<(), Trouble> {
        let Some(intents) = &mut self.intents else { return Ok(()) };
        for intent in intents.pending(now)? {
            let Some(seen) = self.looked.target(&intent) else { continue };
            let key = seen.recipient.key.clone();
            let is_served = self.sending.values().any(|other| other.to == key);
            let rests = self.respite.get(&key).is_some_and(|until| now < *until);
            if seen.target.posture != Posture::Ready
                || is_served
                || rests
                || !self.leads.get(&key.server.word()).is_some_and(Held::holds)
                || !intents.claim(intent.id, now, HOLD)?
            {
                continue;
            }
            // What joined before the claim is a part of it.
            let Some(intent) = intents.get(intent.id)? else { continue };
            let text = match (&intent.recipient, &intent.text) {
                (Some(_), Some(text)) => text.clone(),
                _ => follow_up::message(intent.id.0, &intent.events),
            };
            self.post.send(&intent, seen.recipient.clone(), text, now);
            self.sending.insert(intent.id, Sending { intent, to: key });
        }
        Ok(())
    }

    /// Tells what is wrong with the store, once; what is to be done waits until it is well.
    fn judge(&mut self, done: Result<(), Trouble>) {
        match done {
            Ok(()) => self.troubled = None,
            Err(trouble) => {
                self.intents = None;
                if self.troubled.as_ref() != Some(&trouble) {
                    self.post.tell(DeliveryEvent::Trouble(format!(
                        "what waits is not sent, as the history cannot be used: {trouble}"
                    )));
                    self.troubled = Some(trouble);
                }
            }
        }
    }
}

fn unclear(intent: &Intent, why: &str) -> String {
    let told = if intent.recipient.is_some() { "got the prompt" } else { "been told" };
    format!("{} may or may not have {told}, look there ({why}): {}", intent.target, intent.told())
}

#[cfg(test)]
mod tests;
