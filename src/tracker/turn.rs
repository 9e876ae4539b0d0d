//! The turn in flight and how the last one ended (SPEC §7, rules 1–7, and both recoveries).

mod ending;
mod recorded;
mod seen;
mod state;
mod timing;

use std::sync::Arc;

use seen::{Belief, LastScreen, ShownWork, dialog_is_work, immediate_result, is_limited, same_turn};
use state::{Anchor, Flight, Rest, TurnEvent, TurnMachine, TurnStage, TurnState, Waits};

use super::publish::{LossReason, Published, aside};
use super::timers::{Coverage, Settings};
use crate::agent_record::{AgentRecordReading, RecordedResult, RecordedTurn};
use crate::profile::{Classification, TakenAs, Temporal, TurnEnd, TurnRegion};
use crate::state::{
    AnchorState, Attention, BusinessState, Completion, CompletionAuthority, Evidence, LastTurn, LifecycleAuthority,
    Phase, RECORD_HOLDS, Since, State, Tri, TurnResult, TurnSource, UiContext, Witness,
};
use crate::status::Status;
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

/// A result in the word that people read.
fn word_of(result: TurnResult) -> String {
    Status::of_result(result).map_or_else(|| "no result".to_owned(), |status| status.word().into_owned())
}

/// What is known of a record.
#[derive(Clone, Debug, Default)]
struct RecordedState {
    turn: Option<RecordedTurn>,
    /// A result that is still to be published.
    due: Option<RecordedResult>,
    /// The time of the last published result, or since when results are news.
    known_until: Timestamp,
    /// Since when the record alone says that the agent asks for something.
    asks_alone_since: Option<Timestamp>,
    /// When a dialog was last on the screen.
    dialog_at: Option<Timestamp>,
}

impl RecordedState {
    /// One of which results after a time are news.
    fn since(now: Timestamp) -> Self {
        Self { known_until: now, ..Self::default() }
    }
}

/// The turns of one terminal.
#[derive(Clone, Debug)]
pub(super) struct TurnTracker {
    settings: Settings,
    /// The time that polls cover.
    pub(super) coverage: Coverage,
    turn: TurnMachine,
    /// The end mark that has already been reported, and the prompt that it stands below.
    known_end: Option<(TurnEnd, Option<u64>)>,
    seen: Option<LastScreen>,
    /// The screen before that one, for an input that is reported after its turn was seen.
    seen_before: Option<LastScreen>,
    work: Option<ShownWork>,
    /// When something last moved on a screen of a version that nobody has recorded, and how long that counts.
    moved: Option<(Timestamp, Span)>,
    /// When such a version was first seen at its prompt.
    greeted_at: Option<Timestamp>,
    /// Whether the title was seen to show work: then growth does not count.
    title_tells: bool,
    /// Whether the agent's session was seen to open, and since then nothing that anybody could have given it. What it works on
    /// (servers that it starts) is no turn, and its greeting no answer.
    greets: bool,
    /// The last draft that was seen in the prompt since another prompt came into view.
    drafted: Option<Arc<str>>,
    /// When the answer last grew, and the longest pause between two growths of this turn.
    growth: Option<(Timestamp, Span)>,
    /// When the terminal last changed its size.
    resized_at: Option<Timestamp>,
    /// The agent's words about its account's limit, which has stopped the turn in flight unless that is seen to go on.
    limited: Option<String>,
    recorded: RecordedState,
}

impl TurnTracker {
    pub(super) fn new(settings: &Settings, now: Timestamp) -> Self {
        Self {
            settings: settings.clone(),
            coverage: Coverage::new(settings, now),
            turn: TurnMachine::NONE,
            known_end: None,
            seen: None,
            seen_before: None,
            work: None,
            moved: None,
            greeted_at: None,
            title_tells: false,
            greets: false,
            drafted: None,
            growth: None,
            resized_at: None,
            limited: None,
            recorded: RecordedState::since(now),
        }
    }

    /// The terminal is polled.
    pub(super) fn polled(&mut self, now: Timestamp) {
        self.coverage.polled(now);
        if let Some(flight) = self.turn.state.flight_mut().filter(|_| self.coverage.is_after_gap()) {
            flight.is_unwatched = true;
        }
    }

    pub(super) fn last_turn(&self) -> &LastTurn {
        &self.turn.last
    }

