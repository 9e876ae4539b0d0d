//! The owner's side: it polls and passes every input on to its clients.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::act::{self, Caller};
use super::lease::Lease;
use super::wire::{ClientMessage, Hello, LastPanes, Lines, OwnerMessage, PROTOCOL, Rank, concerns_others, line};
use super::{End, LocalEvent, OwnerEvent, WatchTask};
use crate::fleet::{Checkpoint, Input, TaskReport};
use crate::poll;

/// The longest time between two messages to a client.
const BEAT: Duration = Duration::from_millis(250);
/// How long a client may take to introduce itself, and the owner to make a checkpoint.
const GREETING: Duration = Duration::from_secs(1);
/// How long an owner that gives way leaves the lease to another process.
const GIVE_WAY: Duration = Duration::from_millis(500);
/// The most messages that wait for one client. A client that takes none is dropped, and may connect again.
const WAITING: usize = 128;

/// A connected client.
struct Client {
    lines: mpsc::Sender<Arc<[u8]>>,
    /// One reads its requests, the other writes its messages.
    tasks: [JoinHandle<()>; 2],
    rank: Rank,
}

impl Drop for Client {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// A connection that has introduced itself.
type Newcomer = (Hello, Lines, OwnedWriteHalf);

impl WatchTask {
    /// Polls and serves clients until another process takes over or this one is done.
    pub(super) async fn own(&mut self, mut lease: Lease) -> End {
        let Some(mut poller) = self.poll() else { return End::Closed };
        let (hello, held) = (self.settings.hello(&self.server), lease.held());
        let (joining, mut newcomers) = mpsc::channel::<Newcomer>(8);
        let (asking, mut asks) = mpsc::channel::<ClientMessage>(64);
        let mut clients = Clients::default();
        let mut beat = tokio::time::interval(BEAT);
        beat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                Some(poll::Polled { began, input }) = poller.next() => {
                    // What was seen before this process was stopped is no news any more.
                    if !held.holds() {
                        return End::Changed;
                    }
                    clients.polled(&input, began);
                    if self.hand_on(input).await == End::Closed {
                        return End::Closed;
                    }
                }
                accepted = lease.listener.accept() => {
                    match accepted {
                        Ok((stream, _)) => drop(tokio::spawn(greet(stream, joining.clone()))),
                        // Out of files, for instance: it stays so for a while.
                        Err(_) => tokio::time::sleep(BEAT).await,
                    }
                }
                Some((mut theirs, lines, writer)) = newcomers.recv() => {
                    let refused = refusal(&hello, &theirs);
                    if let Some(asked) = theirs.asked.take() {
                        match refused {
                            Some(why) => drop(tokio::spawn(act::refuse(writer, why))),
                            None => {
                                let caller = Box::new(Caller::new(*asked, lines, writer));
                                if self.send(OwnerEvent::Act(caller)).await == End::Closed {
                                    return End::Closed;
                                }
                                self.mark_used();
                            }
                        }
                        continue;
                    }
                    let refused = refused.map(|why| OwnerMessage::Refused { why });
                    let yields = theirs.outranks(&hello);
                    if let (Some(refused), false) = (&refused, yields) {
                        drop(tokio::spawn(say(writer, line(refused))));
                        continue;
                    }
                    // One that hears nothing in time connects again.
                    let known = tokio::time::timeout(GREETING, self.checkpoint()).await;
                    let Ok(Some(checkpoint)) = known else { continue };
                    let first = line(&OwnerMessage::Checkpoint {
                        checkpoint,
                        panes: clients.panes.all(),
                        rank: self.settings.rank,
                    });
                    if yields {
                        if refused.is_none() {
                            // It gets what is known, and takes the lease when the connection ends.
                            let _ = tokio::time::timeout(GREETING, say(writer, first)).await;
                        }
                        self.yields_until = Some(Instant::now() + GIVE_WAY);
                        return End::Changed;
                    }
                    clients.add(first, theirs.rank, (lines, writer), asking.clone());
                    self.mark_used();
                }
                Some(ask) = asks.recv() => {
                    match ask {
                        ClientMessage::Taken(input) if concerns_others(&input) => {
                            clients.taken(&input);
                            if self.hand_on(input).await == End::Closed {
                                return End::Closed;
                            }
                        }
                        ClientMessage::Taken(_) => {}
                        ClientMessage::Wake => poller.wake(),
                        ClientMessage::Poll { by } => {
                            clients.waiting.push((by, Instant::now()));
                            poller.ask_anew();
                        }
                    }
                }
                Some(event) = self.local_events.recv() => match event {
                    LocalEvent::Input(input) => {
                        clients.taken(&input);
                        if self.comes_back(input).await == End::Closed {
                            return End::Closed;
                        }
                    }
                    LocalEvent::Handled(notice) => clients.tell(&OwnerMessage::Handled(notice)),
                    LocalEvent::Wake => poller.wake(),
                },
                _ = beat.tick() => {
                    if !held.holds() {
                        return End::Changed;
                    }
                    lease.mend_socket();
                    clients.tell(&OwnerMessage::Alive);
                    if clients.all.iter().any(|client| client.rank != Rank::Background) {
                        self.mark_used();
                    }
                }
                else => return End::Closed,
            }
        }
    }

    /// A checkpoint of the server from this process's fleet.
    async fn checkpoint(&mut self) -> Option<Box<Checkpoint>> {
        let (reply, checkpoint) = oneshot::channel();
        self.events.send(OwnerEvent::Checkpoint { server: self.server.clone(), reply }).await.ok()?;
        checkpoint.await.ok().map(Box::new)
    }
}

