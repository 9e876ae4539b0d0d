//! What keys and mouse do: events and actions to changes of the dashboard and to requests.

use ratatui::crossterm::event::{Event, KeyEvent, KeyEventKind, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

use super::action::Action;
use super::composer::Composer;
use super::footer::Hint;
use super::keymap::Context;
use super::meaning::{Meaning, waits};
use super::{Below, Mode, Request, Sent, Ui, find};
use crate::fleet::{Terminal, TerminalKey, View};
use crate::moment::{Moment, Span};
use crate::state::Attention;

/// How long the cursor rests on a terminal until it counts as seen (SPEC §2).
const SEEN_AFTER: Span = Span::from_secs(1);
/// How close two clicks are that count as one.
const DOUBLE_CLICK: Span = Span::from_millis(400);
/// Transitions that one turn of the wheel moves.
const WHEEL: usize = 3;

impl Ui {
    /// Takes in what the operator's terminal reports.
    pub fn handle(&mut self, event: &Event, view: &View<'_>) -> Vec<Request> {
        self.cursor.follow(view);
        if matches!(event, Event::Key(_) | Event::Mouse(_) | Event::Paste(_)) {
            self.touched = Some(view.now);
            self.cursor.hold(view.now);
        }
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.key(*key, view),
            Event::Mouse(mouse) => self.mouse(*mouse, view),
            Event::Paste(text) => {
                self.paste(text, view.now);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// Follows the fleet and the time: the cursor stays on its terminal, messages go, what was looked at is seen.
    pub fn update(&mut self, view: &View<'_>) -> Vec<Request> {
        self.cursor.follow(view);
        self.toasts.expire(view.now);
        if let Mode::Dialog { key, .. } = &self.mode
            && find(view, key).is_none_or(|terminal| !waits(&terminal.state))
        {
            let name = find(view, key).map_or("the terminal", |terminal| terminal.state.terminal.id.as_str());
            self.toasts.push(Meaning::Ready, format!("the dialog of {name} is closed"), view.now);
            self.mode = Mode::Fleet;
        }
        let seen = self.cursor.terminal(view).filter(|_| self.seen_at(view).is_some_and(|at| at <= view.now));
        self.told_seen = seen.map(|terminal| (terminal.key.clone(), finished_at(terminal))).or(self.told_seen.take());
        seen.map(|terminal| Request::Seen { key: terminal.key.clone() }).into_iter().collect()
    }

    /// Tells the operator what became of a prompt. A draft goes only when its text has arrived.
    pub fn sent(&mut self, key: &TerminalKey, name: &str, text: &str, sent: Sent, now: Moment) {
        let may_insist = matches!(sent, Sent::Refused { may_insist: true, .. });
        let insist = || self.options.keymap.key_for(Context::Composer, Action::SendAnyway);
        let insist = insist().filter(|_| may_insist).map(|key| format!("{key} in the prompt sends anyway"));
        let (meaning, told) = match (Self::trouble(name, &sent), sent) {
            (Some(trouble), Sent::Refused { hint, .. }) => {
                let hint = insist.or(hint).map(|hint| format!(" ({hint})")).unwrap_or_default();
                (Meaning::Failed, format!("{trouble}{hint}"))
            }
            (Some(trouble), _) => (Meaning::Failed, trouble),
            (None, _) => {
                self.forget_draft(key, text);
                (Meaning::Finished, format!("{name} took the prompt"))
            }
        };
        self.toasts.retire(&sending(name));
        self.notify(meaning, told, now);
    }

    /// Shows why a terminal is said to be what it is; `None` when nothing has read its screen.
    pub fn explained(&mut self, key: &TerminalKey, text: Option<String>, now: Moment) {
        match text {
            Some(text) => {
                let lines = text.lines().map(str::to_owned).collect();
                self.mode = Mode::Explanation { key: key.clone(), title: "why".to_owned(), lines, scroll: 0 };
            }
            None => self.notify(Meaning::Unknown, "no profile has read a screen of it".to_owned(), now),
        }
    }

    /// What went wrong with a prompt, in words; nothing when it was taken.
    pub fn trouble(name: &str, sent: &Sent) -> Option<String> {
        match sent {
            Sent::Accepted => None,
            Sent::NotTaken { why } => Some(format!("{name} did not take the prompt: {why}")),
            Sent::Refused { why, .. } => Some(format!("nothing was sent to {name}: {why}")),
        }
    }

    /// When the selected terminal will have been seen. Only what the operator was there for counts: a result that comes
    /// while nobody touches a key stays unseen, wherever the cursor happens to be.
    pub(super) fn seen_at(&self, view: &View<'_>) -> Option<Moment> {
        let terminal = self.cursor.terminal(view).filter(|terminal| terminal.state.attention == Attention::Finished)?;
        let finished = finished_at(terminal);
        self.touched.filter(|&touched| touched >= finished)?;
        let told = self.told_seen.as_ref().is_some_and(|(key, at)| *key == terminal.key && *at == finished);
        (!told).then(|| self.cursor.since().max(finished) + SEEN_AFTER)
    }

    /// What has the keyboard.
    pub(super) fn context(&self) -> Context {
        match (&self.help, &self.mode) {
            (Some(_), _) => Context::Help,
            (None, Mode::Fleet) => Context::Fleet,
            (None, Mode::Composer(_)) => Context::Composer,
            (None, Mode::Dialog { .. }) => Context::Dialog,
            (None, Mode::Explanation { .. }) => Context::Explanation,
        }
    }

    /// The keys worth showing now.
    pub(super) fn hints(&self, view: &View<'_>) -> Vec<Hint> {
        let mut hints: Vec<Hint> = Vec::new();
        match self.context() {
            Context::Fleet => {
                if let Some(terminal) = self.cursor.terminal(view) {
                    if waits(&terminal.state) {
                        hints.push((Action::Open, "dialog"));
                    } else {
                        hints.push((Action::Prompt, "prompt"));
                    }
                    hints.push((Action::Jump, "jump"));
                    hints.push((Action::Explain, "why"));
                }
                if view.terminals.iter().any(|terminal| terminal.state.attention != Attention::None) {
                    hints.push((Action::NextWaiting, "next for you"));
                }
                if self.drawn.one_pane && !view.terminals.is_empty() {
                    let other = if self.below == Below::Preview { "transitions" } else { "screen" };
                    hints.push((Action::SwitchPane, other));
                }
                hints.extend([(Action::Quit, "quit"), (Action::Help, "help")]);
            }
            Context::Composer => hints.extend([
                (Action::Send, "send"),
                (Action::Newline, "new line"),
                (Action::SendAnyway, "send anyway"),
                (Action::Close, "close, keep the draft"),
            ]),
            Context::Dialog => hints.extend([(Action::Jump, "go there and answer"), (Action::Close, "close")]),
            Context::Explanation => {
                hints.extend([(Action::ScrollDown, "down"), (Action::Jump, "jump"), (Action::Close, "close")])
            }
            Context::Help => hints.extend([(Action::ScrollDown, "down"), (Action::Close, "close")]),
        }
        hints
    }

    fn key(&mut self, key: KeyEvent, view: &View<'_>) -> Vec<Request> {
        if let Some(action) = self.options.keymap.action(self.context(), key) {
            return self.perform(action, view);
        }
        if let (None, Mode::Composer(composer)) = (self.help, &mut self.mode) {
            composer.input(key);
        }
        Vec::new()
    }

    /// Does what an action says, in whatever has the keyboard.
    pub fn perform(&mut self, action: Action, view: &View<'_>) -> Vec<Request> {
        let page = isize::try_from(self.drawn.page.max(1)).unwrap_or(isize::MAX);
        match action {
            Action::Up => self.cursor.step(-1, view),
            Action::Down => self.cursor.step(1, view),
            Action::PageUp => self.cursor.step(-page, view),
            Action::PageDown => self.cursor.step(page, view),
            Action::First => self.cursor.step(isize::MIN, view),
            Action::Last => self.cursor.step(isize::MAX, view),
            Action::NextWaiting => self.step_to_waiting(true, view),
            Action::PreviousWaiting => self.step_to_waiting(false, view),
            Action::Open => self.open(view),
            Action::Prompt => self.compose(view),
            Action::Explain => return self.target().map(|key| Request::Explain { key }).into_iter().collect(),
            Action::Jump => return self.target().map(|key| Request::Jump { key }).into_iter().collect(),
            Action::SwitchPane => {
                self.below = match self.below {
                    Below::Preview => Below::Transitions,
                    Below::Transitions => Below::Preview,
                }
            }
            Action::Help => self.help = Some(0),
            Action::Quit => {
                self.keep_draft();
                return vec![Request::Quit];
            }
            Action::Suspend => return vec![Request::Suspend],
            Action::Redraw => return vec![Request::Redraw],
            Action::Send => return self.send(false, view),
            Action::SendAnyway => return self.send(true, view),
            Action::Newline => {
                if let Mode::Composer(composer) = &mut self.mode {
                    composer.newline();
                }
            }
            Action::Close => self.close(),
            Action::ScrollUp => self.scroll(-1),
            Action::ScrollDown => self.scroll(1),
            Action::Dismiss => drop(self.toasts.clear()),
        }
        Vec::new()
    }

    /// The terminal that an action is about.
    fn target(&self) -> Option<TerminalKey> {
        match &self.mode {
            Mode::Composer(composer) => Some(composer.key().clone()),
            Mode::Dialog { key, .. } | Mode::Explanation { key, .. } => Some(key.clone()),
            Mode::Fleet => self.cursor.key().cloned(),
        }
    }

    fn step_to_waiting(&mut self, forward: bool, view: &View<'_>) {
        if !self.cursor.step_to_waiting(forward, view) {
            self.notify(Meaning::Ready, "nothing needs you".to_owned(), view.now);
        } else if matches!(self.mode, Mode::Dialog { .. }) {
            self.mode = Mode::Fleet;
            self.open(view);
        }
    }

    /// Opens what the selected terminal offers: its dialog, which is never answered by opening it, or the composer.
    fn open(&mut self, view: &View<'_>) {
        let Some(terminal) = self.cursor.terminal(view) else { return };
        if waits(&terminal.state) {
            self.mode = Mode::Dialog { key: terminal.key.clone(), scroll: 0 };
        } else {
            self.compose(view);
        }
    }

    fn compose(&mut self, view: &View<'_>) {
        let Some(terminal) = self.cursor.terminal(view) else { return };
        let draft = self.drafts.get(&terminal.key).map_or("", String::as_str);
        self.mode = Mode::Composer(Box::new(Composer::new(terminal.key.clone(), draft)));
    }

    /// Asks for the prompt to be sent and gives the keyboard back. The draft stays until the prompt was taken.
    fn send(&mut self, force: bool, view: &View<'_>) -> Vec<Request> {
        let Mode::Composer(composer) = &self.mode else { return Vec::new() };
        let (key, text) = (composer.key().clone(), composer.prompt());
        if text.trim().is_empty() {
            self.notify(Meaning::Unknown, "there is nothing to send yet".to_owned(), view.now);
            return Vec::new();
        }
        let name = find(view, &key).map_or("it", |terminal| terminal.state.terminal.id.as_str());
        self.notify(Meaning::Working, sending(name), view.now);
        self.close();
        vec![Request::Send { key, text, force }]
    }

    fn close(&mut self) {
        if self.help.take().is_none() {
            self.keep_draft();
            self.mode = Mode::Fleet;
        }
    }

    fn keep_draft(&mut self) {
        let Mode::Composer(composer) = &self.mode else { return };
        let (key, text) = (composer.key().clone(), composer.prompt());
        if text.trim().is_empty() {
            self.drafts.remove(&key);
        } else {
            self.drafts.insert(key, text);
        }
    }

    fn forget_draft(&mut self, key: &TerminalKey, text: &str) {
        if self.drafts.get(key).is_some_and(|draft| draft == text) {
            self.drafts.remove(key);
        }
        if let Mode::Composer(composer) = &mut self.mode
            && composer.key() == key
            && composer.prompt() == text
        {
            **composer = Composer::new(key.clone(), "");
        }
    }

    fn scroll(&mut self, lines: isize) {
        let most = self.drawn.scroll_most;
        let moved = |scroll: usize| scroll.min(most).saturating_add_signed(lines).min(most);
        match (&mut self.help, &mut self.mode) {
            (Some(scroll), _) | (None, Mode::Dialog { scroll, .. } | Mode::Explanation { scroll, .. }) => {
                *scroll = moved(*scroll);
            }
            _ => {}
        }
    }

    fn paste(&mut self, text: &str, now: Moment) {
        match (self.help, &mut self.mode) {
            (None, Mode::Composer(composer)) => {
                let left_out = composer.paste(text);
                if left_out > 0 {
                    let characters = if left_out == 1 { "character" } else { "characters" };
                    let told = format!("left out of the paste: {left_out} control {characters}");
                    self.notify(Meaning::Stalled, told, now);
                }
            }
            _ => {
                let key = self.options.keymap.key_for(Context::Fleet, Action::Prompt).unwrap_or_default();
                self.notify(Meaning::Unknown, format!("to paste a prompt, open one first ({key})"), now);
            }
        }
    }

    fn mouse(&mut self, mouse: MouseEvent, view: &View<'_>) -> Vec<Request> {
        let at = Position::new(mouse.column, mouse.row);
        match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => self.click(at, view),
            MouseEventKind::ScrollDown => self.wheel(1, at, view),
            MouseEventKind::ScrollUp => self.wheel(-1, at, view),
            _ => Vec::new(),
        }
    }

    fn click(&mut self, at: Position, view: &View<'_>) -> Vec<Request> {
        if let Some((_, action)) = self.drawn.hints.iter().find(|(place, _)| place.contains(at)) {
            return self.perform(*action, view);
        }
        // What is below a popup or a prompt is not clicked through it.
        if self.context() != Context::Fleet {
            return Vec::new();
        }
        let Some((_, key)) = self.drawn.rows.iter().find(|(place, _)| place.contains(at)).cloned() else {
            return Vec::new();
        };
        let rows = self.cursor.rows(view);
        if let Some(index) = rows.iter().position(|row| row.key == key) {
            self.cursor.select(index, &rows, view.now);
        }
        let again = self.last_click.take().is_some_and(|(last, at)| last == key && view.now.since(at) <= DOUBLE_CLICK);
        if again {
            self.open(view);
        } else {
            self.last_click = Some((key, view.now));
        }
        Vec::new()
    }

    fn wheel(&mut self, direction: isize, at: Position, view: &View<'_>) -> Vec<Request> {
        match self.context() {
            Context::Help | Context::Dialog | Context::Explanation => self.scroll(direction),
            Context::Fleet if self.drawn.transitions.contains(at) => {
                let step = direction * isize::try_from(WHEEL).unwrap_or(1);
                let most = view.recent.len().saturating_sub(1);
                self.skipped = self.skipped.saturating_add_signed(step).min(most);
            }
            Context::Fleet => self.cursor.step(direction, view),
            Context::Composer => {}
        }
        Vec::new()
    }
}

/// What is told while a prompt is on its way.
fn sending(name: &str) -> String {
    format!("sending to {name} …")
}

fn finished_at(terminal: &Terminal) -> Moment {
    terminal.state.last_turn.at.unwrap_or_default()
}
