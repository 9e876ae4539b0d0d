//! An agent's dialog on the screen: its options, which one is marked, and which keys choose one (SPEC §11).
//!
//! Agents draw their dialogs alike: numbered or marked rows, a row of buttons, or letters in brackets after the question.
//! This module reads that common form, tested on every recorded dialog (`tests/it/recorded/recordings.rs`). A dialog of
//! another form has no options, and is answered with keys or in the terminal itself.

mod choose;
mod option;
mod read;
mod recorded;
mod subject;
mod text;

use std::ops::Range;

pub use choose::ChoiceError;
use option::begins;
pub use option::{Choice, Cut, Manner, Notes, Press, Recorded, Submit, TextEntry, Verdict, in_words};
pub use subject::{ApprovalSubject, about, approval, asked, asked_before};
pub use text::bare;

use sha2::{Digest, Sha256};

use crate::hash::hexadecimal;
use crate::screen::{Row, Screen};

/// The hexadecimal digits of a dialog's name: 192 bits.
const NAME_DIGITS: usize = 48;

/// A dialog on a screen.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Dialog {
    /// Its rows of the screen, from the top.
    pub rows: Range<usize>,
    /// The rows from the first to the last option; empty without options.
    pub option_rows: Range<usize>,
    pub options: Vec<Choice>,
    pub manner: Manner,
    /// The option that the agent has marked.
    pub marked: Option<usize>,
    /// What somebody has typed after the question.
    pub typed: String,
    /// What stands in the line for a note below the options, if that is open.
    pub note: Option<String>,
    /// Whether the agent shows that an option has been taken, and only has to close the dialog.
    pub taken: bool,
    /// Its text above the options in logical lines: without the box, and with wrapped rows joined where that is certain.
    /// Blank lines separate paragraphs.
    pub text: Vec<String>,
    /// The parts of it that the screen does not show.
    pub cuts: Vec<Cut>,
    /// The rows above it if its first rows are not on the screen: a part of it, or what was there before.
    pub above: Vec<String>,
    /// The whole of it as the agent's own record has it, where the screen does not show that.
    #[serde(default)]
    pub recorded: Option<Recorded>,
    /// The row that hands in what is ticked, if there is one.
    pub submit: Option<Submit>,
    /// Whether it asks what to do instead of what was just refused; Enter leaves that open.
    pub asks_instead: bool,
    /// Whether the operator opened it: it asks for nothing, so that `yes` and `no` are no answers to it.
    pub is_menu: bool,
    /// The text above its options.
    question: String,
}

impl Dialog {
    /// The same dialog, opened by the operator or not.
    pub(crate) fn of_operator(self, is_menu: bool) -> Self {
        Self { is_menu, ..self }
    }

    /// Sets, from the agent's profile, how options begin that are lines to type in.
    pub fn set_typed_options(&mut self, beginnings: &[String]) {
        for option in &mut self.options {
            let label = option.label.to_lowercase();
            if beginnings.iter().any(|words| begins(&label, words)) {
                option.takes_text = Some(TextEntry::Inline);
            }
        }
    }

    /// Sets, from the agent's profile, which option takes a note, where the screen offers that.
    pub fn set_notes(&mut self, notes: &Notes, screen: &Screen) {
        let below = self.option_rows.end..self.rows.end;
        let is_offered =
            below.filter_map(|y| screen.row(y)).any(|row| row.text().to_lowercase().contains(&notes.offered));
        for option in self.options.iter_mut().filter(|option| is_offered && option.label.to_lowercase() == notes.option)
        {
            option.takes_text = Some(TextEntry::Note(notes.key));
        }
    }

    /// Takes in the line for a note, which is open: what stands in it, and the last row of the dialog.
    pub(crate) fn has_note(&mut self, note: String, end: usize) {
        (self.note, self.rows.end) = (Some(note), end);
    }

    /// Sets, from the agent's profile and in lower case, the labels that say yes this once, and those that say no.
    pub fn set_verdicts(&mut self, once: &[String], refusing: &[String]) {
        for option in &mut self.options {
            let label = option.label.to_lowercase();
            option.verdict = match label.as_str() {
                label if once.iter().any(|words| words == label) => Some(Verdict::Once),
                label if refusing.iter().any(|words| words == label) => Some(Verdict::No),
                _ => None,
            };
        }
    }

