//! Hours that are over, added up once, so that totals of a long history need not read every record.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};

use super::Trouble;
use super::encoding::Codec;
use super::reader::{points, watched};
use super::timeline::{Holder, SEAM, timeline, turns};
use super::totals::{Totals, done_between};
use crate::state::TurnResult;
use crate::time::{Span, Timestamp};

/// The length of an hour in milliseconds; hours begin where those of universal time do.
pub(super) const HOUR: i64 = 3_600_000;

/// How long after its end an hour is added up. A record of it may come late from a process that goes on for one that ended, and
/// a success may be withdrawn (SPEC §7, rule 5).
const SETTLED: Span = Span::from_secs(30 * 60);

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
///
/// # Errors
/// The file cannot be read or written.
pub(super) fn add_up(connection: &mut Connection, codec: &mut Codec, now: Timestamp) -> Result<bool, Trouble> {
    let (over, began) = (hour_of(now - SETTLED), Instant::now());
    // A terminal that nobody has watched since is done.
    let sql = "SELECT n.id FROM terminals n WHERE coalesce(n.added_up, -1) < ?1 AND EXISTS
                   (SELECT 1 FROM watches WHERE terminal = n.id AND started < ?1 * ?2 AND seen >= coalesce(n.added_up, 0) * ?2)";
    let due: Vec<i64> =
        connection.prepare_cached(sql)?.query_map([over, HOUR], |row| row.get(0))?.collect::<Result<_, _>>()?;
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
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let sql = "SELECT min(started) FROM watches WHERE terminal = ?1";
    let first: Option<i64> = transaction.prepare_cached(sql)?.query_row([terminal], |row| row.get(0))?;
    let first = first.map(|at| hour_of(Timestamp::from_millis(at)));
    let Some(from) = added_up(&transaction, terminal)?.or(first).filter(|from| *from < over) else { return Ok(false) };
    let to = over.min(from + STEP);
    let (begin, end) = (begin_of(from), begin_of(to));
    // Who still watches has watched up to now, or has long stopped to.
    let mut seen = watched(&transaction, terminal, begin - SEAM, now)?;
    seen.retain(|(started, _)| *started < end + SEAM);
    let told = points(&transaction, codec, terminal, Some(begin), end + SETTLED)?;
    let (line, ended) = (timeline(&told, &seen, begin, end), turns(&told));
    for hour in from..to {
        let done = done_between(&line, &ended, begin_of(hour), begin_of(hour + 1));
        if done.is_empty() {
            transaction
                .prepare_cached("DELETE FROM hours WHERE terminal = ?1 AND hour = ?2")?
                .execute([terminal, hour])?;
            continue;
        }
        let time = |holder| i64::try_from(done.time(holder).as_millis()).unwrap_or(HOUR);
        let sql = "INSERT OR REPLACE INTO hours VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        let [working, waiting, ready, gone, unknown] = WATCHED.map(time);
        let values = params![terminal, hour, working, waiting, ready, gone, unknown, write_turns(&done)];
        transaction.prepare_cached(sql)?.execute(values)?;
    }
    transaction.prepare_cached("UPDATE terminals SET added_up = ?2 WHERE id = ?1")?.execute([terminal, to])?;
    transaction.commit()?;
    Ok(to < over)
}

/// The columns of an hour; what is left of it nobody watched.
const WATCHED: [Holder; 5] = [Holder::Working, Holder::Waiting, Holder::Ready, Holder::Gone, Holder::Unknown];

/// Has the hours added up anew from the one on in which a record was written late.
///
/// # Errors
/// The file cannot be written.
pub(super) fn unsettle(connection: &Connection, terminal: i64, at: Timestamp) -> Result<(), Trouble> {
    let sql = "UPDATE terminals SET added_up = ?2 WHERE id = ?1 AND added_up > ?2";
    connection.prepare_cached(sql)?.execute([terminal, hour_of(at)])?;
    Ok(())
}

/// Up to which hour a terminal's are added up.
///
/// # Errors
/// The file cannot be read.
pub(super) fn added_up(connection: &Connection, terminal: i64) -> Result<Option<i64>, Trouble> {
    let sql = "SELECT added_up FROM terminals WHERE id = ?1";
    Ok(connection.prepare_cached(sql)?.query_row([terminal], |row| row.get(0)).optional()?.flatten())
}

