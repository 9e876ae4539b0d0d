//! Notices in browsers: each goes to every subscription whose token is good, and a later one of a terminal takes the place of an
//! earlier one.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use http::StatusCode;
use http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::carrier::Troubles;
use super::post::{self, DeliverySlots, NotTaken};
use crate::history;
use crate::http::Endpoint;
use crate::notify::Dispatch;
use crate::push::{self, PushKey, PushServices, Reach, Subscription};
use crate::token::TokenFile;

/// How long a push service keeps what a browser has not taken, in seconds: after that, the page itself shows what waits.
const TTL: &str = "3600";
/// Up to this many terminals get a notice each; more of them at one moment share one.
const ONE_BY_ONE: usize = 3;
/// Letters of a topic, as many as may be.
const TOPIC: usize = 32;
const SUBJECT: &str = "push";

/// One notice for browsers.
#[derive(Clone, Debug, PartialEq)]
struct PushMessage {
    /// A later one with the same topic takes its place.
    topic: String,
    /// What the page's service worker reads.
    body: Value,
}

impl PushMessage {
    fn new(text: &str, row: Value) -> Self {
        let mut topic = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(row.to_string()));
        topic.truncate(TOPIC);
        Self { body: json!({ "text": text, "row": row, "topic": topic }), topic }
    }

    /// The messages for a delivery.
    fn of(delivery: &Dispatch) -> Vec<Self> {
        let notices = delivery.notices.iter().map(|notice| (row(&notice.document["state"]), notice.text.as_str()));
        Self::of_rows(notices, &delivery.text())
    }

    /// The messages for rows, oldest first: the last of each, or all of them in one line.
    fn of_rows<'a>(notices: impl Iterator<Item = (Value, &'a str)>, all: &str) -> Vec<Self> {
        let mut last: BTreeMap<String, Self> = BTreeMap::new();
        for (row, text) in notices {
            last.insert(row.to_string(), Self::new(text, row));
        }
        match last.len() <= ONE_BY_ONE {
            true => last.into_values().collect(),
            false => vec![Self::new(all, Value::Null)],
        }
    }
}

/// By what the page finds the row of a terminal or task: what it is, and not what it is called.
fn row(state: &Value) -> Value {
    let at = state.get("terminal").filter(|it| it.is_object()).unwrap_or(state);
    ["host", "socket", "pane", "pid"].iter().map(|field| at[*field].clone()).collect()
}

/// Tells browsers.
#[derive(Clone, Debug)]
pub(super) struct Pusher {
    services: PushServices,
    places: DeliverySlots,
    newest: Newest,
    troubles: Troubles,
}

impl Pusher {
    pub(super) fn new(services: PushServices, troubles: Troubles) -> Self {
        Self { services, places: DeliverySlots::default(), newest: Newest::default(), troubles }
    }

    pub(super) fn set_services(&mut self, services: PushServices) {
        self.services = services;
    }

    /// Begins to notify all that want to be notified.
    pub(super) fn push(&self, delivery: &Dispatch) {
        // Taken here, in the order of the notices: what is begun below is begun in any.
        let (this, messages, number) = (self.clone(), PushMessage::of(delivery), self.newest.number());
        tokio::task::spawn_blocking(move || match this.begin(&messages, number) {
            Ok(()) => this.troubles.passed(SUBJECT),
            Err(why) => this.troubles.tell(SUBJECT, &why),
        });
    }

    fn begin(&self, messages: &[PushMessage], number: u64) -> Result<(), String> {
        // Without a place for tokens there is none.
        let Some(tokens) = TokenFile::of_user() else { return Ok(()) };
        let subscriptions = tokens.subscriptions().map_err(|error| error.to_string())?;
        if subscriptions.is_empty() {
            return Ok(());
        }
        let key = tokens.push_key().map_err(|error| error.to_string())?;
        let (tokens, key) = (Arc::new(tokens), Arc::new(key));
        for subscription in subscriptions {
            let subject = match push::service(&subscription.endpoint) {
                Ok(service) => format!("{SUBJECT} by {service}"),
                Err(_) => SUBJECT.to_owned(),
            };
            let endpoint = match self.endpoint(&subscription) {
                Ok(endpoint) => endpoint,
                Err(why) => {
                    self.troubles.tell(&subject, &why);
                    continue;
                }
            };
            for message in messages {
                let Some(place) = self.places.take() else {
                    return Err("too many are on their way; a notice was not sent".to_owned());
                };
                let Some(turn) = self.newest.turn(&subscription, &message.topic, number) else { continue };
                let order = PushOrder {
                    to: subscription.clone(),
                    endpoint: endpoint.clone(),
                    message: message.clone(),
                    turn,
                    key: Arc::clone(&key),
                    tokens: Arc::clone(&tokens),
                };
                let (subject, troubles) = (subject.clone(), self.troubles.clone());
                tokio::spawn(async move {
                    let _place = place;
                    match order.carry_out().await {
                        Ok(PushOutcome::Yes) => troubles.passed(&subject),
                        Ok(PushOutcome::NoMore) => {}
                        Err(why) => troubles.tell(&subject, &why),
                    }
                });
            }
        }
        Ok(())
    }