    /// Sets, from the agent's profile, the whole labels of options that only Escape chooses.
    pub fn set_escapes(&mut self, labels: &[String]) {
        for option in self.options.iter_mut().filter(|option| labels.contains(&option.label.to_lowercase())) {
            option.key = Some(Press::Escape);
        }
    }

    /// Sets, from the agent's profile and in lower case, how a dialog begins that asks what to do instead.
    pub fn set_instead(&mut self, beginnings: &[String]) {
        let first = self.text.iter().map(|line| bare(line).to_lowercase()).find(|line| !line.is_empty());
        self.asks_instead = first.is_some_and(|first| beginnings.contains(&first));
    }

    /// Whether it is a list of which one option is marked, or several can be ticked.
    pub fn offers_choices(&self) -> bool {
        (self.options.len() > 1 && self.marked.is_some()) || self.can_tick()
    }

    /// Whether its options allow and refuse something, by how they begin.
    pub fn asks_leave(&self) -> bool {
        [Verdict::Once, Verdict::No].into_iter().all(|verdict| self.answers(verdict))
    }

    /// The option that says yes this once, or no; `None` unless it is certainly the only one.
    pub fn that_says(&self, verdict: Verdict) -> Option<usize> {
        let mut saying = (0..self.options.len()).filter(|place| self.options[*place].verdict == Some(verdict));
        saying.next().filter(|_| saying.next().is_none() && self.can_choose())
    }

    /// The option for what no other one says, in the operator's own words; `None` unless it is certainly the only one.
    pub fn for_own_words(&self) -> Option<usize> {
        let mut taking = (0..self.options.len()).filter(|place| self.takes_text(*place));
        taking.next().filter(|_| taking.next().is_none())
    }

    /// Whether a text can be typed for an option: in its row, or as the next prompt after it refuses.
    pub fn hears(&self, option: usize) -> bool {
        self.takes_text(option) || self.options.get(option).is_some_and(|it| it.verdict == Some(Verdict::No))
    }

    /// A row of the dialog as text, with invisible characters spelled out. Of options side by side, only its style shows
    /// the marked one: it gets brackets.
    pub fn row_text(&self, screen: &Screen, y: usize) -> String {
        let Some(row) = screen.row(y).map(Row::spelled) else { return String::new() };
        match self.marked.filter(|_| self.manner == Manner::Buttons && self.option_rows.contains(&y)) {
            Some(marked) => read::buttons::with_marked(&row, marked),
            None => row.text().to_owned(),
        }
    }

    /// The name of the dialog. It stays the same as long as the dialog asks the same with the same options, whatever is
    /// marked, ticked or typed, and whatever spins around it.
    ///
    /// Whoever writes the screen must not be able to make two dialogs with one name, so it is a cryptographic hash. It is
    /// cut to a length that no usual hash has, so that no text passes for it.
    pub fn id(&self) -> String {
        let mut hash = Sha256::new();
        let mut feed = |part: &str| {
            // Its length first, so that no part can pass for the end of another one.
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        };
        feed(&self.question);
        for option in &self.options {
            feed(&option.name);
            feed(&option.text.join("\n"));
        }
        // The question and the options may be those of another one whose text the pane shows a part of.
        self.recorded.iter().flat_map(|recorded| &recorded.text).for_each(|line| feed(line));
        hexadecimal(&hash.finalize()[..NAME_DIGITS / 2])
    }

    /// Whether a text has the form of a dialog's name.
    pub fn is_id(text: &str) -> bool {
        text.len() == NAME_DIGITS && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    }

    /// Whether two polls show the same dialog, in the sense of [`Dialog::id`].
    pub fn is_same(&self, other: &Dialog) -> bool {
        self.is_same_but_for(other, None)
    }

