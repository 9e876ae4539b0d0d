//! The first line: how many need what, which servers answer, and how old the data is.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::arrangement::{self, waiting_since};
use super::canvas::Canvas;
use super::meaning::Meaning;
use super::table::MUTED;
use super::text::{self, Pen};
use super::times;
use crate::fleet::{Health, ServerView, View};
use crate::moment::{Moment, Span};

/// A frame is drawn this much before the age that it states is reached, so that it is never older than it says.
const EARLY: Span = Span::from_millis(100);
/// From this age on the data is told to be old.
const OLD: Span = Span::from_secs(5);

/// A stretch of text in one style.
type Part = (String, Style);

/// Draws the header. Where it does not all fit, the name goes first, then the servers that are well, then the counts'
/// words, then what is wrong with which server; that something is, the counts and the age of the data stay longest.
pub fn draw(canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) {
    let parts = &canvas.theme.parts;
    let name = || vec![("fleetwatch".to_owned(), parts.title)];
    let counts = Counts::of(canvas, view);
    let [words, brief, glyphs] = [Told::Full, Told::Words, Told::Glyphs].map(|told| counts.parts(canvas, told));
    let each = each_server(canvas, view);
    let servers = listed(canvas, each.iter().map(|(_, part)| part));
    let troubled = listed(canvas, each.iter().filter(|(health, _)| **health != Health::Up).map(|(_, part)| part));
    let data = data(canvas, view);
    let failing = failing(canvas, view);
    let attempts: [[Vec<Part>; 4]; 10] = [
        [name(), words.clone(), servers.clone(), data.clone()],
        [Vec::new(), words.clone(), servers.clone(), data.clone()],
        [Vec::new(), words.clone(), troubled.clone(), data.clone()],
        [Vec::new(), brief, troubled.clone(), data.clone()],
        [name(), glyphs.clone(), servers.clone(), data.clone()],
        [Vec::new(), glyphs.clone(), servers, data.clone()],
        [Vec::new(), glyphs.clone(), troubled, data.clone()],
        [Vec::new(), glyphs.clone(), failing, data.clone()],
        [Vec::new(), glyphs.clone(), Vec::new(), data],
        [Vec::new(), glyphs, Vec::new(), Vec::new()],
    ];
    let room = usize::from(area.width);
    let last = attempts.len() - 1;
    let fitting = attempts.iter().position(|attempt| needed(attempt) <= room).unwrap_or(last);
    let [name, counts, servers, data] = &attempts[fitting];
    let mut pen = Pen::new(buffer, area, 0);
    pen.skip(1);
    pen.line(name);
    pen.skip(if name.is_empty() { 0 } else { GAP });
    pen.line(counts);
    let right = width(servers) + width(data) + if servers.is_empty() || data.is_empty() { 0 } else { usize::from(GAP) };
    let blank = usize::from(pen.room()).saturating_sub(right + 1);
    pen.skip(u16::try_from(blank).unwrap_or(0));
    pen.line(servers);
    pen.skip(if servers.is_empty() || data.is_empty() { 0 } else { GAP });
    pen.line(data);
}

/// Blanks between two parts.
const GAP: u16 = 3;

/// The cells that the parts take with the blanks between and around them.
fn needed(parts: &[Vec<Part>]) -> usize {
    let shown = || parts.iter().filter(|part| !part.is_empty());
    shown().map(|part| width(part)).sum::<usize>() + usize::from(GAP) * shown().count().saturating_sub(1) + 2
}

fn width(part: &[Part]) -> usize {
    part.iter().map(|(text, _)| text::width(text)).sum()
}

/// The moment at which the age that a header drawn now states will no longer be true.
pub fn stale_at(view: &View<'_>) -> Option<Moment> {
    let oldest = oldest_answer(view)?;
    let (_, limit) = bound(view.now.since(oldest));
    Some(oldest + limit - EARLY)
}

/// How the counts are told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    /// In words, and with how long the operator has been waited for.
    Full,
    Words,
    Glyphs,
}

/// How many terminals and tasks there are of each meaning.
struct Counts {
    of: [usize; Meaning::ALL.len()],
    /// Those that count nowhere else.
    muted: usize,
    /// Since when the operator is waited for longest.
    longest: Option<Moment>,
}

impl Counts {
    fn of(canvas: &Canvas<'_>, view: &View<'_>) -> Self {
        let mut counts = Self { of: [0; Meaning::ALL.len()], muted: 0, longest: None };
        for item in arrangement::all(view) {
            if canvas.arrangement.flags.is_muted(item) {
                counts.muted += 1;
                continue;
            }
            let meaning = item.meaning();
            counts.of[meaning as usize] += 1;
            if meaning == Meaning::Waits {
                counts.longest = [counts.longest, waiting_since(item)].into_iter().flatten().min();
            }
        }
        counts
    }

