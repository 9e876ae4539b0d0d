//! The heads of groups in the table, with their counts aligned.

use ratatui::prelude::{Buffer, Modifier, Rect, Style};

use super::cell::begin_line;
use crate::present::arrangement::Head;
use crate::present::columns::GAP;
use crate::status::Status;
use crate::ui::signs::MARKED;
use crate::ui::{Canvas, TableRow, text};

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

/// The head of a group into a line: its name, how many terminals it has, and what they need.
pub fn draw(canvas: &Canvas<'_>, buffer: &mut Buffer, line: Rect, layout: &HeadLayout, head: &Head, is_selected: bool) {
    let parts = &canvas.theme.parts;
    let base = if is_selected { parts.selected } else { Style::default() };
    let quiet = base.patch(parts.quiet);
    let mut pen = begin_line(canvas, buffer, line, is_selected);
    pen.text(if head.folded { "▸ " } else { "▾ " }, quiet);
    pen.field(head.group.title(), layout.title, base.patch(parts.title).add_modifier(Modifier::BOLD));
    pen.field("", GAP, base).right(&head.terminals.to_string(), layout.digits, quiet);
    if layout.marked > 0 {
        pen.field("", GAP, base).field(&marked_words(head).unwrap_or_default(), layout.marked, base.patch(parts.key));
    }
    for (status, cells) in Status::GROUPS.into_iter().zip(layout.counts).filter(|(_, cells)| *cells > 0) {
        let count = layout.count(canvas, head, status).unwrap_or_default();
        let appearance = canvas.theme.appearance(status);
        pen.field("", GAP, base).field(&count, cells, base.patch(appearance.style));
    }
}