    fn endpoint(&self, to: &Subscription) -> Result<Endpoint, String> {
        let reach = self.services.reach(&to.endpoint).map_err(|fault| fault.to_string())?;
        let endpoint = Endpoint::new(&to.endpoint, None).map_err(|error| error.to_string())?;
        Ok(if reach == Reach::Outside { endpoint.outside() } else { endpoint })
    }
}

/// The number of the newest message of each topic that is on its way to a browser. An older one that got there after it would take
/// its place.
#[derive(Clone, Debug, Default)]
struct Newest {
    numbers: Arc<AtomicU64>,
    under_way: Arc<Mutex<HashMap<(String, String), u64>>>,
}

impl Newest {
    /// Each is higher than those before.
    fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// `None` where a newer one is under way.
    fn turn(&self, to: &Subscription, topic: &str, number: u64) -> Option<PushTurn> {
        self.turn_at((to.endpoint.clone(), topic.to_owned()), number)
    }

    fn turn_at(&self, at: (String, String), number: u64) -> Option<PushTurn> {
        let mut under_way = self.locked();
        if under_way.get(&at).is_some_and(|newest| *newest > number) {
            return None;
        }
        under_way.insert(at.clone(), number);
        Some(PushTurn { newest: self.clone(), at, number })
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<(String, String), u64>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A message that is on its way to a browser.
#[derive(Debug)]
struct PushTurn {
    newest: Newest,
    at: (String, String),
    number: u64,
}

impl PushTurn {
    /// Whether no newer one has set out since, whatever has become of that.
    fn is_newest(&self) -> bool {
        self.newest.locked().get(&self.at) == Some(&self.number)
    }
}

impl Drop for PushTurn {
    fn drop(&mut self) {
        let mut under_way = self.newest.locked();
        if under_way.get(&self.at) == Some(&self.number) {
            under_way.remove(&self.at);
        }
    }
}

/// A message for one browser.
struct PushOrder {
    to: Subscription,
    endpoint: Endpoint,
    message: PushMessage,
    turn: PushTurn,
    key: Arc<PushKey>,
    tokens: Arc<TokenFile>,
}

/// What became of a message.
enum PushOutcome {
    Yes,
    /// The subscription is gone: nobody gets it any more.
    NoMore,
}

impl PushOrder {
    async fn carry_out(&self) -> Result<PushOutcome, String> {
        let body = self.to.sealed(self.message.body.to_string().as_bytes()).map_err(|fault| fault.to_string())?;
        match post::post_until_taken(&self.endpoint, || self.headers(), &body).await {
            Ok(()) => Ok(PushOutcome::Yes),
            // The browser does not want notices any more.
            Err(NotTaken { status: Some(StatusCode::NOT_FOUND | StatusCode::GONE), .. }) => {
                let (tokens, to) = (Arc::clone(&self.tokens), self.to.endpoint.clone());
                let ended = tokio::task::spawn_blocking(move || tokens.unsubscribe(&to)).await;
                // It was not ended where the program ends.
                ended.unwrap_or(Ok(())).map(|()| PushOutcome::Yes).map_err(|error| error.to_string())
            }
            Err(_) if !self.stands().await => Ok(PushOutcome::NoMore),
            Err(NotTaken { why, .. }) => Err(why),
        }
    }

    /// Whether it is still wanted: a newer one may have set out in the meantime, or its token may have been revoked.
    async fn stands(&self) -> bool {
        let (tokens, to) = (Arc::clone(&self.tokens), self.to.clone());
        let is_reported = move || tokens.subscriptions().is_ok_and(|all| all.contains(&to));
        self.turn.is_newest() && tokio::task::spawn_blocking(is_reported).await.unwrap_or(false)
    }

    async fn headers(&self) -> Result<Vec<(HeaderName, HeaderValue)>, String> {
        if !self.stands().await {
            return Err("nobody is to be told any more".to_owned());
        }
        let signed = self.key.authorization(&self.to, history::now()).map_err(|fault| fault.to_string())?;
        let text = |text: &str| HeaderValue::from_str(text).map_err(|_| "a header cannot be sent".to_owned());
        let mut signed = text(&signed)?;
        signed.set_sensitive(true);
        Ok(vec![
            (AUTHORIZATION, signed),
            (CONTENT_ENCODING, HeaderValue::from_static("aes128gcm")),
            (CONTENT_TYPE, HeaderValue::from_static("application/octet-stream")),
            (HeaderName::from_static("ttl"), HeaderValue::from_static(TTL)),
            (HeaderName::from_static("urgency"), HeaderValue::from_static("high")),
            (HeaderName::from_static("topic"), text(&self.message.topic)?),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;
    use crate::token::{Scope, Token};

    #[test]
    fn an_older_message_takes_no_newer_ones_place() {
        let newest = Newest::default();
        let numbers = [newest.number(), newest.number(), newest.number()];
        let turn =
            |topic: &str, number| newest.turn_at(("https://push.example.net/1".to_owned(), topic.to_owned()), number);
        let first = turn("a", numbers[0]).unwrap();
        let other = turn("b", numbers[1]).unwrap();
        assert!(first.is_newest() && other.is_newest(), "another terminal is another topic");
        let last = turn("a", numbers[2]).unwrap();
        assert!(!first.is_newest() && last.is_newest());
        assert!(turn("a", numbers[1]).is_none(), "it begins late and is old already");
        drop(last);
        assert!(!first.is_newest(), "the newer one has arrived");
        drop((first, other));
        assert!(newest.locked().is_empty());
    }

    #[tokio::test]
    async fn a_message_is_tried_no_more_once_a_newer_one_has_set_out() {
        let directory = tempfile::tempdir().unwrap();
        let tokens = TokenFile::at(directory.path().join("state/tokens.json"));
        // The keys of RFC 8291, appendix A.
        let point = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
        let services = PushServices { own: vec!["push.example.net".to_owned()] };
        let keys = (point, "BTBZMqHH6r4Tts7J_aSIgg");
        let to =
            Subscription::new("https://push.example.net/1", keys, "https://localhost".to_owned(), &services).unwrap();
        let mut token =
            Token::new("phone", Scope::Read, (history::now(), history::now() + Span::from_secs(60)), "secret");
        token.subscriptions.push(to.clone());
        tokens.change(|all| all.push(token)).unwrap();
        let (newest, message) = (Newest::default(), PushMessage::new("one", Value::Null));
        let turn = || newest.turn(&to, &message.topic, newest.number()).unwrap();
        let order = PushOrder {
            to: to.clone(),
            endpoint: Endpoint::new("http://localhost:1", None).unwrap(),
            turn: turn(),
            key: Arc::new(tokens.push_key().unwrap()),
            tokens: Arc::new(tokens),
            message: message.clone(),
        };
        assert!(order.headers().await.is_ok());
        let _newer = turn();
        assert!(order.headers().await.is_err());
        assert!(matches!(order.carry_out().await, Ok(PushOutcome::NoMore)), "that is no trouble");
    }

    #[test]
    fn each_terminal_has_a_topic_and_many_are_notified_at_once() {
        let agent = |pid: u32| row(&json!({ "terminal": { "host": null, "socket": "s", "pane": "%1", "pid": pid } }));
        let task = row(&json!({ "host": null, "socket": "s", "pane": "%1", "pid": 7, "command": "make" }));
        assert_eq!((agent(7).to_string().as_str(), &task), (r#"[null,"s","%1",7]"#, &agent(7)));
        let notices = PushMessage::of_rows([(agent(1), "a"), (agent(2), "b"), (agent(1), "c")].into_iter(), "all");
        let texts: Vec<&Value> = notices.iter().map(|message| &message.body["text"]).collect();
        assert_eq!(texts, ["c", "b"], "what was sent about it before is old");
        assert!(notices[0].topic != notices[1].topic && notices.iter().all(|message| message.topic.len() == TOPIC));
        let many = PushMessage::of_rows((1..=4).map(|pid| (agent(pid), "a")), "all");
        assert_eq!(many.len(), 1);
        assert_eq!((&many[0].body["text"], &many[0].body["row"]), (&json!("all"), &Value::Null));
    }
}
