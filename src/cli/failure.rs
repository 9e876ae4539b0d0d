//! The errors of commands, and how they are printed.

use std::borrow::Cow;
use std::error::Error as _;
use std::fmt;
use std::io;
use std::net::AddrParseError;
use std::ops::RangeInclusive;
use std::path::Path;
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::OnceLock;
use std::time::Duration;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use jiff::SignedDuration;
use tokio::signal::unix::SignalKind;

use super::{Done, GlobalOptions, output};
use crate::config::ConfigError;
use crate::operation::{Outcome, UnfitText, UnknownKey};
use crate::recording::RecordingError;
use crate::screen::harmless;
use crate::tmux;

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

/// A wrong value on the command line, and how such a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub(super) struct BadValue {
    pub what: &'static str,
    pub hint: &'static str,
}

/// A number on the command line that has to be in a range.
pub(super) fn number<T: FromStr + PartialOrd>(
    text: &str,
    range: RangeInclusive<T>,
    what: &'static str,
    hint: &'static str,
) -> Result<T, BadValue> {
    let number = text.parse().map_err(|_| BadValue { what, hint })?;
    if range.contains(&number) { Ok(number) } else { Err(BadValue { what: "out of range", hint }) }
}

/// A time on the command line: seconds, or units of time.
pub(super) fn seconds(text: &str) -> Result<Duration, BadValue> {
    let hint = "write seconds (5, 0.5) or a time (10m, 1h30m), a year at most";
    let seconds = text.parse().ok().or_else(|| Some(text.parse::<SignedDuration>().ok()?.as_secs_f64()));
    let seconds: f64 = seconds.ok_or(BadValue { what: "not a time", hint })?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if seconds <= 31_536_000.0 => Ok(duration),
        _ => Err(BadValue { what: "out of range", hint }),
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

    /// What the user can do about it.
    pub(super) fn hinted(&self) -> Option<&str> {
        self.hint.as_deref()
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
        print(ERROR, &(outcome + &self.what), self.hint.as_deref());
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

impl From<UnfitText> for Failure {
    fn from(unfit: UnfitText) -> Self {
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

/// Prints what clap says of the arguments, in the form of all other errors; help and version go to standard output.
pub(super) fn from_clap(error: &clap::Error, command: &clap::Command) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return output::conclude(error.print()).unwrap_or_else(|failure| failure.end());
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = error.print();
        return ExitCode::from(2);
    }
    let rendered = error.render().to_string();
    let what = rendered.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ");
    // The possible values are in the hint.
    let what = what.split("[possible values:").next().unwrap_or_default().trim();
    let typed = [ContextKind::InvalidSubcommand, ContextKind::InvalidValue, ContextKind::InvalidArg]
        .iter()
        .find_map(|kind| if let ContextValue::String(typed) = error.get(*kind)? { Some(typed.clone()) } else { None })
        .unwrap_or_default();
    // Of several similar ones, the one with the fewest wrong letters is meant.
    let suggestion = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue]
        .iter()
        .find_map(|kind| match error.get(*kind)? {
            ContextValue::String(name) => Some(name.clone()),
            ContextValue::Strings(names) => names.iter().min_by_key(|name| strsim::osa_distance(&typed, name)).cloned(),
            _ => None,
        })
        // clap suggests names that have little in common with what was typed.
        .filter(|name| is_like(&typed, name))
        .or_else(|| command_like(error, &typed, command))
        .or_else(|| value_that_begins(error, &typed))
        .or_else(|| called_elsewhere(error, &typed, command));
    // The usage of these would show both of them.
    let conflict = (error.kind() == ErrorKind::ArgumentConflict).then(|| {
        let [below, option] = [ContextKind::InvalidSubcommand, ContextKind::PriorArg]
            .map(|kind| error.get(kind).map(ToString::to_string).unwrap_or_default());
        let takes = |it: &clap::Command| it.get_arguments().any(|known| known.to_string() == option);
        match called(error, command).find_subcommand(&below).filter(|it| takes(it)) {
            Some(_) => format!("put `{option}` behind `{below}`"),
            None => "leave one of the two out".to_owned(),
        }
    });
    let hint = conflict
        .or_else(|| without_dashes(error, &typed, command))
        .or_else(|| misplaced(error, &typed, command))
        .unwrap_or_else(|| hint_of(error, &typed, suggestion, command));
    // clap lists missing arguments on lines of their own; an error is one line.
    print(ERROR, &what.lines().map(str::trim).collect::<Vec<_>>().join(" "), Some(&hint));
    ExitCode::from(2)
}

/// Whether a name is what was typed but for a wrong letter in three; the dashes of options do not count. A short word with
/// another letter in it is another word, such as `nope` for `note`.
pub(super) fn is_like(typed: &str, name: &str) -> bool {
    let (typed, name) = (typed.trim_start_matches('-'), name.trim_start_matches('-'));
    let letters = |word: &str| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.sort_unstable();
        letters
    };
    let is_other = name.len() <= SHORT && typed.len() == name.len() && letters(typed) != letters(name);
    !is_other && strsim::osa_distance(typed, name) * 3 <= name.len()
}

