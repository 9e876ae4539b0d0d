//! How often a server is looked at.

use std::time::Duration;

use crate::hash::Fnv;

/// The lengths of time between two looks at a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticks {
    pub usual: Duration,
    /// While something changes.
    pub shortest: Duration,
    /// While nothing changes, or no server is there.
    pub longest: Duration,
}

impl Default for Ticks {
    fn default() -> Self {
        Self {
            usual: Duration::from_millis(500),
            shortest: Duration::from_millis(250),
            longest: Duration::from_millis(1000),
        }
    }
}

/// Looks without a change until the tick grows from the shortest to the usual, and from there to the longest.
const QUIET_LOOKS: (u32, u32) = (8, 12);

/// The longest pause after failures, in ticks of the longest kind: a host costs a connection each time.
const BACK_OFF_HERE: u32 = 2;
const BACK_OFF_HOST: u32 = 8;

/// A pause is at least so many times as long as the look before it.
const REST: u32 = 4;

/// What the next pause depends on.
#[derive(Debug)]
pub(super) struct Pace {
    ticks: Ticks,
    /// The name of a server on a host as a number, by which the pauses of many hosts are spread; `None` on this machine.
    host: Option<u64>,
    /// Looks since something changed.
    quiet: u32,
    /// Failures in a row.
    failures: u32,
    /// Whether the last failure says that there is no server.
    no_server: bool,
}

impl Pace {
    pub(super) fn new(ticks: Ticks, host: Option<u64>) -> Self {
        Self { ticks, host, quiet: 0, failures: 0, no_server: false }
    }

    /// Takes in a look that succeeded.
    pub(super) fn looked(&mut self, changed: bool) {
        (self.failures, self.no_server) = (0, false);
        self.quiet = if changed { 0 } else { self.quiet.saturating_add(1) };
    }

    /// Takes in a look that failed.
    pub(super) fn failed(&mut self, no_server: bool) {
        self.failures = self.failures.saturating_add(1);
        self.no_server = no_server;
    }

    /// Something will change soon.
    pub(super) fn hurry(&mut self) {
        (self.quiet, self.failures) = (0, 0);
    }

    /// How long to wait until the next look, when the last one took so long.
    pub(super) fn pause(&self, took: Duration) -> Duration {
        // A server with many panes, or on a busy machine, is not to be kept busy by being watched.
        self.wanted_pause().max((took * REST).min(self.ticks.longest))
    }

    fn wanted_pause(&self) -> Duration {
        if self.no_server {
            return self.ticks.longest;
        }
        if self.failures > 0 {
            let most = if self.host.is_some() { BACK_OFF_HOST } else { BACK_OFF_HERE };
            let pause = self.ticks.longest * (1 << (self.failures - 1).min(3)).min(most);
            return pause + pause.mul_f64(self.spread());
        }
        match self.quiet {
            quiet if quiet < QUIET_LOOKS.0 => self.ticks.shortest,
            quiet if quiet < QUIET_LOOKS.0 + QUIET_LOOKS.1 => self.ticks.usual,
            _ => self.ticks.longest,
        }
    }

    /// How much longer the pause after a failure is, up to a half: a hundred hosts that fail at once, as the network is
    /// gone, are not to be connected to at once again.
    fn spread(&self) -> f64 {
        let Some(host) = self.host else { return 0.0 };
        let mut hash = Fnv::default();
        hash.feed(&host.to_le_bytes());
        hash.feed(&self.failures.to_le_bytes());
        f64::from((hash.get() >> 32) as u32 % 512) / 1024.0
    }
}
