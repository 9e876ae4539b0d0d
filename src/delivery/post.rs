//! What is posted until somebody takes it: web hooks, and what goes to browsers.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue, Method, StatusCode};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::http::Endpoint;

/// How long one attempt may take, and how long it is waited before the next ones.
const ATTEMPT: Duration = Duration::from_secs(10);
const PAUSES: [Duration; 5] = [
    Duration::from_secs(1),
    Duration::from_secs(4),
    Duration::from_secs(15),
    Duration::from_secs(60),
    Duration::from_secs(240),
];
/// What is on its way at most; what comes then is not sent, and that is told.
const UNDER_WAY: usize = 64;

/// Places for what is on its way.
#[derive(Clone, Debug)]
pub(super) struct Places(Arc<Semaphore>);

impl Default for Places {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(UNDER_WAY)))
    }
}

impl Places {
    pub(super) fn take(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.0).try_acquire_owned().ok()
    }
}

/// Why nobody took it, for people, without the path, which may be a secret.
#[derive(Debug)]
pub(super) struct NotTaken {
    pub why: String,
    /// What was answered last, where that will not change.
    pub status: Option<StatusCode>,
}

impl From<String> for NotTaken {
    fn from(why: String) -> Self {
        Self { why, status: None }
    }
}

/// Posts until somebody takes it; each attempt has its own headers.
///
/// # Errors
/// Nobody does, or the headers say that there is nothing to send any more.
pub(super) async fn post<F>(endpoint: &Endpoint, headers: impl Fn() -> F, body: &[u8]) -> Result<(), NotTaken>
where
    F: Future<Output = Result<Vec<(HeaderName, HeaderValue)>, String>>,
{
    let mut pauses = PAUSES.iter();
    loop {
        let headers = headers().await?;
        let why = match endpoint.ask(Method::POST, "", &headers, body.to_vec(), ATTEMPT).await {
            Ok(answer) if answer.status.is_success() => return Ok(()),
            Ok(answer) => {
                let status = answer.status;
                let why = format!("{} answers {}", endpoint.place(), status.as_u16());
                let may_pass = status.is_server_error()
                    || matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS);
                if !may_pass {
                    return Err(NotTaken { why, status: Some(status) });
                }
                why
            }
            Err(error) => error.to_string(),
        };
        match pauses.next() {
            Some(pause) => tokio::time::sleep(*pause).await,
            None => return Err(format!("{why}; an event was given up").into()),
        }
    }
}
