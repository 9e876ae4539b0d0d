//! The order in which a dialog is answered: check that it is still the one that the operator saw, press, see what the
//! key did, perhaps press on, and see it go.
//!
//! Pure: it is told what was seen and pressed and how long it has been, and says what to do next. A mark is moved by one
//! row at a time, and Enter is pressed only when it stands on the option that was meant.

use unicode_normalization::UnicodeNormalization;

use super::steps::{StepLimits, not_taken, unverified};
use crate::dialog::{Dialog, Manner, Press, Verdict};
use crate::operation::{Key, Obstacle, Outcome, PasteText, Refusal, Reply};
use crate::time::Span;

/// Why an answer was not taken where the agent's cursor did not follow the keys.
const ASTRAY: &str = "the agent's cursor is not where it was moved to";
/// How many times the time for one reaction an answer may take.
const LONGEST: u64 = 6;

/// What the terminal shows once a dialog was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    Working,
    Ready,
    Background,
    AnotherDialog,
    Gone,
    Unknown,
}

/// The outcome of an answer that was taken.
fn accepted(after: After) -> Outcome {
    let shown = match after {
        After::Working => Some("working again"),
        // Not which state that is: a refusal may have interrupted its turn.
        After::Ready => Some("ready for a prompt"),
        // The turn may be among it: one that waits for sub-agents goes on when they are done.
        After::Background => Some("and work goes on in the background"),
        After::AnotherDialog => Some("another dialog"),
        After::Gone => Some("the agent has ended"),
        After::Unknown => None,
    };
    Outcome::Accepted(shown.map(str::to_owned))
}

/// The relevant part of one capture of the terminal.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DialogFrame {
    pub dialog: Option<Dialog>,
    /// What it shows beside.
    pub after: After,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AnswerStep {
    Poll { after: Span },
    Press(Vec<Key>),
    Paste(PasteText),
    End(Outcome),
}

/// How far an answer has come.
#[derive(Debug)]
pub(super) struct Answering<'a> {
    seen: &'a Dialog,
    reply: &'a Reply,
    limits: StepLimits,
    stage: AnswerStage,
    /// The stage before, which counts again when what was to be pressed was not.
    previous: AnswerStage,
    /// The review of what was handed in, once it is the dialog that is answered.
    review: Option<Dialog>,
    /// Whether tmux has delivered anything.
    pressed: bool,
    /// Since when the stage is on.
    since: Span,
}

#[derive(Clone, Debug, PartialEq)]
enum AnswerStage {
    /// Nothing has been pressed.
    First,
    /// The mark is on its way to an option, one step at a time.
    Moving { to: usize, at: usize },
    /// Options are ticked one by one; the last key was meant for this one.
    Ticking { pressed: Option<usize> },
    /// The mark is on its way to the row that hands in, so far away from it.
    HandingIn { distance: usize },
    /// The mark is on its way to the row that a text is typed in.
    ToText { at: usize },
    /// The key was pressed that opens the line for a note.
    Opening,
    /// The text was pasted there.
    Typed,
    /// The last key is pressed, unless the dialog shows that it wants Enter.
    Closing { enter: Option<Enter>, was_taken: bool },
    /// The dialog is gone; what comes after it is still to be seen.
    Gone { enter: Option<Enter>, was_taken: bool },
}

/// What shows that Enter is wanted.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Enter {
    /// The letter stands behind the question.
    Typed(char),
    /// The number has only moved the mark, which stands there since.
    Marked { option: usize, since: Option<Span> },
}

impl<'a> Answering<'a> {
    pub(super) fn new(seen: &'a Dialog, reply: &'a Reply, limits: StepLimits) -> Self {
        Self {
            seen,
            reply,
            limits,
            stage: AnswerStage::First,
            previous: AnswerStage::First,
            review: None,
            pressed: false,
            since: Span::ZERO,
        }
    }

