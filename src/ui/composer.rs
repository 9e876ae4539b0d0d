//! The prompt that is being written, for one terminal or for several.

mod broadcast;
mod choosing;
mod outcomes;
mod recall;
mod recipients;

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::widgets::Widget;
use ratatui_textarea::{CursorMove, TextArea, WrapMode};

use super::action::Action;
use super::canvas::Canvas;
use super::footer::Hint;
use super::keymap::Context;
use super::meaning::{Meaning, turn_word};
use super::overlay::{Desk, Memory, News, Overlay, Place, Then};
use super::popup::Scroll;
use super::text::Pen;
use super::{Request, Sent, layout, pane, preview, table};
use crate::fleet::{TerminalKey, View};
use choosing::Choosing;
use recall::Recall;
use recipients::{Recipients, obstacle};

/// A prompt on its way to be sent.
#[derive(Debug)]
pub struct Composer {
    to: Recipients,
    text: TextArea<'static>,
    recall: Recall,
    /// Whether the prompts that were sent before were asked for.
    asked: bool,
    /// What lies over it and has the keyboard.
    over: Option<Over>,
}

/// What a composer is asked in between.
#[derive(Debug)]
enum Over {
    /// Which earlier prompt or template to take.
    Choosing(Choosing),
    /// Whether to send to several; `wait` sends to those that are not ready once they are.
    Sure { wait: bool, scroll: Scroll },
}

impl Composer {
    /// A composer for a terminal, with the draft that was left for it.
    pub fn new(key: TerminalKey, memory: &Memory) -> Self {
        let draft = memory.drafts.get(&key).map_or("", String::as_str);
        Self::with(Recipients::One(key), draft)
    }

    /// A composer for several terminals, with the draft that was left for several.
    pub fn for_several(keys: Vec<TerminalKey>, memory: &Memory) -> Self {
        Self::with(Recipients::Several(keys), &memory.broadcast_draft)
    }

    fn with(to: Recipients, draft: &str) -> Self {
        Self { to, text: text_area(draft), recall: Recall::default(), asked: false, over: None }
    }

    /// The prompt as it would be sent.
    fn prompt(&self) -> String {
        self.text.lines().join("\n")
    }

    fn replace(&mut self, text: &str) {
        self.text = text_area(text);
    }

    /// Asks for the prompt to be sent and gives the keyboard back. The draft stays until the prompt was taken.
    fn send(&mut self, how: How, desk: &mut Desk<'_, '_>) -> Then {
        let text = self.prompt();
        if text.trim().is_empty() {
            desk.tell(Meaning::Unknown, "there is nothing to send yet".to_owned());
            return Then::Stay;
        }
        let Some(key) = self.to.one().cloned() else {
            // Insisting on many at once is more than one key can mean.
            self.over = Some(Over::Sure { wait: how == How::WhenReady, scroll: Scroll::default() });
            return Then::Stay;
        };
        let name = desk.terminal(&key).map_or("it", |terminal| terminal.state.terminal.id.as_str());
        match how {
            How::WhenReady => {
                desk.tell(Meaning::Working, format!("queued for {name}: it goes when the agent is ready"));
                desk.memory.drafts.remove(&key);
                desk.ask(Request::Queue { key, text });
            }
            How::Now | How::Anyway => {
                desk.tell(Meaning::Working, sending(name));
                desk.ask(Request::Send { key, text, force: how == How::Anyway });
            }
        }
        Then::Close
    }

