//! The prompt that is being written for one terminal.

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::Widget;
use ratatui_textarea::{CursorMove, TextArea, WrapMode};

use super::canvas::Canvas;
use super::meaning::{Meaning, turn_word};
use super::text::Pen;
use super::{pane, table};
use crate::fleet::{Terminal, TerminalKey};
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

    /// The terminal that the prompt is for.
    pub fn key(&self) -> &TerminalKey {
        &self.key
    }

    /// The prompt as it would be sent.
    pub fn prompt(&self) -> String {
        self.text.lines().join("\n")
    }

    /// Takes in a key that the keymap does not bind.
    pub fn input(&mut self, key: KeyEvent) {
        self.text.input(key);
    }

    /// Begins a new line at the cursor.
    pub fn newline(&mut self) {
        self.text.insert_newline();
    }

    /// Takes in a pasted text, with the line ends of any system. Returns how many control characters, which no prompt
    /// may contain, were left out.
    pub fn paste(&mut self, pasted: &str) -> usize {
        let lines = pasted.replace("\r\n", "\n").replace('\r', "\n");
        let fit: String = lines.chars().filter(|&c| c == '\n' || c == '\t' || !c.is_control()).collect();
        self.text.insert_str(&fit);
        lines.chars().count() - fit.chars().count()
    }

    /// Draws the prompt under a title that says where it goes and what that terminal does now.
    pub fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, terminal: Option<&Terminal>) {
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
