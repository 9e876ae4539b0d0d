//! Draws the conclusions of SPEC §4 from the rules that fired.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use super::compile::Kind;
use super::engine::Fired;
use super::front::Front;
use super::reading::{Activity, EndMark, Family, Reading, TurnEnd, TurnRegion};
use super::rules::{Region, Signal};
use super::sight::{Draft, Sight};
use crate::dialog::Dialog;
use crate::state::{AssessedAvailability, Assessment, Evidence, Tri, UiContext};

/// Draws a reading from what fired.
pub(super) struct Conclusion<'a> {
    pub sight: &'a Sight<'a>,
    pub fired: &'a [Fired<'a>],
}

impl Conclusion<'_> {
    pub(super) fn first(&self, signal: Signal) -> Option<&Fired<'_>> {
        self.fired.iter().find(|fired| fired.rule.gives == signal)
    }

    pub(super) fn has(&self, signal: Signal) -> bool {
        self.first(signal).is_some()
    }

    pub(super) fn reading(&self) -> Reading {
        let front = self.front();
        let working = self.has(Signal::Working);
        let doubt = self.doubt(front);
        let end = self.end();
        let activity = working.then(|| self.activity(front));
        let (surface, business_state, input_mode, ui_context) = self.surface(front, working, doubt.is_some(), &end);
        let supported = front != Front::Nothing;
        let asking = self.dialog(front);
        let dialog = asking.map(|fired| Dialog::read(self.sight.screen, self.dialog_rows(fired)));
        Reading {
            phase: front.phase(working, doubt.is_some()),
            in_dialog: matches!(front, Front::Dialog(_)),
            surface,
            assessment: Assessment {
                availability: if supported {
                    AssessedAvailability::Supported
                } else {
                    AssessedAvailability::Unsupported
                },
                business_state,
                input_mode,
                ui_context,
                anomalies: Vec::new(),
                operator_excerpt: dialog.as_ref().map(|dialog| self.excerpt(dialog)),
            },
            dialog,
            background_work: if self.has(Signal::Background) {
                Tri::Yes
            } else if supported {
                Tri::No
            } else {
                Tri::Unknown
            },
            headline: self.headline(asking, working, &end),
            family: self.family(front, working),
            activity,
            end,
            turn: self.turn_region(),
            edge: self.edge(),
            transcript_rows: self.transcript_rows(),
            submitted: self.sight.submitted.last().map(|&y| letters(self.sight.submitted_text(y))),
            draft: self.sight.prompt.as_ref().filter(|p| p.draft == Draft::Text).map(|p| letters(&p.text)),
            doubt,
            evidence: self.evidence(),
            blank: self.sight.screen.is_blank(),
            banner_version: self.banner_version(),
        }
    }

    fn doubt(&self, front: Front) -> Option<String> {
        if front == Front::UnfocusedPrompt {
            return Some("a prompt is drawn, but the cursor is not in it".to_owned());
        }
        self.first(Signal::Doubt).map(|fired| format!("rule {} contradicts the rest", fired.rule.id))
    }

    fn activity(&self, front: Front) -> Activity {
        let mut hasher = DefaultHasher::new();
        let (mut ticks, mut status_row_only) = (false, true);
        for fired in self.fired.iter().filter(|fired| fired.rule.gives == Signal::Working) {
            ticks |= fired.rule.ticks;
            status_row_only &= fired.rule.status_row;
            // With its styles: a spinner may shimmer while its text stands still.
            fired.rows.iter().for_each(|&y| self.sight.screen.row(y).hash(&mut hasher));
            if fired.rule.title.is_some() {
                self.sight.facts.title.hash(&mut hasher);
            }
        }
        let prompt_idle = front == Front::Prompt
            && !self.has(Signal::Doubt)
            && self.sight.prompt.as_ref().is_some_and(|p| p.draft != Draft::Text);
        Activity { fingerprint: hasher.finish(), ticks, status_row_only, prompt_idle }
    }

    /// How the latest turn ended. What stands further down is the newer; a failure or interruption wins over the
    /// completion row that agents draw below it.
    fn end(&self) -> Option<TurnEnd> {
        let found = |signal, mark| {
            let fired = self.fired.iter().filter(move |fired| fired.rule.gives == signal);
            fired.filter_map(move |fired| fired.rows.last().map(|&y| (y, mark))).max_by_key(|&(y, _)| y)
        };
        let bad = found(Signal::Interrupted, EndMark::Interrupted)
            .into_iter()
            .chain(found(Signal::Failed, EndMark::Failed))
            .max_by_key(|&(y, _)| y);
        let (y, mark) = bad.or_else(|| found(Signal::Completed, EndMark::Completed))?;
        Some(TurnEnd { mark, detail: cut(self.sight.row(y).trim(), 200) })
    }

    fn transcript_rows(&self) -> usize {
        let sight = self.sight;
        let is_full = sight.screen.rows().last().is_some_and(|row| !row.is_blank());
        let is_said = |y: &usize| !sight.is_blank(*y) && !sight.is_any(*y, sight.profile.turn.chrome);
        if is_full {
            return sight.screen.rows().len();
        }
        sight.region(Region::Above).rev().find(is_said).map_or(0, |y| y + 1)
    }

    fn turn_region(&self) -> TurnRegion {
        let sight = self.sight;
        let mut text = String::new();
        for y in sight.region(Region::Turn) {
            if !sight.is_any(y, sight.profile.turn.chrome) {
                // Glyphs blink and borders reflow; letters and digits are what was said.
                text.extend(sight.row(y).chars().filter(|c| c.is_alphanumeric()));
            }
        }
        TurnRegion {
            prompt: sight.submitted.last().map(|&y| hash(&sight.submitted_text(y).trim())),
            prompts: sight.submitted.len(),
            text: Arc::from(text),
        }
    }

    fn edge(&self) -> Arc<[u64]> {
        let sight = self.sight;
        let drawn = sight.region(Region::Turn).filter(|&y| !sight.is_blank(y));
        let mut rows: Vec<u64> = drawn.map(|y| hash(&sight.screen.row(y))).collect();
        rows.sort_unstable();
        rows.into()
    }

    fn dialog(&self, front: Front) -> Option<&Fired<'_>> {
        let signal = match front {
            Front::Dialog(UiContext::TrustPrompt) => Signal::Trust,
            Front::Dialog(UiContext::ApprovalPrompt) => Signal::Approval,
            Front::Dialog(UiContext::Question) => Signal::Question,
            Front::Dialog(_) => Signal::Setup,
            Front::Menu => Signal::Menu,
            _ => return None,
        };
        self.first(signal)
    }

    /// The rows of a dialog, from its first one to the last one of the screen that says something.
    fn dialog_rows(&self, fired: &Fired<'_>) -> Range<usize> {
        let sight = self.sight;
        let matched = fired.rows.first().copied().unwrap_or(0);
        let start = fired.rule.excerpt.and_then(|kind| (0..=matched).rev().find(|&y| sight.is(y, kind)));
        start.unwrap_or(matched)..sight.screen.last_row().map_or(0, |last| last + 1)
    }

    /// The dialog's text, without borders and blank edges.
    fn excerpt(&self, dialog: &Dialog) -> String {
        let row = |y| dialog.row_text(self.sight.screen, y);
        let rows: Vec<String> = dialog.rows.clone().map(|y| strip_border(&row(y)).to_owned()).collect();
        let shown = rows.iter().skip_while(|row| row.is_empty()).take(MAX_EXCERPT_ROWS);
        let text = shown.fold(String::new(), |text, row| text + row + "\n");
        let lines = text.trim_end().lines();
        let mut blanks = 0;
        lines
            .filter(|line| {
                blanks = if line.is_empty() { blanks + 1 } else { 0 };
                blanks < 2
            })
            .collect::<Vec<_>>()
            .join("\n")
    }

    fn headline(&self, dialog: Option<&Fired<'_>>, working: bool, end: &Option<TurnEnd>) -> Option<String> {
        if let Some(fired) = dialog {
            let question = fired.rule.question.or(fired.rule.rows.first().copied())?;
            let y = fired.rule.rows.iter().position(|&kind| kind == question).and_then(|i| fired.rows.get(i))?;
            let text = self.sight.group(*y, question, "text").unwrap_or(self.sight.row(*y));
            return Some(cut(strip_border(text).trim(), 200));
        }
        let turn = &self.sight.profile.turn;
        let answer = || self.last_text(&turn.answers);
        let tool = || self.last_text(&turn.tools);
        let found = match end {
            _ if working => match (tool(), answer()) {
                (Some(tool), Some(answer)) => Some(tool.max(answer)),
                (tool, answer) => tool.or(answer),
            },
            Some(TurnEnd { mark: EndMark::Failed | EndMark::Interrupted, detail }) => return Some(detail.clone()),
            _ => answer(),
        };
        found.map(|(_, text)| text).filter(|text| !text.is_empty())
    }

    fn last_text(&self, kinds: &[Kind]) -> Option<(usize, String)> {
        self.sight.region(Region::Turn).rev().find_map(|y| {
            let kind = kinds.iter().find(|&&kind| self.sight.is(y, kind))?;
            let text = self.sight.group(y, *kind, "text").unwrap_or(self.sight.row(y));
            Some((y, cut(text.trim(), 200)))
        })
    }

    fn family(&self, front: Front, working: bool) -> Option<Family> {
        match front {
            Front::Nothing | Front::Starting | Front::Opening => None,
            Front::Dialog(_) | Front::Menu => Some(Family::Waiting),
            _ if working => Some(Family::Working),
            _ if self.last_text(&self.sight.profile.turn.answers).is_some() => Some(Family::Answer),
            _ => Some(Family::Idle),
        }
    }

    fn evidence(&self) -> Vec<Evidence> {
        let mut evidence: Vec<Evidence> = Vec::new();
        if let Some(prompt) = &self.sight.prompt {
            let rule = if prompt.focused { "composer" } else { "composer-without-cursor" };
            evidence.push(self.evidence_on(rule, Some(prompt.row)));
        }
        for fired in self.fired {
            // The last row is the decisive one: the selected option, the status row, the end mark.
            evidence.push(self.evidence_on(&fired.rule.id, fired.rows.last().copied()));
        }
        evidence
    }

    fn evidence_on(&self, rule: &str, line: Option<usize>) -> Evidence {
        let text = line.map_or(self.sight.facts.title.as_str(), |y| self.sight.row(y));
        Evidence { rule: rule.to_owned(), line, text: cut(text.trim(), 200) }
    }

    /// The version in the agent's banner. Two banners belong to two sessions, and one below a submitted prompt may be
    /// quoted: neither tells.
    fn banner_version(&self) -> Option<String> {
        let sight = self.sight;
        let banner = sight.profile.banner.as_ref()?;
        let version = |y: usize| Some(banner.captures(sight.row(y))?.name("version")?.as_str().to_owned());
        let mut found = (0..sight.screen.rows().len()).filter_map(|y| Some((y, version(y)?)));
        let (y, version) = found.next()?;
        let is_first = sight.submitted.first().is_none_or(|&prompt| y < prompt);
        (is_first && found.next().is_none()).then_some(version)
    }
}

const MAX_EXCERPT_ROWS: usize = 40;

/// A row of a dialog without its box and the blanks around it, but with its indentation.
fn strip_border(row: &str) -> &str {
    const BORDERS: [char; 14] = ['█', '│', '┃', '╭', '╮', '╰', '╯', '─', '━', '▄', '▀', '╌', '╹', '▔'];
    let inner = row.trim().trim_matches(BORDERS);
    inner.trim_end()
}

fn cut(text: &str, characters: usize) -> String {
    text.chars().take(characters).collect()
}

/// What a text says, whatever glyphs and blanks are around it.
fn letters(text: &str) -> Arc<str> {
    text.chars().filter(|c| c.is_alphanumeric()).collect::<String>().into()
}

fn hash(text: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
