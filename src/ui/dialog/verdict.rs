//! Yes this once, no, and no with a reason, in one key each.

use std::sync::Arc;

use super::{DialogBox, Stage, Typing};
use crate::dialog::{Dialog, Verdict};
use crate::fleet::Terminal;
use crate::operation::{Act, Recipient, When};
use crate::status::Status;
use crate::time::Timestamp;
use crate::ui::action::Action;
use crate::ui::input::LineInput;
use crate::ui::keymap::Context;
use crate::ui::overlay::OverlayContext;

impl DialogBox {
    /// The same with an answer chosen, if the dialog has it. What is typed next is for this box from now on.
    pub fn meaning(terminal: &Terminal, answer: Action, now: Timestamp) -> Self {
        let mut dialog = Self { meant: Some(answer), ..Self::new(terminal.key.clone()) };
        dialog.follow(terminal, now);
        dialog
    }

    /// Answers yes this once, or no, where it is certain which option that is and all of it was read; else chooses it.
    /// A letter of the dialog's own only chooses, as all of them do.
    pub(super) fn answer_with(&mut self, answer: Action, cx: &mut OverlayContext<'_, '_>) {
        let Some(dialog) = self.shown.as_ref().map(|shown| Arc::clone(&shown.dialog)) else { return };
        if self.stage != Stage::Choosing || self.typing.is_some() {
            return;
        }
        let key = cx.options.keymap.key_for(Context::Dialog, answer).unwrap_or_default();
        if let Some(own) = dialog.options.iter().position(|option| option.name.eq_ignore_ascii_case(&key)) {
            return self.choose(Some(own));
        }
        let Some(option) = meant_option(&dialog, answer) else {
            self.message = Some((Status::Stalled, unknown(answer)));
            if answer == Action::RefuseWhy {
                self.question.shown_since(cx.view.now);
            }
            return;
        };
        self.message = None;
        self.choose(Some(option));
        match answer {
            Action::RefuseWhy => self.typing = Some(Typing { line: LineInput::default(), option: Some(option) }),
            _ => self.answer(false, cx),
        }
    }

    /// Has what was typed beside an answer follow it as the next prompt, or wait as a draft where the answer may not
    /// have been taken.
    pub(super) fn send_reason(&mut self, cx: &mut OverlayContext<'_, '_>) {
        let Some(text) = self.reason.take() else { return };
        match cx.terminal(&self.key).filter(|_| matches!(self.stage, Stage::Answered(_))) {
            Some(terminal) => cx.perform(Recipient::of(terminal), Act::Prompt { text, when: When::Ready }),
            None => cx.memory.add_to_draft(&self.key, &text),
        }
    }
}

/// The option that gives an answer, where that is certain.
pub(super) fn meant_option(dialog: &Dialog, answer: Action) -> Option<usize> {
    dialog.that_says(if answer == Action::AllowOnce { Verdict::Once } else { Verdict::No })
}

/// What is said where it is not.
pub(super) fn unknown(answer: Action) -> String {
    let what = if answer == Action::AllowOnce { "yes, this once" } else { "no" };
    format!("nothing was sent: the agent's profile does not say which option is {what}")
}
