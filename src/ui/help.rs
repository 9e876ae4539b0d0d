//! Texts in a pop-up: the list of keys, from the live keymap, with the meaning of the marks; and why a terminal is in its
//! state.

use ratatui::crossterm::event::KeyEvent;
use ratatui::prelude::{Buffer, Line, Rect, Span};

use super::keymap::{Binding, show};
use super::search::SearchableText;
use super::text::padded;
use super::theme::{DRAFTED, INFERRED_MARK, MARKED, MOVES, MUTED, PINNED, RUNS, SENT_MARK, UNSEEN_MARK};
use super::{
    Action, Canvas, Context, Flow, Hint, HitMap, Overlay, OverlayContext, OverlayEvent, OverlayKind, Part, Request,
    Viewport, blank, find, frame, line, span, text, times,
};
use crate::fleet::{TerminalKey, View};
use crate::present::columns::{COLUMNS, Column};
use crate::status::Status;
use crate::time::Timestamp;

/// The cells of a mark and of the blanks behind it.
const MARK: usize = 4;

/// The help; it may lie over anything.
#[derive(Debug)]
pub struct Help {
    /// What had the keyboard when it was opened; its keys come first.
    of: Context,
    /// What it offered then: that comes before all others.
    offered: Vec<Action>,
    /// The lines with which its parts begin.
    parts: Vec<usize>,
    reader: SearchableText,
}

impl Help {
    /// The help of a part of the dashboard, with what it offers now before it, and behind it that of the parts that it leads
    /// to and that cannot show their own.
    pub fn new(of: Context, hints: &[Hint]) -> Self {
        let offered = hints.iter().map(|(action, _)| *action).filter(|action| *action != Action::Help).collect();
        Self { of, offered, parts: Vec::new(), reader: SearchableText::covered() }
    }
}

impl Overlay for Help {
    fn kind(&self) -> OverlayKind<'_> {
        OverlayKind::popup(if self.reader.is_typing() { Context::Search } else { Context::Help })
    }

    fn hints(&self, _view: &View<'_>) -> Vec<Hint> {
        if let Some(hints) = self.reader.typing_hints() {
            return hints;
        }
        let next = if self.reader.has_search() { "next found" } else { "next part" };
        vec![(Action::NextMatch, next), (Action::Filter, "search"), (Action::Close, "close")]
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, _view: &View<'_>) -> HitMap {
        let room = area.width.saturating_sub(4);
        let columns = if room < TWO_COLUMNS { 1 } else { 2 };
        let cells = (room - BETWEEN * (columns - 1)) / columns;
        let lines = sections(canvas, self.of, &self.offered, usize::from(cells)).join(&Line::default());
        let is_title = |it: &Span<'_>| it.style == canvas.theme.parts.title && !it.content.trim().is_empty();
        let begins = lines.iter().enumerate().filter(|(_, line)| line.iter().any(is_title));
        self.parts = begins.map(|(row, _)| row).collect();
        self.reader.set_texts(lines.iter().map(line::text_of));
        let marked = |(index, line)| self.reader.marked(canvas, index, line);
        let lines: Vec<Line<'_>> = lines.into_iter().enumerate().map(marked).collect();
        let title = self.reader.found().map_or_else(|| "keys".to_owned(), |found| format!("keys   {found}"));
        let columns = (columns, BETWEEN);
        let inner = frame::popup(canvas, buffer, area, (&title, &lines), columns, &mut self.reader.view);
        // At the foot of the last column: no hit is behind it.
        let left = inner.width.saturating_sub(cells);
        self.reader.draw_typing(canvas, buffer, Rect { x: inner.x + left, width: inner.width - left, ..inner });
        HitMap::at(frame::around(inner))
    }

    fn obey(&mut self, action: Action, cx: &mut OverlayContext<'_, '_>) -> Flow {
        let first = self.reader.view.first();
        let part = match action {
            Action::NextMatch => self.parts.iter().find(|row| **row > first),
            Action::PreviousMatch => self.parts.iter().rev().find(|row| **row < first),
            _ => None,
        };
        if let Some(row) = part {
            self.reader.view.begin_at(*row);
            return Flow::Stay;
        }
        match action {
            _ if self.reader.obey(action) => Flow::Stay,
            Action::NextMatch | Action::PreviousMatch => cx.refuse("nothing is searched for yet"),
            _ => Flow::read(&mut self.reader.view, action),
        }
    }

    fn key(&mut self, key: KeyEvent, _cx: &mut OverlayContext<'_, '_>) -> Flow {
        self.reader.type_in(|line| line.key(key));
        Flow::Stay
    }

    fn paste(&mut self, text: &str, _cx: &mut OverlayContext<'_, '_>) -> Flow {
        if self.reader.type_in(|line| line.paste(text)) { Flow::Stay } else { Flow::Pass }
    }
}

