//! What time says of work: its timers, its pace, its silence, its standing still, and both recoveries from a stuck
//! `active` (SPEC §7).

use std::sync::Arc;

use super::seen::{Belief, ShownWork, is_of_draft, same_turn};
use super::state::{Flight, Rest, TurnEvent, TurnStage, TurnState};
use super::{Sighting, TurnTracker};
use crate::agent_record::RecordedPhase;
use crate::profile::{Classification, Temporal};
use crate::state::Phase;
use crate::time::{Span, Timestamp};
use crate::tracker::timers::{Timer, TimerName};

impl TurnTracker {
    /// Keeps since when the screen's activity looks as it does; whether it is believed.
    pub(super) fn note_activity(&mut self, reading: &Classification, now: Timestamp) -> bool {
        let known = self.work.take();
        self.work = reading.activity.clone().map(|activity| {
            self.title_tells |= activity.titled;
            match known {
                Some(known) if known.activity.fingerprint == activity.fingerprint => ShownWork { activity, ..known },
                _ => ShownWork { activity, since: now, belief: Belief::Believed },
            }
        });
        self.shows_work()
    }

    /// Whether growth alone is work: of an agent that shows nothing else while it answers, as far as is known, and whose
    /// record does not say that no turn has begun.
    pub(super) fn growth_tells(&self, temporal: Temporal) -> bool {
        temporal.growth && !self.title_tells && !self.record_rests()
    }

    /// Rule 2: a submitted prompt that comes into view with nothing under it arms a turn, like an input that waits for its
    /// reaction; so does one with an answer, if it was seen as a draft. One that was there at the first poll, or that is taken
    /// back, arms none.
    pub(super) fn note_submitted_prompt(&mut self, sighting: &Sighting<'_>, redrawn: bool, now: Timestamp) {
        let reading = sighting.reading;
        let region = &reading.turn;
        let is_new = self.seen.as_ref().is_some_and(|seen| !same_turn(&seen.region, region));
        let drafted = self.drafted.take_if(|_| is_new);
        if let Some(draft) = reading.draft.as_ref().filter(|draft| !draft.is_empty()) {
            self.drafted = Some(Arc::clone(draft));
        }
        if let Some(flight) = self.flight() {
            let waits = matches!(flight.stage, TurnStage::Awaited { .. }) && !flight.is_anchored();
            if waits && flight.baseline.as_ref().is_some_and(|seen| same_turn(&seen.region, region)) {
                self.turn.on(TurnEvent::Vanishes, now);
            }
            return;
        }
        let unanswered = region.prompt.is_some() && region.text.is_empty() && !region.command && reading.end.is_none();
        // Of a version that nobody has recorded what moves tells, or nothing.
        let is_known = !sighting.temporal.cautious;
        let was_drafted = !region.command
            && reading
                .submitted
                .as_deref()
                .zip(drafted.as_deref())
                .is_some_and(|(sent, draft)| is_of_draft(sent, draft));
        if reading.phase == Phase::Ready && is_new && ((is_known && unanswered) || was_drafted) && !redrawn {
            self.turn.on(TurnEvent::PromptSeen { seen: self.seen.as_ref() }, now);
        }
    }

    /// Learns how slowly this turn's answer comes, so that its next pause is not taken for its end.
    pub(super) fn note_pace(&mut self, sighting: &Sighting<'_>, now: Timestamp) {
        let region = &sighting.reading.turn;
        if self.seen.as_ref().is_some_and(|seen| !same_turn(&seen.region, region)) {
            self.growth = None;
        }
        // A pause in which the agent showed its work or asked something is no pause of the answer.
        let silent = sighting.reading.activity.is_none() && !sighting.reading.in_dialog;
        match &mut self.growth {
            Some((last, longest)) if sighting.grew && silent => {
                *longest = (*longest).max(now.since(self.coverage.begun(*last)));
                *last = now;
            }
            Some((last, _)) if sighting.grew || !silent => *last = now,
            None if sighting.grew => self.growth = Some((now, Span::ZERO)),
            _ => {}
        }
    }

