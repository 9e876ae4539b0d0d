//! Totals by day and by hour: how long each side had the turn, how turns ended, and what was used.

use std::collections::{BTreeMap, HashMap};
use std::ops::Sub;
use std::sync::Arc;

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::identity::terminal_row;
use super::reader::{LONG_AGO, Reader, StoredTerminal, points, watched};
use super::usage::SessionUsage;
use crate::record::HistoryError;
use crate::record::timeline::{Holder, TimelineSpan, timeline, turns};
use crate::record::totals::{DayTotals, Hour, NAMELESS, Totals, TotalsOf, hours};
use crate::state::TurnResult;
use crate::time::Span;
use crate::time::Timestamp;

/// The period to total.
#[derive(Clone, Debug)]
pub struct Period {
    /// `None` for the beginning of the history.
    pub since: Option<Timestamp>,
    /// Not later than now.
    pub until: Timestamp,
    /// Where days and hours are those of the clock on the wall.
    pub zone: TimeZone,
}

/// The resolution of totals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grain {
    Day,
    /// Each day, and each hour of it.
    Hour,
}

/// The totals of terminals by day and name. Days without watching are left out.
pub fn day_totals(
    reader: &mut Reader,
    terminals: &[StoredTerminal],
    by: TotalsOf,
    period: &Period,
    grain: Grain,
) -> Result<Vec<DayTotals>, HistoryError> {
    // One transaction for hundreds of small queries keeps pages in the cache and shows one consistent moment.
    reader.connection.execute_batch("BEGIN")?;
    let days = of_moment(reader, terminals, by, period, grain);
    reader.connection.execute_batch("COMMIT")?;
    days
}

fn of_moment(
    reader: &mut Reader,
    terminals: &[StoredTerminal],
    by: TotalsOf,
    period: &Period,
    grain: Grain,
) -> Result<Vec<DayTotals>, HistoryError> {
    let all = reader.usage(period.until)?;
    let (mut of_terminals, of_sessions) = (HashMap::<i64, Vec<&SessionUsage>>::new(), by_session(&all));
    all.iter().for_each(|(row, used)| of_terminals.entry(*row).or_default().push(used));
    of_terminals.values_mut().for_each(|usage| usage.sort_by_key(|used| used.hour));
    let mut known = Vec::new();
    for terminal in terminals {
        let Some(row) = terminal_row(&reader.connection, &terminal.key)? else { continue };
        let watched = watched(&reader.connection, row, period.since.unwrap_or(LONG_AGO), period.until)?;
        // Nothing is known of the time before.
        let Some(&(begun, _)) = watched.first() else { continue };
        known.push((terminal, row, watched, begun, begun.max(period.since.unwrap_or(begun))));
    }
    let Some(first) = known.iter().map(|(.., since)| *since).min() else { return Ok(Vec::new()) };
    let hours = hours(first, period.until, &period.zone);
    let mut days: BTreeMap<(Date, String), DayTotals> = BTreeMap::new();
    for (terminal, row, watched, begun, since) in known {
        let usage = of_terminals.remove(&row).unwrap_or_default();
        let mut points = points(&reader.connection, &mut reader.codec, row, Some(since), period.until)?;
        // Each state of an agent is noted there, so without any this is a task, and one that runs works for nobody.
        if usage.is_empty() {
            let runs = points.iter_mut().filter(|point| point.holder == Holder::Working);
            runs.for_each(|point| point.holder = Holder::Ready);
        }
        let line = timeline(&points, &watched, since, period.until);
        let used = growth(&usage, begun, &used_before(row, &usage, &of_sessions));
        let totals = TerminalTotals { terminal, since, line, ended: turns(&points), used, usage };
        totals.add_to(&mut days, &hours, by, period.until, grain);
    }
    let mut days: Vec<DayTotals> = days.into_values().collect();
    days.retain(|day| !day.whole.is_empty());
    days.iter_mut().for_each(|day| day.hours.retain(|_, hour| !hour.is_empty()));
    Ok(days)
}

