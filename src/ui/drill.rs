//! One terminal: its time line, everything that happened to it, and for each moment the screen, the reasons, what was
//! said, and the facts.

mod asking;
mod drawing;
mod facts;
mod head;
mod list;
mod screen;
mod steps;
mod strip;
mod subject;
mod transcript;
mod why;

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::{Position, Rect};

use super::action::Action;
use super::canvas::Canvas;
use super::footer::Hint;
use super::keymap::Context;
use super::overlay::{Flow, HitMap, OperationNews, Overlay, OverlayContext, OverlayPlace, Waiting};
use super::viewport::Viewport;
use crate::fleet::{TerminalKey, View};
use crate::status::Status;
use crate::time::Timestamp;
use asking::Asking;
use steps::{StepId, TimelineEntries};
use strip::Strip;
use subject::Subject;
use transcript::TranscriptView;

/// Rows that one turn of the wheel, or one scroll beside the list, moves.
const FEW: isize = 3;

/// What the pane beside the list shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Screen,
    Why,
    Transcript,
    Facts,
}

impl Side {
    const ALL: [Side; 4] = [Side::Screen, Side::Why, Side::Transcript, Side::Facts];

    const fn word(self) -> &'static str {
        match self {
            Side::Screen => "screen",
            Side::Why => "why",
            Side::Transcript => "transcript",
            Side::Facts => "facts",
        }
    }

    fn step(self, by: usize) -> Self {
        Self::ALL[(self as usize + by) % Self::ALL.len()]
    }
}

/// Which of the two panes the keys move in; where only one fits, it is the one that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Focus {
    List,
    Side,
}

/// The view of one terminal.
#[derive(Debug)]
pub struct Drill {
    /// What it is about, as it was seen last.
    shown: Subject,
    /// Whether it is in the fleet now, and until when it was.
    here: bool,
    until: Timestamp,
    steps: TimelineEntries,
    strip: Strip,
    /// `None` is now.
    selected: Option<StepId>,
    /// The first entry of the list that is shown.
    first: usize,
    side: Side,
    focus: Focus,
    /// Rows that the screen is scrolled up from its end.
    lifted: usize,
    why: Viewport,
    facts: Viewport,
    transcript: TranscriptView,
    asking: Asking,
    /// The prompts that wait for it.
    waiting: Vec<Waiting>,
    drawn: Drawn,
}

/// What the last frame showed where.
#[derive(Clone, Debug, Default)]
struct Drawn {
    list: list::ListHits,
    list_place: Rect,
    side_place: Rect,
    tabs: Vec<(Rect, Side)>,
    /// How far the screen can be lifted.
    lift_most: usize,
    /// Whether the two panes take turns.
    one_pane: bool,
}

impl Drill {
    /// The view of an agent's terminal or of a task; `None` when neither has that identity.
    pub fn of(key: &TerminalKey, view: &View<'_>) -> Option<Self> {
        let agent = super::find(view, key).map(Subject::agent);
        let task = || view.tasks.iter().find(|task| task.key == *key).map(|task| Subject::task(task));
        let mut steps = TimelineEntries::default();
        see(&mut steps, key, view);
        Some(Self::with(agent.or_else(task)?, steps, view.now))
    }

    fn with(shown: Subject, steps: TimelineEntries, now: Timestamp) -> Self {
        Self {
            strip: Strip::of(&shown),
            shown,
            here: true,
            until: now,
            steps,
            selected: None,
            first: 0,
            side: Side::Screen,
            focus: Focus::List,
            lifted: 0,
            why: Viewport::from_start(),
            facts: Viewport::from_start(),
            transcript: TranscriptView::new(),
            asking: Asking::default(),
            waiting: Vec::new(),
            drawn: Drawn::default(),
        }
    }

    /// The entry of the list that is selected; 0 is now.
    fn index(&self) -> usize {
        self.selected.and_then(|id| self.steps.position(id)).map_or(0, |index| index + 1)
    }

    fn select(&mut self, index: usize) {
        let index = index.min(self.steps.all().len());
        self.selected = index.checked_sub(1).and_then(|index| self.steps.id(index));
        self.lifted = 0;
        self.why = Viewport::from_start();
    }

    /// Does something that may put steps in front of others; what is in view stays there.
    fn keep_place(&mut self, change: impl FnOnce(&mut TimelineEntries) -> bool) -> bool {
        let before = self.steps.id(self.first.saturating_sub(1));
        let changed = change(&mut self.steps);
        if self.first > 0 {
            self.first = before.and_then(|id| self.steps.position(id)).map_or(0, |index| index + 1);
        }
        changed
    }

