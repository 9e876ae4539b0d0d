//! The prompt that is being written, for one terminal or for several.

mod broadcast;
mod choosing;
mod drawing;
mod outcomes;
mod recall;
mod recipients;
mod sure;
mod writing;

use crate::status::Status;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::{Position, Rect};
use ratatui_textarea::TextArea;

use super::Request;
use super::action::Action;
use super::canvas::Canvas;
use super::footer::Hint;
use super::keymap::Context;
use super::overlay::{Flow, HitMap, OperationNews, Overlay, OverlayContext, OverlayMemory, OverlayPlace};
use super::toast::Topic;
use crate::fleet::{TerminalKey, View};
use crate::operation::{Act, Operation, Recipient, When};
pub use broadcast::BroadcastDraft;
use choosing::Choosing;
use recall::PromptRecall;
use recipients::Recipients;
use sure::Sure;

/// A prompt on its way to be sent.
#[derive(Debug)]
pub struct Composer {
    to: Recipients,
    text: TextArea<'static>,
    recall: PromptRecall,
    /// Whether the prompts that were sent before were asked for.
    asked: bool,
    /// Whether it began with a text that was left from before, and whether all of that has been in view since.
    is_kept: bool,
    was_whole: bool,
    /// What lies over it and has the keyboard.
    over: Option<Over>,
}

/// What a composer is asked in between.
#[derive(Debug)]
enum Over {
    /// Which earlier prompt or template to take.
    Choosing(Box<Choosing>),
    /// Whether to send what is shown in full to those who are listed.
    Sure(Box<Sure>),
}

impl Composer {
    /// A composer for a terminal, with the draft that was left for it.
    pub fn new(key: TerminalKey, memory: &OverlayMemory) -> Self {
        let is_on_its_way = |draft: &&String| memory.sending.get(&key) == Some(draft);
        let draft = memory.drafts.get(&key).filter(|draft| !is_on_its_way(draft)).map_or("", String::as_str);
        Self::with(Recipients::One(key), draft)
    }

    /// A composer for several terminals, with the draft that was left for several.
    pub fn for_several(keys: Vec<TerminalKey>, memory: &OverlayMemory) -> Self {
        Self::with(Recipients::Several(keys), memory.broadcast.text())
    }

    fn with(to: Recipients, draft: &str) -> Self {
        let (text, recall) = (writing::text_area(draft), PromptRecall::default());
        Self { to, text, recall, asked: false, is_kept: !draft.is_empty(), was_whole: false, over: None }
    }

    /// The prompt as it would be sent.
    fn prompt(&self) -> String {
        self.text.lines().join("\n")
    }

    /// Sends the prompt, or asks first whether to, where several would get it or nobody has seen all of it.
    fn send(&mut self, when: When, desk: &mut OverlayContext<'_, '_>) -> Flow {
        let text = self.prompt();
        if text.trim().is_empty() {
            desk.say("there is nothing to send yet");
            return Flow::Stay;
        }
        // Insisting on many at once is more than one key can mean.
        if self.to.one().is_none() || (self.is_kept && !self.was_whole) {
            self.over = Some(Over::Sure(Box::new(Sure::new(when, self.to.keys(), desk.view))));
            return Flow::Stay;
        }
        self.send_now(when, text, desk)
    }

    /// Asks for the prompt to be sent to one and gives the keyboard back. The draft stays until the prompt was taken.
    fn send_now(&self, when: When, text: String, desk: &mut OverlayContext<'_, '_>) -> Flow {
        let Some(key) = self.to.one().cloned() else { return Flow::Stay };
        let Some(terminal) = desk.terminal(&key) else {
            let told = "the terminal is gone; nothing was sent".to_owned();
            desk.tell_about(Topic::Prompt(key), Status::Gone, told);
            return Flow::Stay;
        };
        let to = Recipient::of(terminal);
        let told = match when {
            When::Ready => format!("queued for {} until the agent is ready", to.name),
            When::Now | When::Anyway => format!("sending to {} …", to.name),
        };
        desk.tell_about(Topic::Prompt(key.clone()), Status::Working, told);
        match when {
            When::Ready => drop(desk.memory.drafts.remove(&key)),
            When::Now | When::Anyway => drop(desk.memory.sending.insert(key, text.clone())),
        }
        desk.perform(to, Act::Prompt { text, when });
        Flow::Close
    }

