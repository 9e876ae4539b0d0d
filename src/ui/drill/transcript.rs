//! What was said, as far as screens showed it, and the search in it.

use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::steps::StepId;
use crate::profile::{GAP, Said};
use crate::screen::Screen;
use crate::time::{Span, Timestamp};
use crate::ui::canvas::Canvas;
use crate::ui::popup::StyledLine;
use crate::ui::reading;
use crate::ui::search::SearchableText;
use crate::ui::text::Pen;

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
    pub reader: SearchableText,
}

impl TranscriptView {
    pub fn new() -> Self {
        Self { lines: None, asked: None, up_to: None, failed: false, reader: SearchableText::of_newest() }
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
    pub fn set_lines(&mut self, lines: Vec<Said>) {
        self.reader.set_texts(lines.iter().map(|said| said.text.clone()).collect());
        self.lines = Some(lines);
        (self.up_to, self.failed) = (self.asked.clone(), false);
    }

    /// Draws what was said up to a step, or up to now; lines that go up to another time are not taken for it.
    pub fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, step: Option<StepId>) {
        let parts = &canvas.theme.parts;
        let area = self.reader.draw_typing(canvas, buffer, area);
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
        let mut view = self.reader.view;
        reading::draw(&mut view, buffer, area, lines.len(), |index| {
            self.reader.marked(canvas, index, line(canvas, &lines[index]))
        });
        self.reader.view = view;
    }
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
