//! The head of a group: its name, how many terminals it has, and what they need.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::MARKED;
use crate::ui::arrangement::Head;
use crate::ui::canvas::Canvas;
use crate::ui::meaning::Meaning;
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
    for meaning in Meaning::ALL.into_iter().filter(|&meaning| counts[meaning as usize] > 0) {
        let look = canvas.theme.look(meaning);
        let number = counts[meaning as usize];
        let word = if meaning == Meaning::Waits && number == 1 { "needs you" } else { look.word.as_str() };
        let count = format!("{} {number} {word}", canvas.glyph(meaning));
        pen.text("   ", base).text(&count, base.patch(look.style));
    }
}
