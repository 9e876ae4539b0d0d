//! The errors of commands, and how they are printed.

use std::fmt;
use std::io;
use std::ops::RangeInclusive;
use std::path::Path;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

use jiff::SignedDuration;
use tokio::signal::unix::SignalKind;

use super::commands::completed;
use super::console;
use crate::config::ConfigError;
use crate::operation::{Outcome, TextError};
use crate::present::answer::AnswerError;
use crate::present::objection::Objection;
use crate::recording::RecordingError;
use crate::screen::harmless;
use crate::tmux;

/// The result of a command: an exit code, or why there is none.
pub type Done = Result<ExitCode, Failure>;

/// Why a command failed, and what the user can do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Failure {
    /// What became of an act, where that is what failed: it stands before `what`.
    outcome: Option<&'static str>,
    what: String,
    hint: Option<String>,
    kind: FailureKind,
}

/// A number on the command line that has to be in a range.
pub(super) fn number<T: FromStr + PartialOrd>(
    text: &str,
    range: RangeInclusive<T>,
    what: &str,
    hint: &str,
) -> Result<T, Objection> {
    let number = text.parse().map_err(|_| Objection::new(what, hint))?;
    if range.contains(&number) { Ok(number) } else { Err(Objection::new("out of range", hint)) }
}

/// A time on the command line: seconds, or units of time.
pub(super) fn seconds(text: &str) -> Result<Duration, Objection> {
    let hint = "write seconds (5, 0.5) or a time (10m, 1h30m), a year at most";
    let seconds = text.parse().ok().or_else(|| Some(text.parse::<SignedDuration>().ok()?.as_secs_f64()));
    let seconds: f64 = seconds.ok_or_else(|| Objection::new("not a time", hint))?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if seconds <= 31_536_000.0 => Ok(duration),
        _ => Err(Objection::new("out of range", hint)),
    }
}

/// Whose fault it is; the exit code follows from it (SPEC §12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FailureKind {
    /// Refused, timed out, not there. Exit code 1.
    Refused,
    /// It may have been done, but that could not be seen in time. Exit code 3.
    Unverified,
    /// The arguments, the configuration or a file that the arguments name are wrong. Exit code 2.
    Usage,
    /// A signal asked for the end of the command, which then ends by that signal.
    Interrupted(SignalKind),
}

impl Failure {
    /// The command was right, but the answer is no.
    pub fn refused(what: impl fmt::Display) -> Self {
        Self::new(FailureKind::Refused, what)
    }

    /// The command or the configuration is wrong.
    pub fn usage(what: impl fmt::Display) -> Self {
        Self::new(FailureKind::Usage, what)
    }

    /// A file that the command line names cannot be written.
    pub(super) fn unwritable(path: &Path, error: &io::Error) -> Self {
        Self::usage(format!("{} cannot be written: {error}", path.display())).hint(match error.kind() {
            io::ErrorKind::IsADirectory => "name a file in it",
            io::ErrorKind::InvalidInput => "name a regular file",
            _ => "name a file in an existing directory in which you may write",
        })
    }

    /// The command was asked to end before it was done.
    pub(super) fn interrupted(by: SignalKind, what: impl fmt::Display) -> Self {
        Self::new(FailureKind::Interrupted(by), what)
    }

    /// An act was not done, or that could not be seen in time.
    pub(super) fn of_act(outcome: &Outcome) -> Self {
        let kind =
            if let Outcome::Unverified { .. } = outcome { FailureKind::Unverified } else { FailureKind::Refused };
        Self { outcome: Some(outcome.word()), ..Self::new(kind, outcome.detail().unwrap_or_default()) }
    }

    fn new(kind: FailureKind, what: impl fmt::Display) -> Self {
        Self { outcome: None, what: without_number(&what.to_string()), hint: None, kind }
    }

    /// Adds what the user can do about it.
    #[must_use]
    pub fn hint(self, hint: impl fmt::Display) -> Self {
        self.hint_if(Some(hint))
    }

