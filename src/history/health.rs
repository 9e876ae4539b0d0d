//! Why a history cannot be written or read, and how its writing goes.

use std::path::PathBuf;

use rusqlite::ErrorCode;

use crate::record::HistoryError;

impl From<rusqlite::Error> for HistoryError {
    fn from(error: rusqlite::Error) -> Self {
        let rusqlite::Error::SqliteFailure(failure, _) = &error else { return HistoryError::Other(error.to_string()) };
        match failure.code {
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed => {
                HistoryError::Locked
            }
            ErrorCode::DiskFull => HistoryError::Full,
            ErrorCode::ReadOnly | ErrorCode::PermissionDenied => HistoryError::ReadOnly,
            ErrorCode::CannotOpen => HistoryError::Other("it cannot be opened".to_owned()),
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => HistoryError::Damaged,
            _ => HistoryError::Other(error.to_string()),
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
    Degraded(HistoryError),
}

impl HistoryHealth {
    pub(super) const fn new(condition: WriterState) -> Self {
        Self { condition, lost: 0, set_aside: None, reported: None }
    }

    /// The present trouble in a word or two; `None` while all is well.
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
