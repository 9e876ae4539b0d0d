//! Sends HTTP requests, encrypted if the URL says so: to `fleetwatch serve` on another machine, web hooks and push services.
//!
//! Each request has its own connection: there are few, and none gets an answer that another one left behind. A build
//! without the feature `serve` sends none and says so.

#[cfg(not(feature = "serve"))]
mod absent;
#[cfg(feature = "serve")]
mod client;

use http::StatusCode;

#[cfg(not(feature = "serve"))]
pub use absent::Endpoint;
#[cfg(feature = "serve")]
pub use client::{Endpoint, Stream};

/// How somebody gets what this build is without.
pub const WITHOUT: (&str, &str) =
    ("this fleetwatch was built without `serve`", "build it with `cargo install --locked --path . --features serve`");

/// Why nobody answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    /// The address is none that can be asked.
    #[error("{what}")]
    Address { what: String, hint: String },
    /// Nothing got there.
    #[error("{place} cannot be reached: {why}")]
    Unreachable { place: String, why: String },
    /// What was asked may have got there.
    #[error("{place} did not answer: {why}")]
    Unanswered { place: String, why: String },
    /// It is not what was asked for.
    #[error("{place} answers {status}{}", .error.as_ref().map(|error| format!(": {error}")).unwrap_or_default())]
    Refused { place: String, status: u16, error: Option<String>, hint: Option<String> },
}

impl HttpError {
    /// What can be done about it.
    pub fn hint(&self) -> String {
        match self {
            HttpError::Address { hint, .. } => hint.clone(),
            HttpError::Unreachable { why, .. } if why.contains("CaUsedAsEndEntity") => {
                "this certificate is an authority's own; `-addext basicConstraints=critical,CA:FALSE` has openssl make one for a server"
                    .to_owned()
            }
            HttpError::Unreachable { why, .. } if why.contains("ertificate") => {
                "`--ca FILE` names the certificate of an authority of your own; the address must be the name in the certificate"
                    .to_owned()
            }
            HttpError::Unreachable { .. } | HttpError::Unanswered { .. } => {
                "check the address, and that `fleetwatch serve` runs there".to_owned()
            }
            HttpError::Refused { hint: Some(hint), .. } => hint.clone(),
            HttpError::Refused { .. } => "check the address: something else may answer there".to_owned(),
        }
    }
}

/// What was answered.
#[derive(Clone, Debug)]
pub struct HttpAnswer {
    pub status: StatusCode,
    pub body: Vec<u8>,
}

impl HttpAnswer {
    /// One of its fields, where it is JSON.
    pub fn field(&self, name: &str) -> Option<String> {
        let fields: serde_json::Value = serde_json::from_slice(&self.body).ok()?;
        fields.get(name)?.as_str().map(str::to_owned)
    }
}
