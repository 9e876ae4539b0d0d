//! What the operator looks at, and what counts as seen.

use crate::fleet::{Terminal, TerminalKey, View};
use crate::time::{Span, Timestamp};
use crate::ui::kit::question::READ;
use crate::ui::{Context, Request, Ui};

/// How long after a key the operator is taken to sit in front of the dashboard.
const PRESENT: Span = Span::from_secs(15);

impl Ui {
    /// The terminal that the operator looks at: the selected one, as long as keys are pressed. A row that came under a
    /// cursor that stays at the top was chosen by nobody, and its notice must not be missed.
    pub fn looked_at(&self, now: Timestamp) -> Option<&TerminalKey> {
        let touched = self.touched.filter(|&touched| now.since(touched) < PRESENT)?;
        self.cursor.key().filter(|_| self.was_chosen(touched))
    }

    /// Whether the operator chose the selected row with the last key, and it did not come under the cursor by itself.
    fn was_chosen(&self, touched: Timestamp) -> bool {
        self.cursor.since().since(touched) < READ
    }

    /// What the operator has seen by now, to be reported once.
    pub(super) fn newly_seen(&mut self, view: &View<'_>) -> Option<Request> {
        let seen = self.cursor.terminal(view).filter(|_| self.seen_at(view).is_some_and(|at| at <= view.now));
        self.reported_seen =
            seen.map(|terminal| (terminal.key.clone(), finished_at(terminal))).or(self.reported_seen.take());
        seen.map(|terminal| Request::Seen(terminal.key.clone()))
    }

    /// When the selected terminal will have been seen: when it was selected for a second (SPEC §2) while the operator
    /// was there. A result that comes while nobody touches a key stays unseen, wherever the cursor happens to be.
    pub(in crate::ui) fn seen_at(&self, view: &View<'_>) -> Option<Timestamp> {
        let terminal = self.cursor.terminal(view).filter(|terminal| terminal.state.wants_to_be_seen())?;
        let finished = finished_at(terminal);
        // A death behind the box of a dialog was not seen there, nor one that came while no key was pressed.
        let is_in_box = self.overlays.iter().any(|it| matches!(it.context(), Context::Dialog | Context::Answer));
        let is_missed = is_in_box || self.touched.is_none_or(|touched| touched < finished);
        if terminal.state.has_ended() && is_missed {
            return None;
        }
        let is_reported = self.reported_seen.as_ref().is_some_and(|(key, at)| *key == terminal.key && *at == finished);
        self.seen_since(finished).filter(|_| !is_reported)
    }

    /// The task that is looked at and rang, and when that will have been seen.
    pub(in crate::ui) fn bell_seen_at(&self, view: &View<'_>) -> Option<(TerminalKey, Timestamp)> {
        let key = self.target()?;
        let rang = self.memory.bells.unseen_since(&key)?;
        let is_task = view.tasks.iter().any(|task| task.key == key);
        self.seen_since(rang).filter(|_| is_task).map(|at| (key, at))
    }

    /// When something that came to the selected row at a time will have been seen there; never, as long as the operator
    /// was not there for it. What the cursor comes to while a filter is typed is looked at once that is done.
    fn seen_since(&self, came: Timestamp) -> Option<Timestamp> {
        if self.overlays.iter().any(|overlay| overlay.context() == Context::Filter) {
            return None;
        }
        let shown = self.cursor.since().max(came);
        let was_there = self
            .touched
            .is_some_and(|touched| touched >= shown || (shown.since(touched) < PRESENT && self.was_chosen(touched)));
        was_there.then(|| shown + READ)
    }
}

fn finished_at(terminal: &Terminal) -> Timestamp {
    terminal.state.last_turn.at.unwrap_or_default()
}
