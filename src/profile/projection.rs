//! The dialog as seen: a screen reduced to what was said and asked (SPEC §6, DialogProjection).
//!
//! It is the transcript as it is on the screen, not "the answer", and never part of the state.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::Serialize;

use super::compile::Profile;
use super::rules::Region;
use super::screen_view::ScreenView;
use crate::screen::{PaneFacts, Row, Screen};
use crate::state::words;

/// Lines in the head and in the tail of a projection.
const SLICE: usize = 12;

words! {
    /// Why a row was kept or dropped.
    RowReason {
        /// Kept: a submitted prompt.
        UserPrompt = "user_prompt",
        /// Kept: the first row of an answer or of a tool's work.
        Answer = "answer",
        /// Kept: the text of a dialog that waits for the operator.
        Dialog = "dialog",
        /// Kept: it continues the row above.
        Text = "text",
        /// Dropped: it is blank.
        Blank = "blank",
        /// Dropped: the agent's name, version and greeting.
        Banner = "banner",
        /// Dropped: the live prompt.
        Prompt = "prompt",
        /// Dropped: spinner, progress, tip or notice.
        Progress = "progress",
        /// Dropped: a rule or a border.
        Separator = "separator",
        /// Dropped: what is drawn below the live prompt.
        Footer = "footer",
    }
}

impl RowReason {
    const fn is_kept(self) -> bool {
        matches!(self, RowReason::UserPrompt | RowReason::Answer | RowReason::Dialog | RowReason::Text)
    }
}

/// One row and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProjectedRow {
    pub line: usize,
    pub kept: bool,
    pub reason: RowReason,
}

/// A screen reduced to its dialog.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DialogProjection {
    /// The whole screen as plain text: no-break spaces as spaces, no blanks at line ends.
    pub normalized_text: String,
    /// The visible dialog in order.
    pub dialog_text: String,
    /// The first lines of the dialog, at most 12.
    pub head: Vec<String>,
    /// The last lines of the dialog, at most 12.
    pub tail: Vec<String>,
    pub rows_total: usize,
    pub rows_kept: usize,
    pub rows_dropped: usize,
    pub rows: Vec<ProjectedRow>,
}

impl Profile {
    /// Projects a screen.
    pub fn project(&self, screen: &Screen, facts: &PaneFacts) -> DialogProjection {
        let sight = self.sight(screen, facts);
        let read = sight.read();
        let waits = read.dialog.filter(|_| read.assessment.operator_excerpt.is_some());
        let (dialog, banner) = (waits.map(|dialog| dialog.rows), banner_rows(&sight));
        project(screen, |y| reason(&sight, y, dialog.as_ref(), &banner))
    }
}

/// A screen as plain text (SPEC §6, `normalized_text`).
pub fn normalized(screen: &Screen) -> String {
    let mut text = screen.rows().iter().map(normalized_row).collect::<Vec<_>>().join("\n");
    text.truncate(text.trim_end().len());
    text
}

fn normalized_row(row: &Row) -> String {
    row.text().replace('\u{a0}', " ").trim_end().to_owned()
}

fn project(screen: &Screen, reason: impl Fn(usize) -> RowReason) -> DialogProjection {
    let rows: Vec<ProjectedRow> = (0..screen.rows().len())
        .map(|line| {
            let reason = reason(line);
            ProjectedRow { line, kept: reason.is_kept(), reason }
        })
        .collect();
    let kept: Vec<String> = screen
        .rows()
        .iter()
        .zip(&rows)
        .filter(|(_, projected)| projected.kept)
        .map(|(row, _)| normalized_row(row))
        .collect();
    DialogProjection {
        normalized_text: normalized(screen),
        dialog_text: kept.join("\n"),
        head: kept.iter().take(SLICE).cloned().collect(),
        tail: kept[kept.len().saturating_sub(SLICE)..].to_vec(),
        rows_total: rows.len(),
        rows_kept: kept.len(),
        rows_dropped: rows.len() - kept.len(),
        rows,
    }
}

fn reason(sight: &ScreenView<'_>, y: usize, dialog: Option<&Range<usize>>, banner: &BTreeSet<usize>) -> RowReason {
    let turn = &sight.profile.turn;
    let in_region = |region| sight.region(region).contains(&y);
    if sight.is_blank(y) {
        RowReason::Blank
    } else if is_separator(sight.row(y)) {
        RowReason::Separator
    } else if dialog.is_some_and(|rows| rows.contains(&y)) {
        // Whatever else a row of it looks like.
        RowReason::Dialog
    } else if in_region(Region::Composer) {
        RowReason::Prompt
    } else if in_region(Region::Footer) {
        RowReason::Footer
    } else if sight.is_any(y, turn.prompts) {
        RowReason::UserPrompt
    } else if sight.is_any(y, turn.chrome) {
        RowReason::Progress
    } else if banner.contains(&y) {
        RowReason::Banner
    } else if turn.answers.iter().chain(&turn.tools).any(|&kind| sight.is(y, kind)) {
        RowReason::Answer
    } else if dialog.is_some() && y >= sight.turn_start {
        RowReason::Dialog
    } else {
        RowReason::Text
    }
}

/// The rows of banners: above the first submitted prompt, around the agent's name and version, up to the next blank row.
fn banner_rows(sight: &ScreenView<'_>) -> BTreeSet<usize> {
    let Some(banner) = &sight.profile.banner else { return BTreeSet::new() };
    let first_prompt = sight.submitted.first().copied().unwrap_or(usize::MAX);
    let rows: Vec<usize> = (0..sight.screen.rows().len()).collect();
    let blocks = rows.split(|&y| sight.is_blank(y));
    let banners = blocks.filter(|block| block.iter().any(|&y| banner.is_match(sight.row(y))));
    banners.flatten().copied().filter(|&y| y < first_prompt).collect()
}

/// Whether a row is nothing but lines and borders.
fn is_separator(row: &str) -> bool {
    row.chars().all(|c| c.is_whitespace() || matches!(c, '\u{2500}'..='\u{259F}' | '-' | '='))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claude_screen_is_reduced_to_what_was_said() {
        let profiles = crate::profile::ProfileSet::builtin();
        let profile = profiles.select("claude", Some("2.1.197"), false).expect("it is built in").profile;
        let rule = "─".repeat(40);
        let text = format!(
            " ▐▛███▜▌   Claude Code v2.1.197\n  ▘▘ ▝▝    ~/shop-api\n\n\x1b[48;5;237m❯ hello\x1b[0m\n\n● Hi there.\n  How are you?\n\n\x1b[38;5;246m✻ Worked for 2s\x1b[0m\n\n{rule}\n❯\u{a0}\n{rule}\n  ? for shortcuts\n"
        );
        let screen = Screen::from_capture(text.as_bytes(), 40, 16);
        let projection = profile.project(&screen, &PaneFacts::default());
        assert_eq!(projection.dialog_text, "❯ hello\n● Hi there.\n  How are you?");
        assert_eq!(projection.rows[0].reason, RowReason::Banner);
        assert_eq!(projection.rows_kept + projection.rows_dropped, projection.rows_total);
    }
}
