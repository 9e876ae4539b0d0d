//! What the files of this directory are: groups of actions, each with why one of them would do nothing, and what it does.

use crate::fleet::View;
use crate::ui::{Action, Request, Ui};

/// Some actions that belong together.
pub(super) struct Group {
    pub actions: &'static [Action],
    /// Why one of them would do nothing now; `None` where it does something.
    pub why_not: fn(&Ui, Action, &View<'_>) -> Option<String>,
    /// Does what one of them says.
    pub obey: fn(&mut Ui, Action, &View<'_>) -> Vec<Request>,
}

/// For actions that can always be done.
pub(super) fn never(_: &Ui, _: Action, _: &View<'_>) -> Option<String> {
    None
}

/// What is said where an action is for one terminal, and the cursor is on none.
pub(super) const NOTHING_SELECTED: &str = "no terminal is selected";
