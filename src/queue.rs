//! Prompts that wait until their agents are ready (SPEC §11). It looks at no clock and sends nothing itself.
//!
//! The driving rule: after every change of the fleet take [`Queue::due`] and send what it gives, each one once; tell what
//! came of it with [`Queue::tried`]; and tell the operator of what [`Queue::drop_hopeless`] gives back.

use crate::fleet::{Terminal, TerminalKey};
use crate::moment::{Moment, Span};
use crate::state::Availability;

/// How long a prompt that was refused although the terminal looked ready waits before it is tried again.
const AGAIN: Span = Span::from_millis(1000);

/// The number of a prompt that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QueuedId(u64);

/// A prompt that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queued {
    pub id: QueuedId,
    pub key: TerminalKey,
    /// What the terminal was called when it was queued.
    pub name: String,
    pub text: String,
    /// Since when it waits.
    pub since: Moment,
    /// Whether it is being sent now, so that it can neither be sent again nor taken back.
    pub sending: bool,
    not_before: Moment,
}

/// A prompt that waits, as the operator is shown it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub text: String,
    pub since: Moment,
}

/// Whether a terminal takes a prompt (SPEC §7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// It is ready, and nobody has begun to write there.
    Ready,
    NotYet,
    /// The terminal or the agent in it is gone.
    Never,
}

/// What came of an attempt to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tried {
    /// It is no longer in the queue's hands: it was taken, or it went in and nobody knows.
    Done,
    /// Nothing was sent, and the reason may pass.
    Later,
}

/// All prompts that wait, in the order in which they were queued.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    prompts: Vec<Queued>,
    next: u64,
}

impl Queue {
    /// Puts a prompt behind those that wait for the same terminal.
    pub fn push(&mut self, key: TerminalKey, name: String, text: String, now: Moment) -> QueuedId {
        let id = QueuedId(self.next);
        self.next += 1;
        self.prompts.push(Queued { id, key, name, text, since: now, sending: false, not_before: Moment::default() });
        id
    }

    /// What can be sent now. A prompt is given once; of several for one terminal only the first is, and none while
    /// another one is on its way.
    pub fn due(&mut self, readiness: impl Fn(&TerminalKey) -> Readiness, now: Moment) -> Vec<Queued> {
        let mut met: Vec<TerminalKey> = Vec::new();
        let mut due = Vec::new();
        for prompt in &mut self.prompts {
            let is_first = !met.contains(&prompt.key);
            met.push(prompt.key.clone());
            let is_ready = || readiness(&prompt.key) == Readiness::Ready;
            if is_first && !prompt.sending && prompt.not_before <= now && is_ready() {
                prompt.sending = true;
                due.push(prompt.clone());
            }
        }
        due
    }

    /// Takes in what came of sending a prompt.
    pub fn tried(&mut self, id: QueuedId, tried: Tried, now: Moment) {
        match tried {
            Tried::Done => self.prompts.retain(|prompt| prompt.id != id),
            Tried::Later => {
                for prompt in self.prompts.iter_mut().filter(|prompt| prompt.id == id) {
                    prompt.sending = false;
                    prompt.not_before = now + AGAIN;
                }
            }
        }
    }

    /// Takes back what waits for a terminal, but for what is on its way.
    pub fn cancel(&mut self, key: &TerminalKey) -> Vec<Queued> {
        self.take(|prompt| prompt.key == *key)
    }

    /// Takes out what can never be sent: its terminal or the agent in it is gone.
    pub fn drop_hopeless(&mut self, readiness: impl Fn(&TerminalKey) -> Readiness) -> Vec<Queued> {
        self.take(|prompt| readiness(&prompt.key) == Readiness::Never)
    }

    /// All that wait or are on their way.
    pub fn prompts(&self) -> &[Queued] {
        &self.prompts
    }

    /// When a prompt that was refused may be tried again.
    pub fn next_try(&self, now: Moment) -> Option<Moment> {
        let waiting = self.prompts.iter().filter(|prompt| !prompt.sending);
        waiting.map(|prompt| prompt.not_before).filter(|at| *at > now).min()
    }

    fn take(&mut self, mut wanted: impl FnMut(&Queued) -> bool) -> Vec<Queued> {
        let (taken, kept) = self.prompts.drain(..).partition(|prompt| !prompt.sending && wanted(prompt));
        self.prompts = kept;
        taken
    }
}

impl Readiness {
    /// How a terminal stands; `None` is one that has left the fleet.
    pub fn of(terminal: Option<&Terminal>) -> Self {
        let Some(terminal) = terminal else { return Readiness::Never };
        match terminal.state.diagnostics.availability {
            Availability::Unavailable | Availability::TuiDown => Readiness::Never,
            _ if terminal.takes_a_prompt() => Readiness::Ready,
            Availability::Available | Availability::Error | Availability::Unknown => Readiness::NotYet,
        }
    }
}

#[cfg(test)]
mod tests;
