//! The pane of recent transitions: when, which terminal, what changed from what to what.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use serde_json::Value;

use super::frame::{self, Canvas};
use super::text::{self, Pen};
use super::times;
use crate::fleet::{TerminalKey, TerminalTransition, View};
use crate::state::Transition;
use crate::status::{Changed, Status, changed};
use crate::task::{Happening, TaskEvent};
use crate::time::Timestamp;

/// The widest column for names.
const NAME_MOST: usize = 16;

/// Draws the newest transitions, newest first, beginning `skipped` before the newest.
pub fn draw(canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>, skipped: usize) {
    let parts = &canvas.theme.parts;
    let area = frame::titled(canvas, buffer, area, &[("transitions", parts.title)]);
    if view.recent.is_empty() && view.task_events.is_empty() {
        Pen::new(buffer, area, 0).skip(1).text("nothing has changed yet", parts.quiet);
        return;
    }
    let shown: Vec<Entry<'_>> = Entry::newest_first(view).skip(skipped).take(usize::from(area.height)).collect();
    let names = shown.iter().map(|entry| text::width(entry.id())).max().unwrap_or(0).min(NAME_MOST);
    for (row, entry) in (0..).zip(&shown) {
        let mut pen = Pen::new(buffer, area, row);
        let selected = canvas.selected == Some(entry.key());
        let name = if selected { parts.title } else { parts.text };
        let time = times::wall(entry.at(), canvas.zone);
        // A narrow pane keeps what happened and lets the milliseconds and the hours go.
        let time = if area.width < 50 { &time[..8.min(time.len())] } else { &time };
        pen.skip(1).text(time, parts.quiet).skip(2).field(entry.id(), names, name).skip(2);
        match entry {
            Entry::Terminal(recent) => {
                pen.line(&words(canvas, &recent.transition));
            }
            Entry::Task(event) => {
                pen.text(&event.happening.text(), canvas.theme.style(happening_status(&event.happening)));
            }
        }
    }
}

/// Something that happened to a terminal or to a task.
enum Entry<'a> {
    Terminal(&'a TerminalTransition),
    Task(&'a TaskEvent),
}

impl<'a> Entry<'a> {
    /// What happened in the fleet, newest first.
    fn newest_first(view: &View<'a>) -> impl Iterator<Item = Self> {
        let mut terminals = view.recent.iter().rev().map(Entry::Terminal).peekable();
        let mut tasks = view.task_events.iter().rev().map(Entry::Task).peekable();
        std::iter::from_fn(move || match (terminals.peek(), tasks.peek()) {
            (Some(terminal), Some(task)) if task.at() >= terminal.at() => tasks.next(),
            (Some(_), _) => terminals.next(),
            (None, _) => tasks.next(),
        })
    }

    fn at(&self) -> Timestamp {
        match self {
            Entry::Terminal(recent) => recent.transition.at,
            Entry::Task(event) => event.at,
        }
    }

    fn id(&self) -> &'a str {
        match self {
            Entry::Terminal(recent) => &recent.id,
            Entry::Task(event) => &event.id,
        }
    }

    fn key(&self) -> &'a TerminalKey {
        match self {
            Entry::Terminal(recent) => &recent.key,
            Entry::Task(event) => &event.key,
        }
    }
}

/// What happened to a task, in the colours and glyphs of the table.
pub fn happening_status(happening: &Happening) -> Status {
    match happening {
        Happening::Started => Status::Working,
        Happening::Exited { code: Some(0), .. } => Status::Finished,
        Happening::Exited { .. } => Status::Failed,
        Happening::Notify { .. } | Happening::Input { .. } => Status::Approval,
        Happening::Disappeared { .. } => Status::Gone,
    }
}

/// What changed, the most telling first.
pub fn words(canvas: &Canvas<'_>, transition: &Transition) -> Vec<(String, Style)> {
    let quiet = canvas.theme.parts.quiet;
    let mut words: Vec<(String, Style)> = Vec::new();
    for Changed { text, status } in changed(transition) {
        if !words.is_empty() {
            words.push((", ".to_owned(), quiet));
        }
        words.push((text, status.map_or(quiet, |status| canvas.theme.style(status))));
    }
    if let Some(note) = &transition.note {
        let note = if words.is_empty() { note.clone() } else { format!("  ({note})") };
        words.push((note, quiet));
    }
    words
}

/// A value as its public word.
pub fn value(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::String(word) => word.clone(),
        // A problem is told by its kind; its message is one key away.
        Value::Object(fields) => fields.get("kind").and_then(Value::as_str).unwrap_or("?").to_owned(),
        other => other.to_string(),
    }
}
