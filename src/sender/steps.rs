//! The order in which a prompt is sent: check, check that nothing moves, paste, Enter, verify, perhaps Enter again.
//!
//! Pure: it takes what was seen and delivered and how long it has been, and says what to do next.

use std::sync::Arc;

use crate::hash::fast_of;
use crate::operation::{Obstacle, Outcome, Refusal, When};
use crate::profile::{Classification, Composed, Submitted};
use crate::screen::{PaneFacts, Row, Screen};
use crate::state::{AssessedAvailability, InputMode, Phase, Surface, Tri, UiContext};
use crate::status::Hindrance;
use crate::time::Span;

/// How long an agent may take to react to keys.
pub(super) const REACTION: Span = Span::from_secs(5);

/// How long the steps may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepLimits {
    /// Between the two polls that must agree before anything is sent: text that grows between them is an answer that
    /// is still being written.
    pub quiet: Span,
    /// The same once it has moved: an interrupted turn is drawn in several strokes, and a slow answer in more.
    pub quiet_again: Span,
    /// From the first poll until a terminal that still moves is refused.
    pub calm: Span,
    /// From the paste to Enter at least, as Enter right behind a text is taken for a part of it.
    pub enter_apart: Span,
    /// From the paste to Enter at most.
    pub enter_latest: Span,
    /// From Enter until a prompt that holds the text in another way gets another Enter.
    pub enter_again: Span,
    /// From the last Enter, or from an answer's keys, until nothing more is expected.
    pub reaction: Span,
    /// Between two polls while something is expected.
    pub poll: Span,
}

impl Default for StepLimits {
    fn default() -> Self {
        Self {
            quiet: Span::from_millis(250),
            quiet_again: Span::from_millis(800),
            calm: Span::from_secs(3),
            enter_apart: Span::from_millis(150),
            enter_latest: Span::from_millis(1500),
            enter_again: Span::from_millis(1000),
            reaction: REACTION,
            poll: Span::from_millis(80),
        }
    }
}

/// The relevant part of one capture of the terminal.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PromptFrame {
    /// A hash of the screen and the cursor.
    screen: u64,
    dead: bool,
    /// Whether a dialog waits for the operator.
    dialog: bool,
    /// What a profile made of it; `None` without one.
    read: Option<ReadFrame>,
    /// What stands in the prompt, and hashes of how that looks, without and with all that is drawn below it.
    composed: Option<Composed>,
    drawn: u64,
    composer: u64,
    /// The last prompt above it.
    submitted: Option<Submitted>,
}

/// A profile's reading of one poll.
#[derive(Clone, Debug, PartialEq)]
struct ReadFrame {
    supported: bool,
    phase: Phase,
    working: bool,
    modal: bool,
    context: UiContext,
    surface: Surface,
    prompt: (Option<u64>, usize),
    turn: Arc<str>,
    /// Hashes of the rows of the latest turn, with their styles.
    edge: Arc<[u64]>,
}

impl PromptFrame {
    pub(super) fn new(screen: &Screen, facts: &PaneFacts, reading: Option<&Classification>) -> Self {
        let hash = |rows: &[Row]| fast_of(&(rows, facts.cursor));
        let place = reading.and_then(|reading| reading.composer.clone()).unwrap_or_default();
        let composer = screen.rows().get(place.start..).filter(|_| !place.is_empty());
        // What is printed above it moves it, and the cursor with it.
        let caret = facts
            .cursor
            .visible
            .then(|| (facts.cursor.column, usize::from(facts.cursor.row).wrapping_sub(place.start)));
        let dialog = reading.is_some_and(|reading| reading.in_dialog);
        let read = reading.map(|reading| ReadFrame {
            supported: reading.assessment.availability == AssessedAvailability::Supported,
            phase: reading.phase,
            working: reading.activity.is_some(),
            modal: reading.assessment.input_mode == InputMode::Modal,
            context: reading.assessment.ui_context,
            surface: reading.surface,
            prompt: (reading.turn.prompt, reading.turn.prompts),
            turn: Arc::clone(&reading.turn.text),
            edge: Arc::clone(&reading.edge),
        });
        Self {
            screen: hash(screen.rows()),
            dead: facts.dead,
            dialog,
            read,
            composed: reading.and_then(|reading| reading.composed.clone()),
            drawn: fast_of(&(screen.rows().get(place), caret)),
            composer: hash(composer.unwrap_or_default()),
            submitted: reading.and_then(|reading| reading.submitted_rows.clone()),
        }
    }

