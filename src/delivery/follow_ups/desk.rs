//! The thread: it alone touches the store of what waits, and decides with what it knows of the agents.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::oneshot;

use super::{Order, Post, Seen, signature};
use crate::delivery::Told;
use crate::follow_up::{self, Chains, Event, Fate, FollowUpRule, Posture, Wanted, wanted};
use crate::history::{self, Intent, IntentId, IntentState, Intents, Naming, Owner, Trouble};
use crate::moment::{Moment, Span};
use crate::sender::{Refusal, SendOutcome};

/// How often the store is looked at for what other processes queued or left behind.
const PAUSE: Duration = Duration::from_millis(500);
/// How long this process has a message to itself; longer than sending takes.
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
    /// What could not be queued yet.
    unqueued: Vec<(Wanted, Moment)>,
    agents: HashMap<String, Seen>,
    /// What is being sent, and to whom.
    sending: HashMap<IntentId, Intent>,
    /// Agents that are left alone until a moment.
    respite: HashMap<String, Moment>,
    /// Who waits for the end.
    leaving: Vec<oneshot::Sender<()>>,
    /// What the operator was told that is wrong.
    troubled: Option<Trouble>,
    /// Loops that were told.
    loops: HashSet<(String, String)>,
}

impl Desk {
    pub(super) fn new(path: PathBuf, owner: Owner, rules: Vec<FollowUpRule>, post: Post) -> Self {
        Self {
            path,
            owner,
            rules,
            post,
            intents: None,
            chains: Chains::default(),
            unqueued: Vec::new(),
            agents: HashMap::new(),
            sending: HashMap::new(),
            respite: HashMap::new(),
            leaving: Vec::new(),
            troubled: None,
            loops: HashSet::new(),
        }
    }

