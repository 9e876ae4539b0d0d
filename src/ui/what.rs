//! What a terminal waits for or does, in one line of its own words.

use crate::dialog::{asked, bare};
use crate::fleet::Terminal;
use crate::state::{Availability, Phase, State};

/// How much of an option's text the line of a dialog shows, in characters.
const OPTION_SHOWN: usize = 18;

/// The line for the table: the dialog's question and its options, the running tool, the answer's first line, or why
/// there is nothing to see.
pub fn line(terminal: &Terminal) -> String {
    let state = &terminal.state;
    if state.waits()
        && let Some(question) = asked(state, terminal.dialog.as_deref())
    {
        let options = terminal.dialog.iter().flat_map(|dialog| &dialog.options);
        return options.fold(question, |line, option| {
            format!("{line}   {} {}", option.name, super::text::cut(&option.label, OPTION_SHOWN))
        });
    }
    if let Some(trouble) = trouble(state) {
        return trouble;
    }
    let [activity, ended, noted] =
        [&state.activity, &state.last_turn.detail, &state.operator.detail].map(|text| text.as_deref().map(bare));
    // How the last turn ended says nothing of one that goes on, such as the next attempt after a failure, even where its
    // line is still the last one on the screen.
    let goes_on = state.turn.phase == Phase::Active;
    let said = [activity, ended.clone().filter(|_| !goes_on), noted].into_iter().flatten();
    said.filter(|text| !goes_on || Some(text) != ended.as_ref()).find(|text| !text.is_empty()).unwrap_or_default()
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
