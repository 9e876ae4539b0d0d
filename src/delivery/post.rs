//! Web hooks: notices by POST, signed, and repeated when they fail. `curl` posts them: it knows TLS, proxies and the system's
//! authorities. It gets the body on its standard input, and what is secret from a file that only this user can read.
//!
//! What a body looks like is data (`config/webhooks`): a shape says where the text goes, and how it is escaped there.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::sync::Semaphore;

use super::program::run;
use super::trouble::Troubles;
use crate::address::WebAddress;
use crate::clock;
use crate::hash::{Fnv, hexadecimal};
use crate::notify::{COMMAND_DEADLINE, Dispatch, Webhook, WebhookShape};
use crate::pattern::filled;
use crate::private;
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
    places: Arc<Semaphore>,
    troubles: Troubles,
}

impl Poster {
    pub(super) fn new(troubles: Troubles) -> Self {
        Self { places: Arc::new(Semaphore::new(UNDER_WAY)), troubles }
    }

    /// Begins to post a notice by its rule's web hook.
    pub(super) fn post(&self, delivery: &Dispatch) {
        let Some(hook) = delivery.rule.webhook.clone() else { return };
        let troubles = self.troubles.clone();
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
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
    let place = WebAddress::parse(&hook.url).map_err(|error| error.to_string())?.place();
    if post.body.len() > LONGEST {
        return Err(format!("a notice of {} bytes is too long; it was not sent", post.body.len()));
    }
    let mut id = Fnv::default();
    [clock::now().to_string().as_bytes(), post.body.as_bytes()].iter().for_each(|part| id.feed(part));
    let id = format!("{:016x}", id.get());
    let mut attempted = 0;
    loop {
        attempted += 1;
        let mut headers = headers(post, &id, secret.as_deref())?;
        headers.extend(token.iter().map(|token| ("authorization".to_owned(), format!("Bearer {token}"))));
        let why = match attempt(instructions(&hook.url, &headers)?, &post.body).await {
            Ok(200..=299) => return Ok(()),
            Ok(status) => {
                let why = format!("{place} answers {status}");
                // Only what may pass is worth another attempt; a redirection is nobody's answer.
                if !matches!(status, 408 | 429 | 500..=599) {
                    return Err(why);
                }
                why
            }
            Err(AttemptError::Lasting(why)) => return Err(why),
            Err(AttemptError::Passing(why)) => format!("{place} {why}"),
        };
        if attempted == ATTEMPTS {
            return Err(format!("{why}; an event was given up"));
        }
        tokio::time::sleep(Duration::from_secs(4u64.pow(attempted - 1))).await;
    }
}

fn headers(post: &Post, id: &str, secret: Option<&str>) -> Result<Vec<(String, String)>, String> {
    let at = (clock::now().as_millis() / 1000).to_string();
    let mut all = vec![
        ("content-type".to_owned(), post.content_type.clone()),
        ("fleetwatch-delivery".to_owned(), id.to_owned()),
        ("fleetwatch-timestamp".to_owned(), at.clone()),
    ];
    if let Some(secret) = secret {
        all.push(("fleetwatch-signature".to_owned(), format!("sha256={}", signature(secret, &at, &post.body)?)));
    }
    all.extend(post.headers.iter().cloned());
    Ok(all)
}

/// HMAC-SHA256 of the time and the body, with a dot in between.
fn signature(secret: &str, at: &str, body: &str) -> Result<String, String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).map_err(|error| error.to_string())?;
    [at, ".", body].iter().for_each(|part| mac.update(part.as_bytes()));
    Ok(hexadecimal(&mac.finalize().into_bytes()))
}

// One attempt, by curl.

/// The program that posts, and how somebody gets it.
pub const PROGRAM: (&str, &str) = ("curl", "install curl, or announce by a command of your own");
/// Attempts at a post. Before the second one a second passes, and before each later one four times as long.
const ATTEMPTS: u32 = 6;
/// How many may be on their way; beyond that, nothing is sent, and a warning says so.
const UNDER_WAY: usize = 64;
/// The longest body, in bytes.
const LONGEST: usize = 1 << 20;
/// Options of curl. `--disable`, which must be the first, keeps it from the user's .curlrc: nothing there may have it follow
/// redirections, print headers, or send the secrets elsewhere.
const OPTIONS: &str = "--disable --silent --globoff --proto =http,https --max-time 9 --max-filesize 65536 --data-binary @- \
    --output /dev/null --write-out %{http_code} --config";
/// Variables that curl gets besides the usual ones: the authorities that the user trusts.
const VARIABLES: [&str; 5] = ["CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR", "ALL_PROXY", "all_proxy"];

/// Why an attempt was none.
enum AttemptError {
    Passing(String),
    Lasting(String),
}

/// Posts a body once, and returns the status that is answered.
async fn attempt(instructions: String, body: &str) -> Result<u16, AttemptError> {
    let written = tokio::task::spawn_blocking(move || SecretFile::write(&instructions)).await.map_err(io::Error::other);
    let file = written
        .flatten()
        .map_err(|error| AttemptError::Passing(format!("is not asked: curl cannot be told what to do: {error}")))?;
    let path = file.0.display().to_string();
    let words = [PROGRAM.0].into_iter().chain(OPTIONS.split_whitespace()).chain([path.as_str()]);
    let words: Vec<String> = words.map(str::to_owned).collect();
    let ran = run(&words, &VARIABLES.map(str::to_owned), COMMAND_DEADLINE, Stdio::piped(), body.to_owned()).await;
    let output = ran.map_err(|error| match error.kind() {
        io::ErrorKind::TimedOut => AttemptError::Passing(format!("is not reached: curl {error}")),
        _ => AttemptError::Lasting(format!("{error}; {}", PROGRAM.1)),
    })?;
    // An answer that is too long, or does not end, is one.
    match (String::from_utf8_lossy(&output.stdout).trim().parse(), output.status.code()) {
        (Ok(status @ 100..), _) => Ok(status),
        (_, Some(code)) => Err(AttemptError::Passing(format!("cannot be reached: {}", meaning(code)))),
        (_, None) => Err(AttemptError::Passing("cannot be reached: curl was killed".to_owned())),
    }
}

/// What an exit code of curl says.
fn meaning(code: i32) -> String {
    let known = match code {
        5 => "its proxy has no address",
        6 => "its name has no address",
        7 => "nobody listens there",
        28 => "it takes too long",
        35 => "it does not speak TLS",
        52 => "it answers nothing",
        60 => "its certificate is not trusted",
        _ => return format!("curl ends with {code}"),
    };
    known.to_owned()
}

/// Where curl posts, and with which headers, in its own words.
///
/// # Errors
/// A header would end before its time.
fn instructions(url: &str, headers: &[(String, String)]) -> Result<String, String> {
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    // Nobody is asked whether the body may come.
    let mut text = format!("url = \"{}\"\nheader = \"expect:\"\n", quoted(url));
    for (name, value) in headers {
        if value.chars().any(char::is_control) {
            return Err(format!("the value for the header {name} cannot be sent"));
        }
        text.push_str(&format!("header = \"{name}: {}\"\n", quoted(value)));
    }
    Ok(text)
}

/// A file of this user alone, for as long as somebody has to read it.
struct SecretFile(PathBuf);

impl SecretFile {
    fn write(text: &str) -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let directory = private::runtime_directory(true).ok_or(io::ErrorKind::NotFound)?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let file = Self(directory.join(format!("webhook-{}-{number}", std::process::id())));
        private::replace(&file.0, text.as_bytes())?;
        Ok(file)
    }
}

impl Drop for SecretFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
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