    fn perform_here(&mut self, action: Action, desk: &mut OverlayContext<'_, '_>) -> Flow {
        match action {
            Action::Send => return self.send(When::Now, desk),
            Action::SendAnyway => return self.send(When::Anyway, desk),
            Action::SendWhenReady => return self.send(When::Ready, desk),
            Action::Close => return Flow::Close,
            Action::Newline => self.text.insert_newline(),
            Action::ClearLine => drop(self.text.delete_line_by_head()),
            Action::Undo => drop(self.text.undo()),
            Action::OlderPrompt => self.older(),
            Action::NewerPrompt => self.newer(),
            Action::Recall => self.choose(Choosing::prompts(&self.recall), "no prompt has been sent yet", desk),
            Action::Template => {
                let templates = Choosing::templates(&desk.options.templates);
                self.choose(templates, "the configuration has no [[template]]", desk);
            }
            Action::Edit => desk.ask(Request::Edit { text: self.prompt() }),
            _ => return Flow::Pass,
        }
        self.keep_draft(desk);
        Flow::Stay
    }

    fn choose(&mut self, choosing: Option<Choosing>, nothing: &str, desk: &mut OverlayContext<'_, '_>) {
        match choosing {
            Some(choosing) => self.over = Some(Over::Choosing(Box::new(choosing))),
            None => desk.say(nothing),
        }
    }

    /// Does what an action says of what lies over the prompt; `None` when nothing does.
    fn perform_over(&mut self, action: Action, desk: &mut OverlayContext<'_, '_>) -> Option<Flow> {
        let mut over = self.over.take()?;
        if let Over::Sure(sure) = &mut over {
            sure.follow(self.to.keys(), desk.view);
        }
        let knows = match (&mut over, action) {
            (_, Action::Close) => return Some(Flow::Stay),
            (Over::Choosing(choosing), Action::Choose) => {
                match choosing.chosen(self.to.one().and_then(|key| desk.terminal(key))) {
                    Some(Ok(text)) => self.take(&text, desk),
                    Some(Err(why)) => desk.say(why),
                    None => {}
                }
                return Some(Flow::Stay);
            }
            (Over::Sure(sure), Action::Confirm) if sure.may_send(self.to.keys(), &self.prompt(), desk.view) => {
                if self.to.one().is_some() {
                    return Some(self.send_now(sure.when, self.prompt(), desk));
                }
                let outcomes = broadcast::send(self.to.keys(), &self.prompt(), sure.when == When::Ready, desk);
                return Some(Flow::Become(Box::new(outcomes)));
            }
            (Over::Sure(_), Action::Confirm) => true,
            (Over::Choosing(choosing), _) => choosing.menu.perform(action),
            (Over::Sure(sure), _) => matches!(sure.question.perform(action), Flow::Stay),
        };
        self.over = Some(over);
        Some(if knows { Flow::Stay } else { Flow::Pass })
    }
}

impl Overlay for Composer {
    fn context(&self) -> Context {
        match self.over {
            None => Context::Composer,
            Some(Over::Choosing(_)) => Context::Menu,
            Some(Over::Sure(_)) => Context::Confirm,
        }
    }

    fn place(&self) -> OverlayPlace {
        OverlayPlace::Panes
    }

    fn is_popup(&self) -> bool {
        self.over.is_some()
    }

    fn terminal(&self) -> Option<&TerminalKey> {
        self.to.one()
    }