    /// Handles a capture of the terminal, `now` after the beginning.
    pub(super) fn saw(&mut self, poll: &DialogFrame, now: Span) -> AnswerStep {
        if now.as_millis() >= self.limits.reaction.as_millis().saturating_mul(LONGEST) {
            if self.stage == AnswerStage::First {
                return AnswerStep::End(Refusal::Obstacle(Obstacle::Changed).into());
            }
            return AnswerStep::End(unverified("the dialog comes and goes"));
        }
        let same = poll.dialog.as_ref().filter(|dialog| self.is_same(dialog));
        match self.stage.clone() {
            AnswerStage::First => match (&poll.dialog, same) {
                (None, _) => AnswerStep::End(Refusal::NoDialog.into()),
                (Some(_), None) => AnswerStep::End(Refusal::AnotherDialog.into()),
                (Some(_), Some(dialog)) if !dialog.typed.is_empty() || dialog.note.is_some() => {
                    AnswerStep::End(Refusal::Begun.into())
                }
                (Some(_), Some(dialog)) => self.begin(dialog, now),
            },
            AnswerStage::Moving { to, at } => self.moving(same, to, at, now),
            AnswerStage::Ticking { pressed } => self.ticking(same, pressed, now),
            AnswerStage::HandingIn { distance } => self.handing_in(same, distance, now),
            AnswerStage::ToText { at } => self.reach_text(same, at, now),
            AnswerStage::Opening => self.opening(same, now),
            AnswerStage::Typed => self.typed(same, now),
            AnswerStage::Closing { enter, was_taken } => match same {
                Some(dialog) => self.closing(dialog, enter, was_taken, now),
                None => {
                    self.go(AnswerStage::Gone { enter, was_taken }, now);
                    self.poll()
                }
            },
            // A screen that is only half drawn shows no dialog either.
            AnswerStage::Gone { was_taken, .. } if same.is_some() => {
                // It may as well be the next one that asks the same: no second key for it.
                self.go(AnswerStage::Closing { enter: None, was_taken }, now);
                self.poll()
            }
            AnswerStage::Gone { .. } => {
                if let Some(review) = poll.dialog.as_ref().filter(|dialog| self.reviews(dialog)) {
                    self.review = Some(review.clone());
                    self.go(AnswerStage::Closing { enter: None, was_taken: review.taken }, now);
                    return AnswerStep::Press(vec![Key::enter()]);
                }
                let late = self.waited(now) >= self.limits.enter_again;
                match poll.after {
                    After::Unknown if !late => self.poll(),
                    after => AnswerStep::End(accepted(after)),
                }
            }
        }
    }

    /// Notes that tmux has delivered the keys.
    pub(super) fn delivered(&mut self, now: Span) -> AnswerStep {
        (self.pressed, self.since) = (true, now);
        self.poll()
    }

    /// Notes that nothing was pressed because the terminal had changed; it is captured again.
    pub(super) fn undelivered(&mut self) -> AnswerStep {
        self.stage = self.previous.clone();
        if matches!(self.stage, AnswerStage::Gone { .. }) {
            self.review = None;
        }
        self.poll()
    }

    /// The outcome when a poll or a delivery fails.
    pub(super) fn stopped(&self, refusal: Refusal) -> Outcome {
        let gone = matches!(refusal, Refusal::Obstacle(Obstacle::Gone) | Refusal::AgentGone { .. });
        let unheard = matches!(&refusal, Refusal::Tmux { is_no_server: false, .. });
        match self.stage {
            // tmux may have done it and not been able to say so.
            AnswerStage::First => refusal.into(),
            _ if !self.pressed && !unheard => refusal.into(),
            // The keys were on their way; an agent or a pane that is gone because of them has taken them.
            AnswerStage::Closing { .. } | AnswerStage::Gone { .. } if gone => accepted(After::Gone),
            AnswerStage::Moving { .. } if !unheard => not_taken(format!("Enter was not pressed: {refusal}")),
            _ => unverified(format!("a key was pressed, but then: {refusal}")),
        }
    }

