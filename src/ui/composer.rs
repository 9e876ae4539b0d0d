//! The prompt that is being written, for one terminal or for several.

mod broadcast;
mod recall;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::prelude::{Buffer, Line, Position, Rect, Style};
use ratatui::widgets::Widget;
use ratatui_textarea::{CursorMove, TextArea, WrapMode};

use super::memory::OverlayMemory;
use super::overlay::OverlayReply;
use super::picker::Picker;
use super::{
    Action, Canvas, Context, Flow, Hint, HitMap, Item, Overlay, OverlayContext, OverlayEvent, OverlayKind,
    OverlayPlace, Request, Topic, blank, find, frame, layout, line, preview, span, text, times,
};
use crate::fleet::{Terminal, TerminalKey, View};
use crate::operation::{Act, Operation, Recipient, When};
use crate::record::Draft;
use crate::status::Status;
use crate::time::Timestamp;
use broadcast::{Gets, Recipients, SendQuestion, SendWay, gets, hindrance, reaches_nobody};
use recall::PromptRecall;

pub use broadcast::{Fate, Outcomes};
pub use recall::templates;

/// What is said where there is nothing to start from.
pub const NO_TEMPLATE: &str = "the configuration has no [[template]]";
/// The letters from which on a text takes the place of a draft for good.
const LEAST_TEXT: usize = 4;
/// The rows that a text keeps for itself before keys are shown beside it.
const ROWS: u16 = 3;

/// A prompt on its way to be sent.
#[derive(Debug)]
pub struct Composer {
    to: Recipients,
    text: TextArea<'static>,
    recall: PromptRecall,
    /// Whether the prompts that were sent before were asked for.
    asked: bool,
    /// Whether it began with a text that was left from before, when that was written, and whether all of it has been in
    /// view since.
    is_kept: bool,
    kept_at: Option<Timestamp>,
    was_whole: bool,
    /// The draft that what was typed here took the place of, and when it was written.
    replaced: Option<(String, Option<Timestamp>)>,
    /// Whether that text is selected as a whole: what is typed takes its place, and any other key keeps it.
    is_selected: bool,
    /// When to send it, once the question over it is confirmed.
    asking: Option<When>,
    /// Why no prompt can wait, where none can.
    cannot_wait: Option<&'static str>,
}

impl Composer {
    /// A composer for a terminal, with the draft that was left for it.
    pub fn new(key: TerminalKey, memory: &OverlayMemory) -> Self {
        Self::with(Recipients::One(key), memory)
    }

    /// Why a terminal takes no prompt.
    pub fn refused(terminal: &Terminal) -> Option<String> {
        let name = &terminal.state.terminal.id;
        terminal.state.has_ended().then(|| format!("{name} takes no prompt: its agent has ended"))
    }

    /// A composer for several terminals, with the draft that was left for several.
    pub fn for_several(keys: Vec<TerminalKey>, memory: &OverlayMemory) -> Self {
        Self::with(Recipients::Several(keys), memory)
    }

    fn with(to: Recipients, memory: &OverlayMemory) -> Self {
        let draft = memory.draft(to.one());
        let mut text = text_area(draft.map_or("", |draft| &draft.text));
        if draft.is_some() {
            text.select_all();
        }
        let (is_kept, kept_at) = (draft.is_some(), draft.map(|draft| draft.at));
        Self {
            to,
            text,
            recall: PromptRecall::default(),
            asked: false,
            is_kept,
            kept_at,
            was_whole: false,
            replaced: None,
            is_selected: is_kept,
            asking: None,
            cannot_wait: memory.cannot_wait,
        }
    }

    /// Before something is put into the text: it takes the place of a draft that nobody has touched.
    fn begin_text(&mut self) {
        if self.is_selected {
            let draft = self.prompt();
            self.recall.set_aside(draft.clone());
            (self.replaced, self.is_kept, self.is_selected) = (Some((draft, self.kept_at)), false, false);
        }
    }

    /// Keeps the draft, to be edited.
    fn keep_text(&mut self) {
        if std::mem::take(&mut self.is_selected) {
            self.text.cancel_selection();
        }
    }

