//! What a frame is drawn with: its theme and its time, titles, boxes, the keys worth showing, and the last step
//! that reduces it to what the terminal can show.

use jiff::tz::TimeZone;
use ratatui::prelude::{Buffer, Color, Line, Rect};
use ratatui::widgets::{Block, Borders, Clear, Padding, Widget};

use super::line::{self, Part, span};
use super::scroll::Viewport;
use crate::present::text;
use crate::screen::is_harmless;
use crate::status::Status;
use crate::time::Timestamp;
use crate::ui::action::Action;
use crate::ui::keymap::{Context, Keymap};
use crate::ui::theme::{Depth, Theme, at_depth};

/// The look and the time of one frame.
#[derive(Clone, Copy)]
pub struct Look<'a> {
    pub theme: &'a Theme,
    pub keymap: &'a Keymap,
    /// Completes the commands in a hint.
    pub hint: fn(&str) -> String,
    pub zone: &'a TimeZone,
    pub now: Timestamp,
    pub ascii: bool,
    /// Whether the spinner turns.
    pub motion: bool,
    /// Whether something lies over what is drawn now.
    pub covered: bool,
}

impl Look<'_> {
    /// The glyph of a status at the time of the frame.
    pub fn glyph(&self, status: Status) -> &str {
        self.theme.glyph(status, self.ascii, self.motion.then_some(self.now))
    }
}

/// What an overlay has drawn.
#[derive(Clone, Debug, Default)]
pub struct HitMap {
    /// What has the keyboard: no message hides it, and a click beside a popup closes that.
    pub place: Rect,
    /// Where a click performs which action.
    pub buttons: Buttons,
}

impl HitMap {
    /// Something without buttons.
    pub fn at(place: Rect) -> Self {
        Self { place, buttons: Vec::new() }
    }
}

/// The columns of most boxes.
pub const ONE_COLUMN: (u16, u16) = (1, 0);

/// The box around what [`boxed`] and [`popup`] say is inside.
pub fn around(inner: Rect) -> Rect {
    if inner.is_empty() {
        return Rect::ZERO;
    }
    Rect { x: inner.x - 2, y: inner.y - 1, width: inner.width + 4, height: inner.height + 2 }
}

