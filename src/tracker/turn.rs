//! The turn in flight and how the last one ended (SPEC §7, rules 1–7, and both recoveries).

use std::sync::Arc;

use super::{Settings, Temporal, aside};
use crate::moment::{Moment, Span};
use crate::profile::{Activity, EndMark, Reading, TurnEnd, TurnRegion};
use crate::state::{
    AnchorState, CompletionAuthority, Evidence, LastTurn, LifecycleAuthority, Phase, Tri, TurnResult, TurnSource,
    UiContext,
};

/// One reading with what the profile says of time and what the tracker knows of the readings before it.
pub(super) struct Sighting<'a> {
    pub reading: &'a Reading,
    /// The turn's text grew since the last reading.
    pub grew: bool,
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
pub(super) enum Overlay {
    None,
    /// A turn goes on although the screen looks idle.
    Active(GoesOn),
    /// A left-over status row is not believed any more (stale-active recovery).
    SetAside,
}

/// Why a turn goes on although the screen looks idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GoesOn {
    /// A prompt was sent, and the screen shows nothing of it yet.
    Sent,
    /// Work was seen a moment ago.
    WorkWasSeen,
}

impl GoesOn {
    pub(super) fn evidence(self) -> Evidence {
        match self {
            GoesOn::Sent => aside("explicit-input", "a prompt was sent, and its turn has not been seen yet"),
            GoesOn::WorkWasSeen => aside("work-seen", "work was seen a moment ago, and no end of it"),
        }
    }
}

/// A turn that has begun and not ended.
#[derive(Clone, Debug)]
struct Flight {
    source: TurnSource,
    armed_at: Moment,
    /// What the turn region showed when the turn was armed, if it was readable then.
    baseline: Option<TurnRegion>,
    /// How long the transcript was then, and how the turn before had ended.
    baseline_rows: Option<usize>,
    baseline_end: Option<TurnEnd>,
    /// Whether the transcript became shorter than it was then: it was redrawn or truncated (SPEC §6).
    baseline_is_invalid: bool,
    /// The submitted prompt, once it was seen during the turn.
    prompt: Option<Arc<str>>,
    /// When activity was last seen; `None` while an explicit input waits for a reaction.
    active_at: Option<Moment>,
    /// Whether the turn region was begun anew since the turn was armed. A turn may end on the very text that it began
    /// on, when the same prompt gets the same answer on a screen that has scrolled.
    begun_anew: bool,
    /// Since when the region stands still on a ready surface.
    settling: Option<(Moment, TurnRegion)>,
    /// The success that this turn may take back, or has taken back.
    retraction: Option<Retraction>,
}

/// Work came back soon after a success: was it the same turn?
#[derive(Clone, Debug)]
enum Retraction {
    /// The operator has typed since, so it may be a new turn whose prompt is not drawn yet.
    Undecided(Completed),
    /// It was taken back; a new prompt that comes into view gives it back.
    Done(Completed),
}

impl Flight {
    /// A turn that begins on what is seen now.
    fn begins(source: TurnSource, seen: Option<&Seen>, now: Moment) -> Self {
        Self {
            source,
            armed_at: now,
            baseline: seen.map(|seen| seen.region.clone()),
            baseline_rows: seen.map(|seen| seen.transcript_rows),
            baseline_end: seen.and_then(|seen| seen.end.clone()),
            baseline_is_invalid: false,
            prompt: None,
            active_at: None,
            begun_anew: false,
            settling: None,
            retraction: None,
        }
    }

    /// Takes in what a screen shows while the turn is in flight.
    fn sees_work(&mut self, reading: &Reading, now: Moment) {
        self.active_at = Some(now);
        self.settling = None;
        self.prompt = reading.submitted.clone().or(self.prompt.take());
        self.begun_anew |= self.baseline.as_ref().is_some_and(|baseline| is_begun_anew(baseline, &reading.turn));
    }

