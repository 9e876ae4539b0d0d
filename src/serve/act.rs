//! The routes that act: prompts, answers and keys, sent like every operation (SPEC §11), each request once.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{FromRequest, Path, Request, State};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{RequestExt, Router};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::check::{Caller, HttpReply, json_body, said};
use super::served::{Served, ends};
use crate::clock;
use crate::dialog::Dialog;
use crate::engine::{Engine, PATIENCE};
use crate::fleet::Terminal;
use crate::hash::hexadecimal;
use crate::history::{HttpRequest, HttpRequests, Intents, Owner, RequestProgress};
use crate::operation::{
    Act, Asked, Key, Obstacle, Operation, Outcome, PasteText, Privacy, Producer, Recipient, Refusal, When, interrupt,
};
use crate::present::answer::{is_no, meant};
use crate::present::dialog_shown::DialogShown;
use crate::present::item::Item;
use crate::record::HistoryError;
use crate::sender::Gate;
use crate::sender::PromptBack;
use crate::status::Hindrance;
use crate::time::Timestamp;
use crate::token::Scope;

/// The longest body of a request, in bytes: the longest prompt, with every byte of it escaped.
const BODY_BYTES: usize = 512 << 10;
/// The most keys of one request.
const MOST_KEYS: usize = 64;
/// The most characters of an idempotency key.
const LONGEST_KEY: usize = 128;
/// How many operations may be in progress; beyond that, the caller waits.
pub(super) const MOST: u32 = 32;
/// The header that makes a request one act, however often it is sent, and the one that marks a repeated answer.
const KEY: &str = "idempotency-key";
const REPEATED: &str = "idempotent-replayed";

pub(super) fn routes() -> Router<Served> {
    Router::new()
        .route("/v1/terminals/{id}/input", post(input))
        .route("/v1/terminals/{id}/answer", post(answer))
        .route("/v1/terminals/{id}/keys", post(keys))
        .route("/v1/terminals/{id}/interrupt", post(interrupt))
}

/// What the schema says of texts and of dialogs' ids, of which [`PasteText`] and [`Dialog::is_id`] have the last word.
#[cfg(test)]
const TEXT: &str = r"^[^\x00-\x08\x0b-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x08\x0b-\x1f\x7f-\x9f]*$";
#[cfg(test)]
const DIALOG: &str = "^[0-9a-f]{48}$";

/// A prompt.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct PromptBody {
    #[cfg_attr(test, schemars(regex(pattern = TEXT), length(max = 65536)))]
    text: String,
    #[serde(default)]
    when: When,
}

/// An answer to a dialog.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct AnswerBody {
    /// The `id` of the dialog that was read.
    #[cfg_attr(test, schemars(regex(pattern = DIALOG)))]
    dialog: String,
    /// The choice, as `fleetwatch answer` takes it.
    #[cfg_attr(test, schemars(length(min = 1)))]
    choice: String,
    /// The caller's own text, for an option that takes one.
    #[cfg_attr(test, schemars(regex(pattern = TEXT), length(max = 65536)))]
    text: Option<String>,
}

/// Keys for whatever a terminal shows, or for a dialog.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct KeysBody {
    #[cfg_attr(test, schemars(length(min = 1, max = 64), inner(length(min = 1))))]
    keys: Vec<String>,
    /// The `id` of the dialog that they are for, if one is open.
    #[cfg_attr(test, schemars(regex(pattern = DIALOG)))]
    dialog: Option<String>,
}

/// What stops the agent's turn.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct InterruptBody {
    /// The `id` of the open dialog, if there is one.
    #[cfg_attr(test, schemars(regex(pattern = DIALOG)))]
    dialog: Option<String>,
}

/// A request to do something.
struct Ask<B> {
    id: String,
    by: Producer,
    key: String,
    /// The token, and a hash of the request.
    token: String,
    digest: String,
    body: B,
}

impl<B: DeserializeOwned> FromRequest<Served> for Ask<B> {
    type Rejection = HttpReply;

