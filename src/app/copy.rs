//! What is copied into the operator's clipboard, through the terminal itself (OSC 52).

use crate::fleet::{Fleet, TerminalKey};
use crate::screen::is_harmless;
use crate::status::Status;
use crate::tmux::{self, Clipboard};
use crate::ui::Copied;

/// Bytes that are copied at most. Terminals drop what is longer than their own limit without a word; the lowest in use
/// is 74994 bytes of what this becomes in base64.
const MOST: usize = 56_000;

/// A text for the clipboard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Clip {
    pub(super) text: String,
    /// Whether the beginning was left out because it was too long.
    pub(super) cut: bool,
}

/// What is asked for of a terminal or a task; `None` when there is no such thing.
pub(super) fn clip(fleet: &Fleet, key: &TerminalKey, what: Copied) -> Option<Clip> {
    let text = match what {
        Copied::Name => fleet.name_of(key).map(str::to_owned),
        Copied::Dialog => fleet.terminal(key)?.state.assessment.operator_excerpt.clone(),
        Copied::Transcript => fleet.dialog_text(key),
    };
    text.map(|text| prepare(&text)).filter(|clip| !clip.text.is_empty())
}

/// What to tell of a text that was handed to the terminal. No terminal says whether it did what it was asked for, and tmux
/// mostly does not; what is known to be dropped is not called copied.
pub(super) fn told(clip: &Clip, clipboard: Option<&Result<Clipboard, tmux::Error>>) -> (Status, String) {
    let cut = if clip.cut { "; its beginning was left out, it is too long" } else { "" };
    let text = format!("{} characters{cut}", clip.text.chars().count());
    match clipboard {
        None => (Status::Ready, format!("handed to the terminal for its clipboard: {text}")),
        Some(Ok(Clipboard::Taken)) => (Status::Ready, format!("handed to tmux for the clipboard: {text}")),
        Some(Ok(Clipboard::Dropped)) => {
            let why = "tmux drops what programs in it copy (`tmux set -s set-clipboard on` lets it through)";
            (Status::Stalled, format!("not copied: {why}"))
        }
        Some(Ok(Clipboard::Popup)) => {
            let why = "tmux drops what programs in a popup copy (in a window of tmux it can be copied)";
            (Status::Stalled, format!("not copied: {why}"))
        }
        Some(Err(error)) => (Status::Stalled, format!("handed to tmux, which does not say whether it copies: {error}")),
    }
}

/// Takes out whatever could act on the terminal that it is pasted into one day, and keeps the end of what is too long:
/// the latest is what one copies it for.
fn prepare(text: &str) -> Clip {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let text: String = lines.join("\n").chars().filter(|&c| c == '\n' || is_harmless(c)).collect();
    let text = text.trim_matches('\n');
    let from = (text.len().saturating_sub(MOST)..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    Clip { text: text[from..].to_owned(), cut: from > 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_copied_can_do_nothing_where_it_is_pasted() {
        let hostile = "\n\nrm \u{1b}[201~-rf\u{7}  \r\n\u{202e}漢字\u{9b}31m\n";
        assert_eq!(prepare(hostile), Clip { text: "rm [201~-rf\n漢字31m".to_owned(), cut: false });
    }

    #[test]
    fn the_end_of_what_is_too_long_is_copied() {
        let long = format!("{}the end", "漢".repeat(40_000));
        let clip = prepare(&long);
        assert!(clip.cut && clip.text.len() <= MOST && clip.text.ends_with("the end") && clip.text.starts_with('漢'));
    }
}