    fn editing(&self) -> Tri {
        self.read.as_ref().map_or(Tri::Unknown, |read| read.surface.editing_input)
    }

    fn pending(&self) -> Tri {
        self.read.as_ref().map_or(Tri::Unknown, |read| read.surface.pending_input)
    }

    /// Why nothing must be sent now.
    fn check(&self, when: When) -> Result<(), Refusal> {
        if self.dead {
            return Err(Refusal::Obstacle(Obstacle::Dead));
        }
        let hindrance = match self.read.as_ref().filter(|read| read.supported) {
            Some(read) => Hindrance::at_prompt(self.dialog, read.modal, read.context, read.phase, &read.surface),
            None if self.dialog => Some(Hindrance::Dialog),
            None if self.read.is_none() => Some(Hindrance::NoProfile),
            None => Some(Hindrance::NotReady),
        };
        match hindrance {
            Some(hindrance) if !(when == When::Anyway && hindrance.may_insist()) => Err(hindrance.into()),
            _ => Ok(()),
        }
    }

    /// Whether what was said differs, so that something moves.
    fn differs_from(&self, earlier: &PromptFrame) -> bool {
        let differs = |(then, now): (&ReadFrame, &ReadFrame)| {
            let drawn = now.edge.iter().any(|row| !then.edge.contains(row));
            drawn || then.turn != now.turn || then.prompt != now.prompt
        };
        earlier.read.as_ref().zip(self.read.as_ref()).is_some_and(differs)
    }

    /// Whether the terminal shows that it has taken what was submitted after `before`.
    fn reacts_to(&self, before: &PromptFrame) -> bool {
        match (&before.read, &self.read) {
            (Some(before), Some(now)) => {
                (now.working && !before.working)
                    || (now.phase == Phase::Active && before.phase != Phase::Active)
                    || (now.surface.pending_input == Tri::Yes && before.surface.pending_input != Tri::Yes)
                    || (now.modal && !before.modal)
                    || now.prompt != before.prompt
                    || now.turn != before.turn
            }
            _ => self.screen != before.screen,
        }
    }
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Look again after a time.
    Poll { after: Span },
    /// One part of the text, by its place from 0.
    Paste { part: usize },
    /// Press Enter.
    PressEnter,
    /// Nothing more is to be done.
    End(Outcome),
}

/// How far a prompt has come.
#[derive(Debug)]
pub(super) struct Steps<'a> {
    prompt: Prompt<'a>,
    when: When,
    limits: StepLimits,
    stage: PromptStage,
}

/// What is sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prompt<'a> {
    pub text: &'a str,
    /// How many parts of it are pasted, one after the other.
    pub parts: usize,
    /// Whether the agent hands its model a paste that it does not show as an attachment.
    pub attaches: bool,
    /// Whether it asks the agent to end.
    pub ends: bool,
}

#[derive(Debug)]
enum PromptStage {
    /// It is waited until nothing moves.
    Calming(Calming),
    /// The next part is to be pasted.
    ToPaste(Box<Pasting>),
    /// A part was pasted, and is to be seen.
    Pasted(Box<Pasting>),
    /// `from` is since when it is to be pressed: since the paste, or since the first Enter.
    ToEnter { entry: Box<BeforeEnter>, from: Span },
    /// Enter was pressed, at this time the last one.
    Entered { entry: Box<BeforeEnter>, at: Span },
}

/// A text on its way into the prompt.
#[derive(Debug)]
struct Pasting {
    /// The terminal before the first part.
    before: PromptFrame,
    /// So many parts are in.
    parts: usize,
    /// Since when the next step is due: since the beginning, or since the last paste.
    at: Span,
    /// The screen before the last paste.
    shown: u64,
    /// The screen at the last poll since.
    last: Option<u64>,
}

/// What was seen while it is waited for that nothing moves.
#[derive(Debug, Default)]
struct Calming {
    /// The first poll, once there was one.
    began: Option<Span>,
    /// What has stood still, and since when.
    still: Option<(Box<PromptFrame>, Span)>,
    moved: bool,
    /// Whether the last poll refused for a reason that may be over at the next one.
    refused: bool,
}

/// The terminal right before Enter was pressed.
#[derive(Debug)]
struct BeforeEnter {
    /// Before the paste.
    before: PromptFrame,
    /// With the text in the prompt.
    pasted: PromptFrame,
    presses: u32,
}

