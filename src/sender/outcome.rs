//! What became of something that was sent.

use std::fmt;

use crate::tmux::{Error, Obstacle, UnfitText};

/// What became of something that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendOutcome {
    /// The terminal reacted to it.
    Accepted,
    /// It was seen that it was not taken, though something of it may have gone in.
    NotTaken { why: String },
    /// It may have been taken: what became of it could not be seen in time.
    Unverified { why: String },
    /// Nothing was sent.
    Refused(Refusal),
}

impl SendOutcome {
    /// The public name of the outcome: `accepted`, `not_taken`, `unverified` or `refused`.
    pub const fn word(&self) -> &'static str {
        match self {
            SendOutcome::Accepted => "accepted",
            SendOutcome::NotTaken { .. } => "not_taken",
            SendOutcome::Unverified { .. } => "unverified",
            SendOutcome::Refused(_) => "refused",
        }
    }

    /// Why it was not accepted.
    pub fn detail(&self) -> Option<String> {
        match self {
            SendOutcome::Accepted => None,
            SendOutcome::NotTaken { why } | SendOutcome::Unverified { why } => Some(why.clone()),
            SendOutcome::Refused(refusal) => Some(refusal.to_string()),
        }
    }
}

impl SendOutcome {
    /// What is told with the word: why it was not accepted, or what an agent takes the text as that it accepted.
    pub fn told(&self, taken: Option<&str>) -> Option<String> {
        match self {
            SendOutcome::Accepted => taken.map(|taken| format!("taken {taken}")),
            _ => self.detail(),
        }
    }
}

impl fmt::Display for SendOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SendOutcome::Accepted => f.write_str("accepted"),
            SendOutcome::NotTaken { why } => write!(f, "not taken: {why}"),
            SendOutcome::Unverified { why } => write!(f, "unverified: {why}"),
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
    #[error("{tool} does not run there; {command} does")]
    AgentGone { tool: String, command: String },
    #[error("no known agent runs there; {command} does")]
    NoAgent { command: String },
    #[error("a dialog is open")]
    Dialog,
    #[error("a menu is open")]
    Menu,
    #[error("it is working")]
    Working,
    #[error("the prompt contains a draft")]
    Draft,
    #[error("it is not certain to be ready")]
    NotReady,
    #[error("the dialog is gone; nothing was sent")]
    NoDialog,
    #[error("the dialog changed; nothing was sent")]
    AnotherDialog,
    #[error("somebody has started to answer the dialog")]
    Begun,
    #[error("the dialog has no such option")]
    NoSuchOption,
    #[error("it was withdrawn before it was sent")]
    Withdrawn,
    #[error("another fleetwatch process has been sending there for {0} s")]
    Occupied(u64),
    /// The terminal could not be looked at.
    #[error("{0}")]
    Unknown(String),
}

impl Refusal {
    /// Whether the same could be accepted later, so that it may be queued until the terminal is ready.
    pub fn may_pass(&self) -> bool {
        matches!(self, Refusal::Dialog | Refusal::Menu | Refusal::Working | Refusal::Draft | Refusal::NotReady)
            || matches!(self, Refusal::Occupied(_) | Refusal::Obstacle(Obstacle::InMode | Obstacle::Changed))
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
            Refusal::Menu => "leave the menu first, mostly with Escape (`fleetwatch keys NAME Escape`)".to_owned(),
            Refusal::Obstacle(Obstacle::InMode) => "leave the mode first (`q` in copy mode)".to_owned(),
            Refusal::Obstacle(Obstacle::Synchronized) => "switch off `synchronize-panes` there first".to_owned(),
            Refusal::Tmux(error) => error.hint(),
            _ => return None,
        })
    }
}
