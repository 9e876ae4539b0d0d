//! What was asked of the history, and what it answered.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::record::{ScreenId, Trouble};
use crate::screen::Screen;
use crate::time::{Span, Timestamp};
use crate::ui::pace::RECORDED;

/// What this process sees is in the history after this time.
const WRITTEN: Span = Span::from_millis(400);

/// What was asked and what was answered.
#[derive(Clone, Debug, Default)]
pub(super) struct DrillRequests {
    pub(super) line: QuestionProgress,
    pub(super) page: QuestionProgress,
    pub(super) transcript: bool,
    /// Whether the history has more before what is known.
    pub(super) earlier: bool,
    /// When the newest records are asked for again.
    pub(super) again: Vec<Timestamp>,
    /// When it answered with the last page.
    pub(super) paged: Timestamp,
    pub(super) screen: Option<ScreenId>,
    /// `None` for those that were let go.
    pub(super) screens: BTreeMap<ScreenId, Option<Arc<Screen>>>,
    pub(super) trouble: Option<Trouble>,
    pub(super) not_before: Timestamp,
    pub(super) reasons_asked: Option<Timestamp>,
    /// The reasons of now, once they were answered; `None` when nothing has read the screen.
    pub(super) reasons: Option<Option<String>>,
}

/// How far a question is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum QuestionProgress {
    #[default]
    Not,
    UnderWay,
    Answered,
}

/// What the pane of screens shows.
pub(super) enum Shot {
    Screen(Arc<Screen>),
    /// There is none, and why.
    None(&'static str),
}

impl DrillRequests {
    /// A transition was seen: the history will have it soon.
    pub(super) fn changed(&mut self, now: Timestamp) {
        self.again = vec![now + WRITTEN, now + RECORDED];
    }

    /// What is said below the oldest step that is known.
    pub(super) fn end(&self) -> String {
        match &self.trouble {
            Some(Trouble::Off) => "no history is kept: this is what was seen since fleetwatch started".to_owned(),
            Some(trouble) => format!("the history cannot be read now: {trouble}"),
            None if self.page == QuestionProgress::Answered && !self.earlier => "the history begins here".to_owned(),
            None => "reading what was before …".to_owned(),
        }
    }

    pub(super) fn may_read(&self, now: Timestamp) -> bool {
        self.trouble != Some(Trouble::Off) && now >= self.not_before
    }

    pub(super) fn is_again_due(&mut self, now: Timestamp) -> bool {
        let due = self.again.first().is_some_and(|at| *at <= now);
        if due {
            self.again.retain(|at| *at > now);
        }
        due
    }
}
