//! The box of a dialog: the agent's own rows above, the options and what they send below.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::{Shown, sends};
use crate::screen::Row;
use crate::ui::action::Action;
use crate::ui::canvas::Canvas;
use crate::ui::footer::Hint;
use crate::ui::keymap::Context;
use crate::ui::meaning::Meaning;
use crate::ui::overlay::Laid;
use crate::ui::popup::{self, Scroll};
use crate::ui::text::{self, Pen};
use crate::ui::{footer, preview};

/// What is to be drawn.
pub(super) struct Body<'a> {
    pub(super) shown: &'a Shown,
    pub(super) chosen: usize,
    pub(super) told: Option<&'a (Meaning, String)>,
    pub(super) title: &'a str,
}

/// What was drawn where.
pub(super) struct Drawn {
    pub(super) options: Vec<(Rect, usize)>,
    pub(super) laid: Laid,
}

/// The buttons have room in it.
const LEAST: usize = 68;
/// Rows below the options: what is sent, what became of it, a blank one, the buttons.
const BELOW: u16 = 5;

impl Body<'_> {
    pub(super) fn draw(&self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, scroll: &mut Scroll) -> Drawn {
        let dialog = &self.shown.dialog;
        let rows = self.rows();
        let count = u16::try_from(dialog.options.len()).unwrap_or(u16::MAX);
        let sends = sends(dialog, self.chosen);
        let wide = rows.iter().map(|row| row.width()).max().unwrap_or(0);
        let labels = dialog.options.iter().map(|option| text::width(&option.label) + text::width(&option.detail) + 8);
        let widest = wide.max(labels.max().unwrap_or(0)).max(text::width(&sends) + 2).max(text::width(self.title) + 2);
        let height = rows.len() + usize::from(count) + usize::from(BELOW) + 2;
        let size = (widest.max(LEAST) + 4, height);
        let size = (u16::try_from(size.0).unwrap_or(u16::MAX), u16::try_from(size.1).unwrap_or(u16::MAX));
        let mut drawn = Drawn { options: Vec::new(), laid: Laid::default() };
        let Some(inner) = popup::frame(canvas, buffer, area, size, self.title) else { return drawn };
        // The options and what they send have their place first; the text above them scrolls in what is left.
        let below = BELOW.min(inner.height);
        let options = count.min(inner.height - below);
        let above = Rect { height: inner.height - below - options, ..inner };
        let options = Rect { y: above.bottom(), height: options, ..inner };
        let below = Rect { y: options.bottom(), height: below, ..inner };
        self.draw_rows(canvas, buffer, above, &rows, scroll);
        drawn.options = self.draw_options(canvas, buffer, options);
        let buttons = self.draw_below(canvas, buffer, below, &sends);
        drawn.laid = Laid { place: popup::around(inner), buttons };
        drawn
    }

    /// The rows of the dialog above its options, without blank ones and rules at the ends.
    fn rows(&self) -> Vec<&Row> {
        let dialog = &self.shown.dialog;
        let end = if dialog.options.is_empty() { dialog.rows.end } else { self.end_of_text() };
        let rows = self.shown.screen.rows();
        let rows = rows.get(dialog.rows.start.min(end)..end).unwrap_or_default();
        // The rule that agents draw above a dialog is as wide as their pane, and there is a box around it here.
        let rows: Vec<&Row> = rows.iter().skip_while(|row| is_rule(row.text())).collect();
        let used = rows.iter().rposition(|row| !is_rule(row.text())).map_or(0, |last| last + 1);
        rows[..used].to_vec()
    }

    /// Letters stand in the row of the question, which is shown, too.
    fn end_of_text(&self) -> usize {
        let options = &self.shown.dialog.option_rows;
        if self.shown.dialog.manner == crate::dialog::Manner::Letters { options.end } else { options.start }
    }

    fn draw_rows(&self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, rows: &[&Row], scroll: &mut Scroll) {
        // A blank row between the text and the options, where there is room for it.
        let room = usize::from(area.height).saturating_sub(usize::from(rows.len() < usize::from(area.height)));
        let first = scroll.fit_end(rows.len(), room);
        for (offset, row) in (0..area.height).zip(rows.iter().skip(first).take(room)) {
            preview::draw_row(&mut Pen::new(buffer, area, offset), row);
        }
        if rows.len() > room && room > 0 {
            let shown = format!(" rows {}–{} of {} ", first + 1, first + room, rows.len());
            let cells = u16::try_from(text::width(&shown)).unwrap_or(u16::MAX).min(area.width);
            let at = Rect { x: area.right() - cells, y: area.y.saturating_sub(1), height: 1, width: cells };
            Pen::new(buffer, at, 0).text(&shown, canvas.theme.parts.quiet);
        }
    }

    fn draw_options(&self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect) -> Vec<(Rect, usize)> {
        let parts = &canvas.theme.parts;
        let dialog = &self.shown.dialog;
        let names = dialog.options.iter().map(|option| text::width(&option.name)).max().unwrap_or(0);
        let first = (self.chosen + 1).saturating_sub(usize::from(area.height));
        let mut places = Vec::new();
        for (offset, (place, option)) in (0..area.height).zip(dialog.options.iter().enumerate().skip(first)) {
            let line = Rect { y: area.y + offset, height: 1, ..area };
            let is_chosen = place == self.chosen && dialog.can_choose();
            let base = if is_chosen { parts.selected } else { Style::default() };
            buffer.set_style(line, base);
            let mut pen = Pen::new(buffer, line, 0);
            pen.text(if is_chosen { "› " } else { "  " }, base.patch(parts.title));
            pen.right(&option.name, names, base.patch(parts.key)).field("", 2, base);
            pen.text(&option.label, base.patch(parts.text));
            if !option.detail.is_empty() {
                pen.field("", 2, base).text(&option.detail, base.patch(parts.quiet));
            }
            places.push((line, place));
        }
        places
    }

    fn draw_below(&self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, sends: &str) -> Vec<(Rect, Action)> {
        let parts = &canvas.theme.parts;
        Pen::new(buffer, area, 1).text(sends, parts.quiet);
        if let Some((meaning, told)) = self.told {
            let style = canvas.theme.style(*meaning);
            Pen::new(buffer, area, 2).raw(canvas.glyph(*meaning), style).skip(1).text(told, style);
        }
        let answers = [(Action::Answer, "answer")].into_iter().filter(|_| self.shown.dialog.can_choose());
        let buttons: Vec<Hint> = answers
            .chain([(Action::Jump, "go there and answer"), (Action::Close, "close; nothing was sent")])
            .collect();
        let last = Rect { y: area.bottom().saturating_sub(1), height: area.height.min(1), ..area };
        footer::draw_buttons(canvas, buffer, last, Context::Dialog, &buttons)
    }
}

/// Whether a row is blank or nothing but a line.
fn is_rule(row: &str) -> bool {
    row.chars().all(|c| c.is_whitespace() || matches!(c, '─' | '━' | '═' | '▔'))
}
