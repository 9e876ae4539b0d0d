//! Looking for a text in lines that are read: what is typed, where it was found, and how that stands out.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use regex::RegexBuilder;

use super::action::Action;
use super::canvas::Canvas;
use super::footer::Hint;
use super::input::LineInput;
use super::overlay::{Flow, OverlayContext};
use super::popup::{self, StyledLine};
use super::text::Pen;
use super::viewport::Viewport;

/// A text that is scrolled and searched.
#[derive(Clone, Debug, Default)]
pub struct SearchableText {
    pub view: Viewport,
    search: Search,
    /// The lines without their styles.
    texts: Vec<String>,
    /// Whether the last hit is looked at first.
    from_end: bool,
    /// Rows at the foot that something else may cover.
    spare: usize,
}

impl SearchableText {
    /// A text that grows, of which what came last is mostly looked for.
    pub fn of_newest() -> Self {
        Self { view: Viewport::at_end(), from_end: true, ..Self::default() }
    }

    /// A text whose last row the line covers that is typed in.
    pub fn covered() -> Self {
        Self { spare: 1, ..Self::default() }
    }

    /// Takes in what the text says now.
    pub fn set_texts(&mut self, texts: Vec<String>) {
        if texts != self.texts {
            self.texts = texts;
            self.search.find(&self.texts);
        }
    }

    /// Whether what is searched for is being typed.
    pub const fn is_typing(&self) -> bool {
        self.search.typing.is_some()
    }

    /// Whether anything is searched for.
    pub const fn has_search(&self) -> bool {
        !self.search.pattern.is_empty()
    }

    /// The keys worth showing while one types.
    pub fn typing_hints(&self) -> Option<Vec<Hint>> {
        self.is_typing().then(|| vec![(Action::Confirm, "search"), (Action::Close, "no search")])
    }

    /// Changes the line that is typed, where there is one.
    pub fn type_in(&mut self, change: impl FnOnce(&mut LineInput) -> bool) -> Flow {
        let Some(typing) = self.search.typing.as_mut() else { return Flow::Pass };
        if change(typing) {
            self.search.pattern = typing.text().to_owned();
            self.search.find(&self.texts);
            self.search.hit = if self.from_end { self.search.hits.len().saturating_sub(1) } else { 0 };
            self.show_hit();
        }
        Flow::Stay
    }

    /// Does what an action says of the search.
    pub fn perform(&mut self, action: Action, desk: &mut OverlayContext<'_, '_>) -> Flow {
        match action {
            Action::Search => self.search.typing = Some(LineInput::default()),
            Action::Confirm => self.search.typing = None,
            Action::Close if self.is_typing() => self.search = Search::default(),
            Action::NextMatch | Action::PreviousMatch if self.has_search() => {
                self.search.step(action == Action::NextMatch);
                self.show_hit();
            }
            Action::NextMatch | Action::PreviousMatch => desk.say("nothing is searched for yet"),
            _ => return Flow::Pass,
        }
        Flow::Stay
    }

    /// What is found, in a few words; nothing without a search.
    pub fn found(&self) -> Option<String> {
        self.search.found()
    }

    /// A line with its hits standing out.
    pub fn marked(&self, canvas: &Canvas<'_>, index: usize, line: StyledLine) -> StyledLine {
        self.search.marked(canvas, index, line)
    }

    /// Draws what is being typed into the last row of an area. Returns what is left of the area.
    pub fn draw_typing(&self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect) -> Rect {
        self.search.draw(canvas, buffer, area)
    }

    fn show_hit(&mut self) {
        if let Some((line, _)) = self.search.hits.get(self.search.hit) {
            self.view.center(*line, self.spare);
        }
    }
}

/// What is searched for, and where it was found.
#[derive(Clone, Debug, Default)]
struct Search {
    /// The line that is being typed.
    typing: Option<LineInput>,
    pattern: String,
    /// Where it was found: the line, and the bytes of it.
    hits: Vec<(usize, Range<usize>)>,
    /// The hit that is looked at.
    hit: usize,
}

impl Search {
    /// Searches again, as the lines are others now.
    fn find(&mut self, lines: &[String]) {
        self.hits.clear();
        let smart = !self.pattern.chars().any(char::is_uppercase);
        // An escaped text is always a pattern, unless it is too long for one.
        let pattern = RegexBuilder::new(&regex::escape(&self.pattern)).case_insensitive(smart).build();
        if let Some(pattern) = pattern.ok().filter(|_| !self.pattern.is_empty()) {
            let found = |(index, line): (usize, &String)| {
                pattern.find_iter(line).map(move |found| (index, found.range())).collect::<Vec<_>>()
            };
            self.hits = lines.iter().enumerate().flat_map(found).collect();
        }
        self.hit = self.hit.min(self.hits.len().saturating_sub(1));
    }

    /// To the next or the previous hit, around the ends.
    fn step(&mut self, forward: bool) {
        let count = self.hits.len().max(1);
        self.hit = if forward { self.hit + 1 } else { self.hit + count - 1 } % count;
    }

    /// What is found, in a few words; nothing without a search.
    fn found(&self) -> Option<String> {
        (!self.pattern.is_empty()).then(|| match self.hits.len() {
            0 => format!("nowhere \"{}\"", self.pattern),
            count => format!("{} of {count} \"{}\"", self.hit + 1, self.pattern),
        })
    }

    /// A line with its hits standing out.
    fn marked(&self, canvas: &Canvas<'_>, index: usize, line: StyledLine) -> StyledLine {
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
    fn draw(&self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect) -> Rect {
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
