//! One terminal: its time line, everything that happened to it, and for each moment the screen, the reasons, what was
//! said, and the facts; and what has changed in its files.

mod asking;
mod diff;
mod list;
mod state;
mod steps;
mod strip;
mod subject;
mod texts;

use ratatui::crossterm::event::KeyEvent;
use ratatui::prelude::{Buffer, Line, Position, Rect, StatefulWidget};

use super::composer::Composer;
use super::kit::reading::Wrapped;
use super::kit::scroll::rows_of;
use super::search::SearchableText;
use super::{
    Action, Canvas, Context, Copied, Flow, Hint, HitMap, Overlay, OverlayContext, OverlayEvent, OverlayKind,
    OverlayPlace, Request, Viewport, blank, frame, layout, line, preview, span, text, times,
};
use crate::fleet::{Terminal, TerminalKey, View};
use crate::record::question::Answer;
use crate::record::timeline::TimelineData;
use crate::status::Status;
use crate::time::Timestamp;
use diff::DiffView;
use state::{DrillPlaces, Focus, Side};
use state::{DrillRequests, Shot};
use steps::{TimelineEntries, TimelineEntry};
use subject::Subject;
use texts::TranscriptView;

/// Rows that one turn of the wheel, or one scroll beside the list, moves.
const FEW: isize = 3;

/// From this height on they stand one above the other where the frame is narrow.
const STACKED: u16 = 14;
/// Head and time line.
const ABOVE: u16 = 3;

pub use state::Drill;

impl Drill {
    /// The view of an agent's terminal or of a task; `None` when neither has that identity.
    pub fn of(key: &TerminalKey, view: &View<'_>) -> Option<Self> {
        let agent = super::find(view, key).map(Subject::agent);
        let task = || super::find_task(view, key).map(Subject::task);
        let mut steps = TimelineEntries::default();
        see(&mut steps, key, view);
        Some(Self::with(agent.or_else(task)?, steps, view.now))
    }

    /// The same view, with the last answer of the agent in all of its room.
    pub fn of_answer(key: &TerminalKey, view: &View<'_>) -> Option<Self> {
        let mut drill = Self::of(key, view)?;
        (drill.side, drill.focus, drill.is_alone) = (Side::Transcript, Focus::Side, true);
        drill.transcript.seeks_answer = true;
        Some(drill)
    }

    fn with(shown: Subject, steps: TimelineEntries, now: Timestamp) -> Self {
        Self {
            line: TimelineData::default(),
            shown,
            here: true,
            until: now,
            steps,
            selected: None,
            first: 0,
            side: Side::Screen,
            focus: Focus::List,
            is_alone: false,
            lifted: 0,
            why: Viewport::from_start(),
            facts: Viewport::from_start(),
            transcript: TranscriptView::new(),
            diff: DiffView::default(),
            asking: DrillRequests::default(),
            waiting: Vec::new(),
            drawn: DrillPlaces::default(),
        }
    }

    /// The entry of the list that is selected; 0 is now.
    fn index(&self) -> usize {
        self.selected.and_then(|id| self.steps.position(id)).map_or(0, |index| index + 1)
    }

    /// The step that is selected; `None` is now.
    fn step_selected(&self) -> Option<&TimelineEntry> {
        self.steps.get(self.index().checked_sub(1)?)
    }

    fn select(&mut self, index: usize) {
        let index = index.min(self.steps.listed().len());
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
    fn turn(&mut self) {
        match (self.drawn.one_pane, self.focus) {
            (false, _) => self.side = self.side.next(),
            (true, Focus::List) => (self.focus, self.side) = (Focus::Side, Side::Screen),
            (true, Focus::Side) if self.side == Side::Facts => self.focus = Focus::List,
            (true, Focus::Side) => self.side = self.side.next(),
        }
    }

    /// What [`Drill::turn`] leads to.
    fn next_view(&self) -> &'static str {
        match (self.drawn.one_pane, self.focus) {
            (true, Focus::List) => Side::Screen.title(),
            (true, Focus::Side) if self.side == Side::Facts => "list",
            _ => self.side.next().title(),
        }
    }