/// The totals of one terminal.
struct TerminalTotals<'a> {
    terminal: &'a StoredTerminal,
    /// From when on it counts.
    since: Timestamp,
    /// Who had the turn, how turns ended, and what its agent used.
    line: Vec<TimelineSpan>,
    ended: Vec<(Timestamp, TurnResult)>,
    used: Vec<(Timestamp, Totals)>,
    usage: Vec<&'a SessionUsage>,
}

/// What resumed sessions had used in other terminals, by id and agent.
type UsedBefore = HashMap<(Arc<str>, Arc<str>), Totals>;

/// What was used in each session, by its id and agent, hour by hour.
///
/// Within an hour, they are in the order in which their terminals were first seen.
type OfSessions<'a> = HashMap<(&'a str, &'a str), Vec<&'a (i64, SessionUsage)>>;

fn by_session(all: &[(i64, SessionUsage)]) -> OfSessions<'_> {
    let mut sessions = OfSessions::new();
    for one in all {
        sessions.entry((&one.1.session, &one.1.tool)).or_default().push(one);
    }
    sessions.values_mut().for_each(|used| used.sort_by_key(|(terminal, used)| (used.hour, *terminal)));
    sessions
}

fn used_before(terminal: i64, usage: &[&SessionUsage], all: &OfSessions<'_>) -> UsedBefore {
    let mut before = UsedBefore::new();
    for first in of_one_session(usage).map(|used| used[0]).filter(|used| !used.session.is_empty()) {
        let session = (first.session.clone(), first.tool.clone());
        if before.contains_key(&session) {
            continue;
        }
        let mut known = Totals::default();
        let used = all.get(&(&*session.0, &*session.1)).into_iter().flatten();
        let earlier = used.take_while(|(of, used)| (used.hour, *of) < (first.hour, terminal));
        for (_, used) in earlier.filter(|(of, _)| *of != terminal) {
            grown(used, &mut known);
        }
        before.insert(session, known);
    }
    before
}

/// The hours in a row that are of one session: few of a terminal's are not of the same one as the hour before.
fn of_one_session<'a, 'b>(usage: &'a [&'b SessionUsage]) -> impl Iterator<Item = &'a [&'b SessionUsage]> {
    usage.chunk_by(|one, next| one.session == next.session && one.tool == next.tool)
}

impl TerminalTotals<'_> {
    /// What was done from one time up to another.
    fn between(&self, from: Timestamp, to: Timestamp) -> Totals {
        let mut done = Totals::default();
        let first = self.line.partition_point(|stretch| stretch.to <= from);
        for stretch in self.line[first..].iter().take_while(|stretch| stretch.from < to) {
            done.add_time(stretch.holder, stretch.to.min(to).since(stretch.from.max(from)));
        }
        within(&self.ended, from, to).iter().for_each(|(_, result)| done.turns[*result as usize] += 1);
        within(&self.used, from, to).iter().for_each(|(_, used)| done.add(used));
        done
    }

    fn add_to(
        &self,
        days: &mut BTreeMap<(Date, String), DayTotals>,
        hours: &[Hour],
        by: TotalsOf,
        until: Timestamp,
        grain: Grain,
    ) {
        for day in hours.chunk_by(|one, next| one.date == next.date) {
            let (Some(first), Some(last)) = (day.first(), day.last()) else { continue };
            let (from, to) = (first.begin.max(self.since), last.end.min(until));
            if from >= to {
                continue;
            }
            let name = name(by, self.terminal, &self.usage, to);
            let totals = days.entry((first.date, name.clone())).or_insert_with(|| DayTotals {
                date: first.date,
                name,
                whole: Totals::default(),
                hours: BTreeMap::new(),
            });
            totals.whole.add(&self.between(from, to));
            for hour in day.iter().filter(|_| grain == Grain::Hour) {
                let (from, to) = (hour.begin.max(from), hour.end.min(to));
                if from < to {
                    totals.hours.entry(hour.begin).or_default().add(&self.between(from, to));
                }
            }
        }
    }
}