    async fn from_request(mut request: Request, _served: &Served) -> Result<Self, HttpReply> {
        let bad = |error: &dyn ToString, hint: &str| HttpReply::new(StatusCode::BAD_REQUEST, error.to_string(), hint);
        let Path(id) = request
            .extract_parts::<Path<String>>()
            .await
            .map_err(|error| bad(&error, "name the terminal in the URL, with `/` in its name as `%2F`"))?;
        let Some(caller) = request.extensions().get::<Caller>().cloned() else {
            return Err(HttpReply::broken("nobody asks"));
        };
        if caller.token.scope < Scope::Act {
            let error = format!("the token `{}` may only read", caller.token.name);
            let hint = "`fleetwatch token add NAME --scope act` makes one that may act";
            return Err(HttpReply::new(StatusCode::FORBIDDEN, error, hint));
        }
        let headers = request.headers();
        let key = headers.get(KEY).and_then(|key| key.to_str().ok()).unwrap_or_default().to_owned();
        if key.is_empty() || key.len() > LONGEST_KEY {
            let hint = format!("send a new one of up to {LONGEST_KEY} characters for each act, such as a UUID");
            return Err(bad(&"there is no `Idempotency-Key`", &hint));
        }
        let path = request.uri().path().to_owned();
        let body = json_body(request, BODY_BYTES).await?;
        let digest = Sha256::new().chain_update(path.as_bytes()).chain_update([0]).chain_update(&body).finalize();
        let body = said(&body)?;
        let by = Producer::Token { name: caller.token.name.clone(), address: caller.peer.to_string() };
        Ok(Self { id, by, key, token: caller.token.name, digest: hexadecimal(&digest), body })
    }
}

/// The outcome of an operation, for the caller.
fn told(outcome: &Outcome) -> HttpReply {
    let status = match outcome {
        Outcome::Accepted(_) => StatusCode::OK,
        Outcome::Refused(Refusal::Text(_)) => StatusCode::BAD_REQUEST,
        Outcome::Refused(_) => StatusCode::CONFLICT,
        Outcome::NotTaken { .. } => StatusCode::BAD_GATEWAY,
        Outcome::Unverified { .. } => StatusCode::GATEWAY_TIMEOUT,
    };
    let reply = match outcome {
        Outcome::Accepted(_) => HttpReply { status, fields: Map::new() },
        Outcome::Refused(refusal) => {
            let hint = refusal.hint();
            let hint = hint.as_deref().unwrap_or("look at the terminal again");
            HttpReply::new(status, outcome, hint).with("may_pass", refusal.may_pass())
        }
        _ => HttpReply::new(status, outcome, "look at the terminal before you send anything again"),
    };
    reply.with("outcome", outcome.word()).with("detail", outcome.detail())
}

impl Served {
    /// Performs a request once, however often it is repeated, even if the caller does not wait for the answer.
    async fn once<B, F>(
        self,
        ask: Ask<B>,
        act: impl FnOnce(Self, String, Producer, B) -> F + Send + 'static,
    ) -> Result<Response, HttpReply>
    where
        B: Send + 'static,
        F: Future<Output = Result<HttpReply, HttpReply>> + Send + 'static,
    {
        let place = Arc::clone(&self.acts).acquire_owned().await.map_err(|_| ends())?;
        let done = tokio::spawn(async move {
            let _place = place;
            let Ask { id, by, key, token, digest, body } = ask;
            let request = HttpRequest { token, key, digest };
            let begun = request.clone();
            match self
                .in_store(move |path, owner, now| HttpRequests::open(path, owner, now)?.begin(&begun, now))
                .await?
            {
                RequestProgress::New => {}
                RequestProgress::Answered { status, body } => return replayed(status, &body),
                before => return Err(not_again(&before)),
            }
            self.ask_anew(&id).await;
            let answer = act(self.clone(), id, by, body).await;
            // What was refused before anything was tried is kept as well.
            let answer = answer.unwrap_or_else(|refused| refused.with("outcome", "refused"));
            let (status, body) = (answer.status, Value::Object(answer.fields.clone()).to_string());
            let keep = move |path: &_, owner, now| {
                let mut requests = HttpRequests::open(path, owner, now)?;
                match status {
                    // Nothing was done, and the request may be repeated.
                    StatusCode::SERVICE_UNAVAILABLE => requests.forget(&request),
                    _ => requests.answered(&request, status.as_u16(), &body),
                }
            };
            if let Err(denial) = self.in_store(keep).await {
                // It is done. If it is repeated, the answer is that its outcome is unknown.
                tracing::warn!(?denial, "what was answered to an act is not kept");
            }
            Ok(answer.into_response())
        });
        done.await.map_err(HttpReply::broken)?
    }

