//! Where the turn of a terminal is, and all that may happen to it: [`TurnMachine::on`] has every way from one state to another.

use std::borrow::Cow;
use std::sync::Arc;

use super::seen::{LastScreen, is_begun_anew, same_turn};
use crate::profile::{Classification, TakenAs, TurnRegion};
use crate::state::{LastTurn, RETRACTION_UNDONE, Tri, TurnResult, TurnSource, Witness};
use crate::time::{Span, Timestamp};
use crate::tracker::publish::LossReason;

/// Where the turn is.
#[derive(Clone, Debug)]
pub(super) enum TurnState {
    AtRest(Rest),
    InFlight(Box<Flight>),
}

/// No turn is in flight.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Rest {
    /// No turn is known, or the latest one ended without a result.
    Idle,
    /// A prompt was sent, and nothing was seen of its turn.
    NoReaction,
    /// What was sent was a command of the agent's own surface.
    TakenAsCommand,
    /// The last result is that of the latest turn.
    Ended {
        /// When that turn had been armed, if it was seen in flight.
        armed_at: Option<Timestamp>,
        /// How to recognise that the success was premature.
        retractable: Option<Retractable>,
    },
    /// The latest turn was in flight when its surface was lost.
    Lost,
}

/// A turn that has begun and not ended.
#[derive(Clone, Debug)]
pub(in crate::tracker) struct Flight {
    pub(super) stage: TurnStage,
    pub(super) source: TurnSource,
    pub(super) armed_at: Timestamp,
    /// The state to return to if it ends without a result; none once its work was seen.
    pub(super) before: Rest,
    /// What the screen showed when the turn was armed, if it was readable then.
    pub(super) baseline: Option<LastScreen>,
    /// Whether the transcript became shorter than it was then: it was redrawn or truncated (SPEC §6).
    pub(super) baseline_is_invalid: bool,
    /// The submitted prompt, once it was seen during the turn, and what stood on the screen with it last.
    pub(super) prompt: Option<Arc<str>>,
    pub(super) own: Option<LastScreen>,
    /// What the screen showed when it was known from before this tracker began.
    pub(super) found_on: Option<LastScreen>,
    /// Whether it is known from before this tracker began, and no work was seen since: it may have ended before.
    pub(super) is_resumed: bool,
    /// Whether a gap in polling since its work was seen may have hidden its end.
    pub(super) is_unwatched: bool,
    /// Whether the turn region started again since the turn was armed. A turn may end on the very text that it began
    /// on, when the same prompt gets the same answer on a screen that has scrolled.
    pub(super) begun_anew: bool,
    /// The success that this turn may take back, or has taken back.
    pub(super) retraction: Option<Retraction>,
    pub(super) waits: Waits,
}

/// How long a turn has waited for the operator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waits {
    /// In waits that are over; `None` once nobody has seen when one began or ended.
    over: Option<Span>,
    /// Since when it waits now.
    since: Option<Timestamp>,
}

/// The stage of a turn in flight.
#[derive(Clone, Debug)]
pub(super) enum TurnStage {
    /// Its prompt was submitted; it has waited for a reaction since that time.
    Awaited { since: Timestamp, taken: TakenAs },
    /// Its work was seen, last at that time.
    Working { seen_at: Timestamp },
    /// The ready surface stands still after the work.
    Settling { seen_at: Timestamp, since: Timestamp, left: LastScreen },
}

/// Evidence on whether work soon after a success belongs to the same turn.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Retractable {
    /// The result before the success; that success itself, once it was taken back.
    other: LastTurn,
    pub(super) region: TurnRegion,
    /// Whether a draft was seen in the prompt since.
    pub(super) drafted: bool,
}

/// Work came back soon after a success: was it the same turn?
#[derive(Clone, Debug)]
pub(super) enum Retraction {
    /// The operator has typed since, so it may be a new turn whose prompt is not drawn yet.
    Undecided(Retractable),
    /// It was taken back; a new prompt that comes into view gives it back.
    Done(Retractable),
}

/// How a turn ended, and the source of that.
#[derive(Clone, Debug)]
pub(super) struct Ending {
    pub(super) result: TurnResult,
    pub(super) detail: Option<String>,
    /// When it began, where its record says so.
    pub(super) began: Option<Timestamp>,
    pub(super) told_by: Witness,
}

