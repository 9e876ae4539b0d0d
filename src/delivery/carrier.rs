//! Carries deliveries out: what takes time runs in its own async task, what the terminal shows becomes bytes.

use std::collections::{BTreeSet, HashSet};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::UnboundedSender;

use super::DeliveryEvent;
#[cfg(not(feature = "serve"))]
use super::absent::{Poster, Pusher};
#[cfg(feature = "serve")]
use super::{post::Poster, push::Pusher};
use crate::notify::{Dispatch, Means, NotifyRule};
use crate::push::PushServices;
use crate::screen::harmless;

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
    pusher: Pusher,
    troubles: Troubles,
}

/// Where failures are reported, each trouble once until it has passed.
#[derive(Clone, Debug)]
pub(super) struct Troubles {
    reported: Arc<Mutex<HashSet<String>>>,
    to: UnboundedSender<DeliveryEvent>,
}

impl Carrier {
    pub(super) fn new(around: Around, services: PushServices, reported: UnboundedSender<DeliveryEvent>) -> Self {
        let troubles = Troubles { reported: Arc::default(), to: reported };
        Self {
            around,
            poster: Poster::new(troubles.clone()),
            pusher: Pusher::new(services, troubles.clone()),
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
        if delivery.by.contains(&Means::Push) {
            self.pusher.push(delivery);
        }
        if delivery.by.contains(&Means::Desktop) {
            show(delivery.text(), self.troubles.clone());
        }
        bytes(&delivery.text(), &delivery.by, self.around)
    }

    /// Knows other push services from now on.
    pub(super) fn set_push_services(&mut self, services: PushServices) {
        self.pusher.set_services(services);
    }

    fn run(&self, delivery: &Dispatch) {
        let program = delivery.rule.command.first().cloned().unwrap_or_default();
        let Ok(place) = Arc::clone(&self.waiting).try_acquire_owned() else {
            return self.troubles.tell(&program, "too many wait for their turn; an event was not handed over");
        };
        let (running, troubles) = (Arc::clone(&self.running), self.troubles.clone());
        let (rule, input) = (delivery.rule.clone(), delivery.lines());
        tokio::spawn(async move {
            // The semaphore is never closed.
            let _turn = running.acquire_owned().await;
            drop(place);
            match run(&rule, input).await {
                Ok(()) => troubles.passed(&program),
                Err(trouble) => troubles.tell(&program, &trouble),
            }
        });
    }
}

impl Troubles {
    /// Reports a problem, unless it was already reported.
    pub(super) fn tell(&self, subject: &str, trouble: &str) {
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        if reported.insert(subject.to_owned()) {
            // Nobody listens any more when the program ends.
            let _ = self.to.send(DeliveryEvent::Trouble(format!("{subject}: {trouble}")));
        }
    }

    /// It works again, so that the next trouble is news.
    pub(super) fn passed(&self, subject: &str) {
        self.reported.lock().unwrap_or_else(PoisonError::into_inner).remove(subject);
    }
}

// A command of the operator's: program and arguments as they stand in the configuration, never through a shell.

/// What every command gets of the environment: what programs need to run and to reach the desktop or a service. Keys and
/// tokens that agents were started with are none of its business.
const USUAL: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "TZ",
    "TMPDIR",
    "LANG",
    "LANGUAGE",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "DBUS_SESSION_BUS_ADDRESS",
    "SSH_AUTH_SOCK",
    "TMUX",
    "TMUX_PANE",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
];
/// Beginnings of further names.
const USUAL_FAMILIES: &[&str] = &["LC_", "XDG_"];

/// Runs a rule's command with a text on its standard input; its own output goes nowhere, as the dashboard has the
/// terminal. Of the environment it gets what is usual and what the rule names.
///
/// # Errors
/// In words: it cannot be started, it says that it failed, or it was ended at its deadline.
pub(super) async fn run(rule: &NotifyRule, input: String) -> Result<(), String> {
    let Some((program, arguments)) = rule.command.split_first() else { return Err("no program is named".to_owned()) };
    let deadline = rule.command_deadline;
    let is_passed_on = |name: &str| {
        USUAL.contains(&name)
            || USUAL_FAMILIES.iter().any(|family| name.starts_with(family))
            || rule.command_environment.iter().any(|named| named == name)
    };
    let environment = std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_passed_on));
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(environment)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("cannot be started: {error}"))?;
    let stdin = child.stdin.take();
    let work = async {
        if let Some(mut stdin) = stdin {
            // A program may have its reasons not to read its input.
            let _ = stdin.write_all(input.as_bytes()).await;
        }
        child.wait().await
    };
    let done = tokio::time::timeout(Duration::from_millis(deadline.as_millis()), work).await;
    match done {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(format!("failed: {status}")),
        Ok(Err(error)) => Err(format!("cannot be waited for: {error}")),
        Err(_) => {
            // It may have ended in this very moment.
            let _ = child.kill().await;
            Err(format!("took longer than {} s and was ended", deadline.as_secs()))
        }
    }
}

const SUBJECT: &str = "desktop notices";

/// Shows a notice on the desktop. A desktop may take its time, so that happens on a thread of its own.
#[cfg(feature = "desktop")]
pub(super) fn show(text: String, troubles: Troubles) {
    tokio::task::spawn_blocking(move || {
        match notify_rust::Notification::new().appname("fleetwatch").summary("fleetwatch").body(&escaped(&text)).show()
        {
            Ok(_) => troubles.passed(SUBJECT),
            Err(error) => troubles.tell(SUBJECT, &format!("cannot be shown: {error}")),
        }
    });
}

/// Desktops read a little markup in a notice's body.
#[cfg(feature = "desktop")]
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Says that this program cannot do it.
#[cfg(not(feature = "desktop"))]
pub(super) fn show(_text: String, troubles: Troubles) {
    troubles
        .tell(SUBJECT, "this fleetwatch was built without them (`cargo build --features desktop`); use osc9 or bell");
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
