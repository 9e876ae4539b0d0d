//! The list of what happened, newest first: when, for how long, what changed, and of the selected one why.

use ratatui::prelude::{Buffer, Line, Modifier, Rect};

use super::state::Drill;
use super::steps::TimelineEntry;
use super::texts::seen_words;
use crate::fleet::Terminal;
use crate::present::sentence;
use crate::present::sentence::Doer;
use crate::record::Body;
use crate::status::{Changed, Status, changed};
use crate::time::{Span, Timestamp};
use crate::ui::{Action, Canvas, Context, Part, blank, line, span, text, times};

/// Rows of evidence below the selected step.
const WHY: usize = 3;
/// Further lines of a prompt that waits.
const PROMPT: usize = 2;
/// `14:02:11`.
const TIME: usize = 8;
/// `119m`.
const LASTED: usize = 4;

impl Drill {
    /// Draws the entries, moved as little as it takes to have the selected one in view.
    pub(super) fn draw_entries(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect) {
        self.drawn.gaps = self.gaps();
        self.drawn.page = usize::from(area.height);
        self.first = self.first_for(canvas, self.drawn.page, self.first.min(self.index()));
        let mut rest = area;
        for index in self.first..self.count() {
            let lines = self.lines(canvas, index, index == self.first);
            let height = u16::try_from(lines.len()).unwrap_or(u16::MAX).min(rest.height);
            self.drawn.entries.push((Rect { height, ..rest }, index));
            line::draw_all(buffer, rest, lines);
            rest = Rect { y: rest.y + height, height: rest.height - height, ..rest };
            if rest.is_empty() {
                return;
            }
        }
        line::draw(buffer, rest, vec![blank(2), span(self.asking.end(), canvas.theme.parts.quiet)]);
    }

    /// Entries: now, and the steps.
    fn count(&self) -> usize {
        self.steps.listed().len() + 1
    }

    fn first_for(&self, canvas: &Canvas<'_>, page: usize, first: usize) -> usize {
        let nearest = first.max(self.index().saturating_sub(page));
        let fits = |first: &usize| {
            let rows = (*first..=self.index()).map(|index| self.lines(canvas, index, index == *first).len());
            rows.sum::<usize>() <= page
        };
        (nearest..self.index()).find(fits).unwrap_or(self.index())
    }

    /// The time behind a step in which nobody watched, before anything else is known.
    fn gap_above(&self, index: usize) -> Option<(Timestamp, Timestamp)> {
        let step = self.entry(index)?;
        let newer = self.entry(index - 1).map_or(self.until, |step| step.at);
        let first = self.drawn.gaps.partition_point(|(from, _)| *from < step.at);
        self.drawn.gaps.get(first).copied().filter(|(from, _)| *from < newer)
    }

    /// How long what a step brought about is known to have lasted.
    fn lasted(&self, index: usize) -> Option<Span> {
        let step = self.entry(index)?;
        let until = self.steps.until(index - 1, self.until)?;
        let first = self.drawn.gaps.partition_point(|(from, _)| *from < step.at);
        let watched = self.drawn.gaps.get(first).map_or(until, |(from, _)| until.min(*from));
        Some(watched.since(step.at))
    }

    fn entry(&self, index: usize) -> Option<&TimelineEntry> {
        self.steps.get(index.checked_sub(1)?)
    }

    /// The day that is named above an entry: of the first one that is shown when it is not today, and wherever it
    /// changes.
    fn day_above(&self, canvas: &Canvas<'_>, index: usize, is_first: bool) -> Option<String> {
        let day = |at| times::day(at, canvas.zone);
        let own = day(self.entry(index)?.at);
        let above = match self.entry(index - 1) {
            Some(newer) if !is_first => day(newer.at),
            _ => day(self.until),
        };
        (own != above).then_some(own)
    }