    /// Runs something on the history's file, which may block.
    async fn in_store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&std::path::Path, Owner, Timestamp) -> Result<T, HistoryError> + Send + 'static,
    ) -> Result<T, HttpReply> {
        let Some((path, owner)) = self.history.clone() else {
            let hint = "set `enabled = true` in [history]";
            return Err(HttpReply::new(
                StatusCode::CONFLICT,
                "nothing is done without a history that records it",
                hint,
            ));
        };
        let done =
            tokio::task::spawn_blocking(move || work(&path, owner, clock::now())).await.map_err(HttpReply::broken)?;
        done.map_err(|trouble| {
            let error = format!("nothing was done, because the history cannot be written: {trouble}");
            HttpReply::new(StatusCode::SERVICE_UNAVAILABLE, error, trouble.hint())
        })
    }

    /// Waits until what is known of a name is what tmux says now: it may have been given to another session a moment ago. What
    /// still is not so then is refused where it is to be done.
    async fn ask_anew(&self, id: &str) {
        let until = Instant::now() + PATIENCE;
        loop {
            let name = id.to_owned();
            let meant = self.of(id.to_owned(), move |_, item, _| Ok((item.key().clone(), item.named_by(&name)))).await;
            match meant {
                Ok((_, None)) => return,
                Ok((key, Some(named))) if self.actor.sender().is_meant(&key, &named).await => return,
                _ if Instant::now() >= until => return,
                _ => {}
            }
            let wake = |engine: &Engine| engine.servers().iter().for_each(|server| engine.wake(server));
            if self.ask(wake).await.is_err() {
                return;
            }
            tokio::time::sleep(clock::A_MOMENT).await;
        }
    }

    async fn perform(&self, to: Recipient, by: Producer, act: Act, gate: impl Gate) -> Outcome {
        let server = to.key.server.clone();
        let outcome = self.actor.perform(Operation { at: clock::now(), producer: by, to, act }, gate).await;
        // Its effect should be visible at once; fails only when `serve` ends.
        let _ends = self.ask(move |engine| engine.wake(&server)).await;
        outcome
    }

    /// Queues a prompt until its agent is ready.
    async fn queue(&self, to: Recipient, by: &Producer, text: String) -> Result<HttpReply, HttpReply> {
        let by = by.to_string();
        let post = move |path: &_, _, now| Intents::open(path, now)?.post((&to.key, &to.name), (&text, Some(&by)), now);
        let number = self.in_store(post).await?;
        Ok(HttpReply { status: StatusCode::ACCEPTED, fields: Map::new() }
            .with("outcome", "queued")
            .with("detail", Value::Null)
            .with("intent", number.0))
    }

    /// The dialog that replaces another one in a terminal, as soon as it is known.
    async fn dialog_after(&self, id: &str, before: &str) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let shown = |_: &Engine, terminal: &Terminal, _| Ok(json!(DialogShown::of(terminal)));
            match self.of_terminal(id.to_owned(), shown).await {
                Ok(dialog) if dialog["id"] != before || Instant::now() >= until => return dialog,
                Ok(_) => tokio::time::sleep(clock::A_MOMENT).await,
                Err(_) => return Value::Null,
            }
        }
    }
}

/// The earlier answer.
fn replayed(status: u16, body: &str) -> Result<Response, HttpReply> {
    let status = StatusCode::from_u16(status).map_err(HttpReply::broken)?;
    let fields = serde_json::from_str(body).map_err(HttpReply::broken)?;
    let mut response = HttpReply { status, fields }.into_response();
    response.headers_mut().insert(REPEATED, HeaderValue::from_static("true"));
    Ok(response)
}

/// Why nothing is done under a key that was already used.
fn not_again(before: &RequestProgress) -> HttpReply {
    match before {
        RequestProgress::UnderWay => {
            let hint = "ask again with the same key; nothing is done twice";
            HttpReply::new(StatusCode::CONFLICT, "this act is still in progress", hint).with("outcome", "under_way")
        }
        RequestProgress::Other => HttpReply::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "this key was used for something else",
            "send a new `Idempotency-Key` for each act",
        ),
        _ => told(&Outcome::Unverified { why: "the server ended before the outcome was known".to_owned() })
            .with("hint", "look at the terminal and at `/v1/history?kind=input` before you send it under another key"),
    }
}

