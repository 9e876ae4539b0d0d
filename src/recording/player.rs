//! Playing a recording: the screens and pane facts that somebody watching would have seen, in its own time.

use std::num::NonZeroU16;
use std::sync::Arc;

use super::{Event, EventKind, Recording, Size};
use crate::moment::Span;
use crate::screen::{Cursor, PaneFacts, Screen, harmless};

/// What a pane showed from one time on.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Time since the start of the recording.
    pub at: Span,
    pub facts: PaneFacts,
    pub screen: Arc<Screen>,
    /// Whether the program printed anything since the frame before.
    pub printed: bool,
}

/// Steps through a recording, a frame for every time at which something happened that can be seen from outside: output,
/// a resize, another program, the end. Input, truth and other markers are passed over.
pub struct Player<'a> {
    events: std::iter::Peekable<std::slice::Iter<'a, Event>>,
    terminal: vt100::Parser<Heard>,
    /// tmux's `pane_current_command`; `None` until a marker tells it.
    command: Option<&'a str>,
    exit: Option<i32>,
    screen: Option<Arc<Screen>>,
}

impl<'a> Player<'a> {
    /// A player at the start of a recording.
    pub fn new(recording: &'a Recording) -> Self {
        let (rows, columns) = sides(recording.header.size);
        Self {
            events: recording.events.iter().peekable(),
            terminal: vt100::Parser::new_with_callbacks(rows, columns, 0, Heard::default()),
            command: None,
            exit: None,
            screen: None,
        }
    }

    /// The last `process` marker up to now; `None` when the recording has not told.
    pub fn command(&self) -> Option<&'a str> {
        self.command
    }

    /// Takes one event in; whether it can be seen from outside.
    fn take(&mut self, event: &'a EventKind, printed: &mut bool) -> bool {
        match event {
            EventKind::Output(text) => {
                self.terminal.process(text.as_bytes());
                *printed = true;
            }
            EventKind::Resize(size) => {
                let (rows, columns) = sides(*size);
                self.terminal.set_size(rows, columns);
                *printed = true;
            }
            EventKind::Process(name) => self.command = Some(name),
            EventKind::Exit(status) => self.exit = Some(*status),
            EventKind::Input(_) | EventKind::Truth(_) | EventKind::Marker(_) => return false,
        }
        true
    }

    fn frame(&mut self, at: Span, printed: bool) -> Frame {
        let screen = match self.screen.take() {
            Some(screen) if !printed => screen,
            earlier => {
                let now = Screen::from_vt100(self.terminal.screen());
                // The same screen stays the same allocation, so that whoever compares finds that out at once.
                earlier.filter(|earlier| **earlier == now).unwrap_or_else(|| Arc::new(now))
            }
        };
        self.screen = Some(Arc::clone(&screen));
        let (row, column) = self.terminal.screen().cursor_position();
        let facts = PaneFacts {
            title: self.terminal.callbacks().title.clone(),
            command: self.command.unwrap_or_default().to_owned(),
            cursor: Cursor { column, row, visible: !self.terminal.screen().hide_cursor() },
            alternate: self.terminal.screen().alternate_screen(),
            dead: self.exit.is_some(),
            exit_status: self.exit,
            bell: self.terminal.callbacks().bell,
            history_size: 0,
            in_mode: false,
        };
        Frame { at, facts, screen, printed }
    }
}

impl Iterator for Player<'_> {
    type Item = Frame;

    /// The next frame; events of the same millisecond make one.
    fn next(&mut self) -> Option<Frame> {
        let (mut seen, mut printed) = (false, false);
        while let Some(event) = self.events.next() {
            seen |= self.take(&event.kind, &mut printed);
            if seen && self.events.peek().is_none_or(|next| next.at > event.at) {
                return Some(self.frame(event.at, printed));
            }
        }
        None
    }
}

/// What the terminal emulator only calls out.
#[derive(Default)]
struct Heard {
    title: String,
    bell: bool,
}

impl vt100::Callbacks for Heard {
    fn audible_bell(&mut self, _: &mut vt100::Screen) {
        self.bell = true;
    }

    fn set_window_title(&mut self, _: &mut vt100::Screen, title: &[u8]) {
        self.title = harmless(&String::from_utf8_lossy(title));
    }
}

fn sides(size: Size) -> (NonZeroU16, NonZeroU16) {
    // A size that was read is never zero; one that is built by hand becomes the smallest.
    (NonZeroU16::new(size.rows).unwrap_or(NonZeroU16::MIN), NonZeroU16::new(size.columns).unwrap_or(NonZeroU16::MIN))
}
