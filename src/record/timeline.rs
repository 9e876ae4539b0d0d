//! Who had the turn when: pure functions over transitions.

use crate::state::{Availability, OperatorStatus, Phase, Summary, TaskStatus, TurnResult, words};
use crate::status::Status;
use crate::task::{Happening, TaskFields};
use crate::time::{Span, Timestamp};

words! {
    /// Who has the turn.
    Holder {
        Working = "working", Waiting = "waiting", Ready = "ready", Gone = "gone", Unknown = "unknown",
        Unwatched = "unwatched",
    }
}

/// How often a process that watches says so.
pub const BEAT: Span = Span::from_secs(10);

impl Holder {
    /// Who has the turn in a state: the agent that works, the operator that it waits for, the operator for whom it is
    /// ready; `gone` when no agent is there, `unknown` when nothing is known.
    pub const fn of(summary: &Summary) -> Self {
        match (summary.availability, summary.status, summary.phase) {
            (Availability::Unavailable | Availability::TuiDown, ..) => Holder::Gone,
            (Availability::Error | Availability::Unknown, ..) => Holder::Unknown,
            (_, OperatorStatus::WaitingUserAnswer, _) => Holder::Waiting,
            (_, _, Phase::Active) => Holder::Working,
            (_, _, Phase::Ready) => Holder::Ready,
            (_, _, Phase::Unknown) => Holder::Unknown,
        }
    }
}

/// The part of a transition that the time line needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    pub at: Timestamp,
    pub holder: Holder,
    /// The trouble then: the last turn failed, or the terminal cannot be read.
    pub trouble: Option<Status>,
    /// The result of the last turn that had ended then, and when it did.
    pub result: TurnResult,
    pub turn_ended: Option<Timestamp>,
}

impl Point {
    /// A point from a state.
    pub fn of(at: Timestamp, summary: &Summary, turn_ended: Option<Timestamp>) -> Self {
        let holder = Holder::of(summary);
        let trouble = match (holder, summary.result) {
            (Holder::Ready, TurnResult::KnownFailure) => Some(Status::Failed),
            _ if summary.availability == Availability::Error => Some(Status::Error),
            _ => None,
        };
        Self { at, holder, trouble, result: summary.result, turn_ended }
    }

    /// A point from a task's event; the end of a run counts like the end of a turn.
    pub fn of_task_event(at: Timestamp, happening: &Happening, state: &TaskFields) -> Self {
        let summary = match happening {
            // It is gone, and its last fields are of before.
            Happening::Disappeared { .. } => TaskStatus::Exited.summary(None),
            Happening::Exited { code, .. } => TaskStatus::Exited.summary(*code),
            _ => state.status.summary(None),
        };
        let turn_ended = (summary.result != TurnResult::None).then_some(at);
        Self::of(at, &summary, turn_ended)
    }
}

/// The data of a terminal's time line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimelineData {
    /// By time.
    pub points: Vec<Point>,
    /// When it was watched, by beginning.
    pub watched: Vec<(Timestamp, Timestamp)>,
}

/// A stretch of time with one holder of the turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineSpan {
    pub holder: Holder,
    pub trouble: Option<Status>,
    pub from: Timestamp,
    pub to: Timestamp,
}

impl TimelineSpan {
    /// Its length.
    pub fn length(&self) -> Span {
        self.to.since(self.from)
    }
}

