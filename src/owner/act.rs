//! One process acts for all: what another one asks for is performed by the owner of the server, and its outcome comes back.
//!
//! Nothing goes into a terminal before the one that asked says so, right before the first byte. So an owner that ends, is
//! stopped or is cut off before that has done nothing and never will, and who asked may do it another way. After that only the
//! outcome tells, and without one it is `unverified`.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::{mpsc, oneshot, watch};

use super::lease::LeasePath;
use super::wire::{BEAT, Errand, Hello, Lines, Order, Rank, Role, STOPPED, line};
use crate::fleet::ServerId;
use crate::operation::{Operation, Outcome};
use crate::sender::{Gate, OperationEvent, Sender, StepLimits};

/// What the owner tells who asked for an operation.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Progress {
    /// May it begin? The answer is `true` or `false`.
    Begins,
    /// It was refused for something that may pass. Is it tried again?
    Retries,
    /// It came to its outcome.
    Ended(Outcome),
    /// The owner runs.
    Alive,
    /// The owner is another version; why, for people.
    Refused { why: String },
}

/// A process that has asked for an operation and waits for the outcome.
#[derive(Debug)]
pub struct Caller {
    order: Box<Order>,
    lines: Lines,
    writer: OwnedWriteHalf,
}

impl Caller {
    pub(super) fn new(order: Box<Order>, lines: Lines, writer: OwnedWriteHalf) -> Self {
        Self { order, lines, writer }
    }

    /// Performs the operation, and says what becomes of it. Once this process `ends`, nothing is tried again.
    pub async fn serve(self, sender: Sender, mut ends: watch::Receiver<bool>) {
        let Self { order, mut lines, mut writer } = self;
        let Order { operation, reaction } = *order;
        let (questions, mut asking) = mpsc::channel(1);
        let sender = sender.within(StepLimits { reaction, ..StepLimits::default() });
        let performing = sender.perform(operation, CallersGate { questions });
        tokio::pin!(performing);
        let mut beat = tokio::time::interval(BEAT);
        loop {
            let said = tokio::select! {
                outcome = &mut performing => {
                    // Who does not wait any longer finds it in the history.
                    let _gone = say(&mut writer, &Progress::Ended(outcome)).await;
                    return;
                }
                Some((question, answer)) = asking.recv() => {
                    let question: Progress = question;
                    let answer: oneshot::Sender<bool> = answer;
                    let said = say(&mut writer, &question).await;
                    let is_retry = matches!(question, Progress::Retries);
                    let is_so = tokio::select! {
                        answer = lines.next::<bool>() => matches!(answer, Ok(Some(true))),
                        // Until it may begin, nobody else gets to the terminal; who is stopped is not waited for.
                        () = tokio::time::sleep(STOPPED), if !is_retry => false,
                        _ = ends.wait_for(|ends| *ends), if is_retry => return,
                    };
                    let is_so = is_so && said.is_ok();
                    // What asks waits for this very answer.
                    let _ = answer.send(is_so);
                    said
                }
                _ = beat.tick() => say(&mut writer, &Progress::Alive).await,
            };
            if let Err(error) = said {
                tracing::debug!(%error, "who asked for an operation waits no longer");
            }
        }
    }
}

/// Asks the process that wants an operation.
struct CallersGate {
    questions: mpsc::Sender<(Progress, oneshot::Sender<bool>)>,
}

impl CallersGate {
    async fn ask(&self, question: Progress) -> bool {
        let (answer, answered) = oneshot::channel();
        self.questions.send((question, answer)).await.is_ok() && answered.await.unwrap_or(false)
    }
}

impl Gate for CallersGate {
    async fn may_begin(&mut self) -> bool {
        self.ask(Progress::Begins).await
    }

    async fn may_retry(&mut self) -> bool {
        self.ask(Progress::Retries).await
    }
}

/// The roles of a process, by server.
pub type Roles = Arc<Mutex<BTreeMap<ServerId, Role>>>;

/// What performs operations for one process: the owner of their server, or the process itself where it is that, or there is none.
#[derive(Clone, Debug)]
pub struct Actor {
    sender: Sender,
    history: Option<PathBuf>,
    roles: Roles,
}

impl Actor {
    /// The actor of a process with these roles, which performs by a sender what no owner does that shares its history.
    pub fn new(sender: Sender, history: Option<PathBuf>, roles: Roles) -> Self {
        Self { sender, history, roles }
    }

    /// What performs where there is no owner.
    pub fn sender(&self) -> &Sender {
        &self.sender
    }

