//! `serve --qr`: the page's address with a token, for the camera of a phone.

use std::net::{IpAddr, SocketAddr, UdpSocket};

use qrcode::render::unicode::Dense1x2;
use qrcode::{EcLevel, QrCode};

use super::Failure;

/// Black on white, whatever colours the terminal has: cameras read no other code reliably.
const COLOURS: (&str, &str) = ("\x1b[38;5;16;48;5;231m", "\x1b[0m");
/// An address for documentation, which nobody has. Nothing is sent there.
const NOWHERE: &str = "192.0.2.1:9";

/// Where a phone finds the page: the first allowed name, else the address.
pub(super) fn address(place: &str, names: &[String]) -> String {
    let Some((scheme, authority)) = place.split_once("://") else { return place.to_owned() };
    let Ok(listening) = authority.parse::<SocketAddr>() else { return place.to_owned() };
    let port = listening.port();
    match (names.first(), listening.ip().is_unspecified()) {
        (Some(name), _) => format!("{scheme}://{name}:{port}"),
        (None, true) => match own_address(listening) {
            Some(ip) => format!("{scheme}://{}", SocketAddr::new(ip, port)),
            None => place.to_owned(),
        },
        (None, false) => place.to_owned(),
    }
}

/// The address from which this machine would reach others.
fn own_address(listening: SocketAddr) -> Option<IpAddr> {
    let from = if listening.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let to = if listening.is_ipv4() { NOWHERE } else { "[2001:db8::1]:9" };
    let socket = UdpSocket::bind(from).ok()?;
    socket.connect(to).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

/// The code, in rows of half blocks.
pub(super) fn code(text: &str) -> Result<String, Failure> {
    let code = QrCode::with_error_correction_level(text, EcLevel::L).map_err(|error| {
        Failure::refused(format!("the address does not fit a QR code: {error}")).hint("use a shorter name")
    })?;
    let drawn = code.render::<Dense1x2>().quiet_zone(true).build();
    Ok(drawn.lines().map(|row| format!("{}{row}{}\n", COLOURS.0, COLOURS.1)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phone_is_led_to_where_it_can_get() {
        assert_eq!(address("http://127.0.0.1:7717", &[]), "http://127.0.0.1:7717");
        assert_eq!(address("https://0.0.0.0:80", &["box.example.net".to_owned()]), "https://box.example.net:80");
        let own = address("http://0.0.0.0:7717", &[]);
        assert!(own.ends_with(":7717"), "{own}");
    }
}