/// The time line of one terminal from `from` to `to`, without gaps, neighbours always of different holders or troubles.
///
/// `points` are its transitions by time, beginning with the last one before `from` where there is one; `watched` are the
/// times in which somebody watched. Nothing is claimed of the others: an agent that was at work when the watching ended
/// need not have worked all night. A watch that begins without a transition goes on from what was known (SPEC §10): the
/// first poll by one that knows nothing always makes one.
pub fn timeline(
    points: &[Point],
    watched: &[(Timestamp, Timestamp)],
    from: Timestamp,
    to: Timestamp,
) -> Vec<TimelineSpan> {
    let mut line = TimelineBuilder { done: Vec::new(), at: from, end: to };
    for (begin, end) in merged(watched) {
        line.until(begin, Holder::Unwatched, None);
        // The last earlier point says who had the turn at the beginning.
        let before = points.partition_point(|point| point.at <= from).saturating_sub(1);
        let first = points.partition_point(|point| point.at < begin).max(before);
        let inside = points.iter().skip(first).take_while(|point| point.at <= end.min(to));
        let before = points[..first].last().map(|point| (point.holder, point.trouble));
        let (mut holder, mut trouble) = before.unwrap_or((Holder::Unknown, None));
        for point in inside {
            line.until(point.at, holder, trouble);
            (holder, trouble) = (point.holder, point.trouble);
        }
        line.until(end, holder, trouble);
    }
    line.until(to, Holder::Unwatched, None);
    line.done
}

/// How long each holder had the turn, in the order of [`Holder::ALL`], with something wrong last; those without any time are
/// left out.
pub fn totals(line: &[TimelineSpan]) -> Vec<((Holder, Option<Status>), Span)> {
    let mut totals: Vec<((Holder, Option<Status>), Span)> = Vec::new();
    for stretch in line.iter().filter(|stretch| stretch.length() > Span::ZERO) {
        let shown = (stretch.holder, stretch.trouble);
        match totals.iter_mut().find(|(known, _)| *known == shown) {
            Some((_, span)) => *span = *span + stretch.length(),
            None => totals.push((shown, stretch.length())),
        }
    }
    totals.sort_by_key(|((holder, trouble), _)| (*holder as usize, trouble.is_some()));
    totals
}

/// The turns that ended, by time. A withdrawn success (SPEC §7, rule 5) does not count.
pub fn turns(points: &[Point]) -> Vec<(Timestamp, TurnResult)> {
    let mut turns: Vec<(Timestamp, TurnResult)> = Vec::new();
    for point in points {
        let Some(ended) = point.turn_ended.filter(|_| point.result != TurnResult::None) else { continue };
        // Only a withdrawal brings an earlier end back.
        while turns.last().is_some_and(|(last, _)| *last > ended) {
            turns.pop();
        }
        match turns.last_mut() {
            Some((last, result)) if *last == ended => *result = point.result,
            _ => turns.push((ended, point.result)),
        }
    }
    turns
}

/// Watches that overlap or touch, as one each.
fn merged(watched: &[(Timestamp, Timestamp)]) -> Vec<(Timestamp, Timestamp)> {
    let mut sorted = watched.to_vec();
    sorted.sort();
    let mut merged: Vec<(Timestamp, Timestamp)> = Vec::new();
    for (begin, end) in sorted {
        match merged.last_mut() {
            // Another process took over from a killed one, whose last sign was some time before.
            Some((_, last)) if begin.since(*last) <= BEAT => *last = end.max(*last),
            _ => merged.push((begin, end)),
        }
    }
    merged
}

/// A time line in the making.
struct TimelineBuilder {
    done: Vec<TimelineSpan>,
    at: Timestamp,
    end: Timestamp,
}

