//! Stand-ins for web hooks and Web Push in a build without the feature `serve`.

use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::carrier::Troubles;
use crate::history;
use crate::http::WITHOUT;
use crate::notify::Dispatch;
use crate::private;
use crate::push::{PushServices, TOKENS};
use crate::time::Timestamp;

/// Posts nothing, and says so.
#[derive(Clone, Debug)]
pub(super) struct Poster(Troubles);

impl Poster {
    pub(super) fn new(troubles: Troubles) -> Self {
        Self(troubles)
    }

    pub(super) fn post(&self, _delivery: &Dispatch) {
        let (what, hint) = WITHOUT;
        self.0.tell("webhook", &format!("{what}; {hint}"));
    }
}

/// Notifies no browser, and says so where one wants to be notified: its token is the user's, who may have built both.
#[derive(Clone, Debug)]
pub(super) struct Pusher(Troubles);

impl Pusher {
    pub(super) fn new(_services: PushServices, troubles: Troubles) -> Self {
        Self(troubles)
    }

    pub(super) fn set_services(&mut self, _services: PushServices) {}

    pub(super) fn push(&self, _delivery: &Dispatch) {
        let troubles = self.0.clone();
        tokio::task::spawn_blocking(move || {
            let tokens = history::state_directory().map(|directory| directory.join(TOKENS));
            if tokens.is_some_and(|tokens| has_subscription(&tokens, history::now())) {
                let (what, hint) = WITHOUT;
                troubles.tell("push", &format!("{what}; {hint}"));
            }
        });
    }
}

/// Whether a browser wants notices, by a token that is good.
fn has_subscription(tokens: &Path, now: Timestamp) -> bool {
    #[derive(Deserialize)]
    struct SubscribedToken {
        expires: Timestamp,
        #[serde(default)]
        subscriptions: Vec<IgnoredAny>,
    }
    let tokens =
        private::read_secret(tokens).ok().and_then(|text| serde_json::from_slice::<Vec<SubscribedToken>>(&text).ok());
    tokens.is_some_and(|all| all.iter().any(|token| now < token.expires && !token.subscriptions.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_known_whether_a_browser_wants_notices() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(TOKENS);
        let (now, later) = (Timestamp::from_millis(1_000), Timestamp::from_millis(2_000));
        assert!(!has_subscription(&path, now));
        let kept = |tokens: serde_json::Value| private::replace(&path, tokens.to_string().as_bytes()).unwrap();
        let silent = serde_json::json!({ "name": "a", "expires": later });
        kept(serde_json::json!([silent]));
        assert!(!has_subscription(&path, now));
        let subscribed = serde_json::json!({ "name": "b", "expires": later, "subscriptions": [{ "endpoint": "x" }] });
        kept(serde_json::json!([silent, subscribed]));
        assert!(has_subscription(&path, now));
        assert!(!has_subscription(&path, later), "the token has ended");
    }
}