impl<'a> Steps<'a> {
    pub(super) fn new(prompt: Prompt<'a>, when: When, limits: StepLimits) -> Self {
        Self { prompt, when, limits, stage: PromptStage::Calming(Calming::default()) }
    }

    /// Handles a capture of the terminal, `now` after the beginning.
    pub(super) fn saw(&mut self, seen: PromptFrame, now: Span) -> Step {
        match std::mem::replace(&mut self.stage, PromptStage::Calming(Calming::default())) {
            PromptStage::Calming(calming) => self.calming(calming, seen, now),
            PromptStage::Pasted(pasting) => self.pasted(pasting, seen, now),
            PromptStage::Entered { entry, at } => self.entered(entry, at, &seen, now),
            // No capture was asked for; what is to be delivered is still to be delivered.
            PromptStage::ToPaste(pasting) => {
                let part = pasting.parts;
                self.stage = PromptStage::ToPaste(pasting);
                Step::Paste { part }
            }
            stage @ PromptStage::ToEnter { .. } => {
                self.stage = stage;
                Step::PressEnter
            }
        }
    }

    /// Notes that tmux has delivered the text or keys.
    pub(super) fn delivered(&mut self, now: Span) -> Step {
        self.stage = match std::mem::replace(&mut self.stage, PromptStage::Calming(Calming::default())) {
            PromptStage::ToPaste(pasting) => {
                PromptStage::Pasted(Box::new(Pasting { parts: pasting.parts + 1, at: now, last: None, ..*pasting }))
            }
            PromptStage::ToEnter { entry, .. } => PromptStage::Entered { entry, at: now },
            stage => stage,
        };
        Step::Poll { after: self.limits.poll }
    }

    /// Takes in that nothing was delivered, as the terminal had changed: it is captured again. That it
    /// never stands still is reported like any other obstacle.
    pub(super) fn undelivered(&mut self, now: Span) -> Step {
        let changed = || Refusal::Obstacle(Obstacle::Changed);
        let is_over = |since: Span, limit: Span| now.less(since) >= limit;
        match std::mem::replace(&mut self.stage, PromptStage::Calming(Calming::default())) {
            PromptStage::ToPaste(pasting) if pasting.parts == 0 && !is_over(pasting.at, self.limits.calm) => {
                let began = Some(pasting.at);
                self.stage = PromptStage::Calming(Calming { began, moved: true, ..Calming::default() });
            }
            PromptStage::ToPaste(pasting) if pasting.parts > 0 && !is_over(pasting.at, self.limits.reaction) => {
                self.stage = PromptStage::Pasted(pasting);
            }
            PromptStage::ToEnter { entry, from } if !is_over(from, self.limits.reaction) => {
                self.stage = match entry.presses {
                    1 => {
                        let (parts, shown) = (self.prompt.parts, entry.before.screen);
                        let before = entry.before;
                        PromptStage::Pasted(Box::new(Pasting { before, parts, at: from, shown, last: None }))
                    }
                    _ => PromptStage::Entered { entry, at: from },
                };
            }
            stage => {
                self.stage = stage;
                return Step::End(self.stopped(changed()));
            }
        }
        Step::Poll { after: self.limits.poll }
    }

    /// The outcome when a poll or a delivery fails.
    pub(super) fn stopped(&self, refusal: Refusal) -> Outcome {
        let unheard = matches!(&refusal, Refusal::Tmux { is_no_server: false, .. });
        let gone = matches!(&refusal, Refusal::Obstacle(Obstacle::Gone));
        if let Refusal::AgentGone { command, .. } | Refusal::NoAgent { command } = &refusal
            && let Some(why) = self.usurped(command)
        {
            return why;
        }
        match &self.stage {
            // tmux may have done it and not been able to say so.
            PromptStage::ToPaste(_) if unheard => {
                unverified(format!("it is not known whether the text arrived: {refusal}"))
            }
            PromptStage::Calming(_) => refusal.into(),
            PromptStage::ToPaste(pasting) if pasting.parts == 0 => refusal.into(),
            PromptStage::ToPaste(_) => {
                not_taken(format!("only a part of the text was pasted, and Enter was not pressed: {refusal}"))
            }
            PromptStage::ToEnter { entry, .. } if entry.presses == 1 && !unheard => {
                not_taken(format!("the text was pasted, but Enter was not pressed: {refusal}"))
            }
            PromptStage::ToEnter { .. } => unverified(format!("it is not known whether Enter was pressed: {refusal}")),
            PromptStage::Pasted(_) => not_taken(format!("the text was pasted, but Enter was not pressed: {refusal}")),
            PromptStage::Entered { .. } if gone && self.prompt.ends => Outcome::Accepted(None),
            PromptStage::Entered { .. } => unverified(format!("Enter was pressed, but then: {refusal}")),
        }
    }

