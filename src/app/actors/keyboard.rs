//! Keys that are pressed in terminals one after the other, in the order in which the operator pressed them.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::{Actors, News, input, tell};
use crate::dialog::Dialog;
use crate::feed;
use crate::fleet::{Terminal, TerminalKey};
use crate::history::{Privacy, Sent as Input};
use crate::operation::Refusal;
use crate::sender::Recipient;
use crate::task::Task;
use crate::tmux::{Key, UnknownKey};

/// How long nothing is pressed behind an Escape: programs take what follows at once for a part of it.
const ESCAPE_APART: Duration = Duration::from_millis(80);

/// Where the keys of each terminal go.
pub(in crate::app) type Keyboards = HashMap<TerminalKey, UnboundedSender<Pressed>>;

/// A key on its way.
#[derive(Clone, Debug)]
pub(in crate::app) struct Pressed {
    key: Key,
    /// The terminal as it was shown when the key was pressed.
    to: Recipient,
    /// Whether the operator is told that it was pressed.
    tell: bool,
    privacy: Privacy,
    /// The dialog that it is for.
    seen: Option<Arc<Dialog>>,
}

/// Where keys go, and how much of them may be kept.
pub(in crate::app) struct Keyboard {
    to: Recipient,
    name: String,
    privacy: Privacy,
}

impl Keyboard {
    /// The keyboard of a task. What programs ask for is not known, so nothing that is typed is kept.
    pub(in crate::app) fn of_task(task: &Task) -> Self {
        Self { to: Recipient::of_task(task), name: task.id.clone(), privacy: Privacy::Secret }
    }
}

/// Keys that wait to be pressed.
struct Waiting {
    receiver: UnboundedReceiver<Pressed>,
    held: VecDeque<Pressed>,
}

impl Waiting {
    /// The next keys that can be pressed in one go: all that wait, up to an Escape.
    async fn next(&mut self) -> Option<Vec<Pressed>> {
        if self.held.is_empty() {
            self.held.push_back(self.receiver.recv().await?);
        }
        while let Ok(more) = self.receiver.try_recv() {
            self.held.push_back(more);
        }
        let escape = Key::escape();
        let first = self.held.front().map(|it| (it.seen.clone(), it.to.clone()));
        // What is for another dialog or program waits, too.
        let is_other = |it: &Pressed| first.as_ref().is_some_and(|(seen, to)| it.seen != *seen || it.to != *to);
        let others = self.held.iter().position(is_other).unwrap_or(self.held.len());
        let count = self.held.iter().position(|it| it.key == escape).map_or(others, |place| (place + 1).min(others));
        Some(self.held.drain(..count).collect())
    }
}

impl Actors {
    /// The keyboard of an agent's terminal.
    pub(in crate::app) fn keyboard_of(&self, terminal: &Terminal) -> Keyboard {
        let name = terminal.state.terminal.id.clone();
        Keyboard { to: Recipient::as_shown(terminal), name, privacy: Privacy::of(terminal) }
    }

    /// Presses keys, by tmux's names. Those that are pressed while others are on their way go together.
    pub(in crate::app) fn press(
        &mut self,
        keyboard: Keyboard,
        names: &[String],
        tell: bool,
        seen: Option<Arc<Dialog>>,
    ) {
        let keys = match names.iter().map(|name| name.parse()).collect::<Result<Vec<Key>, UnknownKey>>() {
            Ok(keys) => keys,
            Err(unknown) => {
                let Keyboard { to: Recipient { key, .. }, name, .. } = keyboard;
                let outcome = Refusal::Other(unknown.to_string()).into();
                return super::tell(&self.told, News::Pressed { key, name, keys: names.to_vec(), outcome, tell });
            }
        };
        let (to, privacy) = (keyboard.to.clone(), keyboard.privacy);
        let key = to.key.clone();
        self.keyboards.retain(|_, keyboard| !keyboard.is_closed());
        if !self.keyboards.contains_key(&key) {
            let keyboard = self.serve(keyboard);
            self.keyboards.insert(key.clone(), keyboard);
        }
        let keyboard = self.keyboards.get(&key);
        for pressed in keys.into_iter().map(|key| Pressed { key, to: to.clone(), tell, privacy, seen: seen.clone() }) {
            // It ends only when this end of it is dropped.
            let _ = keyboard.is_some_and(|keyboard| keyboard.send(pressed).is_ok());
        }
    }

    fn serve(&mut self, keyboard: Keyboard) -> UnboundedSender<Pressed> {
        let (sender, receiver) = unbounded_channel::<Pressed>();
        let Keyboard { name, .. } = keyboard;
        let (tmux, history, told) = (self.sender.clone(), self.history.clone(), self.told.clone());
        let escape = Key::escape();
        self.sends.spawn(async move {
            let mut waiting = Waiting { receiver, held: VecDeque::new() };
            while let Some(pressed) = waiting.next().await {
                let Some(to) = pressed.first().map(|pressed| pressed.to.clone()) else { continue };
                let keys: Vec<Key> = pressed.iter().map(|pressed| pressed.key.clone()).collect();
                let is_secret = pressed.iter().any(|pressed| pressed.privacy == Privacy::Secret);
                let kept = Input::keys(&keys, if is_secret { Privacy::Secret } else { Privacy::Open });
                let ticket = history.begin_input(input(to.key.clone(), name.clone(), kept));
                ticket.delivered(feed::now());
                let seen = pressed.first().and_then(|pressed| pressed.seen.clone());
                let outcome = match seen {
                    Some(seen) => tmux.keys_in(&to, &seen, &keys).await,
                    None => tmux.keys(&to, &keys).await,
                };
                ticket.ended(outcome.clone(), feed::now());
                let (key, name) = (to.key.clone(), name.clone());
                let tell_of = pressed.iter().any(|pressed| pressed.tell);
                let names = keys.iter().map(Key::to_string).collect();
                tell(&told, News::Pressed { key, name, keys: names, outcome, tell: tell_of });
                if keys.last() == Some(&escape) {
                    tokio::time::sleep(ESCAPE_APART).await;
                }
            }
        });
        sender
    }
}
