//! Notices in browsers: each goes to every subscription whose token is good, and a later one of a terminal takes the place of an
//! earlier one.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use http::StatusCode;
use http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::carrier::Troubles;
use super::post::{self, NotTaken, Places};
use crate::history;
use crate::http::Endpoint;
use crate::notify::Dispatch;
use crate::push::{PushKey, PushServices, Reach, Subscription};
use crate::token::TokenFile;

/// How long a push service keeps what a browser has not taken, in seconds: what waits then is found by whoever looks.
const TTL: &str = "3600";
/// Terminals that are told of one by one; more of them at one moment are told together.
const ONE_BY_ONE: usize = 3;
/// Letters of a topic, as many as may be.
const TOPIC: usize = 32;
const SUBJECT: &str = "push";

/// One notice for browsers.
#[derive(Clone, Debug, PartialEq)]
struct Message {
    /// A later one with the same topic takes its place.
    topic: String,
    /// What the page's service worker reads.
    body: Value,
}

impl Message {
    fn new(text: &str, row: Value) -> Self {
        let mut topic = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(row.to_string()));
        topic.truncate(TOPIC);
        Self { body: json!({ "text": text, "row": row, "topic": topic }), topic }
    }

    /// What is told of a delivery.
    fn of(delivery: &Dispatch) -> Vec<Self> {
        let told = delivery.notices.iter().map(|notice| (row(&notice.document["state"]), notice.text.as_str()));
        Self::of_rows(told, &delivery.text())
    }

    /// What is told of rows, oldest first: the last of each, or all of them in one line.
    fn of_rows<'a>(told: impl Iterator<Item = (Value, &'a str)>, all: &str) -> Vec<Self> {
        let mut last: BTreeMap<String, Self> = BTreeMap::new();
        for (row, text) in told {
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
    places: Places,
    troubles: Troubles,
}

impl Pusher {
    pub(super) fn new(services: PushServices, troubles: Troubles) -> Self {
        Self { services, places: Places::default(), troubles }
    }

    pub(super) fn set_services(&mut self, services: PushServices) {
        self.services = services;
    }

    /// Begins to tell all that want to be told.
    pub(super) fn push(&self, delivery: &Dispatch) {
        let (this, messages) = (self.clone(), Message::of(delivery));
        tokio::spawn(async move {
            let begun = tokio::task::spawn_blocking(move || this.begin(&messages).map_err(|why| (this.troubles, why)));
            if let Ok(Err((troubles, why))) = begun.await {
                troubles.tell(SUBJECT, &why);
            }
        });
    }

    fn begin(&self, messages: &[Message]) -> Result<(), String> {
        // Without a place for tokens there is none.
        let Some(tokens) = TokenFile::of_user() else { return Ok(()) };
        let subscriptions = tokens.subscriptions().map_err(|error| error.to_string())?;
        if subscriptions.is_empty() {
            return Ok(());
        }
        let key = tokens.push_key().map_err(|error| error.to_string())?;
        let (tokens, key) = (Arc::new(tokens), Arc::new(key));
        for subscription in subscriptions {
            for message in messages {
                let Some(place) = self.places.take() else {
                    return Err("too many are on their way; a notice was not sent".to_owned());
                };
                let order = Order {
                    to: subscription.clone(),
                    message: message.clone(),
                    key: Arc::clone(&key),
                    tokens: Arc::clone(&tokens),
                };
                let (services, troubles) = (self.services.clone(), self.troubles.clone());
                tokio::spawn(async move {
                    let _place = place;
                    match order.carry_out(&services).await {
                        Ok(()) => troubles.passed(SUBJECT),
                        Err(why) => troubles.tell(SUBJECT, &why),
                    }
                });
            }
        }
        Ok(())
    }
}

/// A message for one browser.
struct Order {
    to: Subscription,
    message: Message,
    key: Arc<PushKey>,
    tokens: Arc<TokenFile>,
}

impl Order {
    async fn carry_out(&self, services: &PushServices) -> Result<(), String> {
        let reach = services.reach(&self.to.endpoint).map_err(|fault| fault.to_string())?;
        let endpoint = Endpoint::new(&self.to.endpoint, None).map_err(|error| error.to_string())?;
        let endpoint = if reach == Reach::Outside { endpoint.outside() } else { endpoint };
        let body = self.to.sealed(self.message.body.to_string().as_bytes()).map_err(|fault| fault.to_string())?;
        match post::post(&endpoint, || self.headers(), &body).await {
            Ok(()) => Ok(()),
            // The browser does not want to be told any more.
            Err(NotTaken { status: Some(StatusCode::NOT_FOUND | StatusCode::GONE), .. }) => {
                self.tokens.unsubscribe(&self.to.endpoint).map_err(|error| error.to_string())
            }
            Err(_) if !self.stands() => Ok(()),
            Err(NotTaken { why, .. }) => Err(why),
        }
    }

    /// Whether it is still wanted: its token may have been revoked in the meantime.
    fn stands(&self) -> bool {
        self.tokens.subscriptions().is_ok_and(|all| all.contains(&self.to))
    }

    fn headers(&self) -> Result<Vec<(HeaderName, HeaderValue)>, String> {
        if !self.stands() {
            return Err("the subscription has ended".to_owned());
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

    #[test]
    fn each_terminal_has_a_topic_and_many_are_told_at_once() {
        let agent = |pid: u32| row(&json!({ "terminal": { "host": null, "socket": "s", "pane": "%1", "pid": pid } }));
        let task = row(&json!({ "host": null, "socket": "s", "pane": "%1", "pid": 7, "command": "make" }));
        assert_eq!((agent(7).to_string().as_str(), &task), (r#"[null,"s","%1",7]"#, &agent(7)));
        let told = Message::of_rows([(agent(1), "a"), (agent(2), "b"), (agent(1), "c")].into_iter(), "all");
        let texts: Vec<&Value> = told.iter().map(|message| &message.body["text"]).collect();
        assert_eq!(texts, ["c", "b"], "what was told of it before is old");
        assert!(told[0].topic != told[1].topic && told.iter().all(|message| message.topic.len() == TOPIC));
        let many = Message::of_rows((1..=4).map(|pid| (agent(pid), "a")), "all");
        assert_eq!(many.len(), 1);
        assert_eq!((&many[0].body["text"], &many[0].body["row"]), (&json!("all"), &Value::Null));
    }
}
