//! The prompt that is being written for one terminal.

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::widgets::Widget;
use ratatui_textarea::{CursorMove, TextArea, WrapMode};

use super::action::Action;
use super::canvas::Canvas;
use super::footer::Hint;
use super::keymap::Context;
use super::meaning::{Meaning, turn_word};
use super::overlay::{Desk, News, Overlay, Place, Then};
use super::text::Pen;
use super::{Request, Sent, layout, pane, preview, table};
use crate::fleet::{Terminal, TerminalKey, View};
use crate::state::{Phase, Tri};

/// A prompt on its way to be sent.
#[derive(Clone, Debug)]
pub struct Composer {
    key: TerminalKey,
    text: TextArea<'static>,
}

impl Composer {
    /// A composer for a terminal, with the draft that was left for it.
    pub fn new(key: TerminalKey, draft: &str) -> Self {
        let mut text = TextArea::new(draft.split('\n').map(str::to_owned).collect());
        text.set_wrap_mode(WrapMode::WordOrGlyph);
        text.set_cursor_line_style(Style::default());
        text.set_placeholder_text("what should it do?");
        text.move_cursor(CursorMove::Bottom);
        text.move_cursor(CursorMove::End);
        Self { key, text }
    }

    /// The prompt as it would be sent.
    fn prompt(&self) -> String {
        self.text.lines().join("\n")
    }

    /// Asks for the prompt to be sent and gives the keyboard back. The draft stays until the prompt was taken.
    fn send(&mut self, force: bool, desk: &mut Desk<'_, '_>) -> Then {
        let text = self.prompt();
        if text.trim().is_empty() {
            desk.tell(Meaning::Unknown, "there is nothing to send yet".to_owned());
            return Then::Stay;
        }
        let name = desk.terminal(&self.key).map_or("it", |terminal| terminal.state.terminal.id.as_str());
        desk.tell(Meaning::Working, sending(name));
        desk.ask(Request::Send { key: self.key.clone(), text, force });
        Then::Close
    }

    /// Keeps what was written for the next time, at every change, so that it cannot be lost.
    fn keep_draft(&self, desk: &mut Desk<'_, '_>) {
        let text = self.prompt();
        if text.trim().is_empty() {
            desk.memory.drafts.remove(&self.key);
        } else {
            desk.memory.drafts.insert(self.key.clone(), text);
        }
    }

    /// Takes in a pasted text, with the line ends of any system. Returns how many control characters, which no prompt
    /// may contain, were left out.
    fn insert(&mut self, pasted: &str) -> usize {
        let lines = pasted.replace("\r\n", "\n").replace('\r', "\n");
        let fit: String = lines.chars().filter(|&c| c == '\n' || c == '\t' || !c.is_control()).collect();
        self.text.insert_str(&fit);
        lines.chars().count() - fit.chars().count()
    }

    /// Draws the prompt under a title that says where it goes and what that terminal does now.
    fn draw_prompt(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, terminal: Option<&Terminal>) {
        let parts = &canvas.theme.parts;
        let Some(terminal) = terminal else {
            let gone = canvas.theme.style(Meaning::Gone);
            let area = pane::titled(canvas, buffer, area, &[("prompt", parts.title), ("the terminal is gone", gone)]);
            self.draw_text(canvas, buffer, area);
            return;
        };
        let state = &terminal.state;
        let agent = table::agent(terminal);
        let state_style = canvas.theme.style(Meaning::of(state));
        let target = format!("prompt to {}", state.terminal.id);
        let title = [(target.as_str(), parts.title), (agent.as_str(), parts.quiet), (turn_word(state), state_style)];
        let mut area = pane::titled(canvas, buffer, area, &title);
        if let Some(warning) = warning(terminal)
            && area.height > 1
        {
            let last = Rect { y: area.bottom() - 1, height: 1, ..area };
            Pen::new(buffer, last, 0).skip(1).text(warning, state_style);
            area.height -= 1;
        }
        self.draw_text(canvas, buffer, area);
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
    }
}

impl Overlay for Composer {
    fn context(&self) -> Context {
        Context::Composer
    }

    fn place(&self) -> Place {
        Place::Panes
    }

    fn terminal(&self) -> Option<&TerminalKey> {
        Some(&self.key)
    }

    fn hints(&self, _view: &View<'_>) -> Vec<Hint> {
        vec![
            (Action::Send, "send"),
            (Action::Newline, "new line"),
            (Action::SendAnyway, "send anyway"),
            (Action::Close, "close, keep the draft"),
        ]
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) -> Vec<(Rect, Action)> {
        let terminal = super::find(view, &self.key);
        let (write, look) = layout::writing(area);
        preview::draw(canvas, buffer, look, terminal, None);
        self.draw_prompt(canvas, buffer, write, terminal);
        Vec::new()
    }

    fn perform(&mut self, action: Action, desk: &mut Desk<'_, '_>) -> Then {
        match action {
            Action::Send => return self.send(false, desk),
            Action::SendAnyway => return self.send(true, desk),
            Action::Close => return Then::Close,
            Action::Newline => self.text.insert_newline(),
            _ => return Then::Pass,
        }
        self.keep_draft(desk);
        Then::Stay
    }

    fn key(&mut self, key: KeyEvent, desk: &mut Desk<'_, '_>) -> Then {
        self.text.input(key);
        self.keep_draft(desk);
        Then::Stay
    }

    fn paste(&mut self, text: &str, desk: &mut Desk<'_, '_>) -> Then {
        let left_out = self.insert(text);
        if left_out > 0 {
            let characters = if left_out == 1 { "character" } else { "characters" };
            desk.tell(Meaning::Stalled, format!("left out of the paste: {left_out} control {characters}"));
        }
        self.keep_draft(desk);
        Then::Stay
    }

    fn wheel(&mut self, _direction: isize, _at: Position, _desk: &mut Desk<'_, '_>) -> Then {
        Then::Stay
    }

    /// What was taken is no draft any more, even if the composer was opened on it again.
    fn hear(&mut self, news: News<'_>, _desk: &mut Desk<'_, '_>) {
        let News::Sent { key, text, sent } = news else { return };
        if *sent == Sent::Accepted && self.key == *key && self.prompt() == text {
            *self = Self::new(key.clone(), "");
        }
    }
}

/// What is told while a prompt is on its way.
pub fn sending(name: &str) -> String {
    format!("sending to {name} …")
}

/// Why the prompt would be refused as things stand.
fn warning(terminal: &Terminal) -> Option<&'static str> {
    let state = &terminal.state;
    if super::meaning::waits(state) {
        return Some("a dialog waits there: a prompt would not reach the agent");
    }
    match state.turn.phase {
        Phase::Active => Some("it is working: the prompt is sent only when you insist"),
        Phase::Unknown => Some("it is not known to be ready"),
        Phase::Ready if state.surface.editing_input == Tri::Yes => Some("there is a draft in its prompt already"),
        Phase::Ready => None,
    }
}
