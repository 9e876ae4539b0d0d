//! A box for what must be read before its keys do anything. If there is little room, its blank rows go first,
//! then its frame; if not even a few rows of the text fit, its keys do nothing.

use ratatui::prelude::{Buffer, Position, Rect, Size, StatefulWidget, Widget};

use super::frame::{self, Hint, HitMap, Look};
use super::line::{self, span};
use super::reading::{HiddenRows, Paragraph, ReadProgress, Reading, height};
use super::scroll::Viewport;
use crate::present::text;
use crate::status::Status;
use crate::time::{Span, Timestamp};
use crate::ui::action::Action;
use crate::ui::keymap::Context;

/// Nobody has read what came up so short a time ago: keys do nothing to it, and it does not count as seen (SPEC §2).
pub const READ: Span = Span::from_secs(1);
/// The room of a text in which it can be read at all.
const LEAST: (u16, u16) = (20, 3);
/// The height from which on a frame is kept although the text has to be scrolled in it.
const FRAMED: u16 = 16;

/// Why a key that sends something does nothing yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// What is asked came up or changed just now.
    Changed,
    /// The terminal is too small to show what is asked.
    TooSmall,
    /// So many rows, above and below of what is in view, have not been on the screen.
    Unread(usize, usize),
}

impl Hold {
    /// What reads on, where that is what is missing.
    pub fn hint(self) -> Option<Hint> {
        match self {
            Hold::Unread(_, 0) => Some((Action::Up, "read on")),
            Hold::Unread(..) => Some((Action::Down, "read on")),
            Hold::Changed | Hold::TooSmall => None,
        }
    }

    /// What the operator reads in place of what a key would do.
    pub fn words(self, look: &Look<'_>, context: Context) -> String {
        let key = |action| look.keymap.key_for(context, action).unwrap_or_default();
        let read_on = |action, rows| format!("read on: {} {}", key(action), text::counted(rows, "row"));
        match self {
            Hold::Changed => "new on the screen: nothing is sent for a second".to_owned(),
            Hold::TooSmall => "too small to read it here".to_owned(),
            Hold::Unread(above, 0) => read_on(Action::Up, above),
            Hold::Unread(_, below) => read_on(Action::Down, below),
        }
    }
}

/// The time in which keys do nothing, because what they are for has changed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pause {
    since: Option<Timestamp>,
    /// Whether the operator has seen what it changed to.
    shown: bool,
}

impl Pause {
    /// The pause after a change that the operator could see at a moment.
    pub fn since(at: Timestamp) -> Self {
        Self { since: Some(at), shown: true }
    }

    /// Begins with what is drawn next.
    pub fn begin(&mut self) {
        *self = Self { since: Some(Timestamp::default()), shown: false };
    }

    /// Takes note that what changed is on the screen.
    pub fn is_shown(&mut self, now: Timestamp) {
        if self.since.is_some() && !std::mem::replace(&mut self.shown, true) {
            self.since = Some(now);
        }
    }

    /// Whether keys do nothing.
    pub fn holds(&self, now: Timestamp) -> bool {
        // A clock that was set back must not hold them for hours.
        self.since.is_some_and(|since| !self.shown || (since..since + READ).contains(&now))
    }
}

/// Where the parts of a box are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sheet {
    /// All that it covers.
    pub place: Rect,
    pub text: Rect,
    /// How much of the text is not in view.
    marks: Rect,
    /// What is said below the text.
    pub said: Rect,
    pub buttons: Rect,
    /// Whether the text can be read in it.
    pub is_enough: bool,
}

