//! The keys that the operator presses in terminals, in the order in which they were pressed.

use std::collections::HashMap;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

use crate::fleet::TerminalKey;
use crate::operation::{Act, Key, Operation, Privacy};
use crate::owner::Actor;

/// Where the keys of each terminal go; a keyboard ends when it is dropped.
#[derive(Default)]
pub(super) struct Keyboards(HashMap<TerminalKey, UnboundedSender<Operation>>);

impl Keyboards {
    /// Presses keys behind those that wait for the same terminal.
    pub(super) fn press(&mut self, operation: &Operation, actor: &Actor, sends: &mut JoinSet<()>) {
        let (Act::Keys { keys, .. } | Act::Interrupt { keys, .. }) = &operation.act else { return };
        self.0.retain(|_, keyboard| !keyboard.is_closed());
        let keyboard = self.0.entry(operation.to.key.clone()).or_insert_with(|| {
            let (keyboard, receiver) = unbounded_channel();
            sends.spawn(serve(actor.clone(), receiver));
            keyboard
        });
        for keys in keys.split_inclusive(is_escape) {
            let act = with_keys(&operation.act, keys.to_vec());
            // The keyboard ends only when this end is dropped.
            let _ = keyboard.send(Operation { act, ..operation.clone() });
        }
    }
}

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
