//! `fleetwatch history --summary`: totals by day, of each terminal, agent or label.

use std::collections::BTreeMap;

use jiff::ToSpan;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::json;

use super::{Args, SummaryBy};
use crate::cli::table::aligned;
use crate::cli::{Done, output};
use crate::history::{Holder, Line, Reader, SessionUsage, StoredTerminal, timeline, totals, turns};
use crate::screen::harmless;
use crate::state::TurnResult;
use crate::time::{Span, Timestamp};
use crate::ui::text;

/// What was done on one day.
#[derive(Clone, Debug, Default, PartialEq)]
struct Day {
    time: BTreeMap<Holder, Span>,
    turns: BTreeMap<TurnResult, u32>,
    /// Tokens that were read and written, and what was paid in US dollars, where that is known.
    tokens: Option<(u64, u64)>,
    cost: Option<f64>,
}

/// The cells of a line, and those of a name in it.
const WIDTH: usize = 80;
const NAME: usize = 16;

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
        let usage = reader.usage(&terminal.key, until)?;
        for (date, from, to) in days_between(since, until, &zone) {
            let Some(name) = name(args.by, terminal, &usage, to) else { continue };
            let day = days.entry((date, name)).or_default();
            day.add(&history, &ended, from, to);
            day.add_usage(&usage, from, to);
        }
    }
    days.retain(|_, day| !day.is_empty());
    if args.json {
        let mut text = String::new();
        for ((date, name), day) in &days {
            text.push_str(&output::json_line(&day.to_json(*date, args.by, name))?);
        }
        return output::print(&text);
    }
    if days.is_empty() && args.by == SummaryBy::Label {
        eprintln!("nothing of that has a label");
        eprintln!("hint: `label` in a [[terminal]] of the configuration gives one");
        return output::print("");
    }
    if days.is_empty() {
        eprintln!("nobody watched any of that, so there are no totals");
        eprintln!("hint: the dashboard and `fleetwatch watch` write the history while they run");
        return output::print("");
    }
    output::print(&table(args.by, &days))
}