    /// Waits until two polls agree. What a polite prompt is refused for must be seen twice: right after an interruption
    /// a last stroke of work may still be on the screen.
    fn calming(&mut self, mut calming: Calming, seen: PromptFrame, now: Span) -> Step {
        let began = *calming.began.get_or_insert(now);
        let passed = |since: Span| now.less(since);
        let polite = self.when != When::Anyway;
        if let Err(refusal) = seen.check(self.when) {
            let may_pass = matches!(refusal, Refusal::Hindrance(Hindrance::Working | Hindrance::NotReady));
            if !may_pass || calming.refused || passed(began) >= self.limits.calm {
                return Step::End(refusal.into());
            }
            self.stage = PromptStage::Calming(Calming { refused: true, moved: true, still: None, ..calming });
            return Step::Poll { after: self.limits.quiet };
        }
        calming.refused = false;
        let quiet = if calming.moved { self.limits.quiet_again } else { self.limits.quiet };
        match calming.still.take() {
            Some((still, _)) if polite && seen.differs_from(&still) => {
                if passed(began) >= self.limits.calm {
                    return Step::End(Refusal::from(Hindrance::Working).into());
                }
                (calming.moved, calming.still) = (true, Some((Box::new(seen), now)));
            }
            Some((_, since)) if passed(since) >= quiet => {
                let shown = seen.screen;
                let pasting = Pasting { before: seen, parts: 0, at: began, shown, last: None };
                self.stage = PromptStage::ToPaste(Box::new(pasting));
                return Step::Paste { part: 0 };
            }
            Some((still, since)) => calming.still = Some((still, since)),
            None => calming.still = Some((Box::new(seen), now)),
        }
        self.stage = PromptStage::Calming(calming);
        Step::Poll { after: self.limits.quiet }
    }

    fn pasted(&mut self, mut pasting: Box<Pasting>, seen: PromptFrame, now: Span) -> Step {
        if let Some(end) = stop_before_enter(&seen) {
            return Step::End(end);
        }
        let waited = now.less(pasting.at);
        let settled = seen.editing() == Tri::Yes || pasting.last == Some(seen.screen);
        let drawn = seen.screen != pasting.shown && settled;
        let is_last = pasting.parts == self.prompt.parts;
        let early = is_last && waited < self.limits.enter_apart;
        let late = waited >= self.limits.enter_latest;
        // Who sends behind a draft wants both.
        let foreign = pasting.before.editing() != Tri::Yes && seen.holds_something_else_than(self.prompt.text);
        if late && foreign {
            let why =
                "somebody types there: the prompt holds more than the text that was pasted; Enter was not pressed";
            return Step::End(not_taken(why));
        }
        if !foreign && (late || (drawn && !early)) {
            if !is_last {
                let part = pasting.parts;
                pasting.shown = seen.screen;
                self.stage = PromptStage::ToPaste(pasting);
                return Step::Paste { part };
            }
            let entry = Box::new(BeforeEnter { before: pasting.before, pasted: seen, presses: 1 });
            self.stage = PromptStage::ToEnter { entry, from: pasting.at };
            return Step::PressEnter;
        }
        pasting.last = Some(seen.screen);
        self.stage = PromptStage::Pasted(pasting);
        Step::Poll { after: self.limits.poll }
    }