    /// Keeps what was written for the next time, at every change, so that it cannot be lost.
    fn keep_draft(&self, desk: &mut Desk<'_, '_>) {
        let text = self.prompt();
        match &self.to {
            Recipients::Several(_) => desk.memory.broadcast_draft = text,
            Recipients::One(key) if text.trim().is_empty() => drop(desk.memory.drafts.remove(key)),
            Recipients::One(key) => drop(desk.memory.drafts.insert(key.clone(), text)),
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

    fn take(&mut self, text: &str, desk: &mut Desk<'_, '_>) {
        let left_out = self.insert(text);
        if left_out > 0 {
            let characters = if left_out == 1 { "character" } else { "characters" };
            desk.tell(Meaning::Stalled, format!("left out of the paste: {left_out} control {characters}"));
        }
        self.keep_draft(desk);
    }

    fn older(&mut self) {
        if let Some(prompt) = self.recall.older(&self.prompt()).map(str::to_owned) {
            self.replace(&prompt);
        }
    }

    fn newer(&mut self) {
        if let Some(prompt) = self.recall.newer().map(str::to_owned) {
            self.replace(&prompt);
        }
    }

    /// Draws the prompt under a title that says where it goes and what that terminal does now.
    fn draw_prompt(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) {
        let parts = &canvas.theme.parts;
        let key = match &self.to {
            Recipients::One(key) => key,
            Recipients::Several(keys) => {
                let title = format!("prompt to {} terminals", keys.len());
                let area = pane::titled(canvas, buffer, area, &[(title.as_str(), parts.title)]);
                return self.draw_text(canvas, buffer, area);
            }
        };
        let Some(terminal) = super::find(view, key) else {
            let gone = canvas.theme.style(Meaning::Gone);
            let area = pane::titled(canvas, buffer, area, &[("prompt", parts.title), ("the terminal is gone", gone)]);
            return self.draw_text(canvas, buffer, area);
        };
        let state = &terminal.state;
        let agent = table::agent(terminal);
        let state_style = canvas.theme.style(Meaning::of(state));
        let target = format!("prompt to {}", state.terminal.id);
        let title = [(target.as_str(), parts.title), (agent.as_str(), parts.quiet), (turn_word(state), state_style)];
        let mut area = pane::titled(canvas, buffer, area, &title);
        if let Some(obstacle) = obstacle(view, key)
            && area.height > 1
        {
            let last = Rect { y: area.bottom() - 1, height: 1, ..area };
            let wait = canvas.keymap.key_for(Context::Composer, Action::SendWhenReady).filter(|_| obstacle.may_pass);
            let mut pen = Pen::new(buffer, last, 0);
            pen.skip(1).text(obstacle.why, state_style);
            if let Some(wait) = wait {
                pen.text("   ", parts.quiet).text(&wait, parts.key).text(" sends when it is ready", parts.quiet);
            }
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

    fn perform_here(&mut self, action: Action, desk: &mut Desk<'_, '_>) -> Then {
        match action {
            Action::Send => return self.send(How::Now, desk),
            Action::SendAnyway => return self.send(How::Anyway, desk),
            Action::SendWhenReady => return self.send(How::WhenReady, desk),
            Action::Close => return Then::Close,
            Action::Newline => self.text.insert_newline(),
            Action::OlderPrompt => self.older(),
            Action::NewerPrompt => self.newer(),
            Action::Recall => self.choose(Choosing::prompts(&self.recall), "no prompt has been sent yet", desk),
            Action::Template => {
                let templates = Choosing::templates(&desk.options.templates);
                self.choose(templates, "the configuration has no [[template]]", desk);
            }
            Action::Edit => desk.ask(Request::Edit { text: self.prompt() }),
            _ => return Then::Pass,
        }
        self.keep_draft(desk);
        Then::Stay
    }

    fn choose(&mut self, choosing: Option<Choosing>, nothing: &str, desk: &mut Desk<'_, '_>) {
        match choosing {
            Some(choosing) => self.over = Some(Over::Choosing(choosing)),
            None => desk.tell(Meaning::Unknown, nothing.to_owned()),
        }
    }

    /// Does what an action says of what lies over the prompt; `None` when nothing does.
    fn perform_over(&mut self, action: Action, desk: &mut Desk<'_, '_>) -> Option<Then> {
        let mut over = self.over.take()?;
        let knows = match (&mut over, action) {
            (_, Action::Close) => return Some(Then::Stay),
            (Over::Choosing(choosing), Action::Choose) => {
                match choosing.chosen(self.to.one().and_then(|key| desk.terminal(key))) {
                    Some(Ok(text)) => self.take(&text, desk),
                    Some(Err(why)) => desk.tell(Meaning::Unknown, why.to_owned()),
                    None => {}
                }
                return Some(Then::Stay);
            }
            (Over::Sure { wait, .. }, Action::Confirm) => {
                let outcomes = broadcast::send(self.to.keys(), &self.prompt(), *wait, desk);
                return Some(Then::Become(Box::new(outcomes)));
            }
            (Over::Choosing(choosing), _) => choosing.menu.perform(action),
            (Over::Sure { scroll, .. }, _) => matches!(scroll.perform(action), Then::Stay),
        };
        self.over = Some(over);
        Some(if knows { Then::Stay } else { Then::Pass })
    }
}

/// When a prompt is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Now,
    Anyway,
    WhenReady,
}

impl Overlay for Composer {
    fn context(&self) -> Context {
        match self.over {
            None => Context::Composer,
            Some(Over::Choosing(_)) => Context::Menu,
            Some(Over::Sure { .. }) => Context::Confirm,
        }
    }

    fn place(&self) -> Place {
        Place::Panes
    }

    fn terminal(&self) -> Option<&TerminalKey> {
        self.to.one()
    }

    fn hints(&self, _view: &View<'_>) -> Vec<Hint> {
        match self.over {
            Some(Over::Choosing(_)) => {
                vec![(Action::Choose, "take it"), (Action::Down, "down"), (Action::Close, "close")]
            }
            Some(Over::Sure { .. }) => vec![(Action::Confirm, "send it"), (Action::Close, "do not send")],
            None => vec![
                (Action::Send, "send"),
                (Action::Newline, "new line"),
                (Action::SendWhenReady, "when ready"),
                (Action::SendAnyway, "send anyway"),
                (Action::Recall, "earlier prompts"),
                (Action::Template, "template"),
                (Action::Edit, "editor"),
                (Action::Close, "close, keep the draft"),
            ],
        }
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) -> Vec<(Rect, Action)> {
        let (write, look) = layout::writing(area);
        match &self.to {
            Recipients::One(key) => preview::draw(canvas, buffer, look, super::find(view, key), None),
            Recipients::Several(keys) => broadcast::draw_preview(canvas, buffer, look, keys, view),
        }
        self.draw_prompt(canvas, buffer, write, view);
        match &mut self.over {
            None => {}
            Some(Over::Choosing(choosing)) => choosing.menu.draw(canvas, buffer, area),
            Some(Over::Sure { wait, scroll }) => {
                broadcast::draw_question(canvas, buffer, area, self.to.keys(), *wait, scroll, view);
            }
        }
        Vec::new()
    }

    fn perform(&mut self, action: Action, desk: &mut Desk<'_, '_>) -> Then {
        match self.perform_over(action, desk) {
            Some(then) => then,
            None => self.perform_here(action, desk),
        }
    }

    fn key(&mut self, key: KeyEvent, desk: &mut Desk<'_, '_>) -> Then {
        match &mut self.over {
            Some(Over::Choosing(choosing)) => choosing.menu.key(key),
            Some(Over::Sure { .. }) => {}
            None => {
                let before = self.text.cursor();
                self.text.input(key);
                let at_edge = self.text.cursor() == before && key.modifiers == KeyModifiers::NONE;
                match key.code {
                    KeyCode::Up if at_edge => self.older(),
                    KeyCode::Down if at_edge => self.newer(),
                    _ => {}
                }
                self.keep_draft(desk);
            }
        }
        Then::Stay
    }

    fn paste(&mut self, text: &str, desk: &mut Desk<'_, '_>) -> Then {
        match &mut self.over {
            Some(Over::Choosing(choosing)) => choosing.menu.paste(text),
            Some(Over::Sure { .. }) => {}
            None => self.take(text, desk),
        }
        Then::Stay
    }

    fn click(&mut self, at: Position, desk: &mut Desk<'_, '_>) -> Then {
        let is_entry = match &mut self.over {
            Some(Over::Choosing(choosing)) => choosing.menu.click(at),
            _ => false,
        };
        if is_entry { self.perform(Action::Choose, desk) } else { Then::Stay }
    }

    fn wheel(&mut self, direction: isize, _at: Position, _desk: &mut Desk<'_, '_>) -> Then {
        let action = if direction > 0 { Action::ScrollDown } else { Action::ScrollUp };
        match &mut self.over {
            Some(Over::Choosing(choosing)) => drop(choosing.menu.perform(action)),
            Some(Over::Sure { scroll, .. }) => drop(scroll.perform(action)),
            None => {}
        }
        Then::Stay
    }

    fn update(&mut self, desk: &mut Desk<'_, '_>) -> Then {
        if !std::mem::replace(&mut self.asked, true) {
            desk.ask(Request::Prompts { key: self.to.one().cloned() });
        }
        Then::Stay
    }

    /// What was taken is no draft any more, even if the composer was opened on it again.
    fn hear(&mut self, news: News<'_>, desk: &mut Desk<'_, '_>) {
        match news {
            News::Sent { key, text, sent: Sent::Accepted } if self.to.one() == Some(key) && self.prompt() == text => {
                self.replace("");
            }
            News::Prompts { own, all } => self.recall.learn(own, all),
            News::Edited { text } => {
                self.replace("");
                self.take(text, desk);
            }
            _ => {}
        }
    }
}

fn text_area(text: &str) -> TextArea<'static> {
    let mut area = TextArea::new(text.split('\n').map(str::to_owned).collect());
    area.set_wrap_mode(WrapMode::WordOrGlyph);
    area.set_cursor_line_style(Style::default());
    area.set_placeholder_text("what should it do?");
    area.move_cursor(CursorMove::Bottom);
    area.move_cursor(CursorMove::End);
    area
}

/// What is told while a prompt is on its way.
pub fn sending(name: &str) -> String {
    format!("sending to {name} …")
}
