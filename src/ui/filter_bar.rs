//! The line in which the filter is typed: the table follows each key.

use ratatui::crossterm::event::KeyEvent;
use ratatui::prelude::{Buffer, Line, Position, Rect};

use super::{
    Action, Canvas, Context, Flow, Hint, HitMap, LineInput, Overlay, OverlayContext, OverlayKind, OverlayPlace, blank,
    field, line, span, text,
};
use crate::fleet::View;
use crate::present::filter::{Filter, completed};

/// The filter while it is typed.
#[derive(Debug)]
pub struct FilterBar {
    line: LineInput,
    /// What the last word may be completed to, where that is not clear.
    offered: Vec<String>,
}

impl FilterBar {
    /// Begins with the filter that holds.
    pub fn new(filter: &Filter) -> Self {
        Self { line: LineInput::new(filter.text()), offered: Vec::new() }
    }

    fn apply(&self, cx: &mut OverlayContext<'_, '_>) {
        cx.memory.arrangement.filter = Filter::new(self.line.text());
    }
}

impl Overlay for FilterBar {
    fn kind(&self) -> OverlayKind<'_> {
        OverlayKind::at(Context::Filter, OverlayPlace::Bar)
    }

    fn hints(&self, _view: &View<'_>) -> Vec<Hint> {
        vec![
            (Action::Accept, "keep"),
            (Action::Complete, "complete"),
            (Action::Close, "show all again"),
            (Action::Down, "down"),
        ]
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) -> HitMap {
        let parts = &canvas.theme.parts;
        let note = canvas.memory.arrangement.filter_note(view);
        let mut line = Line::from(vec![blank(1), span("/ ", parts.key)]);
        let room = line::room(area, &line);
        // What does not fit beside what is typed is cut.
        let typed = (self.line.cells() + 1).clamp(16.min(room), room);
        line.extend(self.line.spans(canvas, typed));
        line.extend([blank(2), span(note, parts.quiet)]);
        line::draw(buffer, area, line);
        let doubt = canvas.memory.arrangement.filter_doubt(view).map(|doubt| doubt.hint());
        if let Some(hint) = Some(self.offered.join("  ")).filter(|offered| !offered.is_empty()).or(doubt) {
            let below = Rect { y: area.y + 1, height: buffer.area.bottom().saturating_sub(area.y + 2), ..area };
            draw_below(canvas, buffer, below, &hint);
        }
        HitMap::at(area)
    }

    fn obey(&mut self, action: Action, cx: &mut OverlayContext<'_, '_>) -> Flow {
        match action {
            // What can never fit is not kept: the table would stay empty without a word of why.
            Action::Accept => {
                let Some(doubt) = cx.memory.arrangement.filter_doubt(cx.view) else { return Flow::Close };
                cx.say(&format!("{}: {}", doubt.in_short(), doubt.hint()));
                // What is not there may still come.
                if doubt.is_wrong() { Flow::Stay } else { Flow::Close }
            }
            Action::Complete => {
                let (text, meant) = completed(self.line.text(), cx.view);
                if meant.is_empty() {
                    cx.say("nothing begins with that");
                }
                self.line = LineInput::new(&text);
                self.offered = if meant.len() > 1 { meant } else { Vec::new() };
                self.apply(cx);
                Flow::Stay
            }
            Action::Close => {
                cx.memory.arrangement.filter = Filter::default();
                Flow::Close
            }
            _ => Flow::Pass,
        }
    }

    fn key(&mut self, key: KeyEvent, cx: &mut OverlayContext<'_, '_>) -> Flow {
        if self.line.key(key) {
            self.offered.clear();
            self.apply(cx);
        }
        Flow::Stay
    }

    fn paste(&mut self, text: &str, cx: &mut OverlayContext<'_, '_>) -> Flow {
        if self.line.paste(text) {
            self.apply(cx);
        }
        Flow::Stay
    }

    fn click(&mut self, _at: Position, _cx: &mut OverlayContext<'_, '_>) -> Flow {
        Flow::Pass
    }
}

/// A text below the line, wrapped, over the table.
fn draw_below(canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, text: &str) {
    let (cells, style) = (usize::from(area.width.saturating_sub(2)), canvas.theme.parts.text);
    let lines = text::wrapped(text, cells, usize::from(area.height));
    line::draw_all(buffer, area, lines.iter().map(|line| vec![blank(1), field(line, cells + 1, style)]));
}
