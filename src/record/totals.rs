//! Totals of a day: how long each side had the turn, how turns ended, and what was used.

use std::collections::BTreeMap;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{RoundMode, ToSpan, Unit, Zoned, ZonedRound};

use super::timeline::Holder;
use crate::state::{TurnResult, words};
use crate::time::{Span, Timestamp};

words! {
    /// Whose totals are added up. A terminal counts for the agent and the label that it had last on the day.
    #[derive(Default)]
    TotalsOf { #[default] Terminal = "terminal", Agent = "agent", Label = "label" }
}

impl TotalsOf {
    /// The next one, around.
    pub fn next(self) -> Self {
        Self::ALL[(self as usize + 1) % Self::ALL.len()]
    }
}

/// The totals of a period.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// How long each had the turn, in the order of [`Holder::ALL`].
    pub time: [Span; Holder::ALL.len()],
    /// How many turns ended with each result, in the order of [`TurnResult::ALL`].
    pub turns: [u32; TurnResult::ALL.len()],
    /// Tokens that were read and written, and what was paid in US dollars; `None` where nothing is known of it.
    pub tokens_in: Option<u64>,
    pub tokens_out: Option<u64>,
    pub cost_usd: Option<f64>,
}

/// The totals of one day.
#[derive(Clone, Debug, PartialEq)]
pub struct DayTotals {
    pub date: Date,
    /// The terminal, the agent or the label.
    pub name: String,
    pub whole: Totals,
    /// By the hour, as the beginning of it; those of which nothing is known are left out, and with [`Grain::Day`] all are.
    pub hours: BTreeMap<Timestamp, Totals>,
}

impl Totals {
    /// How long a holder had the turn.
    pub fn time(&self, holder: Holder) -> Span {
        self.time[holder as usize]
    }

    /// How many turns ended with a result.
    pub fn turns(&self, result: TurnResult) -> u32 {
        self.turns[result as usize]
    }

    /// Whether nobody watched, so that nothing is known.
    pub fn is_empty(&self) -> bool {
        let is_unused = self.tokens_in.or(self.tokens_out).is_none() && self.cost_usd.is_none();
        is_unused
            && self.turns.iter().all(|count| *count == 0)
            && Holder::ALL.iter().all(|it| *it == Holder::Unwatched || self.time(*it) == Span::ZERO)
    }

    /// Adds the totals of another period or terminal.
    pub fn add(&mut self, other: &Totals) {
        for holder in Holder::ALL {
            self.add_time(*holder, other.time(*holder));
        }
        self.turns.iter_mut().zip(other.turns).for_each(|(sum, count)| *sum += count);
        add_known(&mut self.tokens_in, other.tokens_in, u64::saturating_add);
        add_known(&mut self.tokens_out, other.tokens_out, u64::saturating_add);
        add_known(&mut self.cost_usd, other.cost_usd, |sum, more| sum + more);
    }

    /// Adds a time in which a holder had the turn.
    pub fn add_time(&mut self, holder: Holder, span: Span) {
        self.time[holder as usize] = self.time[holder as usize] + span;
    }
}

/// Adds known values; the sum of unknown ones stays unknown.
fn add_known<T: Copy>(sum: &mut Option<T>, more: Option<T>, add: impl FnOnce(T, T) -> T) {
    if let Some(more) = more {
        *sum = Some(sum.map_or(more, |sum| add(sum, more)));
    }
}

/// Stands for an unknown agent, and for a missing label.
pub const NAMELESS: &str = "-";

impl DayTotals {
    /// Whether they are of what has no label, or of agents that are not known.
    pub fn is_nameless(&self) -> bool {
        self.name == NAMELESS
    }
}

/// An hour of the clock on the wall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hour {
    pub date: Date,
    pub begin: Timestamp,
    pub end: Timestamp,
}

/// The beginnings of the hours of a day, and the end of it. A day on which the clock is set back has 25.
pub fn hours_of(date: Date, zone: &TimeZone) -> (Vec<Timestamp>, Timestamp) {
    let midnight = |date: Date| date.to_zoned(zone.clone()).map(|zoned| moment(&zoned)).unwrap_or_default();
    let (begin, end) = (midnight(date), date.tomorrow().map(midnight).unwrap_or_default());
    (hours(begin, end, zone).iter().map(|hour| hour.begin).collect(), end)
}

/// The hours that an interval touches, whole.
pub fn hours(since: Timestamp, until: Timestamp, zone: &TimeZone) -> Vec<Hour> {
    let mut hours = Vec::new();
    let mut next = since.in_zone(zone).and_then(|at| at.start_of_day().ok());
    while let Some(begin) = next.take().filter(|begin| moment(begin) < until) {
        next = next_hour(&begin);
        let Some(end) = &next else { break };
        hours.push(Hour { date: begin.date(), begin: moment(&begin), end: moment(end) });
    }
    hours.retain(|hour| hour.end > since);
    hours
}

/// When the clock shows the next full hour, or one is over: some clocks are set by half an hour.
fn next_hour(begin: &Zoned) -> Option<Zoned> {
    let later = begin.checked_add(1.hour()).ok()?;
    let full = later.round(ZonedRound::new().smallest(Unit::Hour).mode(RoundMode::Trunc)).ok()?;
    Some(if full > *begin { full } else { later })
}

/// The time of a moment on the wall.
pub fn moment(zoned: &Zoned) -> Timestamp {
    Timestamp::from_millis(zoned.timestamp().as_millisecond())
}
