//! What a decision to send is based on, as a condition that tmux tests in the command sequence that sends.
//!
//! tmux's `#{C/r:…}` gives the first row of the visible screen that matches a regular expression (checked in the sources of
//! 3.2a to 3.7c). So a row is tested by its whole text and by where that text first occurs. A row with the same text as one
//! further up cannot be distinguished from it, and is not tested.
//!
//! A condition that does not hold is tried again with what the next poll shows. No part of it is given up because it failed:
//! who draws the screen could make any part fail, and then draw another screen. Only what is known to tick beside what is
//! meant is left out, and rows that tmux is proven to read in another way than it prints them.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::ids::{NamedPlace, PaneId};
use crate::screen::{PaneFacts, Row, Screen};

/// What must still be so when something is delivered: where the pane stands, its program, its cursor, and rows of its screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guard {
    /// The pane, and what was said of its place by whoever named it.
    named: Option<(PaneId, NamedPlace)>,
    /// `pane_current_command`.
    command: Option<String>,
    /// The cursor's column and row.
    place: Option<(u16, u16)>,
    /// Whether the alternate screen is shown.
    alternate: Option<bool>,
    /// Texts of rows that stand on the screen once, with their rows from the top.
    rows: Vec<(String, usize)>,
    /// The same for rows that can be told from the others by their letters and digits.
    plain_rows: Vec<(String, usize)>,
    /// The first of those rows that may tick beside what is meant.
    ticking_from: usize,
}

/// Formats that are put behind others, and what they must give; each begins with a blank.
#[derive(Debug, Default)]
pub(super) struct Test {
    pub formats: String,
    pub values: String,
}

/// Bytes that the rows may take where they are arguments of a process, which tmux allows 16 KiB for all of them.
const ROOM: usize = 3 << 10;

impl Guard {
    /// A guard by the program alone, for what is meant for whatever it shows.
    pub fn of_program(command: &str) -> Self {
        Self { command: Some(command.to_owned()), ..Self::default() }
    }

    /// A guard by what was seen: the program, the cursor, and these rows of the screen, of which the last ones may tick.
    pub fn of(
        facts: &PaneFacts,
        screen: &Screen,
        rows: impl IntoIterator<Item = usize>,
        ticking: Range<usize>,
    ) -> Self {
        let texts: Vec<Option<&str>> = screen.rows().iter().map(text).collect();
        let plain: Vec<Option<String>> = texts.iter().map(|text| text.map(coarse)).collect();
        let (mut exact_rows, mut plain_rows) = (Vec::new(), Vec::new());
        for y in rows.into_iter().chain(ticking.clone()) {
            let (Some(Some(text)), Some(Some(pattern))) = (texts.get(y), plain.get(y)) else { continue };
            if !texts[..y].contains(&Some(*text)) {
                exact_rows.push(((*text).to_owned(), y));
            }
            if !plain[..y].iter().flatten().any(|above| fits(pattern, above)) {
                plain_rows.push((pattern.clone(), y));
            }
        }
        Self {
            named: None,
            command: Some(facts.command.clone()),
            place: Some((facts.cursor.column, facts.cursor.row)),
            alternate: Some(facts.alternate),
            rows: exact_rows,
            plain_rows,
            ticking_from: ticking.start,
        }
    }

    /// The same for a pane that was named by its place.
    #[must_use]
    pub fn at(self, pane: PaneId, named: Option<&NamedPlace>) -> Self {
        Self { named: named.map(|named| (pane, named.clone())), ..self }
    }

    /// A format that is true as long as the name means the pane: tmux goes through all sessions, as a pane may be in several.
    pub(super) fn named(&self) -> Option<String> {
        let (pane, NamedPlace { session, window_index, window_name, pane_index }) = self.named.as_ref()?;
        // A quote would end a word of a host's shell, and `display-message` takes a per cent sign for the beginning of a time.
        let name = |name: &str| escaped(name).replace(['\'', '%'], ".");
        let number = |number: &Option<u32>| number.map_or("[0-9]+".to_owned(), |number| number.to_string());
        let window_name = window_name.as_deref().map_or(".*".to_owned(), name);
        let (index, pane_index) = (number(window_index), number(pane_index));
        let pane = name(&pane.to_string());
        let panes = format!("#{{P:#{{?#{{m/r:^{pane} {pane_index}$,#{{pane_id}} #{{pane_index}}}},1,}}}}");
        let windows =
            format!("#{{W:#{{?#{{m/r:^{index} {window_name}$,#{{window_index}} #{{window_name}}}},{panes},}}}}");
        Some(format!("#{{S:#{{?#{{m/r:^{}$,#{{session_name}}}},{windows},}}}}", name(session)))
    }

