//! Opening the file: private, versioned, and moved aside when it is damaged.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

use super::{Trouble, schema};
use crate::private;
use crate::time::Timestamp;

/// How the file is opened.
#[derive(Clone, Debug)]
pub(super) struct HistoryOptions {
    /// How long another process's lock is waited for.
    pub patience: Duration,
    /// Whether every commit reaches the disk before it counts, and not only the operating system.
    pub synchronous: Synchronous,
    /// Pages that the file may grow to; for tests of a full disk.
    pub most_pages: Option<u32>,
}

/// What a commit survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Synchronous {
    /// The end of the process.
    Process,
    /// The loss of power as well.
    Power,
}

impl Default for HistoryOptions {
    fn default() -> Self {
        Self { patience: Duration::from_secs(2), synchronous: Synchronous::Process, most_pages: None }
    }
}

/// What a reader keeps of the file at most, in the way of `PRAGMA cache_size`: 16 MiB. Totals of all terminals go through the
/// file once for each, and would read every page again from the system with the 2 MiB that are usual.
const READ_CACHE: i32 = -16 * 1024;

/// An open file.
#[derive(Debug)]
pub(super) struct Opened {
    pub connection: Connection,
    /// The file itself, whatever its name comes to mean.
    pub inode: Option<u64>,
    /// Where a damaged file was moved to.
    pub set_aside: Option<PathBuf>,
}

/// Opens a file for writing; makes it and its directory when they are missing, brings it to the present layout, and
/// moves it aside when it is damaged.
///
/// # Errors
/// It cannot be opened, locked or written, or a newer fleetwatch wrote it.
pub(super) fn open(path: &Path, options: &HistoryOptions, now: Timestamp) -> Result<Opened, Trouble> {
    open_with(path, options, now, |_| Ok(()))
}

/// Like [`open`], after damage was met: the whole file is checked before it is trusted again. Another process may have
/// moved the damaged one aside already.
///
/// # Errors
/// As [`open`].
pub(super) fn open_after_damage(path: &Path, options: &HistoryOptions, now: Timestamp) -> Result<Opened, Trouble> {
    open_with(path, options, now, |connection| {
        let verdict: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        if verdict == "ok" { Ok(()) } else { Err(Trouble::Damaged) }
    })
}

/// The inode that a path means now.
pub(super) fn inode(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().map(|data| data.ino())
}

/// The inode of the log that SQLite keeps beside a file while it is open.
pub(super) fn log_inode(path: &Path) -> Option<u64> {
    inode(&beside(path, "-wal"))
}

/// Opens a file for reading only. What is read is never newer than one commit, and no writer waits for it.
///
/// # Errors
/// It is missing, cannot be read, or has another layout.
pub(super) fn open_to_read(path: &Path) -> Result<Connection, Trouble> {
    if matches!(path.try_exists(), Ok(false)) {
        return Err(Trouble::Missing(path.to_owned()));
    }
    private::check_file(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = connect_to_read(path, flags)?;
    let found = match schema::version(&connection) {
        Err(Trouble::Other(_) | Trouble::ReadOnly) => return open_unwritable(path),
        found => found?,
    };
    match found == i64::from(schema::VERSION) {
        true => Ok(connection),
        false if found > i64::from(schema::VERSION) => Err(Trouble::Newer { found, known: schema::VERSION }),
        false => {
            // An older file becomes a present one by being opened to write, which a reader may do as well.
            drop(connection);
            drop(open(path, &HistoryOptions::default(), super::now())?);
            connect_to_read(path, flags)
        }
    }
}

fn connect_to_read(path: &Path, flags: OpenFlags) -> Result<Connection, Trouble> {
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(Duration::from_secs(1))?;
    connection.pragma_update(None, "cache_size", READ_CACHE)?;
    Ok(connection)
}

/// Where not even SQLite's shared memory can be made, the file is read as one that nobody writes.
fn open_unwritable(path: &Path) -> Result<Connection, Trouble> {
    let escaped: String = path.display().to_string().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(format!("file:{escaped}?immutable=1"), flags)?;
    match schema::version(&connection)? {
        found if found == i64::from(schema::VERSION) => Ok(connection),
        found if found > i64::from(schema::VERSION) => Err(Trouble::Newer { found, known: schema::VERSION }),
        _ => Err(Trouble::ReadOnly),
    }
}

fn open_with(
    path: &Path,
    options: &HistoryOptions,
    now: Timestamp,
    check: impl Fn(&Connection) -> Result<(), Trouble>,
) -> Result<Opened, Trouble> {
    if let Some(directory) = path.parent().filter(|directory| !directory.as_os_str().is_empty()) {
        private::make_directory(directory)?;
    }
    // Making, migrating and moving aside are for one process at a time.
    let _guard = lock(&beside(path, ".lock"), options.patience)?;
    let connect = || {
        // SQLite gives its side files the same mode.
        private::make_file(path)?;
        let connection = connect(path, options)?;
        check(&connection)?;
        Ok(connection)
    };
    let (connection, set_aside) = match connect() {
        Err(Trouble::Damaged) => {
            let kept = move_aside(path, now)?;
            (connect()?, Some(kept))
        }
        connected => (connected?, None),
    };
    Ok(Opened { connection, inode: inode(path), set_aside })
}

fn connect(path: &Path, options: &HistoryOptions) -> Result<Connection, Trouble> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(options.patience)?;
    // A newer file is not touched, not even by the settings below.
    schema::refuse_newer(&connection)?;
    // Only an empty file takes this; without it, a file that once was large stays so.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    let synchronous = match options.synchronous {
        Synchronous::Process => "NORMAL",
        Synchronous::Power => "FULL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update_and_check(None, "journal_size_limit", 4 << 20, |_| Ok(()))?;
    if let Some(pages) = options.most_pages {
        connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    }
    schema::migrate(&mut connection)?;
    Ok(connection)
}

fn lock(path: &Path, patience: Duration) -> Result<File, Trouble> {
    let file = private::open(path)?;
    let since = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if since.elapsed() < patience => {
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(TryLockError::WouldBlock) => return Err(Trouble::Locked),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
    }
}

/// Renames a damaged file with its side files; what can be saved from it may still be wanted.
fn move_aside(path: &Path, now: Timestamp) -> Result<PathBuf, Trouble> {
    let stamp: String = now.to_string().chars().filter(|c| c.is_ascii_alphanumeric()).collect();
    let kept = beside(path, &format!(".damaged-{stamp}"));
    fs::rename(path, &kept)?;
    for side in ["-wal", "-shm"] {
        let from = beside(path, side);
        if from.exists() {
            fs::rename(from, beside(&kept, side))?;
        }
    }
    Ok(kept)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
