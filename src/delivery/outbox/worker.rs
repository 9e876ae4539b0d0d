//! The thread: it alone touches the store of what waits, and decides with what it knows of the agents.
//!
//! Only the leader of a server sends. What a process attempted that died then is settled by the next leader: it is never sent
//! again by itself, and a process that is stopped while it sends keeps its turn at the terminal, and is waited for.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender as OrderSender};
use std::thread;

use tokio::runtime::Handle;
use tokio::sync::{oneshot, watch};

use super::{Attempt, FleetSnapshot, Outbox, OutboxOrder, OutboxSettings, WaitingTargets, producer};
use crate::clock;
use crate::delivery::trouble::{DeliveryEvent, Troubles};
use crate::follow_up::{self, FollowUpEvent, FollowUpRule, Posture, Wanted};
use crate::history::{Intents, Reader, RecordFilter};
use crate::ids::TerminalKey;
use crate::operation::{Act, Operation, Outcome, Recipient, Refusal, When};
use crate::private::HeldLock;
use crate::record::{Body, HistoryError, Intent, IntentId, IntentState, Kind, Stored};
use crate::state::LEFT_UNWATCHED;
use crate::time::{Span, Timestamp};
use crate::tracker::HANDOVER;

/// How often it is checked, while something waits, what can be done for it by now.
const CHECKED: Span = Span::from_millis(500);
/// Messages about events that one agent gets within a minute at most; what else happens waits, and becomes one message.
const MOST: u64 = 4;
/// Why it is not known whether something arrived that another process attempted.
const DIED: &str = "its sender died";
/// How long an agent that refused a message is left alone.
const RESPITE: Span = CHECKED.times(4);

/// Starts to send queued messages and follow-ups; `None` without a history, which is reported if there are rules.
pub(in crate::delivery) fn open(settings: &OutboxSettings, rules: &[FollowUpRule]) -> Option<Outbox> {
    if settings.history.path().is_none() {
        if !rules.is_empty() {
            settings.tell(DeliveryEvent::Trouble("follow-ups are not sent, because no history is kept".to_owned()));
        }
        return None;
    }
    let (orders, received) = mpsc::channel();
    let (wants, wanted) = watch::channel(WaitingTargets::new());
    let worker = Worker::new(settings.clone(), orders.clone(), wants, Handle::current())?;
    let changed = orders.clone();
    settings.history.when_changed(move || changed.send(OutboxOrder::Changed).is_ok());
    if let Err(error) = thread::Builder::new().name("outbox".to_owned()).spawn(move || worker.run(&received)) {
        settings.tell(DeliveryEvent::Trouble(format!("queued messages are not sent: {error}")));
        return None;
    }
    Some(Outbox::new(rules, orders, wanted))
}

/// All messages that wait or are being sent.
pub(super) struct Worker {
    path: PathBuf,
    settings: OutboxSettings,
    orders: OrderSender<OutboxOrder>,
    wanted: watch::Sender<WaitingTargets>,
    runtime: Handle,
    intents: Option<Intents>,
    /// The servers for which this process acts, by their words.
    leads: HashMap<String, HeldLock>,
    snapshot: FleetSnapshot,
    /// Servers that this process leads since a moment, and the rules: its predecessor may have left something unqueued.
    catch_up: Vec<(String, Vec<FollowUpRule>)>,
    /// Events that are still to be queued, in order.
    events: Vec<Wanted>,
    /// Since when a message is on its way that this process does not send.
    abandoned: HashMap<IntentId, Timestamp>,
    /// Messages being sent, until their outcome is recorded.
    sending: HashMap<IntentId, Sending>,
    /// Since when the terminals of messages are not found.
    missing: HashMap<IntentId, Timestamp>,
    /// Outcomes that are still to be recorded, in order.
    outcomes: Vec<(IntentId, Outcome)>,
    /// Agents that are left alone until a moment.
    respite: HashMap<TerminalKey, Timestamp>,
    /// Callers that wait for the end.
    leaving: Vec<oneshot::Sender<()>>,
    /// The problem last reported to the operator.
    troubled: Option<HistoryError>,
    /// Agents that were told too much of within a minute.
    limits: Troubles,
}