    /// The evidence of the last turn's end: the record that reported it, and what the screen was taken for.
    pub(super) fn evidence_of_last(&self) -> impl Iterator<Item = Evidence> {
        let (last, screen) = (&self.turn.last, self.turn.screen_result);
        let detail = last.detail.as_deref();
        let evidence = match (last.told_by, last.result) {
            (Witness::Record, result) => {
                let words = detail.map(|detail| format!(": {detail}")).unwrap_or_default();
                let result = word_of(result);
                Some(aside("record", &format!("the agent's own record says how the last turn ended: {result}{words}")))
            }
            (Witness::Process, _) => detail.map(|detail| aside("last-turn", detail)),
            (_, TurnResult::None) => None,
            (_, TurnResult::Success) => Some(aside("last-turn", "the work ended, and its answer stood still")),
            (_, TurnResult::Interrupted | TurnResult::KnownFailure) => {
                Some(aside("last-turn", detail.unwrap_or("it ended without an answer")))
            }
        };
        let other = screen.filter(|_| last.told_by == Witness::Record).map(|screen| {
            let believed = if screen == last.result { "" } else { "; the record is believed" };
            aside("last-turn", &format!("the screen was read as {}{believed}", word_of(screen)))
        });
        evidence.into_iter().chain(other)
    }

    /// When the last turn ended, and whether that was seen.
    pub(super) fn ended(&self) -> Option<Since> {
        self.turn.last.at.map(|at| Since { at, exact: self.turn.saw_end })
    }

    pub(super) fn is_in_flight(&self) -> bool {
        self.flight().is_some()
    }

    /// Whether the turn in flight may have ended while nobody watched.
    pub(super) fn is_unwatched(&self) -> bool {
        self.flight().is_some_and(|flight| flight.is_unwatched)
    }

    pub(super) fn settling_since(&self) -> Option<Timestamp> {
        if let TurnStage::Settling { since, .. } = self.flight()?.stage { Some(since) } else { None }
    }

    /// Whether a command to the agent's own surface was sent, and has not done what it does.
    pub(super) fn is_commanded(&self) -> bool {
        self.flight().is_some_and(Flight::is_command)
    }

    /// How far the turn is; `in_flight` is said of one that is known to go on.
    pub(super) fn completion(&self, in_flight: Completion) -> Completion {
        match (&self.turn.state, self.turn.last.result) {
            (TurnState::InFlight(_), _) if self.leaves_answer() => Completion::CandidateComplete,
            (TurnState::InFlight(_), _) => in_flight,
            (TurnState::AtRest(Rest::Ended { .. }), TurnResult::Success) => Completion::Completed,
            (TurnState::AtRest(Rest::Ended { .. }), TurnResult::KnownFailure | TurnResult::Interrupted) => {
                Completion::Failed
            }
            (TurnState::AtRest(Rest::Lost), _) => Completion::Failed,
            (TurnState::AtRest(_), _) => Completion::Inactive,
        }
    }

    /// Takes in whether the agent waits for the operator, perhaps in the very dialog of the poll before.
    pub(super) fn follow_wait(&mut self, waits: bool, is_same: bool, now: Timestamp) {
        let (gap, long) = (self.coverage.is_after_gap(), self.coverage.is_after_long_gap());
        let Some(flight) = self.turn.state.flight_mut() else { return };
        let is_seen = !gap || is_same || !(long || waits || flight.waits.is_waiting());
        flight.waits.follow(waits, is_seen, now);
    }

    /// How long the turn in flight has waited for the operator by now.
    pub(super) fn waited(&self, now: Timestamp) -> Option<Span> {
        self.flight()?.waited(now)
    }

