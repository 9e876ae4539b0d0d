//! The pane of recent transitions: when, which terminal, what changed from what to what.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use serde_json::Value;

use super::canvas::Canvas;
use super::meaning::{Meaning, context_word};
use super::text::{self, Pen};
use super::{pane, times};
use crate::fleet::{RecentTransition, TerminalKey, View};
use crate::moment::Moment;
use crate::state::{Summary, Transition, UiContext};
use crate::task::{Happening, TaskEvent};

/// The rank of fields that follow from others and say less to an operator; they are told only when nothing else is.
const FOLLOWS: u8 = 9;
/// The widest column for names.
const NAME_MOST: usize = 16;

/// Draws the newest transitions, newest first, beginning `skipped` before the newest.
pub fn draw(canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>, skipped: usize) {
    let parts = &canvas.theme.parts;
    let area = pane::titled(canvas, buffer, area, &[("transitions", parts.title)]);
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
                pen.line(&words(canvas, &Changes::from(&recent.transition)));
            }
            Entry::Task(event) => {
                pen.text(&event.happening.text(), canvas.theme.style(happening_meaning(&event.happening)));
            }
        }
    }
}

/// Something that happened to a terminal or to a task.
enum Entry<'a> {
    Terminal(&'a RecentTransition),
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

    fn at(&self) -> Moment {
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
pub fn happening_meaning(happening: &Happening) -> Meaning {
    match happening {
        Happening::Started => Meaning::Working,
        Happening::Exited { code: Some(0), .. } => Meaning::Finished,
        Happening::Exited { .. } => Meaning::Failed,
        Happening::Notify { .. } | Happening::Input { .. } => Meaning::Waits,
        Happening::Disappeared { .. } => Meaning::Gone,
    }
}

/// What a transition changed, whether this process saw it or the history kept it.
pub struct Changes<'a> {
    /// The public names of the fields with their old and new values.
    pub changed: Vec<(&'a str, &'a Value, &'a Value)>,
    pub summary: &'a Summary,
    pub note: Option<&'a str>,
}

impl<'a> From<&'a Transition> for Changes<'a> {
    fn from(transition: &'a Transition) -> Self {
        let changed =
            transition.changed.iter().map(|change| (change.field.as_ref(), &change.from, &change.to)).collect();
        Self { changed, summary: &transition.summary, note: transition.note.as_deref() }
    }
}

/// What changed, the most telling first.
pub fn words(canvas: &Canvas<'_>, transition: &Changes<'_>) -> Vec<(String, Style)> {
    let quiet = canvas.theme.parts.quiet;
    let has = |name| transition.changed.iter().any(|(path, ..)| field(path) == name);
    let (comes_or_goes, has_phase) = (has("availability"), has("phase"));
    let mut changes: Vec<(u8, String, Style)> = Vec::new();
    for (path, from, to) in &transition.changed {
        let name = field(path);
        // Of a terminal that comes or goes, all the rest is said by what it is now; and a phase names the dialog that
        // stands behind a change of the context.
        let is_said =
            (comes_or_goes && !matches!(name, "availability" | "result")) || (has_phase && name == "ui_context");
        if !is_said {
            let (from, to) = (value(from), current(name, value(to), transition.summary));
            let meaning = meaning(name, &to, transition.summary.ui_context);
            let style = meaning.map_or(quiet, |meaning| canvas.theme.style(meaning));
            changes.push((rank(name), told(name, &from, &to), style));
        }
    }
    changes.sort_by_key(|(rank, ..)| *rank);
    if changes.first().is_some_and(|(rank, ..)| *rank < FOLLOWS) {
        changes.retain(|(rank, ..)| *rank < FOLLOWS);
    }
    let mut words: Vec<(String, Style)> = Vec::new();
    for (_, text, style) in changes {
        if !words.is_empty() {
            words.push((", ".to_owned(), quiet));
        }
        words.push((text, style));
    }
    if let Some(note) = transition.note {
        let note = if words.is_empty() { note.to_owned() } else { format!("  ({note})") };
        words.push((note, quiet));
    }
    words
}

/// How much a field tells an operator; the lowest comes first.
fn rank(field: &str) -> u8 {
    match field {
        "availability" => 0,
        "phase" => 1,
        "result" => 2,
        "ui_context" => 3,
        "background_work" => 4,
        "probe_error" | "parse_error" => 5,
        "ready_posture" | "business_state" | "input_mode" | "source" | "process_state" | "transport_state"
        | "parse_status" => FOLLOWS,
        _ => 7,
    }
}

/// The new value of a field, in place of "unknown" or "available" what the terminal does now.
fn current(field: &str, to: String, summary: &Summary) -> String {
    let phase = summary.phase.word();
    match (field, to.as_str()) {
        ("phase", "unknown") => context_word(summary.ui_context).unwrap_or("unknown").to_owned(),
        ("availability", "available") if phase == "unknown" => {
            context_word(summary.ui_context).unwrap_or("available").to_owned()
        }
        ("availability", "available") => phase.to_owned(),
        _ => to,
    }
}

/// A change in words: `active → ready`, `failed`, `draft no → yes`.
fn told(field: &str, from: &str, to: &str) -> String {
    let (from, to) = (short(field, from), short(field, to));
    match field {
        "phase" | "availability" => format!("{from} → {to}"),
        // A result needs no "from": the turn that ended before is another one.
        "result" if to == "–" => format!("{from} withdrawn"),
        "result" => to,
        _ => format!("{} {from} → {to}", label(field)),
    }
}

/// The last part of a field's public name.
fn field(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// What a field is called in the pane.
fn label(field: &str) -> &str {
    match field {
        "accepting_input" => "accepting",
        "editing_input" => "draft",
        "ready_posture" => "posture",
        "pending_input" => "queued",
        "background_work" => "background",
        "ui_context" => "context",
        "business_state" => "business",
        "input_mode" => "input",
        "process_state" => "process",
        "transport_state" => "transport",
        "parse_status" => "parsing",
        other => other,
    }
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

/// A value in the words of the table.
fn short(field: &str, word: &str) -> String {
    match (field, word) {
        ("result", "known_failure") => "failed".to_owned(),
        ("result", "none") => "–".to_owned(),
        ("ui_context", "normal_prompt") => "prompt".to_owned(),
        ("ui_context", "approval_prompt") => "approval".to_owned(),
        ("ui_context", "trust_prompt") => "trust".to_owned(),
        ("ui_context", "selection_menu") => "menu".to_owned(),
        ("ui_context", "slash_command") => "slash".to_owned(),
        _ => word.replace('_', " "),
    }
}

/// What a change to a value means to an operator.
fn meaning(field: &str, to: &str, context: UiContext) -> Option<Meaning> {
    let dialog = || {
        let asks = matches!(
            context,
            UiContext::ApprovalPrompt | UiContext::Question | UiContext::TrustPrompt | UiContext::Setup
        );
        if asks { Meaning::Waits } else { Meaning::Unknown }
    };
    match (field, to) {
        ("phase", "active") => Some(Meaning::Working),
        ("phase", "ready") => Some(Meaning::Ready),
        ("phase", _) => Some(dialog()),
        ("result", "success") => Some(Meaning::Finished),
        ("result", "interrupted") => Some(Meaning::Interrupted),
        ("result", "known_failure") => Some(Meaning::Failed),
        ("ui_context", "approval_prompt" | "question" | "trust_prompt" | "setup") => Some(Meaning::Waits),
        ("availability", "active") => Some(Meaning::Working),
        ("availability", "ready") => Some(Meaning::Ready),
        ("availability", "approval" | "question" | "trust" | "setup") => Some(Meaning::Waits),
        ("availability", "error") | ("probe_error" | "parse_error", _) => Some(Meaning::Error),
        ("availability", "tui_down" | "unavailable") => Some(Meaning::Gone),
        ("availability", _) => Some(Meaning::Unknown),
        ("background_work", "yes") => Some(Meaning::Working),
        _ => None,
    }
}
