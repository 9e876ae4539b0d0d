//! A text that is scrolled and searched.

use std::ops::Range;

use ratatui::prelude::{Buffer, Line, Rect, StatefulWidget};
use regex::RegexBuilder;

use super::frame::{self, Hint, Look};
use super::input::LineInput;
use super::line::{self, blank, span};
use super::reading::Wrapped;
use super::scroll::Viewport;
use crate::ui::action::Action;

/// A text that is scrolled and searched.
#[derive(Clone, Debug, Default)]
pub struct SearchableText {
    pub view: Viewport,
    /// The lines without their styles.
    texts: Vec<String>,
    /// Whether the last hit is shown first.
    from_end: bool,
    /// Rows at the foot that something else may cover.
    spare: usize,
    /// The line in which it is being typed what is searched for.
    typing: Option<LineInput>,
    /// What is searched for; empty without a search.
    pattern: String,
    /// Where it was found: the line, and the bytes of it.
    hits: Vec<(usize, Range<usize>)>,
    /// The hit that is shown.
    hit: usize,
}

impl SearchableText {
    /// A text that grows, in which one mostly searches for what came last.
    pub fn of_newest() -> Self {
        Self { view: Viewport::at_end(), from_end: true, ..Self::default() }
    }

    /// A text whose last row the line covers that is typed in.
    pub fn covered() -> Self {
        Self { spare: 1, ..Self::default() }
    }

    /// Takes in what the text says now.
    pub fn set_texts(&mut self, texts: impl Iterator<Item = impl AsRef<str>>) {
        let texts: Vec<String> = texts.map(|text| line::harmless(text.as_ref())).collect();
        if texts != self.texts {
            self.texts = texts;
            self.find();
        }
    }

    /// Whether what is searched for is being typed.
    pub const fn is_typing(&self) -> bool {
        self.typing.is_some()
    }

    /// Whether anything is searched for.
    pub const fn has_search(&self) -> bool {
        !self.pattern.is_empty()
    }

    /// The keys worth showing while one types.
    pub fn typing_hints(&self) -> Option<Vec<Hint>> {
        self.is_typing().then(|| vec![(Action::Accept, "search"), (Action::Close, "no search")])
    }

    /// Changes the line that is typed. Returns whether there is one.
    pub fn type_in(&mut self, change: impl FnOnce(&mut LineInput) -> bool) -> bool {
        let Some(typing) = self.typing.as_mut() else { return false };
        if change(typing) {
            self.pattern = typing.text().to_owned();
            self.find();
            self.hit = if self.from_end { self.hits.len().saturating_sub(1) } else { 0 };
            self.show_hit();
        }
        true
    }

    /// Does what an action says of the search. Returns whether it says something of one.
    pub fn obey(&mut self, action: Action) -> bool {
        match action {
            Action::Filter => self.typing = Some(LineInput::default()),
            Action::Accept => self.typing = None,
            Action::Close if self.is_typing() => {
                (self.typing, self.hit) = (None, 0);
                self.pattern.clear();
                self.hits.clear();
            }
            // Around the ends.
            Action::NextMatch | Action::PreviousMatch if self.has_search() => {
                let count = self.hits.len().max(1);
                self.hit = if action == Action::NextMatch { self.hit + 1 } else { self.hit + count - 1 } % count;
                self.show_hit();
            }
            _ => return false,
        }
        true
    }

    fn show_hit(&mut self) {
        if let Some((line, _)) = self.hits.get(self.hit) {
            self.view.center(*line, self.spare);
        }
    }

    /// Searches again, as the lines, or what is searched for, are others now.
    fn find(&mut self) {
        self.hits.clear();
        let smart = !self.pattern.chars().any(char::is_uppercase);
        // An escaped text is always a pattern, unless it is too long for one.
        let pattern = RegexBuilder::new(&regex::escape(&self.pattern)).case_insensitive(smart).build();
        if let Some(pattern) = pattern.ok().filter(|_| !self.pattern.is_empty()) {
            let found = |(index, line): (usize, &String)| {
                pattern.find_iter(line).map(move |found| (index, found.range())).collect::<Vec<_>>()
            };
            self.hits = self.texts.iter().enumerate().flat_map(found).collect();
        }
        self.hit = self.hit.min(self.hits.len().saturating_sub(1));
    }

    /// What is found, in a few words; nothing without a search.
    pub fn found(&self) -> Option<String> {
        self.has_search().then(|| match self.hits.len() {
            0 => format!("nowhere \"{}\"", self.pattern),
            count => format!("{} of {count} \"{}\"", self.hit + 1, self.pattern),
        })
    }

    /// A line with its hits standing out.
    pub fn marked(&self, look: &Look<'_>, index: usize, line: Line<'static>) -> Line<'static> {
        let parts = &look.theme.parts;
        let first = self.hits.partition_point(|(line, _)| *line < index);
        let hits = (first..).zip(&self.hits[first..]).take_while(|(_, (line, _))| *line == index);
        let (mut marked, mut at) = (Line::default(), 0);
        for (nth, (_, range)) in hits {
            let found = if nth == self.hit { parts.cursor } else { parts.selected.patch(parts.title) };
            marked.extend(line::slice(&line, at..range.start));
            marked.extend(line::slice(&line, range.start.max(at)..range.end).into_iter().map(|hit| hit.style(found)));
            at = range.end.max(at);
        }
        marked.extend(line::slice(&line, at..usize::MAX));
        marked
    }

    /// Draws the lines that fit, as far as they are scrolled.
    pub fn draw(
        &mut self,
        look: &Look<'_>,
        buffer: &mut Buffer,
        area: Rect,
        count: usize,
        line: impl Fn(usize) -> Line<'static>,
    ) {
        let mut view = self.view;
        Wrapped { count, line: |index| self.marked(look, index, line(index)) }.render(area, buffer, &mut view);
        self.view = view;
    }

    /// Draws what is being typed into the last row of an area. Returns what is left of the area.
    pub fn draw_typing(&self, look: &Look<'_>, buffer: &mut Buffer, area: Rect) -> Rect {
        let Some(typing) = self.typing.as_ref().filter(|_| area.height > 1) else { return area };
        let place = Rect { y: area.bottom() - 1, height: 1, ..area };
        frame::clear(buffer, place);
        line::draw(buffer, place, typing.behind(look, place, vec![blank(1), span("/", look.theme.parts.key)]));
        Rect { height: area.height - 1, ..area }
    }
}
