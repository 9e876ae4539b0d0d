//! Sends prompts, keys and answers into terminals, and says what became of them (SPEC §11).
//!
//! What to do next is decided by [`steps`], which is pure; this file looks, pastes and presses. One thing at a time
//! goes to a terminal; several terminals do not wait for each other.

mod answering;
mod outcome;
mod steps;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

pub use answering::{After, Answered, Reply};
pub use outcome::{Refusal, SendOutcome};
pub use steps::{Insistence, Limits};

use crate::dialog::Dialog;
use crate::fleet::{Terminal, TerminalKey};
use crate::moment::Span;
use crate::process;
use crate::profile::{Library, Profile, Program, Reading};
use crate::state::{Phase, ProcessState};
use crate::task::Task;
use crate::tmux::{self, CapturedPane, Delivery, Key, PasteText, Server};
use answering::{Answering, Look};
use steps::{Seen, Step, Steps};

/// Where to send to, and what is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipient {
    pub key: TerminalKey,
    /// The agent that must be running there to be sent a prompt; `None` where none is expected: then any known one may.
    pub tool: Option<String>,
    /// The version whose profile reads the screen.
    pub version: Option<String>,
    /// Whether tool and version come from the configuration.
    pub configured: bool,
}

/// How a text is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendOptions {
    pub insistence: Insistence,
    pub limits: Limits,
}

impl Recipient {
    /// The pane of a task, in which no agent is expected.
    pub fn of_task(task: &Task) -> Self {
        Self { key: task.key.clone(), tool: None, version: None, configured: false }
    }

    /// A terminal as a sender knows it.
    pub fn of(terminal: &Terminal) -> Self {
        let runs = terminal.state.diagnostics.process_state == ProcessState::TuiUp;
        let facts = &terminal.state.terminal;
        // Where no agent runs, the facts name whatever program does.
        let found = runs.then(|| facts.tool.clone());
        Self {
            key: terminal.key.clone(),
            tool: found.or_else(|| terminal.declared.tool.clone()),
            version: facts.observed_tool_version.clone(),
            configured: terminal.declared.tool.is_some(),
        }
    }
}

/// Sends to the terminals of any server. Clones share their queues.
#[derive(Clone, Debug)]
pub struct Sender {
    library: Arc<RwLock<Arc<Library>>>,
    tmux: tmux::Settings,
    /// A lock for each terminal that was ever sent to: two texts at once would end up in one prompt.
    turns: Arc<Mutex<HashMap<TerminalKey, Arc<tokio::sync::Mutex<()>>>>>,
}

impl Sender {
    /// A sender that reads screens with a library's profiles.
    pub fn new(library: Arc<Library>, tmux: tmux::Settings) -> Self {
        Self { library: Arc::new(RwLock::new(library)), tmux, turns: Arc::default() }
    }

    /// Reads screens with another library's profiles from now on; so do all clones.
    pub fn learn(&self, library: Arc<Library>) {
        *self.library.write().unwrap_or_else(PoisonError::into_inner) = library;
    }