    /// A few letters, or none, take no draft's place for good: they were perhaps meant for the table.
    fn close(&mut self, cx: &mut OverlayContext<'_, '_>) -> Flow {
        let typed = self.prompt().trim().to_owned();
        if typed.chars().count() < LEAST_TEXT
            && let Some((draft, at)) = self.replaced.take()
        {
            let key = self.to.one().cloned();
            cx.memory.write_draft(Draft { key, text: draft, at: at.unwrap_or(cx.view.now) });
            let what = if typed.is_empty() { String::new() } else { format!("; {typed:?} is too short to replace it") };
            let topic = self.to.one().cloned().map_or(Topic::Drafts, Topic::Prompt);
            cx.tell_about(topic, Status::Ready, format!("the draft is kept{what}"));
        }
        Flow::Close
    }

    const fn way(&self, when: When) -> SendWay {
        SendWay { when, cannot_wait: self.cannot_wait }
    }

    /// The prompt as it would be sent.
    fn prompt(&self) -> String {
        self.text.lines().join("\n")
    }

    /// Sends the prompt, or has it wait where it may be taken later; asks first, where several would get it or nobody
    /// has seen all of it. Where no terminal would ever take it, or it cannot wait, it stays in the box.
    fn send(&mut self, when: When, cx: &mut OverlayContext<'_, '_>) -> Flow {
        let text = self.prompt();
        if text.trim().is_empty() {
            return cx.refuse("there is nothing to send yet");
        }
        let to = self.to.one().filter(|key| cx.terminal(key).is_some());
        let way = self.way(when);
        if let Some(gets @ (Gets::Nothing(_) | Gets::CannotWait(..))) = to.map(|key| gets(cx.view, key, way)) {
            return cx.refuse(&format!("nothing was sent: {}", gets.why().unwrap_or_default()));
        }
        if let (None, Some(why)) = (self.to.one(), reaches_nobody(self.to.keys(), way, cx.view)) {
            return cx.refuse(&why);
        }
        // Insisting on many at once is more than one key can mean, and one letter was perhaps meant for a dialog.
        let why = match self.to.one() {
            None => None,
            Some(_) if self.is_kept && !self.was_whole => Some("Not all of this draft was on the screen."),
            Some(_) if text.trim().chars().count() == 1 => {
                Some("One character alone may have been meant for a dialog.")
            }
            Some(_) => return self.send_now(when, text, cx),
        };
        self.asking = Some(when);
        Flow::Open(Box::new(SendQuestion::new(self.to.clone(), text, way, why, cx.view)))
    }

    /// Asks for the prompt to be sent to one and gives the keyboard back. The draft stays until the prompt was taken.
    fn send_now(&self, when: When, text: String, cx: &mut OverlayContext<'_, '_>) -> Flow {
        let Some(key) = self.to.one().cloned() else { return Flow::Stay };
        let Some(terminal) = cx.terminal(&key) else {
            let message = "the terminal is gone; nothing was sent".to_owned();
            cx.tell_about(Topic::Prompt(key), Status::Gone, message);
            return Flow::Stay;
        };
        let to = Recipient::of(terminal);
        let when = match gets(cx.view, &key, self.way(when)) {
            Gets::WhenReady(_) => When::Ready,
            Gets::Now | Gets::Nothing(_) | Gets::CannotWait(..) => when,
        };
        let unqueue = cx.options.keymap.key_for(Context::Fleet, Action::Unqueue);
        let message = match when {
            When::Ready => {
                let take_back = unqueue.map(|key| format!("; {key} takes it back")).unwrap_or_default();
                format!("queued for {}{take_back}", to.name)
            }
            When::Now | When::Anyway => format!("sending to {} …", to.name),
        };
        cx.tell_about(Topic::Prompt(key.clone()), Status::Working, message);
        match when {
            When::Ready => drop(cx.memory.drafts.remove(&Some(key))),
            When::Now | When::Anyway => drop(cx.memory.sending.insert(key, text.clone())),
        }
        cx.perform(to, Act::Prompt { text, when });
        Flow::Close
    }

    /// Opens a list of texts to take one from, or says that there is none.
    fn choose(picker: Option<Picker>, nothing: &str, cx: &mut OverlayContext<'_, '_>) -> Flow {
        match picker {
            Some(picker) => Flow::Open(Box::new(picker)),
            None => cx.refuse(nothing),
        }
    }

    fn replace(&mut self, text: &str) {
        self.text = text_area(text);
    }

    /// Keeps what was written for the next time, at every change, so that it cannot be lost.
    fn keep_draft(&mut self, cx: &mut OverlayContext<'_, '_>) {
        let text = self.prompt();
        // The writer has seen what they have just written.
        self.is_kept &= !text.is_empty();
        cx.memory.write_draft(Draft { key: self.to.one().cloned(), text, at: cx.view.now });
    }