    /// The same after an earlier one did not hold, without what has ticked since: rows that may, and a cursor that moves
    /// about while the rows that are meant stand still.
    #[must_use]
    pub fn steadied(mut self, failed: &Guard) -> Self {
        let ticks = |(_, y): &(String, usize)| *y >= self.ticking_from;
        self.rows.retain(|row| !ticks(row) || failed.rows.contains(row));
        self.plain_rows.retain(|row| !ticks(row) || failed.plain_rows.contains(row));
        let tests_rows = !self.rows.iter().all(ticks) && !self.plain_rows.iter().all(ticks);
        self.place = self.place.filter(|place| !tests_rows || failed.place.as_ref() == Some(place));
        self
    }

    /// The same without rows that tmux reads in another way than it prints them.
    #[must_use]
    pub fn without(mut self, misread: &Misread) -> Self {
        self.rows.retain(|(text, _)| !misread.0.contains(text));
        self.plain_rows.retain(|(pattern, _)| !misread.0.contains(pattern));
        self
    }

    /// Its rows one by one: first to the letter, then coarse.
    pub(super) fn row_tests(&self) -> impl Iterator<Item = Test> {
        let exact = self.rows.iter().map(|(text, y)| (escaped(text), *y));
        exact.chain(self.plain_rows.iter().cloned()).map(|(pattern, y)| {
            let mut test = Test::default();
            test.push_row(&pattern, y);
            test
        })
    }

    /// Which of its rows fail their test, although the screen shows them at the same moment.
    pub(super) fn misread(&self, holds: &[bool], facts: &PaneFacts, screen: &Screen) -> Misread {
        let shown = Self::of(facts, screen, 0..screen.rows().len(), 0..0);
        let is_shown = self.rows.iter().map(|row| (row, shown.rows.contains(row)));
        let is_shown = is_shown.chain(self.plain_rows.iter().map(|row| (row, shown.plain_rows.contains(row))));
        let misread = is_shown.zip(holds).filter(|((_, shown), holds)| *shown && !**holds);
        Misread(misread.map(|(((text, _), _), _)| text.clone()).collect())
    }

    /// The condition to the letter.
    pub(super) fn exact(&self) -> Test {
        let rows = self.rows.iter().map(|(text, y)| (escaped(text), *y));
        self.test(self.command.as_deref().map(escaped), rows)
    }

    /// The condition without a character that means something to a shell but blanks and dots, and not too long.
    pub(super) fn coarse(&self) -> Test {
        let mut room = ROOM;
        let fitting = self.plain_rows.iter().filter(|(text, _)| {
            let fits = text.len() <= room;
            room -= if fits { text.len() } else { 0 };
            fits
        });
        self.test(self.command.as_deref().map(coarse), fitting.cloned())
    }

    fn test(&self, command: Option<String>, rows: impl Iterator<Item = (String, usize)>) -> Test {
        let mut test = Test::default();
        if let Some(named) = self.named() {
            test.push(&format!("#{{?{named},1,0}}"), "1");
        }
        if let Some(command) = command {
            test.push(&format!("#{{m/r:^{command}$,#{{pane_current_command}}}}"), "1");
        }
        if let Some((column, row)) = self.place {
            test.push("#{cursor_x} #{cursor_y}", &format!("{column} {row}"));
        }
        if let Some(alternate) = self.alternate {
            test.push("#{?alternate_on,1,0}", if alternate { "1" } else { "0" });
        }
        rows.for_each(|(pattern, y)| test.push_row(&pattern, y));
        test
    }
}

/// Rows that tmux reads in another way than it prints them, so that they cannot be tested.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Misread(BTreeSet<String>);

impl Misread {
    /// Adds those of another capture.
    pub fn extend(&mut self, more: Misread) {
        self.0.extend(more.0);
    }
}

impl Test {
    fn push_row(&mut self, pattern: &str, y: usize) {
        // tmux counts rows from 1.
        self.push(&format!("#{{C/r:^{pattern}$}}"), &(y + 1).to_string());
    }

    fn push(&mut self, format: &str, value: &str) {
        self.formats.extend([" ", format]);
        self.values.extend([" ", value]);
    }
}

/// The text of a row that can be tested. What tmux cuts at the end beside blanks, such as half of a no-break space, depends
/// on its machine.
fn text(row: &Row) -> Option<&str> {
    (!row.is_blank() && !row.text().ends_with(char::is_whitespace)).then_some(row.text())
}

