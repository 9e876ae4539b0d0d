//! Notices as control sequences of the operator's own terminal.

use std::collections::BTreeSet;

use crate::notify::Means;
use crate::screen::harmless;

/// What stands around the program and sees its control sequences first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Around {
    /// The terminal itself.
    #[default]
    Terminal,
    /// tmux, which hands on only what is wrapped for it, if its option `allow-passthrough` says so. Bells it knows.
    Tmux,
}

impl Around {
    /// What stands around this process.
    pub fn of_process() -> Self {
        match std::env::var_os("TMUX").is_some_and(|value| !value.is_empty()) {
            true => Around::Tmux,
            false => Around::Terminal,
        }
    }
}

/// What tells a text by the means of the operator's terminal; nothing of the text can end or leave a sequence.
pub(super) fn bytes(text: &str, by: &BTreeSet<Means>, around: Around) -> Vec<u8> {
    let text = harmless(text);
    let mut bytes = Vec::new();
    if by.contains(&Means::Osc9) {
        // Some terminals take numbers at the beginning for other orders; the name in front rules them out.
        bytes.extend(wrapped(&format!("\x1b]9;fleetwatch: {text}\x1b\\"), around));
    }
    if by.contains(&Means::Osc777) {
        bytes.extend(wrapped(&format!("\x1b]777;notify;fleetwatch;{}\x1b\\", text.replace(';', ",")), around));
    }
    if by.contains(&Means::Bell) {
        bytes.push(b'\x07');
    }
    bytes
}

/// A sequence as it must be written to get through what stands around.
fn wrapped(sequence: &str, around: Around) -> Vec<u8> {
    match around {
        Around::Terminal => sequence.as_bytes().to_vec(),
        Around::Tmux => format!("\x1bPtmux;{}\x1b\\", sequence.replace('\x1b', "\x1b\x1b")).into_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(by: &[Means], text: &str, around: Around) -> String {
        String::from_utf8(bytes(text, &by.iter().copied().collect(), around)).unwrap()
    }

    #[test]
    fn each_means_has_its_sequence() {
        let plain = |by: &[Means]| written(by, "a exited", Around::Terminal);
        assert_eq!(plain(&[Means::Bell]), "\x07");
        assert_eq!(plain(&[Means::Osc9]), "\x1b]9;fleetwatch: a exited\x1b\\");
        assert_eq!(plain(&[Means::Osc777, Means::Bell]), "\x1b]777;notify;fleetwatch;a exited\x1b\\\x07");
        assert_eq!(plain(&[Means::Desktop, Means::Command]), "");
    }

    #[test]
    fn what_goes_through_tmux_is_wrapped_for_it() {
        let text = written(&[Means::Osc9, Means::Bell], "a exited", Around::Tmux);
        assert_eq!(text, "\x1bPtmux;\x1b\x1b]9;fleetwatch: a exited\x1b\x1b\\\x1b\\\x07");
    }

    #[test]
    fn no_text_ends_or_leaves_its_sequence() {
        let evil = "a\x1b\\b\x07c\u{9c}d\u{9d}9;e\r\nf;g\x1b]52;c;AAAA\x07";
        let sequences = written(&[Means::Osc9, Means::Osc777], evil, Around::Terminal);
        assert_eq!(sequences.matches('\x1b').count(), 4, "{sequences:?}");
        assert!(!sequences.contains(['\x07', '\u{9c}', '\u{9d}', '\r', '\n']), "{sequences:?}");
        let (_, titled) = sequences.split_once("\x1b]777").unwrap();
        assert_eq!(titled.matches(';').count(), 3, "a semicolon would begin another field: {titled:?}");
    }
}