/// What a terminal did in hours that are added up, by their beginnings.
///
/// # Errors
/// The file cannot be read.
pub(super) fn kept(
    connection: &Connection,
    terminal: i64,
    from: i64,
    to: i64,
) -> Result<BTreeMap<Timestamp, Totals>, Trouble> {
    let sql = "SELECT hour, working, waiting, ready, gone, unknown, turns FROM hours
               WHERE terminal = ?1 AND hour >= ?2 AND hour < ?3 ORDER BY hour";
    let mut statement = connection.prepare_cached(sql)?;
    let mut unwatched = Totals::default();
    unwatched.add_time(Holder::Unwatched, Span::from_millis(HOUR.unsigned_abs()));
    let mut kept: BTreeMap<Timestamp, Totals> = (from..to).map(|hour| (begin_of(hour), unwatched.clone())).collect();
    for row in statement.query_map([terminal, from, to], |row| Ok((begin_of(row.get(0)?), read(row)?)))? {
        kept.extend([row?]);
    }
    Ok(kept)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Totals> {
    let (mut done, mut left) = (Totals::default(), HOUR);
    for (place, holder) in (1..).zip(WATCHED) {
        let millis: i64 = row.get(place)?;
        done.add_time(holder, Span::from_millis(millis.unsigned_abs()));
        left -= millis;
    }
    done.add_time(Holder::Unwatched, Span::from_millis(u64::try_from(left).unwrap_or_default()));
    if let Some(turns) = row.get_ref(6)?.as_str_or_null()? {
        done.turns = read_turns(turns);
    }
    Ok(done)
}

/// The turns that ended, such as `success 3 failure 1`; `None` where none did.
fn write_turns(done: &Totals) -> Option<String> {
    let words: Vec<String> = done.turns.iter().map(|(result, count)| format!("{result} {count}")).collect();
    Some(words.join(" ")).filter(|words| !words.is_empty())
}

/// What no version that is known here wrote is left out.
fn read_turns(text: &str) -> BTreeMap<TurnResult, u32> {
    let words: Vec<&str> = text.split(' ').collect();
    words
        .as_chunks()
        .0
        .iter()
        .filter_map(|[result, count]| Some((TurnResult::of_word(result)?, count.parse().ok()?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use jiff::tz::TimeZone;
    use proptest::prelude::*;

    use super::super::Reader;
    use super::super::record::{PublicState, Record};
    use super::super::store::Store;
    use super::super::tests::{at, place, store, transition};
    use super::super::totals::{DayTotals, Period, TotalsOf};
    use super::super::writer::Message;
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
        store.write(&[Message::Record(Arc::new(Record::Transition(record)))], at(seconds)).unwrap();
    }

    fn days(path: &Path, since: Option<Timestamp>, until: Timestamp, zone: &str) -> Vec<DayTotals> {
        let mut reader = Reader::open(path).unwrap();
        let terminals = reader.terminals().unwrap();
        let period = Period { since, until, zone: TimeZone::get(zone).unwrap() };
        reader.days(&terminals, TotalsOf::Terminal, &period).unwrap()
    }

    fn kept_rows(path: &Path) -> (Option<i64>, Option<i64>) {
        let connection = Connection::open(path).unwrap();
        let row = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, Option<i64>>(0)).unwrap();
        (row("SELECT count(*) FROM hours"), row("SELECT added_up FROM terminals"))
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
                for beat in (now..now + seconds).step_by(10).skip(1) {
                    store.beat(at(beat), None).unwrap();
                }
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
        for beat in (10..20_000).step_by(10) {
            store.beat(at(beat), None).unwrap();
        }
        add_up_all(&mut store, at(20_000));
        let before = kept_rows(&path);
        assert!(before.0 > Some(3), "{before:?}");
        let mut late = transition(1, 9000, Phase::Ready, "x");
        late.transition.summary.result = TurnResult::None;
        store.write(&[Message::Record(Arc::new(Record::Transition(late)))], at(20_000)).unwrap();
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
        for beat in (10..3600).step_by(10) {
            store.beat(at(beat), None).unwrap();
        }
        add_up_all(&mut store, at(5_500));
        assert_eq!(kept_rows(&path).0, Some(1));
        let working: u64 =
            days(&path, None, at(5_500), "UTC").iter().map(|day| day.whole.time(Holder::Working).as_millis()).sum();
        assert_eq!(working, 3_590_000);
    }

    #[test]
    fn turns_are_read_as_they_were_written() {
        let mut done = Totals::default();
        assert_eq!(write_turns(&done), None);
        done.turns.extend([(TurnResult::Success, 3), (TurnResult::KnownFailure, 1)]);
        let text = write_turns(&done).unwrap();
        assert_eq!(read_turns(&text), done.turns);
        assert_eq!(read_turns(&format!("{text} marvel 4")), done.turns);
    }
}
