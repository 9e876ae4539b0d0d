//! What must hold of a tracker whatever comes in, in any order and with any gaps in time (SPEC §3, §4, §7).
//!
//! The screens are put together at random from the rows of an agent that does not exist (`support/scout.toml`) and read
//! with its profile, so that every reading is one that a screen can give.

use std::sync::{Arc, OnceLock};

use fleetwatch::profile::{Classification, EndMark, Profile, ProfileSet, TakenAs, Temporal, TurnRegion};
use fleetwatch::screen::{Cursor, PaneFacts, Screen};
use fleetwatch::state::{
    AnchorState, Attention, Availability, BusinessState, Completion, InputMode, OperatorStatus, Phase, Problem, State,
    TerminalFacts, Transition, Tri, TurnResult, TurnSource, UiContext,
};
use fleetwatch::time::{Span, Timestamp};
use fleetwatch::tracker::{GoneReason, Observation, Settings, TerminalHistory, Tracker};
use proptest::prelude::*;

/// What may be drawn between the transcript and the prompt.
const EDGES: [&str; 7] =
    ["", "~ Thinking (1s)", "~ Thinking (2s)", "~ retrying in 4s", "+ queued", "% torn", "= done in 4s"];
/// What may end a turn.
const ENDS: [&str; 5] = ["", "x Interrupted by you", "! 529 overloaded", "= done in 4s", "• More."];
/// What may stand at the bottom: prompts, lists, dialogs, nothing.
const BOTTOMS: [&str; 11] = [
    "❯",
    "❯ a draft",
    "❯\n-- Tip: use /help",
    "❯\n-- 2 jobs run",
    "❯\n-- starting",
    "❯ /mo\n/model",
    "? Run rm -rf build?\n▸ 1. Yes",
    "? Which database?\n▸ 1. Postgres",
    "? Trust this folder?\n▸ 1. Yes",
    "[menu] models",
    "",
];

/// A screen in a few numbers.
#[derive(Clone, Debug)]
struct Picture {
    prompts: usize,
    answer: usize,
    end: usize,
    edge: usize,
    bottom: usize,
    title: bool,
    cursor: bool,
}

/// One thing that happens.
#[derive(Clone, Debug)]
enum Happening {
    Screen {
        picture: Picture,
        resized: bool,
    },
    Unchanged,
    Down,
    NoProfile,
    Gone,
    Failed,
    /// A prompt was sent so many milliseconds ago, as another process tells now.
    Submitted {
        ago: u64,
    },
    Seen,
    /// The timer that the tracker asked for, while nobody polls.
    Timer,
    /// A poll at that time, which finds nothing new.
    TimelyPoll,
}

impl Happening {
    /// Whether somebody polls, and does not fail.
    fn is_poll(&self) -> bool {
        !matches!(self, Happening::Failed | Happening::Submitted { .. } | Happening::Seen | Happening::Timer)
    }
}

fn pictures() -> impl Strategy<Value = Picture> {
    let numbers = (0..4_usize, 0..4_usize, 0..ENDS.len(), 0..EDGES.len(), 0..BOTTOMS.len());
    (numbers, prop::bool::weighted(0.1), prop::bool::weighted(0.95)).prop_map(
        |((prompts, answer, end, edge, bottom), title, cursor)| Picture {
            prompts,
            answer,
            end,
            edge,
            bottom,
            title,
            cursor,
        },
    )
}

/// Pictures that are usual, so that whole turns happen and not only contradictions.
fn usual_pictures() -> impl Strategy<Value = Picture> {
    let plain =
        |prompts, answer, end, edge, bottom| Picture { prompts, answer, end, edge, bottom, title: false, cursor: true };
    prop_oneof![
        (1..4_usize, 0..4_usize, 1..4_usize)
            .prop_map(move |(prompts, answer, edge)| plain(prompts, answer, 0, edge, 0)),
        (1..4_usize, 0..4_usize, 0..ENDS.len(), 0..4_usize)
            .prop_map(move |(prompts, answer, end, bottom)| plain(prompts, answer, end, 0, bottom)),
        (1..4_usize, 0..4_usize, 6..9_usize)
            .prop_map(move |(prompts, answer, bottom)| plain(prompts, answer, 0, 0, bottom)),
        pictures(),
    ]
}

