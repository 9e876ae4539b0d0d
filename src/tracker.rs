//! One terminal over time (SPEC §7–8): a pure state machine.
//!
//! An [`Observation`] and its time go in; the published state changes and a [`Transition`] comes out. There is no
//! clock here: [`Tracker::handle`] with [`Observation::Nothing`] does what is due as time passes, and
//! [`Tracker::next_timeout`] says when that is. The same inputs give the same outputs.
//!
//! - `turn` is the turn in flight and how the last one ended: rules 1–7. `turn/state` has its states and transitions, which
//!   `tracker/turn.md` lists; the files beside it say when they come: from the screen, from time, from the agent's record.
//! - `ages` holds since when each part of the state is as it is, and `unwatched` which of these ages survive a gap in polling.
//! - `lifecycle` is readiness, completion and their timers.
//! - `timers` are all windows that run, by name: they say when something is due, and `explain` shows them. Most run only in
//!   the time that polls cover.
//! - `publish` makes the published state, with or without a readable screen; `answers` says what the operator has to do about it.
//! - `opener` says who opened a list of choices, where its rows do not.
//! - `events` names what changed between two assessments.

mod ages;
mod answers;
mod events;
mod lifecycle;
mod opener;
mod publish;
mod timers;
mod turn;
mod unreadable;
mod unwatched;

use ages::Ages;
pub use events::{Assessed, SurfaceEvent, surface_events};
use lifecycle::Lifecycle;
pub use publish::GoneReason;
use publish::{Loss, Published, aside, diagnostics};
pub use timers::{GAP, HANDOVER, STABLE, Settings, Timer, TimerName};
use turn::{Sighting, TurnTracker};

use serde_json::json;

use crate::agent_record::{AgentRecordReading, OpenCall, RecordedPhase};
use crate::profile::{Classification, TakenAs, Temporal};
use crate::screen::KeptScreen;
use crate::state::{
    AgentFacts, AssessedAvailability, Attention, Availability, Change, Fact, FactName, FactSource, FactValue,
    ParseStatus, Phase, Problem, ProcessState, Since, Stability, Stale, State, Summary, TerminalFacts, Transition,
    TransportState, Tri, Turn, TurnResult, kept,
};
use crate::time::{Span, Timestamp};

/// The result of one poll of the terminal.
#[derive(Clone, Debug)]
pub enum Observation<'a> {
    /// A known agent runs and its screen was read with a profile. `temporal` is what the profile says of time.
    Read { reading: &'a Classification, temporal: Temporal, resized: bool },
    /// A known agent runs and nothing of its screen, title or cursor has changed since it was last read.
    Unchanged,
    /// The pane is there, but no known agent runs in it any more. How it ended is known of one that was the pane's own program: its
    /// exit status, 128 and more for a signal.
    TuiDown { exit_status: Option<i32> },
    /// The agent was stopped, and something else has the keyboard. Its turn waits with it.
    Suspended,
    /// The program has no profile; the pane's own information about it, in one line.
    NoProfile { activity: String },
    /// The pane is gone, or what ran in it.
    Gone(GoneReason),
    /// tmux or the processes could not be asked.
    ProbeFailed(Problem),
    /// fleetwatch sent a prompt at this time; another fleetwatch process reports that a moment later.
    Submitted { at: Timestamp, taken: TakenAs },
    /// The operator has seen the terminal.
    Seen,
    /// Nothing but time.
    Nothing,
}

impl Observation<'_> {
    /// Whether it comes from a successful poll.
    const fn is_poll(&self) -> bool {
        use Observation::{Gone, NoProfile, Read, TuiDown, Unchanged};
        matches!(self, Read { .. } | Unchanged | TuiDown { .. } | NoProfile { .. } | Gone(_))
    }
}

/// Who opened what is in front, as long as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opener {
    Operator,
    Agent,
}

/// A terminal as the history knows it.
#[derive(Clone, Debug)]
pub struct TerminalHistory {
    /// The public state after the last transition.
    pub state: State,
    /// The screen at that time.
    pub screen: Option<KeptScreen>,
    /// Until when it was watched without a further change.
    pub watched_until: Timestamp,
    /// Until when it was watched without a gap since that transition.
    pub unbroken_until: Timestamp,
    /// Whether it took a prompt that fleetwatch sent after that, whose turn nobody watched.
    pub prompted: bool,
    /// Whether the operator has seen how the last turn ended.
    pub seen: bool,
}

