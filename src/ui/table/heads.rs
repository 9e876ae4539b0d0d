//! The heads of groups in the table, with their counts aligned.

use ratatui::prelude::{Line, Modifier};

use crate::present::arrangement::Head;
use crate::present::columns::GAP;
use crate::status::Status;
use crate::ui::kit::list::cursor;
use crate::ui::signs::MARKED;
use crate::ui::{Canvas, TableRow, blank, field, right, span, text};

/// The cells of what the heads of groups say, so that it stands below each other.
pub struct HeadLayout {
    title: usize,
    /// The digits of how many terminals there are.
    digits: usize,
    marked: usize,
    /// Of each status, as it is counted; 0 where no head counts it.
    counts: [usize; Status::GROUPS.len()],
    /// The digits of those.
    numbers: [usize; Status::GROUPS.len()],
    /// Whether there is room for the words behind the numbers.
    has_words: bool,
}

impl HeadLayout {
    pub fn new(canvas: &Canvas<'_>, width: usize, rows: &[TableRow<'_>]) -> Self {
        let heads = || {
            rows.iter().filter_map(|row| match row {
                TableRow::Head(head) => Some(head),
                TableRow::Item(_) => None,
            })
        };
        let widest = |words: &dyn Fn(&Head) -> String| heads().map(|head| text::width(&words(head))).max().unwrap_or(0);
        let mut layout = Self {
            title: widest(&|head| head.group.title().to_owned()),
            digits: widest(&|head| head.terminals.to_string()),
            marked: widest(&|head| marked_words(head).unwrap_or_default()),
            counts: [0; Status::GROUPS.len()],
            numbers: Status::GROUPS.map(|status| widest(&|head| head.shown().count(status).to_string())),
            has_words: true,
        };
        for has_words in [true, false] {
            layout.has_words = has_words;
            for (place, status) in Status::GROUPS.into_iter().enumerate() {
                layout.counts[place] = widest(&|head| layout.count(canvas, head, status).unwrap_or_default());
            }
            if layout.cells() <= width {
                return layout;
            }
        }
        // A name takes what the counts leave, and at least as much as that of a terminal.
        let others = layout.cells() - layout.title;
        layout.title = layout.title.min(width.saturating_sub(others).max(TITLE_LEAST));
        layout
    }

    fn cells(&self) -> usize {
        let wide = self.counts.iter().copied().chain([self.marked]).filter(|cells| *cells > 0);
        HEAD + self.title + GAP + self.digits + wide.map(|cells| GAP + cells).sum::<usize>()
    }

    /// The head of a group: its name, how many terminals it has, and what they need.
    pub fn line(&self, canvas: &Canvas<'_>, head: &Head, is_selected: bool) -> Line<'static> {
        let parts = &canvas.theme.parts;
        let mut line = cursor(parts, is_selected);
        line += span(if head.folded { "▸ " } else { "▾ " }, parts.quiet);
        line += field(head.group.title(), self.title, parts.title.add_modifier(Modifier::BOLD));
        line.extend([blank(GAP), right(head.terminals.to_string(), self.digits, parts.quiet)]);
        if self.marked > 0 {
            line.extend([blank(GAP), field(marked_words(head).unwrap_or_default(), self.marked, parts.key)]);
        }
        for (status, cells) in Status::GROUPS.into_iter().zip(self.counts).filter(|(_, cells)| *cells > 0) {
            let count = self.count(canvas, head, status).unwrap_or_default();
            line.extend([blank(GAP), field(count, cells, canvas.theme.style(status))]);
        }
        line
    }

    /// How many of a group there are of a status, as it is drawn.
    fn count(&self, canvas: &Canvas<'_>, head: &Head, status: Status) -> Option<String> {
        let (number, digits) = (head.shown().count(status), self.numbers[status.place()]);
        let said = if self.has_words { head.shown().words(status) } else { number.to_string() };
        let first = said.find(' ').unwrap_or(said.len());
        let blanks = digits.saturating_sub(first);
        (number > 0).then(|| format!("{} {:blanks$}{said}", canvas.glyph(head.shown().sign_of(status)), ""))
    }
}

/// The cells that a title keeps beside counts that leave it less.
const TITLE_LEAST: usize = 8;
/// Cursor, fold sign and a blank before a head.
const HEAD: usize = 3;

fn marked_words(head: &Head) -> Option<String> {
    (head.folded && head.marked > 0).then(|| format!("{MARKED} {} marked", head.marked))
}