    fn hints(&self, view: &View<'_>) -> Vec<Hint> {
        match &self.over {
            Some(Over::Choosing(_)) => {
                vec![(Action::Choose, "take it"), (Action::Down, "down"), (Action::Close, "close")]
            }
            Some(Over::Sure(sure)) => sure.hints(self.to.keys(), &self.prompt(), view),
            None => {
                let mut hints = vec![(Action::Send, "send"), (Action::Newline, "new line")];
                hints.push((Action::SendWhenReady, "when ready"));
                // Insisting on many at once is more than one key can mean.
                hints.extend(self.to.one().map(|_| (Action::SendAnyway, "send anyway")));
                hints.extend([(Action::Recall, "earlier"), (Action::Template, "template")]);
                hints.extend([(Action::Edit, "editor"), (Action::Close, "close, keep the draft")]);
                hints
            }
        }
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) -> HitMap {
        let mut laid = self.draw_all(canvas, buffer, area, view);
        let prompt = self.prompt();
        match &mut self.over {
            None => {}
            Some(Over::Choosing(choosing)) => laid.place = choosing.menu.draw(canvas, buffer, area),
            Some(Over::Sure(sure)) => laid = sure.draw(canvas, buffer, self.to.keys(), &prompt, view),
        }
        laid
    }

    fn perform(&mut self, action: Action, desk: &mut OverlayContext<'_, '_>) -> Flow {
        match self.perform_over(action, desk) {
            Some(then) => then,
            None => self.perform_here(action, desk),
        }
    }

    fn key(&mut self, key: KeyEvent, desk: &mut OverlayContext<'_, '_>) -> Flow {
        match &mut self.over {
            Some(Over::Choosing(choosing)) => choosing.menu.key(key),
            Some(Over::Sure(_)) => {}
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
        Flow::Stay
    }

    fn paste(&mut self, text: &str, desk: &mut OverlayContext<'_, '_>) -> Flow {
        match &mut self.over {
            Some(Over::Choosing(choosing)) => choosing.menu.paste(text),
            Some(Over::Sure(_)) => {}
            None => self.take(text, desk),
        }
        Flow::Stay
    }

    fn click(&mut self, at: Position, desk: &mut OverlayContext<'_, '_>) -> Flow {
        let is_entry = match &mut self.over {
            Some(Over::Choosing(choosing)) => choosing.menu.click(at),
            _ => false,
        };
        if is_entry { self.perform(Action::Choose, desk) } else { Flow::Stay }
    }

    fn wheel(&mut self, direction: isize, _at: Position, _desk: &mut OverlayContext<'_, '_>) -> Flow {
        let action = if direction > 0 { Action::ScrollDown } else { Action::ScrollUp };
        match &mut self.over {
            Some(Over::Choosing(choosing)) => drop(choosing.menu.perform(action)),
            Some(Over::Sure(sure)) => drop(sure.question.perform(action)),
            None => {}
        }
        Flow::Stay
    }

    fn update(&mut self, desk: &mut OverlayContext<'_, '_>) -> Flow {
        if !std::mem::replace(&mut self.asked, true) {
            desk.ask(Request::Prompts { key: self.to.one().cloned() });
        }
        if let Some(Over::Sure(sure)) = &mut self.over {
            sure.follow(self.to.keys(), desk.view);
        }
        Flow::Stay
    }

    /// What was taken is no draft any more, even if the composer was opened on it again.
    fn hear(&mut self, news: OperationNews<'_>, desk: &mut OverlayContext<'_, '_>) {
        match news {
            OperationNews::Ended {
                operation: Operation { to: Recipient { key, .. }, act: Act::Prompt { text, .. }, .. },
                outcome,
            } if outcome.is_accepted() && self.prompt() == *text => match &self.to {
                Recipients::One(to) if to == key => self.replace(""),
                Recipients::Several(_) if desk.memory.broadcast.text().is_empty() => self.replace(""),
                _ => {}
            },
            OperationNews::Drafted { key } if self.to.one() == Some(key) => self.show_draft(desk.memory),
            OperationNews::Prompts { own, all } => self.recall.learn(own, all),
            OperationNews::Edited { text } => {
                self.replace("");
                self.take(text, desk);
            }
            _ => {}
        }
    }
}
