//! What clap says of wrong arguments, as an error with what to do about it.

use std::error::Error as _;
use std::net::AddrParseError;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::failure::Failure;
use super::output;
use crate::operation::KeyError;
use crate::pattern::nearest;
use crate::present::objection::Objection;

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
    let alike = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue]
        .iter()
        .find_map(|kind| match error.get(*kind)? {
            ContextValue::String(name) => Some(vec![name.clone()]),
            ContextValue::Strings(names) => Some(names.clone()),
            _ => None,
        })
        .unwrap_or_default();
    // clap suggests names that have little in common with what was typed.
    let suggestion = nearest(&typed, alike.iter().map(String::as_str));
    let hint = match error.kind() {
        ErrorKind::ArgumentConflict => "leave one of the two out".to_owned(),
        _ => hint_of(error, &typed, suggestion, command),
    };
    // clap lists missing arguments on lines of their own; an error is one line.
    Failure::usage(what.lines().map(str::trim).collect::<Vec<_>>().join(" ")).hint(hint).end()
}

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

/// The name that was meant, else the values that there are, else how the command is used.
fn hint_of(error: &clap::Error, typed: &str, suggestion: Option<&str>, command: &clap::Command) -> String {
    match (suggestion, error.get(ContextKind::ValidValue), error.get(ContextKind::Usage)) {
        (Some(name), Some(ContextValue::Strings(values)), _) if (1..=FEW).contains(&values.len()) => {
            format!("did you mean `{name}`? it takes {}", values.join(", "))
        }
        (Some(name), ..) => format!("did you mean `{name}`?"),
        (None, Some(ContextValue::Strings(values)), _) if !values.is_empty() => {
            format!("it takes {}", values.join(", "))
        }
        (None, _, Some(ContextValue::StyledStr(usage))) => {
            // What clap would suggest stands in its usage.
            let suggests = error.get(ContextKind::SuggestedArg).is_some();
            let usage = if suggests { called(error, command).render_usage() } else { usage.clone() };
            let usage = usage.to_string().trim().replacen("Usage", "usage", 1);
            // A command with commands below it has a usage of these as well.
            let usage = usage.lines().next().unwrap_or_default();
            match error.kind() {
                ErrorKind::InvalidSubcommand => {
                    let program = usage.trim_start_matches("usage: ").split(" [").next().unwrap_or_default();
                    format!("`{program} --help` lists the commands")
                }
                ErrorKind::UnknownArgument if usage.contains("[TEXT]") && !typed.starts_with('-') => {
                    format!("{usage}; a text with blanks goes in quotes")
                }
                ErrorKind::UnknownArgument if usage.contains("<TARGET>") && typed.starts_with('-') => {
                    format!("{usage}; put a name or a text that begins with `-` after `--`")
                }
                _ => usage.to_owned(),
            }
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
