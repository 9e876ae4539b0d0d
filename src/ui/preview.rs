//! The screen of the selected terminal, in its own colours, cropped at its live edge.

use ratatui::prelude::{Buffer, Rect};
use ratatui::style::{self, Modifier, Style};

use super::theme::on_ground;
use super::{Canvas, Item, Part, blank, field, frame, line, right, span, text, times};
use crate::fleet::Terminal;
use crate::present::arrangement::Group;
use crate::screen::{self, Row, Screen};
use crate::status::Status;
use crate::tracker;

/// A blank and how long a state has lasted.
const LASTING: usize = 6;

/// Draws the bottom rows of what an item shows, so that what is current is always in the pane: the screen of an agent,
/// or what a task printed.
///
/// `lifted` rows above its end, where it does not fit; returns how far it can be lifted.
pub fn draw<'a>(
    canvas: &Canvas<'_>,
    buffer: &mut Buffer,
    area: Rect,
    item: Option<impl Into<Item<'a>>>,
    lifted: usize,
) -> usize {
    let parts = &canvas.theme.parts;
    let Some(item) = item.map(Into::into) else {
        frame::titled(canvas, buffer, area, vec![span("screen", parts.title)]);
        return 0;
    };
    let place = format!("{}  {}", item.key().pane, item.place());
    let stale = staleness(canvas, item).unwrap_or_default();
    let directory = item.cwd_and_git(canvas.home);
    let mut title = vec![span(item.id(), parts.title)];
    title.extend((lifted > 0).then(|| span("scrolled up", canvas.theme.style(Status::Unknown))));
    title.push(span(place, parts.quiet));
    title.extend([span(stale, canvas.theme.style(Status::Unknown)), span(directory, parts.quiet)]);
    let area = frame::titled(canvas, buffer, area, title);
    draw_inside(canvas, buffer, area, item, lifted)
}

