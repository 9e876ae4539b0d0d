//! The checks that every request must pass: its address, its origin, its token, and the rate limit.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderValue};
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::listener::ARRIVES;
use super::listener::Peer;
use super::places::ConnectionPlace;
use crate::address::WebAddress;
use crate::clock;
use crate::present::objection::Objection;
use crate::token::{Token, TokenFile};

/// The largest burst of requests for a token; each second returns as many as the next constant says.
const AT_ONCE: f64 = 100.0;
const A_SECOND: f64 = 50.0;
/// The most event streams of a token.
const STREAMS: usize = 16;
/// The header with the token's scope, so that a client offers only what is allowed.
const SCOPE: &str = "fleetwatch-scope";

/// An answer in JSON with its status. Most of them refuse a request: why, and what to do about it.
#[derive(Clone, Debug)]
pub(super) struct HttpReply {
    pub status: StatusCode,
    pub fields: Map<String, Value>,
}

impl HttpReply {
    /// A refusal.
    pub(super) fn new(status: StatusCode, error: impl ToString, hint: impl ToString) -> Self {
        let fields = [("error", error.to_string()), ("hint", hint.to_string())];
        Self { status, fields: fields.map(|(name, text)| (name.to_owned(), text.into())).into_iter().collect() }
    }

    /// The same, with a field that the caller needs to continue.
    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(name.to_owned(), value.into());
        self
    }

    /// The error that the command line would print.
    pub(super) fn of(status: StatusCode, objection: &Objection) -> Self {
        Self::new(status, objection, objection.hint.as_deref().unwrap_or_default())
    }

    /// A failure of the server itself.
    pub(super) fn broken(error: impl ToString) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error, "`fleetwatch doctor` on that machine may say more")
    }
}

