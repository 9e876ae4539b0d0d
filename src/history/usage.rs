//! What agents used: tokens and money of their sessions, hour by hour, so that totals need not read every record.

use std::sync::Arc;

use rusqlite::{Connection, params};

use crate::record::HistoryError;
use crate::state::{FactName, State};
use crate::time::Timestamp;

/// The length of an hour in milliseconds; hours begin where those of universal time do.
pub(super) const HOUR: i64 = 3_600_000;

/// The hour that a time lies in.
fn hour_of(at: Timestamp) -> i64 {
    at.as_millis().div_euclid(HOUR)
}

/// When an hour begins.
pub(super) fn begin_of(hour: i64) -> Timestamp {
    Timestamp::from_millis(hour.saturating_mul(HOUR))
}

/// What an agent had used in one of its sessions by the end of an hour, as far as that was known at a change of its state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionUsage {
    /// The beginning of the hour.
    pub hour: Timestamp,
    /// The agent's own id of its session; empty where it is not known.
    pub session: Arc<str>,
    pub tool: Arc<str>,
    pub label: Option<Arc<str>>,
    pub tokens_in: Option<u64>,
    pub tokens_out: Option<u64>,
    pub cost_usd: Option<f64>,
    /// The share used before anybody watched: in, out and paid. It is nothing where the session was seen to begin, and in every
    /// hour but its first.
    pub before: (Option<u64>, Option<u64>, Option<f64>),
}

/// Notes what an agent had used at a time.
pub(super) fn note_usage(
    connection: &Connection,
    terminal: i64,
    at: Timestamp,
    state: &State,
) -> Result<(), HistoryError> {
    let facts = &state.agent;
    let count = |name| facts.count(name).and_then(|count| i64::try_from(count).ok());
    // An agent may be there for a moment before its session is known, which began unseen then, too. One that is known
    // before it has used anything is seen to begin.
    let sql = "INSERT INTO usage (terminal, session, hour, tool, label, tokens_in, tokens_out, cost,
                   unseen, first_in, first_out, first_cost)
               SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,
                   begun.unseen, iif(begun.unseen, ?6, NULL), iif(begun.unseen, ?7, NULL), iif(begun.unseen, ?8, NULL)
               FROM (SELECT (?2 = '' OR coalesce(?6, ?7, ?8) IS NOT NULL)
                   AND NOT EXISTS (SELECT 1 FROM usage WHERE terminal = ?1 AND session = ?2)
                   AND (?9 OR (EXISTS (SELECT 1 FROM usage WHERE terminal = ?1 AND session = '' AND unseen)
                       AND NOT EXISTS (SELECT 1 FROM usage WHERE terminal = ?1 AND session <> ''))) AS unseen) AS begun
               WHERE true
               ON CONFLICT (terminal, session, hour) DO UPDATE SET tool = excluded.tool, label = excluded.label,
                   tokens_in = coalesce(excluded.tokens_in, tokens_in),
                   tokens_out = coalesce(excluded.tokens_out, tokens_out), cost = coalesce(excluded.cost, cost),
                   first_in = iif(unseen, coalesce(first_in, excluded.tokens_in), NULL),
                   first_out = iif(unseen, coalesce(first_out, excluded.tokens_out), NULL),
                   first_cost = iif(unseen, coalesce(first_cost, excluded.cost), NULL)";
    connection.prepare_cached(sql)?.execute(params![
        terminal,
        facts.text(FactName::Session).unwrap_or_default(),
        hour_of(at),
        state.terminal.tool,
        state.terminal.label,
        count(FactName::TokensIn),
        count(FactName::TokensOut),
        facts.cost(),
        !state.turn.since_exact,
    ])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::Reader;
    use super::super::store::WriterMessage;
    use super::super::tests::{at, message, place, state, store, transition};
    use super::*;
    use crate::record::{PublicState, Record};
    use crate::state::{Fact, FactSource, FactValue, Phase};

    #[test]
    fn what_sessions_used_is_kept_by_the_hour() {
        let (_directory, path) = place();
        let mut store = store(&path, "a", at(0));
        let mut write = |seconds: i64, session: &str, tokens: Option<u64>, is_seen: bool| {
            let mut state = state(at(seconds));
            state.turn.since_exact = is_seen;
            let mut put =
                |name, value| state.agent.put(name, Fact { value, source: FactSource::Record, at: at(seconds) });
            put(FactName::Session, FactValue::Text(session.to_owned()));
            tokens.into_iter().for_each(|count| put(FactName::TokensIn, FactValue::Count(count)));
            state.terminal.label = Some("shop".to_owned());
            let mut record = transition(1, seconds, Phase::Ready, "x");
            record.state = Some(PublicState::Agent(Box::new(state)));
            store.write(&[WriterMessage::Record(Arc::new(Record::Transition(record)))], at(seconds)).unwrap();
        };
        for (seconds, session, tokens, is_seen) in [
            // It is there before anyone watches, and which session it is shows a moment later.
            (0, "", None, false),
            (1, "a", Some(10), true),
            (60, "a", Some(30), true),
            (61, "a", None, true),
            (7200, "a", Some(40), false),
            (7201, "b", Some(5), true),
            // It had used nothing when it was found.
            (7203, "c", None, false),
            (7204, "c", Some(1050), false),
        ] {
            write(seconds, session, tokens, is_seen);
        }
        store.write(&[message(2, 7202, Phase::Ready, "other")], at(7202)).unwrap();
        let reader = Reader::open(&path).unwrap();
        let used_until = |until| {
            let usage = reader.usage(at(until)).unwrap();
            let of_first = usage.into_iter().filter(|(terminal, _)| *terminal == 1).map(|(_, used)| used);
            of_first.map(|it| (it.session, it.tokens_in, it.before.0, it.label)).collect::<Vec<_>>()
        };
        let used = |session: &str, tokens, before| (session.into(), tokens, before, Some("shop".into()));
        let first: [(Arc<str>, _, _, Option<Arc<str>>); 2] = [used("", None, None), used("a", Some(30), Some(10))];
        let then = [used("a", Some(40), None), used("b", Some(5), None), used("c", Some(1050), None)];
        assert_eq!(used_until(9000), [&first[..], &then].concat());
        assert_eq!(used_until(100), first);
    }
}
