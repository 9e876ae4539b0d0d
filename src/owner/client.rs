//! The clients' side: they get everything from the owner.

use std::io;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::net::unix::OwnedWriteHalf;

use super::lease::LeasePath;
use super::wire::{ClientMessage, Hello, LastPanes, Lines, OwnerMessage, Rank, concerns_others, line};
use super::{End, FollowEnd, LocalEvent, OwnerEvent, Role, Settings, WatchTask};
use crate::fleet::{Input, ServerId, TaskReport};

/// How long an owner may be silent before the client connects again. An owner sends several messages a second; a busy machine
/// may delay them by less than this.
const SILENCE: Duration = Duration::from_millis(1500);
/// Why an owner with unreadable messages is not followed.
const OTHER_VERSION: &str = "it is another version of fleetwatch";
/// How long the first answer may take, also for a command that could poll for itself.
const FIRST: Duration = Duration::from_secs(2);
/// How much later than that a timer may run on a busy machine.
const SLACK: Duration = Duration::from_millis(500);
const SOON: Duration = Duration::from_millis(1500);

/// Introduces this process, and receives the owner's checkpoint.
async fn greet(stream: UnixStream, hello: &Hello) -> io::Result<(Lines, OwnedWriteHalf, OwnerMessage)> {
    let (reader, mut writer) = stream.into_split();
    writer.write_all(&line(hello)?).await?;
    let mut lines = Lines::new(reader);
    let first = lines.next().await?.ok_or(io::ErrorKind::UnexpectedEof)?;
    Ok((lines, writer, first))
}

/// Asks an owner once what it knows of a server; with `fresh`, after another poll.
///
/// # Errors
/// It does not answer in time, or has nothing for this process: why, for people.
async fn knowledge(
    connecting: impl Future<Output = io::Result<UnixStream>>,
    hello: &Hello,
    fresh: bool,
) -> io::Result<Vec<Input>> {
    let by = std::process::id();
    let asked = async {
        let (mut lines, mut writer, first) = greet(connecting.await?, hello).await?;
        let (checkpoint, panes) = match first {
            OwnerMessage::Checkpoint { checkpoint, panes, .. } => (checkpoint, panes),
            OwnerMessage::Refused { why } => return Err(io::Error::other(why)),
            _ => return Err(io::Error::other(OTHER_VERSION)),
        };
        let server = &hello.server;
        // What the owner has not polled yet is no answer.
        let has_polled = checkpoint.has_polled();
        let mut inputs = vec![Input::Checkpoint { server: server.clone(), checkpoint }];
        if fresh || !has_polled {
            let mut last = Last { panes: LastPanes::new(panes), tasks: None };
            writer.write_all(&line(&ClientMessage::Poll { by })?).await?;
            loop {
                match lines.next().await?.ok_or(io::ErrorKind::UnexpectedEof)? {
                    OwnerMessage::Polled { by: asked } if asked == by => break,
                    message => inputs.extend(input(message, &mut last, server)),
                }
            }
        }
        io::Result::Ok(inputs)
    };
    let limit = if fresh { FIRST } else { SOON };
    tokio::time::timeout(limit, asked).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
}

/// The last reports, which the next message is relative to.
struct Last {
    panes: LastPanes,
    tasks: Option<TaskReport>,
}

/// A message as an input for the fleet.
fn input(message: OwnerMessage, last: &mut Last, server: &ServerId) -> Option<Input> {
    match message {
        OwnerMessage::Report { at, load, outcome } => Some(Input::Server(last.panes.report(server, at, load, outcome))),
        OwnerMessage::Tasks { report: Some(report), .. } => Some(Input::Tasks(last.tasks.insert(*report).clone())),
        OwnerMessage::Tasks { at, report: None } => {
            let report = last.tasks.clone()?;
            Some(Input::Tasks(TaskReport { at, ..report }))
        }
        OwnerMessage::Taken(input) => Some(input),
        OwnerMessage::Alive
        | OwnerMessage::Handled(_)
        | OwnerMessage::Polled { .. }
        | OwnerMessage::Checkpoint { .. }
        | OwnerMessage::Refused { .. } => None,
    }
}