impl Sheet {
    /// Draws an empty box for a text in the middle of an area. What stands below takes so many cells, and has rows that are
    /// worth having, and those that must be there. Returns where its parts are.
    fn draw(
        look: &Look<'_>,
        buffer: &mut Buffer,
        area: Rect,
        (title, text): (&str, &[Paragraph]),
        (cells, (most, least)): (usize, (u16, u16)),
    ) -> Self {
        let area = area.intersection(buffer.area);
        let widest = text.iter().map(Paragraph::cells).max().unwrap_or(0);
        let widest = widest.max(cells).max(text::width(title) + 2) + 4;
        let width = u16::try_from(widest).unwrap_or(u16::MAX).min(area.width);
        let rows = |width: u16, blanks| u16::try_from(height(text, usize::from(width), blanks)).unwrap_or(u16::MAX);
        let (all, tight) = (rows(width.saturating_sub(4), true), rows(width.saturating_sub(4), false));
        let is_loose = all.saturating_add(most + 5) <= area.height;
        let fits = tight.saturating_add(least + 3) <= area.height;
        if is_loose || fits || area.height >= FRAMED {
            let height = match (is_loose, fits) {
                (true, _) => all + most + 5,
                (_, true) => area.height.min(all.saturating_add(least + 3)),
                _ => area.height,
            };
            let Some(inner) = frame::boxed(look, buffer, area, (width, height), title) else {
                return Self::default();
            };
            let marks = u16::from(!is_loose && !fits);
            let text = inner.height.saturating_sub(least + 1 + marks);
            // With blank rows around what is said, where there is room for them.
            let parts = if is_loose { [all, 0, 1, most, 1, 1] } else { [text, marks, 0, least, 0, 1] };
            return Self::stacked(inner, frame::around(inner), parts, tight);
        }
        frame::clear(buffer, area);
        let inner = frame::ruled(look, buffer, area, span(title, look.theme.parts.title).into());
        let tight = rows(area.width, false);
        let parts = match inner.height {
            height if tight.saturating_add(least + 1) <= height => [height - least - 1, 0, 0, least, 0, 1],
            height if tight.saturating_add(1) <= height => [height - 1, 0, 0, 1, 0, 0],
            height => [height.saturating_sub(2), height.saturating_sub(1).min(1), 0, height.min(1), 0, 0],
        };
        Self::stacked(inner, area, parts, tight)
    }

    /// The parts of a box, one below the other: the text, the marks, blank rows, what is said, blank rows, the buttons.
    fn stacked(inner: Rect, place: Rect, heights: [u16; 6], rows: u16) -> Self {
        let mut y = inner.y;
        let [text, marks, _, said, _, buttons] = heights.map(|height| {
            let part = Rect { y, height: height.min(inner.bottom().saturating_sub(y)), ..inner };
            y = part.bottom();
            part
        });
        let is_enough = text.width >= LEAST.0 && text.height >= LEAST.1.min(rows);
        Self { place, text, marks, said, buttons, is_enough }
    }
}

/// What is asked: a text, and perhaps options, of which one is chosen.
#[derive(Clone, Debug, Default)]
pub struct QuestionText {
    pub text: Vec<Paragraph>,
    pub options: Vec<Paragraph>,
    /// The options that what is done is about, beside the chosen one.
    pub picked: Vec<usize>,
}

impl From<Vec<Paragraph>> for QuestionText {
    fn from(text: Vec<Paragraph>) -> Self {
        Self { text, ..Self::default() }
    }
}

/// How far the operator has come with a question: nothing is done before all of its text and the whole chosen option
/// have been on the screen.
#[derive(Clone, Debug, Default)]
pub struct Question {
    chosen: Option<usize>,
    reading: ReadProgress,
    pause: Pause,
    /// The question itself, where the box is too narrow to have it in its title.
    title: Option<Paragraph>,
    /// Where the last frame drew its parts.
    pub sheet: Sheet,
    /// The line of the first option there.
    first_option: usize,
    /// The size of the last frame, in cells.
    drawn: Option<Size>,
    /// What the operator reads in place of the keys, until another option is chosen.
    said: Option<String>,
}

