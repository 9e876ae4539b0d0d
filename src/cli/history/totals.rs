//! `fleetwatch history --summary`: totals per terminal and day.

use std::collections::BTreeMap;

use jiff::ToSpan;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::json;

use super::Args;
use crate::cli::table::aligned;
use crate::cli::{Done, output};
use crate::history::{Holder, Line, Reader, StoredTerminal, timeline, totals, turns};
use crate::screen::harmless;
use crate::state::TurnResult;
use crate::time::{Span, Timestamp};

/// What one terminal did on one day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Day {
    time: BTreeMap<Holder, Span>,
    turns: BTreeMap<TurnResult, u32>,
}

/// Prints the totals of terminals.
///
/// # Errors
/// The history cannot be read, or standard output cannot be written.
pub(super) fn print(args: &Args, reader: &mut Reader, terminals: &[StoredTerminal]) -> Done {
    let zone = TimeZone::system();
    let now = Timestamp::from_millis(jiff::Timestamp::now().as_millisecond());
    let mut days: BTreeMap<(Date, String), Day> = BTreeMap::new();
    for terminal in terminals {
        let until = args.until.map_or(now, |until| until.min(now));
        let history = reader.line(&terminal.key, args.since, until)?;
        // Nothing is known of the time before.
        let Some((begun, _)) = history.watched.first() else { continue };
        let since = args.since.unwrap_or_default().max(*begun);
        let ended = turns(&history.points);
        for (date, from, to) in days_between(since, until, &zone) {
            let day = days.entry((date, terminal.name.clone())).or_default();
            day.add(&history, &ended, from, to);
        }
    }
    days.retain(|_, day| !day.is_empty());
    if args.json {
        let mut text = String::new();
        for ((date, name), day) in &days {
            text.push_str(&output::json_line(&day.to_json(*date, name))?);
        }
        return output::print(&text);
    }
    if days.is_empty() {
        eprintln!("nobody watched any of that, so there are no totals");
        eprintln!("hint: the dashboard and `fleetwatch watch` write the history while they run");
        return output::print("");
    }
    output::print(&table(&days))
}

impl Day {
    /// Adds what one terminal did in an interval. A name may have had several.
    fn add(&mut self, history: &Line, ended: &[(Timestamp, TurnResult)], from: Timestamp, to: Timestamp) {
        for (holder, span) in totals(&timeline(&history.points, &history.watched, from, to)) {
            let sum = self.time.entry(holder).or_default();
            *sum = Span::from_millis(sum.as_millis() + span.as_millis());
        }
        for (_, result) in ended.iter().filter(|(ended, _)| (from..to).contains(ended)) {
            *self.turns.entry(*result).or_default() += 1;
        }
    }

    fn is_empty(&self) -> bool {
        self.turns.is_empty() && self.time.keys().all(|holder| *holder == Holder::Unwatched)
    }

    fn time(&self, holder: Holder) -> Span {
        self.time.get(&holder).copied().unwrap_or_default()
    }

    fn turns(&self, result: TurnResult) -> u32 {
        self.turns.get(&result).copied().unwrap_or_default()
    }

    fn to_json(&self, date: Date, name: &str) -> serde_json::Value {
        let seconds = |holder| self.time(holder).as_secs();
        json!({
            "day": date.to_string(),
            "terminal": name,
            "working_seconds": seconds(Holder::Working),
            "waiting_seconds": seconds(Holder::Waiting),
            "ready_seconds": seconds(Holder::Ready),
            "gone_seconds": seconds(Holder::Gone),
            "unknown_seconds": seconds(Holder::Unknown),
            "unwatched_seconds": seconds(Holder::Unwatched),
            "turns": {
                "success": self.turns(TurnResult::Success),
                "interrupted": self.turns(TurnResult::Interrupted),
                "known_failure": self.turns(TurnResult::KnownFailure),
            },
        })
    }
}

/// The days that an interval touches, each with the part of it that lies in the interval.
fn days_between(since: Timestamp, until: Timestamp, zone: &TimeZone) -> Vec<(Date, Timestamp, Timestamp)> {
    let date = |at: Timestamp| {
        jiff::Timestamp::from_millisecond(at.as_millis()).ok().map(|at| at.to_zoned(zone.clone()).date())
    };
    let (Some(first), Some(last)) = (date(since), date(until)) else { return Vec::new() };
    let midnight = |date: Date| {
        date.to_zoned(zone.clone()).ok().map(|zoned| Timestamp::from_millis(zoned.timestamp().as_millisecond()))
    };
    first
        .series(1.day())
        .take_while(|day| *day <= last)
        .filter_map(|day| Some((day, midnight(day)?.max(since), midnight(day.tomorrow().ok()?)?.min(until))))
        .filter(|(_, from, to)| from < to)
        .collect()
}

