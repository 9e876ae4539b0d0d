//! What the view asks the history for, once each, and what happens with the answers.

use std::sync::Arc;

use super::state::{Drill, Side};
use super::state::{QuestionProgress, Shot};
use super::steps::TimelineEntry;
use super::texts::UpTo;
use crate::fleet::View;
use crate::record::HistoryError;
use crate::record::question::{HistoryAnswer, HistoryQuestion, QuestionKind};
use crate::screen::KeptScreen;
use crate::time::{Span, Timestamp};
use crate::ui::pace::REFRESH;
use crate::ui::{OverlayContext, Request};

/// Screens that are kept at hand.
const SCREENS: usize = 64;
/// Steps that are still there behind the selected one when earlier ones are asked for.
const AHEAD: usize = 60;

impl Drill {
    /// Asks for the difference if another one may be there by now.
    pub(super) fn ask_diff(&mut self, cx: &mut OverlayContext<'_, '_>) {
        let (item, screen, now) = (self.shown.item(), self.shown.screen(), cx.view.now);
        if !self.here || !self.diff.is_due(item.git(), screen, now) {
            return;
        }
        let (key, directory) = (item.key().clone(), item.cwd().to_owned());
        self.diff.ask(item.git(), screen, now);
        cx.ask(Request::Diff { key, directory });
    }

    /// Asks for what is wanted now and is neither there nor under way.
    pub(super) fn ask(&mut self, cx: &mut OverlayContext<'_, '_>) {
        let now = cx.view.now;
        let mut asks: Vec<QuestionKind> = Vec::new();
        if self.asking.may_read(now) {
            if self.asking.line == QuestionProgress::Not {
                self.asking.line = QuestionProgress::UnderWay;
                asks.push(QuestionKind::Line { since: None, until: now });
            }
            asks.extend(self.page_wanted(now));
            asks.extend(self.screen_wanted());
        }
        asks.extend(self.transcript_wanted(cx.view));
        let key = self.shown.key().clone();
        for ask in asks {
            cx.ask(Request::Ask(HistoryQuestion::Terminal { key: key.clone(), ask: Box::new(ask) }));
        }
        // They contain ages, which grow with those of the row.
        let age = |at: Timestamp| at.since(self.shown.item().since().at).as_millis() / 1000;
        let is_old = self.asking.reasons_asked.is_none_or(|at| now.since(at) >= Span::SECOND || age(at) != age(now));
        if self.side == Side::Why && self.selected.is_none() && self.here && is_old {
            self.asking.reasons_asked = Some(now);
            cx.ask(Request::Reasons(key));
        }
    }

    fn page_wanted(&mut self, now: Timestamp) -> Option<QuestionKind> {
        let near_end = self.index() + AHEAD + self.drawn.page >= self.steps.listed().len();
        let again = self.asking.page == QuestionProgress::Answered && self.asking.is_again_due(now);
        let before = match self.asking.page {
            QuestionProgress::UnderWay => return None,
            QuestionProgress::Not => None,
            QuestionProgress::Answered if again => None,
            QuestionProgress::Answered if self.asking.earlier && near_end => Some(self.steps.oldest_kept()?),
            QuestionProgress::Answered if now.since(self.asking.paged) >= REFRESH => {
                self.asking.page = QuestionProgress::UnderWay;
                return Some(QuestionKind::Again);
            }
            QuestionProgress::Answered => return None,
        };
        self.asking.page = QuestionProgress::UnderWay;
        Some(QuestionKind::Page { before })
    }

    fn screen_wanted(&mut self) -> Option<QuestionKind> {
        let id = self.step_with_screen().and_then(TimelineEntry::screen)?;
        if self.asking.screen == Some(id) || self.asking.screens.contains_key(&id) {
            return None;
        }
        self.asking.screen = Some(id);
        Some(QuestionKind::Screen(id))
    }

    fn transcript_wanted(&mut self, view: &View<'_>) -> Option<QuestionKind> {
        let screen = self.shown.screen();
        let wanted = self.side == Side::Transcript && !self.asking.transcript;
        let waits = self.transcript.failed && view.now < self.asking.not_before;
        if !wanted || waits || !self.transcript.is_due(self.selected, screen, view.now) {
            return None;
        }
        self.asking.transcript = true;
        let (until, last) = match self.selected {
            None => (view.now, screen.and_then(KeptScreen::whole)),
            Some(_) => {
                let seen = match self.shot(view) {
                    // What is stored the history knows itself.
                    Shot::Screen(screen) if self.step_with_screen().is_some_and(|step| step.screen().is_none()) => {
                        Some(screen)
                    }
                    _ => None,
                };
                (self.step_selected()?.at, seen)
            }
        };
        self.transcript.asked = Some(match self.selected {
            None => UpTo::Now(self.shown.screen().cloned(), view.now),
            Some(id) => UpTo::Step(id),
        });
        let last = last.map(|screen| self.shown.shown(screen));
        let record = self.shown.session_file();
        Some(QuestionKind::Transcript { until, record, last })
    }