    fn show(&mut self, side: Side) {
        (self.side, self.focus) = (side, if self.drawn.one_pane { Focus::Side } else { self.focus });
    }

    /// The next view, or the one before: of those beside the list, and of all where only one fits.
    fn turn(&mut self, forward: bool) {
        let by = if forward { 1 } else { Side::ALL.len() - 1 };
        let (edge, other) = if forward { (Side::Facts, Side::Screen) } else { (Side::Screen, Side::Facts) };
        match (self.drawn.one_pane, self.focus) {
            (false, _) => self.side = self.side.step(by),
            (true, Focus::List) => (self.focus, self.side) = (Focus::Side, other),
            (true, Focus::Side) if self.side == edge => self.focus = Focus::List,
            (true, Focus::Side) => self.side = self.side.step(by),
        }
    }

    /// What [`Drill::turn`] leads to.
    fn next_view(&self) -> &'static str {
        match (self.drawn.one_pane, self.focus) {
            (true, Focus::List) => Side::Screen.word(),
            (true, Focus::Side) if self.side == Side::Facts => "list",
            _ => self.side.step(1).word(),
        }
    }

    /// The text that the keys move in, when they do not move through time.
    fn text(&mut self) -> Option<&mut Viewport> {
        if self.focus == Focus::List { None } else { self.side_text() }
    }

    fn side_text(&mut self) -> Option<&mut Viewport> {
        match self.side {
            Side::Screen => None,
            Side::Why => Some(&mut self.why),
            Side::Transcript => Some(&mut self.transcript.reader.view),
            Side::Facts => Some(&mut self.facts),
        }
    }

    /// Moves through time, or in the text that has the focus.
    fn step(&mut self, by: isize) {
        match self.text() {
            Some(text) => text.step(by),
            None => self.select(self.index().saturating_add_signed(by)),
        }
    }

    fn page(&mut self, pages: isize) {
        let rows = isize::try_from(self.drawn.list.page.max(2) - 1).unwrap_or(1);
        match self.text() {
            Some(text) => text.turn(pages),
            None => self.step(rows * pages),
        }
    }

    fn go_to(&mut self, end: bool) {
        match self.text() {
            Some(text) => text.go_to(end),
            None => self.select(if end { usize::MAX } else { 0 }),
        }
    }

    /// Scrolls what stands beside the list.
    fn scroll(&mut self, lines: isize) {
        match self.side_text() {
            Some(text) => text.step(lines),
            None => {
                let most = self.drawn.lift_most;
                self.lifted = self.lifted.min(most).saturating_add_signed(-lines).min(most);
            }
        }
    }
}

impl Drill {
    /// Searches in the transcript, and shows it where something is looked at.
    fn search(&mut self, action: Action, desk: &mut OverlayContext<'_, '_>) -> Flow {
        let is_step = matches!(action, Action::NextMatch | Action::PreviousMatch);
        if action == Action::Search || (is_step && self.transcript.reader.has_search()) {
            self.show(Side::Transcript);
        }
        self.transcript.reader.perform(action, desk)
    }
}

impl Overlay for Drill {
    fn context(&self) -> Context {
        if self.transcript.reader.is_typing() { Context::Search } else { Context::Drill }
    }

    fn place(&self) -> OverlayPlace {
        OverlayPlace::Screen
    }

    fn terminal(&self) -> Option<&TerminalKey> {
        Some(self.shown.key())
    }

    fn hints(&self, _view: &View<'_>) -> Vec<Hint> {
        if let Some(hints) = self.transcript.reader.typing_hints() {
            return hints;
        }
        let mut hints: Vec<Hint> = vec![(Action::Down, if self.focus == Focus::List { "earlier" } else { "down" })];
        hints.push((Action::SwitchPane, self.next_view()));
        hints.push((Action::Close, "back"));
        if self.here && self.shown.waits() {
            hints.push((Action::Open, "answer"));
        }
        if !self.waiting.is_empty() {
            hints.push((Action::Unqueue, "take back"));
        }
        if self.transcript.reader.has_search() {
            hints.push((Action::NextMatch, "next found"));
        }
        hints.push((Action::Search, "search"));
        hints.push((Action::Zoom, "zoom"));
        if self.here {
            hints.push((Action::Jump, "jump"));
            if matches!(self.shown, Subject::Agent(_)) && !self.shown.waits() {
                hints.push((Action::Prompt, "prompt"));
            }
        }
        hints.push((Action::Help, "help"));
        hints
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) -> HitMap {
        self.draw_all(canvas, buffer, area, view);
        let below = |place: Rect| Rect { y: place.y + 1, height: place.height.saturating_sub(1), ..place };
        HitMap::at(if self.focus == Focus::List { below(self.drawn.list_place) } else { self.drawn.side_place })
    }

