//! The line in which the operator answers what a task asks: nothing goes there before Enter, and what goes is shown before.

use ratatui::crossterm::event::KeyEvent;
use ratatui::prelude::{Buffer, Rect};

use super::pace::RECORDED;
use super::question::Pause;
use super::{
    Action, Canvas, Context, Flow, Hint, HitMap, Item, LineInput, Overlay, OverlayContext, OverlayEvent, OverlayKind,
    OverlayPlace, Topic, blank, field, find_live_task, frame, line, preview, span, text,
};
use crate::fleet::{TerminalKey, View};
use crate::operation::{Act, Key, KeyError, Privacy, Recipient};
use crate::status::Status;
use crate::task::Task;
use crate::time::Timestamp;

/// Rows that what is asked takes at most, and those below it.
const ASKED: usize = 3;
const BELOW: u16 = 2;
/// Rows of its border.
const FRAME: usize = 2;
/// What asks for keys of a menu, which no line has.
const OF_MENU: &str = "select an option";
/// Words in what asks for something that nobody else may see: anywhere, and where a text is asked for.
const SECRET: &str = "pass";
/// See [`SECRET`].
const SECRET_TEXT: [&str; 6] = ["pin", "secret", "token", "code", "otp", "key"];

/// The line for the question of one task.
#[derive(Debug)]
pub struct TaskAnswer {
    key: TerminalKey,
    /// What the task is called.
    name: String,
    /// What it asks.
    prompt: String,
    line: LineInput,
    /// What is asked came up just now, and Enter was meant for something else.
    pause: Pause,
    /// Whether the last frame had room for all that is asked; `None` before it is on the screen.
    is_enough: Option<bool>,
    stage: LineStage,
}

/// What became of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineStage {
    Typing,
    Sending,
    /// It was sent; the task may still show its question.
    Sent(Timestamp),
}

impl TaskAnswer {
    /// The line for what a task asks; `None` where no line answers it.
    pub fn to(task: &Task) -> Option<Self> {
        let prompt = task.prompt().filter(|prompt| !prompt.to_lowercase().contains(OF_MENU))?.to_owned();
        let (key, name) = (task.key.clone(), task.id.clone());
        let (line, pause) = (LineInput::default(), Pause::default());
        Some(Self { key, name, prompt, line, pause, is_enough: None, stage: LineStage::Typing })
    }

    /// Whether the input must be hidden.
    fn is_secret(&self) -> bool {
        let asked = self.prompt.to_lowercase();
        let mut words = asked.split(|c: char| !c.is_alphanumeric());
        asked.contains(SECRET) || (asked.ends_with(':') && words.any(|word| SECRET_TEXT.contains(&word)))
    }

    /// What goes there, in words.
    fn sends(&self) -> String {
        match (self.line.text(), self.is_secret()) {
            ("", _) => "enter alone".to_owned(),
            (typed, true) => format!("{}, then enter", text::counted(typed.chars().count(), "character")),
            (typed, false) => format!("{typed}, then enter"),
        }
    }

    /// Why Enter sends nothing.
    fn held(&self, task: &Task, now: Timestamp) -> Option<String> {
        let why = match task.prompt() {
            None => format!("{} asks nothing now", self.name),
            Some(_) if self.is_enough == Some(false) => "there is no room to show what it asks".to_owned(),
            Some(_) if self.is_enough.is_none() || self.pause.holds(now) => "what it asks came up just now".to_owned(),
            Some(_) => return None,
        };
        Some(format!("nothing was sent: {why}"))
    }

    fn send(&mut self, cx: &mut OverlayContext<'_, '_>) {
        let now = cx.view.now;
        if self.stage != LineStage::Typing {
            return;
        }
        let Some(task) = find_live_task(cx.view, &self.key) else { return };
        if let Some(why) = self.held(task, now) {
            return cx.say(&why);
        }
        let keys = self.line.text().chars().map(String::from).chain(["Enter".to_owned()]).map(|key| key.parse());
        match keys.collect::<Result<Vec<Key>, KeyError>>() {
            Ok(keys) => {
                // What programs ask for is not known, so nothing that is typed is kept.
                cx.perform(Recipient::of_task(task), Act::Keys { keys, dialog: None, privacy: Privacy::Secret });
                self.stage = LineStage::Sending;
            }
            Err(unknown) => cx.say(&format!("nothing was sent: {unknown}")),
        }
    }
}

