//! How well the published states of a replay agree with the truth of a labelled recording (SPEC §13).
//!
//! The score is the part of the judged time in which the answer is right. A state may lag the truth by [`LAG`]: an
//! answer is right if it fits any truth that was judged within that time, up to now. All times are whole milliseconds
//! and every stretch of time is counted exactly, so that the same recording always scores the same.

pub mod tasks;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::doubts::Doubts;
use super::truth::{Field, Label, Truth};
use super::{Options, Recording, RecordingError, replay};
use crate::moment::Span;
use crate::profile::Library;
use crate::state::{BusinessState, InputMode, State, TurnResult, UiContext};

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
pub struct Spell {
    pub field: Field,
    pub from: Span,
    pub to: Span,
    pub truth: &'static str,
    pub answer: &'static str,
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

    /// Adds another tally of the same field.
    pub fn add(&mut self, other: Tally) {
        self.judged_ms += other.judged_ms;
        self.right_ms += other.right_ms;
    }
}

impl Spell {
    /// How long it lasted.
    pub fn length(&self) -> Span {
        Span::from_millis(self.to.as_millis().saturating_sub(self.from.as_millis()))
    }
}

/// Replays a recording and scores what was published, without the labels that are doubted; `source_name` is how errors
/// and doubts call the recording.
///
/// # Errors
/// The recording's truth cannot be read.
pub fn score(
    recording: &Recording,
    source_name: &str,
    library: Arc<Library>,
    options: &Options,
    doubts: &Doubts,
) -> Result<Score, RecordingError> {
    let labelled = Truth::of(recording, source_name)?;
    let mut truth = labelled.clone();
    doubts.apply(source_name, &mut truth);
    let mut answers = Answers::default();
    replay(recording, library, options, |at, state| answers.take(at, state));
    let end = recording.duration();
    let mut score = compare(&truth, &answers, end, options.settings.tracker.settle);
    score.doubted_ms = labelled.judged_ms(end).saturating_sub(truth.judged_ms(end));
    Ok(score)
}

