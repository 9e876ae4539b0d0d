//! The windows of time that run in a tracker, by name: since when, until when, and what happens then (SPEC §7). Most run
//! only in the time that polls cover, because unwatched terminals may have changed meanwhile.

use serde::{Deserialize, Serialize};

use crate::state::words;
use crate::time::{Span, Timestamp};

words! {
    /// What a timer waits for.
    TimerName {
        /// The end of a turn stands still (rule 3).
        Settle = "settle",
        /// A prompt was sent, and the screen shows nothing of it (rule 1).
        NoReaction = "no_reaction",
        /// A success may still turn out to have been premature (rule 5).
        Retraction = "retraction",
        /// Work was seen, and then no trace of it any more.
        Linger = "linger",
        /// A version that nobody has recorded looks ready, and what it shows has changed.
        UnrecordedRest = "unrecorded_rest",
        /// What an agent repaints while it works stands still.
        WorkStandsStill = "work_stands_still",
        /// A lone status row above a free prompt stands still.
        StaleActiveRecovery = "stale_active_recovery",
        /// A ready screen stands still while a turn is held to be in flight.
        FinalStableActiveRecovery = "final_stable_active_recovery",
        /// Nothing can be said about the terminal.
        UnknownToStalled = "unknown_to_stalled",
        /// Nothing can be said about the turn.
        CompletionUnknownToStalled = "completion_unknown_to_stalled",
        /// Screen and record differ (SPEC §14).
        RecordDiffers = "record_differs",
        /// Only the record says that the agent asks for something.
        RecordAsks = "record_asks",
        /// The screen makes no sense, as a half-drawn one does.
        HalfDrawn = "half_drawn",
        /// Polling the terminal fails (SPEC §3).
        FailedProbes = "failed_probes",
        /// The published state has not changed (SPEC §8).
        Stability = "stability",
    }
}

impl TimerName {
    /// What happens when the timer runs out.
    pub const fn then(self) -> &'static str {
        match self {
            TimerName::Settle => "the turn has ended: a success if its answer stands there",
            TimerName::NoReaction => "the prompt counts as sent without a reaction, and its turn is dropped",
            TimerName::Retraction => "work is a new turn, and no longer withdraws the success",
            TimerName::Linger => "the work counts as over, and what it left begins to settle",
            TimerName::UnrecordedRest => "what looks ready counts as ready",
            TimerName::WorkStandsStill => "the terminal counts as stalled",
            TimerName::StaleActiveRecovery => {
                "the status row counts as left behind, and the terminal as ready, or as unknown while the row offers to stop"
            }
            TimerName::FinalStableActiveRecovery => "the turn is given up without a result, and the terminal is ready",
            TimerName::UnknownToStalled => "readiness becomes stalled",
            TimerName::CompletionUnknownToStalled => "completion becomes stalled",
            TimerName::RecordDiffers => "the newer one is believed",
            TimerName::RecordAsks => "the terminal counts as waiting for the operator",
            TimerName::HalfDrawn => "the screen is believed as it is",
            TimerName::FailedProbes => "one more failure is an error",
            TimerName::Stability => "the state counts as stable",
        }
    }

    /// Whether the tracker itself does something when the timer runs out, and not only at what comes later.
    pub(super) const fn acts(self) -> bool {
        !matches!(self, TimerName::Retraction | TimerName::FailedProbes)
    }
}

/// One window of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Timer {
    pub name: TimerName,
    /// When it began.
    pub since: Timestamp,
    /// Its deadline.
    pub until: Timestamp,
    /// What happens then.
    pub then: &'static str,
}

/// A timer without what follows from its name.
#[derive(Deserialize)]
struct NamedTimer {
    name: TimerName,
    since: Timestamp,
    until: Timestamp,
}

impl<'de> Deserialize<'de> for Timer {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let NamedTimer { name, since, until } = NamedTimer::deserialize(deserializer)?;
        Ok(Self { name, since, until, then: name.then() })
    }
}

impl Timer {
    pub(super) fn new(name: TimerName, since: Timestamp, window: Span) -> Self {
        Self { name, since, until: since + window, then: name.then() }
    }

    /// Whether its time is over at `now`.
    pub(super) fn is_over(&self, now: Timestamp) -> bool {
        self.until <= now
    }
}

/// Within this time another process takes over the polls of one that has ended or was stopped.
pub const HANDOVER: Span = Span::from_secs(5);
/// Polls further apart than this leave a gap, unless earlier polls were as far apart.
pub const GAP: Span = Span::from_secs(3);
/// After such a gap, nothing is said about what went on before it.
const LONG_GAP: Span = Span::from_secs(30);
/// How long a published state must last to be called stable, and to be announced: a dialog may be half drawn, a success premature.
pub const STABLE: Span = Span::SECOND;
/// A gap is at least this many times as long as the distance of the polls before it: a slow host is slow at each poll.
const UNUSUAL: u64 = 2;

/// Since when a terminal has been polled without a gap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coverage {
    /// The first poll after the last gap.
    from: Timestamp,
    last: Timestamp,
    /// How far the last two polls were apart.
    distance: Span,
    /// How long after a poll what it showed is still taken to hold.
    holds: Span,
    /// Whether no poll has come yet.
    is_first: bool,
    /// Whether the first one shows how all began.
    is_new: bool,
    after_gap: bool,
}

