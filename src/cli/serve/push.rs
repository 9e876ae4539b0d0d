//! Web Push subscriptions: what a browser needs to subscribe, and the routes that add and remove one.

use axum::Json;
use axum::extract::{Extension, Request, State};
use axum::http::{StatusCode, header};
use serde::{Deserialize, Serialize};

use super::Served;
use super::check::{Caller, HttpReply, json_body, said};
use crate::push::{PushFault, Subscription};
use crate::token::Token;

/// The longest body of a request, in bytes.
const BODY_BYTES: usize = 4 << 10;
/// How many browsers a token may have.
const MOST: usize = 8;

/// What a browser needs to subscribe.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct PushOffer {
    /// The public key that it subscribes with.
    key: String,
    /// How many browsers this token has.
    subscriptions: usize,
}

/// A browser's `PushSubscription` in JSON.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct SubscribeBody {
    endpoint: String,
    keys: SubscribeKeys,
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SubscribeKeys {
    p256dh: String,
    auth: String,
}

/// The subscription to end.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct UnsubscribeBody {
    endpoint: String,
}

/// How many browsers this token has now.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Subscribed {
    subscriptions: usize,
}

/// `GET /v1/push`.
pub(super) async fn offer(
    State(served): State<Served>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<PushOffer>, HttpReply> {
    let key = served.access.tokens.push_key().map_err(HttpReply::broken)?;
    Ok(Json(PushOffer { key: key.public(), subscriptions: caller.token.subscriptions.len() }))
}

/// `POST /v1/push`.
pub(super) async fn subscribe(
    State(served): State<Served>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Json<Subscribed>, HttpReply> {
    // The name that the page was opened by, where the push service's operator can ask.
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let contact = format!("https://{host}");
    let body: SubscribeBody = said(&json_body(request, BODY_BYTES).await?)?;
    let keys = (body.keys.p256dh.as_str(), body.keys.auth.as_str());
    let subscription = Subscription::new(&body.endpoint, keys, contact, &served.push_services).map_err(refused)?;
    changed(served, caller, move |tokens, own| {
        let is_it = |it: &Subscription| it.endpoint == subscription.endpoint;
        let others = tokens[own].subscriptions.iter().filter(|it| !is_it(it)).count();
        if others >= MOST {
            return Err(HttpReply::new(
                StatusCode::CONFLICT,
                format!("this token already has {MOST} browsers"),
                "turn notices off in one of them, or make another token",
            ));
        }
        // A browser has one subscription, with its current token.
        tokens.iter_mut().for_each(|token| token.subscriptions.retain(|it| !is_it(it)));
        tokens[own].subscriptions.push(subscription);
        Ok(())
    })
    .await
}

/// `DELETE /v1/push`.
pub(super) async fn unsubscribe(
    State(served): State<Served>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Json<Subscribed>, HttpReply> {
    let body: UnsubscribeBody = said(&json_body(request, BODY_BYTES).await?)?;
    changed(served, caller, move |tokens, own| {
        tokens[own].subscriptions.retain(|it| it.endpoint != body.endpoint);
        Ok(())
    })
    .await
}

/// Changes subscriptions for a valid token. `change` gets all tokens and the index of this one.
async fn changed(
    served: Served,
    caller: Caller,
    change: impl FnOnce(&mut [Token], usize) -> Result<(), HttpReply> + Send + 'static,
) -> Result<Json<Subscribed>, HttpReply> {
    let work = move || {
        served.access.tokens.change(|tokens| {
            let Some(own) = tokens.iter().position(|token| token.is_same(&caller.token)) else {
                let hint = "`fleetwatch token add` makes another one";
                return Err(HttpReply::new(StatusCode::UNAUTHORIZED, "this token was revoked", hint));
            };
            change(tokens, own)?;
            Ok(Json(Subscribed { subscriptions: tokens[own].subscriptions.len() }))
        })
    };
    tokio::task::spawn_blocking(work).await.map_err(HttpReply::broken)?.map_err(HttpReply::broken)?
}

fn refused(fault: PushFault) -> HttpReply {
    let hint = match &fault {
        PushFault::Service(_) => "`push_services` in [serve] allows another one",
        _ => "send what `PushSubscription.toJSON()` returns",
    };
    HttpReply::new(StatusCode::BAD_REQUEST, fault, hint)
}