fn happenings() -> impl Strategy<Value = Vec<(u64, Happening)>> {
    let happening = prop_oneof![
        8 => (usual_pictures(), prop::bool::weighted(0.05))
            .prop_map(|(picture, resized)| Happening::Screen { picture, resized }),
        3 => Just(Happening::Unchanged),
        2 => Just(Happening::Timer),
        4 => Just(Happening::TimelyPoll),
        1 => prop_oneof![Just(0), 1..5000_u64].prop_map(|ago| Happening::Submitted { ago }),
        1 => Just(Happening::Failed),
        1 => prop_oneof![
            Just(Happening::Down),
            Just(Happening::NoProfile),
            Just(Happening::Gone),
            Just(Happening::Seen)
        ],
    ];
    let gap = prop_oneof![4 => 0..600_u64, 3 => 600..3000_u64, 1 => 3000..40_000_u64];
    prop::collection::vec((gap, happening), 1..60)
}

fn draw(picture: &Picture) -> (Screen, PaneFacts) {
    let mut rows = String::new();
    for n in 0..picture.prompts {
        rows += &format!("» prompt {n}\n");
        let lines = if n + 1 == picture.prompts { picture.answer } else { 1 };
        (0..lines).for_each(|line| rows += &format!("• answer {n} {line}\n"));
    }
    for row in [ENDS[picture.end], EDGES[picture.edge], "", BOTTOMS[picture.bottom]] {
        rows += row;
        rows.push('\n');
    }
    let facts = PaneFacts {
        title: if picture.title { "* busy".to_owned() } else { String::new() },
        cursor: Cursor { visible: picture.cursor, ..Cursor::default() },
        ..PaneFacts::default()
    };
    (Screen::from_capture(rows.as_bytes(), 80, 24), facts)
}

fn profile(version: usize) -> &'static Arc<Profile> {
    static PROFILES: OnceLock<Vec<Arc<Profile>>> = OnceLock::new();
    let profiles = PROFILES.get_or_init(|| {
        let mut profiles = ProfileSet::default();
        profiles.add("scout.toml", include_str!("../support/scout.toml")).expect("the scout's profile is well-formed");
        let of = |version| profiles.select("scout", Some(version), false).expect("the scout is known").profile;
        ["1.0.0", "2.0.0", "3.0.0"].map(of).to_vec()
    });
    &profiles[version % profiles.len()]
}

/// The second half of the versions is read as if no recording showed them.
const VERSIONS: usize = 6;

fn terminal() -> TerminalFacts {
    TerminalFacts { id: "t".to_owned(), tool: "scout".to_owned(), ..TerminalFacts::default() }
}

/// A tracker with what a reader of its inputs knows of the turn.
struct Watch {
    profile: &'static Arc<Profile>,
    cautious: bool,
    tracker: Tracker,
    now: Timestamp,
    /// When the terminal was polled last.
    polled_at: Timestamp,
    last: Option<Classification>,
    /// The turn regions of all readings.
    past: Vec<TurnRegion>,
    before: State,
    /// Whether work, a question of the agent, or a sent prompt was seen since the last result or loss.
    stirred: bool,
    /// What the history keeps: the state after the last transition, and what its screen read as.
    kept: Option<(State, Option<Classification>)>,
}

const BEGINNING: Timestamp = Timestamp::from_millis(1_700_000_000_000);

impl Watch {
    fn new(version: usize) -> Self {
        let tracker = Tracker::new(Settings::default(), BEGINNING);
        let before = tracker.state(terminal(), BEGINNING);
        Self {
            profile: profile(version),
            cautious: version >= VERSIONS / 2,
            tracker,
            now: BEGINNING,
            polled_at: BEGINNING,
            last: None,
            past: Vec::new(),
            before,
            stirred: false,
            kept: None,
        }
    }

    /// Whether the last reading is what is shown.
    fn is_readable(&self) -> bool {
        // A menu hides what settles behind it.
        let is_seen = |last: &Classification| last.phase != Phase::Unknown || last.in_dialog;
        let is_clear = |last: &Classification| last.doubt.is_none() && last.family.is_some() && is_seen(last);
        let readable = self.last.as_ref().is_some_and(is_clear);
        readable && self.before.diagnostics.availability == Availability::Available
    }

