//! What was said in a terminal, put together from the dialogs on screens that followed each other.

/// The line that stands where something may have scrolled by between two screens.
pub const GAP: &str = "⋯";

/// Screens overlap by less than this many lines of the transcript.
const REACH: usize = 400;
/// Letters and digits that two screens must share to be taken for parts of one dialog; less is found on any screen.
const SHARED: usize = 6;

/// The lines of a dialog, longer than any screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcript {
    lines: Vec<String>,
}

impl Transcript {
    /// Goes on with the dialog of a later screen (`DialogProjection::dialog_text`): from where the two overlap, the
    /// later one is what is true. Without an overlap it begins anew behind a [`GAP`].
    pub fn add(&mut self, dialog: &str) {
        let dialog: Vec<&str> = dialog.lines().collect();
        if dialog.iter().all(|line| line.trim().is_empty()) {
            return;
        }
        match self.overlap(&dialog) {
            Some(at) => self.lines.truncate(at),
            None if self.lines.is_empty() => {}
            None => self.lines.push(GAP.to_owned()),
        }
        self.lines.extend(dialog.into_iter().map(str::to_owned));
    }

    /// The lines, oldest first.
    pub fn into_lines(self) -> Vec<String> {
        self.lines
    }

    /// The line at which a dialog's first line belongs: where the longest stretch that both have lies in both.
    fn overlap(&self, dialog: &[&str]) -> Option<usize> {
        let from = self.lines.len().saturating_sub(REACH);
        let known = &self.lines[from..];
        let weight = |line: &str| line.chars().filter(|c| c.is_alphanumeric()).count();
        let mut best: Option<(usize, usize)> = None;
        // What the stretch that ends at the line before weighs, for each line of the dialog.
        let mut ending = vec![0; dialog.len() + 1];
        for (i, line) in known.iter().enumerate() {
            for j in (0..dialog.len()).rev() {
                let shared = line == dialog[j];
                ending[j + 1] = if shared { ending[j] + weight(line) } else { 0 };
                // Of stretches that weigh the same the later one is meant: the same may have been said before.
                if shared && ending[j + 1] >= SHARED && best.is_none_or(|(most, _)| ending[j + 1] >= most) {
                    best = Some((ending[j + 1], (from + i).saturating_sub(j)));
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

    fn of(dialogs: &[&str]) -> String {
        let mut transcript = Transcript::default();
        dialogs.iter().for_each(|dialog| transcript.add(dialog));
        transcript.into_lines().join("\n")
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
            transcript.add(&whole[..end].join("\n"));
            for step in steps {
                end = (end + step).min(count);
                transcript.add(&whole[end.saturating_sub(height)..end].join("\n"));
            }
            prop_assert_eq!(transcript.into_lines(), &whole[..end]);
        }
    }
}
