//! One prompt to several terminals: who will get it, who will not and why.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::outcomes::{Fate, Outcomes};
use super::recipients::obstacle;
use crate::fleet::{TerminalKey, View};
use crate::ui::canvas::Canvas;
use crate::ui::meaning::Meaning;
use crate::ui::overlay::Desk;
use crate::ui::popup::{self, Line, Scroll};
use crate::ui::text::Pen;
use crate::ui::{Request, find, pane};

/// What a terminal would get.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gets {
    Now,
    WhenReady(&'static str),
    Nothing(&'static str),
}

fn gets(view: &View<'_>, key: &TerminalKey, wait: bool) -> Gets {
    match obstacle(view, key) {
        None => Gets::Now,
        Some(obstacle) if obstacle.may_pass && wait => Gets::WhenReady(obstacle.why),
        Some(obstacle) => Gets::Nothing(obstacle.why),
    }
}

/// Draws the list beside the prompt.
pub fn draw_preview(canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, keys: &[TerminalKey], view: &View<'_>) {
    let parts = &canvas.theme.parts;
    let now = keys.iter().filter(|key| gets(view, key, false) == Gets::Now).count();
    let title = format!("{now} of {} would get it now", keys.len());
    let area = pane::titled(canvas, buffer, area, &[(title.as_str(), parts.title)]);
    for (row, line) in (0..area.height).zip(lines(canvas, keys, false, view)) {
        let mut pen = Pen::new(buffer, area, row);
        pen.skip(1);
        for (text, style) in &line {
            pen.text(text, *style);
        }
    }
}

/// Draws the question whether to send.
pub fn draw_question(
    canvas: &Canvas<'_>,
    buffer: &mut Buffer,
    area: Rect,
    keys: &[TerminalKey],
    wait: bool,
    scroll: &mut Scroll,
    view: &View<'_>,
) {
    let count = keys.iter().filter(|key| !matches!(gets(view, key, wait), Gets::Nothing(_))).count();
    let title = format!("send to {count} of {} terminals?", keys.len());
    popup::draw(canvas, buffer, area, &title, &lines(canvas, keys, wait, view), scroll);
}

fn lines(canvas: &Canvas<'_>, keys: &[TerminalKey], wait: bool, view: &View<'_>) -> Vec<Line> {
    let parts = &canvas.theme.parts;
    let line = |key: &TerminalKey| {
        let name = name(view, key);
        let (meaning, word, why) = match gets(view, key, wait) {
            Gets::Now => (Meaning::Ready, "now", ""),
            Gets::WhenReady(why) => (Meaning::Working, "when ready", why),
            Gets::Nothing(why) => (Meaning::Failed, "not", why),
        };
        let style = canvas.theme.style(meaning);
        vec![(format!("{:<10}  ", word), style), (format!("{name}  "), parts.text), (why.to_owned(), parts.quiet)]
    };
    keys.iter().map(line).collect()
}

/// Asks for the prompt to be sent to whoever gets it, and says what became of each so far.
pub fn send(keys: &[TerminalKey], text: &str, wait: bool, desk: &mut Desk<'_, '_>) -> Outcomes {
    let mut fates = Vec::new();
    for key in keys {
        let fate = match gets(desk.view, key, wait) {
            Gets::Now => {
                desk.ask(Request::Send { key: key.clone(), text: text.to_owned(), force: false });
                Fate::Sending
            }
            Gets::WhenReady(_) => {
                desk.ask(Request::Queue { key: key.clone(), text: text.to_owned() });
                Fate::Queued
            }
            Gets::Nothing(why) => Fate::Not(why.to_owned()),
        };
        fates.push((key.clone(), name(desk.view, key), fate));
    }
    Outcomes::new(text.to_owned(), fates)
}

fn name(view: &View<'_>, key: &TerminalKey) -> String {
    find(view, key).map_or_else(|| key.pane.to_string(), |terminal| terminal.state.terminal.id.clone())
}
