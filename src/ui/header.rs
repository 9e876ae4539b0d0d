//! The header above the table, and what replaces the table when there is nothing to list: how many need what, which servers
//! answer, how old the data is, and which display settings differ from the usual ones.

use jiff::tz::TimeZone;
use ratatui::prelude::{Buffer, Line, Rect};

use super::theme::MUTED;
use super::{Action, Canvas, Context, Item, Part, blank, line, span, text, times};
use crate::fleet::{ServerHealth, ServerId, ServerView, View};
use crate::present::arrangement::Sort;
use crate::present::item::ItemCounts;
use crate::state::{Problem, Since};
use crate::status::Status;
use crate::time::{Span, Timestamp};
use crate::tracker::HANDOVER;

/// A frame is drawn this much before the age that it states is reached, so that it is never older than it says.
const EARLY: Span = Span::from_millis(100);

/// From this width on the name of the program stands before the counts, and these are in words.
const WIDE: u16 = 100;

/// Draws the header: in a narrow one only those that wait are counted in words, and the others by their glyphs. What has no room
/// goes in one order: the words of the least urgent counts, then what is wrong with which server; whole counts, the least urgent
/// first; that something is wrong with a server, and last how old the data is.
pub fn draw(canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) {
    let is_wide = area.width >= WIDE;
    let words = if is_wide { Status::GROUPS.len() + 1 } else { 1 };
    let name = if is_wide { span("fleetwatch", canvas.theme.parts.title) } else { blank(0) };
    let counts = Counts::of(canvas, view);
    let mut left = counts.parts(canvas, words);
    let mut right = vec![data(canvas, view), troubled(canvas, view)];
    // Room is kept for what may still grow, so that it changes nothing but itself.
    let growth = counts.age_growth(canvas.now) + DATA.saturating_sub(line::width(&right[0]));
    let cells = |lines: &[Line<'_>]| lines.iter().map(line::width).sum::<usize>();
    let is_too_wide = |left: &[Line<'_>], right: &[Line<'_>]| {
        let gaps = right.iter().filter(|line| line.width() > 0).count() + usize::from(is_wide);
        let digits = left.iter().filter(|line| has_one_digit(line)).count();
        let all = text::width(&name.content) + cells(left) + digits + cells(right) + growth;
        all + gaps * GAP + 2 > usize::from(area.width)
    };
    for words in (1..words).rev() {
        if is_too_wide(&left, &right) {
            left = counts.parts(canvas, words);
        }
    }
    if is_too_wide(&left, &right) {
        right[1] = failing(canvas, view);
    }
    while is_too_wide(&left, &right) {
        let dropped = if left.len() > 1 { left.pop() } else { right.pop() };
        if dropped.is_none() {
            break;
        }
    }
    right.retain(|line| line.width() > 0);
    let mut line = Line::from(vec![blank(1), name, blank(if is_wide { GAP } else { 0 })]);
    line.extend(left.into_iter().flatten());
    let right = apart(right.into_iter().rev());
    let taken = line::width(&right) + 1;
    line += blank(line::room(area, &line).saturating_sub(taken));
    line.extend(right);
    line::draw(buffer, area, line);
}

/// Blanks between two parts.
const GAP: usize = 3;

/// Lines one behind the other, with a gap between them.
fn apart(lines: impl Iterator<Item = Line<'static>>) -> Line<'static> {
    let gap = |nth| blank(if nth == 0 { 0 } else { GAP });
    lines.enumerate().flat_map(|(nth, line)| std::iter::once(gap(nth)).chain(line)).collect()
}
/// Separates counts and servers; no status has this sign.
const BETWEEN: &str = " │ ";
/// The cells of `data <90s`: room is kept for it whatever the age.
const DATA: usize = 9;
/// The cells of `119m`, in the same way.
const AGE: usize = 4;

/// The moment at which the age that a header drawn now states will no longer be true.
pub fn stale_at(view: &View<'_>) -> Option<Timestamp> {
    let oldest = oldest_answer(view)?;
    let (_, limit) = bound(view.now.since(oldest));
    Some(oldest + limit - EARLY)
}

/// What is counted together.
#[derive(Clone, Copy)]
enum HeaderCount {
    EndedWithServer,
    Of(Status),
    Muted,
}

/// How many terminals and tasks there are of each group of statuses.
#[derive(Clone, Default)]
struct Counts<'a> {
    of: ItemCounts,
    /// Those that count nowhere else.
    muted: usize,
    /// Agents that ended with their tmux server, and those of them cut off in mid-turn.
    ended_with_server: (usize, usize),
    /// Agents that cannot be read now, and asked something when last read.
    asked_before: usize,
    /// Who has waited longest for the operator, and since when.
    longest: Option<(Since, &'a str)>,
    /// What is said where there is nothing to count.
    nothing: &'static str,
}

impl<'a> Counts<'a> {
    fn of(canvas: &Canvas<'_>, view: &View<'a>) -> Self {
        let is_asking = view.servers.iter().all(|server| server.health == ServerHealth::Waiting);
        let nothing = if is_asking { "asking tmux" } else { "no terminals" };
        let mut counts = Self { nothing, ..Self::default() };
        let ended = EndedServers::of(view);
        for item in Item::all(view) {
            if canvas.memory.arrangement.flags.is_muted(item) {
                counts.muted += 1;
                continue;
            }
            let status = item.status();
            // One cause is counted once, whether it was looked at or not.
            if ended.took(item) {
                let is_cut_off = item.terminal().is_some_and(|terminal| terminal.state.last_turn.is_cut_off());
                let (all, cut_off) = &mut counts.ended_with_server;
                (*all, *cut_off) = (*all + 1, *cut_off + usize::from(is_cut_off));
                continue;
            }
            counts.of.add(item);
            counts.asked_before += usize::from(item.asked_before());
            if status.needs_operator() {
                let waits = [counts.longest, Some((item.since(), item.id()))].into_iter().flatten();
                counts.longest = waits.min_by_key(|(since, _)| since.at);
            }
        }
        counts
    }

    /// The cells that the age of the longest wait may still need.
    fn age_growth(&self, now: Timestamp) -> usize {
        self.longest.map_or(0, |(since, _)| AGE.saturating_sub(text::width(&times::lasting(since, now))))
    }

    /// The counts above zero, most urgent first, with separators: some in words, the others by their glyphs.
    fn parts(&self, canvas: &Canvas<'_>, words: usize) -> Vec<Line<'static>> {
        let quiet = canvas.theme.parts.quiet;
        let occurring = Status::GROUPS.into_iter().filter(|&status| self.of.count(status) > 0);
        let (waiting, others): (Vec<Status>, Vec<Status>) = occurring.partition(|status| status.needs_operator());
        let ended = (self.ended_with_server.0 > 0).then_some(HeaderCount::EndedWithServer);
        // That somebody waits on another server comes before what is over.
        let kinds = waiting.into_iter().map(HeaderCount::Of).chain(ended);
        let kinds = kinds.chain(others.into_iter().map(HeaderCount::Of));
        let kinds = kinds.chain((self.muted > 0).then_some(HeaderCount::Muted));
        let mut parts: Vec<Line<'_>> = Vec::new();
        let mut before = None;
        for kind in kinds {
            let in_words = match kind {
                HeaderCount::EndedWithServer => true,
                HeaderCount::Of(status) => status.place() < words,
                HeaderCount::Muted => words > Status::GROUPS.len(),
            };
            let between = before.replace(in_words).map(|before| match (before, in_words) {
                (_, true) => BETWEEN,
                (true, false) => "   ",
                (false, false) => " ",
            });
            let count = match kind {
                HeaderCount::Of(status) => self.part(canvas, status, in_words),
                HeaderCount::EndedWithServer => self.ended(canvas),
                HeaderCount::Muted if in_words => span(format!("{} muted", self.muted), quiet),
                HeaderCount::Muted => span(format!("{MUTED}{}", self.muted), quiet),
            };
            parts.push(between.map(|between| span(between, quiet)).into_iter().chain([count]).collect());
        }
        if parts.is_empty() {
            parts.push(span(self.nothing, quiet).into());
        }
        parts
    }

    /// How many a server took with it: one cause, however their turns stood.
    fn ended(&self, canvas: &Canvas<'_>) -> Part {
        let style = canvas.theme.style(Status::Failed);
        let (all, cut_off) = self.ended_with_server;
        let words = match cut_off {
            0 => format!("{all} ended with tmux"),
            _ => format!("{all} ended with tmux, {cut_off} in mid-turn"),
        };
        span(words, style)
    }

    fn part(&self, canvas: &Canvas<'_>, status: Status, in_words: bool) -> Part {
        let appearance = canvas.theme.appearance(status);
        if !in_words {
            let sign = canvas.glyph(self.of.sign_of(status));
            return span(format!("{sign}{}", self.of.count(status)), appearance.style);
        }
        // The longest wait says more than the count: one that is new can be let go for now.
        let longest = self.longest.filter(|_| status.needs_operator());
        let longest = longest.map(|(since, name)| format!(": {name} {}", times::lasting(since, canvas.now)));
        let asked = match (status, self.asked_before) {
            (Status::Error, asked @ 1..) => format!(" ({asked} asked before)"),
            _ => String::new(),
        };
        span(format!("{}{asked}{}", self.of.words(status), longest.unwrap_or_default()), appearance.style)
    }
}

/// Whether the number of a count may become one digit longer.
fn has_one_digit(count: &Line<'_>) -> bool {
    let words = count.iter().flat_map(|span| span.content.chars());
    words.skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).count() == 1
}

/// What is wrong with which server.
fn troubled(canvas: &Canvas<'_>, view: &View<'_>) -> Line<'static> {
    let style = canvas.theme.style(Status::Error);
    let part = |server: &&ServerView| {
        let kind = if server.id.host.is_some() { " (host)" } else { "" };
        let trouble = health(server, view)?;
        Some(span((canvas.hint)(&format!("{} {trouble}{kind}", called(server, view))), style))
    };
    listed(canvas, BETWEEN, view.servers.iter().filter_map(part))
}

/// The name of a troubled server; the only one, on this machine, needs none.
fn called(server: &ServerView, view: &View<'_>) -> String {
    let is_only = view.servers.len() == 1 && server.id.host.is_none();
    let is_silent = matches!(&server.health, ServerHealth::Failed(problem) if problem.kind == Problem::TIMEOUT);
    if is_only && is_silent { "tmux".to_owned() } else { server.id.to_string() }
}

/// Parts one behind the other.
fn listed(canvas: &Canvas<'_>, between: &str, parts: impl Iterator<Item = Part>) -> Line<'static> {
    let between = |nth| span(if nth == 0 { "" } else { between }, canvas.theme.parts.quiet);
    parts.enumerate().flat_map(|(nth, part)| [between(nth), part]).collect()
}

/// That something is wrong with a server, or with how many of them.
fn failing(canvas: &Canvas<'_>, view: &View<'_>) -> Line<'static> {
    let failing: Vec<&ServerView> =
        view.servers.iter().copied().filter(|server| server.health != ServerHealth::Up).collect();
    let message = match &failing[..] {
        [] => return Line::default(),
        [one] => called(one, view),
        several => format!("{} servers", several.len()),
    };
    span(format!("{} {message}", canvas.glyph(Status::Error)), canvas.theme.style(Status::Error)).into()
}

/// What is wrong with a server, in a few words.
fn health(server: &ServerView, view: &View<'_>) -> Option<String> {
    let now = view.now;
    match &server.health {
        ServerHealth::Up => None,
        ServerHealth::Waiting => Some("no answer yet".to_owned()),
        ServerHealth::NoServer(_) => {
            // The rows still shown date from before it ended.
            let is_shown = Item::all(view).iter().any(|item| item.key().server == server.id);
            let ended = server.ended_at.filter(|_| is_shown);
            Some(ended.map_or_else(|| "no tmux".to_owned(), |at| format!("tmux ended {} ago", now.since(at).rounded())))
        }
        ServerHealth::Failed(problem) => {
            let since = server.answered_at.map(|at| now.since(at).rounded());
            Some(match (problem.kind.as_str(), since) {
                (Problem::TIMEOUT, Some(since)) => format!("! no answer for {since}"),
                (Problem::TIMEOUT, None) => "! no answer".to_owned(),
                (kind, since) => {
                    format!("! {}{}", kind.replace('_', " "), since.map(|it| format!(" {it}")).unwrap_or_default())
                }
            })
        }
    }
}

fn data(canvas: &Canvas<'_>, view: &View<'_>) -> Line<'static> {
    let quiet = canvas.theme.parts.quiet;
    let trouble = canvas.history_trouble.map(|trouble| {
        let glyph = canvas.glyph(Status::Error);
        span(format!("{glyph} history {trouble}"), canvas.theme.style(Status::Error))
    });
    let muted = canvas.muted.then(|| span("notices off", canvas.theme.style(Status::Stalled)));
    let data = oldest_answer(view).map(|oldest| {
        let age = view.now.since(oldest);
        // By then another process would poll.
        let style = if age >= HANDOVER { canvas.theme.style(Status::Error) } else { quiet };
        // Where no server is left, nothing that is shown is that young.
        let is_of_now = view.servers.iter().any(|server| !matches!(server.health, ServerHealth::NoServer(_)));
        span(format!("{} <{}", if is_of_now { "data" } else { "asked" }, bound(age).0), style)
    });
    listed(canvas, "   ", [trouble, muted, data].into_iter().flatten())
}

