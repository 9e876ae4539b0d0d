//! Posts that are repeated until they are accepted: web hooks, and messages to browsers. A web hook is a notice by POST, signed,
//! and repeated when it fails.
//!
//! What a body looks like is data (`config/webhooks`): a shape says where the text goes, and how it is escaped there.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use http::header::CONTENT_TYPE;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::carrier::Troubles;
use crate::hash::{Fnv, hexadecimal};
use crate::history;
use crate::http::Endpoint;
use crate::notify::{Dispatch, Webhook, WebhookShape};
use crate::pattern::filled;
use crate::screen::harmless;

/// What bodies look like.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shape {
    content_type: String,
    /// What stands for characters of the text that would mean something there.
    #[serde(default)]
    escape: BTreeMap<char, String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// Bytes of the text at most.
    longest: Option<usize>,
    /// The body as text, as JSON, or as the events themselves.
    body: Option<String>,
    json: Option<Value>,
    #[serde(default)]
    events: bool,
}

/// A POST that is made until somebody takes it.
#[derive(Debug, PartialEq)]
struct Post {
    content_type: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl Shape {
    fn of(shape: WebhookShape) -> Result<Self, String> {
        let text = match shape {
            WebhookShape::Json => include_str!("../../config/webhooks/json.toml"),
            WebhookShape::Ntfy => include_str!("../../config/webhooks/ntfy.toml"),
            WebhookShape::Slack => include_str!("../../config/webhooks/slack.toml"),
        };
        toml::from_str(text).map_err(|error| error.to_string())
    }

    /// What is posted of a notice.
    fn post(&self, text: &str, event: &str, events: &[&Value]) -> Post {
        let mut text = harmless(text);
        if let Some(longest) = self.longest.filter(|longest| text.len() > *longest) {
            let end = (0..=longest).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
            text.truncate(end);
            text.push('…');
        }
        // Once for each character: what one becomes is not escaped again.
        let escaped = |c: char| self.escape.get(&c).cloned().unwrap_or_else(|| c.to_string());
        let text: String = text.chars().map(escaped).collect();
        let values = [("{text}", text.as_str()), ("{event}", event)];
        let body = match (&self.json, &self.body) {
            _ if self.events => json!({ "text": text, "events": events }).to_string(),
            (Some(json), _) => filled_in(json, &values).to_string(),
            (None, body) => filled(body.as_deref().unwrap_or("{text}"), &values),
        };
        // A header takes the event alone, which is a word of fleetwatch's own.
        let headers = self.headers.iter().map(|(name, value)| (name.clone(), value.replace("{event}", event)));
        Post { content_type: self.content_type.clone(), headers: headers.collect(), body }
    }
}

/// A body with its places filled.
fn filled_in(template: &Value, values: &[(&str, &str)]) -> Value {
    match template {
        Value::String(template) => filled(template, values).into(),
        Value::Array(items) => items.iter().map(|item| filled_in(item, values)).collect(),
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), filled_in(value, values))).collect(),
        other => other.clone(),
    }
}

/// Posts notices.
#[derive(Clone, Debug)]
pub(super) struct Poster {
    places: DeliverySlots,
    troubles: Troubles,
}

impl Poster {
    pub(super) fn new(troubles: Troubles) -> Self {
        Self { places: DeliverySlots::default(), troubles }
    }

    /// Begins to post a notice by its rule's web hook.
    pub(super) fn post(&self, delivery: &Dispatch) {
        let Some(hook) = delivery.rule.webhook.clone() else { return };
        let troubles = self.troubles.clone();
        let Some(place) = self.places.take() else {
            return troubles.tell("webhook", "too many are on their way; an event was not sent");
        };
        let event = delivery.notices.first().map_or("", |notice| notice.occasion.word());
        let events: Vec<&Value> = delivery.notices.iter().map(|notice| &notice.document).collect();
        let post = Shape::of(hook.shape).map(|shape| shape.post(&delivery.text(), event, &events));
        tokio::spawn(async move {
            let _place = place;
            let posted = async { deliver(&hook, &post?).await };
            match posted.await {
                Ok(()) => troubles.passed("webhook"),
                Err(why) => troubles.tell("webhook", &why),
            }
        });
    }
}