    /// Whether the screen shows the end mark that the history's does: the same mark again, without a turn before it, is not told.
    fn keeps_its_mark(&self) -> bool {
        let mark = |reading: &Classification| reading.end.clone().filter(|end| end.mark != EndMark::Completed);
        let kept = self.kept.as_ref().and_then(|(_, reading)| reading.as_ref());
        kept.and_then(mark) == self.last.as_ref().and_then(mark)
    }

    /// Another process, which goes on from the history and reads the same screen.
    fn restarted(&self) -> Option<Self> {
        let (state, reading) = self.kept.clone()?;
        let mut next = Self { cautious: self.cautious, profile: self.profile, ..Self::new(0) };
        next.tracker = Tracker::new(Settings::default(), self.now);
        let known = TerminalHistory {
            state,
            screen: None,
            watched_until: self.polled_at,
            unbroken_until: self.polled_at,
            prompted: false,
            seen: !self.before.unseen,
        };
        let temporal = Temporal { cautious: self.cautious, ..self.profile.temporal() };
        next.tracker.remember(&known, reading.as_ref(), temporal);
        let shown = self.last.as_ref()?;
        next.tracker.handle(Observation::Read { reading: shown, temporal, resized: false }, self.now);
        (next.now, next.polled_at, next.last) = (self.now, self.now, self.last.clone());
        Some(next)
    }

    /// What is said at a time.
    fn said(&self) -> impl PartialEq + std::fmt::Debug + use<> {
        let state = self.tracker.state(terminal(), self.now);
        (state.turn.phase, state.surface, state.last_turn.result, state.attention)
    }

    fn happens(&mut self, gap: u64, happening: &Happening) -> Result<(State, Option<Transition>), TestCaseError> {
        let mut at = self.now + Span::from_millis(gap);
        let mut sent = false;
        let transition = match happening {
            Happening::Screen { picture, resized } => {
                let (screen, facts) = draw(picture);
                let reading = self.profile.read(&screen, &facts);
                // A half-drawn screen is passed over, so that growth is measured from an earlier one.
                let grew = self.past.iter().any(|past| reading.turn.grew_from(past));
                self.past.push(reading.turn.clone());
                let asks = matches!(reading.assessment.ui_context, UiContext::ApprovalPrompt | UiContext::Question);
                self.stirred |= reading.activity.is_some() || asks || (grew && self.profile.temporal().growth);
                let temporal = Temporal { cautious: self.cautious, ..self.profile.temporal() };
                let observation = Observation::Read { reading: &reading, temporal, resized: *resized };
                let transition = self.tracker.handle(observation, at);
                self.last = Some(reading);
                transition
            }
            Happening::Unchanged => self.tracker.handle(Observation::Unchanged, at),
            Happening::Down => self.tracker.handle(Observation::TuiDown { exit_status: None }, at),
            Happening::NoProfile => self.tracker.handle(Observation::NoProfile { activity: "quiet".to_owned() }, at),
            Happening::Gone => self.tracker.handle(Observation::Gone(GoneReason::Pane), at),
            Happening::Failed => {
                let problem = Problem { kind: "timeout".to_owned(), message: "no answer".to_owned() };
                self.tracker.handle(Observation::ProbeFailed(problem), at)
            }
            Happening::Submitted { ago } => {
                sent = true;
                let sent_at = Timestamp::from_millis(at.as_millis().saturating_sub_unsigned(*ago));
                self.tracker.handle(Observation::Submitted { at: sent_at, taken: TakenAs::Prompt }, at)
            }
            Happening::Seen => self.tracker.handle(Observation::Seen, at),
            Happening::Timer => {
                at = self.tracker.next_timeout().unwrap_or(at);
                self.tracker.handle(Observation::Nothing, at)
            }
            Happening::TimelyPoll => {
                at = self.tracker.next_timeout().unwrap_or(at);
                self.tracker.handle(Observation::Unchanged, at)
            }
        };
        self.now = at;
        let state = self.tracker.state(terminal(), at);
        if transition.is_some() {
            let is_read = state.diagnostics.availability == Availability::Available;
            self.kept = Some((state.clone(), self.last.clone().filter(|_| is_read)));
        }
        self.check(&state, transition.as_ref())?;
        if happening.is_poll() {
            self.polled_at = at;
        }
        // A prompt that was submitted in the terminal itself arms a turn as well as one that was sent.
        self.stirred |= sent || state.evidence.iter().any(|evidence| evidence.rule == "submitted-prompt");
        if state.last_turn != self.before.last_turn && state.last_turn.at == Some(at) {
            // The screen may still show work beside the end of a turn; that is the next one's.
            let asks = |reading: &Classification| {
                matches!(reading.assessment.ui_context, UiContext::ApprovalPrompt | UiContext::Question)
            };
            // A screen that makes no sense is taken in only when it stays: what it shows counts from then on.
            let stirs =
                |reading: &Classification| reading.activity.is_some() || asks(reading) || reading.doubt.is_some();
            self.stirred = self.last.as_ref().is_some_and(stirs);
        }
        self.before = state.clone();
        Ok((state, transition))
    }

