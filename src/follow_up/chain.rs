//! Which follow-ups led to what an agent does, so that no agent is told what it caused itself.

use std::collections::{HashMap, VecDeque};

use crate::moment::{Moment, Span};

/// Messages from one terminal to one agent within [`WINDOW`] at most: an agent that starts a task again whenever it is
/// told of its end is a loop, too, that no chain shows.
const MOST: usize = 20;
/// The time in which they are counted.
const WINDOW: Span = Span::from_secs(600);

/// What is known of causes.
#[derive(Clone, Debug, Default)]
pub struct Chains {
    /// Of each agent that was told something and whose turn has not ended since: all agents that led to it, and itself.
    causes: HashMap<String, Vec<String>>,
    /// When each source had each agent told.
    told: HashMap<(String, String), VecDeque<Moment>>,
}

impl Chains {
    /// The agents that led to what an agent does now, and itself.
    pub fn of(&self, source: &str) -> Vec<String> {
        self.causes.get(source).cloned().unwrap_or_else(|| vec![source.to_owned()])
    }

    /// What [`Chains::was_told`] was last told of an agent; nothing when its turn has ended since.
    pub fn causes(&self, agent: &str) -> &[String] {
        self.causes.get(agent).map(Vec::as_slice).unwrap_or_default()
    }

    /// An agent was told of events that these agents had led to.
    pub fn was_told(&mut self, agent: &str, chain: &[String]) {
        let mut causes: Vec<String> = chain.iter().filter(|name| *name != agent).cloned().collect();
        causes.push(agent.to_owned());
        self.causes.insert(agent.to_owned(), causes);
    }

    /// An agent's turn has ended: what it does next has another cause.
    pub fn has_ended(&mut self, agent: &str) {
        self.causes.remove(agent);
    }

    /// Whether telling an agent of a source would close a loop, in words; `chain` are the agents that led to the event.
    pub fn closes_a_loop(&mut self, source: &str, to: &str, chain: &[String], now: Moment) -> Option<String> {
        if chain.iter().any(|agent| agent == to) {
            return Some(format!("{to} itself led to it"));
        }
        let told = self.told.entry((source.to_owned(), to.to_owned())).or_default();
        while told.front().is_some_and(|at| now.since(*at) > WINDOW) {
            told.pop_front();
        }
        if told.len() >= MOST {
            return Some(format!(
                "{to} was told of {source} {MOST} times within {} minutes",
                WINDOW.as_millis() / 60_000
            ));
        }
        told.push_back(now);
        None
    }
}
