//! Follow-ups: agents are told what happened to other terminals (SPEC §9). Pure: what the history says and how agents look
//! in, what to do out; what waits is kept by [`crate::history`], and the sending is done elsewhere.
//!
//! A message is queued for an agent, waits until that agent is ready and has no draft, takes in what happens meanwhile,
//! and is sent once. What may have been sent by a process that died is looked into and never simply sent again.

mod chain;
mod event;
mod message;
mod rule;
mod target;

pub use chain::{COUNTED, chain, closes_a_loop};
pub use event::FollowUpEvent;
pub use message::{MessageEvent, message, tag, told};
pub use rule::{FollowUpRule, Wanted, wanted};
pub use target::{Fate, Posture, Target, fate};

#[cfg(test)]
mod tests;
