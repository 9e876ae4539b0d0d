//! What the operator decides of intents of which it is not known whether they arrived, or that ran out.

use rusqlite::{TransactionBehavior, params};

use super::{Intent, IntentId, IntentState, Intents, OPEN, keep_record};
use crate::history::Trouble;
use crate::time::Timestamp;

/// What came of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decided {
    Dismissed,
    /// It is sent again, as this one.
    Resent(IntentId),
    /// There is nothing to decide: it has come so far.
    NotOpen(IntentState),
    /// There is no such intent.
    Missing,
}

impl Intents {
    /// What waits, is on its way, or is for the operator to decide; oldest first.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn open_matters(&self) -> Result<Vec<Intent>, Trouble> {
        self.select(OPEN, Timestamp::from_millis(0))
    }

    /// Leaves an intent at what became of it; one that waits is not sent any more.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn dismiss(&mut self, id: IntentId, now: Timestamp) -> Result<Decided, Trouble> {
        let Some(intent) = self.get(id)? else { return Ok(Decided::Missing) };
        let state = match intent.state {
            IntentState::Pending => IntentState::Cancelled,
            IntentState::Unknown | IntentState::Expired => IntentState::Dismissed,
            state => return Ok(Decided::NotOpen(state)),
        };
        match self.decide(&intent, state, None, now)? {
            true => Ok(Decided::Dismissed),
            false => Ok(self.get(id)?.map_or(Decided::Missing, |intent| Decided::NotOpen(intent.state))),
        }
    }

    /// Has an intent sent again whose outcome is not known, or that ran out: as a new one, so that its message has a
    /// number of its own. It is kept for its agent as long as the first one was.
    ///
    /// # Errors
    /// The file cannot be written; nothing was decided.
    pub fn resend(&mut self, id: IntentId, now: Timestamp) -> Result<Decided, Trouble> {
        let Some(intent) = self.get(id)? else { return Ok(Decided::Missing) };
        if !matches!(intent.state, IntentState::Unknown | IntentState::Expired) {
            return Ok(Decided::NotOpen(intent.state));
        }
        let expires = intent.expires.map(|expires| now + expires.since(intent.created));
        let next = {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let sql = "UPDATE outbox SET state = 'resent' WHERE id = ?1 AND state = ?2";
            if transaction.execute(sql, params![id.0, intent.state.word()])? == 0 {
                return Ok(Decided::NotOpen(IntentState::Resent));
            }
            let sql = "INSERT INTO outbox (target, recipient, producer, text, created, expires, state)
                       SELECT target, recipient, producer, iif(recipient IS NULL, NULL, text), ?2, ?3, 'pending'
                       FROM outbox WHERE id = ?1";
            transaction.execute(sql, params![id.0, now.as_millis(), expires.map(Timestamp::as_millis)])?;
            let next = IntentId(transaction.last_insert_rowid());
            // The events keep their names with the first one, so that nobody queues them anew.
            let sql = "INSERT INTO outbox_events (key, intent, at, body)
                       SELECT 'again ' || ?2 || ' ' || key, ?2, at, body FROM outbox_events WHERE intent = ?1 ORDER BY rowid";
            transaction.execute(sql, params![id.0, next.0])?;
            let detail = format!("as number {}", next.0);
            keep_record(&transaction, &mut self.codec, &intent, (IntentState::Resent, Some(&detail)), now)?;
            transaction.commit()?;
            next
        };
        Ok(Decided::Resent(next))
    }

    /// Whether the intent was still as it was read.
    fn decide(
        &mut self,
        intent: &Intent,
        state: IntentState,
        detail: Option<&str>,
        now: Timestamp,
    ) -> Result<bool, Trouble> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let sql = "UPDATE outbox SET state = ?1, ended_at = ?2 WHERE id = ?3 AND state = ?4";
        let values = params![state.word(), now.as_millis(), intent.id.0, intent.state.word()];
        if transaction.execute(sql, values)? == 0 {
            return Ok(false);
        }
        keep_record(&transaction, &mut self.codec, intent, (state, detail), now)?;
        transaction.commit()?;
        Ok(true)
    }
}
