//! What one look at the task windows of a server showed.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ids::{SessionId, TerminalKey, WindowId};
use crate::screen::{Cursor, Screen, harmless};
use crate::state::TaskStatus;
use crate::status::Status;
use crate::time::Timestamp;

/// Lines of output that a preview holds (SPEC §9).
const PREVIEW_LINES: usize = 20;

/// One look at the task windows of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TaskPoll {
    /// The declared task sessions that exist, and sessions with single task windows.
    pub sessions: Vec<SessionSnapshot>,
    /// Windows of the server that are there and are no tasks: a task that is among them was moved, or has become an
    /// agent.
    pub elsewhere: BTreeSet<WindowId>,
}

/// A session with its task windows.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SessionSnapshot {
    pub id: SessionId,
    pub name: String,
    pub windows: Vec<TaskSnapshot>,
}

/// One task window (SPEC §9).
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TaskSnapshot {
    pub window: WindowId,
    pub name: String,
    /// The window's place in its session.
    pub index: u32,
    /// The pane that stands for the window: its first.
    pub key: TerminalKey,
    /// `None` when the pane is there but its state could not be had.
    pub pane: Option<PaneState>,
    /// Whether a bell rang since the window was last looked at in tmux.
    pub bell: bool,
    /// What the bell counter says; `None` where none is installed.
    pub bells: Option<u64>,
    pub registration: Registration,
    pub shown: TaskDisplay,
}

/// How the configuration wants a task to be shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TaskDisplay {
    /// What it is grouped by in the dashboard.
    pub label: Option<String>,
    /// Whether it stands at the top of the dashboard, and whether it never counts as needing the operator.
    pub pinned: bool,
    pub muted: bool,
}

/// Whether a window was started by `fleetwatch run`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Registration {
    #[default]
    None,
    /// At this time; that its program ended has not been told by this kind of watcher.
    Started(Timestamp),
    /// At this time; its end has been told already.
    Told(Timestamp),
}

impl Registration {
    /// When `fleetwatch run` started the program.
    pub const fn at(self) -> Option<Timestamp> {
        match self {
            Registration::None => None,
            Registration::Started(at) | Registration::Told(at) => Some(at),
        }
    }
}

/// What the pane of a task is doing.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PaneState {
    /// `pane_current_command`.
    pub command: String,
    /// What the pane was started with, or its beginning; `None` when it is a shell for people.
    pub start_command: Option<String>,
    pub cwd: Option<String>,
    pub dead: bool,
    /// The exit code of a dead pane, when tmux tells it.
    pub exit_code: Option<i32>,
    /// Whether a full-screen program shows its own screen.
    pub alternate: bool,
    pub preview: Preview,
}

/// The last lines of a task's output, and where its cursor is among them. Two of them are equal when nothing was
/// printed in between.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Preview {
    lines: Arc<[String]>,
    cursor: Option<Caret>,
}

/// Where the cursor is in a preview.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Caret {
    /// The line; past the last when the cursor stands below all of them.
    pub line: usize,
    /// Cells from the line's beginning.
    pub column: usize,
    /// Cells that the line's text takes, without the blanks at its end.
    pub width: usize,
    pub visible: bool,
}

impl Preview {
    /// The last lines of a screen down to its last row that is not blank. A pane that is dead has no cursor.
    pub fn of(screen: &Screen, cursor: Cursor, dead: bool) -> Self {
        let rows = screen.rows();
        let end = screen.last_row().map_or(0, |index| index + 1);
        let start = end.saturating_sub(PREVIEW_LINES);
        let lines = rows[start..end].iter().map(|row| row.text().to_owned()).collect();
        let row = usize::from(cursor.row);
        let caret = (!dead && row >= start && row < rows.len()).then(|| Caret {
            line: row - start,
            column: usize::from(cursor.column),
            width: rows[row].width(),
            visible: cursor.visible,
        });
        Self { lines, cursor: caret }
    }

    /// A preview of plain lines with the cursor in none of them, as tests and tools write it.
    pub fn of_lines(lines: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        Self { lines: lines.into_iter().map(|line| harmless(line.as_ref())).collect(), cursor: None }
    }

    /// The lines, oldest first; never with control characters.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// The last `count` lines that say something, oldest first.
    pub fn useful(&self, count: usize) -> Vec<&str> {
        let says = |line: &&str| line.chars().any(char::is_alphanumeric);
        let mut last: Vec<&str> = self.lines.iter().rev().map(|line| line.trim()).filter(says).take(count).collect();
        last.reverse();
        last
    }

    pub(super) fn caret(&self) -> Option<Caret> {
        self.cursor
    }
}

/// What [`TaskFields::kind`] says.
const fn task() -> &'static str {
    "task"
}

/// The public fields of a task, as `list --json` and `watch --json` show them. Fields may be added, never renamed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskFields {
    /// What it is; agent terminals have no such field.
    #[serde(skip_deserializing, default = "task")]
    pub kind: &'static str,
    pub id: String,
    pub host: Option<String>,
    pub socket: String,
    pub session: String,
    pub window_id: String,
    pub window: String,
    pub pane: String,
    pub pid: u32,
    /// Whether the state of the pane is known.
    pub known: bool,
    pub status: TaskStatus,
    pub since: Timestamp,
    /// When the program began to run, or was first seen.
    pub started_at: Timestamp,
    pub command: Option<String>,
    pub start_command: Option<String>,
    pub cwd: Option<String>,
    pub dead: bool,
    pub exit_code: Option<i32>,
    pub bell: bool,
    pub bells: u64,
    pub prompt: Option<String>,
    pub preview: Vec<String>,
}

impl TaskFields {
    /// What the task is to a person.
    pub fn as_status(&self) -> Status {
        Status::of_task(self.status, self.exit_code)
    }

    /// The window's id and its place and name, as far as they can be read.
    pub(super) fn window(&self) -> Option<(WindowId, u32, &str)> {
        let (index, name) = self.window.split_once(':')?;
        Some((WindowId(self.window_id.strip_prefix('@')?.parse().ok()?), index.parse().ok()?, name))
    }
}

/// What the history says of a task.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct TaskHistory {
    pub key: TerminalKey,
    /// Its public fields after what was written last of it.
    pub fields: TaskFields,
    /// Why the operator has killed it since, if that is so.
    pub killed: Option<String>,
}