/// The letters of a short word.
const SHORT: usize = 4;

/// The command that was called, by the usage that clap shows of it.
fn called(error: &clap::Error, command: &clap::Command) -> clap::Command {
    let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    let mut called = command.clone();
    for word in usage.trim_start_matches("Usage: ").split_whitespace().skip(1) {
        let Some(below) = called.find_subcommand(word).cloned() else { break };
        called = below;
    }
    called
}

/// The command that somebody meant who wrote it as an option, or behind `help`.
fn command_like(error: &clap::Error, typed: &str, command: &clap::Command) -> Option<String> {
    if called(error, command).get_name() != command.get_name() {
        return None;
    }
    let is_meant = typed.starts_with("--") || error.kind() == ErrorKind::InvalidSubcommand;
    let names = command.get_subcommands().filter(|known| !known.is_hide_set()).map(clap::Command::get_name);
    let begins = |name: &str| typed.len() >= BEGINNING && name.starts_with(typed);
    let like = names.filter(|name| is_meant && (is_like(typed, name) || begins(name)));
    like.min_by_key(|name| strsim::osa_distance(typed, name)).map(str::to_owned)
}

/// The only value that begins with what was typed.
fn value_that_begins(error: &clap::Error, typed: &str) -> Option<String> {
    let Some(ContextValue::Strings(values)) = error.get(ContextKind::ValidValue) else { return None };
    let mut begin = values.iter().filter(|value| typed.len() >= BEGINNING && value.starts_with(typed));
    begin.next().filter(|_| begin.next().is_none()).cloned()
}

/// The letters from which on the beginning of a command's or a value's name says which is meant.
const BEGINNING: usize = 3;

/// What other programs call what is meant: `ls`, `get` and `logs`, `-o json`, `tail -f`.
const ELSEWHERE: [(&str, &str); 13] = [
    ("ls", "list"),
    ("ps", "list"),
    ("get", "list"),
    ("logs", "output"),
    ("cat", "output"),
    ("log", "history"),
    ("kill", "tasks"),
    ("describe", "explain"),
    ("version", "--version"),
    ("-o", "--json"),
    ("--output", "--json"),
    ("--format", "--json"),
    ("-n", "--limit"),
];

/// The command or option that others call so, if it can stand there.
fn called_elsewhere(error: &clap::Error, typed: &str, command: &clap::Command) -> Option<String> {
    let called = called(error, command);
    let takes = |name: &str| called.get_arguments().any(|arg| arg.get_long() == name.strip_prefix("--"));
    let meant = ELSEWHERE.iter().filter(|(other, _)| *other == typed).map(|(_, own)| *own);
    meant.filter(|own| called.find_subcommand(own).is_some() || takes(own)).map(str::to_owned).next()
}

/// How `run` takes the command that was typed without dashes before it.
fn without_dashes(error: &clap::Error, typed: &str, command: &clap::Command) -> Option<String> {
    let is_word = error.kind() == ErrorKind::UnknownArgument && !typed.starts_with('-');
    (is_word && called(error, command).get_name() == "run")
        .then(|| format!("the command goes behind `--`: `fleetwatch run NAME -- {typed} …`"))
}

/// Where an option of a command belongs that stands before it.
fn misplaced(error: &clap::Error, typed: &str, command: &clap::Command) -> Option<String> {
    let name = typed.strip_prefix("--").filter(|_| error.kind() == ErrorKind::UnknownArgument)?;
    let is_known = |below: &clap::Command| below.get_arguments().any(|it| it.get_long() == Some(name));
    let is_of_a_command = called(error, command).get_name() == command.get_name()
        && command.get_subcommands().any(|below| !below.is_hide_set() && is_known(below));
    is_of_a_command.then(|| format!("put `{typed}` behind the command that takes it"))
}

