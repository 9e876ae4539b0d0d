//! Why the history cannot be written or read.

use std::path::PathBuf;

/// Why the history cannot be written or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
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

impl HistoryError {
    /// A word or two to follow "history".
    pub const fn word(&self) -> &'static str {
        match self {
            HistoryError::Locked => "locked",
            HistoryError::Full => "disk full",
            HistoryError::ReadOnly => "not writable",
            HistoryError::Damaged => "damaged",
            HistoryError::Newer { .. } => "too new",
            HistoryError::Missing(_) => "missing",
            HistoryError::Off => "off",
            HistoryError::Other(_) => "fails",
        }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            HistoryError::Locked => "close the program that has it open; what is pending is written afterwards",
            HistoryError::Full => "free some disk space, or lower `max_mib` in [history]",
            HistoryError::ReadOnly | HistoryError::Other(_) => {
                "check the file and its directory, or choose another `path` in [history]"
            }
            HistoryError::Damaged => "the next `fleetwatch` or `fleetwatch watch` sets it aside and starts a new one",
            HistoryError::Newer { .. } => "run the newer fleetwatch, or choose another `path` in [history]",
            HistoryError::Off => "set `enabled = true` in [history]",
            HistoryError::Missing(_) => "it is created when `fleetwatch` or `fleetwatch watch` runs",
        }
    }
}

impl From<std::io::Error> for HistoryError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            // What was refused by this program says why.
            _ if error.get_ref().is_some() => HistoryError::Other(error.to_string()),
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => HistoryError::Full,
            std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => HistoryError::ReadOnly,
            _ => HistoryError::Other(error.to_string()),
        }
    }
}
