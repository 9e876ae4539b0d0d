//! The prompt in its frame: where it goes, what stands in its way, and the keys that the footer has no room for.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

use super::recipients::{Recipients, hindrance};
use super::{Composer, broadcast};
use crate::fleet::{TerminalKey, View};
use crate::status::Status;
use crate::ui::action::Action;
use crate::ui::canvas::Canvas;
use crate::ui::item::Item;
use crate::ui::keymap::Context;
use crate::ui::overlay::{HitMap, Overlay};
use crate::ui::text::{self, Pen};
use crate::ui::{find, footer, layout, pane, preview};

/// The rows that a text keeps for itself before keys are told beside it.
const ROWS: u16 = 3;

impl Composer {
    /// Draws the prompt and what it goes to.
    pub(super) fn draw_all(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) -> HitMap {
        let (write, look) = self.places(area);
        match &self.to {
            Recipients::One(key) => preview::draw(canvas, buffer, look, find(view, key)),
            Recipients::Several(keys) => broadcast::draw_preview(canvas, buffer, look, keys, &self.prompt(), view),
        }
        let mut inner = self.draw_title(canvas, buffer, write, view);
        if let Some(key) = self.to.one() {
            inner.height -= draw_hindrance(canvas, buffer, inner, key, view);
            inner.height -= self.draw_taken(canvas, buffer, inner, key, view);
        }
        let buttons = self.draw_hints(canvas, buffer, inner, view);
        inner.height -= u16::from(!buttons.is_empty());
        self.draw_text(canvas, buffer, inner);
        HitMap { place: write, buttons }
    }

    /// The places of the prompt and of what it goes to. Where one screen has no room, several recipients still have:
    /// nobody should send to terminals that are not named.
    fn places(&self, area: Rect) -> (Rect, Rect) {
        let (write, look) = layout::writing(area);
        if !look.is_empty() || self.to.one().is_some() {
            return (write, look);
        }
        let wanted = u16::try_from(self.to.keys().len() + 1).unwrap_or(u16::MAX);
        let above = if area.height > ROWS { wanted.min(area.height / 2) } else { 0 };
        let write = Rect { y: area.y + above, height: area.height - above, ..area };
        (write, Rect { height: above, ..area })
    }

    /// Draws the title that says where the prompt goes and what that terminal does now. Returns what is below it.
    fn draw_title(&self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) -> Rect {
        let parts = &canvas.theme.parts;
        let key = match &self.to {
            Recipients::One(key) => key,
            Recipients::Several(keys) => {
                let title = format!("prompt to {}", text::counted(keys.len(), "terminal"));
                return pane::titled(canvas, buffer, area, &[(title.as_str(), parts.title)]);
            }
        };
        let Some(terminal) = find(view, key) else {
            let gone = canvas.theme.style(Status::Gone);
            return pane::titled(canvas, buffer, area, &[("prompt", parts.title), ("the terminal is gone", gone)]);
        };
        let state = &terminal.state;
        let agent = Item::from(terminal).agent();
        let status = Status::of(state);
        let (word, state_style) = (status.word(), canvas.theme.style(status));
        let target = format!("prompt to {}", state.terminal.id);
        let mut title =
            vec![(target.as_str(), parts.title), (agent.as_str(), parts.quiet), (word.as_ref(), state_style)];
        if self.is_kept {
            title.insert(1, ("with the draft that was kept", canvas.theme.style(Status::Stalled)));
        }
        pane::titled(canvas, buffer, area, &title)
    }

    /// Draws the keys that the footer has no room for, as long as the text keeps enough.
    fn draw_hints(&self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) -> Vec<(Rect, Action)> {
        if self.over.is_some() || area.height <= ROWS {
            return Vec::new();
        }
        let left_out = footer::left_out(canvas, buffer.area.width, Context::Composer, &self.hints(view));
        let last = Rect { y: area.bottom() - 1, height: 1, ..area };
        footer::draw(canvas, buffer, last, Context::Composer, &left_out)
    }

    /// Draws into the last row what the agent takes the text as, where that is no plain prompt. Returns the rows that this
    /// took.
    fn draw_taken(
        &self,
        canvas: &Canvas<'_>,
        buffer: &mut Buffer,
        area: Rect,
        key: &TerminalKey,
        view: &View<'_>,
    ) -> u16 {
        let taken = find(view, key).and_then(|terminal| terminal.input.taken(&self.prompt()));
        let Some(taken) = taken.filter(|_| area.height > 1) else { return 0 };
        let last = Rect { y: area.bottom() - 1, height: 1, ..area };
        let told = format!("would be taken {taken}");
        Pen::new(buffer, last, 0).skip(1).text(&told, canvas.theme.style(Status::Approval));
        1
    }

    fn draw_text(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect) {
        let area = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
        if area.is_empty() {
            return;
        }
        self.text.set_style(canvas.theme.parts.text);
        self.text.set_cursor_style(canvas.theme.parts.cursor);
        self.text.set_placeholder_style(canvas.theme.parts.quiet);
        self.text.render(area, buffer);
        // However its words are wrapped, a line takes no more than twice the rows that its cells fill.
        let cells = usize::from(area.width);
        let rows = |line: &String| match text::width(line) {
            width if width < cells => 1,
            width => 2 * width.div_ceil(cells),
        };
        let fits = self.text.lines().iter().map(rows).sum::<usize>() <= usize::from(area.height);
        self.was_whole |= !canvas.covered && fits && self.text.scroll_offset().0 == 0;
    }
}

/// Draws into the last row why the prompt would not be sent now. Returns the rows that this took.
fn draw_hindrance(canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, key: &TerminalKey, view: &View<'_>) -> u16 {
    let parts = &canvas.theme.parts;
    let Some(hindrance) = hindrance(view, key).filter(|_| area.height > 1) else { return 0 };
    // Without a terminal the title says so already.
    let Some(terminal) = find(view, key) else { return 0 };
    let last = Rect { y: area.bottom() - 1, height: 1, ..area };
    let wait = canvas.keymap.key_for(Context::Composer, Action::SendWhenReady).filter(|_| hindrance.may_pass());
    let mut pen = Pen::new(buffer, last, 0);
    pen.skip(1).text(&hindrance.to_string(), canvas.theme.style(Status::of(&terminal.state)));
    if let Some(wait) = wait {
        pen.text("   ", parts.quiet).text(&wait, parts.key).text(" sends when it is ready", parts.quiet);
    }
    1
}
