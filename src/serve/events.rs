//! The event stream: the lines of `watch --json` with numbers. The newest are kept, and each reader reads at its own pace;
//! one that falls too far behind starts over with the full state.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use futures_util::Stream;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::check::{Caller, HttpReply};
use super::event_log::{CHUNK, push_event};
use super::listener::HEART_BEAT;
use super::served::Served;
use crate::fleet::Fleet;
use crate::present::events::Event;

/// The header in which a browser says which event it got last.
const LAST_EVENT_ID: &str = "last-event-id";

/// `GET /v1/events`.
pub(super) async fn events(
    State(served): State<Served>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
) -> Result<Response, HttpReply> {
    let stream = served.access.stream(&caller.token)?;
    let heard = headers.get(LAST_EVENT_ID).and_then(|name| served.events.number(name.to_str().ok()?));
    // At most one chunk waits for a slow reader.
    let (chunks, body) = mpsc::channel(1);
    tokio::spawn(async move {
        // The reader may have gone.
        let _gone = follow(&served, &caller, heard, &chunks).await;
        drop(stream);
    });
    Ok(([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(Chunks(body))).into_response())
}

/// Sends all events until the reader is gone.
async fn follow(served: &Served, caller: &Caller, mut heard: Option<u64>, chunks: &mpsc::Sender<Bytes>) -> Option<()> {
    let log = &served.events;
    let (mut kept, mut ending) = (log.kept.subscribe(), served.ending.clone());
    let mut ask_again = Instant::now() + HEART_BEAT;
    chunks.send("retry: 1000\n\n".into()).await.ok()?;
    loop {
        // Also if something happens all the time.
        if ask_again <= Instant::now() {
            if !served.access.still_admits(caller) {
                return None;
            }
            ask_again = Instant::now() + HEART_BEAT;
        }
        let next = heard.and_then(|heard| log.behind(heard));
        let Some((text, at)) = next else {
            heard = Some(begin(served, chunks).await?);
            continue;
        };
        if !text.is_empty() {
            heard = Some(at);
            chunks.send(text.into()).await.ok()?;
            continue;
        }
        tokio::select! {
            _ = passes(&mut kept, |kept| kept.last > at) => {}
            () = tokio::time::sleep_until(ask_again) => chunks.send(":\n\n".into()).await.ok()?,
            () = chunks.closed() => return None,
            _ = passes(&mut ending, |ending| *ending) => return None,
        }
    }
}

/// Waits until a value satisfies a condition; returns false if nothing changes it any more.
async fn passes<T>(watched: &mut watch::Receiver<T>, is_it: impl FnMut(&T) -> bool) -> bool {
    watched.wait_for(is_it).await.is_ok()
}

/// Sends the full state, and returns the number after which to continue. Only the last event has an id: a reader that is
/// cut off before it starts over.
async fn begin(served: &Served, chunks: &mpsc::Sender<Bytes>) -> Option<u64> {
    let log = &served.events;
    let _place = log.beginners.acquire().await.ok()?;
    let events = Arc::clone(log);
    let (states, at) = served.ask(move |engine| (states(engine.fleet()), events.last())).await.ok()?;
    let mut text = "event: reset\ndata: {}\n\n".to_owned();
    for line in states.ok()?.lines() {
        push_event(&mut text, None, line);
        if text.len() >= CHUNK {
            chunks.send(std::mem::take(&mut text).into()).await.ok()?;
        }
    }
    text.extend(["id: ", &log.name(at), "\nevent: current\ndata: {}\n\n"]);
    chunks.send(text.into()).await.ok()?;
    Some(at)
}

/// Chunks as the body of a response.
struct Chunks(mpsc::Receiver<Bytes>);

impl Stream for Chunks {
    type Item = Result<Bytes, std::convert::Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|chunk| chunk.map(Ok))
    }
}

/// The first events: one for each terminal and task.
fn states(fleet: &Fleet) -> io::Result<String> {
    Event::of_all(fleet).map(|event| event.json()).collect()
}