/// Draws what is in a group: its members with their states and what they do, one a line; how many more there are where
/// they do not all fit.
pub fn draw_group(canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, group: &Group, members: &[Item<'_>]) {
    let parts = &canvas.theme.parts;
    let count = text::counted(members.len(), "terminal");
    let title = vec![span(text::seen_from(canvas.home, group.title()), parts.title), span(count, parts.quiet)];
    let area = frame::titled(canvas, buffer, area, title);
    let height = usize::from(area.height);
    let shown = if members.len() > height { height.saturating_sub(1) } else { members.len() };
    let widest = |words: &dyn Fn(Item<'_>) -> usize| members.iter().map(|item| words(*item)).max().unwrap_or(0);
    let name = widest(&|item| text::width(item.id())).min(usize::from(area.width) / 3);
    let state = widest(&|item| text::width(&item.status().word()));
    let member = |item: &Item<'_>| {
        let is_muted = canvas.memory.arrangement.flags.is_muted(*item);
        let style = if is_muted { parts.quiet } else { canvas.theme.style(item.status()) };
        let lasting = right(times::lasting(item.since(), canvas.now), LASTING, style);
        let (glyph, id) = (span(canvas.glyph(item.status()), style), field(item.id(), name, parts.text));
        let what = span(item.what(), if is_muted { parts.quiet } else { parts.text });
        vec![
            blank(1),
            glyph,
            blank(1),
            id,
            blank(2),
            field(item.status().word(), state, style),
            lasting,
            blank(2),
            what,
        ]
    };
    let more = (shown < members.len()).then(|| span(format!(" and {} more", members.len() - shown), parts.quiet));
    line::draw_all(buffer, area, members[..shown].iter().map(member).chain(more.map(|more| vec![more])));
}

/// How old what is shown is, where that is worth saying. A pane that is gone shows nothing newer, and what a shell shows in
/// the pane of an agent that has ended is of now.
pub fn staleness(canvas: &Canvas<'_>, item: Item<'_>) -> Option<String> {
    let state = &item.terminal()?.state;
    let age = canvas.now.since(state.stale.as_ref()?.at);
    match state.has_ended() {
        true => state.is_unavailable().then(|| "its last screen".to_owned()),
        false => (age >= tracker::GAP).then(|| format!("as of {} ago", age.rounded())),
    }
}

/// The rows that [`draw`] has something to say in, with its title.
pub fn height(item: Item<'_>) -> usize {
    let shown = match (item.terminal().and_then(Terminal::screen), item) {
        (Some(screen), _) => screen.last_row().map_or(1, |last| last + 1),
        (None, Item::Task(task)) => printed(task.preview().lines()).max(1),
        (None, Item::Terminal(_)) => 1,
    };
    1 + shown + usize::from(item.trouble().is_some())
}

/// The same without the title.
pub fn draw_inside(canvas: &Canvas<'_>, buffer: &mut Buffer, mut area: Rect, item: Item<'_>, lifted: usize) -> usize {
    let (parts, terminal) = (&canvas.theme.parts, item.terminal());
    if let Some(trouble) = item.trouble()
        && area.height > 1
    {
        // The reason ends with what to do about it, which is of no use when it is cut.
        let cells = usize::from(area.width).saturating_sub(2);
        let lines = text::wrapped(&trouble, cells, usize::from(area.height / 2));
        let line = |line: &String| vec![blank(1), span(line, canvas.theme.style(item.status()))];
        line::draw_all(buffer, area, lines.iter().map(line));
        let taken = u16::try_from(lines.len()).unwrap_or(0);
        area = Rect { y: area.y + taken, height: area.height - taken, ..area };
    }
    let mut say = |text| line::draw(buffer, area, vec![blank(1), span(text, parts.quiet)]);
    match (item, terminal.and_then(Terminal::screen)) {
        (_, Some(screen)) if screen.is_blank() => say("the screen is blank"),
        (_, Some(screen)) => return draw_screen(canvas, buffer, area, &screen, lifted),
        (Item::Task(task), _) => return draw_lines(canvas, buffer, area, task.preview().lines(), lifted),
        (Item::Terminal(_), _) => say("no screen has been captured yet"),
    }
    0
}

/// How many lines of what a task printed there are, down to the last one with anything in it.
fn printed(lines: &[String]) -> usize {
    lines.iter().rposition(|line| !line.trim().is_empty()).map_or(0, |last| last + 1)
}

/// Draws the last lines that a task printed, as far as they are lifted; returns how far they can be.
fn draw_lines(canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, lines: &[String], lifted: usize) -> usize {
    let parts = &canvas.theme.parts;
    let end = printed(lines);
    let most = end.saturating_sub(usize::from(area.height));
    let from = most - lifted.min(most);
    line::draw_all(buffer, area, lines[from..end].iter().map(|line| span(line, parts.text)));
    if end == 0 {
        line::draw(buffer, area, vec![blank(1), span("it has printed nothing yet", parts.quiet)]);
    }
    most
}

/// Draws a screen, `lifted` rows above its end where it does not fit; returns how far it can be lifted.
pub fn draw_screen(canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, screen: &Screen, lifted: usize) -> usize {
    let ground = canvas.theme.parts.screen;
    buffer.set_style(area, ground);
    let rows = live_edge(screen, usize::from(area.height));
    let most = rows.len().saturating_sub(usize::from(area.height));
    let from = most - lifted.min(most);
    line::draw_all(buffer, area, rows[from..].iter().map(|row| line_of(row, usize::from(area.width), ground)));
    most
}

/// The rows of a screen down to the last one with anything in it. Where they do not all fit into `height`, of several blank rows
/// only one is kept: agents leave much room between an answer and their prompt, and both matter.
fn live_edge(screen: &Screen, height: usize) -> Vec<&Row> {
    let end = screen.last_row().map_or(0, |last| last + 1);
    let all = &screen.rows()[..end];
    let is_kept =
        |index: &usize| end <= height || !(all[*index].is_blank() && *index > 0 && all[*index - 1].is_blank());
    (0..end).filter(is_kept).map(|index| &all[index]).collect()
}

/// A row of a screen in its own colours, on the ground that the theme gives it; with `…` where it goes on beyond that many cells.
fn line_of(row: &Row, cells: usize, ground: Style) -> Vec<Part> {
    let is_cut = row.width() > cells;
    let mut room = cells.saturating_sub(usize::from(is_cut));
    let mut line = Vec::new();
    for (part, style) in row.runs() {
        let fitting = if text::width(part) > room { text::fitting(part, room) } else { part };
        room -= text::width(fitting).min(room);
        let style = on_ground(own_style(style), ground);
        line.push(span(fitting, style));
        if fitting.len() < part.len() {
            line.extend(is_cut.then(|| span(text::ELLIPSIS, style)));
            break;
        }
    }
    line
}

/// The style that the program in the pane asked for.
pub fn own_style(style: screen::Style) -> Style {
    let modifiers = [
        (style.bold, Modifier::BOLD),
        (style.dim, Modifier::DIM),
        (style.italic, Modifier::ITALIC),
        (style.underline, Modifier::UNDERLINED),
        (style.inverse, Modifier::REVERSED),
    ];
    let add_modifier = modifiers.iter().filter(|(on, _)| *on).map(|(_, modifier)| *modifier).collect();
    Style {
        fg: Some(own_color(style.foreground)),
        bg: Some(own_color(style.background)),
        add_modifier,
        ..Style::default()
    }
}

fn own_color(color: screen::Color) -> style::Color {
    match color {
        screen::Color::Default => style::Color::Reset,
        screen::Color::Indexed(index) => style::Color::Indexed(index),
        screen::Color::Rgb(r, g, b) => style::Color::Rgb(r, g, b),
    }
}