impl TimelineBuilder {
    fn until(&mut self, to: Timestamp, holder: Holder, trouble: Option<Status>) {
        let to = to.min(self.end);
        if to <= self.at {
            return;
        }
        match self.done.last_mut() {
            Some(last) if (last.holder, last.trouble) == (holder, trouble) => last.to = to,
            _ => self.done.push(TimelineSpan { holder, trouble, from: self.at, to }),
        }
        self.at = to;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    fn point(seconds: i64, holder: Holder) -> Point {
        Point { at: at(seconds), holder, trouble: None, result: TurnResult::None, turn_ended: None }
    }

    fn words(line: &[TimelineSpan]) -> String {
        line.iter()
            .map(|s| format!("{} {}-{}", s.holder, s.from.as_millis() / 1000, s.to.as_millis() / 1000))
            .collect::<Vec<_>>()
            .join(", ")
    }

    #[test]
    fn the_turn_goes_from_one_to_the_other() {
        let points = [point(10, Holder::Ready), point(20, Holder::Working), point(50, Holder::Waiting)];
        let watched = [(at(9), at(100))];
        let line = timeline(&points, &watched, at(0), at(120));
        assert_eq!(
            words(&line),
            "unwatched 0-9, unknown 9-10, ready 10-20, working 20-50, waiting 50-100, unwatched 100-120"
        );
        assert_eq!(
            totals(&line)[..2],
            [((Holder::Working, None), Span::from_secs(30)), ((Holder::Waiting, None), Span::from_secs(50))]
        );
    }

    #[test]
    fn an_interval_begins_with_the_state_that_it_finds() {
        let points = [point(10, Holder::Working), point(500, Holder::Ready)];
        let line = timeline(&points, &[(at(0), at(600))], at(100), at(550));
        assert_eq!(words(&line), "working 100-500, ready 500-550");
    }

    #[test]
    fn nobody_worked_while_nobody_watched() {
        let points = [point(10, Holder::Working), point(990, Holder::Unknown), point(1000, Holder::Ready)];
        let line = timeline(&points, &[(at(0), at(60)), (at(990), at(1100))], at(0), at(1100));
        assert_eq!(words(&line), "unknown 0-10, working 10-60, unwatched 60-990, unknown 990-1000, ready 1000-1100");
    }

    #[test]
    fn a_watch_goes_on_from_what_was_known() {
        let points = [point(10, Holder::Working), point(50, Holder::Waiting), point(1000, Holder::Ready)];
        let watched = [(at(10), at(60)), (at(990), at(1100))];
        let line = timeline(&points, &watched, at(0), at(1100));
        let resumed = "unwatched 60-990, waiting 990-1000, ready 1000-1100";
        assert_eq!(words(&line), format!("unwatched 0-10, working 10-50, waiting 50-60, {resumed}"));
        assert_eq!(words(&timeline(&points, &watched, at(500), at(995))), "unwatched 500-990, waiting 990-995");
    }

    #[test]
    fn a_takeover_leaves_no_gap() {
        let points = [point(10, Holder::Working)];
        let line = timeline(&points, &[(at(10), at(60)), (at(75), at(100)), (at(50), at(70))], at(10), at(100));
        assert_eq!(words(&line), "working 10-100");
    }

    #[test]
    fn turns_are_counted_once_and_withdrawn_ones_not_at_all() {
        let turn = |seen, ended: Option<i64>, result| Point {
            at: at(seen),
            holder: Holder::Ready,
            trouble: None,
            result,
            turn_ended: ended.map(at),
        };
        let points = [
            turn(1, None, TurnResult::None),
            turn(10, Some(10), TurnResult::Success),
            turn(15, Some(10), TurnResult::Success),
            turn(30, Some(30), TurnResult::Success),
            turn(33, Some(10), TurnResult::Success),
            turn(40, Some(40), TurnResult::Success),
            turn(50, Some(50), TurnResult::Interrupted),
        ];
        let expected =
            [(at(10), TurnResult::Success), (at(40), TurnResult::Success), (at(50), TurnResult::Interrupted)];
        assert_eq!(turns(&points), expected);
    }

    proptest! {
        #[test]
        fn every_moment_belongs_to_one_stretch(
            mut points in proptest::collection::vec((0i64..2000, 0usize..5), 0..20),
            watched in proptest::collection::vec((0i64..2000, 0i64..500), 0..6),
            from in 0i64..2000, length in 0i64..2000,
        ) {
            points.sort_unstable();
            let points: Vec<Point> = points.into_iter().map(|(at, holder)| point(at, Holder::ALL[holder])).collect();
            let watched: Vec<_> = watched.into_iter().map(|(from, length)| (at(from), at(from + length))).collect();
            let line = timeline(&points, &watched, at(from), at(from + length));
            let total: u64 = totals(&line).iter().map(|(_, span)| span.as_millis()).sum();
            prop_assert_eq!(total, length as u64 * 1000);
            prop_assert!(line.windows(2).all(|pair| pair[0].to == pair[1].from && pair[0].holder != pair[1].holder));
        }
    }
}
