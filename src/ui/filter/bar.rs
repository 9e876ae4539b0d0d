//! The line in which a filter is typed; the table follows at every key.

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::{Position, Rect};

use super::{Filter, states_in_words};
use crate::fleet::View;
use crate::ui::action::Action;
use crate::ui::arrangement::Arrangement;
use crate::ui::canvas::Canvas;
use crate::ui::footer::Hint;
use crate::ui::input::LineInput;
use crate::ui::keymap::Context;
use crate::ui::overlay::{Flow, HitMap, Overlay, OverlayContext, OverlayPlace};
use crate::ui::text::{self, Pen};

/// The filter while it is typed.
#[derive(Debug)]
pub struct FilterBar {
    line: LineInput,
}

impl FilterBar {
    /// Begins with the filter that holds.
    pub fn new(filter: &Filter) -> Self {
        Self { line: LineInput::new(filter.text()) }
    }

    fn apply(&self, desk: &mut OverlayContext<'_, '_>) {
        desk.memory.arrangement.filter = Filter::new(self.line.text());
    }
}

impl Overlay for FilterBar {
    fn context(&self) -> Context {
        Context::Filter
    }

    fn place(&self) -> OverlayPlace {
        OverlayPlace::Bar
    }

    fn hints(&self, _view: &View<'_>) -> Vec<Hint> {
        vec![(Action::Choose, "keep"), (Action::Close, "show all again"), (Action::Down, "down")]
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) -> HitMap {
        let parts = &canvas.theme.parts;
        let note = note(canvas.arrangement, view);
        let mut pen = Pen::new(buffer, area, 0);
        pen.skip(1).text("/ ", parts.key);
        let room = usize::from(pen.room());
        // What does not fit beside what is typed is told only as far as there is room.
        let typed = (self.line.cells() + 1).clamp(16.min(room), room);
        self.line.draw(canvas, &mut pen, typed);
        pen.skip(2).text(&note, parts.quiet);
        let rest = usize::from(pen.room());
        pen.field("", rest, parts.quiet);
        if canvas.arrangement.filter.doubt().is_some() {
            draw_states(
                canvas,
                buffer,
                Rect { y: area.y + 1, height: buffer.area.bottom().saturating_sub(area.y + 2), ..area },
            );
        }
        HitMap::at(area)
    }

    fn perform(&mut self, action: Action, desk: &mut OverlayContext<'_, '_>) -> Flow {
        match action {
            Action::Choose => Flow::Close,
            Action::Close => {
                desk.memory.arrangement.filter = Filter::default();
                Flow::Close
            }
            _ => Flow::Pass,
        }
    }

    fn key(&mut self, key: KeyEvent, desk: &mut OverlayContext<'_, '_>) -> Flow {
        if self.line.key(key) {
            self.apply(desk);
        }
        Flow::Stay
    }

    fn paste(&mut self, text: &str, desk: &mut OverlayContext<'_, '_>) -> Flow {
        if self.line.paste(text) {
            self.apply(desk);
        }
        Flow::Stay
    }

    fn click(&mut self, _at: Position, _desk: &mut OverlayContext<'_, '_>) -> Flow {
        Flow::Pass
    }

    fn wheel(&mut self, _direction: isize, _at: Position, _desk: &mut OverlayContext<'_, '_>) -> Flow {
        Flow::Pass
    }
}

/// Lists the states below the line, over the table, which has no row then anyway.
fn draw_states(canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect) {
    let cells = usize::from(area.width.saturating_sub(2));
    let lines = text::wrapped(&states_in_words(), cells, usize::from(area.height));
    for (row, line) in (0..).zip(&lines) {
        Pen::new(buffer, area, row).field("", 1, canvas.theme.parts.text).field(
            line,
            cells + 1,
            canvas.theme.parts.text,
        );
    }
}

/// How many terminals a filter lets through, or what is wrong with it.
pub fn note(arrangement: &Arrangement, view: &View<'_>) -> String {
    if let Some(word) = arrangement.filter.doubt() {
        return format!("no state {word}");
    }
    format!("{} of {}", arrangement.shown(view).count(), view.terminals.len() + view.tasks.len())
}
