//! How well the published states of a replay agree with the truth of a labelled recording (SPEC §13).
//!
//! The score is the part of the judged time in which the answer is right. A state may lag the truth by [`LAG`]: an
//! answer is right if it fits any truth that was judged within that time, up to now. All times are whole milliseconds
//! and every stretch of time is counted exactly, so that the same recording always scores the same.

pub mod tasks;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::truth::{Doubts, Field, Truth};
use fleetwatch::profile::ProfileSet;
use fleetwatch::recording::{Frame, Player, Recording, RecordingError, ReplayOptions, replay_frames};
use fleetwatch::state::{InputMode, State, TurnResult, UiContext};
use fleetwatch::time::Span;

/// How long a state may lag the truth.
pub const LAG: Span = Span::from_secs(1);
/// What stands for the answer while nothing is published.
const NOTHING: &str = "(nothing)";
/// The mark of a dialog that is said to wait while the keys are said to go elsewhere.
const NOT_MODAL: &str = "awaiting, not modal";

/// The score of one recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    pub duration: Span,
    pub tallies: [Tally; Field::ALL.len()],
    /// Where the answer was wrong, in the order of time for each field.
    pub spells: Vec<Spell>,
    /// Milliseconds of judged phase by truth and answer; an answer that may lag counts as the truth.
    pub phases: BTreeMap<(&'static str, &'static str), u64>,
    pub delays: Vec<Delay>,
    /// Labelled milliseconds, over all fields, that are left out because they are doubted.
    pub doubted_ms: u64,
}

/// Judged and right time of one field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub judged_ms: u64,
    pub right_ms: u64,
}

/// A stretch of wrong answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spell<F = Field, T = &'static str> {
    pub field: F,
    pub from: Span,
    pub to: Span,
    pub truth: T,
    pub answer: T,
}

/// How long after a change of the truth the state followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delay {
    pub field: Field,
    /// When the truth changed.
    pub at: Span,
    pub truth: &'static str,
    /// `None` when the state did not follow before the truth changed again. The settle window is taken off.
    pub delay: Option<Span>,
}

impl Tally {
    /// Percent of the judged time that is right; `None` when nothing is judged.
    pub fn percent(self) -> Option<f64> {
        (self.judged_ms > 0).then(|| self.right_ms as f64 * 100.0 / self.judged_ms as f64)
    }

    fn count(&mut self, milliseconds: u64, right: bool) {
        self.judged_ms += milliseconds;
        self.right_ms += if right { milliseconds } else { 0 };
    }

    /// Adds another tally of the same field.
    pub fn add(&mut self, other: Tally) {
        self.judged_ms += other.judged_ms;
        self.right_ms += other.right_ms;
    }
}

impl Spell {
    /// How long it lasted.
    pub fn length(&self) -> Span {
        self.to.less(self.from)
    }
}

/// Replays a recording and scores what was published, without the labels that are doubted; `source_name` is how errors
/// and doubts call the recording.
pub fn score(
    recording: &Recording,
    source_name: &str,
    profiles: Arc<ProfileSet>,
    options: &ReplayOptions,
    doubts: &Doubts,
) -> Result<Score, RecordingError> {
    score_frames(recording, Player::new(recording), source_name, profiles, options, doubts)
}

/// The same of frames that were played before.
pub fn score_frames(
    recording: &Recording,
    frames: impl Iterator<Item = Frame>,
    source_name: &str,
    profiles: Arc<ProfileSet>,
    options: &ReplayOptions,
    doubts: &Doubts,
) -> Result<Score, RecordingError> {
    let labelled = Truth::of(recording, source_name)?;
    let mut truth = labelled.clone();
    doubts.apply(source_name, &mut truth);
    let mut answers = PublishedValues::default();
    replay_frames(recording, frames, profiles, options, |at, state| answers.take(at, state));
    let end = recording.duration();
    let mut score = compare(&truth, &answers, end, options.settings.tracker.settle);
    score.doubted_ms = labelled.judged_ms(end).saturating_sub(truth.judged_ms(end));
    Ok(score)
}

/// Scores what was said of a live terminal until `end`: states with the times since the truth began, oldest first.
pub fn score_live(truth: &Truth, states: &[(Span, State)], end: Span, settle: Span) -> Score {
    let mut answers = PublishedValues::default();
    states.iter().for_each(|(at, state)| answers.take(*at, state));
    compare(truth, &answers, end, settle)
}

