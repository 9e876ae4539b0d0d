//! A text that must be read before something is sent (SPEC §11): wrapped to its place, scrolled to its end, with a record of
//! which parts have been on the operator's screen.

use std::collections::HashMap;
use std::ops::Range;

use ratatui::prelude::{Buffer, Line, Modifier, Rect, StatefulWidget, Style, Widget};

use super::frame::Look;
use super::line::{self, Part, blank, field, span};
use super::list::cursor;
use super::scroll::Viewport;
use crate::present::text;
use crate::status::Status;
use crate::ui::theme::Parts;

/// A line of a text as somebody wrote it, of any length.
#[derive(Clone, Debug, Default)]
pub struct Paragraph {
    /// Precedes the first row, and leaves as much blank in the others.
    lead: Line<'static>,
    parts: Line<'static>,
    text: String,
    /// The text it belongs to: the same line has to be read in each of several.
    part: usize,
}

impl Paragraph {
    /// A line of stretches in their styles.
    pub fn new(parts: impl Into<Line<'static>>) -> Self {
        let parts = parts.into();
        Self { text: line::text_of(&parts), parts, ..Self::default() }
    }

    /// A line in one style.
    pub fn plain(text: impl AsRef<str>, style: Style) -> Self {
        Self::new(span(text, style))
    }

    /// A line that goes on below its beginning, unless that is far to the right.
    fn indented(mut parts: Line<'static>, cells: usize) -> Self {
        let blanks = parts.iter().next().map_or(0, |it| it.content.len() - it.content.trim_start_matches(' ').len());
        if blanks == 0 || blanks * 3 > cells {
            return Self::new(parts);
        }
        let lead = blank(blanks).style(parts.spans[0].style);
        parts.spans[0].content.to_mut().drain(..blanks);
        Self::new(parts).led_by(lead)
    }

    /// The line with something before it that need not be read.
    pub fn led_by(self, lead: impl Into<Line<'static>>) -> Self {
        Self { lead: lead.into(), ..self }
    }

    /// The line as one of another text than those of other parts.
    pub fn in_part(self, part: usize) -> Self {
        Self { part, ..self }
    }

    /// The line as one of several options, behind the cursor and what else stands before it, on a ground of its own where it is
    /// chosen.
    pub fn among_options(self, parts: &Parts, is_chosen: bool, behind_cursor: Vec<Part>) -> Self {
        let mut lead = cursor(parts, is_chosen) + blank(1);
        lead.extend(behind_cursor);
        self.led_by(lead)
    }

    /// The cells that it takes in one row.
    pub fn cells(&self) -> usize {
        self.indent() + text::width(self.text.trim_end())
    }

    fn indent(&self) -> usize {
        line::width(&self.lead)
    }

    fn is_blank(&self) -> bool {
        self.lead.spans.is_empty() && self.text.trim().is_empty()
    }

    /// The bytes of its rows.
    fn rows(&self, cells: usize) -> Vec<Range<usize>> {
        let rows = text::broken(&self.text, cells.saturating_sub(self.indent()));
        if rows.is_empty() { std::iter::once(0..0).collect() } else { rows }
    }

    /// One of its rows.
    fn row(&self, row: &Range<usize>) -> Line<'static> {
        let mut line = self.lead.clone();
        if row.start > 0 {
            line.spans = vec![blank(self.indent())];
        }
        line.extend(line::slice(&self.parts, row.clone()));
        line
    }
}

/// Lines of any length, wrapped.
pub struct Wrapped<F> {
    pub count: usize,
    pub line: F,
}

impl<F: Fn(usize) -> Line<'static>> StatefulWidget for Wrapped<F> {
    type State = Viewport;

    /// Draws the lines that fit, as far as they are scrolled by whole lines.
    fn render(self, area: Rect, buffer: &mut Buffer, view: &mut Viewport) {
        let (height, cells) = (usize::from(area.height), usize::from(area.width.saturating_sub(1)));
        let wrapped = |index| {
            let line = Paragraph::indented((self.line)(index), cells);
            let rows = line.rows(cells);
            (line, rows)
        };
        let mut rows = 0;
        let mut most = self.count;
        while most > 0 && cells > 0 {
            rows += wrapped(most - 1).1.len();
            if rows > height {
                break;
            }
            most -= 1;
        }
        // A last line that alone is higher than the pane is shown from its beginning.
        let first = view.fit_to(height, most.min(self.count.saturating_sub(1)));
        let area = Rect { x: area.x + area.width.min(1), width: area.width.saturating_sub(1), ..area };
        let lines = (first..self.count).flat_map(|index| {
            let (line, rows) = wrapped(index);
            rows.into_iter().map(move |row| line.row(&row))
        });
        line::draw_all(buffer, area, lines);
    }
}

