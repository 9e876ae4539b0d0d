//! What a terminal waits for or does, in one line of its own words.

use crate::fleet::Terminal;
use crate::state::{Availability, State};

use super::meaning::waits;

/// How much of an option's text the line of a dialog shows, in characters.
const OPTION_SHOWN: usize = 18;

/// The line for the table: the dialog's question and its options, the running tool, the answer's first line, or why
/// there is nothing to see.
pub fn line(terminal: &Terminal) -> String {
    let state = &terminal.state;
    if waits(state)
        && let Some(excerpt) = &state.assessment.operator_excerpt
    {
        let question = state.activity.clone().or_else(|| question(excerpt)).unwrap_or_default();
        return options(excerpt).into_iter().fold(question, |line, (number, text)| {
            format!("{line}   {number} {}", super::text::cut(&text, OPTION_SHOWN))
        });
    }
    if let Some(trouble) = trouble(state) {
        return trouble;
    }
    let said = [state.activity.as_ref(), state.last_turn.detail.as_ref(), state.operator.detail.as_ref()];
    said.into_iter().flatten().find(|text| !text.trim().is_empty()).cloned().unwrap_or_default()
}

/// Why a terminal cannot be read, in words.
pub fn trouble(state: &State) -> Option<String> {
    let problem = state.diagnostics.probe_error.as_ref().or(state.diagnostics.parse_error.as_ref());
    match state.diagnostics.availability {
        Availability::Available => None,
        Availability::TuiDown => Some("the agent has ended; its pane is still there".to_owned()),
        Availability::Unavailable => Some("the pane is gone".to_owned()),
        Availability::Error => Some(problem.map_or("cannot be read".to_owned(), |problem| problem.message.clone())),
        Availability::Unknown => problem.map(|problem| problem.message.clone()),
    }
}

/// The options that a dialog numbers, with their numbers.
pub fn options(excerpt: &str) -> Vec<(String, String)> {
    excerpt.lines().filter_map(option).collect()
}

/// `❯ 1. Yes` and the like: a mark or none, a number, a dot or bracket, a text.
fn option(line: &str) -> Option<(String, String)> {
    let line = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    let digits = line.find(|c: char| !c.is_ascii_digit()).filter(|&digits| (1..=2).contains(&digits))?;
    let (number, rest) = line.split_at(digits);
    let text = rest.strip_prefix(['.', ')', ':'])?.trim();
    // `3.5 GB` is a number, not an option.
    (!text.is_empty() && rest[1..].starts_with(' ')).then(|| (number.to_owned(), text.to_owned()))
}

/// The line of a dialog that asks, else its first one.
fn question(excerpt: &str) -> Option<String> {
    let lines = || excerpt.lines().map(str::trim).filter(|line| !line.is_empty() && option(line).is_none());
    lines().find(|line| line.ends_with('?')).or_else(|| lines().next()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_found_under_any_mark() {
        let excerpt =
            "Bash command\n  rm -rf build/cache\nDo you want to proceed?\n❯ 1. Yes\n  2. Yes, and don't ask\n3) No";
        let found = options(excerpt);
        let found: Vec<(&str, &str)> = found.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
        assert_eq!(found, [("1", "Yes"), ("2", "Yes, and don't ask"), ("3", "No")]);
        assert_eq!(question(excerpt).as_deref(), Some("Do you want to proceed?"));
    }

    #[test]
    fn numbers_in_prose_are_no_options() {
        assert!(options("3.5 GB are free\n2024 was a year\n1.\n123. far too many").is_empty());
    }
}