impl WatchTask {
    /// Passes on the owner's messages until the owner or this process ends.
    pub(super) async fn follow(&mut self, stream: UnixStream) -> FollowEnd {
        let hello = self.settings.hello(&self.server);
        let began = Instant::now();
        let (mut lines, mut writer, first) = match tokio::time::timeout(FIRST, greet(stream, &hello)).await {
            Ok(Ok(greeted)) => greeted,
            Ok(Err(error)) => {
                tracing::debug!(%error, server = %self.server, "the owner ended while it was greeted");
                return match error.kind() {
                    io::ErrorKind::InvalidData => FollowEnd::Refused(OTHER_VERSION.to_owned()),
                    _ => FollowEnd::Nothing,
                };
            }
            // Time in which this process was stopped says nothing of the owner.
            Err(_) if began.elapsed() > FIRST + SLACK => return FollowEnd::Ended(End::Changed),
            Err(_) => return FollowEnd::Frozen,
        };
        let (checkpoint, panes, needs_nobody) = match first {
            OwnerMessage::Checkpoint { checkpoint, panes, rank } => {
                (checkpoint, panes, rank.max(self.settings.rank) == Rank::Background)
            }
            OwnerMessage::Refused { why } => return FollowEnd::Refused(why),
            _ => return FollowEnd::Refused(OTHER_VERSION.to_owned()),
        };
        if self.set_role(Role::Client, None).await == End::Closed {
            return FollowEnd::Ended(End::Closed);
        }
        self.known = checkpoint.terminals().cloned().collect();
        let mut last = Last { panes: LastPanes::new(panes), tasks: None };
        let server = self.server.clone();
        if self.hand_on(Input::Checkpoint { server: server.clone(), checkpoint }).await == End::Closed {
            return FollowEnd::Ended(End::Closed);
        }
        loop {
            let asked = tokio::select! {
                next = tokio::time::timeout(SILENCE, lines.next::<OwnerMessage>()) => {
                    let message = match next {
                        Ok(Ok(Some(message))) => message,
                        // After silence it is asked anew: perhaps it was this process that was stopped.
                        Err(_) | Ok(Ok(None) | Err(_)) => return FollowEnd::Ended(End::Changed),
                    };
                    if !needs_nobody {
                        self.mark_used();
                    }
                    let handed = match message {
                        OwnerMessage::Handled(notice) => self.send(OwnerEvent::Handled(notice)).await,
                        message => match input(message, &mut last, &server) {
                            Some(input) => self.hand_on(input).await,
                            None => End::Changed,
                        },
                    };
                    if handed == End::Closed {
                        return FollowEnd::Ended(End::Closed);
                    }
                    continue;
                }
                Some(event) = self.local_events.recv() => match event {
                    LocalEvent::Input(input) => concerns_others(&input).then_some(ClientMessage::Taken(input)),
                    // It was the owner a moment ago.
                    LocalEvent::Handled(_) => None,
                    LocalEvent::Wake => Some(ClientMessage::Wake),
                },
                () = self.events.closed() => return FollowEnd::Ended(End::Closed),
            };
            let Some(asked) = asked else { continue };
            let sent = match line(&asked) {
                Ok(line) => writer.write_all(&line).await,
                Err(error) => Err(error),
            };
            if sent.is_err() {
                return FollowEnd::Ended(End::Changed);
            }
        }
    }
}

/// What the owner of a server knows of it, with `fresh` after another poll; what is known then, or `None` when there
/// is no owner that this process can follow.
pub async fn ask(settings: &Settings, server: &ServerId, fresh: bool) -> Option<Vec<Input>> {
    let place = LeasePath::of(server, settings.poll.history.as_deref(), false)?;
    knowledge(place.connect(), &settings.hello(server), fresh).await.ok()
}
