//! Time as the core sees it: a number that somebody else read from a clock.

use std::fmt;
use std::ops::{Add, Sub};

use jiff::Zoned;
use jiff::tz::TimeZone;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A point in time, in milliseconds since the Unix epoch; shown and written as RFC 3339 in UTC with milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// A length of time in milliseconds. It is never negative: [`Timestamp::since`] saturates at zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Span(u64);

/// Time that runs on a monotonic clock: a wall clock that is set back neither stops it nor turns it back.
///
/// A wall clock that is ahead by more than a second is followed: it was set forward, or the machine was suspended. One
/// that is behind is not; this clock then runs ahead of it until the wall clock has caught up.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// What time it was when the monotonic clock began.
    began: Timestamp,
}

impl Clock {
    /// A clock that begins at what the wall says.
    pub const fn new(wall: Timestamp) -> Self {
        Self { began: wall }
    }

    /// What time it is when the wall says `wall` and the monotonic clock has run for `elapsed`.
    pub fn at(&mut self, wall: Timestamp, elapsed: Span) -> Timestamp {
        let now = self.began + elapsed;
        let ahead = wall.since(now);
        if ahead <= Span::SECOND {
            return now;
        }
        self.began = self.began + ahead;
        wall
    }
}

impl Timestamp {
    /// Later than any other.
    pub const LAST: Self = Self(i64::MAX);

    /// The moment that lies `ms` milliseconds after the Unix epoch.
    pub const fn from_millis(ms: i64) -> Self {
        Self(ms)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// The same on the clocks and calendars of a zone; `None` outside of the years that they can name.
    pub fn in_zone(self, zone: &TimeZone) -> Option<Zoned> {
        Some(jiff::Timestamp::from_millisecond(self.0).ok()?.to_zoned(zone.clone()))
    }

    /// The earliest time after this one.
    pub fn next(self) -> Timestamp {
        self + Span(1)
    }

    /// How long after `earlier` this is; zero when it is not later.
    pub fn since(self, earlier: Timestamp) -> Span {
        Span(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);
    /// The least that is said of time.
    pub const SECOND: Span = Span(1000);
    /// Sixty seconds.
    pub const MINUTE: Span = Span::from_secs(60);
    /// Sixty minutes.
    pub const HOUR: Span = Span::from_secs(3600);
    /// Twenty-four hours, whatever a calendar says.
    pub const DAY: Span = Span::from_secs(24 * 3600);

    /// A span of `ms` milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms)
    }

    /// A span of whole seconds.
    pub const fn from_secs(seconds: u64) -> Self {
        Self(seconds * 1000)
    }

    /// The span in milliseconds.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// For people, in one unit, never longer than four characters: `9s`, `90m`, `30h`, `3d`.
    pub fn rounded(self) -> String {
        let seconds = self.0 / 1000;
        match seconds {
            ..60 => format!("{seconds}s"),
            60..7200 => format!("{}m", seconds / 60),
            7200..172_800 => format!("{}h", seconds / 3600),
            172_800..86_400_000 => format!("{}d", seconds / 86_400),
            _ => ">3y".to_owned(),
        }
    }

    /// The span without another one, or no time where that is longer.
    pub const fn less(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }

    /// The span so many times.
    pub const fn times(self, many: u64) -> Span {
        Span(self.0.saturating_mul(many))
    }

    /// The span in seconds, with a fraction.
    pub fn as_secs(self) -> f64 {
        // Exact for every span shorter than 285,000 years.
        self.0 as f64 / 1000.0
    }
}

impl Add<Span> for Timestamp {
    type Output = Timestamp;
    fn add(self, span: Span) -> Timestamp {
        Timestamp(self.0.saturating_add(i64::try_from(span.0).unwrap_or(i64::MAX)))
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, span: Span) -> Span {
        Span(self.0.saturating_add(span.0))
    }
}

/// A span that may not be known, as the contract writes it: in seconds.
pub(crate) mod seconds {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Span;

    pub(crate) fn serialize<S: Serializer>(span: &Option<Span>, serializer: S) -> Result<S::Ok, S::Error> {
        span.map(Span::as_secs).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Span>, D::Error> {
        let seconds: Option<f64> = Option::deserialize(deserializer)?;
        Ok(seconds.map(|seconds| Span::from_millis((seconds * 1000.0).round() as u64)))
    }
}

impl Sub<Span> for Timestamp {
    type Output = Timestamp;
    fn sub(self, span: Span) -> Timestamp {
        Timestamp(self.0.saturating_sub(i64::try_from(span.0).unwrap_or(i64::MAX)))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(timestamp) => write!(f, "{timestamp:.3}"),
            // Outside of the years that RFC 3339 can write, the number is the most honest thing to show.
            Err(_) => write!(f, "{} ms", self.0),
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
impl schemars::JsonSchema for Timestamp {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "date-time" })
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let timestamp: jiff::Timestamp = text.parse().map_err(de::Error::custom)?;
        Ok(Timestamp(timestamp.as_millisecond()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_as_rfc_3339_with_milliseconds() {
        assert_eq!(Timestamp::from_millis(1_700_000_000_031).to_string(), "2023-11-14T22:13:20.031Z");
        assert_eq!(Timestamp::from_millis(0).to_string(), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn time_never_runs_backwards() {
        let (early, late) = (Timestamp::from_millis(5), Timestamp::from_millis(9));
        assert_eq!(late.since(early), Span::from_millis(4));
        assert_eq!(early.since(late), Span::ZERO);
    }

    /// The time of the clock when the wall clock says this, both in seconds.
    fn reads(clock: &mut Clock, wall: i64, elapsed: u64) -> i64 {
        clock.at(Timestamp::from_millis(wall * 1000), Span::from_secs(elapsed)).as_millis() / 1000
    }

    #[test]
    fn a_wall_clock_that_is_set_back_does_not_stop_the_time() {
        let mut clock = Clock::new(Timestamp::from_millis(100_000_000));
        assert_eq!(reads(&mut clock, 100_010, 10), 100_010);
        assert_eq!(reads(&mut clock, 96_411, 11), 100_011, "set back by an hour");
        assert_eq!(reads(&mut clock, 96_420, 20), 100_020);
        assert_eq!(reads(&mut clock, 100_030, 30), 100_030, "and set right again");
        assert_eq!(reads(&mut clock, 100_030, 31), 100_031, "a second is no step");
    }

    #[test]
    fn a_wall_clock_that_is_ahead_is_followed() {
        let mut clock = Clock::new(Timestamp::from_millis(100_000_000));
        assert_eq!(reads(&mut clock, 107_210, 10), 107_210, "two hours of suspension");
        assert_eq!(reads(&mut clock, 107_220, 20), 107_220);
        assert_eq!(reads(&mut clock, 100_030, 30), 107_230, "set back again");
        assert_eq!(reads(&mut clock, 100_040, 40), 107_240);
    }
}
