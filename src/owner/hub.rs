//! The owner's side: it polls, and tells its clients what has changed.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::act::{self, Caller};
use super::lease::Lease;
use super::wire::{BEAT, ClientMessage, Errand, Hello, Lines, OwnerMessage, PROTOCOL, Rank, line};
use super::{ASK_REFUSER, End, LocalEvent, OwnerEvent, WatchTask};
use crate::fleet::{Input, PollResult, ServerReport, Told};
use crate::poll;

/// How long a client may take to introduce itself, and the owner to say what it knows.
const GREETING: Duration = BEAT.saturating_mul(2);
/// Polls in a row without file descriptors, until the owner leaves the server to a client.
const HELPLESS: u32 = 3;
/// The most messages that wait for one client. A client that takes none is dropped, and may connect again.
const WAITING: usize = 128;

/// A connected client.
struct Client {
    lines: mpsc::Sender<Arc<[u8]>>,
    /// One reads its requests, the other writes its messages.
    tasks: [JoinHandle<()>; 2],
    rank: Rank,
    /// The version of what it was told first, which has all of the versions before.
    since: u64,
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
        let (mut clients, mut has_polled, mut helpless) = (Clients::default(), false, 0);
        self.has_clients.store(false, Ordering::Relaxed);
        let mut beat = tokio::time::interval(BEAT);
        beat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                Some(poll::Polled { began, input }) = poller.next() => {
                    // What was seen before this process was stopped is no news any more.
                    if !held.holds() {
                        return End::Changed;
                    }
                    // The server's report is the last of a poll, and a poll that leaves screens to the next one is none yet.
                    let is_last = matches!(&input, Input::Server(report) if report.outcome.is_whole());
                    let has_failed = matches!(&input, Input::Server(ServerReport { outcome: PollResult::Failed(_), .. }));
                    if self.hand_on(input).await == End::Closed {
                        return End::Closed;
                    }
                    has_polled |= is_last;
                    if is_last {
                        lease.mend_socket();
                        // A program takes up to eight file descriptors to start: three pipes, and what holds the process.
                        let files = || (0..8).map(|_| std::fs::File::open("/dev/null")).collect::<io::Result<Vec<_>>>();
                        let is_helpless = has_failed && files().is_err();
                        helpless = if is_helpless { helpless + 1 } else { 0 };
                    }
                    if helpless >= HELPLESS && clients.all.iter().any(|client| client.rank.may_own()) {
                        tracing::warn!(server = %self.server, "no program can be started: a client is to own the server");
                        self.yields_until = Some(Instant::now() + ASK_REFUSER);
                        return End::Changed;
                    }
                    let waiting = clients.waiting.extract_if(.., |(_, asked)| is_last && *asked <= began);
                    let waiting: Vec<OwnedWriteHalf> = waiting.map(|(writer, _)| writer).collect();
                    if !waiting.is_empty() {
                        self.answer(waiting).await;
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
                    match theirs.asked.take() {
                        Some(Errand::Act(order)) => {
                            match refused {
                                Some(why) => drop(tokio::spawn(act::refuse(writer, why))),
                                None => {
                                    let caller = Box::new(Caller::new(order, lines, writer));
                                    if self.send(OwnerEvent::Act(caller)).await == End::Closed {
                                        return End::Closed;
                                    }
                                    self.mark_used();
                                }
                            }
                            continue;
                        }
                        Some(Errand::Known { fresh }) if refused.is_none() => {
                            if fresh || !has_polled {
                                clients.waiting.push((writer, Instant::now()));
                                poller.ask_anew();
                            } else {
                                self.answer(vec![writer]).await;
                            }
                            continue;
                        }
                        _ => {}
                    }
                    let refused = refused.map(|why| OwnerMessage::Refused { why });
                    let yields = theirs.outranks(&hello);
                    if let (Some(refused), false) = (&refused, yields) {
                        drop(tokio::spawn(say(writer, line(refused))));
                        continue;
                    }
                    // One that hears nothing in time connects again.
                    self.has_clients.store(true, Ordering::Relaxed);
                    let Some(told) = self.known(yields).await else { continue };
                    let since = told.version();
                    let first = line(&OwnerMessage::Known { told, rank: self.settings.rank });
                    if yields {
                        if refused.is_none() {
                            // It gets what is known, and takes the lease when the connection ends.
                            let _ = tokio::time::timeout(GREETING, say(writer, first)).await;
                        }
                        self.yields_until = Some(Instant::now() + BEAT);
                        return End::Changed;
                    }
                    clients.add((first, since), theirs.rank, (lines, writer), asking.clone());
                    poller.wake();
                    self.mark_used();
                }
                Some(asked) = asks.recv() => match asked {
                    ClientMessage::Wake => poller.wake(),
                    asked => if self.send(OwnerEvent::Client { server: self.server.clone(), asked }).await == End::Closed {
                        return End::Closed;
                    },
                },
                Some(event) = self.local_events.recv() => match event {
                    LocalEvent::Told(told) => {
                        clients.tell_since(told.version(), &OwnerMessage::Told(told));
                        self.has_clients.store(!clients.all.is_empty(), Ordering::Relaxed);
                    }
                    LocalEvent::Handled(notice) => clients.tell(&OwnerMessage::Handled(notice)),
                    LocalEvent::Client(_) => poller.wake(),
                },
                // Without clients the polls are enough.
                _ = beat.tick(), if !clients.all.is_empty() => {
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

    /// What this process knows of the server. Nothing of it is lost if the process then ends or `yields`.
    async fn known(&mut self, yields: bool) -> Option<Box<Told>> {
        let (reply, told) = oneshot::channel();
        self.events.send(OwnerEvent::Share { server: self.server.clone(), yields, reply }).await.ok()?;
        tokio::time::timeout(GREETING, told).await.ok()?.ok()
    }

    /// Tells those who wait for it what is known.
    async fn answer(&mut self, waiting: Vec<OwnedWriteHalf>) {
        // They poll for themselves where they hear nothing.
        let Some(told) = self.known(false).await else { return };
        let Ok(line) = line(&OwnerMessage::Known { told, rank: self.settings.rank }) else { return };
        for writer in waiting {
            tokio::spawn(say(writer, Ok(Arc::clone(&line))));
        }
    }
}

/// All clients.
#[derive(Default)]
struct Clients {
    all: Vec<Client>,
    /// Those that wait for a poll, and when they asked for it.
    waiting: Vec<(OwnedWriteHalf, Instant)>,
}

impl Clients {
    /// Adds a client, whose first message is all that is known.
    fn add(
        &mut self,
        (first, since): (io::Result<Arc<[u8]>>, u64),
        rank: Rank,
        (lines, writer): (Lines, OwnedWriteHalf),
        asking: mpsc::Sender<ClientMessage>,
    ) {
        let (sender, waiting) = mpsc::channel(WAITING);
        let reader = tokio::spawn(read(lines, asking));
        let writer = tokio::spawn(write(writer, waiting));
        let client = Client { lines: sender, tasks: [reader, writer], rank, since };
        match first.map(|first| client.lines.try_send(first)) {
            Ok(Ok(())) => self.all.push(client),
            other => tracing::warn!(?other, "a client could not be told what is known"),
        }
    }

    fn tell(&mut self, message: &OwnerMessage) {
        self.tell_since(u64::MAX, message);
    }

    /// Tells those of whom not all of this version was told before.
    fn tell_since(&mut self, version: u64, message: &OwnerMessage) {
        if self.all.is_empty() {
            return;
        }
        match line(message) {
            Ok(line) => {
                self.all.retain(|client| client.since >= version || client.lines.try_send(Arc::clone(&line)).is_ok())
            }
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
pub(super) fn refusal(own: &Hello, theirs: &Hello) -> Option<String> {
    if theirs.protocol != PROTOCOL || theirs.version != own.version {
        Some(format!("it is fleetwatch {}", own.version))
    } else if theirs.server != own.server || (theirs.rules != own.rules && !theirs.acts()) {
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
