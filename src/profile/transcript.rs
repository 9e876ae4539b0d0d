//! What was said in a terminal, put together from the dialogs on consecutive screens.

use super::projection::{DialogProjection, RowReason};
use crate::agent_record::{GAP, Said, Speaker};
use crate::screen::Screen;

/// Screens overlap by less than this many lines of the transcript.
const REACH: usize = 400;
/// Letters and digits that two screens must share to count as parts of one dialog; any two screens share fewer.
const SHARED: usize = 6;

impl DialogProjection {
    /// The dialog, with a blank line wherever there were blank rows between kept ones.
    pub fn said(&self, screen: &Screen) -> Vec<Said> {
        let mut said: Vec<Said> = Vec::new();
        let mut blank = false;
        for (row, projected) in screen.rows().iter().zip(&self.rows) {
            if projected.kept {
                if blank && !said.is_empty() {
                    said.push(Said::BLANK);
                }
                let is_prompt = projected.reason == RowReason::UserPrompt;
                let by = if is_prompt { Speaker::User } else { Speaker::Agent };
                said.push(Said::new(row.text().replace('\u{a0}', " ").trim_end(), by));
            }
            blank = projected.reason == RowReason::Blank || (blank && !projected.kept);
        }
        said
    }
}

/// The lines of a dialog, longer than any screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcript {
    lines: Vec<Said>,
}

impl Transcript {
    /// Appends the dialog of a later screen: from where the two overlap, the later one counts. Without an overlap it begins
    /// anew after a [`GAP`].
    pub fn add(&mut self, dialog: Vec<Said>) {
        if dialog.iter().all(|line| line.text.trim().is_empty()) {
            return;
        }
        match self.overlap(&dialog) {
            Some(at) => self.lines.truncate(at),
            None if self.lines.is_empty() => {}
            None => self.lines.push(Said::new(GAP, Speaker::Agent)),
        }
        self.lines.extend(dialog);
    }

    /// The lines, oldest first.
    pub fn into_lines(self) -> Vec<Said> {
        self.lines
    }

    /// The line where a dialog's first line belongs, by the longest stretch that both have in common.
    fn overlap(&self, dialog: &[Said]) -> Option<usize> {
        let from = self.lines.len().saturating_sub(REACH);
        let weight = |line: &Said| line.text.chars().filter(|c| c.is_alphanumeric()).count();
        let mut best: Option<(usize, usize)> = None;
        // The weight of the stretch that ends at the line before, for each line of the dialog.
        let mut ending = vec![0; dialog.len() + 1];
        for (i, line) in self.lines.iter().enumerate().skip(from) {
            for j in (0..dialog.len()).rev() {
                let shared = line.text == dialog[j].text;
                ending[j + 1] = if shared { ending[j] + weight(line) } else { 0 };
                // The later of equal stretches counts: the same may have been said before.
                if shared && ending[j + 1] >= SHARED && best.is_none_or(|(most, _)| ending[j + 1] >= most) {
                    best = Some((ending[j + 1], i.saturating_sub(j)));
                }
            }
        }
        best.map(|(_, at)| at)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::screen::PaneFacts;

    fn said(dialog: &str) -> Vec<Said> {
        dialog.lines().map(|line| Said::new(line, Speaker::Agent)).collect()
    }

    fn of(dialogs: &[&str]) -> String {
        let mut transcript = Transcript::default();
        dialogs.iter().for_each(|dialog| transcript.add(said(dialog)));
        transcript.into_lines().into_iter().map(|line| line.text).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_blank_line_stands_where_blank_rows_were() {
        let profiles = crate::profile::ProfileSet::builtin();
        let profile = profiles.select("claude", Some("2.1.197"), false).expect("it is built in").profile;
        let rule = "─".repeat(40);
        let text = format!(
            "\x1b[48;5;237m❯ hello\x1b[0m\n\n\n● Hi there.\n  How are you?\n\n{rule}\n❯\u{a0}\n{rule}\n  ? for shortcuts\n"
        );
        let screen = Screen::from_capture(text.as_bytes(), 40, 16);
        let projection = profile.project(&screen, &PaneFacts::default());
        let lines: Vec<(String, bool)> =
            projection.said(&screen).into_iter().map(|line| (line.text, line.by == Speaker::User)).collect();
        let expected = [("❯ hello", true), ("", false), ("● Hi there.", false), ("  How are you?", false)];
        assert_eq!(lines, expected.map(|(text, by_user)| (text.to_owned(), by_user)));
    }

    #[test]
    fn screens_that_scroll_become_one_dialog() {
        let shown =
            ["> fix the header\nreading header.css", "reading header.css\nit is fixed\n> thank you", "> thank you"];
        assert_eq!(of(&shown), "> fix the header\nreading header.css\nit is fixed\n> thank you");
    }

    #[test]
    fn a_line_that_was_drawn_anew_is_there_once() {
        let shown = ["> list files\nBash(ls)\n  waiting", "> list files\nBash(ls)\n  12 files\ndone with it"];
        assert_eq!(of(&shown), "> list files\nBash(ls)\n  12 files\ndone with it");
    }

    #[test]
    fn what_has_nothing_in_common_is_told_apart() {
        assert_eq!(of(&["the first dialog", "", "another one"]), "the first dialog\n⋯\nanother one");
        assert_eq!(of(&["ok\nfirst thing", "ok\nsecond thing"]), "ok\nfirst thing\n⋯\nok\nsecond thing");
    }

    #[test]
    fn the_same_said_again_stands_twice() {
        let shown = ["> again please\nhere you are", "> again please\nhere you are\n> again please\nhere you are"];
        assert_eq!(of(&shown), "> again please\nhere you are\n> again please\nhere you are");
    }

    proptest! {
        #[test]
        fn a_dialog_seen_through_any_window_comes_out_whole(
            count in 1_usize..80, height in 4_usize..30, steps in proptest::collection::vec(1_usize..3, 0..60),
        ) {
            let whole: Vec<String> = (0..count).map(|n| format!("line number {n}")).collect();
            let mut transcript = Transcript::default();
            let mut end = height.min(count);
            transcript.add(said(&whole[..end].join("\n")));
            for step in steps {
                end = (end + step).min(count);
                transcript.add(said(&whole[end.saturating_sub(height)..end].join("\n")));
            }
            prop_assert_eq!(transcript.into_lines(), said(&whole[..end].join("\n")));
        }
    }
}
