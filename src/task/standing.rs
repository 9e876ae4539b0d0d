//! What a task is doing now, and whether it stands at a prompt.

use super::prompt::{self, Form, TaskPrompt};
use super::snapshot;
use super::snapshot::{PaneState, Preview};
use crate::state::TaskStatus;
use crate::time::{Span, Timestamp};

/// How long a screen must stand still before a row that only looks like a question is one. A program that goes on after
/// a colon is quicker.
const ASKING: Span = Span::from_secs(1);

/// How long a full-screen program must stand still before it waits for keys. Those that repaint by themselves, such as
/// monitors, do so more often.
const FULL_SCREEN: Span = Span::from_secs(2);

/// How long a task whose screen stands still may yet be told to do something else.
pub const SETTLED: Span = FULL_SCREEN;

/// What is remembered of a pane from look to look.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct PromptDetector {
    preview: Option<Preview>,
    /// What ran then, and the question that those two show: it is looked for only in what is new.
    command: String,
    asked: Option<TaskPrompt>,
    /// Since when the preview is the same.
    still_since: Timestamp,
    /// The prompt of the last look, which is told only when the next look shows it as well.
    found: Option<TaskPrompt>,
    /// The prompt that stands.
    prompt: Option<TaskPrompt>,
    /// A prompt behind which the cursor was and is no more: it was answered, though its row is still the last one.
    answered: Option<String>,
    /// The prompt that stood before this process looked, as long as it may be the same one.
    known: Option<String>,
}

impl PromptDetector {
    /// Of a task that stood at a prompt before this process looked.
    pub(super) fn known(prompt: Option<String>) -> Self {
        Self { known: prompt, ..Self::default() }
    }

    /// Takes in a look; gives the prompt that has come to stand with it.
    pub(super) fn look(&mut self, pane: &PaneState, now: Timestamp) -> Option<&str> {
        if pane.dead {
            *self = Self::default();
            return None;
        }
        let same = self.preview.as_ref() == Some(&pane.preview);
        if !same {
            (self.preview, self.still_since) = (Some(pane.preview.clone()), now);
        }
        if !same || self.command != pane.command {
            self.asked = prompt::find(&pane.preview, &pane.command);
            self.command.clone_from(&pane.command);
        }
        let found = self.unanswered(self.asked.clone());
        if self.prompt.as_ref().is_some_and(|prompt| !prompt.stands_in(&pane.preview)) {
            self.prompt = None;
        }
        let seen_before = same && self.found == found;
        self.found = found;
        self.known.take_if(|known| self.found.as_ref().is_none_or(|found| found.text != *known));
        let ripe = self
            .found
            .as_ref()
            .filter(|found| seen_before && (found.form != Form::Asking || now.since(self.still_since) >= ASKING));
        match ripe {
            Some(found) if self.prompt.as_ref().is_none_or(|standing| standing.text != found.text) => {
                self.prompt = Some(found.clone());
                let is_news = self.known.take().is_none();
                self.prompt.as_ref().map(|prompt| prompt.text.as_str()).filter(|_| is_news)
            }
            _ => None,
        }
    }

    /// The prompt that stands.
    pub(super) fn prompt(&self) -> Option<&str> {
        self.prompt.as_ref().map(|prompt| prompt.text.as_str()).or(self.known.as_deref())
    }

    /// Whether the last look found a prompt of which only the next one tells whether it stands.
    pub(super) fn may_ask(&self) -> bool {
        self.prompt.is_none() && self.found.is_some()
    }

    /// What the pane is doing.
    pub(super) fn status(&self, pane: &PaneState, now: Timestamp) -> TaskStatus {
        let caret = pane.preview.caret();
        let row = caret.and_then(|caret| pane.preview.lines().get(caret.line));
        if pane.dead {
            TaskStatus::Exited
        } else if self.prompt().is_some() {
            TaskStatus::WaitingInput
        } else if pane.alternate {
            let still = now.since(self.still_since) >= FULL_SCREEN && caret.is_some_and(|caret| caret.visible);
            if snapshot::is_interactive(&pane.command) || still {
                TaskStatus::WaitingInput
            } else {
                TaskStatus::Running
            }
        } else if row.is_some_and(|row| snapshot::is_prompt(row, &pane.command)) {
            TaskStatus::Idle
        } else {
            TaskStatus::Running
        }
    }

    /// The prompt that was found, unless it is one that the cursor has left.
    fn unanswered(&mut self, found: Option<TaskPrompt>) -> Option<TaskPrompt> {
        let Some(prompt) = found else {
            self.answered = None;
            return None;
        };
        if prompt.form == Form::Line {
            let was_open = self.found.as_ref().or(self.prompt.as_ref()).filter(|before| before.form != Form::Line);
            if was_open.is_some_and(|before| before.text == prompt.text) {
                self.answered = Some(prompt.text.clone());
            }
            if self.answered.as_ref() == Some(&prompt.text) {
                return None;
            }
        }
        Some(prompt)
    }
}