/// How far a text is scrolled and read.
#[derive(Clone, Debug, Default)]
pub struct ReadProgress {
    pub view: Viewport,
    /// How wide the last frame was.
    cells: usize,
    /// The rows of each line, as of the last frame.
    rows: Vec<Range<usize>>,
    /// Which bytes of a line have been on the screen, by the text that it belongs to and what it says.
    seen: HashMap<(usize, String), Vec<bool>>,
    /// The line that is to be in view in the next frame.
    wanted: Option<usize>,
    /// Where the last frame drew each line.
    pub places: Vec<(Rect, usize)>,
}

/// The rows that a text takes, with or without its blank lines.
pub fn height(text: &[Paragraph], cells: usize, blanks: bool) -> usize {
    text.iter().filter(|line| blanks || !line.is_blank()).map(|line| line.rows(cells).len()).sum()
}

/// A text that has to be read.
pub struct Reading<'a> {
    pub look: &'a Look<'a>,
    pub text: &'a [Paragraph],
}

impl StatefulWidget for Reading<'_> {
    type State = ReadProgress;

    /// Draws the text as far as it is scrolled; without its blank lines where those have no room, those between two
    /// texts last. What is drawn has been read, unless something covers it.
    fn render(self, area: Rect, buffer: &mut Buffer, read: &mut ReadProgress) {
        let (area, text) = (area.intersection(buffer.area), self.text);
        let page = usize::from(area.height);
        read.cells = usize::from(area.width);
        let has_room = height(text, read.cells, true) <= page;
        let mut room = page.saturating_sub(height(text, read.cells, false));
        let mut rows = Vec::new();
        read.rows.clear();
        for (index, line) in text.iter().enumerate() {
            let start = rows.len();
            let is_between = text.get(index + 1).is_some_and(|next| next.part != line.part);
            let is_kept = line.is_blank() && room > 0 && (has_room || is_between);
            room -= usize::from(is_kept);
            if is_kept || !line.is_blank() {
                rows.extend(line.rows(read.cells).into_iter().map(|row| (index, row)));
            }
            read.rows.push(start..rows.len());
        }
        let mut first = read.view.fit(page, rows.len());
        if let Some(wanted) = read.wanted.take().and_then(|line| read.rows.get(line)) {
            read.view.reveal(wanted.clone());
            first = read.view.first();
        }
        read.places.clear();
        for (place, (index, row)) in area.rows().zip(&rows[first..]) {
            let line = &text[*index];
            line::draw(buffer, place, line.row(row));
            read.places.push((place, *index));
            if !self.look.covered && read.cells >= line.indent() + 2 {
                let seen =
                    read.seen.entry((line.part, line.text.clone())).or_insert_with(|| vec![false; line.text.len()]);
                seen[row.clone()].fill(true);
            }
        }
    }
}

/// How much of a text is not in view. It cannot be missed, and is left blank where all is.
pub struct HiddenRows<'a> {
    pub look: &'a Look<'a>,
    pub of: &'a ReadProgress,
}

impl Widget for HiddenRows<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let (above, below) = self.of.hidden();
        if above + below == 0 || area.is_empty() {
            return;
        }
        let style = self.look.theme.style(Status::Approval).add_modifier(Modifier::REVERSED);
        let more = if below > 0 { format!(" ▼ {}", text::counted(below, "more row")) } else { " the end".to_owned() };
        let over = if above > 0 { format!("▲ {above} above ") } else { String::new() };
        let room = usize::from(area.width).saturating_sub(text::width(&over));
        line::draw(buffer, area, vec![field(more, room, style), span(over, style)]);
    }
}

