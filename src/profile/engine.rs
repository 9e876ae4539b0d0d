//! Applies a profile's rules to a screen.

use std::ops::Range;

use super::classification::Classification;
use super::compile::{Profile, ScreenRule};
use super::conclusion::{Conclusion, Fired};
use super::rules::{ComposerTest, CursorData, Signal};
use super::screen_view::{DraftText, LivePrompt, ScreenView};
use crate::screen::{PaneFacts, Screen};

/// Why a rule did not fire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Miss {
    /// The title does not match.
    Title,
    /// The cursor does not fit.
    Cursor,
    /// The live prompt does not fit.
    Composer,
    /// There is no row of this kind where there should be one.
    Row(String),
    /// There is a row that must not be there.
    Forbidden(usize),
}

impl Profile {
    /// Reads one screen. It never fails; what the screen does not show is unknown.
    pub fn read(&self, screen: &Screen, facts: &PaneFacts) -> Classification {
        self.sight(screen, facts).read()
    }

    /// The screen as this profile sees it, or as the one does that reads the other way in which the agent draws itself.
    pub(super) fn sight<'a>(&'a self, screen: &'a Screen, facts: &'a PaneFacts) -> ScreenView<'a> {
        let shows = |sight: &ScreenView<'_>| {
            let mut rules = sight.profile.rules.iter().filter(|rule| rule.gives == Signal::Surface);
            rules.any(|rule| try_rule(sight, rule).is_ok())
        };
        let is_hidden = |rule: &ScreenRule| rule.cursor == Some(CursorData::Visible) && !facts.cursor.visible;
        let may_show =
            |profile: &&Profile| profile.rules.iter().any(|rule| rule.gives == Signal::Surface && !is_hidden(rule));
        let others = self.surfaces.iter().filter(may_show).map(|profile| ScreenView::new(profile, screen, facts));
        others.into_iter().find(shows).unwrap_or_else(|| ScreenView::new(self, screen, facts))
    }
}

impl ScreenView<'_> {
    /// Reads what is seen with the profile's rules.
    pub(super) fn read(&self) -> Classification {
        let fire = |rule| try_rule(self, rule).ok().map(|rows| Fired { rule, rows });
        let fired: Vec<Fired<'_>> = self.profile.rules.iter().filter_map(fire).collect();
        Conclusion { sight: self, fired: &fired }.reading()
    }
}

/// Tries one rule: the rows that it fires on, or why it does not.
pub(super) fn try_rule(sight: &ScreenView<'_>, rule: &ScreenRule) -> Result<Vec<usize>, Miss> {
    if rule.title.as_ref().is_some_and(|title| !title.is_match(&sight.facts.title)) {
        return Err(Miss::Title);
    }
    let visible = sight.facts.cursor.visible;
    if rule.cursor.is_some_and(|wanted| (wanted == CursorData::Visible) != visible) {
        return Err(Miss::Cursor);
    }
    if rule.composer.is_some_and(|wanted| !composer_is(sight.prompt.as_ref(), wanted)) {
        return Err(Miss::Composer);
    }
    if rule.prompt.is_some_and(|kind| sight.prompt.as_ref().is_none_or(|prompt| !sight.is(prompt.row, kind))) {
        return Err(Miss::Composer);
    }
    let region = sight.region(rule.region);
    let part = sight.last_rows(region.clone(), rule.last);
    if let Some(y) = part.clone().find(|&y| sight.is_any(y, rule.none)) {
        return Err(Miss::Forbidden(y));
    }
    let rows = find_rows(sight, rule, part)?;
    let after = rows.last().map_or(region.start, |&y| y + 1);
    match (after..region.end).find(|&y| sight.is_any(y, rule.not_after)) {
        Some(y) => Err(Miss::Forbidden(y)),
        None => Ok(rows),
    }
}

/// Finds the rule's rows in their order, the lowest ones.
fn find_rows(sight: &ScreenView<'_>, rule: &ScreenRule, part: Range<usize>) -> Result<Vec<usize>, Miss> {
    let mut end = part.end;
    let mut rows = Vec::with_capacity(rule.rows.len());
    for &kind in rule.rows.iter().rev() {
        let name = || sight.profile.rows.get(usize::from(kind.0)).map_or(String::new(), |row| row.name.clone());
        let y = (part.start..end).rev().find(|&y| sight.is(y, kind)).ok_or_else(|| Miss::Row(name()))?;
        rows.push(y);
        end = y;
    }
    rows.reverse();
    Ok(rows)
}

fn composer_is(prompt: Option<&LivePrompt>, wanted: ComposerTest) -> bool {
    match wanted {
        ComposerTest::Present => prompt.is_some(),
        ComposerTest::Absent => prompt.is_none(),
        ComposerTest::Empty => prompt.is_some_and(|p| p.draft != DraftText::Text),
        ComposerTest::Draft => prompt.is_some_and(|p| p.draft == DraftText::Text),
    }
}
