//! The head of a group: its name, how many terminals it has, and what they need.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::MARKED;
use crate::status::Status;
use crate::ui::arrangement::Head;
use crate::ui::canvas::Canvas;
use crate::ui::text::Pen;

/// Draws the head of a group into a line. A folded one counts everything, an open one only how many there are: the rest
/// stands below it.
pub fn draw(canvas: &Canvas<'_>, buffer: &mut Buffer, line: Rect, head: &Head, is_selected: bool) {
    let parts = &canvas.theme.parts;
    let base = if is_selected { parts.selected } else { Style::default() };
    buffer.set_style(line, base);
    let quiet = base.patch(parts.quiet);
    let mut pen = Pen::new(buffer, line, 0);
    pen.text(if is_selected { "›" } else { " " }, if is_selected { base.patch(parts.title) } else { base });
    pen.text(if head.folded { "▸ " } else { "▾ " }, quiet);
    pen.text(head.group.title(), base.patch(parts.title).add_modifier(Modifier::BOLD));
    pen.text(&format!("  {}", head.terminals), quiet);
    if head.folded && head.marked > 0 {
        pen.text("   ", base).text(&format!("{MARKED} {} marked", head.marked), base.patch(parts.key));
    }
    let counts = if head.folded { head.counts } else { head.worth_a_look };
    for status in Status::GROUPS.into_iter().filter(|&status| counts[status.place()] > 0) {
        let look = canvas.theme.look(status);
        let number = counts[status.place()];
        let count = format!("{} {number} {}", canvas.glyph(status), status.group_word(number));
        pen.text("   ", base).text(&count, base.patch(look.style));
    }
}
