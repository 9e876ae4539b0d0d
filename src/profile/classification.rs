//! What a profile says about one screen.

use std::ops::Range;
use std::sync::Arc;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_width::UnicodeWidthChar;

use crate::dialog::Dialog;
use crate::state::{AssessedAvailability, Assessment, Evidence, FactName, FactValue, Phase, Surface, Tri};
use crate::time::Span;

/// How a turn ended, as the screen's latest turn says it (SPEC §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndMark {
    /// A row that the agent draws when a turn has ended well.
    Completed,
    Interrupted,
    Failed,
}

/// Work that the screen shows going on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    /// A hash of the rows that show it; it changes when a counter ticks or a spinner turns.
    pub fingerprint: u64,
    /// Whether the agent is known to repaint these rows while it works, so that a still one is a stall.
    pub ticks: bool,
    /// Whether nothing but a status row shows it, which an agent may leave behind (SPEC §7, stale-active).
    pub status_row_only: bool,
    /// Whether its rows offer to stop it, as an agent's do while it works, even when it is frozen.
    pub offers_stop: bool,
    /// Whether the title shows it.
    pub titled: bool,
    /// Whether the prompt would take a submission if this work were not shown.
    pub prompt_idle: bool,
    /// How long the turn has lasted, if a status row counts that.
    pub elapsed: Option<Span>,
}

/// The end of the latest turn, as shown below the last submitted prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnEnd {
    pub mark: EndMark,
    /// The row that says it.
    pub detail: String,
}

/// The rows from the last submitted prompt to the live edge, reduced to what matters over time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnRegion {
    /// A hash of the last submitted prompt's row; `None` when no submitted prompt is visible.
    pub prompt: Option<u64>,
    /// How many submitted prompts are visible.
    pub prompts: usize,
    /// Whether the last one is a command to the agent's own surface, and nothing of an answer stands under it.
    pub command: bool,
    /// The text below the submitted prompt without blanks, progress rows and other chrome, so that neither a footer
    /// nor a reflow changes it.
    pub text: Arc<str>,
}

impl TurnRegion {
    /// Whether its latest prompt is that of another one, as far as can be seen.
    pub fn has_prompt_of(&self, other: &TurnRegion) -> bool {
        (self.prompt, self.prompts) == (other.prompt, other.prompts)
    }

    /// Whether `later` ends as this one does, so that nothing was added to it.
    pub fn ends_like(&self, later: &TurnRegion) -> bool {
        self.text.ends_with(&*later.text) || (!self.text.is_empty() && later.text.ends_with(&*self.text))
    }

    /// Whether the answer grew: `self` shows all that `earlier` showed, and more below it.
    pub fn grew_from(&self, earlier: &TurnRegion) -> bool {
        if self.text == earlier.text {
            return false;
        }
        if self.text.len() > earlier.text.len() && self.text.starts_with(&*earlier.text) {
            return !earlier.text.is_empty() || self.prompt == earlier.prompt;
        }
        // The top of a long turn scrolls away, so its end is searched for instead of its beginning.
        const TAIL: usize = 48;
        let tail_start = earlier.text.char_indices().rev().nth(TAIL - 1).map(|(i, _)| i);
        tail_start.is_some_and(|start| {
            let tail = &earlier.text[start..];
            self.text.rfind(tail).is_some_and(|at| at + tail.len() < self.text.len())
        })
    }
}

/// The family of screens that a reading belongs to (SPEC §6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    Idle,
    Answer,
    Waiting,
    Working,
}

impl Classification {
    /// Whether a row between the last submitted prompt and the live one is new since an earlier reading.
    pub fn has_new_rows(&self, earlier: &[u64]) -> bool {
        self.edge.iter().any(|row| earlier.binary_search(row).is_err())
    }

    /// Whether the agent draws its screen before its session is up.
    pub fn is_opening(&self) -> bool {
        self.family.is_none() && self.assessment.availability == AssessedAvailability::Supported
    }

    /// Whether there is a prompt on it that somebody has submitted, or begun to write.
    pub fn shows_input(&self) -> bool {
        self.turn.prompt.is_some() || self.draft.is_some()
    }
}

/// The visible letters and digits of the live prompt, split where the agent shows a paste collapsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Composed(Vec<String>);

impl Composed {
    /// The texts before, between and after the bracketed words that stand for pastes.
    pub fn of(shown: &str) -> Self {
        let mut pieces = vec![String::new()];
        for (brackets, part) in shown.split('[').enumerate() {
            match part.split_once(']').unwrap_or((part, "")) {
                (words, behind) if brackets > 0 && stand_for_a_paste(words) => pieces.push(drawn_letters(behind)),
                _ => pieces.last_mut().into_iter().for_each(|piece| piece.push_str(&drawn_letters(part))),
            }
        }
        Self(pieces)
    }

    /// How many pastes are shown by their size alone.
    pub fn pastes(&self) -> usize {
        self.0.len().saturating_sub(1)
    }

