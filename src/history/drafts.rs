//! Unsent prompts, in a file that only this user can read, so that they outlive the dashboard.
//!
//! Each process has a file of its own beside the history, replaced as a whole, and a lock that it holds as long as it lives:
//! a starting process takes over the drafts of processes that have ended. No draft is ever sent by itself.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::identity::{Columns, Owner};
use super::{Settings, now};
use crate::fleet::TerminalKey;
use crate::private::{self, Lock};
use crate::time::Timestamp;

/// The directory beside the history.
const DIRECTORY: &str = "drafts";
/// The most bytes of a file that are read.
const LONGEST: u64 = 16 << 20;

/// What a draft is of, and so where it comes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DraftKind {
    /// The prompt to a terminal begins with it.
    #[default]
    Prompt,
    /// The same, but another one stands in its place.
    Aside,
    /// An answer that was not taken: it comes back where a dialog is answered. A prompt that began with it would send to
    /// whatever the agent does next what was meant for a dialog.
    Answer,
}

/// A text that was not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// Its terminal; `None` for the draft to several terminals.
    pub key: Option<TerminalKey>,
    pub text: String,
    /// When it was written last; `None` where that was not kept.
    pub at: Option<Timestamp>,
    pub kind: DraftKind,
}

/// The drafts of this process.
#[derive(Debug)]
pub struct Drafts {
    file: PathBuf,
    /// Held until this is dropped.
    _lock: Lock,
}

/// A draft as it is written.
#[derive(Debug, Serialize, Deserialize)]
struct WrittenDraft {
    #[serde(skip_serializing_if = "Option::is_none")]
    terminal: Option<Columns>,
    text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<Timestamp>,
    #[serde(default)]
    kind: DraftKind,
}

impl Drafts {
    /// Starts to keep drafts beside the history of the settings, and takes over those of processes that have ended. `None`
    /// without a history: then typed text is not kept either.
    pub fn start(settings: &Settings) -> io::Result<Option<(Self, Vec<Draft>)>> {
        let Some(history) = settings.kept_at() else { return Ok(None) };
        let directory = history.with_file_name(DIRECTORY);
        private::make_directory(&directory)?;
        let name = Owner::of_process(now());
        let file = directory.join(format!("{}.json", name.as_str()));
        let drafts = Self { _lock: lock_of_our_own(&file)?, file };
        let (taken, left) = drafts.left_behind(&directory, settings);
        if !taken.is_empty() {
            drafts.keep(&taken)?;
        }
        left.iter().for_each(|file| remove(file));
        Ok(Some((drafts, taken)))
    }

    /// Replaces the kept drafts.
    ///
    /// # Errors
    /// The file cannot be written; the one before stays.
    pub fn keep(&self, drafts: &[Draft]) -> io::Result<()> {
        let written: Vec<WrittenDraft> = drafts.iter().map(WrittenDraft::of).collect();
        private::replace(&self.file, &serde_json::to_vec(&written)?)
    }

    /// The drafts of processes that have ended, and their unlocked files. Drafts older than the history's limit are dropped;
    /// unreadable files stay until then.
    fn left_behind(&self, directory: &Path, settings: &Settings) -> (Vec<Draft>, Vec<PathBuf>) {
        let (mut taken, mut left): (Vec<Draft>, Vec<PathBuf>) = (Vec::new(), Vec::new());
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        // A process that was killed before it kept anything leaves its lock alone.
        let files: BTreeSet<PathBuf> = entries.map(|entry| entry.path().with_extension("json")).collect();
        for file in files.into_iter().filter(|file| *file != self.file) {
            let Ok(lock) = Lock::try_take(&file.with_extension("lock")) else { continue };
            // A child that a process was about to start when it was killed holds that lock for a moment longer.
            let owner = || file.file_stem().and_then(|name| name.to_str());
            if lock.is_none() && !owner().is_some_and(Owner::has_ended) {
                continue;
            }
            let age = fs::metadata(&file).and_then(|it| it.modified()).ok().and_then(|at| at.elapsed().ok());
            let is_old = age.is_some_and(|age| age.as_millis() > u128::from(settings.keep.as_millis()));
            match read(&file) {
                _ if is_old => {}
                Ok(drafts) => taken.extend(drafts),
                Err(error) => {
                    tracing::warn!(%error, file = %file.display(), "drafts cannot be read, and stay where they are");
                    continue;
                }
            }
            left.push(file);
        }
        (settled(taken), left)
    }
}

