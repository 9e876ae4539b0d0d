//! What a dialog's box knows.

use std::sync::Arc;

use crate::dialog;
use crate::fleet::TerminalKey;
use crate::screen::Screen;
use crate::status::Status;
use crate::time::Timestamp;
use crate::ui::question::{Hold, Question};
use crate::ui::{Action, LineInput};

/// The dialog of one terminal. It closes when the terminal no longer waits.
#[derive(Debug)]
pub struct DialogBox {
    pub(super) key: TerminalKey,
    /// What the terminal is called.
    pub(super) name: String,
    pub(super) shown: Option<Shown>,
    /// The option that would be sent, and what was read.
    pub(super) question: Question,
    /// The options that would be handed in, where several can be ticked.
    pub(super) ticks: Vec<usize>,
    pub(super) typing: Option<Typing>,
    /// What is the next prompt once the answer was taken.
    pub(super) reason: Option<String>,
    /// What the box was opened to answer.
    pub(super) meant: Option<Action>,
    pub(super) stage: Stage,
    /// Whether keys have gone to the dialog that is shown, whatever became of them.
    pub(super) has_sent: bool,
    /// The message below the options, and whether the last frame had a line for it.
    pub(super) message: Option<(Status, String)>,
    pub(super) has_line: bool,
    /// When the row came under the cursor by itself.
    pub(super) slipped: Option<Timestamp>,
    /// Since when the terminal had waited for an answer that it took.
    pub(super) answered: Option<Timestamp>,
}

/// What is shown.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    pub(super) dialog: Arc<dialog::Dialog>,
    pub(super) screen: Arc<Screen>,
    /// The dialog's text, for the history.
    pub(super) excerpt: String,
    /// What it says, and what the one said that it took the place of, in lines.
    pub(super) now: Vec<String>,
    pub(super) before: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stage {
    Choosing,
    Sending,
    /// It was answered; this one is over.
    Answered,
    /// It closed by itself.
    Closed,
}

/// Why the key that answers does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// There is nothing to choose here.
    ChoiceError,
    Not(Hold),
    NothingChosen,
    NothingTicked,
    NothingTyped,
    /// Nothing takes the text that is typed.
    Lost,
    /// The agent itself does not show all of it: plain Enter is not enough.
    NotWhole,
}

/// An answer in the operator's own words.
#[derive(Clone, Debug)]
pub(super) struct Typing {
    pub(super) line: LineInput,
    /// The option that takes the text; `None` if it has gone. Typed text must not become keys of the dashboard, nor be lost, so
    /// it is kept as a draft then.
    pub(super) option: Option<usize>,
}