    fn check(&self, state: &State, transition: Option<&Transition>) -> Result<(), TestCaseError> {
        let before = &self.before;
        never_claims_what_it_cannot_see(state)?;
        has_evidence(state)?;
        prop_assert!(self.tracker.next_timeout().is_none_or(|at| at > self.now), "a timer lies in the past");
        prop_assert!(state.turn.since <= self.now && state.stability.stable_since <= self.now);
        prop_assert!(state.last_turn.at.is_none_or(|at| at <= self.now));
        let last = &state.last_turn;
        let took = last.at.zip(last.began).map(|(at, began)| at.since(began));
        prop_assert!(
            took.zip(last.waited).is_none_or(|(took, waited)| waited <= took),
            "it waited longer than it lasted"
        );
        let (goes_on, armed) = (before.waits() && state.waits(), state.lifecycle_authority.completion_monitoring_armed);
        if let Some((waited, was)) = state.turn.waited.zip(before.turn.waited).filter(|_| goes_on && armed) {
            let passed = self.now.since(before.turn.now());
            // After a gap it may be another turn that waits; what came since the last poll does not end the gap. It is
            // another as well where a success was given back.
            let is_anew = state.lifecycle_authority.anchor_armed_at != before.lifecycle_authority.anchor_armed_at
                || state.last_turn != before.last_turn
                || self.now.since(self.polled_at) > Span::from_secs(3);
            prop_assert!(is_anew || waited == was + passed, "a wait is counted whole: {:?} after {:?}", waited, was);
        }
        let note = transition.and_then(|t| t.note.as_deref()).unwrap_or_default();
        prop_assert!(transition.is_none_or(|t| t.at == self.now), "a transition has the observation's time");
        self.result_follows_the_rules(before, state, note)?;
        if note.contains("recovery") {
            let success = state.last_turn.result == TurnResult::Success && state.last_turn != before.last_turn;
            prop_assert!(!success || note.contains("retraction undone"), "a recovery made a success");
            prop_assert_eq!(state.stability.stable_since, self.now, "a recovery resets stability");
            prop_assert_ne!(state.turn.phase, Phase::Active);
        }
        // What differs between two states is in a transition.
        let reported = transition.is_some_and(|t| !t.changed.is_empty());
        let differs = state.surface != before.surface
            || state.turn.phase != before.turn.phase
            || state.diagnostics != before.diagnostics
            || state.last_turn.result != before.last_turn.result;
        prop_assert_eq!(differs && !reported, false, "a change without a transition");
        Ok(())
    }

