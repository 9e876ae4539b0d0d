//! Performs operations on terminals: prompts, answers and keys (SPEC §11).
//!
//! [`Sender::perform`] is the only way into a terminal: it records the operation, does it, and records its outcome.
//! [`steps`] and [`answering`], which are pure, decide what to do next; this file captures, pastes and presses. One operation at
//! a time is performed on a terminal, whichever process of the user does it; several terminals do not wait for each other.

mod answering;
mod prompt_back;
mod steps;
mod turns;

use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use tokio::sync::mpsc::UnboundedSender;

pub use prompt_back::PromptBack;
pub use steps::StepLimits;

use crate::clock::now;
use crate::dialog::Dialog;
use crate::fleet::TerminalKey;
use crate::history::History;
use crate::ids::NamedPlace;
use crate::operation::{
    Act, Key, Obstacle, Operation, Outcome, PasteText, Producer, Recipient, Refusal, Reply, TextError, When,
};
use crate::process::{self, Thoroughness};
use crate::profile::{Classification, Profile, ProfileSet, Program, RefusedInputs};
use crate::screen::{PaneFacts, Screen};
use crate::state::{Phase, Tri, UiContext};
use crate::status::Hindrance;
use crate::time::Span;
use crate::tmux::{self, CapturedPane, Delivery, Guard, Misread, Server};
use answering::{After, Answering, DialogFrame};
use steps::{Prompt, PromptFrame, Step, Steps};
use turns::{SendLock, Turns};

/// The most parts that a text is pasted in, which takes seconds. A longer one is pasted at once.
const MOST_PARTS: usize = 100;
/// How often keys are tried while the program's name changes.
const TRIES: u32 = 3;

/// Performs operations on the terminals of any server. Clones share their queues.
#[derive(Clone, Debug)]
pub struct Sender {
    profiles: Arc<RwLock<Arc<ProfileSet>>>,
    tmux: tmux::Settings,
    turns: Arc<Turns>,
    history: History,
    limits: StepLimits,
    events: Option<UnboundedSender<OperationEvent>>,
}

/// How far an operation has come.
#[derive(Clone, Debug)]
pub enum OperationEvent {
    /// Its first key is about to be pressed; of a prompt that is Enter.
    Begun(Arc<Operation>),
    Ended(Arc<Operation>, Outcome),
}

/// Who is asked while an operation is performed. `()` lets everything pass, once.
pub trait Gate: Send {
    /// Whether something may be sent, right before its first byte.
    fn may_begin(&mut self) -> impl Future<Output = bool> + Send {
        std::future::ready(true)
    }

    /// Whether to try again after a refusal that may pass; it takes its time until that is worth it.
    fn may_retry(&mut self) -> impl Future<Output = bool> + Send {
        std::future::ready(false)
    }
}

impl Gate for () {}

impl Sender {
    /// A sender that reads screens with these profiles, writes down in a history what it does, and takes turns with
    /// others that have the same directory for locks.
    pub fn new(profiles: Arc<ProfileSet>, tmux: tmux::Settings, history: History, locks: Option<PathBuf>) -> Self {
        let (profiles, turns) = (Arc::new(RwLock::new(profiles)), Arc::new(Turns::new(locks)));
        Self { profiles, tmux, turns, history, limits: StepLimits::default(), events: None }
    }

    /// The same with other limits.
    #[must_use]
    pub fn within(self, limits: StepLimits) -> Self {
        Self { limits, ..self }
    }

    /// The same, and it reports the progress of its operations.
    #[must_use]
    pub fn telling(self, events: UnboundedSender<OperationEvent>) -> Self {
        Self { events: Some(events), ..self }
    }

    /// Whether a terminal is the one that was named, at this moment, as far as its server answers.
    pub async fn is_meant(&self, key: &TerminalKey, named: &NamedPlace) -> bool {
        let Ok(server) = Server::new(key.server.clone(), self.tmux.clone()) else { return false };
        server.is_meant(key, named).await.unwrap_or(false)
    }

    /// Whether another process is sending to a terminal; one that is stopped meanwhile still is.
    pub fn is_taken(&self, key: &TerminalKey) -> bool {
        self.turns.is_taken(key)
    }

