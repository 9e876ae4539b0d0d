//! Messages to agents, and prompts that wait until their agents are ready. They are kept in the history, and sent by the owner.

use std::collections::HashMap;

use super::App;
use super::actors::ActorNews;
use crate::fleet::{TerminalKey, View};
use crate::history::{Decided, Intent, IntentId, IntentNews, IntentState, Intents, Owner, Trouble, same_terminal};
use crate::operation::{Act, Operation, Outcome, Producer, Recipient, Refusal, When};
use crate::poll;
use crate::time::Timestamp;
use crate::ui::{Decision, Waiting, decided};

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
        self.in_outbox(
            move |outbox, now| match decision {
                Decision::Resend => outbox.resend(id, now),
                Decision::Dismiss => outbox.dismiss(id, now),
            },
            move |done| ActorNews::Decided {
                told: match done {
                    Ok(Decided::Dismissed) => Ok(decided(id, decision, None)),
                    Ok(Decided::Resent(next)) => Ok(decided(id, decision, Some(next))),
                    Ok(Decided::NotOpen(state)) => Err(format!("message {} is already {state}", id.0)),
                    Ok(Decided::Missing) => Err(format!("message {} no longer exists", id.0)),
                    Err(trouble) => Err(format!("message {} was not changed: {trouble}", id.0)),
                },
            },
        );
    }

    /// Has a prompt wait for its terminal. Where nothing can be kept, its text is given back.
    pub(super) fn queue(&mut self, prompt: Operation) {
        let Operation { to: Recipient { key, name, .. }, act, .. } = prompt.clone();
        let Act::Prompt { text, .. } = act else { return };
        self.in_outbox(
            move |outbox, now| outbox.post(&key, &name, &text, now).map(drop),
            move |posted| ActorNews::Queued { prompt, posted },
        );
    }

    /// Gives the prompts back that wait for a terminal.
    pub(super) fn unqueue(&mut self, key: TerminalKey) {
        let to = key.clone();
        self.in_outbox(move |outbox, now| outbox.take_back(&to, now), move |texts| ActorNews::TakenBack { key, texts });
    }

    /// Does something in the outbox, which takes time, and tells what came of it.
    fn in_outbox<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Intents, Timestamp) -> Result<T, Trouble> + Send + 'static,
        told: impl FnOnce(Result<T, String>) -> ActorNews + Send + 'static,
    ) {
        let path = self.history.path().map(ToOwned::to_owned);
        self.actors.work(async move {
            let Some(path) = path else { return told(Err("no history is kept, where prompts wait".to_owned())) };
            let work = move || {
                let now = poll::now();
                work(&mut Intents::open(&path, Owner::of_process(now), now)?, now)
            };
            let done = match tokio::task::spawn_blocking(work).await {
                Ok(done) => done.map_err(|trouble| trouble.to_string()),
                Err(error) => Err(error.to_string()),
            };
            told(done)
        });
    }

    /// Tells what became of a prompt that waited.
    pub(super) fn tell_of_prompt(&mut self, prompt: &Intent) {
        let view = self.engine.fleet().view(poll::now());
        let Some(key) = here(prompt, &view) else { return };
        let why = prompt.detail.clone().unwrap_or_default();
        let outcome = match prompt.state {
            IntentState::Sent => Outcome::Accepted(prompt.detail.clone()),
            IntentState::Unknown => Outcome::Unverified { why },
            IntentState::Failed => Refusal::Other(why).into(),
            _ => return,
        };
        let act = Act::Prompt { text: prompt.text.clone().unwrap_or_default(), when: When::Ready };
        let (producer, to) = (Producer::Queue(prompt.id.0), Recipient::new(key, prompt.target.clone()));
        self.ui.ended(&Operation { at: prompt.created, producer, to, act }, &outcome, &view);
    }

    /// Shows which prompts wait.
    pub(super) fn show_queue(&mut self) {
        let view = self.engine.fleet().view(poll::now());
        let mut waiting: HashMap<TerminalKey, Vec<Waiting>> = HashMap::new();
        for prompt in self.follow_ups.values().filter(|it| waits(it)) {
            let Some(key) = here(prompt, &view) else { continue };
            let text = prompt.text.clone().unwrap_or_default();
            waiting.entry(key).or_default().push(Waiting { text, since: prompt.created });
        }
        self.ui.show_queue(waiting);
    }

    /// What still waits when the dashboard is left, in words.
    pub(super) fn still_waiting(&self) -> Vec<String> {
        let waiting = self.follow_ups.values().filter(|it| it.recipient.is_some() && waits(it));
        let told = |it: &Intent| format!("a prompt waits for {} and whoever watches next: {}", it.target, it.told());
        waiting.map(told).collect()
    }
}

fn waits(it: &Intent) -> bool {
    matches!(it.state, IntentState::Pending | IntentState::Attempted)
}

/// The terminal of a prompt as it is called here; one that is gone has no other name.
fn here(prompt: &Intent, view: &View<'_>) -> Option<TerminalKey> {
    let key = prompt.recipient.as_ref()?;
    let here = view.terminals.iter().find(|terminal| same_terminal(&terminal.key, key));
    Some(here.map_or_else(|| key.clone(), |terminal| terminal.key.clone()))
}
