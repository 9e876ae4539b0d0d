//! What the operator asks for and takes time: each in a task of its own, which tells the loop what came of it.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

use super::requests::Clip;
use crate::config::{Adopted, AdoptedError};
use crate::fleet::{ServerId, TerminalKey};
use crate::history::{History, Reader};
use crate::operation::{Act, Operation, Privacy};
use crate::sender::Sender;
use crate::tmux::{self, Clipboard, Inside, Jump, Key, Server};

/// Earlier prompts that the composer offers, of one terminal and of all.
const RECALLED: usize = 200;

/// What a task has to tell.
#[derive(Debug)]
pub(super) enum ActorNews {
    /// A prompt waits for its terminal, or why it does not.
    Queued {
        prompt: Operation,
        posted: Result<(), String>,
    },
    /// The prompts that waited for a terminal.
    TakenBack {
        key: TerminalKey,
        texts: Result<Vec<String>, String>,
    },
    /// The prompts that were sent before: to one terminal, and to any.
    Prompts {
        own: Vec<String>,
        all: Vec<String>,
    },
    /// A task was ended or run again.
    Task {
        key: TerminalKey,
        told: Result<String, String>,
    },
    /// A text was handed to the operator's terminal.
    Copied {
        clip: Clip,
        /// What tmux around the dashboard does with it; `None` outside of tmux.
        clipboard: Option<Result<Clipboard, tmux::Error>>,
    },
    /// The operator has chosen a session as one of tasks, or takes that back, and the choice was kept, or why not.
    Adopted {
        server: ServerId,
        session: String,
        adopt: bool,
        kept: Result<(), String>,
    },
    /// The operator has decided of a message to an agent.
    Decided {
        told: Result<String, String>,
    },
    Jumped {
        key: TerminalKey,
        jump: Result<Jump, tmux::Error>,
    },
}

/// Whoever carries out what is asked for.
pub(super) struct Actors {
    sender: Sender,
    tmux: tmux::Settings,
    inside: Option<Inside>,
    history: History,
    told: UnboundedSender<ActorNews>,
    /// What must not be left half done: a prompt that is pasted but not submitted.
    sends: JoinSet<()>,
    /// The keys of each terminal, in their order.
    keyboards: Keyboards,
    /// Held by who keeps a choice in a file: choices are kept in the order in which they are made.
    choosing: Arc<Mutex<()>>,
}

impl Actors {
    pub(super) fn new(
        sender: Sender,
        tmux: tmux::Settings,
        history: History,
        told: UnboundedSender<ActorNews>,
    ) -> Self {
        Self {
            sender,
            tmux,
            inside: Inside::new(std::env::var("TMUX").ok(), std::env::var("TMUX_PANE").ok()),
            history,
            told,
            sends: JoinSet::new(),
            keyboards: Keyboards::new(),
            choosing: Arc::default(),
        }
    }

    /// Whether the dashboard is shown in a popup of tmux.
    pub(super) fn in_popup(&self) -> bool {
        self.inside.as_ref().is_some_and(Inside::is_popup)
    }

    /// Performs an operation; the sender tells how far it has come.
    pub(super) fn perform(&mut self, operation: Operation) {
        if matches!(operation.act, Act::Keys { .. } | Act::Interrupt { .. }) {
            return self.press(&operation);
        }
        let sender = self.sender.clone();
        // Those that are done need no place any more.
        while self.sends.try_join_next().is_some() {}
        self.sends.spawn(async move { drop(sender.perform(operation, ()).await) });
    }

    /// Presses keys behind those that wait for the same terminal.
    fn press(&mut self, operation: &Operation) {
        let (Act::Keys { keys, .. } | Act::Interrupt { keys, .. }) = &operation.act else { return };
        let sender = &self.sender;
        self.keyboards.retain(|_, keyboard| !keyboard.is_closed());
        let keyboard = self.keyboards.entry(operation.to.key.clone()).or_insert_with(|| {
            let (keyboard, receiver) = unbounded_channel();
            self.sends.spawn(serve(sender.clone(), Waiting { receiver, held: VecDeque::new() }));
            keyboard
        });
        for keys in keys.split_inclusive(is_escape) {
            let act = with_keys(&operation.act, keys.to_vec());
            // It ends only when this end of it is dropped.
            let _ = keyboard.send(Operation { act, ..operation.clone() });
        }
    }

