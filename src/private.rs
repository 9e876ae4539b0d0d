//! Private files and their directories: only this user can read and replace what fleetwatch keeps, and after a crash each
//! file is whole or absent.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, TryLockError};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::io::{Errno, ioctl_fionbio};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, connect};

use crate::clock::A_MOMENT;
use crate::ids::ServerId;

/// How long a process waits for a lock that others need for a moment.
const LOCKED: Duration = A_MOMENT.saturating_mul(150);

/// Others may write, or a group.
const OTHERS_WRITE: u32 = 0o002;
const GROUP_WRITES: u32 = 0o020;
/// Nobody removes what another user made.
const STICKY: u32 = 0o1000;

/// The directory for fleetwatch's state: in `XDG_STATE_HOME`, else in the platform's directory for state or
/// data. `None` when the user has no home.
pub fn state_directory() -> Option<PathBuf> {
    let state_home = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let platform = || {
        // A home that is not there, as services have it, is not made either.
        directories::BaseDirs::new().filter(|dirs| dirs.home_dir().is_dir())?;
        let dirs = directories::ProjectDirs::from("", "", "fleetwatch")?;
        Some(dirs.state_dir().unwrap_or_else(|| dirs.data_local_dir()).to_owned())
    };
    state_home.map(|home| home.join("fleetwatch")).or_else(platform)
}

/// The longest path that a socket's directory may have, in bytes: that of a socket has 104 on some systems.
const LONGEST_DIRECTORY: usize = 75;

/// The directory for leases, sockets and screens: the user's runtime directory, else the state directory, else `/tmp`. `None` if
/// none of them is private. Only a process that writes there creates it.
pub fn runtime_directory(may_make: bool) -> Option<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    let user = rustix::process::geteuid().as_raw();
    let candidates = [
        runtime.filter(|path| path.is_dir()).map(|path| path.join("fleetwatch")),
        state_directory().map(|path| path.join("run")),
        Some(PathBuf::from(format!("/tmp/fleetwatch-{user}"))),
    ];
    let check = if may_make { make_directory } else { check_directory };
    let fits = |path: &PathBuf| path.as_os_str().len() <= LONGEST_DIRECTORY && check(path).is_ok();
    candidates.into_iter().flatten().find(fits)
}

/// A file about a server that all processes with this history share as long as the machine runs; `None` without a directory for
/// such files.
pub fn runtime_file(server: &ServerId, history: Option<&Path>, kind: &str, may_make: bool) -> Option<PathBuf> {
    let mut hasher = DefaultHasher::new();
    (server.word(), history).hash(&mut hasher);
    Some(runtime_directory(may_make)?.join(format!("{:016x}.{kind}", hasher.finish())))
}

/// Locks by which all processes of a user take turns at a terminal.
pub fn lock_directory() -> Option<PathBuf> {
    Some(state_directory()?.join("turns"))
}

/// Makes a directory with those above it, for this user alone; one that is there must belong to this user.
///
/// # Errors
/// It cannot be made, or others can replace what is in it; nothing is made below a directory in which they can.
pub fn make_directory(path: &Path) -> io::Result<()> {
    if let Some(there) = path.ancestors().find(|above| !above.as_os_str().is_empty() && above.exists()) {
        check_directory(there)?;
    }
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    check_directory(path)
}

/// Refuses a directory in which others can replace files, or which another user owns, and one below such a directory; one
/// through a link is also the one that the link leads to. The files in it would say what others want.
pub fn check_directory(path: &Path) -> io::Result<()> {
    let (named, meant) = (std::path::absolute(path)?, fs::canonicalize(path)?);
    named.ancestors().chain(meant.ancestors()).try_for_each(|part| {
        // A link may lead elsewhere tomorrow if another user made it.
        refuse_writable(part, &fs::symlink_metadata(part)?)?;
        refuse_writable(part, &fs::metadata(part)?)
    })
}

/// A program by its name in the directories of a `PATH`, or by its own path.
pub fn program(name: &str, path: &OsStr) -> Option<PathBuf> {
    let is_program =
        |path: &PathBuf| path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0);
    match name.contains('/') {
        true => Some(PathBuf::from(name)).filter(is_program),
        false => std::env::split_paths(path).map(|directory| directory.join(name)).find(is_program),
    }
}

/// Whether a process listens on a socket. It does not wait for one that takes no connections, such as a stopped one.
pub fn is_listened(socket: &Path) -> bool {
    let connected = SocketAddrUnix::new(socket).and_then(|address| {
        let client = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
        ioctl_fionbio(&client, true)?;
        connect(&client, &address)
    });
    // Where the queue of the listener is full, it is there.
    matches!(connected, Ok(()) | Err(Errno::AGAIN | Errno::INPROGRESS))
}

