//! What clap says of wrong arguments, as an error with what to do about it.

use std::error::Error as _;
use std::net::AddrParseError;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::failure::Failure;
use super::output;
use crate::operation::KeyError;
use crate::present::objection::Objection;
use crate::present::text::quoted;

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
    Failure::usage(what.lines().map(str::trim).collect::<Vec<_>>().join(" ")).hint(hint).end()
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
    if let Some(unknown) = source.downcast_ref::<KeyError>() {
        unknown.hint()
    } else if let Some(bad) = source.downcast_ref::<Objection>() {
        bad.hint.clone().unwrap_or_default()
    } else if source.is::<AddrParseError>() {
        "write an address and a port, such as 127.0.0.1:7717".to_owned()
    } else {
        "`--help` says what it takes".to_owned()
    }
}