    fn library(&self) -> Arc<Library> {
        Arc::clone(&self.library.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sends a text as a prompt: checks, pastes, presses Enter, and looks whether the agent took it.
    pub async fn send(&self, to: &Recipient, text: &str, options: SendOptions) -> SendOutcome {
        self.send_and_tell(to, text, options, || {}).await
    }

    /// The same, and tells right before Enter is pressed, so that a tracker knows of the turn before the screen does.
    pub async fn send_and_tell(
        &self,
        to: &Recipient,
        text: &str,
        options: SendOptions,
        submitting: impl FnOnce() + Send,
    ) -> SendOutcome {
        self.send_if(to, text, options, std::future::ready(true), submitting).await
    }

    /// The same, and asks right before the first byte is sent: when `may_send` then says no, nothing is.
    pub async fn send_if(
        &self,
        to: &Recipient,
        text: &str,
        options: SendOptions,
        may_send: impl Future<Output = bool> + Send,
        submitting: impl FnOnce() + Send,
    ) -> SendOutcome {
        let text = match PasteText::new(text) {
            Ok(text) => text,
            Err(unfit) => return Refusal::Text(unfit).into(),
        };
        let _turn = self.turn(&to.key).await;
        let pane = match self.open(to) {
            Ok(pane) => pane,
            Err(error) => return Refusal::Tmux(error).into(),
        };
        let outcome = self.take_steps(&pane, to, &text, options, (may_send, submitting)).await;
        tracing::info!(terminal = ?to.key, bytes = text.as_str().len(), %outcome, "sent a prompt");
        outcome
    }

    /// Presses keys, whatever the terminal shows; only the identity and tmux's own modes are checked.
    pub async fn keys(&self, to: &Recipient, keys: &[Key]) -> SendOutcome {
        let _turn = self.turn(&to.key).await;
        let outcome = match self.open(to) {
            Ok(pane) => pane.press(keys).await.map_or_else(SendOutcome::from, |()| SendOutcome::Accepted),
            Err(error) => Refusal::Tmux(error).into(),
        };
        // Which keys is nobody's business: a password may be among them.
        tracing::info!(terminal = ?to.key, count = keys.len(), %outcome, "pressed keys");
        outcome
    }

    /// Answers a dialog. It is captured again just before each key, and must be the one that the operator saw. Tells right
    /// before the first key is pressed.
    pub async fn answer(
        &self,
        to: &Recipient,
        seen: &Dialog,
        reply: &Reply,
        limits: Limits,
        pressing: impl FnOnce() + Send,
    ) -> Answered {
        let _turn = self.turn(&to.key).await;
        let answered = match self.open(to) {
            Ok(pane) => self.answer_in(&pane, to, Answering::new(seen, reply, limits), pressing).await,
            Err(error) => Refusal::Tmux(error).into(),
        };
        tracing::info!(terminal = ?to.key, ?reply, outcome = %answered.outcome, "answered a dialog");
        answered
    }

    async fn take_steps(
        &self,
        pane: &Pane,
        to: &Recipient,
        text: &PasteText,
        options: SendOptions,
        (may_send, submitting): (impl Future<Output = bool> + Send, impl FnOnce() + Send),
    ) -> SendOutcome {
        let (mut may_send, mut submitting) = (Some(may_send), Some(submitting));
        let start = Instant::now();
        let elapsed = || Span::from_millis(u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX));
        let mut steps = Steps::new(options.insistence, options.limits);
        if let Err(outcome) = self.check_program(pane, to).await {
            return outcome;
        }
        let mut step = Step::Look { after: Span::ZERO };
        loop {
            let done = match step {
                Step::End(outcome) => return outcome,
                Step::Look { after } => {
                    tokio::time::sleep(Duration::from_millis(after.as_millis())).await;
                    pane.look().await.map(|seen| steps.saw(seen, elapsed()))
                }
                Step::Paste => {
                    if let Some(may_send) = may_send.take()
                        && !may_send.await
                    {
                        return Refusal::Withdrawn.into();
                    }
                    pane.paste(text).await.map(|()| steps.delivered(elapsed()))
                }
                Step::PressEnter => {
                    // A second Enter belongs to the same prompt.
                    if let Some(tell) = submitting.take() {
                        tell();
                    }
                    pane.press(&[Key::enter()]).await.map(|()| steps.delivered(elapsed()))
                }
            };
            step = match done {
                Ok(next) => next,
                Err(refusal) => return steps.stopped(refusal),
            };
        }
    }

    async fn answer_in(
        &self,
        pane: &Pane,
        to: &Recipient,
        mut answering: Answering<'_>,
        pressing: impl FnOnce() + Send,
    ) -> Answered {
        let mut pressing = Some(pressing);
        let start = Instant::now();
        let elapsed = || Span::from_millis(u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX));
        if let Err(outcome) = self.check_program(pane, to).await {
            return outcome.into();
        }
        let mut step = answering::Step::Look { after: Span::ZERO };
        loop {
            let done = match step {
                answering::Step::End(answered) => return answered,
                answering::Step::Look { after } => {
                    tokio::time::sleep(Duration::from_millis(after.as_millis())).await;
                    pane.look_at_dialog().await.map(|look| answering.saw(&look, elapsed()))
                }
                answering::Step::Press(keys) => {
                    if let Some(tell) = pressing.take() {
                        tell();
                    }
                    pane.press(&keys).await.map(|()| answering.delivered(elapsed()))
                }
            };
            step = match done {
                Ok(next) => next,
                Err(refusal) => return answering.stopped(refusal),
            };
        }
    }

