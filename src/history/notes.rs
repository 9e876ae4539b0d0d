//! What the operator notes of terminals: one line each, which stays as long as the agent does.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior, params};

use super::file::{self, HistoryOptions};
use super::identity::{Columns, terminal_row_for};
use super::{Reader, Trouble};
use crate::ids::TerminalKey;
use crate::screen::harmless;
use crate::time::Timestamp;

/// Characters of a note at most.
const LONGEST: usize = 500;

/// What is noted of a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub key: TerminalKey,
    /// One harmless line; `None` where the note was taken away.
    pub text: Option<String>,
}

impl Note {
    /// A note of what somebody typed; none where that comes to nothing.
    pub fn new(key: TerminalKey, text: &str) -> Self {
        let words: Vec<&str> = text.split_whitespace().collect();
        let text: String = harmless(&words.join(" ")).trim().chars().take(LONGEST).collect();
        Self { key, text: Some(text).filter(|text| !text.is_empty()) }
    }
}

/// The notes of a history, to write.
pub struct Notes {
    connection: Connection,
}

impl Notes {
    /// Opens the notes in a history file.
    ///
    /// # Errors
    /// The file cannot be opened, locked or written.
    pub fn open(path: &Path, now: Timestamp) -> Result<Self, Trouble> {
        Ok(Self { connection: file::open(path, &HistoryOptions::default(), now)?.connection })
    }

    /// Keeps a note of a terminal, which is called `name` now, in place of the one before.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep(&mut self, note: &Note, name: &str, now: Timestamp) -> Result<(), Trouble> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let terminal = terminal_row_for(&transaction, &note.key, Some(name))?;
        let sql = "INSERT OR REPLACE INTO notes (terminal, instance, at, text) VALUES (?1, ?2, ?3, ?4)";
        transaction.execute(sql, params![terminal, note.key.instance.word(), now.as_millis(), note.text])?;
        transaction.commit()?;
        Ok(())
    }
}

/// Takes the note of a terminal away, whose agent has ended.
///
/// # Errors
/// The file cannot be written.
pub(super) fn forget(connection: &Connection, terminal: i64, at: Timestamp) -> Result<(), Trouble> {
    // The row gets a new number, by which everybody who shows notes finds it.
    let sql = "INSERT OR REPLACE INTO notes (terminal, instance, at, text)
               SELECT terminal, instance, ?2, NULL FROM notes WHERE terminal = ?1 AND text IS NOT NULL";
    connection.prepare_cached(sql)?.execute(params![terminal, at.as_millis()])?;
    Ok(())
}

impl Reader {
    /// What was noted, or taken away, after a number, each with its own; oldest first.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn notes_after(&self, number: i64) -> Result<Vec<(i64, Note)>, Trouble> {
        let sql = "SELECT t.host, t.socket, t.pane, t.pid, n.id, n.instance, n.text
                   FROM notes n JOIN terminals t ON t.id = n.terminal WHERE n.id > ?1 ORDER BY n.id";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([number], |row| {
            let columns = Columns { instance: row.get(5)?, ..Columns::read(row, 0)? };
            Ok((row.get(4)?, Note { key: columns.key(), text: row.get(6)? }))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The notes that there are.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn notes(&self) -> Result<Vec<Note>, Trouble> {
        let notes = self.notes_after(0)?.into_iter().map(|(_, note)| note);
        Ok(notes.filter(|note| note.text.is_some()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{at, place, state, store, terminal, transition};
    use super::super::writer::Message;
    use super::*;
    use crate::history::{Record, TransitionRecord};
    use crate::state::{Availability, Phase, State};
    use std::sync::Arc;

    fn texts(path: &Path) -> Vec<(TerminalKey, String)> {
        let notes = Reader::open(path).unwrap().notes().unwrap();
        notes.into_iter().filter_map(|note| Some((note.key, note.text?))).collect()
    }

    #[test]
    fn a_note_is_one_harmless_line() {
        let text = |typed: &str| Note::new(terminal(1), typed).text;
        assert_eq!(text(" review\n  #12 \u{1b}[31mred\u{202e} ").as_deref(), Some("review #12 [31mred"));
        assert_eq!((text(" \n"), text("\u{200b}")), (None, None));
        assert_eq!(text(&"é".repeat(900)).unwrap().chars().count(), LONGEST);
    }

    #[test]
    fn notes_are_kept_by_terminal_until_its_agent_ends() {
        let (_directory, path) = place();
        let mut notes = Notes::open(&path, at(0)).unwrap();
        for (pane, text) in [(1, "first"), (2, "second"), (3, "third"), (1, "changed"), (2, "")] {
            notes.keep(&Note::new(terminal(pane), text), "api", at(0)).unwrap();
        }
        assert_eq!(texts(&path), [(terminal(3), "third".to_owned()), (terminal(1), "changed".to_owned())]);
        let last = Reader::open(&path).unwrap().newest("notes").unwrap();
        let mut store = store(&path, "a", at(1));
        let mut write = |pane, second, ended: bool, left: bool| {
            let mut said: State = state(at(second));
            if ended {
                said.diagnostics.availability = Availability::TuiDown;
            }
            let said = Some(super::super::record::PublicState::Agent(Box::new(said)));
            let record = TransitionRecord { state: said, ..transition(pane, second, Phase::Ready, "screen") };
            let record = if left { Record::Left(record) } else { Record::Transition(record) };
            store.write(&[Message::Record(Arc::new(record))], at(second)).unwrap();
        };
        write(1, 1, false, false);
        assert_eq!(texts(&path).len(), 2, "it goes on");
        write(1, 2, true, false);
        assert_eq!(texts(&path), [(terminal(3), "third".to_owned())], "its agent has ended");
        write(3, 3, false, false);
        write(3, 4, false, true);
        assert_eq!(texts(&path), []);
        let told = Reader::open(&path).unwrap().notes_after(last).unwrap();
        let told: Vec<_> = told.into_iter().map(|(_, note)| (note.key.pane.0, note.text)).collect();
        assert_eq!(told, [(1, None), (3, None)], "who shows them is told");
    }

    #[test]
    fn a_note_on_what_nobody_watches_is_kept_as_long_as_records() {
        let (_directory, path) = place();
        Notes::open(&path, at(0)).unwrap().keep(&Note::new(terminal(1), "later"), "api", at(0)).unwrap();
        let limits = crate::history::Settings { keep: crate::time::Span::from_secs(10_000), ..Default::default() };
        let mut store = store(&path, "a", at(0));
        file::clean(store.connection(), &limits, at(5000)).unwrap();
        assert_eq!(texts(&path).len(), 1);
        file::clean(store.connection(), &limits, at(20_000)).unwrap();
        assert_eq!(texts(&path), []);
    }
}
