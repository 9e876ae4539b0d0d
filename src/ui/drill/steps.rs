//! What happened to one terminal, in one list: what this process saw and what the history keeps, each once.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::history::{Body, Holder, Kind, Point, RecordId, ScreenId, Stored};
use crate::moment::{Moment, Span};
use crate::state::Transition;
use crate::ui::transitions::Changes;

/// How far apart two processes may see the same change.
const SAME: Span = Span::from_secs(3);

/// One thing that happened.
#[derive(Clone, Debug)]
pub enum Step {
    /// A transition that this process saw and that is not known to be stored.
    Seen(Transition),
    /// Anything that the history keeps.
    Kept(Arc<Stored>),
}

impl Step {
    pub fn at(&self) -> Moment {
        match self {
            Step::Seen(transition) => transition.at,
            Step::Kept(stored) => stored.at,
        }
    }

    /// What it changed, if it is a transition.
    pub fn changes(&self) -> Option<Changes<'_>> {
        match self {
            Step::Seen(transition) => Some(Changes::from(transition)),
            Step::Kept(stored) => match &stored.body {
                Body::Transition(kept) => Some(Changes {
                    changed: stored.changes().collect(),
                    summary: &kept.summary,
                    note: kept.note.as_deref(),
                }),
                _ => None,
            },
        }
    }

    /// The evidence that caused it: rule, row (from 0; none for pane facts) and text.
    pub fn evidence(&self) -> Vec<(String, Option<u64>, String)> {
        match self {
            Step::Seen(transition) => {
                let of = |line: &Option<usize>| line.and_then(|line| u64::try_from(line).ok());
                transition.evidence.iter().map(|it| (it.rule.clone(), of(&it.line), it.text.clone())).collect()
            }
            Step::Kept(stored) => {
                let items = stored.document.get("evidence").and_then(|it| it.as_array()).map(Vec::as_slice);
                let word = |item: &serde_json::Value, name: &str| {
                    item.get(name).and_then(|it| it.as_str()).unwrap_or_default().to_owned()
                };
                let read = |item: &serde_json::Value| {
                    (word(item, "rule"), item.get("line").and_then(|it| it.as_u64()), word(item, "text"))
                };
                items.unwrap_or_default().iter().map(read).collect()
            }
        }
    }

    /// The screen that is stored with it.
    pub fn screen(&self) -> Option<ScreenId> {
        match self {
            Step::Kept(stored) => match &stored.body {
                Body::Transition(kept) => kept.screen,
                _ => None,
            },
            Step::Seen(_) => None,
        }
    }

    fn is_transition(&self) -> bool {
        match self {
            Step::Seen(_) => true,
            Step::Kept(stored) => stored.kind() == Kind::Transition,
        }
    }
}

/// Which step is meant, however many come before and behind it: its time, and which one of that time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepId {
    at: Moment,
    nth: usize,
}

/// The steps of one terminal.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    kept: BTreeMap<(Moment, RecordId), Arc<Stored>>,
    seen: VecDeque<Transition>,
    /// Newest first.
    merged: Vec<Step>,
}

impl Steps {
    /// Newest first.
    pub fn all(&self) -> &[Step] {
        &self.merged
    }

    pub fn get(&self, index: usize) -> Option<&Step> {
        self.merged.get(index)
    }

    /// Takes in the transitions that this process saw, newest last. Returns whether there are new ones.
    pub fn see(&mut self, transitions: &VecDeque<Transition>) -> bool {
        if self.seen.len() == transitions.len() && self.seen.back() == transitions.back() {
            return false;
        }
        self.seen.clone_from(transitions);
        self.merge();
        true
    }

    /// Takes in what the history keeps, in any order and as often as it comes.
    pub fn keep(&mut self, records: Vec<Stored>) {
        for record in records {
            self.kept.insert((record.at, record.id), Arc::new(record));
        }
        self.merge();
    }

    /// The oldest record that is known of the history.
    pub fn oldest_kept(&self) -> Option<RecordId> {
        self.kept.first_key_value().map(|((_, id), _)| *id)
    }

    /// Until when what a transition brought about lasted at the most: until the next one, or until now.
    pub fn until(&self, index: usize, now: Moment) -> Option<Moment> {
        self.merged.get(index).filter(|step| step.is_transition())?;
        Some(self.merged[..index].iter().rev().find(|step| step.is_transition()).map_or(now, Step::at))
    }

    /// The latest step with a screen at or before one, for those that have none of their own.
    pub fn screen_at(&self, index: usize) -> Option<&Step> {
        self.merged.get(index..)?.iter().find(|step| step.is_transition())
    }

    pub fn id(&self, index: usize) -> Option<StepId> {
        let at = self.merged.get(index)?.at();
        // Counted from the oldest, because newer ones are added in front.
        Some(StepId { at, nth: self.merged[index + 1..].iter().take_while(|step| step.at() == at).count() })
    }

