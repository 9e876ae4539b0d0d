//! A dialog as programs read it: in the answers of `send --json` and `answer --json`, and over HTTP.

use serde::Serialize;

use crate::dialog::{Choice, Dialog, in_words};
use crate::fleet::Terminal;
use crate::time::Timestamp;

/// The dialog that a terminal shows, with its whole text, spelled as on the dashboard.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DialogShown {
    /// Its name: a hash over what it asks and all that its options say.
    id: String,
    /// Whether all of it is here.
    whole: bool,
    /// Whether that is so because the agent's own record has what the pane does not show.
    from_record: bool,
    /// The rows above it if its beginning is not shown: a part of it, or what was there before.
    above: Vec<String>,
    text: Vec<String>,
    options: Vec<OptionShown>,
    since: Timestamp,
    /// Whether its beginning was seen; if not, it is at least as old.
    since_exact: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct OptionShown {
    /// What chooses it.
    name: String,
    label: String,
    text: Vec<String>,
    ticked: Option<bool>,
    takes_text: bool,
    /// The keys that choose it; null if it cannot be chosen, or only with a text.
    sends: Option<String>,
    /// Whether it is the one that `yes` or `no` means.
    answers: Option<&'static str>,
}

/// The keys that choose an option without a text.
pub fn sends(dialog: &Dialog, option: usize) -> Option<String> {
    let keys = in_words(&dialog.presses(option));
    Some(keys).filter(|keys| !keys.is_empty() && !dialog.needs_text(option))
}

/// The one of `yes` and `no` that means an option.
pub fn answers(dialog: &Dialog, option: usize) -> Option<&'static str> {
    ["yes", "no"].into_iter().find(|word| dialog.choose(word) == Ok(option))
}

impl DialogShown {
    /// `None` if the terminal shows none.
    pub fn of(terminal: &Terminal) -> Option<Self> {
        let dialog = terminal.dialog.as_ref()?;
        let option = |(nth, option): (usize, &Choice)| OptionShown {
            name: option.name.clone(),
            label: option.label.clone(),
            text: option.text.clone(),
            ticked: option.ticked,
            takes_text: option.takes_text.is_some(),
            sends: sends(dialog, nth),
            answers: answers(dialog, nth),
        };
        Some(Self {
            id: dialog.id(),
            whole: dialog.is_whole(),
            from_record: dialog.recorded.is_some(),
            above: dialog.rows_above().to_vec(),
            text: dialog.own_lines().cloned().collect(),
            options: dialog.options.iter().enumerate().map(option).collect(),
            since: terminal.state.since,
            since_exact: terminal.state.since_exact,
        })
    }
}
