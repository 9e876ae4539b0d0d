//! What a choice means for a dialog.

use std::fmt::Display;

use super::objection::Objection;
use crate::dialog::{Dialog, TextEntry};
use crate::operation::{PasteText, Reply, TextError};

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
