//! Judges answers by truths: of agents and of tasks alike, exactly, and in stretches instead of milliseconds.

use super::LAG;

/// A stretch of time, in milliseconds, in which nothing changes: neither truth nor answer nor which earlier truths still
/// count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch<'t> {
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
pub(super) struct Judging<'s, 't> {
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