    /// Takes in a pasted text, with the line ends of any system. Returns how many control characters, which no prompt
    /// may contain, were left out.
    fn insert(&mut self, pasted: &str) -> usize {
        let lines = pasted.replace("\r\n", "\n").replace('\r', "\n");
        let fit: String = lines.chars().filter(|&c| c == '\n' || c == '\t' || !c.is_control()).collect();
        self.text.insert_str(&fit);
        lines.chars().count() - fit.chars().count()
    }

    fn take(&mut self, text: &str, cx: &mut OverlayContext<'_, '_>) {
        self.begin_text();
        let left_out = self.insert(text);
        if left_out > 0 {
            let left_out = text::counted(left_out, "control character");
            cx.tell(Status::Stalled, format!("removed from the paste: {left_out}"));
        }
        self.keep_draft(cx);
    }

    /// Shows the prompt before.
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

    /// Shows a draft that came back; beside what is being written, it is the next older prompt.
    fn meet_draft(&mut self, draft: &str, now: Timestamp) {
        if self.prompt().trim().is_empty() {
            (self.is_kept, self.kept_at, self.was_whole, self.is_selected) = (true, Some(now), false, false);
            self.replace(draft);
        } else if self.prompt() != draft {
            self.recall.set_aside(draft.to_owned());
        }
    }

    /// The places of the prompt and of what it goes to. Where one screen has no room, several recipients still have:
    /// nobody should send to terminals that are not named.
    fn places(&self, area: Rect) -> (Rect, Rect) {
        let (write, shown) = layout::writing(area);
        if !shown.is_empty() || self.to.one().is_some() {
            return (write, shown);
        }
        let wanted = u16::try_from(self.to.keys().len() + 1).unwrap_or(u16::MAX);
        let above = if area.height > ROWS { wanted.min(area.height / 2) } else { 0 };
        let write = Rect { y: area.y + above, height: area.height - above, ..area };
        (write, Rect { height: above, ..area })
    }

    /// Draws the title that says where the prompt goes and what that terminal does now. Returns what is below it.
    fn draw_title(&self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) -> Rect {
        let parts = &canvas.theme.parts;
        let key = match &self.to {
            Recipients::One(key) => key,
            Recipients::Several(keys) => {
                let title = format!("prompt to {}", text::counted(keys.len(), "terminal"));
                return frame::titled(canvas, buffer, area, vec![span(title, parts.title)]);
            }
        };
        let Some(terminal) = find(view, key) else {
            let gone = span("the terminal is gone", canvas.theme.style(Status::Gone));
            return frame::titled(canvas, buffer, area, vec![span("prompt", parts.title), gone]);
        };
        let state = &terminal.state;
        let status = Status::of(state);
        let mut title = vec![span(format!("prompt to {}", state.terminal.id), parts.title)];
        if self.is_kept {
            let kept = format!("draft from {}", written(self.kept_at, canvas));
            title.push(span(kept, canvas.theme.style(Status::Stalled)));
        }
        title.push(span(Item::from(terminal).agent(), parts.quiet));
        title.push(span(status.word(), canvas.theme.style(status)));
        frame::titled(canvas, buffer, area, title)
    }

    /// What becomes of that draft with the next key, and where another one is.
    fn draft_lines(&self, canvas: &Canvas<'_>) -> [Option<Line<'static>>; 2] {
        let parts = &canvas.theme.parts;
        let quiet = |text| span(text, parts.quiet);
        let edits = vec![quiet("what you type replaces the draft; "), span("→", parts.key), quiet(" edits it")];
        let back = vec![span("↑", parts.key), quiet(" brings the draft back")];
        [self.is_selected.then(|| edits.into()), self.recall.begins_with_draft().then(|| back.into())]
    }

