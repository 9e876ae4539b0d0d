//! The lines that go to `tmux source-file -`.

use tmux_interface::{CapturePane, DisplayMessage, ListPanes, ListSessions, TmuxCommand};

use super::listing::{self, Extent, ListedKind};
use super::words::{Nonce, quote};
use crate::fleet::PaneId;

/// Commands for one call, one a line: an error in a line does not stop the lines behind it.
#[derive(Debug, Default)]
pub(super) struct Script(String);

impl Script {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Adds a command as a line of its own.
    pub(super) fn push(&mut self, command: TmuxCommand<'_>) {
        self.0.push_str(&line(&command));
        self.0.push('\n');
    }

    /// What server it is, and what time it has.
    pub(super) fn header(&mut self, nonce: &Nonce, on_host: bool) {
        self.push(DisplayMessage::new().print().message(listing::header_format(nonce, on_host)).build());
    }

    /// Every pane of every session, or those with something to report.
    pub(super) fn list(&mut self, nonce: &Nonce, extent: Extent) {
        self.push(ListSessions::new().format(listing::session_format(nonce)).build());
        let format = listing::row_format(nonce, ListedKind::Pane(extent));
        let mut list = ListPanes::new().all().format(format);
        if let Extent::Telling(since) = extent {
            list = list.filter(listing::telling_filter(since));
        }
        self.push(list.build());
    }

    /// All facts of one pane, and its screen.
    pub(super) fn capture(&mut self, nonce: &Nonce, pane: PaneId) {
        self.capture_as(ListedKind::Capture, nonce, pane);
    }

    /// The screen of one pane of which the other facts are known.
    pub(super) fn capture_screen(&mut self, nonce: &Nonce, pane: PaneId) {
        self.capture_as(ListedKind::Screen, nonce, pane);
    }

    /// The screen of one pane that this script has listed: its facts are not printed again, which costs the server more than
    /// the screen does.
    pub(super) fn capture_after_list(&mut self, nonce: &Nonce, pane: PaneId) {
        // Without a target: to find one is most of what such a message costs.
        self.push(DisplayMessage::new().print().message(listing::mark_format(nonce, pane)).build());
        self.screen(pane);
    }

    /// Captures one pane's facts and screen in one pass of the server, so that they belong together.
    fn capture_as(&mut self, kind: ListedKind, nonce: &Nonce, pane: PaneId) {
        let facts = listing::row_format(nonce, kind);
        self.push(DisplayMessage::new().print().target_pane(pane.to_string()).message(facts).build());
        self.screen(pane);
    }

    /// A screen with one row of the scrollback above it: a pane that dies scrolls by a row.
    fn screen(&mut self, pane: PaneId) {
        self.push(
            CapturePane::new().stdout().escape_sequences().start_line("-1").target_pane(pane.to_string()).build(),
        );
    }

    /// Nothing is missing before this mark.
    pub(super) fn end(&mut self, nonce: &Nonce) {
        self.push(DisplayMessage::new().print().message(listing::end_format(nonce)).build());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0.into_bytes()
    }
}

/// A command as one line of tmux's language.
pub(super) fn line(command: &TmuxCommand<'_>) -> String {
    command.to_vec().iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
}

pub(super) fn set<'a>(kind: &[&str], target: &str, name: &str, value: &str) -> TmuxCommand<'a> {
    option(kind, target, &[name, value])
}

pub(super) fn unset<'a>(kind: &[&str], target: &str, name: &str) -> TmuxCommand<'a> {
    option(&[kind, &["-u"]].concat(), target, &[name])
}

/// `set-option` with its flags. `-q`: an option of a window that is gone in the meantime is no trouble.
pub(super) fn option<'a>(kind: &[&str], target: &str, words: &[&str]) -> TmuxCommand<'a> {
    command(&[&["set-option", "-q"], kind, &["-t", target], words].concat())
}

/// A command for which there is no builder, or whose builder knows too little of it.
pub(super) fn command<'a>(words: &[&str]) -> TmuxCommand<'a> {
    let mut command = TmuxCommand::new();
    let (name, rest) = words.split_first().unwrap_or((&"", &[]));
    command.name((*name).to_owned());
    rest.iter().for_each(|&word| {
        command.push_param(word.to_owned());
    });
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capture_is_two_lines_of_quoted_words() {
        let mut script = Script::new();
        script.capture(&Nonce::of("n"), PaneId(7));
        let text = String::from_utf8(script.into_bytes()).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("display-message -p -t \"%7\" \"nC"), "{}", lines[0]);
        assert_eq!(lines[1], "capture-pane -e -p -S -1 -t \"%7\"");
    }
}