impl IntoResponse for HttpReply {
    fn into_response(self) -> Response {
        let mut response = (self.status, axum::Json(Value::Object(self.fields))).into_response();
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if self.status == StatusCode::TOO_MANY_REQUESTS {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

/// The caller, as routes get it from [`check`].
#[derive(Clone, Debug)]
pub(super) struct Caller {
    pub token: Token,
    pub peer: Peer,
}

/// What requests are checked against.
#[derive(Debug)]
pub(super) struct Access {
    pub tokens: TokenFile,
    /// Names by which requests may address this server, besides `localhost` and IP addresses.
    pub names: Vec<String>,
    /// What a proxy in front of it shows.
    pub page: Option<WebAddress>,
    budgets: Mutex<HashMap<String, Budget>>,
    streams: Arc<Mutex<HashMap<String, usize>>>,
}

/// An event stream of a token, for as long as this is kept.
#[derive(Debug)]
pub(super) struct OpenStream {
    token: String,
    streams: Arc<Mutex<HashMap<String, usize>>>,
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = streams.get_mut(&self.token) {
            *count -= 1;
        }
    }
}

/// How many requests a token has left.
#[derive(Debug)]
struct Budget {
    left: f64,
    at: Instant,
}

impl Access {
    pub(super) fn new(tokens: TokenFile, names: Vec<String>, page: Option<WebAddress>) -> Self {
        Self { tokens, names, page, budgets: Mutex::default(), streams: Arc::default() }
    }

    /// One more event stream of a token.
    ///
    /// # Errors
    /// It has too many.
    pub(super) fn stream(&self, token: &Token) -> Result<OpenStream, HttpReply> {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let count = streams.entry(token.name.clone()).or_default();
        if *count >= STREAMS {
            return Err(too_many("event streams", token, "close one of them"));
        }
        *count += 1;
        Ok(OpenStream { token: token.name.clone(), streams: Arc::clone(&self.streams) })
    }

    /// Refuses a request that is addressed to another name or comes from another origin. A page on a name that was made to
    /// resolve to this server still sends its own name.
    fn check_address(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), HttpReply> {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let is_one = headers.get_all(header::HOST).iter().count() == 1;
        let agrees = uri.authority().is_none_or(|authority| Some(authority.as_str()) == host);
        let Some(host) = host.filter(|host| is_one && agrees && self.is_own(host)) else {
            let hint = "use localhost or an IP address; `--allow-host NAME` allows another name";
            return Err(HttpReply::new(StatusCode::MISDIRECTED_REQUEST, "this server does not go by that name", hint));
        };
        let mut origins = headers.get_all(header::ORIGIN).iter();
        let is_here = |origin: &HeaderValue| {
            let origin = origin.to_str().unwrap_or_default();
            let place = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            // A proxy may show one name and ask by another.
            let is_shown = || self.page.as_ref().is_some_and(|page| page.place().eq_ignore_ascii_case(origin));
            place.is_some_and(|place| place.eq_ignore_ascii_case(host)) || is_shown()
        };
        if !origins.all(is_here) {
            let hint = "in a browser, only this server's own page may ask";
            return Err(HttpReply::new(StatusCode::FORBIDDEN, "pages from other origins may not ask", hint));
        }
        Ok(())
    }

    /// Whether a `Host` header names this server. Any port fits: a tunnel has its own.
    fn is_own(&self, host: &str) -> bool {
        let (name, port) = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((address, port)) => (address, port.strip_prefix(':').or(Some(port).filter(|port| port.is_empty()))),
            None => host.split_once(':').map_or((host, Some("")), |(name, port)| (name, Some(port))),
        };
        let is_port = port.is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
        let names = || self.names.iter().map(String::as_str).chain(self.page.as_ref().map(WebAddress::host));
        let known = || names().any(|known| known.eq_ignore_ascii_case(name));
        is_port && (name.parse::<IpAddr>().is_ok() || name.eq_ignore_ascii_case("localhost") || known())
    }

    /// The token of a request, if it is good now.
    fn admit(&self, headers: &HeaderMap) -> Result<Token, HttpReply> {
        let refuse = |error: &str, hint: &str| Err(HttpReply::new(StatusCode::UNAUTHORIZED, error, hint));
        let header = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let Some(text) = header.and_then(|header| header.split_once(' ')) else {
            return refuse("there is no token", "send `Authorization: Bearer TOKEN`; `fleetwatch token add` makes one");
        };
        let token = self.tokens.find(text.1).map_err(|error| {
            // Where the file is, and what is wrong with it, is for this machine alone.
            tracing::warn!(%error, "the tokens cannot be read");
            let hint = "`fleetwatch token list` on that machine says why";
            HttpReply::new(StatusCode::SERVICE_UNAVAILABLE, "no token can be checked now", hint)
        })?;
        let Some(token) = token.filter(|_| text.0.eq_ignore_ascii_case("bearer")) else {
            return refuse("this token is not known", "`fleetwatch token list` lists the tokens that there are");
        };
        if !token.is_good(clock::now()) {
            return refuse("this token has expired", "`fleetwatch token add` makes another one");
        }
        if !self.spend(&token.name) {
            return Err(too_many("requests", &token, "read `/v1/events` instead of asking again"));
        }
        Ok(token)
    }

    /// Whether a token may make one more request now.
    fn spend(&self, token: &str) -> bool {
        let mut budgets = self.budgets.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let full = || Budget { left: AT_ONCE, at: now };
        let budget = budgets.entry(token.to_owned()).or_insert_with(full);
        let back = now.duration_since(budget.at).as_secs_f64() * A_SECOND;
        *budget = Budget { left: (budget.left + back).min(AT_ONCE), at: now };
        let is_left = budget.left >= 1.0;
        budget.left -= if is_left { 1.0 } else { 0.0 };
        is_left
    }

    /// Refills all budgets.
    #[cfg(test)]
    pub(super) fn forget_spending(&self) {
        self.budgets.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Whether a caller may still get answers.
    pub(super) fn still_admits(&self, caller: &Caller) -> bool {
        let is_it = |token: &Token| *token == caller.token && token.is_good(clock::now());
        self.tokens.read().is_ok_and(|tokens| tokens.iter().any(is_it))
    }
}

/// The answer to a token that has too much of something.
fn too_many(what: &str, token: &Token, hint: &str) -> HttpReply {
    let error = format!("there are too many {what} with the token `{}`", token.name);
    HttpReply::new(StatusCode::TOO_MANY_REQUESTS, error, hint)
}

/// Routes that reveal nothing about the fleet and need no token.
const OPEN: &[&str] = &["/", "/manifest.json", "/icon.png", "/healthz", "/openapi.json"];

/// Lets a request through, or answers why not. Headers keep browsers from storing, framing or running an answer.
pub(super) async fn check(State(access): State<Arc<Access>>, mut request: Request, next: Next) -> Response {
    let may_pass = access.check_address(request.uri(), request.headers()).and_then(|()| {
        let is_open = matches!(*request.method(), Method::GET | Method::HEAD) && OPEN.contains(&request.uri().path());
        if is_open {
            return Ok(None);
        }
        let token = access.admit(request.headers())?;
        match request.extensions().get::<Arc<ConnectionPlace>>().is_none_or(|place| place.hold(&token)) {
            true => Ok(Some(token)),
            false => Err(too_many("connections", &token, "use one connection for several requests")),
        }
    });
    let mut response = match may_pass {
        Err(denial) => {
            let mut refusal = denial.into_response();
            if refusal.status() == StatusCode::TOO_MANY_REQUESTS {
                refusal.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            refusal
        }
        Ok(token) => {
            let scope = token.as_ref().map(|token| token.scope);
            if let Some(token) = token {
                let peer = request.extensions().get::<Peer>().cloned().unwrap_or(Peer::Socket);
                request.extensions_mut().insert(Caller { token, peer });
            }
            let mut response = next.run(request).await;
            if let Some(scope) = scope {
                response.headers_mut().insert(SCOPE, HeaderValue::from_static(scope.word()));
            }
            response
        }
    };
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
    ] {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

/// The body of a request that sends JSON.
///
/// # Errors
/// It says that it is something else, is too long, or does not arrive.
pub(super) async fn json_body(request: Request, longest: usize) -> Result<Bytes, HttpReply> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.split(';').next().map(str::trim) != Some("application/json") {
        let hint = "send it with `Content-Type: application/json`";
        return Err(HttpReply::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the body is not JSON", hint));
    }
    let reading = axum::body::to_bytes(request.into_body(), longest);
    let body = tokio::time::timeout(ARRIVES, reading).await.map_err(|_| {
        let hint = format!("a body must arrive within {} seconds", ARRIVES.as_secs());
        HttpReply::new(StatusCode::REQUEST_TIMEOUT, "the body did not arrive", hint)
    })?;
    body.map_err(|_| {
        let hint = format!("a body may have at most {} KiB", longest >> 10);
        HttpReply::new(StatusCode::PAYLOAD_TOO_LARGE, "the body is too long, or was cut off", hint)
    })
}

/// What the body of a request says.
///
/// # Errors
/// It is not what the route takes.
pub(super) fn said<T: DeserializeOwned>(body: &[u8]) -> Result<T, HttpReply> {
    let hint = "docs/serving.md says what it takes";
    // A list would be taken for the fields in their order.
    if !body.trim_ascii_start().starts_with(b"{") {
        return Err(HttpReply::new(StatusCode::BAD_REQUEST, "the body is not a JSON object", hint));
    }
    serde_json::from_slice(body).map_err(|error| HttpReply::new(StatusCode::BAD_REQUEST, error, hint))
}

/// The answer if there is no route.
pub(super) async fn missing() -> HttpReply {
    HttpReply::new(StatusCode::NOT_FOUND, "there is nothing here", "the routes are in docs/serving.md")
}

/// The answer to a method that a route does not take.
pub(super) async fn other_method() -> HttpReply {
    HttpReply::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "this route does not take this method",
        "the routes are in docs/serving.md",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_answered() {
        let tokens = TokenFile::at("/nonexistent/tokens.json".into());
        let access = Access::new(
            tokens,
            vec!["fleet.example.net".to_owned()],
            WebAddress::parse("https://box.example.ts.net").ok(),
        );
        for host in [
            "localhost",
            "LocalHost:80",
            "127.0.0.1:7717",
            "[::1]",
            "[::1]:1",
            "fleet.example.net:443",
            "box.example.ts.net",
        ] {
            assert!(access.is_own(host), "{host}");
        }
        for host in
            ["", "evil.example", "localhost.evil.example", "localhost:80:80", "[::1", "[::1]x", "127.0.0.1.nip.io"]
        {
            assert!(!access.is_own(host), "{host}");
        }
    }

    #[test]
    fn a_page_of_another_place_is_refused() {
        let access = Access::new(
            TokenFile::at("/nonexistent/tokens.json".into()),
            Vec::new(),
            WebAddress::parse("https://box.example.ts.net").ok(),
        );
        let ask = |host: &str, origin: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            origin.iter().for_each(|origin| drop(headers.insert(header::ORIGIN, origin.parse().unwrap())));
            access.check_address(&Uri::from_static("/v1/terminals"), &headers).err().map(|denial| denial.status)
        };
        assert_eq!(ask("localhost:7717", None), None);
        assert_eq!(ask("localhost:7717", Some("http://localhost:7717")), None);
        assert_eq!(ask("localhost:7717", Some("https://box.example.ts.net")), None, "a proxy asks by its own name");
        assert_eq!(ask("box.example.ts.net", Some("https://box.example.ts.net")), None);
        for origin in [
            "http://localhost:3000",
            "http://evil.example",
            "null",
            "https://localhost:7717.evil.example",
            "http://box.example.ts.net",
            "https://box.example.ts.net:8443",
        ] {
            assert_eq!(ask("localhost:7717", Some(origin)), Some(StatusCode::FORBIDDEN), "{origin}");
        }
        assert_eq!(ask("evil.example", Some("http://evil.example")), Some(StatusCode::MISDIRECTED_REQUEST));
    }

    #[test]
    fn who_asks_too_often_waits() {
        let access = Access::new(
            TokenFile::at("/nonexistent/tokens.json".into()),
            Vec::new(),
            WebAddress::parse("https://box.example.ts.net").ok(),
        );
        let spent = (0..1_000).filter(|_| access.spend("page")).count();
        assert!((100..200).contains(&spent), "{spent}");
        assert!(access.spend("other"));
    }

    #[test]
    fn a_token_has_so_many_event_streams_and_not_those_of_another() {
        let access = Access::new(TokenFile::at("/nonexistent/tokens.json".into()), Vec::new(), None);
        let time = crate::time::Timestamp::from_millis;
        let token = |name: &str| Token::new(name, crate::token::Scope::Read, (time(0), time(1)), name);
        let (page, other) = (token("page"), token("other"));
        let mut streams: Vec<OpenStream> = (0..STREAMS).map(|_| access.stream(&page).unwrap()).collect();
        assert_eq!(access.stream(&page).unwrap_err().status, StatusCode::TOO_MANY_REQUESTS);
        assert!(access.stream(&other).is_ok());
        streams.pop();
        assert!(access.stream(&page).is_ok());
    }

    #[test]
    fn only_an_object_is_a_body() {
        let said = |body: &[u8]| said::<HashMap<String, String>>(body).map_err(|denial| denial.status);
        assert!(said(b" \n{\"a\":\"b\"}").is_ok());
        for body in [b"[\"a\"]".as_slice(), b"\"a\"", b"null", b"1", b"", b" [", b"\xef\xbb\xbf{}"] {
            assert_eq!(said(body), Err(StatusCode::BAD_REQUEST), "{}", body.escape_ascii());
        }
    }
}
