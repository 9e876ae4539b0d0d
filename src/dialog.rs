//! A dialog of an agent as it stands on the screen: which options it offers, which one is marked, and which keys choose
//! one (SPEC §11).
//!
//! Agents draw their dialogs alike: numbered or marked rows, a row of buttons, or letters in brackets behind the
//! question. What is read here is that common form, proved on every recorded dialog (`tests/recordings.rs`). A dialog that has
//! another form has no options, and is answered with keys or in the terminal itself.

mod choose;
mod read;

use std::fmt;
use std::ops::Range;

pub use choose::NoChoice;

use crate::screen::Screen;

/// A dialog on a screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialog {
    /// The rows of the screen that it takes, from the top.
    pub rows: Range<usize>,
    /// The rows from the first option to the last one; empty without options.
    pub option_rows: Range<usize>,
    pub options: Vec<Choice>,
    pub manner: Manner,
    /// The option that the agent has marked.
    pub marked: Option<usize>,
    /// What somebody has typed behind the question.
    pub typed: String,
    /// Whether the agent shows that an option has been taken, and only has to close the dialog.
    pub taken: bool,
    identity: String,
}

/// One option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What the operator chooses it by: the dialog's own number or letter, else its place from 1.
    pub name: String,
    pub label: String,
    /// The rows below it that explain it, as one line.
    pub detail: String,
}

/// How a dialog takes its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// The number of an option chooses it.
    Numbers,
    /// A mark is moved up and down, and Enter takes the marked option.
    Rows,
    /// A mark is moved left and right, and Enter takes the marked option.
    Buttons,
    /// A letter is typed behind the question, and Enter sends it where the letter alone does not.
    Letters,
    /// Several options can be ticked; an answer is more than one choice.
    Several,
    /// It has no options that can be read.
    Unknown,
}

/// A key that an answer presses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Press {
    Character(char),
    Up,
    Down,
    Left,
    Right,
    Enter,
}

impl Dialog {
    /// Reads the dialog in some rows of a screen. It never fails; what is no option is none.
    pub fn read(screen: &Screen, rows: Range<usize>) -> Self {
        read::read(screen, rows)
    }

    /// A row of the dialog as text. Of options side by side nothing but its style tells the marked one: it gets brackets.
    pub fn row_text(&self, screen: &Screen, y: usize) -> String {
        let Some(row) = screen.row(y) else { return String::new() };
        match self.marked.filter(|_| self.manner == Manner::Buttons && self.option_rows.contains(&y)) {
            Some(marked) => read::with_marked(row, marked),
            None => row.text().to_owned(),
        }
    }

    /// Whether two looks show the same question with the same options, wherever the mark stands and whatever ticks
    /// around them.
    pub fn is_same(&self, other: &Dialog) -> bool {
        self.identity == other.identity && self.manner == other.manner && self.options == other.options
    }

    /// Whether one of the options can be chosen.
    pub fn can_choose(&self) -> bool {
        !self.options.is_empty() && !matches!(self.manner, Manner::Several | Manner::Unknown)
    }

    /// The keys that choose an option as things stand; none where it cannot be chosen.
    pub fn presses(&self, option: usize) -> Vec<Press> {
        let Some(choice) = self.options.get(option) else { return Vec::new() };
        let mut letters = choice.name.chars();
        match (self.manner, letters.next(), letters.next()) {
            (Manner::Numbers, Some(digit), None) => vec![Press::Character(digit)],
            (Manner::Numbers | Manner::Rows, ..) => self.moves(option, Press::Up, Press::Down),
            (Manner::Buttons, ..) => self.moves(option, Press::Left, Press::Right),
            (Manner::Letters, Some(letter), None) => vec![Press::Character(letter), Press::Enter],
            _ => Vec::new(),
        }
    }

    fn moves(&self, option: usize, back: Press, forth: Press) -> Vec<Press> {
        let Some(marked) = self.marked else { return Vec::new() };
        let step = if option < marked { back } else { forth };
        let mut presses = vec![step; option.abs_diff(marked)];
        presses.push(Press::Enter);
        presses
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

#[cfg(test)]
mod tests;