    /// Where a step stands now, or the nearest one to its time when it is no longer there.
    pub fn position(&self, id: StepId) -> Option<usize> {
        let newer = self.merged.partition_point(|step| step.at() > id.at);
        let same = self.merged[newer..].iter().take_while(|step| step.at() == id.at).count();
        let last = self.merged.len().checked_sub(1)?;
        Some((newer + same).saturating_sub(id.nth + 1).max(newer).min(last))
    }

    /// What the time line needs of the transitions that this process saw after a time.
    pub fn points_after(&self, after: Option<Moment>) -> impl Iterator<Item = Point> {
        let fresh = self.seen.iter().filter(move |seen| after.is_none_or(|after| seen.at > after));
        fresh.map(|seen| Point {
            at: seen.at,
            holder: Holder::of(&seen.summary),
            result: seen.summary.result,
            turn_ended: None,
        })
    }

    /// Since when this process has watched the terminal, as far as it remembers.
    pub fn seen_since(&self) -> Option<Moment> {
        self.seen.front().map(|transition| transition.at)
    }

    fn merge(&mut self) {
        let mut taken = std::collections::BTreeSet::new();
        let mut merged: Vec<Step> = Vec::with_capacity(self.kept.len() + self.seen.len());
        for transition in &self.seen {
            match self.twin(transition, &taken) {
                Some(id) => drop(taken.insert(id)),
                None => merged.push(Step::Seen(transition.clone())),
            }
        }
        merged.extend(self.kept.values().cloned().map(Step::Kept));
        // Stable, so that of one time the kept ones stay in the order in which they were written.
        merged.sort_by_key(Step::at);
        merged.reverse();
        self.merged = merged;
    }

    /// The stored record of a transition, which another process may have seen a moment earlier or later.
    fn twin(&self, seen: &Transition, taken: &std::collections::BTreeSet<RecordId>) -> Option<RecordId> {
        let from = (seen.at - SAME, RecordId(i64::MIN));
        let to = (seen.at + SAME, RecordId(i64::MAX));
        let same = |stored: &Stored| match &stored.body {
            Body::Transition(kept) => kept.summary == seen.summary && kept.note == seen.note,
            _ => false,
        };
        let near = self.kept.range(from..=to).filter(|((_, id), stored)| !taken.contains(id) && same(stored));
        let distance = |at: Moment| at.since(seen.at).max(seen.at.since(at));
        near.min_by_key(|((at, _), _)| distance(*at)).map(|((_, id), _)| *id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::StoredTransition;
    use crate::state::{Availability, OperatorStatus, Phase, Summary, TurnResult, TurnSource, UiContext};

    fn at(seconds: i64) -> Moment {
        Moment::from_millis(seconds * 1000)
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
        Transition { at: at(seconds), changed: Vec::new(), summary: summary(phase), note: None, evidence: Vec::new() }
    }

    fn kept(id: i64, seconds: i64, phase: Phase) -> Stored {
        let summary = summary(phase);
        Stored {
            id: RecordId(id),
            at: at(seconds),
            key: None,
            name: "api".to_owned(),
            document: serde_json::Value::Null,
            body: Body::Transition(StoredTransition { summary, turn_ended: None, note: None, screen: None }),
        }
    }

    fn words(steps: &Steps) -> String {
        let word = |step: &Step| {
            let kind = if matches!(step, Step::Kept(_)) { "kept" } else { "seen" };
            format!("{kind} {}", step.at().as_millis() / 1000)
        };
        steps.all().iter().map(word).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn what_is_seen_and_kept_stands_there_once() {
        let mut steps = Steps::default();
        assert!(steps.see(&VecDeque::from([
            seen(100, Phase::Ready),
            seen(110, Phase::Active),
            seen(120, Phase::Ready)
        ])));
        steps.keep(vec![kept(1, 10, Phase::Ready), kept(2, 100, Phase::Ready), kept(3, 109, Phase::Active)]);
        assert_eq!(words(&steps), "seen 120, kept 109, kept 100, kept 10");
        steps.keep(vec![kept(3, 109, Phase::Active), kept(4, 120, Phase::Ready)]);
        assert_eq!(words(&steps), "kept 120, kept 109, kept 100, kept 10");
        assert_eq!((steps.until(0, at(125)), steps.until(2, at(125))), (Some(at(125)), Some(at(109))));
        assert_eq!(steps.oldest_kept(), Some(RecordId(1)));
    }

    #[test]
    fn a_step_is_found_again_whatever_comes_around_it() {
        let mut steps = Steps::default();
        steps.see(&VecDeque::from([seen(100, Phase::Ready), seen(100, Phase::Active), seen(120, Phase::Ready)]));
        let id = steps.id(1).unwrap();
        assert_eq!(steps.position(id), Some(1));
        steps.keep(vec![kept(1, 10, Phase::Ready), kept(2, 130, Phase::Active)]);
        assert_eq!(steps.position(id), Some(2));
        assert_eq!(steps.id(2), Some(id));
        assert_eq!(Steps::default().position(id), None);
    }
}