    /// Looks up the prompts that were sent before. A history that cannot be read has none.
    pub(super) fn look_up_prompts(&self, key: Option<TerminalKey>) {
        let (path, told) = (self.history.path().map(ToOwned::to_owned), self.told.clone());
        tokio::task::spawn_blocking(move || {
            let Some(mut reader) = path.and_then(|path| Reader::open(&path).ok()) else { return };
            let own = key.map(|key| reader.prompts(Some(&key), RECALLED)).transpose();
            let (own, all) =
                (own.ok().flatten().unwrap_or_default(), reader.prompts(None, RECALLED).unwrap_or_default());
            tell(&told, ActorNews::Prompts { own, all });
        });
    }

    /// Finds out what becomes of a text that was handed to the terminal.
    pub(super) fn follow_clip(&self, clip: Clip) {
        let (tmux, inside) = (self.tmux.clone(), self.inside.clone());
        self.work(async move {
            let clipboard = match inside {
                Some(inside) => Some(inside.clipboard(tmux).await),
                None => None,
            };
            ActorNews::Copied { clip, clipboard }
        });
    }

    /// Does something that takes time; what came of it is told.
    pub(super) fn work(&self, work: impl Future<Output = ActorNews> + Send + 'static) {
        let told = self.told.clone();
        tokio::spawn(async move { tell(&told, work.await) });
    }

    /// Keeps that a session is one of tasks, or no longer. The file is locked by whoever else writes it, which may take as
    /// long as it likes.
    pub(super) fn adopt(&self, server: ServerId, session: String, adopt: bool) {
        let choosing = Arc::clone(&self.choosing);
        self.work(async move {
            let _in_order = choosing.lock_owned().await;
            let (to, name) = (server.clone(), session.clone());
            let change = move || match Adopted::location() {
                Some(path) => Adopted::change(&path, &to, &name, adopt).map(drop),
                None => Err(AdoptedError::Homeless),
            };
            let kept = match tokio::task::spawn_blocking(change).await {
                Ok(kept) => kept.map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            };
            ActorNews::Adopted { server, session, adopt, kept }
        });
    }

    /// Waits until every prompt that is on its way has arrived or was refused.
    pub(super) async fn finish(&mut self) {
        // A keyboard ends when nobody can press a key any more.
        self.keyboards.clear();
        while self.sends.join_next().await.is_some() {}
    }

    /// Brings the operator to a terminal, or finds out what does.
    pub(super) fn jump(&self, key: TerminalKey) {
        let (tmux, inside) = (self.tmux.clone(), self.inside.clone());
        self.work(async move {
            let jump = match Server::new(key.server.clone(), tmux) {
                Ok(server) => server.jump(&key, inside.as_ref()).await,
                Err(error) => Err(error),
            };
            ActorNews::Jumped { key, jump }
        });
    }
}

/// Nobody listens any more when the dashboard has been left.
fn tell(told: &UnboundedSender<ActorNews>, news: ActorNews) {
    let _ = told.send(news);
}

/// Where the keys of each terminal go.
type Keyboards = HashMap<TerminalKey, UnboundedSender<Operation>>;

/// How long nothing is pressed behind an Escape: programs take what follows at once for a part of it.
const ESCAPE_APART: Duration = Duration::from_millis(80);

/// Keys that wait to be pressed in one terminal, in the order in which the operator pressed them.
struct Waiting {
    receiver: UnboundedReceiver<Operation>,
    held: VecDeque<Operation>,
}

impl Waiting {
    /// The next keys that can be pressed in one go: all that wait for the same program and dialog, up to an Escape.
    async fn next(&mut self) -> Option<Operation> {
        if self.held.is_empty() {
            self.held.push_back(self.receiver.recv().await?);
        }
        while let Ok(more) = self.receiver.try_recv() {
            self.held.push_back(more);
        }
        let mut next = self.held.pop_front()?;
        while !ends_with_escape(&next)
            && let Some(act) =
                self.held.front().filter(|more| more.to == next.to).and_then(|it| joined(&next.act, &it.act))
        {
            next.act = act;
            self.held.pop_front();
        }
        Some(next)
    }
}

/// Presses keys as they come. Those that are pressed while others are on their way go together.
async fn serve(sender: Sender, mut waiting: Waiting) {
    while let Some(operation) = waiting.next().await {
        let is_last = ends_with_escape(&operation);
        sender.perform(operation, ()).await;
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

/// The keys of two acts as one, where both are for the same dialog.
fn joined(one: &Act, other: &Act) -> Option<Act> {
    match (one, other) {
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
