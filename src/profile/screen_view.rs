//! A screen as a profile sees it: every row's kinds, the live prompt, and the regions around it.

use std::ops::Range;

use unicode_width::UnicodeWidthChar;

use super::compile::{ComposerRules, Kind, Kinds, Profile};
use super::rules::{CursorData, Region};
use crate::screen::{PaneFacts, Row, Screen};

/// One screen under one profile.
pub(super) struct ScreenView<'a> {
    pub profile: &'a Profile,
    pub screen: &'a Screen,
    pub facts: &'a PaneFacts,
    kinds: Vec<Kinds>,
    pub prompt: Option<LivePrompt>,
    /// The first row below the last submitted prompt; 0 when none is visible.
    pub turn_start: usize,
    /// The rows of submitted prompts.
    pub submitted: Vec<usize>,
}

/// The live prompt's rows and its content.
#[derive(Clone, Debug)]
pub(super) struct LivePrompt {
    /// With the rules above and below.
    pub outer: Range<usize>,
    /// The row with the glyph.
    pub row: usize,
    pub draft: DraftText,
    /// What is shown in it, without blanks.
    pub text: String,
    /// The same without the agent's suggestions.
    pub typed: String,
    /// Whether it holds a command, or runs what is sent.
    pub command: bool,
    /// Whether the cursor shows that it takes the keys.
    pub focused: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DraftText {
    Empty,
    /// A placeholder or a suggestion, not text of the user.
    Ghost,
    Text,
}

impl<'a> ScreenView<'a> {
    pub(super) fn new(profile: &'a Profile, screen: &'a Screen, facts: &'a PaneFacts) -> Self {
        let kinds = screen.rows().iter().map(|row| kinds_of(profile, row)).collect();
        let mut sight = Self { profile, screen, facts, kinds, prompt: None, turn_start: 0, submitted: Vec::new() };
        sight.prompt = profile.composer.as_ref().and_then(|composer| sight.find_prompt(composer));
        let above = sight.region(Region::Above);
        sight.submitted = above.filter(|&y| sight.kinds[y].intersects(profile.turn.prompts)).collect();
        for y in sight.prompt_bodies() {
            sight.kinds[y] = Kinds::default();
        }
        sight.turn_start = sight.submitted.last().map_or(0, |&y| y + 1);
        sight
    }

    /// The further rows of submitted prompts that are drawn on a background of their own. They are what the operator wrote,
    /// whatever of the agent's they quote.
    fn prompt_bodies(&self) -> Vec<usize> {
        let ground = |y: usize| self.screen.row(y).and_then(Row::background);
        let end = self.region(Region::Above).end;
        let body = |&prompt: &usize| {
            let own = ground(prompt);
            let rows = prompt + 1..end;
            rows.take_while(move |&y| own.is_some() && ground(y) == own && !self.submitted.contains(&y))
        };
        self.submitted.iter().flat_map(body).collect()
    }

    /// Whether a row is of a kind.
    pub(super) fn is(&self, y: usize, kind: Kind) -> bool {
        self.kinds.get(y).is_some_and(|kinds| kinds.contains(kind))
    }

    /// The names of a row's kinds.
    pub(super) fn kind_names(&self, y: usize) -> Vec<String> {
        let of_row = |index: &usize| u8::try_from(*index).is_ok_and(|kind| self.is(y, Kind(kind)));
        (0..self.profile.rows.len()).filter(of_row).map(|index| self.profile.rows[index].name.clone()).collect()
    }

    /// Whether a row is of any of these kinds.
    pub(super) fn is_any(&self, y: usize, kinds: Kinds) -> bool {
        self.kinds.get(y).is_some_and(|of_row| of_row.intersects(kinds))
    }

    pub(super) fn row(&self, y: usize) -> &'a str {
        self.screen.row(y).map_or("", Row::text)
    }