fn table(days: &BTreeMap<(Date, String), Day>) -> String {
    let head = ["DAY", "TERMINAL", "WORKED", "WAITED FOR YOU", "READY", "GONE", "UNKNOWN", "TURNS"];
    let row = |((date, name), day): (&(Date, String), &Day)| {
        let time = |holder| match day.time(holder) {
            Span::ZERO => "-".to_owned(),
            span => length(span),
        };
        [
            date.to_string(),
            harmless(name),
            time(Holder::Working),
            time(Holder::Waiting),
            time(Holder::Ready),
            time(Holder::Gone),
            time(Holder::Unknown),
            turn_words(day),
        ]
        .to_vec()
    };
    aligned(&head.map(str::to_owned), &days.iter().map(row).collect::<Vec<_>>(), None)
}

fn turn_words(day: &Day) -> String {
    let words =
        [(TurnResult::Success, "ok"), (TurnResult::Interrupted, "interrupted"), (TurnResult::KnownFailure, "failed")];
    let counted = words.iter().map(|(result, word)| (day.turns(*result), word)).filter(|(count, _)| *count > 0);
    let text = counted.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ");
    if text.is_empty() { "-".to_owned() } else { text }
}

/// A length of time in its two largest units.
fn length(span: Span) -> String {
    let seconds = span.as_millis().div_ceil(1000);
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, minutes) => format!("{minutes}m {:02}s", seconds % 60),
        (hours, minutes) => format!("{hours}h {minutes:02}m"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::Point;

    fn at(text: &str) -> Timestamp {
        Timestamp::from_millis(text.parse::<jiff::Timestamp>().unwrap().as_millisecond())
    }

    #[test]
    fn days_follow_the_clock_on_the_wall() {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let days = days_between(at("2026-10-24T12:00:00Z"), at("2026-10-26T01:00:00Z"), &zone);
        let hours: Vec<String> =
            days.iter().map(|(day, from, to)| format!("{day} {}", to.since(*from).as_secs() / 3600.0)).collect();
        // The clock is set back on the 25th.
        assert_eq!(hours, ["2026-10-24 10", "2026-10-25 25", "2026-10-26 2"]);
        assert!(days_between(at("2026-10-24T12:00:00Z"), at("2026-10-24T12:00:00Z"), &zone).is_empty());
    }

    #[test]
    fn totals_are_for_people() {
        let point = |time: &str, holder, result, ended: Option<&str>| Point {
            at: at(time),
            holder,
            result,
            turn_ended: ended.map(at),
        };
        let points = [
            point("2026-11-21T08:00:00Z", Holder::Working, TurnResult::None, None),
            point("2026-11-21T08:34:00Z", Holder::Waiting, TurnResult::None, None),
            point("2026-11-21T08:46:00Z", Holder::Working, TurnResult::None, None),
            point("2026-11-21T08:46:30Z", Holder::Ready, TurnResult::Success, Some("2026-11-21T08:46:30Z")),
        ];
        let watched = vec![(at("2026-11-21T08:00:00Z"), at("2026-11-21T11:00:00Z"))];
        let history = Line { points: points.to_vec(), watched };
        let mut days = BTreeMap::new();
        for (day, from, to) in days_between(at("2026-11-21T00:00:00Z"), at("2026-11-22T12:00:00Z"), &TimeZone::UTC) {
            let entry: &mut Day = days.entry((day, "api".to_owned())).or_default();
            entry.add(&history, &turns(&points), from, to);
        }
        days.retain(|_, day: &mut Day| !day.is_empty());
        insta::assert_snapshot!(table(&days), @r"
        DAY         TERMINAL  WORKED   WAITED FOR YOU  READY   GONE  UNKNOWN  TURNS
        2026-11-21  api       34m 30s  12m 00s         2h 13m  -     -        1 ok
        ");
        let (key, day) = days.first_key_value().unwrap();
        let json = day.to_json(key.0, &key.1);
        assert_eq!((&json["working_seconds"], &json["turns"]["success"]), (&json!(2070.0), &json!(1)));
        assert_eq!(length(Span::from_millis(900)), "1s");
    }
}
