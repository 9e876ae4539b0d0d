//! The head line: which terminal it is, where, and what it does now.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::subject::Subject;
use crate::status::Status;
use crate::time::Timestamp;
use crate::ui::canvas::Canvas;
use crate::ui::text::{self, Pen};
use crate::ui::times;

/// Draws the head line. Name and state are always there; of the rest, what fits.
pub fn draw(canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, subject: &Subject, here: bool, until: Timestamp) {
    let parts = &canvas.theme.parts;
    let (status, since) = (subject.item().status(), subject.item().since());
    let status = if here { status } else { Status::Gone };
    let told = match here {
        true => format!("{} for {}", status.word(), times::lasting(since, until)),
        false => "left the fleet".to_owned(),
    };
    let state = format!("{} {told}", canvas.glyph(status));
    let mut pen = Pen::new(buffer, area, 0);
    let room = usize::from(pen.room());
    let state_cells = text::width(&state).min(room / 2);
    pen.skip(1);
    let name_cells = text::width(subject.name()).min(room.saturating_sub(state_cells + 4));
    pen.field(subject.name(), name_cells, parts.title).text("   ", parts.quiet);
    let cells = usize::from(pen.room()).saturating_sub(state_cells + 3);
    pen.field(&subject.about().join(" · "), cells, parts.quiet);
    pen.text("  ", parts.quiet).right(&state, state_cells, canvas.theme.style(status));
}
