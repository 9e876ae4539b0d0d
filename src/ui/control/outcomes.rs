//! What became of operations, and why a state is said.

use crate::fleet::{TerminalKey, View};
use crate::operation::{Act, Operation, Outcome, When};
use crate::status::Status;
use crate::time::Timestamp;
use crate::ui::help::ExplanationView;
use crate::ui::{Action, Context, OverlayEvent, Topic, Ui, toast};

impl Ui {
    /// Tells the operator the outcome of an operation.
    pub fn ended(&mut self, operation: &Operation, outcome: &Outcome, view: &View<'_>) {
        let key = &operation.to.key;
        if matches!(operation.act, Act::Prompt { .. } | Act::Answer { .. }) {
            self.memory.arrangement.flags.has_worked_on(key, outcome.is_accepted());
        }
        let mut message = toast::outcome_text(operation, outcome);
        let topic = match &operation.act {
            Act::Prompt { text, when } => {
                self.follow_draft(key, text, *when, outcome, view);
                let decide = self.key_for(Action::FollowUps);
                let is_unclear = matches!(outcome, Outcome::Unverified { .. }) && *when == When::Ready;
                let way_on = decide.filter(|_| is_unclear).map(|key| format!("{key} sends it again or leaves it"));
                let way_on = way_on.or_else(|| self.way_on(outcome));
                message.push_str(&way_on.map(|hint| format!(" ({hint})")).unwrap_or_default());
                Topic::Prompt(key.clone())
            }
            Act::Answer { .. } => {
                if outcome.is_accepted() {
                    self.cursor.is_done_with(key);
                }
                Topic::Dialog(key.clone())
            }
            Act::Keys { .. } | Act::Interrupt { .. } => Topic::Keys(key.clone()),
        };
        // Whoever types sees what the keys do.
        if !(matches!(operation.act, Act::Keys { .. }) && outcome.is_accepted()) {
            self.notify_about(topic, toast::outcome_status(outcome), message, view.now);
        }
        // What is open may tell it itself.
        self.on_event(OverlayEvent::Ended { operation, outcome }, view);
    }

    /// A draft goes only when its text has arrived; what was not sent and is no draft becomes one.
    fn follow_draft(&mut self, key: &TerminalKey, text: &str, when: When, outcome: &Outcome, view: &View<'_>) {
        let is_draft = self.memory.drafts.get(&Some(key.clone())).is_some_and(|draft| draft.text == text);
        let has_left = match when {
            When::Ready => matches!(outcome, Outcome::Refused(_)),
            When::Now | When::Anyway => self.memory.sending.remove(key).is_some_and(|on_its_way| on_its_way == text),
        };
        match (outcome.is_accepted(), is_draft) {
            (true, true) => drop(self.memory.drafts.remove(&Some(key.clone()))),
            // The prompt that was opened meanwhile began empty.
            (false, true) if has_left => self.on_event(OverlayEvent::Drafted { key, text }, view),
            (false, false) if has_left => self.keep_as_draft(key, text, view),
            _ => {}
        }
        if outcome.is_accepted() {
            self.memory.taken(key, text);
            // What was begun for one that is gone has gone to another one.
            let left = self.memory.left_drafts(view);
            self.memory
                .drafts
                .retain(|key, draft| draft.text != text || key.as_ref().is_none_or(|key| !left.contains(key)));
        }
    }

    /// What the operator can do about a prompt that was refused.
    fn way_on(&self, outcome: &Outcome) -> Option<String> {
        let Outcome::Refused(refusal) = outcome else { return None };
        let insist = self.options.keymap.key_for(Context::Composer, Action::Anyway);
        let insist = insist.filter(|_| refusal.may_insist());
        insist.map(|key| format!("{key} in the prompt sends anyway")).or_else(|| refusal.hint())
    }

    /// Shows why a terminal is said to be what it is; `None` when nothing has read its screen.
    pub fn explained(&mut self, key: &TerminalKey, text: Option<String>, now: Timestamp) {
        match text {
            Some(text) => self.open(ExplanationView::new(Some(key.clone()), &text)),
            None => {
                let message = "no profile has read a screen of it".to_owned();
                self.notify_about(Topic::Key, Status::Unknown, message, now);
            }
        }
    }
}