    /// Whether all that is shown may belong to this text: agents show only part of a long text, and cut or replace what
    /// they cannot draw.
    pub fn is_part_of(&self, text: &str) -> bool {
        let all = drawn_letters(text);
        let ascii = |text: &str| text.chars().filter(char::is_ascii).collect::<String>();
        let pieces = || self.0.iter().cloned();
        let is_drawn = || behind(&self.0.concat(), &all).is_some();
        are_within(pieces(), &all)
            || (!all.is_ascii() && (is_drawn() || are_within(pieces().map(|piece| ascii(&piece)), &ascii(&all))))
    }

    /// Whether the beginning of this text can be seen, and something else. What a command was turned into is ignored.
    pub fn is_more_than(&self, text: &str) -> bool {
        let beginning: String = drawn_letters(text).chars().take(8).collect();
        let shows = !beginning.is_empty() && self.0.iter().any(|piece| piece.contains(&beginning));
        shows && !text.starts_with('/') && !self.is_part_of(text)
    }
}

/// The letters and digits of a submitted prompt's rows: the first one, and those right below it. The screen does not
/// show where among them an answer begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submitted(Arc<[String]>);

/// Letters that a row must share with a text to continue it: an answer seldom begins with the same.
const GOES_ON: usize = 4;

impl Submitted {
    /// A prompt in some rows.
    pub fn of<'a>(rows: impl IntoIterator<Item = &'a str>) -> Self {
        Self(rows.into_iter().map(drawn_letters).collect())
    }

    /// The first row.
    pub fn first(&self) -> &str {
        self.0.first().map_or("", String::as_str)
    }

    /// Whether its first row is the beginning of this text.
    pub fn begins(&self, text: &str) -> bool {
        !self.first().is_empty() && drawn_letters(text).starts_with(self.first())
    }

    /// Whether the beginning of this text can be seen, and something else: in the first row, or in one below that
    /// continues the text.
    pub fn is_more_than(&self, text: &str) -> bool {
        if Composed::of(self.first()).is_more_than(text) {
            return true;
        }
        let all = drawn_letters(text);
        let Some(mut rest) = behind(self.first(), &all).filter(|_| !text.starts_with('/')) else { return false };
        for row in self.0.iter().skip(1) {
            match behind(row, rest) {
                Some(behind) => rest = behind,
                None => return row.chars().zip(rest.chars()).take_while(|(a, b)| a == b).count() >= GOES_ON,
            }
        }
        false
    }
}

/// Whether a text contains pieces in their order.
fn are_within(mut pieces: impl Iterator<Item = String>, mut rest: &str) -> bool {
    pieces.all(|piece| {
        let behind = rest.find(&piece).map(|at| &rest[at + piece.len()..]);
        rest = behind.unwrap_or_default();
        behind.is_some()
    })
}

/// Whether agents name a paste that they do not show like this: `Pasted text #1 +29 lines`, `Pasted Content 2869 chars`.
/// The words of all versions and agents count: a paste that is taken for text keeps Enter from being pressed.
fn stand_for_a_paste(words: &str) -> bool {
    let words = words.to_lowercase();
    words.len() <= 100 && ["past", "truncated", "lines", "chars"].iter().any(|word| words.contains(word))
}

/// The rest of a text behind a row that shows its beginning. Programs that count the cells of a script differently draw over
/// letters, so some may be missing in the row.
fn behind<'t>(row: &str, text: &'t str) -> Option<&'t str> {
    let mut rest = text;
    match text.is_ascii() {
        true => rest.strip_prefix(row),
        false => row
            .chars()
            .all(|shown| {
                let at = rest.find(shown);
                rest = at.map_or("", |at| &rest[at + shown.len_utf8()..]);
                at.is_some()
            })
            .then_some(rest),
    }
}

/// The letters and digits of a text that every program draws alike, however it composes or places the marks on them.
pub(crate) fn drawn_letters(text: &str) -> String {
    let is_drawn = |c: &char| c.is_alphanumeric() && !is_combining_mark(*c) && c.width().is_some_and(|width| width > 0);
    text.nfd().filter(is_drawn).collect()
}

