//! What routes share: the way to the engine, and what else they answer from.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use axum::http::StatusCode;
use tokio::sync::{Semaphore, mpsc, oneshot, watch};

use super::check::{Access, HttpReply};
use super::event_log::EventLog;
use super::metrics::Metrics;
use crate::engine::Engine;
use crate::history::Owner;
use crate::owner::Actor;

/// A question of a route to the engine.
pub(super) type Inquiry = Box<dyn FnOnce(&Engine) + Send>;

/// What routes share.
#[derive(Clone)]
pub(super) struct Served {
    pub inquiries: mpsc::Sender<Inquiry>,
    pub events: Arc<EventLog>,
    pub access: Arc<Access>,
    pub metrics: Arc<Mutex<Metrics>>,
    pub actor: Actor,
    /// Slots for acts in progress; at the end, all of them are awaited.
    pub acts: Arc<Semaphore>,
    /// The history's file, if one is kept, and this process as the owner of what it writes there.
    pub history: Option<(PathBuf, Owner)>,
    /// Whether `serve` ends.
    pub ending: watch::Receiver<bool>,
}

impl Served {
    /// Asks the engine something.
    ///
    /// # Errors
    /// `serve` ends.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&Engine) -> T + Send + 'static,
    ) -> Result<T, HttpReply> {
        let (reply, answer) = oneshot::channel();
        let inquiry: Inquiry = Box::new(move |engine| drop(reply.send(ask(engine))));
        self.inquiries.send(inquiry).await.map_err(|_| ends())?;
        answer.await.map_err(|_| ends())
    }
}

/// The answer when `serve` is shutting down.
pub(super) fn ends() -> HttpReply {
    HttpReply::new(StatusCode::SERVICE_UNAVAILABLE, "the server ends", "ask again when it is back")
}