/// A round time that an age is below, in words and as a span. It is rounded up, never down, and in steps that are so
/// wide that the usual pause between two polls does not make it flicker.
fn bound(age: Span) -> (String, Span) {
    const STEPS: [u64; 9] = [3, 5, 10, 15, 20, 30, 45, 60, 90];
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

/// The oldest answer of a server that answers. One that fails has a time of its own, and its rows say so; one that never
/// answered shows nothing.
fn oldest_answer(view: &View<'_>) -> Option<Timestamp> {
    let oldest = |fails: bool| {
        let servers = view.servers.iter().filter(move |it| matches!(it.health, ServerHealth::Failed(_)) == fails);
        servers.filter_map(|server| server.answered_at).min()
    };
    oldest(false).or_else(|| oldest(true))
}

/// Draws filter, order, groups, marks and servers that have ended, as far as there are any. Returns whether there is anything to say.
pub fn draw_bar(canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>, is_small: bool) -> bool {
    let (arrangement, parts) = (&canvas.memory.arrangement, &canvas.theme.parts);
    // Beside each stands the key that changes it: it may have been pressed by mistake.
    let key = |action| {
        let key = canvas.keymap.key_for(Context::Fleet, action);
        span(key.map(|key| format!(" ({key})")).unwrap_or_default(), parts.quiet)
    };
    let mut words: Vec<Line<'_>> = Vec::new();
    if !arrangement.filter.is_empty() {
        let filter = span(text::cut(arrangement.filter.text(), 40), parts.title);
        let note = span(format!("  {}", arrangement.filter_note(view)), parts.quiet);
        words.push(vec![span("/ ", parts.key), filter, note].into());
    }
    if arrangement.sort != Sort::Attention {
        let sort = span(arrangement.sort.name(), parts.title);
        words.push(vec![span("by ", parts.quiet), sort, key(Action::Sort)].into());
    }
    if let Some(grouping) = arrangement.grouping.name() {
        let grouping = span(grouping, parts.title);
        words.push(vec![span("grouped by ", parts.quiet), grouping, key(Action::Sort)].into());
    }
    let marked: Vec<Item<'_>> = arrangement.flags.marked(view).collect();
    let (marked, hidden) = (marked.len(), arrangement.hidden(&marked, view));
    if marked > 0 {
        let hidden = if hidden > 0 { format!(", {hidden} of them hidden") } else { String::new() };
        words.push(vec![span(format!("{marked} marked{hidden}"), parts.key), key(Action::Close)].into());
    }
    let taken: usize = words.iter().map(|words| line::width(words) + GAP).sum();
    let cells = usize::from(area.width).saturating_sub(taken + 2);
    // The only line of a small frame is the header's.
    let ended = EndedServers::of(view).told(view, canvas.zone, cells).filter(|_| !is_small);
    words.extend(ended.map(|ended| Line::from(span(ended, canvas.theme.style(Status::Error)))));
    let has_words = !words.is_empty();
    let mut bar = Line::from(blank(1));
    bar.extend(apart(words.into_iter()));
    line::draw(buffer, area, bar);
    has_words
}

/// What is the matter, then what to do about it.
type EmptyNotice = (String, Vec<String>);

/// Draws the explanation into the middle of an area.
pub fn draw_empty(canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) {
    let (what, hints) = match view.terminals.len() + view.tasks.len() {
        0 => {
            let (what, hints) = explanation(view);
            (what, others(&canvas.memory.other_servers).into_iter().chain(hints).collect())
        }
        count => (unmatched(canvas, count), Vec::new()),
    };
    let parts = &canvas.theme.parts;
    // Why a host cannot be reached may take several rows, and its end is what matters.
    let cells = usize::from(area.width).saturating_sub(2);
    let lines = |text: &str, style| text::hanging(text, cells).into_iter().map(move |row| Line::from(span(row, style)));
    let mut said: Vec<Line<'_>> = lines(&what, parts.title).chain([Line::default()]).collect();
    said.extend(hints.iter().flat_map(|hint| lines(&(canvas.hint)(hint), parts.quiet)));
    let height = u16::try_from(said.len()).unwrap_or(u16::MAX);
    // Where there is no room for a blank row between, what to do matters more.
    said.retain(|line| area.height > height || line.width() > 0);
    let widest = said.iter().map(line::width).max().unwrap_or(0);
    let left = u16::try_from(usize::from(area.width).saturating_sub(widest) / 2).unwrap_or(0);
    let top = area.height.saturating_sub(height) / 3;
    let inner = Rect { x: area.x + left, y: area.y + top, width: area.width - left, height: area.height - top };
    line::draw_all(buffer, inner, said);
}

/// That none of so many rows matches the filter, and which key shows them again, wherever the keyboard is.
fn unmatched(canvas: &Canvas<'_>, count: usize) -> String {
    let filter = text::cut(canvas.memory.arrangement.filter.text(), 40);
    let key = canvas.keymap.key_for(Context::Fleet, Action::Close);
    let key = key.map_or_else(String::new, |key| format!("; {key} shows all {count}"));
    format!("nothing matches {filter}{key}")
}

/// The most other servers that are named.
const NAMED: usize = 4;

/// The servers of the user that nobody watches, and what would.
fn others(servers: &[ServerId]) -> Option<String> {
    let names: Vec<String> = servers.iter().take(NAMED).map(|server| server.socket.to_string()).collect();
    let more = servers.len().checked_sub(NAMED).filter(|more| *more > 0).map(|more| format!(" and {more} more"));
    let names = format!("{}{}", names.join(", "), more.unwrap_or_default());
    let how = "`socket = \"*\"` in a [[server]] of the configuration watches all";
    (!servers.is_empty()).then(|| format!("Other tmux servers of yours run: {names}. {how}."))
}

fn explanation(view: &View<'_>) -> EmptyNotice {
    let lines = |hints: &[&str]| hints.iter().map(|hint| (*hint).to_owned()).collect();
    let (up, silent): (Vec<&ServerView>, Vec<&ServerView>) =
        view.servers.iter().copied().partition(|server| server.health == ServerHealth::Up);
    if !up.is_empty() {
        let names: Vec<String> = up.iter().map(|server| server.id.to_string()).collect();
        let why = |server: &&ServerView| server.health.problem().map(|problem| problem.message.clone());
        let begin = [
            format!("tmux answers ({}), but no pane runs an agent that fleetwatch knows.", names.join(", ")),
            "Start one in any tmux window (claude, codex, …): it appears here by itself.".to_owned(),
            "`fleetwatch demo` shows a fleet without any agent.".to_owned(),
        ];
        return ("No agents found".to_owned(), begin.into_iter().chain(silent.iter().filter_map(why)).collect());
    }
    let troubled = view.servers.iter().find_map(|server| Some((server, server.health.problem()?)));
    let Some((server, problem)) = troubled else {
        return ("Asking tmux …".to_owned(), lines(&["The first answer takes a moment."]));
    };
    match problem.kind.as_str() {
        "tmux_missing" => (
            problem.message.clone(),
            lines(&[
                "fleetwatch watches agents that run in tmux 3.2 or newer.",
                "Install it with your package manager and make sure it is in the PATH.",
            ]),
        ),
        "tmux_too_old" => (problem.message.clone(), lines(&["fleetwatch needs tmux 3.2 or newer."])),
        _ if matches!(server.health, ServerHealth::NoServer(_)) => (
            match server.id.socket.command() {
                usual if usual == "tmux" => "No tmux server is running".to_owned(),
                _ => format!("No tmux server is running on {}", server.id),
            },
            lines(&[
                &format!("`{} new -s work` starts one; agents in it appear here.", server.id.socket.command()),
                "Name another server with -L NAME or -S PATH, as in tmux.",
                "`fleetwatch demo` shows a fleet without any agent.",
            ]),
        ),
        _ => (
            format!("{} cannot be watched: {}", server.id, problem.message),
            lines(&["fleetwatch keeps trying; `fleetwatch doctor` says more."]),
        ),
    }
}

// The tmux servers that have ended, what ended with them, and the line that says so.

/// The servers that have ended, and when. Mostly none: a frame must not look for the server of every row.
pub struct EndedServers<'a>(Vec<(&'a ServerId, Timestamp)>);