    /// The text that the keys move in, when they do not move through time.
    fn text(&mut self) -> Option<&mut Viewport> {
        if self.focus() == Focus::List { None } else { self.side_text() }
    }

    fn side_text(&mut self) -> Option<&mut Viewport> {
        match self.side {
            Side::Screen => None,
            Side::Why => Some(&mut self.why),
            Side::Transcript => Some(&mut self.transcript.reader.view),
            Side::Diff => Some(&mut self.diff.reader.view),
            Side::Facts => Some(&mut self.facts),
        }
    }

    /// Moves through time, or in the text that has the focus. Returns whether the action says so.
    fn step(&mut self, action: Action) -> bool {
        let rows = rows_of(action, self.drawn.page);
        match self.text() {
            Some(text) => text.obey(action),
            None => {
                rows.into_iter().for_each(|rows| self.select(self.index().saturating_add_signed(rows)));
                rows.is_some()
            }
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

    /// The text that is searched: the difference where that is shown, else the transcript.
    const fn searched(&self) -> &SearchableText {
        if matches!(self.side, Side::Diff) { &self.diff.reader } else { &self.transcript.reader }
    }

    const fn searched_mut(&mut self) -> &mut SearchableText {
        if matches!(self.side, Side::Diff) { &mut self.diff.reader } else { &mut self.transcript.reader }
    }

    /// Searches in the text, and shows the part with the hit.
    fn search(&mut self, action: Action) -> Flow {
        let is_step = matches!(action, Action::NextMatch | Action::PreviousMatch);
        if action == Action::Filter || (is_step && self.searched().has_search()) {
            if self.side == Side::Diff {
                self.show(Side::Diff);
            } else {
                self.show(Side::Transcript);
                self.transcript.unfold();
            }
        }
        if self.searched_mut().obey(action) { Flow::Stay } else { Flow::Pass }
    }

    fn draw_all(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) {
        frame::clear(buffer, area);
        self.drawn = DrillPlaces::default();
        subject::draw_head(canvas, buffer, area, &self.shown, self.here, self.until);
        let is_wide = area.width >= layout::SIDE_BY_SIDE;
        self.drawn.is_narrow = !is_wide;
        self.drawn.one_pane = !is_wide && area.height < ABOVE + STACKED;
        let above = if area.height >= ABOVE + 4 && !self.is_all_side() { ABOVE } else { 1 };
        if above == ABOVE {
            let place = Rect { y: area.y + 1, height: 2, ..area };
            self.draw_strip(canvas, buffer, place);
        }
        let body = Rect { y: area.y + above, height: area.height.saturating_sub(above), ..area };
        let (left, right) = match (self.drawn.one_pane, self.focus) {
            _ if self.is_all_side() => (Rect::ZERO, body),
            (true, Focus::List) => (body, Rect::ZERO),
            (true, Focus::Side) => (Rect::ZERO, body),
            (false, _) if is_wide => layout::side_by_side(body),
            (false, _) => {
                let above = body.height * 2 / 5;
                let below = Rect { y: body.y + above, height: body.height - above, ..body };
                (Rect { height: above, ..body }, below)
            }
        };
        if !left.is_empty() {
            self.draw_list(canvas, buffer, left);
        }
        if !right.is_empty() {
            self.draw_side(canvas, buffer, right, view);
        }
    }

    fn draw_list(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect) {
        let parts = &canvas.theme.parts;
        let title = if self.focus == Focus::List { parts.title } else { parts.quiet };
        let count = format!("{} of {}", self.index(), self.steps.listed().len());
        let title = vec![span("what happened", title), span(count, parts.quiet)];
        let inner = frame::titled(canvas, buffer, area, title);
        self.drawn.list_place = area;
        self.draw_entries(canvas, buffer, inner);
    }

    fn draw_side(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) {
        self.draw_tabs(canvas, buffer, area);
        let inner = Rect { y: area.y + 1, height: area.height - 1, ..area };
        self.drawn.side_place = inner;
        let quiet = canvas.theme.parts.quiet;
        let say = |buffer: &mut Buffer, text: &str| line::draw(buffer, inner, vec![blank(1), span(text, quiet)]);
        match self.side {
            Side::Screen => match self.shot(view) {
                Shot::Screen(shown) if shown.is_blank() => say(buffer, "the screen was blank"),
                Shot::Screen(shown) => {
                    self.drawn.lift_most = preview::draw_screen(canvas, buffer, inner, &shown, self.lifted);
                }
                Shot::None(why) => say(buffer, why),
            },
            Side::Why => {
                let of_task = self.shown.why_task(self.until).map(Some);
                let reasons = of_task.as_ref().or(self.asking.reasons.as_ref());
                let lines = match (self.step_selected(), reasons) {
                    (Some(step), _) => texts::of_step(canvas, step),
                    (None, Some(Some(text))) => texts::of_now(canvas, text),
                    (None, Some(None)) => return say(buffer, "no profile has read a screen of it"),
                    (None, None) => return say(buffer, "reading …"),
                };
                Wrapped { count: lines.len(), line: |index: usize| lines[index].clone() }.render(
                    inner,
                    buffer,
                    &mut self.why,
                );
            }
            Side::Transcript => self.transcript.draw(canvas, buffer, inner, self.selected),
            Side::Diff => self.diff.draw(canvas, buffer, inner, self.here),
            Side::Facts => {
                let lines = self.shown.facts(canvas, view);
                Wrapped { count: lines.len(), line: |index: usize| lines[index].clone() }.render(
                    inner,
                    buffer,
                    &mut self.facts,
                );
            }
        }
    }

    /// The views beside the list by name, the one that is shown standing out, and the time that it is of, or in its
    /// place what a search has found.
    fn draw_tabs(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect) {
        let parts = &canvas.theme.parts;
        let mut line = Line::from(span("─ ", parts.rule));
        for side in Side::ALL {
            let chosen = side == self.side;
            let style = match (chosen, self.focus()) {
                (true, Focus::Side) => parts.title.patch(parts.key),
                (true, Focus::List) => parts.title,
                (false, _) => parts.quiet,
            };
            // The brackets say it without a style.
            let word = if chosen { format!("[{}]", side.title()) } else { format!(" {} ", side.title()) };
            let [before, cells] =
                [line::width(&line), text::width(&word)].map(|cells| u16::try_from(cells).unwrap_or(0));
            let place = Rect { x: area.x + before, width: cells, height: 1, ..area };
            self.drawn.tabs.push((place.intersection(area), side));
            line += span(word, style);
        }
        let time = match (self.side, self.step_selected()) {
            (Side::Diff | Side::Facts, _) | (_, None) if self.here => "now".to_owned(),
            (Side::Diff | Side::Facts, _) | (_, None) => format!("until {}", times::wall(self.until, canvas.zone)),
            (_, Some(step)) => format!("at {}", times::wall(step.at, canvas.zone)),
        };
        let is_searched = matches!(self.side, Side::Transcript | Side::Diff);
        let found = self.searched().found().filter(|_| is_searched);
        let found = found.or_else(|| self.diff.place().filter(|_| self.side == Side::Diff));
        let recorded = self.side == Side::Transcript && self.transcript.is_recorded;
        let message = found.unwrap_or(if recorded { format!("{time}, by its record") } else { time });
        let message = text::cut(&message, line::room(area, &line).saturating_sub(2));
        line.extend([span(" ", parts.rule), span(message, parts.quiet)]);
        frame::ruled(canvas, buffer, area, line);
    }
}

impl Overlay for Drill {
    fn kind(&self) -> OverlayKind<'_> {
        let context = if self.searched().is_typing() { Context::Search } else { Context::Drill };
        OverlayKind { terminal: Some(self.shown.key()), ..OverlayKind::at(context, OverlayPlace::Screen) }
    }

    fn hints(&self, _view: &View<'_>) -> Vec<Hint> {
        if let Some(hints) = self.searched().typing_hints() {
            return hints;
        }
        let mut hints: Vec<Hint> = vec![(Action::Down, if self.focus() == Focus::List { "earlier" } else { "down" })];
        hints.push((Action::Layout, self.next_view()));
        hints.push((Action::Close, "back"));
        if self.here && self.shown.waits() {
            hints.push((Action::Open, "answer"));
        }
        if !self.waiting.is_empty() {
            hints.push((Action::Unqueue, "take back"));
        }
        if self.searched().has_search() {
            hints.push((Action::NextMatch, "next found"));
        } else if self.side == Side::Diff && self.diff.has_files() {
            hints.push((Action::NextMatch, "next file"));
        }
        if let Some(hint) = self.transcript.fold_hint().filter(|_| self.side == Side::Transcript) {
            hints.push((Action::Fold, hint));
        }
        hints.push((Action::Filter, "search"));
        if self.side == Side::Transcript {
            hints.push((Action::Copy, "copy the answer"));
        }
        if self.side != Side::Transcript {
            hints.push((Action::Fold, if self.steps.lists_all() { "less" } else { "every change" }));
        }
        if self.here {
            hints.push((Action::Jump, "jump"));
            let takes_one = |agent: &Terminal| !agent.state.waits() && Composer::refused(agent).is_none();
            if self.shown.item().terminal().is_some_and(takes_one) {
                hints.push((Action::Prompt, "prompt"));
            }
        }
        hints.push((Action::Help, "help"));
        hints
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) -> HitMap {
        self.draw_all(canvas, buffer, area, view);
        let below = |place: Rect| Rect { y: place.y + 1, height: place.height.saturating_sub(1), ..place };
        HitMap::at(if self.focus() == Focus::List { below(self.drawn.list_place) } else { self.drawn.side_place })
    }

    fn obey(&mut self, action: Action, cx: &mut OverlayContext<'_, '_>) -> Flow {
        match action {
            Action::NextMatch | Action::PreviousMatch if self.side == Side::Diff && !self.searched().has_search() => {
                if self.drawn.one_pane && self.focus == Focus::List {
                    self.show(Side::Diff);
                } else {
                    self.diff.step_file(action == Action::NextMatch);
                }
            }
            Action::NextMatch | Action::PreviousMatch if !self.searched().has_search() => {
                match self.steps.failure_beside(self.index(), action == Action::NextMatch) {
                    Some(index) => self.select(index),
                    None if self.shown.item().status().group() == Status::Failed => {
                        cx.say("it failed before anything in the list");
                    }
                    None => cx.say("nothing went wrong there, as far as the list goes"),
                }
            }
            Action::Filter | Action::NextMatch | Action::PreviousMatch | Action::Accept => {
                return self.search(action);
            }
            Action::Close if self.searched().is_typing() => return self.search(action),
            _ if self.step(action) => {}
            Action::Layout => self.turn(),
            Action::FocusLeft if self.is_alone => (self.is_alone, self.focus) = (false, Focus::List),
            Action::FocusLeft if self.is_all_side() => (self.side, self.focus) = (Side::Screen, Focus::List),
            Action::FocusLeft => self.focus = Focus::List,
            Action::FocusRight => self.focus = Focus::Side,
            Action::Explain => self.show(Side::Why),
            Action::Copy if self.side == Side::Transcript => match self.transcript.answer() {
                Some(answer) => {
                    cx.ask(Request::Copy { key: self.shown.key().clone(), what: Copied::Answer(answer) });
                }
                None => cx.say("no answer is there to copy"),
            },
            Action::Fold if self.side == Side::Transcript => self.transcript.fold(),
            Action::Fold => {
                let all = !self.steps.lists_all();
                self.keep_place(|steps| {
                    steps.list_all(all);
                    true
                });
            }
            Action::AllowOnce | Action::Refuse | Action::RefuseWhy if self.here && self.shown.waits() => {
                return self.shown.act(action, cx);
            }
            Action::Prompt | Action::Open if self.here => return self.shown.act(action, cx),
            Action::Prompt | Action::Open => {
                cx.tell(Status::Gone, format!("{} is gone", self.shown.name()));
            }
            _ => return Flow::Pass,
        }
        Flow::Stay
    }

    fn key(&mut self, key: KeyEvent, _cx: &mut OverlayContext<'_, '_>) -> Flow {
        self.searched_mut().type_in(|line| line.key(key));
        Flow::Stay
    }

    fn paste(&mut self, text: &str, _cx: &mut OverlayContext<'_, '_>) -> Flow {
        if self.searched_mut().type_in(|line| line.paste(text)) { Flow::Stay } else { Flow::Pass }
    }

    fn click(&mut self, at: Position, _cx: &mut OverlayContext<'_, '_>) -> Flow {
        if let Some((_, side)) = self.drawn.tabs.iter().find(|(place, _)| place.contains(at)).cloned() {
            (self.side, self.focus) = (side, Focus::Side);
        } else if let Some((_, index)) = self.drawn.entries.iter().find(|(place, _)| place.contains(at)).cloned() {
            self.focus = Focus::List;
            self.select(index);
        } else if self.drawn.side_place.contains(at) {
            self.focus = Focus::Side;
        }
        Flow::Stay
    }

    fn wheel(&mut self, direction: isize, at: Position, _cx: &mut OverlayContext<'_, '_>) -> Flow {
        if self.drawn.list_place.contains(at) {
            self.select(self.index().saturating_add_signed(direction));
        } else {
            self.scroll(direction * FEW);
        }
        Flow::Stay
    }

    fn update(&mut self, cx: &mut OverlayContext<'_, '_>) -> Flow {
        let subject = self.shown.now(cx.view);
        self.here = subject.is_some();
        if let Some(subject) = subject {
            self.shown = subject;
            self.until = cx.view.now;
        }
        let key = self.shown.key().clone();
        self.waiting = cx.memory.queued.get(&key).cloned().unwrap_or_default();
        if self.keep_place(|steps| see(steps, &key, cx.view)) {
            self.asking.changed(cx.view.now);
        }
        self.ask(cx);
        if self.side == Side::Diff {
            self.ask_diff(cx);
        }
        Flow::Stay
    }

    fn on_event(&mut self, event: OverlayEvent<'_>, cx: &mut OverlayContext<'_, '_>) {
        match event {
            OverlayEvent::Answered(Answer::Terminal { key, answer }) if key == self.shown.key() => {
                self.take_answer(answer, cx.view.now);
            }
            OverlayEvent::Reasons { key, text } if key == self.shown.key() => {
                self.asking.reasons = Some(text.map(str::to_owned));
            }
            OverlayEvent::Diff { key, diff } if key == self.shown.key() => self.diff.set(diff.clone()),
            _ => {}
        }
    }
}

/// Takes in what this process saw of a terminal. Returns whether there is something new.
fn see(steps: &mut TimelineEntries, key: &TerminalKey, view: &View<'_>) -> bool {
    if let Some(terminal) = super::find(view, key) {
        return steps.see(terminal.transitions.iter());
    }
    if let Some(task) = super::find_task(view, key) {
        steps.see_task(task);
    }
    steps.see(view.task_events.iter().filter(|event| event.key == *key))
}

#[cfg(test)]
mod tests;
