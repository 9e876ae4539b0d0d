//! What the server knows: every request of a turn, when it came, and what became of it.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// One thing that happened.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub at: Instant,
    /// The number of the request, from 0.
    pub exchange: usize,
    pub happening: Happening,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// A request of a turn came.
    Arrived,
    /// A request of a turn came, and the script had no answer left.
    ArrivedUnexpected,
    /// The first byte of the answer was written.
    FirstByte,
    /// The answer was written.
    Finished(Ending),
    /// The client hung up before the answer was complete.
    ClientGone,
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With the last word of the turn.
    Answered,
    /// With a tool call: the agent runs it, or asks its operator first.
    ToolAsked,
    /// With an HTTP error.
    Refused(u16),
    /// In the middle: the server cut the connection.
    Cut,
}

/// What the server can tell about the agent's turn from the newest request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Nothing was asked yet.
    None,
    /// The agent waits for an answer, or reads one.
    Answering,
    /// The agent has the answer, or what came instead.
    Over(Ending),
    /// The agent hung up in the middle.
    GivenUp,
}

/// The list of what happened; it only grows.
#[derive(Debug, Default)]
pub struct Timeline {
    entries: Mutex<Vec<Entry>>,
    grown: Condvar,
}

impl Timeline {
    /// Everything so far, in order.
    pub fn entries(&self) -> Vec<Entry> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many requests of turns came so far.
    pub fn requests(&self) -> usize {
        self.entries().iter().filter(|entry| entry.happening.is_arrival()).count()
    }

    /// What the newest request says about the agent's turn.
    pub fn work(&self) -> Work {
        work(&self.entries())
    }

    /// Waits until the list satisfies a condition.
    ///
    /// Fails the test, with the list, when that does not come true in time.
    pub fn wait_for(&self, what: &str, patience: Duration, condition: impl Fn(&[Entry]) -> bool) {
        let end = Instant::now() + patience;
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        while !condition(&entries) {
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "the model server waited in vain for {what}; it saw {entries:#?}");
            entries = self.grown.wait_timeout(entries, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits until the newest request of a turn stands as given.
    pub fn wait_for_work(&self, wanted: Work, patience: Duration) {
        self.wait_for(&format!("{wanted:?}"), patience, |entries| work(entries) == wanted);
    }

    /// Requests for which the script had no answer.
    pub fn unexpected(&self) -> usize {
        self.entries().iter().filter(|entry| entry.happening == Happening::ArrivedUnexpected).count()
    }

    pub(super) fn begin(&self, expected: bool) -> usize {
        let exchange = self.requests();
        self.note(exchange, if expected { Happening::Arrived } else { Happening::ArrivedUnexpected });
        exchange
    }

    pub(super) fn note(&self, exchange: usize, happening: Happening) {
        let entry = Entry { at: Instant::now(), exchange, happening };
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
        self.grown.notify_all();
    }
}

impl Happening {
    fn is_arrival(self) -> bool {
        matches!(self, Self::Arrived | Self::ArrivedUnexpected)
    }
}

fn work(entries: &[Entry]) -> Work {
    let Some(newest) = entries.iter().rfind(|entry| entry.happening.is_arrival()) else { return Work::None };
    let last = entries.iter().rfind(|entry| entry.exchange == newest.exchange).unwrap_or(newest);
    match last.happening {
        Happening::Arrived | Happening::ArrivedUnexpected | Happening::FirstByte => Work::Answering,
        Happening::Finished(ending) => Work::Over(ending),
        Happening::ClientGone => Work::GivenUp,
    }
}
