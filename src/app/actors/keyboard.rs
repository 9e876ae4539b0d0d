//! Keys that are pressed in terminals one after the other, in the order in which the operator pressed them.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::{Actors, News, input, sent, tell};
use crate::feed;
use crate::fleet::{Terminal, TerminalKey};
use crate::history::Sent as Input;
use crate::tmux::Key;

/// How long nothing is pressed behind an Escape: programs take what follows at once for a part of it.
const ESCAPE_APART: Duration = Duration::from_millis(80);

/// Where the keys of each terminal go.
pub(in crate::app) type Keyboards = HashMap<TerminalKey, UnboundedSender<Pressed>>;

/// A key on its way, and whether the operator is told that it was pressed.
pub(in crate::app) type Pressed = (Key, bool);

/// Keys that wait to be pressed.
struct Waiting {
    receiver: UnboundedReceiver<Pressed>,
    held: VecDeque<Pressed>,
}

impl Waiting {
    /// The next keys that can be pressed in one go: all that wait, up to an Escape.
    async fn next(&mut self) -> Option<(Vec<Key>, bool)> {
        if self.held.is_empty() {
            self.held.push_back(self.receiver.recv().await?);
        }
        while let Ok(more) = self.receiver.try_recv() {
            self.held.push_back(more);
        }
        let escape = Key::escape();
        let count = self.held.iter().position(|(key, _)| *key == escape).map_or(self.held.len(), |place| place + 1);
        let (keys, told): (Vec<Key>, Vec<bool>) = self.held.drain(..count).unzip();
        Some((keys, told.contains(&true)))
    }
}

impl Actors {
    /// Presses keys, by tmux's names. Those that are pressed while others are on their way go together.
    pub(in crate::app) fn press(&mut self, terminal: &Terminal, names: &[String], tell: bool) {
        let keys: Vec<Key> = names.iter().filter_map(|name| name.parse().ok()).collect();
        if keys.len() != names.len() {
            return;
        }
        self.keyboards.retain(|_, keyboard| !keyboard.is_closed());
        if !self.keyboards.contains_key(&terminal.key) {
            let keyboard = self.keyboard(terminal);
            self.keyboards.insert(terminal.key.clone(), keyboard);
        }
        let keyboard = self.keyboards.get(&terminal.key);
        for pressed in keys.into_iter().map(|key| (key, tell)) {
            // It ends only when this end of it is dropped.
            let _ = keyboard.map(|keyboard| keyboard.send(pressed));
        }
    }

    fn keyboard(&mut self, terminal: &Terminal) -> UnboundedSender<Pressed> {
        let (sender, receiver) = unbounded_channel::<Pressed>();
        let (to, name) = (self.recipient(terminal), terminal.state.terminal.id.clone());
        let (tmux, history, told) = (self.sender.clone(), self.history.clone(), self.told.clone());
        let (terminal, escape) = (terminal.clone(), Key::escape());
        self.sends.spawn(async move {
            let mut waiting = Waiting { receiver, held: VecDeque::new() };
            while let Some((keys, told_of)) = waiting.next().await {
                let names: Vec<String> = keys.iter().map(Key::to_string).collect();
                let ticket = history.begin_input(input(&terminal, Input::Keys(names.clone())));
                ticket.delivered(feed::now());
                let outcome = tmux.keys(&to, &keys).await;
                ticket.ended(outcome.word(), outcome.detail(), feed::now());
                let (key, name, sent) = (to.key.clone(), name.clone(), sent(outcome));
                tell(&told, News::Pressed { key, name, keys: names, sent, tell: told_of });
                if keys.last() == Some(&escape) {
                    tokio::time::sleep(ESCAPE_APART).await;
                }
            }
        });
        sender
    }
}