async fn input(State(served): State<Served>, ask: Ask<PromptBody>) -> Result<Response, HttpReply> {
    let act = |served: Served, id: String, by: Producer, PromptBody { text, when }| async move {
        let name = id.clone();
        let answer = move |_: &Engine, terminal: &Terminal, _| {
            let to = Recipient::of(terminal).at(terminal.named_by(&name));
            Ok((to, terminal.prompt_hindrance()))
        };
        let (to, hindrance) = served.of_terminal(id, answer).await?;
        let may_wait = when == When::Ready;
        if may_wait && hindrance.is_some_and(Hindrance::may_pass) {
            if let Err(unfit) = PasteText::new(&text) {
                return Ok(told(&Refusal::Text(unfit).into()));
            }
            // It is bound to the terminal that is called so now, whatever the name means once that is ready.
            if let Some(named) = &to.named
                && !served.actor.sender().is_meant(&to.key, named).await
            {
                return Ok(told(&Refusal::Obstacle(Obstacle::Renamed).into()));
            }
            return served.queue(to, &by, text).await;
        }
        let prompt = Act::Prompt { text: text.clone(), when: when.without_waiting() };
        match served.perform(to.clone(), by.clone(), prompt, ()).await {
            // It began to work in between.
            Outcome::Refused(refusal) if may_wait && refusal.may_pass() => served.queue(to, &by, text).await,
            outcome => Ok(told(&outcome)),
        }
    };
    served.once(ask, act).await
}

async fn answer(State(served): State<Served>, ask: Ask<AnswerBody>) -> Result<Response, HttpReply> {
    let act = |served: Served, id: String, by: Producer, AnswerBody { dialog: name, choice, text }| async move {
        let (read, target) = (name.clone(), id.clone());
        let named = move |_: &Engine, terminal: &Terminal, _| {
            let dialog = dialog_named(terminal, &read)?;
            let (reply, prompt) = meant(&choice, text.as_deref(), &dialog)
                .map_err(|unmeant| HttpReply::of(StatusCode::BAD_REQUEST, &unmeant.into()))?;
            if !dialog.is_whole() && !is_no(&dialog, &reply, prompt.as_deref()) {
                return Err(unread(terminal, &dialog));
            }
            let excerpt = terminal.state.assessment.operator_excerpt.clone().unwrap_or_default();
            let asked = Asked::new(excerpt, terminal.state.assessment.ui_context, &dialog);
            let to = Recipient::of(terminal).at(terminal.named_by(&target));
            Ok((to, Act::Answer { dialog, asked, reply }, prompt))
        };
        let (to, act, prompt) = served.of_terminal(id.clone(), named).await?;
        let answer = match (served.perform(to.clone(), by.clone(), act, ()).await, prompt) {
            (Outcome::Accepted(_), Some(text)) => {
                let prompt = Act::Prompt { text, when: When::Now };
                let outcome = served.perform(to.at(None), by, prompt, PromptBack::awaited()).await;
                return Ok(told(&outcome).with("dialog_outcome", Outcome::Accepted(None).word()));
            }
            (outcome, _) => (told(&outcome), outcome),
        };
        Ok(match answer {
            (answer, Outcome::Refused(Refusal::NoDialog | Refusal::AnotherDialog)) => {
                answer.with("dialog", served.dialog_after(&id, &name).await)
            }
            (answer, _) => answer,
        })
    };
    served.once(ask, act).await
}

