//! What became of messages: of those that this process sends, and of those that ran out or whose senders died.

use super::{Desk, HOLD, RESPITE, chain, unclear, with_causes};
use crate::delivery::Told;
use crate::delivery::follow_ups::{Seen, signature};
use crate::follow_up::{self, Fate, Posture, told};
use crate::history::{Intent, IntentState, Trouble};
use crate::moment::{Moment, Span};
use crate::sender::{Refusal, SendOutcome};

impl Desk {
    /// Writes down what became of the messages that this process has sent. What cannot be written now stays what is being
    /// sent, so that nobody takes it for abandoned.
    pub(super) fn conclude(&mut self, now: Moment) -> Result<(), Trouble> {
        while let Some((id, outcome)) = self.outcomes.first().cloned() {
            if let Some(intent) = self.sending.get(&id).cloned() {
                self.conclude_one(&intent, outcome, now)?;
                self.sending.remove(&id);
            }
            self.outcomes.remove(0);
        }
        Ok(())
    }

    fn conclude_one(&mut self, intent: &Intent, outcome: SendOutcome, now: Moment) -> Result<(), Trouble> {
        match outcome {
            SendOutcome::Accepted => {
                self.was_told(intent, now)?;
                self.open(now)?.conclude(intent.id, IntentState::Sent, None, now)?;
                self.post.tell(Told::FollowUp(format!("{} was told: {}", intent.target, told(&intent.events))));
            }
            SendOutcome::NotTaken { why } => {
                self.open(now)?.conclude(intent.id, IntentState::Unknown, Some(&why), now)?;
                self.post.tell(Told::Trouble(unclear(intent, &why)));
            }
            SendOutcome::Refused(refusal) => {
                let intents = self.open(now)?;
                intents.retract(intent.id)?;
                intents.release(intent.id)?;
                if refusal != Refusal::Withdrawn {
                    self.respite.insert(intent.target.clone(), now + RESPITE);
                }
            }
        }
        Ok(())
    }

    /// Prolongs the claims of what is being sent, long before they run out.
    pub(super) fn hold(&mut self, now: Moment) -> Result<(), Trouble> {
        let Some(intents) = &mut self.intents else { return Ok(()) };
        let soon = now + Span::from_millis(HOLD.as_millis() / 2);
        for (id, intent) in &mut self.sending {
            if intent.claimed_until.is_none_or(|until| until < soon) && intents.claim(*id, now, HOLD)? {
                intent.claimed_until = Some(now + HOLD);
            }
        }
        Ok(())
    }

    /// What led to an agent's next turn is kept with what was seen of it. That is done before the outcome of what it was told
    /// is written down, so that it is not forgotten when this process dies in between.
    fn was_told(&mut self, intent: &Intent, now: Moment) -> Result<(), Trouble> {
        self.chains.was_told(&intent.target, &chain(intent));
        if let Some(sight) = self.ledger.stored(&intent.target) {
            let sight = with_causes(&self.chains, sight);
            self.open(now)?.tell(&[], Some(&sight), now)?;
        }
        Ok(())
    }

    /// Gives up what was kept for an agent that did not come back.
    pub(super) fn expire(&mut self, now: Moment) -> Result<(), Trouble> {
        let Some(intents) = &mut self.intents else { return Ok(()) };
        // A message is kept as long as its agent is there, however long that works.
        for intent in intents.pending(now)? {
            let keep = self.rules.iter().find(|rule| rule.to == intent.target).map(|rule| rule.keep);
            let there =
                self.looked.targets.get(&intent.target).is_some_and(|seen| seen.target.posture != Posture::Gone);
            if let Some(keep) = keep.filter(|_| there)
                && intent.expires.is_some_and(|expires| expires < now + Span::from_millis(keep.as_millis() / 2))
            {
                intents.prolong(intent.id, now + keep)?;
            }
        }
        for intent in intents.expire(now)? {
            let text = format!("{} was not there to be told: {}", intent.target, told(&intent.events));
            self.post.tell(Told::Trouble(text));
        }
        Ok(())
    }

    /// Finds out what became of messages whose senders died.
    pub(super) fn settle(&mut self, now: Moment) -> Result<(), Trouble> {
        let mut found = self.open(now)?.abandoned(now)?;
        // After standing still, this process knows best what became of what it sends itself.
        found.retain(|intent| !self.sending.contains_key(&intent.id));
        self.abandoned.retain(|id, _| found.iter().any(|intent| intent.id == *id));
        for intent in found {
            let since = *self.abandoned.entry(intent.id).or_insert(now);
            let attempted = intent.attempted_at.unwrap_or(intent.created);
            let recorded = self.open(now)?.outcome_by(&signature(intent.id), attempted)?;
            let target = self.looked.targets.get(&intent.target).map(|seen| &seen.target);
            let covered = |seen: &Seen| self.ledger.covers(&seen.recipient.key.server.word());
            if self.looked.targets.get(&intent.target).is_some_and(|seen| !covered(seen)) {
                continue;
            }
            let kept = intent.expires.is_none_or(|expires| expires > now);
            let fate = match follow_up::fate(intent.id.0, recorded.as_deref(), target, now.since(since)) {
                // Its agent may come back, and what it shows then tells.
                Fate::Unclear(_) if target.is_none() && kept => Fate::Wait,
                fate => fate,
            };
            if fate == Fate::Wait || !self.open(now)?.claim(intent.id, now, HOLD)? {
                continue;
            }
            match fate {
                Fate::Arrived => {
                    self.was_told(&intent, now)?;
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
                    self.post.tell(Told::Trouble(unclear(&intent, why)));
                }
                Fate::Wait => {}
            }
        }
        Ok(())
    }
}