/// Those of a time from `from` on and before `to`; all of them are sorted by time.
fn within<T>(timed: &[(Timestamp, T)], from: Timestamp, to: Timestamp) -> &[(Timestamp, T)] {
    let place = |at: Timestamp| timed.partition_point(|(time, _)| *time < at);
    &timed[place(from)..place(to)]
}

/// What a terminal counts for on the day that ends then.
fn name(by: TotalsOf, terminal: &StoredTerminal, usage: &[&SessionUsage], to: Timestamp) -> String {
    let last = usage.iter().rev().find(|used| used.hour < to).or(usage.first());
    let named = match by {
        TotalsOf::Terminal => Some(terminal.name.clone()),
        // Of what an older version wrote, it is not known.
        TotalsOf::Agent => last.map(|used| used.tool.to_string()),
        TotalsOf::Label => last.and_then(|used| used.label.as_deref().map(str::to_owned)),
    };
    named.unwrap_or_else(|| NAMELESS.to_owned())
}

/// What each session used in each hour more than before. What is of the hour in which the watching began is of its beginning.
fn growth(usage: &[&SessionUsage], begun: Timestamp, before: &UsedBefore) -> Vec<(Timestamp, Totals)> {
    let mut sessions = before.clone();
    let mut growth = Vec::new();
    for hours in of_one_session(usage) {
        let known = sessions.entry((hours[0].session.clone(), hours[0].tool.clone())).or_default();
        for used in hours {
            // What was used before anyone watched is of no hour that is known.
            let (tokens_in, tokens_out, cost_usd) = used.before;
            known.tokens_in = tokens_in.or(known.tokens_in);
            known.tokens_out = tokens_out.or(known.tokens_out);
            known.cost_usd = cost_usd.or(known.cost_usd);
            let is_begun_within = (used.hour..used.hour + Span::HOUR).contains(&begun);
            growth.push((if is_begun_within { begun } else { used.hour }, grown(used, known)));
        }
    }
    growth
}

/// How much more a session has used than was known, which it is from now on.
fn grown(used: &SessionUsage, known: &mut Totals) -> Totals {
    Totals {
        tokens_in: more(used.tokens_in, &mut known.tokens_in),
        tokens_out: more(used.tokens_out, &mut known.tokens_out),
        cost_usd: more(used.cost_usd, &mut known.cost_usd),
        ..Totals::default()
    }
}