impl<'a> EndedServers<'a> {
    /// Those of a view.
    pub fn of(view: &View<'a>) -> Self {
        let down = view.servers.iter().filter(|server| matches!(server.health, ServerHealth::NoServer(_)));
        Self(down.filter_map(|server| Some((&server.id, server.ended_at?))).collect())
    }

    /// Whether a terminal or task ended because its server did.
    pub fn took(&self, item: Item<'_>) -> bool {
        self.0.iter().any(|(server, at)| **server == item.key().server && item.went_on_until(*at))
    }

    /// Tells which have ended, since when, what they had, and who waited there: by name where that fits; `None` where none of them is
    /// shown.
    pub fn told(&self, view: &View<'_>, zone: &TimeZone, cells: usize) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        let items = Item::all(view);
        let is_of = |server: &ServerId, item: &&Item<'_>| item.key().server == *server;
        let shown = self.0.iter().filter(|(server, _)| items.iter().any(|item| is_of(server, &item)));
        let shown: Vec<&(&ServerId, Timestamp)> = shown.collect();
        let count = items.iter().filter(|item| shown.iter().any(|(server, _)| is_of(server, item))).count();
        let waited = items.iter().filter(|item| self.took(**item) && item.waited_before());
        let mut waited: Vec<&str> = waited.map(|item| item.id()).collect();
        waited.sort_unstable();
        let clock = |at| match view.now.since(at) >= Span::DAY {
            true => times::day_and_clock(at, zone),
            false => times::clock(at, zone),
        };
        let each: Vec<String> = shown.iter().map(|(server, at)| format!("{server} since {}", clock(*at))).collect();
        let gone = format!("tmux gone: {} with {}", each.join(", "), text::counted(count, "terminal"));
        let forms = match waited.len() {
            0 => [gone.clone(), gone],
            many => [waited.join(", "), many.to_string()].map(|who| format!("{gone}; {who} waited for you")),
        };
        let [named, counted] = forms;
        (count > 0).then(|| if text::width(&named) <= cells { named } else { counted })
    }
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
        assert_eq!(bound(Span::from_millis(20)).0, "3s");
        assert_eq!(bound(Span::from_millis(2950)).0, "5s");
        assert_eq!(bound(Span::from_secs(1050)).0, "18m");
    }
}
