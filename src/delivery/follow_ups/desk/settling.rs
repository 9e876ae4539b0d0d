//! What became of messages: of those that this process sends, and of those that ran out or whose senders died.

use super::{HOLD, RESPITE, Sending, Worker, unclear};
use crate::delivery::DeliveryEvent;
use crate::delivery::follow_ups::producer;
use crate::follow_up::{self, Fate, Posture};
use crate::history::{Intent, IntentState, Trouble};
use crate::ids::TerminalKey;
use crate::operation::{Outcome, Refusal};
use crate::time::{Span, Timestamp};

/// How long the terminal of a prompt may take to be found.
const IS_FOUND: Span = Span::from_secs(5);

impl Worker {
    /// Writes down what became of the messages that this process has sent. What cannot be written now stays what is being
    /// sent, so that nobody takes it for abandoned.
    pub(super) fn conclude(&mut self, now: Timestamp) -> Result<(), Trouble> {
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
    ) -> Result<(), Trouble> {
        match outcome {
            Outcome::Accepted(how) => {
                self.open(now)?.conclude(intent.id, IntentState::Sent, how.as_deref(), now)?;
                if intent.recipient.is_none() {
                    self.post.tell(DeliveryEvent::FollowUp(format!("{} was told: {}", intent.target, intent.told())));
                }
            }
            // What may stand in a prompt or have gone out is never sent again on a guess.
            Outcome::NotTaken { why } | Outcome::Unverified { why } => {
                self.open(now)?.conclude(intent.id, IntentState::Unknown, Some(&why), now)?;
                self.post.tell(DeliveryEvent::Trouble(unclear(intent, &why)));
            }
            // A prompt that was taken back meanwhile stays that, and what nobody could send before its claim ran out waits on.
            Outcome::Refused(refusal)
                if intent.recipient.is_some() && !refusal.may_pass() && refusal != Refusal::Withdrawn =>
            {
                self.open(now)?.conclude(intent.id, IntentState::Failed, Some(&refusal.to_string()), now)?;
            }
            Outcome::Refused(refusal) => {
                let intents = self.open(now)?;
                intents.retract(intent.id)?;
                intents.release(intent.id)?;
                if refusal != Refusal::Withdrawn {
                    self.respite.insert(to, now + RESPITE);
                }
            }
        }
        Ok(())
    }

    /// Prolongs the claims of what is being sent, long before they run out.
    pub(super) fn hold(&mut self, now: Timestamp) -> Result<(), Trouble> {
        let Some(intents) = &mut self.intents else { return Ok(()) };
        let soon = now + Span::from_millis(HOLD.as_millis() / 2);
        for (id, Sending { intent, .. }) in &mut self.sending {
            if intent.claimed_until.is_none_or(|until| until < soon) && intents.claim(*id, now, HOLD)? {
                intent.claimed_until = Some(now + HOLD);
            }
        }
        Ok(())
    }

    /// Gives up what was kept for an agent that did not come back.
    pub(super) fn expire(&mut self, now: Timestamp) -> Result<(), Trouble> {
        let Some(intents) = &mut self.intents else { return Ok(()) };
        // A message is kept as long as its agent is there, however long that works.
        for intent in intents.pending(now)? {
            let keep = self.rules.iter().find(|rule| rule.to == intent.target).map(|rule| rule.keep);
            let there = self.looked.target(&intent).is_some_and(|seen| seen.target.posture != Posture::Gone);
            if let Some(keep) = keep.filter(|_| there)
                && intent.expires.is_some_and(|expires| expires < now + Span::from_millis(keep.as_millis() / 2))
            {
                intents.prolong(intent.id, now + keep)?;
            }
        }
        for intent in intents.expire(now)? {
            let text = format!("{} was not there to be told: {}", intent.target, intent.told());
            self.post.tell(DeliveryEvent::Trouble(text));
        }
        Ok(())
    }

    /// Gives up prompts whose agents have ended; a first look may not find every agent yet.
    pub(super) fn give_up(&mut self, now: Timestamp) -> Result<(), Trouble> {
        let pending = self.open(now)?.pending(now)?;
        for prompt in &pending {
            if self.sending.contains_key(&prompt.id) {
                continue;
            }
            let Some(key) = prompt.recipient.as_ref().filter(|key| self.looked.answered.contains(&key.server.word()))
            else {
                continue;
            };
            let has_ended = match self.looked.target(prompt) {
                Some(seen) => seen.target.posture == Posture::Gone,
                None => now.since(*self.missing.entry(prompt.id).or_insert(now)) >= IS_FOUND,
            };
            if has_ended && self.leads(&key.server.word()) {
                let intents = self.open(now)?;
                if intents.claim(prompt.id, now, HOLD)? {
                    intents.finish(prompt.id, IntentState::Failed, Some("the agent has ended"), now)?;
                    self.post.keep_unsent(prompt, "the agent has ended", now);
                }
            }
        }
        self.missing.retain(|id, _| pending.iter().any(|intent| intent.id == *id));
        Ok(())
    }

    /// Finds out what became of messages whose senders died.
    pub(super) fn settle(&mut self, now: Timestamp) -> Result<(), Trouble> {
        let mut found = self.open(now)?.abandoned(now)?;
        // After standing still, this process knows best what became of what it sends itself.
        found.retain(|intent| !self.sending.contains_key(&intent.id));
        self.abandoned.retain(|id, _| found.iter().any(|intent| intent.id == *id));
        for intent in found {
            let since = *self.abandoned.entry(intent.id).or_insert(now);
            let attempted = intent.attempted_at.unwrap_or(intent.created);
            let recorded = self.open(now)?.outcome_by(&producer(&intent).to_string(), attempted)?;
            let target = self.looked.target(&intent).map(|seen| &seen.target);
            // What a process attempted that stands still may yet arrive.
            let key = self.looked.target(&intent).map(|seen| &seen.recipient.key);
            if key.is_some_and(|key| !self.leads(&key.server.word()) || self.post.is_taken(key)) {
                self.abandoned.insert(intent.id, now);
                continue;
            }
            let kept = intent.expires.is_none_or(|expires| expires > now);
            let fate = match follow_up::fate(number_of(&intent), recorded.as_deref(), target, now.since(since)) {
                // Its agent may come back, and what it shows then tells.
                Fate::Unclear(_) if target.is_none() && kept => Fate::Wait,
                fate => fate,
            };
            if fate == Fate::Wait || !self.open(now)?.claim(intent.id, now, HOLD)? {
                continue;
            }
            match fate {
                Fate::Arrived => {
                    let intents = self.open(now)?;
                    intents.finish(intent.id, IntentState::Sent, Some("found on its agent's screen"), now)?;
                }
                Fate::NotSent => {
                    let intents = self.open(now)?;
                    intents.retract(intent.id)?;
                    intents.release(intent.id)?;
                }
                Fate::Unclear(why) => {
                    self.open(now)?.finish(intent.id, IntentState::Unknown, Some(why), now)?;
                    self.post.tell(DeliveryEvent::Trouble(unclear(&intent, why)));
                }
                Fate::Wait => {}
            }
        }
        Ok(())
    }
}

/// The number by which a message is found on its agent's screen; a prompt has none.
fn number_of(intent: &Intent) -> Option<i64> {
    intent.recipient.is_none().then_some(intent.id.0)
}
