//! What was said, as far as screens showed it, and the search in it.

use std::ops::Range;
use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use regex::RegexBuilder;

use super::reading::Reading;
use super::steps::StepId;
use crate::moment::{Moment, Span};
use crate::profile::{GAP, Said};
use crate::screen::Screen;
use crate::ui::canvas::Canvas;
use crate::ui::input::LineInput;
use crate::ui::popup::Line;
use crate::ui::text::Pen;

/// How often the transcript of now is asked for at most while the screen changes.
const PAUSE: Span = Span::from_secs(1);

/// What a transcript goes up to.
#[derive(Clone, Debug)]
pub enum UpTo {
    /// The screen of now, and when it was asked for.
    Now(Option<Arc<Screen>>, Moment),
    Step(StepId),
}

/// A transcript that is read.
#[derive(Clone, Debug)]
pub struct Transcript {
    lines: Option<Vec<Said>>,
    /// What was asked for last, and what the lines go up to.
    asked: Option<UpTo>,
    up_to: Option<UpTo>,
    /// Whether what was asked for last could not be read.
    failed: bool,
    reading: Reading,
    /// The line that is being typed.
    typing: Option<LineInput>,
    pattern: String,
    hits: Vec<(usize, Range<usize>)>,
    /// The hit that is looked at.
    hit: usize,
}

impl Transcript {
    pub const fn new() -> Self {
        Self {
            lines: None,
            asked: None,
            up_to: None,
            failed: false,
            reading: Reading::at_end(),
            typing: None,
            pattern: String::new(),
            hits: Vec::new(),
            hit: 0,
        }
    }

    /// Whether another one than what is there is wanted: up to a step, or up to now with the screen of now.
    pub fn is_due(&self, step: Option<StepId>, screen: Option<&Arc<Screen>>, now: Moment) -> bool {
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
        self.find();
    }

    pub fn reading(&mut self) -> &mut Reading {
        &mut self.reading
    }

    /// The search that is being typed.
    pub fn typing(&mut self) -> Option<&mut LineInput> {
        self.typing.as_mut()
    }

    pub const fn is_typing(&self) -> bool {
        self.typing.is_some()
    }

    pub const fn has_search(&self) -> bool {
        !self.pattern.is_empty()
    }

    pub fn begin_search(&mut self) {
        self.typing = Some(LineInput::default());
    }

    /// Follows what is being typed.
    pub fn typed(&mut self) {
        self.pattern = self.typing.as_ref().map(|typing| typing.text().to_owned()).unwrap_or_default();
        self.find();
        // What was said last is what one mostly looks for.
        self.hit = self.hits.len().saturating_sub(1);
        self.show_hit();
    }

    /// Ends the typing; what was typed is searched for, or nothing any more.
    pub fn end_search(&mut self, keep: bool) {
        self.typing = None;
        if !keep {
            self.pattern.clear();
            self.hits.clear();
        }
    }

    /// To the next or the previous hit, around the ends.
    pub fn step(&mut self, forward: bool) {
        if let Some(last) = self.hits.len().checked_sub(1) {
            self.hit = match (forward, self.hit) {
                (true, hit) if hit >= last => 0,
                (true, hit) => hit + 1,
                (false, 0) => last,
                (false, hit) => hit - 1,
            };
            self.show_hit();
        }
    }

    /// What is found, in a few words; nothing without a search.
    pub fn found(&self) -> Option<String> {
        (!self.pattern.is_empty()).then(|| match self.hits.len() {
            0 => format!("nowhere \"{}\"", self.pattern),
            count => format!("{} of {count} \"{}\"", self.hit + 1, self.pattern),
        })
    }

    /// Draws what was said up to a step, or up to now; lines that go up to another time are not taken for it.
    pub fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, mut area: Rect, step: Option<StepId>) {
        let parts = &canvas.theme.parts;
        if let Some(typing) = &self.typing
            && area.height > 1
        {
            let place = Rect { y: area.bottom() - 1, height: 1, ..area };
            area.height -= 1;
            let mut pen = Pen::new(buffer, place, 0);
            pen.skip(1).text("/", parts.key);
            let room = usize::from(pen.room());
            typing.draw(canvas, &mut pen, room);
        }
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
        let (hits, hit) = (&self.hits, self.hit);
        self.reading.draw(buffer, area, lines.len(), |index| line(canvas, &lines[index], index, hits, hit));
    }

    fn find(&mut self) {
        self.hits.clear();
        let Some(lines) = self.lines.as_ref().filter(|_| !self.pattern.is_empty()) else { return };
        let smart = !self.pattern.chars().any(char::is_uppercase);
        // An escaped text is always a pattern, unless it is too long for one.
        if let Ok(pattern) = RegexBuilder::new(&regex::escape(&self.pattern)).case_insensitive(smart).build() {
            let found = |(index, line)| pattern.find_iter(line).map(move |found| (index, found.range()));
            self.hits = lines.iter().map(|said| said.text.as_str()).enumerate().flat_map(found).collect();
        }
        self.hit = self.hit.min(self.hits.len().saturating_sub(1));
    }

    fn show_hit(&mut self) {
        if let Some((line, _)) = self.hits.get(self.hit) {
            self.reading.show(*line);
        }
    }
}

/// A line with its hits standing out.
fn line(canvas: &Canvas<'_>, said: &Said, index: usize, hits: &[(usize, Range<usize>)], hit: usize) -> Line {
    let parts = &canvas.theme.parts;
    let text = said.text.as_str();
    let base = match (text, said.by_user) {
        (GAP, _) => parts.quiet,
        (_, true) => parts.title,
        (_, false) => parts.text,
    };
    let first = hits.partition_point(|(line, _)| *line < index);
    let mut line = Vec::new();
    let mut at = 0;
    for (nth, (_, range)) in (first..).zip(hits[first..].iter().take_while(|(line, _)| *line == index)) {
        line.push((text[at..range.start].to_owned(), base));
        let style = if nth == hit { parts.cursor } else { parts.selected.patch(parts.title) };
        line.push((text[range.clone()].to_owned(), style));
        at = range.end;
    }
    line.push((text[at..].to_owned(), base));
    line
}
