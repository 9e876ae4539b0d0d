//! What the dashboard remembers across starts is saved when it changes, so that it survives however the dashboard ends.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::clock;
use crate::history::{Drafts, Settings};
use crate::present::flags::Flags;
use crate::private::{self, FileStamp};
use crate::record::Draft;
use crate::ui::{Choices, Ui};

/// How long a change waits to be written, so that not every key writes a file, and until it is tried again after a failure.
const SOON: Duration = Duration::from_secs(1);
/// The file beside the history that holds what was chosen.
const FILE_NAME: &str = "dashboard.json";

/// Writes a value a moment after it changed, and again when that failed.
pub(super) struct Keeper<T> {
    /// What was written last; `None` when that failed.
    kept: Option<T>,
    /// When what is there now is to be written.
    due: Option<Instant>,
    writing: Option<JoinHandle<()>>,
    /// Why the last one was not written, until that is seen.
    failed: Arc<Mutex<Option<io::Error>>>,
    is_reported: bool,
}

impl<T: Clone + PartialEq + Send + 'static> Keeper<T> {
    /// A keeper of something that is written already.
    pub(super) fn new(kept: T) -> Self {
        Self { kept: Some(kept), due: None, writing: None, failed: Arc::default(), is_reported: false }
    }

    /// Takes in what there is at a time, and writes it once it is due. Gives why it cannot be written, once.
    pub(super) fn follow(
        &mut self,
        now: T,
        at: Instant,
        write: impl FnOnce(&T) -> io::Result<()> + Send + 'static,
    ) -> Option<io::Error> {
        let failed = self.failed();
        if failed.is_some() {
            self.due = Some(at + SOON);
        }
        let trouble = failed.filter(|_| !std::mem::replace(&mut self.is_reported, true));
        if self.kept.as_ref() == Some(&now) {
            self.due = None;
            return trouble;
        }
        let due = *self.due.get_or_insert(at + SOON);
        let is_writing = self.writing.as_ref().is_some_and(|writing| !writing.is_finished());
        if due <= at && !is_writing {
            self.due = None;
            self.kept = Some(now.clone());
            let failed = Arc::clone(&self.failed);
            let write = move || *failed.lock().unwrap_or_else(PoisonError::into_inner) = write(&now).err();
            self.writing = Some(tokio::task::spawn_blocking(write));
        }
        trouble
    }

    /// Writes what is left when the dashboard is.
    pub(super) async fn leave(&mut self, last: T, write: impl FnOnce(&T) -> io::Result<()>) {
        if let Some(writing) = self.writing.take() {
            let _ = writing.await;
        }
        let _ = self.failed();
        if self.kept.as_ref() != Some(&last)
            && let Err(error) = write(&last)
        {
            tracing::warn!(%error, "what was to be remembered was not written");
        }
    }

    /// Why the last one was not written, if nobody has seen that yet.
    fn failed(&mut self) -> Option<io::Error> {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner).take();
        if failed.is_some() {
            self.kept = None;
        }
        failed
    }
}

/// Remembers the operator's choices of layout, columns and order.
pub(super) struct ChoiceStore {
    /// `None` where there is no place for it: the choice lives as long as the dashboard.
    pub(super) file: Option<PathBuf>,
    pub(super) keeper: Keeper<Choices>,
    /// What the file said when it was read last, and its stamp then.
    pub(super) read: (Choices, Option<FileStamp>),
}

impl ChoiceStore {
    /// Begins with what was chosen the last time. A file that cannot be read chooses nothing.
    pub(super) fn start(settings: &Settings, ui: &mut Ui) -> Self {
        let file = settings.location().map(|history| history.with_file_name(FILE_NAME));
        let mut known = (Choices::default(), None);
        if let Some(path) = &file {
            let stamp = FileStamp::at(path);
            match read(path) {
                Ok(choices) => {
                    ui.restore(choices.clone());
                    known = (choices, stamp);
                }
                Err(error) => tracing::warn!(%error, file = %path.display(), "what was chosen cannot be read"),
            }
        }
        Self { file, keeper: Keeper::new(ui.choices()), read: known }
    }

    /// Takes over what another dashboard has pinned and muted, if the file has changed.
    pub(super) fn follow(&mut self, ui: &mut Ui) {
        let Some(file) = &self.file else { return };
        let stamp = FileStamp::at(file);
        if stamp == self.read.1 {
            return;
        }
        // What cannot be read is read again when it has changed.
        self.read.1 = stamp;
        if let Ok(theirs) = read(file) {
            // What was handed over to be written last may be what the file says now.
            ui.merge_choices(self.keeper.kept.as_ref().unwrap_or(&self.read.0), &theirs);
            self.read.0 = theirs;
        }
    }
}

/// What the operator has pinned and muted in dashboards; nothing where that cannot be read.
pub fn kept_flags(settings: &Settings) -> Flags {
    let file = settings.location().map(|history| history.with_file_name(FILE_NAME));
    let mut flags = file.and_then(|file| read(&file).ok()).unwrap_or_default().into_flags();
    flags.expire(clock::now());
    flags
}

fn read(file: &Path) -> io::Result<Choices> {
    private::check_file(file)?;
    match std::fs::read(file) {
        Ok(text) => Ok(serde_json::from_slice(&text)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Choices::default()),
        Err(error) => Err(error),
    }
}

/// Writes what is chosen over `base`, with the pins and mutes that another dashboard has written since.
pub(super) fn write(file: &Path, base: &Choices, choices: &Choices) -> io::Result<()> {
    if let Some(directory) = file.parent() {
        private::make_directory(directory)?;
    }
    // Another dashboard may be writing its own.
    let _locked = private::locked(&file.with_extension("lock"))?;
    let choices = read(file).map_or_else(|_| choices.clone(), |theirs| choices.merged(base, &theirs));
    private::replace(file, &serde_json::to_vec_pretty(&choices)?)
}

