//! Times as an operator reads them: short and relative, or the clock on the wall.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Span, ToSpan as _, Zoned};

use super::objection::Objection;
use crate::state::Since;
use crate::time::Timestamp;

/// How long something has been going on: `>4m` where it may be longer, because its beginning was not seen.
pub fn lasting(since: Since, now: Timestamp) -> String {
    let span = now.since(since.at).rounded();
    if since.exact { span } else { format!(">{span}") }
}

/// The time of day with milliseconds: `14:02:11.031`.
pub fn wall(moment: Timestamp, zone: &TimeZone) -> String {
    match moment.in_zone(zone) {
        Some(zoned) => {
            let time = zoned.time();
            let (hour, minute, second) = (time.hour(), time.minute(), time.second());
            format!("{hour:02}:{minute:02}:{second:02}.{:03}", time.millisecond())
        }
        // Outside of the years that a calendar can name there is no time of day either.
        None => "--:--:--.---".to_owned(),
    }
}

/// The time of day to the second: `14:02:11`.
pub fn to_the_second(moment: Timestamp, zone: &TimeZone) -> String {
    wall(moment, zone).chars().take(8).collect()
}

/// The time of day to the minute: `14:02`.
pub fn clock(moment: Timestamp, zone: &TimeZone) -> String {
    wall(moment, zone).chars().take(5).collect()
}

/// The day: `Tue 14 Nov`.
pub fn day(moment: Timestamp, zone: &TimeZone) -> String {
    moment.in_zone(zone).map_or_else(|| "---".to_owned(), |at| at.strftime("%a %-d %b").to_string())
}

/// The day and the time of day to the minute.
pub fn day_and_clock(moment: Timestamp, zone: &TimeZone) -> String {
    format!("{} {}", day(moment, zone), clock(moment, zone))
}

/// A point in time as people write it: how long ago, or a day or time in the zone of `now`.
///
/// # Errors
/// It is none.
pub fn moment(text: &str, now: &Zoned) -> Result<Timestamp, Objection> {
    let hint = "write how long ago (30m, 2h, 3d), a day (today, yesterday, 2026-11-21), a time (09:00), or both \
                (2026-11-21T09:00, 2026-11-21T09:00:00Z)";
    let found = moment_at(text.trim(), now).ok_or_else(|| Objection::new("not a valid time", hint))?;
    Ok(Timestamp::from_millis(found.as_millisecond()))
}

fn moment_at(text: &str, now: &Zoned) -> Option<jiff::Timestamp> {
    let at = |time: DateTime| time.to_zoned(now.time_zone().clone()).ok().map(|zoned| zoned.timestamp());
    let day = |ago: i64| at(now.date().checked_sub(ago.days()).ok()?.to_datetime(Time::midnight()));
    match text {
        "now" => return Some(now.timestamp()),
        "today" => return day(0),
        "yesterday" => return day(1),
        _ => {}
    }
    if let Some(time) = text.parse::<Time>().ok().filter(|_| text.find(':').is_some_and(|at| at <= 2)) {
        // A time that is still to come today was meant of yesterday.
        let date = if time > now.time() { now.date().yesterday().ok()? } else { now.date() };
        at(date.to_datetime(time))
    } else if let Some(span) = text.parse::<Span>().ok().filter(|_| !text.starts_with('-')) {
        now.checked_sub(span.abs()).ok().map(|zoned| zoned.timestamp())
    } else if let Ok(timestamp) = text.parse::<jiff::Timestamp>() {
        Some(timestamp)
    } else if let Ok(time) = text.parse::<DateTime>() {
        at(time)
    } else {
        at(text.parse::<Date>().ok()?.to_datetime(Time::midnight()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    fn of(seconds: u64) -> String {
        Span::from_secs(seconds).rounded()
    }

    #[test]
    fn times_are_short() {
        let expected = [
            (0, "0s"),
            (59, "59s"),
            (60, "1m"),
            (252, "4m"),
            (7199, "119m"),
            (7200, "2h"),
            (172_799, "47h"),
            (172_800, "2d"),
            (900_000_000, ">3y"),
        ];
        for (seconds, rounded) in expected {
            assert_eq!(of(seconds), rounded, "{seconds} s");
        }
    }

    #[test]
    fn no_time_is_wider_than_four_cells() {
        for seconds in (0..4_000_000).step_by(37) {
            assert!(of(seconds).len() <= 4, "{}", of(seconds));
        }
    }

    #[test]
    fn the_wall_clock_follows_the_time_zone() {
        let moment = Timestamp::from_millis(1_700_000_000_031);
        assert_eq!(wall(moment, &TimeZone::UTC), "22:13:20.031");
        assert_eq!(wall(moment, &TimeZone::fixed(jiff::tz::offset(2))), "00:13:20.031");
        assert_eq!(wall(Timestamp::from_millis(i64::MAX), &TimeZone::UTC), "--:--:--.---");
        assert_eq!(day_and_clock(moment, &TimeZone::fixed(jiff::tz::offset(2))), "Wed 15 Nov 00:13");
        assert_eq!(day_and_clock(Timestamp::from_millis(i64::MAX), &TimeZone::UTC), "--- --:--");
    }

    #[test]
    fn points_in_time_are_read_as_people_write_them() {
        let now: Zoned = "2026-11-21T10:00:00+01:00[Europe/Berlin]".parse().unwrap();
        let read = |text: &str| moment_at(text, &now).map(|at| format!("{at:.3}"));
        assert_eq!(read("2h").unwrap(), "2026-11-21T07:00:00.000Z");
        assert_eq!(read("1d").unwrap(), "2026-11-20T09:00:00.000Z");
        assert_eq!(read("1h 30m").unwrap(), "2026-11-21T07:30:00.000Z");
        assert_eq!(read("2026-11-20T00:00:00Z").unwrap(), "2026-11-20T00:00:00.000Z");
        assert_eq!(read("2026-11-20").unwrap(), "2026-11-19T23:00:00.000Z");
        assert_eq!(read("2026-11-20T12:00").unwrap(), "2026-11-20T11:00:00.000Z");
        assert_eq!(read("09:15").unwrap(), "2026-11-21T08:15:00.000Z");
        assert_eq!(read("22:15").unwrap(), "2026-11-20T21:15:00.000Z");
        assert_eq!(read("09:15:30").unwrap(), "2026-11-21T08:15:30.000Z");
        assert_eq!(read("22:15:30").unwrap(), "2026-11-20T21:15:30.000Z");
        assert_eq!(read("today").unwrap(), "2026-11-20T23:00:00.000Z");
        assert_eq!(read("yesterday").unwrap(), "2026-11-19T23:00:00.000Z");
        assert_eq!(read("now").unwrap(), read("0s").unwrap());
        assert_eq!((read("2h ago"), read("-2h")), (read("2h"), None));
        assert_eq!((read("soon"), read("")), (None, None));
    }
}
