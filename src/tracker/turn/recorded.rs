//! What the agent's own record says of its turns, joined with what its screen shows (SPEC §14).
//!
//! A record that marks where turns begin and end decides that; any other one only counts as long as it can still be news:
//! it follows the screen by some seconds. A dialog, a draft and a menu are the screen's to tell.

use super::state::{Ending, Flight, Rest, TurnEvent};
use super::{AgentRecordReading, LastScreen, TurnTracker};
use crate::agent_record::{RecordedPhase, RecordedResult, RecordedTurn};
use crate::state::{TurnResult, UiContext, Witness};
use crate::time::{Span, Timestamp};
use crate::tracker::timers::{Settings, Timer, TimerName};

impl TurnTracker {
    /// Stores what the agent's records say now.
    pub(in crate::tracker) fn recorded(&mut self, reading: &AgentRecordReading) {
        let recorded = &mut self.recorded;
        recorded.turn.clone_from(&reading.turn);
        let is_news = |result: &&RecordedResult| result.at > recorded.known_until && result.result != TurnResult::None;
        recorded.due = reading.result.as_ref().filter(is_news).cloned();
    }

    /// The agent that wrote the record has ended.
    pub(in crate::tracker) fn record_is_lost(&mut self) {
        (self.recorded.turn, self.recorded.due, self.recorded.asks_alone_since) = (None, None, None);
    }

    /// What its record says of the turn, where that is this.
    pub(in crate::tracker) fn recorded_as(&self, phase: RecordedPhase) -> Option<&RecordedTurn> {
        self.recorded.turn.as_ref().filter(|turn| turn.phase == phase)
    }

    /// Whether its record reported a moment ago that the turn ended like this.
    pub(super) fn record_knows(&self, result: TurnResult, now: Timestamp) -> bool {
        let is_known = self.turn.last.at == Some(self.recorded.known_until) && self.turn.last.result == result;
        is_known && now.since(self.recorded.known_until) < self.settings.record_lag
    }

    /// Whether its record says that a turn is in flight, and is believed.
    pub(super) fn record_goes_on(&self, now: Timestamp) -> bool {
        let Some(turn) = self.recorded_as(RecordedPhase::Active) else { return false };
        turn.marks_turns || self.rest_is_news(turn).is_none_or(|timer| !timer.is_over(now))
    }

    /// Whether its record, which tells where turns begin, says that none is in flight.
    pub(super) fn record_rests(&self) -> bool {
        self.recorded_as(RecordedPhase::Idle).is_some_and(|turn| turn.marks_turns || turn.patience.is_some())
    }

    /// What the agent asks for, where only its record says so.
    pub(in crate::tracker) fn recorded_request(&self, now: Timestamp) -> Option<(UiContext, &str)> {
        self.second_poll().filter(|timer| timer.is_over(now))?;
        let turn = self.recorded.turn.as_ref()?;
        Some((turn.context.unwrap_or(UiContext::ApprovalPrompt), &turn.word))
    }

    /// Whether screen and record have contradicted each other for longer than either may lag behind.
    pub(in crate::tracker) fn record_contradicts(&self, now: Timestamp) -> bool {
        let Some(turn) = &self.recorded.turn else { return false };
        let stands = |since: Timestamp| now.since(self.coverage.begun(since)) >= self.settings.record_lag;
        let rests = self.seen.as_ref().filter(|seen| seen.at_rest()).is_some_and(|seen| stands(seen.since));
        match turn.phase {
            RecordedPhase::Active => rests,
            RecordedPhase::Waiting => self.recorded.asks_alone_since.is_some_and(stands),
            RecordedPhase::Idle => self.work.is_some() && !self.shows_work() && stands(turn.at),
            RecordedPhase::Menu | RecordedPhase::Background => false,
        }
    }

    /// Whether the record asks for nothing, says of no turn that it goes on, and has said how the last one ended.
    pub(super) fn record_is_quiet(&self) -> bool {
        use RecordedPhase::{Background, Idle, Menu};
        let recorded = &self.recorded;
        recorded.due.is_none()
            && recorded.asks_alone_since.is_none()
            && recorded.turn.as_ref().is_none_or(|turn| matches!(turn.phase, Idle | Menu | Background))
    }

    /// Lets the turn follow its record.
    pub(super) fn follow_record(&mut self, now: Timestamp) {
        self.note_request(now);
        self.go_on_by_record(now);
        self.set_recorded_end_aside(now);
        self.tell_recorded_result(now);
        // The record may say at once how a turn ended and that the next one began.
        self.go_on_by_record(now);
    }

    fn go_on_by_record(&mut self, now: Timestamp) {
        if let Some(began) = self.recorded.turn.as_ref().map(|turn| turn.at).filter(|_| self.record_goes_on(now)) {
            self.turn.on(TurnEvent::RecordGoesOn { began, seen: self.seen.as_ref() }, now);
        }
    }