/// One terminal over time.
#[derive(Clone, Debug)]
pub struct Tracker {
    settings: Settings,
    turn: TurnTracker,
    lifecycle: Lifecycle,
    published: Published,
    /// The signature of the published state.
    signature: u64,
    /// When the published state last changed in a way that its signature covers.
    stable_since: Timestamp,
    ages: Ages,
    /// The last reading and its time; it outlives failed probes.
    last_reading: Option<(Classification, Timestamp)>,
    /// Whether that is of the screen that was shown before this tracker began.
    is_remembered: bool,
    temporal: Temporal,
    /// When the first of an unbroken row of failed probes came, and how many came since.
    failing: Option<(Timestamp, u32)>,
    /// Since when the screen makes no sense.
    doubt_since: Option<Timestamp>,
    /// The reading of such a screen that comes to be believed when it stays.
    held_back: Option<Box<Classification>>,
    unseen: bool,
    /// When the agent last listed its commands at the prompt.
    commanded_at: Option<Timestamp>,
    opener: Option<Opener>,
    /// What the agent's own records say.
    record: AgentRecordReading,
    /// Facts from its screen beside the state.
    shown: AgentFacts,
    /// The last prompt that went in through fleetwatch.
    sent: Option<Fact>,
    observed_at: Timestamp,
    now: Timestamp,
    /// Since when nothing was printed, as of the last poll.
    printed_until: Option<Timestamp>,
    /// Until when the ages were followed that are remembered, as long as no poll has confirmed them.
    followed_until: Option<Timestamp>,
    /// Whether a prompt was sent to it while nobody watched.
    was_prompted: bool,
    /// Until when polls that find nothing new change nothing; `None` where each one may.
    rests_until: Option<Timestamp>,
}

impl Tracker {
    /// A tracker that has not seen anything yet.
    pub fn new(settings: Settings, now: Timestamp) -> Self {
        let published = Published::unknown();
        Self {
            turn: TurnTracker::new(&settings, now),
            lifecycle: Lifecycle::new(),
            signature: published.signature(),
            ages: Ages::new(&published, now),
            published,
            stable_since: now,
            last_reading: None,
            is_remembered: false,
            temporal: Temporal::default(),
            failing: None,
            doubt_since: None,
            held_back: None,
            unseen: false,
            commanded_at: None,
            opener: None,
            record: AgentRecordReading::default(),
            shown: AgentFacts::default(),
            sent: None,
            observed_at: now,
            now,
            printed_until: None,
            followed_until: None,
            was_prompted: false,
            rests_until: None,
            settings,
        }
    }

    /// A tracker of a new terminal: what it shows first did not begin before.
    pub fn begun(settings: Settings, now: Timestamp) -> Self {
        let mut tracker = Self::new(settings, now);
        tracker.turn.coverage.begins();
        tracker
    }

    /// Continues from earlier knowledge. `reading` is the reading of the screen at that time. A change that the next poll
    /// finds is a transition; nothing is made up for the time in between.
    pub fn remember(&mut self, known: &TerminalHistory, reading: Option<&Classification>, temporal: Temporal) {
        let state = &known.state;
        self.published = Published::known(state);
        self.signature = self.published.signature();
        self.ages = Ages::known(&self.published, state);
        self.stable_since = state.stability.stable_since;
        self.observed_at = known.watched_until;
        self.followed_until = Some(known.unbroken_until);
        self.was_prompted = known.prompted;
        self.temporal = temporal;
        self.remember_opener(reading, state.waits());
        let reading = reading.map(|reading| self.attributed(reading, known.watched_until).into_owned());
        self.last_reading = reading.clone().map(|reading| (reading, state.observed_at));
        self.is_remembered = true;
        self.unseen = !known.seen
            && (state.unseen
                || matches!(state.attention, Attention::Failed | Attention::Interrupted | Attention::Finished));
        self.shown = if state.has_ended() { state.agent.clone() } else { AgentFacts::default() };
        self.sent = state.agent.get(FactName::LastPrompt).filter(|fact| fact.source == FactSource::Sent).cloned();
        self.turn.remember(state, reading.as_ref(), known.watched_until);
        // The records were read already: what is news of them follows from what was known.
        self.turn.recorded(&self.record);
        self.lifecycle.remember(state);
    }

