//! Why something cannot be as it was asked for, and what to do about it.

use std::fmt::Display;
use std::ops::Range;

/// What is wrong, and how it is right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Objection {
    pub what: String,
    pub hint: Option<String>,
}

impl Objection {
    pub fn new(what: impl Display, hint: impl Display) -> Self {
        Self { what: what.to_string(), hint: Some(hint.to_string()) }
    }

    /// What is wrong with how it is right, in one text.
    pub fn in_full(&self) -> String {
        let hint = self.hint.as_ref().map(|hint| format!(" ({hint})"));
        format!("{}{}", self.what, hint.unwrap_or_default())
    }

    /// One about which nothing can be done.
    pub fn bare(what: impl Display) -> Self {
        Self { what: what.to_string(), hint: None }
    }
}

/// A fault of a text that the operator wrote, such as a keymap or a theme.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct TextFault {
    pub what: String,
    /// The bytes of the text that it is about.
    pub at: Range<usize>,
    /// What to write instead.
    pub hint: String,
}