/// Keeps drafts.
pub(super) struct DraftStore {
    pub(super) drafts: Option<Arc<Drafts>>,
    pub(super) keeper: Keeper<Vec<Draft>>,
    /// What was left the last time, until it is reported.
    pub(super) found: Vec<Draft>,
}

impl DraftStore {
    /// Takes over what was left. Without a history drafts live as long as the dashboard; one in trouble is reported elsewhere.
    pub(super) fn start(settings: &Settings, ui: &mut Ui) -> Self {
        let (drafts, found) = Drafts::start(settings).unzip();
        let found = found.unwrap_or_default();
        ui.restore_drafts(found.clone());
        Self { drafts: drafts.map(Arc::new), keeper: Keeper::new(found.clone()), found }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::ids::{PaneId, ServerId, ServerInstance, TerminalKey};

    #[test]
    fn choices_are_read_back_and_what_cannot_be_read_is_no_choice() {
        let directory = tempfile::tempdir().unwrap();
        let settings = Settings { path: Some(directory.path().join("state/history.db")), ..Settings::default() };
        let chosen = |text: &str| -> Choices { serde_json::from_str(text).unwrap() };
        let begun = || {
            let mut ui = Ui::new(crate::ui::UiOptions::default());
            let store = ChoiceStore::start(&settings, &mut ui);
            assert_eq!(store.keeper.kept, Some(ui.choices()));
            (store.file.unwrap(), ui.choices())
        };
        let (file, choices) = begun();
        assert!(choices == Choices::default() && !file.exists());
        let beside = chosen(r#"{"panes": {"layout": "beside", "upper": 250}}"#);
        write(&file, &Choices::default(), &beside).unwrap();
        assert_eq!(begun().1, beside);
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        // A file of another release may say more or less.
        std::fs::write(&file, r#"{"new": 1, "panes": {"layout": "table", "new": [2]}}"#).unwrap();
        assert_eq!(begun().1, chosen(r#"{"panes": {"layout": "table"}}"#));
        for damaged in ["", "{", r#"{"panes": {"layout": "round"}}"#] {
            std::fs::write(&file, damaged).unwrap();
            assert_eq!(begun().1, Choices::default(), "{damaged}");
            assert_eq!(std::fs::read_to_string(&file).unwrap(), damaged, "it is left as it is");
        }
    }

    #[test]
    fn dashboards_share_pins_and_mutes_and_no_layout() {
        let directory = tempfile::tempdir().unwrap();
        let settings = Settings { path: Some(directory.path().join("state/history.db")), ..Settings::default() };
        let key = |pane| {
            let server = ServerId::default();
            TerminalKey { server, pane: PaneId(pane), pid: 1, instance: ServerInstance::default() }
        };
        let muted = |panes: &[u32], layout: &str| -> Choices {
            let muted: Vec<_> = panes.iter().map(|pane| (key(*pane), true)).collect();
            serde_json::from_value(serde_json::json!({ "panes": { "layout": layout }, "flags": { "muted": muted } }))
                .unwrap()
        };
        let begin = || {
            let mut ui = Ui::new(crate::ui::UiOptions::default());
            (ChoiceStore::start(&settings, &mut ui), ui)
        };
        let file = settings.location().unwrap().with_file_name(FILE_NAME);
        write(&file, &Choices::default(), &muted(&[1], "all")).unwrap();
        let ((mut one, mut first), (_, second)) = (begin(), begin());
        // The second one mutes 2 and lets 1 go; the first one mutes 3 before it hears of that.
        write(&file, &second.choices(), &muted(&[2], "table")).unwrap();
        first.restore(muted(&[1, 3], "all"));
        one.follow(&mut first);
        assert_eq!(first.choices(), muted(&[2, 3], "all"));
        write(&file, &muted(&[1], "all"), &muted(&[1, 3], "all")).unwrap();
        assert_eq!(read(&file).unwrap(), muted(&[2, 3], "all"), "also what was written meanwhile");
        // What is let go right after it was written is not brought back by the file.
        one.keeper.kept = Some(muted(&[2, 3, 4], "all"));
        write(&file, &muted(&[2, 3], "all"), &muted(&[2, 3, 4], "all")).unwrap();
        one.follow(&mut first);
        assert_eq!(first.choices(), muted(&[2, 3], "all"));
    }

    #[tokio::test]
    async fn what_could_not_be_written_is_reported_once_and_written_again() {
        let mut keeper = Keeper::new(0);
        let (writes, seen) = std::sync::mpsc::channel();
        let mut at = Instant::now();
        let mut troubles = Vec::new();
        // Seen; failed; reported and waited; failed again; waited; written.
        for fails in [true, true, true, true, true, false, false] {
            let writes = writes.clone();
            let write = move |value: &i32| {
                writes.send(*value).map_err(io::Error::other)?;
                if fails { Err(io::Error::other("full")) } else { Ok(()) }
            };
            troubles.extend(keeper.follow(1, at, write).map(|error| (at, error.to_string())));
            if let Some(writing) = keeper.writing.take() {
                writing.await.unwrap();
            }
            at += SOON;
        }
        drop(writes);
        assert!(matches!(&troubles[..], [(_, why)] if why == "full"), "{troubles:?}");
        assert_eq!(seen.iter().collect::<Vec<_>>(), [1, 1, 1]);
        assert_eq!(keeper.kept, Some(1));
    }
}