/// Refuses what another user owns, or others may write.
fn refuse_writable(path: &Path, data: &Metadata) -> io::Result<()> {
    let refuse = |why: String| Err(io::Error::new(ErrorKind::PermissionDenied, why));
    if !is_own(data.uid()) {
        return refuse(format!("{} belongs to another user", path.display()));
    }
    let mode = data.permissions().mode();
    if data.is_symlink() || data.is_dir() && mode & STICKY != 0 {
        return Ok(());
    }
    let is_own_group = data.gid() == rustix::process::getegid().as_raw();
    let who = match (mode & OTHERS_WRITE, mode & GROUP_WRITES) {
        (0, 0) => return Ok(()),
        (0, _) if is_own_group => return Ok(()),
        (0, _) => ("its group", "g-w"),
        _ => ("others", "go-w"),
    };
    refuse(format!("{} can write to {}: `chmod {}` it", who.0, path.display(), who.1))
}

/// Opens a file of this user to append to, and makes it for this user alone when it is missing.
///
/// # Errors
/// It cannot be opened or made, is a link or no regular file, belongs to another user, or others may write it.
pub fn open_to_append(path: &Path) -> io::Result<File> {
    let odd = |what: &str| io::Error::new(ErrorKind::InvalidInput, format!("it is {what}"));
    if fs::symlink_metadata(path).is_ok_and(|data| data.is_symlink()) {
        return Err(odd("a link"));
    }
    // A pipe that nobody reads is refused at once.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC).bits();
    let flags = i32::try_from(flags).map_err(io::Error::other)?;
    let file = OpenOptions::new().create(true).append(true).mode(0o600).custom_flags(flags).open(path)?;
    let data = file.metadata()?;
    if !data.is_file() {
        return Err(if data.is_dir() { ErrorKind::IsADirectory.into() } else { odd("no regular file") });
    }
    refuse_writable(path, &data)?;
    Ok(file)
}

/// Opens a file to read and write, and makes it for this user alone when it is missing. What is in it stays.
///
/// # Errors
/// It cannot be opened or made, is no regular file, or belongs to another user.
pub fn open(path: &Path) -> io::Result<File> {
    check_file(path)?;
    OpenOptions::new().create(true).truncate(false).read(true).write(true).mode(0o600).open(path)
}

/// Opens a regular file of anybody to read, without following a link and without waiting for a pipe.
pub fn open_regular(path: &Path) -> Option<File> {
    let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits()).ok()?;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    file.metadata().is_ok_and(|data| data.is_file()).then_some(file)
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
pub fn check_file(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(data) if !data.is_file() => {
            Err(io::Error::new(ErrorKind::InvalidInput, format!("{} is not a regular file", path.display())))
        }
        Ok(data) if !is_own(data.uid()) => {
            Err(io::Error::new(ErrorKind::PermissionDenied, format!("{} belongs to another user", path.display())))
        }
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Reads a secret of this user's.
///
/// # Errors
/// It is not there, cannot be read, is no regular file of this user, or others can read or write it.
pub fn read_secret(path: &Path) -> io::Result<Vec<u8>> {
    check_secret(path, 0o077)?;
    fs::read(path)
}

/// Refuses a file of which the mode lets others do what it must not, beside what [`check_file`] refuses.
///
/// # Errors
/// As said, or its metadata cannot be read; one that is missing as well.
pub fn check_secret(path: &Path, forbidden: u32) -> io::Result<()> {
    check_file(path)?;
    let data = fs::metadata(path)?;
    if data.permissions().mode() & forbidden == 0 {
        return Ok(());
    }
    let why = format!("others can read or write {0}: `chmod 600 {0}`", path.display());
    Err(io::Error::new(ErrorKind::PermissionDenied, why))
}

/// Takes a lock on a file, which it has until what it returns is dropped. Waits for a process that has it, but not for one that is
/// stopped, so call it where a thread may wait.
///
/// # Errors
/// The file cannot be opened, or another process has the lock for longer than anybody needs it.
pub fn locked(path: &Path) -> io::Result<File> {
    locked_within(path, LOCKED)?.ok_or_else(|| {
        let why = format!("another process has locked {}: is a fleetwatch stopped?", path.display());
        io::Error::new(ErrorKind::TimedOut, why)
    })
}

/// The same with another patience; `None` when another process has the lock for longer.
pub fn locked_within(path: &Path, patience: Duration) -> io::Result<Option<File>> {
    let (file, since) = (open(path)?, Instant::now());
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) if since.elapsed() < patience => thread::sleep(A_MOMENT),
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// A lock on a file, which the system takes back when the process ends, however it ends. Dropping it gives it back.
#[derive(Debug)]
pub struct Lock {
    file: Arc<File>,
    path: PathBuf,
}

impl Lock {
    /// Takes a lock; `None` when another process has it.
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
    pub fn held(&self) -> HeldLock {
        HeldLock(Some((Arc::downgrade(&self.file), self.path.clone())))
    }
}

/// Whether a lock is held, for those who do not hold it themselves.
#[derive(Clone, Debug)]
pub struct HeldLock(Option<(Weak<File>, PathBuf)>);

impl HeldLock {
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

/// The stamp of a file: its time of change and its length. Another stamp means that it must be read again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileStamp {
    /// Seconds since 1970, by the clock of the file's machine.
    pub seconds: i64,
    pub nanoseconds: i64,
    /// In bytes.
    pub length: u64,
}

impl FileStamp {
    /// The stamp of the file at a path; `None` if there is none.
    pub fn at(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|data| Self::of(&data))
    }

    /// The stamp in a file's metadata.
    pub fn of(data: &Metadata) -> Self {
        Self { seconds: data.mtime(), nanoseconds: data.mtime_nsec(), length: data.len() }
    }
}