    /// Why the prompt would not be sent now, and what becomes of it instead.
    fn hindrance_line(&self, canvas: &Canvas<'_>, key: &TerminalKey, view: &View<'_>) -> Option<Line<'static>> {
        let parts = &canvas.theme.parts;
        // Without a terminal the title says so already.
        let (terminal, hindrance) = find(view, key).zip(hindrance(view, key))?;
        let mut line = Line::from(span(hindrance.to_string(), canvas.theme.style(Status::of(&terminal.state))));
        let queue = canvas.keymap.key_for(Context::Composer, Action::Accept).filter(|_| hindrance.may_pass());
        match (queue, self.cannot_wait) {
            (Some(_), Some(cannot_wait)) => {
                line += span(format!("   {cannot_wait}"), canvas.theme.style(Status::Error));
            }
            (Some(queue), None) => {
                line.extend([
                    span(format!("   {queue}"), parts.key),
                    span(" queues it until it is ready", parts.quiet),
                ]);
            }
            (None, _) => {}
        }
        Some(line)
    }

    /// What the agent takes the text as, where that is no plain prompt.
    fn taken_line(&self, canvas: &Canvas<'_>, key: &TerminalKey, view: &View<'_>) -> Option<Line<'static>> {
        let taken = find(view, key)?.input.taken(&self.prompt())?;
        Some(span(format!("would be taken {taken}"), canvas.theme.style(Status::Approval)).into())
    }

    fn draw_text(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect) {
        let area = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
        if area.is_empty() {
            return;
        }
        self.text.set_style(canvas.theme.parts.text);
        self.text.set_cursor_style(canvas.theme.parts.cursor);
        self.text.set_selection_style(canvas.theme.parts.cursor);
        self.text.set_placeholder_style(canvas.theme.parts.quiet);
        self.text.render(area, buffer);
        // However its words are wrapped, a line takes no more than twice the rows that its cells fill.
        let cells = usize::from(area.width);
        let rows = |line: &String| match text::width(line) {
            width if width < cells => 1,
            width => 2 * width.div_ceil(cells),
        };
        let fits = self.text.lines().iter().map(rows).sum::<usize>() <= usize::from(area.height);
        self.was_whole |= !canvas.covered && fits && self.text.scroll_offset().0 == 0;
    }
}

