//! Unsent texts, one for each terminal and one for several, so that they outlive the dashboard. None is ever sent by itself.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use rusqlite::params;

use super::file::{self, HistoryOptions, Settings, rows};
use super::identity::Columns;
use super::reader::Reader;
use crate::clock::now;
use crate::record::{Draft, HistoryError};
use crate::time::{Span, Timestamp};

/// The drafts in a history.
#[derive(Debug)]
pub struct Drafts {
    path: PathBuf,
    /// How long they are kept.
    keep: Span,
    /// Drafts that this process has read or written; what another one wrote meanwhile stays.
    known: Mutex<Vec<Draft>>,
}

impl Drafts {
    /// Reads the drafts in the history of the settings, without those older than it keeps anything; none if it cannot be
    /// read, which is reported elsewhere. `None` without a history.
    pub fn start(settings: &Settings) -> Option<(Self, Vec<Draft>)> {
        let path = settings.kept_at()?;
        let read = Reader::open(&path).and_then(|reader| written(&reader, now() - settings.keep)).unwrap_or_default();
        Some((Self { path, keep: settings.keep, known: Mutex::new(read.clone()) }, read))
    }

    /// Brings the history from the drafts known before to these.
    ///
    /// # Errors
    /// The history cannot be written; what it has stays.
    pub fn keep(&self, drafts: &[Draft]) -> Result<(), HistoryError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut connection = file::open(&self.path, &HistoryOptions::default(), now())?.connection;
        let transaction = connection.transaction()?;
        for gone in known.iter().filter(|it| drafts.iter().all(|draft| draft.key != it.key)) {
            transaction.execute("DELETE FROM drafts WHERE terminal = ?1", [word(gone)])?;
        }
        for draft in drafts.iter().filter(|draft| !known.contains(draft)) {
            let sql = "INSERT OR REPLACE INTO drafts (terminal, at, text) VALUES (?1, ?2, ?3)";
            transaction.execute(sql, params![word(draft), draft.at, draft.text])?;
        }
        transaction.execute("DELETE FROM drafts WHERE at < ?1", [now() - self.keep])?;
        transaction.commit()?;
        *known = drafts.to_vec();
        Ok(())
    }
}

/// The terminal of a draft as it is written: its columns, or nothing.
fn word(draft: &Draft) -> String {
    let columns = draft.key.as_ref().map(|key| serde_json::json!(Columns::of(key)));
    columns.map_or_else(String::new, |columns| columns.to_string())
}

/// The drafts that were last written since a time, by terminal.
fn written(reader: &Reader, since: Timestamp) -> Result<Vec<Draft>, HistoryError> {
    let sql = "SELECT terminal, at, text FROM drafts WHERE at >= ?1";
    let written =
        rows(&reader.connection, sql, [since], |row| Ok((row.get::<_, String>(0)?, row.get(1)?, row.get(2)?)))?;
    let mut drafts = BTreeMap::new();
    for (word, at, text) in written {
        // One of a terminal that another version knows is left alone.
        let columns = serde_json::from_str::<Columns>(&word).ok();
        if word.is_empty() || columns.is_some() {
            let key = columns.map(|columns| columns.key());
            drafts.insert(key.clone(), Draft { key, text, at });
        }
    }
    Ok(drafts.into_values().collect())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{place, terminal};
    use super::*;

    fn draft(pane: Option<u32>, text: &str) -> Draft {
        Draft { key: pane.map(terminal), text: text.to_owned(), at: now() }
    }

    fn start(path: &std::path::Path) -> (Drafts, Vec<Draft>) {
        let settings = Settings { path: Some(path.to_owned()), ..Settings::default() };
        Drafts::start(&settings).unwrap()
    }

    #[test]
    fn each_terminal_has_one_draft_and_several_have_one() {
        let (_directory, path) = place();
        let (drafts, found) = start(&path);
        assert_eq!(found, []);
        let kept = [draft(None, "for several"), draft(Some(1), "first"), draft(Some(2), "second\nline")];
        drafts.keep(&kept).unwrap();
        assert_eq!(start(&path).1, kept);
        let changed = [draft(Some(1), "changed")];
        drafts.keep(&changed).unwrap();
        assert_eq!(start(&path).1, changed);
        drafts.keep(&[]).unwrap();
        assert_eq!(start(&path).1, []);
    }

    #[test]
    fn a_damaged_history_is_left_to_who_reports_it() {
        let (_directory, path) = place();
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "this is no database\n".repeat(100)).unwrap();
        assert_eq!(start(&path).1, []);
        let beside: Vec<_> = std::fs::read_dir(path.parent().unwrap()).unwrap().map(|it| it.unwrap().path()).collect();
        assert_eq!(beside, [path], "nothing was moved aside, and nothing waited for");
    }

    #[test]
    fn two_dashboards_leave_each_others_drafts_alone() {
        let (_directory, path) = place();
        let ((one, _), (other, _)) = (start(&path), start(&path));
        one.keep(&[draft(Some(1), "of one")]).unwrap();
        let second = draft(Some(2), "of the other");
        other.keep(std::slice::from_ref(&second)).unwrap();
        one.keep(&[]).unwrap();
        assert_eq!(start(&path).1, [second]);
    }

    #[test]
    fn a_draft_is_kept_as_long_as_the_history() {
        let (_directory, path) = place();
        let old = Draft { at: Timestamp::from_millis(1), ..draft(Some(1), "old") };
        start(&path).0.keep(&[old, draft(Some(2), "new")]).unwrap();
        assert_eq!(start(&path).1.iter().map(|it| it.text.as_str()).collect::<Vec<_>>(), ["new"]);
    }
}
