//! Whom a prompt is for, and what stands in its way there.

use crate::fleet::{Terminal, TerminalKey, View};
use crate::status::Hindrance;
use crate::ui::find;

/// One terminal, or several that get the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recipients {
    One(TerminalKey),
    Several(Vec<TerminalKey>),
}

impl Recipients {
    /// The one terminal, if it is one.
    pub fn one(&self) -> Option<&TerminalKey> {
        match self {
            Recipients::One(key) => Some(key),
            Recipients::Several(_) => None,
        }
    }

    /// All of them, in the order in which they were named.
    pub fn keys(&self) -> &[TerminalKey] {
        match self {
            Recipients::One(key) => std::slice::from_ref(key),
            Recipients::Several(keys) => keys,
        }
    }
}

/// What keeps a prompt from a terminal now; `None` when it would be sent.
pub fn hindrance(view: &View<'_>, key: &TerminalKey) -> Option<Hindrance> {
    find(view, key).map_or(Some(Hindrance::Gone), Terminal::prompt_hindrance)
}
