//! What became of messages that were not sent, or not by this process.

use super::{Desk, HOLD, chain, unclear, with_causes};
use crate::delivery::Told;
use crate::delivery::follow_ups::{Seen, signature};
use crate::follow_up::{self, Fate, Posture, told};
use crate::history::{IntentState, Trouble};
use crate::moment::{Moment, Span};

impl Desk {
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
        let Some(intents) = &mut self.intents else { return Ok(()) };
        let found = intents.abandoned(now)?;
        self.abandoned.retain(|id, _| found.iter().any(|intent| intent.id == *id));
        for intent in found {
            let since = *self.abandoned.entry(intent.id).or_insert(now);
            let recorded = intents.outcome_by(&signature(intent.id))?;
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
            if fate == Fate::Wait || !intents.claim(intent.id, now, HOLD)? {
                continue;
            }
            match fate {
                Fate::Arrived => {
                    // Before the outcome, as where a message is sent.
                    self.chains.was_told(&intent.target, &chain(&intent));
                    if let Some(sight) = self.ledger.stored(&intent.target) {
                        intents.tell(&[], Some(&with_causes(&self.chains, sight)), now)?;
                    }
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
}