    /// Those that occur, in words or by their glyphs.
    fn parts(&self, canvas: &Canvas<'_>, told: Told) -> Vec<Part> {
        let in_words = told != Told::Glyphs;
        let quiet = canvas.theme.parts.quiet;
        let mut parts: Vec<Part> = Vec::new();
        for meaning in Meaning::ALL.into_iter().filter(|&meaning| self.of[meaning as usize] > 0) {
            if !parts.is_empty() {
                parts.push((if in_words { " · " } else { " " }.to_owned(), quiet));
            }
            let look = canvas.theme.look(meaning);
            let count = self.of[meaning as usize];
            parts.push(match (in_words, meaning) {
                (false, _) => (format!("{}{count}", canvas.glyph(meaning)), look.style),
                (true, Meaning::Waits) => {
                    // The longest wait says more than the count: one that is new can be let go for now.
                    let longest = self.longest.filter(|_| told == Told::Full);
                    let longest = longest.map(|since| format!(" {}", times::running(canvas.now.since(since))));
                    let word = if count == 1 { "needs you" } else { look.word.as_str() };
                    (format!("{count} {word}{}", longest.unwrap_or_default()), look.style)
                }
                (true, _) => (format!("{count} {}", look.word), look.style),
            });
        }
        if self.muted > 0 {
            let separator = if in_words { " · " } else { " " };
            let separator = if parts.is_empty() { "" } else { separator };
            let count = self.muted;
            let told = if in_words { format!("{count} muted") } else { format!("{MUTED}{count}") };
            parts.push((format!("{separator}{told}"), quiet));
        }
        if parts.is_empty() {
            parts.push(("no terminals".to_owned(), quiet));
        }
        parts
    }
}

/// Each server with its terminals, or with what is wrong with it.
fn each_server<'a>(canvas: &Canvas<'_>, view: &View<'a>) -> Vec<(&'a Health, Part)> {
    let part = |server: &ServerView| {
        let kind = if server.id.host.is_some() { " (ssh)" } else { "" };
        let tasks = view.tasks.iter().filter(|task| task.key.server == server.id).count();
        match health(server, view.now) {
            None => (format!("{} {}{kind}", server.id, server.terminals + tasks), canvas.theme.parts.quiet),
            Some(trouble) => (format!("{} {trouble}{kind}", server.id), canvas.theme.style(Meaning::Error)),
        }
    };
    view.servers.iter().map(|server| (&server.health, part(server))).collect()
}

/// Parts with a dot between them.
fn listed<'a>(canvas: &Canvas<'_>, parts: impl Iterator<Item = &'a Part>) -> Vec<Part> {
    let mut listed: Vec<Part> = Vec::new();
    for part in parts {
        if !listed.is_empty() {
            listed.push((" · ".to_owned(), canvas.theme.parts.quiet));
        }
        listed.push(part.clone());
    }
    listed
}

/// That something is wrong with a server, or with how many of them.
fn failing(canvas: &Canvas<'_>, view: &View<'_>) -> Vec<Part> {
    let failing: Vec<&ServerView> = view.servers.iter().copied().filter(|server| server.health != Health::Up).collect();
    let told = match &failing[..] {
        [] => return Vec::new(),
        [one] => one.id.to_string(),
        several => format!("{} servers", several.len()),
    };
    vec![(format!("{} {told}", canvas.glyph(Meaning::Error)), canvas.theme.style(Meaning::Error))]
}

/// What is wrong with a server, in a few words.
fn health(server: &ServerView, now: Moment) -> Option<String> {
    match &server.health {
        Health::Up => None,
        Health::Waiting => Some("no answer yet".to_owned()),
        Health::NoServer(_) => Some("no server".to_owned()),
        Health::Failed(problem) => {
            let since = server.answered_at.map(|at| format!(" {}", times::age(now.since(at)))).unwrap_or_default();
            Some(format!("! {}{since}", problem.kind.replace('_', " ")))
        }
    }
}

fn data(canvas: &Canvas<'_>, view: &View<'_>) -> Vec<Part> {
    let quiet = canvas.theme.parts.quiet;
    let trouble = canvas.history_trouble.map(|trouble| {
        let glyph = canvas.glyph(Meaning::Error);
        (format!("{glyph} history {trouble}"), canvas.theme.style(Meaning::Error))
    });
    let muted = canvas.muted.then(|| ("notices off".to_owned(), canvas.theme.style(Meaning::Stalled)));
    let data = oldest_answer(view).map(|oldest| {
        let age = view.now.since(oldest);
        let style = if age >= OLD { canvas.theme.style(Meaning::Error) } else { quiet };
        (format!("data <{}", bound(age).0), style)
    });
    let mut parts: Vec<Part> = Vec::new();
    for part in [trouble, muted, data].into_iter().flatten() {
        if !parts.is_empty() {
            parts.push(("   ".to_owned(), quiet));
        }
        parts.push(part);
    }
    parts
}

/// A round time that an age is below, in words and as a span. It is rounded up, never down, and in steps that are so
/// wide that the usual pause between two looks does not make it flicker.
fn bound(age: Span) -> (String, Span) {
    const STEPS: [u64; 10] = [2, 3, 5, 10, 15, 20, 30, 45, 60, 90];
    let seconds = (age.as_millis() + EARLY.as_millis()) / 1000 + 1;
    match STEPS.into_iter().find(|&step| seconds <= step) {
        Some(step) => (format!("{step}s"), Span::from_secs(step)),
        None if seconds <= 7200 => {
            let minutes = seconds.div_ceil(60);
            (format!("{minutes}m"), Span::from_secs(minutes * 60))
        }
        None => {
            let hours = seconds.div_ceil(3600);
            (format!("{hours}h"), Span::from_secs(hours * 3600))
        }
    }
}

/// The oldest answer that anything on the frame rests on. A server that never answered shows nothing.
fn oldest_answer(view: &View<'_>) -> Option<Moment> {
    view.servers.iter().filter_map(|server| server.answered_at).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stated_age_is_never_below_the_true_one() {
        for ms in (0..40_000_000).step_by(377) {
            let (_, limit) = bound(Span::from_millis(ms));
            assert!(limit.as_millis() > ms, "{ms} ms");
        }
        assert_eq!(bound(Span::from_millis(20)).0, "2s");
        assert_eq!(bound(Span::from_millis(1950)).0, "3s");
        assert_eq!(bound(Span::from_secs(1050)).0, "18m");
    }
}
