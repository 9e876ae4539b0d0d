//! A screen as it was, in its own colours, cropped at its live edge.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::screen::Screen;
use crate::ui::preview;
use crate::ui::text::Pen;

/// Draws a screen, `lifted` rows above its end where it does not fit; returns how far it can be lifted.
pub fn draw(buffer: &mut Buffer, area: Rect, screen: &Screen, lifted: usize) -> usize {
    let rows = preview::live_edge(screen, usize::from(area.height), usize::MAX);
    let most = rows.len().saturating_sub(usize::from(area.height));
    let from = most - lifted.min(most);
    for (offset, row) in (0..area.height).zip(&rows[from..]) {
        preview::draw_row(&mut Pen::new(buffer, area, offset), row);
    }
    most
}
