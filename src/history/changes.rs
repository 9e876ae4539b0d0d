//! Tells when the file of the history may have changed, so that nobody has to ask for it again and again.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::fd::OwnedFd;

use super::writer::GATHER;
use crate::clock::A_MOMENT;

/// The wait where the system does not tell of changes, and before a file is read again that was locked: a few batches.
pub(super) const PAUSE: Duration = GATHER.saturating_mul(3);
/// The longest wait where it does: not every file system tells of everything.
const LONGEST: Duration = Duration::from_secs(30);

/// Is called after a change; `false` if nobody wants to know of the next one.
type Listener = Box<dyn FnMut() -> bool + Send>;

/// Who wants to know of changes; `None` while no thread waits for one.
#[derive(Clone, Default)]
pub(super) struct Changes(Arc<Mutex<Option<Vec<Listener>>>>);

impl std::fmt::Debug for Changes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Changes")
    }
}

impl Changes {
    /// Calls `listener` after each change of a file, or of those that SQLite keeps beside it, from now on.
    pub(super) fn tell(&self, path: &Path, listener: impl FnMut() -> bool + Send + 'static) {
        let mut listeners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(listeners) = &mut *listeners {
            listeners.push(Box::new(listener));
            return;
        }
        let (changes, mut followed) = (self.clone(), FollowedDirectory::of(path));
        let thread = thread::Builder::new().name("changes".to_owned()).spawn(move || {
            while changes.call() {
                thread::sleep(A_MOMENT);
                followed.wait();
            }
        });
        match thread {
            Ok(_) => *listeners = Some(vec![Box::new(listener)]),
            Err(error) => tracing::warn!(%error, "what other processes write is not read"),
        }
    }

    /// Calls the listeners; whether any of them wants to know of the next change.
    fn call(&self) -> bool {
        let mut listeners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.iter_mut().for_each(|listeners| listeners.retain_mut(|listener| listener()));
        listeners.take_if(|listeners| listeners.is_empty());
        listeners.is_some()
    }
}

/// The directory of a file, of whose changes the system tells.
struct FollowedDirectory {
    path: PathBuf,
    /// `None` where the system does not tell, or the directory is not there.
    told: Option<OwnedFd>,
}

impl FollowedDirectory {
    fn of(path: &Path) -> Self {
        Self { path: path.to_owned(), told: None }
    }

    /// Waits until the file may have changed.
    fn wait(&mut self) {
        if let Some(told) = &self.told {
            if !system::wait(told, self.path.file_name().unwrap_or_default()) {
                self.told = None;
            }
            return;
        }
        self.told = self.path.parent().and_then(system::follow);
        if self.told.is_none() {
            thread::sleep(PAUSE);
        }
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::mem::MaybeUninit;
    use std::os::unix::ffi::OsStrExt;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
    use rustix::io::Errno;

    use super::{LONGEST, OsStr, OwnedFd, Path};

    /// Begins to follow a directory.
    pub(super) fn follow(directory: &Path) -> Option<OwnedFd> {
        let told = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
        let changes = WatchFlags::MODIFY | WatchFlags::CREATE | WatchFlags::MOVE | WatchFlags::DELETE;
        let end = WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF | WatchFlags::ONLYDIR;
        inotify::add_watch(&told, directory, changes | end).ok()?;
        Some(told)
    }

    /// Waits until a file whose name begins with this one has changed; `false` if the directory is followed no longer.
    pub(super) fn wait(told: &OwnedFd, name: &OsStr) -> bool {
        let limit = Timespec::try_from(LONGEST).ok();
        loop {
            let polled = poll(&mut [PollFd::new(told, PollFlags::IN)], limit.as_ref());
            match polled {
                Ok(0) => return true,
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return false,
            }
            let mut buffer = [MaybeUninit::uninit(); 4096];
            let mut events = inotify::Reader::new(told, &mut buffer);
            let mut has_changed = false;
            loop {
                match events.next() {
                    Ok(event) if event.file_name().is_some_and(|file| file.to_bytes().starts_with(name.as_bytes())) => {
                        has_changed = true;
                    }
                    Ok(event) if event.events().contains(ReadFlags::QUEUE_OVERFLOW) => has_changed = true,
                    // Of another file.
                    Ok(event) if event.file_name().is_some() => {}
                    // It is said of the directory itself.
                    Ok(_) => return false,
                    Err(Errno::AGAIN) => break,
                    Err(_) => return false,
                }
            }
            if has_changed {
                return true;
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::{OsStr, OwnedFd, Path};

    pub(super) fn follow(_: &Path) -> Option<OwnedFd> {
        None
    }

    pub(super) fn wait(_: &OwnedFd, _: &OsStr) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn what_is_written_beside_a_file_is_told_also_where_its_directory_is_another_one() {
        let home = tempfile::tempdir().unwrap();
        let (directory, aside) = (home.path().join("state"), home.path().join("aside"));
        fs::create_dir(&directory).unwrap();
        let (told, changes) = mpsc::channel();
        Changes::default().tell(&directory.join("history.db"), move || told.send(()).is_ok());
        let is_told = || changes.recv_timeout(Duration::from_secs(60)).expect("a change is told");
        let is_quiet = || while changes.recv_timeout(PAUSE + A_MOMENT).is_ok() {};
        is_quiet();
        fs::write(directory.join("history.db-wal"), "x").unwrap();
        is_told();
        is_quiet();
        fs::write(directory.join("another"), "x").unwrap();
        #[cfg(target_os = "linux")]
        assert!(changes.recv_timeout(PAUSE + A_MOMENT).is_err(), "another file is none of its");
        fs::rename(&directory, &aside).unwrap();
        fs::create_dir(&directory).unwrap();
        is_told();
        is_quiet();
        fs::write(directory.join("history.db"), "x").unwrap();
        is_told();
    }
}
