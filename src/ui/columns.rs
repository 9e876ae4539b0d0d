//! The list in which the operator chooses the columns: the table behind it follows at once.

use ratatui::prelude::{Buffer, Position, Rect};
use ratatui::widgets::StatefulWidget;

use super::kit::scroll::rows_of;
use super::{
    Action, Canvas, Context, Flow, Hint, HitMap, List, Overlay, OverlayContext, OverlayKind, Viewport, field, frame,
    line, right, span, text,
};
use crate::fleet::View;
use crate::present::columns::{COLUMNS, ChosenColumns, SERVER};

/// The rows that say what the selected column says, where the list keeps enough.
const ABOUT: u16 = 2;
/// The entry behind the columns.
const RESTORE: &str = "restore the default";
/// The widest note, with what is before it.
const NOTE: usize = 18;

/// The list of the columns.
#[derive(Debug, Default)]
pub struct ColumnList {
    /// The selected column, or behind them the entry that restores the default.
    at: usize,
    view: Viewport,
    /// Where the last frame drew the entries.
    place: Rect,
}

impl ColumnList {
    fn tick(&mut self, cx: &mut OverlayContext<'_, '_>) {
        let columns = &mut cx.memory.arrangement.columns;
        if self.at == COLUMNS.len() {
            *columns = ChosenColumns::default();
        } else if !columns.toggle(self.at) {
            let title = columns.at(self.at).map_or("", |(column, _)| column.title);
            cx.say(&format!("{title} cannot be hidden"));
        }
    }
}

impl Overlay for ColumnList {
    fn kind(&self) -> OverlayKind<'_> {
        OverlayKind::popup(Context::Columns)
    }

    fn hints(&self, _view: &View<'_>) -> Vec<Hint> {
        let tick = if self.at == COLUMNS.len() { RESTORE } else { "show or hide" };
        let mut hints = vec![(Action::Tick, tick)];
        if self.at < COLUMNS.len() {
            hints.extend([(Action::FocusLeft, "move left"), (Action::FocusRight, "move right")]);
        }
        hints.extend([(Action::Close, "close"), (Action::Help, "help")]);
        hints
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) -> HitMap {
        let (parts, arrangement) = (&canvas.theme.parts, &canvas.memory.arrangement);
        let widest = COLUMNS.iter().map(|column| column.title.len()).max().unwrap_or(0);
        let cells = (widest + 6 + NOTE).max(RESTORE.len() + 2);
        let count = COLUMNS.len() + 1;
        let size = (u16::try_from(cells + 4).unwrap_or(u16::MAX), u16::try_from(count + 2).unwrap_or(u16::MAX) + ABOUT);
        self.place = Rect::ZERO;
        // At the right, so that the beginning of the table is seen to follow.
        let width = size.0.min(area.width);
        let beside = Rect { x: area.right() - width, width, ..area };
        let Some(inner) = frame::boxed(canvas, buffer, beside, size, "columns") else { return HitMap::default() };
        let (about, whole) = (if inner.height > 4 * ABOUT { ABOUT } else { 0 }, inner);
        let inner = Rect { height: inner.height - about, ..inner };
        self.place = inner;
        let said = arrangement.columns.at(self.at).map_or("", |(column, _)| column.about);
        let said = text::wrapped(said, usize::from(inner.width), usize::from(about));
        let below = Rect { y: inner.bottom(), height: about, ..inner };
        line::draw_all(buffer, below, said.iter().map(|said| span(said, parts.quiet)));
        let entry = |nth: usize, room: usize| {
            let Some((column, is_shown)) = arrangement.columns.at(nth) else {
                return vec![span(RESTORE, parts.text)];
            };
            let note = match column.stays() {
                true => "always",
                false if !is_shown || canvas.columns.shows(column.title) => "",
                false if column.title == SERVER && view.servers.len() < 2 => "one server",
                false => "no room",
            };
            let style = if is_shown { parts.text } else { parts.quiet };
            let title = field(column.title, widest, style);
            let room = room.saturating_sub(widest + 4);
            vec![span(if is_shown { "[x] " } else { "[ ] " }, style), title, right(note, room, parts.quiet)]
        };
        List { parts, count, at: self.at, entry }.render(inner, buffer, &mut self.view);
        frame::draw_extent(canvas, buffer, whole, self.view.first(), self.view.page(), count);
        HitMap::at(frame::around(whole))
    }

    fn obey(&mut self, action: Action, cx: &mut OverlayContext<'_, '_>) -> Flow {
        if let Some(rows) = rows_of(action, usize::from(self.place.height)) {
            self.at = self.at.saturating_add_signed(rows).min(COLUMNS.len());
            return Flow::Stay;
        }
        match action {
            Action::FocusLeft => self.at = cx.memory.arrangement.columns.shift(self.at, -1),
            Action::FocusRight => self.at = cx.memory.arrangement.columns.shift(self.at, 1),
            Action::Tick => self.tick(cx),
            _ => return Flow::Pass,
        }
        Flow::Stay
    }

    fn click(&mut self, at: Position, cx: &mut OverlayContext<'_, '_>) -> Flow {
        if self.place.contains(at) {
            let nth = self.view.first() + usize::from(at.y - self.place.y);
            if nth <= COLUMNS.len() {
                self.at = nth;
                self.tick(cx);
            }
        }
        Flow::Stay
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_column_is_explained_in_the_rows_that_the_list_has_for_it() {
        for column in COLUMNS {
            let said = text::wrapped(column.about, 33, usize::MAX);
            assert!(!said.is_empty() && said.len() <= usize::from(ABOUT), "{}: {said:?}", column.title);
        }
    }
}
