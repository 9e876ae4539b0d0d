//! Hours that are over, added up once, so that totals of a long history need not read every record.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension, params};

use super::Trouble;
use super::encoding::Codec;
use super::reader::{points, rows, watched};
use super::timeline::{Holder, SEAM, timeline, turns};
use super::totals::{Totals, done_between};
use crate::state::TurnResult;
use crate::time::{Span, Timestamp};

/// The length of an hour in milliseconds; hours begin where those of universal time do.
pub(super) const HOUR: i64 = 3_600_000;

/// How long after its end an hour is added up. A record of it may come late from a process that goes on for one that ended, and
/// a success may be withdrawn (SPEC §7, rule 5).
pub(super) const SETTLED: Span = Span::from_secs(30 * 60);

/// Hours that are added up in one transaction.
const STEP: i64 = 24 * 7;

/// What is added up at a time, so that what is to be written does not wait.
const BUDGET: Duration = Duration::from_millis(50);

/// The hour that a time lies in.
pub(super) fn hour_of(at: Timestamp) -> i64 {
    at.as_millis().div_euclid(HOUR)
}

/// When an hour begins.
pub(super) fn begin_of(hour: i64) -> Timestamp {
    Timestamp::from_millis(hour.saturating_mul(HOUR))
}

/// Adds up hours that are over, some of them; whether there are more. Several processes may do so at once.
pub(super) fn add_up(connection: &mut Connection, codec: &mut Codec, now: Timestamp) -> Result<bool, Trouble> {
    let (over, began) = (hour_of(now - SETTLED), Instant::now());
    // A terminal that nobody has watched since is done.
    let sql = "SELECT n.id FROM terminals n WHERE coalesce(n.added_up, -1) < ?1 AND EXISTS
                   (SELECT 1 FROM watches WHERE terminal = n.id AND started < ?1 * ?2 AND seen >= coalesce(n.added_up, 0) * ?2)";
    let due: Vec<i64> = rows(connection, sql, [over, HOUR], |row| row.get(0))?;
    for terminal in due {
        while add_up_some(connection, codec, terminal, now)? {
            if began.elapsed() > BUDGET {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Adds up the next hours of a terminal that are over; whether there are more.
fn add_up_some(connection: &mut Connection, codec: &mut Codec, terminal: i64, now: Timestamp) -> Result<bool, Trouble> {
    let over = hour_of(now - SETTLED);
    // Nothing may be written between what is read and the word that it is added up.
    let transaction = connection.transaction()?;
    let sql = "SELECT min(started) FROM watches WHERE terminal = ?1";
    let first: Option<Timestamp> = transaction.prepare_cached(sql)?.query_row([terminal], |row| row.get(0))?;
    let Some(from) = added_up(&transaction, terminal)?.or(first.map(hour_of)).filter(|from| *from < over) else {
        return Ok(false);
    };
    let to = over.min(from + STEP);
    let (begin, end) = (begin_of(from), begin_of(to));
    // Who still watches has watched up to now, or has long stopped to.
    let mut seen = watched(&transaction, terminal, begin - SEAM, now)?;
    seen.retain(|(started, _)| *started < end + SEAM);
    let found = points(&transaction, codec, terminal, Some(begin), end + SETTLED)?;
    let (line, ended) = (timeline(&found, &seen, begin, end), turns(&found));
    for day in day_of(from)..=day_of(to - 1) {
        let hours = day * DAY..(day + 1) * DAY;
        // What of the day is not added up now stays.
        let mut kept = kept(&transaction, terminal, hours.start, hours.end)?;
        kept.retain(|(hour, _)| !(begin..end).contains(hour));
        kept.extend(
            hours
                .clone()
                .filter(|hour| (from..to).contains(hour))
                .map(|hour| (begin_of(hour), done_between(&line, &ended, begin_of(hour), begin_of(hour + 1)))),
        );
        kept.retain(|(_, done)| !done.is_empty());
        kept.sort_by_key(|(hour, _)| *hour);
        let lines: Vec<String> =
            kept.iter().map(|(hour, done)| write_hour(hour_of(*hour) - hours.start, done)).collect();
        let sql = "INSERT OR REPLACE INTO days VALUES (?1, ?2, ?3)";
        transaction.prepare_cached(sql)?.execute(params![terminal, day, lines.join("\n")])?;
    }
    transaction.prepare_cached("UPDATE terminals SET added_up = ?2 WHERE id = ?1")?.execute([terminal, to])?;
    transaction.commit()?;
    Ok(to < over)
}

/// Days of universal time, each of which is a row.
const DAY: i64 = 24;

fn day_of(hour: i64) -> i64 {
    hour.div_euclid(DAY)
}

/// Who is in the line of an hour, one after the other; what is left of it nobody watched.
const WATCHED: [Holder; 5] = [Holder::Working, Holder::Waiting, Holder::Ready, Holder::Gone, Holder::Unknown];

/// Has the hours added up again, starting with the one in which a record was written late.
pub(super) fn unsettle(connection: &Connection, terminal: i64, at: Timestamp) -> Result<(), Trouble> {
    let sql = "UPDATE terminals SET added_up = ?2 WHERE id = ?1 AND added_up > ?2";
    connection.prepare_cached(sql)?.execute([terminal, hour_of(at)])?;
    Ok(())
}

/// Up to which hour a terminal's are added up.
pub(super) fn added_up(connection: &Connection, terminal: i64) -> Result<Option<i64>, Trouble> {
    let sql = "SELECT added_up FROM terminals WHERE id = ?1";
    Ok(connection.prepare_cached(sql)?.query_row([terminal], |row| row.get(0)).optional()?.flatten())
}

/// What a terminal did in hours that are added up, by their beginnings; nobody watched it in those that are left out.
pub(super) fn kept(
    connection: &Connection,
    terminal: i64,
    from: i64,
    to: i64,
) -> Result<Vec<(Timestamp, Totals)>, Trouble> {
    let sql = "SELECT day, hours FROM days WHERE terminal = ?1 AND day BETWEEN ?2 AND ?3 ORDER BY day";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([terminal, day_of(from), day_of(to - 1)])?;
    let mut kept = Vec::new();
    while let Some(row) = rows.next()? {
        let begin = row.get::<_, i64>(0)? * DAY;
        for line in row.get_ref(1)?.as_str().map_err(|_| Trouble::Damaged)?.lines() {
            let (hour, done) = read_hour(line).ok_or(Trouble::Damaged)?;
            if (from..to).contains(&(begin + hour)) {
                kept.push((begin_of(begin + hour), done));
            }
        }
    }
    Ok(kept)
}

/// An hour of a day as a line: which one, how many milliseconds each of [`WATCHED`] had, and the turns that ended, such as
/// `success 3 known_failure 1`.
fn write_hour(hour: i64, done: &Totals) -> String {
    let mut line = hour.to_string();
    for holder in WATCHED {
        let _ = write!(line, " {}", done.time(holder).as_millis());
    }
    for result in TurnResult::ALL.iter().filter(|result| done.turns(**result) > 0) {
        let _ = write!(line, " {result} {}", done.turns(*result));
    }
    line
}

/// What [`write_hour`] wrote; turns whose end no version that is known here wrote are left out.
fn read_hour(line: &str) -> Option<(i64, Totals)> {
    let mut words = line.split(' ');
    let hour = words.next()?.parse().ok()?;
    let (mut done, mut left) = (Totals::default(), HOUR.unsigned_abs());
    for holder in WATCHED {
        let millis = words.next()?.parse().ok()?;
        done.add_time(holder, Span::from_millis(millis));
        left = left.saturating_sub(millis);
    }
    done.add_time(Holder::Unwatched, Span::from_millis(left));
    while let (Some(result), Some(count)) = (words.next(), words.next()) {
        let count = count.parse().ok()?;
        TurnResult::of_word(result).into_iter().for_each(|result| done.turns[result as usize] = count);
    }
    Some((hour, done))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;
    use std::sync::Arc;

    use jiff::tz::TimeZone;
    use proptest::prelude::*;

    use super::super::record::{PublicState, Record};
    use super::super::store::Store;
    use super::super::tests::{at, place, store, transition};
    use super::super::totals::{DayTotals, Grain, Period, TotalsOf};
    use super::super::writer::WriterMessage;
    use super::super::{Reader, file};
    use super::*;
    use crate::state::Phase;

    /// Days of a watched terminal: seconds, whether it is watched on afterwards, its phase, and how its last turn ended.
    fn watching() -> impl Strategy<Value = Vec<(i64, bool, Phase, TurnResult)>> {
        let phase = prop::sample::select(Phase::ALL);
        let result = prop::sample::select(vec![TurnResult::None, TurnResult::Success, TurnResult::KnownFailure]);
        prop::collection::vec((1i64..9000, prop::bool::weighted(0.8), phase, result), 1..40)
    }

    fn write(store: &mut Store, seconds: i64, phase: Phase, result: TurnResult) {
        let mut record = transition(1, seconds, phase, "x");
        record.transition.summary.result = result;
        if let Some(PublicState::Agent(state)) = &mut record.state {
            state.last_turn.at = Some(at(seconds - 2)).filter(|_| result != TurnResult::None);
        }
        store.write(&[WriterMessage::Record(Arc::new(Record::Transition(record)))], at(seconds)).unwrap();
    }

    /// Watches in those seconds.
    fn watch(store: &mut Store, seconds: std::ops::Range<i64>) {
        seconds.step_by(10).for_each(|second| store.beat(at(second), None).unwrap());
    }

    fn days(path: &Path, since: Option<Timestamp>, until: Timestamp, zone: &str) -> Vec<DayTotals> {
        let mut reader = Reader::open(path).unwrap();
        let terminals = reader.terminals().unwrap();
        let period = Period { since, until, zone: TimeZone::get(zone).unwrap() };
        let days = |grain| reader.days(&terminals, TotalsOf::Terminal, &period, grain).unwrap();
        let [by_hour, whole] = [Grain::Hour, Grain::Day].map(days);
        let without_hours = by_hour.iter().map(|day| DayTotals { hours: BTreeMap::new(), ..day.clone() });
        assert_eq!(without_hours.collect::<Vec<_>>(), whole);
        by_hour
    }

    fn kept_rows(path: &Path) -> (Option<i64>, Option<i64>) {
        let connection = Connection::open(path).unwrap();
        let row = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, Option<i64>>(0)).unwrap();
        let hours = "SELECT sum(length(hours) - length(replace(hours, char(10), '')) + 1) FROM days WHERE hours <> ''";
        (row(hours), row("SELECT added_up FROM terminals"))
    }

    fn add_up_all(store: &mut Store, now: Timestamp) {
        while store.add_up_hours(now).unwrap() {}
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn what_is_added_up_is_what_all_records_say(
            story in watching(),
            since in prop::option::of(0i64..100_000),
            rest in 0i64..20_000,
            often in any::<bool>(),
        ) {
            let (_directory, path) = place();
            let mut store = store(&path, "a", at(0));
            let mut now = 0;
            for (seconds, is_watched, phase, result) in story {
                watch(&mut store, now + 10..now + seconds);
                now += seconds;
                write(&mut store, now, phase, result);
                if often {
                    add_up_all(&mut store, at(now));
                }
                if !is_watched {
                    store.leave(at(now + 1)).unwrap();
                    store = super::super::tests::store(&path, "a", at(now + 1));
                    now += seconds / 2;
                }
            }
            now += rest;
            let (since, until) = (since.map(at), at(now));
            let zones = ["UTC", "America/New_York", "Asia/Kathmandu"];
            let kept = zones.map(|zone| { add_up_all(&mut store, at(now)); days(&path, since, until, zone) });
            Connection::open(&path).unwrap().execute("UPDATE terminals SET added_up = NULL", []).unwrap();
            for (zone, kept) in zones.into_iter().zip(kept) {
                prop_assert_eq!(kept, days(&path, since, until, zone), "{}", zone);
            }
        }
    }

    #[test]
    fn a_late_record_has_its_hour_added_up_anew() {
        let (_directory, path) = place();
        let mut store = store(&path, "a", at(0));
        write(&mut store, 0, Phase::Active, TurnResult::None);
        watch(&mut store, 10..20_000);
        add_up_all(&mut store, at(20_000));
        let before = kept_rows(&path);
        assert!(before.0 > Some(3), "{before:?}");
        let mut late = transition(1, 9000, Phase::Ready, "x");
        late.transition.summary.result = TurnResult::None;
        store.write(&[WriterMessage::Record(Arc::new(Record::Transition(late)))], at(20_000)).unwrap();
        assert!(kept_rows(&path).1 < before.1, "{before:?}");
        add_up_all(&mut store, at(20_000));
        assert_eq!(kept_rows(&path), before);
        let all = days(&path, None, at(20_000), "UTC");
        let ready: u64 = all.iter().map(|day| day.whole.time(Holder::Ready).as_millis()).sum();
        assert_eq!(ready, 11_000_000);
    }

    #[test]
    fn who_stopped_to_watch_right_before_an_hours_end_has_not_watched_the_rest_of_it() {
        let (_directory, path) = place();
        let mut store = store(&path, "a", at(0));
        write(&mut store, 0, Phase::Active, TurnResult::None);
        watch(&mut store, 10..3600);
        add_up_all(&mut store, at(5_500));
        assert_eq!(kept_rows(&path).0, Some(1));
        let working: u64 =
            days(&path, None, at(5_500), "UTC").iter().map(|day| day.whole.time(Holder::Working).as_millis()).sum();
        assert_eq!(working, 3_590_000);
    }

    #[test]
    fn a_turn_of_the_first_part_of_an_hour_that_is_recorded_in_the_next_is_counted() {
        let (_directory, path) = place();
        let mut store = store(&path, "a", at(0));
        write(&mut store, 1435, Phase::Active, TurnResult::None);
        watch(&mut store, 1440..3600);
        write(&mut store, 3600, Phase::Ready, TurnResult::Success);
        add_up_all(&mut store, at(9000));
        let turns: u32 =
            days(&path, None, at(9000), "UTC").iter().map(|day| day.whole.turns(TurnResult::Success)).sum();
        assert_eq!(turns, 1);
    }

    #[test]
    fn hours_that_had_a_row_each_are_kept() {
        let mut connection = Connection::open_in_memory().unwrap();
        file::STEPS[..13].iter().for_each(|step| connection.execute_batch(step).unwrap());
        connection.pragma_update(None, "user_version", 13).unwrap();
        let rows = "INSERT INTO terminals VALUES (1, '', 'default', 1, 1, 't1', 26);
                    INSERT INTO hours VALUES (1, 25, 0, 60000, 0, 0, 0, 'success 3'), (1, 23, 3600000, 0, 0, 0, 0, NULL),
                                             (1, 24, 1, 2, 3, 4, 5, NULL)";
        connection.execute_batch(rows).unwrap();
        file::migrate(&mut connection).unwrap();
        let points_of = |from, to| {
            let kept = kept(&connection, 1, from, to).unwrap().into_iter();
            kept.map(|(hour, done)| write_hour(hour_of(hour), &done)).collect::<Vec<_>>()
        };
        assert_eq!(points_of(0, 26), ["23 3600000 0 0 0 0", "24 1 2 3 4 5", "25 0 60000 0 0 0 success 3"]);
        assert_eq!(points_of(24, 25), ["24 1 2 3 4 5"]);
    }

    #[test]
    fn hours_are_read_as_they_were_written() {
        let mut done = Totals::default();
        done.add_time(Holder::Waiting, Span::from_secs(60));
        done.add_time(Holder::Unwatched, Span::from_secs(3540));
        assert_eq!(read_hour(&write_hour(7, &done)), Some((7, done.clone())));
        done.turns[TurnResult::Success as usize] = 3;
        done.turns[TurnResult::KnownFailure as usize] = 1;
        let line = write_hour(23, &done);
        assert_eq!(line, "23 0 60000 0 0 0 success 3 known_failure 1");
        for line in [&line, &format!("{line} marvel 4")] {
            assert_eq!(read_hour(line), Some((23, done.clone())));
        }
        assert_eq!(read_hour("23 0 60000 0"), None);
    }
}