impl Question {
    /// A question with an option that is chosen from the beginning.
    pub fn with(chosen: Option<usize>) -> Self {
        Self { chosen, ..Self::default() }
    }

    /// The option that is chosen.
    pub fn chosen(&self) -> Option<usize> {
        self.chosen
    }

    /// Whether keys do nothing.
    pub fn is_deaf(&self, now: Timestamp) -> bool {
        self.pause.holds(now)
    }

    /// Why what is asked cannot be done yet.
    pub fn hold(&self, asked: &QuestionText, now: Timestamp) -> Option<Hold> {
        if self.pause.holds(now) {
            return Some(Hold::Changed);
        }
        if !self.sheet.is_enough {
            return Some(Hold::TooSmall);
        }
        let has_read = self.reading.has_read(self.needed(asked).map(|(_, line)| line));
        let (above, below) = self.unread(asked);
        (!has_read).then(|| Hold::Unread(above, below.max(usize::from(above == 0))))
    }

    /// Another question is asked in its place: nothing is chosen, nothing was read, and no key does anything for a
    /// second from when it can be seen.
    pub fn changed(&mut self) {
        *self = Self::default();
        self.pause.begin();
    }

    /// The question could be seen since a moment.
    pub fn shown_since(&mut self, at: Timestamp) {
        self.pause = Pause::since(at);
    }

    /// Chooses an option, and has it in view.
    pub fn choose(&mut self, option: usize, asked: &QuestionText) {
        if option < asked.options.len() {
            (self.chosen, self.said) = (Some(option), None);
            self.reading.show(self.first(asked) + option);
        }
    }

    /// Says what a key that chose did not do.
    pub fn say(&mut self, what: String) {
        self.said = Some(what);
    }

    /// Leaves nothing chosen.
    pub fn unchoose(&mut self) {
        self.chosen = None;
    }

    /// Reads on as long as there is something to be read in that direction; then chooses, from `start` on.
    pub fn step(&mut self, by: isize, asked: &QuestionText, start: usize) {
        let (unread, hidden) = (self.unread(asked), self.reading.hidden());
        let reads = if by < 0 { unread.0.min(hidden.0) > 0 } else { unread.1.min(hidden.1) > 0 };
        let last = asked.options.len().checked_sub(1).filter(|_| !reads);
        let next = last.map(|last| self.chosen.map_or(start, |chosen| chosen.saturating_add_signed(by)).min(last));
        match next.filter(|_| next != self.chosen) {
            Some(next) => self.choose(next, asked),
            None => self.reading.view.step(by),
        }
    }

    /// The option at a place of the last frame.
    pub fn at(&self, at: Position) -> Option<usize> {
        let (_, line) = self.reading.places.iter().find(|(place, _)| place.contains(at))?;
        line.checked_sub(self.first_option)
    }

    /// How far it is scrolled.
    pub const fn view(&mut self) -> &mut Viewport {
        &mut self.reading.view
    }

    fn lines<'a>(&'a self, asked: &'a QuestionText) -> impl Iterator<Item = &'a Paragraph> {
        self.title.iter().chain(&asked.text).chain(&asked.options)
    }

    /// The line of the first option.
    fn first(&self, asked: &QuestionText) -> usize {
        usize::from(self.title.is_some()) + asked.text.len()
    }

    /// Lines that have to be read before anything is done.
    fn needed<'a>(&'a self, asked: &'a QuestionText) -> impl Iterator<Item = (usize, &'a Paragraph)> {
        let first = self.first(asked);
        let is_meant = move |option: usize| self.chosen == Some(option) || asked.picked.contains(&option);
        self.lines(asked).enumerate().filter(move |(index, _)| index.checked_sub(first).is_none_or(is_meant))
    }

    fn unread(&self, asked: &QuestionText) -> (usize, usize) {
        self.reading.unread(self.needed(asked))
    }
}

