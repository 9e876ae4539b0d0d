//! The log pane: what happened and what the operator did, in order of time, one short sentence each.

use std::cmp::Reverse;
use std::collections::{HashSet, VecDeque};

use ratatui::prelude::{Buffer, Line, Rect};

use super::kit::frame::Look;
use super::pace::AT_ONCE;
use super::{blank, field, frame, line, span, text, times};
use crate::fleet::{TerminalKey, TerminalTransition, View};
use crate::ids::PaneId;
use crate::present::sentence;
use crate::present::sentence::{Doer, Sentence, of_task, of_transition};
use crate::record::{Body, OperatorAction, Stored};
use crate::status::Status;
use crate::task::TaskEvent;
use crate::time::Timestamp;

/// The widest column for names.
const NAME_MOST: usize = 16;
/// From this height on an entry may take two rows.
const ROOMY: u16 = 8;
/// How many events of the history are remembered.
const KEPT: usize = 500;
/// The events of the history beside the view: what happened before this dashboard, and what was done from anywhere.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// By time.
    kept: VecDeque<Stored>,
}

impl Log {
    /// Takes a record in.
    pub fn keep(&mut self, record: Stored) {
        let at = self.kept.partition_point(|kept| kept.at <= record.at);
        self.kept.insert(at, record);
        if self.kept.len() > KEPT {
            self.kept.pop_front();
        }
    }

    /// The entries, newest first. What the operator does several times in a row, such as typing keys, is one entry, and so is
    /// an outage or an end that several terminals have in common.
    fn lines<'a>(&'a self, view: &View<'a>) -> impl Iterator<Item = LogLine<'a>> {
        let mut events: Vec<Event<'a>> = view.recent.iter().map(Event::Terminal).collect();
        events.extend(view.task_events.iter().map(Event::Task));
        // The history may call a server otherwise, but of one pane nothing happens twice at a time.
        let seen: HashSet<(Timestamp, PaneId)> = events.iter().map(|event| (event.at(), event.pane())).collect();
        let is_new = |record: &&Stored| {
            let happened = matches!(record.body, Body::Transition(_) | Body::TaskEvent(_));
            !(happened && record.key.as_ref().is_some_and(|key| seen.contains(&(record.at, key.pane))))
        };
        events.extend(self.kept.iter().filter(is_new).map(Event::Kept));
        // Within one millisecond, what was reported last comes first.
        events.reverse();
        events.sort_by_key(Event::place);
        // Sentences are made for what is shown only.
        let mut lines = events.into_iter().filter_map(|event| LogLine::of(event, view)).peekable();
        std::iter::from_fn(move || {
            let mut line = lines.next()?;
            while let Some(older) = lines.next_if(|older| line.says(older)) {
                line.others.extend((older.key != line.key).then_some(older.name));
            }
            Some(line)
        })
    }

    /// How many lines there are.
    pub fn count(&self, view: &View<'_>) -> usize {
        self.lines(view).count()
    }
}

/// One line of the log.
struct LogLine<'a> {
    at: Timestamp,
    key: Option<&'a TerminalKey>,
    name: &'a str,
    /// The other terminals that it happened to.
    others: Vec<&'a str>,
    sentence: Sentence,
    /// Whether the same again says no more.
    is_repeatable: bool,
}

impl<'a> LogLine<'a> {
    /// Makes a line with the present name, by which it is found now.
    fn of(event: Event<'a>, view: &View<'a>) -> Option<Self> {
        let name = event.key().and_then(|key| called(view, key)).unwrap_or(event.name());
        let sentence = event.sentence(name)?;
        let is_repeatable = if let Event::Kept(record) = event { sentence::is_repeatable(&record.body) } else { true };
        Some(Self { at: event.at(), key: event.key(), name, others: Vec::new(), sentence, is_repeatable })
    }

    /// Whether it says an older one, too: the operator did the same again, or one cause ended or hid both terminals.
    fn says(&self, older: &Self) -> bool {
        let has_one_cause = matches!(self.sentence.status, Some(Status::Error | Status::Gone | Status::CutOff));
        let is_together = || has_one_cause && self.at.since(older.at) < AT_ONCE;
        self.sentence == older.sentence
            && match self.key == older.key {
                true => self.sentence.actor == Doer::You && self.is_repeatable,
                false => is_together(),
            }
    }

    /// Who it is about.
    fn subject(&self) -> String {
        match self.others.len() {
            0 => self.sentence.subject(self.name).to_owned(),
            others => text::counted(others + 1, "terminal"),
        }
    }