    /// Handles an observation. The transition says what changed, if anything did.
    ///
    /// Time never runs backwards: an observation that comes with an earlier time is taken for one of now.
    pub fn handle(&mut self, observation: Observation<'_>, now: Timestamp) -> Option<Transition> {
        let now = now.max(self.now);
        self.now = now;
        let mut next = self.published.clone();
        let mut notes = Vec::new();
        let (is_poll, is_unchanged) = (observation.is_poll(), matches!(observation, Observation::Unchanged));
        match observation {
            Observation::Read { reading, temporal, resized } => {
                self.observed(now);
                self.temporal = temporal;
                self.read(reading, resized, now, &mut next, &mut notes);
            }
            Observation::Unchanged => {
                self.observed(now);
                self.doubt_ages(None, now);
                self.confirm(now);
                self.unchanged(now, &mut next, &mut notes);
            }
            Observation::TuiDown { exit_status } => self.ended(exit_status, now, &mut next),
            Observation::Suspended => self.suspended(now, &mut next),
            Observation::NoProfile { activity } => {
                self.lost(Loss::no_profile(), now, &mut next);
                next.headline = Some(activity).filter(|activity| !activity.is_empty());
            }
            Observation::Gone(reason) => {
                // An agent that had ended does not end with its pane, and without a reading there was none.
                let had_ended = self.last_reading.is_some() && next.diagnostics.process_state == ProcessState::TuiDown;
                self.lost(Loss::gone(reason), now, &mut next);
                next.headline = reason.headline(had_ended);
            }
            Observation::ProbeFailed(problem) => self.probe_failed(problem, now, &mut next, &mut notes),
            Observation::Submitted { at, taken } => {
                self.turn.submitted(at.min(now), taken, now, &mut notes);
                self.lifecycle.armed();
                self.unchanged(now, &mut next, &mut notes);
            }
            Observation::Seen => {
                self.unseen = false;
                self.unchanged(now, &mut next, &mut notes);
            }
            Observation::Nothing => self.unchanged(now, &mut next, &mut notes),
        }
        self.note_sent_prompt();
        // What the first poll after a gap finds began unseen; so did what only time shows of it.
        let is_found = is_poll && self.turn.coverage.is_after_gap();
        let unseen = is_found || self.turn.is_unwatched();
        let reading =
            self.last_reading.as_ref().filter(|_| is_found && next.diagnostics.process_state == ProcessState::TuiUp);
        let at = reading.map_or(now, |(reading, _)| self.stood_since(reading, next.phase, now));
        // What nobody saw come stands since the last output.
        let stands_since = if is_found { self.last_output(now) } else { now };
        let transition = self.publish(next, notes, Since { at, exact: !unseen }, stands_since, now);
        self.rests_until = if is_unchanged && transition.is_none() { self.rest() } else { None };
        transition
    }

    /// Handles a poll without news if it changes nothing; returns `false` if it must be handled as
    /// [`Observation::Unchanged`].
    pub fn passes(&mut self, now: Timestamp) -> bool {
        let rests = self.rests_until.is_some_and(|until| (self.now..until).contains(&now));
        let passes = rests && self.turn.coverage.goes_on(now);
        if passes {
            (self.now, self.observed_at) = (now, now);
            self.confirm(now);
            self.turn.polled(now);
        }
        passes
    }

    /// The calls of tools that the agent's own record says are open, once it has had the time to say so of all: that long after
    /// a time.
    pub fn open_calls(&self, since: Timestamp, now: Timestamp) -> &[OpenCall] {
        if now.since(since) >= self.settings.differ { &self.record.calls } else { &[] }
    }

    /// Stores the agent's own records as they are now; they take effect with the next observation.
    pub fn recorded(&mut self, reading: AgentRecordReading) {
        self.turn.recorded(&reading);
        self.record = reading;
    }

    /// Stores the prompt that [`Observation::Submitted`] is about.
    pub fn sent(&mut self, text: &str, at: Timestamp) {
        self.sent = Some(Fact { value: FactValue::Text(kept(text)), source: FactSource::Sent, at });
    }

    /// Stores since when nothing was printed in the terminal, as of the next poll.
    pub fn printed_until(&mut self, at: Option<Timestamp>) {
        self.printed_until = at;
    }

    /// Whether the last poll read a screen, so that one without changes needs no reading again.
    pub fn is_reading(&self) -> bool {
        self.last_reading.is_some() && self.published.diagnostics.process_state == ProcessState::TuiUp
    }

    /// The public state in short.
    pub fn summary(&self) -> Summary {
        self.published.summary(self.operator_status())
    }

    /// When the terminal was last polled with success.
    pub fn observed_at(&self) -> Timestamp {
        self.observed_at
    }

