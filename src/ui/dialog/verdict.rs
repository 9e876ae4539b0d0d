//! Yes this once, no, and no with a reason: one key chooses each, and Enter sends it.

use std::sync::Arc;

use super::state::{DialogBox, Stage, Typing};
use crate::dialog::{Choice, Dialog, Verdict};
use crate::fleet::Terminal;
use crate::operation::{Act, Recipient, When};
use crate::status::Status;
use crate::time::Timestamp;
use crate::ui::{Action, Context, Hint, LineInput, Overlay, OverlayContext, Topic};

/// The refusal of an answer given before anybody can have read the dialog.
pub(super) const TOO_EARLY: &str = "nothing was sent: it is new on the screen; look at it first";

/// Why a text is not sent that nobody has seen in its line yet.
pub(super) const NOT_SEEN: &str = "nothing was sent: not all of it was on the screen yet; press it again";

impl DialogBox {
    /// The same with an answer chosen, if the dialog has it.
    pub fn meaning(terminal: &Terminal, answer: Action, slipped: Option<Timestamp>) -> Self {
        let mut dialog = Self { meant: Some(answer), ..Self::new(terminal, slipped) };
        dialog.follow(terminal);
        dialog
    }

    /// Whether a no is chosen, with or without the reason for it.
    pub(super) fn refuses(&self) -> bool {
        let chosen = self.shown.as_ref().zip(self.question.chosen());
        chosen.is_some_and(|(shown, chosen)| shown.dialog.refuses(chosen))
    }

    /// Chooses yes, this once, or no, where it is certain which option that is. A letter of the dialog's own comes first.
    pub(super) fn answer_with(&mut self, answer: Action, cx: &mut OverlayContext<'_, '_>) {
        let Some(dialog) = self.shown.as_ref().map(|shown| Arc::clone(&shown.dialog)) else { return };
        if self.stage != Stage::Choosing || self.typing.is_some() {
            return;
        }
        let key = cx.options.keymap.key_for(Context::Dialog, answer).unwrap_or_default();
        if let Some(own) = self.own_option(&key) {
            return self.choose(Some(own));
        }
        let Some(option) = meant_option(&dialog, answer) else {
            self.message = Some((Status::Stalled, unknown(&dialog, answer)));
            if answer == Action::RefuseWhy {
                self.typing = Some(Typing { line: LineInput::default(), option: None });
            }
            return;
        };
        self.message = None;
        self.choose(Some(option));
        if answer == Action::RefuseWhy {
            self.typing = Some(Typing { line: self.draft(cx.memory), option: Some(option) });
        }
    }

    /// The option that the dialog itself calls by a key.
    pub(super) fn own_option(&self, key: &str) -> Option<usize> {
        let dialog = &self.shown.as_ref()?.dialog;
        dialog.options.iter().position(|option| option.name.eq_ignore_ascii_case(key))
    }

    /// Says why nothing was done.
    pub(super) fn warn(&mut self, why: &str) {
        self.message = Some((Status::Stalled, why.to_owned()));
    }

    /// Says why a key did nothing, behind what becomes of the answer where one is on its way. Returns whether it is said.
    pub(super) fn tell_in_line(&mut self, why: &str) -> bool {
        match (&self.stage, &mut self.message) {
            (Stage::Choosing, _) => self.warn(why),
            (Stage::Sending | Stage::Answered, Some((_, message))) => {
                if !message.contains(why) {
                    *message = format!("{message}; {why}");
                }
            }
            _ => return false,
        }
        true
    }

    /// Takes that message away once the key would be heard.
    pub(super) fn hears_again(&mut self, now: Timestamp) {
        self.message.take_if(|(_, message)| *message == TOO_EARLY && !self.question.is_deaf(now));
    }

    /// What is typed is a part of what is asked from now on.
    pub(super) fn enter(&mut self, change: impl FnOnce(&mut LineInput) -> bool) {
        let (is_draft, is_open) = (self.types_draft(), self.stage == Stage::Choosing);
        if let Some(Typing { line, option, .. }) = self.typing.as_mut().filter(|_| is_open || is_draft) {
            let option = *option;
            if change(line) {
                self.message = None;
            }
            self.choose(option);
        }
    }

    /// Whether what is typed answers nothing, and is only kept.
    pub(super) fn types_draft(&self) -> bool {
        self.typing.as_ref().is_some_and(|typing| typing.option.is_none())
    }

    /// Keeps what was typed, and says where it comes back.
    pub(super) fn keep_as_draft(&mut self, cx: &mut OverlayContext<'_, '_>) {
        let is_open = self.stage == Stage::Choosing && !self.types_draft();
        let Some(typing) = self.typing.take().filter(|typing| !typing.line.text().trim().is_empty()) else { return };
        self.keep(cx.memory, typing.line.text(), cx.view.now);
        let key_for = |context, action| cx.options.keymap.key_for(context, action);
        if is_open {
            let again = key_for(Context::Dialog, Action::RefuseWhy)
                .map(|key| format!("; {key} brings it back"))
                .unwrap_or_default();
            self.message = Some((Status::Ready, format!("nothing was sent; the text is kept{again}")));
            return;
        }
        let name = cx.terminal(&self.key).map_or("the terminal", |terminal| &terminal.state.terminal.id);
        let opens = key_for(Context::Fleet, Action::Prompt);
        let opens = opens.map(|key| format!("; {key} in the table opens it")).unwrap_or_default();
        let message = format!("nothing was sent; the text is kept as a draft for {name}{opens}");
        if !self.tell(&message) {
            cx.tell_about(Topic::Prompt(self.key.clone()), Status::Ready, message);
        }
    }

