//! What happened to one terminal, in one list: what this process saw and what the history keeps, each once.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::present::sentence;
use crate::present::sentence::Doer;
use crate::record::timeline::Point;
use crate::record::{Body, RecordId, ScreenId, Stored, StoredTransition, TaskRecord};
use crate::screen::Screen;
use crate::state::{Evidence, Transition};
use crate::task::{Happening, Task, TaskEvent};
use crate::time::Timestamp;

/// How many rows of output are shown for the end of a task.
const OUTPUT_ROWS: usize = 3;

/// One event, whether this process saw it or the history keeps it.
#[derive(Clone, Debug, PartialEq)]
pub struct TimelineEntry {
    pub at: Timestamp,
    pub body: Body,
}

impl From<&Transition> for TimelineEntry {
    fn from(transition: &Transition) -> Self {
        let transition = transition.clone();
        Self {
            at: transition.at,
            body: Body::Transition(StoredTransition { transition, state: None, events: Vec::new(), screen: None }),
        }
    }
}

impl From<&TaskEvent> for TimelineEntry {
    fn from(event: &TaskEvent) -> Self {
        Self { at: event.at, body: Body::TaskEvent(TaskRecord::from(event)) }
    }
}

impl TimelineEntry {
    /// Whether both are the same thing: of one terminal nothing happens twice at a time.
    fn is(&self, other: &TimelineEntry) -> bool {
        let same = match (&self.body, &other.body) {
            (Body::Transition(one), Body::Transition(other)) => one.transition == other.transition,
            (Body::TaskEvent(one), Body::TaskEvent(other)) => one.happening == other.happening,
            _ => false,
        };
        same && self.at == other.at
    }

    /// Whether something went wrong then.
    pub fn has_failed(&self) -> bool {
        sentence::of(&self.body, "it").is_some_and(|sentence| sentence.has_failed())
    }

    /// What it changed, if it is a transition.
    pub fn transition(&self) -> Option<&Transition> {
        match &self.body {
            Body::Transition(kept) => Some(&kept.transition),
            _ => None,
        }
    }

    /// The evidence that caused it; of a task's event the rows of output that say why it happened: what it printed
    /// last, or what it asks.
    pub fn evidence(&self) -> Cow<'_, [Evidence]> {
        let event = match &self.body {
            Body::Transition(kept) => return Cow::Borrowed(&kept.transition.evidence),
            Body::TaskEvent(event) => event,
            _ => return Cow::Borrowed(&[]),
        };
        let (rule, most) = match &event.happening {
            Happening::Exited { .. } => ("output", OUTPUT_ROWS),
            Happening::Input { .. } => ("asks", 1),
            _ => return Cow::Borrowed(&[]),
        };
        let fits = |line: &str| match &event.happening {
            Happening::Input { prompt } => line.trim() == prompt,
            _ => line.chars().any(char::is_alphanumeric),
        };
        let rows = event.state.preview.iter().enumerate().filter(|(_, line)| fits(line)).rev().take(most);
        let row =
            |(row, line): (usize, &String)| Evidence { rule: rule.to_owned(), line: Some(row), text: line.clone() };
        let mut rows: Vec<Evidence> = rows.map(row).collect();
        rows.reverse();
        Cow::Owned(rows)
    }

    /// The screen that is stored with it.
    pub fn screen(&self) -> Option<ScreenId> {
        match &self.body {
            Body::Transition(kept) => kept.screen,
            _ => None,
        }
    }

    /// The last lines of a task's output, from its events.
    pub fn output(&self) -> Option<Screen> {
        Some(Screen::from_text(&self.body.task()?.preview.join("\n"), u16::MAX))
    }

    /// Who had the turn from it on.
    fn point(&self) -> Option<Point> {
        match &self.body {
            Body::TaskEvent(event) => Some(Point::of_task_event(self.at, &event.happening, &event.state)),
            Body::Transition(kept) => Some(Point::of(self.at, &kept.transition.summary, None)),
            _ => None,
        }
    }

    /// Whether it says how things stood from then on.
    fn has_state(&self) -> bool {
        matches!(self.body, Body::Transition(_) | Body::TaskEvent(_))
    }
}

