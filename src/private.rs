//! Files that are nobody else's business: what fleetwatch keeps is read and replaced by this user alone, and is whole or
//! not there after a crash.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

/// Others may write.
const OTHERS_WRITE: u32 = 0o002;
/// Nobody removes what another user made.
const STICKY: u32 = 0o1000;

/// Makes a directory with those above it, for this user alone; one that is there must belong to this user.
///
/// # Errors
/// It cannot be made, or others can replace what is in it.
pub fn make_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    check_directory(path)
}

/// Refuses a directory in which others can replace files, or which another user owns; one through a link is the one that
/// the link leads to. The files in it would say what others want.
///
/// # Errors
/// As said, or it cannot be looked at.
pub fn check_directory(path: &Path) -> io::Result<()> {
    let data = fs::metadata(path)?;
    let refuse = |why: String| Err(io::Error::new(ErrorKind::PermissionDenied, why));
    if !is_own(data.uid()) {
        return refuse(format!("{} belongs to another user", path.display()));
    }
    let mode = data.permissions().mode();
    if mode & OTHERS_WRITE != 0 && mode & STICKY == 0 {
        return refuse(format!("others can write in {}: `chmod o-w` it", path.display()));
    }
    Ok(())
}

/// Opens a file to read and write, and makes it for this user alone when it is missing. What is in it stays.
///
/// # Errors
/// It cannot be opened or made, is no regular file, or belongs to another user.
pub fn open(path: &Path) -> io::Result<File> {
    check_file(path)?;
    OpenOptions::new().create(true).truncate(false).read(true).write(true).mode(0o600).open(path)
}

/// Makes a file for this user alone where there is none. One that is there is not opened: SQLite's locks on it would be
/// lost with the first descriptor that closes.
///
/// # Errors
/// It cannot be made, or what is there is no regular file of this user.
pub fn make_file(path: &Path) -> io::Result<()> {
    match OpenOptions::new().create_new(true).write(true).mode(0o600).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => check_file(path),
        made => made.map(drop),
    }
}

/// Replaces a file: a crash leaves the old one or the new one.
///
/// # Errors
/// It cannot be written; the old one stays.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let new = path.with_extension("new");
    check_file(&new)?;
    let mut file = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&new)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&new, path)
}

/// Refuses what is no regular file of this user: opening a pipe waits for somebody at its other end. One that is missing
/// is fine.
///
/// # Errors
/// As said, or it cannot be looked at.
pub fn check_file(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(data) if !data.is_file() => {
            Err(io::Error::new(ErrorKind::InvalidInput, format!("{} is no regular file", path.display())))
        }
        Ok(data) if !is_own(data.uid()) => {
            Err(io::Error::new(ErrorKind::PermissionDenied, format!("{} belongs to another user", path.display())))
        }
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Waits until no other process has a lock on a file, and has it until what it returns is dropped.
///
/// # Errors
/// The file cannot be opened, made or locked.
pub fn locked(path: &Path) -> io::Result<File> {
    let file = open(path)?;
    file.lock()?;
    Ok(file)
}

/// A lock on a file, which the system takes back when the process ends, however it ends. Dropping it gives it back.
#[derive(Debug)]
pub struct Lock {
    file: Arc<File>,
    path: PathBuf,
}

impl Lock {
    /// Takes a lock; `None` when another process has it.
    ///
    /// # Errors
    /// The file cannot be opened, made or locked.
    pub fn try_take(path: &Path) -> io::Result<Option<Self>> {
        loop {
            let file = open(path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
            // The process before may have removed it after it was opened here.
            if is_in_place(&file, path) {
                return Ok(Some(Self { file: Arc::new(file), path: path.to_owned() }));
            }
        }
    }

    /// Whether another process has a lock. Nobody who takes it waits for that longer than a moment.
    pub fn is_taken(path: &Path) -> bool {
        File::open(path).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// The lock, for parts of the process that act only while it is held.
    pub fn held(&self) -> Held {
        Held(Some((Arc::downgrade(&self.file), self.path.clone())))
    }
}

/// Whether a lock is held, for those who do not hold it themselves.
#[derive(Clone, Debug)]
pub struct Held(Option<(Weak<File>, PathBuf)>);

impl Held {
    /// Where there is no lock to take.
    pub const ALWAYS: Self = Self(None);

    /// Whether the lock is held, and its file is not removed or replaced by another process.
    pub fn holds(&self) -> bool {
        let Some((file, path)) = &self.0 else { return true };
        file.upgrade().is_some_and(|file| is_in_place(&file, path))
    }
}

/// Whether an open file is the one that its path leads to.
fn is_in_place(file: &File, path: &Path) -> bool {
    let there = fs::metadata(path).map(|data| (data.dev(), data.ino()));
    let own = file.metadata().map(|data| (data.dev(), data.ino()));
    matches!((there, own), (Ok(there), Ok(own)) if there == own)
}

/// Whether a user is this one, or the administrator, whom nothing is kept from.
pub fn is_own(uid: u32) -> bool {
    uid == 0 || uid == rustix::process::geteuid().as_raw()
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;

    use super::*;

    #[test]
    fn a_directory_that_others_can_write_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let state = directory.path().join("a/state");
        make_directory(&state).unwrap();
        assert_eq!(fs::metadata(&state).unwrap().permissions().mode() & 0o777, 0o700);
        for (mode, fine) in [(0o777, false), (0o1777, true), (0o775, true), (0o755, true), (0o700, true)] {
            fs::set_permissions(&state, Permissions::from_mode(mode)).unwrap();
            let link = directory.path().join("link");
            let _ = std::os::unix::fs::symlink(&state, &link);
            assert_eq!(make_directory(&state).is_ok(), fine, "{mode:o}");
            assert_eq!(make_directory(&link).is_ok(), fine, "{mode:o} through a link");
        }
    }

    #[test]
    fn a_lock_is_held_until_it_is_dropped_or_its_file_removed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let take = || Lock::try_take(&path).unwrap();
        let first = take().unwrap();
        let held = first.held();
        assert!(held.holds() && Lock::is_taken(&path) && take().is_none());
        fs::remove_file(&path).unwrap();
        let second = take().unwrap();
        assert!(!held.holds() && second.held().holds());
        let held = second.held();
        drop(second);
        assert!(!held.holds() && !Lock::is_taken(&path) && take().is_some());
        assert!(Held::ALWAYS.holds());
    }

    #[test]
    fn what_is_no_file_is_refused_and_never_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        for odd in [pipe.as_path(), directory.path(), Path::new("/dev/zero")] {
            assert!(open(odd).is_err() && make_file(odd).is_err() && check_file(odd).is_err(), "{}", odd.display());
        }
        let file = directory.path().join("file");
        make_file(&file).unwrap();
        replace(&file, b"new").unwrap();
        make_file(&file).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
