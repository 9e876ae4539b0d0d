//! The turn in flight and how the last one ended (SPEC §7, rules 1–7, and both recoveries).

mod ending;
mod flight;
mod known;
mod recorded;
mod timing;
mod waiting;

use std::borrow::Cow;

use ending::immediate_result;
use flight::{Belief, Completed, Flight, LastScreen, Retraction, ShownWork, dialog_is_work, same_turn};
use recorded::RecordedState;

use super::coverage::Coverage;
use super::{Settings, aside};
use crate::agent_record::AgentRecordReading;
use crate::profile::{Classification, TakenAs, Temporal, TurnEnd, TurnRegion};
use crate::state::{
    AnchorState, CompletionAuthority, Evidence, LastTurn, LifecycleAuthority, Phase, RETRACTION_UNDONE, Since, Tri,
    TurnSource,
};
use crate::time::{Span, Timestamp};

/// One reading with what the profile says of time and what the tracker knows of the readings before it.
pub(super) struct Sighting<'a> {
    pub reading: &'a Classification,
    /// The turn's text grew since the last reading.
    pub grew: bool,
    /// The reading before is one that is remembered: what was printed since may all be old.
    pub resumes: bool,
    /// The terminal has another size than at the last reading.
    pub resized: bool,
    pub temporal: Temporal,
}

/// How far the turn is, for the completion state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TurnStage {
    Idle,
    InFlight,
    Settling,
}

/// What is laid over the phase that the screen by itself supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PhaseOverlay {
    None,
    /// A turn goes on although the screen looks idle.
    Active(GoesOn),
    /// What looks ready moves, and no recording tells what that means in this version.
    Moving,
    /// A left-over status row is not believed any more (stale-active recovery).
    SetAside,
    /// The same of a row that still offers to stop the work: the agent may hang as well.
    Frozen,
}

/// Why a turn goes on although the screen looks idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GoesOn {
    /// A prompt was sent, and the screen shows nothing of it yet.
    Sent,
    /// A submitted prompt came into view, and nothing stands under it yet.
    Submitted,
    /// Work was seen a moment ago.
    WorkWasSeen,
    /// Its record says so.
    Recorded,
}

impl GoesOn {
    pub(super) fn evidence(self) -> Evidence {
        match self {
            GoesOn::Sent => aside("explicit-input", "a prompt was sent, and its turn has not been seen yet"),
            GoesOn::Submitted => aside("submitted-prompt", "a prompt was submitted, and nothing stands under it yet"),
            GoesOn::Recorded => aside("record", "the agent's own record holds the turn open"),
            GoesOn::WorkWasSeen => aside("work-seen", "work was seen a moment ago, and no end of it"),
        }
    }
}

/// A decision about a turn that the screen does not show.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
enum TurnNote {
    NoReaction,
    TakenAsCommand,
}

impl TurnNote {
    const fn word(self) -> &'static str {
        match self {
            TurnNote::NoReaction => "sent, no reaction",
            TurnNote::TakenAsCommand => "taken as a command",
        }
    }
}

/// Why and when an anchor went.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct AnchorLoss {
    at: Timestamp,
    reason: Cow<'static, str>,
}

/// The turns of one terminal.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct TurnMachine {
    settings: Settings,
    coverage: Coverage,
    flight: Option<Flight>,
    last_turn: LastTurn,
    /// Whether its end was seen, and not found when nobody had looked.
    saw_end: bool,
    /// Whether the last result is that of the latest turn, and not of one before it.
    result_is_current: bool,
    completed: Option<Completed>,
    /// The end mark that has already been told, and the prompt that it stands below.
    told_end: Option<(TurnEnd, Option<u64>)>,
    /// The region of the last turn that ended, or of the first screen at rest.
    ended_region: Option<TurnRegion>,
    /// When the turn that ended last had been armed.
    ended_armed_at: Option<Timestamp>,
    seen: Option<LastScreen>,
    /// The screen before that one, for an input that is told after its turn was seen.
    seen_before: Option<LastScreen>,
    work: Option<ShownWork>,
    /// When something last moved on a screen of a version that nobody has recorded, and how long that counts.
    moved: Option<(Timestamp, Span)>,
    /// When such a version was first seen at its prompt.
    greeted_at: Option<Timestamp>,
    /// Whether the title was seen to tell work: then growth need not.
    title_tells: bool,
    /// When the answer last grew, and the longest pause between two growths of this turn.
    growth: Option<(Timestamp, Span)>,
    /// When the terminal last changed its size.
    resized_at: Option<Timestamp>,
    anchor_armed_at: Option<Timestamp>,
    anchor_lost: Option<AnchorLoss>,
    /// Whether a turn was in flight when its surface was lost, and none was armed since.
    surface_is_lost: bool,
    note: Option<TurnNote>,
    recorded: RecordedState,
}