/// The published values of each field, each from one time until the next.
#[derive(Clone, Debug, Default)]
struct Answers {
    fields: [Vec<(Span, &'static str)>; Field::ALL.len()],
}

impl Answers {
    fn take(&mut self, at: Span, state: &State) {
        for field in Field::ALL {
            self.set(field, at, answer(field, state));
        }
    }

    fn set(&mut self, field: Field, at: Span, answer: &'static str) {
        let answers = &mut self.fields[field as usize];
        if answers.last().is_none_or(|(_, last)| *last != answer) {
            answers.push((at, answer));
        }
    }

    fn at(&self, field: Field, at: u64) -> &'static str {
        let answers = &self.fields[field as usize];
        let after = answers.partition_point(|(from, _)| from.as_millis() <= at);
        after.checked_sub(1).map_or(NOTHING, |i| answers[i].1)
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
    match (state.assessment.business_state == BusinessState::AwaitingOperator, menu) {
        (false, false) => "none",
        (false, true) => "menu",
        (true, false) => NOT_MODAL,
        (true, true) => match context {
            UiContext::ApprovalPrompt => "approval",
            UiContext::TrustPrompt => "trust",
            UiContext::Question => "question",
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

fn compare(truth: &Truth, answers: &Answers, duration: Span, settle: Span) -> Score {
    let mut score = Score {
        duration,
        tallies: Default::default(),
        spells: Vec::new(),
        phases: BTreeMap::new(),
        delays: Vec::new(),
        doubted_ms: 0,
    };
    for field in Field::ALL {
        let timeline = Timeline { field, labels: truth.labels(field), answers, end: duration.as_millis() };
        timeline.judge(&mut score);
        timeline.delays(settle, &mut score.delays);
    }
    score
}

/// One field of one recording.
struct Timeline<'a> {
    field: Field,
    labels: &'a [Label],
    answers: &'a Answers,
    end: u64,
}

impl Timeline<'_> {
    fn judge(&self, score: &mut Score) {
        let breaks = self.breaks();
        for pair in breaks.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let Some(truth) = self.truth_at(from) else { continue };
            let answer = self.answers.at(self.field, from);
            let right = self.is_right(from, answer);
            let tally = &mut score.tallies[self.field as usize];
            tally.judged_ms += to - from;
            tally.right_ms += if right { to - from } else { 0 };
            if self.field == Field::Phase {
                *score.phases.entry((truth, if right { truth } else { answer })).or_default() += to - from;
            }
            if !right {
                let spell = Spell {
                    field: self.field,
                    from: Span::from_millis(from),
                    to: Span::from_millis(to),
                    truth,
                    answer,
                };
                join(&mut score.spells, spell);
            }
        }
    }

    /// The times between which nothing changes, neither truth nor answer nor which earlier truths still count.
    fn breaks(&self) -> Vec<u64> {
        let truths = self.labels.iter().map(|label| label.from.as_millis());
        let answers = self.answers.fields[self.field as usize].iter().map(|(at, _)| at.as_millis());
        let mut breaks: Vec<u64> =
            truths.flat_map(|at| [at, at + LAG.as_millis()]).chain(answers).filter(|at| *at < self.end).collect();
        breaks.push(self.end);
        breaks.sort_unstable();
        breaks.dedup();
        breaks
    }

    fn truth_at(&self, at: u64) -> Option<&'static str> {
        let after = self.labels.partition_point(|label| label.from.as_millis() <= at);
        after.checked_sub(1).and_then(|i| self.labels[i].value)
    }

    /// Whether the answer fits a truth of the last second.
    fn is_right(&self, at: u64, answer: &str) -> bool {
        self.labels.iter().enumerate().rev().skip_while(|(_, label)| label.from.as_millis() > at).any(|(i, label)| {
            let ends = self.labels.get(i + 1).map_or(u64::MAX, |next| next.from.as_millis());
            let counts = ends + LAG.as_millis().min(u64::MAX - ends) > at;
            counts && label.value.is_some_and(|truth| fits(self.field, truth, answer))
        })
    }

    fn delays(&self, settle: Span, delays: &mut Vec<Delay>) {
        let mut before: Option<&'static str> = None;
        for (i, label) in self.labels.iter().enumerate() {
            let Some(truth) = label.value else { continue };
            if before.replace(truth).is_none_or(|before| before == truth) {
                continue;
            }
            let from = label.from.as_millis();
            let until = self.labels.get(i + 1).map_or(self.end, |next| next.from.as_millis());
            let allowed = if truth == TurnResult::Success.word() { settle.as_millis() } else { 0 };
            let delay =
                self.first_fit(truth, from, until).map(|at| Span::from_millis((at - from).saturating_sub(allowed)));
            delays.push(Delay { field: self.field, at: label.from, truth, delay });
        }
    }

    fn first_fit(&self, truth: &str, from: u64, until: u64) -> Option<u64> {
        if fits(self.field, truth, self.answers.at(self.field, from)) {
            return Some(from);
        }
        let answers = &self.answers.fields[self.field as usize];
        let later = answers.iter().map(|(at, answer)| (at.as_millis(), *answer)).skip_while(|(at, _)| *at <= from);
        later.take_while(|(at, _)| *at < until).find(|(_, answer)| fits(self.field, truth, answer)).map(|(at, _)| at)
    }
}

/// Adds a spell, as part of the one before where that ends at its beginning and says the same.
fn join(spells: &mut Vec<Spell>, spell: Spell) {
    match spells.last_mut() {
        Some(last)
            if last.to == spell.from
                && (last.field, last.truth, last.answer) == (spell.field, spell.truth, spell.answer) =>
        {
            last.to = spell.to;
        }
        _ => spells.push(spell),
    }
}

#[cfg(test)]
mod tests;
