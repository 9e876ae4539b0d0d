//! What agents used: tokens and money of their sessions, hour by hour, so that totals need not read every record.

use rusqlite::{Connection, params};

use super::{Reader, Trouble};
use crate::state::{FactName, State};
use crate::time::Timestamp;

/// In milliseconds.
const HOUR: i64 = 3_600_000;

/// What an agent had used in one of its sessions by the end of an hour, as far as that was known at a change of its state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionUsage {
    /// The beginning of the hour.
    pub hour: Timestamp,
    /// The agent's own id of its session; empty where it is not known.
    pub session: String,
    pub tool: String,
    pub label: Option<String>,
    pub tokens_in: Option<u64>,
    pub tokens_out: Option<u64>,
    pub cost_usd: Option<f64>,
}

/// Notes what an agent had used at a time.
///
/// # Errors
/// The file cannot be written.
pub(super) fn note(connection: &Connection, terminal: i64, at: Timestamp, state: &State) -> Result<(), Trouble> {
    let facts = &state.agent;
    let count = |name| facts.count(name).and_then(|count| i64::try_from(count).ok());
    let sql = "INSERT INTO usage VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
               ON CONFLICT (terminal, session, hour) DO UPDATE SET tool = excluded.tool, label = excluded.label,
                   tokens_in = coalesce(excluded.tokens_in, tokens_in),
                   tokens_out = coalesce(excluded.tokens_out, tokens_out), cost = coalesce(excluded.cost, cost)";
    connection.prepare_cached(sql)?.execute(params![
        terminal,
        facts.text(FactName::Session).unwrap_or_default(),
        at.as_millis().div_euclid(HOUR),
        state.terminal.tool,
        state.terminal.label,
        count(FactName::TokensIn),
        count(FactName::TokensOut),
        facts.cost(),
    ])?;
    Ok(())
}

impl Reader {
    /// What all agents had used, hour by hour up to a time, each with the row of its terminal; in one hour the terminal that was
    /// known first comes first.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn usage(&self, until: Timestamp) -> Result<Vec<(i64, SessionUsage)>, Trouble> {
        let sql = "SELECT hour, session, tool, label, tokens_in, tokens_out, cost, terminal FROM usage
                   WHERE hour * ?2 < ?1 ORDER BY hour, terminal";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map(params![until.as_millis(), HOUR], |row| {
            let hour: i64 = row.get(0)?;
            let count = |place| -> rusqlite::Result<Option<u64>> {
                Ok(row.get::<_, Option<i64>>(place)?.and_then(|count| u64::try_from(count).ok()))
            };
            let used = SessionUsage {
                hour: Timestamp::from_millis(hour.saturating_mul(HOUR)),
                session: row.get(1)?,
                tool: row.get(2)?,
                label: row.get(3)?,
                tokens_in: count(4)?,
                tokens_out: count(5)?,
                cost_usd: row.get(6)?,
            };
            Ok((row.get(7)?, used))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{at, message, place, state, store, transition};
    use super::super::writer::Message;
    use super::super::{PublicState, Record};
    use super::*;
    use crate::state::{Fact, FactSource, FactValue, Phase};
    use std::sync::Arc;

    #[test]
    fn what_sessions_used_is_kept_by_the_hour() {
        let (_directory, path) = place();
        let mut store = store(&path, "a", at(0));
        let mut write = |seconds: i64, session: &str, tokens: Option<u64>| {
            let mut state = state(at(seconds));
            let mut put =
                |name, value| state.agent.put(name, Fact { value, source: FactSource::Record, at: at(seconds) });
            put(FactName::Session, FactValue::Text(session.to_owned()));
            tokens.into_iter().for_each(|count| put(FactName::TokensIn, FactValue::Count(count)));
            state.terminal.label = Some("shop".to_owned());
            let mut record = transition(1, seconds, Phase::Ready, "x");
            record.state = Some(PublicState::Agent(Box::new(state)));
            store.write(&[Message::Record(Arc::new(Record::Transition(record)))], at(seconds)).unwrap();
        };
        for (seconds, session, tokens) in
            [(0, "a", Some(10)), (60, "a", Some(30)), (61, "a", None), (7200, "a", Some(40)), (7201, "b", Some(5))]
        {
            write(seconds, session, tokens);
        }
        store.write(&[message(2, 7202, Phase::Ready, "other")], at(7202)).unwrap();
        let reader = Reader::open(&path).unwrap();
        let told = |until| {
            let usage = reader.usage(at(until)).unwrap();
            let of_first = usage.into_iter().filter(|(terminal, _)| *terminal == 1).map(|(_, used)| used);
            of_first.map(|it| (it.session, it.tokens_in, it.label)).collect::<Vec<_>>()
        };
        let used = |session: &str, tokens| (session.to_owned(), Some(tokens), Some("shop".to_owned()));
        assert_eq!(told(9000), [used("a", 30), used("a", 40), used("b", 5)]);
        assert_eq!(told(100), [used("a", 30)]);
    }
}
