//! What the dashboard asks of the history, and what it answers.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::timeline::TimelineData;
use super::totals::{DayTotals, TotalsOf};
use super::{HistoryError, RecordId, ScreenId, Stored};
use crate::agent_record::Said;
use crate::ids::{ServerId, TerminalKey};
use crate::screen::{PaneFacts, Screen};
use crate::time::Timestamp;

/// A question about the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HistoryQuestion {
    /// About one terminal.
    Terminal { key: TerminalKey, ask: Box<QuestionKind> },
    /// About a day of all of them.
    Day(DayQuestion),
}

/// What was done on a day, up to now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayQuestion {
    pub date: Date,
    pub zone: TimeZone,
    pub now: Timestamp,
    pub by: TotalsOf,
    /// Only terminals of these servers count.
    pub servers: Vec<ServerId>,
}

/// A kind of question about one terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuestionKind {
    /// What happened: the newest records, or those before one.
    Page { before: Option<RecordId> },
    /// The newest records once more, none if nothing was written since that was asked last. It costs next to nothing.
    Again,
    /// A screen as it was.
    Screen(ScreenId),
    /// Who had the turn since a time, or since the beginning.
    Line { since: Option<Timestamp>, until: Timestamp },
    /// What was said up to a time: by the agent's own record where there is one, else by the screens, the one of that time
    /// last.
    Transcript { until: Timestamp, record: Option<SessionFile>, last: Option<StoredScreen> },
}

/// The file with an agent's transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionFile {
    pub path: PathBuf,
    pub tool: String,
}

/// A screen and its agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredScreen {
    pub screen: Arc<Screen>,
    pub facts: PaneFacts,
    pub tool: String,
    pub version: Option<String>,
}

/// The answer to a question.
#[derive(Clone, Debug)]
pub enum Answer {
    Terminal { key: TerminalKey, answer: Box<HistoryAnswer> },
    Day { question: DayQuestion, answer: Result<Vec<DayTotals>, HistoryError> },
}

/// An answer about one terminal, in the order of [`QuestionKind`].
#[derive(Clone, Debug)]
pub enum HistoryAnswer {
    /// Records before one or the newest, oldest first; `earlier` says that there are more before them.
    Page { before: Option<RecordId>, records: Vec<Stored>, earlier: bool },
    /// `None` if the screen is no longer kept.
    Screen(ScreenId, Option<Arc<Screen>>),
    /// Who had the turn, from when to when.
    Line(TimelineData),
    /// The lines, oldest first, and whether they are the record's. Without both a record and a history they are those of
    /// the last screen.
    Transcript { lines: Arc<[Said]>, is_recorded: bool },
    /// The history cannot be read now.
    Failed { ask: QuestionKind, trouble: HistoryError },
}
