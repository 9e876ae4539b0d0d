//! What a state that polls the same after a time in which nobody watched may still be said to be: the one that was there
//! before (SPEC §10). Agents ask the same thing again, and work on another prompt looks like work on the last one.
//!
//! Where nothing was printed meanwhile it is the same. Else something has to prove it: of work the time that its status row
//! counts, or the agent's record; of a dialog the record; of a terminal that is ready the text of its last turn, unless a
//! prompt was sent to it. What is not proven is at least as old as the last output.

use super::Tracker;
use super::timers::HANDOVER;
use super::turn::TurnTracker;
use crate::agent_record::RecordedPhase;
use crate::profile::Classification;
use crate::state::{FactValue, Phase, Since};
use crate::time::Timestamp;

impl Tracker {
    /// Ages from before a gap are kept only if the state is proven to be the same; `reading` is the present one, if it differs
    /// from the last.
    pub(super) fn doubt_ages(&mut self, reading: Option<&Classification>, now: Timestamp) {
        let was_prompted = std::mem::take(&mut self.was_prompted);
        let remembered = self.followed_until.take().filter(|until| now.since(*until) > HANDOVER);
        let Some(since) = remembered.or(self.turn.coverage.unwatched_since()) else { return };
        let known = self.last_reading.as_ref().map(|(known, _)| known);
        let Some(reading) = reading.or(known).filter(|_| self.last_output(now) > since) else { return };
        let is_proven = match self.published.phase {
            Phase::Active => {
                let began = counted_since(reading, now);
                let counts = began.is_some_and(|began| began <= since + self.settings.differ);
                counts || self.turn.is_recorded_since(RecordedPhase::Active, since)
            }
            // A turn that was cancelled before its first output leaves the text as it was.
            Phase::Ready => !was_prompted && known.is_some_and(|known| known.turn == reading.turn),
            Phase::Unknown => self.turn.is_recorded_since(RecordedPhase::Waiting, since),
        };
        if !is_proven {
            let at = self.stood_since(reading, self.published.phase, now);
            self.ages.begin_anew(Since { at, exact: false });
            // Nor was it seen to be stable any longer than that.
            self.stable_since = self.stable_since.max(at);
        }
    }

    /// A prompt that was sent and is in view is that of its turn, also where nobody saw it come.
    pub(super) fn note_sent_prompt(&mut self) {
        let Some(flight) = self.turn.unseen_flight() else { return };
        let sent = self.sent.as_ref().map(|sent| &sent.value);
        let (Some((reading, at)), Some(FactValue::Text(text))) = (&self.last_reading, sent) else { return };
        if reading.submitted_rows.as_ref().is_some_and(|prompt| prompt.begins(text)) {
            flight.shows(reading, *at);
        }
    }

    /// Since when at least the phase was there that the first poll finds after nobody had watched: what stands still did so
    /// since the last output, and work shows how long it has gone on.
    pub(super) fn stood_since(&self, reading: &Classification, phase: Phase, now: Timestamp) -> Timestamp {
        match phase {
            Phase::Active => {
                let recorded = self.turn.recorded_as(RecordedPhase::Active).map(|turn| turn.at);
                counted_since(reading, now).into_iter().chain(recorded).min().unwrap_or(now).min(now)
            }
            Phase::Ready | Phase::Unknown => self.last_output(now),
        }
    }

    /// When something was printed last, at the latest.
    pub(super) fn last_output(&self, now: Timestamp) -> Timestamp {
        self.printed_until.map_or(now, |at| at.min(now))
    }
}

impl TurnTracker {
    /// Whether its record says this of the agent, and that it was so at that time.
    fn is_recorded_since(&self, phase: RecordedPhase, at: Timestamp) -> bool {
        self.recorded_as(phase).is_some_and(|turn| turn.at <= at)
    }
}

/// When the turn began by what its status row counts.
fn counted_since(reading: &Classification, now: Timestamp) -> Option<Timestamp> {
    Some(now - reading.activity.as_ref()?.elapsed?)
}
