//! What waits to go out by one rule, and when it may.

use std::collections::BTreeSet;

use super::rule::{Means, NotifyRule};
use super::{Notice, NoticeId};
use crate::time::Timestamp;

/// Notices that wait for one rule at most; the oldest ones make room.
const WAITING: usize = 64;
/// Notices that a delivery names in its text.
const NAMED: usize = 3;

/// One rule at work.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    rule: NotifyRule,
    /// When something last went out.
    last: Option<Timestamp>,
    waiting: Vec<(Notice, BTreeSet<Means>)>,
}

/// What goes out by one rule at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Dispatch {
    /// By which means.
    pub by: BTreeSet<Means>,
    /// The rule; its command and its deadline are wanted for [`Means::Command`].
    pub rule: NotifyRule,
    /// Oldest first, never empty.
    pub notices: Vec<Notice>,
}

impl Dispatch {
    /// Everything in one line: one notice in its own words, several by their first ones and a count.
    pub fn text(&self) -> String {
        let named: Vec<&str> = self.notices.iter().take(NAMED).map(|notice| notice.text.as_str()).collect();
        match self.notices.len().saturating_sub(NAMED) {
            0 => named.join("; "),
            more => format!("{}; and {more} more", named.join("; ")),
        }
    }

    /// The events for a program: one JSON object a line.
    pub fn lines(&self) -> String {
        self.notices.iter().map(|notice| format!("{}\n", notice.document)).collect()
    }
}

impl Lane {
    pub(super) fn new(rule: NotifyRule) -> Self {
        Self { rule, last: None, waiting: Vec::new() }
    }

    pub(super) fn rule(&self) -> &NotifyRule {
        &self.rule
    }

    pub(super) fn push(&mut self, notice: Notice, means: BTreeSet<Means>) {
        if self.waiting.len() == WAITING {
            self.waiting.remove(0);
        }
        self.waiting.push((notice, means));
    }

    pub(super) fn clear(&mut self) {
        self.waiting.clear();
    }

    /// When what waits may go out.
    pub(super) fn due(&self) -> Option<Timestamp> {
        let first = (!self.waiting.is_empty()).then_some(Timestamp::default())?;
        Some(self.last.map_or(first, |last| last + self.rule.minimum_distance))
    }

    /// What goes out now; what no longer stands is forgotten, and is among what is `handled`.
    pub(super) fn take(
        &mut self,
        now: Timestamp,
        stands: impl Fn(&Notice) -> bool,
        handled: &mut Vec<NoticeId>,
    ) -> Option<Dispatch> {
        self.due().filter(|due| *due <= now)?;
        handled.extend(self.waiting.iter().map(|(notice, _)| notice.id()));
        let (notices, means): (Vec<Notice>, Vec<BTreeSet<Means>>) =
            self.waiting.drain(..).filter(|(notice, _)| stands(notice)).unzip();
        if notices.is_empty() {
            return None;
        }
        self.last = Some(now);
        Some(Dispatch { by: means.into_iter().flatten().collect(), rule: self.rule.clone(), notices })
    }
}