    fn begin(&mut self, dialog: &Dialog, now: Span) -> AnswerStep {
        let was_taken = dialog.taken;
        let option = match self.reply {
            Reply::Keys(keys) => {
                self.go(AnswerStage::Closing { enter: None, was_taken }, now);
                return AnswerStep::Press(keys.clone());
            }
            Reply::Ticks(_) => {
                self.go(AnswerStage::Ticking { pressed: None }, now);
                return self.ticking(Some(dialog), None, now);
            }
            Reply::Text { option, .. } => return self.begin_text(dialog, *option, now),
            Reply::Option(option) => *option,
        };
        let presses = dialog.presses(option);
        let (stage, press) = match (presses.first(), dialog.manner, dialog.marked) {
            (Some(&press @ Press::Character(letter)), Manner::Letters, _) => {
                (AnswerStage::Closing { enter: Some(Enter::Typed(letter)), was_taken }, press)
            }
            (Some(&press @ Press::Character(_)), ..) => {
                // A mark that is already there does not show what the key did.
                let elsewhere = dialog.marked.is_some_and(|marked| marked != option);
                let enter = elsewhere.then_some(Enter::Marked { option, since: None });
                (AnswerStage::Closing { enter, was_taken }, press)
            }
            (Some(&press @ (Press::Enter | Press::Escape)), ..) => {
                (AnswerStage::Closing { enter: None, was_taken }, press)
            }
            (Some(&press), _, Some(marked)) => (AnswerStage::Moving { to: option, at: towards(marked, option) }, press),
            _ => return AnswerStep::End(Refusal::NoSuchOption.into()),
        };
        self.go(stage, now);
        AnswerStep::Press(vec![press.into()])
    }

    /// Whether a dialog is the one that is answered, as far as the answer itself has not changed it.
    fn is_same(&self, dialog: &Dialog) -> bool {
        match (&self.review, self.reply) {
            (Some(review), _) => dialog.is_same(review),
            (None, Reply::Text { option, .. }) => dialog.is_same_but_for(self.seen, Some(*option)),
            _ => dialog.is_same(self.seen),
        }
    }

    /// Whether a dialog asks to confirm exactly what was ticked, with the confirmation marked, or what to do instead of
    /// what was refused.
    fn reviews(&self, dialog: &Dialog) -> bool {
        let options = match (self.reply, &self.review) {
            (Reply::Ticks(options), None) => options,
            (Reply::Option(option), None) => {
                let chosen = self.seen.options.get(*option);
                return dialog.asks_instead && chosen.is_some_and(|chosen| chosen.verdict == Some(Verdict::No));
            }
            _ => return false,
        };
        let said = dialog.text.join(" ");
        let marked = dialog.marked.and_then(|marked| dialog.options.get(marked));
        marked.is_some_and(|option| option.label.to_lowercase().starts_with("submit"))
            && options.iter().all(|option| said.contains(&self.seen.options[*option].label))
    }

    fn moving(&mut self, dialog: Option<&Dialog>, to: usize, at: usize, now: Span) -> AnswerStep {
        match dialog {
            Some(dialog) if dialog.marked == Some(at) && at == to => {
                self.go(AnswerStage::Closing { enter: None, was_taken: dialog.taken }, now);
                AnswerStep::Press(vec![Key::enter()])
            }
            Some(dialog) if dialog.marked == Some(at) => match dialog.presses(to).first() {
                Some(&press) => {
                    self.go(AnswerStage::Moving { to, at: towards(at, to) }, now);
                    AnswerStep::Press(vec![press.into()])
                }
                None => AnswerStep::End(not_taken("the options changed; Enter was not pressed")),
            },
            _ if self.waited(now) < self.limits.reaction => self.poll(),
            Some(_) => AnswerStep::End(not_taken(format!("{ASTRAY}; Enter was not pressed"))),
            None => AnswerStep::End(not_taken("the dialog changed; Enter was not pressed")),
        }
    }

