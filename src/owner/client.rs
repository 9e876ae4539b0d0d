//! The clients' side: they are told everything by the owner.

use std::io;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::net::unix::OwnedWriteHalf;

use super::lease::LeasePath;
use super::wire::{BEAT, Errand, Hello, Lines, OwnerMessage, Rank, STOPPED, line};
use super::{End, FollowEnd, LocalEvent, OwnerEvent, Role, Settings, WatchTask};
use crate::fleet::{Input, ServerId, Told};

/// How long an owner may be silent before the client connects again: a busy machine delays its messages by less.
const SILENCE: Duration = BEAT.saturating_mul(3);
/// Why an owner with unreadable messages is not followed.
const OTHER_VERSION: &str = "it is another version of fleetwatch";

/// Introduces this process, and receives the owner's first message.
async fn greet(stream: UnixStream, hello: &Hello) -> io::Result<(Lines, OwnedWriteHalf, OwnerMessage)> {
    let (reader, mut writer) = stream.into_split();
    writer.write_all(&line(hello)?).await?;
    let mut lines = Lines::new(reader);
    let first = lines.next().await?.ok_or(io::ErrorKind::UnexpectedEof)?;
    Ok((lines, writer, first))
}

impl WatchTask {
    /// Passes on the owner's messages until the owner or this process ends.
    pub(super) async fn follow(&mut self, stream: UnixStream) -> FollowEnd {
        let hello = self.settings.hello(&self.server);
        let began = Instant::now();
        let (mut lines, mut writer, first) = match tokio::time::timeout(STOPPED, greet(stream, &hello)).await {
            Ok(Ok(greeted)) => greeted,
            Ok(Err(error)) => {
                tracing::debug!(%error, server = %self.server, "the owner ended while it was greeted");
                return match error.kind() {
                    io::ErrorKind::InvalidData => FollowEnd::Refused(OTHER_VERSION.to_owned()),
                    _ => FollowEnd::Nothing,
                };
            }
            // Time in which this process was stopped says nothing of the owner; a busy machine runs a timer late by less than that.
            Err(_) if began.elapsed() > STOPPED + BEAT => return FollowEnd::Ended(End::Changed),
            Err(_) => return FollowEnd::Frozen,
        };
        let (told, needs_nobody) = match first {
            OwnerMessage::Known { told, rank } => (told, rank.max(self.settings.rank) == Rank::Background),
            OwnerMessage::Refused { why } => return FollowEnd::Refused(why),
            _ => return FollowEnd::Refused(OTHER_VERSION.to_owned()),
        };
        if self.set_role(Role::Client, None).await == End::Closed {
            return FollowEnd::Ended(End::Closed);
        }
        // Whoever polls next reads in the history what is known.
        self.known.clear();
        let server = self.server.clone();
        let input = |told| Input::Told { server: server.clone(), told };
        if self.hand_on(input(told)).await == End::Closed {
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
                        OwnerMessage::Told(told) => self.hand_on(input(told)).await,
                        _ => End::Changed,
                    };
                    if handed == End::Closed {
                        return FollowEnd::Ended(End::Closed);
                    }
                    continue;
                }
                Some(event) = self.local_events.recv() => match event {
                    LocalEvent::Client(asked) => Some(asked),
                    // It was the owner a moment ago.
                    LocalEvent::Told(_) | LocalEvent::Handled(_) => None,
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

/// What the owner of a server knows of it, with `fresh` after another poll; `None` when there is no owner that this process
/// can follow.
pub async fn ask(settings: &Settings, server: &ServerId, fresh: bool) -> Option<Box<Told>> {
    let place = LeasePath::of(server, settings.poll.history.as_deref(), false)?;
    let hello = Hello { asked: Some(Errand::Known { fresh }), ..settings.hello(server) };
    let asked = async { greet(place.connect().await?, &hello).await };
    match tokio::time::timeout(STOPPED, asked).await {
        Ok(Ok((_, _, OwnerMessage::Known { told, .. }))) => Some(told),
        _ => None,
    }
}