    /// The windows that run because of a record.
    pub(super) fn recorded_timers(&self) -> impl Iterator<Item = Timer> {
        let lag = self.recorded_as(RecordedPhase::Active).filter(|turn| !turn.marks_turns);
        let differ = |since| self.coverage.window(TimerName::RecordDiffers, since, self.settings.differ);
        let end = self.recorded_as(RecordedPhase::Idle).filter(|_| self.work.is_some());
        let due = self.recorded.due.as_ref().map(|result| differ(result.at));
        let windows = [lag.and_then(|turn| self.rest_is_news(turn)), self.second_poll()];
        windows.into_iter().chain([end.map(|turn| differ(turn.at)), due]).flatten()
    }

    /// Since when the screen is at rest, which the record may not have followed yet, and for how long the record counts. Where
    /// the agent itself says on its screen that the turn is over, it is.
    fn rest_is_news(&self, turn: &RecordedTurn) -> Option<Timer> {
        let seen = self.seen.as_ref().filter(|seen| seen.at_rest())?;
        // A record that is believed for longer has no word for a turn that went wrong.
        let went_wrong = matches!(self.turn.last.result, TurnResult::KnownFailure | TurnResult::Interrupted)
            && self.turn.last.at > Some(turn.at);
        let is_over = (seen.is_finished() && seen.since > turn.at) || (turn.patience.is_some() && went_wrong);
        let window = if is_over { Span::ZERO } else { turn.patience.unwrap_or(self.settings.record_lag) };
        Some(self.coverage.window(TimerName::RecordDiffers, seen.since.max(turn.at), window))
    }

    fn second_poll(&self) -> Option<Timer> {
        let since = self.recorded.asks_alone_since?;
        let Settings { doubt, after_dialog, .. } = self.settings;
        let dialog = self.recorded.dialog_at.filter(|at| *at + after_dialog > since + doubt);
        let (since, window) = dialog.map_or((since, doubt), |at| (at, after_dialog));
        Some(self.coverage.window(TimerName::RecordAsks, since, window))
    }

    /// Keeps since when the record alone says that the agent asks for something.
    fn note_request(&mut self, now: Timestamp) {
        let shows_dialog = self.seen.as_ref().is_none_or(|seen| seen.in_dialog);
        let asks = self.recorded_as(RecordedPhase::Waiting).is_some();
        if shows_dialog {
            self.recorded.dialog_at = Some(now);
        }
        match asks && !shows_dialog {
            true => drop(self.recorded.asks_alone_since.get_or_insert(now)),
            false => self.recorded.asks_alone_since = None,
        }
    }

    /// What looks like work and has not moved since its turn ended in the record was left behind, or is quoted.
    fn set_recorded_end_aside(&mut self, now: Timestamp) {
        let Some(turn) = self.recorded_as(RecordedPhase::Idle) else { return };
        let Some(since) = self.work.as_ref().map(|work| work.since) else { return };
        let begun_since = self.flight().is_some_and(|flight| flight.armed_at > turn.at);
        if since < turn.at + self.settings.differ && now >= turn.at + self.settings.differ && !begun_since {
            self.set_work_aside();
        }
    }

    /// Tells how the turn ended, when the screen has come to rest or has had the time to.
    fn tell_recorded_result(&mut self, now: Timestamp) {
        let Some(due) = &self.recorded.due else { return };
        let Some(seen) = &self.seen else { return };
        let at_rest = seen.at_rest() && !self.shows_work();
        let active = self.recorded_as(RecordedPhase::Active);
        let next_began = active.is_some_and(|turn| turn.marks_turns && turn.at > due.at);
        if seen.in_dialog || !(at_rest || next_began || now >= due.at + self.settings.differ) {
            return;
        }
        let (region, at) = (seen.region.clone(), due.at.min(now));
        let RecordedResult { result, detail, began, .. } = due.clone();
        (self.recorded.known_until, self.recorded.due) = (due.at, None);
        // A quick turn may have been over when its prompt was first seen.
        let is_its =
            |flight: &Flight| flight.armed_at <= if flight.is_anchored() { at } else { at + self.settings.differ };
        let last = &mut self.turn.last;
        // One that began since then was over before anybody looked.
        let is_last = last
            .at
            .is_some_and(|ended| ended + self.settings.record_lag >= at && began.is_none_or(|began| began <= ended));
        match self.turn.state.flight() {
            Some(flight) if !is_its(flight) => {}
            None if is_last => {
                // The screen showed it before; what it said of how it ended was less than the agent's own word.
                let detail = detail.or_else(|| last.detail.take().filter(|_| result == last.result));
                self.turn.screen_result = Some(last.result).filter(|_| last.told_by == Witness::Screen);
                (last.result, last.detail, last.told_by) = (result, detail, Witness::Record);
                if let Rest::Ended { retractable, .. } = self.turn.state.rest_mut() {
                    *retractable = None;
                }
            }
            _ => {
                let how = Ending { result, detail, began, told_by: Witness::Record };
                self.turn.on(TurnEvent::Ends { how, at, region: &region, premature: false }, at);
                self.turn.saw_end = true;
                self.known_end = self.seen.as_ref().and_then(LastScreen::known_end);
                self.set_work_aside();
            }
        }
    }
}