    fn lines(&self, canvas: &Canvas<'_>, index: usize, is_first: bool) -> Vec<Line<'static>> {
        let parts = &canvas.theme.parts;
        let mut lines: Vec<Line<'_>> = Vec::new();
        if let Some((from, to)) = self.gap_above(index) {
            let message = format!("  not watched for {}", to.since(from).rounded());
            lines.push(span(message, canvas.theme.style(Status::Unknown)).into());
        }
        if let Some(day) = self.day_above(canvas, index, is_first) {
            lines.push(span(format!("  {day}"), parts.title).into());
        }
        let is_selected = index == self.index();
        let mut line = Line::from(span(if is_selected { "› " } else { "  " }, parts.title));
        let lasted = |span: Span| format!("{:>LASTED$}", span.rounded());
        match self.entry(index) {
            None => {
                let (status, since) = (self.shown.item().status(), self.shown.item().since());
                line += span(format!("{:<TIME$}  ", "now"), parts.text);
                line += span(format!("{:>LASTED$}", times::lasting(since, self.until)), parts.quiet);
                line += span(format!("  {} {}", canvas.glyph(status), status.word()), canvas.theme.style(status));
            }
            Some(step) => {
                let time: String = times::wall(step.at, canvas.zone).chars().take(TIME).collect();
                let lasted = self.lasted(index).map_or_else(|| " ".repeat(LASTED), lasted);
                line += span(format!("{time}  {lasted}  "), parts.quiet);
                line.extend(words(canvas, step));
            }
        }
        lines.push(line);
        let indented = |row| Line::from(vec![blank(2 + TIME + 2), row]);
        if index == 0 {
            lines.extend(self.waiting_rows(canvas).into_iter().map(indented));
        }
        if is_selected {
            lines.extend(self.why_rows(index).into_iter().map(|why| indented(span(why, parts.quiet))));
            lines.iter_mut().for_each(|line| {
                line.style = parts.selected;
                line.iter_mut().for_each(|span| span.style = span.style.remove_modifier(Modifier::DIM));
            });
        }
        lines
    }

    /// The prompts that wait until the agent is ready: since when, what they say, and how they are taken back.
    fn waiting_rows(&self, canvas: &Canvas<'_>) -> Vec<Part> {
        let parts = &canvas.theme.parts;
        let mut rows = Vec::new();
        for prompt in &self.waiting {
            let since = self.until.since(prompt.since).rounded();
            let mut said = prompt.text.lines().filter(|line| !line.trim().is_empty());
            let first = said.next().unwrap_or_default();
            rows.push(span(format!("queued for {since}: {first}"), canvas.theme.style(Status::Working)));
            let more: Vec<&str> = said.collect();
            rows.extend(more.iter().take(PROMPT).map(|line| span(format!("  {line}"), parts.text)));
            if more.len() > PROMPT {
                rows.push(span(format!("  and {} more", text::counted(more.len() - PROMPT, "line")), parts.quiet));
            }
        }
        if self.waiting.is_empty() {
            return rows;
        }
        let why = self.shown.item().terminal().and_then(Terminal::prompt_hindrance);
        let why = why.map(|why| format!("waiting {}", why.until()));
        let it = if self.waiting.len() == 1 { "it" } else { "them" };
        let key = canvas.keymap.key_for(Context::Drill, Action::Unqueue);
        let said = why.into_iter().chain(key.map(|key| format!("{key} takes {it} back"))).collect::<Vec<_>>();
        rows.push(span(said.join("; "), parts.quiet));
        rows
    }

    /// The evidence that caused a step.
    fn why_rows(&self, index: usize) -> Vec<String> {
        let seen = self.entry(index).map(|step| seen_words(&step.evidence())).unwrap_or_default();
        let mut lines: Vec<String> = seen.iter().take(WHY).map(|seen| format!("why: {seen}")).collect();
        if seen.len() > WHY {
            lines[WHY - 1] = format!("and {} more", seen.len() - WHY + 1);
        }
        lines
    }
}

/// The sentence of a step, or else all its changes.
fn words(canvas: &Canvas<'_>, step: &TimelineEntry) -> Line<'static> {
    let parts = &canvas.theme.parts;
    let style = |status: Option<Status>, other| status.map_or(other, |status| canvas.theme.style(status));
    // Its name stands above the list.
    if let Some(sentence) = sentence::of(&step.body, "it") {
        let subject = match sentence.actor {
            Doer::Terminal => String::new(),
            Doer::You | Doer::Fleetwatch => format!("{} ", sentence.subject("")),
        };
        let text = span(sentence.text, style(sentence.status, parts.text));
        return vec![span(subject, parts.title), text].into();
    }
    let Some(transition) = step.transition() else {
        let who = if matches!(step.body, Body::Action(_)) { "you" } else { step.body.kind() };
        let what = format!("{who} {}", step.body.what()).replace(['\n', '\t'], " ");
        return span(what.trim_end(), parts.quiet).into();
    };
    let mut words = Line::default();
    for Changed { text, status } in changed(transition) {
        words += span(if words.spans.is_empty() { "" } else { ", " }, parts.quiet);
        words += span(text, style(status, parts.quiet));
    }
    if let Some(note) = &transition.note {
        words += span(if words.spans.is_empty() { note.clone() } else { format!("  ({note})") }, parts.quiet);
    }
    words
}