/// The published values of each field, each from one time in milliseconds until the next.
#[derive(Clone, Debug, Default)]
struct PublishedValues {
    fields: [Vec<(u64, &'static str)>; Field::ALL.len()],
}

impl PublishedValues {
    fn take(&mut self, at: Span, state: &State) {
        for &field in Field::ALL {
            self.set(field, at, answer(field, state));
        }
    }

    fn set(&mut self, field: Field, at: Span, answer: &'static str) {
        let answers = &mut self.fields[field as usize];
        if answers.last().is_none_or(|(_, last)| *last != answer) {
            answers.push((at.as_millis(), answer));
        }
    }
}

/// The answer of a state to the question that a field's truth asks.
fn answer(field: Field, state: &State) -> &'static str {
    match field {
        Field::Availability => state.diagnostics.availability.word(),
        Field::AcceptingInput => state.surface.accepting_input.word(),
        Field::EditingInput => state.surface.editing_input.word(),
        Field::ReadyPosture => state.surface.ready_posture.word(),
        Field::Phase => state.turn.phase.word(),
        Field::Blocked => blocked(state),
        Field::LastResult => state.last_turn.result.word(),
    }
}

fn blocked(state: &State) -> &'static str {
    let context = state.assessment.ui_context;
    let menu = state.assessment.input_mode == InputMode::Modal
        || matches!(context, UiContext::SlashCommand | UiContext::SelectionMenu);
    match (state.assessment.awaits_operator(), menu) {
        (false, false) => "none",
        (false, true) => "menu",
        (true, false) => NOT_MODAL,
        (true, true) => match context {
            UiContext::ApprovalPrompt => "approval",
            UiContext::TrustPrompt => "trust",
            UiContext::Question | UiContext::Limit => "question",
            UiContext::Setup => "setup",
            _ => "awaiting",
        },
    }
}

/// Whether an answer fits a truth. Of a dialog SPEC §13 judges only that it waits for the operator, not its kind.
fn fits(field: Field, truth: &str, answer: &str) -> bool {
    match (field, truth) {
        (Field::Blocked, "menu") => !matches!(answer, "none" | NOT_MODAL | NOTHING),
        (Field::Blocked, "approval" | "trust" | "question" | "setup") => !matches!(answer, "none" | "menu" | NOTHING),
        _ => truth == answer,
    }
}

fn compare(truth: &Truth, answers: &PublishedValues, duration: Span, settle: Span) -> Score {
    let mut score = Score {
        duration,
        tallies: Default::default(),
        spells: Vec::new(),
        phases: BTreeMap::new(),
        delays: Vec::new(),
        doubted_ms: 0,
    };
    for &field in Field::ALL {
        let labels: Vec<_> = truth.labels(field).iter().map(|label| (label.from.as_millis(), label.value)).collect();
        let judging = Judging { truths: &labels, answers: &answers.fields[field as usize], end: duration.as_millis() };
        judge(field, judging, &mut score);
        delays(field, judging, settle, &mut score.delays);
    }
    score
}

fn judge(field: Field, judging: Judging<'_, 'static>, score: &mut Score) {
    for Stretch { from, to, truth, answer, right } in
        judging.stretches(|truth, answer| fits(field, truth, answer.unwrap_or(NOTHING)))
    {
        let answer = answer.unwrap_or(NOTHING);
        score.tallies[field as usize].count(to - from, right);
        if field == Field::Phase {
            *score.phases.entry((truth, if right { truth } else { answer })).or_default() += to - from;
        }
        if !right {
            let (from, to) = (Span::from_millis(from), Span::from_millis(to));
            join(&mut score.spells, Spell { field, from, to, truth, answer });
        }
    }
}

fn delays(field: Field, judging: Judging<'_, 'static>, settle: Span, delays: &mut Vec<Delay>) {
    let mut before: Option<&'static str> = None;
    for (i, (from, truth)) in judging.truths.iter().enumerate() {
        let Some(truth) = truth else { continue };
        if before.replace(truth).is_none_or(|before| before == *truth) {
            continue;
        }
        let until = judging.truths.get(i + 1).map_or(judging.end, |(next, _)| *next);
        let allowed = if *truth == TurnResult::Success.word() { settle.as_millis() } else { 0 };
        let delay = first_fit(field, judging, truth, *from, until)
            .map(|at| Span::from_millis((at - from).saturating_sub(allowed)));
        delays.push(Delay { field, at: Span::from_millis(*from), truth, delay });
    }
}