    /// The step whose screen is shown: the selected one, or for what has none the transition before it.
    fn step_with_screen(&self) -> Option<&TimelineEntry> {
        self.steps.screen_at(self.index().checked_sub(1)?)
    }

    /// The screen of the selected moment, as far as it is known.
    pub(super) fn shot(&self, view: &View<'_>) -> Shot {
        if self.selected.is_none() {
            return match self.shown.screen().and_then(KeptScreen::whole) {
                Some(screen) => Shot::Screen(screen),
                None => Shot::None("no screen has been captured yet"),
            };
        }
        let Some(step) = self.step_with_screen() else { return Shot::None("no screen is kept from that time") };
        if let Some(output) = step.output() {
            return Shot::Screen(Arc::new(output));
        }
        match step.screen().map(|id| self.asking.screens.get(&id)) {
            Some(Some(Some(screen))) => Shot::Screen(Arc::clone(screen)),
            Some(Some(None)) => Shot::None("its screen is no longer kept"),
            Some(None) if self.asking.trouble.is_none() => Shot::None("reading …"),
            Some(None) => Shot::None("its screen cannot be read now"),
            None => {
                let same = |recent: &&crate::fleet::TerminalTransition| {
                    recent.key == *self.shown.key() && recent.transition.at == step.at
                };
                match view.recent.iter().rev().find(same).and_then(|recent| recent.screen.as_ref()?.whole()) {
                    Some(screen) => Shot::Screen(screen),
                    None => Shot::None("no screen is kept from that time"),
                }
            }
        }
    }

    /// Takes in an answer.
    pub(super) fn take_answer(&mut self, answer: &HistoryAnswer, now: Timestamp) {
        if !matches!(answer, HistoryAnswer::Failed { .. } | HistoryAnswer::Transcript { .. }) {
            self.asking.trouble = None;
        }
        match answer {
            HistoryAnswer::Page { before, records, earlier } => {
                let first = self.asking.page != QuestionProgress::Answered
                    && before.is_none()
                    && self.steps.oldest_kept().is_none();
                (self.asking.page, self.asking.paged) = (QuestionProgress::Answered, now);
                if first || before.is_some() {
                    self.asking.earlier = *earlier;
                }
                if !records.is_empty() {
                    self.keep_place(|steps| {
                        steps.keep(records.clone());
                        true
                    });
                }
            }
            HistoryAnswer::Screen(id, screen) => {
                self.asking.screen = None;
                while self.asking.screens.len() >= SCREENS {
                    self.asking.screens.pop_first();
                }
                self.asking.screens.insert(*id, screen.clone());
            }
            HistoryAnswer::Line(line) => {
                self.asking.line = QuestionProgress::Answered;
                self.line = line.clone();
            }
            HistoryAnswer::Transcript { lines, is_recorded, .. } => {
                self.asking.transcript = false;
                self.transcript.set_lines(Arc::clone(lines), *is_recorded);
            }
            HistoryAnswer::Failed { ask, trouble } => self.failed(ask, trouble, now),
        }
    }

    fn failed(&mut self, ask: &QuestionKind, trouble: &HistoryError, now: Timestamp) {
        match ask {
            QuestionKind::Page { .. } | QuestionKind::Again => {
                let known = self.steps.oldest_kept().is_some();
                self.asking.page = if known { QuestionProgress::Answered } else { QuestionProgress::Not };
            }
            QuestionKind::Screen(_) => self.asking.screen = None,
            QuestionKind::Line { .. } => self.asking.line = QuestionProgress::Not,
            QuestionKind::Transcript { .. } => {
                self.asking.transcript = false;
                match trouble {
                    // Nothing was said that anybody will ever read.
                    HistoryError::Off => self.transcript.set_lines(Arc::default(), false),
                    _ => self.transcript.fail(),
                }
            }
        }
        self.asking.trouble = Some(trouble.clone());
        self.asking.not_before = now + REFRESH;
    }
}