/// How much a count is more than when it was last known.
fn more<T: Copy + PartialOrd + Sub<Output = T>>(now: Option<T>, known: &mut Option<T>) -> Option<T> {
    let now = now?;
    // What is less than before is of a session that was begun anew.
    let before = known.replace(now).filter(|before| *before <= now);
    Some(before.map_or(now, |before| now - before))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::timeline::Point;

    fn at(text: &str) -> Timestamp {
        Timestamp::from_millis(text.parse::<jiff::Timestamp>().unwrap().as_millisecond())
    }

    #[test]
    fn hours_follow_the_clock_on_the_wall() {
        let of = |date: &str, zone: &str| {
            let zone = TimeZone::get(zone).unwrap();
            let (begins, end) = crate::record::totals::hours_of(date.parse().unwrap(), &zone);
            let clock = |at: &Timestamp| at.in_zone(&zone).unwrap().strftime("%H:%M").to_string();
            let ends = begins.iter().skip(1).chain([&end]);
            let lengths = begins.iter().zip(ends).map(|(begin, end)| end.since(*begin).as_millis() / 60_000);
            (begins.len(), begins[1..4].iter().map(clock).collect::<Vec<_>>().join(" "), lengths.collect::<Vec<_>>())
        };
        // Set back by an hour, set forward, set at midnight, and set by half an hour.
        assert_eq!(of("2026-10-25", "Europe/Berlin"), (25, "01:00 02:00 02:00".to_owned(), vec![60; 25]));
        assert_eq!(of("2026-03-29", "Europe/Berlin"), (23, "01:00 03:00 04:00".to_owned(), vec![60; 23]));
        assert_eq!(of("2026-03-08", "America/Havana").0, 23);
        assert_eq!(of("2026-11-21", "Asia/Kathmandu"), (24, "01:00 02:00 03:00".to_owned(), vec![60; 24]));
        let (count, clock, lengths) = of("2026-04-05", "Australia/Lord_Howe");
        assert_eq!((clock.as_str(), lengths.iter().sum::<u64>()), ("01:00 01:30 02:00", 24 * 60 + 30), "{count}");
        assert_eq!(of("2026-10-04", "Australia/Lord_Howe").2.iter().sum::<u64>(), 23 * 60 + 30);
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let touched = hours(at("2026-10-24T12:10:00Z"), at("2026-10-24T13:00:00.001Z"), &zone);
        assert_eq!(
            touched.iter().map(|hour| hour.begin).collect::<Vec<_>>(),
            [at("2026-10-24T12:00:00Z"), at("2026-10-24T13:00:00Z")]
        );
        assert!(hours(at("2026-10-24T12:00:00Z"), at("2026-10-24T12:00:00Z"), &zone).is_empty());
    }

    fn used(hour: &str, session: &str, tokens: Option<u64>, cost: Option<f64>) -> SessionUsage {
        SessionUsage {
            hour: at(hour),
            session: session.into(),
            tool: "claude".into(),
            label: Some("shop".into()),
            tokens_in: tokens,
            tokens_out: None,
            cost_usd: cost,
            before: (None, None, None),
        }
    }

    fn usage() -> [SessionUsage; 5] {
        [
            used("2026-10-24T22:00:00Z", "a", Some(1000), Some(0.5)),
            used("2026-10-25T00:00:00Z", "a", Some(3500), Some(0.75)),
            used("2026-10-25T00:00:00Z", "b", Some(9000), None),
            // It was not known for a while.
            used("2026-10-25T01:00:00Z", "a", None, None),
            used("2026-10-25T02:00:00Z", "a", Some(3600), None),
        ]
    }

    fn known<'a>(terminal: &'a StoredTerminal, usage: &'a [SessionUsage]) -> TerminalTotals<'a> {
        let point = |time: &str, holder, result, ended: Option<&str>| Point {
            at: at(time),
            holder,
            trouble: None,
            result,
            turn_ended: ended.map(at),
        };
        let points = vec![
            point("2026-10-25T00:30:00Z", Holder::Working, TurnResult::None, None),
            point("2026-10-25T01:34:00Z", Holder::Waiting, TurnResult::None, None),
            point("2026-10-25T01:46:00Z", Holder::Working, TurnResult::None, None),
            point("2026-10-25T01:46:30Z", Holder::Ready, TurnResult::Success, Some("2026-10-25T01:46:30Z")),
        ];
        let begun = at("2026-10-25T00:30:00Z");
        let usage: Vec<&SessionUsage> = usage.iter().collect();
        let (from, to) = (begun, at("2026-10-25T04:00:00Z"));
        let line = timeline(&points, &[(begun, at("2026-10-25T03:00:00Z"))], from, to);
        let (ended, used) = (turns(&points), growth(&usage, begun, &UsedBefore::new()));
        TerminalTotals { terminal, since: begun, line, ended, used, usage }
    }

    fn terminal() -> StoredTerminal {
        let (server, instance) = (crate::fleet::ServerId::default(), Default::default());
        let key = crate::fleet::TerminalKey { server, pane: crate::fleet::PaneId(1), pid: 1, instance };
        StoredTerminal { key, name: "api".to_owned(), last: None }
    }

    #[test]
    fn a_day_is_the_sum_of_its_hours() {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let (terminal, until) = (terminal(), at("2026-10-25T04:00:00Z"));
        let usage = usage();
        let one = known(&terminal, &usage);
        let mut days = BTreeMap::new();
        one.add_to(&mut days, &hours(one.since, until, &zone), TotalsOf::Label, until, Grain::Hour);
        let ((date, name), day) = days.first_key_value().unwrap();
        assert_eq!((date.to_string().as_str(), name.as_str(), days.len()), ("2026-10-25", "shop", 1));
        // 02:00 comes twice: the first one is worked through from half past on.
        let minutes = |hour: &str, holder| day.hours[&at(hour)].time(holder).as_secs() / 60.0;
        assert_eq!(minutes("2026-10-25T00:00:00Z", Holder::Working).to_bits(), 30_f64.to_bits());
        assert_eq!(minutes("2026-10-25T01:00:00Z", Holder::Working).to_bits(), 34.5_f64.to_bits());
        assert_eq!(minutes("2026-10-25T01:00:00Z", Holder::Waiting).to_bits(), 12_f64.to_bits());
        assert_eq!(day.hours[&at("2026-10-25T01:00:00Z")].turns(TurnResult::Success), 1);
        assert!(day.hours[&at("2026-10-25T03:00:00Z")].is_empty(), "nobody watched any more");
        // What was used in the hour in which it was first watched counts, and what was before does not.
        assert_eq!((day.whole.tokens_in, day.whole.tokens_out, day.whole.cost_usd), (Some(11_600), None, Some(0.25)));
        let mut sum = Totals::default();
        day.hours.values().for_each(|hour| sum.add(hour));
        assert_eq!(sum, day.whole);
    }

    #[test]
    fn what_a_session_used_before_anyone_watched_counts_nowhere() {
        let begun = at("2026-10-25T09:40:00Z");
        let first = SessionUsage {
            before: (Some(9_000), None, Some(3.0)),
            ..used("2026-10-25T09:00:00Z", "a", Some(10_000), Some(3.5))
        };
        let usage = [first, used("2026-10-25T10:00:00Z", "a", Some(10_700), Some(3.75))];
        let of = |(at, it): &(Timestamp, Totals)| (*at, it.tokens_in, it.cost_usd);
        let amounts: Vec<_> = growth(&usage.each_ref(), begun, &UsedBefore::new()).iter().map(of).collect();
        let ten = at("2026-10-25T10:00:00Z");
        assert_eq!(amounts, [(begun, Some(1_000), Some(0.5)), (ten, Some(700), Some(0.25))]);
    }

    #[test]
    fn what_a_session_used_elsewhere_before_it_was_resumed_is_not_counted_again() {
        let here = [
            used("2026-10-25T09:00:00Z", "a", Some(1500), Some(3.5)),
            used("2026-10-25T09:00:00Z", "b", Some(7), None),
        ];
        let all = [
            (1, used("2026-10-25T08:00:00Z", "a", Some(900), Some(2.0))),
            (1, used("2026-10-25T09:00:00Z", "a", Some(1000), Some(3.0))),
            (2, here[0].clone()),
            (2, here[1].clone()),
            (3, used("2026-10-25T09:00:00Z", "a", Some(1600), Some(4.0))),
        ];
        let begun = at("2026-10-25T09:10:00Z");
        let grown = growth(&here.each_ref(), begun, &used_before(2, &here.each_ref(), &by_session(&all)));
        let amounts: Vec<_> = grown.iter().map(|(at, used)| (*at, used.tokens_in, used.cost_usd)).collect();
        assert_eq!(amounts, [(begun, Some(500), Some(0.5)), (begun, Some(7), None)]);
    }

    #[test]
    fn a_terminal_counts_for_what_it_was_last() {
        let terminal = terminal();
        let usage = usage();
        let named = |by, usage: &[&SessionUsage]| name(by, &terminal, usage, at("2026-10-26T00:00:00Z"));
        let all = [TotalsOf::Terminal, TotalsOf::Agent, TotalsOf::Label];
        assert_eq!(all.map(|by| named(by, &usage.each_ref())), ["api", "claude", "shop"]);
        assert_eq!(all.map(|by| named(by, &[])), ["api", NAMELESS, NAMELESS]);
    }
}
