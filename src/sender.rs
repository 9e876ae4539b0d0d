//! Sends prompts, keys and answers into terminals, and says what became of them (SPEC §11).
//!
//! What to do next is decided by [`steps`], which is pure; this file looks, pastes and presses. One thing at a time
//! goes to a terminal, whichever process of the user sends it; several terminals do not wait for each other.

mod answering;
mod pressing;
mod steps;
mod turns;

use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

pub use answering::Reply;
pub use steps::{Insistence, Limits};

use crate::dialog::Dialog;
use crate::fleet::{Terminal, TerminalKey};
use crate::moment::Span;
use crate::operation::{Outcome, Refusal};
use crate::process;
use crate::profile::{Input, Library, Profile, Program, Reading};
use crate::screen::{PaneFacts, Screen};
use crate::state::{Phase, ProcessState};
use crate::task::Task;
use crate::tmux::{self, CapturedPane, Delivery, Guard, Key, Misread, Obstacle, PasteText, Server, UnfitText};
use answering::{After, Answering, Look};
use steps::{Prompt, Seen, Step, Steps};
use turns::{Turn, Turns};

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

    /// A terminal for keys, which are meant for whatever program it shows.
    pub fn as_shown(terminal: &Terminal) -> Self {
        let to = Self::of(terminal);
        let runs = terminal.state.diagnostics.process_state == ProcessState::TuiUp;
        Self { tool: to.tool.filter(|_| runs), ..to }
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
    turns: Arc<Turns>,
}

impl Sender {
    /// A sender that reads screens with a library's profiles, and takes turns with others that have the same directory for
    /// locks.
    pub fn new(library: Arc<Library>, tmux: tmux::Settings, locks: Option<PathBuf>) -> Self {
        Self { library: Arc::new(RwLock::new(library)), tmux, turns: Arc::new(Turns::new(locks)) }
    }

    /// Says why other processes cannot be kept from sending to the same terminal at the same time, where that is so.
    pub fn check_turns(&self) -> Result<(), String> {
        self.turns.check()
    }

    /// Reads screens with another library's profiles from now on; so do all clones.
    pub fn learn(&self, library: Arc<Library>) {
        *self.library.write().unwrap_or_else(PoisonError::into_inner) = library;
    }

    /// What the agent that a recipient stands for makes of texts that are no plain prompts.
    fn input(&self, to: &Recipient) -> Input {
        to.tool.as_deref().map(|tool| self.library().input(tool)).unwrap_or_default()
    }

