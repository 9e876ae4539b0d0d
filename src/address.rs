//! Addresses on the web, and networks.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use http::Uri;
use http::uri::Authority;

/// Names of this machine, which lead nowhere else.
const OWN_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// An address that can be asked over HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebAddress {
    name: Authority,
    is_encrypted: bool,
}

/// Why a text is no such address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WebAddressError(String);

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
        Ok(Self { name, is_encrypted })
    }

    /// Like [`WebAddress::parse`], for an address that must not name a path.
    ///
    /// # Errors
    /// As [`WebAddress::parse`], or it names a path, which would be left out.
    pub fn parse_root(text: &str) -> Result<Self, WebAddressError> {
        let address = Self::parse(text)?;
        match text.parse::<Uri>().is_ok_and(|uri| uri.path() == "/" && uri.query().is_none()) {
            true => Ok(address),
            false => Err(WebAddressError(format!("serve answers at {}/ and below no path", address.place()))),
        }
    }

    /// Whether nobody on the way reads what is said there: it is encrypted, or does not leave this machine.
    pub fn is_private(&self) -> bool {
        self.is_encrypted || OWN_NAMES.contains(&self.name.host().to_ascii_lowercase().as_str())
    }

    /// The name or number of the machine.
    pub fn host(&self) -> &str {
        self.name.host()
    }

    /// Scheme, name and port, for people.
    pub fn place(&self) -> String {
        format!("{}://{}", if self.is_encrypted { "https" } else { "http" }, self.name)
    }
}

/// A network, by the bits that its addresses begin with: `100.64.0.0/10`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u32,
}

/// The networks of Tailscale, which encrypts what goes through them.
const TAILSCALE: [Network; 2] = [
    Network { address: IpAddr::V4(Ipv4Addr::new(100, 64, 0, 0)), bits: 10 },
    Network { address: IpAddr::V6(Ipv6Addr::new(0xfd7a, 0x115c, 0xa1e0, 0, 0, 0, 0, 0)), bits: 48 },
];

impl Network {
    /// Whether only machines of the operator's own see what goes to an address: those of Tailscale, and of networks that the
    /// operator named.
    pub fn is_private(own: &[Network], address: IpAddr) -> bool {
        TAILSCALE.iter().chain(own).any(|network| network.contains(address))
    }

    fn contains(&self, address: IpAddr) -> bool {
        let begins = |one: u128, other: u128, length: u32| {
            let rest = length - self.bits;
            one.checked_shr(rest).unwrap_or(0) == other.checked_shr(rest).unwrap_or(0)
        };
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => begins(own.to_bits().into(), other.to_bits().into(), 32),
            (IpAddr::V6(own), IpAddr::V6(other)) => begins(own.to_bits(), other.to_bits(), 128),
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (address, bits) = text.split_once('/').ok_or(())?;
        let (address, bits): (IpAddr, u32) = (address.parse().map_err(drop)?, bits.parse().map_err(drop)?);
        let most = if address.is_ipv4() { 32 } else { 128 };
        // A network of no bits is everything there is.
        if (1..=most).contains(&bits) { Ok(Self { address, bits }) } else { Err(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_server_has_no_path() {
        for root in ["https://box.example.ts.net", "https://box.example.ts.net/", "http://localhost:8080"] {
            assert!(WebAddress::parse_root(root).is_ok(), "{root}");
        }
        for text in ["https://box.example.ts.net/fleet", "https://box.example.ts.net/?a=b", "box", "ftp://box/"] {
            assert!(WebAddress::parse_root(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_network_has_the_addresses_that_begin_as_it_does() {
        let own: Vec<Network> = ["10.9.0.0/24", "fd00:9::/64", "192.0.2.7/32"].map(|text| text.parse().unwrap()).into();
        let is_private = |text: &str| Network::is_private(&own, text.parse().unwrap());
        for inside in "100.64.0.1 100.127.255.255 fd7a:115c:a1e0::1 10.9.0.255 fd00:9::ffff 192.0.2.7 ::ffff:100.64.0.1"
            .split(' ')
        {
            assert!(is_private(inside), "{inside}");
        }
        for outside in
            "100.63.255.255 100.128.0.0 fd7a:115c:a1e1::1 10.9.1.0 fd00:9:0:1:: 192.0.2.6 0.0.0.0 :: 127.0.0.1"
                .split(' ')
        {
            assert!(!is_private(outside), "{outside}");
        }
        for bad in ["", "10.0.0.0", "10.0.0.0/0", "10.0.0.0/33", "::/129", "box/8", "10.0.0.0/-1", "10.0.0.0/8 "] {
            assert!(bad.parse::<Network>().is_err(), "{bad}");
        }
    }

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
}
