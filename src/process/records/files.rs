//! Processes and files of this machine, as far as records need them.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::private::{self, FileStamp};
use crate::process::{proc, version};
use crate::profile::ProcessInfo;
use crate::time::{Span, Timestamp};

/// Bytes that are read of a file that only names a directory.
const NAMES: u64 = 16 << 10;

/// Entries of one folder that are searched for a file.
const ENTRIES: usize = 10_000;

/// How long a process's variables are remembered. They change when it becomes another program.
const VARIABLES_KEPT: Span = Span::from_secs(10);

/// Where an agent works, and since when: what leads to a record that nothing proves to be its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Workplace {
    pub directory: PathBuf,
    pub began: Timestamp,
}

/// Which file it is, by its device and inode, and its stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileState {
    pub identity: (u64, u64),
    pub stamp: FileStamp,
}

/// The processes and files of this machine; what cannot be read, for whatever reason, counts as absent.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// The processes by their directories, read once in a poll.
    workers: OnceCell<HashMap<PathBuf, Vec<u32>>>,
    /// Paths with their links resolved, once in a poll: agents share their folders.
    real: RefCell<HashMap<PathBuf, Option<PathBuf>>>,
    /// The sessions of processes, read once in a poll.
    sessions: RefCell<HashMap<u32, Option<u64>>>,
    /// Variables by process and name, and since when they are remembered: they are needed each second, and hardly ever
    /// change.
    variables: RefCell<HashMap<(u32, String), Option<OsString>>>,
    variables_since: Timestamp,
    /// The last process whose variables were read in a poll, and its whole environment, because another variable is asked for
    /// next.
    environment: RefCell<(u32, Vec<u8>)>,
}

impl Files {
    /// Begins a poll.
    pub(super) fn begin(&mut self, now: Timestamp) {
        self.workers.take();
        self.real.get_mut().clear();
        self.sessions.get_mut().clear();
        *self.environment.get_mut() = Default::default();
        if now.since(self.variables_since) >= VARIABLES_KEPT {
            self.variables.get_mut().clear();
            self.variables_since = now;
        }
    }

    /// The session of a process. One that left its terminal's session is a shared service.
    pub(super) fn session(&self, process: u32) -> Option<u64> {
        *self.sessions.borrow_mut().entry(process).or_insert_with(|| proc::session(process))
    }

    /// When a process began, in ticks since the machine started.
    pub(super) fn began(&self, process: u32) -> Option<u64> {
        proc::began(process)
    }

    /// A variable of a process's initial environment.
    pub(super) fn variable(&self, process: u32, name: &str) -> Option<OsString> {
        let read = || {
            let mut last = self.environment.borrow_mut();
            if last.0 != process {
                *last = (process, version::environment(process));
            }
            version::variable(&last.1, name)
        };
        self.variables.borrow_mut().entry((process, name.to_owned())).or_insert_with(read).clone()
    }

    /// The files that a process holds open.
    pub(super) fn held(&self, process: u32) -> Vec<PathBuf> {
        let Ok(open) = fs::read_dir(Path::new(proc::ROOT).join(process.to_string()).join("fd")) else {
            return Vec::new();
        };
        open.flatten().take(ENTRIES).filter_map(|entry| fs::read_link(entry.path()).ok()).collect()
    }

    /// A path with its links resolved, if it exists.
    pub(super) fn real(&self, path: &Path) -> Option<PathBuf> {
        if let Some(known) = self.real.borrow().get(path) {
            return known.clone();
        }
        let real = path.canonicalize().ok();
        self.real.borrow_mut().insert(path.to_owned(), real.clone());
        real
    }

    pub(super) fn is_folder(&self, path: &Path) -> bool {
        path.is_dir()
    }

    /// Where a process works, and since when.
    pub(super) fn workplace(&self, process: u32) -> Option<Workplace> {
        Some(Workplace { directory: proc::directory(process)?, began: proc::began_at(process)? })
    }

