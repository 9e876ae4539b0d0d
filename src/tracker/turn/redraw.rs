//! The same turn in other rows: what a resize does to what is remembered (SPEC §7, rule 3).

use super::TurnMachine;
use crate::profile::TurnRegion;
use crate::time::{Span, Timestamp};

impl TurnMachine {
    /// Whether what changes on the screen may be the same text, drawn for another size.
    pub(super) fn is_redrawn(&self, now: Timestamp) -> bool {
        /// Agents draw themselves anew within this time.
        const REDRAW: Span = Span::from_millis(1000);
        self.resized_at.is_some_and(|at| now.since(at) < REDRAW)
    }

    /// A resize shows the same turn in other rows (SPEC §7, rule 3): what was remembered of the region that was seen
    /// last is from now on the region as it is drawn now.
    pub(super) fn take_redrawn(&mut self, region: &TurnRegion) {
        let Some(seen) = self.seen.as_ref().map(|seen| seen.region.clone()) else { return };
        let redraw = |remembered: &mut TurnRegion| {
            if *remembered == seen {
                *remembered = region.clone();
            }
        };
        if let Some(flight) = &mut self.flight {
            flight.settling.iter_mut().for_each(|(_, settling)| redraw(settling));
            flight.baseline.iter_mut().filter(|_| flight.active_at.is_none()).for_each(redraw);
        }
        self.ended_region.iter_mut().for_each(redraw);
        self.completed.iter_mut().for_each(|completed| redraw(&mut completed.region));
        if let Some((_, prompt)) = self.told_end.as_mut().filter(|(_, prompt)| *prompt == seen.prompt) {
            *prompt = region.prompt;
        }
    }
}
