//! What an agent makes of a text that is sent to it: some texts are no prompts to it, and some do not arrive unchanged.

use std::borrow::Cow;
use std::sync::Arc;

use regex::Regex;
use unicode_segmentation::UnicodeSegmentation;

/// A kind of text that an agent does not take as a prompt, byte for byte.
#[derive(Clone, Debug)]
pub(super) struct Special {
    /// Which texts.
    pub text: Regex,
    /// What becomes of them, to follow the word "taken"; `None` if they arrive unchanged because of the padding.
    pub taken: Option<String>,
    pub taken_as: TakenAs,
    /// Padding that makes them arrive unchanged. The agent cuts it off.
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

    /// How the agent takes a text that is no prompt: `as a shell command`.
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

/// The most of one paste that an agent takes as a part of the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PasteLimit {
    /// In units of UTF-16, in which agents under JavaScript count.
    pub units: usize,
    pub line_breaks: usize,
}

impl PasteLimit {
    /// A text in parts, none of which exceeds the limit, unless a single character does.
    pub fn parts(self, text: &str) -> Vec<&str> {
        let (mut parts, mut start, mut units, mut breaks) = (Vec::new(), 0, 0, 0);
        for (at, character) in text.grapheme_indices(true) {
            let (more_units, more_breaks) = (character.encode_utf16().count(), character.matches('\n').count());
            if at > start && (units + more_units > self.units || breaks + more_breaks > self.line_breaks) {
                parts.push(&text[start..at]);
                (start, units, breaks) = (at, 0, 0);
            }
            (units, breaks) = (units + more_units, breaks + more_breaks);
        }
        parts.push(&text[start..]);
        parts
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_parts_of_a_text_are_the_text_and_none_is_too_long(text in "(\\PC|\n|e\u{301}|👩\u{200d}👩|🇯🇵){1,80}") {
            let limit = PasteLimit { units: 12, line_breaks: 2 };
            let parts = limit.parts(&text);
            prop_assert_eq!(parts.concat(), text.as_str());
            let whole: Vec<&str> = text.graphemes(true).collect();
            let cut: Vec<&str> = parts.iter().flat_map(|part| part.graphemes(true)).collect();
            prop_assert_eq!(cut, whole, "no character is cut");
            for part in parts {
                let is_one = part.graphemes(true).count() == 1;
                prop_assert!(is_one || part.encode_utf16().count() <= 12, "{part:?}");
                prop_assert!(part.matches('\n').count() <= 2, "{part:?}");
            }
        }
    }
}
