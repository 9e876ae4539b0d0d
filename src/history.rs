//! The history: what happened to every terminal and what was done to it, kept across crashes and restarts (SPEC §10).
//!
//! One SQLite file for all processes of fleetwatch on a machine. [`History`] takes records and never waits: a thread of
//! its own writes them in batches. [`Reader`] answers the command line and the drill-down from a connection of its own.
//! [`Intents`] keeps what is to be sent until it is. A full disk, a locked, unwritable or damaged file shows in
//! [`HistoryHealth`] and nowhere else; watching goes on.

mod batch;
mod drafts;
mod encoding;
mod filter;
mod following;
mod handle;
mod identity;
mod intents;
mod kills;
mod open;
mod questions;
mod reader;
mod recall;
mod record;
mod retention;
mod schema;
mod standing;
mod store;
mod stored;
mod submissions;
mod timeline;
mod trouble;
mod writer;

use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

pub use drafts::{Draft, Drafts};
pub use filter::RecordFilter;
pub use handle::{History, Ticket};
pub use identity::{Owner, same_terminal, stored_server};
pub use intents::{Decided, Intent, IntentId, IntentNews, IntentState, Intents, NewEvent, Queued, Stopped};
pub use kills::Kills;
pub use questions::{Answer, HistoryAnswer, HistoryQuestion, QuestionKind, Questions, StoredScreen};
pub use reader::{Line, Reader, StoredTerminal};
pub use recall::Recall;
pub use record::{Kind, NamedEvent, OperatorAction, PublicState, Record, Sent, TaskRecord, TransitionRecord, What};
pub use schema::VERSION;
pub use standing::{Need, STANDING_LASTS, ServerSummary};
pub use stored::{Body, FollowUpRecord, RecordId, ScreenId, Stored, StoredInput, StoredTransition, Submission};
pub use timeline::{Holder, Point, TimelineSpan, timeline, totals, turns};
pub use trouble::{HistoryHealth, Trouble, WriterState};

use crate::time::{Clock, Span, Timestamp};

/// The file's name in the state directory.
const FILE_NAME: &str = "history.db";

/// What of the history the user can choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether a history is kept at all.
    pub enabled: bool,
    /// How old records may become.
    pub keep: Span,
    /// Bytes that the file may use.
    pub max_bytes: u64,
    /// The file; `None` is the one in the user's state directory.
    pub path: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { enabled: true, keep: Span::from_secs(30 * 24 * 3600), max_bytes: 256 << 20, path: None }
    }
}

impl Settings {
    /// Where the file is: as configured, else in `XDG_STATE_HOME`, else in the platform's directory for state or data.
    /// `None` when the user has no home.
    pub fn location(&self) -> Option<PathBuf> {
        self.path.clone().or_else(|| Some(state_directory()?.join(FILE_NAME)))
    }

    fn limits(&self) -> retention::RetentionLimits {
        retention::RetentionLimits { keep: self.keep, max_bytes: self.max_bytes }
    }
}

/// Where fleetwatch keeps what it has to remember: in `XDG_STATE_HOME`, else in the platform's directory for state or
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

/// Where the locks are by which all processes of a user take turns at a terminal.
pub fn lock_directory() -> Option<PathBuf> {
    Some(state_directory()?.join("turns"))
}

/// What time it is, for the whole process: it never runs backwards, whatever happens to the clock on the wall.
pub fn now() -> Timestamp {
    static CLOCK: LazyLock<(Instant, Mutex<Clock>)> =
        LazyLock::new(|| (Instant::now(), Mutex::new(Clock::new(wall_clock()))));
    let (began, clock) = &*CLOCK;
    let mut clock = clock.lock().unwrap_or_else(PoisonError::into_inner);
    let elapsed = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    clock.at(wall_clock(), Span::from_millis(elapsed))
}

fn wall_clock() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests;
