//! Web Push: messages to a browser that is not open, encrypted so that only it can read them (RFC 8291) and signed so that its push
//! service knows who sends them (RFC 8292).

#[cfg(feature = "serve")]
mod seal;

use std::sync::LazyLock;

use http::Uri;
use serde::Deserialize;

#[cfg(feature = "serve")]
pub use seal::{LONGEST_TEXT, PushKey, Subscription};

/// The file in the state directory that says by which tokens browsers are notified; all builds of a user share it.
pub const TOKENS: &str = "tokens.json";
/// The longest address of a subscription, in bytes.
const LONGEST_ADDRESS: usize = 1024;
/// Why somebody cannot be notified by Web Push.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PushFault {
    #[error("the address is not a complete `https` address of up to {LONGEST_ADDRESS} characters")]
    Address,
    #[error("{0} is not a known push service")]
    Service(String),
    #[error("the keys are not Web Push keys")]
    Keys,
    #[error("the text is too long")]
    Text,
    #[error("there is no randomness")]
    Random,
}

/// How far an address may lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Out of the operator's network only, whatever its name comes to.
    Outside,
    /// Wherever the operator said that it may.
    Anywhere,
}

/// Where subscriptions may lead: a browser says where its notices go, and nobody makes fleetwatch post to other places by
/// that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PushServices {
    /// Those that the operator named: `host`, or `host:port`.
    pub own: Vec<String>,
}

impl PushServices {
    /// Whether an address can have this name: what [`PushServices::reach`] never finds is none.
    pub fn is_name(name: &str) -> bool {
        !name.contains('*') && service(&format!("https://{name}/")).is_ok_and(|found| found.eq_ignore_ascii_case(name))
    }

    /// How far an address may lead.
    ///
    /// # Errors
    /// It is none, or that of no service that is known.
    pub fn reach(&self, endpoint: &str) -> Result<Reach, PushFault> {
        let name = service(endpoint)?;
        if self.own.iter().any(|own| own.eq_ignore_ascii_case(&name)) {
            return Ok(Reach::Anywhere);
        }
        let is_it = |service: &String| match service.strip_prefix('*') {
            Some(below) => name.len() > below.len() && name.ends_with(below),
            None => name == *service,
        };
        if SERVICES.iter().any(is_it) { Ok(Reach::Outside) } else { Err(PushFault::Service(name)) }
    }
}

/// The services of browsers.
static SERVICES: LazyLock<Vec<String>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct KeyFile {
        services: Vec<String>,
    }
    toml::from_str(include_str!("../config/push.toml")).map(|KeyFile { services }| services).unwrap_or_default()
});

/// The name of the service at an address.
pub fn service(endpoint: &str) -> Result<String, PushFault> {
    address(endpoint).map(|(_, name)| name)
}

/// An address of `https`, and its name in small letters, with its port unless it is the usual one.
fn address(endpoint: &str) -> Result<(Uri, String), PushFault> {
    let uri: Uri = endpoint.parse().ok().filter(|_| endpoint.len() <= LONGEST_ADDRESS).ok_or(PushFault::Address)?;
    let name = uri.authority().filter(|_| uri.scheme_str() == Some("https")).ok_or(PushFault::Address)?;
    if name.as_str().contains('@') {
        return Err(PushFault::Address);
    }
    let host = name.host().to_ascii_lowercase();
    let name = match name.port_u16() {
        Some(port) if port != 443 => format!("{host}:{port}"),
        None if name.as_str().len() != host.len() => return Err(PushFault::Address),
        _ => host,
    };
    Ok((uri, name))
}

#[cfg(feature = "serve")]
#[cfg(test)]
mod tests;