    /// How long work is taken to go on after its last trace: as the profile says, or a tenth longer than this turn's
    /// longest pause so far, up to 4 s, unless the title or the record shows the end.
    pub(super) fn linger(&self, temporal: Temporal) -> Span {
        let longest = self.growth.map_or(Span::ZERO, |(_, longest)| longest);
        let learned = Span::from_millis((longest.as_millis() * 11 / 10).min(4000));
        match temporal {
            Temporal { cautious: true, linger, .. } => linger.max(learned).max(self.settings.unrecorded_rest),
            Temporal { growth: true, .. } if self.title_tells || self.record_rests() => Span::ZERO,
            Temporal { growth: true, linger, .. } => linger.max(learned),
            Temporal { linger, .. } => linger,
        }
    }

    /// Notes what moves between the last prompt and the live one on a screen that shows no work. Of a version that
    /// nobody has recorded, nothing says whether that is work: within a turn it is taken for one, else nothing is said.
    pub(super) fn note_movement(&mut self, sighting: &Sighting<'_>, redrawn: bool, now: Timestamp) {
        let reading = sighting.reading;
        let greeted_at = *self.greeted_at.get_or_insert(now);
        let is_greeting = reading.turn.prompt.is_none() && now.since(greeted_at) < self.settings.greeting;
        let Some(seen) = &self.seen else { return };
        if reading.end.is_some() {
            // The agent itself says that the turn has ended.
            self.moved = None;
            return;
        }
        // What a command of the agent's own surface opens or prints is no turn.
        let is_prompt = !reading.turn.command && !same_turn(&seen.region, &reading.turn);
        let unanswered = is_prompt && reading.turn.text.is_empty();
        if sighting.resumes
            || reading.in_dialog
            || redrawn
            || is_greeting
            || !(unanswered || reading.has_new_rows(&seen.edge))
        {
            return;
        }
        let rest = if unanswered { self.settings.no_reaction } else { self.linger(sighting.temporal) };
        self.moved = Some((now, rest));
        self.turn.on(TurnEvent::Moves { reading }, now);
    }

    /// Whether the screen shows work that is believed to be some.
    pub(super) fn shows_work(&self) -> bool {
        self.work.as_ref().is_some_and(|work| work.belief != Belief::SetAside)
    }

    /// No longer takes the present activity for work, as long as it looks the same.
    pub(super) fn set_work_aside(&mut self) {
        self.work.iter_mut().for_each(|work| work.belief = Belief::SetAside);
    }

    /// Rule 1: an explicit input of which the screen shows nothing is dropped. Nothing failed where the agent takes the
    /// text as a command.
    pub(super) fn give_up_on_silence(&mut self, now: Timestamp, notes: &mut Vec<&'static str>) {
        if self.silence().is_some_and(|timer| timer.is_over(now)) {
            let is_command = self.flight().is_some_and(Flight::is_command);
            let event = if is_command { TurnEvent::CommandDone } else { TurnEvent::NoReaction };
            notes.extend(self.turn.on(event, now));
        }
    }

    /// Both recoveries from a stuck `active`. Neither makes a success.
    pub(super) fn recover(&mut self, now: Timestamp, notes: &mut Vec<&'static str>) {
        if self.stale_active().is_some_and(|timer| timer.is_over(now)) {
            self.set_work_aside();
            self.turn.on(TurnEvent::Vanishes, now);
            notes.push("stale_active_recovery");
        }
        if self.final_stable_active(now).is_some_and(|timer| timer.is_over(now)) {
            notes.extend(self.turn.on(TurnEvent::GivenUp, now));
        }
    }

    /// Whether nothing but a timer changes anything until something new is seen or recorded.
    pub(in crate::tracker) fn rests(&self) -> bool {
        let is_seen = self.seen.as_ref().is_some_and(|seen| !seen.in_dialog);
        is_seen && self.flight().is_none() && self.work.is_none() && self.moved.is_none() && self.record_is_quiet()
    }