    /// The same, if there is something.
    #[must_use]
    pub fn hint_if(self, hint: Option<impl fmt::Display>) -> Self {
        Self { hint: hint.map(|hint| hint.to_string()), ..self }
    }

    /// Whether the command was right, but the answer is no.
    pub(super) fn is_refusal(&self) -> bool {
        self.kind == FailureKind::Refused
    }

    /// Whether a signal asked for the end of the command.
    pub(super) const fn is_interrupted(&self) -> bool {
        matches!(self.kind, FailureKind::Interrupted(_))
    }

    /// What the user can do about it.
    pub(super) fn remedy(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Prints it as an error, one of several.
    pub(super) fn tell(&self) {
        let outcome = self.outcome.map(|word| word.replace('_', " ") + ": ").unwrap_or_default();
        print("error: ", &(outcome + &self.what), self.hint.as_deref());
    }

    /// Prints it as a warning: the command continues without what failed.
    pub(super) fn warn(&self) {
        print("warning: ", &self.what, self.hint.as_deref());
    }

    /// Prints it as what a command ended with, and returns the exit code. Does not return after a signal: a script that runs the
    /// command stops only if the signal ends the command as well.
    pub(super) fn end(&self) -> ExitCode {
        self.tell();
        match self.kind {
            FailureKind::Interrupted(by) => {
                let signal = by.as_raw_value();
                // It fails for signals that nobody can wait for.
                let _ = signal_hook::low_level::emulate_default_handler(signal);
                ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX))
            }
            FailureKind::Refused => ExitCode::FAILURE,
            FailureKind::Unverified => ExitCode::from(3),
            FailureKind::Usage => ExitCode::from(2),
        }
    }
}

// The errors of the modules know their remedies.

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::usage(&error).hint(&error.hint)
    }
}

impl From<RecordingError> for Failure {
    fn from(error: RecordingError) -> Self {
        Self::usage(&error).hint(match error {
            RecordingError::Unreadable { .. } => "name an existing file that you may read",
            _ => "recordings are asciicast v3 or v2; `fleetwatch record` makes them",
        })
    }
}

impl From<tmux::Error> for Failure {
    fn from(error: tmux::Error) -> Self {
        let is_typed = matches!(error, tmux::Error::BadName { .. });
        if is_typed { Self::usage(&error) } else { Self::refused(&error) }.hint(error.hint())
    }
}

impl From<Objection> for Failure {
    fn from(objection: Objection) -> Self {
        Self::refused(&objection).hint_if(objection.hint)
    }
}

impl From<AnswerError> for Failure {
    fn from(unmeant: AnswerError) -> Self {
        match unmeant {
            AnswerError::Choice(objection) => objection.into(),
            AnswerError::Text(unfit) => unfit.into(),
        }
    }
}

impl From<TextError> for Failure {
    fn from(unfit: TextError) -> Self {
        Self::usage(&unfit).hint(unfit.hint())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::refused(error)
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::refused(format!("{error:#}"))
    }
}

/// Says that there is nothing to print, and what to do about it.
pub(super) fn nothing(what: impl fmt::Display, hint: &str) -> Done {
    print("", &what.to_string(), Some(hint));
    Ok(ExitCode::SUCCESS)
}

/// Prints what happened and what to do about it. The texts may come from a file or a pane, so control sequences are removed.
fn print(head: &str, what: &str, hint: Option<&str>) {
    let tell = |line: String| console::tell(console::wrapped_error(&console::in_locale(&line)).trim_end_matches('\n'));
    tell(format!("{head}{}", one_line(what)));
    if let Some(hint) = hint {
        tell(format!("hint: {}", one_line(&completed(hint))));
    }
}

fn one_line(text: &str) -> String {
    harmless(&text.replace(['\n', '\t'], " "))
}

/// A text without the numbers of the system's errors, which mean nothing beside their words.
pub(super) fn without_number(text: &str) -> String {
    let mut parts = text.split(" (os error ");
    let mut said = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        said.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches(')'));
    }
    said
}