impl Drop for Drafts {
    /// What is empty leaves nothing behind.
    fn drop(&mut self) {
        if read(&self.file).is_ok_and(|drafts| drafts.is_empty()) {
            remove(&self.file);
        }
    }
}

impl WrittenDraft {
    fn of(draft: &Draft) -> Self {
        let terminal = draft.key.as_ref().map(Columns::of);
        Self { terminal, text: draft.text.clone(), at: draft.at, kind: draft.kind }
    }
}

/// The drafts of several processes, oldest first: of those for one terminal the newest stands, and the others beside it.
fn settled(mut drafts: Vec<Draft>) -> Vec<Draft> {
    drafts.sort_by_key(|draft| (draft.kind == DraftKind::Prompt, draft.at));
    let mut settled: Vec<Draft> = Vec::new();
    while let Some(draft) = drafts.pop() {
        let is_answer = |draft: &Draft| draft.kind == DraftKind::Answer;
        let same = || settled.iter().filter(|it| it.key == draft.key && is_answer(it) == is_answer(&draft));
        if !same().any(|known| known.text == draft.text) {
            let steps_aside = draft.kind == DraftKind::Prompt && same().next().is_some();
            let kind = if steps_aside { DraftKind::Aside } else { draft.kind };
            settled.push(Draft { kind, ..draft });
        }
    }
    settled.reverse();
    settled
}

