//! The options of a dialog, what a dialog takes, and what of it is not shown.

use std::fmt;
use std::ops::Range;

/// A row below the options that can be ticked, which hands them in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Submit {
    /// How many options stand above it.
    pub below: usize,
    pub marked: bool,
}

/// One option.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Choice {
    /// What chooses it: the dialog's own number or letter, else its place from 1.
    pub name: String,
    pub label: String,
    /// Its explanation, beside it or in the rows below it, as one line.
    pub detail: String,
    /// The text of all its rows in logical lines, the label first.
    pub text: Vec<String>,
    /// Whether it is ticked; `None` if options cannot be.
    pub ticked: Option<bool>,
    /// How it takes a text of the operator's own, if it does.
    pub takes_text: Option<TextEntry>,
    /// Its answer to what the agent asks for, if the agent's profile knows that.
    pub verdict: Option<Verdict>,
    /// The key that chooses it, if the agent's profile knows that no other one does.
    #[serde(default)]
    pub key: Option<Press>,
}

/// The answer of an option to an agent that asks for permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Verdict {
    /// Yes, this once.
    Once,
    No,
}

/// How an option takes a text of the operator's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum TextEntry {
    /// The text is typed in the option's own row, once it is marked.
    Inline,
    /// The option closes the dialog, and the text is then sent to the prompt.
    Prompt,
    /// The text may be typed in a line for a note, which this key opens once the option is marked.
    Note(Press),
}

/// How a dialog takes notes, as its agent's profile says.
#[derive(Clone, Debug)]
pub struct Notes {
    /// The label of the option that means none of the others, in lower case: with a note, that is an answer.
    pub option: String,
    /// The key that opens the line for a note.
    pub key: Press,
    /// The offer below the options while it stands there, in lower case.
    pub offered: String,
}

/// How options begin that are lines to type in.
const INLINE: [&str; 4] = ["type something", "type your", "type a", "type here"];

/// The same as a whole label, with or without more in brackets.
const OTHER: &str = "other";

/// Labels of options that return to the prompt.
const PROMPT: [&str; 2] = ["what to do differently", "suggest changes"];

impl TextEntry {
    /// How the option with this label takes a text.
    pub(super) fn of(label: &str) -> Option<Self> {
        let label = label.to_lowercase();
        let is_inline = INLINE.iter().any(|words| begins(&label, words))
            || label.strip_prefix(OTHER).is_some_and(|rest| ends_word(rest.trim_start()));
        if is_inline {
            return Some(TextEntry::Inline);
        }
        PROMPT.iter().any(|words| label.contains(words)).then_some(TextEntry::Prompt)
    }
}

/// Whether a label begins with some words.
pub(super) fn begins(label: &str, words: &str) -> bool {
    label.strip_prefix(words).is_some_and(ends_word)
}

fn ends_word(rest: &str) -> bool {
    !rest.starts_with(char::is_alphanumeric)
}

/// A part of a dialog that the screen does not show.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Cut {
    /// Its first rows: it is higher than the pane.
    Top,
    /// All of it: something else is shown before it.
    Behind,
    /// What its agent left out itself, as a row of the dialog says: `… +12 lines`.
    LeftOut(String),
    /// The rest of this row, which ends at the edge of the pane or of its box.
    Edge(String),
    /// Perhaps what comes behind this row: its agent scrolls there, and does not say so.
    Scrolled(String),
}

/// What the agent's record says of a dialog that its pane shows a part of.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Recorded {
    /// What is asked leave for, in full.
    pub text: Vec<String>,
    /// The rows that the pane shows behind it, above the question.
    pub behind: Vec<String>,
    /// The lines of the dialog's text that it takes the place of.
    pub instead: Range<usize>,
}

/// How a dialog takes its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Manner {
    /// The number of an option chooses it.
    Numbers,
    /// A mark is moved up and down, and Enter takes the marked option.
    Rows,
    /// A mark is moved left and right, and Enter takes the marked option.
    Buttons,
    /// A letter is typed after the question, and Enter sends it if the letter alone does not.
    Letters,
    /// Several options can be ticked by their numbers, and are handed in together.
    Several,
    /// It has no options that can be read.
    Unknown,
}

/// A key that an answer presses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Press {
    Character(char),
    Up,
    Down,
    Left,
    Right,
    Enter,
    Escape,
    Tab,
}

impl Choice {
    /// An option without explanation.
    pub(crate) fn plain(name: String, label: &str) -> Self {
        Self {
            name,
            label: label.to_owned(),
            detail: String::new(),
            text: vec![label.to_owned()],
            ticked: None,
            takes_text: TextEntry::of(label),
            verdict: None,
            key: None,
        }
    }
}

impl fmt::Display for Press {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Press::Character(character) => write!(f, "{character}"),
            named => write!(f, "{named:?}"),
        }
    }
}

/// Keys in words: `1`, `Down Down Enter`.
pub fn in_words(presses: &[Press]) -> String {
    presses.iter().map(Press::to_string).collect::<Vec<_>>().join(" ")
}

/// The options of a dialog and their rows.
pub(super) struct Found {
    pub(super) manner: Manner,
    pub(super) options: Vec<Choice>,
    pub(super) marked: Option<usize>,
    pub(super) rows: Range<usize>,
    pub(super) typed: String,
    pub(super) submit: Option<Submit>,
}