/// The box with what is asked. What stands below is for the caller to draw.
pub struct QuestionBox<'a> {
    pub look: &'a Look<'a>,
    pub title: &'a str,
    pub asked: &'a QuestionText,
    /// The cells that what stands below takes.
    pub cells: usize,
    /// The rows of it that are worth having, and those that must be there.
    pub said: (u16, u16),
}

impl StatefulWidget for QuestionBox<'_> {
    type State = Question;

    fn render(self, area: Rect, buffer: &mut Buffer, question: &mut Question) {
        let Self { look, title, asked, cells, said } = self;
        let frame = if area.height < FRAMED { 0 } else { 6 };
        let is_cut = text::width(title) + frame > usize::from(area.width);
        question.title = is_cut.then(|| Paragraph::plain(title, look.theme.parts.title));
        let lines: Vec<Paragraph> = question.lines(asked).cloned().collect();
        let was_resized = question.drawn.replace(area.as_size()).is_some_and(|before| before != area.as_size());
        let was_hidden = matches!(question.hold(asked, look.now), Some(Hold::TooSmall | Hold::Unread(..)));
        if was_resized {
            // Rows that a box hides must be read in it, whatever a larger one has shown.
            question.reading.forget();
        }
        question.first_option = question.first(asked);
        question.sheet = Sheet::draw(look, buffer, area, (title, &lines), (cells, said));
        Reading { look, text: &lines }.render(question.sheet.text, buffer, &mut question.reading);
        if was_resized && was_hidden && question.hold(asked, look.now).is_none() {
            // A key that was pressed while the question had no room answers nothing that a larger frame shows at once.
            question.pause.begin();
        }
        if !look.covered {
            question.pause.is_shown(look.now);
        }
        HiddenRows { look, of: &question.reading }.render(question.sheet.marks, buffer);
    }
}

/// What the keys of a question are for that is answered with one key.
#[derive(Clone, Copy, Debug)]
pub struct Answers {
    pub context: Context,
    pub yes: Hint,
    /// What else can be done.
    pub others: &'static [Hint],
}

impl Answers {
    /// Yes or no.
    pub const fn yes_or(yes: &'static str, no: &'static [Hint]) -> Self {
        Self { context: Context::Confirm, yes: (Action::Accept, yes), others: no }
    }

    /// The keys worth showing.
    pub fn hints(self, hold: Option<Hold>) -> Vec<Hint> {
        hold.map_or(Some(self.yes), Hold::hint).into_iter().chain(self.others.iter().copied()).collect()
    }

    /// Draws a question with its keys.
    pub fn draw(
        self,
        look: &Look<'_>,
        buffer: &mut Buffer,
        area: Rect,
        question: &mut Question,
        (title, asked): (&str, &QuestionText),
    ) -> HitMap {
        // Why a key does nothing has to be read as well.
        let held = text::width(&Hold::Changed.words(look, self.context));
        let held = held.max(question.said.as_deref().map_or(0, text::width));
        let cells = frame::buttons_cells(look, self.context, &self.hints(None)).max(held);
        QuestionBox { look, title, asked, cells, said: (0, 0) }.render(area, buffer, question);
        let sheet = question.sheet;
        let hold = question.hold(asked, look.now);
        let mut line = if sheet.buttons.is_empty() { sheet.said } else { sheet.buttons };
        let mut hints = self.hints(hold);
        let held = hold.map(|hold| (hold.words(look, self.context), Status::Stalled));
        if let Some((message, status)) = held.or(question.said.clone().map(|said| (said, Status::Ready))) {
            let taken = u16::try_from(text::width(&message) + 3).unwrap_or(u16::MAX).min(line.width);
            line::draw(buffer, line, span(message, look.theme.style(status)));
            line = Rect { x: line.x + taken, width: line.width - taken, ..line };
            hints = self.others.to_vec();
        }
        HitMap { place: sheet.place, buttons: frame::buttons(look, buffer, line, self.context, &hints) }
    }
}
