//! What is not sent yet: queued messages, and drafts.

use super::{IntentId, IntentState};
use crate::follow_up::{MessageEvent, message_text};
use crate::ids::TerminalKey;
use crate::time::Timestamp;

/// A message to send.
#[derive(Clone, Debug, PartialEq)]
pub struct Intent {
    pub id: IntentId,
    /// Whom it is for, as the configuration names it, or as the terminal was called then.
    pub target: String,
    /// The one terminal that a prompt is for; `None` for a message to whichever agent has the name.
    pub recipient: Option<TerminalKey>,
    pub created: Timestamp,
    pub expires: Option<Timestamp>,
    pub state: IntentState,
    pub attempted_at: Option<Timestamp>,
    /// The text as it was or will be sent; `None` until it is attempted.
    pub text: Option<String>,
    pub detail: Option<String>,
    /// The events of a message, in order.
    pub events: Vec<MessageEvent>,
}

impl Intent {
    /// Its content in one short line.
    pub fn message_text(&self) -> String {
        match (&self.recipient, &self.text) {
            (Some(_), Some(text)) => text.lines().next().unwrap_or_default().to_owned(),
            _ => message_text(&self.events),
        }
    }
}

/// A text that was not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// Its terminal; `None` for the draft to several terminals.
    pub key: Option<TerminalKey>,
    pub text: String,
    /// When it was last written.
    pub at: Timestamp,
}