    /// The same, and waits for the effect of an operation within other limits.
    #[must_use]
    pub fn within(self, limits: StepLimits) -> Self {
        Self { sender: self.sender.within(limits), ..self }
    }

    /// Performs an operation once, or not at all. Its outcome is recorded by the process that does it.
    pub async fn perform(&self, operation: Operation, mut gate: impl Gate) -> Outcome {
        if !self.owns(&operation.to.key.server)
            && let Some(outcome) = self.ask(&operation, &mut gate).await
        {
            self.sender.tell(OperationEvent::Ended(Arc::new(operation), outcome.clone()));
            return outcome;
        }
        self.sender.perform(operation, gate).await
    }

    fn owns(&self, server: &ServerId) -> bool {
        self.roles.lock().unwrap_or_else(PoisonError::into_inner).get(server) == Some(&Role::Owner)
    }

    /// Has the owner do it; `None` where there is none of this version, or it ended before it began.
    async fn ask(&self, operation: &Operation, gate: &mut impl Gate) -> Option<Outcome> {
        let server = &operation.to.key.server;
        let place = LeasePath::of(server, self.history.as_deref(), false)?;
        let stream = tokio::time::timeout(STOPPED, place.connect()).await.ok()?.ok()?;
        let (reader, mut writer) = stream.into_split();
        let order = Order { operation: operation.clone(), reaction: self.sender.reaction() };
        let hello = Hello { asked: Some(Errand::Act(order.into())), ..Hello::new(server.clone(), 0, Rank::Reader) };
        say(&mut writer, &hello).await.ok()?;
        let (mut lines, mut has_begun) = (Lines::new(reader), false);
        loop {
            let told = tokio::time::timeout(STOPPED, lines.next::<Progress>()).await;
            let answer = match told {
                Ok(Ok(Some(Progress::Alive))) => continue,
                Ok(Ok(Some(Progress::Begins))) => {
                    has_begun = gate.may_begin().await;
                    has_begun
                }
                Ok(Ok(Some(Progress::Retries))) => {
                    // What was refused for something that may pass has sent nothing.
                    has_begun = false;
                    gate.may_retry().await
                }
                Ok(Ok(Some(Progress::Ended(outcome)))) => return Some(outcome),
                Ok(Ok(Some(Progress::Refused { why }))) => {
                    tracing::debug!(%server, why, "the owner does not act for this process");
                    return None;
                }
                Ok(Ok(None) | Err(_)) | Err(_) if !has_begun => return None,
                Err(_) => return Some(unverified("does not answer")),
                Ok(Ok(None) | Err(_)) => return Some(unverified("ended before it said what became of it")),
            };
            if say(&mut writer, &answer).await.is_err() {
                return has_begun.then(|| unverified("ended before it said what became of it"));
            }
        }
    }
}

fn unverified(what: &str) -> Outcome {
    Outcome::Unverified { why: format!("the fleetwatch that acts there {what}") }
}

/// Tells a process that asked why the owner does not act for it.
pub(super) async fn refuse(mut writer: OwnedWriteHalf, why: String) {
    // It does it another way then.
    let _gone = say(&mut writer, &Progress::Refused { why }).await;
}

