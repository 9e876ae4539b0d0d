//! The row of one whose pane is gone: how long it stays, and how it goes on after a restart.

use super::Entry;
use crate::ids::TerminalKey;
use crate::state::TurnResult;
use crate::time::{Span, Timestamp};
use crate::tracker::{self, TerminalHistory};

/// How long one is shown after its pane is gone of which the operator may not know yet how its work ended.
pub(in crate::fleet) const KEEP_UNSEEN: Span = Span::from_secs(600);
/// How soon after a turn was stopped its agent ends because of that: whoever stopped it wants to see so.
const AFTER_STOP: Span = Span::from_secs(60);

impl Entry {
    /// One that is gone and was not seen since, whose row goes on from what the history knows.
    pub(in crate::fleet) fn gone(
        key: TerminalKey,
        settings: tracker::Settings,
        known: Box<TerminalHistory>,
        now: Timestamp,
    ) -> Self {
        let (was, since, screen) = (known.state.terminal.clone(), known.state.since, known.screen.clone());
        let mut entry = Self::new(key, settings, Some(known), false, now);
        (entry.is_unread, entry.gone_since, entry.left_unseen) = (false, Some(since), true);
        // Its place is not known any more, and its name is not to change.
        entry.terminal.declared.name = Some(was.id.clone());
        (entry.terminal.state.terminal, entry.terminal.screen) = (was, screen);
        entry.remember();
        entry.refresh(now);
        entry
    }

    /// When one that is gone leaves: not sooner because it is looked at.
    pub(in crate::fleet) fn leaves_at(&self, keep_gone: Span) -> Option<Timestamp> {
        let state = &self.terminal.state;
        let asked = state.stale.as_ref().is_some_and(|stale| stale.asked.is_some());
        let (since, last) = (self.gone_since?, &state.last_turn);
        let is_stopped =
            last.result == TurnResult::Interrupted && last.at.is_some_and(|at| since.since(at) < AFTER_STOP);
        let is_kept = self.left_unseen || asked || last.is_cut_off() || is_stopped;
        Some(since + if is_kept { KEEP_UNSEEN } else { keep_gone })
    }

    /// Since when the pane is gone.
    pub(in crate::fleet) fn gone_since(&self) -> Option<Timestamp> {
        self.gone_since
    }
}