    /// Refuses when the agent that the recipient stands for does not run there, or no agent at all, whoever insists: a
    /// shell would run the text.
    async fn check_program(&self, pane: &Pane, to: &Recipient) -> Result<(), SendOutcome> {
        let captured = pane.capture().await?;
        if captured.pane.facts.dead {
            return Err(Refusal::Obstacle(tmux::Obstacle::Dead).into());
        }
        let scanned = process::under(&pane.server, vec![to.key.pid]).await;
        let processes = scanned.as_ref().ok().and_then(|found| found.get(&to.key.pid)).map(Vec::as_slice);
        let pinned = to.tool.as_deref().filter(|_| to.configured);
        match self.library().identify(&captured.pane.facts.command, processes.unwrap_or_default(), pinned) {
            Program::Agent { tool: found, .. } if to.tool.as_ref().is_none_or(|tool| found == *tool) => Ok(()),
            _ if scanned.is_err() => scanned.map(drop).map_err(|error| Refusal::Tmux(error).into()),
            Program::Agent { tool: command, .. } | Program::Other { command } => Err(match to.tool.clone() {
                Some(tool) => Refusal::AgentGone { tool, command }.into(),
                None => Refusal::NoAgent { command }.into(),
            }),
            Program::Unknown(problem) => Err(Refusal::Unknown(problem.message).into()),
        }
    }

    fn open(&self, to: &Recipient) -> Result<Pane, tmux::Error> {
        let server = Server::new(to.key.server.clone(), self.tmux.clone())?;
        let library = self.library();
        let selected = to.tool.as_deref().and_then(|tool| library.select(tool, to.version.as_deref(), to.configured));
        Ok(Pane { server, key: to.key.clone(), profile: selected.map(|selected| selected.profile) })
    }

    async fn turn(&self, key: &TerminalKey) -> tokio::sync::OwnedMutexGuard<()> {
        let turn = {
            let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
            turns.retain(|_, turn| Arc::strong_count(turn) > 1);
            Arc::clone(turns.entry(key.clone()).or_default())
        };
        turn.lock_owned().await
    }
}

/// A recipient's pane, and what reads it.
struct Pane {
    server: Server,
    key: TerminalKey,
    profile: Option<Arc<Profile>>,
}

impl Pane {
    async fn capture(&self) -> Result<CapturedPane, Refusal> {
        let look = self.server.capture(&[self.key.pane]).await.map_err(Refusal::Tmux)?;
        let captured = look.captures.into_iter().next().ok_or(Refusal::Obstacle(tmux::Obstacle::Gone))?;
        match captured.pane.pid == self.key.pid {
            true => Ok(captured),
            false => Err(Refusal::Obstacle(tmux::Obstacle::Replaced)),
        }
    }

    async fn look(&self) -> Result<Seen, Refusal> {
        let (CapturedPane { pane, screen }, reading) = self.read().await?;
        Ok(Seen::new(&screen.unwrap_or_default(), &pane.facts, reading.as_ref()))
    }

    async fn look_at_dialog(&self) -> Result<Look, Refusal> {
        let (captured, reading) = self.read().await?;
        let after = match reading.as_ref().map(|reading| (reading.dialog.is_some(), reading.phase)) {
            _ if captured.pane.facts.dead => After::Gone,
            Some((true, _)) => After::AnotherDialog,
            Some((_, Phase::Active)) => After::Working,
            Some((_, Phase::Ready)) => After::Ready,
            Some((_, Phase::Unknown)) | None => After::Unknown,
        };
        Ok(Look { dialog: reading.and_then(|reading| reading.dialog), after })
    }

    async fn read(&self) -> Result<(CapturedPane, Option<Reading>), Refusal> {
        let captured = self.capture().await?;
        let no_screen = || Refusal::Unknown("tmux printed no screen for the pane".to_owned());
        let screen = captured.screen.as_ref().ok_or_else(no_screen)?;
        let reading = self.profile.as_ref().map(|profile| profile.read(screen, &captured.pane.facts));
        Ok((captured, reading))
    }

    async fn paste(&self, text: &PasteText) -> Result<(), Refusal> {
        delivered(self.server.paste(&self.key, text).await)
    }

    async fn press(&self, keys: &[Key]) -> Result<(), Refusal> {
        delivered(self.server.press(&self.key, keys).await)
    }
}

fn delivered(delivery: Result<Delivery, tmux::Error>) -> Result<(), Refusal> {
    match delivery {
        Ok(Delivery::Delivered) => Ok(()),
        Ok(Delivery::Refused(obstacle)) => Err(Refusal::Obstacle(obstacle)),
        Err(error) => Err(Refusal::Tmux(error)),
    }
}
