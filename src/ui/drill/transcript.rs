//! What was said, as far as screens showed it, and the search in it.

use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::reading;
use super::steps::StepId;
use crate::profile::{GAP, Said};
use crate::screen::Screen;
use crate::time::{Span, Timestamp};
use crate::ui::canvas::Canvas;
use crate::ui::input::LineInput;
use crate::ui::popup::StyledLine;
use crate::ui::search::Search;
use crate::ui::text::Pen;
use crate::ui::viewport::Viewport;

/// How often the transcript of now is asked for at most while the screen changes.
const PAUSE: Span = Span::from_secs(1);

/// What a transcript goes up to.
#[derive(Clone, Debug)]
pub enum UpTo {
    /// The screen of now, and when it was asked for.
    Now(Option<Arc<Screen>>, Timestamp),
    Step(StepId),
}

/// A transcript that is read.
#[derive(Clone, Debug)]
pub struct TranscriptView {
    lines: Option<Vec<Said>>,
    /// What was asked for last, and what the lines go up to.
    asked: Option<UpTo>,
    up_to: Option<UpTo>,
    /// Whether what was asked for last could not be read.
    failed: bool,
    view: Viewport,
    search: Search,
}

impl TranscriptView {
    pub fn new() -> Self {
        Self {
            lines: None,
            asked: None,
            up_to: None,
            failed: false,
            view: Viewport::at_end(),
            search: Search::default(),
        }
    }

    /// Whether another one than what is there is wanted: up to a step, or up to now with the screen of now.
    pub fn is_due(&self, step: Option<StepId>, screen: Option<&Arc<Screen>>, now: Timestamp) -> bool {
        match (step, &self.asked) {
            (Some(step), Some(UpTo::Step(known))) => step != *known,
            (None, Some(UpTo::Now(known, asked))) => {
                let same = match (known, screen) {
                    (Some(known), Some(screen)) => Arc::ptr_eq(known, screen),
                    (known, screen) => known.is_none() == screen.is_none(),
                };
                !same && now.since(*asked) >= PAUSE
            }
            _ => true,
        }
    }

    /// Notes what was asked for.
    pub fn asked(&mut self, up_to: UpTo) {
        self.asked = Some(up_to);
    }

    /// Takes note that what was asked for cannot be read now.
    pub fn fail(&mut self) {
        (self.asked, self.failed) = (None, true);
    }

    pub const fn has_failed(&self) -> bool {
        self.failed
    }

    /// Takes in the lines.
    pub fn told(&mut self, lines: Vec<Said>) {
        self.lines = Some(lines);
        (self.up_to, self.failed) = (self.asked.clone(), false);
        self.search.find(texts(&self.lines));
    }

    pub fn view(&mut self) -> &mut Viewport {
        &mut self.view
    }

    /// The search that is being typed.
    pub const fn typing(&mut self) -> Option<&mut LineInput> {
        self.search.typing()
    }

    pub const fn is_typing(&self) -> bool {
        self.search.is_typing()
    }

    pub const fn has_search(&self) -> bool {
        self.search.has_pattern()
    }

    pub fn begin_search(&mut self) {
        self.search.begin();
    }

    /// Follows what is being typed.
    pub fn typed(&mut self) {
        self.search.typed(texts(&self.lines));
        // What was said last is what one mostly looks for.
        self.search.go_to(true);
        self.show_hit();
    }

    /// Ends the typing; what was typed is searched for, or nothing any more.
    pub fn end_search(&mut self, keep: bool) {
        self.search.end(keep);
    }

    /// To the next or the previous hit, around the ends.
    pub fn step(&mut self, forward: bool) {
        self.search.step(forward);
        self.show_hit();
    }

    /// What is found, in a few words; nothing without a search.
    pub fn found(&self) -> Option<String> {
        self.search.found()
    }

    /// Draws what was said up to a step, or up to now; lines that go up to another time are not taken for it.
    pub fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, step: Option<StepId>) {
        let parts = &canvas.theme.parts;
        let area = self.search.draw(canvas, buffer, area);
        let is_of_step = match (step, &self.up_to) {
            (Some(step), Some(UpTo::Step(known))) => step == *known,
            (None, Some(UpTo::Now(..))) => true,
            _ => false,
        };
        let Some(lines) = self.lines.as_ref().filter(|_| is_of_step) else {
            let why = if self.failed { "what was said cannot be read now" } else { "reading …" };
            Pen::new(buffer, area, 0).skip(1).text(why, parts.quiet);
            return;
        };
        if lines.is_empty() {
            Pen::new(buffer, area, 0).skip(1).text("nothing was said on any screen that is kept", parts.quiet);
            return;
        }
        let search = &self.search;
        reading::draw(&mut self.view, buffer, area, lines.len(), |index| {
            search.marked(canvas, index, line(canvas, &lines[index]))
        });
    }

    fn show_hit(&mut self) {
        if let Some(line) = self.search.line() {
            self.view.center(line, 0);
        }
    }
}

fn texts(lines: &Option<Vec<Said>>) -> impl Iterator<Item = &str> {
    lines.iter().flatten().map(|said| said.text.as_str())
}

fn line(canvas: &Canvas<'_>, said: &Said) -> StyledLine {
    let parts = &canvas.theme.parts;
    let style = match (said.text.as_str(), said.by_user) {
        (GAP, _) => parts.quiet,
        (_, true) => parts.title,
        (_, false) => parts.text,
    };
    vec![(said.text.clone(), style)]
}