    /// The processes that work in a directory, as far as this user may know.
    pub(super) fn working_in(&self, directory: &Path) -> Vec<ProcessInfo> {
        let there = self.workers.get_or_init(proc::by_directory).get(directory);
        there.into_iter().flatten().filter_map(|process| proc::process(*process)).collect()
    }

    /// A process and its parents.
    pub(super) fn ancestors(&self, process: u32) -> BTreeSet<u32> {
        proc::ancestors(Path::new(proc::ROOT), process)
    }

    /// The repository around a directory, else the directory itself.
    pub(super) fn repository(&self, directory: &Path) -> Option<PathBuf> {
        let around = directory.ancestors().find(|folder| folder.join(".git").exists());
        around.unwrap_or(directory).canonicalize().ok()
    }

    pub(super) fn content(&self, path: &Path) -> Option<String> {
        String::from_utf8(self.read(path, 0, NAMES)?.1).ok()
    }

    /// The file below a folder that fits a pattern and contains a text and nothing else.
    pub(super) fn saying(&self, base: &Path, wanted: &str, text: &str) -> Option<PathBuf> {
        let says = |path: &PathBuf| self.content(path).is_some_and(|content| content.trim() == text);
        self.below(base, wanted).into_iter().find(says)
    }

    /// The files below a folder whose paths fit a pattern, up to a bound.
    pub(super) fn below(&self, base: &Path, wanted: &str) -> Vec<PathBuf> {
        let (part, rest) = wanted.split_once('/').map_or((wanted, None), |(part, rest)| (part, Some(rest)));
        let go_on = |path: PathBuf| match rest {
            Some(rest) => self.below(&path, rest),
            None if path.is_file() => vec![path],
            None => Vec::new(),
        };
        if !part.contains('*') {
            return go_on(base.join(part));
        }
        let Ok(entries) = fs::read_dir(base) else { return Vec::new() };
        let fitting = entries.flatten().take(ENTRIES);
        let fitting = fitting.filter(|entry| entry.file_name().to_str().is_some_and(|name| part_fits(name, part)));
        fitting.flat_map(|entry| go_on(entry.path())).take(ENTRIES).collect()
    }

    /// The state of a regular file of this user; `None` for a link.
    pub(super) fn state(&self, path: &Path) -> Option<FileState> {
        let data = fs::symlink_metadata(path).ok().filter(is_own_file)?;
        Some(FileState::of(&data))
    }

    /// Reads such a file from an offset, and its state when it was opened.
    pub(super) fn read(&self, path: &Path, from: u64, at_most: u64) -> Option<(FileState, Vec<u8>)> {
        let mut file = open(path)?;
        let state = FileState::of(&file.metadata().ok()?);
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(from)).ok()?;
        file.take(at_most).read_to_end(&mut bytes).ok()?;
        Some((state, bytes))
    }
}

impl FileState {
    /// When it was last changed, by its machine's clock.
    pub(super) fn changed(self) -> Timestamp {
        let FileStamp { seconds, nanoseconds, .. } = self.stamp;
        Timestamp::from_millis(seconds.saturating_mul(1000).saturating_add(nanoseconds / 1_000_000))
    }

    pub(super) fn of(data: &Metadata) -> Self {
        Self { identity: (data.dev(), data.ino()), stamp: FileStamp::of(data) }
    }
}

/// Opens a regular file of this user, without following a link and without waiting for a pipe.
pub(super) fn open(path: &Path) -> Option<File> {
    private::open_regular(path).filter(|file| file.metadata().ok().as_ref().is_some_and(is_own_file))
}

/// Whether it is a regular file of this user.
fn is_own_file(data: &Metadata) -> bool {
    data.is_file() && private::is_own(data.uid())
}

/// Whether a name fits a pattern with at most one `*`.
pub(super) fn part_fits(name: &str, wanted: &str) -> bool {
    match wanted.split_once('*') {
        None => name == wanted,
        Some((begin, end)) => name.len() >= begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end),
    }
}