    /// Keeps the text of an answer that was not taken and closes its line: who believes it sent types the keys
    /// of the dashboard, and none of them may end up in the text or answer the dialog.
    pub(super) fn close_line(&mut self, cx: &mut OverlayContext<'_, '_>) {
        let Some(typing) = self.typing.take_if(|typing| !typing.line.text().trim().is_empty()) else { return };
        self.keep(cx.memory, typing.line.text(), cx.view.now);
        // Its option alone would be another answer.
        self.question.unchoose();
        if let Some((_, message)) = &mut self.message {
            let again = cx.options.keymap.key_for(Context::Dialog, Action::RefuseWhy);
            message.push_str(&again.map(|key| format!("; {key} brings the text back")).unwrap_or_default());
        }
    }

    /// What the key that closes does, in a few words.
    pub(super) fn way_back(&self) -> &'static str {
        match &self.typing {
            Some(typing) if typing.line.text().trim().is_empty() => "back",
            Some(_) => "keep text",
            None => "close",
        }
    }

    /// Says in the box that the dialog has closed, or that its agent is gone, without an answer from here.
    pub(super) fn close_by_itself(&mut self, cx: &OverlayContext<'_, '_>) {
        self.stage = Stage::Closed;
        self.typing.iter_mut().for_each(|typing| typing.option = None);
        // What became of an answer says more.
        if !self.has_sent {
            let here =
                if self.is_gone(cx) { format!("{} is gone", self.name) } else { "the dialog is closed".to_owned() };
            self.message = Some((Status::Stalled, format!("{here}; nothing was sent")));
        }
    }

    /// Says the same in a message, once the box no longer does.
    pub(super) fn tell_of_closing(&self, cx: &mut OverlayContext<'_, '_>) {
        let (name, is_gone) = (&self.name, self.is_gone(cx));
        let nothing = if self.has_sent { "" } else { "; nothing was sent" };
        let (status, what) = match is_gone {
            true => (Status::Failed, format!("{name} is gone{nothing}")),
            false => (Status::Ready, format!("the dialog of {name} is closed")),
        };
        cx.tell_about(Topic::Dialog(self.key.clone()), status, what);
    }

    fn is_gone(&self, cx: &OverlayContext<'_, '_>) -> bool {
        cx.terminal(&self.key).is_none_or(|terminal| terminal.state.has_ended())
    }

    /// Has what was typed beside an answer follow it as the next prompt, or keeps it where the answer may not have been
    /// taken.
    pub(super) fn send_reason(&mut self, cx: &mut OverlayContext<'_, '_>) {
        let Some(text) = self.reason.take() else { return };
        match cx.terminal(&self.key).filter(|_| matches!(self.stage, Stage::Answered)) {
            Some(terminal) => cx.perform(Recipient::of(terminal), Act::Prompt { text, when: When::Ready }),
            None => self.keep(cx.memory, &text, cx.view.now),
        }
    }
}

/// The option that gives an answer, where that is certain. Where none refuses, a text is one in the operator's own words.
pub fn meant_option(dialog: &Dialog, answer: Action) -> Option<usize> {
    let own_words = || dialog.for_own_words().filter(|_| answer == Action::RefuseWhy);
    dialog.that_says(if answer == Action::AllowOnce { Verdict::Once } else { Verdict::No }).or_else(own_words)
}

/// The keys that choose an answer of a dialog where it is certain which answer that is, with words for yes and for no.
pub fn verdict_hints(dialog: &Dialog, [yes, no]: [&'static str; 2]) -> Vec<Hint> {
    let refuses = dialog.that_says(Verdict::No).is_some();
    let why = if refuses { "no, because …" } else { "in your own words …" };
    let hints = [(Action::AllowOnce, yes), (Action::Refuse, no), (Action::RefuseWhy, why)];
    hints.into_iter().filter(|(answer, _)| meant_option(dialog, *answer).is_some()).collect()
}

/// What is said where it is not, and which keys choose there.
pub(super) fn unknown(dialog: &Dialog, answer: Action) -> String {
    let names: Vec<&str> =
        dialog.options.iter().map(|option| option.name.as_str()).filter(|it| !it.is_empty()).collect();
    let keys = match names[..] {
        [] => "arrows choose".to_owned(),
        [only] => format!("{only} chooses"),
        [first, .., last] => format!("{first} to {last} choose"),
    };
    let is_verdict = |option: &Choice| {
        let word = option.label.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
        ["yes", "no"].iter().any(|verdict| word.eq_ignore_ascii_case(verdict))
    };
    let what = match answer {
        _ if !dialog.options.iter().any(is_verdict) => "no option is yes or no",
        Action::AllowOnce => "it is not known which option is yes, this once",
        _ => "it is not known which option is no",
    };
    match answer {
        Action::RefuseWhy => format!("nothing was sent: {what}; what you type is kept as a draft"),
        _ => format!("nothing was sent: {what}; {keys}"),
    }
}