    /// The text of a group of the kind's pattern in a row.
    pub(super) fn group(&self, y: usize, kind: Kind, name: &str) -> Option<&'a str> {
        let captures = self.profile.rows.get(usize::from(kind.0))?.pattern.captures(self.row(y))?;
        captures.name(name).map(|found| found.as_str())
    }

    /// The named groups of the kind's pattern in a row, with their texts.
    pub(super) fn groups(&self, y: usize, kind: Kind) -> Vec<(&'a str, &'a str)> {
        let profile = self.profile;
        let Some(pattern) = profile.rows.get(usize::from(kind.0)).map(|row| &row.pattern) else { return Vec::new() };
        let Some(captures) = pattern.captures(self.row(y)) else { return Vec::new() };
        pattern.capture_names().flatten().filter_map(|name| Some((name, captures.name(name)?.as_str()))).collect()
    }

    /// The rows of a region, top first.
    pub(super) fn region(&self, region: Region) -> Range<usize> {
        let end = self.screen.rows().len();
        let (top, bottom) = self.prompt.as_ref().map_or((end, end), |p| (p.outer.start, p.outer.end));
        match region {
            Region::All => 0..end,
            Region::Above => 0..top,
            Region::Turn => self.turn_start.min(top)..top,
            Region::Composer => top..bottom,
            Region::Footer => bottom..end,
        }
    }

    /// The part of a region that holds its last `count` rows that are not blank.
    pub(super) fn last_rows(&self, region: Range<usize>, count: Option<usize>) -> Range<usize> {
        let Some(count) = count else { return region };
        let start = region.clone().rev().filter(|&y| !self.is_blank(y)).nth(count.saturating_sub(1));
        start.unwrap_or(region.start)..region.end
    }

    pub(super) fn is_blank(&self, y: usize) -> bool {
        self.screen.row(y).is_none_or(Row::is_blank)
    }

    /// Finds the live prompt from the bottom up.
    fn find_prompt(&self, composer: &ComposerRules) -> Option<LivePrompt> {
        let mut below = 0;
        for y in (0..self.screen.rows().len()).rev() {
            let candidate = self.prompt_at(composer, y);
            if let Some(found) = candidate.filter(|found| found.focused || !composer.only_when_idle) {
                let footer = (found.outer.end..self.screen.rows().len()).filter(|&y| !self.is_blank(y)).count();
                return (footer <= composer.rows_below).then_some(found);
            }
            below += usize::from(!self.is_blank(y));
            if below > composer.rows_below + MAX_DRAFT_ROWS {
                return None;
            }
        }
        None
    }

    fn prompt_at(&self, composer: &ComposerRules, y: usize) -> Option<LivePrompt> {
        let is_cut = composer.above_cut.is_some_and(|cut| y.checked_sub(1).is_some_and(|above| self.is(above, cut)));
        if !is_cut && !self.is(y, composer.prompt) {
            return None;
        }
        let start = match composer.above {
            Some(above) => y.checked_sub(1).filter(|&rule| self.is(rule, above))?,
            None => y,
        };
        let mut end = y + 1;
        let ends = |row: usize| composer.below.is_some_and(|below| self.is(row, below));
        while end < self.screen.rows().len()
            && !ends(end)
            && composer.continuation.is_some_and(|continuation| self.is(end, continuation))
        {
            end += 1;
        }
        // A low pane may end with it.
        let is_last = y + 1 == self.screen.rows().len() && usize::from(self.facts.cursor.row) == y;
        let is_cut = composer.foot.is_empty() && is_last;
        if composer.below.is_some() && !ends(end) && !is_cut {
            return None;
        }
        let text_end = end + usize::from(composer.below.is_some() && !is_cut);
        let outer_end = text_end + composer.foot.len();
        if !composer.foot.iter().zip(text_end..).all(|(&kind, row)| self.is(row, kind)) {
            return None;
        }
        let (draft, text, typed) = self.draft(composer, y..end);
        let focused = self.is_focused(composer, y..end);
        let command = composer.command.is_some_and(|command| self.is(y, command));
        Some(LivePrompt { outer: start..outer_end, row: y, draft, text, typed, command, focused })
    }

    fn is_focused(&self, composer: &ComposerRules, rows: Range<usize>) -> bool {
        let cursor = self.facts.cursor;
        let shown = match composer.cursor {
            Some(CursorData::Visible) => cursor.visible,
            Some(CursorData::Hidden) => !cursor.visible,
            None => true,
        };
        shown && (!composer.cursor_inside || rows.contains(&usize::from(cursor.row)))
    }

    /// The content of the prompt. An inverse cell is the drawn caret, which may hold a placeholder's first letter.
    fn draft(&self, composer: &ComposerRules, rows: Range<usize>) -> (DraftText, String, String) {
        let (mut typed, mut ghost, mut under_caret) = (0, 0, 0);
        let (mut shown, mut written) = (String::new(), String::new());
        for y in rows.clone() {
            let Some(row) = self.screen.row(y) else { continue };
            let text = row.text();
            let kind = if y == rows.start { Some(composer.prompt) } else { composer.continuation };
            let group = kind.and_then(|kind| self.group(y, kind, "draft"));
            let from = group.map_or(0, |draft| draft.as_ptr().addr() - text.as_ptr().addr());
            let to = group.map_or(text.len(), |draft| from + draft.len());
            for (byte, c) in text[from..to].char_indices() {
                if c.is_whitespace() || c.width().unwrap_or(0) == 0 {
                    continue;
                }
                shown.push(c);
                let style = row.style_at(from + byte);
                let is_ghost = !style.inverse && composer.ghost.iter().any(|test| test.accepts(style));
                if style.inverse {
                    under_caret += 1;
                } else if is_ghost {
                    ghost += 1;
                } else {
                    typed += 1;
                }
                if !is_ghost {
                    written.push(c);
                }
            }
        }
        let without_blanks = |text: &String| text.split_whitespace().collect::<String>();
        let draft = if shown.is_empty() {
            DraftText::Empty
        } else if composer.placeholders.iter().any(|p| without_blanks(p) == shown)
            || (typed == 0 && ghost > 0 && under_caret <= 1)
        {
            DraftText::Ghost
        } else {
            DraftText::Text
        };
        (draft, shown, written)
    }

    /// What the user wrote in a submitted prompt's row.
    pub(super) fn submitted_text(&self, y: usize) -> &'a str {
        let kinds = (0..self.profile.rows.len()).filter_map(|index| u8::try_from(index).ok()).map(Kind);
        let mut prompts = kinds.filter(|&kind| self.profile.turn.prompts.contains(kind) && self.is(y, kind));
        prompts.find_map(|kind| self.group(y, kind, "text")).unwrap_or(self.row(y))
    }
}

/// A prompt of more rows than this is not found.
const MAX_DRAFT_ROWS: usize = 40;

fn kinds_of(profile: &Profile, row: &Row) -> Kinds {
    let fits = |index: &usize| profile.rows.get(*index).is_some_and(|kind| kind.styles_fit(row));
    let matches = profile.patterns.matches(row.text());
    matches.into_iter().filter(fits).filter_map(|index| u8::try_from(index).ok()).map(Kind).collect()
}