/// What a terminal counts for on the day that ends then: the agent and the label that it had last. `None` where it counts for
/// nothing.
fn name(by: SummaryBy, terminal: &StoredTerminal, usage: &[SessionUsage], to: Timestamp) -> Option<String> {
    let last = usage.iter().rev().find(|used| used.hour < to).or(usage.first());
    match by {
        SummaryBy::Terminal => Some(terminal.name.clone()),
        // Of what an older version wrote, it is not known.
        SummaryBy::Agent => Some(last.map_or_else(|| "-".to_owned(), |used| used.tool.clone())),
        SummaryBy::Label => last.and_then(|used| used.label.clone()),
    }
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

    /// Adds what each session used in an interval: the difference to what it had used before.
    fn add_usage(&mut self, usage: &[SessionUsage], from: Timestamp, to: Timestamp) {
        let mut before: BTreeMap<(&str, &str), &SessionUsage> = BTreeMap::new();
        for used in usage.iter().take_while(|used| used.hour < to) {
            let known = before.insert((&used.session, &used.tool), used);
            if used.hour < from {
                continue;
            }
            let more = |count: fn(&SessionUsage) -> Option<u64>| {
                // What is less than before is of a session that was begun anew.
                count(used).map(|now| now - known.and_then(count).filter(|known| *known <= now).unwrap_or_default())
            };
            let (read, written) = (more(|it| it.tokens_in), more(|it| it.tokens_out));
            if read.or(written).is_some() {
                let (a, b) = self.tokens.unwrap_or_default();
                self.tokens = Some((a + read.unwrap_or_default(), b + written.unwrap_or_default()));
            }
            if let Some(cost) = used.cost_usd {
                let paid = known.and_then(|it| it.cost_usd).filter(|known| *known <= cost).unwrap_or_default();
                self.cost = Some(self.cost.unwrap_or_default() + cost - paid);
            }
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

    fn to_json(&self, date: Date, by: SummaryBy, name: &str) -> serde_json::Value {
        let seconds = |holder| self.time(holder).as_secs();
        json!({
            "day": date.to_string(),
            by.word(): name,
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
            "tokens_in": self.tokens.map(|(read, _)| read),
            "tokens_out": self.tokens.map(|(_, written)| written),
            "cost_usd": self.cost,
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

fn table(by: SummaryBy, days: &BTreeMap<(Date, String), Day>) -> String {
    let heading = by.word().to_uppercase();
    let head = ["DAY", &heading, "WORKED", "WAITED", "TOKENS", "COST", "TURNS"];
    let row = |((date, name), day): (&(Date, String), &Day)| {
        let time = |holder| match day.time(holder) {
            Span::ZERO => "-".to_owned(),
            span => length(span),
        };
        let used = day.tokens.map_or_else(|| "-".to_owned(), |(read, written)| text::rounded(read + written));
        [
            date.to_string(),
            text::cut(&harmless(name), NAME).into_owned(),
            time(Holder::Working),
            time(Holder::Waiting),
            used,
            day.cost.map_or_else(|| "-".to_owned(), |cost| format!("${cost:.2}")),
            turn_words(day),
        ]
        .to_vec()
    };
    aligned(&head.map(str::to_owned), &days.iter().map(row).collect::<Vec<_>>(), Some(WIDTH))
}

fn turn_words(day: &Day) -> String {
    let words = [(TurnResult::Success, "ok"), (TurnResult::KnownFailure, "fail"), (TurnResult::Interrupted, "int")];
    let counted = words.iter().map(|(result, word)| (day.turns(*result), word)).filter(|(count, _)| *count > 0);
    let text = counted.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(" ");
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
        let used = |hour: &str, session: &str, tokens, cost| SessionUsage {
            hour: at(hour),
            session: session.to_owned(),
            tool: "claude".to_owned(),
            label: Some("shop".to_owned()),
            tokens_in: Some(tokens),
            tokens_out: Some(10),
            cost_usd: cost,
        };
        let usage = [
            used("2026-11-20T22:00:00Z", "a", 1000, Some(0.5)),
            used("2026-11-21T08:00:00Z", "a", 3500, Some(0.75)),
            used("2026-11-21T08:00:00Z", "b", 9000, None),
        ];
        let mut first = days.first_entry().unwrap();
        first.get_mut().add_usage(&usage, at("2026-11-21T00:00:00Z"), at("2026-11-22T00:00:00Z"));
        insta::assert_snapshot!(table(SummaryBy::Terminal, &days), @r"
        DAY         TERMINAL  WORKED   WAITED   TOKENS  COST   TURNS
        2026-11-21  api       34m 30s  12m 00s  11.5k   $0.25  1 ok
        ");
        let (server, instance) = (crate::fleet::ServerId::default(), Default::default());
        let key = crate::fleet::TerminalKey { server, pane: crate::fleet::PaneId(1), pid: 1, instance };
        let terminal = StoredTerminal { key, name: "api".to_owned(), last: None };
        let named = |by| name(by, &terminal, &usage, at("2026-11-22T00:00:00Z"));
        assert_eq!(named(SummaryBy::Agent).as_deref(), Some("claude"));
        assert_eq!(named(SummaryBy::Label).as_deref(), Some("shop"));
        assert_eq!(name(SummaryBy::Label, &terminal, &[], at("2026-11-22T00:00:00Z")), None);
        assert!(table(SummaryBy::Agent, &days).lines().all(|line| text::width(line) <= WIDTH));
        let (key, day) = days.first_key_value().unwrap();
        let json = day.to_json(key.0, SummaryBy::Agent, &key.1);
        assert_eq!(
            (&json["tokens_in"], &json["cost_usd"], &json["agent"]),
            (&json!(11_500), &json!(0.25), &json!("api"))
        );
        assert_eq!((&json["working_seconds"], &json["turns"]["success"]), (&json!(2070.0), &json!(1)));
        assert_eq!(length(Span::from_millis(900)), "1s");
    }
}
