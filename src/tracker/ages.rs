//! Since when a terminal has been in its state: each age belongs to the word beside it (SPEC §10).

use super::publish::{DialogName, Published};
use crate::state::{Attention, Availability, Phase, Since, State, UiContext};
use crate::time::Timestamp;

/// What an age is counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Doing {
    availability: Availability,
    phase: Phase,
    /// The context that has the keyboard. Another prompt makes no difference where the phase says it all.
    context: Option<UiContext>,
    dialog: Option<DialogName>,
}

/// Since when each thing is as it is.
#[derive(Clone, Debug)]
pub(super) struct Ages {
    pub(super) phase: Since,
    doing: (Doing, Since),
    /// What the operator is needed for.
    pub(super) attention: (Attention, Since),
    /// The published end of the last turn.
    ended: Option<Since>,
    /// The dialog that is shown, or hidden by an unreadable screen, and when it was first seen.
    dialog: Option<(DialogName, Since)>,
    /// What was so before nothing could be read any more.
    before_error: Option<(Doing, Since)>,
}

impl Ages {
    /// Nothing has been seen yet.
    pub(super) fn new(published: &Published, now: Timestamp) -> Self {
        let since = Since { at: now, exact: false };
        Self {
            phase: since,
            doing: (Doing::of(published), since),
            attention: (Attention::None, since),
            ended: None,
            dialog: None,
            before_error: None,
        }
    }

    /// The ages of a state that was known before.
    pub(super) fn known(published: &Published, state: &State) -> Self {
        let (phase, since) = (state.turn.began(), state.since());
        let doing = if says_the_past(state.diagnostics.availability, state.attention) { phase } else { since };
        let dialog = published.dialog_name().map(|name| (name, since));
        // What was found ended keeps the age that it was found with.
        let ended =
            state.last_turn.at.map(|at| Since { at, exact: state.since_exact || !state.attention.is_about_the_past() });
        let doing = (Doing::of(published), doing);
        Self { phase, doing, attention: (state.attention, since), ended, dialog, before_error: None }
    }

    /// Since when the one-word status of the terminal holds.
    pub(super) fn word(&self, attention: Attention) -> Since {
        if says_the_past(self.doing.0.availability, attention) { self.attention.1 } else { self.doing.1 }
    }

    /// Updates the ages to the state now and the end of the last turn; what is new began at `since`.
    pub(super) fn follow(
        &mut self,
        before: Phase,
        next: &Published,
        (attention, ended): (Attention, Option<Since>),
        is_settling: bool,
        since: Since,
    ) {
        if next.phase != before {
            self.phase = since;
        }
        let name = next.dialog_name();
        match (name, self.dialog) {
            (Some(name), Some((known, _))) if name == known => {}
            (Some(name), _) => self.dialog = Some((name, since)),
            // A menu over a dialog, or an outage, does not make it another dialog.
            (None, _) if next.phase == Phase::Unknown && next.may_show_a_dialog() => {}
            (None, _) => self.dialog = None,
        }
        let doing = Doing::of(next);
        // A turn that may have ended is said to go on until that is certain, and then to have ended when it did.
        let goes_on = is_settling && (self.doing.0.phase, doing.phase) == (Phase::Active, Phase::Ready);
        if doing != self.doing.0 && !goes_on {
            let first_sight = self.dialog.filter(|_| name.is_some()).map(|(_, first_sight)| first_sight);
            let began = if doing.phase == Phase::Ready { self.phase } else { since };
            let before = match doing.availability {
                Availability::Error => self.before_error.replace(self.doing),
                _ => self.before_error.take(),
            };
            // An agent that had ended has ended still.
            let still =
                before.filter(|(before, _)| *before == doing && doing.availability == Availability::Unavailable);
            let still = still.map(|(_, began)| Since { exact: false, ..began });
            self.doing = (doing, still.or(first_sight).unwrap_or(began));
        }
        let began = match attention {
            Attention::Failed | Attention::Interrupted | Attention::Finished => match ended {
                // What is found ended stood there before, as far as its screen did.
                Some(ended) if !ended.exact && self.ended != Some(ended) => {
                    Since { at: ended.at.min(since.at), ..ended }
                }
                Some(ended) if !ended.exact && attention == self.attention.0 => self.attention.1,
                ended => ended.unwrap_or(since),
            },
            _ if attention == self.attention.0 => self.attention.1,
            _ => since,
        };
        (self.attention, self.ended) = ((attention, began), ended);
    }

    /// The same is said as before, but perhaps of something else: it began unseen, at `since` at the latest.
    pub(super) fn begin_anew(&mut self, since: Since) {
        (self.phase, self.doing.1) = (since, since);
        self.dialog.iter_mut().for_each(|(_, first_sight)| *first_sight = since);
        if !self.attention.0.is_about_the_past() {
            self.attention.1 = since;
        }
    }
}

/// Whether the word for a terminal says how its last turn ended, or that it does not go on: one that is gone or cannot be
/// read says only that.
const fn says_the_past(availability: Availability, attention: Attention) -> bool {
    matches!(availability, Availability::Available | Availability::Unknown) && attention.is_about_the_past()
}

impl Doing {
    fn of(published: &Published) -> Self {
        let phase = published.phase;
        let availability = match published.diagnostics.availability {
            // An agent that has ended is gone, and no more so when its pane closes.
            Availability::TuiDown => Availability::Unavailable,
            other => other,
        };
        let context = Some(published.assessment.ui_context).filter(|_| phase == Phase::Unknown);
        Self { availability, phase, context, dialog: published.dialog_name() }
    }
}