    fn closing(&mut self, dialog: &Dialog, enter: Option<Enter>, was_taken: bool, now: Span) -> AnswerStep {
        if dialog.taken && !was_taken {
            return AnswerStep::End(accepted(After::Unknown));
        }
        let wanted = match enter {
            Some(Enter::Typed(letter)) => dialog.typed.eq_ignore_ascii_case(&letter.to_string()),
            Some(Enter::Marked { option, since }) if dialog.marked == Some(option) => {
                let since = since.unwrap_or(now);
                self.stage =
                    AnswerStage::Closing { enter: Some(Enter::Marked { option, since: Some(since) }), was_taken };
                now.less(since) >= self.limits.enter_again
            }
            _ => false,
        };
        if wanted {
            self.go(AnswerStage::Closing { enter: None, was_taken }, now);
            return AnswerStep::Press(vec![Key::enter()]);
        }
        if self.waited(now) >= self.limits.reaction {
            let seconds = self.limits.reaction.as_secs();
            return AnswerStep::End(unverified(format!("the dialog was still there after {seconds} s")));
        }
        self.poll()
    }

    fn go(&mut self, stage: AnswerStage, now: Span) {
        self.previous = std::mem::replace(&mut self.stage, stage);
        self.since = now;
    }

    fn poll(&self) -> AnswerStep {
        AnswerStep::Poll { after: self.limits.poll }
    }

    fn waited(&self, now: Span) -> Span {
        now.less(self.since)
    }

    // Answers of more than one choice: options that are ticked and handed in together, and texts that are typed in an option's
    // row. Enter is pressed only when what stands there is what was meant.

    fn ticking(&mut self, dialog: Option<&Dialog>, pressed: Option<usize>, now: Span) -> AnswerStep {
        let Reply::Ticks(options) = self.reply else { return self.poll() };
        let late = self.waited(now) >= self.limits.reaction;
        match dialog.map(|dialog| (dialog, dialog.first_wrong(options))) {
            Some((dialog, None)) => self.go_to_submit(dialog, now),
            // What was pressed for it is still to be seen.
            Some((_, Some(wrong))) if pressed == Some(wrong) && !late => self.poll(),
            Some((dialog, Some(wrong))) if pressed != Some(wrong) => match dialog.presses(wrong).first() {
                Some(&press) => {
                    self.go(AnswerStage::Ticking { pressed: Some(wrong) }, now);
                    AnswerStep::Press(vec![press.into()])
                }
                None => AnswerStep::End(Refusal::NoSuchOption.into()),
            },
            Some(_) => AnswerStep::End(not_taken("an option cannot be ticked; nothing was submitted")),
            None if !late => self.poll(),
            None => AnswerStep::End(not_taken("the dialog changed; nothing was submitted")),
        }
    }

    /// The right options are ticked: on to the row that submits them.
    fn go_to_submit(&mut self, dialog: &Dialog, now: Span) -> AnswerStep {
        let distance = dialog.distance_to_submit();
        if distance > 0 {
            self.go(AnswerStage::HandingIn { distance }, now);
            return AnswerStep::Press(vec![dialog.way_to_submit().into()]);
        }
        if dialog.submit.is_some_and(|submit| !submit.marked) {
            return AnswerStep::End(not_taken("the agent's cursor cannot be seen; nothing was submitted"));
        }
        self.go(AnswerStage::Closing { enter: None, was_taken: dialog.taken }, now);
        AnswerStep::Press(vec![Key::enter()])
    }

