//! What the operator calls terminals: a name and a label each, which stay as long as the agent does.

use std::path::Path;

use rusqlite::{Connection, params};

use super::file::{self, HistoryOptions};
use super::identity::terminal_row_for;
use crate::record::HistoryError;
use crate::state::{KeptNote, Note};
use crate::time::Timestamp;

/// Keeps a note of a terminal, which is called `name` now, in a history file, in place of the one before.
pub fn keep_note(path: &Path, kept: &KeptNote, name: &str, now: Timestamp) -> Result<(), HistoryError> {
    let mut connection = file::open(path, &HistoryOptions::default(), now)?.connection;
    let transaction = connection.transaction()?;
    let row = terminal_row_for(&transaction, &kept.key, Some(name))?;
    let sql = "INSERT OR REPLACE INTO notes (terminal, instance, at, process, name, label)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let (instance, Note { name, label }) = (kept.key.instance.word(), &kept.note);
    transaction.execute(sql, params![row, instance, now, kept.process, name, label])?;
    transaction.commit()?;
    Ok(())
}

/// Takes the note of a terminal away, whose pane is gone.
pub(super) fn forget(connection: &Connection, terminal: i64, at: Timestamp) -> Result<(), HistoryError> {
    // A new number of the row tells everybody who shows notes.
    let sql = "INSERT OR REPLACE INTO notes (terminal, instance, at)
               SELECT terminal, instance, ?2 FROM notes
               WHERE terminal = ?1 AND coalesce(name, label) IS NOT NULL";
    connection.prepare_cached(sql)?.execute(params![terminal, at])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::store::WriterMessage;
    use super::super::tests::{at, place, state, store, terminal, transition};
    use super::*;
    use crate::history::Reader;
    use crate::ids::TerminalKey;
    use crate::record::{Record, TransitionRecord};
    use crate::state::{Availability, NotePart, Phase, State};
    use std::sync::Arc;

    fn kept(pane: u32, part: NotePart, typed: &str) -> KeptNote {
        KeptNote { key: terminal(pane), process: Some(20), note: Note::default().with(part, typed) }
    }

    fn texts(path: &Path) -> Vec<(TerminalKey, String)> {
        let notes = Reader::open(path).unwrap().notes().unwrap();
        notes.into_iter().filter_map(|kept| Some((kept.key, kept.note.label.or(kept.note.name)?))).collect()
    }

    #[test]
    fn notes_are_kept_by_terminal_until_its_pane_is_gone() {
        let (_directory, path) = place();
        for (pane, text) in [(1, "first"), (2, "second"), (1, "changed"), (2, "")] {
            keep_note(&path, &kept(pane, NotePart::Label, text), "api", at(0)).unwrap();
        }
        let named = kept(3, NotePart::Name, "third");
        keep_note(&path, &named, "api", at(0)).unwrap();
        assert_eq!(Reader::open(&path).unwrap().notes().unwrap().last(), Some(&named));
        assert_eq!(texts(&path), [(terminal(1), "changed".to_owned()), (terminal(3), "third".to_owned())]);
        let last = Reader::open(&path).unwrap().newest("notes").unwrap();
        let mut store = store(&path, "a", at(1));
        let mut write = |pane, second, ended: bool, left: bool| {
            let mut said: State = state(at(second));
            if ended {
                said.diagnostics.availability = Availability::TuiDown;
            }
            let said = Some(crate::record::PublicState::Agent(Box::new(said)));
            let record = TransitionRecord { state: said, ..transition(pane, second, Phase::Ready, "screen") };
            let record = if left { Record::Left(record) } else { Record::Transition(record) };
            store.write(&[WriterMessage::Record(Arc::new(record))], at(second)).unwrap();
        };
        write(1, 1, false, false);
        assert_eq!(texts(&path).len(), 2, "it goes on");
        write(1, 2, true, false);
        assert_eq!(texts(&path).len(), 2, "an agent that was suspended comes back");
        write(1, 3, true, true);
        assert_eq!(texts(&path), [(terminal(3), "third".to_owned())]);
        write(3, 3, false, false);
        write(3, 4, false, true);
        assert_eq!(texts(&path), []);
        let notes = Reader::open(&path).unwrap().notes_after(last).unwrap();
        let notes: Vec<_> = notes.into_iter().map(|(_, kept)| (kept.key.pane.0, kept.note.is_empty())).collect();
        assert_eq!(notes, [(1, true), (3, true)], "who shows them is told");
    }

    #[test]
    fn a_note_on_what_nobody_watches_is_kept_as_long_as_records() {
        let (_directory, path) = place();
        keep_note(&path, &kept(1, NotePart::Label, "later"), "api", at(0)).unwrap();
        let limits = crate::history::Settings { keep: crate::time::Span::from_secs(10_000), ..Default::default() };
        let mut store = store(&path, "a", at(0));
        file::clean(store.connection(), &limits, at(5000)).unwrap();
        assert_eq!(texts(&path).len(), 1);
        file::clean(store.connection(), &limits, at(20_000)).unwrap();
        assert_eq!(texts(&path), []);
    }
}
