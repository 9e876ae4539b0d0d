//! A grid of live screens: which terminal has which tile, how many tiles there are, and how one is drawn.

use std::collections::HashSet;

use ratatui::prelude::{Buffer, Constraint, Layout, Line, Modifier, Rect, Style};
use ratatui::symbols::border;
use ratatui::widgets::{Block, Borders, Widget};

use super::pace::HOLD;
use super::table::TableHits;
use super::theme;
use super::{Canvas, Item, TableRow, Viewport, blank, line, preview, span, table, times};
use crate::fleet::TerminalKey;
use crate::status::Status;
use crate::time::Timestamp;

/// The least columns and rows of a tile whose screen can be read.
const LEAST: (u16, u16) = (48, 10);
/// From this width on two tiles stand side by side all the same: their title lines say what their screens cannot.
const PAIR: u16 = 72;

/// The shape of a grid: tiles side by side, and rows of them. As square as the number of terminals lets it be, and no
/// more tiles than can be read.
pub fn shape(area: Rect, terminals: usize) -> (usize, usize) {
    let most_columns = usize::from(area.width / LEAST.0).max(if area.width >= PAIR { 2 } else { 1 });
    let most_rows = usize::from(area.height / LEAST.1).max(1);
    let columns = (1..).find(|side| side * side >= terminals).unwrap_or(1).clamp(1, most_columns);
    let rows = terminals.div_ceil(columns).clamp(1, most_rows);
    (terminals.div_ceil(rows).clamp(1, most_columns), rows)
}

/// Which terminal has which tile. A terminal keeps its tile as long as it is among the most urgent ones that fit, so that
/// the eye finds it again; one that begins to wait for the operator gets a tile at once, the others every few seconds.
#[derive(Clone, Debug, Default)]
pub struct Tiles {
    order: Vec<TerminalKey>,
    /// When the most urgent were last chosen.
    chosen_at: Timestamp,
}

/// What the tiles follow.
pub struct Following<'a> {
    pub now: Timestamp,
    /// Tiles that are seen at once.
    pub seen: usize,
    /// Whether the operator has just pressed a key: everything stays where it is.
    pub is_held: bool,
    /// The terminal that the operator chose: it keeps its tile.
    pub selected: Option<&'a TerminalKey>,
}

impl Tiles {
    /// The rows in the order of their tiles.
    pub fn arrange<'a>(&self, mut rows: Vec<TableRow<'a>>) -> Vec<TableRow<'a>> {
        let place = |row: &TableRow<'_>| {
            let key = row.item().map(|item| item.key());
            self.order.iter().position(|of| Some(of) == key).unwrap_or(usize::MAX)
        };
        rows.sort_by_cached_key(place);
        rows
    }

    /// Follows the rows, which come most urgent first.
    pub fn follow(&mut self, rows: &[TableRow<'_>], following: &Following<'_>, needs: impl Fn(Item<'_>) -> bool) {
        let Following { now, seen, is_held, selected } = *following;
        let items: Vec<Item<'_>> = rows.iter().filter_map(TableRow::item).collect();
        if self.order.is_empty() {
            (self.order, self.chosen_at) = (items.iter().map(|item| item.key().clone()).collect(), now);
            // Whatever the cursor is on stands beside the most urgent, not instead of them.
            let beyond = self.order.iter().position(|key| Some(key) == selected).filter(|place| *place >= seen);
            if let (Some(place), Some(last)) = (beyond, seen.checked_sub(1)) {
                let key = self.order.remove(place);
                self.order.insert(last, key);
            }
            return;
        }
        let there: HashSet<&TerminalKey> = items.iter().map(|item| item.key()).collect();
        let is_due = !is_held && now.since(self.chosen_at) >= HOLD;
        if is_due {
            self.chosen_at = now;
        }
        let before: HashSet<&TerminalKey> = self.order.iter().take(seen).collect();
        let rank = |item: &Item<'_>| match before.contains(item.key()) {
            true if is_held => 0,
            // Who has paged to it comes back with it, once no key is pressed any more.
            _ if !is_held && Some(item.key()) == selected => 0,
            _ if needs(*item) => 1,
            false if !is_due => 3,
            _ => 2,
        };
        let mut by_rank = items.clone();
        by_rank.sort_by_key(rank);
        let wanted: Vec<&TerminalKey> = by_rank.iter().map(|item| item.key()).collect();
        let chosen: HashSet<&TerminalKey> = wanted.iter().take(seen).copied().collect();
        let is_in_place = |key: &&TerminalKey| there.contains(*key) && chosen.contains(*key);
        let kept: HashSet<&TerminalKey> = self.order.iter().take(seen).filter(is_in_place).collect();
        let mut newcomers = wanted.iter().take(seen).filter(|key| !kept.contains(**key)).copied();
        let slots = self.order.iter().take(seen).map(|key| kept.get(key).copied());
        let mut order: Vec<&TerminalKey> = slots.filter_map(|slot| slot.or_else(|| newcomers.next())).collect();
        order.extend(newcomers);
        let beyond: Vec<&TerminalKey> = if is_held {
            // Whoever pages through the others finds them where they were.
            let others = self.order.iter().filter(|key| there.contains(*key) && !chosen.contains(*key));
            let known: HashSet<&TerminalKey> = self.order.iter().collect();
            others.chain(wanted.iter().skip(seen).copied().filter(|key| !known.contains(*key))).collect()
        } else {
            items.iter().map(|item| item.key()).filter(|key| !chosen.contains(*key)).collect()
        };
        order.extend(beyond);
        self.order = order.into_iter().cloned().collect();
    }

    /// Lets every terminal go to the tile where it belongs, because the operator has changed the order.
    pub fn release(&mut self) {
        self.order.clear();
    }
}

