//! Applies a profile's rules to a screen and draws the conclusions of SPEC §4.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use super::compile::{Kind, Profile, Rule};
use super::reading::{Activity, EndMark, Family, Reading, TurnEnd, TurnRegion};
use super::rules::{ComposerTest, CursorData, Region, Signal};
use super::sight::{Draft, LivePrompt, Sight};
use crate::screen::{PaneFacts, Screen};
use crate::state::{
    AssessedAvailability, Assessment, BusinessState, Evidence, InputMode, Phase, Surface, Tri, UiContext,
};

/// A rule that fired, with the rows that it fired on from top to bottom.
pub(super) struct Fired<'a> {
    pub rule: &'a Rule,
    pub rows: Vec<usize>,
}

/// Why a rule did not fire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Miss {
    /// The title does not match.
    Title,
    /// The cursor is not as asked.
    Cursor,
    /// The live prompt is not as asked.
    Composer,
    /// No row of this kind stands where it should.
    Row(String),
    /// A row stands there that must not.
    Forbidden(usize),
}

impl Profile {
    /// Reads one screen. It never fails; what cannot be told is unknown.
    pub fn read(&self, screen: &Screen, facts: &PaneFacts) -> Reading {
        let sight = Sight::new(self, screen, facts);
        let fired: Vec<Fired<'_>> =
            self.rules.iter().filter_map(|rule| try_rule(&sight, rule).ok().map(|rows| Fired { rule, rows })).collect();
        Conclusion { sight: &sight, fired: &fired }.reading()
    }
}

/// Tries one rule: the rows that it fires on, or why it does not.
pub(super) fn try_rule(sight: &Sight<'_>, rule: &Rule) -> Result<Vec<usize>, Miss> {
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

/// Finds the rule's rows in their order, as far down as they go.
fn find_rows(sight: &Sight<'_>, rule: &Rule, part: Range<usize>) -> Result<Vec<usize>, Miss> {
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
        ComposerTest::Empty => prompt.is_some_and(|p| p.draft != Draft::Text),
        ComposerTest::Draft => prompt.is_some_and(|p| p.draft == Draft::Text),
    }
}

/// The phase that one screen by itself supports. A list at the prompt of a working agent does not hide its work.
fn phase(front: Front, working: bool, doubtful: bool) -> Phase {
    match front {
        Front::Prompt | Front::List(_) | Front::UnfocusedPrompt | Front::WorkOnly if working => Phase::Active,
        Front::Prompt if !doubtful => Phase::Ready,
        _ => Phase::Unknown,
    }
}

/// Draws a reading from what fired.
struct Conclusion<'a> {
    sight: &'a Sight<'a>,
    fired: &'a [Fired<'a>],
}

/// What has the operator's attention on the screen, most binding first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Front {
    /// Blocking dialogs.
    Dialog(UiContext),
    Menu,
    Starting,
    /// The prompt with a list at it.
    List(UiContext),
    Prompt,
    /// A prompt is drawn, but the cursor says that it does not take the keys.
    UnfocusedPrompt,
    /// No prompt, but signs of work.
    WorkOnly,
    Nothing,
}