/// The profile's reading of one snapshot, a pure function of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Classification {
    /// The phase that this screen by itself supports.
    pub phase: Phase,
    /// Whether a dialog waits for the operator.
    pub in_dialog: bool,
    /// Whether a list of choices takes the keys, and the screen does not show who opened it.
    pub offers_choices: bool,
    pub surface: Surface,
    pub assessment: Assessment,
    /// The dialog or menu that takes the keys.
    pub dialog: Option<Dialog>,
    /// The rows of the live prompt.
    pub composer: Option<Range<usize>>,
    pub background_work: Tri,
    pub activity: Option<Activity>,
    pub end: Option<TurnEnd>,
    pub turn: TurnRegion,
    /// Hashes of the rows from the last submitted prompt to the live prompt, with their styles, in ascending order.
    pub edge: Arc<[u64]>,
    /// Rows from the top of the screen to the transcript's last one; all of the screen's rows once it is full, from when
    /// on the transcript scrolls.
    pub transcript_rows: usize,
    /// Where the transcript's last row stands, and its last submitted prompt: the rows down to them.
    pub said_rows: usize,
    pub prompt_rows: Option<usize>,
    /// The letters and digits of the last submitted prompt, as far as its last row shows them.
    pub submitted: Option<Arc<str>>,
    /// The same prompt with all rows right below it.
    pub submitted_rows: Option<Submitted>,
    /// The letters and digits of the text in the live prompt.
    pub draft: Option<Arc<str>>,
    /// What somebody has written in the prompt, without the agent's suggestions.
    pub composed: Option<Composed>,
    pub family: Option<Family>,
    /// One line for what it waits for or does: the dialog's question, the running tool, the answer's first line.
    pub headline: Option<String>,
    /// Whether the screen shows nothing at all.
    pub blank: bool,
    /// Why the screen contradicts itself, if it does; such a reading claims no phase.
    pub doubt: Option<String>,
    pub evidence: Arc<[Evidence]>,
    /// The version in a banner on the screen.
    pub banner_version: Option<String>,
    /// What the screen says of the agent beside its state.
    pub facts: Vec<(FactName, FactValue)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_for_a_paste_is_no_text_and_what_is_typed_around_it_is() {
        for words in [
            "[Pasted text #1 +29 lines]",
            "[Pasted text #3]",
            "[Pasted Content 20000 chars]",
            "[...Truncated text #1 +9 lines...]",
            "[paste #1 +30 lines]",
            "[30 lines]",
        ] {
            assert!(Composed::of(words).is_part_of("one\ntwo"), "{words}");
            assert!(Composed::of(&format!("one {words} two")).is_part_of("one\nand\ntwo"), "{words}");
            assert!(!Composed::of(&format!("{words}mine")).is_part_of("one\ntwo"), "{words}");
            assert!(!Composed::of(&format!("mine{words}")).is_part_of("one\ntwo"), "{words}");
        }
        assert!(Composed::of("see [3 lines] of x[0]").is_part_of("see [3 lines] of x[0]"));
        assert!(!Composed::of("see [mine]").is_part_of("see"));
    }

    #[test]
    fn all_rows_of_a_submitted_prompt_are_compared() {
        let is_more =
            |rows: &[&str]| Submitted::of(rows.iter().copied()).is_more_than("fix the build\nof it, and the tests");
        for rows in [
            &["fix the build", "of it, and the testsOTHER"][..],
            &["fix the bu", "ild of OTHERit, and", "the tests"],
            &["OTHERfix the build", "of it, and the tests"],
        ] {
            assert!(is_more(rows), "{rows:?}");
        }
        for rows in [
            &["fix the build", "of it, and the tests"][..],
            &["fix the bu", "ild of it, and", "the tests", "The tests are fixed."],
            &["fix the build", "Of course."],
            &["earlier", "of it, and the testsOTHER"],
            &["fix the build"],
            &[],
        ] {
            assert!(!is_more(rows), "{rows:?}");
        }
        assert!(!Submitted::of(["init", "initialised"]).is_more_than("/init"));
    }

    #[test]
    fn texts_are_compared_by_what_every_program_draws_alike() {
        use proptest::prelude::*;
        use unicode_normalization::UnicodeNormalization;

        let hindi = "कृपया जाँचें कि निर्माण क्यों विफल होता है";
        // tmux and the agent count the cells of marks differently, and draw over letters.
        let drawn_over = ["कपया जाचें कि नर्माण", "क्य विफल हता है"];
        assert!(!Submitted::of(drawn_over).is_more_than(hindi));
        assert!(Composed::of(&drawn_over.concat()).is_part_of(hindi));
        assert!(!Composed::of(&format!("{}mine", drawn_over.concat())).is_part_of(hindi));
        assert!(Submitted::of([drawn_over[0], "क्य विफल हता है और कुछ"]).is_more_than(hindi));
        let text = "(cafe\u{301}|Vérifie|ệ|A\u{30a}|한국어|が|ﾋﾞ|عَرَبِي|שָׁלוֹם|ไทยกำ|👩\u{200d}👩|🇯🇵|x| |\n){1,20}";
        proptest!(|(text in text)| {
            let forms = [text.nfc().collect::<String>(), text.nfd().collect()];
            for shown in &forms {
                prop_assert!(Composed::of(shown).is_part_of(&text), "{:?} {:?}", shown, text);
                prop_assert!(!Submitted::of(shown.split('\n')).is_more_than(&text), "{:?} {:?}", shown, text);
                prop_assert!(!Composed::of(&format!("{shown}OTHER")).is_part_of(&text), "{:?}", shown);
            }
        });
    }

    #[test]
    fn a_prompt_is_more_than_a_text_only_where_it_shows_that() {
        let is_more = |shown: &str, text: &str| Composed::of(shown).is_more_than(text);
        assert!(is_more("fix itOTHER", "fix it") && is_more("OTHERfix the build o", "fix the build of it"));
        for (shown, text) in
            [("fix", "fix it"), ("fixit", "fix it\nnow"), ("other", "fix it"), ("x", "?"), ("init it", "/init")]
        {
            assert!(!is_more(shown, text), "{shown}");
        }
    }
}
