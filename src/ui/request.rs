//! What the dashboard asks of the program around it.

use crate::fleet::{ServerId, TerminalKey, WindowId};
use crate::operation::Operation;
use crate::record::IntentId;
use crate::record::question::HistoryQuestion;
use crate::state::KeptNote;

/// What the operator wants done that the dashboard cannot do itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "few requests exist at a time, and most of them are operations")]
pub enum Request {
    /// Leave the dashboard.
    Quit,
    /// Stop the process as the shell's Ctrl-Z does.
    Suspend,
    /// Redraw every cell.
    Redraw,
    /// Read configuration, keymap and theme again.
    Reload,
    /// Show everything in a theme that is compiled in.
    Theme(&'static str),
    /// Show the terminal in tmux.
    Jump(TerminalKey),
    /// The operator has seen the terminal.
    Seen(TerminalKey),
    /// Tell why the terminal is said to be what it is, by [`Ui::explained`].
    Explain(TerminalKey),
    /// Perform an operation on a terminal; [`Ui::ended`] takes what came of it. A prompt for when its agent is ready
    /// waits in the outbox.
    Perform(Operation),
    /// Put a text of the terminal into the operator's clipboard.
    Copy { key: TerminalKey, what: Copied },
    /// Keep what the operator says of a terminal that is called `name` now.
    KeepNote { kept: KeptNote, name: String },
    /// Keep in the history that the operator did something that needs nobody else, to a terminal or to all.
    Note { key: Option<TerminalKey>, action: &'static str },
    /// Tell the view that is open why the terminal is said to be what it is, by [`OverlayEvent::Reasons`].
    Reasons(TerminalKey),
    /// Tell the view that is open how the files around the terminal's directory differ from the last commit, by [`OverlayEvent::Diff`].
    Diff { key: TerminalKey, directory: String },
    /// Tell the box that is open how its line can go on, by [`OverlayEvent::Offers`].
    Offers { line: String, near: Option<TerminalKey> },
    /// Start what a line orders, beside a row; [`OverlayEvent::Started`] says what came of it.
    Start { line: String, near: Option<TerminalKey> },
    /// Close an agent: ask it to end first, or close its pane at once.
    CloseAgent { key: TerminalKey, asks: bool },
    /// Remove a worktree, in which git ignores no more than this.
    RemoveWorktree { path: String, ignored: Vec<String> },
    /// End tasks with all that runs in their windows, and remove the windows.
    KillTasks(Vec<(TerminalKey, WindowId)>),
    /// Run a task that has ended again.
    RerunTask { key: TerminalKey, window: WindowId },
    /// Treat a session as tasks from now on, or no longer.
    AdoptSession { server: ServerId, session: String, adopt: bool },
    /// Send a message to an agent again, or leave it at what became of it.
    DecideFollowUp { id: IntentId, decision: Decision },
    /// Ask the history; the answer comes by [`OverlayEvent::Answered`].
    Ask(HistoryQuestion),
    /// Take back what waits for terminals, by [`Ui::taken_back`].
    Unqueue(Vec<TerminalKey>),
    /// Look up the prompts that were sent before, to a terminal and to any, by [`Ui::prompts`].
    Prompts(Option<TerminalKey>),
    /// Let the operator write a prompt in the editor of their own, by [`OverlayEvent::Edited`].
    OpenEditor(String),
}

impl Request {
    /// The tasks that it acts on.
    pub(super) fn tasks(&self) -> Vec<&TerminalKey> {
        match self {
            Self::KillTasks(tasks) => tasks.iter().map(|(key, _)| key).collect(),
            Self::RerunTask { key, .. } => vec![key],
            _ => Vec::new(),
        }
    }
}

/// What of a terminal is copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Copied {
    Name,
    /// The dialog that waits.
    Dialog,
    /// The dialog with the agent as far as its screen shows it (SPEC §6).
    Transcript,
    /// The last answer, as it was read.
    Answer(String),
}

/// What the operator decides of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Resend,
    Dismiss,
}
