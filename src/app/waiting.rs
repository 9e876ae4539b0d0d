//! Prompts that wait: each is sent when its agent is ready, and nothing is forgotten without a word.

use std::collections::HashMap;

use super::App;
use crate::feed;
use crate::fleet::TerminalKey;
use crate::queue::{QueuedId, Readiness, Tried, Waiting};
use crate::ui::Sent;

impl App {
    pub(super) fn queue(&mut self, key: TerminalKey, text: String) {
        // One for a terminal that is gone is given back at once.
        let name = self.fleet.name_of(&key).unwrap_or("a terminal that is gone").to_owned();
        self.queue.push(key, name, text, feed::now());
        self.show_queue();
    }

    /// Gives the prompts back that wait for a terminal.
    pub(super) fn unqueue(&mut self, key: &TerminalKey) {
        let texts: Vec<String> = self.queue.cancel(key).into_iter().map(|prompt| prompt.text).collect();
        self.show_queue();
        self.ui.taken_back(key, &texts, &self.fleet.view(feed::now()));
    }

    /// Sends what can be sent now, and tells of what never can be.
    pub(super) fn serve_queue(&mut self) {
        if self.queue.prompts().is_empty() {
            return;
        }
        let now = feed::now();
        let hopeless = self.queue.drop_hopeless(|key| Readiness::of(self.fleet.terminal(key)));
        let why = "the agent has ended";
        for prompt in &hopeless {
            self.actors.keep_unsent(prompt, why);
            self.ui.dropped(&prompt.key, &prompt.name, &prompt.text, why, &self.fleet.view(now));
        }
        for prompt in self.queue.due(|key| Readiness::of(self.fleet.terminal(key)), now) {
            if let Some(terminal) = self.fleet.terminal(&prompt.key) {
                self.actors.send(terminal, prompt.text, false, Some(prompt.id));
            }
        }
        if !hopeless.is_empty() {
            self.show_queue();
        }
    }

    /// Takes in what came of sending a prompt that waited. Returns whether it goes on waiting.
    pub(super) fn waits_on(&mut self, id: QueuedId, sent: &Sent) -> bool {
        let passes = matches!(sent, Sent::Refused { may_pass: true, .. });
        self.queue.tried(id, if passes { Tried::Later } else { Tried::Done }, feed::now());
        self.show_queue();
        passes
    }

    /// What still waits when the dashboard is left, in words; it is kept in the history.
    pub(super) fn leave_queue(&mut self) -> Vec<String> {
        let left = self.queue.prompts().iter().filter(|prompt| !prompt.sending);
        let told = left.map(|prompt| {
            self.actors.keep_unsent(prompt, "the dashboard was left");
            format!("not sent to {}, as it was not ready: {}", prompt.name, prompt.text)
        });
        told.collect()
    }

    fn show_queue(&mut self) {
        let mut waiting: HashMap<TerminalKey, Vec<Waiting>> = HashMap::new();
        for prompt in self.queue.prompts() {
            let told = Waiting { text: prompt.text.clone(), since: prompt.since };
            waiting.entry(prompt.key.clone()).or_default().push(told);
        }
        self.ui.show_queue(waiting);
    }
}