/// An extended regular expression, as an argument of a format, that fits a text and nothing else.
fn escaped(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '^' => pattern.push_str("\\^"),
            '#' => pattern.push_str("[##]"),
            '}' => pattern.push_str("[#}]"),
            ',' => pattern.push_str("#,"),
            '.' | '[' | ']' | '(' | ')' | '*' | '+' | '?' | '{' | '|' | '$' | '\\' => pattern.extend(['[', c, ']']),
            c => pattern.push(c),
        }
    }
    pattern
}

/// The same with letters, digits and blanks only; any character fits what else there is.
fn coarse(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() || c == ' ' { c } else { '.' }).collect()
}

/// Whether a coarse pattern fits a text of which the same was made.
fn fits(pattern: &str, text: &str) -> bool {
    let mut rest = text.chars();
    pattern.chars().all(|c| rest.next().is_some_and(|other| c == '.' || c == other)) && rest.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::Cursor;

    fn guard(screen: &str, rows: impl IntoIterator<Item = usize>) -> Guard {
        let cursor = Cursor { column: 2, row: 1, visible: true };
        let facts = PaneFacts { command: "a#b".to_owned(), cursor, ..PaneFacts::default() };
        Guard::of(&facts, &Screen::from_text(screen, 80), rows, usize::MAX..usize::MAX)
    }

    #[test]
    fn what_was_seen_is_tested_and_nothing_that_is_not_known() {
        let guard = guard("❯ ls -l\n\nRun #{x}, $HOME?\n❯ ls -l\n❯ ls +l\n❯\u{a0}", 0..6);
        let Test { formats, values } = guard.exact();
        assert_eq!(
            formats,
            " #{m/r:^a[##]b$,#{pane_current_command}} #{cursor_x} #{cursor_y} #{?alternate_on,1,0} #{C/r:^❯ ls -l$} \
             #{C/r:^Run [##][{]x[#}]#, [$]HOME[?]$} #{C/r:^❯ ls [+]l$}"
        );
        assert_eq!(values, " 1 2 1 0 1 3 5");
        let Test { formats, values } = guard.coarse();
        assert!(formats.ends_with(" #{C/r:^. ls .l$} #{C/r:^Run ..x.. .HOME.$}"), "{formats}");
        assert!(values.ends_with(" 0 1 3"), "{values}");
    }

    #[test]
    fn only_what_may_tick_is_given_up_and_never_all_of_it() {
        let facts = |column| {
            let cursor = Cursor { column, row: 0, visible: true };
            PaneFacts { command: "a".to_owned(), cursor, ..PaneFacts::default() }
        };
        let guard = |screen: &str, column| Guard::of(&facts(column), &Screen::from_text(screen, 80), 0..2, 2..3);
        let texts = |guard: &Guard| guard.rows.iter().map(|(text, _)| text.clone()).collect::<Vec<_>>();
        let first = guard("Do it?\n> 1. Yes\nat 10:01", 3);
        // The same again is no reason to test less, nor is a row that changes and must not.
        let again = guard("Do it?\n> 1. Yes\nat 10:01", 3);
        assert_eq!(again.clone().steadied(&first), again);
        let moved = guard("Do it?\n  1. Yes\nat 10:02", 4).steadied(&first);
        assert_eq!(texts(&moved), ["Do it?", "  1. Yes"]);
        assert_eq!((moved.place, moved.alternate), (None, Some(false)));
        // What ticked stays out, and a cursor is given up only where rows are left that are tested.
        assert_eq!(texts(&guard("Do it?\n  1. Yes\nat 10:02", 4).steadied(&moved)), ["Do it?", "  1. Yes"]);
        let bare = guard("\n\nat 10:02", 4).steadied(&guard("\n\nat 10:01", 3));
        assert_eq!((texts(&bare).len(), bare.place), (0, Some((4, 0))));
    }

    #[test]
    fn a_row_is_misread_only_where_it_is_shown_at_the_same_moment() {
        let seen = guard("Do it?\nYes\nNo", 0..3);
        let facts = PaneFacts::default();
        let holds = [true, false, false, true, false, true];
        let misread = seen.misread(&holds, &facts, &Screen::from_text("Do it?\nYes\nMaybe", 80));
        assert_eq!(misread, Misread(["Yes".to_owned()].into()));
        let Test { formats, .. } = seen.without(&misread).exact();
        assert!(formats.contains("Do it[?]") && formats.contains("No") && !formats.contains("Yes"), "{formats}");
    }

    #[test]
    fn a_coarse_condition_has_room_in_the_arguments_of_a_process() {
        let rows: String = (0..50).map(|row| format!("{row} {}\n", "x".repeat(300))).collect();
        assert!(guard(&rows, 0..50).coarse().formats.len() < 4 << 10);
    }
}