impl Overlay for TaskAnswer {
    fn kind(&self) -> OverlayKind<'_> {
        OverlayKind { terminal: Some(&self.key), ..OverlayKind::at(Context::Answer, OverlayPlace::Body) }
    }

    fn hints(&self, _view: &View<'_>) -> Vec<Hint> {
        vec![(Action::Accept, "send"), (Action::Close, "close without answering"), (Action::Help, "help")]
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) -> HitMap {
        let parts = &canvas.theme.parts;
        let title = format!("answer to {}", self.name);
        self.is_enough = Some(false);
        let item = Item::find(view, &self.key);
        let cells = usize::from(area.width.saturating_sub(4));
        let asked = text::wrapped(&self.prompt, cells, ASKED);
        let rows = u16::try_from(asked.len()).unwrap_or(u16::MAX).saturating_add(BELOW);
        let above = u16::try_from(item.map_or(0, preview::height) + FRAME).unwrap_or(u16::MAX);
        let height = above.saturating_add(rows);
        let Some(inner) = frame::boxed(canvas, buffer, area, (area.width, height), &title) else {
            return HitMap::default();
        };
        let is_whole = text::wrapped(&self.prompt, cells, usize::MAX).len() == asked.len();
        self.is_enough = Some(is_whole && rows <= inner.height);
        if !canvas.covered {
            self.pause.is_shown(canvas.now);
        }
        let above = Rect { height: inner.height.saturating_sub(rows), ..inner };
        preview::draw(canvas, buffer, above, item, 0);
        let below = Rect { y: above.bottom(), height: inner.height - above.height, ..inner };
        line::draw_all(buffer, below, asked.iter().map(|line| span(line, canvas.theme.style(Status::Question))));
        let last = below.height.saturating_sub(1);
        let hidden = self.is_secret().then(|| LineInput::new(&"*".repeat(self.line.text().chars().count())));
        let answer = hidden.as_ref().unwrap_or(&self.line).behind(canvas, below, span("answer: ", parts.key));
        line::draw(buffer, line::row(below, last.saturating_sub(1)), answer);
        let raw = canvas.keymap.key_for(Context::Fleet, Action::Raw).unwrap_or_default();
        let close = canvas.keymap.key_for(Context::Answer, Action::Close).unwrap_or_default();
        let sends = match self.stage {
            LineStage::Typing => format!("sends: {}", self.sends()),
            LineStage::Sending | LineStage::Sent(_) => format!("sending {} …", self.sends()),
        };
        let other = span(format!("single keys: {close}, then {raw}"), parts.quiet);
        let room = usize::from(below.width).saturating_sub(other.width() + 3);
        line::draw(buffer, line::row(below, last), vec![field(sends, room, parts.text), blank(3), other]);
        HitMap::at(frame::around(inner))
    }

    fn obey(&mut self, action: Action, cx: &mut OverlayContext<'_, '_>) -> Flow {
        match action {
            Action::Accept => self.send(cx),
            Action::Close => return Flow::Close,
            Action::Help | Action::Suspend => return Flow::Pass,
            _ => {}
        }
        Flow::Stay
    }

    fn key(&mut self, key: KeyEvent, _cx: &mut OverlayContext<'_, '_>) -> Flow {
        if self.stage == LineStage::Typing {
            self.line.key(key);
        }
        Flow::Stay
    }

    fn paste(&mut self, text: &str, _cx: &mut OverlayContext<'_, '_>) -> Flow {
        if self.stage == LineStage::Typing {
            self.line.paste(text);
        }
        Flow::Stay
    }

    fn on_event(&mut self, event: OverlayEvent<'_>, cx: &mut OverlayContext<'_, '_>) {
        let OverlayEvent::Ended { operation, outcome } = event else { return };
        if matches!(operation.act, Act::Keys { .. }) && operation.to.key == self.key && self.stage == LineStage::Sending
        {
            self.stage = if outcome.is_accepted() { LineStage::Sent(cx.view.now) } else { LineStage::Typing };
        }
    }

    fn update(&mut self, cx: &mut OverlayContext<'_, '_>) -> Flow {
        let now = cx.view.now;
        let Some(task) = find_live_task(cx.view, &self.key) else {
            cx.tell(Status::Gone, format!("{} has ended", self.name));
            return Flow::Close;
        };
        if let LineStage::Sent(at) = self.stage {
            // It is still shown until everybody knows of the answer.
            if task.prompt() == Some(&self.prompt) && (at..at + RECORDED).contains(&now) {
                return Flow::Stay;
            }
            let sent = format!("{} was answered: {}", self.name, self.sends());
            cx.tell_about(Topic::Keys(self.key.clone()), Status::Finished, sent);
            return Flow::Close;
        }
        // What was typed was meant for the question before.
        if let Some(prompt) = task.prompt().filter(|prompt| *prompt != self.prompt && self.stage == LineStage::Typing) {
            self.prompt = prompt.to_owned();
            self.line = LineInput::default();
            self.pause.begin();
            cx.say("it asks something else now; nothing was sent");
        }
        Flow::Stay
    }
}