    fn handing_in(&mut self, dialog: Option<&Dialog>, distance: usize, now: Span) -> AnswerStep {
        let Reply::Ticks(options) = self.reply else { return self.poll() };
        match dialog {
            Some(dialog) if dialog.first_wrong(options).is_some() => {
                AnswerStep::End(not_taken("what is ticked has changed; nothing was submitted"))
            }
            Some(dialog) if dialog.distance_to_submit() < distance => self.go_to_submit(dialog, now),
            _ if self.waited(now) < self.limits.reaction => self.poll(),
            _ => AnswerStep::End(not_taken(
                "the agent's cursor does not reach the row that submits; Enter was not pressed",
            )),
        }
    }

    fn begin_text(&mut self, dialog: &Dialog, option: usize, now: Span) -> AnswerStep {
        match dialog.marked.filter(|_| dialog.takes_text(option)) {
            Some(marked) => {
                self.go(AnswerStage::ToText { at: marked }, now);
                self.reach_text(Some(dialog), marked, now)
            }
            None => AnswerStep::End(Refusal::NoSuchOption.into()),
        }
    }

    fn reach_text(&mut self, dialog: Option<&Dialog>, at: usize, now: Span) -> AnswerStep {
        let Reply::Text { option, text } = self.reply else { return self.poll() };
        match dialog.and_then(|dialog| dialog.marked) {
            Some(marked) if marked == at && at == *option => match self.seen.note_key(at) {
                Some(key) => {
                    self.go(AnswerStage::Opening, now);
                    AnswerStep::Press(vec![key.into()])
                }
                None => {
                    self.go(AnswerStage::Typed, now);
                    AnswerStep::Paste(text.clone())
                }
            },
            Some(marked) if marked == at => {
                let press = if *option < at { Press::Up } else { Press::Down };
                self.go(AnswerStage::ToText { at: towards(at, *option) }, now);
                AnswerStep::Press(vec![press.into()])
            }
            _ if self.waited(now) < self.limits.reaction => self.poll(),
            _ => AnswerStep::End(not_taken(format!("{ASTRAY}; nothing was typed"))),
        }
    }

    /// Types the text once the line for it is open and empty.
    fn opening(&mut self, dialog: Option<&Dialog>, now: Span) -> AnswerStep {
        let Reply::Text { option, text } = self.reply else { return self.poll() };
        match dialog.and_then(|dialog| Some((dialog.marked, dialog.note.as_deref()?))) {
            Some((marked, "")) if marked == Some(*option) => {
                self.go(AnswerStage::Typed, now);
                AnswerStep::Paste(text.clone())
            }
            None if self.waited(now) < self.limits.reaction => self.poll(),
            None => AnswerStep::End(not_taken("the agent opened no line for the text; nothing was typed")),
            Some(_) => AnswerStep::End(not_taken("somebody types there; nothing was typed from here")),
        }
    }

    /// Presses Enter once the whole text stands where it was typed.
    fn typed(&mut self, dialog: Option<&Dialog>, now: Span) -> AnswerStep {
        let Reply::Text { option, text } = self.reply else { return self.poll() };
        let solid = |text: &str| text.split_whitespace().flat_map(|word| word.nfc()).collect::<String>();
        let stands = |dialog: &Dialog| {
            let row = || dialog.options.get(*option).map(|option| option.text.concat());
            let shown = if self.seen.note_key(*option).is_some() { dialog.note.clone() } else { row() };
            dialog.marked == Some(*option) && solid(&shown.unwrap_or_default()) == solid(text.as_str())
        };
        let waited = self.waited(now);
        if dialog.is_some_and(stands) && waited >= self.limits.enter_apart {
            self.go(AnswerStage::Closing { enter: None, was_taken: false }, now);
            return AnswerStep::Press(vec![Key::enter()]);
        }
        if waited < self.limits.reaction {
            return self.poll();
        }
        AnswerStep::End(not_taken("the text there is not the one that was typed; Enter was not pressed"))
    }
}

/// The next place on the way from one option to another.
fn towards(from: usize, to: usize) -> usize {
    if to < from { from - 1 } else { from + 1 }
}

#[cfg(test)]
mod tests;