/// All clients, and the last reports sent to them.
#[derive(Default)]
struct Clients {
    all: Vec<Client>,
    panes: LastPanes,
    tasks: Option<TaskReport>,
    /// The processes that wait for a poll, and when they asked for it.
    waiting: Vec<(u32, Instant)>,
}

impl Clients {
    /// Adds a client, whose first message is the checkpoint.
    fn add(
        &mut self,
        first: io::Result<Arc<[u8]>>,
        rank: Rank,
        (lines, writer): (Lines, OwnedWriteHalf),
        asking: mpsc::Sender<ClientMessage>,
    ) {
        let (sender, waiting) = mpsc::channel(WAITING);
        let reader = tokio::spawn(read(lines, asking));
        let writer = tokio::spawn(write(writer, waiting));
        let client = Client { lines: sender, tasks: [reader, writer], rank };
        match first.map(|first| client.lines.try_send(first)) {
            Ok(Ok(())) => {
                self.all.push(client);
                // The next report is sent as a whole.
                self.tasks = None;
            }
            other => tracing::warn!(?other, "a client could not be told what is known"),
        }
    }

    /// Passes on an input of a poll that began at `began`.
    fn polled(&mut self, input: &Input, began: Instant) {
        if self.all.is_empty() {
            // Nothing is compared for nobody: the first client gets the next poll as a whole.
            self.panes = LastPanes::default();
            self.waiting.clear();
            return;
        }
        match input {
            Input::Server(report) => {
                let delta = self.panes.delta(report);
                self.tell(&delta);
                // The server's report is the last of a poll, and a poll that leaves screens to the next one is none yet.
                if !report.outcome.is_whole() {
                    return;
                }
                for (by, _) in self.waiting.extract_if(.., |(_, asked)| *asked <= began).collect::<Vec<_>>() {
                    self.tell(&OwnerMessage::Polled { by });
                }
            }
            Input::Tasks(report) => {
                let same = |last: &TaskReport| (&last.poll, &last.sessions) == (&report.poll, &report.sessions);
                let is_new = !self.tasks.as_ref().is_some_and(same);
                if is_new {
                    self.tasks = Some(report.clone());
                }
                self.tell(&OwnerMessage::Tasks { at: report.at, report: is_new.then(|| Box::new(report.clone())) });
            }
            Input::Known { .. } | Input::KnownTasks { .. } => self.tell(&OwnerMessage::Taken(input.clone())),
            input => self.taken(input),
        }
    }

    /// Passes on an input that this or another process handled, if it concerns the others.
    fn taken(&mut self, input: &Input) {
        if concerns_others(input) {
            self.tell(&OwnerMessage::Taken(input.clone()));
        }
    }

    fn tell(&mut self, message: &OwnerMessage) {
        if self.all.is_empty() {
            return;
        }
        match line(message) {
            Ok(line) => self.all.retain(|client| client.lines.try_send(Arc::clone(&line)).is_ok()),
            Err(error) => tracing::warn!(%error, "clients could not be told"),
        }
    }
}

/// Waits until a connection introduces itself.
async fn greet(stream: UnixStream, joining: mpsc::Sender<Newcomer>) {
    let (reader, writer) = stream.into_split();
    let mut lines = Lines::new(reader);
    if let Ok(Ok(Some(hello))) = tokio::time::timeout(GREETING, lines.next()).await {
        // Without an owner nobody hears of it.
        let _ = joining.send((hello, lines, writer)).await;
    }
}

/// Why a process cannot be a client of this one.
fn refusal(own: &Hello, theirs: &Hello) -> Option<String> {
    if theirs.protocol != PROTOCOL || theirs.version != own.version {
        Some(format!("it is fleetwatch {}", own.version))
    } else if (&theirs.server, theirs.rules) != (&own.server, own.rules) {
        Some("its configuration or its profiles differ".to_owned())
    } else {
        None
    }
}

/// Sends one message to a process that is no client.
async fn say(mut writer: OwnedWriteHalf, line: io::Result<Arc<[u8]>>) -> io::Result<()> {
    writer.write_all(&line?).await
}

async fn read(mut lines: Lines, asking: mpsc::Sender<ClientMessage>) {
    while let Ok(Some(ask)) = lines.next().await {
        if asking.send(ask).await.is_err() {
            return;
        }
    }
}

async fn write(mut writer: OwnedWriteHalf, mut lines: mpsc::Receiver<Arc<[u8]>>) {
    while let Some(line) = lines.recv().await {
        if writer.write_all(&line).await.is_err() {
            return;
        }
    }
}
