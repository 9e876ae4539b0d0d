//! What became of an operation.

use std::fmt;

use crate::tmux::{Error, Obstacle, UnfitText};

/// What became of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The terminal reacted to it. What the agent took the text as, if not as a prompt, or what the terminal shows since.
    Accepted(Option<String>),
    /// It was seen that it was not taken, though something of it may have gone in.
    NotTaken { why: String },
    /// It may have been taken: what became of it could not be seen in time.
    Unverified { why: String },
    /// Nothing was sent.
    Refused(Refusal),
}

impl Outcome {
    /// The public name: `accepted`, `not_taken`, `unverified` or `refused`.
    pub const fn word(&self) -> &'static str {
        match self {
            Outcome::Accepted(_) => "accepted",
            Outcome::NotTaken { .. } => "not_taken",
            Outcome::Unverified { .. } => "unverified",
            Outcome::Refused(_) => "refused",
        }
    }

    /// What there is to say beside the word: why it was not accepted, or how it was.
    pub fn detail(&self) -> Option<String> {
        match self {
            Outcome::Accepted(how) => how.clone(),
            Outcome::NotTaken { why } | Outcome::Unverified { why } => Some(why.clone()),
            Outcome::Refused(refusal) => Some(refusal.to_string()),
        }
    }

    /// Whether the terminal reacted to it.
    pub const fn is_accepted(&self) -> bool {
        matches!(self, Outcome::Accepted(_))
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Accepted(None) => f.write_str("accepted"),
            Outcome::Accepted(Some(how)) => write!(f, "accepted, {how}"),
            Outcome::NotTaken { why } => write!(f, "not taken: {why}"),
            Outcome::Unverified { why } => write!(f, "unverified: {why}"),
            Outcome::Refused(refusal) => write!(f, "refused: {refusal}"),
        }
    }
}

impl From<Refusal> for Outcome {
    fn from(refusal: Refusal) -> Self {
        Outcome::Refused(refusal)
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
    /// Anything else, such as a terminal that cannot be looked at.
    #[error("{0}")]
    Other(String),
}

impl Refusal {
    /// Whether the same could be accepted later, so that it may be queued until the terminal is ready.
    pub fn may_pass(&self) -> bool {
        matches!(self, Refusal::Dialog | Refusal::Menu | Refusal::Working | Refusal::Draft | Refusal::NotReady)
            || matches!(self, Refusal::Occupied(_) | Refusal::Obstacle(Obstacle::InMode | Obstacle::Changed))
    }

    /// Whether it would be sent all the same if the operator insisted.
    pub const fn may_insist(&self) -> bool {
        matches!(self, Refusal::Working | Refusal::Draft | Refusal::NotReady)
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