impl Conclusion<'_> {
    fn first(&self, signal: Signal) -> Option<&Fired<'_>> {
        self.fired.iter().find(|fired| fired.rule.gives == signal)
    }

    fn has(&self, signal: Signal) -> bool {
        self.first(signal).is_some()
    }

    fn reading(&self) -> Reading {
        let front = self.front();
        let working = self.has(Signal::Working);
        let doubt = self.doubt(front);
        let end = self.end();
        let activity = working.then(|| self.activity(front));
        let (surface, business_state, input_mode, ui_context) = self.surface(front, working, doubt.is_some(), &end);
        let supported = front != Front::Nothing;
        let dialog = self.dialog(front);
        Reading {
            phase: phase(front, working, doubt.is_some()),
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
                operator_excerpt: dialog.map(|fired| self.excerpt(fired)),
            },
            background_work: if self.has(Signal::Background) {
                Tri::Yes
            } else if supported {
                Tri::No
            } else {
                Tri::Unknown
            },
            headline: self.headline(dialog, working, &end),
            family: self.family(front, working),
            activity,
            end,
            turn: self.turn_region(),
            transcript_rows: self.transcript_rows(),
            submitted: self.sight.submitted.last().map(|&y| letters(self.sight.submitted_text(y))),
            draft: self.sight.prompt.as_ref().filter(|p| p.draft == Draft::Text).map(|p| letters(&p.text)),
            doubt,
            evidence: self.evidence(),
            blank: self.sight.screen.is_blank(),
            banner_version: self.banner_version(),
        }
    }

    fn front(&self) -> Front {
        let dialog = |signal, context| self.has(signal).then_some(Front::Dialog(context));
        let list = |signal, context| self.has(signal).then_some(Front::List(context));
        let prompt = self.sight.prompt.as_ref();
        dialog(Signal::Trust, UiContext::TrustPrompt)
            .or_else(|| dialog(Signal::Approval, UiContext::ApprovalPrompt))
            .or_else(|| dialog(Signal::Question, UiContext::Question))
            .or_else(|| dialog(Signal::Setup, UiContext::Setup))
            .or_else(|| self.has(Signal::Menu).then_some(Front::Menu))
            .or_else(|| self.has(Signal::Starting).then_some(Front::Starting))
            .or_else(|| prompt.filter(|p| !p.focused).map(|_| Front::UnfocusedPrompt))
            .or_else(|| list(Signal::Slash, UiContext::SlashCommand))
            .or_else(|| list(Signal::Files, UiContext::SelectionMenu))
            .or_else(|| prompt.map(|_| Front::Prompt))
            .or_else(|| self.has(Signal::Working).then_some(Front::WorkOnly))
            .unwrap_or(Front::Nothing)
    }

    fn surface(
        &self,
        front: Front,
        working: bool,
        doubtful: bool,
        end: &Option<TurnEnd>,
    ) -> (Surface, BusinessState, InputMode, UiContext) {
        let pending_input = if self.has(Signal::Queued) { Tri::Yes } else { Tri::No };
        let editing = match self.sight.prompt.as_ref().map(|p| &p.draft) {
            Some(Draft::Text) => Tri::Yes,
            Some(Draft::Empty | Draft::Ghost) => Tri::No,
            // A list that covers the prompt is open because something was typed there.
            None if matches!(front, Front::List(_)) => Tri::Yes,
            None => Tri::Unknown,
        };
        let keys_elsewhere =
            Surface { accepting_input: Tri::No, editing_input: Tri::No, ready_posture: Tri::No, pending_input };
        let at_prompt =
            |ready_posture| Surface { accepting_input: Tri::Yes, editing_input: editing, ready_posture, pending_input };
        let business = if working { BusinessState::Working } else { BusinessState::Idle };
        match front {
            Front::Dialog(context) => (keys_elsewhere, BusinessState::AwaitingOperator, InputMode::Modal, context),
            Front::Menu => {
                let business = if working { BusinessState::Working } else { BusinessState::Unknown };
                (keys_elsewhere, business, InputMode::Modal, UiContext::SelectionMenu)
            }
            Front::Starting => (Surface::UNKNOWN, BusinessState::Unknown, InputMode::Closed, UiContext::Unknown),
            Front::List(context) => (at_prompt(Tri::No), business, InputMode::Freeform, context),
            Front::Prompt if doubtful => {
                (at_prompt(Tri::Unknown), BusinessState::Unknown, InputMode::Freeform, UiContext::NormalPrompt)
            }
            Front::Prompt => {
                let failed = end.as_ref().is_some_and(|end| end.mark == EndMark::Failed);
                let context = if failed && !working { UiContext::ErrorBanner } else { UiContext::NormalPrompt };
                let posture = if working { Tri::No } else { Tri::Yes };
                (at_prompt(posture), business, InputMode::Freeform, context)
            }
            Front::UnfocusedPrompt => {
                let business = if working { BusinessState::Working } else { BusinessState::Unknown };
                (Surface { pending_input, ..Surface::UNKNOWN }, business, InputMode::Unknown, UiContext::Unknown)
            }
            Front::WorkOnly if self.sight.profile.composer.as_ref().is_some_and(|c| c.only_when_idle) => {
                (keys_elsewhere, BusinessState::Working, InputMode::Closed, UiContext::Unknown)
            }
            Front::WorkOnly => {
                let surface = Surface { ready_posture: Tri::No, pending_input, ..Surface::UNKNOWN };
                (surface, BusinessState::Working, InputMode::Unknown, UiContext::Unknown)
            }
            Front::Nothing => (Surface::UNKNOWN, BusinessState::Unknown, InputMode::Unknown, UiContext::Unknown),
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

    /// The dialog's text, from its first row to the end of the screen, without borders and blank edges.
    fn excerpt(&self, fired: &Fired<'_>) -> String {
        let sight = self.sight;
        let matched = fired.rows.first().copied().unwrap_or(0);
        let start =
            fired.rule.excerpt.and_then(|kind| (0..=matched).rev().find(|&y| sight.is(y, kind))).unwrap_or(matched);
        let rows: Vec<&str> = (start..sight.screen.rows().len()).map(|y| strip_border(sight.row(y))).collect();
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
            Front::Nothing | Front::Starting => None,
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

    fn banner_version(&self) -> Option<String> {
        let banner = self.sight.profile.banner.as_ref()?;
        let rows = self.sight.screen.rows();
        rows.iter().find_map(|row| banner.captures(row.text())?.name("version").map(|v| v.as_str().to_owned()))
    }
}

const MAX_EXCERPT_ROWS: usize = 40;

/// A row of a dialog without its box and the blanks around it, but with its indentation.
fn strip_border(row: &str) -> &str {
    const BORDERS: [char; 13] = ['│', '┃', '╭', '╮', '╰', '╯', '─', '━', '▄', '▀', '╌', '╹', '▔'];
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