    /// Whether an answer or a completion row of this turn stands there, and not what stood there before it.
    fn answered_by(&self, region: &TurnRegion, end: Option<&TurnEnd>, ended: Option<&TurnRegion>) -> bool {
        let differs = |other: Option<&TurnRegion>| other.is_none_or(|other| other != region);
        // A success that was taken back may come again with nothing added to its answer.
        let ended = ended.filter(|_| !matches!(self.retraction, Some(Retraction::Done(_))));
        let answer = !region.text.is_empty() && (differs(self.baseline.as_ref()) && differs(ended));
        let finished = end.is_some_and(|end| end.mark == EndMark::Completed && Some(end) != self.baseline_end.as_ref());
        answer || finished || (self.begun_anew && !region.text.is_empty())
    }
}

/// A success, and what it would be taken back to.
#[derive(Clone, Debug)]
struct Completed {
    result: LastTurn,
    region: TurnRegion,
    previous: LastTurn,
    /// Whether a draft was seen in the prompt since.
    drafted: bool,
}

/// Why and when an anchor went.
#[derive(Clone, Debug)]
struct AnchorLoss {
    at: Moment,
    reason: &'static str,
}

/// What matters of the last readable screen.
#[derive(Clone, Debug)]
struct Seen {
    phase: Phase,
    in_dialog: bool,
    doubtful: bool,
    end: Option<TurnEnd>,
    region: TurnRegion,
    transcript_rows: usize,
    /// Since when all of this is as it is.
    since: Moment,
}

impl Seen {
    fn at_rest(&self) -> bool {
        self.phase == Phase::Ready && !self.in_dialog && !self.doubtful
    }
}

/// The turns of one terminal.
#[derive(Clone, Debug)]
pub(super) struct TurnMachine {
    settings: Settings,
    flight: Option<Flight>,
    last_turn: LastTurn,
    /// Whether the last result is that of the latest turn, and not of one before it.
    result_is_current: bool,
    completed: Option<Completed>,
    /// The end mark that has already been told, and the prompt that it stands below.
    told_end: Option<(TurnEnd, Option<u64>)>,
    /// The region of the last turn that ended, or of the first screen at rest.
    ended_region: Option<TurnRegion>,
    seen: Option<Seen>,
    /// The activity on the screen and since when it looks as it does.
    activity: Option<(Activity, Moment)>,
    /// The fingerprint of left-over activity that a recovery does not believe any more.
    set_aside: Option<u64>,
    stands_still: bool,
    /// When the answer last grew, and the longest pause between two growths of this turn.
    growth: Option<(Moment, Span)>,
    /// When the terminal last changed its size.
    resized_at: Option<Moment>,
    anchor_armed_at: Option<Moment>,
    anchor_lost: Option<AnchorLoss>,
    /// Whether a turn was in flight when its surface was lost, and none was armed since.
    surface_is_lost: bool,
    note: Option<&'static str>,
}