/// One thing that happens to the turn.
#[derive(Clone, Debug)]
pub(super) enum TurnEvent<'a> {
    /// A prompt was sent at that time (rule 1). `seen` is what the screen showed then, `region` what it shows now.
    Sent {
        at: Timestamp,
        since: Timestamp,
        taken: TakenAs,
        seen: Option<&'a LastScreen>,
        region: Option<&'a TurnRegion>,
    },
    /// A submitted prompt came into view with nothing under it (rule 2).
    PromptSeen { seen: Option<&'a LastScreen> },
    /// The screen shows work (rules 2 and 5); after a success it `goes_on` where it is that turn's.
    Work { reading: &'a Classification, seen: Option<&'a LastScreen>, goes_on: bool },
    /// Something moves on the screen, which may or may not be work.
    Moves { reading: &'a Classification },
    /// The agent's record says that a turn that began at that time is in flight.
    RecordGoesOn { began: Timestamp, seen: Option<&'a LastScreen> },
    /// The turn began between two polls: its prompt and its answer are there to see.
    AnswerSeen,
    /// The work is over and has left this surface (rule 3).
    Rests { left: &'a LastScreen },
    /// That surface has changed, or the agent asks something.
    Stirs,
    /// It ended like this on this region; of a success that may be `premature`, work may take it back (rules 3 to 5).
    Ends { how: Ending, at: Timestamp, region: &'a TurnRegion, premature: bool },
    /// It is over without a result.
    Vanishes,
    /// Nothing was seen of it for too long (rule 1).
    NoReaction,
    /// It was a command of the agent's own surface.
    CommandDone,
    /// The final stable-active recovery.
    GivenUp,
    /// The agent's screen can no longer be read, for this reason.
    SurfaceLost { reason: LossReason },
    /// A gap hid the beginning of another turn; nothing is said of an `unseen` one.
    Replaced { unseen: bool },
}

/// The hold that an explicit input has on its turn.
#[derive(Clone, Debug)]
pub(super) struct Anchor {
    pub(super) armed_at: Timestamp,
    /// When and why it was lost.
    pub(super) lost: Option<(Timestamp, Cow<'static, str>)>,
}

/// The turn and what has come of it so far.
#[derive(Clone, Debug)]
pub(super) struct TurnMachine {
    pub(super) state: TurnState,
    /// How the last turn ended.
    pub(super) last: LastTurn,
    /// Whether its end was seen, rather than found after a gap.
    pub(super) saw_end: bool,
    /// What its screen was taken for where its record says how it ended.
    pub(super) screen_result: Option<TurnResult>,
    /// What it ended on, or what the first screen at rest showed.
    pub(super) ended_region: Option<TurnRegion>,
    pub(super) anchor: Option<Anchor>,
}

impl TurnMachine {
    /// No turn is known.
    pub(super) const NONE: Self = Self {
        state: TurnState::AtRest(Rest::Idle),
        last: LastTurn::NONE,
        saw_end: true,
        screen_result: None,
        ended_region: None,
        anchor: None,
    };

    /// Handles an event; returns the note for the transition.
    pub(super) fn on(&mut self, event: TurnEvent<'_>, now: Timestamp) -> Option<&'static str> {
        use TurnState::{AtRest, InFlight};
        let mut note = None;
        let is_reported_late = matches!(event, TurnEvent::Sent { at, .. } if self.has_begun_since(at));
        let state = std::mem::replace(&mut self.state, AtRest(Rest::Idle));
        self.state = match (state, event) {
            (mut state, TurnEvent::Sent { at, since, taken, seen, region }) => {
                self.anchor = Some(Anchor { armed_at: at, lost: None });
                note = is_reported_late.then_some("its prompt was sent through fleetwatch");
                match &mut state {
                    AtRest(_) if is_reported_late => self.last.source = TurnSource::ExplicitInput,
                    // It is told a second time.
                    InFlight(flight) if flight.is_anchored() && flight.armed_at == at => {}
                    InFlight(flight) if is_reported_late => {
                        (flight.source, flight.before) = (TurnSource::ExplicitInput, Rest::Idle);
                        if let Some(Retraction::Done(Retractable { other, .. })) = flight.retraction.take() {
                            // It was a new turn that began, and not the last one that went on.
                            self.last = other;
                        }
                    }
                    earlier => {
                        let mut flight = Flight::begins(TurnSource::ExplicitInput, Rest::Idle, seen, at);
                        flight.stage = TurnStage::Awaited { since, taken };
                        if let (InFlight(earlier), Some(region)) = (earlier, region) {
                            flight.takes_over(earlier, region);
                        }
                        state = InFlight(Box::new(flight));
                    }
                }
                state
            }
            (AtRest(before), TurnEvent::PromptSeen { seen }) => {
                InFlight(Box::new(Flight::begins(TurnSource::SurfaceInference, before, seen, now)))
            }
            (AtRest(rest), TurnEvent::Work { reading, seen, goes_on }) => {
                let retractable = if let Rest::Ended { retractable, .. } = rest { retractable } else { None };
                let retraction = retractable.filter(|_| goes_on).map(Retraction::Undecided);
                let source = retraction.as_ref().map_or(TurnSource::SurfaceInference, |_| self.last.source);
                // A turn that goes on is not measured against its own first part.
                let seen = seen.filter(|_| retraction.is_none());
                let mut flight = Flight { retraction, ..Flight::begins(source, Rest::Idle, seen, now) };
                note = self.work(&mut flight, reading, now);
                InFlight(Box::new(flight))
            }
            (InFlight(mut flight), TurnEvent::Work { reading, .. }) => {
                note = self.work(&mut flight, reading, now);
                InFlight(flight)
            }
            (state, TurnEvent::RecordGoesOn { began, seen }) => {
                let mut flight = match state {
                    InFlight(flight) => flight,
                    // After a gap its beginning is known all the same.
                    AtRest(before) => Box::new(Flight::begins(TurnSource::SurfaceInference, before, seen, began)),
                };
                flight.works(now);
                if self.last.at.is_none_or(|at| at < began) {
                    flight.before.forget();
                }
                InFlight(flight)
            }
            (state, TurnEvent::Ends { how, at, region, premature }) => {
                let flight = state.flight();
                let source = flight.map_or(TurnSource::SurfaceInference, |flight| flight.source);
                let Ending { result, detail, began: recorded, told_by } = how;
                let began = flight.map_or(recorded, Flight::began);
                let waited = flight.and_then(|flight| flight.waited(at));
                let last = LastTurn { result, source, began, at: Some(at), waited, detail, told_by };
                self.screen_result = None;
                let other = std::mem::replace(&mut self.last, last);
                self.saw_end = flight.is_none_or(|flight| !flight.is_unwatched);
                self.ended_region = Some(region.clone());
                let retractable = premature.then(|| Retractable { other, region: region.clone(), drafted: false });
                AtRest(Rest::Ended { armed_at: flight.map(|flight| flight.armed_at).or(recorded), retractable })
            }
            (InFlight(flight), TurnEvent::CommandDone) if flight.is_anchored() => {
                self.anchor = None;
                note = Rest::TakenAsCommand.note();
                AtRest(Rest::TakenAsCommand)
            }
            (InFlight(flight), TurnEvent::NoReaction) if flight.is_anchored() => {
                self.lose_anchor(&flight, "no_reaction", now);
                note = Rest::NoReaction.note();
                AtRest(Rest::NoReaction)
            }
            (InFlight(flight), TurnEvent::Vanishes | TurnEvent::CommandDone | TurnEvent::NoReaction) => {
                AtRest(flight.before)
            }
            (InFlight(flight), TurnEvent::GivenUp) => {
                note = Some("final_stable_active_recovery");
                self.lose_anchor(&flight, "final_stable_active_recovery", now);
                AtRest(flight.before)
            }
            (InFlight(flight), TurnEvent::SurfaceLost { reason }) => {
                self.lose_anchor(&flight, reason.word(), now);
                if reason.ends_agent() && (flight.seen_at().is_some() || (flight.is_anchored() && !flight.is_command()))
                {
                    // Rule 8: it has ended, and nothing says how.
                    self.last = LastTurn::cut_off(flight.source, now);
                    self.saw_end = !flight.is_unwatched;
                }
                AtRest(Rest::Lost)
            }
            (AtRest(Rest::Ended { armed_at, .. }), TurnEvent::SurfaceLost { .. }) => {
                AtRest(Rest::Ended { armed_at, retractable: None })
            }
            (mut state, TurnEvent::Replaced { unseen }) => {
                state.rest_mut().forget();
                match state {
                    InFlight(flight) if unseen => AtRest(flight.before),
                    known => known,
                }
            }
            (InFlight(mut flight), event) => {
                flight.on(event, now);
                InFlight(flight)
            }
            (state, _) => state,
        };
        note
    }

    /// Whether the turn in flight, or the one that has ended, was inferred from the screen and began after this time: an
    /// input from that time that is reported only now began it.
    fn has_begun_since(&self, at: Timestamp) -> bool {
        match &self.state {
            TurnState::InFlight(flight) => {
                (!flight.is_anchored() || flight.retraction.is_some()) && flight.armed_at >= at
            }
            TurnState::AtRest(Rest::Ended { armed_at, .. }) => {
                let ended_since = self.last.at.is_some_and(|ended| ended >= at);
                self.last.source == TurnSource::SurfaceInference && ended_since && *armed_at >= Some(at)
            }
            TurnState::AtRest(_) => false,
        }
    }

    /// Rule 5: whether work soon after a success takes it back. Agents may show their spinner before the new prompt:
    /// then it was not the old turn that went on.
    fn work(&mut self, flight: &mut Flight, reading: &Classification, now: Timestamp) -> Option<&'static str> {
        /// A prompt that was sent is drawn within this time.
        const PROMPT_IS_DRAWN: Span = Span::from_millis(1500);
        flight.sees_work(reading, now);
        // A turn that is inferred from the screen has no anchor, so none can be lost (SPEC §7).
        self.anchor = self.anchor.take().filter(|_| flight.is_anchored());
        let is_same = |earlier: &Retractable| same_turn(&earlier.region, &reading.turn);
        let (retraction, note) = match flight.retraction.take()? {
            Retraction::Undecided(earlier) if !is_same(&earlier) => {
                flight.source = TurnSource::SurfaceInference;
                return None;
            }
            Retraction::Undecided(earlier) if earlier.drafted && now.since(flight.armed_at) < PROMPT_IS_DRAWN => {
                (Retraction::Undecided(earlier), None)
            }
            // No prompt is in view, or none that differs from an answer: what was typed is gone, so it was sent.
            Retraction::Undecided(earlier)
                if earlier.drafted && reading.turn.prompt.is_none() && reading.surface.editing_input == Tri::No =>
            {
                flight.source = TurnSource::SurfaceInference;
                return None;
            }
            Retraction::Undecided(mut earlier) => {
                std::mem::swap(&mut self.last, &mut earlier.other);
                (Retraction::Done(earlier), Some("premature success retracted"))
            }
            Retraction::Done(earlier) if !is_same(&earlier) => {
                self.last = earlier.other;
                flight.source = TurnSource::SurfaceInference;
                return Some(RETRACTION_UNDONE);
            }
            done => (done, None),
        };
        flight.retraction = Some(retraction);
        note
    }

    fn lose_anchor(&mut self, flight: &Flight, reason: &'static str, now: Timestamp) {
        if let Some(anchor) = self.anchor.as_mut().filter(|_| flight.is_anchored()) {
            anchor.lost = Some((now, reason.into()));
        }
    }
}

impl TurnState {
    pub(super) fn flight(&self) -> Option<&Flight> {
        match self {
            TurnState::InFlight(flight) => Some(flight),
            TurnState::AtRest(_) => None,
        }
    }

    pub(super) fn flight_mut(&mut self) -> Option<&mut Flight> {
        match self {
            TurnState::InFlight(flight) => Some(flight),
            TurnState::AtRest(_) => None,
        }
    }

    /// What holds while no turn is in flight.
    pub(super) fn rest_mut(&mut self) -> &mut Rest {
        match self {
            TurnState::InFlight(flight) => &mut flight.before,
            TurnState::AtRest(rest) => rest,
        }
    }
}

impl Rest {
    /// The success that work would take back.
    pub(super) fn retractable(&mut self) -> Option<&mut Retractable> {
        match self {
            Rest::Ended { retractable, .. } => retractable.as_mut(),
            _ => None,
        }
    }

    /// Another turn has begun, so that this one no longer counts.
    fn forget(&mut self) {
        if *self != Rest::Lost {
            *self = Rest::Idle;
        }
    }

    /// One line about what the screen does not show.
    pub(super) const fn note(&self) -> Option<&'static str> {
        match self {
            Rest::NoReaction => Some("sent, no reaction"),
            Rest::TakenAsCommand => Some("taken as a command"),
            Rest::Idle | Rest::Ended { .. } | Rest::Lost => None,
        }
    }
}

impl Waits {
    /// Continues from what was known at a time.
    pub(super) fn known(over: Option<Span>, waits: bool, at: Timestamp) -> Self {
        Self { over, since: waits.then_some(at) }
    }

    /// Takes in whether it waits now, and whether anybody could have seen when that began or ended.
    pub(super) fn follow(&mut self, waits: bool, is_seen: bool, now: Timestamp) {
        match (self.since, waits) {
            (None, true) => self.since = Some(now),
            (Some(since), false) => {
                self.over = self.over.map(|over| over + now.since(since));
                self.since = None;
            }
            _ => {}
        }
        self.over = self.over.filter(|_| is_seen);
    }

    /// Whether it waits now.
    pub(super) fn is_waiting(&self) -> bool {
        self.since.is_some()
    }
}

impl Flight {
    /// A turn that begins on what is seen.
    pub(super) fn begins(source: TurnSource, before: Rest, seen: Option<&LastScreen>, at: Timestamp) -> Self {
        Self {
            stage: TurnStage::Awaited { since: at, taken: TakenAs::Prompt },
            source,
            armed_at: at,
            before,
            baseline: seen.cloned(),
            baseline_is_invalid: false,
            prompt: None,
            own: None,
            found_on: None,
            is_resumed: false,
            is_unwatched: false,
            begun_anew: false,
            retraction: None,
            waits: Waits { over: Some(Span::ZERO), since: None },
        }
    }

    /// How far it is after what happens.
    fn on(&mut self, event: TurnEvent<'_>, now: Timestamp) {
        match (&self.stage, event) {
            (_, TurnEvent::Moves { reading }) => self.sees_work(reading, now),
            (TurnStage::Awaited { .. }, TurnEvent::AnswerSeen) => self.stage = TurnStage::Working { seen_at: now },
            (&TurnStage::Working { seen_at } | &TurnStage::Settling { seen_at, .. }, TurnEvent::Rests { left }) => {
                self.stage = TurnStage::Settling { seen_at, since: now, left: left.clone() };
            }
            (&TurnStage::Settling { seen_at, .. }, TurnEvent::Stirs) => self.stage = TurnStage::Working { seen_at },
            _ => {}
        }
    }

    /// When it began; `None` if it was found at work.
    fn began(&self) -> Option<Timestamp> {
        match &self.retraction {
            Some(Retraction::Done(earlier)) => earlier.other.began,
            Some(Retraction::Undecided(_)) => None,
            None => Some(self.armed_at).filter(|_| self.is_anchored() || self.baseline.is_some()),
        }
    }

    /// How long it had waited for the operator by then; a success that it took back was a part of it.
    pub(super) fn waited(&self, at: Timestamp) -> Option<Span> {
        let before = match &self.retraction {
            Some(Retraction::Done(earlier)) => earlier.other.waited?,
            Some(Retraction::Undecided(_)) | None => Span::ZERO,
        };
        Some(self.waits.over? + self.waits.since.map_or(Span::ZERO, |since| at.since(since)) + before)
    }

    /// Whether an explicit input began it.
    pub(super) fn is_anchored(&self) -> bool {
        self.source == TurnSource::ExplicitInput
    }

    /// Whether it is a command of the agent's own of which no work was seen. It is no turn before that.
    pub(super) fn is_command(&self) -> bool {
        matches!(self.stage, TurnStage::Awaited { taken: TakenAs::Command, .. })
    }

    /// What its work has left, while that settles.
    pub(super) fn left(&self) -> Option<(&Self, &LastScreen)> {
        if let TurnStage::Settling { left, .. } = &self.stage { Some((self, left)) } else { None }
    }

    /// When its work was seen last.
    pub(super) fn seen_at(&self) -> Option<Timestamp> {
        match self.stage {
            TurnStage::Awaited { .. } => None,
            TurnStage::Working { seen_at } | TurnStage::Settling { seen_at, .. } => Some(seen_at),
        }
    }

    /// Its own prompt is in view.
    pub(in crate::tracker) fn shows(&mut self, reading: &Classification, at: Timestamp) {
        (self.prompt, self.own) = (reading.submitted.clone(), Some(LastScreen::of(reading, at)));
    }

    /// It is at work now.
    fn works(&mut self, now: Timestamp) {
        self.stage = TurnStage::Working { seen_at: now };
        (self.is_resumed, self.is_unwatched) = (false, false);
    }

    /// Takes in what a screen shows while the turn is in flight.
    pub(super) fn sees_work(&mut self, reading: &Classification, now: Timestamp) {
        if let TurnStage::Awaited { .. } = self.stage {
            self.before = Rest::Idle;
        }
        self.works(now);
        if self.shows_own_prompt(&reading.turn) {
            self.shows(reading, now);
        }
        self.begun_anew |= self.baseline.as_ref().is_some_and(|seen| is_begun_anew(&seen.region, &reading.turn));
    }

    /// Whether the latest prompt of a region is that of the turn: not the one that stood there before it, nor one that comes
    /// into view when the turn's own is taken back.
    fn shows_own_prompt(&self, region: &TurnRegion) -> bool {
        let stood_before = self.baseline.as_ref().is_some_and(|seen| seen.region.has_prompt_of(region));
        region.prompt.is_some()
            && !stood_before
            && self.own.as_ref().is_none_or(|own| region.prompts >= own.region.prompts)
    }

    /// Takes over what was seen during the turn before it after this one, reported late, was armed. `region` is the current
    /// one.
    fn takes_over(&mut self, earlier: &Self, region: &TurnRegion) {
        if earlier.seen_at().is_none_or(|at| at < self.armed_at) {
            return;
        }
        self.begun_anew = self.baseline.as_ref().is_some_and(|seen| is_begun_anew(&seen.region, region));
        (self.stage, self.prompt, self.own) = (earlier.stage.clone(), earlier.prompt.clone(), earlier.own.clone());
        self.is_unwatched = earlier.is_unwatched;
    }

    /// Whether the screen shows an answer or a completion row of this turn, rather than an earlier one.
    pub(super) fn answered_by(&self, seen: &LastScreen, ended: Option<&TurnRegion>) -> bool {
        let (before, region) = (self.baseline.as_ref().or(self.found_on.as_ref()), &seen.region);
        // A success that was taken back may come again with nothing added to its answer, and what was found below a prompt that
        // was sent may have stood there at the first look.
        let is_found = self.is_anchored() && self.baseline.is_none() && self.own.is_some();
        let ended = ended.filter(|_| !is_found && !matches!(self.retraction, Some(Retraction::Done(_))));
        // What a command of the agent's surface prints is no answer.
        let said = !region.text.is_empty() && !region.command;
        let differs = before.is_none_or(|seen| seen.region != *region) && ended.is_none_or(|ended| ended != region);
        let was_finished = before.and_then(|seen| seen.end.as_ref());
        let finished = seen.is_finished() && seen.end.as_ref() != was_finished;
        self.is_shown_on(seen) && ((said && (differs || self.begun_anew)) || finished)
    }

    /// Whether what stands on a screen stands below this turn's prompt. One that is not in view any more has scrolled away above
    /// what was added, or was taken back: then nothing was added, and a screen that is not full has fewer rows.
    fn is_shown_on(&self, seen: &LastScreen) -> bool {
        let (Some(own), region) = (&self.own, &seen.region) else { return true };
        let is_shorter = own.prompt_rows.is_some_and(|rows| seen.said_rows < rows);
        let is_added = self.baseline.as_ref().map(|baseline| !baseline.region.ends_like(region));
        match region.prompt {
            prompt if prompt == own.region.prompt => {
                region.prompts >= own.region.prompts || is_added == Some(true) || !is_shorter
            }
            Some(_) => is_added.unwrap_or(region.prompts > own.region.prompts),
            None => is_added != Some(false) && !is_shorter,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::ProfileSet;
    use crate::screen::{PaneFacts, Screen};

    const NOW: Timestamp = Timestamp::from_millis(1_000);
    const TABLE: &str = include_str!("../turn.md");
    const SCOUT: &str = include_str!("../../../tests/it/support/scout.toml");

    /// What held before the turns in flight: a result that no turn of a test has.
    fn before() -> Rest {
        Rest::Ended { armed_at: Some(Timestamp::from_millis(1)), retractable: None }
    }

    fn flight(source: TurnSource, stage: TurnStage) -> TurnState {
        TurnState::InFlight(Box::new(Flight { stage, ..Flight::begins(source, before(), None, NOW) }))
    }

    fn name(state: &TurnState) -> &'static str {
        match state {
            TurnState::AtRest(rest) if *rest == before() => "before",
            TurnState::AtRest(Rest::Idle) => "Idle",
            TurnState::AtRest(Rest::NoReaction) => "NoReaction",
            TurnState::AtRest(Rest::TakenAsCommand) => "TakenAsCommand",
            TurnState::AtRest(Rest::Ended { .. }) => "Ended",
            TurnState::AtRest(Rest::Lost) => "Lost",
            TurnState::InFlight(flight) => match flight.stage {
                TurnStage::Awaited { .. } => "Awaited",
                TurnStage::Working { .. } => "Working",
                TurnStage::Settling { .. } => "Settling",
            },
        }
    }

    #[test]
    fn the_table_of_the_transitions_is_that_of_the_code() {
        let mut profiles = ProfileSet::default();
        profiles.add("scout.toml", SCOUT).unwrap();
        let profile = profiles.select("scout", Some("1.0.0"), false).unwrap().profile;
        let reading = &profile.read(&Screen::from_capture(b"~ Thinking (1s)\n", 80, 24), &PaneFacts::default());
        let (region, taken, seen, at) = (&TurnRegion::default(), TakenAs::Prompt, None, NOW);
        let left = &LastScreen::of(reading, NOW);
        let sources = [TurnSource::ExplicitInput, TurnSource::SurfaceInference];
        let states = [
            TurnState::AtRest(Rest::Idle),
            TurnState::AtRest(Rest::Ended { armed_at: None, retractable: None }),
            TurnState::AtRest(Rest::Lost),
            flight(sources[0], TurnStage::Awaited { since: NOW, taken }),
            flight(sources[1], TurnStage::Awaited { since: NOW, taken }),
            flight(sources[1], TurnStage::Working { seen_at: NOW }),
            flight(sources[1], TurnStage::Settling { seen_at: NOW, since: NOW, left: left.clone() }),
        ];
        let how = Ending { result: TurnResult::Success, detail: None, began: None, told_by: Witness::Screen };
        let events = [
            TurnEvent::Sent { at: NOW + Span::from_secs(1), since: NOW, taken, seen, region: None },
            TurnEvent::PromptSeen { seen },
            TurnEvent::Work { reading, seen, goes_on: false },
            TurnEvent::Moves { reading },
            TurnEvent::RecordGoesOn { began: NOW, seen },
            TurnEvent::AnswerSeen,
            TurnEvent::Rests { left },
            TurnEvent::Stirs,
            TurnEvent::Ends { how, at, region, premature: false },
            TurnEvent::Vanishes,
            TurnEvent::CommandDone,
            TurnEvent::NoReaction,
            TurnEvent::GivenUp,
            TurnEvent::SurfaceLost { reason: LossReason::TmuxMissing },
            TurnEvent::Replaced { unseen: false },
            TurnEvent::Replaced { unseen: true },
        ];
        let mut table = String::new();
        for event in &events {
            let words = format!("{event:?}");
            let unseen = if words.contains("unseen: true") { ", unseen" } else { "" };
            let mut row = format!("| `{}`{unseen} |", words.split(' ').next().unwrap_or_default());
            for state in &states {
                let mut turn = TurnMachine { state: state.clone(), ..TurnMachine::NONE };
                turn.on(event.clone(), NOW);
                let to = name(&turn.state);
                row += &if to == name(state) { " · |".to_owned() } else { format!(" {to} |") };
            }
            table += &row;
            table.push('\n');
        }
        let missing: Vec<&str> = table.lines().filter(|row| !TABLE.contains(row)).collect();
        assert!(missing.is_empty(), "src/tracker/turn.md does not have:\n{}", missing.join("\n"));
    }
}