    fn result_follows_the_rules(&self, before: &State, state: &State, note: &str) -> Result<(), TestCaseError> {
        let (was, is) = (&before.last_turn, &state.last_turn);
        if was == is {
            return Ok(());
        }
        if note.contains("undone") || (note.contains("retract") && is.at.is_none_or(|at| at < self.now)) {
            // A retraction and its undoing give back an older result.
            return Ok(());
        }
        // What is reported late of a turn that has ended is where it came from, or that it was a turn of its own.
        let same = (is.result, is.at) == (was.result, was.at) && is.source == TurnSource::ExplicitInput;
        if note.contains("sent through fleetwatch") && (same || is.at.is_none_or(|at| at < self.now)) {
            return Ok(());
        }
        prop_assert_eq!(is.at, Some(self.now), "a result is reported when it is found");
        match is.result {
            TurnResult::None => {
                let armed = before.lifecycle_authority.completion_monitoring_armed;
                prop_assert!(is.is_cut_off() && armed && state.has_ended(), "a result vanished without a retraction");
            }
            TurnResult::Success => {
                prop_assert!(self.stirred, "success without activity");
                prop_assert_ne!(state.turn.phase, Phase::Active);
                prop_assert_ne!(state.assessment.business_state, BusinessState::AwaitingOperator);
                prop_assert!(
                    self.before.operator.completion == Completion::CandidateComplete,
                    "a success that did not settle"
                );
            }
            TurnResult::KnownFailure | TurnResult::Interrupted => {
                let wanted = if is.result == TurnResult::Interrupted { EndMark::Interrupted } else { EndMark::Failed };
                let mark = self.last.as_ref().and_then(|reading| reading.end.as_ref()).map(|end| end.mark);
                prop_assert_eq!(mark, Some(wanted), "an end mark that is not on the screen");
            }
        }
        prop_assert_ne!(is.source, TurnSource::None);
        Ok(())
    }
}

fn never_claims_what_it_cannot_see(state: &State) -> Result<(), TestCaseError> {
    let available = state.diagnostics.availability == Availability::Available;
    let dialog = state.assessment.business_state == BusinessState::AwaitingOperator;
    let ready = state.turn.phase == Phase::Ready || state.surface.ready_posture == Tri::Yes;
    prop_assert!(available || state.turn.phase == Phase::Unknown);
    prop_assert!(available || state.surface.accepting_input == Tri::Unknown);
    prop_assert!(available || state.surface.ready_posture == Tri::Unknown);
    prop_assert!(!ready || (available && !dialog && state.assessment.input_mode == InputMode::Freeform));
    prop_assert!(!dialog || (state.turn.phase == Phase::Unknown && state.surface.accepting_input == Tri::No));
    prop_assert!(!dialog || state.operator.status == OperatorStatus::WaitingUserAnswer);
    let asking = [Attention::Approval, Attention::Question, Attention::Trust, Attention::Setup];
    prop_assert_eq!(dialog, asking.contains(&state.attention));
    prop_assert!(state.turn.phase != Phase::Ready || state.surface.ready_posture == Tri::Yes);
    prop_assert!(state.turn.phase != Phase::Active || state.surface.ready_posture != Tri::Yes);
    let anchored = state.lifecycle_authority.turn_anchor_state == AnchorState::Active;
    prop_assert!(!anchored || state.lifecycle_authority.completion_monitoring_armed);
    Ok(())
}

fn has_evidence(state: &State) -> Result<(), TestCaseError> {
    let rules: Vec<&str> = state.evidence.iter().map(|e| e.rule.as_str()).collect();
    let any = |names: &[&str]| names.iter().any(|name| rules.contains(name));
    let prompt = any(&["composer"]);
    if state.last_turn.result != TurnResult::None {
        prop_assert!(any(&["last-turn"]), "no evidence of the last result in {:?}", rules);
    }
    match state.turn.phase {
        Phase::Ready => prop_assert!(prompt, "ready without a prompt in {:?}", rules),
        Phase::Active => {
            let work = any(&["status", "retry", "title", "explicit-input", "work-seen", "submitted-prompt"]);
            prop_assert!(work, "active without a sign of it in {:?}", rules);
        }
        Phase::Unknown => {}
    }
    match state.diagnostics.availability {
        Availability::Available => prop_assert!(!rules.is_empty()),
        Availability::Unavailable => prop_assert!(any(&["pane"])),
        Availability::TuiDown => prop_assert!(any(&["process"])),
        Availability::Error => prop_assert!(any(&["probe"])),
        Availability::Unknown => {}
    }
    if state.assessment.business_state == BusinessState::AwaitingOperator {
        prop_assert!(any(&["approval", "question", "trust", "setup"]));
    }
    if state.turn.background_work == Tri::Yes {
        prop_assert!(any(&["jobs"]));
    }
    if state.surface.pending_input == Tri::Yes {
        prop_assert!(any(&["queued"]));
    }
    Ok(())
}

