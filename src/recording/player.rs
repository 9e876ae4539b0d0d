//! Playing a recording: the screens and pane facts that a watcher would have seen, in the recording's own time.

use std::num::NonZeroU16;
use std::sync::Arc;

use super::{EventKind, RecordedEvent, Recording, Size};
use crate::screen::{Cursor, PaneFacts, Screen, harmless};
use crate::time::Span;

/// The variation selector that asks for the character before it as an emoji.
const EMOJI_SELECTOR: char = '\u{fe0f}';

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
/// a resize, another program, an addition to a record, the end. Input, truth and other markers are passed over.
pub struct Player<'a> {
    events: std::iter::Peekable<std::slice::Iter<'a, RecordedEvent>>,
    terminal: vt100::Parser<EmulatorCalls>,
    /// tmux's `pane_current_command`; `None` until a marker says so.
    command: Option<&'a str>,
    exit: Option<i32>,
    copied: CopiedScreen,
}

impl<'a> Player<'a> {
    /// A player at the start of a recording.
    pub fn new(recording: &'a Recording) -> Self {
        let (rows, columns) = sides(recording.header.size);
        Self {
            events: recording.events.iter().peekable(),
            terminal: vt100::Parser::new_with_callbacks(rows, columns, 0, EmulatorCalls::default()),
            command: None,
            exit: None,
            copied: CopiedScreen::default(),
        }
    }

    /// Takes one event in; whether it can be seen from outside.
    fn take(&mut self, event: &'a EventKind, printed: &mut bool) -> bool {
        match event {
            EventKind::Output(text) => {
                self.process(text);
                *printed = true;
            }
            EventKind::Resize(size) => {
                let (rows, columns) = sides(*size);
                self.terminal.set_size(rows, columns);
                *printed = true;
            }
            EventKind::Process(name) => self.command = Some(name),
            EventKind::Exit(status) => self.exit = Some(*status),
            // Whoever watches sees it.
            EventKind::Record(_) => {}
            EventKind::Input(_) | EventKind::Truth(_) | EventKind::Marker(_) => return false,
        }
        true
    }

    /// Feeds the emulator. Where a variation selector asks for an emoji, the emulator makes the character before it
    /// wide, other than tmux does, and in a narrow terminal it panics over it; the selector is left out.
    fn process(&mut self, text: &str) {
        for piece in text.split(EMOJI_SELECTOR) {
            self.terminal.process(piece.as_bytes());
        }
    }

    fn frame(&mut self, at: Span, printed: bool) -> Frame {
        let screen = self.copied.update(self.terminal.screen(), printed);
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

/// The last copy of the emulator's screen. Copying cells takes most of the time of a replay, so that only the rows that
/// changed are copied.
#[derive(Default)]
struct CopiedScreen {
    screen: Option<Arc<Screen>>,
    /// Each row as the emulator writes it in one go, to find the rows that changed.
    written: Vec<String>,
}

impl CopiedScreen {
    /// The screen as it is now. While nothing changes it stays the same allocation, so that whoever compares two
    /// screens finds that out at once.
    fn update(&mut self, terminal: &vt100::Screen, printed: bool) -> Arc<Screen> {
        if let Some(screen) = self.screen.as_ref().filter(|_| !printed) {
            return Arc::clone(screen);
        }
        let (rows, columns) = terminal.size();
        let written: Vec<String> = terminal.rows_formatted(0, columns.get()).collect();
        let same = |y: u16| self.written.get(usize::from(y)) == written.get(usize::from(y));
        let screen = match self.screen.take() {
            Some(earlier) if size_of_screen(&earlier) == (columns.get(), usize::from(rows.get())) => {
                if self.written == written {
                    earlier
                } else {
                    Arc::new(Screen::from_vt100_rows(terminal, &earlier, |y| !same(y)))
                }
            }
            _ => Arc::new(Screen::from_vt100(terminal)),
        };
        self.written = written;
        self.screen = Some(Arc::clone(&screen));
        screen
    }
}

fn size_of_screen(screen: &Screen) -> (u16, usize) {
    (screen.columns(), screen.rows().len())
}

/// What the terminal emulator only calls out.
#[derive(Default)]
struct EmulatorCalls {
    title: String,
    bell: bool,
}

impl vt100::Callbacks for EmulatorCalls {
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