fn first_fit(field: Field, judging: Judging<'_, '_>, truth: &str, from: u64, until: u64) -> Option<u64> {
    if fits(field, truth, judging.answer_at(from).unwrap_or(NOTHING)) {
        return Some(from);
    }
    let later = judging.answers.iter().skip_while(|(at, _)| *at <= from).take_while(|(at, _)| *at < until);
    later.into_iter().find(|(_, answer)| fits(field, truth, answer)).map(|(at, _)| *at)
}

/// Adds a spell, as part of the one before where that ends at its beginning and says the same.
fn join<F: PartialEq, T: PartialEq>(spells: &mut Vec<Spell<F, T>>, spell: Spell<F, T>) {
    let says = |it: &Spell<F, T>| it.field == spell.field && it.truth == spell.truth && it.answer == spell.answer;
    match spells.last_mut() {
        Some(last) if last.to == spell.from && says(last) => last.to = spell.to,
        _ => spells.push(spell),
    }
}

// Judges answers by truths: of agents and of tasks alike, exactly, and in stretches instead of milliseconds.

/// A stretch of time, in milliseconds, in which nothing changes: neither truth nor answer nor which earlier truths still
/// count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch<'t> {
    pub from: u64,
    pub to: u64,
    pub truth: &'t str,
    /// `None` before the first answer.
    pub answer: Option<&'t str>,
    /// Whether the answer fits a truth of the last second, up to now.
    pub right: bool,
}

/// One field of one recording. Values hold from their time until the next; a truth that is `None` is not judged.
#[derive(Clone, Copy, Debug)]
struct Judging<'s, 't> {
    pub truths: &'s [(u64, Option<&'t str>)],
    pub answers: &'s [(u64, &'t str)],
    pub end: u64,
}

impl<'s, 't> Judging<'s, 't> {
    /// What is judged, in the order of time.
    pub fn stretches(self, fits: impl Fn(&str, Option<&str>) -> bool) -> Vec<Stretch<'t>> {
        let breaks = self.breaks();
        let judge = |pair: &[u64]| {
            let (from, to) = (pair[0], pair[1]);
            let truth = value_at(self.truths, from)??;
            let answer = self.answer_at(from);
            let right = self.truths_that_count(from).any(|truth| fits(truth, answer));
            Some(Stretch { from, to, truth, answer, right })
        };
        breaks.windows(2).filter_map(judge).collect()
    }

    /// The answer at a time; `None` before the first.
    pub fn answer_at(self, at: u64) -> Option<&'t str> {
        value_at(self.answers, at)
    }

    fn breaks(self) -> Vec<u64> {
        let truths = self.truths.iter().flat_map(|(at, _)| [*at, at.saturating_add(LAG.as_millis())]);
        let answers = self.answers.iter().map(|(at, _)| *at);
        let mut breaks: Vec<u64> = truths.chain(answers).filter(|at| *at < self.end).collect();
        breaks.push(self.end);
        breaks.sort_unstable();
        breaks.dedup();
        breaks
    }

    /// The truth at a time and those that ended within the time that a state may lag, newest first.
    fn truths_that_count(self, at: u64) -> impl Iterator<Item = &'t str> + use<'s, 't> {
        let begun = self.truths.partition_point(|(from, _)| *from <= at);
        let ends = |i: usize| self.truths.get(i + 1).map_or(u64::MAX, |(next, _)| *next);
        let counts = move |i: &usize| ends(*i).saturating_add(LAG.as_millis()) > at;
        (0..begun).rev().take_while(counts).filter_map(|i| self.truths[i].1)
    }
}

fn value_at<T: Copy>(course: &[(u64, T)], at: u64) -> Option<T> {
    let after = course.partition_point(|(from, _)| *from <= at);
    after.checked_sub(1).map(|i| course[i].1)
}

/// What `work` gives for each item, in the order of the items, however many processors there are.
///
/// # Panics
/// `work` panics.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let take = || Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|n| Some((n, items.get(n)?)));
        std::iter::from_fn(take).map(|(n, item)| (n, work(item))).collect::<Vec<_>>()
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(items.len());
    let mut results: Vec<(usize, R)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|w| w.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    results.sort_by_key(|(n, _)| *n);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests;
