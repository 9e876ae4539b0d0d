//! Draws the conclusions of SPEC §4 from the rules that fired.

mod front;

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::classification::{Activity, Classification, Composed, EndMark, Family, Submitted, TurnEnd, TurnRegion};
use super::compile::{Kind, Kinds, ScreenRule};
use super::rules::{Region, Signal};
use super::screen_view::{DraftText, ScreenView};
use crate::dialog::{Cut, Dialog, bare};
use crate::hash::{fast, fast_of};
use crate::screen::Row;
use crate::state::{AssessedAvailability, Assessment, Evidence, FactName, FactValue, Phase, Tri, UiContext, numbered};
use crate::time::Span;

/// A rule that fired, with the rows that it fired on, from top to bottom.
pub(super) struct Fired<'a> {
    pub rule: &'a ScreenRule,
    pub rows: Vec<usize>,
}

/// What has the operator's attention on the screen, most binding first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Front {
    /// Blocking dialogs.
    Dialog(UiContext),
    Menu,
    Starting,
    /// The prompt takes text, but there is no session yet to submit it to.
    Opening,
    /// The prompt with a list at it.
    List(UiContext),
    Prompt,
    /// A prompt is drawn, but the cursor shows that it does not take the keys.
    UnfocusedPrompt,
    /// No prompt, but signs of work.
    WorkOnly,
    Nothing,
}

impl Front {
    /// The phase that one screen by itself supports. A list at the prompt of a working agent does not hide its work.
    fn phase(self, working: bool, doubtful: bool) -> Phase {
        match self {
            Front::Prompt | Front::List(_) | Front::UnfocusedPrompt | Front::WorkOnly if working => Phase::Active,
            Front::Prompt if !doubtful => Phase::Ready,
            _ => Phase::Unknown,
        }
    }
}

/// Draws a reading from what fired.
pub(super) struct Conclusion<'a> {
    pub sight: &'a ScreenView<'a>,
    pub fired: &'a [Fired<'a>],
}