/// Which step is meant, however many come before and behind it: its time, and which one of that time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepId {
    at: Timestamp,
    nth: usize,
}

/// The steps of one terminal.
#[derive(Clone, Debug, Default)]
pub struct TimelineEntries {
    kept: BTreeMap<(Timestamp, RecordId), Arc<TimelineEntry>>,
    /// What this process saw happen to an agent or a task, oldest first.
    seen: Vec<Arc<TimelineEntry>>,
    /// How a task stands now, which the history keeps only once it lasts.
    present: Option<Point>,
    /// All of them, newest first.
    merged: Vec<Arc<TimelineEntry>>,
    /// Those that are listed: what a sentence tells, or every one.
    listed: Vec<Arc<TimelineEntry>>,
    lists_all: bool,
}

impl TimelineEntries {
    /// Those that are listed, newest first.
    pub fn listed(&self) -> &[Arc<TimelineEntry>] {
        &self.listed
    }

    /// Whether also what says nothing to a person is listed, such as a draft that comes and goes.
    pub fn lists_all(&self) -> bool {
        self.lists_all
    }

    /// Lists every change, or only what a sentence tells.
    pub fn list_all(&mut self, all: bool) {
        self.lists_all = all;
        self.list();
    }

    fn list(&mut self) {
        let is_listed = |step: &&Arc<TimelineEntry>| self.lists_all || sentence::of(&step.body, "it").is_some();
        self.listed = self.merged.iter().filter(is_listed).cloned().collect();
        if !self.lists_all {
            // Repeated acts of the operator, such as typing keys, are one step, as they are one line of the log.
            let own = |step: &TimelineEntry| {
                sentence::of(&step.body, "it").filter(|it| it.actor == Doer::You && sentence::is_repeatable(&step.body))
            };
            self.listed.dedup_by(|older, newer| own(older).is_some_and(|it| Some(it) == own(newer)));
        }
    }

    /// The place in the list, whose first one is now, of what went wrong before another place or after it.
    pub fn failure_beside(&self, from: usize, before: bool) -> Option<usize> {
        let has_failed = |index: &usize| self.get(index - 1).is_some_and(TimelineEntry::has_failed);
        match before {
            true => (from + 1..=self.listed.len()).find(has_failed),
            false => (1..from.max(1)).rev().find(has_failed),
        }
    }

    pub fn get(&self, index: usize) -> Option<&TimelineEntry> {
        self.listed.get(index).map(Arc::as_ref)
    }