    /// The same, ignoring the row of one option, which is typed in.
    pub(crate) fn is_same_but_for(&self, other: &Dialog, typed_in: Option<usize>) -> bool {
        let options = |dialog: &Dialog| dialog.options.len();
        let mut both = self.options.iter().zip(&other.options).enumerate();
        self.manner == other.manner
            && self.question == other.question
            && options(self) == options(other)
            && both.all(|(place, (a, b))| a.name == b.name && (a.text == b.text || Some(place) == typed_in))
            && self.shows_same_part(other)
    }

    /// Whether the pane shows the same of a text that only a record has in full: question and options may be those of another one.
    /// A row more or less of its beginning may be out of sight.
    fn shows_same_part(&self, other: &Dialog) -> bool {
        let (ours, theirs) = (&self.above, &other.above);
        let is_same_end = ours.is_empty() == theirs.is_empty() && (ours.ends_with(theirs) || theirs.ends_with(ours));
        match (&self.recorded, &other.recorded) {
            (None, None) => true,
            (Some(one), Some(another)) if one.text != another.text => false,
            _ => is_same_end && self.text == other.text,
        }
    }

    /// The rows of the screen that an answer depends on, and those below them that may change.
    pub fn live_rows(&self, screen: &Screen) -> (Vec<usize>, Range<usize>) {
        let ticks = |y: &usize| screen.row(*y).is_some_and(text::is_ticking);
        // The row that hands in what is ticked is below the options, as is a note.
        let end = if self.submit.is_some() || self.note.is_some() {
            self.rows.end
        } else {
            self.option_rows.end.min(self.rows.end)
        };
        // What is above a dialog without a top belongs to it.
        let start = if self.cuts.contains(&Cut::Top) { 0 } else { self.rows.start };
        ((start..end).filter(|y| !ticks(y)).collect(), end..self.rows.end)
    }

    /// Whether all of it is known: the screen shows it, or the agent's own record has the rest.
    pub fn is_whole(&self) -> bool {
        self.cuts.is_empty() || self.recorded.is_some()
    }

    /// What is proven to be its text, in lines: what the record has of it, and what the screen shows.
    pub fn own_lines(&self) -> impl Iterator<Item = &String> {
        let instead = self.recorded.as_ref().map_or(0..0, |recorded| recorded.instead.clone());
        let before = self.text.get(..instead.start).unwrap_or_default();
        let behind = self.text.get(instead.end..).unwrap_or_default();
        let recorded = self.recorded.iter().flat_map(|recorded| recorded.text.iter().chain(&recorded.behind));
        before.iter().chain(recorded).chain(behind)
    }

    /// The rows above it that may be a part of it; none where the record has all of it.
    pub fn rows_above(&self) -> &[String] {
        if self.recorded.is_some() { &[] } else { &self.above }
    }

    /// Notes that its first row is not on the screen, and what is there instead.
    pub(crate) fn has_no_top(&mut self, above: Vec<String>) {
        self.cuts.insert(0, Cut::Top);
        self.above = above;
    }

    /// Notes that rows above the options may be scrolled out of sight: of those the dialog has as many as its agent shows at
    /// most, or it has the whole height of the pane, but for the rows that its agent keeps above it.
    pub(crate) fn scrolls_from(&mut self, rows: usize, screen: &Screen) {
        const ABOVE: usize = 2;
        let above = self.rows.start..self.option_rows.start;
        if above.len() < rows && above.start > ABOVE {
            return;
        }
        let text = above.rev().filter_map(|y| screen.row(y)).map(|row| row.text());
        let mut said = text.map(|text| text.trim_matches(|c: char| c == '┃' || c.is_whitespace()).to_owned());
        self.cuts.extend(said.find(|text| !text.is_empty()).map(Cut::Scrolled));
    }

    /// Whether an option says no and nothing else, whatever the dialog asks. Refusing lets nothing happen, so nobody has to
    /// have read the whole dialog.
    pub fn refuses(&self, option: usize) -> bool {
        let label = self.options.get(option).map_or("", |option| option.label.as_str());
        let is_cut = |cut: &Cut| matches!(cut, Cut::Edge(row) | Cut::LeftOut(row) if row.contains(label));
        self.that_says(Verdict::No) == Some(option) && !self.cuts.iter().any(is_cut)
    }

