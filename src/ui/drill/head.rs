//! The head line: which terminal it is, where, and what it does now.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::list::state_words;
use crate::fleet::Terminal;
use crate::moment::Moment;
use crate::ui::canvas::Canvas;
use crate::ui::table;
use crate::ui::text::{self, Pen};

/// Draws the head line. Name and state are always there; of the rest, what fits.
pub fn draw(canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, terminal: &Terminal, here: bool, until: Moment) {
    let parts = &canvas.theme.parts;
    let facts = &terminal.state.terminal;
    let (state, style) = if here {
        state_words(canvas, &terminal.state, until)
    } else {
        (format!("{} left the fleet", canvas.glyph(super::Meaning::Gone)), canvas.theme.style(super::Meaning::Gone))
    };
    let profile = facts.profile.as_ref().map(|profile| format!("profile {profile}"));
    let about = [
        Some(table::agent(terminal)),
        Some(format!("{} {}", terminal.key.pane, terminal.place.target())),
        Some(format!("pid {}", terminal.key.pid)),
        facts.cwd.clone(),
        profile,
    ];
    let about: Vec<String> = about.into_iter().flatten().filter(|text| !text.is_empty()).collect();
    let mut pen = Pen::new(buffer, area, 0);
    let room = usize::from(pen.room());
    let state_cells = text::width(&state).min(room / 2);
    pen.skip(1);
    let name_cells = text::width(&facts.id).min(room.saturating_sub(state_cells + 4));
    pen.field(&facts.id, name_cells, parts.title).text("   ", parts.quiet);
    let cells = usize::from(pen.room()).saturating_sub(state_cells + 3);
    pen.field(&about.join(" · "), cells, parts.quiet);
    pen.text("  ", parts.quiet).right(&state, state_cells, style);
}
