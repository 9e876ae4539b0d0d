//! The client, over TCP and TLS.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{AUTHORIZATION, CONNECTION, HOST, HeaderName, HeaderValue, UPGRADE};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::{HttpAnswer, HttpError};
use crate::address::{WebAddress, WebAddressError};

/// How long it may take to get there.
const CONNECT: Duration = Duration::from_secs(10);
/// The longest answer that is read, in bytes.
const LONGEST: usize = 64 << 20;

/// A connection to a server.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Whom to ask.
#[derive(Clone)]
pub struct Endpoint {
    address: WebAddress,
    /// Where it is, for people.
    place: String,
    tls: Option<TlsConnector>,
    token: Option<HeaderValue>,
    /// Whether it may lead out of the operator's network only.
    is_outside: bool,
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Neither the token nor keys.
        f.debug_tuple("Endpoint").field(&self.place).finish()
    }
}

impl Endpoint {
    /// The server at an address; if encrypted, its identity is certified by one of the system's authorities, or by the one in a file.
    ///
    /// # Errors
    /// It is no address of HTTP, or the file has no certificate.
    pub fn new(url: &str, authority: Option<&Path>) -> Result<Self, HttpError> {
        let address = WebAddress::parse(url)
            .map_err(|error| HttpError::Address { what: error.to_string(), hint: WebAddressError::HINT.to_owned() })?;
        let tls = if address.is_encrypted() {
            Some(authority.map_or_else(of_system, |path| connector(Some(path)))?)
        } else {
            None
        };
        Ok(Self { place: address.place(), address, tls, token: None, is_outside: false })
    }

    /// The same, where it is out of the operator's network.
    pub fn outside(self) -> Self {
        Self { is_outside: true, ..self }
    }

    /// The same, asked by who has a token.
    pub fn with_token(self, token: &str) -> Result<Self, HttpError> {
        let value = HeaderValue::from_str(&format!("Bearer {token}"));
        let mut value = value.map_err(|_| HttpError::Address {
            what: "the token has characters that no token has".to_owned(),
            hint: "`fleetwatch token add NAME` prints one".to_owned(),
        })?;
        value.set_sensitive(true);
        Ok(Self { token: Some(value), ..self })
    }

    /// Where it is, for people.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Whether nobody on the way reads what is said: it is encrypted, or does not leave this machine.
    pub fn is_private(&self) -> bool {
        self.address.is_private()
    }

    /// Asks, and reads the whole answer.
    ///
    /// # Errors
    /// Nobody answers in time.
    pub async fn ask(
        &self,
        method: Method,
        path: &str,
        headers: &[(HeaderName, HeaderValue)],
        body: Vec<u8>,
        limit: Duration,
    ) -> Result<HttpAnswer, HttpError> {
        let stream = self.connect().await?;
        let asked = async {
            let response = self.exchange(stream, method, path, headers, body).await?;
            self.read(response).await
        };
        tokio::time::timeout(limit, asked).await.unwrap_or_else(|_| Err(self.unanswered("it takes too long")))
    }

    /// Asks for a connection that is no HTTP from there on.
    ///
    /// # Errors
    /// Nobody answers, or not with such a connection.
    pub async fn upgrade(&self, path: &str, protocol: &'static str) -> Result<Pin<Box<dyn Stream>>, HttpError> {
        let stream = self.connect().await?;
        let headers =
            [(CONNECTION, HeaderValue::from_static("upgrade")), (UPGRADE, HeaderValue::from_static(protocol))];
        let asked = async {
            let response = self.exchange(stream, Method::GET, path, &headers, Vec::new()).await?;
            if response.status() != StatusCode::SWITCHING_PROTOCOLS {
                return Err(self.refused(&self.read(response).await?));
            }
            let upgraded = hyper::upgrade::on(response).await.map_err(|error| self.unanswered(error))?;
            let stream: Pin<Box<dyn Stream>> = Box::pin(TokioIo::new(upgraded));
            Ok(stream)
        };
        tokio::time::timeout(CONNECT, asked).await.unwrap_or_else(|_| Err(self.unanswered("it takes too long")))
    }

    /// Reads a whole answer.
    async fn read(&self, response: Response<Incoming>) -> Result<HttpAnswer, HttpError> {
        let status = response.status();
        let read = Limited::new(response.into_body(), LONGEST).collect().await;
        let body = read.map_err(|error| self.unanswered(error))?.to_bytes().into();
        Ok(HttpAnswer { status, body })
    }

    /// What an answer says that is not the one that was asked for.
    pub fn refused(&self, answer: &HttpAnswer) -> HttpError {
        let (place, status) = (self.place.clone(), answer.status.as_u16());
        HttpError::Refused { place, status, error: answer.field("error"), hint: answer.field("hint") }
    }

    fn unanswered(&self, why: impl ToString) -> HttpError {
        HttpError::Unanswered { place: self.place.clone(), why: why.to_string() }
    }