/// The drafts in a file; none if there is no file.
///
/// # Errors
/// It holds something else, or more than is read, or what it holds is not known.
fn read(file: &Path) -> io::Result<Vec<Draft>> {
    let length = match fs::metadata(file) {
        Ok(found) => found.len(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(error) => return Err(error),
    };
    if length == 0 {
        return Ok(Vec::new());
    }
    if length > LONGEST {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {LONGEST} bytes")));
    }
    let written: Vec<WrittenDraft> = serde_json::from_slice(&fs::read(file)?)?;
    let key = |it: &WrittenDraft| it.terminal.as_ref().map(Columns::key);
    let draft = |it: WrittenDraft| Draft { key: key(&it), text: it.text, at: it.at, kind: it.kind };
    Ok(written.into_iter().map(draft).collect())
}

/// Who finds the lock before it is held takes it for one that was left behind, holds it for a moment and removes it.
fn lock_of_our_own(file: &Path) -> io::Result<Lock> {
    loop {
        if let Some(lock) = Lock::try_take(&file.with_extension("lock"))? {
            return Ok(lock);
        }
        std::thread::yield_now();
    }
}

fn remove(file: &Path) {
    let _ = fs::remove_file(file);
    let _ = fs::remove_file(file.with_extension("lock"));
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;
    use crate::fleet::{PaneId, ServerId, Socket};

    fn draft(pane: u32, text: &str) -> Draft {
        let server = ServerId { host: Some("box".into()), socket: Socket::Name("work".into()) };
        Draft {
            key: Some(TerminalKey { server, pane: PaneId(pane), pid: 7, instance: Default::default() }),
            text: text.to_owned(),
            at: Some(Timestamp::from_millis(i64::from(pane))),
            kind: DraftKind::Prompt,
        }
    }

    fn start(settings: &Settings) -> (Drafts, Vec<Draft>) {
        Drafts::start(settings).unwrap().expect("drafts are kept")
    }

    #[test]
    fn drafts_outlive_their_process_and_are_taken_over_by_one_other() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let settings = Settings { path: Some(directory.path().join("history.db")), ..Settings::default() };
        let files = || fs::read_dir(directory.path().join(DIRECTORY)).unwrap().flatten().count();
        let (first, taken) = start(&settings);
        assert_eq!(taken, []);
        let several = Draft { key: None, text: "to all".to_owned(), at: None, kind: DraftKind::Prompt };
        first.keep(&[draft(1, "half\na thought"), several.clone()]).unwrap();
        let mode = fs::metadata(&first.file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let (second, taken) = start(&settings);
        assert_eq!(taken, [], "the first one lives");
        let newer = Draft { at: Some(Timestamp::from_millis(2)), ..draft(1, "another") };
        second.keep(std::slice::from_ref(&newer)).unwrap();
        drop((first, second));
        let (third, mut taken) = start(&settings);
        taken.sort_by_key(|draft| (draft.key.is_some(), draft.at));
        let older = Draft { kind: DraftKind::Aside, ..draft(1, "half\na thought") };
        assert_eq!(taken, [several, older, newer], "the newer one stands, and none is lost");
        drop(third);
        let (fourth, taken) = start(&settings);
        assert_eq!(taken.len(), 3, "what was only taken over is kept as well");
        assert_eq!(taken.iter().filter(|draft| draft.kind == DraftKind::Aside).count(), 1);
        fourth.keep(&[]).unwrap();
        drop(fourth);
        assert_eq!(files(), 0);
    }

    #[test]
    fn drafts_are_taken_over_although_a_child_of_a_killed_process_still_holds_its_lock() {
        let directory = tempfile::tempdir().unwrap();
        let settings = Settings { path: Some(directory.path().join("history.db")), ..Settings::default() };
        drop(start(&settings));
        let mut killed = std::process::Command::new("true").spawn().unwrap();
        killed.wait().unwrap();
        let file = directory.path().join(DIRECTORY).join(format!("{}-1800000000000-0.json", killed.id()));
        fs::write(&file, "[{\"text\": \"half a thought\"}]").unwrap();
        let _held = Lock::try_take(&file.with_extension("lock")).unwrap().unwrap();
        let (_drafts, taken) = start(&settings);
        assert_eq!(taken, [Draft { key: None, text: "half a thought".to_owned(), at: None, kind: DraftKind::Prompt }]);
        assert!(!file.exists());
    }

    #[test]
    fn what_is_old_or_empty_is_left_out_and_without_a_history_nothing_is_kept() {
        let directory = tempfile::tempdir().unwrap();
        let settings = Settings { path: Some(directory.path().join("history.db")), ..Settings::default() };
        let off = Settings { enabled: false, ..settings.clone() };
        assert!(Drafts::start(&off).unwrap().is_none());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        drop(start(&settings));
        fs::write(directory.path().join(DIRECTORY).join("1-2-3.json"), "").unwrap();
        fs::write(directory.path().join(DIRECTORY).join("4-5-6.lock"), "").unwrap();
        let (drafts, taken) = start(&settings);
        assert_eq!(taken, []);
        drafts.keep(&[draft(1, "old")]).unwrap();
        let file = File::options().write(true).open(&drafts.file).unwrap();
        file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(40 * 24 * 3600)).unwrap();
        drop(drafts);
        assert_eq!(start(&settings).1, []);
        assert_eq!(fs::read_dir(directory.path().join(DIRECTORY)).unwrap().count(), 0, "nothing is left behind");
    }

    #[test]
    fn what_cannot_be_read_stays_where_it_is_until_it_is_old() {
        let directory = tempfile::tempdir().unwrap();
        let settings = Settings { path: Some(directory.path().join("history.db")), ..Settings::default() };
        drop(start(&settings));
        let place = directory.path().join(DIRECTORY);
        let (other, large, own) = (place.join("1-2-3.json"), place.join("2-3-4.json"), place.join("3-4-5.json"));
        fs::write(&other, "[{\"text\": 3}]").unwrap();
        File::create(&large).unwrap().set_len(LONGEST + 1).unwrap();
        fs::write(&own, "[{\"text\": \"to all\"}]").unwrap();
        let (drafts, taken) = start(&settings);
        assert_eq!(taken, [Draft { key: None, text: "to all".to_owned(), at: None, kind: DraftKind::Prompt }]);
        assert_eq!([&other, &large, &own].map(|file| file.exists()), [true, true, false]);
        assert_eq!(fs::read(&other).unwrap(), b"[{\"text\": 3}]");
        fs::write(&drafts.file, "of another time").unwrap();
        let left = drafts.file.clone();
        drop(drafts);
        assert!(left.exists(), "what cannot be read is not taken for empty");
        for file in [&other, &large, &left] {
            let file = File::options().write(true).open(file).unwrap();
            file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(40 * 24 * 3600)).unwrap();
        }
        assert_eq!(start(&settings).1, []);
        assert_eq!(fs::read_dir(&place).unwrap().count(), 0, "nothing is kept for longer than the history");
    }
}