/// Draws a box with a title and lines in the middle of an area, as far as they are scrolled, in so many columns, with so many
/// cells between two of them: what stands at the foot of one goes on at the head of the next. Returns the lines' place.
pub fn popup(
    look: &Look<'_>,
    buffer: &mut Buffer,
    area: Rect,
    (title, lines): (&str, &[Line<'_>]),
    (columns, between): (u16, u16),
    view: &mut Viewport,
) -> Rect {
    let cells = u16::try_from(lines.iter().map(line::width).max().unwrap_or(0)).unwrap_or(u16::MAX);
    let all = cells.saturating_mul(columns).saturating_add(between * (columns - 1));
    let width = all.max(u16::try_from(text::width(title) + 2).unwrap_or(u16::MAX)).saturating_add(4);
    let height = u16::try_from(lines.len().div_ceil(usize::from(columns)) + 2).unwrap_or(u16::MAX);
    let Some(inner) = boxed(look, buffer, area, (width, height), title) else { return Rect::ZERO };
    let rows = usize::from(inner.height);
    let first = view.fit(rows * usize::from(columns), lines.len());
    for (column, lines) in (0..columns).zip(lines[first.min(lines.len())..].chunks(rows)) {
        let x = inner.x + column * (cells + between);
        let place = Rect { x, width: inner.right().saturating_sub(x), ..inner };
        line::draw_all(buffer, place, lines.iter().cloned());
    }
    draw_extent(look, buffer, inner, first, view.page(), lines.len());
    inner
}

/// Says at the foot of a box which of its lines are shown, where not all are.
pub fn draw_extent(look: &Look<'_>, buffer: &mut Buffer, inner: Rect, first: usize, page: usize, count: usize) {
    if let Some(extent) = extent(first, page, count).filter(|_| !inner.is_empty()) {
        let foot = Rect { y: inner.bottom(), height: 1, ..inner };
        line::draw(buffer, foot, span(format!(" {extent} "), look.theme.parts.quiet));
    }
}

/// Which of so many are shown, where not all are.
pub fn extent(first: usize, page: usize, count: usize) -> Option<String> {
    (count > page).then(|| format!("{}–{} of {count}", first + 1, (first + page).min(count)))
}

/// Draws an empty box of a size, borders included, in the middle of an area. Returns what is inside; `None` when there
/// is no room for anything.
pub fn boxed(look: &Look<'_>, buffer: &mut Buffer, area: Rect, size: (u16, u16), title: &str) -> Option<Rect> {
    let (width, height) = (size.0.min(area.width), size.1.min(area.height));
    if width < 4 || height < 3 {
        return None;
    }
    let parts = &look.theme.parts;
    let place = Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height };
    clear(buffer, place);
    let block = Block::bordered().border_style(parts.rule).padding(Padding::horizontal(1));
    let (inner, title) =
        (block.inner(place), span(text::cut(title, usize::from(width).saturating_sub(5)), parts.title));
    block.render(place, buffer);
    let beside = span(" ", parts.rule);
    line::draw_over(buffer, Rect { x: place.x + 1, width: width - 2, ..place }, vec![beside.clone(), title, beside]);
    Some(inner)
}

/// Blanks an area, so that nothing of what is below shines through, not even half of a wide character.
pub fn clear(buffer: &mut Buffer, area: Rect) {
    Clear.render(area, buffer);
    let beside = area.left().checked_sub(1).map(|left| Rect { x: left, width: 1, ..area });
    for at in beside.unwrap_or_default().intersection(buffer.area).positions() {
        if let Some(cell) = buffer.cell_mut(at).filter(|cell| text::width(cell.symbol()) > 1) {
            cell.set_symbol(" ");
        }
    }
}

/// Draws `─ title  rest ────` into the first row of an area and returns what is below it.
pub fn titled(look: &Look<'_>, buffer: &mut Buffer, area: Rect, title: Vec<Part>) -> Rect {
    let rule = look.theme.parts.rule;
    let mut line = Line::from(span("─ ", rule));
    for part in title.into_iter().filter(|part| !part.content.is_empty()) {
        line.extend([span(if line.spans.len() > 1 { "  " } else { "" }, rule), part]);
    }
    ruled(look, buffer, area, line)
}

/// Draws a line that a rule goes on behind into the first row of an area and returns what is below it.
pub fn ruled(look: &Look<'_>, buffer: &mut Buffer, area: Rect, line: Line<'_>) -> Rect {
    let rule = look.theme.parts.rule;
    let block = Block::new().borders(Borders::TOP).border_style(rule);
    let below = block.inner(area);
    block.render(area, buffer);
    line::draw_over(buffer, area, line + span(" ", rule));
    below
}

/// A key worth showing, with what it does in a word.
pub type Hint = (Action, &'static str);

/// Where a click performs which action.
pub type Buttons = Vec<(Rect, Action)>;

/// Draws the hints that fit, the first ones and always the last, with a blank before them. Returns where each one is.
pub fn hints(look: &Look<'_>, buffer: &mut Buffer, area: Rect, context: Context, hints: &[Hint]) -> Buttons {
    let line = Rect { x: area.x + area.width.min(1), width: area.width.saturating_sub(1), ..area };
    buttons(look, buffer, line, context, hints)
}

/// Draws the hints that fit, the first ones and always the last, from the left edge on. Returns where each one is.
pub fn buttons(look: &Look<'_>, buffer: &mut Buffer, area: Rect, context: Context, hints: &[Hint]) -> Buttons {
    let (mut drawn, mut rest) = (Vec::new(), area);
    for ((action, _), hint) in fitting(look, area.width, context, hints) {
        let width = u16::try_from(line::width(&hint)).unwrap_or(u16::MAX).min(rest.width);
        line::draw(buffer, rest, hint);
        drawn.push((Rect { width, ..rest }, action));
        let taken = width.saturating_add(GAP).min(rest.width);
        rest = Rect { x: rest.x + taken, width: rest.width - taken, ..rest };
    }
    drawn
}

/// The cells that hints take where all of them fit.
pub fn buttons_cells(look: &Look<'_>, context: Context, hints: &[Hint]) -> usize {
    cells(&fitting(look, u16::MAX, context, hints)).saturating_sub(usize::from(GAP))
}

/// The cells between two hints.
const GAP: u16 = 3;

/// The cells of hints, with the gap behind each.
fn cells(hints: &[(Hint, Line<'_>)]) -> usize {
    hints.iter().map(|(_, hint)| line::width(hint) + usize::from(GAP)).sum()
}

/// The hints that fit, with what is drawn of them.
fn fitting(look: &Look<'_>, width: u16, context: Context, hints: &[Hint]) -> Vec<(Hint, Line<'static>)> {
    let parts = &look.theme.parts;
    let keyed = |&(action, word): &Hint| {
        let key = look.keymap.key_for(context, action)?;
        Some(((action, word), vec![span(key, parts.key), span(format!(" {word}"), parts.quiet)].into()))
    };
    let mut fitting: Vec<_> = hints.iter().filter_map(keyed).collect();
    // What does not fit is left out whole; the last hint, the way to all the others, is the last to go.
    while fitting.len() > 1 && cells(&fitting) > usize::from(width) + usize::from(GAP) {
        fitting.remove(fitting.len() - 2);
    }
    fitting
}

/// Brings a frame down to a depth of colours, to ASCII if asked for, and makes sure that no cell can act on the
/// terminal: what the operator writes is drawn by another crate, and is no span.
pub fn fit(buffer: &mut Buffer, depth: Depth, ascii: bool) {
    let mut shades = [(Color::Reset, at_depth(Color::Reset, depth)); 2];
    let mut shade = |nth: usize, color: Color| {
        let last = &mut shades[nth];
        if last.0 != color {
            *last = (color, at_depth(color, depth));
        }
        last.1
    };
    for cell in &mut buffer.content {
        let symbol = cell.symbol();
        if symbol.len() > 1 && (ascii || !symbol.chars().all(is_harmless)) {
            let sign = symbol.chars().next().filter(|_| ascii);
            cell.set_symbol(sign.map_or(" ", |sign| text::in_ascii(sign).unwrap_or("?")));
        } else if symbol.len() == 1 && symbol.chars().any(char::is_control) {
            cell.set_symbol(" ");
        }
        if depth != Depth::True && (cell.fg != Color::Reset || cell.bg != Color::Reset) {
            // Neighbours mostly have the same colours, and finding the nearest one means comparing hundreds.
            cell.fg = shade(0, cell.fg);
            cell.bg = shade(1, cell.bg);
        }
    }
}
