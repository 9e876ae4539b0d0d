//! Messages that come and go by themselves and never take the keyboard.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::canvas::Canvas;
use super::meaning::Meaning;
use super::popup;
use super::text::{self, Pen};
use crate::moment::{Moment, Span};

/// Messages shown at a time.
const SHOWN: usize = 4;
/// The widest message, in cells, and the lines that it may take: what is wrong and where has to fit.
const WIDEST: u16 = 100;
/// See [`WIDEST`].
const LINES: usize = 4;
/// How long good news stays.
const SHORT: Span = Span::from_secs(6);
/// How long trouble stays.
const LONG: Span = Span::from_secs(20);

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toast {
    pub meaning: Meaning,
    pub text: String,
    until: Moment,
}

/// The messages that are shown, oldest first.
#[derive(Clone, Debug, Default)]
pub struct Toasts {
    shown: Vec<Toast>,
}

impl Toasts {
    /// Shows a message from now on.
    pub fn push(&mut self, meaning: Meaning, text: String, now: Moment) {
        let lasting = matches!(meaning, Meaning::Failed | Meaning::Error | Meaning::Stalled);
        let until = now + if lasting { LONG } else { SHORT };
        // The same message again is no news; it only stays longer.
        self.shown.retain(|toast| toast.text != text);
        self.shown.push(Toast { meaning, text, until });
        let surplus = self.shown.len().saturating_sub(SHOWN);
        self.shown.drain(..surplus);
    }

    /// Takes away the messages whose time has come.
    pub fn expire(&mut self, now: Moment) {
        self.shown.retain(|toast| toast.until > now);
    }

    /// Takes away a message that is no longer true.
    pub fn retire(&mut self, text: &str) {
        self.shown.retain(|toast| toast.text != text);
    }

    /// Takes all messages away. Returns whether there were any.
    pub fn clear(&mut self) -> bool {
        let any = !self.shown.is_empty();
        self.shown.clear();
        any
    }

    /// When the next message goes.
    pub fn next_expiry(&self) -> Option<Moment> {
        self.shown.iter().map(|toast| toast.until).min()
    }

    /// Draws the messages at the bottom right of an area, newest lowest; the newest are those that have room.
    pub fn draw(&self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect) {
        // A glyph with a blank on each side, and a blank at the end.
        let Some(room) = area.width.min(WIDEST).checked_sub(4).filter(|room| *room > 0) else { return };
        let mut bottom = area.bottom();
        for toast in self.shown.iter().rev() {
            let lines = text::wrapped(&toast.text, usize::from(room), LINES);
            let width = lines.iter().map(|line| text::width(line)).max().unwrap_or(0);
            let width = u16::try_from(width).unwrap_or(room) + 4;
            let Some(top) = u16::try_from(lines.len()).ok().and_then(|height| bottom.checked_sub(height)) else {
                return;
            };
            if top < area.top() {
                return;
            }
            let place = Rect { x: area.right() - width, y: top, width, height: bottom - top };
            popup::clear(buffer, place);
            buffer.set_style(place, canvas.theme.parts.selected);
            let style = canvas.theme.parts.selected.patch(canvas.theme.style(toast.meaning));
            Pen::new(buffer, place, 0).skip(1).raw(canvas.glyph(toast.meaning), style);
            for (row, line) in (0..).zip(&lines) {
                Pen::new(buffer, place, row).skip(3).text(line, style);
            }
            bottom = top;
        }
    }
}