    /// The timers of the turn; those whose time is over are among them.
    pub(in crate::tracker) fn timers(&self, temporal: Temporal, now: Timestamp) -> impl Iterator<Item = Timer> {
        [
            self.settle_window(),
            self.silence(),
            self.lingering(temporal),
            self.unrecorded_rest(),
            self.standstill(),
            self.stale_active(),
            self.final_stable_active(now),
            self.retraction_window(),
        ]
        .into_iter()
        .flatten()
        .chain(self.recorded_timers())
    }

    /// Rule 3: what the turn has left must stand still.
    pub(super) fn settle_window(&self) -> Option<Timer> {
        Some(self.coverage.window(TimerName::Settle, self.settling_since()?, self.settings.settle))
    }

    /// Rule 1: an explicit input waits for a reaction. Work that went on when it was sent is one.
    pub(super) fn silence(&self) -> Option<Timer> {
        let TurnStage::Awaited { since, .. } = self.flight()?.stage else { return None };
        let window = self.settings.no_reaction;
        (!self.shows_work()).then(|| self.coverage.window(TimerName::NoReaction, since, window))
    }

    /// A counter that the agent repaints while it works stands still.
    pub(super) fn standstill(&self) -> Option<Timer> {
        let work = self.work.as_ref().filter(|work| work.activity.ticks && work.belief == Belief::Believed)?;
        Some(self.coverage.window(TimerName::WorkStandsStill, work.since, self.settings.final_stable_active_recovery))
    }

    /// A version that nobody has recorded looks ready, but something has moved.
    pub(super) fn unrecorded_rest(&self) -> Option<Timer> {
        let (at, window) = self.moved?;
        Some(self.coverage.window(TimerName::UnrecordedRest, at, window))
    }

    /// Stale-active: no anchor, a prompt that would take a submission, and a status row that stands still.
    pub(super) fn stale_active(&self) -> Option<Timer> {
        let anchored = self.flight().is_some_and(Flight::is_anchored);
        let ShownWork { activity, since, .. } = self.work.as_ref().filter(|_| !anchored && self.shows_work())?;
        let is_left_behind = activity.status_row_only && activity.prompt_idle;
        let window = self.settings.stale_active_recovery;
        is_left_behind.then(|| self.coverage.window(TimerName::StaleActiveRecovery, *since, window))
    }

    /// Final stable-active: the screen is ready and unchanged, and still a turn is held to be in flight. One that its
    /// record holds is not given up.
    pub(super) fn final_stable_active(&self, now: Timestamp) -> Option<Timer> {
        if self.record_goes_on(now) {
            return None;
        }
        let seen = self.seen.as_ref().filter(|seen| seen.at_rest())?;
        let flight = self.flight().filter(|_| self.settling_since().is_none())?;
        // A screen may have stood for an hour when a prompt is sent.
        let since = seen.since.max(flight.armed_at).max(flight.seen_at().unwrap_or(flight.armed_at));
        let window = self.settings.final_stable_active_recovery;
        Some(self.coverage.window(TimerName::FinalStableActiveRecovery, since, window))
    }

    /// Work is taken to go on for a while after its last trace.
    fn lingering(&self, temporal: Temporal) -> Option<Timer> {
        let TurnStage::Working { seen_at } = self.flight()?.stage else { return None };
        let is_shown = self.shows_work() || self.recorded_as(RecordedPhase::Active).is_some();
        (!is_shown).then(|| self.coverage.window(TimerName::Linger, seen_at, self.linger(temporal)))
    }

    /// Rule 5: the same turn may turn out to go on.
    fn retraction_window(&self) -> Option<Timer> {
        let TurnState::AtRest(Rest::Ended { retractable: Some(_), .. }) = self.turn.state else { return None };
        Some(Timer::new(TimerName::Retraction, self.turn.last.at?, self.settings.retraction))
    }
}
