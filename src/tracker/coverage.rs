//! The time that looks cover: windows run in it only (SPEC §7), because what nobody looked at may have changed meanwhile.

use super::Settings;
use super::timers::{Timer, TimerName};
use crate::time::{Span, Timestamp};

/// Looks that are further apart leave a gap between them, unless they come as slowly all along.
const GAP: Span = Span::from_secs(3);
/// After such a gap nothing is told of what went on before it.
const LONG_GAP: Span = Span::from_secs(30);
/// A gap is so many times as long as the distance of the looks before it: a slow host is slow at each look.
const UNUSUAL: u64 = 2;
/// How long after a look what it showed is still taken to hold; less than any window, so that none ends without a look.
const HOLDS: Span = Span::from_millis(750);

/// Since when a terminal has been looked at without a gap.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Coverage {
    /// The first look after the last gap.
    from: Timestamp,
    last: Timestamp,
    /// How far the last two looks were apart.
    distance: Span,
    holds: Span,
    /// Whether no look has come yet.
    is_first: bool,
    /// Whether the first one shows how all began.
    is_new: bool,
    after_gap: bool,
}

impl Coverage {
    pub(super) fn new(settings: &Settings, now: Timestamp) -> Self {
        let holds = HOLDS.min(Span::from_millis(settings.settle.as_millis() * 3 / 4));
        Self { from: now, last: now, distance: Span::ZERO, holds, is_first: true, is_new: false, after_gap: false }
    }

    /// A terminal that was not there before: nothing of it is older than now.
    pub(super) fn begins(&mut self) {
        self.is_new = true;
    }

    /// Somebody else looked until then.
    pub(super) fn continues(&mut self, until: Timestamp) {
        (self.from, self.last, self.is_first) = (until.min(self.from), until, false);
    }

    /// Takes in a look.
    pub(super) fn looked(&mut self, now: Timestamp) {
        let distance = now.since(self.last);
        let usual = Span::from_millis(self.distance.as_millis() * UNUSUAL);
        self.after_gap = distance > GAP.max(usual) || (self.is_first && !self.is_new);
        if self.after_gap {
            self.from = now;
        }
        (self.last, self.distance, self.is_first) = (now, distance, false);
    }

    /// Whether the last look is the first one after a gap, so that what it finds began unseen.
    pub(super) fn is_after_gap(&self) -> bool {
        self.after_gap
    }

    /// The same of a long one.
    pub(super) fn is_after_long_gap(&self) -> bool {
        self.after_gap && self.distance > LONG_GAP
    }

    /// Whether what the last look showed is still taken to hold: only then a window may end.
    pub(super) fn holds(&self, now: Timestamp) -> bool {
        now.since(self.last) <= self.holds
    }

    /// A window as far as looks have covered it.
    pub(super) fn window(&self, name: TimerName, since: Timestamp, window: Span) -> Timer {
        Timer::new(name, self.begun(since), window)
    }

    /// When what began at a time began for a window: what is older than the last gap counts from there.
    pub(super) fn begun(&self, since: Timestamp) -> Timestamp {
        since.max(self.from)
    }
}