impl Conclusion<'_> {
    pub(super) fn first(&self, signal: Signal) -> Option<&Fired<'_>> {
        self.fired.iter().find(|fired| fired.rule.gives == signal)
    }

    pub(super) fn has(&self, signal: Signal) -> bool {
        self.first(signal).is_some()
    }

    /// The dialog of a kind, unless it is a menu that the operator opened with a command. `by_either` asks for those whose rows
    /// do not show who opened them, or for the others.
    pub(super) fn asked(&self, signal: Signal, by_either: bool) -> Option<&Fired<'_>> {
        let kind = |fired: &&Fired<'_>| fired.rule.gives == signal && fired.rule.by_either == by_either;
        self.fired.iter().find(kind).filter(|_| !(by_either && self.operator_opened()))
    }

    /// The menu, or dialog that the operator opened, that takes the keys without being a question of the agent.
    pub(super) fn menu(&self) -> Option<&Fired<'_>> {
        let opened = self.operator_opened();
        let dialog = |gives| matches!(gives, Signal::Setup | Signal::Question | Signal::Trust | Signal::Approval);
        let by_operator = |fired: &&Fired<'_>| opened && fired.rule.by_either && dialog(fired.rule.gives);
        self.fired.iter().find(by_operator).or_else(|| self.first(Signal::Menu))
    }

    /// Whether the latest submitted prompt is a command to the agent itself, with no answer below it.
    fn operator_opened(&self) -> bool {
        let (sight, turn) = (self.sight, &self.sight.profile.turn);
        let commanded = sight.submitted.last().is_some_and(|&y| sight.is_any(y, turn.commands));
        let mut said = turn.answers.iter().chain(&turn.tools);
        commanded && !said.any(|&kind| sight.region(Region::Turn).any(|y| sight.is(y, kind)))
    }

    pub(super) fn reading(&self) -> Classification {
        let shown = self.front();
        let asking = self.dialog(shown);
        let dialog = asking.map(|fired| self.read_dialog(fired, shown));
        let limit = self.limit(asking.zip(dialog.as_ref()));
        let front = if limit.is_some() { Front::Dialog(UiContext::Limit) } else { shown };
        let dialog = dialog.map(|dialog| dialog.of_operator(front == Front::Menu));
        let working = self.has(Signal::Working);
        let doubt = self.doubt(front);
        let end = self.end();
        let activity = working.then(|| self.activity(front));
        let (surface, business_state, input_mode, ui_context) = self.surface(front, working, doubt.is_some(), &end);
        let supported = front != Front::Nothing;
        let offers = dialog.as_ref().is_some_and(Dialog::offers_choices);
        let headline = limit.or_else(|| self.headline(asking.zip(dialog.as_ref()), working, &end));
        Classification {
            phase: front.phase(working, doubt.is_some()),
            in_dialog: matches!(front, Front::Dialog(_)),
            offers_choices: front == Front::Menu
                && offers
                && asking.is_some_and(|fired| fired.rule.by_either)
                && !self.operator_opened(),
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
                dialog: dialog.as_ref().map(Dialog::id),
            },
            dialog,
            composer: self.sight.prompt.as_ref().map(|p| p.outer.clone()),
            background_work: if self.has(Signal::Background) {
                Tri::Yes
            } else if supported {
                Tri::No
            } else {
                Tri::Unknown
            },
            headline,
            family: self.family(front, working),
            activity,
            end,
            turn: self.turn_region(),
            edge: self.edge(),
            transcript_rows: self.transcript_rows(),
            said_rows: self.said_rows(),
            prompt_rows: self.sight.submitted.last().map(|y| y + 1),
            submitted: self.sight.submitted.last().map(|&y| letters(self.sight.submitted_text(y))),
            submitted_rows: self.sight.submitted.last().map(|&y| self.submitted(y)),
            draft: self.sight.prompt.as_ref().filter(|p| p.draft == DraftText::Text).map(|p| letters(&p.text)),
            composed: self.sight.prompt.as_ref().filter(|p| p.draft == DraftText::Text).map(|p| Composed::of(&p.typed)),
            doubt,
            evidence: self.evidence(),
            blank: self.sight.screen.is_blank(),
            banner_version: self.banner_version(),
            facts: self.facts(),
        }
    }

    /// A submitted prompt with all rows right below its first one.
    fn submitted(&self, y: usize) -> Submitted {
        let rows = (y + 1..self.sight.region(Region::Above).end).take_while(|&row| !self.sight.is_blank(row));
        Submitted::of(std::iter::once(self.sight.submitted_text(y)).chain(rows.map(|row| self.sight.row(row))))
    }

    fn doubt(&self, front: Front) -> Option<String> {
        if front == Front::UnfocusedPrompt {
            return Some("a prompt is drawn, but the cursor is not in it".to_owned());
        }
        self.first(Signal::Doubt).map(|fired| format!("rule {} contradicts the rest", fired.rule.id))
    }

    fn activity(&self, front: Front) -> Activity {
        let mut hasher = fast();
        let (mut ticks, mut status_row_only, mut offers_stop, mut titled) = (false, true, false, false);
        let mut elapsed = None;
        for fired in self.fired.iter().filter(|fired| fired.rule.gives == Signal::Working) {
            ticks |= fired.rule.ticks;
            status_row_only &= fired.rule.status_row;
            offers_stop |= fired.rows.iter().any(|&y| self.sight.is_any(y, self.sight.profile.turn.stop_offers));
            // With its styles: a spinner may shimmer while its text stands still.
            fired.rows.iter().for_each(|&y| self.sight.screen.row(y).hash(&mut hasher));
            if fired.rule.status_row {
                elapsed = elapsed.or_else(|| fired.rows.iter().find_map(|&y| counted(self.sight.row(y))));
            }
            if fired.rule.title.is_some() {
                titled = true;
                self.sight.facts.title.hash(&mut hasher);
            }
        }
        let prompt_idle = front == Front::Prompt
            && !self.has(Signal::Doubt)
            && self.sight.prompt.as_ref().is_some_and(|p| p.draft != DraftText::Text);
        Activity { fingerprint: hasher.finish(), ticks, status_row_only, offers_stop, titled, prompt_idle, elapsed }
    }

    /// How the latest turn ended. Of several rows the lowest is the newest; a failure or interruption wins over the
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
        let rows = self.sight.screen.rows();
        if rows.last().is_some_and(|row| !row.is_blank()) { rows.len() } else { self.said_rows() }
    }

    fn said_rows(&self) -> usize {
        let sight = self.sight;
        let is_said = |y: &usize| !sight.is_blank(*y) && !sight.is_any(*y, sight.profile.turn.chrome);
        sight.region(Region::Above).rev().find(is_said).map_or(0, |y| y + 1)
    }

    fn turn_region(&self) -> TurnRegion {
        let sight = self.sight;
        let mut text = String::new();
        for y in sight.region(Region::Turn) {
            if !sight.is_any(y, sight.profile.turn.chrome) {
                // Glyphs blink and borders reflow; only letters and digits were said.
                sight.row(y).split(|c: char| !c.is_alphanumeric()).for_each(|word| text.push_str(word));
            }
        }
        TurnRegion {
            prompt: sight.submitted.last().map(|&y| fast_of(&sight.submitted_text(y).trim())),
            prompts: sight.submitted.len(),
            command: self.operator_opened(),
            text: Arc::from(text),
        }
    }

    fn edge(&self) -> Arc<[u64]> {
        let sight = self.sight;
        let drawn = sight.region(Region::Turn).filter(|&y| !sight.is_blank(y));
        let mut rows: Vec<u64> = drawn.map(|y| fast_of(&sight.screen.row(y))).collect();
        rows.sort_unstable();
        rows.into()
    }

    fn dialog(&self, front: Front) -> Option<&Fired<'_>> {
        let signal = match front {
            Front::Dialog(UiContext::TrustPrompt) => Signal::Trust,
            Front::Dialog(UiContext::ApprovalPrompt) => Signal::Approval,
            Front::Dialog(UiContext::Question) => Signal::Question,
            Front::Dialog(_) => Signal::Setup,
            Front::Menu => return self.menu(),
            _ => return None,
        };
        self.asked(signal, false).or_else(|| self.asked(signal, true))
    }

    /// The dialog from its first row to the last row of the screen that is not blank.
    fn read_dialog(&self, fired: &Fired<'_>, front: Front) -> Dialog {
        let sight = self.sight;
        let matched = fired.rows.first().copied().unwrap_or(0);
        let top = match fired.rule.excerpt {
            Some(kind) => Some((0..=matched).rev().find(|&y| sight.is(y, kind))),
            None if fired.rule.by_either => Some(self.title(matched)),
            None => None,
        };
        let start = top.flatten().unwrap_or(matched);
        let end = sight.screen.last_row().map_or(0, |last| last + 1);
        let note = fired.rule.note.and_then(|note| fired.rule.rows.iter().position(|kind| *kind == note));
        let note = note.and_then(|at| fired.rows.get(at)).copied();
        let rows = start..note.unwrap_or(end);
        let mut dialog = match front {
            Front::Menu => Dialog::read_menu(sight.screen, rows),
            _ => Dialog::read(sight.screen, rows),
        };
        if let Some(row) = note {
            dialog.has_note(self.note(fired, row), end);
        }
        dialog.set_typed_options(&sight.profile.options.typed);
        if let Some(notes) = sight.profile.options.notes.as_ref() {
            dialog.set_notes(&notes.into(), sight.screen);
        }
        if fired.rule.gives == Signal::Approval {
            dialog.set_verdicts(&sight.profile.options.once, &sight.profile.options.refusing);
            dialog.set_escapes(&sight.profile.options.escapes);
            dialog.set_instead(&sight.profile.options.instead);
        }
        if top == Some(None) {
            dialog.has_no_top(self.above(matched));
        }
        if fired.rule.behind {
            dialog.cuts.push(Cut::Behind);
        }
        if let Some(rows) = fired.rule.scrolls_from {
            dialog.scrolls_from(rows, sight.screen);
        }
        if let Some(manner) = fired.rule.manner.filter(|_| !dialog.options.is_empty()) {
            dialog.manner = manner;
        }
        let mut rows = fired.rule.rows.iter().zip(&fired.rows);
        if let Some(typed) = rows.find_map(|(&kind, &y)| sight.group(y, kind, "typed")) {
            dialog.typed = typed.trim().to_owned();
        }
        dialog
    }

    /// The first row of a list of choices of which only these are known: below the last paragraph that was said, in bold as
    /// titles are, so that a paragraph of its own is not taken for one that was said.
    fn title(&self, matched: usize) -> Option<usize> {
        let sight = self.sight;
        let turn = &sight.profile.turn;
        let is_said = |y: &usize| {
            sight.is_any(*y, turn.prompts) || turn.answers.iter().chain(&turn.tools).any(|&kind| sight.is(*y, kind))
        };
        let said = (0..matched).rev().find(is_said);
        let end = said.and_then(|y| (y..matched).find(|&y| sight.is_blank(y))).unwrap_or(0);
        let first = (end..=matched).find(|&y| !sight.is_blank(y))?;
        let is_bold = sight.screen.row(first).is_some_and(|row| {
            let at = row.text().find(|c: char| !c.is_whitespace()).unwrap_or_default();
            row.style_at(at).bold
        });
        Some(first).filter(|_| is_bold || said.is_none())
    }

    /// The text in a line for a note; its placeholder is dim.
    fn note(&self, fired: &Fired<'_>, row: usize) -> String {
        let sight = self.sight;
        let first = fired.rule.note.and_then(|kind| sight.group(row, kind, "text")).unwrap_or_default();
        let at = sight.row(row).rfind(first).unwrap_or_default();
        if sight.screen.row(row).is_some_and(|row| row.style_at(at).dim) {
            return String::new();
        }
        let more =
            (row + 1..sight.screen.rows().len()).take_while(|y| !sight.is_blank(*y)).map(|y| sight.row(y).trim());
        std::iter::once(first).chain(more).collect::<Vec<_>>().join(" ")
    }

    /// What the screen shows between the last prompt and a row, in the box of the row if it is in one.
    fn above(&self, y: usize) -> Vec<String> {
        let is_boxed = |y: &usize| self.sight.row(*y).starts_with('│');
        let from = self.sight.submitted.iter().rev().find(|prompt| **prompt < y).map_or(0, |prompt| prompt + 1);
        let outside = (from..y).rev().find(|above| is_boxed(&y) && !is_boxed(above));
        let rows = outside.map_or(from, |outside| outside + 1)..y;
        // A command may have a box of its own in it.
        let inner = rows.map(|y| strip_border(strip_border(self.sight.row(y))).to_owned());
        inner.filter(|row| !row.is_empty()).collect()
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

    fn headline(&self, asking: Option<(&Fired<'_>, &Dialog)>, working: bool, end: &Option<TurnEnd>) -> Option<String> {
        if let Some((fired, dialog)) = asking {
            let question = fired.rule.question.or(fired.rule.rows.first().copied())?;
            let y = fired.rule.rows.iter().position(|&kind| kind == question).and_then(|i| fired.rows.get(i))?;
            let first = || dialog.text.iter().map(|line| line.trim()).find(|line| !line.is_empty());
            if let Some(first) =
                first().filter(|_| fired.rule.by_either && dialog.option_rows.contains(y) && dialog.is_whole())
            {
                return Some(cut(first, 200));
            }
            let spelled = self.sight.screen.row(*y).map(Row::spelled)?;
            let text = match &spelled {
                Cow::Borrowed(row) => self.sight.group(*y, question, "text").unwrap_or(row.text()),
                // Invisible characters are part of what is asked, but of no pattern.
                Cow::Owned(row) => row.text(),
            };
            return Some(cut(strip_border(text).trim(), 200));
        }
        let turn = &self.sight.profile.turn;
        // A line of progress may look like an answer, and says less.
        let answer = || self.last_text(&turn.answers, turn.chrome);
        let tool = || self.last_text(&turn.tools, Kinds::default());
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

    /// The last paragraph of these kinds but not of others, and the row where it ends. If nothing marks its first row, as in opencode, the
    /// rows right above belong to it; one that the screen's edge cuts off begins with an ellipsis.
    fn last_text(&self, kinds: &[Kind], but: Kinds) -> Option<(usize, String)> {
        let of_row = |y: usize| {
            let kind = kinds.iter().find(|&&kind| self.sight.is(y, kind) && !self.sight.is_any(y, but))?;
            Some(self.sight.group(y, *kind, "text").unwrap_or(self.sight.row(y)).trim())
        };
        let region = self.sight.region(Region::Turn);
        let last = region.clone().rev().find(|&y| of_row(y).is_some())?;
        let is_marked = |y: usize| of_row(y) != Some(self.sight.row(y).trim());
        let mut first = last;
        while !is_marked(first) && first > region.start && of_row(first - 1).is_some() {
            first -= 1;
        }
        let edge = if first == 0 && !is_marked(first) { "…" } else { "" };
        let text = (first..=last).filter_map(of_row).collect::<Vec<_>>().join(" ");
        Some((last, cut(&format!("{edge}{text}"), 200)))
    }

    fn family(&self, front: Front, working: bool) -> Option<Family> {
        match front {
            Front::Nothing | Front::Starting | Front::Opening => None,
            Front::Dialog(_) | Front::Menu => Some(Family::Waiting),
            _ if working => Some(Family::Working),
            _ if self.last_text(&self.sight.profile.turn.answers, Kinds::default()).is_some() => Some(Family::Answer),
            _ => Some(Family::Idle),
        }
    }

    fn evidence(&self) -> Arc<[Evidence]> {
        let mut evidence: Vec<Evidence> = Vec::new();
        if let Some(prompt) = &self.sight.prompt {
            let rule = if prompt.focused { "composer" } else { "composer-without-cursor" };
            evidence.push(self.evidence_on(rule, Some(prompt.row)));
        }
        for fired in self.fired.iter().filter(|fired| !matches!(fired.rule.gives, Signal::Facts | Signal::Surface)) {
            // The last row is the decisive one: the selected option, the status row, the end mark.
            evidence.push(self.evidence_on(&fired.rule.id, fired.rows.last().copied()));
        }
        evidence.into()
    }

    /// What rules for facts found; if several found the same fact, the first counts.
    fn facts(&self) -> Vec<(FactName, FactValue)> {
        let mut facts: Vec<(FactName, FactValue)> = Vec::new();
        for fired in self.fired.iter().filter(|fired| fired.rule.gives == Signal::Facts) {
            for (&kind, &y) in fired.rule.rows.iter().zip(&fired.rows) {
                for (name, text) in self.sight.groups(y, kind) {
                    let fact = match (name, FactName::of_word(name)) {
                        (_, Some(name)) => FactValue::read(name, text).map(|value| (name, value)),
                        // Rounded as the agent itself would round what is left.
                        ("context_full", _) => numbered(text).map(|full| {
                            let left = (100.0 - full.clamp(0.0, 100.0)).floor();
                            (FactName::ContextLeft, FactValue::Count(left as u64))
                        }),
                        _ => None,
                    };
                    facts.extend(fact.filter(|(name, _)| facts.iter().all(|(known, _)| known != name)));
                }
            }
        }
        facts.extend(self.prompt_fact().map(|prompt| (FactName::LastPrompt, prompt)));
        facts
    }

    /// The first row of the latest prompt, unless it is a command to the agent itself. After a full row, the screen does
    /// not show whether the next one belongs to the prompt.
    fn prompt_fact(&self) -> Option<FactValue> {
        /// Cells that a wrapped row may leave blank.
        const RAGGED: usize = 16;
        let (sight, screen) = (self.sight, self.sight.screen);
        let y = *sight.submitted.last().filter(|&&y| !sight.is_any(y, sight.profile.turn.commands))?;
        let text = bare(sight.submitted_text(y));
        let is_full = screen.row(y).is_some_and(|row| row.width() + RAGGED > usize::from(screen.columns()));
        let goes_on = is_full && !sight.is_blank(y + 1);
        FactValue::read(FactName::LastPrompt, &if goes_on { format!("{text}…") } else { text })
    }

    fn evidence_on(&self, rule: &str, line: Option<usize>) -> Evidence {
        let text = line.map_or(self.sight.facts.title.as_str(), |y| self.sight.row(y));
        Evidence { rule: rule.to_owned(), line, text: cut(text.trim(), 200) }
    }

    /// The version in the agent's banner. Two banners belong to two sessions, and one below a submitted prompt may be a
    /// quotation: neither counts.
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

/// The text, or its beginning with `…` at the end.
fn cut(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some(_) => text.chars().take(characters - 1).chain(['…']).collect(),
        None => text.to_owned(),
    }
}

/// The letters and digits of a text.
fn letters(text: &str) -> Arc<str> {
    text.chars().filter(|c| c.is_alphanumeric()).collect::<String>().into()
}

/// The time that a status row counts in its brackets, as in `(1m 12s • esc to interrupt)`.
fn counted(row: &str) -> Option<Span> {
    let parts = row.split('(').skip(1).filter_map(|rest| rest.split(')').next());
    parts.flat_map(|inside| inside.split(['·', '•', ','])).find_map(|part| counter(part.trim()))
}

/// Hours, minutes and seconds, and nothing else.
fn counter(text: &str) -> Option<Span> {
    let second = |word: &str| {
        let (number, unit) = word.split_at_checked(word.len().checked_sub(1)?)?;
        let seconds = match unit {
            "h" => 3600,
            "m" => 60,
            "s" => 1,
            _ => return None,
        };
        number.parse::<u64>().ok()?.checked_mul(seconds)
    };
    let seconds = text.split_whitespace().map(second).try_fold(0_u64, |sum, seconds| sum.checked_add(seconds?))?;
    (!text.is_empty()).then(|| Span::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_headline_says_that_it_was_cut() {
        assert_eq!((cut("four", 4).as_str(), cut("grün!", 4).as_str()), ("four", "grü…"));
    }

    #[test]
    fn what_a_status_row_counts_is_read() {
        for (row, seconds) in [
            ("• Working (1m 12s • esc to interrupt)", Some(72)),
            ("✻ Thinking… (8s · ↓ 1.2k tokens · esc to interrupt)", Some(8)),
            ("⠏ Reading (the file) (esc to cancel, 1h 0m 3s)", Some(3603)),
            ("~ Thinking (ms)", None),
            ("~ Thinking (12 tokens)", None),
            ("~ Thinking 12s", None),
            ("~ ()", None),
        ] {
            assert_eq!(counted(row), seconds.map(Span::from_secs), "{row}");
        }
    }
}