/// The inode of the file at a path; `None` if there is none.
pub fn inode(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().map(|data| data.ino())
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
    fn a_process_that_keeps_its_lock_keeps_nobody_waiting_for_good() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let held = locked(&path).unwrap();
        assert!(locked_within(&path, A_MOMENT).unwrap().is_none());
        let refused = locked(&path).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::TimedOut);
        assert!(refused.to_string().contains(path.to_str().unwrap()), "{refused}");
        drop(held);
        assert!(locked_within(&path, A_MOMENT).unwrap().is_some());
    }

    #[test]
    fn a_listener_that_takes_no_connections_keeps_nobody_waiting() {
        use std::os::unix::net::UnixListener;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("socket");
        assert!(!is_listened(&path));
        let listener = UnixListener::bind(&path).unwrap();
        let address = SocketAddrUnix::new(&path).unwrap();
        let mut waiting = Vec::new();
        let refused = loop {
            let client = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
            ioctl_fionbio(&client, true).unwrap();
            match connect(&client, &address) {
                Ok(()) => waiting.push(client),
                Err(error) => break error,
            }
        };
        assert!(matches!(refused, Errno::AGAIN | Errno::CONNREFUSED), "{refused}");
        // macOS refuses where Linux has the caller wait.
        assert_eq!(is_listened(&path), refused == Errno::AGAIN);
        drop((listener, waiting));
        assert!(!is_listened(&path));
    }

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
    fn a_directory_below_one_that_others_can_write_is_refused_and_not_made() {
        let directory = tempfile::tempdir().unwrap();
        let above = directory.path().join("above");
        make_directory(&above.join("there")).unwrap();
        let allow = |mode| fs::set_permissions(&above, Permissions::from_mode(mode)).unwrap();
        for (mode, fine) in [(0o777, false), (0o757, false), (0o1777, true), (0o770, true), (0o755, true)] {
            allow(mode);
            assert_eq!(check_directory(&above.join("there")).is_ok(), fine, "{mode:o}");
            let new = above.join(format!("{mode:o}/run"));
            assert_eq!((make_directory(&new).is_ok(), new.exists()), (fine, fine), "{mode:o}");
        }
        // The way there counts as much as the place.
        allow(0o700);
        let (meant, way) = (directory.path().join("meant"), above.join("way"));
        make_directory(&meant).unwrap();
        std::os::unix::fs::symlink(&meant, &way).unwrap();
        assert!(check_directory(&way).is_ok());
        allow(0o777);
        let why = check_directory(&way).unwrap_err().to_string();
        assert_eq!(why, format!("others can write to {}: `chmod go-w` it", above.display()));
        // Only the administrator can give a file away.
        allow(0o770);
        if std::os::unix::fs::chown(&above, None, Some(rustix::process::getegid().as_raw() + 1)).is_ok() {
            assert!(check_directory(&way).unwrap_err().to_string().starts_with("its group can write to "));
        }
        if std::os::unix::fs::chown(&above, Some(rustix::process::geteuid().as_raw() + 1), None).is_ok() {
            assert!(check_directory(&way).unwrap_err().to_string().ends_with("belongs to another user"));
        }
    }

    #[test]
    fn only_a_file_of_ones_own_is_appended_to() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        assert!(std::process::Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
        fs::write(path("rc"), "mine\n").unwrap();
        std::os::unix::fs::symlink(path("rc"), path("link")).unwrap();
        std::os::unix::fs::symlink(path("nowhere"), path("dangling")).unwrap();
        for odd in [path("pipe"), path("link"), path("dangling"), path("."), "/dev/null".into(), "/dev/zero".into()] {
            assert!(open_to_append(&odd).is_err(), "{}", odd.display());
        }
        assert!(!path("nowhere").exists());
        let log = path("log");
        for line in ["one\n", "two\n"] {
            open_to_append(&log).unwrap().write_all(line.as_bytes()).unwrap();
        }
        assert_eq!(fs::read_to_string(&log).unwrap(), "one\ntwo\n");
        assert_eq!(fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o600);
        for (mode, fine) in [(0o666, false), (0o646, false), (0o664, true), (0o644, true)] {
            fs::set_permissions(&log, Permissions::from_mode(mode)).unwrap();
            assert_eq!(open_to_append(&log).is_ok(), fine, "{mode:o}");
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
        assert!(HeldLock::ALWAYS.holds());
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
