//! Messages that come and go by themselves and never take the keyboard.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::canvas::Canvas;
use super::meaning::Meaning;
use super::popup;
use super::text::{self, Pen};
use crate::fleet::TerminalKey;
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

/// What a message is about. A newer one on the same topic takes the place of the older one, which it makes untrue or old:
/// `queued for docs` ends with `docs took the prompt`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topic {
    /// A prompt for a terminal: on its way, queued, taken back, taken, refused.
    Prompt(TerminalKey),
    /// The dialog of a terminal, and what became of its answer.
    Dialog(TerminalKey),
    /// Keys that were pressed in a terminal.
    Keys(TerminalKey),
    /// A task that is ended, removed or run again.
    Task(TerminalKey),
    /// How a terminal is shown: pinned, muted.
    Flags(TerminalKey),
    /// Which panes are shown.
    Layout,
    /// What was copied last.
    Clipboard,
    /// That the operator's files were read again.
    Files,
    /// What is wrong with the configuration.
    Config,
    /// What is wrong with the operator's keymap.
    Keymap,
    /// What is wrong with the theme.
    Theme,
    /// What is wrong with the operator's profiles.
    Profiles,
    /// Whether the history can be written.
    History,
    /// Whether notices go out.
    Notices,
    /// Why a key that was pressed did nothing.
    Key,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toast {
    pub meaning: Meaning,
    pub text: String,
    /// Without one it stands for itself.
    topic: Option<Topic>,
    until: Moment,
}

/// The messages that are shown, oldest first.
#[derive(Clone, Debug, Default)]
pub struct Toasts {
    shown: Vec<Toast>,
}

impl Toasts {
    /// Shows a message from now on, in place of what was shown on the same topic.
    pub fn push(&mut self, topic: Option<Topic>, meaning: Meaning, text: String, now: Moment) {
        let until = now + stay(meaning);
        // The same message again is no news; it only stays longer.
        self.shown.retain(|toast| toast.text != text && (topic.is_none() || toast.topic != topic));
        self.shown.push(Toast { meaning, text, topic, until });
        let surplus = self.shown.len().saturating_sub(SHOWN);
        self.shown.drain(..surplus);
    }

    /// Lets all messages stay as if they had come just now.
    pub fn renew(&mut self, now: Moment) {
        self.shown.iter_mut().for_each(|toast| toast.until = now + stay(toast.meaning));
    }

    /// Takes away the messages whose time has come.
    pub fn expire(&mut self, now: Moment) {
        self.shown.retain(|toast| toast.until > now);
    }

    /// Takes away what is no longer true of a topic.
    pub fn retire(&mut self, topic: &Topic) {
        self.shown.retain(|toast| toast.topic.as_ref() != Some(topic));
    }

    /// Takes all messages away.
    pub fn clear(&mut self) {
        self.shown.clear();
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

/// How long a message stays.
fn stay(meaning: Meaning) -> Span {
    match meaning {
        Meaning::Failed | Meaning::Error | Meaning::Stalled => LONG,
        _ => SHORT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::{PaneId, ServerId, Socket};

    fn texts(toasts: &Toasts) -> Vec<&str> {
        toasts.shown.iter().map(|toast| toast.text.as_str()).collect()
    }

    #[test]
    fn a_newer_message_takes_the_place_of_an_older_one_on_the_same_topic() {
        let key =
            |pane| TerminalKey { server: ServerId { host: None, socket: Socket::Default }, pane: PaneId(pane), pid: 1 };
        let mut toasts = Toasts::default();
        let now = Moment::default();
        let mut push = |topic, text: &str| toasts.push(topic, Meaning::Ready, text.to_owned(), now);
        push(Some(Topic::Prompt(key(1))), "queued for docs");
        push(Some(Topic::Prompt(key(2))), "queued for web");
        push(Some(Topic::Keys(key(1))), "pressed Escape in docs");
        push(None, "task build started");
        push(None, "task test started");
        push(Some(Topic::Prompt(key(1))), "docs took the prompt");
        let shown = ["pressed Escape in docs", "task build started", "task test started", "docs took the prompt"];
        assert_eq!(texts(&toasts), shown, "no more than {SHOWN} at a time");
        toasts.push(Some(Topic::Prompt(key(1))), Meaning::Ready, "queued for docs".to_owned(), now);
        assert_eq!(texts(&toasts)[..3], shown[..3]);
        assert_eq!(texts(&toasts).last(), Some(&"queued for docs"));
    }
}
