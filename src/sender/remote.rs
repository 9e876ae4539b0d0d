//! Operations on terminals of another machine: `fleetwatch serve` there performs them, each once, however often its
//! answer gets lost.

use std::fs::File;
use std::io::Read as _;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use http::header::CONTENT_TYPE;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::dialog::Dialog;
use crate::fleet::TerminalKey;
use crate::http::{Endpoint, HttpAnswer, HttpError};
use crate::operation::{Act, Operation, Outcome, Producer, Recipient, Refusal, Reply};
use crate::tmux::Key;

/// What a terminal is called in an address that is meant whatever its name is by then.
const PREFIX: &str = "key:";
/// How long one answer may take: that of a sender, and the way.
const ANSWER: Duration = Duration::from_secs(60);
/// How long it is asked again for what became of something, and how often.
const AGAIN: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(300);

/// A terminal with the agent that is expected there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Addressed {
    pub key: TerminalKey,
    pub tool: Option<String>,
}

impl Addressed {
    /// As a part of an address.
    fn write(&self) -> Option<String> {
        Some(format!("{PREFIX}{}", BASE64_URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).ok()?)))
    }

    /// What stands in an address; `None` for a name.
    pub fn read(text: &str) -> Option<Self> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(text.strip_prefix(PREFIX)?).ok()?;
        serde_json::from_slice(&bytes).ok()
    }
}

/// Has an operation performed, and reports once it is on its way.
pub(super) async fn perform(endpoint: &Endpoint, operation: &Operation, begin: &mut impl FnMut()) -> Outcome {
    let refuse = |why: &str| Outcome::from(Refusal::Other(why.to_owned()));
    let Recipient { key, tool, .. } = &operation.to;
    let addressed = Addressed { key: key.clone(), tool: tool.clone() };
    let Some((id, key)) = addressed.write().zip(random_key()) else { return refuse("it cannot be addressed") };
    let Some((route, body)) = request(operation) else { return refuse("this cannot be done from another machine") };
    let path = format!("/v1/terminals/{id}/{route}");
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (HeaderName::from_static("idempotency-key"), key),
    ];
    let until = Instant::now() + AGAIN;
    let (mut may_be_there, mut is_begun) = (false, false);
    loop {
        // It is on its way: what it begins is not to be seen before it is known.
        if !std::mem::replace(&mut is_begun, true) {
            begin();
        }
        let answer = endpoint.ask(Method::POST, &path, &headers, body.to_string().into_bytes(), ANSWER).await;
        let last = match answer {
            Ok(answer) if is_not_yet(&answer) => Ok(answer),
            Ok(answer) => return outcome(endpoint, operation, &answer),
            Err(error) => {
                may_be_there |= matches!(error, HttpError::Unanswered { .. });
                Err(error)
            }
        };
        if Instant::now() < until {
            tokio::time::sleep(PAUSE).await;
            continue;
        }
        return match last {
            Err(error) if may_be_there => Outcome::Unverified { why: error.to_string() },
            Err(error) => Refusal::Other(format!("{error}; nothing was sent")).into(),
            Ok(answer) => outcome(endpoint, operation, &answer),
        };
    }
}

/// Whether the same is to be asked again.
fn is_not_yet(answer: &HttpAnswer) -> bool {
    matches!(answer.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE)
        || answer.field("outcome").as_deref() == Some("under_way")
}

/// The route and the body that ask for an operation.
fn request(Operation { act, producer, .. }: &Operation) -> Option<(&'static str, Value)> {
    let names = |keys: &[Key]| keys.iter().map(Key::to_string).collect::<Vec<_>>();
    Some(match act {
        Act::Prompt { text, when } => {
            // A command waits itself.
            let when = if *producer == Producer::Dashboard { *when } else { when.without_waiting() };
            ("input", json!({ "text": text, "when": when }))
        }
        Act::Answer { dialog, reply: Reply::Keys(keys), .. } => {
            ("keys", json!({ "keys": names(keys), "dialog": dialog.id() }))
        }
        Act::Answer { dialog, reply, .. } => {
            let (choice, text) = chosen(dialog, reply)?;
            ("answer", json!({ "dialog": dialog.id(), "choice": choice, "text": text }))
        }
        Act::Keys { keys, dialog, .. } | Act::Interrupt { keys, dialog } => {
            ("keys", json!({ "keys": names(keys), "dialog": dialog.as_ref().map(|dialog| dialog.id()) }))
        }
    })
}

/// What a reply is chosen by, and its text; `None` for one of other options than the dialog has.
fn chosen<'a>(dialog: &Dialog, reply: &'a Reply) -> Option<(String, Option<&'a str>)> {
    let name = |option: &usize| dialog.options.get(*option).map(|option| option.name.clone());
    match reply {
        Reply::Option(option) => Some((name(option)?, None)),
        Reply::Ticks(options) => Some((options.iter().map(name).collect::<Option<Vec<_>>>()?.join(","), None)),
        Reply::Text { option, text } => Some((name(option)?, Some(text.as_str()))),
        Reply::Keys(_) => None,
    }
}

/// What an answer says of an operation.
fn outcome(endpoint: &Endpoint, operation: &Operation, answer: &HttpAnswer) -> Outcome {
    let fields: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let text = |name: &str| fields[name].as_str().map(str::to_owned);
    let said = || text("detail").or_else(|| text("error"));
    let why = || said().unwrap_or_else(|| endpoint.refused(answer).to_string());
    match text("outcome").as_deref() {
        Some("accepted") => Outcome::Accepted(text("detail")),
        Some("queued") => Outcome::Accepted(Some("queued there until the agent is ready".to_owned())),
        Some("not_taken") => Outcome::NotTaken { why: why() },
        Some("unverified" | "under_way") => Outcome::Unverified { why: why() },
        Some("refused") if operation.dialog().is_some() && fields.get("dialog").is_some() => {
            match &fields["dialog"]["id"] {
                Value::Null => Refusal::NoDialog.into(),
                id if operation.dialog().is_some_and(|dialog| *id != dialog.id()) => Refusal::AnotherDialog.into(),
                _ => refusal(&fields, why()),
            }
        }
        // Whatever else it is, nothing was sent.
        _ => refusal(&fields, why()),
    }
}

fn refusal(fields: &Value, why: String) -> Outcome {
    let hint = fields["hint"].as_str().unwrap_or("look at the terminal again").to_owned();
    Refusal::Remote { why, hint, may_pass: fields["may_pass"] == true }.into()
}

/// A key that no other act has.
fn random_key() -> Option<HeaderValue> {
    let mut bytes = [0; 24];
    File::open("/dev/urandom").ok()?.read_exact(&mut bytes).ok()?;
    HeaderValue::from_str(&BASE64_URL_SAFE_NO_PAD.encode(bytes)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::{PaneId, ServerId};

    #[test]
    fn a_terminal_is_addressed_by_what_it_is_and_a_name_by_itself() {
        let key = TerminalKey { server: ServerId::default(), pane: PaneId(7), pid: 9, instance: Default::default() };
        let addressed = Addressed { key, tool: Some("claude".to_owned()) };
        assert_eq!(addressed.write().and_then(|text| Addressed::read(&text)), Some(addressed));
        for name in ["main", "key", "key:", "key:main", "%7"] {
            assert_eq!(Addressed::read(name), None, "{name}");
        }
    }
}
