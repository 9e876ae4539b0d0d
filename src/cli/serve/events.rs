//! The event stream: the lines of `watch --json` with numbers. The newest are kept, and each reader reads at its own pace;
//! one that falls too far behind starts over with the full state.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use futures_core::Stream;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::Instant;

use super::Served;
use super::check::{Caller, HttpReply};
use crate::clock;

/// The most bytes of lines that are kept.
const KEPT_BYTES: usize = 16 << 20;
/// The most bytes of a chunk.
const CHUNK: usize = 64 << 10;
/// How often it is checked whether a reader may still follow. One that is idle gets a comment.
const HEART_BEAT: Duration = Duration::from_secs(15);
/// How many readers are sent the full state at the same time: each may take megabytes.
const BEGINNERS: usize = 8;
/// The header in which a browser says which event it got last.
const LAST_EVENT_ID: &str = "last-event-id";

/// The newest lines.
#[derive(Debug)]
pub(super) struct EventLog {
    /// Which run of `serve` the numbers belong to.
    run: i64,
    kept: watch::Sender<Kept>,
    beginners: Semaphore,
}

#[derive(Debug, Default)]
struct Kept {
    lines: VecDeque<Arc<str>>,
    /// The number of the newest line.
    last: u64,
    bytes: usize,
}

impl EventLog {
    pub(super) fn new() -> Self {
        let (run, beginners) = (clock::now().as_millis(), Semaphore::new(BEGINNERS));
        Self { run, kept: watch::Sender::default(), beginners }
    }

    /// Keeps lines of JSON, and wakes readers.
    pub(super) fn push(&self, lines: &str) {
        if lines.is_empty() {
            return;
        }
        self.kept.send_modify(|kept| {
            for line in lines.lines() {
                kept.bytes += line.len();
                kept.last += 1;
                kept.lines.push_back(line.into());
            }
            while kept.bytes > KEPT_BYTES
                && let Some(oldest) = kept.lines.pop_front()
            {
                kept.bytes -= oldest.len();
            }
        });
    }

    /// The number of the newest line.
    pub(super) fn last(&self) -> u64 {
        self.kept.borrow().last
    }

    /// The next chunk after a number, and the number of its last line; `None` if it is no longer kept.
    fn behind(&self, number: u64) -> Option<(String, u64)> {
        let kept = self.kept.borrow();
        let missing = usize::try_from(kept.last.checked_sub(number)?).ok()?;
        let first = kept.lines.len().checked_sub(missing)?;
        let (mut text, mut at) = (String::new(), number);
        for line in kept.lines.range(first..) {
            at += 1;
            push_event(&mut text, Some(&self.name(at)), line);
            if text.len() >= CHUNK {
                break;
            }
        }
        Some((text, at))
    }

    /// A number as readers receive it.
    fn name(&self, number: u64) -> String {
        format!("{}-{number}", self.run)
    }

    /// The number after which a reader continues; `None` for a number of another run, or for anything else.
    fn number(&self, name: &str) -> Option<u64> {
        let (run, number) = name.split_once('-')?;
        number.parse().ok().filter(|_| run.parse() == Ok(self.run))
    }
}

fn push_event(text: &mut String, name: Option<&str>, line: &str) {
    if let Some(name) = name {
        text.extend(["id: ", name, "\n"]);
    }
    text.extend(["data: ", line, "\n\n"]);
}

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
    let (states, at) = served.ask(move |engine| (super::states(engine.fleet()), events.last())).await.ok()?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_falls_behind_what_is_kept_begins_again() {
        let log = EventLog::new();
        assert_eq!(log.behind(0), Some((String::new(), 0)));
        log.push("{\"n\":1}\n{\"n\":2}\n");
        let (text, at) = log.behind(1).unwrap();
        assert_eq!((text, at), (format!("id: {}-2\ndata: {{\"n\":2}}\n\n", log.run), 2));
        assert_eq!(log.behind(3), None, "that has not been sent yet");
        let long = "x".repeat(1 << 20);
        (0..40).for_each(|_| log.push(&long));
        assert_eq!(log.behind(2), None);
        assert!(log.kept.borrow().bytes <= KEPT_BYTES);
        assert_eq!(log.behind(log.last() - 1).map(|(_, at)| at), Some(42));
        assert_eq!(log.number(&log.name(7)), Some(7));
        for other in ["", "7", "1-7", &format!("{}-", log.run), &format!("{}-x", log.run)] {
            assert_eq!(log.number(other), None, "{other}");
        }
    }
}
