//! What an agent makes of a text that is sent to it: some texts are no prompts to it, and some do not arrive unchanged.

use std::borrow::Cow;
use std::sync::Arc;

use regex::Regex;

/// A kind of text that an agent does not take as a prompt, byte for byte.
#[derive(Clone, Debug)]
pub(super) struct Special {
    /// Which texts.
    pub text: Regex,
    /// What becomes of them, to follow the word "taken"; `None` if they arrive unchanged because of the padding.
    pub taken: Option<String>,
    pub taken_as: TakenAs,
    /// What is sent after them so that they arrive unchanged. The agent cuts it off.
    pub pad: String,
}

/// What an agent takes a text as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum TakenAs {
    #[default]
    Prompt,
    /// A command of its own, which may run without a turn.
    Command,
}

/// All such kinds of one agent.
#[derive(Clone, Debug, Default)]
pub struct RefusedInputs(Arc<[Special]>);

impl RefusedInputs {
    pub(super) fn new(specials: Vec<Special>) -> Self {
        Self(specials.into())
    }

    /// What the agent takes a text as, unless it is a prompt: `as a shell command`.
    pub fn taken(&self, text: &str) -> Option<String> {
        let taken: Vec<&str> = self.of(text).filter_map(|special| special.taken.as_deref()).collect();
        (!taken.is_empty()).then(|| taken.join(" and "))
    }

    /// Whether the agent takes a text as a prompt.
    pub fn taken_as(&self, text: &str) -> TakenAs {
        let is_command = self.of(text).any(|special| special.taken_as == TakenAs::Command);
        if is_command { TakenAs::Command } else { TakenAs::Prompt }
    }

    /// A text with the padding that makes it arrive unchanged.
    pub fn padded<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.of(text).find(|special| !special.pad.is_empty()) {
            Some(special) => Cow::Owned(format!("{text}{}", special.pad)),
            None => Cow::Borrowed(text),
        }
    }

    fn of<'t>(&self, text: &'t str) -> impl Iterator<Item = &Special> + use<'_, 't> {
        self.0.iter().filter(move |special| special.text.is_match(text))
    }
}