impl TurnMachine {
    pub(super) fn new(settings: &Settings, now: Timestamp) -> Self {
        Self {
            settings: settings.clone(),
            coverage: Coverage::new(settings, now),
            flight: None,
            last_turn: LastTurn::NONE,
            saw_end: true,
            result_is_current: false,
            completed: None,
            told_end: None,
            ended_region: None,
            ended_armed_at: None,
            seen: None,
            seen_before: None,
            work: None,
            moved: None,
            greeted_at: None,
            title_tells: false,
            growth: None,
            resized_at: None,
            anchor_armed_at: None,
            anchor_lost: None,
            surface_is_lost: false,
            note: None,
            recorded: RecordedState::since(now),
        }
    }

    /// The time that looks cover.
    pub(super) fn coverage(&self) -> Coverage {
        self.coverage
    }

    /// The terminal has just come to be.
    pub(super) fn begins(&mut self) {
        self.coverage.begins();
    }

    /// The terminal is looked at.
    pub(super) fn looked(&mut self, now: Timestamp) {
        self.coverage.looked(now);
        if let Some(flight) = self.flight.as_mut().filter(|_| self.coverage.is_after_gap()) {
            flight.is_unwatched = true;
        }
    }

    pub(super) fn last_turn(&self) -> &LastTurn {
        &self.last_turn
    }

    /// When the last turn ended, and whether that was seen.
    pub(super) fn ended(&self) -> Option<Since> {
        self.last_turn.at.map(|at| Since { at, exact: self.saw_end })
    }

    pub(super) fn stage(&self) -> TurnStage {
        match &self.flight {
            None => TurnStage::Idle,
            Some(flight) if flight.settling.is_some() => TurnStage::Settling,
            Some(_) => TurnStage::InFlight,
        }
    }

    /// Whether the turn in flight may have ended when nobody looked.
    pub(super) fn is_unwatched(&self) -> bool {
        self.flight.as_ref().is_some_and(|flight| flight.is_unwatched)
    }

    pub(super) fn settling_since(&self) -> Option<Timestamp> {
        self.flight.as_ref().and_then(|flight| flight.settling.as_ref()).map(|(since, _)| *since)
    }

    /// Whether work was seen in a turn that has not ended.
    pub(super) fn goes_on(&self) -> bool {
        self.flight.as_ref().is_some_and(|flight| flight.active_at.is_some() && flight.settling.is_none())
    }

    /// Whether the last result is that of the latest turn.
    pub(super) fn result_is_current(&self) -> bool {
        self.flight.is_none() && self.result_is_current
    }

    /// Whether the latest turn was lost with the surface that showed it.
    pub(super) fn is_lost(&self) -> bool {
        self.flight.is_none() && !self.result_is_current && self.surface_is_lost
    }

