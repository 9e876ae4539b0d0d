//! Clients on other machines. They exchange the same messages as those on this one, through a connection that `fleetwatch serve`
//! relays to the owner of a server, without what their token does not allow.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{Method, StatusCode};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::broadcast;

use super::client::{FollowEnd, Patience, ask, follow};
use super::lease::LeasePath;
use super::wire::{ClientMessage, Hello, Lines, OwnerMessage, PROTOCOL, WriteHalf, halves, line};
use super::{End, Rank, Settings, WatchTask};
use crate::fleet::{self, Input, PollResult, ServerId, ServerReport, TerminalKey};
use crate::http::{Endpoint, HttpError};
use crate::poll;
use crate::state::{KeptNote, Problem};
use crate::time::Timestamp;

/// The route, and the name of what is spoken there.
const ROUTE: &str = "/v1/client";
pub const SPOKEN: &str = "fleetwatch";
/// How long a single answer from another machine may take.
const ONE_ANSWER: Duration = Duration::from_secs(20);
/// How soon a connection that was lost is tried again, and how late at most.
const AGAIN: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(10));
/// How long somebody who has connected may take to say who it is, and the owner to be there.
const GREETING: Duration = Duration::from_secs(10);
const OWNER: Duration = Duration::from_secs(3);
const RETRY: Duration = Duration::from_millis(50);
/// The longest line of a client, in bytes.
const LONGEST: u64 = 64 << 10;
/// How often one client may have a server polled.
const POLL_DISTANCE: Duration = Duration::from_millis(250);
/// How often it is checked whether a client may still follow.
const STILL_ADMITTED: Duration = Duration::from_secs(5);

/// What a client on another machine has to know before it learns of servers: by which rules screens are read there, so
/// that it comes to the same states.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Welcome {
    protocol: u32,
    version: String,
    /// What time it is there.
    now: Timestamp,
    pub servers: Vec<ServerId>,
    /// The user's own profiles, each with the name of its file.
    pub profiles: Vec<(String, String)>,
    pub fleet: fleet::Settings,
    pub notes: Vec<KeptNote>,
}

impl Welcome {
    /// What this process reports.
    pub fn new(
        settings: &Settings,
        servers: Vec<ServerId>,
        profiles: Vec<(String, String)>,
        notes: Vec<KeptNote>,
    ) -> Self {
        let (protocol, version, now) = (PROTOCOL, env!("CARGO_PKG_VERSION").to_owned(), poll::now());
        Self { protocol, version, now, servers, profiles, fleet: settings.fleet.clone(), notes }
    }
}

/// A `fleetwatch serve` on another machine.
#[derive(Clone, Debug)]
pub struct Remote {
    pub endpoint: Arc<Endpoint>,
    /// What the operator says of terminals, as of the beginning.
    pub notes: Vec<KeptNote>,
}

impl Remote {
    /// Asks what is watched there, and by which rules; also how far the clock there is ahead of this one's, in milliseconds.
    ///
    /// # Errors
    /// Nobody answers there, or another version, or the token is not good for it.
    pub async fn open(endpoint: Endpoint) -> Result<(Self, Welcome, i64), HttpError> {
        let began = Instant::now();
        let answer = endpoint.ask(Method::GET, ROUTE, &[], Vec::new(), ONE_ANSWER).await?;
        let way = i64::try_from(began.elapsed().as_millis() / 2).unwrap_or_default();
        if answer.status != StatusCode::OK {
            return Err(endpoint.refused(&answer));
        }
        let other = |version: &str| HttpError::Refused {
            place: endpoint.place().to_owned(),
            status: answer.status.as_u16(),
            error: Some(format!("it is fleetwatch {version}, and this one is {}", env!("CARGO_PKG_VERSION"))),
            hint: Some("install the same version on both machines".to_owned()),
        };
        // Another version may have another shape.
        let message: Stated = serde_json::from_slice(&answer.body).map_err(|_| other("of another kind"))?;
        if (message.protocol, message.version.as_str()) != (PROTOCOL, env!("CARGO_PKG_VERSION")) {
            return Err(other(&message.version));
        }
        let welcome: Welcome = serde_json::from_slice(&answer.body).map_err(|_| other(&message.version))?;
        let ahead = welcome.now.as_millis() - poll::now().as_millis() + way;
        Ok((Self { endpoint: Arc::new(endpoint), notes: welcome.notes.clone() }, welcome, ahead))
    }

    async fn connect(&self) -> Result<impl AsyncRead + AsyncWrite + Send + 'static, HttpError> {
        self.endpoint.upgrade(ROUTE, SPOKEN).await
    }

    /// What the owner of a server knows, asked once; that it could not be asked, where it could not.
    pub(super) async fn ask(&self, hello: &Hello, fresh: bool) -> Vec<Input> {
        let connecting = async { self.connect().await.map_err(io::Error::other) };
        // Numbers of processes are smaller.
        let by = poll::now().as_millis() as u32 | 1 << 31;
        let asked = ask(connecting, (hello, by), fresh, Some(ONE_ANSWER)).await;
        asked.unwrap_or_else(|why| vec![silent(&hello.server, &why.to_string())])
    }
}

/// Which version somebody is, which every version says.
#[derive(Deserialize)]
struct Stated {
    protocol: u32,
    version: String,
}

/// That a server could not be asked.
fn silent(server: &ServerId, why: &str) -> Input {
    let problem = Problem { kind: "unreachable".to_owned(), message: why.to_owned() };
    Input::Server(ServerReport::new(server.clone(), poll::now(), PollResult::Failed(problem)))
}