/// How many stories each property is tried with; `FLEETWATCH_CASES` asks for more.
fn cases() -> u32 {
    std::env::var("FLEETWATCH_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(100)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_contract_holds_in_any_order(version in 0..VERSIONS, story in happenings()) {
        let mut watch = Watch::new(version);
        for (gap, happening) in &story {
            watch.happens(*gap, happening)?;
        }
    }

    #[test]
    fn the_same_inputs_give_the_same_outputs(version in 0..VERSIONS, story in happenings()) {
        let (mut one, mut other) = (Watch::new(version), Watch::new(version));
        for (gap, happening) in &story {
            // The state and the transition.
            prop_assert_eq!(one.happens(*gap, happening)?, other.happens(*gap, happening)?);
        }
    }

    /// Left alone, the tracker comes to rest: every timer lies ahead, and they end.
    #[test]
    fn timers_come_to_an_end(version in 0..VERSIONS, story in happenings()) {
        let mut watch = Watch::new(version);
        for (gap, happening) in &story {
            watch.happens(*gap, happening)?;
        }
        let mut timers = 0;
        while let Some(at) = watch.tracker.next_timeout() {
            prop_assert!(at > watch.now);
            watch.happens(0, &Happening::Timer)?;
            timers += 1;
            prop_assert!(timers < 50, "the timers do not end");
        }
    }

    /// An observation with an earlier time is taken for one of now.
    #[test]
    fn time_never_runs_backwards(story in happenings(), back in 1..100_000_u64) {
        let (mut watch, mut punctual) = (Watch::new(0), Watch::new(0));
        for (gap, happening) in &story {
            watch.happens(*gap, happening)?;
            punctual.happens(*gap, happening)?;
        }
        let before = watch.tracker.state(terminal(), watch.now);
        let earlier = watch.now - Span::from_millis(back);
        watch.tracker.handle(Observation::Unchanged, earlier);
        punctual.tracker.handle(Observation::Unchanged, punctual.now);
        let after = watch.tracker.state(terminal(), earlier);
        prop_assert!(after.observed_at >= before.observed_at && after.turn.elapsed_seconds >= 0.0);
        let state = |of: &Watch| of.tracker.state(terminal(), of.now);
        prop_assert_eq!(state(&watch), state(&punctual));
    }

    /// While nobody polls, nothing comes of time alone, nor of the first poll after it.
    #[test]
    fn gaps_make_nothing(version in 0..VERSIONS, story in happenings(), gap in 100_000..1_000_000_u64) {
        let mut watch = Watch::new(version);
        for (gap, happening) in &story {
            watch.happens(*gap, happening)?;
        }
        // What was sent since the last poll, the next one judges, whenever it comes.
        let mut unlooked = story.iter().rev().take_while(|(_, happening)| !happening.is_poll());
        if unlooked.any(|(_, happening)| matches!(happening, Happening::Submitted { .. })) {
            watch.happens(0, &Happening::Unchanged)?;
        }
        // For a moment what the last poll showed still holds.
        let said = |state: &State| (state.turn.phase, state.surface, state.last_turn.clone(), state.attention);
        let begin = watch.now + Span::from_secs(1);
        let pass_time = |tracker: &mut Tracker, until: Timestamp| {
            while let Some(due) = tracker.next_timeout().filter(|due| *due <= until) {
                tracker.handle(Observation::Nothing, due);
            }
            tracker.handle(Observation::Nothing, until);
        };
        pass_time(&mut watch.tracker, begin);
        let before = watch.tracker.state(terminal(), begin);
        let end = begin + Span::from_millis(gap);
        pass_time(&mut watch.tracker, end);
        let after = watch.tracker.state(terminal(), end);
        prop_assert_eq!(said(&before), said(&after));
        if before.diagnostics.availability == Availability::Available {
            watch.tracker.handle(Observation::Unchanged, end);
            let after = watch.tracker.state(terminal(), end);
            prop_assert_eq!(said(&before), said(&after));
        }
    }

    /// Whoever goes on from the history says of a terminal at rest what was said of it, then and later, and of a turn in flight
    /// how it ended. Left out are an answer that grows without another sign of work, whose pace is learned again, work that was left
    /// behind, which stands still anew, what was sent, which the history hands on by itself, and prompts that are taken back
    /// while what is left settles.
    #[test]
    fn a_restart_changes_nothing(version in prop_oneof![Just(0_usize), Just(2)], story in happenings()) {
        let (mut watch, mut prompts) = (Watch::new(version), 0);
        for (gap, mut happening) in story.into_iter().filter(|(_, it)| !matches!(it, Happening::Submitted { .. })) {
            if let Happening::Screen { picture, .. } = &mut happening {
                prompts = prompts.max(picture.prompts);
                picture.prompts = prompts;
            }
            watch.happens(gap, &happening)?;
        }
        watch.happens(0, &Happening::Unchanged)?;
        prop_assume!(watch.is_readable() && watch.keeps_its_mark());
        let Some(mut next) = watch.restarted() else { return Ok(()) };
        let in_flight = watch.before.lifecycle_authority.completion_monitoring_armed;
        let at_rest = !in_flight && watch.before.turn.phase != Phase::Active;
        prop_assert!(!at_rest || watch.said() == next.said(), "{:?}, restarted: {:?}", watch.said(), next.said());
        for _ in 0..100 {
            for tracker in [&mut watch, &mut next] {
                let at = tracker.now + Span::from_millis(500);
                tracker.tracker.handle(Observation::Unchanged, at);
                tracker.now = at;
            }
        }
        let result = |of: &Watch| of.tracker.summary().result;
        prop_assert!(!at_rest || watch.said() == next.said(), "{:?}, restarted: {:?}", watch.said(), next.said());
        prop_assert_eq!(result(&watch), result(&next));
    }

    /// Polling a screen more often that does not change reports nothing else.
    #[test]
    fn idle_polls_change_nothing_but_the_delay(version in 0..VERSIONS, story in happenings()) {
        let mut watch = Watch::new(version);
        for (gap, happening) in &story {
            watch.happens(*gap, happening)?;
        }
        watch.happens(0, &Happening::Unchanged)?;
        let mut often = watch.tracker.clone();
        let until = watch.now + Span::from_secs(60);
        for (tracker, tick) in [(&mut watch.tracker, 1_000_u64), (&mut often, 250)] {
            let mut at = watch.now;
            while at < until {
                let poll = at + Span::from_millis(tick);
                while let Some(due) = tracker.next_timeout().filter(|due| *due <= poll) {
                    tracker.handle(Observation::Unchanged, due);
                }
                tracker.handle(Observation::Unchanged, poll);
                at = poll;
            }
        }
        let (one, other) = (watch.tracker.state(terminal(), until), often.state(terminal(), until));
        let (one, other) = (serde_json::to_string_pretty(&one), serde_json::to_string_pretty(&other));
        let (one, other) = (one.expect("a state has a JSON form"), other.expect("a state has a JSON form"));
        let differing: Vec<_> = one.lines().zip(other.lines()).filter(|(a, b)| a != b).collect();
        prop_assert!(differing.is_empty(), "{differing:?}");
    }
}

/// As several processes do that hand the same prompt on.
#[test]
fn a_prompt_that_is_told_twice_begins_one_turn() {
    let dialog = || {
        let picture = Picture { prompts: 1, answer: 1, end: 0, edge: 0, bottom: 6, title: false, cursor: true };
        Happening::Screen { picture, resized: false }
    };
    let mut watch = Watch::new(0);
    let happenings = [
        (100, dialog()),
        (100, Happening::Submitted { ago: 0 }),
        (500, dialog()),
        (400, Happening::Submitted { ago: 900 }),
    ];
    for (gap, happening) in &happenings {
        watch.happens(*gap, happening).unwrap();
    }
    assert_eq!(watch.before.turn.waited, Some(Span::from_millis(900)));
}
