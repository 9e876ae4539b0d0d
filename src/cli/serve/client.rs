//! Dashboards and commands on other machines (`--connect`): they follow the owners like clients on this machine, through an
//! upgraded HTTP connection.

use std::sync::{Mutex, PoisonError};

use axum::Extension;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::sync::broadcast;

use super::Served;
use super::check::{Caller, HttpReply};
use crate::engine::EngineEvent;
use crate::fleet::{Fleet, Input, ServerId, TerminalKey};
use crate::owner::{self, Admission, Relay, RelayedInput, SPOKEN, Settings, Welcome};
use crate::poll;
use crate::state::KeptNote;
use crate::token::Scope;

/// The most news that wait for a slow client. It misses further ones, and catches up at its next poll.
const WAITING: usize = 256;

/// Clients on other machines.
pub(super) struct RemoteClients {
    settings: Settings,
    servers: Vec<ServerId>,
    profiles: Vec<(String, String)>,
    /// The operator's notes on terminals.
    notes: Mutex<Vec<KeptNote>>,
    news: broadcast::Sender<RelayedInput>,
    relay: Relay,
}

impl RemoteClients {
    pub(super) fn new(
        settings: Settings,
        servers: Vec<ServerId>,
        profiles: Vec<(String, String)>,
        notes: Vec<KeptNote>,
    ) -> Self {
        let (news, _) = broadcast::channel(WAITING);
        let relay = Relay::new(settings.clone(), servers.clone(), news.clone());
        let notes = Mutex::new(notes);
        Self { settings, servers, profiles, notes, news, relay }
    }

    /// Passes on to clients what those on this machine read from the history.
    pub(super) fn hear(&self, event: &EngineEvent, fleet: &Fleet) {
        let input = match event {
            EngineEvent::Submission(submission) => submission.input_for(fleet, poll::now()),
            EngineEvent::Noted(kept) => {
                let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
                notes.retain(|other| (&other.key, other.process) != (&kept.key, kept.process));
                notes.push(kept.clone());
                Some(Input::Noted(kept.clone()))
            }
            _ => None,
        };
        if let Some(news) = input.and_then(owner::news) {
            // There may be no client.
            let _ = self.news.send(news);
        }
    }

    fn welcome(&self) -> Welcome {
        let notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Welcome::new(&self.settings, self.servers.clone(), self.profiles.clone(), notes)
    }
}

/// `GET /v1/client`: what a client has to know; asked for an upgrade, the connection becomes one to an owner.
pub(super) async fn client(
    State(served): State<Served>,
    Extension(caller): Extension<Caller>,
    mut request: Request,
) -> Result<Response, HttpReply> {
    let asked = request.headers().get(header::UPGRADE).map(|asked| asked == HeaderValue::from_static(SPOKEN));
    let upgrade = match asked {
        None => return Ok(Json(served.clients.welcome()).into_response()),
        Some(true) => request.extensions_mut().remove::<OnUpgrade>(),
        Some(false) => None,
    };
    let Some(upgrade) = upgrade else {
        let hint = format!("`--connect` asks for `Upgrade: {SPOKEN}`; programs read `/v1/events`");
        return Err(HttpReply::new(StatusCode::BAD_REQUEST, "this route speaks no other protocol", hint));
    };
    tokio::spawn(async move {
        let Ok(stream) = upgrade.await else { return };
        let mut ending = served.ending.clone();
        let admitted = Admitted { served: served.clone(), caller };
        tokio::select! {
            ended = served.clients.relay.run(TokioIo::new(stream), &admitted) => {
                tracing::debug!(?ended, token = admitted.caller.token.name, "a client on another machine left");
            }
            _ = ending.wait_for(|ending| *ending) => {}
        }
    });
    let headers = [(header::CONNECTION, "upgrade"), (header::UPGRADE, SPOKEN)];
    Ok((StatusCode::SWITCHING_PROTOCOLS, headers).into_response())
}

/// A caller with a valid token.
struct Admitted {
    served: Served,
    caller: Caller,
}

impl Admission for Admitted {
    fn is_admitted(&self) -> bool {
        self.served.access.still_admits(&self.caller)
    }

    fn may_act(&self) -> bool {
        self.caller.token.scope >= Scope::Act
    }

    async fn saw(&self, key: TerminalKey) {
        // Fails only when `serve` ends.
        let _ends = self.served.tell(move |engine| engine.handle_local(Input::Seen { key }, poll::now())).await;
    }
}
