//! What one poll of the task windows of a server showed.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ids::{SessionId, TerminalKey, WindowId};
use crate::profile::SHELLS;
use crate::screen::{Cursor, Screen, harmless};
use crate::state::{Problem, TaskStatus};
use crate::status::Status;
use crate::time::Timestamp;

/// Lines of output that a preview holds (SPEC §9).
const PREVIEW_LINES: usize = 20;

/// The kind of problem of a task whose server ended.
pub(super) const GONE: &str = "no_server";

/// One poll of the task windows of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskPoll {
    /// The declared task sessions that exist, and sessions with single task windows.
    pub sessions: Vec<SessionSnapshot>,
    /// Other windows of the server: a task that is among them was moved, or has become an agent.
    pub elsewhere: BTreeSet<WindowId>,
    /// Task windows whose programs have just ended, and how is not known yet: what is known of them stays.
    pub awaited: BTreeSet<WindowId>,
}

/// A session with its task windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSnapshot {
    pub id: SessionId,
    pub name: String,
    pub windows: Vec<TaskSnapshot>,
}

/// One task window (SPEC §9).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskSnapshot {
    pub window: WindowId,
    pub name: String,
    /// The window's place in its session.
    pub index: u32,
    /// The pane that represents the window: its first.
    pub key: TerminalKey,
    /// `None` if the pane exists but its state could not be read.
    pub pane: Option<PaneState>,
    /// When the program of a dead pane ended, to the second, if tmux reports it.
    pub ended_at: Option<Timestamp>,
    /// Whether a bell rang since somebody last looked at the window in tmux.
    pub bell: bool,
    /// The bell counter; `None` if none is installed.
    pub bells: Option<u64>,
    pub registration: Registration,
    pub shown: TaskDisplay,
}

/// How the configuration has a task shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TaskDisplay {
    /// What it is grouped by in the dashboard.
    pub label: Option<String>,
    /// Whether it is pinned to the top of the dashboard, and whether it never counts as needing the operator.
    pub pinned: bool,
    pub muted: bool,
}

/// Whether a window was started by `fleetwatch run`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Registration {
    #[default]
    None,
    /// At this time; this kind of watcher has not reported the program's end yet.
    Started(Timestamp),
    /// At this time; its end has been reported already.
    Reported(Timestamp),
}

impl Registration {
    /// When `fleetwatch run` started the program.
    pub const fn at(self) -> Option<Timestamp> {
        match self {
            Registration::None => None,
            Registration::Started(at) | Registration::Reported(at) => Some(at),
        }
    }
}

/// What the pane of a task is doing.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PaneState {
    /// `pane_current_command`.
    pub command: String,
    /// The beginning of what the pane was started with; `None` for a shell that people type in.
    pub start_command: Option<String>,
    pub cwd: Option<String>,
    pub dead: bool,
    /// The exit code of a dead pane, if tmux reports it.
    pub exit_code: Option<i32>,
    /// Whether a full-screen program shows its own screen.
    pub alternate: bool,
    pub preview: Preview,
}

/// The last lines of a task's output, and where the cursor is among them. Two previews are equal if nothing was printed
/// in between.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Preview {
    lines: Arc<[String]>,
    cursor: Option<Caret>,
}

/// Where the cursor is in a preview.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Caret {
    /// The line; past the last one if the cursor is below all of them.
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

    /// A preview of plain lines without a cursor, for tests and tools.
    pub fn of_lines(lines: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        Self { lines: lines.into_iter().map(|line| harmless(line.as_ref())).collect(), cursor: None }
    }

    /// The lines, oldest first; never with control characters.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// The last `count` lines with words, oldest first.
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// Whether that is exact; if not, the status has lasted at least since then (SPEC §10).
    #[serde(default)]
    pub since_exact: bool,
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
    /// Why it cannot be polled now, which makes its status unknown.
    #[serde(default)]
    pub probe_error: Option<Problem>,
}

impl TaskFields {
    /// What the task is to a person.
    pub fn as_status(&self) -> Status {
        match &self.probe_error {
            Some(problem) if problem.kind == GONE => Status::Gone,
            Some(_) => Status::Error,
            None => Status::of_task(self.status, self.exit_code),
        }
    }

    /// The window's id, index and name, if they can be read.
    pub(super) fn window(&self) -> Option<(WindowId, u32, &str)> {
        let (index, name) = self.window.split_once(':')?;
        Some((WindowId(self.window_id.strip_prefix('@')?.parse().ok()?), index.parse().ok()?, name))
    }
}

/// What the history knows of a task.
#[derive(Clone, Debug)]
pub struct TaskHistory {
    pub key: TerminalKey,
    /// Its public fields after its last record.
    pub fields: TaskFields,
    /// When that record was made.
    pub at: Timestamp,
    /// Why it is gone, if the operator has killed it since.
    pub killed: Option<String>,
}

// Interactive programs: shells, and programs that fill the screen.

/// Programs that mostly run a shell of another machine or user.
const AROUND_SHELLS: &[&str] = &["ssh", "mosh-client", "su", "sudo", "docker", "podman", "kubectl"];

/// Shells whose prompts end in `>`.
const ANGLE_SHELLS: &[&str] = &["fish", "nu", "pwsh", "elvish"];

/// Programs that wait for keys whenever they fill the screen.
const INTERACTIVE: &[&str] = &[
    "less",
    "more",
    "most",
    "man",
    "pager",
    "delta",
    "vi",
    "vim",
    "nvim",
    "view",
    "vimdiff",
    "nano",
    "pico",
    "emacs",
    "emacsclient",
    "micro",
    "hx",
    "helix",
    "kak",
    "ed",
    "tig",
    "lazygit",
    "fzf",
    "sk",
    "dialog",
    "whiptail",
    "mc",
    "ranger",
    "nnn",
    "lf",
    "yazi",
    "ncdu",
    "mutt",
    "neomutt",
];

/// Whether a program that fills the screen waits for keys.
pub(super) fn is_interactive(command: &str) -> bool {
    INTERACTIVE.contains(&command)
}

/// Whether a row is the prompt of the running shell, with or without something typed after it.
pub(super) fn is_prompt(row: &str, command: &str) -> bool {
    // A login shell is `-bash`.
    let command = command.strip_prefix('-').unwrap_or(command);
    if !SHELLS.contains(&command) && !AROUND_SHELLS.contains(&command) {
        return false;
    }
    let row = row.trim_start();
    if row.starts_with(['❯', '➜', 'λ', '»']) {
        return true;
    }
    let angle = ANGLE_SHELLS.contains(&command);
    let is_sigil = |c: char| matches!(c, '$' | '#' | '%' | '❯') || (angle && c == '>');
    let mut rest = row;
    let mut before = 0;
    while let Some(at) = rest.find(is_sigil) {
        let sigil = rest[at..].chars().next().map_or(1, char::len_utf8);
        if rest[at + sigil..].is_empty() || rest[at + sigil..].starts_with(' ') {
            return is_place(&row[..before + at]);
        }
        before += at + sigil;
        rest = &rest[at + sigil..];
    }
    false
}

/// Whether a text may precede a shell's sigil: nothing, `ada@box:~/src`, `[ada@box src]`, `(venv) ada@box:~`, `box src`.
fn is_place(before: &str) -> bool {
    let mut before = before.trim_end();
    while let Some(rest) = before.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        before = rest.1.trim_start();
    }
    if before.starts_with('[') && before.ends_with(']') {
        return true;
    }
    let words = before.split_whitespace().count();
    words <= 1 || (words == 2 && before.contains('@')) || before.starts_with("bash-")
}
