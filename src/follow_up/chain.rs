//! Which agents led to what an agent does, so that none is told what it caused itself.

use super::message::MessageEvent;
use crate::time::Span;

/// Messages from one terminal to one agent within [`COUNTED`] at most: an agent that starts a task again whenever it is
/// told of its end is a loop, too, that no chain shows.
const MOST: u64 = 20;
/// The time in which they are counted.
pub const COUNTED: Span = Span::from_secs(600);

/// The agents that led to what an agent does now, and itself; it was told these events since its last turn ended.
pub fn chain<'a>(source: &str, told: impl IntoIterator<Item = &'a MessageEvent>) -> Vec<String> {
    let mut chain: Vec<String> = told.into_iter().flat_map(|event| &event.chain).cloned().collect();
    chain.push(source.to_owned());
    chain.sort();
    chain.dedup();
    chain
}

/// Whether telling an agent of a source would close a loop, in words: `chain` are the agents that led to the event, and
/// `told` is how often the agent was told of the source within [`COUNTED`].
pub fn closes_a_loop(source: &str, to: &str, chain: &[String], told: u64) -> Option<String> {
    if chain.iter().any(|agent| agent == to) {
        return Some(format!("{to} itself led to it"));
    }
    let minutes = COUNTED.as_millis() / 60_000;
    (told >= MOST).then(|| format!("{to} was told of {source} {MOST} times within {minutes} minutes"))
}
