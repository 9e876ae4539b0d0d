//! What the operator asks for and takes time: each in a task of its own, which tells the loop what came of it.

mod keyboard;

use std::sync::Arc;

use tokio::sync::Mutex;
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinSet;

use super::Settings;
use super::copy::Clip;
use crate::config::{Adopted, AdoptedError};
use crate::dialog::Dialog;
use crate::feed;
use crate::fleet::{ServerId, Terminal, TerminalKey};
use crate::history::{History, NewInput, Reader, Sent as Input};
use crate::operation::Outcome;
use crate::sender::{Insistence, Limits, Recipient, Reply, SendOptions, Sender};
use crate::tmux::{self, Clipboard, Inside, Jump, Server};
use crate::ui::Ui;
pub(super) use keyboard::Keyboard;
use keyboard::Keyboards;

/// Earlier prompts that the composer offers, of one terminal and of all.
const RECALLED: usize = 200;

/// What a task has to tell.
#[derive(Debug)]
pub(super) enum News {
    /// A prompt is about to be submitted.
    Submitting {
        key: TerminalKey,
        text: String,
    },
    Sent {
        key: TerminalKey,
        name: String,
        text: String,
        outcome: Outcome,
    },
    /// A prompt waits for a terminal, or why it does not.
    Queued {
        key: TerminalKey,
        name: String,
        text: String,
        posted: Result<(), String>,
    },
    /// The prompts that waited for a terminal.
    TakenBack {
        key: TerminalKey,
        texts: Result<Vec<String>, String>,
    },
    /// Keys were pressed, or were not.
    Pressed {
        key: TerminalKey,
        name: String,
        keys: Vec<String>,
        outcome: Outcome,
        /// Whether the operator is to be told that they were.
        tell: bool,
    },
    /// The prompts that were sent before: to one terminal, and to any.
    Prompts {
        own: Vec<String>,
        all: Vec<String>,
    },
    Answered {
        key: TerminalKey,
        name: String,
        outcome: Outcome,
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

impl News {
    /// What went wrong with a prompt, an answer or keys, for whoever has left the dashboard by then.
    pub(super) fn trouble(&self) -> Option<String> {
        match self {
            News::Sent { name, outcome, .. } => Ui::trouble(name, outcome),
            News::Answered { name, outcome: Outcome::Unverified { why }, .. } => {
                Some(format!("it is not known whether the dialog of {name} was answered: {why}"))
            }
            News::Answered { name, outcome, .. } if !outcome.is_accepted() => {
                Some(format!("the dialog of {name} was not answered: {}", outcome.detail().unwrap_or_default()))
            }
            News::Pressed { name, outcome: Outcome::Unverified { why }, .. } => {
                Some(format!("it is not known whether keys were pressed in {name}: {why}"))
            }
            News::Pressed { name, outcome, .. } if !outcome.is_accepted() => {
                Some(format!("no key was pressed in {name}: {}", outcome.detail().unwrap_or_default()))
            }
            _ => None,
        }
    }
}

/// Whoever carries out what is asked for.
pub(super) struct Actors {
    sender: Sender,
    tmux: tmux::Settings,
    inside: Option<Inside>,
    history: History,
    told: UnboundedSender<News>,
    /// What must not be left half done: a prompt that is pasted but not submitted.
    sends: JoinSet<()>,
    /// The keys of each terminal, in their order.
    keyboards: Keyboards,
    /// Held by who keeps a choice in a file: choices are kept in the order in which they are made.
    choosing: Arc<Mutex<()>>,
}

impl Actors {
    pub(super) fn new(settings: &Settings, history: History, told: UnboundedSender<News>) -> Self {
        let tmux = settings.feed.tmux.clone();
        Self {
            sender: Sender::new(Arc::clone(&settings.library), tmux.clone(), crate::history::lock_directory()),
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

    /// What sends, for others who do; together they take turns at each terminal.
    pub(super) fn sender(&self) -> Sender {
        self.sender.clone()
    }

    /// Sends a prompt.
    pub(super) fn send(&mut self, terminal: &Terminal, text: String, force: bool) {
        let (sender, told) = (self.sender.clone(), self.told.clone());
        let (to, name) = (Recipient::of(terminal), terminal.state.terminal.id.clone());
        let history = self.history.clone();
        let input = input(to.key.clone(), name.clone(), Input::Prompt(text.clone()));
        let insistence = if force { Insistence::Force } else { Insistence::Polite };
        // Those that are done need no place any more.
        while self.sends.try_join_next().is_some() {}
        self.sends.spawn(async move {
            let options = SendOptions { insistence, ..SendOptions::default() };
            let ticket = history.begin_input_durably(input).await;
            let submitting = || {
                ticket.delivered(feed::now());
                tell(&told, News::Submitting { key: to.key.clone(), text: text.clone() });
            };
            let outcome = sender.send_and_tell(&to, &text, options, submitting).await;
            ticket.ended(outcome.clone(), feed::now());
            tell(&told, News::Sent { key: to.key, name, text, outcome });
        });
    }

    /// Answers a dialog.
    pub(super) fn answer(&mut self, terminal: &Terminal, dialog: Arc<Dialog>, excerpt: String, reply: Reply) {
        let (sender, told, history) = (self.sender.clone(), self.told.clone(), self.history.clone());
        let (to, name) = (Recipient::of(terminal), terminal.state.terminal.id.clone());
        let answer = Input::Answer { dialog: excerpt, choice: reply.in_words(&dialog) };
        let input = input(to.key.clone(), name.clone(), answer);
        while self.sends.try_join_next().is_some() {}
        self.sends.spawn(async move {
            let ticket = history.begin_input_durably(input).await;
            let pressing = || ticket.delivered(feed::now());
            let outcome = sender.answer(&to, &dialog, &reply, Limits::default(), pressing).await;
            ticket.ended(outcome.clone(), feed::now());
            tell(&told, News::Answered { key: to.key, name, outcome });
        });
    }

    /// Looks up the prompts that were sent before. A history that cannot be read has none.
    pub(super) fn look_up_prompts(&self, key: Option<TerminalKey>) {
        let (path, told) = (self.history.path().map(ToOwned::to_owned), self.told.clone());
        tokio::task::spawn_blocking(move || {
            let Some(mut reader) = path.and_then(|path| Reader::open(&path).ok()) else { return };
            let own = key.map(|key| reader.prompts(Some(&key), RECALLED)).transpose();
            let (own, all) =
                (own.ok().flatten().unwrap_or_default(), reader.prompts(None, RECALLED).unwrap_or_default());
            tell(&told, News::Prompts { own, all });
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
            News::Copied { clip, clipboard }
        });
    }

    /// Does something that takes time; what came of it is told.
    pub(super) fn work(&self, work: impl Future<Output = News> + Send + 'static) {
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
            News::Adopted { server, session, adopt, kept }
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
            News::Jumped { key, jump }
        });
    }
}

/// What is about to be sent, as the history keeps it.
fn input(key: TerminalKey, name: String, sent: Input) -> NewInput {
    NewInput { key, name, at: feed::now(), sender: "dashboard".to_owned(), sent }
}

/// Nobody listens any more when the dashboard has been left.
fn tell(told: &UnboundedSender<News>, news: News) {
    let _ = told.send(news);
}