    /// Takes in what this process saw happen to it, oldest first: transitions of an agent or events of a task. Returns
    /// whether there is something new.
    pub fn see<'e, T>(&mut self, seen: impl DoubleEndedIterator<Item = &'e T> + Clone) -> bool
    where
        T: 'e,
        TimelineEntry: From<&'e T>,
    {
        let newest = seen.clone().next_back().map(TimelineEntry::from);
        if newest.as_ref() == self.seen.last().map(Arc::as_ref) && self.seen.len() == seen.clone().count() {
            return false;
        }
        self.seen = seen.map(|seen| Arc::new(TimelineEntry::from(seen))).collect();
        self.merge();
        true
    }

    /// Takes in how a task stands now.
    pub fn see_task(&mut self, task: &Task) {
        let summary = task.status.summary(task.exit_code());
        self.present = Some(Point::of(task.since, &summary, None));
    }

    /// Takes in what the history keeps, in any order and as often as it comes.
    pub fn keep(&mut self, records: Vec<Stored>) {
        for record in records {
            let Stored { id, at, body, .. } = record;
            self.kept.insert((at, id), Arc::new(TimelineEntry { at, body }));
        }
        self.merge();
    }

    /// The oldest record that is known of the history.
    pub fn oldest_kept(&self) -> Option<RecordId> {
        self.kept.first_key_value().map(|((_, id), _)| *id)
    }

    /// Until when what a transition brought about lasted at the most: until the next one, or until now.
    pub fn until(&self, index: usize, now: Timestamp) -> Option<Timestamp> {
        self.listed.get(index).filter(|step| step.has_state())?;
        Some(self.listed[..index].iter().rev().find(|step| step.has_state()).map_or(now, |step| step.at))
    }

    /// The latest step with a screen at or before one, for those that have none of their own.
    pub fn screen_at(&self, index: usize) -> Option<&TimelineEntry> {
        let shown = self.listed.get(index)?;
        let at = self.merged.iter().position(|step| Arc::ptr_eq(step, shown))?;
        self.merged[at..].iter().map(Arc::as_ref).find(|step| step.has_state())
    }

    pub fn id(&self, index: usize) -> Option<StepId> {
        let at = self.listed.get(index)?.at;
        // Counted from the oldest, because newer ones are added in front.
        Some(StepId { at, nth: self.listed[index + 1..].iter().take_while(|step| step.at == at).count() })
    }

    /// Where a step stands now, or the nearest one to its time when it is no longer there.
    pub fn position(&self, id: StepId) -> Option<usize> {
        let newer = self.listed.partition_point(|step| step.at > id.at);
        let same = self.listed[newer..].iter().take_while(|step| step.at == id.at).count();
        let last = self.listed.len().checked_sub(1)?;
        Some((newer + same).saturating_sub(id.nth + 1).max(newer).min(last))
    }

    /// What the time line needs of what happened after a time.
    pub fn points_after(&self, after: Option<Timestamp>) -> Vec<Point> {
        let is_after = |at: Timestamp| after.is_none_or(|after| at > after);
        let steps = self.merged.iter().take_while(|step| is_after(step.at)).filter_map(|step| step.point());
        let mut points: Vec<Point> = steps.chain(self.present.filter(|point| is_after(point.at))).collect();
        points.sort_by_key(|point| point.at);
        points
    }

    /// Since when this process has watched the terminal, as far as it remembers.
    pub fn seen_since(&self) -> Option<Timestamp> {
        let present = self.present.map(|point| point.at);
        self.seen.first().map(|step| step.at).into_iter().chain(present).min()
    }

    fn merge(&mut self) {
        let is_kept = |seen: &TimelineEntry| {
            let same_time = (seen.at, RecordId(i64::MIN))..=(seen.at, RecordId(i64::MAX));
            self.kept.range(same_time).any(|(_, kept)| kept.is(seen))
        };
        let fresh = self.seen.iter().filter(|seen| !is_kept(seen));
        let mut merged: Vec<Arc<TimelineEntry>> = fresh.chain(self.kept.values()).cloned().collect();
        // Stable, so that of one time the kept ones stay in the order in which they were written.
        merged.sort_by_key(|step| step.at);
        merged.reverse();
        self.merged = merged;
        self.list();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Sent, StoredInput};
    use crate::state::{Availability, OperatorStatus, Phase, Summary, TurnResult, TurnSource, UiContext};

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    fn summary(phase: Phase) -> Summary {
        Summary {
            availability: Availability::Available,
            phase,
            result: TurnResult::None,
            source: TurnSource::None,
            ui_context: UiContext::NormalPrompt,
            status: OperatorStatus::Ready,
        }
    }

    fn seen(seconds: i64, phase: Phase) -> Transition {
        Transition {
            at: at(seconds),
            changed: Vec::new(),
            summary: summary(phase),
            note: None,
            evidence: Arc::default(),
        }
    }

    fn kept(id: i64, seconds: i64, phase: Phase) -> Stored {
        let TimelineEntry { at, body } = TimelineEntry::from(&seen(seconds, phase));
        Stored { id: RecordId(id), at, key: None, name: "api".to_owned(), body }
    }

    fn see(steps: &mut TimelineEntries, seen: &[Transition]) -> bool {
        steps.see(seen.iter())
    }

    fn seconds(steps: &TimelineEntries) -> Vec<i64> {
        steps.listed().iter().map(|step| step.at.as_millis() / 1000).collect()
    }

    #[test]
    fn what_is_seen_and_kept_is_listed_once() {
        let mut steps = TimelineEntries { lists_all: true, ..TimelineEntries::default() };
        let all = [seen(100, Phase::Ready), seen(110, Phase::Active), seen(120, Phase::Ready)];
        assert!(see(&mut steps, &all));
        assert!(!see(&mut steps, &all));
        steps.keep(vec![kept(1, 10, Phase::Ready), kept(2, 100, Phase::Ready), kept(3, 110, Phase::Active)]);
        assert_eq!(seconds(&steps), [120, 110, 100, 10]);
        steps.keep(vec![kept(3, 110, Phase::Active), kept(4, 120, Phase::Ready)]);
        assert_eq!(seconds(&steps), [120, 110, 100, 10]);
        assert_eq!((steps.until(0, at(125)), steps.until(2, at(125))), (Some(at(125)), Some(at(110))));
        assert_eq!(steps.oldest_kept(), Some(RecordId(1)));
        // Another change at the time of one that is known, and the same change at another time.
        steps.keep(vec![kept(5, 120, Phase::Active), kept(6, 121, Phase::Ready)]);
        assert_eq!(seconds(&steps), [121, 120, 120, 110, 100, 10]);
    }

    #[test]
    fn what_the_operator_does_several_times_in_a_row_is_one_step() {
        let typed = |id: i64, seconds: i64, key: &str| {
            let body = Body::Input(StoredInput {
                sender: "dashboard".to_owned(),
                sent: Sent::Keys { keys: vec![key.to_owned()] },
                outcome: Some("accepted".to_owned()),
                detail: None,
                ended_at: None,
            });
            Stored { id: RecordId(id), at: at(seconds), key: None, name: "api".to_owned(), body }
        };
        let mut steps = TimelineEntries::default();
        steps.keep(vec![typed(1, 10, "a"), typed(2, 12, "b"), typed(3, 14, "Escape"), typed(4, 16, "c")]);
        assert_eq!(seconds(&steps), [16, 14, 12]);
        steps.list_all(true);
        assert_eq!(seconds(&steps), [16, 14, 12, 10]);
        // Each answer is an act of its own.
        let answered = |id: i64, seconds: i64| {
            let mut record = typed(id, seconds, "a");
            if let Body::Input(input) = &mut record.body {
                let (dialog, about) = (String::new(), "which one".to_owned());
                input.sent = Sent::Answer { dialog, about, choice: "1 Yes".to_owned(), refuses: false };
            }
            record
        };
        let mut steps = TimelineEntries::default();
        steps.keep(vec![answered(1, 10), answered(2, 12)]);
        assert_eq!(seconds(&steps), [12, 10]);
    }

    #[test]
    fn a_step_is_found_again_whatever_comes_around_it() {
        let mut steps = TimelineEntries { lists_all: true, ..TimelineEntries::default() };
        see(&mut steps, &[seen(100, Phase::Ready), seen(100, Phase::Active), seen(120, Phase::Ready)]);
        let id = steps.id(1).unwrap();
        assert_eq!(steps.position(id), Some(1));
        steps.keep(vec![kept(1, 10, Phase::Ready), kept(2, 130, Phase::Active)]);
        assert_eq!(steps.position(id), Some(2));
        assert_eq!(steps.id(2), Some(id));
        assert_eq!(TimelineEntries { lists_all: true, ..TimelineEntries::default() }.position(id), None);
    }
}