impl ReadProgress {
    /// Begins anew with reading.
    pub fn forget(&mut self) {
        self.seen.clear();
    }

    /// The rows above and below of what is in view.
    pub fn hidden(&self) -> (usize, usize) {
        let first = self.view.first();
        (first, self.count().saturating_sub(first + self.view.page()))
    }

    /// The rows of some lines that have not been on the screen: above of what is in view, and from there on.
    pub fn unread<'a>(&self, text: impl IntoIterator<Item = (usize, &'a Paragraph)>) -> (usize, usize) {
        let (mut above, mut below) = (0, 0);
        for (index, line) in text.into_iter().filter(|(_, line)| !line.text.trim().is_empty()) {
            let seen = self.seen.get(&(line.part, line.text.clone()));
            let is_unread = |row: &Range<usize>| match seen {
                Some(seen) => row.clone().any(|byte| !seen.get(byte).is_some_and(|seen| *seen)),
                None => !row.is_empty(),
            };
            let first = self.rows.get(index).map_or(usize::MAX, |rows| rows.start);
            for (offset, _) in line.rows(self.cells).iter().enumerate().filter(|(_, row)| is_unread(row)) {
                let counted = if first.saturating_add(offset) < self.view.first() { &mut above } else { &mut below };
                *counted += 1;
            }
        }
        (above, below)
    }

    /// Whether some lines have been on the screen, whole.
    pub fn has_read<'a>(&self, text: impl IntoIterator<Item = &'a Paragraph>) -> bool {
        text.into_iter().all(|line| {
            let seen = || self.seen.get(&(line.part, line.text.clone()));
            line.text.trim().is_empty() || seen().is_some_and(|seen| seen.iter().all(|seen| *seen))
        })
    }

    /// Has a line in view from the next frame on.
    pub fn show(&mut self, line: usize) {
        self.wanted = Some(line);
    }

    /// The rows of the whole text.
    fn count(&self) -> usize {
        self.rows.last().map_or(0, |last| last.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::action::Action;

    fn line(text: &str) -> Line<'static> {
        span(text, Style::default()).into()
    }

    #[test]
    fn what_is_wrapped_goes_on_below_its_beginning() {
        let rows = |text, cells| {
            let line = Paragraph::indented(line(text), cells);
            let rows = line.rows(cells).into_iter().map(|row| line.text[row].to_owned()).collect::<Vec<_>>();
            (line.indent(), rows)
        };
        let owned = |rows: &[&str]| rows.iter().map(|row| (*row).to_owned()).collect::<Vec<_>>();
        assert_eq!(rows("  one two three", 8), (2, owned(&["one ", "two ", "three"])));
        assert_eq!(rows("     one", 8), (0, owned(&["     one"])));
        assert_eq!(rows("", 4), (0, owned(&[""])));
    }

    fn shown(view: &mut Viewport, count: usize) -> String {
        let area = Rect::new(0, 0, 10, 3);
        let mut buffer = Buffer::empty(area);
        Wrapped { count, line: |index: usize| line(&index.to_string()) }.render(area, &mut buffer, view);
        (0..3).map(|row| buffer[(1, row)].symbol().to_owned()).collect()
    }

    #[test]
    fn the_end_stays_in_view_until_one_scrolls_away_from_it() {
        let mut reading = Viewport::at_end();
        assert_eq!(shown(&mut reading, 2), "01 ");
        assert_eq!(shown(&mut reading, 5), "234");
        assert_eq!(shown(&mut reading, 6), "345");
        reading.step(-1);
        assert_eq!(shown(&mut reading, 7), "234");
        reading.step(isize::MAX);
        assert_eq!(shown(&mut reading, 8), "567");
        reading.step(isize::MIN);
        assert_eq!(shown(&mut reading, 9), "012");
        reading.center(7, 0);
        assert_eq!(shown(&mut reading, 9), "678");
        let mut start = Viewport::from_start();
        assert_eq!(shown(&mut start, 9), "012");
        start.obey(Action::PageDown);
        assert_eq!(shown(&mut start, 9), "234");
        start.step(9);
        assert_eq!(shown(&mut start, 9), "678");
        start.step(-1);
        assert_eq!(shown(&mut start, 9), "567");
    }
}
