//! Prompts that wait until their agents are ready (SPEC §11). They outlive the process that took them.

use rusqlite::{TransactionBehavior, params};

use super::{IntentId, Intents};
use crate::history::Trouble;
use crate::history::identity::{Columns, same_terminal};
use crate::ids::TerminalKey;
use crate::time::Timestamp;

impl Intents {
    /// Has a prompt wait for a terminal, behind those that wait there already.
    ///
    /// # Errors
    /// The file cannot be written; nothing waits.
    pub fn post(&mut self, to: &TerminalKey, name: &str, text: &str, now: Timestamp) -> Result<IntentId, Trouble> {
        let recipient = serde_json::to_string(&Columns::of(to)).map_err(|error| Trouble::Other(error.to_string()))?;
        let sql = "INSERT INTO outbox (target, recipient, producer, text, created, state)
                   VALUES (?1, ?2, 'queue', ?3, ?4, 'pending')";
        self.connection.prepare_cached(sql)?.execute(params![name, recipient, text, now.as_millis()])?;
        Ok(IntentId(self.connection.last_insert_rowid()))
    }

    /// Takes back the prompts that wait for a terminal, but for what is on its way; their texts.
    ///
    /// # Errors
    /// The file cannot be written; they wait on.
    pub fn take_back(&mut self, to: &TerminalKey, now: Timestamp) -> Result<Vec<String>, Trouble> {
        let waiting = self.select("recipient NOT NULL AND state = 'pending' AND id > ?1", Timestamp::default())?;
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut texts = Vec::new();
        for prompt in waiting.into_iter().filter(|it| it.recipient.as_ref().is_some_and(|key| same_terminal(key, to))) {
            let sql = "UPDATE outbox SET state = 'cancelled', ended_at = ?1 WHERE id = ?2 AND state = 'pending'";
            if transaction.execute(sql, params![now.as_millis(), prompt.id.0])? > 0 {
                texts.extend(prompt.text);
            }
        }
        transaction.commit()?;
        Ok(texts)
    }
}
