//! Answers of more than one choice: options that are ticked and handed in together, and texts that are typed in an option's row.
//! Enter is pressed only when what stands there is what was meant.

use super::{AnswerStep, Answering, Refusal, Reply, Stage, not_taken, towards};
use crate::dialog::{Dialog, Press};
use crate::time::Span;
use crate::tmux::Key;

impl Answering<'_> {
    pub(super) fn ticking(&mut self, dialog: Option<&Dialog>, pressed: Option<usize>, now: Span) -> AnswerStep {
        let Reply::Ticks(options) = self.reply else { return self.look() };
        let late = self.waited(now) >= self.limits.reaction.as_millis();
        match dialog.map(|dialog| (dialog, dialog.first_wrong(options))) {
            Some((dialog, None)) => self.go_to_submit(dialog, now),
            // What was pressed for it is still to be seen.
            Some((_, Some(wrong))) if pressed == Some(wrong) && !late => self.look(),
            Some((dialog, Some(wrong))) if pressed != Some(wrong) => match dialog.presses(wrong).first() {
                Some(&press) => {
                    self.go(Stage::Ticking { pressed: Some(wrong) }, now);
                    AnswerStep::Press(vec![press.into()])
                }
                None => AnswerStep::End(Refusal::NoSuchOption.into()),
            },
            Some(_) => AnswerStep::End(not_taken("an option cannot be ticked, and nothing was handed in")),
            None if !late => self.look(),
            None => AnswerStep::End(not_taken("the dialog changed, and nothing was handed in")),
        }
    }

    /// What is ticked is what was meant: on to the row that hands it in.
    fn go_to_submit(&mut self, dialog: &Dialog, now: Span) -> AnswerStep {
        let distance = dialog.distance_to_submit();
        if distance > 0 {
            self.go(Stage::HandingIn { distance }, now);
            return AnswerStep::Press(vec![dialog.way_to_submit().into()]);
        }
        if dialog.submit.is_some_and(|submit| !submit.marked) {
            return AnswerStep::End(not_taken("the mark cannot be seen, and nothing was handed in"));
        }
        self.go(Stage::Closing { enter: None, was_taken: dialog.taken }, now);
        AnswerStep::Press(vec![Key::enter()])
    }

    pub(super) fn handing_in(&mut self, dialog: Option<&Dialog>, distance: usize, now: Span) -> AnswerStep {
        let Reply::Ticks(options) = self.reply else { return self.look() };
        match dialog {
            Some(dialog) if dialog.first_wrong(options).is_some() => {
                AnswerStep::End(not_taken("what is ticked has changed, and nothing was handed in"))
            }
            Some(dialog) if dialog.distance_to_submit() < distance => self.go_to_submit(dialog, now),
            _ if self.waited(now) < self.limits.reaction.as_millis() => self.look(),
            _ => AnswerStep::End(not_taken("the mark does not reach the row that hands in, and Enter was not pressed")),
        }
    }

    pub(super) fn begin_text(&mut self, dialog: &Dialog, option: usize, now: Span) -> AnswerStep {
        match dialog.marked.filter(|_| dialog.takes_text(option)) {
            Some(marked) => {
                self.go(Stage::ToText { at: marked }, now);
                self.reach_text(Some(dialog), marked, now)
            }
            None => AnswerStep::End(Refusal::NoSuchOption.into()),
        }
    }

    pub(super) fn reach_text(&mut self, dialog: Option<&Dialog>, at: usize, now: Span) -> AnswerStep {
        let Reply::Text { option, text } = self.reply else { return self.look() };
        match dialog.and_then(|dialog| dialog.marked) {
            Some(marked) if marked == at && at == *option => {
                self.go(Stage::Typed, now);
                AnswerStep::Paste(text.clone())
            }
            Some(marked) if marked == at => {
                let press = if *option < at { Press::Up } else { Press::Down };
                self.go(Stage::ToText { at: towards(at, *option) }, now);
                AnswerStep::Press(vec![press.into()])
            }
            _ if self.waited(now) < self.limits.reaction.as_millis() => self.look(),
            _ => AnswerStep::End(not_taken("the mark is not where it was moved to, and nothing was typed")),
        }
    }

    /// Presses Enter once the whole text stands where it was typed.
    pub(super) fn typed(&mut self, dialog: Option<&Dialog>, now: Span) -> AnswerStep {
        let Reply::Text { option, text } = self.reply else { return self.look() };
        let solid = |text: &str| text.split_whitespace().collect::<String>();
        let stands = |dialog: &Dialog| {
            let shown = dialog.options.get(*option).map(|option| option.text.concat()).unwrap_or_default();
            dialog.marked == Some(*option) && solid(&shown) == solid(text.as_str())
        };
        let waited = self.waited(now);
        if dialog.is_some_and(stands) && waited >= self.limits.enter_apart.as_millis() {
            self.go(Stage::Closing { enter: None, was_taken: false }, now);
            return AnswerStep::Press(vec![Key::enter()]);
        }
        if waited < self.limits.reaction.as_millis() {
            return self.look();
        }
        AnswerStep::End(not_taken("what stands there is not the text that was typed, and Enter was not pressed"))
    }
}