    fn entered(&mut self, mut entry: Box<BeforeEnter>, at: Span, seen: &PromptFrame, now: Span) -> Step {
        // It may have ended before it read Enter.
        if seen.dead && !self.prompt.ends {
            return Step::End(unverified("Enter was pressed, and the agent has ended"));
        }
        if seen.dead || seen.dialog {
            return Step::End(self.accepted(&entry));
        }
        // What somebody has begun since then is not the text, and must not be submitted by another Enter.
        let alone = entry.before.editing() != Tri::Yes;
        let held = seen.editing() == Tri::Yes && !(alone && seen.holds_something_else_than(self.prompt.text));
        let left = entry.pasted.editing() == Tri::Yes && seen.editing() == Tri::No;
        let reacted = match seen.read {
            Some(_) => seen.reacts_to(&entry.before),
            None => seen.screen != entry.pasted.screen,
        };
        // An agent whose session is not up yet may keep what it has taken in its prompt.
        let queued = seen.pending() == Tri::Yes && entry.before.pending() != Tri::Yes;
        if queued || (!held && (left || reacted)) {
            // Keys that the agent had not drawn yet could not be seen before Enter.
            let foreign = alone && seen.has_submitted_more_than(self.prompt.text, &entry.before);
            return Step::End(match foreign {
                true => {
                    unverified("somebody typed there at the same moment, and that was submitted along with the text")
                }
                false => self.accepted(&entry),
            });
        }
        let waited = now.less(at);
        // One that has not read the key yet may have opened a dialog by the time it reads another one.
        if held && entry.presses == 1 && waited >= self.limits.enter_again && seen.is_drawn_anew(&entry.pasted) {
            entry.presses = 2;
            self.stage = PromptStage::ToEnter { entry, from: at };
            return Step::PressEnter;
        }
        if waited >= self.limits.reaction {
            let seconds = self.limits.reaction.as_secs();
            // The key did something else there; an agent that shows nothing may still be about to take it.
            return Step::End(match held {
                true if seen.composer != entry.pasted.composer => not_taken("the text is still in the prompt"),
                true => unverified(format!("the text was still in the prompt after {seconds} s")),
                false => unverified(format!("the screen did not react within {seconds} s")),
            });
        }
        self.stage = PromptStage::Entered { entry, at };
        Step::Poll { after: self.limits.poll }
    }

    /// Accepted, and how the model gets it if not as the prompt.
    fn accepted(&self, entry: &BeforeEnter) -> Outcome {
        let is_attached = self.prompt.attaches && entry.pasted.holds_a_paste_of(self.prompt.text);
        Outcome::Accepted(is_attached.then(|| "handed to the model as an attachment".to_owned()))
    }

    /// The outcome when another program has replaced the agent since the paste.
    fn usurped(&self, command: &str) -> Option<Outcome> {
        let why = format!("the agent has ended, and {command}, which runs there now, may have got the text and run it");
        match &self.stage {
            PromptStage::Calming(_) => None,
            PromptStage::ToPaste(pasting) if pasting.parts == 0 => None,
            PromptStage::Entered { .. } if self.prompt.ends => Some(Outcome::Accepted(None)),
            PromptStage::Entered { .. } => Some(unverified(why)),
            PromptStage::ToPaste(_) | PromptStage::Pasted(_) | PromptStage::ToEnter { .. } => {
                Some(unverified(format!("{why}; Enter was not pressed")))
            }
        }
    }
}

impl PromptFrame {
    /// Whether more than the text can be seen in the prompt, or something else.
    fn holds_something_else_than(&self, text: &str) -> bool {
        self.composed.as_ref().is_some_and(|composed| !composed.is_part_of(text))
    }

    /// Whether the agent shows a paste of the text by its size alone.
    fn holds_a_paste_of(&self, text: &str) -> bool {
        self.composed.as_ref().is_some_and(|composed| composed.pastes() > Composed::of(text).pastes())
    }

    /// Whether the same text stands in the prompt in another way, as where a completion was put in or its list closed.
    fn is_drawn_anew(&self, before: &PromptFrame) -> bool {
        let is_held = before.editing() == Tri::Yes && self.composed == before.composed;
        is_held && self.drawn != before.drawn
    }

    /// Whether a prompt that was not there before shows the text and something else.
    fn has_submitted_more_than(&self, text: &str, before: &PromptFrame) -> bool {
        let was = before.submitted.as_ref().map(Submitted::first);
        let new = self.submitted.as_ref().filter(|submitted| was != Some(submitted.first()));
        new.is_some_and(|submitted| submitted.is_more_than(text))
    }
}

/// Between the paste and Enter a dialog may come up, which Enter would answer, or the agent may end.
fn stop_before_enter(seen: &PromptFrame) -> Option<Outcome> {
    let why = match (seen.dialog, seen.dead) {
        (true, _) => "a dialog came up; Enter was not pressed",
        (_, true) => "the agent has ended; Enter was not pressed",
        _ => return None,
    };
    Some(not_taken(why))
}

pub(super) fn not_taken(why: impl Into<String>) -> Outcome {
    Outcome::NotTaken { why: why.into() }
}

pub(super) fn unverified(why: impl Into<String>) -> Outcome {
    Outcome::Unverified { why: why.into() }
}

#[cfg(test)]
mod tests;