impl TurnMachine {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            settings: settings.clone(),
            flight: None,
            last_turn: LastTurn::NONE,
            result_is_current: false,
            completed: None,
            told_end: None,
            ended_region: None,
            seen: None,
            activity: None,
            set_aside: None,
            stands_still: false,
            growth: None,
            resized_at: None,
            anchor_armed_at: None,
            anchor_lost: None,
            surface_is_lost: false,
            note: None,
        }
    }

    pub(super) fn last_turn(&self) -> &LastTurn {
        &self.last_turn
    }

    pub(super) fn stage(&self) -> TurnStage {
        match &self.flight {
            None => TurnStage::Idle,
            Some(flight) if flight.settling.is_some() => TurnStage::Settling,
            Some(_) => TurnStage::InFlight,
        }
    }

    pub(super) fn settling_since(&self) -> Option<Moment> {
        self.flight.as_ref().and_then(|flight| flight.settling.as_ref()).map(|(since, _)| *since)
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
        self.note
    }

    /// Rule 1: an explicit input arms a turn.
    pub(super) fn submitted(&mut self, now: Moment) {
        self.note = None;
        self.completed = None;
        self.result_is_current = false;
        self.surface_is_lost = false;
        self.anchor_armed_at = Some(now);
        self.anchor_lost = None;
        self.flight = Some(Flight::begins(TurnSource::ExplicitInput, self.seen.as_ref(), now));
    }

    /// A readable screen was seen.
    pub(super) fn sighted(&mut self, sighting: &Sighting<'_>, now: Moment, notes: &mut Vec<&'static str>) {
        let reading = sighting.reading;
        let working = self.note_activity(reading, now) || sighting.grew;
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
        if working || dialog_is_work(reading) {
            self.work_seen(reading, now, notes);
        }
        self.look_at(reading, now, notes);
        if sighting.temporal.prompt_returns {
            self.tell_returned_prompt(reading, now);
        }
        self.pass_time(now, sighting.temporal, notes);
    }

    /// What happens by itself: the end of a turn, settle, silence, recoveries.
    pub(super) fn pass_time(&mut self, now: Moment, temporal: Temporal, notes: &mut Vec<&'static str>) {
        self.give_up_on_silence(now, notes);
        self.recover(now, notes);
        self.stands_still = self.stall_at().is_some_and(|at| at <= now);
        self.end_turn(now, temporal);
        self.settle(now, temporal);
    }

    /// When [`TurnMachine::pass_time`] has something to do; times that are over are among them.
    pub(super) fn next_timeout(&self, temporal: Temporal) -> impl Iterator<Item = Moment> {
        let flight = self.flight.as_ref();
        let settle = self.settling_since().map(|since| since + self.settings.settle);
        let silence = self.silent_until();
        let lingers = self.linger(temporal);
        let linger = flight.filter(|f| f.settling.is_none()).and_then(|f| f.active_at).map(|at| at + lingers);
        let stall = self.stall_at().filter(|_| !self.stands_still);
        [settle, silence, linger, stall, self.stale_active_at(), self.final_stable_at()].into_iter().flatten()
    }

    /// Tmux, the TUI or the probe is gone: an anchor is lost, and a turn in flight has no result (SPEC §7).
    pub(super) fn surface_lost(&mut self, reason: &'static str, now: Moment) {
        if let Some(flight) = self.flight.take() {
            self.surface_is_lost = true;
            if flight.source == TurnSource::ExplicitInput {
                self.anchor_lost = Some(AnchorLoss { at: now, reason });
            }
        }
        self.completed = None;
        self.activity = None;
        self.set_aside = None;
        self.stands_still = false;
        self.seen = None;
    }

    pub(super) fn overlay(&self, phase: Phase) -> Overlay {
        match (&self.flight, phase) {
            (Some(flight), Phase::Ready) if flight.settling.is_none() => Overlay::Active(match flight.active_at {
                None => GoesOn::Sent,
                Some(_) => GoesOn::WorkWasSeen,
            }),
            (None, Phase::Active) if self.activity_is_set_aside() => Overlay::SetAside,
            _ => Overlay::None,
        }
    }

    /// Whether the transcript became shorter than the baseline taken at submission.
    pub(super) fn baseline_is_invalid(&self) -> bool {
        self.flight.as_ref().is_some_and(|flight| flight.baseline_is_invalid)
    }

    /// Whether work that the agent repaints while it works stands still (SPEC §7).
    pub(super) fn work_stands_still(&self) -> bool {
        self.stands_still
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
            anchor_loss_reason: self.anchor_lost.as_ref().map(|loss| loss.reason.to_owned()),
        }
    }

    /// Keeps since when the screen's activity looks as it does; whether it is believed.
    fn note_activity(&mut self, reading: &Reading, now: Moment) -> bool {
        let Some(activity) = &reading.activity else {
            self.activity = None;
            self.set_aside = None;
            return false;
        };
        let since = match &self.activity {
            Some((known, since)) if known.fingerprint == activity.fingerprint => *since,
            _ => now,
        };
        self.activity = Some((activity.clone(), since));
        if !self.activity_is_set_aside() {
            self.set_aside = None;
        }
        self.set_aside.is_none()
    }

    /// Learns how slowly this turn's answer comes, so that its next pause is not taken for its end.
    fn note_pace(&mut self, sighting: &Sighting<'_>, now: Moment) {
        let region = &sighting.reading.turn;
        if self.seen.as_ref().is_some_and(|seen| !same_turn(&seen.region, region)) {
            self.growth = None;
        }
        // A pause in which the agent showed its work or asked something is no pause of the answer.
        let silent = sighting.reading.activity.is_none() && !sighting.reading.in_dialog;
        match &mut self.growth {
            Some((last, longest)) if sighting.grew && silent => {
                *longest = (*longest).max(now.since(*last));
                *last = now;
            }
            Some((last, _)) if sighting.grew || !silent => *last = now,
            None if sighting.grew => self.growth = Some((now, Span::ZERO)),
            _ => {}
        }
    }

    /// How long work is taken to go on after its last trace: as the profile says, or a tenth longer than this turn's
    /// longest pause so far, up to 4 s.
    fn linger(&self, temporal: Temporal) -> Span {
        let longest = self.growth.map_or(Span::ZERO, |(_, longest)| longest);
        let learned = Span::from_millis((longest.as_millis() * 11 / 10).min(4000));
        if temporal.growth { temporal.linger.max(learned) } else { temporal.linger }
    }

    /// Whether what changes on the screen may be the same text, drawn for another size.
    fn is_redrawn(&self, now: Moment) -> bool {
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

    fn activity_is_set_aside(&self) -> bool {
        self.activity.as_ref().is_some_and(|(activity, _)| self.set_aside == Some(activity.fingerprint))
    }

    /// Rule 2 and rule 5: work arms a turn, or shows that the last one was not over.
    fn work_seen(&mut self, reading: &Reading, now: Moment, notes: &mut Vec<&'static str>) {
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
    fn decide_retraction(&mut self, region: &TurnRegion, now: Moment, notes: &mut Vec<&'static str>) {
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
                notes.push("retraction undone: a new turn began");
            }
            other => flight.retraction = other,
        }
    }

    /// Remembers the screen, and tells an end mark at once (rule 4).
    fn look_at(&mut self, reading: &Reading, now: Moment, notes: &mut Vec<&'static str>) {
        let since = match &self.seen {
            Some(seen) if seen.phase == reading.phase && seen.region == reading.turn && seen.end == reading.end => {
                seen.since
            }
            _ => now,
        };
        self.seen = Some(Seen {
            phase: reading.phase,
            in_dialog: reading.in_dialog,
            doubtful: reading.doubt.is_some(),
            end: reading.end.clone(),
            region: reading.turn.clone(),
            transcript_rows: reading.transcript_rows,
            since,
        });
        if let Some(completed) = self.completed.as_mut().filter(|_| reading.surface.editing_input == Tri::Yes) {
            completed.drafted = true;
        }
        let believed_work = reading.activity.is_some() && self.set_aside.is_none();
        if believed_work || reading.in_dialog || reading.doubt.is_some() {
            return;
        }
        if let Some(end) = reading.end.as_ref().filter(|end| end.mark != EndMark::Completed) {
            self.tell_end(end, &reading.turn, now, notes);
        } else if reading.phase == Phase::Ready && self.flight.is_none() {
            self.ended_region.get_or_insert_with(|| reading.turn.clone());
        }
    }

    fn tell_end(&mut self, end: &TurnEnd, region: &TurnRegion, now: Moment, _notes: &mut Vec<&'static str>) {
        let told = self.told_end.as_ref().is_some_and(|(told, prompt)| {
            told == end && (*prompt == region.prompt || prompt.is_none() || region.prompt.is_none())
        });
        let flight_moved = self.flight.as_ref().is_some_and(|flight| {
            (flight.begun_anew || flight.baseline.as_ref().is_none_or(|baseline| baseline != region))
                && (flight.active_at.is_some() || flight.source == TurnSource::ExplicitInput)
        });
        let is_news = if self.flight.is_some() { flight_moved || !told } else { !told };
        if !is_news {
            return;
        }
        let source = self.flight.as_ref().map_or(TurnSource::SurfaceInference, |flight| flight.source);
        let result = match end.mark {
            EndMark::Interrupted => TurnResult::Interrupted,
            EndMark::Failed | EndMark::Completed => TurnResult::KnownFailure,
        };
        self.last_turn = LastTurn { result, source, at: Some(now), detail: Some(end.detail.clone()) };
        self.told_end = Some((end.clone(), region.prompt));
        self.ended_region = Some(region.clone());
        self.result_is_current = true;
        self.flight = None;
        self.completed = None;
    }

    /// A turn that was stopped before its answer: it is gone, and its prompt stands in the live prompt again.
    fn tell_returned_prompt(&mut self, reading: &Reading, now: Moment) {
        if !self.seen.as_ref().is_some_and(Seen::at_rest) {
            return;
        }
        let Some(flight) = self.flight.as_ref().filter(|flight| flight.active_at.is_some()) else { return };
        let (Some(sent), Some(draft)) = (&flight.prompt, &reading.draft) else { return };
        // Either may show only its first row.
        let is_back = !sent.is_empty() && (draft.starts_with(&**sent) || sent.starts_with(&**draft));
        if !is_back || reading.submitted.as_ref() == Some(sent) {
            return;
        }
        let detail = Some("stopped before an answer: the prompt came back as a draft".to_owned());
        self.last_turn = LastTurn { result: TurnResult::Interrupted, source: flight.source, at: Some(now), detail };
        self.ended_region = Some(reading.turn.clone());
        self.result_is_current = true;
        self.flight = None;
        self.completed = None;
    }

    /// Rule 3: the work has ended on a ready surface, and what stands there begins to settle.
    fn end_turn(&mut self, now: Moment, temporal: Temporal) {
        let linger = self.linger(temporal);
        let (Some(seen), Some(flight)) = (&self.seen, &mut self.flight) else { return };
        if seen.in_dialog {
            // The agent asks something, so its turn has not ended.
            flight.settling = None;
        }
        if !seen.at_rest() {
            return;
        }
        if self.activity.is_some() && self.set_aside.is_none() {
            return;
        }
        let finished = seen.end.as_ref().is_some_and(|end| end.mark == EndMark::Completed);
        let region = &seen.region;
        let answered = flight.answered_by(region, seen.end.as_ref(), self.ended_region.as_ref());
        match flight.active_at {
            None => {
                let new_prompt = flight.baseline.as_ref().is_some_and(|b| !same_turn(b, region));
                if new_prompt && answered {
                    // The turn began and ended between two looks; its prompt and its answer are there to see.
                    flight.active_at = Some(now);
                } else {
                    return;
                }
            }
            Some(at) if now.since(at) < linger && !finished => return,
            Some(_) => {}
        }
        match &flight.settling {
            Some((_, settling)) if settling.text == region.text => {}
            _ => flight.settling = Some((now, region.clone())),
        }
    }

    /// Rule 3: what has stood still for the settle window is a success if it is an answer. Work that has vanished
    /// without one ends the turn without a word; it gets the window too, since an answer may be drawn a moment later.
    fn settle(&mut self, now: Moment, temporal: Temporal) {
        let due = self.settling_since().is_some_and(|since| now.since(since) >= self.settings.settle);
        if !due {
            return;
        }
        let Some(flight) = self.flight.take() else { return };
        let Some((_, region)) = flight.settling.clone() else { return };
        let finished = self.seen.as_ref().and_then(|seen| seen.end.as_ref());
        if !flight.answered_by(&region, finished, self.ended_region.as_ref()) {
            return;
        }
        if temporal.completion_row && finished.is_none_or(|end| end.mark != EndMark::Completed) {
            // It stopped without saying that it is done: no success, and nothing that says what else.
            self.ended_region = Some(region);
            return;
        }
        let result = LastTurn { result: TurnResult::Success, source: flight.source, at: Some(now), detail: None };
        let previous = std::mem::replace(&mut self.last_turn, result.clone());
        self.ended_region = Some(region.clone());
        self.told_end = None;
        self.result_is_current = true;
        // Below the agent's own completion row only another turn can follow (a background command that ends starts
        // one by itself), so such a success is never premature.
        let marked = self.seen.as_ref().and_then(|seen| seen.end.as_ref());
        self.completed = marked.is_none_or(|end| end.mark != EndMark::Completed).then_some(Completed {
            result,
            region,
            previous,
            drafted: false,
        });
    }

    /// Rule 1: an explicit input of which the screen shows nothing is dropped.
    fn give_up_on_silence(&mut self, now: Moment, notes: &mut Vec<&'static str>) {
        if self.silent_until().is_some_and(|at| at <= now) {
            self.flight = None;
            self.anchor_lost = Some(AnchorLoss { at: now, reason: "no_reaction" });
            self.note = Some("sent, no reaction");
            notes.push("sent, no reaction");
        }
    }

    /// Until when an explicit input may wait for a reaction. Work that went on when it was sent is one.
    fn silent_until(&self) -> Option<Moment> {
        let working = self.activity.is_some() && self.set_aside.is_none();
        let flight = self.flight.as_ref().filter(|flight| flight.active_at.is_none() && !working)?;
        Some(flight.armed_at + self.settings.no_reaction)
    }

    /// Both recoveries from a stuck `active`. Neither makes a success.
    fn recover(&mut self, now: Moment, notes: &mut Vec<&'static str>) {
        if self.stale_active_at().is_some_and(|at| at <= now) {
            self.set_aside = self.activity.as_ref().map(|(activity, _)| activity.fingerprint);
            self.flight = None;
            notes.push("stale_active_recovery");
        }
        if self.final_stable_at().is_some_and(|at| at <= now) {
            let flight = self.flight.take();
            if flight.is_some_and(|flight| flight.source == TurnSource::ExplicitInput) {
                self.anchor_lost = Some(AnchorLoss { at: now, reason: "final_stable_active_recovery" });
            }
            notes.push("final_stable_active_recovery");
        }
    }

    /// Stale-active: no anchor, a prompt that would take a submission, and a status row that stands still.
    fn stale_active_at(&self) -> Option<Moment> {
        let anchored = self.flight.as_ref().is_some_and(|flight| flight.source == TurnSource::ExplicitInput);
        let (activity, since) = self.activity.as_ref()?;
        (!anchored && activity.status_row_only && activity.prompt_idle && self.set_aside.is_none())
            .then(|| *since + self.settings.stale_active_recovery)
    }

    /// Final stable-active: the screen is ready and unchanged, and still a turn is held to be in flight.
    fn final_stable_at(&self) -> Option<Moment> {
        let seen = self.seen.as_ref().filter(|seen| seen.at_rest())?;
        let flight = self.flight.as_ref().filter(|flight| flight.settling.is_none())?;
        // A screen may have stood for an hour when a prompt is sent.
        let still_since = seen.since.max(flight.armed_at).max(flight.active_at.unwrap_or(flight.armed_at));
        Some(still_since + self.settings.final_stable_active_recovery)
    }

    /// A counter that the agent repaints while it works stands still.
    fn stall_at(&self) -> Option<Moment> {
        let (activity, since) = self.activity.as_ref()?;
        (activity.ticks && self.set_aside.is_none()).then(|| *since + self.settings.final_stable_active_recovery)
    }
}

/// Whether two regions belong to the same turn: the same submitted prompt, as far as it can be seen.
fn same_turn(one: &TurnRegion, other: &TurnRegion) -> bool {
    match (one.prompt, other.prompt) {
        (Some(a), Some(b)) => a == b && one.prompts == other.prompts,
        // A prompt that scrolls away leaves the same turn; one that comes into view begins another.
        (Some(_), None) => true,
        (None, None) => true,
        (None, Some(_)) => false,
    }
}

/// Whether the text since the last prompt does not go on from an earlier one: another prompt was submitted.
fn is_begun_anew(earlier: &TurnRegion, region: &TurnRegion) -> bool {
    !region.text.starts_with(&*earlier.text)
}

/// A turn is in flight while its agent asks something of the operator.
fn dialog_is_work(reading: &Reading) -> bool {
    reading.in_dialog && matches!(reading.assessment.ui_context, UiContext::ApprovalPrompt | UiContext::Question)
}