    /// Says why other processes cannot be kept from sending to the same terminal at the same time, where that is so.
    pub fn check_turns(&self) -> Result<(), String> {
        self.turns.check()
    }

    /// Reads screens with other profiles from now on; so do all clones.
    pub fn set_profiles(&self, profiles: Arc<ProfileSet>) {
        *self.profiles.write().unwrap_or_else(PoisonError::into_inner) = profiles;
    }

    fn profiles(&self) -> Arc<ProfileSet> {
        Arc::clone(&self.profiles.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// How the recipient's agent treats texts that are no plain prompts.
    fn input(&self, to: &Recipient) -> RefusedInputs {
        to.tool.as_deref().map(|tool| self.profiles().input(tool)).unwrap_or_default()
    }

    /// Performs an operation: records it, does it, and records its outcome.
    pub async fn perform(&self, operation: Operation, mut gate: impl Gate) -> Outcome {
        let operation = Arc::new(operation);
        // An agent cuts the blanks off a prompt; it makes no prompt of blanks alone.
        if matches!(&operation.act, Act::Prompt { text, .. } if text.trim().is_empty()) {
            let outcome = Outcome::from(Refusal::Text(TextError::Empty));
            self.tell(OperationEvent::Ended(operation, outcome.clone()));
            return outcome;
        }
        let ticket = match (&operation.act, &operation.producer) {
            // Whoever types waits for no disk.
            (Act::Keys { .. }, Producer::Dashboard) => self.history.begin_input(&operation),
            _ => self.history.begin_input_durably(&operation).await,
        };
        let mut is_begun = false;
        let mut begin = || {
            if !std::mem::replace(&mut is_begun, true) {
                self.tell(OperationEvent::Begun(Arc::clone(&operation)));
            }
        };
        let outcome = loop {
            let outcome = self.attempt(&operation, &mut gate, &mut begin).await;
            let may_pass = matches!(&outcome, Outcome::Refused(refusal) if refusal.may_pass());
            if !may_pass || !gate.may_retry().await {
                break outcome;
            }
        };
        ticket.ended(outcome.clone(), now());
        self.tell(OperationEvent::Ended(operation, outcome.clone()));
        outcome
    }

    /// How long the effect of an operation is waited for.
    pub(crate) fn reaction(&self) -> Span {
        self.limits.reaction
    }

    /// Reports how far an operation has come.
    pub(crate) fn tell(&self, event: OperationEvent) {
        if let Some(events) = &self.events {
            // Nobody listens any more when the program ends.
            let _ = events.send(event);
        }
    }

    async fn attempt(&self, operation: &Operation, gate: &mut impl Gate, begin: &mut (impl FnMut() + Send)) -> Outcome {
        let Operation { to, act, producer, .. } = operation;
        let done = match act {
            Act::Prompt { text, when } => self.send(to, text, *when, gate, begin).await,
            Act::Answer { dialog, reply, .. } => self.answer(to, dialog, reply, gate, begin).await,
            Act::Keys { keys, dialog, .. } | Act::Interrupt { keys, dialog } => match dialog {
                Some(dialog) => self.press_in(to, dialog, keys, gate, begin).await,
                // A person saw no dialog there; a script means whatever the terminal shows.
                None => self.press(to, keys, producer.has_looked(), gate, begin).await,
            },
        };
        let outcome = done.unwrap_or_else(Outcome::from);
        match act {
            Act::Prompt { text, .. } => {
                tracing::info!(terminal = ?to.key, bytes = text.len(), %outcome, "sent a prompt");
            }
            Act::Answer { reply, .. } => tracing::info!(terminal = ?to.key, ?reply, %outcome, "answered a dialog"),
            // Which keys is nobody's business: a password may be among them.
            Act::Keys { keys, .. } | Act::Interrupt { keys, .. } => {
                tracing::info!(terminal = ?to.key, count = keys.len(), %outcome, "pressed keys");
            }
        }
        outcome
    }

    /// Sends a text as a prompt: checks, pastes, presses Enter, and checks whether the agent took it. Begins right before
    /// Enter, so that a tracker knows of the turn before the screen does.
    async fn send(
        &self,
        to: &Recipient,
        text: &str,
        when: When,
        gate: &mut impl Gate,
        begin: &mut impl FnMut(),
    ) -> Result<Outcome, Refusal> {
        let input = self.input(to);
        let pasted = PasteText::new(input.padded(text)).map_err(Refusal::Text)?;
        let (_turn, mut pane) = self.take_turn(to).await?;
        let limit = pane.profile.as_ref().and_then(|profile| profile.paste_limit());
        let parts = limit.map(|limit| limit.parts(pasted.as_str())).filter(|parts| parts.len() <= MOST_PARTS);
        let parts = parts.unwrap_or_else(|| vec![pasted.as_str()]);
        let elapsed = stopwatch();
        let facts = pane.capture().await?.pane.facts.clone();
        let tool = self.check_program(&mut pane, to, &facts).await?;
        let ends = self.profiles().ends(&tool, pasted.as_str());
        let prompt = Prompt { text: pasted.as_str(), parts: parts.len(), attaches: limit.is_some(), ends };
        let mut steps = Steps::new(prompt, when, self.limits);
        let mut step = Step::Poll { after: Span::ZERO };
        let mut is_allowed = false;
        loop {
            let done = match step {
                Step::End(Outcome::Accepted(how)) => {
                    return Ok(Outcome::Accepted(
                        how.or_else(|| input.taken(text).map(|taken| format!("taken {taken}"))),
                    ));
                }
                Step::End(outcome) => return Ok(outcome),
                Step::Poll { after } => {
                    tokio::time::sleep(after.into()).await;
                    self.poll(&mut pane, to).await.map(|seen| steps.saw(seen, elapsed()))
                }
                Step::Paste { part } => {
                    let text = parts.get(part).copied().unwrap_or_default();
                    let text = PasteText::new(text).map_err(Refusal::Text)?;
                    is_allowed = is_allowed || gate.may_begin().await;
                    if !is_allowed {
                        return Err(Refusal::Withdrawn);
                    }
                    pane.paste(&text).await.map(|()| steps.delivered(elapsed()))
                }
                Step::PressEnter => {
                    begin();
                    pane.press_as_seen(&[Key::enter()]).await.map(|()| steps.delivered(elapsed()))
                }
            };
            step = match done {
                Ok(next) => next,
                Err(Refusal::Obstacle(Obstacle::Changed)) => steps.undelivered(elapsed()),
                Err(refusal) => return Ok(steps.stopped(refusal)),
            };
        }
    }

    /// Answers a dialog. It is captured again just before each key, and must be the one that the operator saw.
    async fn answer(
        &self,
        to: &Recipient,
        seen: &Dialog,
        reply: &Reply,
        gate: &mut impl Gate,
        begin: &mut impl FnMut(),
    ) -> Result<Outcome, Refusal> {
        let (_turn, mut pane) = self.take_turn(to).await?;
        let elapsed = stopwatch();
        let facts = pane.capture().await?.pane.facts.clone();
        self.check_program(&mut pane, to, &facts).await?;
        let mut answering = Answering::new(seen, reply, self.limits);
        let mut step = answering::AnswerStep::Poll { after: Span::ZERO };
        let mut is_allowed = false;
        loop {
            if matches!(step, answering::AnswerStep::Paste(_) | answering::AnswerStep::Press(_)) {
                is_allowed = is_allowed || gate.may_begin().await;
                if !is_allowed {
                    return Err(Refusal::Withdrawn);
                }
            }
            let done = match step {
                answering::AnswerStep::End(outcome) => return Ok(outcome),
                answering::AnswerStep::Poll { after } => {
                    tokio::time::sleep(after.into()).await;
                    self.poll_dialog(&mut pane, to).await.map(|poll| answering.saw(&poll, elapsed()))
                }
                answering::AnswerStep::Paste(text) => {
                    begin();
                    pane.paste(&text).await.map(|()| answering.delivered(elapsed()))
                }
                answering::AnswerStep::Press(keys) => {
                    begin();
                    pane.press_as_seen(&keys).await.map(|()| answering.delivered(elapsed()))
                }
            };
            step = match done {
                Ok(next) => next,
                Err(Refusal::Obstacle(Obstacle::Changed)) => answering.undelivered(),
                Err(refusal) => return Ok(answering.stopped(refusal)),
            };
        }
    }

    /// Presses keys, whatever the terminal shows, or unless a dialog has the keyboard, as long as the program runs there that the
    /// recipient stands for; where it stands for none, whichever runs there at the last poll.
    async fn press(
        &self,
        to: &Recipient,
        keys: &[Key],
        unless_dialog: bool,
        gate: &mut impl Gate,
        begin: &mut impl FnMut(),
    ) -> Result<Outcome, Refusal> {
        let (_turn, mut pane) = self.take_turn(to).await?;
        let (mut tries, mut is_allowed) = (TRIES, false);
        loop {
            let captured = pane.capture().await?;
            if to.tool.is_some() {
                self.check_program(&mut pane, to, &captured.pane.facts).await?;
            }
            if unless_dialog && pane.read(&captured)?.is_some_and(|reading| reading.in_dialog) {
                return Err(Refusal::AnotherDialog);
            }
            let command = captured.pane.facts.command.clone();
            is_allowed = is_allowed || gate.may_begin().await;
            if !is_allowed {
                return Err(Refusal::Withdrawn);
            }
            begin();
            let pressing = pane.press(keys, Guard::of_program(&command)).await;
            tries -= 1;
            // An agent may take another name; another program is found out by the next poll.
            if tries == 0 || !matches!(pressing, Err(Refusal::Obstacle(Obstacle::Changed))) {
                return pressed(pressing);
            }
        }
    }

    /// Presses keys in a dialog, which must still be the one that the operator saw.
    async fn press_in(
        &self,
        to: &Recipient,
        seen: &Dialog,
        keys: &[Key],
        gate: &mut impl Gate,
        begin: &mut impl FnMut(),
    ) -> Result<Outcome, Refusal> {
        let (_turn, mut pane) = self.take_turn(to).await?;
        match pane.read_dialog().await?.0.dialog {
            None => Err(Refusal::NoDialog),
            Some(dialog) if !dialog.is_same(seen) => Err(Refusal::AnotherDialog),
            Some(_) if !gate.may_begin().await => Err(Refusal::Withdrawn),
            Some(_) => {
                begin();
                pressed(pane.press_as_seen(keys).await)
            }
        }
    }

    /// Refuses when the agent that the recipient stands for does not run there, or no agent at all, whoever insists: a
    /// shell would run the text. Says which agent it is.
    async fn check_program(&self, pane: &mut TargetPane, to: &Recipient, facts: &PaneFacts) -> Result<String, Refusal> {
        if facts.dead {
            return Err(Refusal::Obstacle(Obstacle::Dead));
        }
        // The name that tmux gives the agent does not matter.
        if let (false, None, Some(tool), Program::Agent { tool: found, .. }) =
            (to.configured, &to.through, &to.tool, self.profiles().identify(&facts.command, &[], None))
            && found == *tool
        {
            pane.command = Some(facts.command.clone());
            return Ok(found);
        }
        let scanned = process::under(&pane.server, vec![to.key.pid], Thoroughness::All).await;
        let processes = scanned.as_ref().ok().and_then(|found| found.get(&to.key.pid)).map(Vec::as_slice);
        let failure = scanned.as_ref().err().cloned();
        let pinned = to.tool.as_deref().filter(|_| to.configured);
        match self.profiles().identify(&facts.command, processes.unwrap_or_default(), pinned) {
            Program::Agent { tool: found, through, .. } if to.tool.as_ref().is_none_or(|tool| found == *tool) => {
                if let Some(wrapper) = through {
                    pane.check_screen(&found, &wrapper).await?;
                }
                pane.command = Some(facts.command.clone());
                Ok(found)
            }
            Program::Wrapper { command } if to.through.as_ref() == Some(&command) => {
                let tool = to.tool.clone().unwrap_or_default();
                pane.check_screen(&tool, &command).await?;
                pane.command = Some(facts.command.clone());
                Ok(tool)
            }
            Program::Suspended { .. } => Err(Refusal::Hindrance(Hindrance::Suspended)),
            Program::Agent { tool: command, .. } | Program::Wrapper { command } | Program::Other { command } => {
                Err(match (failure, to.tool.clone()) {
                    (Some(error), _) => error.into(),
                    (None, Some(tool)) => Refusal::AgentGone { tool, command },
                    (None, None) => Refusal::NoAgent { command },
                })
            }
            Program::Unknown(problem) => Err(Refusal::Other(problem.message)),
        }
    }

    /// Captures a terminal in which the agent must still run. Agents change their names, and start programs.
    async fn poll(&self, pane: &mut TargetPane, to: &Recipient) -> Result<PromptFrame, Refusal> {
        let (seen, facts) = pane.poll().await?;
        if !facts.dead && pane.command.as_ref() != Some(&facts.command) {
            self.check_program(pane, to, &facts).await?;
        }
        Ok(seen)
    }

    /// Polls for a dialog: what an ended agent left on the screen is none.
    async fn poll_dialog(&self, pane: &mut TargetPane, to: &Recipient) -> Result<DialogFrame, Refusal> {
        let (seen, facts) = pane.read_dialog().await?;
        if !facts.dead && pane.command.as_ref() != Some(&facts.command) {
            self.check_program(pane, to, &facts).await?;
        }
        Ok(seen)
    }

    /// Waits for the right to send to a terminal, which lasts as long as what is returned beside its pane.
    async fn take_turn(&self, to: &Recipient) -> Result<(SendLock, TargetPane), Refusal> {
        let turn = self.turns.take(&to.key).await?;
        Ok((turn, self.open(to).map_err(Refusal::from)?))
    }

    fn open(&self, to: &Recipient) -> Result<TargetPane, tmux::Error> {
        let server = Server::new(to.key.server.clone(), self.tmux.clone())?;
        let profiles = self.profiles();
        let selected = to.tool.as_deref().and_then(|tool| profiles.select(tool, to.version.as_deref(), to.configured));
        // A substitute for a profile cannot tell when the agent takes a prompt.
        let own = |profile: &Arc<Profile>| to.tool.as_deref() == Some(profile.tool());
        let profile = selected.map(|selected| selected.profile).filter(own);
        let (seen, misread) = (Guard::default(), Misread::default());
        let (key, named) = (to.key.clone(), to.named.clone());
        Ok(TargetPane { server, key, named, profile, command: None, seen, failed: None, misread, is_starting: false })
    }
}

/// A recipient's pane, and the profile that reads it.
struct TargetPane {
    server: Server,
    key: TerminalKey,
    /// The place that named it, until something was sent: what was begun there ends there.
    named: Option<NamedPlace>,
    profile: Option<Arc<Profile>>,
    /// tmux's name for the agent when it was found there.
    command: Option<String>,
    /// The last poll's view of it: nothing is sent unless that still holds.
    seen: Guard,
    /// What was not so any more when something was to be sent.
    failed: Option<Guard>,
    misread: Misread,
    /// Whether the dialog belongs to the agent's start: what comes after it is no work of a turn.
    is_starting: bool,
}

impl TargetPane {
    async fn capture(&self) -> Result<CapturedPane, Refusal> {
        let poll = self.server.capture(&[self.key.pane]).await.map_err(Refusal::from)?;
        if !poll.instance.may_be(&self.key.instance) {
            return Err(Refusal::Obstacle(Obstacle::Elsewhere));
        }
        let captured = poll.captures.into_iter().next().ok_or(Refusal::Obstacle(Obstacle::Gone))?;
        match captured.pane.pid == self.key.pid {
            true => Ok(captured),
            false => Err(Refusal::Obstacle(Obstacle::Replaced)),
        }
    }

    async fn poll(&mut self) -> Result<(PromptFrame, PaneFacts), Refusal> {
        let captured = self.capture().await?;
        let reading = self.read(&captured)?;
        let CapturedPane { pane, screen } = captured;
        Ok((PromptFrame::new(&screen.unwrap_or_default(), &pane.facts, reading.as_ref()), pane.facts.clone()))
    }

    /// Refuses where nothing on the screen says that the agent still runs behind a wrapper: a shell there would run the text.
    async fn check_screen(&self, tool: &str, wrapper: &str) -> Result<(), Refusal> {
        let CapturedPane { pane, screen } = self.capture().await?;
        let reading = self.profile.as_ref().zip(screen).map(|(profile, screen)| profile.read(&screen, &pane.facts));
        // What no profile reads is as the operator says.
        match self.profile.is_none() || reading.is_some_and(|reading| reading.shows_agent()) {
            true => Ok(()),
            false => Err(Refusal::Other(format!("nothing on the screen says that {tool} still runs behind {wrapper}"))),
        }
    }

    async fn read_dialog(&mut self) -> Result<(DialogFrame, PaneFacts), Refusal> {
        let captured = self.capture().await?;
        let reading = self.read(&captured)?;
        let context = reading.as_ref().filter(|reading| reading.dialog.is_some()).map(|it| it.assessment.ui_context);
        self.is_starting |= matches!(context, Some(UiContext::TrustPrompt | UiContext::Setup));
        let is_background = reading.as_ref().is_some_and(|reading| reading.background_work == Tri::Yes);
        let after = match reading.as_ref().map(|reading| (reading.dialog.is_some(), reading.phase)) {
            _ if captured.pane.facts.dead => After::Gone,
            Some((true, _)) => After::AnotherDialog,
            Some((_, Phase::Active)) if !self.is_starting => After::Working,
            Some((_, Phase::Ready)) if is_background => After::Background,
            Some((_, Phase::Ready)) => After::Ready,
            Some((_, Phase::Active | Phase::Unknown)) | None => After::Unknown,
        };
        let seen = DialogFrame { dialog: reading.and_then(|reading| reading.dialog), after };
        Ok((seen, captured.pane.facts.clone()))
    }

    /// Reads what was captured, which is what must still be so when something is sent.
    fn read(&mut self, captured: &CapturedPane) -> Result<Option<Classification>, Refusal> {
        let no_screen = || Refusal::Other("tmux printed no screen for the pane".to_owned());
        let screen = captured.screen.as_ref().ok_or_else(no_screen)?;
        let reading = self.profile.as_ref().map(|profile| profile.read(screen, &captured.pane.facts));
        let (rows, ticking) = reading.as_ref().map(|reading| live_rows(reading, screen)).unwrap_or_default();
        let seen = Guard::of(&captured.pane.facts, screen, rows, ticking).without(&self.misread);
        self.seen = match &self.failed {
            Some(failed) => seen.steadied(failed),
            None => seen,
        };
        Ok(reading)
    }

    async fn paste(&mut self, text: &PasteText) -> Result<(), Refusal> {
        let guard = self.seen.clone().at(self.key.pane, self.named.as_ref());
        let delivery = delivered(self.server.paste(&self.key, text, &guard).await);
        self.learn_from(delivery).await
    }

    async fn press_as_seen(&mut self, keys: &[Key]) -> Result<(), Refusal> {
        let delivery = self.press(keys, self.seen.clone()).await;
        self.learn_from(delivery).await
    }

    async fn press(&self, keys: &[Key], guard: Guard) -> Result<(), Refusal> {
        let guard = guard.at(self.key.pane, self.named.as_ref());
        delivered(self.server.press(&self.key, keys, &guard).await)
    }

    /// Remembers what did not hold, and finds out which of it never will.
    async fn learn_from(&mut self, delivery: Result<(), Refusal>) -> Result<(), Refusal> {
        self.failed = None;
        self.named.take_if(|_| delivery.is_ok());
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
fn live_rows(reading: &Classification, screen: &Screen) -> (Vec<usize>, Range<usize>) {
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
        Err(error) => Err(error.into()),
    }
}

/// The outcome of keys, whose effect is not awaited.
fn pressed(pressing: Result<(), Refusal>) -> Result<Outcome, Refusal> {
    match pressing {
        Ok(()) => Ok(Outcome::Accepted(None)),
        // tmux may have done it and not been able to say so.
        Err(Refusal::Tmux { message: error, is_no_server: false, .. }) => {
            Ok(Outcome::Unverified { why: format!("it is not known whether the keys were pressed: {error}") })
        }
        Err(refusal) => Err(refusal),
    }
}

/// The time since now, whenever it is asked for.
fn stopwatch() -> impl Fn() -> Span {
    let start = Instant::now();
    move || Span::from_millis(u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX))
}