    async fn connect(&self) -> Result<Pin<Box<dyn Stream>>, HttpError> {
        let connecting = async {
            let host = self.address.host().trim_start_matches('[').trim_end_matches(']');
            let mut addresses: Vec<SocketAddr> = lookup_host((host, self.address.port())).await?.collect();
            if self.is_outside {
                addresses.retain(|address| is_outside(address.ip()));
            }
            if addresses.is_empty() {
                return Err(io::Error::new(
                    io::ErrorKind::AddrNotAvailable,
                    "its name has no address that may be asked",
                ));
            }
            let stream = TcpStream::connect(&addresses[..]).await?;
            stream.set_nodelay(true)?;
            let Some(tls) = &self.tls else {
                let stream: Pin<Box<dyn Stream>> = Box::pin(stream);
                return io::Result::Ok(stream);
            };
            let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
            let stream: Pin<Box<dyn Stream>> = Box::pin(tls.connect(name, stream).await?);
            Ok(stream)
        };
        let unreachable = |why: String| HttpError::Unreachable { place: self.place.clone(), why };
        match tokio::time::timeout(CONNECT, connecting).await {
            Ok(Ok(stream)) => Ok(stream),
            Ok(Err(error)) => Err(unreachable(error.to_string())),
            Err(_) => Err(unreachable("it does not answer".to_owned())),
        }
    }

    async fn exchange(
        &self,
        stream: Pin<Box<dyn Stream>>,
        method: Method,
        path: &str,
        headers: &[(HeaderName, HeaderValue)],
        body: Vec<u8>,
    ) -> Result<Response<Incoming>, HttpError> {
        let path = format!("{}{path}", self.address.base());
        let mut request = Request::builder().method(method).uri(if path.is_empty() { "/" } else { &path });
        if let Some(into) = request.headers_mut() {
            into.extend(HeaderValue::from_str(self.address.name()).ok().map(|name| (HOST, name)));
            into.extend(self.token.clone().map(|token| (AUTHORIZATION, token)));
            into.extend(headers.iter().cloned());
        }
        let request = request.body(Full::new(Bytes::from(body))).map_err(|error| HttpError::Address {
            what: format!("{path:?} cannot be asked for: {error}"),
            hint: "check the address".to_owned(),
        })?;
        let shaken = http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = shaken.map_err(|error| self.unanswered(error))?;
        // It ends with the answer, or with what it was upgraded to.
        tokio::spawn(connection.with_upgrades());
        sender.send_request(request).await.map_err(|error| self.unanswered(error))
    }
}

/// Whether an address is one of the whole Internet, and of no network of somebody's own.
fn is_outside(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(it) => {
            let [first, second, third, _] = it.octets();
            let is_shared = first == 100 && second & 0xc0 == 64;
            // For measurements in somebody's own network, and for what a network tells its own machines.
            let is_special = first == 198 && second & 0xfe == 18 || (first, second, third) == (192, 0, 0);
            let is_odd = first == 0 || first >= 224 || it.is_documentation() || is_special;
            !(it.is_private() || it.is_loopback() || it.is_link_local() || is_shared || is_odd)
        }
        // Of version 6 only those that are given out; among them are ways to those of version 4.
        IpAddr::V6(it) => {
            let [first, second, ..] = it.segments();
            first & 0xe000 == 0x2000 && first != 0x2002 && !(first == 0x2001 && second == 0)
        }
    }
}

/// Checks certificates by the system's authorities, which are read once: there are hundreds.
fn of_system() -> Result<TlsConnector, HttpError> {
    static OF_SYSTEM: OnceLock<TlsConnector> = OnceLock::new();
    match OF_SYSTEM.get() {
        Some(known) => Ok(known.clone()),
        // What is missing may come.
        None => connector(None).map(|made| OF_SYSTEM.get_or_init(|| made).clone()),
    }
}

/// Checks certificates by the system's authorities, or by the one in a file.
fn connector(authority: Option<&Path>) -> Result<TlsConnector, HttpError> {
    let unusable =
        |what: String| HttpError::Address { what, hint: "name a file of certificates in PEM with `--ca`".to_owned() };
    let mut roots = RootCertStore::empty();
    match authority {
        Some(path) => {
            let broken = |why: &dyn ToString| unusable(format!("{}: {}", path.display(), why.to_string()));
            for certificate in CertificateDer::pem_file_iter(path).map_err(|error| broken(&error))? {
                let certificate = certificate.map_err(|error| broken(&error))?;
                roots.add(certificate).map_err(|error| broken(&error))?;
            }
            if roots.is_empty() {
                return Err(broken(&"there is no certificate in it"));
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            if roots.is_empty() {
                return Err(unusable("the system has no certificates of authorities".to_owned()));
            }
        }
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable(error.to_string()))?;
    Ok(TlsConnector::from(Arc::new(config.with_root_certificates(roots).with_no_client_auth())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_of_somebodys_own_are_told_from_the_internet() {
        for outside in [
            "1.1.1.1",
            "172.217.16.10",
            "100.128.0.1",
            "198.20.0.1",
            "192.0.1.1",
            "2a00:1450:4001:80b::200a",
            "::ffff:8.8.8.8",
        ] {
            assert!(is_outside(outside.parse().unwrap()), "{outside}");
        }
        for inside in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "198.18.0.1",
            "198.19.255.255",
            "192.0.0.170",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "fe80::1",
            "fd00::1",
            "ff02::1",
            "::ffff:10.0.0.1",
            "64:ff9b::a00:1",
            "2002:a00:1::",
        ] {
            assert!(!is_outside(inside.parse().unwrap()), "{inside}");
        }
    }

    #[test]
    fn the_token_is_in_no_message() {
        let endpoint = Endpoint::new("http://localhost:1", None).and_then(|it| it.with_token("fwt_secret"));
        assert!(!format!("{endpoint:?}").contains("secret"));
    }
}
