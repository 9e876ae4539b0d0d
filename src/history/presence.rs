//! Which processes live: each that writes a history holds a lock, which the system takes back when the process ends,
//! however it ends. So what a killed one had claimed is free at once, and what a living one saw holds until now.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::identity::Owner;
use crate::private;

/// How long it is remembered that a process has died. Nothing that it claimed holds longer.
const REMEMBERED: Duration = Duration::from_secs(24 * 3600);

/// The sign that this process lives. Dropping it, which the system does when the process is killed, takes the lock back.
#[derive(Debug)]
pub(super) struct Presence {
    path: PathBuf,
    _locked: File,
}

impl Presence {
    /// Shows that a process lives which signs as `owner` in a history file.
    ///
    /// # Errors
    /// The sign cannot be made; then this process counts as alive for as long as its claims hold.
    pub(super) fn show(history: &Path, owner: &Owner) -> io::Result<Self> {
        let directory = directory(history);
        private::make_directory(&directory)?;
        sweep(&directory);
        let path = directory.join(owner.as_str());
        let file = private::open(&path)?;
        file.lock()?;
        Ok(Self { path, _locked: file })
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        // One that stays is taken for the sign of a process that died, which claims nothing.
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether it is certain that a process lives no longer: it has left its sign, and does not hold it.
pub(super) fn has_died(history: &Path, owner: &str) -> bool {
    sign(history, owner).is_some_and(|file| file.try_lock_shared().is_ok())
}

/// Whether it is certain that a process lives: it holds its sign.
pub(super) fn lives(history: &Path, owner: &str) -> bool {
    sign(history, owner).is_some_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// The sign of a process, where it has one.
fn sign(history: &Path, owner: &str) -> Option<File> {
    // The name was read from a file; only one that this program makes is one of a sign.
    let is_name = !owner.is_empty() && owner.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    is_name.then(|| File::open(directory(history).join(owner)).ok()).flatten()
}

/// Removes the signs of processes that died long ago.
fn sweep(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let age = entry.metadata().and_then(|data| data.modified()).map(|at| SystemTime::now().duration_since(at));
        let is_old = age.is_ok_and(|age| age.is_ok_and(|age| age > REMEMBERED));
        let is_held = || {
            File::open(entry.path()).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
        };
        if is_old && !is_held() {
            // Another process may have been faster.
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn directory(history: &Path) -> PathBuf {
    let mut name = history.as_os_str().to_owned();
    name.push(".alive");
    PathBuf::from(name)
}
