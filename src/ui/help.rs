//! Texts in a pop-up: the list of keys, from the live keymap, with what the marks mean; and why a terminal is said to
//! be what it is.

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::Rect;

use super::action::Action;
use super::frame::{self, Canvas, Hint, StyledLine};
use super::keymap::{Binding, Context, show};
use super::overlay::{Flow, HitMap, Overlay, OverlayContext};
use super::scroll::{SearchableText, Viewport};
use super::table::{INFERRED_MARK, MARKED, MUTED, PINNED, RUNS, SENT_MARK, UNSEEN_MARK};
use super::text::{self, padded};
use crate::fleet::{TerminalKey, View};
use crate::status::Status;

/// The cells of a mark and of the blanks behind it.
const MARK: usize = 4;

/// The help; it may lie over anything.
#[derive(Debug)]
pub struct Help {
    /// What had the keyboard when it was opened; its keys come first.
    of: Context,
    reader: SearchableText,
}

impl Help {
    /// The help of a part of the dashboard, with that of all the others behind it.
    pub fn new(of: Context) -> Self {
        Self { of, reader: SearchableText::covered() }
    }
}

impl Overlay for Help {
    fn context(&self) -> Context {
        if self.reader.is_typing() { Context::Search } else { Context::Help }
    }

    fn hints(&self, _view: &View<'_>) -> Vec<Hint> {
        if let Some(hints) = self.reader.typing_hints() {
            return hints;
        }
        let found = self.reader.has_search().then_some((Action::NextMatch, "next found"));
        let rest = [(Action::PageDown, "next page"), (Action::Search, "search"), (Action::Close, "close")];
        found.into_iter().chain(rest).collect()
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, _view: &View<'_>) -> HitMap {
        let lines = lines(canvas, self.of);
        let text = |line: &StyledLine| line.iter().map(|(text, _)| text.as_str()).collect();
        self.reader.set_texts(lines.iter().map(text).collect());
        let marked = |(index, line)| self.reader.marked(canvas, index, line);
        let lines: Vec<StyledLine> = lines.into_iter().enumerate().map(marked).collect();
        let title = self.reader.found().map_or_else(|| "keys".to_owned(), |found| format!("keys   {found}"));
        let inner = frame::popup(canvas, buffer, area, &title, &lines, &mut self.reader.view);
        self.reader.draw_typing(canvas, buffer, inner);
        HitMap::at(frame::around(inner))
    }

    fn perform(&mut self, action: Action, cx: &mut OverlayContext<'_, '_>) -> Flow {
        match self.reader.perform(action, cx) {
            Flow::Pass => self.reader.view.perform(action),
            flow => flow,
        }
    }

    fn key(&mut self, key: KeyEvent, _desk: &mut OverlayContext<'_, '_>) -> Flow {
        self.reader.type_in(|line| line.key(key));
        Flow::Stay
    }

    fn paste(&mut self, text: &str, _desk: &mut OverlayContext<'_, '_>) -> Flow {
        self.reader.type_in(|line| line.paste(text))
    }
}

fn lines(canvas: &Canvas<'_>, of: Context) -> Vec<StyledLine> {
    let (parts, keymap) = (&canvas.theme.parts, canvas.keymap);
    let mut lines: Vec<StyledLine> = Vec::new();
    let keys = |binding: &Binding| binding.keys.iter().map(|key| show(*key)).collect::<Vec<_>>().join("  ");
    let others = Context::ALL.iter().copied().filter(|&context| context != of);
    for context in std::iter::once(of).chain(others) {
        if !lines.is_empty() {
            lines.push(Vec::new());
        }
        lines.push(vec![(context.title().to_owned(), parts.title)]);
        // Each part has a column of its own: a few long keys leave the others room for what they do.
        let cells = keymap.bindings(context).map(|binding| text::width(&keys(binding))).max().unwrap_or(0) + 2;
        for binding in keymap.bindings(context) {
            lines.push(vec![
                (format!("  {}", padded(&keys(binding), cells)), parts.key),
                (binding.description.clone(), parts.text),
            ]);
        }
    }
    lines.push(Vec::new());
    lines.push(vec![("marks".to_owned(), parts.title)]);
    let words = Status::GROUPS.iter().map(|status| text::width(status.group_word(2))).max().unwrap_or(0);
    for status in Status::GROUPS {
        let look = canvas.theme.appearance(status);
        lines.push(vec![
            (format!("  {}", padded(canvas.glyph(status), MARK)), look.style),
            (padded(status.group_word(2), words), look.style),
            (format!("  {}", explanation(status)), parts.quiet),
        ]);
    }
    for (mark, text) in [
        (UNSEEN_MARK, "the result or the bell has not been seen yet: select the row for a second"),
        (SENT_MARK, "the turn began with a prompt that fleetwatch sent"),
        (INFERRED_MARK, "the turn was seen on the screen only"),
        (RUNS, "a task that runs"),
        (MARKED, "marked, to be acted on with the others"),
        (PINNED, "pinned to the top"),
        (MUTED, "muted: it never counts as needing you"),
    ] {
        lines.push(vec![(format!("  {}", padded(mark, MARK)), parts.quiet), (text.to_owned(), parts.text)]);
    }
    lines
}

fn explanation(status: Status) -> &'static str {
    match status {
        Status::Approval | Status::Question | Status::Trust | Status::Setup | Status::Asks => {
            "a dialog of the agent, or a question of the task, waits for an answer"
        }
        Status::Failed => "the last turn, or the task, ended in an error",
        Status::Interrupted => "the last turn was interrupted",
        Status::Finished => "the last turn, or the task, ended well",
        Status::Stalled => "it should be moving, and is not",
        Status::Error => "it cannot be read",
        Status::Gone => "the agent or its pane has ended",
        Status::Working => "a turn is in flight, or the task runs",
        Status::Running => "the task runs",
        Status::Exited(_) => "the task has ended",
        Status::Ready => "a new prompt may be sent",
        Status::Unknown => "the screen does not say, or it is old",
    }
}

/// An explanation; its text is as of when it was asked for.
#[derive(Debug)]
pub struct ExplanationView {
    key: TerminalKey,
    lines: Vec<String>,
    view: Viewport,
}

impl ExplanationView {
    /// Shows a text of several lines about a terminal.
    pub fn new(key: TerminalKey, text: &str) -> Self {
        Self { key, lines: text.lines().map(str::to_owned).collect(), view: Viewport::default() }
    }
}

impl Overlay for ExplanationView {
    fn context(&self) -> Context {
        Context::Explanation
    }

    fn terminal(&self) -> Option<&TerminalKey> {
        Some(&self.key)
    }

    fn hints(&self, _view: &View<'_>) -> Vec<Hint> {
        vec![(Action::ScrollDown, "down"), (Action::Jump, "jump"), (Action::Close, "close")]
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, _view: &View<'_>) -> HitMap {
        let text = canvas.theme.parts.text;
        let lines: Vec<frame::StyledLine> = self.lines.iter().map(|line| vec![(line.clone(), text)]).collect();
        let inner = frame::popup(canvas, buffer, area, "why", &lines, &mut self.view);
        HitMap::at(frame::around(inner))
    }

    fn perform(&mut self, action: Action, _desk: &mut OverlayContext<'_, '_>) -> Flow {
        self.view.perform(action)
    }
}