    /// Works until nobody can order anything any more.
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
            if self.sending.is_empty() && self.unqueued.is_empty() {
                // Who gave up waiting has gone.
                for done in self.leaving.drain(..) {
                    let _ = done.send(());
                }
            }
        }
    }

    fn take(&mut self, order: Order) {
        let now = history::now();
        match order {
            Order::Happened { event, at } => self.happened(&event, at),
            Order::Rules(rules) => self.rules = rules,
            Order::Targets(agents) => self.agents = agents,
            Order::MaySend { id, text, events, answer } => {
                let allowed = match &mut self.intents {
                    Some(intents) => intents.attempt(id, &text, events, now).unwrap_or(false),
                    None => false,
                };
                // The task that asks waits for this very answer.
                let _ = answer.send(allowed);
            }
            Order::Ended { id, outcome } => {
                let ended = self.ended(id, outcome, now);
                self.judge(ended);
            }
            Order::Finish(done) => self.leaving.push(done),
        }
    }

    /// Queues an event for those who are to be told, unless that would close a loop.
    fn happened(&mut self, event: &Event, at: Moment) {
        let chain = if event.is_of_an_agent() { self.chains.of(&event.source) } else { Vec::new() };
        for wanted in wanted(&self.rules, event, &chain) {
            match self.chains.closes_a_loop(&event.source, &wanted.to, &chain, at) {
                None => self.unqueued.push((wanted, at)),
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
    }

    /// Does all that can be done now.
    fn work(&mut self, now: Moment) -> Result<(), Trouble> {
        self.open(now)?;
        self.queue()?;
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

    fn queue(&mut self) -> Result<(), Trouble> {
        let Some(intents) = &mut self.intents else { return Ok(()) };
        while let Some((wanted, at)) = self.unqueued.first() {
            let naming = if wanted.is_unique { Naming::ByKey } else { Naming::ByTime };
            intents.queue(&wanted.to, (&wanted.key, naming), &wanted.body, *at, Some(*at + wanted.keep))?;
            self.unqueued.remove(0);
        }
        Ok(())
    }

    /// Gives up what was kept for an agent that did not come back.
    fn expire(&mut self, now: Moment) -> Result<(), Trouble> {
        let Some(intents) = &mut self.intents else { return Ok(()) };
        // A message is kept as long as its agent is there, however long that works.
        for intent in intents.pending(now)? {
            let keep = self.rules.iter().find(|rule| rule.to == intent.target).map(|rule| rule.keep);
            let there = self.agents.get(&intent.target).is_some_and(|seen| seen.target.posture != Posture::Gone);
            if let Some(keep) = keep.filter(|_| there)
                && intent.expires.is_some_and(|expires| expires < now + Span::from_millis(keep.as_millis() / 2))
            {
                intents.prolong(intent.id, now + keep)?;
            }
        }
        for intent in intents.expire(now)? {
            let text = format!("{} was not there to be told: {}", intent.target, told(&intent));
            self.post.tell(Told::Trouble(text));
        }
        Ok(())
    }

    /// Finds out what became of messages whose senders died.
    fn settle(&mut self, now: Moment) -> Result<(), Trouble> {
        let Some(intents) = &mut self.intents else { return Ok(()) };
        for intent in intents.abandoned(now)? {
            let recorded = intents.outcome_by(&signature(intent.id))?;
            let target = self.agents.get(&intent.target).map(|seen| &seen.target);
            let kept = intent.expires.is_none_or(|expires| expires > now);
            let fate = match follow_up::fate(intent.id.0, recorded.as_deref(), target) {
                // Its agent may come back, and what it shows then tells.
                Fate::Unclear(_) if target.is_none() && kept => Fate::Wait,
                fate => fate,
            };
            if fate == Fate::Wait || !intents.claim(intent.id, now, HOLD)? {
                continue;
            }
            match fate {
                Fate::Arrived => {
                    intents.finish(intent.id, IntentState::Sent, Some("found on its agent's screen"), now)?;
                }
                Fate::NotSent => {
                    intents.retract(intent.id)?;
                    intents.release(intent.id)?;
                }
                Fate::Unclear(why) => {
                    intents.finish(intent.id, IntentState::Unknown, Some(why), now)?;
                    self.post.tell(Told::Trouble(unclear(&intent, why)));
                }
                Fate::Wait => {}
            }
        }
        Ok(())
    }

    /// Sends what waits for agents that are ready.
    fn send(&mut self, now: Moment) -> Result<(), Trouble> {
        let Some(intents) = &mut self.intents else { return Ok(()) };
        for intent in intents.pending(now)? {
            let Some(seen) = self.agents.get(&intent.target) else { continue };
            let is_served = self.sending.values().any(|other| other.target == intent.target);
            let rests = self.respite.get(&intent.target).is_some_and(|until| now < *until);
            if seen.target.posture != Posture::Ready || is_served || rests || !intents.claim(intent.id, now, HOLD)? {
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

    fn ended(&mut self, id: IntentId, outcome: SendOutcome, now: Moment) -> Result<(), Trouble> {
        let Some(intent) = self.sending.remove(&id) else { return Ok(()) };
        self.open(now)?;
        let Some(intents) = &mut self.intents else { return Ok(()) };
        match outcome {
            SendOutcome::Accepted => {
                intents.finish(id, IntentState::Sent, None, now)?;
                self.chains.was_told(&intent.target, &chain(&intent));
                self.post.tell(Told::FollowUp(format!("{} was told: {}", intent.target, told(&intent))));
            }
            SendOutcome::NotTaken { why } => {
                intents.finish(id, IntentState::Unknown, Some(&why), now)?;
                self.post.tell(Told::Trouble(unclear(&intent, &why)));
            }
            SendOutcome::Refused(refusal) => {
                intents.retract(id)?;
                intents.release(id)?;
                if refusal != Refusal::Withdrawn {
                    self.respite.insert(intent.target, now + RESPITE);
                }
            }
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

/// What a message tells, in short.
fn told(intent: &Intent) -> String {
    let text = |event: &Value| event.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
    match &intent.events[..] {
        [event] => text(event),
        events => format!("{} events, the last one: {}", events.len(), events.last().map(text).unwrap_or_default()),
    }
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
    format!("{} may or may not have been told, look there ({why}): {}", intent.target, told(intent))
}
