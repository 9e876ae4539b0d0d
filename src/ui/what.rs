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
        let options = terminal.dialog.iter().flat_map(|dialog| &dialog.options);
        return options.fold(question, |line, option| {
            format!("{line}   {} {}", option.name, super::text::cut(&option.label, OPTION_SHOWN))
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

/// The line of a dialog that asks, else its first one.
fn question(excerpt: &str) -> Option<String> {
    let lines = || excerpt.lines().map(str::trim).filter(|line| !line.is_empty());
    lines().find(|line| line.ends_with('?')).or_else(|| lines().next()).map(str::to_owned)
}
