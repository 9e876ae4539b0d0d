//! `fleetwatch serve`: where it listens, who may ask, and what is printed of that.

use std::io::IsTerminal as _;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::process::ExitCode;

use qrcode::render::unicode::Dense1x2;
use qrcode::{EcLevel, QrCode};

use super::output::end_asked_for;
use super::survey::{Watched, allow_all_files};
use super::{Done, Failure, GlobalOptions, output, token};
use crate::address::{Network, WebAddress};
use crate::owner::Rank;
use crate::serve::{Admission, Listener, Serving};
use crate::token::Scope;

/// Serve the terminals over HTTP, to a phone or a script.
///
/// Whoever has a token of `fleetwatch token` may see them, and act on them if it allows that.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch serve --qr")]
pub struct ServeArgs {
    /// Listen on this address and port.
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:7717")]
    pub listen: SocketAddr,
    /// Listen on a socket at this path instead, which only this user can reach.
    #[arg(long, value_name = "PATH", conflicts_with = "listen")]
    pub unix: Option<PathBuf>,
    /// Show the page's address as a QR code for your phone, with a token `qr` that is good for 30 days and replaces the previous
    /// one; it may only read unless you say `act`.
    #[arg(long, value_name = "SCOPE", num_args = 0..=1, default_missing_value = "read", conflicts_with = "unix")]
    pub qr: Option<Scope>,
    /// Listen where other machines reach it, though nothing is encrypted.
    #[arg(long)]
    pub insecure: bool,
    /// What a proxy in front of it shows, such as `https://box.example.ts.net`: `--qr` leads there, and requests may be addressed to
    /// that name.
    #[arg(long, value_name = "URL", value_parser = WebAddress::parse_root)]
    pub url: Option<WebAddress>,
    /// Answer requests that are addressed to this name, in addition to `localhost` and IP addresses; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub allow_host: Vec<String>,
}

/// The name of the token that is shown as a code.
const QR: &str = "qr";

/// Runs the command until Ctrl-C or SIGTERM.
///
/// # Errors
/// The configuration is wrong, or it cannot listen at the address.
pub async fn run(args: &ServeArgs, options: &GlobalOptions) -> Done {
    let is_reached = args.unix.is_none() && !args.listen.ip().is_loopback();
    let is_private = Network::is_private(&options.load()?.config.private_networks, args.listen.ip());
    if is_reached && !is_private && !args.insecure {
        return Err(Failure::usage(format!(
            "{} can be reached from other machines, and nothing is encrypted",
            args.listen
        ))
        .hint(
            "listen on 127.0.0.1 behind `tailscale serve`, a proxy or `ssh -L` (docs/serving.md), or name the network in \
             `private_networks` of [serve]; `--insecure` allows it anyway",
        ));
    }
    if args.qr.is_some() && !std::io::stdout().is_terminal() {
        // In the log of a service, others could read the token.
        return Err(Failure::usage("a QR code needs a terminal, and standard output is not one")
            .hint("`fleetwatch token add NAME` makes a token for `http://ADDRESS/#token=TOKEN`"));
    }
    let watched = Watched::new(options)?;
    let tokens = token::tokens()?;
    // The signal handlers must exist before the socket, which the end removes.
    let end = end_asked_for();
    let listener = match &args.unix {
        Some(path) => Listener::on_socket(path).await?,
        None => Listener::on_port(args.listen).await?,
    };
    let shown = args.qr.map(|scope| token::replace(&tokens, QR, scope)).transpose()?;
    if tokens.read().is_ok_and(|tokens| tokens.is_empty()) {
        Failure::refused("there is no token, so nobody can ask").hint("`fleetwatch token add NAME` makes one").warn();
    }
    let admission = Admission {
        tokens,
        names: args.allow_host.clone(),
        page: args.url.clone(),
        files: allow_all_files(watched.servers.len()),
    };
    let serving = Serving::start(&watched.loaded.config, watched.watching(Rank::Watch), &watched.servers, admission)?;
    let place = listener.place()?;
    output::print(&format!("listening on {place}\n"))?;
    let url = args.url.as_ref().map(WebAddress::place);
    if let Some(token) = shown {
        let page = url.clone().unwrap_or_else(|| address(&place, &args.allow_host));
        output::print(&code(&format!("{page}/#token={token}"))?)?;
        if !is_reached && url.is_none() {
            let hint = "`--url` names what a proxy shows, `--listen` an address of your VPN (docs/serving.md)";
            Failure::refused(format!("a phone cannot reach {page}")).hint(hint).warn();
        }
    } else if args.unix.is_none() {
        let page = url.as_deref().unwrap_or(&place);
        output::print(&format!(
            "next: open {page} and paste a token (`fleetwatch token add phone` prints one), or `fleetwatch serve --qr` for a phone\n"
        ))?;
    }
    serving.run(listener, end, |warning| Failure::from(warning).warn()).await?;
    Ok(ExitCode::SUCCESS)
}

/// Black on white, whatever colours the terminal has: cameras read no other code reliably.
const COLOURS: (&str, &str) = ("\x1b[38;5;16;48;5;231m", "\x1b[0m");
/// An address for documentation, which nobody has. Nothing is sent there.
const NOWHERE: &str = "192.0.2.1:9";

/// Where a phone finds the page: the first allowed name, else the address.
fn address(place: &str, names: &[String]) -> String {
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
fn code(text: &str) -> Result<String, Failure> {
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