async fn say(writer: &mut OwnedWriteHalf, message: &impl Serialize) -> io::Result<()> {
    writer.write_all(&line(message)?).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::{PaneId, Socket, TerminalKey};
    use crate::history::History;
    use crate::operation::{Act, Key, Obstacle, Privacy, Producer, Recipient, Refusal};
    use crate::owner::lease::{Acquired, Bid, acquire};
    use crate::profile::ProfileSet;
    use crate::time::Timestamp;
    use crate::tmux;

    /// Who asks, and lets it begin or not.
    struct Asks(bool);

    impl Gate for Asks {
        async fn may_begin(&mut self) -> bool {
            self.0
        }

        async fn may_retry(&mut self) -> bool {
            self.0
        }
    }

    fn keys(server: &ServerId) -> Operation {
        let key = TerminalKey { server: server.clone(), pane: PaneId(1), pid: 7, instance: Default::default() };
        let act = Act::Keys { keys: vec![Key::enter()], dialog: None, privacy: Privacy::Open };
        let to = Recipient::new(key, "api".to_owned());
        Operation { at: Timestamp::default(), producer: Producer::CommandLine, to, act }
    }

    /// What is made of an owner that says this, and then ends or is silent, and what it was answered.
    async fn made_of(said: Vec<Progress>, ends: bool, begins: bool) -> (Option<Outcome>, Vec<bool>) {
        let folder = tempfile::tempdir().unwrap();
        let history = folder.path().join("history.db");
        let server = ServerId { host: None, socket: Socket::at("/none/such") };
        let place = LeasePath::of(&server, Some(&history), true).unwrap();
        let Acquired::Lease(lease) = acquire(&place, Bid::Own).await else { panic!("nobody else has it") };
        let owner = async {
            let (stream, _) = lease.listener.accept().await.unwrap();
            let (reader, mut writer) = stream.into_split();
            let mut lines = Lines::new(reader);
            assert!(lines.next::<Hello>().await.unwrap().unwrap().acts());
            let mut answers = Vec::new();
            for progress in said {
                let asks = matches!(progress, Progress::Begins | Progress::Retries);
                say(&mut writer, &progress).await.unwrap();
                if asks {
                    answers.push(lines.next().await.unwrap().unwrap());
                }
            }
            if ends {
                return answers;
            }
            // Until who asks waits no longer.
            assert!(!matches!(lines.next::<bool>().await, Ok(Some(_))));
            answers
        };
        let sender = Sender::new(Arc::new(ProfileSet::builtin()), tmux::Settings::default(), History::off(), None);
        let actor = Actor::new(sender, Some(history.clone()), Roles::default());
        let (operation, mut gate) = (keys(&server), Asks(begins));
        let asked = async { actor.ask(&operation, &mut gate).await };
        let (answers, outcome) = tokio::join!(owner, asked);
        (outcome, answers)
    }

    #[tokio::test]
    async fn an_owner_that_goes_before_it_may_begin_has_done_nothing() {
        use Progress::{Alive, Begins, Refused, Retries};
        assert_eq!(made_of(vec![], true, true).await, (None, vec![]));
        assert_eq!(made_of(vec![Alive], false, true).await, (None, vec![]), "stopped");
        let why = "it is fleetwatch 9".to_owned();
        assert_eq!(made_of(vec![Refused { why }], true, true).await, (None, vec![]));
        assert_eq!(made_of(vec![Begins], true, false).await, (None, vec![false]));
        assert_eq!(made_of(vec![Begins, Retries], true, true).await, (None, vec![true, true]), "it was refused");
    }

    #[tokio::test]
    async fn after_that_only_the_outcome_tells() {
        use Progress::{Alive, Begins, Ended};
        let refused = || Outcome::from(Refusal::Obstacle(Obstacle::InMode));
        assert_eq!(made_of(vec![Ended(refused())], true, true).await, (Some(refused()), vec![]));
        let accepted = || Outcome::Accepted(None);
        assert_eq!(made_of(vec![Alive, Begins, Ended(accepted())], true, true).await, (Some(accepted()), vec![true]));
        let ended = unverified("ended before it said what became of it");
        assert_eq!(made_of(vec![Begins], true, true).await, (Some(ended), vec![true]));
        let silent = unverified("does not answer");
        assert_eq!(made_of(vec![Begins, Alive], false, true).await, (Some(silent), vec![true]));
    }

    #[tokio::test]
    async fn a_process_of_another_version_or_server_is_refused_with_the_reason() {
        let server = ServerId::default();
        let own = Hello::new(server.clone(), 1, Rank::Reader);
        let order = Order { operation: keys(&server), reaction: crate::time::Span::from_secs(5) };
        let acting = Hello { asked: Some(Errand::Act(order.into())), rules: 2, ..own.clone() };
        let refusal = |theirs: Hello| crate::owner::hub::refusal(&own, &theirs);
        assert_eq!((refusal(own.clone()), refusal(acting.clone())), (None, None), "any rules may ask for an act");
        let other = refusal(Hello { version: "9.0.0".into(), ..acting.clone() });
        assert_eq!(other, Some(format!("it is fleetwatch {}", own.version)));
        assert!(refusal(Hello { protocol: own.protocol + 1, ..acting.clone() }).is_some());
        let elsewhere = ServerId { host: Some("far".into()), ..server };
        assert!(refusal(Hello { server: elsewhere, ..acting }).is_some_and(|why| why.contains("differ")));
        assert!(refusal(Hello { rules: 2, ..own.clone() }).is_some_and(|why| why.contains("differ")));
        let (ours, theirs) = tokio::net::UnixStream::pair().unwrap();
        refuse(ours.into_split().1, "why".to_owned()).await;
        let said = Lines::new(theirs.into_split().0).next::<Progress>().await.unwrap();
        assert!(matches!(said, Some(Progress::Refused { why }) if why == "why"));
    }
}