/// Draws the tiles that fit, so that the selected one is among them.
pub fn draw(
    canvas: &Canvas<'_>,
    buffer: &mut Buffer,
    area: Rect,
    rows: &[TableRow<'_>],
    selected: usize,
    first: usize,
) -> TableHits {
    let (columns, lines) = shape(area, rows.len());
    let all_lines = rows.len().div_ceil(columns);
    let first = Viewport::first_for(first / columns, selected / columns, lines, all_lines) * columns;
    let page = columns * lines;
    let mut drawn = TableHits { rows: Vec::new(), first, page, columns };
    let items = rows.iter().enumerate().filter_map(|(index, row)| Some((index, row, row.item()?)));
    let of_lines = Layout::vertical(vec![Constraint::Fill(1); lines]).split(area);
    let of_line = Layout::horizontal(vec![Constraint::Fill(1); columns]);
    let places = of_lines.iter().flat_map(|line| of_line.split(*line).to_vec());
    for ((index, row, item), place) in items.skip(first).take(page).zip(places) {
        draw_tile(canvas, buffer, place, item, index == selected);
        drawn.rows.push((place, row.key()));
    }
    drawn
}

/// How many tiles on from one the tile to the right or below is, or to the left or above; `None` where there is none.
pub fn neighbour(from: usize, (columns, count): (usize, usize), right: isize, down: isize) -> Option<isize> {
    let column = (from % columns).checked_add_signed(right).filter(|column| *column < columns)?;
    let last = count.checked_sub(1)?;
    let line = (from / columns).checked_add_signed(down).filter(|line| *line <= last / columns)?;
    // The last line may be short.
    let to = (line * columns + column).min(last);
    isize::try_from(to).ok()?.checked_sub_unsigned(from)
}

/// A line with the name, the state, its age and what the terminal asks or does; below it, behind a bar, its screen.
fn draw_tile(canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, item: Item<'_>, is_selected: bool) {
    let (parts, flags, status) = (&canvas.theme.parts, &canvas.memory.arrangement.flags, item.status());
    let is_muted = flags.is_muted(item);
    let style = |style: Style| if is_muted { parts.quiet } else { style };
    let own = style(canvas.theme.style(status));
    let bold = if status.needs_operator() || is_selected { Modifier::BOLD } else { Modifier::empty() };
    let lasting = format!("{} {}", status.word(), times::lasting(item.since(), canvas.now));
    let drafted = flags.is_drafted(item).then(|| span(theme::DRAFTED, parts.key));
    let queued = canvas.memory.queued.get(item.key()).map(|waiting| format!("queued {}", waiting.len()));
    let queued = queued.map(|queued| span(queued, style(canvas.theme.style(Status::Working))));
    let stale = preview::staleness(canvas, item);
    let stale = stale.map(|stale| span(stale, style(canvas.theme.style(Status::Unknown))));
    let mut title = Line::from(vec![if is_selected { span("›", parts.title) } else { span("─", parts.rule) }]);
    title += span(if table::has_bar(item, flags) { "▌" } else { " " }, own);
    title.extend(table::marks(item, flags).map(|mark| span(mark, parts.key)));
    title.extend([span(canvas.glyph(status), own), blank(1)]);
    title.extend([span(item.id(), style(parts.title).add_modifier(bold)), blank(2), span(lasting, own), blank(2)]);
    title.extend([drafted, queued, stale].into_iter().flatten().flat_map(|said| [said, blank(2)]));
    let what = canvas.draft(item).unwrap_or_else(|| item.what());
    title += span(&what, style(if status.needs_operator() { parts.text } else { parts.quiet }));
    let (borders, edges, edge) = match is_selected {
        true => (Borders::LEFT, border::THICK, parts.key),
        false => (Borders::LEFT | Borders::TOP, border::PLAIN, parts.rule),
    };
    let block = Block::new().borders(borders).border_set(edges).border_style(edge);
    block.render(area, buffer);
    title = if is_selected { title.style(parts.selected) } else { title + blank(usize::from(!what.is_empty())) };
    line::draw_over(buffer, area, title);
    // A blank column keeps the screen apart from the next tile's bar.
    let inside = Rect { x: area.x + 1, y: area.y + 1, width: area.width - 1, height: area.height - 1 };
    preview::draw_inside(canvas, buffer, inside, item, 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_fill_the_area_and_can_be_read() {
        for width in [46, 72, 80, 100, 160, 220, 400] {
            for height in [6, 21, 27, 42, 57, 100] {
                for terminals in [1, 2, 3, 4, 5, 9, 10, 30, 200] {
                    let area = Rect::new(0, 0, width, height);
                    let (columns, rows) = shape(area, terminals);
                    let size = format!("{width}x{height}, {terminals}: {columns}x{rows}");
                    assert!(columns >= 1 && rows >= 1 && (columns - 1) * rows < terminals, "a column is empty: {size}");
                    let tile = (width / columns as u16, height / rows as u16);
                    assert!(columns == 1 || tile.0 >= LEAST.0.min(PAIR / 2), "{size}");
                    assert!(rows == 1 || tile.1 >= LEAST.1, "{size}");
                }
            }
        }
        let of = |width, height, terminals| shape(Rect::new(0, 0, width, height), terminals);
        assert_eq!([of(80, 21, 12), of(100, 27, 12), of(160, 42, 9), of(220, 57, 4)], [(2, 2), (2, 2), (3, 3), (2, 2)]);
    }
}