/// From this many cells on there are two columns.
const TWO_COLUMNS: u16 = 130;
/// Blanks between them.
const BETWEEN: u16 = 3;

/// A list of keys and what they do, which goes on in the next line where it does not fit into that many cells.
fn keys_of(canvas: &Canvas<'_>, title: &str, bindings: &[&Binding], room: usize) -> Vec<Line<'static>> {
    let parts = &canvas.theme.parts;
    let keys = |binding: &Binding| binding.keys.iter().map(|key| show(*key)).collect::<Vec<_>>().join("  ");
    // Each part has a column of its own: a few long keys leave the others room for what they do.
    let cells = bindings.iter().map(|binding| text::width(&keys(binding))).max().unwrap_or(0) + 2;
    let line = |binding: &&Binding| {
        let keys = span(format!("  {}", padded(&keys(binding), cells)), parts.key);
        hanging(keys.into(), span(&binding.description, parts.text), room)
    };
    std::iter::once(span(title, parts.title).into()).chain(bindings.iter().flat_map(line)).collect()
}

fn sections(canvas: &Canvas<'_>, of: Context, offered: &[Action], room: usize) -> Vec<Vec<Line<'static>>> {
    let keymap = canvas.keymap;
    let mut sections = Vec::new();
    let is_offered = |binding: &&Binding| binding.action.is_some_and(|action| offered.contains(&action));
    let mut here: Vec<&Binding> = keymap.bindings(of).filter(is_offered).collect();
    here.sort_by_key(|binding| offered.iter().position(|action| Some(*action) == binding.action));
    if !here.is_empty() {
        sections.push(keys_of(canvas, "what you can do now", &here, room));
    }
    let own: Vec<&Binding> = keymap.bindings(of).filter(|binding| !is_offered(binding)).collect();
    sections.push(keys_of(canvas, of.title(), &own, room));
    if of == Context::Fleet {
        sections.extend([marks(canvas, room), columns(canvas, room)]);
    }
    // What does the same everywhere stands in the part above.
    let is_everywhere = |binding: &&Binding| matches!(binding.action, Some(Action::Help | Action::Suspend));
    let shows_none = |context: &Context| *context != of && keymap.key_for(*context, Action::Help).is_none();
    let is_near = |context: &Context| keymap.bindings(of).filter_map(|it| it.action).any(|it| opens(it, *context));
    for context in Context::all().filter(|context| shows_none(context) && is_near(context)) {
        let bindings: Vec<&Binding> = keymap.bindings(context).filter(|binding| !is_everywhere(binding)).collect();
        sections.push(keys_of(canvas, context.title(), &bindings, room));
    }
    if of != Context::Fleet {
        sections.push(marks(canvas, room));
    }
    let help = keymap.key_for(Context::Fleet, Action::Help).unwrap_or_default();
    let others = format!("  every other view lists its own keys: {help} in it, f1 in a line");
    let parts = &canvas.theme.parts;
    sections.push(vec![span("elsewhere", parts.title).into(), span(others, parts.text).into()]);
    sections
}

/// Whether an action leads to a part of the dashboard that cannot show its own keys.
fn opens(action: Action, context: Context) -> bool {
    match context {
        Context::Search => action == Action::Filter,
        Context::Menu => matches!(action, Action::Palette | Action::Copy | Action::Template | Action::Recall),
        Context::Confirm => matches!(action, Action::Interrupt | Action::Broadcast),
        Context::Raw => action == Action::Raw,
        _ => action == Action::Help,
    }
}

/// What the marks of a row mean.
fn marks(canvas: &Canvas<'_>, room: usize) -> Vec<Line<'static>> {
    let parts = &canvas.theme.parts;
    let mut lines: Vec<Line<'static>> = vec![span("marks", parts.title).into()];
    let words = Status::GROUPS.iter().map(|status| text::width(status.group_word(2))).max().unwrap_or(0);
    for status in Status::GROUPS {
        let appearance = canvas.theme.appearance(status);
        let sign = format!("  {}{}", padded(canvas.glyph(status), MARK), padded(status.group_word(2), words));
        let sign = vec![span(sign, appearance.style), blank(2)].into();
        lines.extend(hanging(sign, span(explanation(status), parts.quiet), room));
    }
    for (mark, text) in [
        (UNSEEN_MARK, "the result or the bell has not been seen yet: select the row for a second"),
        (SENT_MARK, "the turn began with a prompt that fleetwatch sent"),
        (INFERRED_MARK, "after a result: the turn was seen only on the screen"),
        (RUNS, "a task that runs"),
        (MARKED, "marked, to be acted on with the others"),
        (PINNED, "behind a name: pinned to the top"),
        (MUTED, "muted: it never counts as needing you"),
        (DRAFTED, "you started a prompt for it here and have not sent it"),
        (">", "before an age: nobody saw the state begin, so it is at least that old"),
        (MOVES, "before an age, or under STABLE: the screen is still changing"),
        ("data", "in the header: the age of the oldest data; a server that does not answer shows its own"),
    ] {
        let mark = span(format!("  {} ", padded(mark, MARK - 1)), parts.quiet);
        lines.extend(hanging(mark.into(), span(text, parts.text), room));
    }
    lines
}

/// What the columns say, and how they are chosen.
fn columns(canvas: &Canvas<'_>, room: usize) -> Vec<Line<'static>> {
    let parts = &canvas.theme.parts;
    let key = canvas.keymap.key_for(Context::Fleet, Action::Columns);
    let chosen = format!(" ({} chooses them)", key.as_deref().unwrap_or(":columns"));
    let widest = COLUMNS.iter().map(|column| column.title.len()).max().unwrap_or(0);
    let line = |column: &Column| {
        let title = span(format!("  {}  ", padded(column.title, widest)), parts.key);
        hanging(title.into(), span(column.about, parts.text), room)
    };
    let title = vec![span("columns", parts.title), span(chosen, parts.quiet)].into();
    std::iter::once(title).chain(COLUMNS.iter().flat_map(line)).collect()
}

/// A key or a mark with what it means, which goes on below itself where it does not fit into that many cells.
fn hanging(lead: Line<'static>, meaning: Part, room: usize) -> Vec<Line<'static>> {
    let cells = line::width(&lead);
    let rows = text::wrapped(&meaning.content, room.saturating_sub(cells).max(20), usize::MAX);
    let leads = std::iter::once(lead).chain(std::iter::repeat(blank(cells).into()));
    leads.zip(rows).map(|(lead, row)| lead + span(row, meaning.style)).collect()
}

fn explanation(status: Status) -> &'static str {
    match status {
        Status::Approval | Status::Question | Status::Trust | Status::Setup | Status::Limit | Status::Asks => {
            "a dialog of the agent, or a question of the task, waits for an answer"
        }
        Status::Failed => "the last turn, or the task, ended in an error, or the agent ended in mid-turn",
        Status::Interrupted => "the last turn was interrupted",
        Status::Finished => "the last turn, or the task, ended well",
        Status::Stalled => "it should be moving but is not",
        Status::Error => "it cannot be read",
        Status::Gone => "the agent or its pane has ended",
        Status::CutOff => "cut off: the agent ended in mid-turn",
        Status::Working => "a turn is in flight, or the task runs",
        Status::Running => "the task runs",
        Status::Exited(_) => "the task has ended",
        Status::Ready => "a new prompt may be sent",
        Status::Suspended => "the agent was stopped, as by Ctrl-Z; `fg` brings it back",
        Status::Unknown => "the screen does not say, or is out of date",
    }
}

/// An explanation. In brief it goes on with the row; the whole is as of when it was asked for, so that it can be read.
#[derive(Debug)]
pub struct ExplanationView {
    /// The terminal that it is about; `None` if it is a server.
    about: Option<TerminalKey>,
    text: String,
    is_whole: bool,
    view: Viewport,
    /// Of when the text is.
    asked_at: Option<Timestamp>,
}

impl ExplanationView {
    /// Shows a text of several lines.
    pub fn new(about: Option<TerminalKey>, text: &str) -> Self {
        Self { about, text: text.to_owned(), is_whole: false, view: Viewport::default(), asked_at: None }
    }

    fn shown(&self) -> Vec<String> {
        let brief = Some(in_brief(&self.text)).filter(|brief| !self.is_whole && !brief.is_empty());
        brief.unwrap_or_else(|| self.text.lines().map(str::to_owned).collect())
    }
}

/// The first part of an explanation, without rules and what else only who writes profiles reads; empty where there is nothing of
/// that.
pub fn in_brief(text: &str) -> Vec<String> {
    const BECAUSE: &str = "  because        ";
    let first: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).collect();
    if first.len() == text.lines().count() || !first.iter().any(|line| line.starts_with(BECAUSE)) {
        return Vec::new();
    }
    let mut brief: Vec<String> = Vec::new();
    for line in first {
        let found = line.strip_prefix(BECAUSE).and_then(|why| why.strip_prefix("rule "));
        let line = found.and_then(|found| found.split_once(": ")).map_or_else(
            || line.to_owned(),
            |(rule, text)| {
                let row = rule.split_once(", ").map(|(_, row)| format!("{row}: ")).unwrap_or_default();
                format!("{BECAUSE}{row}{text}")
            },
        );
        if !brief.contains(&line) {
            brief.push(line);
        }
    }
    brief
}

impl Overlay for ExplanationView {
    fn kind(&self) -> OverlayKind<'_> {
        OverlayKind { terminal: self.about.as_ref(), ..OverlayKind::popup(Context::Explanation) }
    }

    fn update(&mut self, cx: &mut OverlayContext<'_, '_>) -> Flow {
        let now = cx.view.now;
        let terminal = self.kind().terminal.and_then(|key| find(cx.view, key)).filter(|_| !self.is_whole);
        if let Some(terminal) = terminal {
            let age = |at: Timestamp| at.since(terminal.state.since).as_millis() / 1000;
            let asked_at = *self.asked_at.get_or_insert(now);
            if age(asked_at) != age(now) {
                self.asked_at = Some(now);
                cx.ask(Request::Reasons(terminal.key.clone()));
            }
        }
        Flow::Stay
    }

    fn on_event(&mut self, event: OverlayEvent<'_>, _cx: &mut OverlayContext<'_, '_>) {
        if let OverlayEvent::Reasons { key, text: Some(text) } = event
            && self.kind().terminal == Some(key)
            && !self.is_whole
        {
            text.clone_into(&mut self.text);
        }
    }

    fn hints(&self, _view: &View<'_>) -> Vec<Hint> {
        let jump = self.kind().terminal.map(|_| (Action::Jump, "jump"));
        let turn = if self.is_whole { "in brief" } else { "rules and everything that was read" };
        let turn = (!in_brief(&self.text).is_empty()).then_some((Action::Explain, turn));
        [turn, Some((Action::Down, "down")), jump, Some((Action::Close, "close"))].into_iter().flatten().collect()
    }

    fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, _view: &View<'_>) -> HitMap {
        let style = canvas.theme.parts.text;
        let cells = usize::from(area.width).saturating_sub(4);
        // What is said of a server is fleetwatch's own.
        let said = |line: String| if self.about.is_none() { (canvas.hint)(&line) } else { line };
        let rows = self.shown().into_iter().flat_map(|line| text::hanging(&said(line), cells));
        let lines: Vec<Line<'_>> = rows.map(|row| span(row, style).into()).collect();
        let title = match self.asked_at.filter(|_| self.is_whole) {
            Some(asked_at) => format!("why, as of {}", times::to_the_second(asked_at, canvas.zone)),
            None => "why".to_owned(),
        };
        let inner = frame::popup(canvas, buffer, area, (&title, &lines), frame::ONE_COLUMN, &mut self.view);
        HitMap::at(frame::around(inner))
    }

    fn obey(&mut self, action: Action, _cx: &mut OverlayContext<'_, '_>) -> Flow {
        if action == Action::Explain {
            (self.is_whole, self.view) = (!self.is_whole, Viewport::default());
            return Flow::Stay;
        }
        Flow::read(&mut self.view, action)
    }
}
