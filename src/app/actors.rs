//! Requests of the operator that take time: each runs in its own async task, and the loop continues with its result.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

use super::terminal::AppError;
use crate::fleet::TerminalKey;
use crate::operation::{Act, Key, Operation, Privacy};
use crate::owner::Actor;
use crate::tmux::Inside;

/// What the dashboard does once a task has ended.
pub(super) type Continuation<A> = Box<dyn FnOnce(&mut A) -> Result<(), AppError> + Send>;

/// Carries out requests of `A`, the dashboard.
pub(super) struct Actors<A> {
    actor: Actor,
    /// The tmux that the dashboard itself runs in.
    pub(super) inside: Option<Inside>,
    done: UnboundedSender<Continuation<A>>,
    /// What must not be left half done: a prompt that is pasted but not submitted.
    sends: JoinSet<()>,
    /// The keys of each terminal, in their order.
    keyboards: Keyboards,
    /// Held by who keeps a choice in a file: choices are kept in the order in which they are made.
    pub(super) choosing: Arc<Mutex<()>>,
}

impl<A: 'static> Actors<A> {
    pub(super) fn new(actor: Actor, done: UnboundedSender<Continuation<A>>) -> Self {
        Self {
            actor,
            inside: Inside::new(std::env::var("TMUX").ok(), std::env::var("TMUX_PANE").ok()),
            done,
            sends: JoinSet::new(),
            keyboards: Keyboards::new(),
            choosing: Arc::default(),
        }
    }

    /// What performs operations.
    pub(super) fn actor(&self) -> Actor {
        self.actor.clone()
    }

    /// Whether the dashboard is shown in a popup of tmux.
    pub(super) fn in_popup(&self) -> bool {
        self.inside.as_ref().is_some_and(Inside::is_popup)
    }

    /// Performs an operation; the sender reports its progress.
    pub(super) fn perform(&mut self, operation: Operation) {
        if matches!(operation.act, Act::Keys { .. } | Act::Interrupt { .. }) {
            return self.press(&operation);
        }
        let actor = self.actor.clone();
        // Those that are done need no place any more.
        while self.sends.try_join_next().is_some() {}
        self.sends.spawn(async move { drop(actor.perform(operation, ()).await) });
    }

    /// Presses keys behind those that wait for the same terminal.
    fn press(&mut self, operation: &Operation) {
        let (Act::Keys { keys, .. } | Act::Interrupt { keys, .. }) = &operation.act else { return };
        let actor = &self.actor;
        self.keyboards.retain(|_, keyboard| !keyboard.is_closed());
        let keyboard = self.keyboards.entry(operation.to.key.clone()).or_insert_with(|| {
            let (keyboard, receiver) = unbounded_channel();
            self.sends.spawn(serve(actor.clone(), receiver));
            keyboard
        });
        for keys in keys.split_inclusive(is_escape) {
            let act = with_keys(&operation.act, keys.to_vec());
            // The keyboard ends only when this end is dropped.
            let _ = keyboard.send(Operation { act, ..operation.clone() });
        }
    }

    /// Does something that takes time, and then something with the result.
    pub(super) fn work<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
        then: impl FnOnce(&mut A, T) -> Result<(), AppError> + Send + 'static,
    ) {
        let done = self.done.clone();
        tokio::spawn(async move {
            let result = work.await;
            // Nobody listens any more when the dashboard has been left.
            let _ = done.send(Box::new(move |app| then(app, result)));
        });
    }

    /// Waits until every prompt that is on its way has arrived or was refused.
    pub(super) async fn finish(&mut self) {
        // A keyboard ends when nobody can press a key any more.
        self.keyboards.clear();
        while self.sends.join_next().await.is_some() {}
    }
}

/// Where the keys of each terminal go.
type Keyboards = HashMap<TerminalKey, UnboundedSender<Operation>>;

/// How long nothing is pressed behind an Escape: programs take what follows at once for a part of it.
const ESCAPE_APART: Duration = Duration::from_millis(80);

/// Presses the keys of one terminal as they come, in the order in which the operator pressed them. All that wait for the same
/// program and dialog go together, up to an Escape.
async fn serve(actor: Actor, mut waiting: UnboundedReceiver<Operation>) {
    let mut apart = None;
    while let Some(mut next) = if apart.is_some() { apart.take() } else { waiting.recv().await } {
        while apart.is_none()
            && !ends_with_escape(&next)
            && let Ok(more) = waiting.try_recv()
        {
            match joined(&next, &more) {
                Some(act) => next.act = act,
                None => apart = Some(more),
            }
        }
        let is_last = ends_with_escape(&next);
        actor.perform(next, ()).await;
        if is_last {
            tokio::time::sleep(ESCAPE_APART).await;
        }
    }
}

fn is_escape(key: &Key) -> bool {
    *key == Key::escape()
}

fn ends_with_escape(operation: &Operation) -> bool {
    matches!(&operation.act, Act::Keys { keys, .. } | Act::Interrupt { keys, .. } if keys.last().is_some_and(is_escape))
}

/// The same with other keys.
fn with_keys(act: &Act, keys: Vec<Key>) -> Act {
    let mut act = act.clone();
    if let Act::Keys { keys: all, .. } | Act::Interrupt { keys: all, .. } = &mut act {
        *all = keys;
    }
    act
}

/// The keys of two operations as those of one act, where both are for the same program and dialog.
fn joined(one: &Operation, other: &Operation) -> Option<Act> {
    match (&one.act, &other.act) {
        _ if one.to != other.to => None,
        (Act::Keys { keys, dialog, privacy }, Act::Keys { keys: more, dialog: same, privacy: also })
            if dialog == same =>
        {
            let privacy = if *also == Privacy::Secret { *also } else { *privacy };
            Some(Act::Keys { keys: [&keys[..], more].concat(), dialog: dialog.clone(), privacy })
        }
        (Act::Interrupt { keys, dialog }, Act::Interrupt { keys: more, dialog: same }) if dialog == same => {
            Some(Act::Interrupt { keys: [&keys[..], more].concat(), dialog: dialog.clone() })
        }
        _ => None,
    }
}
