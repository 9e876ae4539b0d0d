//! The thread: it alone touches the store of what waits, and decides with what it knows of the agents.
//!
//! A message is sent by the process that has claimed it, which prolongs its claim for as long as it sends: however slow
//! a server is, nobody else takes the message for abandoned. Only a process that stands still or dies lets its claim run
//! out. What it attempted is looked into then ([`settling`]) and, unless its agent shows that nothing came, never sent
//! again; and who looks into it must have the duty for the server, which a process that stands still keeps.

mod ledger;
mod settling;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::oneshot;

use super::{Looked, Order, Post};
use crate::delivery::Told;
use crate::delivery::duty::{Duties, Duty};
use crate::follow_up::{self, Chains, Event, FollowUpRule, Posture, Wanted, told, wanted};
use crate::history::{self, Intent, IntentId, Intents, Naming, NewEvent, Owner, Rank, StoredSight, Trouble};
use crate::moment::{Moment, Span};
use crate::sender::SendOutcome;
use ledger::{Change, Ledger};

/// How often the store is looked at for what other processes queued or left behind.
const PAUSE: Duration = Duration::from_millis(500);
/// How long this process has a message to itself unless it prolongs that, which it does for as long as it sends.
const HOLD: Span = Span::from_secs(20);
/// How long an agent that refused a message is left alone.
const RESPITE: Span = Span::from_secs(2);

/// Everything that waits and is on its way.
pub(super) struct Desk {
    path: PathBuf,
    owner: Owner,
    rules: Vec<FollowUpRule>,
    post: Post,
    intents: Option<Intents>,
    chains: Chains,
    duties: Duties,
    ledger: Ledger,
    /// What has happened and was not taken in yet.
    happened: Vec<(Event, Moment)>,
    /// What could not be written down yet, in its order.
    unwritten: Vec<Write>,
    looked: Looked,
    /// Since when it is known that the sender of a message has died.
    abandoned: HashMap<IntentId, Moment>,
    /// What is being sent, until what became of it is written down.
    sending: HashMap<IntentId, Intent>,
    /// What became of it, in its order.
    outcomes: Vec<(IntentId, SendOutcome)>,
    /// Agents that are left alone until a moment.
    respite: HashMap<String, Moment>,
    /// Who waits for the end.
    leaving: Vec<oneshot::Sender<()>>,
    /// What the operator was told that is wrong.
    troubled: Option<Trouble>,
    /// Loops that were told.
    loops: HashSet<(String, String)>,
}

/// What is to be written down.
enum Write {
    /// Events that agents are to be told, and what is remembered of the terminal then.
    Told { events: Vec<NewEvent>, sight: Option<StoredSight>, at: Moment },
    /// A terminal that is gone.
    Gone(String),
}