/// What to do about wrong arguments; `suggestion` is like what was typed.
fn hint_of(error: &clap::Error, typed: &str, suggestion: Option<String>, command: &clap::Command) -> String {
    match (suggestion, error.get(ContextKind::ValidValue), error.get(ContextKind::Usage)) {
        (Some(name), Some(ContextValue::Strings(values)), _) if (1..=FEW).contains(&values.len()) => {
            format!("did you mean `{name}`? it takes {}", values.join(", "))
        }
        (Some(name), ..) => format!("did you mean `{name}`?"),
        (None, Some(ContextValue::Strings(values)), _) if !values.is_empty() => {
            format!("it takes {}", values.join(", "))
        }
        (None, _, Some(ContextValue::StyledStr(usage))) if error.kind() == ErrorKind::InvalidSubcommand => {
            let usage = usage.to_string();
            let program = usage.trim().trim_start_matches("Usage: ").split(" [").next().unwrap_or_default();
            match called(error, command).find_subcommand("list").filter(|_| typed.contains(':')) {
                Some(_) => format!("`{program} list {}` shows those", quoted(typed)),
                None => format!("`{program} --help` lists the commands"),
            }
        }
        (None, _, Some(ContextValue::StyledStr(usage))) => {
            // What clap would suggest stands in its usage.
            let suggests = error.get(ContextKind::SuggestedArg).is_some();
            let usage = if suggests { called(error, command).render_usage() } else { usage.clone() };
            let usage = usage.to_string().trim().replacen("Usage", "usage", 1);
            // A command with commands below it has a usage of these as well.
            let usage = usage.lines().next().unwrap_or_default().to_owned();
            let behind = match error.kind() {
                ErrorKind::UnknownArgument if usage.contains("[TEXT]") && !typed.starts_with('-') => {
                    "; a text with blanks goes in quotes"
                }
                ErrorKind::UnknownArgument if usage.contains("<TARGET>") && typed.starts_with('-') => {
                    "; put a name or a text that begins with `-` after `--`"
                }
                // Of several letters, clap names only the first.
                ErrorKind::UnknownArgument
                    if usage.contains("[FILTER]")
                        && std::env::args().any(|it| it.starts_with(typed) && it.contains(':')) =>
                {
                    "; `!is:ready` matches what is not ready"
                }
                _ => "",
            };
            usage + behind
        }
        _ => hint_for_value(error),
    }
}

/// Values that are listed rather than guessed at.
const FEW: usize = 8;

/// How a value that clap refused is written.
fn hint_for_value(error: &clap::Error) -> String {
    if error.kind() == ErrorKind::InvalidValue {
        return "give it a value, or leave it out".to_owned();
    }
    let Some(source) = error.source() else { return "`fleetwatch --help` lists the commands".to_owned() };
    if let Some(unknown) = source.downcast_ref::<UnknownKey>() {
        unknown.hint()
    } else if let Some(bad) = source.downcast_ref::<BadValue>() {
        bad.hint.to_owned()
    } else if source.is::<AddrParseError>() {
        "write an address and a port, such as 127.0.0.1:7717".to_owned()
    } else {
        "`--help` says what it takes".to_owned()
    }
}

/// What an error begins with.
const ERROR: &str = "error: ";

/// The options of this process: errors come from modules that do not know them, and their hints name commands.
static GIVEN: OnceLock<GlobalOptions> = OnceLock::new();

/// Completes the commands in hints with these options from now on.
pub(super) fn complete_hints(options: &GlobalOptions) {
    // A process runs the command line once, so none can have been set before.
    let _ = GIVEN.set(options.clone());
}

/// A hint whose commands ask the server that this one asks.
pub(super) fn completed(hint: &str) -> String {
    GIVEN.get().map_or_else(|| hint.to_owned(), |options| options.completed(hint))
}

/// A name or a path as a shell takes it.
pub(super) fn quoted(word: &str) -> Cow<'_, str> {
    // No shell takes a word with a NUL byte.
    shlex::try_quote(word).unwrap_or(word.into())
}

/// Says that there is nothing to print, and what to do about it.
pub(super) fn nothing(what: impl fmt::Display, hint: &str) -> Done {
    print("", &what.to_string(), Some(hint));
    Ok(ExitCode::SUCCESS)
}

/// Prints what happened and what to do about it. The texts may come from a file or a pane, so control sequences are removed.
fn print(head: &str, what: &str, hint: Option<&str>) {
    let tell = |line: String| output::tell(output::wrapped_error(&output::in_locale(&line)).trim_end_matches('\n'));
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