/// Something that is being sent.
struct Sending {
    intent: Intent,
    to: TerminalKey,
}

impl Worker {
    /// `None` when no history is kept.
    pub(super) fn new(
        settings: OutboxSettings,
        orders: OrderSender<OutboxOrder>,
        wanted: watch::Sender<WaitingTargets>,
        runtime: Handle,
    ) -> Option<Self> {
        Some(Self {
            path: settings.history.path()?.to_owned(),
            limits: Troubles::new(settings.events.clone()),
            settings,
            orders,
            wanted,
            runtime,
            intents: None,
            leads: HashMap::new(),
            snapshot: FleetSnapshot::default(),
            catch_up: Vec::new(),
            events: Vec::new(),
            abandoned: HashMap::new(),
            sending: HashMap::new(),
            missing: HashMap::new(),
            outcomes: Vec::new(),
            respite: HashMap::new(),
            leaving: Vec::new(),
            troubled: None,
        })
    }

    /// Runs until the program ends and nothing is being sent.
    pub(super) fn run(mut self, orders: &Receiver<OutboxOrder>) {
        loop {
            let order = match self.is_waiting() {
                true => orders.recv_timeout(CHECKED.into()),
                false => orders.recv().map_err(RecvTimeoutError::from),
            };
            match order {
                Ok(order) => self.take(order),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            while let Ok(order) = orders.try_recv() {
                self.take(order);
            }
            let worked = self.work(clock::now());
            self.judge(worked);
            if self.sending.is_empty() && !self.leaving.is_empty() {
                let leaving = std::mem::take(&mut self.leaving);
                // First of all it lets go of the history, which ends with the last one that holds it: the watches of this
                // process must end, and what was reported last be written, before the process does.
                drop(self);
                // Who gave up waiting has gone.
                for done in leaving {
                    let _ = done.send(());
                }
                return;
            }
        }
    }

    /// Whether there may be something to do although nobody says so.
    fn is_waiting(&self) -> bool {
        let is_done = self.events.is_empty() && self.catch_up.is_empty() && self.outcomes.is_empty();
        !is_done || self.troubled.is_some() || !self.wanted.borrow().is_empty()
    }

    fn take(&mut self, order: OutboxOrder) {
        let now = clock::now();
        match order {
            OutboxOrder::Queue(events) => self.events.extend(events),
            OutboxOrder::Lead(server, Some(held), rules) => {
                self.catch_up.push((server.clone(), rules));
                self.leads.insert(server, held);
            }
            OutboxOrder::Lead(server, None, _) => drop(self.leads.remove(&server)),
            OutboxOrder::FleetSnapshot(snapshot) => self.snapshot = snapshot,
            OutboxOrder::MaySend { id, text, events, answer } => {
                let to = self.sending.get(&id).map(|sending| sending.to.server.word());
                let leads = to.is_some_and(|server| self.leads(&server));
                let allowed = match &mut self.intents {
                    Some(intents) if leads => intents.attempt(id, &text, events, now).unwrap_or(false),
                    _ => false,
                };
                // The task that asks waits for this very answer.
                let _ = answer.send(allowed);
            }
            OutboxOrder::Ended { id, outcome } => self.outcomes.push((id, outcome)),
            OutboxOrder::Changed => {}
            OutboxOrder::Finish(done) => self.leaving.push(done),
        }
    }

    /// Whether this process acts for a server.
    fn leads(&self, server: &str) -> bool {
        self.leads.get(server).is_some_and(HeldLock::holds)
    }

    /// Queues events, and what the leader before has recorded lately. What cannot be written now is kept.
    fn queue(&mut self, now: Timestamp) -> Result<(), HistoryError> {
        while let Some((server, rules)) = self.catch_up.last() {
            if !rules.is_empty() {
                let kinds = vec![Kind::Transition, Kind::TaskEvent];
                let since = Some(now - follow_up::NEWS);
                let mut recent =
                    Reader::open(&self.path)?.records(&RecordFilter { since, kinds, ..Default::default() })?;
                recent.retain(|record| record.key.as_ref().is_some_and(|key| key.server.word() == *server));
                let events = recorded(&recent);
                self.events.extend(events.iter().flat_map(|event| follow_up::wanted(rules, event)));
            }
            self.catch_up.pop();
        }
        while let Some(wanted) = self.events.first().cloned() {
            self.open(now)?.queue(&wanted, now)?;
            self.events.remove(0);
        }
        Ok(())
    }

    /// Does all that can be done now.
    fn work(&mut self, now: Timestamp) -> Result<(), HistoryError> {
        self.open(now)?;
        self.conclude(now)?;
        self.queue(now)?;
        if !self.leads.values().any(HeldLock::holds) {
            return Ok(());
        }
        self.expire(now)?;
        self.give_up(now)?;
        self.settle(now)?;
        let open = self.open(now)?.open_matters()?;
        let wanted = open.iter().map(|intent| (intent.target.clone(), intent.recipient.clone())).collect();
        self.wanted.send_replace(wanted);
        if self.leaving.is_empty() { self.send(now) } else { Ok(()) }
    }

    fn open(&mut self, now: Timestamp) -> Result<&mut Intents, HistoryError> {
        match &mut self.intents {
            Some(intents) => Ok(intents),
            none => Ok(none.insert(Intents::open(&self.path, now)?)),
        }
    }

    /// Sends messages to agents that are ready.
    fn send(&mut self, now: Timestamp) -> Result<(), HistoryError> {
        for intent in self.open(now)?.pending()? {
            let Some(seen) = self.snapshot.target(&intent).cloned() else { continue };
            let key = seen.recipient.key.clone();
            let is_served = self.sending.values().any(|other| other.to == key);
            let rests = self.respite.get(&key).is_some_and(|until| now < *until);
            if seen.posture != Posture::Ready
                || is_served
                || rests
                || !self.leads(&key.server.word())
                || self.is_limited(&intent, now)?
            {
                continue;
            }
            let text = match (&intent.recipient, &intent.text) {
                (Some(_), Some(text)) => text.clone(),
                _ => follow_up::message(intent.id.0, &intent.events),
            };
            self.perform(&intent, seen.recipient_of(&intent), text, now);
            self.sending.insert(intent.id, Sending { intent, to: key });
        }
        Ok(())
    }

    /// Whether an agent was told of so much lately that it is told nothing more for now: agents that are told of each other
    /// would go on for ever.
    fn is_limited(&mut self, intent: &Intent, now: Timestamp) -> Result<bool, HistoryError> {
        if intent.recipient.is_some() {
            // The operator's own prompt says nothing of how much the agent was told.
            return Ok(false);
        }
        let to = &intent.target;
        let is_limited = self.open(now)?.told_since(to, now - Span::MINUTE)? >= MOST;
        let subject = format!("follow-ups to {to} wait");
        match is_limited {
            true => self.limits.tell(&subject, &format!("it was told {MOST} times within a minute")),
            false => self.limits.passed(&subject),
        }
        Ok(is_limited)
    }

    /// Sends a message in a task of its own, which asks the thread right before the first byte, and reports the outcome
    /// to it.
    fn perform(&self, intent: &Intent, to: Recipient, text: String, now: Timestamp) {
        let (id, orders, sender) = (intent.id, self.orders.clone(), self.settings.sender.clone());
        let gate = Attempt { orders: orders.clone(), id, text: text.clone(), events: intent.events.len() };
        let operation =
            Operation { at: now, producer: producer(intent), to, act: Act::Prompt { text, when: When::Ready } };
        self.runtime.spawn(async move {
            let outcome = sender.perform(operation, gate).await;
            let _ = orders.send(OutboxOrder::Ended { id, outcome });
        });
    }

    /// Writes down what became of the messages that this process has sent. What cannot be written now stays what is being
    /// sent, so that nobody takes it for abandoned.
    fn conclude(&mut self, now: Timestamp) -> Result<(), HistoryError> {
        while let Some((id, outcome)) = self.outcomes.first().cloned() {
            if let Some((intent, to)) =
                self.sending.get(&id).map(|sending| (sending.intent.clone(), sending.to.clone()))
            {
                self.conclude_one(&intent, to, outcome, now)?;
                self.sending.remove(&id);
            }
            self.outcomes.remove(0);
        }
        Ok(())
    }

    fn conclude_one(
        &mut self,
        intent: &Intent,
        to: TerminalKey,
        outcome: Outcome,
        now: Timestamp,
    ) -> Result<(), HistoryError> {
        match outcome {
            Outcome::Accepted(how) => {
                self.open(now)?.finish(intent.id, IntentState::Sent, how.as_deref(), now)?;
                if intent.recipient.is_none() {
                    self.settings.tell(DeliveryEvent::FollowUp(format!(
                        "{} was told: {}",
                        intent.target,
                        intent.message_text()
                    )));
                }
            }
            // What may stand in a prompt or have gone out is never sent again on a guess.
            Outcome::NotTaken { why } | Outcome::Unverified { why } => {
                self.open(now)?.finish(intent.id, IntentState::Unknown, Some(&why), now)?;
                let unclear = unclear(intent, &why);
                self.settings.tell(match intent.recipient {
                    Some(_) => DeliveryEvent::Unclear(unclear),
                    None => DeliveryEvent::Trouble(unclear),
                });
            }
            // A prompt that was taken back meanwhile stays that.
            Outcome::Refused(refusal)
                if intent.recipient.is_some() && !refusal.may_pass() && refusal != Refusal::Withdrawn =>
            {
                self.open(now)?.finish(intent.id, IntentState::Failed, Some(&refusal.to_string()), now)?;
            }
            Outcome::Refused(refusal) => {
                self.open(now)?.retract(intent.id)?;
                if refusal != Refusal::Withdrawn {
                    self.respite.insert(to, now + RESPITE);
                }
            }
        }
        Ok(())
    }

    /// Ends messages whose time is up while their agents are not there; one whose agent is there has time. After the start of a
    /// process an agent may take a moment to be found.
    fn expire(&mut self, now: Timestamp) -> Result<(), HistoryError> {
        for intent in self.open(now)?.pending()? {
            let Some(expires) = intent.expires else { continue };
            if self.snapshot.target(&intent).is_some_and(|seen| seen.posture != Posture::Gone) {
                self.missing.remove(&intent.id);
                if expires < now + Span::MINUTE {
                    self.open(now)?.prolong(intent.id, now + Span::MINUTE + Span::MINUTE)?;
                }
                continue;
            }
            let is_missing = now.since(*self.missing.entry(intent.id).or_insert(now)) >= HANDOVER;
            if is_missing
                && expires <= now
                && !self.sending.contains_key(&intent.id)
                && self.open(now)?.expire(intent.id, now)?
            {
                let text = format!("{} was not there to be told: {}", intent.target, intent.message_text());
                self.settings.tell(DeliveryEvent::Trouble(text));
            }
        }
        Ok(())
    }

    /// Gives up prompts whose agents have ended; a first poll may not find every agent yet.
    fn give_up(&mut self, now: Timestamp) -> Result<(), HistoryError> {
        let pending = self.open(now)?.pending()?;
        for prompt in &pending {
            if self.sending.contains_key(&prompt.id) {
                continue;
            }
            let Some(key) = prompt.recipient.as_ref().filter(|key| self.snapshot.answered.contains(&key.server.word()))
            else {
                continue;
            };
            let has_ended = match self.snapshot.target(prompt) {
                Some(seen) => seen.posture == Posture::Gone,
                None => now.since(*self.missing.entry(prompt.id).or_insert(now)) >= HANDOVER,
            };
            if has_ended && self.leads(&key.server.word()) {
                let why = "the agent has ended";
                if self.open(now)?.finish(prompt.id, IntentState::Failed, Some(why), now)? {
                    self.keep_unsent(prompt, why, now);
                }
            }
        }
        self.missing.retain(|id, _| pending.iter().any(|intent| intent.id == *id));
        Ok(())
    }

    /// Finds the outcome of messages that another process began to send and left: what it recorded, or else the operator is
    /// asked.
    fn settle(&mut self, now: Timestamp) -> Result<(), HistoryError> {
        let mut found = self.open(now)?.attempted()?;
        found.retain(|intent| !self.sending.contains_key(&intent.id));
        self.abandoned.retain(|id, _| found.iter().any(|intent| intent.id == *id));
        for intent in found {
            let since = *self.abandoned.entry(intent.id).or_insert(now);
            let key = self.snapshot.target(&intent).map(|seen| &seen.recipient.key).or(intent.recipient.as_ref());
            let is_on_its_way = match key {
                // What a process attempted that stands still may yet arrive.
                Some(key) => !self.leads(&key.server.word()) || self.settings.sender.is_taken(key),
                // Its agent may be on another process's server, or come back.
                None => intent.expires.is_some_and(|expires| expires > now),
            };
            if is_on_its_way {
                self.abandoned.insert(intent.id, now);
            } else if now.since(since) >= HANDOVER {
                let attempted = intent.attempted_at.unwrap_or(intent.created);
                let intents = self.open(now)?;
                match intents.outcome_by(&producer(&intent).to_string(), attempted)?.as_deref() {
                    Some("accepted") => drop(intents.finish(intent.id, IntentState::Sent, None, now)?),
                    Some("refused") => drop(intents.retract(intent.id)?),
                    _ => {
                        if intents.finish(intent.id, IntentState::Unknown, Some(DIED), now)? {
                            self.settings.tell(DeliveryEvent::Trouble(unclear(&intent, DIED)));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Keeps a prompt that was not sent where it can be found again.
    fn keep_unsent(&self, prompt: &Intent, why: &str, now: Timestamp) {
        let (Some(key), Some(text)) = (prompt.recipient.clone(), prompt.text.clone()) else { return };
        let (to, act) = (Recipient::new(key, prompt.target.clone()), Act::Prompt { text, when: When::Ready });
        let operation = Operation { at: now, producer: producer(prompt), to, act };
        self.settings.history.begin_input(&Arc::new(operation)).ended(Refusal::Other(why.to_owned()).into(), now);
    }

    /// Reports a problem with the store, once; messages wait until it is solved.
    fn judge(&mut self, done: Result<(), HistoryError>) {
        match done {
            Ok(()) => self.troubled = None,
            Err(trouble) => {
                self.intents = None;
                if self.troubled.as_ref() != Some(&trouble) {
                    self.settings.tell(DeliveryEvent::Trouble(format!(
                        "queued messages are not sent, because the history cannot be used: {trouble}"
                    )));
                    self.troubled = Some(trouble);
                }
            }
        }
    }
}

/// The events in some records, oldest first. Whether a dialog stayed for a moment is not known.
fn recorded(records: &[Stored]) -> Vec<FollowUpEvent> {
    let ended = |record: &Stored| record.body.agent().and_then(|state| state.last_turn.at);
    let is_taken_back = |key: &TerminalKey, at: Timestamp| {
        records.iter().any(|other| {
            other.key.as_ref() == Some(key) && other.at > at && ended(other).is_none_or(|ended| ended < at)
        })
    };
    let event = |record: &Stored| {
        let key = record.key.as_ref()?;
        match &record.body {
            Body::TaskEvent(task) => {
                Some(FollowUpEvent::of_task(key, &record.name, record.at, &task.happening, &task.state))
            }
            Body::Transition(transition) if transition.transition.note.as_deref() == Some(LEFT_UNWATCHED) => {
                Some(FollowUpEvent::of_lost(key, &record.name, record.at))
            }
            body => FollowUpEvent::of_end(key, body.agent()?)
                .filter(|event| event.at == record.at && !is_taken_back(key, event.at)),
        }
    };
    records.iter().filter_map(event).collect()
}

fn unclear(intent: &Intent, why: &str) -> String {
    let what_it_got = if intent.recipient.is_some() { "got the prompt" } else { "been told" };
    format!("{} may or may not have {what_it_got}, look there ({why}): {}", intent.target, intent.message_text())
}

#[cfg(test)]
mod tests;