impl Desk {
    pub(super) fn new(path: PathBuf, owner: Owner, rules: Vec<FollowUpRule>, post: Post) -> Self {
        let duties = Duties::new(path.parent(), Rank::Watch);
        Self {
            path,
            owner,
            rules,
            post,
            intents: None,
            chains: Chains::default(),
            duties,
            ledger: Ledger::default(),
            happened: Vec::new(),
            unwritten: Vec::new(),
            looked: Looked::default(),
            abandoned: HashMap::new(),
            sending: HashMap::new(),
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
            let is_idle = self.sending.is_empty() && self.happened.is_empty() && self.unwritten.is_empty();
            if is_idle && !self.leaving.is_empty() {
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
            Order::Happened { event, at } => self.happened.push((*event, at)),
            Order::Rules(rules) => self.rules = rules,
            Order::Looked(looked) => {
                self.ledger.look(looked.sources.clone(), looked.answered.clone(), now);
                self.looked = *looked;
            }
            Order::MaySend { id, text, events, answer } => {
                let allowed = match &mut self.intents {
                    Some(intents) => intents.attempt(id, &text, events, now).unwrap_or(false),
                    None => false,
                };
                // The task that asks waits for this very answer.
                let _ = answer.send(allowed);
            }
            Order::Ended { id, outcome } => self.outcomes.push((id, outcome)),
            Order::Finish(done) => self.leaving.push(done),
        }
    }

    /// Takes in what has happened on the servers for which this process is on duty. What happens on the others somebody
    /// else sees to; should that process die, the ledger tells what it did not.
    fn take_in(&mut self, now: Moment) -> Result<(), Trouble> {
        while let Some((event, at)) = self.happened.first().cloned() {
            if self.covers(&event.server, now)? && !self.ledger.is_known(&event) {
                let sight = self.ledger.told(&event, at);
                self.tell(&event, sight, at);
            }
            self.happened.remove(0);
        }
        for server in self.looked.answered.clone() {
            self.covers(&server, now)?;
        }
        for change in self.ledger.compare(now) {
            match change {
                Change::Seen(sight) => self.unwritten.push(seen(with_causes(&self.chains, sight), now)),
                Change::Missed(event, sight) => self.tell(&event, sight, now),
                Change::Gone(identity) => self.unwritten.push(Write::Gone(identity)),
            }
        }
        Ok(())
    }

    /// Whether this process is on duty for a server. When it comes to be, it reads what the one before has seen.
    fn covers(&mut self, server: &str, now: Moment) -> Result<bool, Trouble> {
        if self.ledger.covers(server) {
            return Ok(true);
        }
        let Some(intents) = &self.intents else { return Ok(false) };
        if !self.duties.has(Duty::FollowUps, server, now) {
            return Ok(false);
        }
        let stored = intents.sights(server)?;
        for sight in &stored {
            let causes = sight.body.get("causes").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            let causes: Vec<String> = causes.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            if !causes.is_empty() {
                self.chains.was_told(&sight.name, &causes);
            }
        }
        self.ledger.adopt(server, stored, now);
        Ok(true)
    }

    /// Queues an event for those who are to be told, unless that would close a loop; `sight` is what is remembered of its
    /// terminal then.
    fn tell(&mut self, event: &Event, sight: Option<StoredSight>, at: Moment) {
        let chain = if event.is_of_an_agent() { self.chains.of(&event.source) } else { Vec::new() };
        let mut events = Vec::new();
        for wanted in wanted(&self.rules, event, &chain) {
            match self.chains.closes_a_loop(&event.source, &wanted.to, &chain, at) {
                None => events.push(new_event(wanted, at)),
                Some(why) => {
                    if self.loops.insert((event.source.clone(), wanted.to.clone())) {
                        let text = format!(
                            "a loop of follow-ups is stopped: {} is not told of {}, as {why}",
                            wanted.to, event.source
                        );
                        self.post.tell(Told::Trouble(text));
                    }
                }
            }
        }
        if event.ends_a_turn() {
            self.chains.has_ended(&event.source);
        }
        let sight = sight.map(|sight| with_causes(&self.chains, sight));
        self.unwritten.push(Write::Told { events, sight, at });
    }

    /// Does all that can be done now.
    fn work(&mut self, now: Moment) -> Result<(), Trouble> {
        self.open(now)?;
        self.conclude(now)?;
        self.hold(now)?;
        self.take_in(now)?;
        self.write()?;
        self.expire(now)?;
        self.settle(now)?;
        if self.leaving.is_empty() { self.send(now) } else { Ok(()) }
    }

    fn open(&mut self, now: Moment) -> Result<&mut Intents, Trouble> {
        match &mut self.intents {
            Some(intents) => Ok(intents),
            none => Ok(none.insert(Intents::open(&self.path, self.owner.clone(), now)?)),
        }
    }

    fn write(&mut self) -> Result<(), Trouble> {
        let Some(intents) = &mut self.intents else { return Ok(()) };
        while let Some(write) = self.unwritten.first() {
            match write {
                Write::Told { events, sight, at } => intents.tell(events, sight.as_ref(), *at)?,
                Write::Gone(identity) => intents.forget_sight(identity)?,
            }
            self.unwritten.remove(0);
        }
        Ok(())
    }

    /// Sends what waits for agents that are ready.
    fn send(&mut self, now: Moment) -> Result<(), Trouble> {
        let Some(intents) = &mut self.intents else { return Ok(()) };
        for intent in intents.pending(now)? {
            let Some(seen) = self.looked.targets.get(&intent.target) else { continue };
            let is_covered = self.ledger.covers(&seen.recipient.key.server.word());
            let is_served = self.sending.values().any(|other| other.target == intent.target);
            let rests = self.respite.get(&intent.target).is_some_and(|until| now < *until);
            if seen.target.posture != Posture::Ready
                || !is_covered
                || is_served
                || rests
                || !intents.claim(intent.id, now, HOLD)?
            {
                continue;
            }
            // What joined before the claim is a part of it.
            let Some(intent) = intents.get(intent.id)? else { continue };
            let text = follow_up::message(intent.id.0, &intent.events);
            let (id, name, events) = (intent.id, intent.target.clone(), intent.events.len());
            self.post.send(id, seen.recipient.clone(), name, text, events, now);
            self.sending.insert(id, intent);
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
                    self.post.tell(Told::Trouble(format!("follow-ups wait, as the history cannot be used: {trouble}")));
                    self.troubled = Some(trouble);
                }
            }
        }
    }
}

fn new_event(wanted: Wanted, at: Moment) -> NewEvent {
    let naming = if wanted.is_unique { Naming::ByKey } else { Naming::ByTime };
    NewEvent { target: wanted.to, key: wanted.key, naming, body: wanted.body, expires: Some(at + wanted.keep) }
}

fn seen(sight: StoredSight, at: Moment) -> Write {
    Write::Told { events: Vec::new(), sight: Some(sight), at }
}

/// What led to what an agent does is kept with what was seen of it.
fn with_causes(chains: &Chains, mut sight: StoredSight) -> StoredSight {
    let causes = chains.causes(&sight.name);
    if let Some(body) = sight.body.as_object_mut().filter(|_| !causes.is_empty()) {
        body.insert("causes".to_owned(), causes.into());
    }
    sight
}

/// The agents that led to what a message tells.
fn chain(intent: &Intent) -> Vec<String> {
    let chains = intent.events.iter().filter_map(|event| event.get("chain")?.as_array());
    let mut chain: Vec<String> = chains.flatten().filter_map(Value::as_str).map(str::to_owned).collect();
    chain.sort();
    chain.dedup();
    chain
}

fn unclear(intent: &Intent, why: &str) -> String {
    format!("{} may or may not have been told, look there ({why}): {}", intent.target, told(&intent.events))
}

#[cfg(test)]
mod tests;