impl Coverage {
    pub(super) fn new(settings: &Settings, now: Timestamp) -> Self {
        // Less than any window, so that none ends without a poll.
        let holds = Span::from_millis(settings.settle.min(settings.doubt).as_millis() * 3 / 4);
        Self { from: now, last: now, distance: Span::ZERO, holds, is_first: true, is_new: false, after_gap: false }
    }

    /// Notes that the terminal is new: nothing about it is older than now.
    pub(super) fn begins(&mut self) {
        self.is_new = true;
    }

    /// Another process polled until then.
    pub(super) fn continues(&mut self, until: Timestamp) {
        (self.from, self.last, self.is_first) = (until.min(self.from), until, false);
    }

    /// Records a poll.
    pub(super) fn polled(&mut self, now: Timestamp) {
        let distance = now.since(self.last);
        let usual = self.distance.times(UNUSUAL);
        self.after_gap = distance > GAP.max(usual) || (self.is_first && !self.is_new);
        if self.after_gap {
            self.from = now;
        }
        (self.last, self.distance, self.is_first) = (now, distance, false);
    }

    /// Whether a poll at this time would leave no gap, and neither did the last one.
    pub(super) fn goes_on(&self, now: Timestamp) -> bool {
        let mut next = *self;
        next.polled(now);
        !self.after_gap && !next.after_gap
    }

    /// Whether the last poll is the first one after a gap, so that what it finds began unseen.
    pub(super) fn is_after_gap(&self) -> bool {
        self.after_gap
    }

    /// Since when nobody had polled before the last poll, if that was longer than a handover to another process takes.
    pub(super) fn unwatched_since(&self) -> Option<Timestamp> {
        let is_long = self.after_gap && self.distance > HANDOVER;
        is_long.then(|| self.last - self.distance)
    }

    /// Whether the last gap was a long one.
    pub(super) fn is_after_long_gap(&self) -> bool {
        self.after_gap && self.distance > LONG_GAP
    }

    /// Whether what the last poll showed is still taken to hold: only then a window may end.
    pub(super) fn holds(&self, now: Timestamp) -> bool {
        now.since(self.last) <= self.holds
    }

    /// A window as far as polls have covered it.
    pub(super) fn window(&self, name: TimerName, since: Timestamp, window: Span) -> Timer {
        Timer::new(name, self.begun(since), window)
    }

    /// When what began at a time began for a window: what is older than the last gap counts from there.
    pub(super) fn begun(&self, since: Timestamp) -> Timestamp {
        since.max(self.from)
    }
}

/// The windows and limits of the tracker; the defaults are SPEC §7's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How long the end of a turn must stand still before it is a success.
    pub settle: Span,
    /// How long an explicit input stays active while the screen shows nothing of it.
    pub no_reaction: Span,
    /// How long after a success the same turn may continue and thereby retract it.
    pub retraction: Span,
    /// How long an unbroken unknown lasts until it is a stall.
    pub unknown_to_stalled: Span,
    pub stale_active_recovery: Span,
    pub final_stable_active_recovery: Span,
    /// How long the published state must last to be called stable.
    pub stable: Span,
    /// How many failed probes in a row, or for how long, until it is an error.
    pub failed_probes: u32,
    pub failed_probe_time: Span,
    /// How long a version that nobody has recorded must stand still before it is called ready.
    pub unrecorded_rest: Span,
    /// How long a screen that cannot be read or contradicts itself is taken for a half-drawn one, what changes after a resize for
    /// the same text in other rows, and a request that the record alone knows for an old one.
    pub doubt: Span,
    /// How long screen and record may differ; meanwhile the busy one counts. Both count whole seconds, and a little behind.
    pub differ: Span,
    /// How long a record that marks no turns is believed to be busy when the screen has come to rest: longer than any was seen
    /// to lag behind.
    pub record_lag: Span,
    /// How long after a dialog was on the screen the record may still ask for what was answered there.
    pub after_dialog: Span,
    /// Within this time agents draw their greeting.
    pub greeting: Span,
    /// How long after an agent listed its commands one of them may open a list of choices.
    pub command: Span,
    /// How long after the end of a turn nobody has had the time to press a key.
    pub quick: Span,
    /// Transitions kept in memory for each terminal.
    pub kept_transitions: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            settle: Span::from_secs(1),
            no_reaction: Span::from_secs(10),
            retraction: Span::from_secs(10),
            // As long as after a gap.
            unknown_to_stalled: LONG_GAP,
            stale_active_recovery: Span::from_secs(5),
            final_stable_active_recovery: Span::from_secs(20),
            stable: STABLE,
            failed_probes: 3,
            // No longer than what is not polled.
            failed_probe_time: GAP,
            unrecorded_rest: Span::from_millis(1500),
            // What is half drawn is not announced either.
            doubt: STABLE,
            differ: Span::from_secs(2),
            record_lag: Span::from_secs(10),
            after_dialog: Span::from_secs(3),
            greeting: Span::from_secs(5),
            command: Span::from_secs(3),
            quick: Span::from_secs(2),
            kept_transitions: 64,
        }
    }
}
