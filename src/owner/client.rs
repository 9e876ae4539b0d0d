//! The clients' side: they get everything from the owner.

use std::io;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::net::unix::OwnedWriteHalf;

use super::wire::{ClientMessage, Hello, LastPanes, Lines, OwnerMessage, concerns_others, line};
use super::{End, LocalEvent, OwnerEvent, Rank, Role, WatchTask};
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

/// Why following an owner ended.
pub(super) enum FollowEnd {
    Ended(End),
    /// The owner ended or gave way before it sent anything.
    Nothing,
    /// The owner is stopped: it holds its lease and is silent.
    Frozen,
    /// The owner has other rules or another version; its reason.
    Refused(String),
}

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
pub(super) async fn ask(
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

/// Passes on the owner's messages until the owner or this process ends.
pub(super) async fn follow(task: &mut WatchTask, stream: UnixStream) -> FollowEnd {
    let hello = task.settings.hello(&task.server);
    let began = Instant::now();
    let (mut lines, mut writer, first) = match tokio::time::timeout(FIRST, greet(stream, &hello)).await {
        Ok(Ok(greeted)) => greeted,
        Ok(Err(error)) => {
            tracing::debug!(%error, server = %task.server, "the owner ended while it was greeted");
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
            (checkpoint, panes, rank.max(task.settings.rank) == Rank::Background)
        }
        OwnerMessage::Refused { why } => return FollowEnd::Refused(why),
        _ => return FollowEnd::Refused(OTHER_VERSION.to_owned()),
    };
    if task.set_role(Role::Client, None).await == End::Closed {
        return FollowEnd::Ended(End::Closed);
    }
    task.known = checkpoint.terminals().cloned().collect();
    let mut last = Last { panes: LastPanes::new(panes), tasks: None };
    let server = task.server.clone();
    if task.hand_on(Input::Checkpoint { server: server.clone(), checkpoint }).await == End::Closed {
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
                    task.mark_used();
                }
                let handed = match message {
                    OwnerMessage::Handled(notice) => task.send(OwnerEvent::Handled(notice)).await,
                    message => match input(message, &mut last, &server) {
                        Some(input) => task.hand_on(input).await,
                        None => End::Changed,
                    },
                };
                if handed == End::Closed {
                    return FollowEnd::Ended(End::Closed);
                }
                continue;
            }
            Some(event) = task.local_events.recv() => match event {
                LocalEvent::Input(input) => concerns_others(&input).then_some(ClientMessage::Taken(input)),
                // It was the owner a moment ago.
                LocalEvent::Handled(_) => None,
                LocalEvent::Wake => Some(ClientMessage::Wake),
            },
            () = task.events.closed() => return FollowEnd::Ended(End::Closed),
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
