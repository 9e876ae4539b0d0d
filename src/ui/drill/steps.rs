//! What happened to one terminal, in one list: what this process saw and what the history keeps, each once.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde_json::Value;

use crate::history::{Body, Holder, Kind, Point, RecordId, ScreenId, Stored};
use crate::moment::{Moment, Span};
use crate::screen::Screen;
use crate::state::Transition;
use crate::task::{Task, TaskEvent};
use crate::ui::transitions::Changes;

/// How far apart two processes may see the same change.
const SAME: Span = Span::from_secs(3);

/// Rows of output that are told of the end of a task.
const OUTPUT_ROWS: usize = 3;

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
            Step::Kept(stored) if stored.kind() == Kind::TaskEvent => self.output_rows(),
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

    /// The last lines of a task's output, as its events tell them.
    pub fn output(&self) -> Option<Screen> {
        let lines = self.task_state()?.get("preview")?.as_array()?;
        let lines: Vec<&str> = lines.iter().filter_map(|line| line.as_str()).collect();
        Some(Screen::from_text(&lines.join("\n"), u16::MAX))
    }

    /// The rows of output that say why a task's event happened: what it printed last, or what it asks.
    fn output_rows(&self) -> Vec<(String, Option<u64>, String)> {
        let Step::Kept(stored) = self else { return Vec::new() };
        let preview = self.task_state().and_then(|state| state.get("preview")).and_then(Value::as_array);
        let lines = (0..).zip(preview.into_iter().flatten()).filter_map(|(row, line)| Some((row, line.as_str()?)));
        let says = |line: &str| line.chars().any(char::is_alphanumeric);
        let (rule, rows): (&str, Vec<(u64, &str)>) = match stored.document.get("event").and_then(Value::as_str) {
            Some("exited") => ("output", lines.filter(|(_, line)| says(line)).collect()),
            Some("input") => {
                let prompt = stored.document.get("prompt").and_then(Value::as_str).unwrap_or_default();
                ("asks", lines.filter(|(_, line)| line.trim() == prompt).collect())
            }
            _ => return Vec::new(),
        };
        let last = rows.len().saturating_sub(if rule == "output" { OUTPUT_ROWS } else { 1 });
        rows[last..].iter().map(|(row, line)| (rule.to_owned(), Some(*row), (*line).to_owned())).collect()
    }

    /// A task's fields after an event (SPEC §9).
    fn task_state(&self) -> Option<&Value> {
        match self {
            Step::Kept(stored) if stored.is_of_task() => stored.document.get("state"),
            _ => None,
        }
    }

    /// Who had the turn of a task from a step on. What an agent's transitions say, this process has seen itself.
    fn point(&self) -> Option<Point> {
        let Step::Kept(stored) = self else { return None };
        match &stored.body {
            Body::TaskEvent => Point::of_task_event(stored.at, &stored.document),
            Body::Transition(kept) if stored.is_of_task() => {
                let (holder, result) = (Holder::of(&kept.summary), kept.summary.result);
                Some(Point { at: stored.at, holder, result, turn_ended: None })
            }
            _ => None,
        }
    }

    /// Whether it says how things stood from then on.
    fn has_state(&self) -> bool {
        match self {
            Step::Seen(_) => true,
            Step::Kept(stored) => matches!(stored.kind(), Kind::Transition | Kind::TaskEvent),
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
    /// What this process saw happen to a task, newest last, in the form in which it is stored.
    events: Vec<Arc<Stored>>,
    /// How a task stands now, which the history keeps only once it lasts.
    present: Option<Point>,
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

    /// Takes in what this process saw happen to a task, newest last. Returns whether there is something new.
    pub fn see_events<'e>(&mut self, events: impl DoubleEndedIterator<Item = &'e TaskEvent> + Clone) -> bool {
        let newest = events.clone().next_back().map(|event| event.at);
        if newest == self.events.last().map(|event| event.at) && self.events.len() == events.clone().count() {
            return false;
        }
        self.events = (0..).zip(events).map(|(nth, event)| Arc::new(stored(event, RecordId(i64::MIN + nth)))).collect();
        self.merge();
        true
    }

    /// Takes in how a task stands now.
    pub fn see_task(&mut self, task: &Task) {
        let summary = task.status.summary(task.exit_code());
        let (holder, result) = (Holder::of(&summary), summary.result);
        self.present = Some(Point { at: task.since, holder, result, turn_ended: None });
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
        self.merged.get(index).filter(|step| step.has_state())?;
        Some(self.merged[..index].iter().rev().find(|step| step.has_state()).map_or(now, Step::at))
    }

    /// The latest step with a screen at or before one, for those that have none of their own.
    pub fn screen_at(&self, index: usize) -> Option<&Step> {
        self.merged.get(index..)?.iter().find(|step| step.has_state())
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
    pub fn points_after(&self, after: Option<Moment>) -> Vec<Point> {
        let fresh = self.seen.iter().filter(move |seen| after.is_none_or(|after| seen.at > after));
        let seen = fresh.map(|seen| Point {
            at: seen.at,
            holder: Holder::of(&seen.summary),
            result: seen.summary.result,
            turn_ended: None,
        });
        let of_task = self.merged.iter().rev().filter_map(Step::point).chain(self.present);
        let of_task = of_task.filter(|point| after.is_none_or(|after| point.at > after));
        let mut points: Vec<Point> = seen.chain(of_task).collect();
        points.sort_by_key(|point| point.at);
        points
    }

    /// Since when this process has watched the terminal, as far as it remembers.
    pub fn seen_since(&self) -> Option<Moment> {
        let event = self.events.first().map(|event| event.at);
        let present = self.present.map(|point| point.at);
        [self.seen.front().map(|transition| transition.at), event, present].into_iter().flatten().min()
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
        let told = |event: &&Arc<Stored>| !self.is_kept(event);
        merged.extend(self.events.iter().filter(told).cloned().map(Step::Kept));
        merged.extend(self.kept.values().cloned().map(Step::Kept));
        // Stable, so that of one time the kept ones stay in the order in which they were written.
        merged.sort_by_key(Step::at);
        merged.reverse();
        self.merged = merged;
    }

    /// Whether the history has an event of a task, from whichever process.
    fn is_kept(&self, event: &Stored) -> bool {
        let near = self.kept.range((event.at - SAME, RecordId(i64::MIN))..=(event.at + SAME, RecordId(i64::MAX)));
        near.into_iter().any(|(_, kept)| {
            kept.kind() == Kind::TaskEvent && kept.document.get("event") == event.document.get("event")
        })
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

/// An event of a task in the form in which it is stored.
fn stored(event: &TaskEvent, id: RecordId) -> Stored {
    let mut fields = event.fields();
    fields.insert("state".to_owned(), serde_json::json!(event.state));
    let (key, name) = (Some(event.key.clone()), event.id.clone());
    Stored { id, at: event.at, key, name, document: Value::Object(fields), body: Body::TaskEvent }
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