    fn library(&self) -> Arc<Library> {
        Arc::clone(&self.library.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sends a text as a prompt: checks, pastes, presses Enter, and looks whether the agent took it.
    pub async fn send(&self, to: &Recipient, text: &str, options: SendOptions) -> Outcome {
        self.send_and_tell(to, text, options, || {}).await
    }

    /// The same, and tells right before Enter is pressed, so that a tracker knows of the turn before the screen does.
    pub async fn send_and_tell(
        &self,
        to: &Recipient,
        text: &str,
        options: SendOptions,
        submitting: impl FnOnce() + Send,
    ) -> Outcome {
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
    ) -> Outcome {
        // An agent cuts the blanks off a prompt; of nothing but blanks it makes none.
        if text.trim().is_empty() {
            return Refusal::Text(UnfitText::Empty).into();
        }
        let input = self.input(to);
        let pasted = match PasteText::new(input.padded(text)) {
            Ok(text) => text,
            Err(unfit) => return Refusal::Text(unfit).into(),
        };
        let outcome = match self.take_turn(to).await {
            Ok((_turn, mut pane)) => self.take_steps(&mut pane, to, &pasted, options, (may_send, submitting)).await,
            Err(refusal) => refusal.into(),
        };
        let outcome = match outcome {
            Outcome::Accepted(None) => Outcome::Accepted(input.taken(text).map(|taken| format!("taken {taken}"))),
            outcome => outcome,
        };
        tracing::info!(terminal = ?to.key, bytes = text.len(), %outcome, "sent a prompt");
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
    ) -> Outcome {
        let outcome = match self.take_turn(to).await {
            Ok((_turn, mut pane)) => self.answer_in(&mut pane, to, Answering::new(seen, reply, limits), pressing).await,
            Err(refusal) => refusal.into(),
        };
        tracing::info!(terminal = ?to.key, ?reply, %outcome, "answered a dialog");
        outcome
    }

    async fn take_steps(
        &self,
        pane: &mut Pane,
        to: &Recipient,
        text: &PasteText,
        options: SendOptions,
        (may_send, submitting): (impl Future<Output = bool> + Send, impl FnOnce() + Send),
    ) -> Outcome {
        let (mut may_send, mut submitting) = (Some(may_send), Some(submitting));
        let start = Instant::now();
        let elapsed = || Span::from_millis(u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX));
        let ends = match self.check_program(pane, to).await {
            Ok(tool) => self.library().ends(&tool, text.as_str()),
            Err(refusal) => return refusal.into(),
        };
        let prompt = Prompt { text: text.as_str(), ends };
        let mut steps = Steps::new(prompt, options.insistence, options.limits);
        let mut step = Step::Look { after: Span::ZERO };
        loop {
            let done = match step {
                Step::End(outcome) => return outcome,
                Step::Look { after } => {
                    tokio::time::sleep(Duration::from_millis(after.as_millis())).await;
                    self.look(pane, to).await.map(|seen| steps.saw(seen, elapsed()))
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
                    pane.press_as_seen(&[Key::enter()]).await.map(|()| steps.delivered(elapsed()))
                }
            };
            step = match done {
                Ok(next) => next,
                Err(Refusal::Obstacle(Obstacle::Changed)) => steps.undelivered(elapsed()),
                Err(refusal) => return steps.stopped(refusal),
            };
        }
    }

    async fn answer_in(
        &self,
        pane: &mut Pane,
        to: &Recipient,
        mut answering: Answering<'_>,
        pressing: impl FnOnce() + Send,
    ) -> Outcome {
        let mut pressing = Some(pressing);
        let start = Instant::now();
        let elapsed = || Span::from_millis(u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX));
        if let Err(refusal) = self.check_program(pane, to).await {
            return refusal.into();
        }
        let mut step = answering::Step::Look { after: Span::ZERO };
        loop {
            let done = match step {
                answering::Step::End(outcome) => return outcome,
                answering::Step::Look { after } => {
                    tokio::time::sleep(Duration::from_millis(after.as_millis())).await;
                    pane.look_at_dialog().await.map(|look| answering.saw(&look, elapsed()))
                }
                answering::Step::Paste(text) => {
                    if let Some(tell) = pressing.take() {
                        tell();
                    }
                    pane.paste(&text).await.map(|()| answering.delivered(elapsed()))
                }
                answering::Step::Press(keys) => {
                    if let Some(tell) = pressing.take() {
                        tell();
                    }
                    pane.press_as_seen(&keys).await.map(|()| answering.delivered(elapsed()))
                }
            };
            step = match done {
                Ok(next) => next,
                Err(Refusal::Obstacle(Obstacle::Changed)) => answering.undelivered(),
                Err(refusal) => return answering.stopped(refusal),
            };
        }
    }

    /// Refuses when the agent that the recipient stands for does not run there, or no agent at all, whoever insists: a
    /// shell would run the text. Says which agent it is.
    async fn check_program(&self, pane: &mut Pane, to: &Recipient) -> Result<String, Refusal> {
        let captured = pane.capture().await?;
        if captured.pane.facts.dead {
            return Err(Refusal::Obstacle(Obstacle::Dead));
        }
        // What tmux calls it by the name of the agent is not looked into.
        if let (false, Some(tool), Program::Agent { tool: found, .. }) =
            (to.configured, &to.tool, self.library().identify(&captured.pane.facts.command, &[], None))
            && found == *tool
        {
            pane.command = Some(captured.pane.facts.command);
            return Ok(found);
        }
        let scanned = process::under(&pane.server, vec![to.key.pid]).await;
        let processes = scanned.as_ref().ok().and_then(|found| found.get(&to.key.pid)).map(Vec::as_slice);
        let failure = scanned.as_ref().err().cloned();
        let pinned = to.tool.as_deref().filter(|_| to.configured);
        match self.library().identify(&captured.pane.facts.command, processes.unwrap_or_default(), pinned) {
            Program::Agent { tool: found, .. } if to.tool.as_ref().is_none_or(|tool| found == *tool) => {
                pane.command = Some(captured.pane.facts.command);
                Ok(found)
            }
            Program::Agent { tool: command, .. } | Program::Other { command } => {
                Err(match (failure, to.tool.clone()) {
                    (Some(error), _) => Refusal::Tmux(error),
                    (None, Some(tool)) => Refusal::AgentGone { tool, command },
                    (None, None) => Refusal::NoAgent { command },
                })
            }
            Program::Unknown(problem) => Err(Refusal::Other(problem.message)),
        }
    }

    /// Looks at a terminal in which the agent must still run. Agents change their names, and start programs.
    async fn look(&self, pane: &mut Pane, to: &Recipient) -> Result<Seen, Refusal> {
        let (seen, facts) = pane.look().await?;
        if !facts.dead && pane.command.as_ref() != Some(&facts.command) {
            self.check_program(pane, to).await?;
        }
        Ok(seen)
    }

    /// Waits for the right to send to a terminal, which lasts as long as what is returned beside its pane.
    async fn take_turn(&self, to: &Recipient) -> Result<(Turn, Pane), Refusal> {
        let turn = self.turns.take(&to.key).await?;
        Ok((turn, self.open(to).map_err(Refusal::Tmux)?))
    }