impl WatchTask {
    /// Follows the owner of a server on another machine, and again whenever the connection is lost, until nobody follows it
    /// here.
    pub(super) async fn run_remote(mut self, remote: Remote) {
        let mut pause = AGAIN.0;
        loop {
            let why = match remote.connect().await {
                Err(error) => error.to_string(),
                Ok(stream) => {
                    let began = Instant::now();
                    let why = match follow(&mut self, stream, Patience::FAR).await {
                        FollowEnd::Ended(End::Closed) => return,
                        FollowEnd::Refused(why) => why,
                        FollowEnd::Ended(End::Changed) | FollowEnd::Nothing | FollowEnd::Frozen => {
                            format!("the connection to {} was lost", remote.endpoint.place())
                        }
                    };
                    if began.elapsed() > AGAIN.1 {
                        pause = AGAIN.0;
                    }
                    why
                }
            };
            tracing::debug!(server = %self.server, why, "not told from afar");
            if self.hand_on(silent(&self.server, &why)).await == End::Closed {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.events.closed() => return,
            }
            pause = (pause * 2).min(AGAIN.1);
        }
    }
}

/// Something that the owner's clients on this machine read in the history, for those on others: a message, and of which server.
pub type RelayedInput = (ServerId, Arc<[u8]>);

/// What an input is to clients on other machines, if anything.
pub fn news(input: Input) -> Option<RelayedInput> {
    let server = match &input {
        Input::Submitted { key, .. } | Input::Seen { key } => key.server.clone(),
        Input::Noted(kept) => kept.key.server.clone(),
        _ => return None,
    };
    Some((server, line(&OwnerMessage::Taken(input)).ok()?))
}

/// Who asks from another machine, and for what they are good.
pub trait Admission: Sync {
    /// Whether they may still follow.
    fn is_admitted(&self) -> bool;

    /// Whether they may say what an operator does.
    fn may_act(&self) -> bool;

    /// They have seen a terminal.
    fn saw(&self, key: TerminalKey) -> impl Future<Output = ()> + Send;
}

/// Hands on what clients on other machines and owners on this one say to each other.
#[derive(Clone, Debug)]
pub struct Relay {
    settings: Settings,
    servers: Vec<ServerId>,
    news: broadcast::Sender<RelayedInput>,
}

impl Relay {
    pub fn new(settings: Settings, servers: Vec<ServerId>, news: broadcast::Sender<RelayedInput>) -> Self {
        Self { settings, servers, news }
    }

    /// Serves one connection, until either side ends it.
    pub async fn run(
        &self,
        stream: impl AsyncRead + AsyncWrite + Send + 'static,
        admission: &impl Admission,
    ) -> io::Result<()> {
        let (reader, mut to_client) = halves(stream);
        let mut from_client = Lines::new(reader).within(LONGEST);
        let hello = tokio::time::timeout(GREETING, from_client.next::<Hello>()).await?;
        let Some(hello) = hello? else { return Ok(()) };
        let mut news = self.news.subscribe();
        let server = hello.server.clone();
        let (mut from_owner, mut to_owner) = match self.greet(hello).await {
            Ok(halves) => halves,
            Err(why) => return to_client.write_all(&line(&OwnerMessage::Refused { why })?).await,
        };
        let mut ask_again = tokio::time::interval(STILL_ADMITTED);
        let mut polled: Option<Instant> = None;
        // News makes sense only after all that is known.
        let mut has_news = false;
        loop {
            tokio::select! {
                message = from_owner.next_line() => match message? {
                    Some(message) => {
                        to_client.write_all(&message).await?;
                        has_news = true;
                    }
                    None => return Ok(()),
                },
                asked = from_client.next::<ClientMessage>() => match asked? {
                    None => return Ok(()),
                    Some(ClientMessage::Taken(Input::Seen { key })) => {
                        if admission.may_act() && key.server == server {
                            admission.saw(key).await;
                        }
                    }
                    // Whoever ends a task does so on its machine.
                    Some(ClientMessage::Taken(_)) => {}
                    Some(ask @ (ClientMessage::Poll { .. } | ClientMessage::Wake)) => {
                        let early = polled.map_or(Duration::ZERO, |at| POLL_DISTANCE.saturating_sub(at.elapsed()));
                        tokio::time::sleep(early).await;
                        polled = Some(Instant::now());
                        to_owner.write_all(&line(&ask)?).await?;
                    }
                },
                message = news.recv(), if has_news => match message {
                    Ok((of, message)) if of == server => to_client.write_all(&message).await?,
                    Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
                    Err(broadcast::error::RecvError::Closed) => return Ok(()),
                },
                _ = ask_again.tick() => {
                    if !admission.is_admitted() {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Says to the owner of a server that there is one more client.
    async fn greet(&self, hello: Hello) -> Result<(Lines, WriteHalf), String> {
        if !self.servers.contains(&hello.server) {
            return Err(format!("{} is not watched there", hello.server));
        }
        // It reads screens by the rules of this process, and never owns.
        let hello = Hello { rules: self.settings.fingerprint(), rank: Rank::Reader, ..hello };
        let nobody = || format!("nobody watches {} there now", hello.server);
        let place = LeasePath::of(&hello.server, self.settings.poll.history.as_deref(), false);
        let place = place.ok_or_else(nobody)?;
        let until = Instant::now() + OWNER;
        loop {
            let greeted = async {
                let (reader, mut writer) = halves(place.connect().await?);
                writer.write_all(&line(&hello)?).await?;
                io::Result::Ok((Lines::new(reader), writer))
            };
            match greeted.await {
                Ok(greeted) => return Ok(greeted),
                Err(_) if Instant::now() < until => tokio::time::sleep(RETRY).await,
                Err(_) => return Err(nobody()),
            }
        }
    }
}