    /// One line about a decision that the screen does not show.
    pub(super) fn note(&self) -> Option<&'static str> {
        if let TurnState::AtRest(rest) = &self.turn.state { rest.note() } else { None }
    }

    fn flight(&self) -> Option<&Flight> {
        self.turn.state.flight()
    }

    /// A readable screen was seen. Returns whether a turn begins with it.
    pub(super) fn sighted(&mut self, sighting: &Sighting<'_>, now: Timestamp, notes: &mut Vec<&'static str>) -> bool {
        let (reading, rested) = (sighting.reading, self.flight().is_none());
        let believed = self.note_activity(reading, now);
        self.greets = (self.greets || reading.is_opening()) && !reading.shows_input();
        // Output of a command and the picker that it opens are not the work of a turn.
        let is_command = self.flight().is_some_and(Flight::is_command);
        let working = believed
            || self.record_goes_on(now)
            || (!is_command && sighting.grew && self.growth_tells(sighting.temporal));
        self.note_pace(sighting, now);
        if sighting.resized {
            self.resized_at = Some(now);
            // Its prompt, if that was in view, reads otherwise in other rows until it is seen again.
            let shown = self.seen.as_ref().and_then(|seen| seen.region.prompt);
            if let Some(flight) = self.turn.state.flight_mut() {
                flight.own = flight.own.take().filter(|own| own.region.prompt != shown);
            }
        }
        // What changes may be the same text, drawn for another size.
        let redrawn = self.resized_at.is_some_and(|at| now.since(at) < self.settings.doubt);
        if !working && !reading.in_dialog && redrawn {
            self.take_redrawn(&reading.turn);
        }
        if let Some(flight) = self.turn.state.flight_mut().filter(|_| reading.phase != Phase::Unknown) {
            match &mut flight.baseline {
                Some(baseline) if redrawn => baseline.transcript_rows = 0,
                Some(baseline) => {
                    let shorter = reading.transcript_rows < baseline.transcript_rows;
                    flight.baseline_is_invalid |= shorter && flight.source == TurnSource::ExplicitInput;
                }
                None => {}
            }
        }
        let limited = is_limited(reading) && !rested;
        if limited {
            self.limited = reading.headline.clone();
        } else if working {
            self.limited = None;
        }
        if !self.greets && (working || ((dialog_is_work(reading) || limited) && !is_command)) {
            let goes_on = self.takes_back(&reading.turn, now);
            let event = TurnEvent::Work { reading, seen: self.seen.as_ref(), goes_on };
            notes.extend(self.turn.on(event, now));
        } else if sighting.temporal.cautious && !is_command && reading.phase == Phase::Ready {
            self.note_movement(sighting, redrawn, now);
        }
        if self.coverage.is_after_gap() && !believed && !reading.in_dialog {
            // What came up since the last poll may have ended before this one.
            self.turn.state.flight_mut().into_iter().for_each(|flight| flight.is_unwatched = true);
        }
        self.note_submitted_prompt(sighting, redrawn, now);
        self.note_screen(reading, now);
        self.tell_returned_prompt(reading, now);
        self.pass_time(now, sighting.temporal, notes);
        rested && self.flight().is_some()
    }

    /// What happens by itself: the end of a turn, settle, silence, recoveries.
    pub(super) fn pass_time(&mut self, now: Timestamp, temporal: Temporal, notes: &mut Vec<&'static str>) {
        if !self.coverage.holds(now) {
            return;
        }
        self.follow_record(now);
        self.give_up_on_silence(now, notes);
        self.recover(now, notes);
        // What a window has shown stays so when a gap follows.
        self.moved = self.moved.filter(|_| self.unrecorded_rest().is_some_and(|timer| !timer.is_over(now)));
        let stands_still = self.standstill().is_some_and(|timer| timer.is_over(now));
        if let Some(work) = self.work.as_mut().filter(|_| stands_still) {
            work.belief = Belief::StandsStill;
        }
        self.end_turn(now, temporal);
        self.settle(now, temporal);
    }

    /// Tmux, the TUI or the probe is gone: an anchor is lost, and a turn in flight has no result (SPEC §7).
    pub(super) fn surface_lost(&mut self, reason: LossReason, now: Timestamp) {
        self.turn.on(TurnEvent::SurfaceLost { reason }, now);
        (self.work, self.seen, self.seen_before, self.greets) = (None, None, None, false);
    }

    /// Lays over what the screen by itself supports what only time and the record can tell.
    pub(super) fn lay_over(&self, next: &mut Published, now: Timestamp) {
        const WORKS: (Phase, Tri, BusinessState) = (Phase::Active, Tri::No, BusinessState::Working);
        const UNCLEAR: (Phase, Tri, BusinessState) = (Phase::Unknown, Tri::Unknown, BusinessState::Unknown);
        const STALE: &str = "stale-active-recovery";
        let set_aside = self.work.as_ref().filter(|work| work.belief == Belief::SetAside);
        let (said, rule, why) = match (self.flight(), set_aside) {
            (Some(_), _) if next.phase != Phase::Ready => return,
            (Some(_), _) if self.record_goes_on(now) => (WORKS, "record", RECORD_HOLDS),
            (Some(flight), _) => match flight.stage {
                TurnStage::Awaited { .. } if flight.is_anchored() => {
                    (WORKS, "explicit-input", "a prompt was sent, and its turn has not been seen yet")
                }
                TurnStage::Awaited { .. } => {
                    (WORKS, "submitted-prompt", "a prompt was submitted, and nothing is below it yet")
                }
                TurnStage::Working { .. } => (WORKS, "work-seen", "work was seen a moment ago, and no end of it"),
                TurnStage::Settling { .. } => return,
            },
            (None, _) if next.phase == Phase::Ready && self.moved.is_some() => {
                (UNCLEAR, "unrecorded-version", "no recording shows this version, and the screen moves")
            }
            (None, Some(_)) if next.phase != Phase::Active => return,
            // The agent may hang as well.
            (None, Some(work)) if work.activity.offers_stop => {
                (UNCLEAR, STALE, "the status row stands still, and still offers to stop the work")
            }
            // A list at the prompt is no place to submit, and without a prompt nothing is ready.
            (None, Some(_)) if next.surface.accepting_input == Tri::Yes => {
                let at_prompt = matches!(
                    next.assessment.ui_context,
                    UiContext::NormalPrompt | UiContext::CommandPrompt | UiContext::ErrorBanner
                );
                let (phase, ready) = if at_prompt { (Phase::Ready, Tri::Yes) } else { (Phase::Unknown, Tri::No) };
                ((phase, ready, BusinessState::Idle), STALE, "the status row was left behind: it stands still")
            }
            (None, _) => return,
        };
        next.is_rather(said, aside(rule, why));
    }

    /// Whether the transcript became shorter than the baseline taken at submission.
    pub(super) fn baseline_is_invalid(&self) -> bool {
        self.flight().is_some_and(|flight| flight.baseline_is_invalid)
    }

    /// Whether work that the agent repaints while it works stands still (SPEC §7).
    pub(super) fn work_stands_still(&self) -> bool {
        self.work.as_ref().is_some_and(|work| work.belief == Belief::StandsStill)
    }

    /// Whether the turn in flight, or the last one, began with what was sent at a time: else nobody knows whether the agent
    /// has it.
    pub(super) fn began_with(&self, at: Timestamp) -> bool {
        let anchor = self.turn.anchor.as_ref().filter(|_| self.is_in_flight());
        anchor.map(|anchor| anchor.armed_at).or(self.turn.last.began) == Some(at)
    }

    pub(super) fn authority(&self) -> LifecycleAuthority {
        let is_anchored = self.flight().is_some_and(Flight::is_anchored);
        let anchor = self.turn.anchor.as_ref();
        let lost = anchor.and_then(|anchor| anchor.lost.as_ref());
        LifecycleAuthority {
            completion_authority: if is_anchored {
                CompletionAuthority::TurnAnchored
            } else {
                CompletionAuthority::UnanchoredBackground
            },
            turn_anchor_state: match lost {
                _ if is_anchored => AnchorState::Active,
                Some(_) => AnchorState::Lost,
                None => AnchorState::Absent,
            },
            completion_monitoring_armed: self.is_in_flight(),
            anchor_armed_at: anchor.map(|anchor| anchor.armed_at),
            anchor_lost_at: lost.map(|(at, _)| *at),
            anchor_loss_reason: lost.map(|(_, reason)| reason.to_string()),
        }
    }

    /// Rule 5: whether work on this region is that of the turn that has just succeeded.
    fn takes_back(&mut self, region: &TurnRegion, now: Timestamp) -> bool {
        let at = self.turn.last.at.unwrap_or(now);
        now.since(at) <= self.settings.retraction
            && self.turn.state.rest_mut().retractable().is_some_and(|success| same_turn(&success.region, region))
    }

    /// Remembers the screen, and reports an end mark at once (rule 4).
    fn note_screen(&mut self, reading: &Classification, now: Timestamp) {
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
        if let Some(success) =
            self.turn.state.rest_mut().retractable().filter(|_| reading.surface.editing_input == Tri::Yes)
        {
            success.drafted = true;
        }
        if self.shows_work() || reading.in_dialog || reading.doubt.is_some() {
            return;
        }
        let evidence = reading.end.as_ref().and_then(|end| Some((end, immediate_result(end.mark)?)));
        if let Some((end, result)) = evidence {
            self.tell_end(end, result, &reading.turn, now);
        } else if reading.phase == Phase::Ready && !self.is_in_flight() {
            self.turn.ended_region.get_or_insert_with(|| reading.turn.clone());
        }
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
        let answers = self.leaves_answer();
        if let Some(flight) = self.turn.state.flight_mut() {
            match &mut flight.stage {
                // What was no answer before is not one that is drawn otherwise.
                TurnStage::Settling { .. } if !answers => {}
                TurnStage::Settling { left, .. } => redraw(&mut left.region),
                TurnStage::Awaited { .. } => flight.baseline.iter_mut().for_each(|seen| redraw(&mut seen.region)),
                TurnStage::Working { .. } => {}
            }
        }
        self.turn.ended_region.iter_mut().for_each(redraw);
        self.turn.state.rest_mut().retractable().into_iter().for_each(|success| redraw(&mut success.region));
        if let Some((_, prompt)) = self.known_end.as_mut().filter(|(_, prompt)| *prompt == seen.prompt) {
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
        // A reaction that is due already was never waited for: nobody watched, or the sender has another clock.
        let since = if now.since(at) < self.settings.no_reaction { at } else { now };
        let region = self.seen.as_ref().map(|seen| &seen.region);
        let is_older = |seen: &&LastScreen| seen.since <= at;
        let seen = self.seen.as_ref().filter(is_older).or(self.seen_before.as_ref().filter(is_older));
        notes.extend(self.turn.on(TurnEvent::Sent { at, since, taken, seen, region }, now));
        (self.greets, self.limited) = (false, None);
    }

    /// The turn of a prompt that was sent, as long as nobody has seen that, nor what stood there before.
    pub(in crate::tracker) fn unseen_flight(&mut self) -> Option<&mut Flight> {
        let is_unseen =
            |flight: &&mut Flight| flight.is_anchored() && flight.baseline.is_none() && flight.own.is_none();
        self.turn.state.flight_mut().filter(is_unseen)
    }

    /// Goes on from a state and from the screen that it was read from; somebody watched until `until`.
    pub(in crate::tracker) fn remember(&mut self, state: &State, reading: Option<&Classification>, until: Timestamp) {
        let authority = &state.lifecycle_authority;
        let is_armed = authority.completion_monitoring_armed;
        self.coverage.continues(until);
        self.recorded = RecordedState::since(until);
        let is_ended = !is_armed && state.last_turn.result != TurnResult::None;
        self.turn = TurnMachine {
            state: TurnState::AtRest(match is_ended {
                true => Rest::Ended { armed_at: None, retractable: None },
                false if !is_armed && state.last_turn.is_cut_off() => Rest::Lost,
                false => Rest::Idle,
            }),
            last: state.last_turn.clone(),
            saw_end: state.since_exact || !state.attention.is_about_the_past(),
            screen_result: None,
            ended_region: None,
            anchor: authority.anchor_armed_at.map(|armed_at| Anchor { armed_at, lost: None }),
        };
        let Some(reading) = reading else { return };
        let at = state.observed_at;
        self.seen = Some(LastScreen::of(reading, at));
        self.known_end = reading
            .end
            .clone()
            .filter(|end| immediate_result(end.mark).is_some())
            .map(|end| (end, reading.turn.prompt));
        let belief = match state.turn.phase {
            Phase::Active if state.attention == Attention::Stalled => Belief::StandsStill,
            Phase::Ready | Phase::Unknown if !is_armed => Belief::SetAside,
            _ => Belief::Believed,
        };
        self.work = reading.activity.clone().map(|activity| ShownWork { activity, since: at, belief });
        if is_armed {
            let source = match authority.turn_anchor_state {
                AnchorState::Active => TurnSource::ExplicitInput,
                AnchorState::Absent | AnchorState::Lost => TurnSource::SurfaceInference,
            };
            let mut flight =
                Flight::begins(source, Rest::Idle, None, authority.anchor_armed_at.unwrap_or(state.turn.since));
            let is_settling = state.operator.completion == Completion::CandidateComplete;
            let shows_work = reading.activity.is_some() || dialog_is_work(reading);
            if source == TurnSource::SurfaceInference || is_settling || shows_work {
                flight.sees_work(reading, at);
            } else {
                flight.baseline = Some(LastScreen { end: None, transcript_rows: 0, ..LastScreen::of(reading, at) });
            }
            if is_settling {
                // Its work was over already.
                flight.stage = TurnStage::Settling { seen_at: at, since: at, left: LastScreen::of(reading, at) };
            }
            // What stood there then is an answer only where it was said to be one.
            flight.found_on = Some(LastScreen::of(reading, at)).filter(|_| !is_settling);
            flight.is_resumed = true;
            flight.waits = Waits::known(state.turn.waited, state.waits(), state.turn.now());
            self.turn.state = TurnState::InFlight(Box::new(flight));
        } else if !reading.in_dialog {
            self.turn.ended_region = Some(reading.turn.clone());
        }
    }

    /// After a gap: whether another turn has taken the place of the one that was known. What went on then was seen to end
    /// only when the gap was short.
    pub(in crate::tracker) fn is_replaced(&mut self, reading: &Classification, now: Timestamp) -> bool {
        let replaced = self.seen.as_ref().is_some_and(|seen| !same_turn(&seen.region, &reading.turn));
        if replaced {
            let unseen = self.coverage.is_after_long_gap();
            self.turn.on(TurnEvent::Replaced { unseen }, now);
        }
        replaced
    }
}