async fn keys(State(served): State<Served>, ask: Ask<KeysBody>) -> Result<Response, HttpReply> {
    let act = |served: Served, id: String, by: Producer, KeysBody { keys, dialog: name }| async move {
        let bad = |error: String, hint: &str| HttpReply::new(StatusCode::BAD_REQUEST, error, hint);
        let named = "keys have tmux's names, such as Escape, C-c, Up, Enter, y";
        let keys = keys.iter().map(|key| key.parse::<Key>().map_err(|error| bad(error.to_string(), named)));
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        if !(1..=MOST_KEYS).contains(&keys.len()) {
            return Err(bad(
                format!("{} keys are too few or too many", keys.len()),
                "send 1 to 64; a text goes to `input`",
            ));
        }
        let target = id.clone();
        let press = move |_: &Engine, meant: Item<'_>, _| match meant {
            Item::Terminal(terminal) => {
                let dialog = open_dialog(terminal, terminal.dialog.as_ref(), name.as_deref())?;
                if let Some(dialog) = dialog.as_ref().filter(|dialog| !dialog.is_whole()) {
                    return Err(unread(terminal, dialog));
                }
                let to = Recipient::as_shown(terminal).at(terminal.named_by(&target));
                Ok((to, Act::Keys { keys, dialog, privacy: Privacy::of(terminal) }))
            }
            Item::Task(task) => {
                let to = Recipient::of_task(task).at(task.named_by(&target));
                Ok((to, Act::Keys { keys, dialog: None, privacy: Privacy::Secret }))
            }
        };
        let (to, act) = served.of(id, press).await?;
        Ok(told(&served.perform(to, by, act, ()).await))
    };
    served.once(ask, act).await
}

async fn interrupt(State(served): State<Served>, ask: Ask<InterruptBody>) -> Result<Response, HttpReply> {
    let act = |served: Served, id: String, by: Producer, InterruptBody { dialog: name }| async move {
        let target = id.clone();
        let press = move |_: &Engine, terminal: &Terminal, _| {
            if let Some(why) = interrupt::needless(terminal).map(|why| format!("nothing to interrupt: {why}")) {
                return Err(HttpReply::new(StatusCode::CONFLICT, why, "`keys` presses keys anyway"));
            }
            let waits = terminal.dialog.as_ref().filter(|_| terminal.state.waits());
            open_dialog(terminal, waits, name.as_deref())?;
            let to = Recipient::as_shown(terminal).at(terminal.named_by(&target));
            Ok((to, interrupt::usual(terminal)))
        };
        let (to, act) = served.of_terminal(id, press).await?;
        Ok(told(&served.perform(to, by, act, ()).await))
    };
    served.once(ask, act).await
}

/// The open dialog of a terminal, if it is the named one.
///
/// # Errors
/// Another one is open, or none.
fn dialog_named(terminal: &Terminal, name: &str) -> Result<Arc<Dialog>, HttpReply> {
    if !Dialog::is_id(name) {
        let hint = "give the `id` from `/v1/terminals/ID/dialog`";
        return Err(HttpReply::new(StatusCode::BAD_REQUEST, "`dialog` is not the `id` of a dialog", hint));
    }
    match &terminal.dialog {
        Some(dialog) if dialog.id() == name => Ok(Arc::clone(dialog)),
        Some(_) => {
            Err(refused(terminal, "shows another dialog; nothing was sent", "read it, and answer it by its own `id`"))
        }
        None => {
            Err(refused(terminal, "shows no dialog; nothing was sent", "`/v1/terminals` shows which terminals wait"))
        }
    }
}

/// The dialog that keys are for: whoever presses them must have read it.
///
/// # Errors
/// As [`dialog_named`], or none is named and one is open.
fn open_dialog(
    terminal: &Terminal,
    open: Option<&Arc<Dialog>>,
    name: Option<&str>,
) -> Result<Option<Arc<Dialog>>, HttpReply> {
    match (open, name) {
        (None, None) => Ok(None),
        (_, Some(name)) => dialog_named(terminal, name).map(Some),
        (Some(_), None) => {
            Err(refused(terminal, "shows a dialog; nothing was sent", "name it by its `id` as `dialog`"))
        }
    }
}

fn unread(terminal: &Terminal, dialog: &Dialog) -> HttpReply {
    let hint = match (0..dialog.options.len()).any(|option| dialog.refuses(option)) {
        true => "answer it there; only a plain no is accepted unread",
        false => "answer it there",
    };
    refused(terminal, "does not show the whole dialog; nothing was sent", hint)
}

/// Why nothing is sent to a terminal, with the dialog that it shows.
fn refused(terminal: &Terminal, why: &str, hint: &str) -> HttpReply {
    let why = Refusal::Other(format!("{} {why}", terminal.state.terminal.id));
    told(&why.into()).with("hint", hint).with("dialog", json!(DialogShown::of(terminal)))
}
