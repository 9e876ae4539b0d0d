//! Which records are asked for, in SQL.

use rusqlite::types::Value as Sql;

use super::identity::Columns;
use super::record::Kind;
use super::stored::RecordId;
use crate::fleet::TerminalKey;
use crate::time::Timestamp;

/// Which records are asked for. What is left out does not restrict.
#[derive(Clone, Debug, Default)]
pub struct RecordFilter {
    /// These terminals only; `None` is all of them, and what belongs to none.
    pub terminals: Option<Vec<TerminalKey>>,
    /// From this time on.
    pub since: Option<Timestamp>,
    /// Before this time.
    pub until: Option<Timestamp>,
    /// Records before this one, for paging backwards.
    pub before: Option<RecordId>,
    /// Empty means all kinds.
    pub kinds: Vec<Kind>,
    /// The newest so many; `None` is all.
    pub limit: Option<u32>,
}

/// The columns of a record with all that belongs to its kind, and where they come from.
pub(super) const COLUMNS: &str = "r.id, r.at, r.kind, r.name, r.document, n.host, n.socket, n.pane, n.pid,
                       t.summary, t.note, t.screen, i.sender, i.outcome, i.detail, i.ended_at";
pub(super) const TABLES: &str = "records r LEFT JOIN terminals n ON n.id = r.terminal
                      LEFT JOIN transitions t ON t.record = r.id LEFT JOIN inputs i ON i.record = r.id";

impl RecordFilter {
    /// Asks for the records, oldest first.
    pub(super) fn statement(&self) -> (String, Vec<Sql>) {
        let (wheres, mut values) = conditions(self);
        let sql = match self.limit {
            None => format!("SELECT {COLUMNS} FROM {TABLES} WHERE {wheres} ORDER BY r.at, r.id"),
            Some(limit) => {
                values.push(i64::from(limit).into());
                // The newest ones are chosen by number first, so that no document is read in vain.
                format!(
                    "SELECT {COLUMNS} FROM {TABLES} WHERE r.id IN (
                         SELECT r.id FROM records r WHERE {wheres} ORDER BY r.at DESC, r.id DESC LIMIT ?)
                     ORDER BY r.at, r.id"
                )
            }
        };
        (sql, values)
    }
}

fn conditions(filter: &RecordFilter) -> (String, Vec<Sql>) {
    let mut wheres = vec!["TRUE".to_owned()];
    let mut values: Vec<Sql> = Vec::new();
    if let Some(terminals) = &filter.terminals {
        let one = "(n.host = ? AND n.socket = ? AND n.pane = ? AND n.pid = ?)";
        wheres.push(match terminals[..] {
            // With `=` the index gives its records in their order, so that a page of it costs no more than a page.
            [_] => format!("r.terminal = (SELECT n.id FROM terminals n WHERE {one})"),
            _ => {
                // An empty list matches nothing.
                let any = terminals.iter().map(|_| one).chain(["FALSE"]).collect::<Vec<_>>().join(" OR ");
                format!("r.terminal IN (SELECT n.id FROM terminals n WHERE {any})")
            }
        });
        for key in terminals {
            let Columns { host, socket, pane, pid, .. } = Columns::of(key);
            values.extend([host.into(), socket.into(), i64::from(pane).into(), i64::from(pid).into()]);
        }
    }
    if let Some(since) = filter.since {
        wheres.push("r.at >= ?".to_owned());
        values.push(since.as_millis().into());
    }
    if let Some(until) = filter.until {
        wheres.push("r.at < ?".to_owned());
        values.push(until.as_millis().into());
    }
    if let Some(before) = filter.before {
        // Numbers follow the writing, times the observation, and pages are in the order of the times.
        wheres.push("(r.at, r.id) < ((SELECT at FROM records WHERE id = ?), ?)".to_owned());
        values.extend([before.0.into(), before.0.into()]);
    }
    if !filter.kinds.is_empty() {
        wheres.push(format!("r.kind IN ({})", filter.kinds.iter().map(|_| "?").collect::<Vec<_>>().join(", ")));
        values.extend(filter.kinds.iter().map(|kind| Sql::from(kind.word().to_owned())));
        if !filter.kinds.contains(&Kind::Transition) {
            // It follows from the above, but has to be said for the index of what is rare to be used.
            wheres.push("r.kind <> 'transition'".to_owned());
        }
    }
    (wheres.join(" AND "), values)
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::history::schema;
    use crate::ids::{PaneId, ServerId};

    /// How SQLite finds what a filter asks for.
    fn plan(filter: &RecordFilter) -> String {
        let mut connection = Connection::open_in_memory().unwrap();
        schema::migrate(&mut connection).unwrap();
        let (sql, values) = filter.statement();
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let rows = statement.query_map(rusqlite::params_from_iter(values), |row| row.get::<_, String>(3)).unwrap();
        rows.map(Result::unwrap).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_page_costs_what_is_on_it_however_long_the_history_is() {
        let key = TerminalKey { server: ServerId::default(), pane: PaneId(1), pid: 1, instance: Default::default() };
        let page = RecordFilter { limit: Some(50), ..RecordFilter::default() };
        let of_one = RecordFilter { terminals: Some(vec![key]), ..page.clone() };
        let earlier = RecordFilter { before: Some(RecordId(7)), ..of_one.clone() };
        let rare = RecordFilter { kinds: vec![Kind::Action], ..page.clone() };
        for (filter, index) in [
            (page, "INDEX records_by_time"),
            (of_one, "INDEX records_by_terminal (terminal=?)"),
            (earlier, "INDEX records_by_terminal (terminal=? AND at<?)"),
            (rare, "INDEX records_by_kind (kind=?)"),
        ] {
            let plan = plan(&filter);
            assert!(plan.contains(index), "{filter:?}:\n{plan}");
            // What is on the page is sorted, and nothing else.
            assert_eq!(plan.matches("TEMP B-TREE").count(), 1, "{filter:?}:\n{plan}");
        }
    }
}
