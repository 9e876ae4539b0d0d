//! Carries deliveries out: what takes time runs in its own async task, what the terminal shows becomes bytes.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::sync::mpsc::UnboundedSender;

use super::post::Poster;
use super::program::run;
use super::trouble::{DeliveryEvent, Troubles};
use crate::notify::{COMMAND_DEADLINE, Dispatch, Means};
use crate::screen::harmless;
use crate::time::Span;

/// Commands that run at the same time at most; a burst of events must not become a burst of processes.
const COMMANDS_AT_ONCE: usize = 4;
/// How many commands may wait for their turn; beyond that, none is run, and a warning says so.
const COMMANDS_WAITING: usize = 32;

/// Carries deliveries out.
#[derive(Clone, Debug)]
pub(super) struct Carrier {
    around: Around,
    running: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    poster: Poster,
    troubles: Troubles,
}

impl Carrier {
    pub(super) fn new(around: Around, reported: UnboundedSender<DeliveryEvent>) -> Self {
        let troubles = Troubles::new(reported);
        Self {
            around,
            poster: Poster::new(troubles.clone()),
            running: Arc::new(Semaphore::new(COMMANDS_AT_ONCE)),
            waiting: Arc::new(Semaphore::new(COMMANDS_WAITING)),
            troubles,
        }
    }

    /// Starts the deliveries that take time, and returns the bytes for the operator's terminal.
    pub(super) fn carry_out(&self, delivery: &Dispatch) -> Vec<u8> {
        if delivery.by.contains(&Means::Command) {
            self.run(delivery);
        }
        if delivery.by.contains(&Means::Webhook) {
            self.poster.post(delivery);
        }
        if delivery.by.contains(&Means::Desktop) {
            let words = desktop::words(&delivery.text());
            let order = Order { subject: desktop::SUBJECT, words, environment: &[], deadline: COMMAND_DEADLINE };
            self.order(order, String::new());
        }
        bytes(&delivery.text(), &delivery.by, self.around)
    }

    fn run(&self, delivery: &Dispatch) {
        let rule = &delivery.rule;
        let order = Order {
            subject: rule.command.first().map_or("command", String::as_str),
            words: rule.command.clone(),
            environment: &rule.command_environment,
            deadline: rule.command_deadline,
        };
        self.order(order, delivery.lines());
    }

    /// Has a program run as soon as it is its turn.
    fn order(&self, order: Order<'_>, input: String) {
        let Order { subject, words, environment, deadline } = order;
        let Ok(place) = Arc::clone(&self.waiting).try_acquire_owned() else {
            return self.troubles.tell(subject, "too many wait for their turn; an event was not handed over");
        };
        let (running, troubles) = (Arc::clone(&self.running), self.troubles.clone());
        let (subject, environment) = (subject.to_owned(), environment.to_vec());
        tokio::spawn(async move {
            // The semaphore is never closed.
            let _turn = running.acquire_owned().await;
            drop(place);
            match run(&words, &environment, deadline, Stdio::null(), input).await {
                Ok(output) if output.status.success() => troubles.passed(&subject),
                Ok(output) => troubles.tell(&subject, &format!("failed: {}", output.status)),
                Err(error) => troubles.tell(&subject, &error.to_string()),
            }
        });
    }
}

/// A program to run, and under which name its trouble is told.
struct Order<'a> {
    subject: &'a str,
    words: Vec<String>,
    environment: &'a [String],
    deadline: Span,
}

/// Notices of the desktop, by the program that each system has for them.
pub mod desktop {
    /// Under which name trouble is told.
    pub(super) const SUBJECT: &str = "desktop notices";
    /// The program, and how somebody gets it.
    pub const PROGRAM: (&str, &str) = match cfg!(target_os = "macos") {
        true => ("osascript", "it is a part of macOS"),
        false => ("notify-send", "install libnotify (libnotify-bin), or announce by osc9 or bell"),
    };

    /// The command that shows a text.
    pub(super) fn words(text: &str) -> Vec<String> {
        let words: &[&str] = match cfg!(target_os = "macos") {
            // The text is an argument and no part of the script.
            true => &[
                "-e",
                "on run argv",
                "-e",
                "display notification (item 1 of argv) with title \"fleetwatch\"",
                "-e",
                "end run",
                "--",
            ],
            false => &["--app-name=fleetwatch", "--", "fleetwatch"],
        };
        let text = crate::screen::harmless(text);
        // Desktops read a little markup in a notice's body.
        let text = match cfg!(target_os = "macos") {
            true => text,
            false => text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"),
        };
        [PROGRAM.0].iter().chain(words).map(|word| (*word).to_owned()).chain([text]).collect()
    }
}

// Notices as control sequences of the operator's own terminal.

/// What surrounds the program and sees its control sequences first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Around {
    /// The terminal itself.
    #[default]
    Terminal,
    /// tmux, which passes on only wrapped sequences, if its option `allow-passthrough` is on. It knows bells.
    Tmux,
}

impl Around {
    /// What surrounds this process.
    pub fn of_process() -> Self {
        match std::env::var_os("TMUX").is_some_and(|value| !value.is_empty()) {
            true => Around::Tmux,
            false => Around::Terminal,
        }
    }
}

/// The bytes that announce a text on the operator's terminal; no text can end or leave its sequence.
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

/// A sequence in the form that gets through what surrounds the program.
fn wrapped(sequence: &str, around: Around) -> Vec<u8> {
    match around {
        Around::Terminal => sequence.as_bytes().to_vec(),
        Around::Tmux => format!("\x1bPtmux;{}\x1b\\", sequence.replace('\x1b', "\x1b\x1b")).into_bytes(),
    }
}

#[cfg(test)]
mod terminal_tests {
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

    #[cfg(not(target_os = "macos"))]
    #[test]
    fn no_text_is_an_option_or_markup_of_the_desktop() {
        let words = desktop::words("--urgency=low <b>a</b> & \u{1b}]0;x\u{7}");
        assert_eq!(words[..4], ["notify-send", "--app-name=fleetwatch", "--", "fleetwatch"]);
        assert!(
            words[4].starts_with("--urgency=low &lt;b&gt;a&lt;/b&gt; &amp; ") && !words[4].contains('\u{1b}'),
            "{words:?}"
        );
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
