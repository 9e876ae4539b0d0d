//! A question that must be answered with a key of its own before something happens.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::Request;
use super::action::Action;
use super::canvas::Canvas;
use super::footer::{self, Hint};
use super::keymap::Context;
use super::overlay::{Desk, Laid, Overlay, Then};
use super::popup::{self, Line, Scroll};
use crate::fleet::View;

/// The question, and what is asked for when the operator says yes.
#[derive(Debug)]
pub struct Confirm {
    title: String,
    lines: Vec<String>,
    /// What the yes does, in a word or two.
    yes: &'static str,
    requests: Vec<Request>,
    scroll: Scroll,
}

impl Confirm {
    /// A question with what will happen, in lines; `yes` says in a word what the key does.
    pub fn new(title: String, lines: Vec<String>, yes: &'static str, requests: Vec<Request>) -> Self {
        Self { title, lines, yes, requests, scroll: Scroll::default() }
    }
}

impl Overlay for Confirm {
    fn context(&self) -> Context {
        Context::Confirm
    }

    fn hints(&self, _view: &View<'_>) -> Vec<Hint> {
        vec![(Action::Confirm, self.yes), (Action::Close, "no")]
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) -> Laid {
        let parts = &canvas.theme.parts;
        let mut lines: Vec<Line> = self.lines.iter().map(|line| vec![(line.clone(), parts.text)]).collect();
        // The buttons take the last row of the box; a line as wide as they are makes sure that they fit.
        let buttons = self.hints(view);
        let cells = footer::cells(canvas, Context::Confirm, &buttons);
        lines.extend([Vec::new(), vec![(" ".repeat(cells), parts.text)]]);
        let inner = popup::draw(canvas, buffer, area, &self.title, &lines, &mut self.scroll);
        let last = Rect { y: inner.bottom().saturating_sub(1), height: inner.height.min(1), ..inner };
        let buttons = footer::draw_buttons(canvas, buffer, last, Context::Confirm, &buttons);
        Laid { place: popup::around(inner), buttons }
    }

    fn perform(&mut self, action: Action, desk: &mut Desk<'_, '_>) -> Then {
        match action {
            Action::Confirm => {
                desk.requests.append(&mut self.requests);
                Then::Close
            }
            _ => self.scroll.perform(action),
        }
    }
}
