//! One prompt to several terminals: who will get it, who will not and why.

use crate::status::{Hindrance, Status};
use std::collections::BTreeSet;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::outcomes::{Outcomes, Progress};
use super::recipients::hindrance;
use crate::fleet::{TerminalKey, View};
use crate::operation::{Act, Recipient, Refusal, When};
use crate::ui::canvas::Canvas;
use crate::ui::overlay::OverlayContext;
use crate::ui::popup::StyledLine;
use crate::ui::text::{self, Pen};
use crate::ui::theme::Theme;
use crate::ui::{find, pane};

/// The prompt for several terminals that is begun, and who has still to take it.
#[derive(Clone, Debug, Default)]
pub struct BroadcastDraft {
    text: String,
    /// Whom it was sent to and who has not taken it; those who could not get it at all stay here.
    missing: BTreeSet<TerminalKey>,
}

impl BroadcastDraft {
    /// The text; empty when there is none.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Follows what is written.
    pub fn write(&mut self, text: String) {
        if text != self.text {
            *self = Self { text, missing: BTreeSet::new() };
        }
    }

    /// Takes note that a terminal took a prompt. As long as somebody did not get it, the text is worth keeping.
    pub fn taken(&mut self, key: &TerminalKey, text: &str) {
        if text == self.text && self.missing.remove(key) && self.missing.is_empty() {
            self.text.clear();
        }
    }
}

/// The rows from which on a list of terminals that goes on says more than all names in two lines.
const LIST: usize = 6;

/// What a terminal would get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gets {
    Now,
    WhenReady(Hindrance),
    Nothing(Hindrance),
}

pub(super) fn gets(view: &View<'_>, key: &TerminalKey, wait: bool) -> Gets {
    match hindrance(view, key) {
        None => Gets::Now,
        Some(hindrance) if wait && hindrance.may_pass() => Gets::WhenReady(hindrance),
        Some(hindrance) => Gets::Nothing(hindrance),
    }
}

/// Draws the list beside the prompt.
pub fn draw_preview(
    canvas: &Canvas<'_>,
    buffer: &mut Buffer,
    area: Rect,
    keys: &[TerminalKey],
    text: &str,
    view: &View<'_>,
) {
    let parts = &canvas.theme.parts;
    let now = keys.iter().filter(|key| gets(view, key, false) == Gets::Now).count();
    let title = format!("{now} of {} would get it now", keys.len());
    let area = pane::titled(canvas, buffer, area, &[(title.as_str(), parts.title)]);
    let mut lines = lines(canvas.theme, keys, text, false, view);
    let room = usize::from(area.height);
    if lines.len() > room && room < LIST {
        lines = in_brief(canvas, keys, usize::from(area.width.saturating_sub(2)), view);
    } else if lines.len() > room {
        let more = format!("and {} more", lines.len() + 1 - room);
        lines.truncate(room - 1);
        lines.push(vec![(more, parts.quiet)]);
    }
    for (row, line) in (0..area.height).zip(lines) {
        Pen::new(buffer, area, row).skip(1).line(&line);
    }
}

/// Who would get it now and who would not, in a line each.
fn in_brief(canvas: &Canvas<'_>, keys: &[TerminalKey], cells: usize, view: &View<'_>) -> Vec<StyledLine> {
    let line = |(is_now, status, word)| {
        let of_it = |key: &&TerminalKey| (gets(view, key, false) == Gets::Now) == is_now;
        let names: Vec<String> = keys.iter().filter(of_it).map(|key| name(view, key)).collect();
        let told = format!("{word} {}  ", names.len());
        let names = text::cut(&names.join(", "), cells.saturating_sub(text::width(&told))).into_owned();
        vec![(told, canvas.theme.style(status)), (names, canvas.theme.parts.text)]
    };
    [(true, Status::Ready, "now"), (false, Status::Failed, "not")].map(line).into()
}

/// Who gets it and who does not, in a line each.
pub(super) fn lines(theme: &Theme, keys: &[TerminalKey], text: &str, wait: bool, view: &View<'_>) -> Vec<StyledLine> {
    let parts = &theme.parts;
    let line = |key: &TerminalKey| {
        let name = name(view, key);
        let (status, word, why) = match gets(view, key, wait) {
            Gets::Now => (Status::Ready, "now", None),
            Gets::WhenReady(why) => (Status::Working, "when ready", Some(why)),
            Gets::Nothing(why) => (Status::Failed, "not", Some(why)),
        };
        let taken =
            find(view, key).and_then(|terminal| terminal.input.taken(text)).filter(|_| status != Status::Failed);
        let why = taken.into_iter().chain(why.map(|why| why.to_string())).collect::<Vec<_>>().join(", ");
        let style = theme.style(status);
        vec![(format!("{:<10}  ", word), style), (format!("{name}  "), parts.text), (why, parts.quiet)]
    };
    keys.iter().map(line).collect()
}

/// Asks for the prompt to be sent to whoever gets it, and says what became of each so far.
pub fn send(keys: &[TerminalKey], text: &str, wait: bool, desk: &mut OverlayContext<'_, '_>) -> Outcomes {
    desk.memory.broadcast.missing = keys.iter().cloned().collect();
    let mut terminals = Vec::new();
    for key in keys {
        let gets = gets(desk.view, key, wait);
        let mut perform = |when| {
            if let Some(terminal) = desk.terminal(key) {
                desk.perform(Recipient::of(terminal), Act::Prompt { text: text.to_owned(), when });
            }
        };
        let progress = match gets {
            Gets::Now => {
                perform(When::Now);
                Progress::Sending
            }
            Gets::WhenReady(_) => {
                perform(When::Ready);
                Progress::Queued
            }
            Gets::Nothing(why) => Progress::Ended(Refusal::from(why).into()),
        };
        terminals.push((key.clone(), name(desk.view, key), progress));
    }
    Outcomes::new(text.to_owned(), terminals)
}

pub(super) fn name(view: &View<'_>, key: &TerminalKey) -> String {
    find(view, key).map_or_else(|| key.pane.to_string(), |terminal| terminal.state.terminal.id.clone())
}