    /// The public state at a time.
    pub fn state(&self, terminal: TerminalFacts, now: Timestamp) -> State {
        let now = now.max(self.now);
        let published = &self.published;
        let stable_for = now.since(self.stable_since);
        let (phase, attention) = (self.ages.phase, self.attention());
        let since = self.ages.word(attention);
        let unreadable = published.diagnostics.availability != Availability::Available || self.failing.is_some();
        let last = self.last_reading.as_ref().filter(|_| unreadable);
        let stale = last.map(|(last, at)| Stale::new(*at, last.surface, last.phase, &last.assessment));
        State {
            terminal,
            diagnostics: published.diagnostics.clone(),
            surface: published.surface,
            turn: Turn {
                phase: published.phase,
                background_work: published.background_work,
                since: phase.at,
                elapsed_seconds: now.since(phase.at).as_secs(),
                since_exact: phase.exact,
                waited: self.turn.waited(now),
            },
            last_turn: published.last_turn.clone(),
            assessment: published.assessment.clone(),
            operator: self.operator(),
            lifecycle_timing: self.lifecycle.timing(&self.settings, self.turn.settling_since(), now),
            lifecycle_authority: self.turn.authority(),
            stability: Stability {
                signature: format!("{:016x}", self.signature),
                stable: stable_for >= self.settings.stable,
                stable_for_seconds: stable_for.as_secs(),
                stable_since: self.stable_since,
            },
            attention,
            unseen: self.unseen,
            since: since.at,
            since_exact: since.exact,
            evidence: published.evidence.clone(),
            stale,
            activity: published.headline.clone(),
            ended_with: published.ended_with,
            agent: self.facts(),
            observed_at: self.observed_at,
        }
    }

    fn observed(&mut self, now: Timestamp) {
        self.observed_at = now;
        self.failing = None;
        self.turn.polled(now);
    }

    /// A screen was read.
    fn read(
        &mut self,
        reading: &Classification,
        resized: bool,
        now: Timestamp,
        next: &mut Published,
        notes: &mut Vec<&'static str>,
    ) {
        let reading = &*self.attributed(reading, now);
        let unreadable = reading.assessment.availability != AssessedAvailability::Supported;
        if (unreadable || reading.doubt.is_some()) && self.is_half_drawn(reading, now) {
            self.held_back = Some(Box::new(reading.clone()));
            self.turn.pass_time(now, self.temporal, notes);
            self.show(next);
            return;
        }
        self.held_back = None;
        if !unreadable && reading.doubt.is_none() {
            self.doubt_since = None;
        }
        let after_gap = self.turn.coverage.is_after_gap();
        if after_gap && self.turn.is_replaced(reading, now) {
            // Another turn, that nobody saw begin, and perhaps end: whoever sent its prompt was there.
            self.ages.begin_anew(Since { at: self.stood_since(reading, reading.phase, now), exact: false });
            self.unseen = false;
        } else {
            self.doubt_ages(Some(reading), now);
        }
        if let Some((last, _)) = self.last_reading.as_ref().filter(|_| !resized) {
            self.turn.end_resumed(reading, last.headline.as_deref(), self.temporal, now);
        }
        let resumes = std::mem::take(&mut self.is_remembered);
        let grew = !(resumes || (after_gap && !self.turn.is_in_flight()))
            && (self.temporal.growth || self.temporal.cautious)
            && !resized
            && (reading.turn.prompt.is_some() || self.turn.is_in_flight())
            && self.last_reading.as_ref().is_some_and(|(last, _)| reading.turn.grew_from(&last.turn));
        let begins =
            self.turn.sighted(&Sighting { reading, grew, resumes, resized, temporal: self.temporal }, now, notes);
        self.shown.show(&reading.facts, (reading.composer.is_some(), begins), now);
        self.last_reading = Some((Classification { dialog: None, ..reading.clone() }, now));
        self.show(next);
    }

    /// Whether a screen that makes no sense is still taken for a half-drawn one, so that what was known holds.
    fn is_half_drawn(&mut self, reading: &Classification, now: Timestamp) -> bool {
        let since = *self.doubt_since.get_or_insert(now);
        self.last_reading.is_some()
            && self.published.diagnostics.availability == Availability::Available
            && now.since(self.turn.coverage.begun(since)) < self.patience(Some(reading))
    }

    /// How long a screen that makes no sense is waited for. One that shows nothing at all is an agent between two
    /// paints or an empty capture, which SPEC §3 bears as long as a failed probe.
    fn patience(&self, reading: Option<&Classification>) -> Span {
        let blank = reading.is_some_and(|reading| reading.blank);
        if blank { self.settings.failed_probe_time } else { self.settings.doubt }
    }