    /// One line about a decision that the screen does not show.
    pub(super) fn note(&self) -> Option<&'static str> {
        self.note.map(TurnNote::word)
    }

    /// A readable screen was seen.
    pub(super) fn sighted(&mut self, sighting: &Sighting<'_>, now: Timestamp, notes: &mut Vec<&'static str>) {
        let reading = sighting.reading;
        let believed = self.note_activity(reading, now);
        // What a command prints and the picker that it opens are not the work of a turn.
        let is_command = self.flight.as_ref().is_some_and(Flight::is_command);
        let working = believed
            || self.record_goes_on(now)
            || (!is_command && sighting.grew && self.growth_tells(sighting.temporal));
        self.note_pace(sighting, now);
        if sighting.resized {
            self.resized_at = Some(now);
        }
        let redrawn = self.is_redrawn(now);
        if !working && !reading.in_dialog && redrawn {
            self.take_redrawn(&reading.turn);
        }
        if let Some(flight) = self.flight.as_mut().filter(|_| reading.phase != Phase::Unknown) {
            let shorter = flight.baseline_rows.is_some_and(|rows| reading.transcript_rows < rows);
            flight.baseline_is_invalid |= shorter && !redrawn && flight.source == TurnSource::ExplicitInput;
            flight.baseline_rows = flight.baseline_rows.filter(|_| !redrawn);
        }
        if working || (dialog_is_work(reading) && !is_command) {
            self.work_seen(reading, now, notes);
        } else if sighting.temporal.cautious && !is_command && reading.phase == Phase::Ready {
            self.note_movement(sighting, redrawn, now);
        }
        if self.coverage.is_after_gap() && !believed && !reading.in_dialog {
            // What came up since the last look may have ended before this one.
            self.flight.iter_mut().for_each(|flight| flight.is_unwatched = true);
        }
        self.note_submitted_prompt(sighting, redrawn, now);
        self.look_at(reading, now);
        if sighting.temporal.prompt_returns {
            self.tell_returned_prompt(reading, now);
        }
        self.pass_time(now, sighting.temporal, notes);
    }

    /// What happens by itself: the end of a turn, settle, silence, recoveries.
    pub(super) fn pass_time(&mut self, now: Timestamp, temporal: Temporal, notes: &mut Vec<&'static str>) {
        if !self.coverage.holds(now) {
            return;
        }
        self.follow_record(now);
        self.give_up_on_silence(now, notes);
        self.recover(now, notes);
        // What a window has told stays told when a gap follows.
        self.moved = self.moved.filter(|_| self.unrecorded_rest().is_some_and(|timer| !timer.is_over(now)));
        let stands_still = self.standstill().is_some_and(|timer| timer.is_over(now));
        if let Some(work) = self.work.as_mut().filter(|_| stands_still) {
            work.belief = Belief::StandsStill;
        }
        self.end_turn(now, temporal);
        self.settle(now, temporal);
    }

    /// Tmux, the TUI or the probe is gone: an anchor is lost, and a turn in flight has no result (SPEC §7).
    pub(super) fn surface_lost(&mut self, reason: &'static str, now: Timestamp) {
        if let Some(flight) = self.flight.take() {
            self.surface_is_lost = true;
            if flight.source == TurnSource::ExplicitInput {
                self.anchor_lost = Some(AnchorLoss { at: now, reason: reason.into() });
            }
        }
        self.completed = None;
        (self.work, self.seen, self.seen_before) = (None, None, None);
    }

    pub(super) fn overlay(&self, phase: Phase, now: Timestamp) -> PhaseOverlay {
        match (&self.flight, phase) {
            (Some(_), Phase::Ready) if self.record_goes_on(now) => PhaseOverlay::Active(GoesOn::Recorded),
            (Some(flight), Phase::Ready) if flight.settling.is_none() => PhaseOverlay::Active(match flight.active_at {
                None if flight.source == TurnSource::SurfaceInference => GoesOn::Submitted,
                None => GoesOn::Sent,
                Some(_) => GoesOn::WorkWasSeen,
            }),
            (None, Phase::Ready) if self.moved.is_some() => PhaseOverlay::Moving,
            (None, Phase::Active) => match &self.work {
                Some(ShownWork { belief: Belief::SetAside, activity, .. }) if activity.offers_stop => {
                    PhaseOverlay::Frozen
                }
                Some(ShownWork { belief: Belief::SetAside, .. }) => PhaseOverlay::SetAside,
                _ => PhaseOverlay::None,
            },
            _ => PhaseOverlay::None,
        }
    }

    /// Whether the transcript became shorter than the baseline taken at submission.
    pub(super) fn baseline_is_invalid(&self) -> bool {
        self.flight.as_ref().is_some_and(|flight| flight.baseline_is_invalid)
    }

    /// Whether work that the agent repaints while it works stands still (SPEC §7).
    pub(super) fn work_stands_still(&self) -> bool {
        self.work.as_ref().is_some_and(|work| work.belief == Belief::StandsStill)
    }

    pub(super) fn authority(&self) -> LifecycleAuthority {
        let explicit = self.flight.as_ref().filter(|flight| flight.source == TurnSource::ExplicitInput);
        let state = match (explicit, &self.anchor_lost) {
            (Some(_), _) => AnchorState::Active,
            (None, Some(_)) => AnchorState::Lost,
            (None, None) => AnchorState::Absent,
        };
        LifecycleAuthority {
            completion_authority: if explicit.is_some() {
                CompletionAuthority::TurnAnchored
            } else {
                CompletionAuthority::UnanchoredBackground
            },
            turn_anchor_state: state,
            completion_monitoring_armed: self.flight.is_some(),
            anchor_armed_at: self.anchor_armed_at,
            anchor_lost_at: self.anchor_lost.as_ref().map(|loss| loss.at),
            anchor_loss_reason: self.anchor_lost.as_ref().map(|loss| loss.reason.to_string()),
        }
    }

    /// Rule 2 and rule 5: work arms a turn, or shows that the last one was not over.
    fn work_seen(&mut self, reading: &Classification, now: Timestamp, notes: &mut Vec<&'static str>) {
        self.note = None;
        if let Some(flight) = &mut self.flight {
            flight.sees_work(reading, now);
            self.decide_retraction(&reading.turn, now, notes);
            return;
        }
        let goes_on = self.completed.take().filter(|completed| {
            let at = completed.result.at.unwrap_or(now);
            now.since(at) <= self.settings.retraction && same_turn(&completed.region, &reading.turn)
        });
        let source = goes_on.as_ref().map_or(TurnSource::SurfaceInference, |completed| completed.result.source);
        self.result_is_current = false;
        self.surface_is_lost = false;
        if source == TurnSource::SurfaceInference {
            // A turn that is inferred from the screen has no anchor, so none can be lost (SPEC §7).
            (self.anchor_armed_at, self.anchor_lost) = (None, None);
        }
        // A turn that goes on is not measured against its own first part.
        let mut flight = Flight::begins(source, self.seen.as_ref().filter(|_| goes_on.is_none()), now);
        flight.sees_work(reading, now);
        flight.retraction = goes_on.map(Retraction::Undecided);
        self.flight = Some(flight);
        self.decide_retraction(&reading.turn, now, notes);
    }

    /// Rule 5: whether work soon after a success takes it back. Agents may show their spinner before the new prompt:
    /// then it was not the old turn that went on.
    fn decide_retraction(&mut self, region: &TurnRegion, now: Timestamp, notes: &mut Vec<&'static str>) {
        /// A prompt that was sent is drawn within this time.
        const PROMPT_IS_DRAWN: Span = Span::from_millis(1500);
        let Some(flight) = &mut self.flight else { return };
        match flight.retraction.take() {
            Some(Retraction::Undecided(completed)) if !same_turn(&completed.region, region) => {
                flight.source = TurnSource::SurfaceInference;
            }
            Some(Retraction::Undecided(completed))
                if completed.drafted && now.since(flight.armed_at) < PROMPT_IS_DRAWN =>
            {
                flight.retraction = Some(Retraction::Undecided(completed));
            }
            Some(Retraction::Undecided(completed)) => {
                self.last_turn = completed.previous.clone();
                flight.retraction = Some(Retraction::Done(completed));
                notes.push("premature success retracted");
            }
            Some(Retraction::Done(completed)) if !same_turn(&completed.region, region) => {
                self.last_turn = completed.result;
                flight.source = TurnSource::SurfaceInference;
                notes.push(RETRACTION_UNDONE);
            }
            other => flight.retraction = other,
        }
    }

    /// Remembers the screen, and tells an end mark at once (rule 4).
    fn look_at(&mut self, reading: &Classification, now: Timestamp) {
        let since = match &self.seen {
            Some(seen) if seen.phase == reading.phase && seen.region == reading.turn && seen.end == reading.end => {
                seen.since
            }
            _ => {
                self.seen_before = self.seen.take();
                now
            }
        };
        self.seen = Some(LastScreen::of(reading, since));
        if let Some(completed) = self.completed.as_mut().filter(|_| reading.surface.editing_input == Tri::Yes) {
            completed.drafted = true;
        }
        if self.shows_work() || reading.in_dialog || reading.doubt.is_some() {
            return;
        }
        let told = reading.end.as_ref().and_then(|end| Some((end, immediate_result(end.mark)?)));
        if let Some((end, result)) = told {
            self.tell_end(end, result, &reading.turn, now);
        } else if reading.phase == Phase::Ready && self.flight.is_none() {
            self.ended_region.get_or_insert_with(|| reading.turn.clone());
        }
    }

    /// Whether what changes on the screen may be the same text, drawn for another size.
    fn is_redrawn(&self, now: Timestamp) -> bool {
        /// Agents draw themselves anew within this time.
        const REDRAW: Span = Span::from_millis(1000);
        self.resized_at.is_some_and(|at| now.since(at) < REDRAW)
    }

    /// A resize shows the same turn in other rows (SPEC §7, rule 3): what was remembered of the region that was seen
    /// last is from now on the region as it is drawn now.
    fn take_redrawn(&mut self, region: &TurnRegion) {
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

    /// Rule 1: an explicit input arms a turn. It was submitted at `at`; what has been seen since belongs to it.
    pub(in crate::tracker) fn submitted(
        &mut self,
        at: Timestamp,
        taken: TakenAs,
        now: Timestamp,
        notes: &mut Vec<&'static str>,
    ) {
        self.note = None;
        self.anchor_armed_at = Some(at);
        self.anchor_lost = None;
        self.surface_is_lost = false;
        if self.adopt_flight(at) || self.adopt_result(at) {
            notes.push("its prompt was sent through fleetwatch");
            return;
        }
        self.completed = None;
        self.result_is_current = false;
        // A reaction that is due already was never waited for: nobody looked, or the sender's clock is another one.
        let waits_since = if now.since(at) < self.settings.no_reaction { at } else { now };
        let mut flight =
            Flight { waits_since, taken, ..Flight::begins(TurnSource::ExplicitInput, self.seen_at(at), at) };
        if let Some((earlier, seen)) = self.flight.take().zip(self.seen.as_ref()) {
            flight.takes_over(earlier, &seen.region);
        }
        self.flight = Some(flight);
    }

    /// The turn in flight was begun by this input, and its work was seen before the input was told.
    fn adopt_flight(&mut self, at: Timestamp) -> bool {
        let Some(flight) = &mut self.flight else { return false };
        let inferred = flight.source == TurnSource::SurfaceInference || flight.retraction.is_some();
        if !inferred || flight.armed_at < at {
            return false;
        }
        flight.source = TurnSource::ExplicitInput;
        if let Some(Retraction::Done(completed)) = flight.retraction.take() {
            // It was a new turn that began, and not the last one that went on.
            self.last_turn = completed.result;
        }
        true
    }

    /// The turn that this input began has ended already.
    fn adopt_result(&mut self, at: Timestamp) -> bool {
        let begun = self.ended_armed_at.is_some_and(|armed| armed >= at);
        let ended = self.last_turn.at.is_some_and(|ended| ended >= at);
        let inferred = self.result_is_current && self.last_turn.source == TurnSource::SurfaceInference;
        if self.flight.is_some() || !begun || !ended || !inferred {
            return false;
        }
        self.last_turn.source = TurnSource::ExplicitInput;
        if let Some(completed) = &mut self.completed {
            completed.result.source = TurnSource::ExplicitInput;
        }
        true
    }

    /// The last screen that was seen before a time, as far as it is remembered.
    fn seen_at(&self, at: Timestamp) -> Option<&LastScreen> {
        let is_older = |seen: &&LastScreen| seen.since <= at;
        self.seen.as_ref().filter(is_older).or(self.seen_before.as_ref().filter(is_older))
    }
}
