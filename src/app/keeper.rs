//! What the dashboard remembers across starts is written while it changes, so that no end of the dashboard loses it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::App;
use crate::config::Config;
use crate::history::Settings;
use crate::poll;
use crate::private;
use crate::ui::{Choices, Ui};

/// How long a change waits to be written, so that not every key writes a file.
const SOON: Duration = Duration::from_secs(1);
/// The file beside the history that holds what was chosen.
const FILE_NAME: &str = "dashboard.json";

/// Writes a value a moment after it changed.
pub(super) struct Keeper<T> {
    /// What was written last.
    kept: T,
    /// When what is there now is to be written.
    due: Option<Instant>,
    writing: Option<JoinHandle<io::Result<()>>>,
}

impl<T: Clone + PartialEq + Send + 'static> Keeper<T> {
    /// A keeper of something that is written already.
    pub(super) fn new(kept: T) -> Self {
        Self { kept, due: None, writing: None }
    }

    /// Takes in what there is now, and writes it once it is time.
    pub(super) fn follow(&mut self, now: T, write: impl FnOnce(&T) -> io::Result<()> + Send + 'static) {
        if now == self.kept {
            self.due = None;
            return;
        }
        let due = *self.due.get_or_insert_with(|| Instant::now() + SOON);
        let is_writing = self.writing.as_ref().is_some_and(|writing| !writing.is_finished());
        if due <= Instant::now() && !is_writing {
            self.due = None;
            self.kept.clone_from(&now);
            self.writing = Some(tokio::task::spawn_blocking(move || write(&now)));
        }
    }

    /// Writes what is left when the dashboard is.
    pub(super) async fn leave(&mut self, last: T, write: impl FnOnce(&T) -> io::Result<()>) {
        if let Some(writing) = self.writing.take() {
            let _ = writing.await;
        }
        if last != self.kept
            && let Err(error) = write(&last)
        {
            tracing::warn!(%error, "what was to be remembered was not written");
        }
    }
}

/// Whoever remembers what the operator has chosen of the look.
pub(super) struct ChoiceStore {
    /// `None` where there is no place for it: the choice lives as long as the dashboard.
    file: Option<PathBuf>,
    keeper: Keeper<Choices>,
}

impl ChoiceStore {
    /// Begins with what was chosen the last time. A file that cannot be read chooses nothing.
    pub(super) fn start(settings: &Settings, ui: &mut Ui) -> Self {
        let file = settings.location().map(|history| history.with_file_name(FILE_NAME));
        if let Some(path) = &file {
            match read(path) {
                Ok(choices) => ui.restore(choices),
                Err(error) => tracing::warn!(%error, file = %path.display(), "what was chosen cannot be read"),
            }
        }
        Self { file, keeper: Keeper::new(ui.choices()) }
    }
}

impl App {
    /// Tells on the first start how the dashboard calls; who has configured that, or where what it remembers is kept, knows.
    pub(super) fn introduce(&mut self) {
        let Config { ui, notify, history, .. } = &self.config;
        let is_usual = ui.bell && ui.title && notify.is_empty() && history.path.is_none();
        if is_usual && self.choices.file.is_some() {
            self.ui.introduce(poll::now());
        }
    }

    /// Keeps what is chosen, a moment after it was. Of several dashboards the last one that changes something is right.
    pub(super) fn keep_choices(&mut self) {
        let Some(file) = self.choices.file.clone() else { return };
        self.choices.keeper.follow(self.ui.choices(), move |choices| write(&file, choices));
    }

    /// Keeps what was chosen last when the dashboard is left.
    pub(super) async fn leave_choices(&mut self) {
        let Some(file) = self.choices.file.clone() else { return };
        self.choices.keeper.leave(self.ui.choices(), |choices| write(&file, choices)).await;
    }
}

fn read(file: &Path) -> io::Result<Choices> {
    private::check_file(file)?;
    match std::fs::read(file) {
        Ok(text) => Ok(serde_json::from_slice(&text)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Choices::default()),
        Err(error) => Err(error),
    }
}

fn write(file: &Path, choices: &Choices) -> io::Result<()> {
    if let Some(directory) = file.parent() {
        private::make_directory(directory)?;
    }
    // Another dashboard may be writing its own.
    let _locked = private::locked(&file.with_extension("lock"))?;
    private::replace(file, &serde_json::to_vec_pretty(choices)?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn choices_are_read_back_and_what_cannot_be_read_is_no_choice() {
        let directory = tempfile::tempdir().unwrap();
        let settings = Settings { path: Some(directory.path().join("state/history.db")), ..Settings::default() };
        let chosen = |text: &str| -> Choices { serde_json::from_str(text).unwrap() };
        let begun = || {
            let mut ui = Ui::new(crate::ui::UiOptions::default());
            let store = ChoiceStore::start(&settings, &mut ui);
            assert_eq!(store.keeper.kept, ui.choices());
            (store.file.unwrap(), ui.choices())
        };
        let (file, choices) = begun();
        assert!(choices == Choices::default() && !file.exists());
        let beside = chosen(r#"{"panes": {"layout": "beside", "upper": 250}}"#);
        write(&file, &beside).unwrap();
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
}