    fn open(&self, to: &Recipient) -> Result<Pane, tmux::Error> {
        let server = Server::new(to.key.server.clone(), self.tmux.clone())?;
        let library = self.library();
        let selected = to.tool.as_deref().and_then(|tool| library.select(tool, to.version.as_deref(), to.configured));
        let profile = selected.map(|selected| selected.profile);
        let (seen, misread) = (Guard::default(), Misread::default());
        Ok(Pane { server, key: to.key.clone(), profile, command: None, seen, failed: None, misread })
    }
}

/// A recipient's pane, and what reads it.
struct Pane {
    server: Server,
    key: TerminalKey,
    profile: Option<Arc<Profile>>,
    /// What tmux called the agent when it was found there.
    command: Option<String>,
    /// What the last look showed of it: nothing is sent unless it is still so.
    seen: Guard,
    /// What was not so any more when something was to be sent.
    failed: Option<Guard>,
    misread: Misread,
}

impl Pane {
    async fn capture(&self) -> Result<CapturedPane, Refusal> {
        let look = self.server.capture(&[self.key.pane]).await.map_err(Refusal::Tmux)?;
        if !look.instance.may_be(&self.key.instance) {
            return Err(Refusal::Obstacle(tmux::Obstacle::Elsewhere));
        }
        let captured = look.captures.into_iter().next().ok_or(Refusal::Obstacle(tmux::Obstacle::Gone))?;
        match captured.pane.pid == self.key.pid {
            true => Ok(captured),
            false => Err(Refusal::Obstacle(tmux::Obstacle::Replaced)),
        }
    }

    async fn look(&mut self) -> Result<(Seen, PaneFacts), Refusal> {
        let (CapturedPane { pane, screen }, reading) = self.read().await?;
        Ok((Seen::new(&screen.unwrap_or_default(), &pane.facts, reading.as_ref()), pane.facts))
    }

    async fn look_at_dialog(&mut self) -> Result<Look, Refusal> {
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

    async fn read(&mut self) -> Result<(CapturedPane, Option<Reading>), Refusal> {
        let captured = self.capture().await?;
        let no_screen = || Refusal::Other("tmux printed no screen for the pane".to_owned());
        let screen = captured.screen.as_ref().ok_or_else(no_screen)?;
        let reading = self.profile.as_ref().map(|profile| profile.read(screen, &captured.pane.facts));
        let (rows, ticking) = reading.as_ref().map(|reading| live_rows(reading, screen)).unwrap_or_default();
        let seen = Guard::of(&captured.pane.facts, screen, rows, ticking).without(&self.misread);
        self.seen = match &self.failed {
            Some(failed) => seen.steadied(failed),
            None => seen,
        };
        Ok((captured, reading))
    }

    async fn paste(&mut self, text: &PasteText) -> Result<(), Refusal> {
        let delivery = delivered(self.server.paste(&self.key, text, &self.seen).await);
        self.learn_from(delivery).await
    }

    async fn press_as_seen(&mut self, keys: &[Key]) -> Result<(), Refusal> {
        let delivery = self.press(keys, &self.seen).await;
        self.learn_from(delivery).await
    }

    async fn press(&self, keys: &[Key], guard: &Guard) -> Result<(), Refusal> {
        delivered(self.server.press(&self.key, keys, guard).await)
    }

    /// Remembers what did not hold, and finds out which of it never will.
    async fn learn_from(&mut self, delivery: Result<(), Refusal>) -> Result<(), Refusal> {
        self.failed = None;
        if matches!(delivery, Err(Refusal::Obstacle(Obstacle::Changed))) {
            match self.server.misread(&self.key, &self.seen).await {
                Ok(misread) => self.misread.extend(misread),
                Err(error) => tracing::debug!(%error, "it is not known which rows tmux can test"),
            }
            self.failed = Some(self.seen.clone());
        }
        delivery
    }
}

/// The rows of the dialog or else of the prompt that takes the keys, and those below that may tick.
fn live_rows(reading: &Reading, screen: &Screen) -> (Vec<usize>, Range<usize>) {
    let prompt = |rows: Range<usize>| (rows.clone().collect(), rows.end..screen.last_row().map_or(0, |y| y + 1));
    match &reading.dialog {
        Some(dialog) => dialog.live_rows(screen),
        None => reading.composer.clone().map(prompt).unwrap_or_default(),
    }
}

fn delivered(delivery: Result<Delivery, tmux::Error>) -> Result<(), Refusal> {
    match delivery {
        Ok(Delivery::Delivered) => Ok(()),
        Ok(Delivery::Refused(obstacle)) => Err(Refusal::Obstacle(obstacle)),
        Err(error) => Err(Refusal::Tmux(error)),
    }
}