    fn perform(&mut self, action: Action, desk: &mut OverlayContext<'_, '_>) -> Flow {
        match action {
            Action::Search | Action::NextMatch | Action::PreviousMatch | Action::Confirm => {
                return self.search(action, desk);
            }
            Action::Close if self.transcript.reader.is_typing() => return self.search(action, desk),
            Action::Down => self.step(1),
            Action::Up => self.step(-1),
            Action::PageDown => self.page(1),
            Action::PageUp => self.page(-1),
            Action::First => self.go_to(false),
            Action::Last => self.go_to(true),
            Action::ScrollDown => self.scroll(FEW),
            Action::ScrollUp => self.scroll(-FEW),
            Action::SwitchPane => self.turn(true),
            Action::SwitchPaneBack => self.turn(false),
            Action::FocusLeft => self.focus = Focus::List,
            Action::FocusRight => self.focus = Focus::Side,
            Action::Explain => self.show(Side::Why),
            Action::Zoom => self.strip.zoom(&self.steps, self.until),
            Action::Prompt | Action::Open if self.here => return self.shown.act(action, desk),
            Action::Prompt | Action::Open => {
                desk.tell(Status::Gone, format!("{} is gone", self.shown.name()));
            }
            _ => return Flow::Pass,
        }
        Flow::Stay
    }

    fn key(&mut self, key: KeyEvent, _desk: &mut OverlayContext<'_, '_>) -> Flow {
        self.transcript.reader.type_in(|line| line.key(key));
        Flow::Stay
    }

    fn paste(&mut self, text: &str, _desk: &mut OverlayContext<'_, '_>) -> Flow {
        self.transcript.reader.type_in(|line| line.paste(text))
    }

    fn click(&mut self, at: Position, _desk: &mut OverlayContext<'_, '_>) -> Flow {
        if let Some((_, side)) = self.drawn.tabs.iter().find(|(place, _)| place.contains(at)).cloned() {
            (self.side, self.focus) = (side, Focus::Side);
        } else if let Some((_, index)) = self.drawn.list.rows.iter().find(|(place, _)| place.contains(at)).cloned() {
            self.focus = Focus::List;
            self.select(index);
        } else if self.drawn.side_place.contains(at) {
            self.focus = Focus::Side;
        }
        Flow::Stay
    }

    fn wheel(&mut self, direction: isize, at: Position, _desk: &mut OverlayContext<'_, '_>) -> Flow {
        if self.drawn.list_place.contains(at) {
            self.select(self.index().saturating_add_signed(direction));
        } else {
            self.scroll(direction * FEW);
        }
        Flow::Stay
    }

    fn update(&mut self, desk: &mut OverlayContext<'_, '_>) -> Flow {
        let subject = self.shown.now(desk.view);
        self.here = subject.is_some();
        if let Some(subject) = subject {
            self.shown = subject;
            self.until = desk.view.now;
        }
        let key = self.shown.key().clone();
        self.waiting = desk.memory.queued.get(&key).cloned().unwrap_or_default();
        if self.keep_place(|steps| see(steps, &key, desk.view)) {
            self.asking.changed(desk.view.now);
        }
        self.ask(desk);
        Flow::Stay
    }

    fn hear(&mut self, news: OperationNews<'_>, desk: &mut OverlayContext<'_, '_>) {
        match news {
            OperationNews::Told { key, told } if key == self.shown.key() => self.told(told, desk.view.now),
            OperationNews::Reasons { key, text } if key == self.shown.key() => self.asking.explained(text),
            _ => {}
        }
    }
}

/// Takes in what this process saw of a terminal. Returns whether there is something new.
fn see(steps: &mut TimelineEntries, key: &TerminalKey, view: &View<'_>) -> bool {
    if let Some(terminal) = super::find(view, key) {
        return steps.see(terminal.transitions.iter());
    }
    if let Some(task) = view.tasks.iter().find(|task| task.key == *key) {
        steps.see_task(task);
    }
    steps.see(view.task_events.iter().filter(|event| event.key == *key))
}

#[cfg(test)]
mod tests;