    /// Whether one of the options can be chosen.
    pub fn can_choose(&self) -> bool {
        !self.options.is_empty() && !matches!(self.manner, Manner::Several | Manner::Unknown)
    }

    /// Whether it has options that can be chosen or ticked.
    pub fn can_answer(&self) -> bool {
        self.can_choose() || self.can_tick()
    }

    /// Whether a text can be typed in the row of an option, or as a note to it.
    pub fn takes_text(&self, option: usize) -> bool {
        let entry = self.options.get(option).and_then(|option| option.takes_text);
        matches!(entry, Some(TextEntry::Inline | TextEntry::Note(_))) && self.marked.is_some() && !self.can_tick()
    }

    /// Whether an option is nothing without such a text.
    pub fn needs_text(&self, option: usize) -> bool {
        self.takes_text(option) && self.note_key(option).is_none()
    }

    /// The key that opens the line for a note to an option.
    pub fn note_key(&self, option: usize) -> Option<Press> {
        match self.options.get(option)?.takes_text {
            Some(TextEntry::Note(key)) => Some(key),
            _ => None,
        }
    }

    /// The options that are ticked.
    pub fn ticked(&self) -> Vec<usize> {
        (0..self.options.len()).filter(|place| self.options[*place].ticked == Some(true)).collect()
    }

    /// Whether options can be ticked, and handed in together.
    pub fn can_tick(&self) -> bool {
        self.manner == Manner::Several && self.options.iter().any(|option| option.ticked.is_some())
    }

    /// The keys that choose an option now, or that tick it; none if it cannot be chosen.
    pub fn presses(&self, option: usize) -> Vec<Press> {
        let Some(choice) = self.options.get(option) else { return Vec::new() };
        if let Some(key) = choice.key {
            return vec![key];
        }
        let mut letters = choice.name.chars();
        match (self.manner, letters.next(), letters.next()) {
            // Not every agent accepts the number of the option that is marked already.
            (Manner::Numbers, ..) if self.marked == Some(option) => vec![Press::Enter],
            (Manner::Numbers, Some(digit), None) => vec![Press::Character(digit)],
            (Manner::Several, Some(digit), None) if choice.ticked.is_some() => vec![Press::Character(digit)],
            (Manner::Numbers | Manner::Rows, ..) => self.moves(option, Press::Up, Press::Down),
            (Manner::Buttons, ..) => self.moves(option, Press::Left, Press::Right),
            (Manner::Letters, Some(letter), None) => vec![Press::Character(letter), Press::Enter],
            _ => Vec::new(),
        }
    }

    /// The keys that tick exactly these options now, and hand them in.
    pub fn presses_to_tick(&self, options: &[usize]) -> Vec<Press> {
        let wrong = (0..self.options.len()).filter(|place| self.is_wrong(*place, options));
        let mut presses: Vec<Press> = wrong.flat_map(|place| self.presses(place)).collect();
        presses.extend(std::iter::repeat_n(self.way_to_submit(), self.distance_to_submit()));
        presses.push(Press::Enter);
        presses
    }

    /// The first option that is ticked and should not be, or should be and is not.
    pub(crate) fn first_wrong(&self, options: &[usize]) -> Option<usize> {
        (0..self.options.len()).find(|place| self.is_wrong(*place, options))
    }

    fn is_wrong(&self, place: usize, options: &[usize]) -> bool {
        let ticked = self.options.get(place).and_then(|option| option.ticked);
        ticked.is_some_and(|ticked| ticked != options.contains(&place))
    }

    /// The key that moves the mark towards the row that hands in.
    pub(crate) fn way_to_submit(&self) -> Press {
        let is_below = self.submit.zip(self.marked).is_some_and(|(submit, marked)| marked >= submit.below);
        if is_below { Press::Up } else { Press::Down }
    }

    /// How many rows the mark is from the one that hands in; 0 without one.
    pub(crate) fn distance_to_submit(&self) -> usize {
        match (self.submit, self.marked) {
            (Some(submit), Some(marked)) if marked >= submit.below => marked - submit.below + 1,
            (Some(submit), Some(marked)) => submit.below - marked,
            _ => 0,
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

#[cfg(test)]
mod tests;
