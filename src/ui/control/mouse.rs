//! The mouse: a click is the key that is shown there, or selects a row; the wheel moves what is under it.

use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

use crate::fleet::View;
use crate::time::Span;
use crate::ui::{Action, Request, RowKey, Ui};

/// How close two clicks are that count as one.
const DOUBLE_CLICK: Span = Span::from_millis(400);
/// Lines of the log or of the screen that one turn of the wheel moves.
const WHEEL: usize = 3;

impl Ui {
    pub(super) fn mouse(&mut self, mouse: MouseEvent, view: &View<'_>) -> Vec<Request> {
        let at = Position::new(mouse.column, mouse.row);
        match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => self.click(at, view),
            MouseEventKind::ScrollDown => self.wheel(1, at, view),
            MouseEventKind::ScrollUp => self.wheel(-1, at, view),
            _ => Vec::new(),
        }
    }

    fn click(&mut self, at: Position, view: &View<'_>) -> Vec<Request> {
        self.cursor.begin_key();
        if let Some((_, action)) = self.drawn.buttons.iter().find(|(place, _)| place.contains(at)) {
            return self.obey(*action, view);
        }
        // A click beside a popup is one to be rid of it; whatever is there is not clicked through it.
        let top = self.drawn.top;
        if self.overlays.last().is_some_and(|overlay| overlay.kind().is_popup) && !top.is_empty() && !top.contains(at) {
            return self.obey(Action::Close, view);
        }
        let (passed, requests) = self.with_top(view, |overlay, cx| overlay.click(at, cx));
        if passed {
            self.click_row(at, view);
        }
        requests
    }

    fn click_row(&mut self, at: Position, view: &View<'_>) {
        let Some((_, key)) = self.drawn.rows.iter().find(|(place, _)| place.contains(at)).cloned() else { return };
        let rows = self.rows(view);
        if let Some(index) = rows.iter().position(|row| row.is(&key)) {
            self.cursor.select(index, &rows, view.now);
        }
        if matches!(key, RowKey::Head(_)) {
            return self.open_selected(view);
        }
        let again = self.last_click.take().is_some_and(|(last, at)| last == key && view.now.since(at) <= DOUBLE_CLICK);
        if again {
            self.open_selected(view);
        } else {
            self.last_click = Some((key, view.now));
        }
    }

    fn wheel(&mut self, direction: isize, at: Position, view: &View<'_>) -> Vec<Request> {
        let (passed, requests) = self.with_top(view, |overlay, cx| overlay.wheel(direction, at, cx));
        // What is behind a popup stands still, also where the popup has nothing to scroll.
        if passed && !self.overlays.last().is_some_and(|overlay| overlay.kind().is_popup) {
            if self.drawn.log.contains(at) {
                let step = direction * isize::try_from(WHEEL).unwrap_or(1);
                let most = self.log.count(view).saturating_sub(1);
                self.skipped = self.skipped.saturating_add_signed(step).min(most);
            } else if self.drawn.screen.0.contains(at) {
                self.lift(direction);
            } else {
                self.step(direction, view);
            }
        }
        requests
    }

    /// Scrolls the screen of the selected terminal.
    fn lift(&mut self, direction: isize) {
        let step = -direction * isize::try_from(WHEEL).unwrap_or(1);
        let (lifted, most) = (self.lifted_now(), self.drawn.screen.1);
        let lifted = lifted.min(most).saturating_add_signed(step).min(most);
        self.lifted = self.cursor.key().filter(|_| lifted > 0).map(|key| (key.clone(), lifted));
    }

    /// How far the screen of the selected terminal is scrolled up.
    pub(in crate::ui) fn lifted_now(&self) -> usize {
        let lifted = self.lifted.as_ref().filter(|(of, _)| Some(of) == self.cursor.key());
        lifted.map_or(0, |(_, lifted)| *lifted)
    }
}
