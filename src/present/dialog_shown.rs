//! A dialog as programs read it: in the answers of `send --json` and `answer --json`, and over HTTP.

use std::fmt::Display;

use serde::Serialize;

use super::objection::Objection;
use crate::dialog::{Choice, Dialog, TextEntry, in_words};
use crate::fleet::Terminal;
use crate::operation::{PasteText, Reply, TextError};
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

// What a choice means for a dialog.

/// Why a dialog does not take an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    #[error(transparent)]
    Choice(Objection),
    /// No terminal takes the text.
    #[error(transparent)]
    Text(#[from] TextError),
}

impl From<AnswerError> for Objection {
    fn from(unmeant: AnswerError) -> Self {
        match unmeant {
            AnswerError::Choice(objection) => objection,
            AnswerError::Text(unfit) => Self::new(&unfit, unfit.hint()),
        }
    }
}

/// The answer that a choice and a text mean, and the prompt that follows it.
///
/// # Errors
/// No option is meant, it takes no text, or it takes one and there is none.
pub fn meant(choice: &str, text: Option<&str>, dialog: &Dialog) -> Result<(Reply, Option<String>), AnswerError> {
    let reply = Reply::meant(choice, dialog).map_err(|no_choice| unmeant(no_choice, dialog))?;
    let option = if let Reply::Option(option) = reply { Some(option) } else { None };
    let Some(text) = text else {
        return match option {
            Some(option) if dialog.needs_text(option) => Err(unmeant("this option takes a text: --text", dialog)),
            _ => Ok((reply, None)),
        };
    };
    let Some(option) = option else { return Err(unmeant("text goes only with a single option that takes it", dialog)) };
    let fit = PasteText::new(text)?;
    match dialog.options.get(option).and_then(|option| option.takes_text) {
        Some(TextEntry::Inline | TextEntry::Note(_)) => Ok((Reply::Text { option, text: fit }, None)),
        Some(TextEntry::Prompt) => Ok((reply, Some(text.to_owned()))),
        None => Err(unmeant(format!("option `{choice}` takes no text"), dialog)),
    }
}

/// Whether an answer only says no, for which nobody has to have read the whole dialog.
pub fn is_no(dialog: &Dialog, reply: &Reply, prompt: Option<&str>) -> bool {
    matches!(reply, Reply::Option(option) if prompt.is_none() && dialog.refuses(*option))
}

/// The hint where a dialog has no options that can be read.
pub const BY_KEY: &str = "its options cannot be read; answer with a key, such as y or Enter";

/// Why a dialog does not take an answer, with what it takes.
fn unmeant(why: impl Display, dialog: &Dialog) -> AnswerError {
    let hint = match dialog.options.is_empty() {
        true if dialog.is_whole() => BY_KEY.to_owned(),
        true => "its options cannot be read; answer it there".to_owned(),
        false => format!("its options: {}", dialog.list()),
    };
    AnswerError::Choice(Objection::new(why, hint))
}
