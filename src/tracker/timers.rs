//! The windows of time that run in a tracker, by name: since when, until when, and what happens then (SPEC §7). Most run
//! only in the time that polls cover, because unwatched terminals may have changed meanwhile.

use serde::Serialize;

use super::{Settings, Tracker};
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
    const fn acts(self) -> bool {
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

impl Timer {
    pub(super) fn new(name: TimerName, since: Timestamp, window: Span) -> Self {
        Self { name, since, until: since + window, then: name.then() }
    }

    /// Whether its time is over at `now`.
    pub(super) fn is_over(&self, now: Timestamp) -> bool {
        self.until <= now
    }
}

impl Tracker {
    /// The timers that run, the next deadline first.
    pub fn timers(&self) -> Vec<Timer> {
        let mut timers: Vec<Timer> = self.running().collect();
        timers.sort_by_key(|timer| timer.until);
        timers
    }

    /// When the tracker wants to be called with [`Observation::Nothing`] at the latest, because something is due.
    ///
    /// [`Observation::Nothing`]: super::Observation::Nothing
    pub fn next_timeout(&self) -> Option<Timestamp> {
        self.running().filter(|timer| timer.name.acts()).map(|timer| timer.until).min()
    }

    /// Until when nothing can change by itself, after a poll: where no turn is in flight, nothing is doubted or not known, and no
    /// dialog stands there, only timers do anything.
    pub(super) fn rest(&self) -> Option<Timestamp> {
        let is_clear = self.is_reading() && self.doubt_since.is_none() && self.failing.is_none();
        let rests = is_clear && self.lifecycle.is_known() && self.turn.rests();
        rests.then(|| self.running().map(|timer| timer.until).min().unwrap_or(Timestamp::LAST))
    }

    /// The timers whose deadline is still to come: what is over must not hide what is due.
    fn running(&self) -> impl Iterator<Item = Timer> {
        let Settings { stable, failed_probe_time, .. } = self.settings;
        let stability = Timer::new(TimerName::Stability, self.stable_since, stable);
        let patience = self.patience(self.held_back.as_deref());
        let held_back = self.held_back.as_ref().and(self.doubt_since);
        let coverage = self.turn.coverage;
        let half_drawn = held_back.map(|since| coverage.window(TimerName::HalfDrawn, since, patience));
        let failing = self.failing.map(|(since, _)| Timer::new(TimerName::FailedProbes, since, failed_probe_time));
        self.turn
            .timers(self.temporal, self.now)
            .chain(self.lifecycle.timers(&self.settings, coverage))
            .chain([half_drawn, failing, Some(stability)].into_iter().flatten())
            .filter(|timer| !timer.is_over(self.now))
    }
}

/// Polls further apart than this leave a gap, unless earlier polls were as far apart.
const GAP: Span = Span::from_secs(3);
/// After such a gap, nothing is said about what went on before it.
const LONG_GAP: Span = Span::from_secs(30);
/// Within this time another process takes over the polls of one that has ended or was stopped.
pub const HANDOVER: Span = Span::from_secs(5);
/// A gap is at least this many times as long as the distance of the polls before it: a slow host is slow at each poll.
const UNUSUAL: u64 = 2;
/// How long after a poll what it showed is still taken to hold; less than any window, so that none ends without a poll.
const HOLDS: Span = Span::from_millis(750);

/// Since when a terminal has been polled without a gap.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Coverage {
    /// The first poll after the last gap.
    from: Timestamp,
    last: Timestamp,
    /// How far the last two polls were apart.
    distance: Span,
    holds: Span,
    /// Whether no poll has come yet.
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

    /// Another process polled until then.
    pub(super) fn continues(&mut self, until: Timestamp) {
        (self.from, self.last, self.is_first) = (until.min(self.from), until, false);
    }

    /// Records a poll.
    pub(super) fn polled(&mut self, now: Timestamp) {
        let distance = now.since(self.last);
        let usual = Span::from_millis(self.distance.as_millis() * UNUSUAL);
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

    /// The same of a long one.
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
