//! The frame of the view: head, time line, list, and what stands beside it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::asking::Shot;
use super::list::List;
use super::{Drawn, Drill, Focus, Side, head, screen, why};
use crate::fleet::View;
use crate::ui::canvas::Canvas;
use crate::ui::text::{self, Pen};
use crate::ui::{pane, popup, reading, times};

/// From this width on the list and the pane beside it stand side by side.
const SIDE_BY_SIDE: u16 = 110;
/// Head and time line.
const ABOVE: u16 = 3;

impl Drill {
    pub(super) fn draw_all(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) {
        popup::clear(buffer, area);
        self.drawn = Drawn { one_pane: area.width < SIDE_BY_SIDE, ..Drawn::default() };
        head::draw(canvas, buffer, area, &self.shown, self.here, self.until);
        let above = if area.height >= ABOVE + 4 { ABOVE } else { 1 };
        if above == ABOVE {
            let place = Rect { y: area.y + 1, height: 2, ..area };
            let selected = self.selected.and_then(|id| self.steps.position(id)).and_then(|index| self.steps.get(index));
            self.strip.draw(canvas, buffer, place, &self.steps, self.until, selected.map(|step| step.at));
        }
        let body = Rect { y: area.y + above, height: area.height.saturating_sub(above), ..area };
        let (left, right) = match (self.drawn.one_pane, self.focus) {
            (true, Focus::List) => (body, Rect::ZERO),
            (true, Focus::Side) => (Rect::ZERO, body),
            (false, _) => {
                let left = (body.width * 9 / 20).min(84);
                let right = Rect { x: body.x + left + 1, width: body.width - left - 1, ..body };
                (Rect { width: left, ..body }, right)
            }
        };
        if !left.is_empty() {
            self.draw_list(canvas, buffer, left);
        }
        if !right.is_empty() {
            self.draw_side(canvas, buffer, right, view);
        }
    }

    fn draw_list(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect) {
        let parts = &canvas.theme.parts;
        let title = if self.focus == Focus::List { parts.title } else { parts.quiet };
        let count = format!("{} of {}", self.index(), self.steps.all().len());
        let inner = pane::titled(canvas, buffer, area, &[("what happened", title), (&count, parts.quiet)]);
        let end = self.asking.end();
        let gaps = self.strip.gaps(&self.steps, self.until);
        let list = List {
            steps: &self.steps,
            selected: self.index(),
            subject: &self.shown,
            now: self.until,
            gaps: &gaps,
            end: &end,
            waiting: &self.waiting,
        };
        let mut first = self.first;
        self.drawn.list = list.draw(canvas, buffer, inner, &mut first);
        (self.first, self.drawn.list_place) = (first, area);
    }

    fn draw_side(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) {
        self.draw_tabs(canvas, buffer, area);
        let inner = Rect { y: area.y + 1, height: area.height - 1, ..area };
        self.drawn.side_place = inner;
        let quiet = canvas.theme.parts.quiet;
        let say = |buffer: &mut Buffer, text: &str| {
            Pen::new(buffer, inner, 0).skip(1).text(text, quiet);
        };
        match self.side {
            Side::Screen => match self.shot(view) {
                Shot::Screen(shown) if shown.is_blank() => say(buffer, "the screen was blank"),
                Shot::Screen(shown) => self.drawn.lift_most = screen::draw(buffer, inner, &shown, self.lifted),
                Shot::None(why) => say(buffer, why),
            },
            Side::Why => {
                let selected = self.selected.and_then(|id| self.steps.position(id));
                let of_task = self.shown.why_task(self.until).map(Some);
                let reasons = of_task.as_ref().or(self.asking.reasons.as_ref());
                let lines = match (selected.and_then(|index| self.steps.get(index)), reasons) {
                    (Some(step), _) => why::of_step(canvas, step),
                    (None, Some(Some(text))) => why::of_now(canvas, text),
                    (None, Some(None)) => return say(buffer, "no profile has read a screen of it"),
                    (None, None) => return say(buffer, "reading …"),
                };
                reading::draw(&mut self.why, buffer, inner, lines.len(), |index| lines[index].clone());
            }
            Side::Transcript => self.transcript.draw(canvas, buffer, inner, self.selected),
            Side::Facts => {
                let lines = self.shown.facts(canvas, view);
                reading::draw(&mut self.facts, buffer, inner, lines.len(), |index| lines[index].clone());
            }
        }
    }

    /// The views beside the list by name, the one that is shown standing out, and the time that it is of, or in its place
    /// what a search has found.
    fn draw_tabs(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect) {
        let parts = &canvas.theme.parts;
        let mut pen = Pen::new(buffer, area, 0);
        pen.text("─ ", parts.rule);
        for side in Side::ALL {
            let chosen = side == self.side;
            let style = match (chosen, self.focus) {
                (true, Focus::Side) => parts.title.patch(parts.key),
                (true, Focus::List) => parts.title,
                (false, _) => parts.quiet,
            };
            let start = pen.column();
            // The brackets say it without a style.
            let word = if chosen { format!("[{}]", side.word()) } else { format!(" {} ", side.word()) };
            pen.text(&word, style);
            self.drawn.tabs.push((Rect { x: start, width: pen.column() - start, height: 1, ..area }, side));
        }
        let at = self.selected.and_then(|id| self.steps.position(id)).and_then(|index| self.steps.get(index));
        let time = match (self.side, at) {
            (Side::Facts, _) | (_, None) if self.here => "now".to_owned(),
            (Side::Facts, _) | (_, None) => format!("until {}", times::wall(self.until, canvas.zone)),
            (_, Some(step)) => format!("at {}", times::wall(step.at, canvas.zone)),
        };
        let found = self.transcript.reader.found().filter(|_| self.side == Side::Transcript);
        let told = found.unwrap_or(time);
        let room = usize::from(pen.room()).saturating_sub(2);
        pen.text(" ", parts.rule).text(&text::cut(&told, room), parts.quiet).text(" ", parts.rule);
        pen.rule("─", parts.rule);
    }
}
