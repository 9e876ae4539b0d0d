//! Looking for a text in lines that are read: what is typed, where it was found, and how that stands out.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use regex::RegexBuilder;

use super::canvas::Canvas;
use super::input::LineInput;
use super::popup::{self, StyledLine};
use super::text::Pen;

/// A search.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// The line that is being typed.
    typing: Option<LineInput>,
    pattern: String,
    /// Where it was found: the line, and the bytes of it.
    hits: Vec<(usize, Range<usize>)>,
    /// The hit that is looked at.
    hit: usize,
}

impl Search {
    /// What is being typed.
    pub const fn typing(&mut self) -> Option<&mut LineInput> {
        self.typing.as_mut()
    }

    /// Whether something is being typed.
    pub const fn is_typing(&self) -> bool {
        self.typing.is_some()
    }

    /// Whether anything is searched for.
    pub const fn has_pattern(&self) -> bool {
        !self.pattern.is_empty()
    }

    /// Begins to type.
    pub fn begin(&mut self) {
        self.typing = Some(LineInput::default());
    }

    /// Searches for what was typed so far in lines that somebody else keeps.
    pub fn typed<'a>(&mut self, lines: impl Iterator<Item = &'a str>) {
        self.pattern = self.typing.as_ref().map(|typing| typing.text().to_owned()).unwrap_or_default();
        self.find(lines);
    }

    /// Ends the typing; what was typed is searched for, or nothing any more.
    pub fn end(&mut self, keep: bool) {
        self.typing = None;
        if !keep {
            self.pattern.clear();
            self.hits.clear();
        }
    }

    /// Searches again, as the lines are others now.
    pub fn find<'a>(&mut self, lines: impl Iterator<Item = &'a str>) {
        self.hits.clear();
        let smart = !self.pattern.chars().any(char::is_uppercase);
        // An escaped text is always a pattern, unless it is too long for one.
        let pattern = RegexBuilder::new(&regex::escape(&self.pattern)).case_insensitive(smart).build();
        if let Some(pattern) = pattern.ok().filter(|_| self.has_pattern()) {
            let found = |(index, line)| pattern.find_iter(line).map(move |found| (index, found.range()));
            self.hits = lines.enumerate().flat_map(found).collect();
        }
        self.hit = self.hit.min(self.hits.len().saturating_sub(1));
    }

    /// Looks at the first hit, or at the last one.
    pub fn go_to(&mut self, last: bool) {
        self.hit = if last { self.hits.len().saturating_sub(1) } else { 0 };
    }

    /// To the next or the previous hit, around the ends.
    pub fn step(&mut self, forward: bool) {
        let count = self.hits.len().max(1);
        self.hit = if forward { self.hit + 1 } else { self.hit + count - 1 } % count;
    }

    /// The line of the hit that is looked at.
    pub fn line(&self) -> Option<usize> {
        self.hits.get(self.hit).map(|(line, _)| *line)
    }

    /// What is found, in a few words; nothing without a search.
    pub fn found(&self) -> Option<String> {
        self.has_pattern().then(|| match self.hits.len() {
            0 => format!("nowhere \"{}\"", self.pattern),
            count => format!("{} of {count} \"{}\"", self.hit + 1, self.pattern),
        })
    }

    /// A line with its hits standing out.
    pub fn marked(&self, canvas: &Canvas<'_>, index: usize, line: StyledLine) -> StyledLine {
        let parts = &canvas.theme.parts;
        let first = self.hits.partition_point(|(line, _)| *line < index);
        let hits = || (first..).zip(&self.hits[first..]).take_while(|(_, (line, _))| *line == index);
        if hits().next().is_none() {
            return line;
        }
        let mut marked = Vec::new();
        let mut begin = 0;
        for (text, style) in line {
            let mut at = 0;
            for (nth, (_, range)) in hits() {
                let clamp = |byte: usize| byte.clamp(begin + at, begin + text.len()) - begin;
                let (from, to) = (clamp(range.start), clamp(range.end));
                marked.push((text[at..from].to_owned(), style));
                let found = if nth == self.hit { parts.cursor } else { parts.selected.patch(parts.title) };
                marked.push((text[from..to].to_owned(), found));
                at = to;
            }
            marked.push((text[at..].to_owned(), style));
            begin += text.len();
        }
        marked.retain(|(text, _)| !text.is_empty());
        marked
    }

    /// Draws what is being typed into the last row of an area. Returns what is left of the area.
    pub fn draw(&self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect) -> Rect {
        let Some(typing) = self.typing.as_ref().filter(|_| area.height > 1) else { return area };
        let place = Rect { y: area.bottom() - 1, height: 1, ..area };
        popup::clear(buffer, place);
        let mut pen = Pen::new(buffer, place, 0);
        pen.skip(1).text("/", canvas.theme.parts.key);
        let room = usize::from(pen.room());
        typing.draw(canvas, &mut pen, room);
        Rect { height: area.height - 1, ..area }
    }
}
