//! Why a history cannot be written or read, and how its writing goes.

use std::path::PathBuf;

use rusqlite::ErrorCode;

/// Why the history cannot be written or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    #[error("another process has locked it")]
    Locked,
    #[error("the disk is full")]
    Full,
    #[error("it is not writable")]
    ReadOnly,
    #[error("it is damaged")]
    Damaged,
    #[error("it was written by a newer fleetwatch (layout {found}; this one knows {known})")]
    Newer { found: i64, known: u32 },
    #[error("there is none at {}", .0.display())]
    Missing(PathBuf),
    #[error("none is kept")]
    Off,
    #[error("{0}")]
    Other(String),
}

impl Trouble {
    /// A word or two to follow "history".
    pub const fn word(&self) -> &'static str {
        match self {
            Trouble::Locked => "locked",
            Trouble::Full => "disk full",
            Trouble::ReadOnly => "not writable",
            Trouble::Damaged => "damaged",
            Trouble::Newer { .. } => "too new",
            Trouble::Missing(_) => "missing",
            Trouble::Off => "off",
            Trouble::Other(_) => "fails",
        }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Trouble::Locked => "close the program that has it open; what is pending is written afterwards",
            Trouble::Full => "free some disk space, or lower `max_mib` in [history]",
            Trouble::ReadOnly | Trouble::Other(_) => {
                "check the file and its directory, or choose another `path` in [history]"
            }
            Trouble::Damaged => "the next `fleetwatch` or `fleetwatch watch` sets it aside and starts a new one",
            Trouble::Newer { .. } => "run the newer fleetwatch, or choose another `path` in [history]",
            Trouble::Off => "set `enabled = true` in [history]",
            Trouble::Missing(_) => "it is created when `fleetwatch` or `fleetwatch watch` runs",
        }
    }
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        let rusqlite::Error::SqliteFailure(failure, _) = &error else { return Trouble::Other(error.to_string()) };
        match failure.code {
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed => {
                Trouble::Locked
            }
            ErrorCode::DiskFull => Trouble::Full,
            ErrorCode::ReadOnly | ErrorCode::PermissionDenied => Trouble::ReadOnly,
            ErrorCode::CannotOpen => Trouble::Other("it cannot be opened".to_owned()),
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Trouble::Damaged,
            _ => Trouble::Other(error.to_string()),
        }
    }
}

impl From<std::io::Error> for Trouble {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            // What was refused by this program says why.
            _ if error.get_ref().is_some() => Trouble::Other(error.to_string()),
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => Trouble::Full,
            std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => Trouble::ReadOnly,
            _ => Trouble::Other(error.to_string()),
        }
    }
}

/// How the writing of the history goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryHealth {
    pub condition: WriterState,
    /// Records that could not be kept.
    pub lost: u64,
    /// Where a damaged file was moved to, when this process found one.
    pub set_aside: Option<PathBuf>,
    /// The last warning that was returned.
    pub(super) reported: Option<String>,
}

/// Whether the history is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriterState {
    /// The configuration switches it off.
    Off,
    /// The file is not open yet.
    Starting,
    Good,
    /// It is not written now; watching goes on, and writing is tried again.
    Degraded(Trouble),
}

impl HistoryHealth {
    pub(super) const fn new(condition: WriterState) -> Self {
        Self { condition, lost: 0, set_aside: None, reported: None }
    }

    /// What is wrong now, in a word or two that stand as long as it is; `None` while all is well.
    pub fn trouble(&self) -> Option<&'static str> {
        match &self.condition {
            WriterState::Degraded(trouble) => Some(trouble.word()),
            _ if self.lost > 0 => Some("has gaps"),
            _ => None,
        }
    }

    /// Why no prompt can wait in it, where none can.
    pub fn why_nothing_waits(&self) -> Option<&'static str> {
        match self.condition {
            WriterState::Off => Some("no prompt can wait without a history"),
            WriterState::Degraded(_) => Some("no prompt can wait while the history fails"),
            _ => None,
        }
    }

    /// One line that the operator should see; `None` while all is well.
    pub fn warning(&self) -> Option<String> {
        let lost = match self.lost {
            0 => String::new(),
            1 => " (1 record lost)".to_owned(),
            many => format!(" ({many} records lost)"),
        };
        match (&self.condition, &self.set_aside) {
            (WriterState::Degraded(trouble), _) => Some(format!("history is not written: {trouble}{lost}")),
            (_, Some(path)) => {
                Some(format!("history was damaged; it is kept as {}, and a new one was begun{lost}", path.display()))
            }
            _ if self.lost > 0 => Some(format!("history has gaps{lost}")),
            _ => None,
        }
    }
}
