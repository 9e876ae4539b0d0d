//! Addresses on the web: `fleetwatch serve` on another machine, and web hooks.

use http::Uri;
use http::uri::Authority;

/// Names of this machine, which lead nowhere else.
const OWN_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// An address that can be asked over HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebAddress {
    name: Authority,
    base: String,
    is_encrypted: bool,
}

/// Why a text is no such address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WebAddressError(String);

impl WebAddressError {
    /// What can be done about it.
    pub const HINT: &str = "write it as https://NAME:PORT, or http://localhost:7717 through a tunnel";
}

impl WebAddress {
    /// # Errors
    /// The text is none, or holds a name or a password.
    pub fn parse(text: &str) -> Result<Self, WebAddressError> {
        let uri: Uri = text.parse().map_err(|error| WebAddressError(format!("{text:?} is not an address: {error}")))?;
        let (Some(scheme), Some(name)) = (uri.scheme_str(), uri.authority().cloned()) else {
            return Err(WebAddressError(format!("{text:?} is not a complete address")));
        };
        if name.as_str().contains('@') {
            let what = "the address contains a name or a password, which nobody should see";
            return Err(WebAddressError(what.to_owned()));
        }
        let is_encrypted = match scheme {
            "https" => true,
            "http" => false,
            other => return Err(WebAddressError(format!("{other}: is not an HTTP address"))),
        };
        let base = uri.path_and_query().map_or("", |path| path.as_str());
        Ok(Self { base: base.trim_end_matches('/').to_owned(), name, is_encrypted })
    }

    /// The name or number of the machine; a number of version 6 stands in brackets.
    pub fn host(&self) -> &str {
        self.name.host()
    }

    /// Name and port as they were written, for `Host`.
    pub fn name(&self) -> &str {
        self.name.as_str()
    }

    pub fn port(&self) -> u16 {
        self.name.port_u16().unwrap_or(if self.is_encrypted { 443 } else { 80 })
    }

    /// What every path there begins with.
    pub fn base(&self) -> &str {
        &self.base
    }

    pub fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }

    /// Whether nobody on the way reads what is said there: it is encrypted, or does not leave this machine.
    pub fn is_private(&self) -> bool {
        self.is_encrypted || OWN_NAMES.contains(&self.host().to_ascii_lowercase().as_str())
    }

    /// Scheme, name and port, for people.
    pub fn place(&self) -> String {
        format!("{}://{}", if self.is_encrypted { "https" } else { "http" }, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_the_machine_unencrypted_is_known() {
        let is_private = |text: &str| WebAddress::parse(text).map(|address| address.is_private());
        for own in ["http://localhost:7717", "http://127.0.0.1:1/fleet/", "http://[::1]:7717", "https://example.net"] {
            assert_eq!(is_private(own), Ok(true), "{own}");
        }
        for other in ["http://example.net", "http://localhost.example.net:7717", "http://10.0.0.1"] {
            assert_eq!(is_private(other), Ok(false), "{other}");
        }
        for bad in ["", "localhost:7717", "ftp://localhost", "http://me:secret@localhost", "/v1"] {
            assert!(is_private(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_address_has_a_port_and_a_base() {
        let parts = |text: &str| WebAddress::parse(text).map(|it| (it.place(), it.port(), it.base().to_owned()));
        assert_eq!(
            parts("https://example.net/fleet/"),
            Ok(("https://example.net".to_owned(), 443, "/fleet".to_owned()))
        );
        assert_eq!(parts("http://[::1]:7717"), Ok(("http://[::1]:7717".to_owned(), 7717, String::new())));
    }
}