    /// The screen that was read last was found again: what it says is as of now.
    fn confirm(&mut self, now: Timestamp) {
        let is_shown = self.held_back.is_none() && self.published.diagnostics.process_state == ProcessState::TuiUp;
        if let Some((_, at)) = self.last_reading.as_mut().filter(|_| is_shown) {
            *at = now;
        }
    }

    /// Nothing new is on the screen; only time has passed.
    fn unchanged(&mut self, now: Timestamp, next: &mut Published, notes: &mut Vec<&'static str>) {
        let patience = self.patience(self.held_back.as_deref());
        let coverage = self.turn.coverage;
        let stays = self.doubt_since.is_some_and(|since| now.since(coverage.begun(since)) >= patience);
        if let Some(reading) = self.held_back.take_if(|_| stays && coverage.holds(now)) {
            return self.read(&reading, false, now, next, notes);
        }
        self.turn.pass_time(now, self.temporal, notes);
        match next.diagnostics.process_state {
            ProcessState::TuiUp => self.show(next),
            _ => next.last_turn = self.turn.last_turn().clone(),
        }
    }

    /// Shows the last reading, and over it what only time can tell: a turn that goes on without a trace, a recovery.
    fn show(&self, next: &mut Published) {
        let Some((reading, _)) = &self.last_reading else { return };
        let supported = reading.assessment.availability == AssessedAvailability::Supported;
        let availability = if supported { Availability::Available } else { Availability::Unknown };
        next.diagnostics = diagnostics(availability, TransportState::TmuxUp, ProcessState::TuiUp, ParseStatus::Parsed);
        next.surface = reading.surface;
        next.phase = reading.phase;
        next.background_work = reading.background_work;
        next.assessment = reading.assessment.clone();
        (next.headline, next.ended_with) = (reading.headline.clone(), None);
        next.last_turn = self.turn.last_turn().clone();
        next.evidence = reading.evidence.clone();
        if !supported {
            next.add_evidence([aside("unsupported-surface", "no rule knows what the screen shows")]);
        }
        self.turn.lay_over(next, self.now);
        if let Some((context, word)) = self.turn.recorded_request(self.now) {
            next.wait_by_record(context, word);
        }
        if self.turn.recorded_as(RecordedPhase::Background).is_some() {
            next.background_work = Tri::Yes;
            next.add_evidence([aside("record", "the agent's own record says that a command is still running")]);
        }
        next.add_evidence(self.turn.evidence_of_last());
    }

    /// Makes the new state the published one and records what changed.
    fn publish(
        &mut self,
        mut next: Published,
        notes: Vec<&'static str>,
        since: Since,
        stands_since: Timestamp,
        now: Timestamp,
    ) -> Option<Transition> {
        self.lifecycle.update(&mut next, &self.turn, &self.settings, now);
        next.assessment.anomalies = self.anomalies();
        // Most polls find what they found before, and hashing is most of what such a poll would cost.
        let signature = if next == self.published { self.signature } else { next.signature() };
        // A recovery resets stability whatever it changes (SPEC §7).
        if !notes.is_empty() || signature != self.signature {
            self.stable_since = if notes.is_empty() { stands_since } else { now };
        }
        self.signature = signature;
        let has_ended = next.last_turn.result != TurnResult::None || next.last_turn.is_cut_off();
        if next.last_turn != self.published.last_turn && has_ended {
            self.unseen = true;
        }
        if next.phase == Phase::Active && self.published.phase != Phase::Active {
            self.unseen = false;
        }
        let waits = next.assessment.awaits_operator();
        let is_same = waits && next.dialog_name() == self.published.dialog_name();
        self.turn.follow_wait(waits, is_same, now);
        let previous = std::mem::replace(&mut self.published, next);
        let (attention, before) = (self.attention(), self.ages.attention.0);
        let is_settling = self.turn.settling_since().is_some();
        self.ages.follow(previous.phase, &self.published, (attention, self.turn.ended()), is_settling, since);
        let mut changed = previous.changes_to(&self.published);
        if attention != before && (attention == Attention::Stalled || before == Attention::Stalled) {
            // Nothing else shows that it has stalled, or goes on.
            changed.push(Change { field: "attention".into(), from: json!(before), to: json!(attention) });
        }
        if changed.is_empty() && notes.is_empty() {
            return None;
        }
        Some(Transition {
            at: now,
            changed,
            summary: self.published.summary(self.operator_status()),
            note: (!notes.is_empty()).then(|| notes.join("; ")),
            evidence: self.published.evidence.clone(),
        })
    }
}
