//! What became of something that was sent.

use std::fmt;

use crate::tmux::{Error, Obstacle, UnfitText};

/// What became of something that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendOutcome {
    /// The terminal reacted to it.
    Accepted,
    /// It went in, but nothing shows that it was taken.
    NotTaken { why: String },
    /// Nothing was sent.
    Refused(Refusal),
}

impl SendOutcome {
    /// The public name of the outcome: `accepted`, `not_taken` or `refused`.
    pub const fn word(&self) -> &'static str {
        match self {
            SendOutcome::Accepted => "accepted",
            SendOutcome::NotTaken { .. } => "not_taken",
            SendOutcome::Refused(_) => "refused",
        }
    }

    /// Why it was not accepted.
    pub fn detail(&self) -> Option<String> {
        match self {
            SendOutcome::Accepted => None,
            SendOutcome::NotTaken { why } => Some(why.clone()),
            SendOutcome::Refused(refusal) => Some(refusal.to_string()),
        }
    }
}

impl fmt::Display for SendOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SendOutcome::Accepted => f.write_str("accepted"),
            SendOutcome::NotTaken { why } => write!(f, "not taken: {why}"),
            SendOutcome::Refused(refusal) => write!(f, "refused: {refusal}"),
        }
    }
}

impl From<Refusal> for SendOutcome {
    fn from(refusal: Refusal) -> Self {
        SendOutcome::Refused(refusal)
    }
}

/// Why nothing was sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error(transparent)]
    Text(UnfitText),
    #[error(transparent)]
    Obstacle(Obstacle),
    #[error(transparent)]
    Tmux(Error),
    #[error("{tool} does not run there, but {command}")]
    AgentGone { tool: String, command: String },
    #[error("no known agent runs there, but {command}")]
    NoAgent { command: String },
    #[error("a dialog is open")]
    Dialog,
    #[error("a menu takes the keys")]
    Menu,
    #[error("it is working")]
    Working,
    #[error("the prompt holds a draft")]
    Draft,
    #[error("it is not known to be ready")]
    NotReady,
    #[error("there is no dialog any more, and nothing was sent")]
    NoDialog,
    #[error("the dialog changed, and nothing was sent")]
    AnotherDialog,
    #[error("somebody has begun to answer the dialog")]
    Begun,
    #[error("the dialog has no such option")]
    NoSuchOption,
    #[error("it was taken back before it was sent")]
    Withdrawn,
    /// The terminal could not be looked at.
    #[error("{0}")]
    Unknown(String),
}

impl Refusal {
    /// Whether the same could be accepted later, so that it may be queued until the terminal is ready.
    pub fn may_pass(&self) -> bool {
        matches!(self, Refusal::Dialog | Refusal::Menu | Refusal::Working | Refusal::Draft | Refusal::NotReady)
            || matches!(self, Refusal::Obstacle(Obstacle::InMode))
    }

    /// What the operator can do about it, where that is plain.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Refusal::Working => "wait until it is ready (`--when-ready`), or send anyway (`--force`)".to_owned(),
            Refusal::Draft => "send or erase the draft first, or send behind it (`--force`)".to_owned(),
            Refusal::NotReady => "look at the terminal first; `--force` sends anyway".to_owned(),
            // Insisting does not help: another program would take the text for something else, and a shell runs it.
            Refusal::AgentGone { .. } | Refusal::NoAgent { .. } => {
                "start the agent there first; other programs take only keys".to_owned()
            }
            Refusal::Dialog => "answer the dialog first".to_owned(),
            Refusal::Menu => "leave the menu first".to_owned(),
            Refusal::Obstacle(Obstacle::InMode) => "leave the mode first (`q` in copy mode)".to_owned(),
            Refusal::Obstacle(Obstacle::Synchronized) => "switch off `synchronize-panes` there first".to_owned(),
            Refusal::Tmux(error) => error.hint(),
            _ => return None,
        })
    }
}
