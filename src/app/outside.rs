//! What is told outside of the dashboard: it follows what the dashboard shows.

use super::App;
use super::actors::ActorNews;
use crate::fleet::Terminal;
use crate::history::{Decided, IntentId, IntentNews, Intents, Owner, Trouble};
use crate::notify::Suppression;
use crate::poll;
use crate::task::Task;
use crate::ui::{Decision, decided};

impl App {
    /// Shows which messages to agents are open.
    pub(super) fn on_intent(&mut self, news: IntentNews) {
        if !news.is_old && news.intent.recipient.is_some() {
            self.tell_of_prompt(&news.intent);
        }
        match news.intent.state.is_open() {
            true => drop(self.follow_ups.insert(news.intent.id, news.intent)),
            false => drop(self.follow_ups.remove(&news.intent.id)),
        }
        self.ui.show_follow_ups(self.follow_ups.values().cloned().collect());
        self.show_queue();
    }

    /// Writes down what the operator decides of a message; whoever sends messages carries it out.
    pub(super) fn decide(&self, id: IntentId, decision: Decision) {
        let Some(path) = self.history.path().map(ToOwned::to_owned) else { return };
        self.actors.work(async move {
            let decide = move || -> Result<Decided, Trouble> {
                let now = poll::now();
                let mut intents = Intents::open(&path, Owner::of_process(now), now)?;
                match decision {
                    Decision::Resend => intents.resend(id, now),
                    Decision::Dismiss => intents.dismiss(id, now),
                }
            };
            let told = match tokio::task::spawn_blocking(decide).await {
                Ok(Ok(Decided::Dismissed)) => Ok(decided(id, decision, None)),
                Ok(Ok(Decided::Resent(next))) => Ok(decided(id, decision, Some(next))),
                Ok(Ok(Decided::NotOpen(state))) => Err(format!("message {} is already {state}", id.0)),
                Ok(Ok(Decided::Missing)) => Err(format!("message {} no longer exists", id.0)),
                Ok(Err(trouble)) => Err(format!("message {} was not changed: {trouble}", id.0)),
                Err(error) => Err(format!("message {} was not changed: {error}", id.0)),
            };
            ActorNews::Decided { told }
        });
    }

    /// Tells what the rules want told of what is shown now.
    pub(super) fn tell_outside(&mut self) -> std::io::Result<()> {
        let now = poll::now();
        self.engine.mute(self.ui.mutes_all());
        let is_muted = |terminal: &Terminal| self.ui.mutes(terminal);
        let is_task_muted = |task: &Task| self.ui.mutes_task(task);
        let looks_at = self.ui.looked_at(now);
        let operator = Suppression { looks_at, is_muted: &is_muted, is_task_muted: &is_task_muted };
        let bytes = self.engine.deliver(operator, now);
        self.tty.ring(&bytes)
    }
}