    /// What happened, and to whom where it happened to several.
    fn text(&self) -> String {
        let text = &self.sentence.text;
        match self.others[..] {
            [] => text.clone(),
            ref others => format!("{text} · {}, {}", self.name, others.join(", ")),
        }
    }
}

/// The present name of a terminal or a task; `None` for one that is gone.
fn called<'a>(view: &View<'a>, key: &TerminalKey) -> Option<&'a str> {
    let terminal = view.terminals.iter().find(|terminal| terminal.key.may_be(key));
    let task = || view.tasks.iter().find(|task| task.key.may_be(key)).map(|task| task.id.as_str());
    terminal.map(|terminal| terminal.state.terminal.id.as_str()).or_else(task)
}

/// Something that happened or was done.
enum Event<'a> {
    Terminal(&'a TerminalTransition),
    Task(&'a TaskEvent),
    Kept(&'a Stored),
}

impl<'a> Event<'a> {
    fn at(&self) -> Timestamp {
        match self {
            Event::Terminal(change) => change.transition.at,
            Event::Task(event) => event.at,
            Event::Kept(record) => record.at,
        }
    }

    fn is_run(&self) -> bool {
        matches!(self, Event::Kept(Stored { body: Body::Action(OperatorAction::Run { .. }), .. }))
    }

    /// Its place, newest first: tmux dates the end of a program to the second, and none ends before it is run.
    fn place(&self) -> (Reverse<Timestamp>, bool) {
        let at = self.at();
        let second = Timestamp::from_millis(at.as_millis().div_euclid(1000) * 1000);
        (Reverse(if self.is_run() { second } else { at }), self.is_run())
    }

    fn name(&self) -> &'a str {
        match self {
            Event::Terminal(change) => &change.id,
            Event::Task(event) => &event.id,
            Event::Kept(record) => &record.name,
        }
    }

    fn key(&self) -> Option<&'a TerminalKey> {
        match self {
            Event::Terminal(change) => Some(&change.key),
            Event::Task(event) => Some(&event.key),
            Event::Kept(record) => record.key.as_ref(),
        }
    }

    fn pane(&self) -> PaneId {
        self.key().map_or(PaneId(u32::MAX), |key| key.pane)
    }

    fn sentence(&self, name: &str) -> Option<Sentence> {
        match self {
            Event::Terminal(change) => of_transition(&change.transition, change.state.as_deref()),
            Event::Task(event) => Some(of_task(&event.happening)),
            Event::Kept(record) => sentence::of(&record.body, name),
        }
    }
}

/// Draws the newest lines, newest first, beginning `skipped` before the newest.
pub fn draw(
    look: &Look<'_>,
    buffer: &mut Buffer,
    area: Rect,
    view: &View<'_>,
    (log, skipped): (&Log, usize),
    selected: Option<&TerminalKey>,
) {
    let parts = &look.theme.parts;
    let area = frame::titled(look, buffer, area, vec![span("log", parts.title)]);
    let shown: Vec<LogLine<'_>> = log.lines(view).skip(skipped).take(usize::from(area.height)).collect();
    if shown.is_empty() {
        return line::draw(buffer, area, vec![blank(1), span("nothing has happened yet", parts.quiet)]);
    }
    let names = shown.iter().map(|line| text::width(&line.subject())).max().unwrap_or(0).min(NAME_MOST);
    let most = if area.height < ROOMY { 1 } else { 2 };
    let mut lines: Vec<Line<'_>> = Vec::new();
    for line in &shown {
        let LogLine { at, key, sentence, .. } = line;
        let is_selected = key.is_some_and(|key| selected == Some(key));
        let subject = field(line.subject(), names, if is_selected { parts.title } else { parts.text });
        let clock = span(times::clock(*at, look.zone), parts.quiet);
        let head = Line::from(vec![blank(1), clock, blank(2), subject, blank(2)]);
        let style = sentence.status.map_or(parts.text, |status| look.theme.style(status));
        let left = usize::from(area.height).saturating_sub(lines.len());
        let below = Line::from(blank(line::width(&head)));
        let heads = std::iter::once(&head).chain(std::iter::repeat(&below));
        let texts = text::wrapped(&line.text(), line::room(area, &head), most.min(left));
        lines.extend(heads.zip(texts).map(|(head, text)| head.clone() + span(text, style)));
    }
    line::draw_all(buffer, area, lines);
}