/// Posts until somebody takes it.
///
/// # Errors
/// Nobody does: why, for people, without the path, which may be a secret.
async fn deliver(hook: &Webhook, post: &Post) -> Result<(), String> {
    let variable = |name: &Option<String>| match name {
        None => Ok(None),
        Some(name) => match std::env::var(name) {
            Ok(value) if !value.is_empty() => Ok(Some(value)),
            _ => Err(format!("the variable {name} is not set; nothing was sent")),
        },
    };
    let (secret, token) = (variable(&hook.secret)?, variable(&hook.token)?);
    let endpoint = Endpoint::new(&hook.url, None).and_then(|endpoint| match token {
        Some(token) => endpoint.with_token(&token),
        None => Ok(endpoint),
    });
    let endpoint = endpoint.map_err(|error| error.to_string())?;
    let mut id = Fnv::default();
    [history::now().to_string().as_bytes(), post.body.as_bytes()].iter().for_each(|part| id.feed(part));
    let id = format!("{:016x}", id.get());
    let headers = || std::future::ready(headers(post, &id, secret.as_deref()));
    post_until_taken(&endpoint, headers, post.body.as_bytes()).await.map_err(|not_taken| not_taken.why)
}

fn headers(post: &Post, id: &str, secret: Option<&str>) -> Result<Vec<(HeaderName, HeaderValue)>, String> {
    let at = (history::now().as_millis() / 1000).to_string();
    let mut all = vec![
        (CONTENT_TYPE.as_str().to_owned(), post.content_type.clone()),
        ("fleetwatch-delivery".to_owned(), id.to_owned()),
        ("fleetwatch-timestamp".to_owned(), at.clone()),
    ];
    if let Some(secret) = secret {
        all.push(("fleetwatch-signature".to_owned(), format!("sha256={}", signature(secret, &at, &post.body)?)));
    }
    all.extend(post.headers.iter().cloned());
    let header = |(name, value): (String, String)| {
        let (name, value) = (name.parse::<HeaderName>().ok()?, HeaderValue::from_str(&value).ok()?);
        Some((name, value))
    };
    all.into_iter().map(header).collect::<Option<Vec<_>>>().ok_or_else(|| "a header cannot be sent".to_owned())
}

/// HMAC-SHA256 of the time and the body, with a dot in between.
fn signature(secret: &str, at: &str, body: &str) -> Result<String, String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).map_err(|error| error.to_string())?;
    [at, ".", body].iter().for_each(|part| mac.update(part.as_bytes()));
    Ok(hexadecimal(&mac.finalize().into_bytes()))
}

// Posting, again and again.

/// How long one attempt may take, and how long it is waited before the next ones.
const ATTEMPT: Duration = Duration::from_secs(10);
const PAUSES: [Duration; 5] = [
    Duration::from_secs(1),
    Duration::from_secs(4),
    Duration::from_secs(15),
    Duration::from_secs(60),
    Duration::from_secs(240),
];
/// How many may be on their way; beyond that, nothing is sent, and a warning says so.
const UNDER_WAY: usize = 64;

/// Places for what is on its way.
#[derive(Clone, Debug)]
pub(super) struct DeliverySlots(Arc<Semaphore>);

impl Default for DeliverySlots {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(UNDER_WAY)))
    }
}

impl DeliverySlots {
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
pub(super) async fn post_until_taken<F>(
    endpoint: &Endpoint,
    headers: impl Fn() -> F,
    body: &[u8],
) -> Result<(), NotTaken>
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

#[cfg(test)]
mod tests {
    use super::*;

    fn post(shape: WebhookShape, text: &str) -> Post {
        Shape::of(shape).unwrap().post(text, "approval", &[&json!({ "text": text })])
    }

    #[test]
    fn nothing_that_a_pane_says_means_anything_where_it_goes() {
        let evil = "rm <!channel> {event} {text} & \u{1b}]0;x\u{7} \"} *b*";
        let slack: Value = serde_json::from_str(&post(WebhookShape::Slack, evil).body).unwrap();
        let text = slack["blocks"][0]["text"]["text"].as_str().unwrap();
        assert!(text.starts_with("fleetwatch: rm &lt;!channel&gt; {event} {text} &amp; "), "{text}");
        assert!(!text.contains('\u{1b}') && slack["blocks"][0]["text"]["type"] == "plain_text");
        let ntfy = post(WebhookShape::Ntfy, evil);
        assert!(ntfy.body.starts_with("rm <!channel> {event} {text} & "), "{ntfy:?}");
        assert!(ntfy.headers.contains(&("Title".to_owned(), "fleetwatch: approval".to_owned())), "{ntfy:?}");
        let own: Value = serde_json::from_str(&post(WebhookShape::Json, evil).body).unwrap();
        assert_eq!(own["events"][0]["text"], evil);
        assert!(post(WebhookShape::Ntfy, &"ü".repeat(9_000)).body.len() <= 4_003);
    }

    #[test]
    fn whoever_has_the_secret_can_tell_who_sent_it() {
        assert_eq!(
            signature("s3cret", "1700000000", "{\"a\":1}").unwrap(),
            "1698a50bc74d1ff1db85c4e0a5297c2ad9fdba245d5737cdb789e4cc6e098940"
        );
    }
}