impl Overlay for Composer {
    fn kind(&self) -> OverlayKind<'_> {
        OverlayKind { terminal: self.to.one(), ..OverlayKind::at(Context::Composer, OverlayPlace::Panes) }
    }

    fn hints(&self, view: &View<'_>) -> Vec<Hint> {
        let send = match self.to.one().map(|key| gets(view, key, self.way(When::Now))) {
            Some(Gets::Nothing(_) | Gets::CannotWait(..)) => None,
            Some(Gets::WhenReady(_)) => Some("queue"),
            _ => Some("send"),
        };
        let mut hints: Vec<Hint> = send.map(|send| (Action::Accept, send)).into_iter().collect();
        hints.push((Action::Newline, "new line"));
        // Insisting on many at once is more than one key can mean.
        let takes = |key: &&TerminalKey| gets(view, key, self.way(When::Anyway)) == Gets::Now;
        hints.extend(self.to.one().filter(takes).map(|_| (Action::Anyway, "send anyway")));
        hints.extend([(Action::Recall, "earlier"), (Action::Template, "template")]);
        hints.extend([(Action::Edit, "editor"), (Action::Close, "close, keep the draft")]);
        hints
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) -> HitMap {
        let (write, shown) = self.places(area);
        match &self.to {
            Recipients::One(key) => drop(preview::draw(canvas, buffer, shown, find(view, key), 0)),
            Recipients::Several(keys) => {
                let what = (self.prompt(), self.way(When::Now));
                broadcast::draw_preview(canvas, buffer, shown, keys, (&what.0, what.1), view);
            }
        }
        let mut inner = self.draw_title(canvas, buffer, write, view);
        let of_one =
            self.to.one().map(|key| [self.hindrance_line(canvas, key, view), self.taken_line(canvas, key, view)]);
        // From the last row upwards, as long as there is another one for the text.
        for line in of_one.into_iter().flatten().chain(self.draft_lines(canvas)).flatten() {
            if inner.height > 1 {
                inner.height -= 1;
                let last = Rect { y: inner.bottom(), height: 1, ..inner };
                line::draw(buffer, last, std::iter::once(blank(1)).chain(line).collect::<Line<'_>>());
            }
        }
        self.draw_text(canvas, buffer, inner);
        HitMap::at(write)
    }

    fn obey(&mut self, action: Action, cx: &mut OverlayContext<'_, '_>) -> Flow {
        if !matches!(action, Action::Recall | Action::Template | Action::Help) {
            self.keep_text();
        }
        match action {
            Action::Accept => return self.send(When::Now, cx),
            Action::Anyway => return self.send(When::Anyway, cx),
            Action::Close => return self.close(cx),
            Action::Newline => self.text.insert_newline(),
            Action::Recall => return Self::choose(self.recall.picker(), "no prompt has been sent yet", cx),
            Action::Template => {
                let templates = templates(&cx.options.templates, self.to.one()).map(Picker::over_panes);
                return Self::choose(templates, NO_TEMPLATE, cx);
            }
            Action::Edit => cx.ask(Request::OpenEditor(self.prompt())),
            _ => return Flow::Pass,
        }
        self.keep_draft(cx);
        Flow::Stay
    }

    fn key(&mut self, key: KeyEvent, cx: &mut OverlayContext<'_, '_>) -> Flow {
        let before = self.text.cursor();
        let is_typed = matches!(key.code, KeyCode::Char(_)) && (key.modifiers - KeyModifiers::SHIFT).is_empty();
        if is_typed {
            self.begin_text()
        } else {
            self.keep_text()
        }
        match (key.code, key.modifiers) {
            (KeyCode::Char('u'), KeyModifiers::CONTROL) => drop(self.text.delete_line_by_head()),
            (KeyCode::Char('z'), KeyModifiers::ALT) => drop(self.text.undo()),
            _ => drop(self.text.input(key)),
        }
        let at_edge = self.text.cursor() == before && key.modifiers == KeyModifiers::NONE;
        match key.code {
            KeyCode::Up if at_edge => self.older(),
            KeyCode::Down if at_edge => self.newer(),
            _ => {}
        }
        self.keep_draft(cx);
        Flow::Stay
    }

    fn paste(&mut self, text: &str, cx: &mut OverlayContext<'_, '_>) -> Flow {
        self.take(text, cx);
        Flow::Stay
    }

    fn take_reply(&mut self, reply: OverlayReply, cx: &mut OverlayContext<'_, '_>) -> Flow {
        match (reply, self.asking.take()) {
            (OverlayReply::Text(text), _) => self.take(&text, cx),
            (OverlayReply::Yes, Some(when)) if self.to.one().is_some() => {
                return self.send_now(when, self.prompt(), cx);
            }
            (OverlayReply::Yes, Some(_)) => {
                let outcomes = broadcast::send(self.to.keys(), &self.prompt(), cx);
                return Flow::Become(Box::new(outcomes));
            }
            (OverlayReply::Yes, None) => {}
        }
        Flow::Stay
    }

    fn wheel(&mut self, _direction: isize, _at: Position, _cx: &mut OverlayContext<'_, '_>) -> Flow {
        Flow::Stay
    }

    fn update(&mut self, cx: &mut OverlayContext<'_, '_>) -> Flow {
        self.cannot_wait = cx.memory.cannot_wait;
        if !std::mem::replace(&mut self.asked, true) {
            cx.ask(Request::Prompts(self.to.one().cloned()));
        }
        Flow::Stay
    }

    /// An accepted prompt is no draft any more, even if the composer was opened on it again.
    fn on_event(&mut self, event: OverlayEvent<'_>, cx: &mut OverlayContext<'_, '_>) {
        match event {
            OverlayEvent::Ended {
                operation: Operation { to: Recipient { key, .. }, act: Act::Prompt { text, .. }, .. },
                outcome,
            } if outcome.is_accepted() && self.prompt() == *text => match &self.to {
                Recipients::One(to) if to == key => self.replace(""),
                Recipients::Several(_) if !cx.memory.drafts.contains_key(&None) => self.replace(""),
                _ => {}
            },
            OverlayEvent::Drafted { key, text } if self.to.one() == Some(key) => self.meet_draft(text, cx.view.now),
            OverlayEvent::Prompts { own, left, all } => self.recall.set_prompts(own, left, all),
            OverlayEvent::Edited { text } => {
                self.keep_text();
                self.replace("");
                self.take(text, cx);
            }
            _ => {}
        }
    }
}

/// When a draft was written, as far as that is known.
fn written(at: Option<Timestamp>, canvas: &Canvas<'_>) -> String {
    at.map_or_else(
        || "before".to_owned(),
        |at| match times::day(at, canvas.zone) == times::day(canvas.now, canvas.zone) {
            true => times::clock(at, canvas.zone),
            false => times::day_and_clock(at, canvas.zone),
        },
    )
}

fn text_area(text: &str) -> TextArea<'static> {
    let mut area = TextArea::new(text.split('\n').map(str::to_owned).collect());
    area.set_wrap_mode(WrapMode::WordOrGlyph);
    area.set_cursor_line_style(Style::default());
    area.set_placeholder_text("what should it do?   (↑ earlier prompts)");
    area.move_cursor(CursorMove::Bottom);
    area.move_cursor(CursorMove::End);
    area
}
