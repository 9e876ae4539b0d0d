//! Times as an operator reads them: short and relative, or the clock on the wall.

use jiff::tz::TimeZone;

use crate::state::Since;
use crate::time::Timestamp;

/// How long something has been going on: `>4m12` where it may be longer, because its beginning was not seen.
pub fn lasting(since: Since, now: Timestamp) -> String {
    let span = now.since(since.at).running();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    fn of(seconds: u64) -> (String, String) {
        let span = Span::from_secs(seconds);
        (span.running(), span.rounded())
    }

    #[test]
    fn times_are_short() {
        let expected = [
            (0, "0s", "0s"),
            (59, "59s", "59s"),
            (60, "1m00", "1m"),
            (252, "4m12", "4m"),
            (599, "9m59", "9m"),
            (600, "10m", "10m"),
            (3599, "59m", "59m"),
            (3600, "1h00", "1h"),
            (7500, "2h05", "2h"),
            (36_000, "10h", "10h"),
            (86_399, "23h", "23h"),
            (259_200, "3d", "3d"),
            (900_000_000, ">3y", ">3y"),
        ];
        for (seconds, running, age) in expected {
            assert_eq!(of(seconds), (running.to_owned(), age.to_owned()), "{seconds} s");
        }
    }

    #[test]
    fn no_time_is_wider_than_five_cells() {
        for seconds in (0..4_000_000).step_by(37) {
            let (running, age) = of(seconds);
            assert!(running.len() <= 5 && age.len() <= 4, "{running} {age}");
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
}
