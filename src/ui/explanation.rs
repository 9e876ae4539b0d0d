//! Why a terminal is said to be what it is, in a popup.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::action::Action;
use super::canvas::Canvas;
use super::footer::Hint;
use super::keymap::Context;
use super::overlay::{Flow, HitMap, Overlay, OverlayContext};
use super::popup;
use super::viewport::Viewport;
use crate::fleet::{TerminalKey, View};

/// An explanation; its text is as of when it was asked for.
#[derive(Debug)]
pub struct ExplanationView {
    key: TerminalKey,
    lines: Vec<String>,
    view: Viewport,
}

impl ExplanationView {
    /// Shows a text of several lines about a terminal.
    pub fn new(key: TerminalKey, text: &str) -> Self {
        Self { key, lines: text.lines().map(str::to_owned).collect(), view: Viewport::default() }
    }
}

impl Overlay for ExplanationView {
    fn context(&self) -> Context {
        Context::Explanation
    }

    fn terminal(&self) -> Option<&TerminalKey> {
        Some(&self.key)
    }

    fn hints(&self, _view: &View<'_>) -> Vec<Hint> {
        vec![(Action::ScrollDown, "down"), (Action::Jump, "jump"), (Action::Close, "close")]
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, _view: &View<'_>) -> HitMap {
        let text = canvas.theme.parts.text;
        let lines: Vec<popup::StyledLine> = self.lines.iter().map(|line| vec![(line.clone(), text)]).collect();
        let inner = popup::draw(canvas, buffer, area, "why", &lines, &mut self.view);
        HitMap::at(popup::around(inner))
    }

    fn perform(&mut self, action: Action, _desk: &mut OverlayContext<'_, '_>) -> Flow {
        self.view.perform(action)
    }
}
