//! What the view of one terminal knows.

use std::collections::BTreeMap;
use std::sync::Arc;

use ratatui::prelude::Rect;

use super::diff::DiffView;
use super::steps::{StepId, TimelineEntries};
use super::subject::Subject;
use super::texts::TranscriptView;
use crate::record::timeline::TimelineData;
use crate::record::{HistoryError, ScreenId};
use crate::screen::Screen;
use crate::time::{Span, Timestamp};
use crate::ui::pace::RECORDED;
use crate::ui::{Viewport, Waiting};

/// What the pane beside the list shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Screen,
    Transcript,
    Diff,
    Why,
    Facts,
}

impl Side {
    pub(super) const ALL: [Side; 5] = [Side::Screen, Side::Transcript, Side::Diff, Side::Why, Side::Facts];

    pub(super) const fn title(self) -> &'static str {
        match self {
            Side::Screen => "screen",
            Side::Why => "why",
            Side::Transcript => "transcript",
            Side::Diff => "diff",
            Side::Facts => "facts",
        }
    }

    pub(super) fn next(self) -> Self {
        Self::ALL[(self as usize + 1) % Self::ALL.len()]
    }
}

/// Which of the two panes the keys move in; where there is room for one only, it is the one that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Focus {
    List,
    Side,
}

/// The view of one terminal.
#[derive(Debug)]
pub struct Drill {
    /// What it is about, as it was seen last.
    pub(super) shown: Subject,
    /// Whether it is in the fleet now, and until when it was.
    pub(super) here: bool,
    pub(super) until: Timestamp,
    pub(super) steps: TimelineEntries,
    /// How much of the past the time line shows; without a choice it is the last hour, or less when there is less.
    /// What the history answered of it; empty until then.
    pub(super) line: TimelineData,
    /// `None` is now.
    pub(super) selected: Option<StepId>,
    /// The first entry of the list that is shown.
    pub(super) first: usize,
    pub(super) side: Side,
    pub(super) focus: Focus,
    /// Whether what stands beside the list has all the room until the list is asked for.
    pub(super) is_alone: bool,
    /// Rows that the screen is scrolled up from its end.
    pub(super) lifted: usize,
    pub(super) why: Viewport,
    pub(super) facts: Viewport,
    pub(super) transcript: TranscriptView,
    pub(super) diff: DiffView,
    pub(super) asking: DrillRequests,
    /// The prompts that wait for it.
    pub(super) waiting: Vec<Waiting>,
    pub(super) drawn: DrillPlaces,
}

/// What the last frame showed where.
#[derive(Clone, Debug, Default)]
pub(super) struct DrillPlaces {
    /// The entries of the list that are shown, each with its place.
    pub(super) entries: Vec<(Rect, usize)>,
    /// How many rows the list has room for.
    pub(super) page: usize,
    /// When nobody watched, by time.
    pub(super) gaps: Vec<(Timestamp, Timestamp)>,
    pub(super) list_place: Rect,
    pub(super) side_place: Rect,
    pub(super) tabs: Vec<(Rect, Side)>,
    /// How far the screen can be lifted.
    pub(super) lift_most: usize,
    /// Whether the two panes take turns.
    pub(super) one_pane: bool,
    /// Whether they stand one above the other, or take turns.
    pub(super) is_narrow: bool,
}

impl Drill {
    /// Whether what stands beside the list has all the room: an answer that is read, or the difference where the panes would
    /// stand one above the other.
    pub(super) fn is_all_side(&self) -> bool {
        self.is_alone || (self.side == Side::Diff && self.drawn.is_narrow && !self.drawn.one_pane)
    }

    /// Which of the panes the keys move in.
    pub(super) fn focus(&self) -> Focus {
        if self.is_all_side() { Focus::Side } else { self.focus }
    }
}

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
    pub(super) trouble: Option<HistoryError>,
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
            Some(HistoryError::Off) => "no history is kept: this is what was seen since fleetwatch started".to_owned(),
            Some(trouble) => format!("the history cannot be read now: {trouble}"),
            None if self.page == QuestionProgress::Answered && !self.earlier => "the history begins here".to_owned(),
            None => "reading what was before …".to_owned(),
        }
    }

    pub(super) fn may_read(&self, now: Timestamp) -> bool {
        self.trouble != Some(HistoryError::Off) && now >= self.not_before
    }

    pub(super) fn is_again_due(&mut self, now: Timestamp) -> bool {
        let due = self.again.first().is_some_and(|at| *at <= now);
        if due {
            self.again.retain(|at| *at > now);
        }
        due
    }
}
