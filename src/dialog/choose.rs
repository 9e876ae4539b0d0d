//! Which option somebody means who names one.

use super::{Choice, Dialog};

/// Why no option is meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoChoice {
    #[error("the dialog has no option `{0}`")]
    None(String),
    #[error("several options begin with `{0}`")]
    Several(String),
}

impl Dialog {
    /// The option that a text means: its number or letter, its whole text, or the beginning of no other one's text.
    ///
    /// # Errors
    /// No option is meant, or several could be.
    pub fn choose(&self, text: &str) -> Result<usize, NoChoice> {
        let wanted = text.trim().to_lowercase();
        let only = |fits: &dyn Fn(&Choice) -> bool| {
            let mut fitting = self.options.iter().enumerate().filter(|(_, option)| fits(option));
            let first = fitting.next().map(|(place, _)| place);
            (first, fitting.next().is_some())
        };
        let label = |option: &Choice| option.label.to_lowercase();
        let by_name = only(&|option| option.name == wanted);
        // Yes is an answer of its own where another option begins with the same word.
        let whole = only(&|option| label(option) == wanted);
        let beginning = only(&|option| !wanted.is_empty() && label(option).starts_with(&wanted));
        match [by_name, whole, beginning].into_iter().find(|(first, _)| first.is_some()) {
            Some((Some(place), false)) => Ok(place),
            Some(_) => Err(NoChoice::Several(text.to_owned())),
            None => Err(NoChoice::None(text.to_owned())),
        }
    }

    /// The options in one line, for a message.
    pub fn list(&self) -> String {
        self.options.iter().map(|option| format!("{} {}", option.name, option.label)).collect::<Vec<_>>().join(", ")
    }
}
